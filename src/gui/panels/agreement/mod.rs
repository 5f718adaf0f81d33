//! The agreement page: a plot of one metric against people, linked to the edits, and tables of everything that was compared.

mod boards;
mod cells;
mod command;
mod ground_truth;
mod metrics;
mod notes;
mod pairs;
mod pick;
mod plot;
mod plot_shapes;
mod profiles;
mod published;
mod raters;
mod saved;
mod splits;
mod statistics;
mod weights;

use command::how_ui;
use egui::{Button, CentralPanel, ComboBox, Panel, RichText, ScrollArea, Ui};

use crate::domain::Zone;
use crate::editor::Measure;
use crate::gui::agreement::{AgreementAction, AgreementTab, AgreementView, Choices};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets::command_button;
use crate::stats::TiePolicy;
use crate::stats::comparison::{About, Ties, utc_text};

/// Draws the page.
pub fn agreement_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let width = ui.available_width();
    let frame = egui::Frame::side_top_panel(ui.style()).inner_margin(12);
    Panel::right("agreement table").frame(frame).resizable(true).default_size((width * 0.53).clamp(560.0, 1000.0)).show(ui, |ui| {
        tabs_ui(ui, cx);
        ui.separator();
        opened_ui(ui, cx);
        // Each tab is scrolled by itself; what is too wide for it scrolls sideways by itself.
        ScrollArea::vertical().id_salt(cx.state.agreement.view.tab).auto_shrink(false).show(ui, |ui| tab_ui(ui, cx));
    });
    CentralPanel::default().frame(egui::Frame::new().fill(palette.background.0).inner_margin(12)).show(ui, |ui| {
        choices_ui(ui, cx);
        plot::plot_ui(ui, cx);
    });
}

fn tabs_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for tab in AgreementTab::ALL {
            let button = ui.add(Button::selectable(agreement.view.tab == tab, tab.label())).on_hover_text(tab.meaning());
            if button.clicked() {
                cx.send(Action::Agreement(AgreementAction::View(AgreementView { tab, ..agreement.view.clone() })));
            }
        }
        let words = agreement.work.words();
        if !words.is_empty() {
            ui.add_space(6.0);
            ui.spinner().on_hover_text(words);
            // Beside the tabs or not at all: on a line of its own it would push everything down, and up again.
            if ui.available_size_before_wrap().x > PROGRESS_WIDTH {
                ui.label(RichText::new(words).size(12.0).color(palette.text_dim.0));
            }
        }
    });
}

/// Points that the words about the work in progress need.
const PROGRESS_WIDTH: f32 = 150.0;

/// Says that a saved comparison is shown in place of the newest numbers.
fn opened_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let Some(opened) = &cx.state.agreement.kept.opened else { return };
    let about = &opened.about;
    let by = if about.who.is_empty() { String::new() } else { format!(" by {}", about.who) };
    let at = about.at_millis.map(|at| format!(", saved {}{by}", utc_text(at))).unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("Saved comparison '{}'{at}", about.name)).strong().color(palette.warning.0));
        if ui.button("Back to now").on_hover_text("Shows the numbers of the project as it is now.").clicked() {
            cx.send(Action::Agreement(AgreementAction::Close));
        }
    });
    ui.label(RichText::new("The plot shows the project as it is now.").size(12.0).color(palette.text_dim.0));
    ui.separator();
}

fn tab_ui(ui: &mut Ui, cx: &Context<'_>) {
    let agreement = &cx.state.agreement;
    if agreement.view.tab == AgreementTab::Saved {
        saved::saved_ui(ui, cx);
        return;
    }
    let Some(found) = agreement.shown() else {
        nothing_ui(ui, cx);
        return;
    };
    notes::notes_ui(ui, cx, found);
    match agreement.view.tab {
        AgreementTab::Metrics => metrics::metrics_ui(ui, cx, found),
        AgreementTab::Pairs => pairs::pairs_ui(ui, cx, found),
        AgreementTab::Splits => splits::splits_ui(ui, cx, found),
        AgreementTab::Models => boards::boards_ui(ui, cx, found),
        AgreementTab::People => raters::raters_ui(ui, cx, found),
        AgreementTab::Weights => weights::weights_ui(ui, cx, found),
        AgreementTab::Profiles => profiles::profiles_ui(ui, cx, found),
        AgreementTab::GroundTruth => ground_truth::ground_truth_ui(ui, cx, found),
        AgreementTab::Saved => {}
    }
}

/// While nothing is compared: why, and what to do.
fn nothing_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let agreement = &cx.state.agreement;
    if agreement.is_working() {
        return;
    }
    ui.add_space(24.0);
    let why = agreement.failed.as_deref().unwrap_or("Nothing is compared yet.");
    ui.add(egui::Label::new(RichText::new(why).color(palette.text_strong.0)).wrap());
    let text = "Score the project, and rate edits: on the Rating page, in the inspector's Rate tab, or by importing a table of ratings.";
    ui.add(egui::Label::new(RichText::new(text).color(palette.text_dim.0)).wrap());
    ui.horizontal(|ui| {
        for command in [Command::ScoreAll, Command::PageRate, Command::ImportRatings] {
            command_button(ui, cx, command, cx.state.info().is_some());
        }
    });
}

