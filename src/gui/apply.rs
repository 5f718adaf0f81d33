//! The one place where a person's actions change the state.

use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::CRITERIA;
use crate::editor::{Flag, Flags, Job, JobState, RatingDraft, RowId};
use crate::engine::models::ModelsRequest;
use crate::engine::{ImportRequest, Level, Request, RunToken, ScoreRequest};
use crate::storage::EditId;

use super::app::App;
use super::command::Command;
use super::context::Action;
use super::dialogs::Ask;
use super::leaving::Leaving;
use super::pictures::Wanted;
use super::rescore::AuditAction;
use super::settings::{Settings, ThemeChoice};
use super::state::{Dialog, Page, ProjectState, Tab};
use super::store::{Shown, StoreRequest};

/// Zoom of one key press.
const ZOOM_STEP: f32 = 1.25;

impl App {
    /// Applies one action.
    pub(super) fn apply(&mut self, action: Action) {
        match action {
            Action::Do(command) => self.apply_command(command),
            Action::Select(id) => {
                self.select(id);
                self.state.page = Page::Audit;
            }
            Action::SetFilter(filter) => self.state.queue.set_filter(filter),
            Action::SortBy(key) => self.state.queue.sort_by(key),
            Action::SetOpacity(overlay, opacity) => self.state.overlays.set_opacity(overlay, opacity),
            Action::SetView(view) => self.state.view = view,
            Action::SetCompare(compare) => self.state.compare = compare,
            Action::SetThreshold(threshold) => self.state.overlays.set_threshold(threshold),
            Action::PreviewThresholds(thresholds) => self.state.overlays.set_preview(thresholds),
            Action::Highlight(kind) => self.state.highlight = Some(kind),
            Action::DraftParse(parse) => self.state.parse_draft = Some(parse),
            Action::SaveParse => self.save_parse(),
            Action::RevertParse => self.state.parse_draft = self.state.details.as_ref().and_then(|details| details.parse.clone()),
            Action::ReadInstruction => self.read_instruction(),
            Action::MarkQuestion(index) => self.state.rating.active = index.min(CRITERIA.len() - 1),
            Action::Answer(index, answer) => self.answer(index, answer),
            Action::DraftComment(comment) => {
                self.state.rating.comment = comment;
                self.state.rating.dirty = true;
            }
            Action::SaveComment => self.save_comment(),
            Action::Want(wanted) => self.want(wanted),
            Action::ReadAgain => self.read_again(),
            Action::OpenPath(path) => self.open_path(path),
            Action::CancelRun(token) => self.cancel(token),
            Action::SetSettings(settings) => self.set_settings(settings),
            Action::Agreement(action) => self.agreement_action(action),
            Action::CloseDialog => {
                if self.state.dialog.take() == Some(Dialog::Leaving) {
                    self.stay();
                }
            }
            Action::Leave(answer) => self.leave_answer(answer),
            Action::TypedPath(action) => self.typed_path(action),
            Action::SeekCommand(text, marked) => self.state.sought_command = (text, marked),
            Action::RunFound(command) => {
                self.state.dialog = None;
                if self.allows(command) {
                    self.apply_command(command);
                } else {
                    self.toast(Level::Info, "On the Rating page this does nothing; go to the Audit page first.");
                }
            }
            Action::DismissToast(id) => self.state.toasts.retain(|toast| toast.id != id),
            Action::DismissNotice => self.state.notice_dismissed = true,
            Action::ToggleFailures => self.state.failures_open = !self.state.failures_open,
            Action::CopyText(text) => self.ctx.copy_text(text),
            Action::Tool(action) => self.apply_tool(action),
            Action::People(action) => self.people_action(action),
            Action::Audit(action) => self.apply_audit(action),
            Action::Columns(action) => self.apply_columns(action),
            Action::Networks(request) => self.networks_asked(request),
        }
    }

