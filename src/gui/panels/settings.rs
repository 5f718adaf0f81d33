//! What a person sets once.

use std::path::PathBuf;

use egui::{ComboBox, Grid, Label, RichText, TextEdit, Ui, vec2};

use crate::domain::Profile;
use crate::engine::{DeviceChoice, ModelSource, PrecisionChoice};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::pictures::{MEMORY_BUDGET, TEXTURE_BUDGET};
use crate::gui::settings::{Settings, ThemeChoice};

/// Draws the settings; each change holds at once.
pub fn settings_ui(ui: &mut Ui, cx: &Context<'_>) {
    let mut settings = cx.settings.clone();
    Grid::new("settings").num_columns(2).spacing(vec2(16.0, 10.0)).min_col_width(90.0).show(ui, |ui| {
        let label = ui.label("Rater");
        ui.add(TextEdit::singleline(&mut settings.rater).hint_text("your name").desired_width(220.0)).labelled_by(label.id);
        ui.end_row();
        networks_ui(ui, cx, &mut settings);
        let mut asked = settings.device;
        choice(ui, "Device", asked.device.name(), &DeviceChoice::ALL, |device| device.name().to_owned(), &mut asked.device)
            .into_iter()
            .for_each(|device| settings.device.device = device);
        choice(ui, "Precision", asked.precision.name(), &PrecisionChoice::ALL, precision_label, &mut asked.precision)
            .into_iter()
            .for_each(|precision| settings.device.precision = precision);
        let profile = settings.profile;
        choice(ui, "Profile", profile.name(), &Profile::ALL, |profile| profile.name().to_owned(), &mut profile.clone())
            .into_iter()
            .for_each(|profile| settings.profile = profile);
        range_ui(ui, cx, &mut settings);
        let theme = settings.theme;
        choice(ui, "Theme", theme.label(), &ThemeChoice::ALL, |theme| theme.label().to_owned(), &mut theme.clone())
            .into_iter()
            .for_each(|theme| settings.theme = theme);
        ui.label("Files");
        let typed = ui.checkbox(&mut settings.typed_paths, "Type paths here");
        typed.on_hover_text("In place of the system's file dialogs, for systems where they do not open.");
        ui.end_row();
    });
    explain_ui(ui, cx, &settings);
    if settings != *cx.settings {
        cx.send(Action::SetSettings(settings));
    }
}

fn precision_label(precision: PrecisionChoice) -> String {
    match precision {
        PrecisionChoice::Auto => "auto: f16 on GPUs that compute in it",
        PrecisionChoice::F32 => "f32",
        PrecisionChoice::F16 => "f16: half the memory, a little noise",
    }
    .to_owned()
}

/// A list to choose from; the choice, if one was made.
fn choice<T: PartialEq + Copy>(
    ui: &mut Ui,
    name: &str,
    shown: &str,
    all: &[T],
    label_of: impl Fn(T) -> String,
    current: &mut T,
) -> Option<T> {
    let before = *current;
    let label = ui.label(name);
    let combo = ComboBox::from_id_salt(name).selected_text(shown).width(220.0).show_ui(ui, |ui| {
        for &value in all {
            ui.selectable_value(current, value, label_of(value));
        }
    });
    combo.response.labelled_by(label.id);
    ui.end_row();
    (*current != before).then_some(*current)
}

fn networks_ui(ui: &mut Ui, cx: &Context<'_>, settings: &mut Settings) {
    let palette = cx.palette(ui);
    let label = ui.label("Networks");
    ui.vertical(|ui| {
        let shown = match &settings.models {
            ModelSource::Demo => "demo (inside the program)",
            ModelSource::Catalog(name) => name.as_str(),
            ModelSource::Folder(_) => "a folder",
            ModelSource::With { .. } => "as given on the command line",
        };
        let mut chosen = settings.models.clone();
        let combo = ComboBox::from_id_salt("networks").selected_text(shown).width(220.0).show_ui(ui, |ui| {
            ui.selectable_value(&mut chosen, ModelSource::Demo, "demo (inside the program)");
            for name in ["light", "paper"] {
                ui.selectable_value(&mut chosen, ModelSource::Catalog(name.to_owned()), format!("{name} (published)"));
            }
            if ui.selectable_label(matches!(chosen, ModelSource::Folder(_)), "a folder").clicked() {
                chosen = ModelSource::Folder(PathBuf::new());
            }
        });
        combo.response.labelled_by(label.id);
        if let ModelSource::Folder(folder) = &mut chosen {
            let mut text = folder.display().to_string();
            let edit = TextEdit::singleline(&mut text).hint_text("folder with clip, sam and grounding-dino").desired_width(320.0);
            let response = ui.add(edit);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Networks folder"));
            if response.changed() {
                *folder = PathBuf::from(text);
            }
        }
        settings.models = chosen;
        let open = Command::OpenNetworks;
        if ui.button(open.label()).on_hover_text(open.tooltip(ui.ctx())).clicked() {
            cx.send(Action::Do(open));
        }
        if settings.models == ModelSource::Demo {
            let text = "They know only the demo's emoji scenes.";
            ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
        }
    });
    ui.end_row();
}

fn range_ui(ui: &mut Ui, cx: &Context<'_>, settings: &mut Settings) {
    let label = ui.label("Range");
    let own = "fitted on this project";
    let shown = settings.range.clone().unwrap_or_else(|| own.to_owned());
    let combo = ComboBox::from_id_salt("range").selected_text(shown).width(220.0).show_ui(ui, |ui| {
        ui.selectable_value(&mut settings.range, None, own);
        for name in cx.state.info().map(|info| info.ranges.as_slice()).unwrap_or_default() {
            ui.selectable_value(&mut settings.range, Some(name.clone()), name);
        }
    });
    combo.response.labelled_by(label.id);
    ui.end_row();
}

fn explain_ui(ui: &mut Ui, cx: &Context<'_>, settings: &Settings) {
    let palette = cx.palette(ui);
    let profile = match settings.profile {
        Profile::Corrected => "corrected: the paper's intent, with its holes closed.",
        Profile::Paper => "paper: as the paper's text says.",
        Profile::ReleasedCode => "released-code: as the released scripts compute, their traps included.",
    };
    let device = if cx.state.device.is_empty() {
        "The device is chosen when the first run begins.".to_owned()
    } else {
        format!("The last run used {}.", cx.state.device)
    };
    ui.add_space(8.0);
    let (textures, pictures) = cx.pictures.memory();
    let pictures = format!(
        "Pictures take {} of at most {} MiB of memory, and {} of at most {} MiB on the graphics card.",
        pictures >> 20,
        MEMORY_BUDGET >> 20,
        textures >> 20,
        TEXTURE_BUDGET >> 20
    );
    for text in [profile, &device, &pictures] {
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
    }
}
