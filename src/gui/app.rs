//! The window: joins state, threads and panels, and gives each frame its two halves.

use std::path::PathBuf;
use std::sync::Arc;

use egui::Panel;

use crate::domain::Size;
use crate::editor::{RowId, View};
use crate::engine::Wake;

use super::agreement;
use super::canvas;
use super::command::Command;
use super::context::{Action, Context, Sender};
use super::dialogs::Dialogs;
use super::engine_link::EngineLink;
use super::exports::Exports;
use super::panels;
use super::pictures::{Pictures, Wanted};
use super::raster::Raster;
use super::rescore::AuditAction;
use super::screenshot::Screenshot;
use super::settings::Settings;
use super::state::{Page, ProjectState, State};
use super::store::{Store, StoreThread};
use super::theme::{self, Theme};

/// What a window is made of; the tests put their own in.
pub struct Parts {
    pub engine: Box<dyn EngineLink>,
    pub store: Box<dyn Store>,
    pub settings: Settings,
    /// Where settings are kept; `None` keeps nothing.
    pub settings_file: Option<PathBuf>,
    /// A project to open, or data to import, at the start.
    pub open: Option<PathBuf>,
    /// Score the project as soon as it is open.
    pub score: bool,
    /// Take a picture of the window and close it.
    pub screenshot: Option<Screenshot>,
}

/// The window.
pub struct App {
    pub(super) ctx: egui::Context,
    pub(super) state: State,
    pub(super) settings: Settings,
    pub(super) settings_file: Option<PathBuf>,
    pub(super) settings_unsaved: bool,
    pub(super) engine: Box<dyn EngineLink>,
    pub(super) store: StoreThread,
    pub(super) raster: Raster,
    pub(super) dialogs: Dialogs,
    pub(super) exports: Exports,
    pub(super) pictures: Pictures,
    pub(super) theme: Theme,
    sender: Sender,
    /// Rows were updated one by one; the shown ones are recomputed once a frame.
    pub(super) rows_changed: bool,
    /// Rows were asked for and are not here yet.
    pub(super) rows_asked: bool,
    /// What the agreement page found no longer fits the rows.
    pub(super) agreement_stale: bool,
    pub(super) agreement: agreement::Worker,
    pub(super) score_when_open: bool,
    /// What the tools wait for from other threads.
    pub(super) tool_traffic: super::apply_tools::ToolTraffic,
    pub(super) mask_work: super::apply_masks::MaskWork,
    /// The edit whose neighbours were asked for.
    preloaded_for: Option<RowId>,
    /// When the last frame was drawn, in seconds of egui's clock.
    drawn_at: f64,
    pub(super) screenshot: Option<Screenshot>,
    /// Keys that a screenshot presses in the next frame.
    pub(super) pressed_keys: Vec<egui::Key>,
    pub(super) in_front: bool,
    /// What was typed in the last frame for a field that had not the cursor yet.
    pub(super) typed_ahead: Vec<egui::Event>,
    pub(super) waits: super::typed_ahead::Waits,
    /// The window may close: everything is on disk, or the person wants to lose it.
    pub(super) may_close: bool,
    /// What takes long in a frame, for the frame-time bench.
    pub frame_seconds: f64,
}

impl App {
    /// A window on an egui context.
    ///
    /// # Errors
    /// When a theme file is broken or the system gives no thread.
    pub fn new(ctx: &egui::Context, parts: Parts) -> anyhow::Result<Self> {
        theme::install_fonts(ctx);
        let theme = Theme::load()?;
        theme.install(ctx);
        ctx.set_theme(parts.settings.theme);
        // Panels must be able to send an action and see its effect in the same repaint.
        let repaint = ctx.clone();
        let wake: Wake = Arc::new(move || repaint.request_repaint());
        let mut app = Self {
            ctx: ctx.clone(),
            state: State::default(),
            settings: parts.settings,
            settings_file: parts.settings_file,
            settings_unsaved: false,
            engine: parts.engine,
            store: StoreThread::start(parts.store, wake.clone())?,
            raster: Raster::start(wake.clone())?,
            dialogs: Dialogs::new(wake.clone()),
            exports: Exports::new(wake.clone()),
            pictures: Pictures::default(),
            theme,
            sender: Sender::default(),
            rows_changed: false,
            rows_asked: false,
            agreement_stale: false,
            agreement: agreement::Worker::new(wake.clone()),
            score_when_open: parts.score,
            tool_traffic: Default::default(),
            mask_work: Default::default(),
            preloaded_for: None,
            drawn_at: 0.0,
            screenshot: parts.screenshot,
            pressed_keys: Vec::new(),
            in_front: true,
            typed_ahead: Vec::new(),
            waits: Default::default(),
            may_close: false,
            frame_seconds: 0.0,
        };
        ctx.add_plugin(app.waits.plugin());
        if let Some(path) = parts.open {
            app.open_path(path);
        }
        Ok(app)
    }