    fn apply_command(&mut self, command: Command) {
        if self.rating_view(command) {
            return;
        }
        if let Some(overlay) = command.overlay() {
            self.state.overlays.toggle(overlay);
            return;
        }
        if let Some(mode) = command.compare_mode() {
            self.state.compare.press(mode);
            return;
        }
        if let Some(action) = command.tool_action(&self.state.tools) {
            self.apply_tool(action);
            return;
        }
        if let Some(answer) = command.answer() {
            self.state.tab = Tab::Rate;
            self.answer(self.state.rating.active, answer);
            return;
        }
        if self.project_command(command) || self.queue_command(command) {
            return;
        }
        match command {
            Command::FitView => self.state.view.fit = true,
            Command::OneToOne => self.zoom_to(1.0 / self.ctx.pixels_per_point()),
            Command::ZoomIn => self.zoom_to(self.zoom_now() * ZOOM_STEP),
            Command::ZoomOut => self.zoom_to(self.zoom_now() / ZOOM_STEP),
            Command::BarePictures => self.state.overlays.bare = !self.state.overlays.bare,
            Command::TabScore => self.state.tab = Tab::Score,
            Command::TabParse => self.state.tab = Tab::Parse,
            Command::TabRegions => self.state.tab = Tab::Regions,
            Command::TabRate => self.state.tab = Tab::Rate,
            Command::TabHistory => self.state.tab = Tab::History,
            Command::ShowSensitivity => self.apply_audit(AuditAction::ToggleSensitivity),
            Command::ShowPasteBack => self.apply_audit(AuditAction::TogglePasteBack),
            Command::SavePasteBack => self.save_pasted(),
            Command::PageAudit => self.state.page = Page::Audit,
            Command::PageRate => self.state.page = Page::Rate,
            Command::PageAgreement => self.state.page = Page::Agreement,
            Command::OpenSettings => self.state.dialog = Some(Dialog::Settings),
            Command::OpenNetworks => {
                self.state.dialog = Some(Dialog::Networks);
                self.networks_asked(ModelsRequest::List);
            }
            Command::KeySheet => {
                self.state.dialog = if self.state.dialog == Some(Dialog::Keys) { None } else { Some(Dialog::Keys) };
            }
            Command::FindCommand => {
                self.state.sought_command = Default::default();
                self.state.dialog = Some(Dialog::Commands);
            }
            Command::SwitchTheme => {
                let dark = self.ctx.theme() == egui::Theme::Dark;
                let theme = if dark { ThemeChoice::Light } else { ThemeChoice::Dark };
                self.set_settings(Settings { theme, ..self.settings.clone() });
            }
            _ => {}
        }
    }

    /// Commands about the project's file, its runs and what is read and written; whether this was one.
    fn project_command(&mut self, command: Command) -> bool {
        match command {
            Command::OpenProject => self.ask(Ask::OpenProject),
            Command::ImportData => self.ask(Ask::Data),
            Command::ImportRatings if self.state.info().is_some() => self.ask(Ask::Ratings),
            Command::LocatePictures if self.state.info().is_some() => self.ask(Ask::PicturesIn),
            Command::ExportScores if self.state.info().is_some() => self.ask(Ask::ExportTo),
            Command::MakeDemo => self.make_demo(),
            export if export.regions_out(self.state.audit.feather()).is_some() && self.state.info().is_some() => {
                if let Some(out) = export.regions_out(self.state.audit.feather()) {
                    self.ask(Ask::RegionsTo(out));
                }
            }
            Command::ScoreAll => self.start_run(None),
            Command::ScoreSelected => {
                if let Some(id) = self.state.queue.selected() {
                    self.start_run(Some(id));
                }
            }
            Command::CancelRuns => {
                let tokens: Vec<u64> = self.state.jobs.0.iter().filter(|job| job.is_active()).map(|job| job.token).collect();
                tokens.into_iter().for_each(|token| self.cancel(token));
            }
            Command::ChooseGroundTruth if self.state.info().is_some() => self.ask(Ask::GroundTruth),
            Command::WriteReport if self.state.agreement.shown().is_some() => self.ask(Ask::ReportTo),
            _ => return false,
        }
        true
    }

