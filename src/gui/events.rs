//! Takes in what other threads tell: the engine, the store, the dialogs.

use std::sync::Arc;

use crate::domain::Score;
use crate::editor::{Cell, EditDetails, Failure, Flag, JobState, RatingDraft, Row, RowId};
use crate::engine::{Event, Level};
use crate::storage::{EditId, PictureReport};

use super::agreement::AgreementAction;
use super::app::App;
use super::dialogs::{Ask, Chosen, default_project};
use super::flags::flags_after;
use super::state::ProjectState;
use super::store::{StoreEvent, StoreInfo, StoreRequest};

impl App {
    /// One event of the engine.
    pub(super) fn engine_event(&mut self, event: Event) {
        match event {
            Event::PictureReady { token, result } => self.pictures.decoded(token, result, &self.raster),
            Event::Canvas(event) => self.canvas_event(event),
            Event::ProjectReady { project, summary, problems } => {
                self.toast(Level::Info, summary);
                if !problems.is_empty() {
                    let shown: Vec<&str> = problems.iter().take(5).map(String::as_str).collect();
                    let rest = problems.len().saturating_sub(shown.len());
                    let more = if rest > 0 { format!("\n… and {rest} more; `editscope lint` lists all") } else { String::new() };
                    self.toast(Level::Warning, format!("Not everything could be read:\n{}{more}", shown.join("\n")));
                }
                self.open_project(project);
            }
            Event::Parsed { edit, parse } => {
                if self.state.queue.selected() == Some(RowId(edit.0)) {
                    self.state.parse_draft = Some(parse);
                }
            }
            Event::PicturesSeen { project, report } => self.pictures_seen(&project, &report),
            Event::PicturesChanged(files) => self.forget_pictures(&files),
            Event::Table(event) => self.table_event(event),
            Event::Message { level, text } => self.toast(level, text),
            Event::Prompt(event) => self.prompt_event(event),
            Event::Audit(event) => self.audit_event(event),
            Event::Models(event) => self.networks_event(event),
            run => self.run_event(run),
        }
    }

    /// The pictures of a project were looked for: flags may have changed, and a person should know what is not as it was.
    fn pictures_seen(&mut self, project: &std::path::Path, report: &PictureReport) {
        if self.state.info().is_none_or(|info| info.path != project) {
            return;
        }
        self.forget_pictures(report.changed.iter().chain(&report.unreadable).chain(&report.touched));
        if report.news > 0 {
            self.reload_rows();
            if let Some(id) = self.state.queue.selected() {
                self.request_details(id);
            }
        }
        let told = [
            ("not where they were (Find missing pictures… in the Project menu looks elsewhere)", &report.missing),
            ("other ones than were scored (Score all scores their edits again)", &report.changed),
            ("unreadable", &report.unreadable),
        ];
        let words: Vec<String> = told
            .into_iter()
            .filter_map(|(what, paths)| Some(format!("{} {what}, such as {}", paths.len(), paths.first()?.display())))
            .collect();
        if !words.is_empty() {
            self.toast(Level::Warning, format!("Pictures: {}. The flags above the queue find their edits.", words.join("; ")));
        }
    }

