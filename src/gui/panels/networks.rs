//! The dialog of published networks: what there is, under which licence, and fetching it.

use egui::{Button, Grid, Label, ProgressBar, RichText, ScrollArea, Ui, vec2};

use crate::engine::Level;
use crate::engine::models::{ListedNetwork, ModelsRequest};
use crate::gui::context::{Action, Context};
use crate::gui::widgets::section;

/// Draws the dialog.
pub fn networks_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(listed) = &cx.state.networks.listed else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Looking at what is on this machine…");
        });
        return;
    };
    let text = "Downloads go to your data folder (EDITSCOPE_MODELS moves it). Copies in the hub's own cache are used as they are.";
    ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
    let height = (ui.ctx().content_rect().height() - 300.0).max(160.0);
    ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        for set in ["paper", "light", "baselines"] {
            let networks: Vec<&ListedNetwork> = listed.iter().filter(|network| network.sets.iter().any(|s| s == set)).collect();
            group_ui(ui, cx, &heading(set), Some(set), &networks);
        }
        let single: Vec<&ListedNetwork> = listed.iter().filter(|network| network.sets.is_empty()).collect();
        group_ui(ui, cx, "Single networks", None, &single);
    });
    ui.separator();
    progress_ui(ui, cx);
}

fn heading(set: &str) -> String {
    match set {
        "paper" => "Set “paper”: the networks of the BPM paper".to_owned(),
        "light" => "Set “light”: smaller ones, for laptops".to_owned(),
        other => format!("Set “{other}”: networks of the baseline metrics"),
    }
}

fn group_ui(ui: &mut Ui, cx: &Context<'_>, title: &str, set: Option<&str>, networks: &[&ListedNetwork]) {
    let palette = cx.palette(ui);
    let busy = cx.state.networks.busy.is_some();
    section(ui, palette, title);
    Grid::new(title).num_columns(5).spacing(vec2(14.0, 6.0)).striped(true).show(ui, |ui| {
        for network in networks {
            let from = network.hub.clone().unwrap_or_else(|| "each file has its own address".to_owned());
            let commit = network.revision.as_ref().map_or("newest commit (none is pinned)".to_owned(), |commit| format!("commit {commit}"));
            ui.label(&network.name).on_hover_text(format!("{from}\n{commit}\n{}", network.place.folder.display()));
            ui.label(size(network));
            let licence = network.licence.split([';', '(']).next().unwrap_or_default().trim();
            ui.label(RichText::new(licence).color(palette.text_dim.0)).on_hover_text(&network.licence);
            state_ui(ui, cx, network);
            ui.horizontal(|ui| {
                let here = network.place.problems.is_empty();
                let label = if network.place.partial_bytes > 0 { "Continue" } else { "Fetch" };
                let fetch = ui.add_enabled(!busy && !here, Button::new(label).small());
                let fetch = fetch.on_hover_text(format!("Downloads {} under: {}", network.name, network.licence));
                if fetch.clicked() {
                    cx.send(Action::Networks(ModelsRequest::Fetch(network.name.clone())));
                }
                let verify = ui.add_enabled(!busy && here, Button::new("Verify").small());
                if verify.on_hover_text("Reads the files again and compares them with what was published.").clicked() {
                    cx.send(Action::Networks(ModelsRequest::Verify(network.name.clone())));
                }
            });
            ui.end_row();
        }
    });
    if let Some(set) = set {
        let missing: u64 = networks.iter().filter(|network| !network.place.problems.is_empty()).map(|network| network.bytes).sum();
        let complete = networks.iter().all(|network| network.place.problems.is_empty());
        let label = if complete { format!("All of “{set}” is here") } else { format!("Fetch all of “{set}” ({})", bytes(missing)) };
        if ui.add_enabled(!busy && !complete, Button::new(label)).clicked() {
            cx.send(Action::Networks(ModelsRequest::Fetch(set.to_owned())));
        }
    }
    ui.add_space(6.0);
}

fn state_ui(ui: &mut Ui, cx: &Context<'_>, network: &ListedNetwork) {
    let palette = cx.palette(ui);
    let place = &network.place;
    let (text, color) = match (place.problems.is_empty(), place.in_hub_cache, place.partial_bytes) {
        (true, true, _) => ("✔ in the hub's cache".to_owned(), palette.good.0),
        (true, false, _) => ("✔ here".to_owned(), palette.good.0),
        (false, _, 0) if place.folder.is_dir() => ("⚠ incomplete".to_owned(), palette.warning.0),
        (false, _, 0) => ("not fetched".to_owned(), palette.text_dim.0),
        (false, _, part) => (format!("{} so far", bytes(part)), palette.warning.0),
    };
    let label = ui.label(RichText::new(text).color(color));
    if !place.problems.is_empty() {
        label.on_hover_text(place.problems.join("\n"));
    }
}

/// Below the list: what is going on, or how the last one ended.
fn progress_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let networks = &cx.state.networks;
    if let Some(name) = &networks.busy {
        let progress = networks.progress.clone().unwrap_or_default();
        let share = if progress.total_bytes > 0 { progress.done_bytes as f32 / progress.total_bytes as f32 } else { 0.0 };
        let rate =
            if progress.bytes_per_second > 0.0 { format!(" · {}/s", bytes(progress.bytes_per_second as u64)) } else { String::new() };
        let what = if progress.network.is_empty() { name.clone() } else { format!("{} {}", progress.network, progress.file) };
        let doing = if networks.stopping { "stopping" } else { progress.doing };
        ui.label(format!("{what}: {doing}"));
        ui.horizontal(|ui| {
            let text = format!("{} of {}{rate}", bytes(progress.done_bytes), bytes(progress.total_bytes));
            ui.add(ProgressBar::new(share.clamp(0.0, 1.0)).text(text).desired_width(ui.available_width() - 90.0));
            if ui.add_enabled(!networks.stopping, Button::new("Stop")).on_hover_text("What was received stays; Continue goes on.").clicked()
            {
                cx.send(Action::Networks(ModelsRequest::Cancel));
            }
        });
    } else if let Some((level, text)) = &networks.last {
        let (mark, color) = match level {
            Level::Info => ("✔", palette.text.0),
            Level::Warning => ("⚠", palette.warning.0),
            Level::Error => ("⚠", palette.bad.0),
        };
        ScrollArea::vertical().id_salt("networks message").max_height(90.0).show(ui, |ui| {
            ui.add(Label::new(RichText::new(format!("{mark} {text}")).color(color)).wrap());
        });
    } else {
        let paper = networks.listed.iter().flat_map(|listed| listed.iter()).filter(|network| network.sets.iter().any(|set| set == "paper"));
        let weights = bytes(paper.map(|network| network.bytes).sum());
        let text = format!(
            "Choose “paper” for the paper's numbers; its weights take {weights} of memory. Then pick the set under Settings → Networks."
        );
        ui.add(Label::new(RichText::new(text).color(palette.text_dim.0)).wrap());
    }
}

fn size(network: &ListedNetwork) -> String {
    if network.bytes == 0 { "size unknown".to_owned() } else { bytes(network.bytes) }
}

/// Decimal units, as the hub shows sizes.
fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    if value >= 1e9 {
        format!("{:.2} GB", value / 1e9)
    } else if value >= 1e6 {
        format!("{:.0} MB", value / 1e6)
    } else {
        format!("{:.0} kB", (value / 1e3).ceil())
    }
}
