//! The window: the only place where egui exists.
//!
//! A frame has two halves. [`App::update`] takes in what other threads tell and applies what the person asked for; [`App::draw`] shows
//! the state through a read-only [`context::Context`] and collects [`context::Action`]s. Decoding, scoring, files and texels all happen
//! on other threads.

pub mod agreement;
mod app;
mod apply;
mod apply_masks;
mod apply_people;
mod apply_regions;
mod apply_tools;
pub mod canvas;
mod colormap;
pub mod columns;
pub mod command;
pub mod context;
mod dialogs;
pub mod engine_link;
mod events;
mod exports;
mod flags;
mod found;
pub mod key_press;
pub mod leaving;
mod motions;
pub mod networks;
mod panels;
pub mod people;
pub mod pictures;
mod project_networks;
pub mod project_store;
mod raster;
pub mod region_store;
pub mod rescore;
mod screenshot;
pub mod settings;
pub mod state;
pub mod store;
pub mod theme;
pub mod tool_actions;
mod tool_icons;
mod tool_keys;
mod typed_ahead;
pub mod typed_path;
mod unreadable;
mod widgets;

pub use app::{App, Parts};

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;

use crate::engine::{DevicePreference, Engine, ModelSource, PrecisionChoice};

use screenshot::Screenshot;
use settings::Settings;

/// What the window opens with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuiOptions {
    /// The project to open; `None` shows the start page.
    pub project: Option<PathBuf>,
    pub device: DevicePreference,
    /// `None`: those that scored the project.
    pub models: Option<ModelSource>,
    /// Score the project as soon as it is open (the demo).
    pub score: bool,
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// When no window can be opened (no display, no graphics), or a built-in file is broken.
pub fn run(options: GuiOptions) -> anyhow::Result<()> {
    let screenshot = Screenshot::from_environment();
    let models_given = options.models.is_some();
    let models = options.models.unwrap_or_default();
    let mut settings = Settings {
        device: options.device,
        models,
        models_given,
        precision_given: options.device.precision != PrecisionChoice::Auto,
        ..Settings::default()
    };
    // A picture for the documentation does not depend on who takes it.
    let settings_file = if screenshot.is_some() { None } else { settings::settings_file() };
    if let Some(file) = &settings_file
        && let Err(why) = settings.read_kept(file)
    {
        tracing::warn!("{why}");
    }
    let native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("EditScope")
            .with_app_id("editscope")
            .with_inner_size(window_size())
            .with_min_inner_size([960.0, 600.0])
            .with_icon(icon()),
        ..Default::default()
    };
    eframe::run_native(
        "EditScope",
        native,
        Box::new(move |creation| {
            if let Some(scale) = std::env::var("EDITSCOPE_SCALE").ok().and_then(|text| text.parse::<f32>().ok()) {
                creation.egui_ctx.set_pixels_per_point(scale);
            }
            let repaint = creation.egui_ctx.clone();
            let engine = Engine::start(Arc::new(move || repaint.request_repaint()))?;
            let parts = Parts {
                engine: Box::new(engine),
                store: Box::new(project_store()),
                settings,
                settings_file,
                open: options.project,
                score: options.score,
                screenshot,
            };
            Ok(Box::new(App::new(&creation.egui_ctx, parts)?))
        }),
    )
    .map_err(|error| anyhow!("no window can be opened: {error}"))
}

/// Points; in a picture for the documentation `EDITSCOPE_SIZE=WIDTHxHEIGHT` (physical pixels) decides.
fn window_size() -> [f32; 2] {
    let asked = std::env::var("EDITSCOPE_SIZE").ok().and_then(|text| {
        let (width, height) = text.split_once('x')?;
        Some([width.parse().ok()?, height.parse().ok()?])
    });
    asked.unwrap_or([1440.0, 900.0])
}

fn icon() -> egui::IconData {
    // The icon is part of the program; a broken one is seen by the test below, and costs only the icon.
    eframe::icon_data::from_png_bytes(include_bytes!("../../assets/icon.png")).unwrap_or_default()
}

fn project_store() -> impl store::Store {
    project_store::ProjectStore::default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_icon_is_a_picture() {
        assert!(eframe::icon_data::from_png_bytes(include_bytes!("../../assets/icon.png")).is_ok());
    }
}