    /// Files hold something else than when they were decoded: what is drawn of them is made anew.
    fn forget_pictures<'a>(&mut self, files: impl IntoIterator<Item = &'a std::path::PathBuf>) {
        let files: std::collections::HashSet<&std::path::Path> = files.into_iter().map(std::path::PathBuf::as_path).collect();
        if !files.is_empty() {
            self.pictures.forget_files(&files);
            self.state.motions.clear();
        }
    }

    fn run_event(&mut self, event: Event) {
        match event {
            Event::RunStarted { run, total, already, device, models } => {
                self.state.device = format!("{models} on {device}");
                if let Some(job) = self.state.jobs.get_mut(run.0) {
                    (job.total, job.already) = (total, already);
                    (job.device, job.models) = (device, models);
                    if job.state == JobState::Starting {
                        job.state = JobState::Running;
                    }
                }
            }
            Event::Progress { run, done, failed, total, seconds, current } => {
                if let Some(job) = self.state.jobs.get_mut(run.0) {
                    (job.done, job.failed, job.total, job.seconds, job.current) = (done, failed, total, seconds, current);
                }
            }
            Event::EditScored { edit, score, .. } => self.edit_scored(RowId(edit.0), &score),
            Event::EditFailed { run, edit, label, why } => {
                self.state.queue.update(RowId(edit.0), |row| {
                    (row.parts, row.overall) = ([Cell::Failed; 4], Cell::Failed);
                    row.flags.set(Flag::Failed, true);
                });
                self.rows_changed = true;
                self.state.audit.scored_anew(RowId(edit.0));
                if let Some(job) = self.state.jobs.get_mut(run.0) {
                    job.failures.push(Failure { row: Some(RowId(edit.0)), label, why });
                }
            }
            Event::RunFinished { run, done, failed, cancelled, seconds } => {
                if let Some(job) = self.state.jobs.get_mut(run.0) {
                    (job.done, job.failed, job.seconds) = (done, failed, seconds);
                    job.state = JobState::Finished { cancelled };
                }
                self.reload_rows();
                if let Some(id) = self.state.queue.selected() {
                    self.request_details(id);
                }
            }
            Event::RunFailed { run, why } => {
                if let Some(job) = self.state.jobs.get_mut(run.0) {
                    job.state = JobState::Failed(why.clone());
                }
                self.toast(Level::Error, format!("The run stopped: {why}"));
                self.reload_rows();
            }
            _ => {}
        }
    }

    fn edit_scored(&mut self, id: RowId, score: &Arc<Score>) {
        self.state.queue.update(id, |row| {
            row.take_score(score);
            row.flags = flags_after(row.flags, score);
        });
        self.rows_changed = true;
        self.state.audit.scored_anew(id);
        if self.state.queue.selected() == Some(id) {
            self.request_details(id);
            self.want_pasted();
        }
    }

    /// One answer of the store.
    pub(super) fn store_event(&mut self, event: StoreEvent) {
        match event {
            StoreEvent::Opened { path, result } => self.opened(path, result),
            StoreEvent::Rows(Ok(rows)) => self.take_rows(rows),
            StoreEvent::Details(id, Ok(details)) => {
                self.state.reading = false;
                self.take_details(id, details);
            }
            StoreEvent::Rows(Err(why)) | StoreEvent::Details(_, Err(why)) => {
                (self.rows_asked, self.state.reading) = (false, false);
                self.toast(Level::Error, why);
            }
            StoreEvent::ParseSaved(id, Ok(())) => {
                self.state.saving = false;
                self.toast(Level::Info, "Parse saved.");
                self.request_details(id);
                self.regions_changed(id);
            }
            StoreEvent::ParseSaved(_, Err(why)) => {
                self.state.saving = false;
                self.toast(Level::Error, format!("The parse is not saved: {why}"));
            }
            StoreEvent::RatingSaved(id, _, Ok(())) => {
                self.state.saving = false;
                self.request_details(id);
            }
            StoreEvent::RatingSaved(_, rating, Err(why)) => {
                self.state.saving = false;
                let answers: Vec<String> = rating.values.iter().map(|(name, value)| format!("{name} {value}")).collect();
                self.toast(Level::Error, format!("The rating is not saved ({}): {why}", answers.join(", ")));
            }
            StoreEvent::Regions { project, event } => self.region_event(&project, event),
            StoreEvent::People(event) => self.people_event(event),
            StoreEvent::Agreement(event) => self.agreement_event(event),
            StoreEvent::Exported(Ok(what)) => self.toast(Level::Info, what),
            StoreEvent::Exported(Err(why)) => self.toast(Level::Error, format!("Nothing is exported: {why}")),
        }
    }

    fn opened(&mut self, path: std::path::PathBuf, result: Result<StoreInfo, String>) {
        let info = match result {
            Ok(info) if self.state.project == ProjectState::Opening(path.clone()) => info,
            // The person wants another one by now.
            Ok(_) => return,
            Err(why) => return self.state.project = ProjectState::Failed { path, why },
        };
        if let Some(why) = &info.only_read {
            self.toast(Level::Warning, format!("This project can be looked at, but nothing can be saved in it: {why}"));
        }
        self.take_networks(info.networks.as_ref());
        self.take_range(&info);
        let project = info.path.clone();
        self.state.project = ProjectState::Open(info);
        self.reload_rows();
        self.engine.send(crate::engine::Request::LookForPictures { project });
        self.list_sessions();
        self.list_kept();
    }

    /// The range that was last chosen in the project; a name that it no longer has is said.
    fn take_range(&mut self, info: &StoreInfo) {
        self.settings.range = self.settings.remembered_range(&info.path).cloned();
        if let Some(range) = self.settings.range.take_if(|range| !info.ranges.contains(range)) {
            self.toast(
                Level::Warning,
                format!("The range '{range}' that was chosen here is gone: scores are shown with one fitted on this project."),
            );
        }
    }

    fn take_rows(&mut self, rows: Vec<Row>) {
        self.rows_asked = false;
        let first_time = self.state.queue.rows().is_empty();
        self.state.queue.set_rows(rows);
        self.agreement_stale = true;
        if first_time && let Some(first) = self.state.queue.neighbour(0) {
            self.select(first);
        }
        if first_time && std::mem::take(&mut self.score_when_open) {
            self.start_run(None);
        }
    }

    fn take_details(&mut self, id: RowId, details: Arc<EditDetails>) {
        let mut changed = false;
        let outdated = self.state.audit.failure(id).is_some();
        self.state.queue.update(id, |row| {
            let before = row.clone();
            row.take_ratings(&details.ratings);
            row.flags = details.flags;
            row.flags.set(Flag::Stale, outdated || row.flags.has(Flag::Stale));
            if let Some(score) = &details.score {
                row.take_score(score);
            }
            if details.score.is_some() {
                row.take_columns(crate::domain::columns(&details.baselines));
            }
            if let Some(combined) = &details.combined {
                row.overall = (&combined.overall).into();
            }
            changed = *row != before;
        });
        // Merely looking at an edit must not sort a large queue anew.
        self.rows_changed |= changed;
        if self.state.queue.selected() != Some(id) {
            return;
        }
        self.audit_details_taken(id);
        let before = self.state.details.replace(details);
        let same_edit = before.as_ref().is_some_and(|before| before.id == id);
        let Some(details) = self.state.details.clone() else { return };
        if before.as_ref().and_then(|before| before.score.as_ref()) != details.score.as_ref() || !same_edit {
            self.state.motions.forget(id);
        }
        if !same_edit {
            // What was typed for this item and not saved comes back.
            let item = self.state.queue.row(id).map(|row| Arc::clone(&row.item));
            let of = self.state.info().map(|info| info.path.clone()).zip(item);
            let typed = of.and_then(|of| self.state.typed_parses.remove(&of));
            self.state.parse_draft = typed.or_else(|| details.parse.clone());
        } else if self.state.parse_draft.as_ref() == before.as_ref().and_then(|before| before.parse.as_ref()) {
            self.state.parse_draft = details.parse.clone();
        }
        if !same_edit {
            self.state.rating = RatingDraft::of(&details.ratings, &self.settings.rater_name());
        }
    }

    /// An answer of a file dialog.
    pub(super) fn chosen(&mut self, Chosen { ask, path, unshown }: Chosen) {
        if let Some(why) = unshown {
            return self.type_path(ask, why);
        }
        let Some(path) = path else { return };
        match ask {
            Ask::OpenProject => self.open_project(path),
            Ask::Ratings => self.open_table(path, false),
            Ask::Data => self.ask(Ask::ProjectFor { data: path }),
            Ask::ProjectFor { data } => self.import(data, path),
            Ask::GroundTruth => self.agreement_action(AgreementAction::GroundTruth(path)),
            Ask::RangeTo { name } => self.agreement_action(AgreementAction::WriteRange { name, to: path }),
            Ask::RangeFrom => self.agreement_action(AgreementAction::ReadRange(path)),
            Ask::ReportTo => self.agreement_action(AgreementAction::Report(path)),
            Ask::PastedBackTo { picture, .. } => self.copy_pasted(picture, path),
            Ask::PicturesIn => {
                if let Some(project) = self.state.info().map(|info| info.path.clone()) {
                    self.engine.send(crate::engine::Request::LocatePictures { project, folder: path });
                }
            }
            Ask::RegionsTo(out) => self.export_regions(out, path),
            Ask::ExportTo => self.store.send(StoreRequest::Export { to: path, shown: self.shown() }),
        }
    }

    /// A file or folder that was dropped or named: a project is opened, a table beside an open project may be ratings for it, anything
    /// else is imported beside itself.
    pub(super) fn open_path(&mut self, path: std::path::PathBuf) {
        if path.extension().is_some_and(|ending| ending == "editscope") {
            self.open_project(path);
        } else if self.state.info().is_some() && path.extension().is_some_and(|ending| ending == "csv" || ending == "tsv") {
            self.open_table(path, true);
        } else {
            let project = default_project(&path);
            self.import(path, project);
        }
    }

    /// Asks the engine to read the fields of the selected edit's instruction.
    pub(super) fn read_instruction(&mut self) {
        if let Some(row) = self.state.queue.selected_row() {
            let request = crate::engine::Request::Parse { edit: EditId(row.id.0), instruction: row.instruction.to_string() };
            self.engine.send(request);
        }
    }
}