/// What is compared with what, and how.
fn choices_ui(ui: &mut Ui, cx: &Context<'_>) {
    let agreement = &cx.state.agreement;
    let (mut view, mut choices) = (agreement.view.clone(), agreement.choices.clone());
    let palette = cx.palette(ui);
    ui.horizontal_wrapped(|ui| {
        let Some(gathered) = &agreement.gathered else { return };
        metric_ui(ui, &mut view, &gathered.evidence.metrics);
        let label = ui.label("against people on");
        let combo = ComboBox::from_id_salt("criterion").width(90.0).selected_text(&view.criterion).show_ui(ui, |ui| {
            for criterion in &gathered.criteria {
                ui.selectable_value(&mut view.criterion, criterion.clone(), criterion);
            }
        });
        combo.response.labelled_by(label.id);
        zone_ui(ui, &mut view, &gathered.evidence.metrics);
    });
    ui.horizontal_wrapped(|ui| {
        let Some(gathered) = &agreement.gathered else { return };
        ties_ui(ui, &mut choices);
        resamples_ui(ui, &mut choices, gathered.about.edits);
        if gathered.about.simulated_ratings {
            let text = RichText::new("⚠ includes simulated ratings").size(12.0).color(palette.warning.0);
            ui.label(text).on_hover_text("A program made these ratings by a documented rule; no person said so.");
        }
    });
    if let Some(gathered) = &agreement.gathered {
        range_ui(ui, cx, &gathered.about);
        statistics::statistics_ui(ui, &mut choices, &gathered.evidence.metrics);
    }
    if view != agreement.view {
        cx.send(Action::Agreement(AgreementAction::View(view)));
    }
    if choices != agreement.choices {
        cx.send(Action::Agreement(AgreementAction::Choose(choices)));
    }
}

/// Which range the numbers are made with, also where nobody chose one.
fn range_ui(ui: &mut Ui, cx: &Context<'_>, about: &About) {
    let palette = cx.palette(ui);
    let Some(range) = &about.range else { return };
    let (words, color) = match command::named_range(cx, about) {
        Some(named) => (format!("Range '{}' is in force", named.name), palette.text_strong.0),
        None => ("Range: fitted on this project".to_owned(), palette.text_dim.0),
    };
    let meaning = format!("{}. Plot and tables normalise modify and preserve by it; the Saved tab chooses another.", range.bounds_words());
    ui.add(egui::Label::new(RichText::new(words).size(12.0).color(color)).wrap()).on_hover_text(meaning);
}

fn metric_ui(ui: &mut Ui, view: &mut AgreementView, metrics: &[String]) {
    let label = ui.label("Metric");
    let combo = ComboBox::from_id_salt("measure").width(90.0).selected_text(Measure::named(&view.metric).label()).show_ui(ui, |ui| {
        for (name, measure) in metrics.iter().map(|name| (name, Measure::named(name))).filter(|(_, measure)| measure.is_of(view.zone)) {
            let choice = ui.selectable_value(&mut view.metric, name.clone(), measure.label());
            if let Some(definition) = measure.definition() {
                choice.on_hover_text(definition);
            }
        }
    });
    combo.response.labelled_by(label.id);
}

/// Which part of the picture the other metrics are of; nothing to choose while no edit has any.
fn zone_ui(ui: &mut Ui, view: &mut AgreementView, metrics: &[String]) {
    if metrics.iter().all(|name| !matches!(Measure::named(name), Measure::Column(_))) {
        return;
    }
    let label = ui.label("zone");
    let name = |zone| match zone {
        Zone::Whole => "the whole picture",
        Zone::Inside => "the edit region",
        Zone::Outside => "outside the region",
    };
    let before = view.zone;
    let combo = ComboBox::from_id_salt("zone").selected_text(name(view.zone)).show_ui(ui, |ui| {
        for zone in Zone::ALL {
            ui.selectable_value(&mut view.zone, zone, name(zone));
        }
    });
    combo.response.labelled_by(label.id).on_hover_text("Other metrics (L1, SSIM and the like) are those of this part of the picture.");
    if view.zone != before && !Measure::named(&view.metric).is_of(view.zone) {
        // The column of the other zone would no longer be among the choices.
        crate::stats::comparison::OVERALL.clone_into(&mut view.metric);
    }
}

/// The treatments of ties on offer, with their words on the switch.
const TIES: [(&str, Ties); 4] = [
    ("metric ties wrong (paper)", Ties::As(TiePolicy::Paper)),
    ("metric ties half right", Ties::As(TiePolicy::MetricTiesHalf)),
    ("metric ties dropped", Ties::As(TiePolicy::MetricTiesDropped)),
    ("ties count (fitted)", Ties::Fitted),
];

fn ties_ui(ui: &mut Ui, choices: &mut Choices) {
    let label = ui.label("Ties");
    let shown = TIES.iter().find(|(_, ties)| *ties == choices.ties).map_or("another policy", |(name, _)| name);
    let combo = ComboBox::from_id_salt("ties").selected_text(shown).show_ui(ui, |ui| {
        for (name, ties) in TIES {
            ui.selectable_value(&mut choices.ties, ties, name).on_hover_text(ties.words());
        }
    });
    combo
        .response
        .labelled_by(label.id)
        .on_hover_text(format!("What happens where people or the metric see no difference: {}.", choices.ties.words()));
}

fn resamples_ui(ui: &mut Ui, choices: &mut Choices, edits: usize) {
    let label = ui.label("Resamples");
    let shown = choices.resamples_for(edits).to_string();
    let combo = ComboBox::from_id_salt("resamples").width(64.0).selected_text(shown).show_ui(ui, |ui| {
        for resamples in [200, 1000, 2000, 10_000] {
            ui.selectable_value(&mut choices.resamples, Some(resamples), resamples.to_string());
        }
    });
    let text = "How often items are drawn anew for the intervals (bootstrap). More take longer and vary less; with 10,000 edits or more it is 200 unless you choose.";
    combo.response.labelled_by(label.id).on_hover_text(text);
}