    /// The state, for tests.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The textures, for tests and benches.
    pub fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// The settings, for tests.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether nothing is on its way that would change the picture.
    pub fn is_settled(&self) -> bool {
        let opening = matches!(self.state.project, ProjectState::Opening(_));
        let reading_columns = self.state.columns.as_ref().is_some_and(|draft| draft.reading || draft.importing);
        let reading = self.state.reading || self.rows_asked || reading_columns || self.state.audit.is_working();
        let working = self.state.jobs.0.iter().any(crate::editor::Job::is_active);
        !opening
            && !reading
            && !working
            && !self.state.saving
            && self.pictures.underway() == 0
            && !self.state.agreement.is_working()
            && self.state.people.waiting == 0
            && !self.state.motions.is_underway()
            && self.tools_settled()
            && self.typed_ahead.is_empty()
            && !self.waits.for_press()
            && self.pictures.region_layers.is_settled()
    }

    /// Takes in what other threads tell and applies what the person asked for. Draws nothing.
    pub fn update(&mut self) {
        self.state.highlight = None;
        self.state.audit.pointed = None;
        while let Some(event) = self.engine.try_next() {
            self.engine_event(event);
        }
        while let Some(event) = self.store.try_next() {
            self.store_event(event);
        }
        self.exports_told();
        while let Some(chosen) = self.dialogs.try_next() {
            self.chosen(chosen);
        }
        let ctx = self.ctx.clone();
        self.pictures.begin_frame(&ctx, &self.raster);
        self.follow_focus();
        // What was clicked and drawn in the last frame was so before the keys of this one.
        for action in self.sender.take() {
            self.apply(action);
        }
        self.hold_typed_ahead();
        self.take_keys();
        let dropped: Vec<PathBuf> = ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        for path in dropped {
            self.apply(Action::OpenPath(path));
        }
        self.hold_still(&ctx);
        if std::mem::take(&mut self.rows_changed) {
            self.state.queue.refresh();
            self.agreement_stale = true;
        }
        let now = ctx.input(|input| input.time);
        self.state.toasts.retain(|toast| toast.until.is_none_or(|until| until > now));
        self.update_tools();
        self.hold_window();
        self.update_leaving();
        self.rating_clock();
        self.want_selected();
        self.preload_neighbours();
        self.preload_task();
        self.note_seen();
        self.look_for_motion();
        self.refresh_agreement();
        self.keep_settings();
    }

    /// Panes show what they showed when a gesture began, until it ends: a blink or the flip key would put another picture under the pointer.
    /// A blink also waits while points for the segmenter are set.
    fn hold_still(&mut self, ctx: &egui::Context) {
        let tools = &self.state.tools;
        let pressed =
            tools.tool != crate::editor::tools::Tool::Pan && ctx.input(|input| input.pointer.any_down() || input.pointer.any_released());
        let drawing = pressed || tools.sketch.is_some();
        let still = drawing || tools.prompt.is_some();
        self.state.still_since = still.then(|| self.state.still_since.unwrap_or(self.drawn_at));
        if !drawing {
            self.state.compare.flipped = Command::flip_held(ctx, self.state.dialog.is_some());
        }
    }

    /// Draws the window. Changes nothing but what egui remembers itself.
    pub fn draw(&mut self, ui: &mut egui::Ui) {
        self.drawn_at = self.ctx.input(|input| input.time);
        let cx =
            Context { state: &self.state, settings: &self.settings, pictures: &self.pictures, theme: &self.theme, sender: &self.sender };
        window_ui(ui, &cx);
        self.note_painted();
        // Once what was asked for is on its way, the one-frame wishes are fulfilled.
        self.state.focus_search = false;
        self.state.typed_path.iter_mut().for_each(|typed| typed.fresh = false);
        self.state.tools.focus_name = false;
        self.state.people.focus_comment = false;
        self.state.reveal_selection = false;
        self.state.audit.reveal = None;
        let actions = self.sender.take();
        if !actions.is_empty() {
            // They are applied in the next frame; without this it might not come before the mouse moves.
            let shown = self.state.highlight;
            let pointed = self.state.audit.pointed;
            let is_shown = |action: &Action| match action {
                Action::Highlight(kind) => Some(*kind) == shown,
                Action::Audit(AuditAction::PointAt(side, index)) => Some((*side, *index)) == pointed,
                _ => false,
            };
            if !actions.iter().all(is_shown) {
                self.ctx.request_repaint();
            }
            actions.into_iter().for_each(|action| self.sender.send(action));
        } else if self.state.highlight.is_some() || self.state.audit.pointed.is_some() || self.pictures.needs_frame() {
            self.ctx.request_repaint();
        }
        if let Some(first) = self.state.toasts.iter().filter_map(|toast| toast.until).reduce(f64::min) {
            let left = (first - self.ctx.input(|input| input.time)).max(0.05);
            self.ctx.request_repaint_after(std::time::Duration::from_secs_f64(left));
        }
    }

    /// The view of the canvas with fit spelled out, as it was last drawn.
    pub(super) fn canvas_view(&self) -> Option<View> {
        let pane = self.ctx.data(|data| data.get_temp::<egui::Rect>(canvas::pane_id()))?;
        let size = self.canvas_size()?;
        Some(self.state.view.resolved(&canvas::ui_rect(pane), size, self.ctx.pixels_per_point()))
    }