    /// Commands that go through the queue and its questions; whether this was one.
    fn queue_command(&mut self, command: Command) -> bool {
        match command {
            Command::NextEdit | Command::NextEditLetter => self.step(1),
            Command::PreviousEdit | Command::PreviousEditLetter => self.step(-1),
            Command::NextUnrated => self.jump(self.state.queue.next_where(|row| row.raters == 0), "Every edit of the queue is rated."),
            Command::NextProblem => {
                self.jump(self.state.queue.next_where(|row| !row.flags.is_empty()), "No edit of the queue has a flag.");
                self.say_flags();
            }
            Command::NextDisagreement => self.step_disagreement(1),
            Command::PreviousDisagreement => self.step_disagreement(-1),
            Command::ClearPicked => self.clear_picked(),
            Command::SwitchPlot => self.switch_plot(),
            Command::FindText => {
                self.state.page = Page::Audit;
                self.state.focus_search = true;
            }
            Command::NextQuestion => self.state.rating.step(1),
            Command::PreviousQuestion => self.state.rating.step(-1),
            _ => return false,
        }
        true
    }

    /// Opens a project file; what was open is left once all of it is on disk.
    pub(super) fn open_project(&mut self, path: PathBuf) {
        self.leave(Leaving::Open(path));
    }

    /// Opens a project file now.
    pub(super) fn go_to_project(&mut self, path: PathBuf) {
        let reopened = self.state.info().is_some_and(|info| info.path == path);
        if !reopened {
            self.keep_typed_parse(self.state.queue.selected_row().map(|row| Arc::clone(&row.item)));
            self.state.queue = Default::default();
            self.state.details = None;
            self.forget_agreement();
            self.forget_sessions();
            self.state.motions.clear();
            self.state.audit.forget_project();
            self.forget_regions();
        }
        // Files may have changed since they were decoded, also those of the same project.
        self.pictures.clear();
        self.state.project = ProjectState::Opening(path.clone());
        self.store.send(StoreRequest::Open(path));
    }

    pub(super) fn import(&mut self, data: PathBuf, project: PathBuf) {
        self.toast(Level::Info, format!("Reading {}", data.display()));
        self.engine.send(Request::Import(ImportRequest { data, project }));
    }

    fn make_demo(&mut self) {
        match std::env::current_dir() {
            Ok(folder) => {
                self.score_when_open = true;
                self.engine.send(Request::MakeDemo { folder: folder.join("editscope-demo") });
            }
            Err(error) => self.toast(Level::Error, format!("There is no current folder for the demo: {error}")),
        }
    }

    pub(super) fn ask(&mut self, ask: Ask) {
        if self.settings.typed_paths {
            return self.type_path(ask, "Paths are typed, because the settings say so.");
        }
        if let Err(error) = self.dialogs.ask(ask) {
            self.toast(Level::Error, format!("The file dialog cannot be opened: {error}"));
        }
    }

    pub(super) fn toast(&mut self, level: Level, text: impl Into<String>) {
        let now = self.ctx.input(|input| input.time);
        self.state.toast(level, text, now);
    }

    /// The profile and range that scores are shown with.
    pub(super) fn shown(&self) -> Shown {
        Shown { profile: self.settings.profile, range: self.settings.range.clone() }
    }

    pub(super) fn reload_rows(&mut self) {
        self.rows_asked = true;
        self.store.send(StoreRequest::Rows(self.shown()));
    }

    pub(super) fn request_details(&mut self, id: RowId) {
        self.state.reading = true;
        self.store.send(StoreRequest::Details(id, self.shown()));
    }

