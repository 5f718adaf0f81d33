//! Takes a picture of the window for the documentation and for checking the looks, then closes it.
//!
//! Two environment variables, for people who work on the program: `EDITSCOPE_SCREENSHOT=OUT.png` names the file,
//! `EDITSCOPE_SCREENSHOT_KEYS` lists what to do first, separated by commas: names of [`Command`] (`PageAgreement`, `TabRate`, …),
//! `key=NAME` (a key by egui's name, as if it were pressed), `edit=N` (the N-th row of the queue, from 0), `theme=light` or `dark`,
//! `table=FILE` (of ratings), `truth=FILE` (edits known to be good), `rater=NAME`,
//! `agreement=TAB` (a tab of the Agreement page by its label), `report=FILE` and `export=FILE` (what is asked for in a file dialog). The picture is taken once nothing is on its way.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::agreement::{AgreementAction, AgreementTab, AgreementView};
use super::app::App;
use super::command::Command;
use super::context::Action;
use super::dialogs::{Ask, Chosen};
use super::settings::{Settings, ThemeChoice};

/// Frames without anything on its way before the next step: textures and animations settle.
const CALM_FRAMES: u32 = 12;

/// A picture to take.
pub struct Screenshot {
    to: PathBuf,
    steps: std::collections::VecDeque<String>,
    calm: u32,
    asked: bool,
    done: Arc<AtomicBool>,
}

impl Screenshot {
    /// What the environment asks for.
    pub fn from_environment() -> Option<Self> {
        let to = PathBuf::from(std::env::var_os("EDITSCOPE_SCREENSHOT")?);
        let steps = std::env::var("EDITSCOPE_SCREENSHOT_KEYS").unwrap_or_default();
        let steps = steps.split(',').map(str::trim).filter(|step| !step.is_empty()).map(str::to_owned).collect();
        Some(Self { to, steps, calm: 0, asked: false, done: Arc::default() })
    }

    /// Goes on by one frame.
    pub(super) fn step(&mut self, app: &mut App) {
        app.ctx.request_repaint();
        if self.done.load(Ordering::Acquire) {
            app.ctx.send_viewport_cmd(egui::ViewportCommand::Close);
            return;
        }
        self.calm = if app.is_settled() { self.calm + 1 } else { 0 };
        if self.calm < CALM_FRAMES || self.asked {
            return;
        }
        self.calm = 0;
        if let Some(step) = self.steps.pop_front() {
            perform(app, &step);
            return;
        }
        self.asked = true;
        let (to, done, ctx) = (self.to.clone(), Arc::clone(&self.done), app.ctx.clone());
        app.ctx.request_screenshot(move |image| {
            let rgba: Vec<u8> = image.pixels.iter().flat_map(egui::Color32::to_array).collect();
            let [width, height] = image.size.map(|n| n as u32);
            let saved = image::RgbaImage::from_raw(width, height, rgba).map(|picture| picture.save(&to));
            match saved {
                Some(Ok(())) => tracing::info!("picture of the window: {}", to.display()),
                Some(Err(error)) => tracing::error!("the picture of the window cannot be written ({error}): {}", to.display()),
                None => tracing::error!("the picture of the window is incomplete"),
            }
            done.store(true, Ordering::Release);
            ctx.request_repaint();
        });
    }
}

fn perform(app: &mut App, step: &str) {
    match step.split_once('=') {
        Some(("edit", place)) => {
            let index = place.parse::<usize>().ok().and_then(|place| app.state.queue.shown().get(place).copied());
            if let Some(id) = index.and_then(|index| app.state.queue.rows().get(index)).map(|row| row.id) {
                app.apply(Action::Select(id));
            }
        }
        Some(("theme", name)) => {
            let theme = if name == "light" { ThemeChoice::Light } else { ThemeChoice::Dark };
            app.apply(Action::SetSettings(Settings { theme, ..app.settings.clone() }));
        }
        Some(("key", name)) => match egui::Key::from_name(name) {
            Some(key) => app.pressed_keys.push(key),
            None => tracing::warn!("'{name}' is no key"),
        },
        Some(("agreement", label)) => match AgreementTab::ALL.into_iter().find(|tab| tab.label() == label) {
            Some(tab) => {
                let view = AgreementView { tab, ..app.state.agreement.view.clone() };
                app.apply(Action::Agreement(AgreementAction::View(view)));
            }
            None => tracing::warn!("the Agreement page has no tab '{label}'"),
        },
        Some(("report", path)) => app.chosen(Chosen::path(Ask::ReportTo, path.into())),
        Some(("export", path)) => app.chosen(Chosen::path(Ask::ExportTo, path.into())),
        Some(("truth", path)) => app.apply(Action::Agreement(AgreementAction::GroundTruth(path.into()))),
        Some(("table", path)) => app.open_table(path.into(), false),
        Some(("rater", name)) => app.apply(Action::SetSettings(Settings { rater: name.to_owned(), ..app.settings.clone() })),
        _ => match Command::all().find(|command| format!("{command:?}") == step) {
            Some(command) => app.apply(Action::Do(command)),
            None => tracing::warn!("'{step}' is no step of a screenshot"),
        },
    }
}