    fn canvas_size(&self) -> Option<Size> {
        let row = self.state.queue.selected_row()?;
        let size = |path: &PathBuf| self.pictures.ready(&Wanted::Full(path.clone())).map(|ready| ready.full_size);
        size(&row.source).or_else(|| size(&row.edited))
    }

    /// Asks for the selected pair as soon as it is selected, not when the canvas finds that it is missing: a frame earlier, and before the
    /// thumbnails that the queue asks for.
    fn want_selected(&mut self) {
        let is_shown = self.state.page == Page::Audit && self.state.info().is_some() && !self.state.people.hides_scores();
        let Some(row) = self.state.queue.selected_row().filter(|_| is_shown) else { return };
        for path in [row.source.clone(), row.edited.clone()] {
            self.pictures.want(Wanted::Full(path), self.engine.as_ref());
        }
    }

    /// Once the selected pair is on the screen, the pairs beside it are decoded.
    fn preload_neighbours(&mut self) {
        let Some(row) = self.state.queue.selected_row() else { return };
        let shown = [row.source.clone(), row.edited.clone()].map(|path| self.pictures.ready(&Wanted::Full(path)).is_some());
        // Once for each selection: where neighbours are too large for the budget they would push each other out for ever.
        if shown != [true; 2] || self.pictures.underway() > 0 || self.preloaded_for == Some(row.id) {
            return;
        }
        self.preloaded_for = Some(row.id);
        let neighbours = [1, -1].map(|by| self.state.queue.neighbour(by).and_then(|id| self.state.queue.row(id)));
        let paths: Vec<PathBuf> = neighbours.into_iter().flatten().flat_map(|row| [row.source.clone(), row.edited.clone()]).collect();
        for path in paths {
            self.pictures.want_ahead(path, self.engine.as_ref());
        }
    }

    fn keep_settings(&mut self) {
        if !std::mem::take(&mut self.settings_unsaved) {
            return;
        }
        if let Some(file) = &self.settings_file
            && let Err(why) = self.settings.write_kept(file)
        {
            self.toast(crate::engine::Level::Warning, why);
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, _ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.update();
    }

    fn raw_input_hook(&mut self, _ctx: &egui::Context, raw_input: &mut egui::RawInput) {
        for key in self.pressed_keys.drain(..) {
            for pressed in [true, false] {
                let modifiers = egui::Modifiers::NONE;
                raw_input.events.push(egui::Event::Key { key, physical_key: None, pressed, repeat: false, modifiers });
            }
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let began = std::time::Instant::now();
        self.draw(ui);
        self.frame_seconds = began.elapsed().as_secs_f64();
        if let Some(mut screenshot) = self.screenshot.take() {
            screenshot.step(self);
            self.screenshot = Some(screenshot);
        }
    }

    fn on_exit(&mut self) {
        if !self.may_close {
            self.save_comment();
            self.flush();
        }
    }
}

fn window_ui(ui: &mut egui::Ui, cx: &Context<'_>) {
    panels::top::top_bar_ui(ui, cx);
    // Running jobs and failures name edits, and those may name models.
    if !cx.state.people.hides_scores() {
        panels::jobs::status_bar_ui(ui, cx);
    }
    match (&cx.state.project, cx.state.page) {
        (ProjectState::Open(_), Page::Rate) => panels::rate::page_ui(ui, cx),
        (ProjectState::Open(_), _) if cx.state.people.hides_scores() || cx.state.people.sessions.is_none() => panels::rate::wall_ui(ui, cx),
        (ProjectState::Open(_), Page::Audit) => audit_ui(ui, cx),
        (ProjectState::Open(_), Page::Agreement) => panels::agreement::agreement_ui(ui, cx),
        _ => panels::empty::empty_ui(ui, cx),
    }
    panels::dialogs::dialogs_ui(ui, cx);
    panels::toasts::toasts_ui(ui, cx);
    panels::empty::drop_hint_ui(ui, cx);
}

/// Points of the inspector in which every row fits that cannot wrap.
const LEAST_INSPECTOR: f32 = 292.0;

fn audit_ui(ui: &mut egui::Ui, cx: &Context<'_>) {
    panels::notice::notice_ui(ui, cx);
    let width = ui.available_width();
    let frame = egui::Frame::side_top_panel(ui.style()).inner_margin(egui::Margin::same(8));
    Panel::left("queue")
        .frame(frame)
        .resizable(true)
        .default_size((width * 0.27).clamp(250.0, 640.0))
        .size_range(240.0..=(width * 0.34).max(300.0))
        .show(ui, |ui| panels::queue::queue_ui(ui, cx));
    Panel::right("inspector")
        .frame(frame)
        .resizable(true)
        .default_size((width * 0.25).clamp(LEAST_INSPECTOR, 520.0))
        .size_range(LEAST_INSPECTOR..=(width * 0.32).max(300.0))
        .show(ui, |ui| panels::inspector::inspector_ui(ui, cx));
    canvas::canvas_ui(ui, cx);
}