    /// Selects an edit; a comment that is being typed is saved first.
    pub(super) fn select(&mut self, id: RowId) {
        if self.state.queue.selected() == Some(id) {
            return;
        }
        self.save_comment();
        let before = self.state.queue.selected_row().map(|row| (row.source.clone(), Arc::clone(&row.item)));
        if !self.state.queue.select(id) {
            return;
        }
        let (source_before, item_before) = before.unzip();
        self.keep_typed_parse(item_before);
        self.state.reveal_selection = true;
        self.state.people.looked = Default::default();
        // What was asked for the last edit must not stand before this one.
        self.engine.send(Request::ForgetPictures);
        self.state.details = None;
        self.state.parse_draft = None;
        self.state.rating = RatingDraft::default();
        self.check_pictures(Some(id));
        self.audit_selected();
        // Edits of one item are compared at the same place; another source starts with the whole picture.
        if self.state.queue.selected_row().map(|row| &row.source) != source_before.as_ref() {
            self.state.view.fit = true;
        }
        self.request_details(id);
    }

    fn step(&mut self, by: isize) {
        if let Some(id) = self.state.queue.neighbour(by) {
            self.select(id);
        }
    }

    fn jump(&mut self, to: Option<RowId>, otherwise: &str) {
        match to {
            Some(id) => {
                self.state.page = Page::Audit;
                self.select(id);
            }
            None if self.state.info().is_some() => self.toast(Level::Info, otherwise),
            None => {}
        }
    }

    /// Says which problems the selected edit has.
    fn say_flags(&mut self) {
        let flags = self.state.queue.selected_row().map_or(Flags::NONE, |row| row.flags);
        let words: Vec<&str> = flags.iter().map(Flag::label).collect();
        if !words.is_empty() {
            self.toast(Level::Info, format!("Stopped at: {}", words.join(", ")));
        }
    }

    fn zoom_now(&self) -> f32 {
        self.canvas_view().map_or(1.0, |view| view.zoom)
    }

    fn zoom_to(&mut self, zoom: f32) {
        if let Some(view) = self.canvas_view() {
            self.state.view = view.at_zoom(zoom, self.ctx.pixels_per_point());
        }
    }

    /// Starts a run over all edits, or of one edit that is scored anew.
    pub(super) fn start_run(&mut self, only: Option<RowId>) {
        let Some(info) = self.state.info() else { return };
        let project = info.path.clone();
        let run = self.engine.new_run();
        let title = match only {
            None => format!("Score all · {}", self.settings.profile),
            Some(_) => format!("Score one edit · {}", self.settings.profile),
        };
        self.state.jobs.0.push(Job::new(run.0, title));
        self.state.failures_open = false;
        let request = ScoreRequest {
            project,
            edits: only.map(|id| vec![EditId(id.0)]),
            models: self.settings.models.clone(),
            profile: self.settings.profile,
            device: self.settings.device,
            range: None,
            rescore: only.is_some(),
            baselines: Default::default(),
        };
        self.engine.send(Request::Score(run, request));
    }

    fn cancel(&mut self, token: u64) {
        if let Some(job) = self.state.jobs.get_mut(token).filter(|job| job.is_active()) {
            job.state = JobState::Cancelling;
            self.engine.send(Request::Cancel(RunToken(token)));
        }
    }

    fn answer(&mut self, index: usize, answer: u8) {
        if self.state.details.is_none() {
            if self.state.queue.selected().is_some() {
                self.toast(Level::Info, "This edit is still being read; the answer was not taken.");
            }
            return;
        }
        if self.settings.rater.trim().is_empty() {
            self.state.tab = Tab::Rate;
            self.toast(Level::Warning, "Say who you are before you rate: there is a field for your name above the questions.");
            return;
        }
        let draft = &mut self.state.rating;
        if draft.elsewhere.is_some() && !std::mem::replace(&mut draft.warned, true) {
            self.state.tab = Tab::Rate;
            let text = "Your answers of a session or under another rubric count for this edit. An answer here takes the place of \
                        that to the same question: answer again if that is what you want.";
            self.toast(Level::Warning, text);
            return;
        }
        if draft.set(index, answer) {
            self.save_rating();
        }
    }

    /// Saves a comment that is being typed, if there is one.
    pub(super) fn save_comment(&mut self) {
        if std::mem::take(&mut self.state.rating.dirty) {
            if self.settings.rater.trim().is_empty() {
                self.state.rating.dirty = true;
                self.toast(Level::Warning, "The comment is not saved yet: say who you are in the field above the questions.");
            } else {
                self.save_rating();
            }
        }
    }

    fn save_rating(&mut self) {
        let (Some(id), Some(project)) = (self.state.queue.selected(), self.state.info().map(|info| info.path.clone())) else { return };
        if self.state.rating.is_empty() {
            return;
        }
        self.state.rating.dirty = false;
        self.state.saving = true;
        let mut rating = self.state.rating.rating(&self.settings.rater_name(), now_millis());
        if !self.state.rating.keeps_elsewhere() {
            rating.context = Some(self.quick_context());
        }
        self.store.send(StoreRequest::SaveRating { project, id, rating });
    }

    /// Puts fields aside that were typed and not saved, until the item is looked at again.
    fn keep_typed_parse(&mut self, item: Option<Arc<str>>) {
        let project = self.state.info().map(|info| info.path.clone());
        if let (Some(typed), Some(of)) = (self.state.typed_parse().cloned(), project.zip(item)) {
            self.state.typed_parses.insert(of, typed);
        }
    }

    fn save_parse(&mut self) {
        let (Some(id), Some(draft)) = (self.state.queue.selected(), &self.state.parse_draft) else { return };
        let mut parse = draft.clone();
        parse.origin = crate::domain::ParseOrigin::Person;
        parse.doubtful = None;
        let who = if self.settings.rater.is_empty() { "unnamed".to_owned() } else { self.settings.rater.clone() };
        self.state.parse_draft = Some(parse.clone());
        self.state.saving = true;
        self.store.send(StoreRequest::SaveParse { id, parse, who });
    }

    fn set_settings(&mut self, settings: Settings) {
        let before = std::mem::replace(&mut self.settings, settings);
        let made_with = |settings: &Settings| (settings.profile, settings.models.clone(), settings.device);
        self.settings.models_given |= before.models != self.settings.models;
        self.settings.precision_given |= before.device.precision != self.settings.device.precision;
        if made_with(&before) != made_with(&self.settings) {
            self.state.audit.forget_answers();
            self.want_pasted();
        }
        if before.theme != self.settings.theme {
            self.ctx.set_theme(self.settings.theme);
        }
        if before.rater != self.settings.rater
            && let Some(details) = &self.state.details
            && !self.state.rating.dirty
        {
            self.state.rating = RatingDraft::of(&details.ratings, &self.settings.rater_name());
        }
        if before.rater != self.settings.rater {
            self.rater_changed();
        }
        if (before.profile, &before.range) != (self.settings.profile, &self.settings.range) && self.state.info().is_some() {
            self.reload_rows();
            if let Some(id) = self.state.queue.selected() {
                self.request_details(id);
            }
        }
        if before.range != self.settings.range
            && let Some(path) = self.state.info().map(|info| info.path.clone())
        {
            self.settings.remember_range(&path);
        }
        self.settings_unsaved = before != self.settings;
    }

    fn want(&mut self, wanted: Wanted) {
        match wanted {
            Wanted::Mask(id) => {
                if let Some(mask) = self.state.shown_mask(id).cloned() {
                    self.pictures.want_mask(id, mask, &self.raster);
                }
            }
            other => self.pictures.want(other, self.engine.as_ref()),
        }
    }
}

/// Milliseconds since 1970, UTC.
pub(super) fn now_millis() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
