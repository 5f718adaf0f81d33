//! How numbers are made, beyond the choices that are always in sight: level, seed, width, and which edits are good.

use egui::{Checkbox, CollapsingHeader, ComboBox, DragValue, Grid, Ui, vec2};

use crate::editor::Measure;
use crate::gui::agreement::Choices;
use crate::stats::comparison::{ALL_PAIRS, Plan};

/// Draws the choices, closed unless they are wanted. A value counts once its field is left, so that nothing is compared while it is typed.
pub(super) fn statistics_ui(ui: &mut Ui, choices: &mut Choices, metrics: &[String]) {
    CollapsingHeader::new("Statistics").default_open(false).show(ui, |ui| {
        // Two fields stand beside each other where there is room; else each has its own row, so that none is out of sight.
        let narrow = ui.available_width() < TWO_FIELDS;
        Grid::new(("statistics", narrow)).num_columns(if narrow { 2 } else { 4 }).spacing(vec2(12.0, 6.0)).show(ui, |ui| {
            let mut per_cent = choices.level * 100.0;
            let meaning = "Share of the resamples that lies inside an interval.";
            if field(
                ui,
                "Level of intervals",
                DragValue::new(&mut per_cent).range(50.0..=99.9).suffix(" %").custom_formatter(|value, _| plain(value)),
                meaning,
            ) {
                choices.level = per_cent / 100.0;
            }
            if narrow {
                ui.end_row();
            }
            let meaning = "Of the bootstrap, and of the halves of the held-out weight. The same seed gives the same numbers.";
            field(ui, "Seed", DragValue::new(&mut choices.seed), meaning);
            ui.end_row();
            let meaning = "“Items needed” says how many items give an interval of this width.";
            field(
                ui,
                "Width for items needed",
                DragValue::new(&mut choices.width).range(0.001..=2.0).custom_formatter(|value, _| plain(value)),
                meaning,
            );
            if narrow {
                ui.end_row();
            }
            good_ui(ui, choices);
            ui.end_row();
            first_ui(ui, choices, metrics);
            ui.end_row();
        });
    });
}

/// Points that two fields of the grid need beside each other.
const TWO_FIELDS: f32 = 640.0;

/// Points of the choice of the metric; longer words are cut, and whole on hover.
const FIRST_WIDTH: f32 = 180.0;

/// Which metric is held against each of the others.
fn first_ui(ui: &mut Ui, choices: &mut Choices, metrics: &[String]) {
    let label = ui.label("Held against the others");
    let usual = match metrics.first().filter(|_| metrics.len() > ALL_PAIRS) {
        Some(first) => format!("as usual: {} against each of the others", Measure::named(first).label()),
        None => "as usual: all pairs".to_owned(),
    };
    let name = |metric: &Option<String>| metric.as_ref().map_or_else(|| usual.clone(), |metric| Measure::named(metric).label());
    let shown = name(&choices.first);
    let combo =
        ComboBox::from_id_salt("held against").height(420.0).width(FIRST_WIDTH).truncate().selected_text(&shown).show_ui(ui, |ui| {
            for metric in std::iter::once(None).chain(metrics.iter().cloned().map(Some)) {
                let label = name(&metric);
                ui.selectable_value(&mut choices.first, metric, label);
            }
        });
    let meaning = format!(
        "{shown}. For the table of metrics against each other: one metric against each of the others. As usual: all pairs of up to {ALL_PAIRS} metrics; \
         of more, the first against each of the others."
    );
    combo.response.labelled_by(label.id).on_hover_text(meaning);
}

/// From which human mean on an edit is good, for the area under the curve.
fn good_ui(ui: &mut Ui, choices: &mut Choices) {
    let mut chosen = choices.good_from.is_some();
    let meaning = "The area under the curve tells good edits from others; without a value those above the median of people are good.";
    if ui.add(Checkbox::new(&mut chosen, "an edit is good from")).on_hover_text(meaning).changed() {
        // Where the paper's scale of 1 to 5 says "good".
        choices.good_from = chosen.then_some(4.0);
    }
    if let Some(from) = &mut choices.good_from {
        let field = DragValue::new(from).speed(0.0).update_while_editing(false).custom_formatter(|value, _| plain(value));
        let value = ui.add(field).on_hover_text("Human mean, in points of the scale.");
        crate::gui::widgets::name(&value, egui::Role::SpinButton, false, "Good from");
    }
}

/// A number without the digits that only come from its storage.
pub(super) fn plain(value: f64) -> String {
    format!("{value:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A named field; whether its value changed.
fn field(ui: &mut Ui, name: &str, value: DragValue<'_>, meaning: &str) -> bool {
    let label = ui.label(name).on_hover_text(meaning);
    // Dragging would compare at every step.
    ui.add(value.speed(0.0).update_while_editing(false)).labelled_by(label.id).on_hover_text(meaning).changed()
}

/// The options of `agree` that ask for the same, as far as they are not the usual ones.
pub(super) fn arguments(plan: &Plan) -> String {
    let usual = Plan::default();
    let mut text = String::new();
    if plan.bootstrap.level != usual.bootstrap.level {
        text.push_str(&format!(" --level {}", plain(plan.bootstrap.level)));
    }
    if plan.bootstrap.seed != usual.bootstrap.seed {
        text.push_str(&format!(" --seed {}", plan.bootstrap.seed));
    }
    if plan.width != usual.width {
        text.push_str(&format!(" --width {}", plan.width));
    }
    if let Some(from) = plan.good_from {
        text.push_str(&format!(" --good-from {from}"));
    }
    if let Some(first) = &plan.first {
        text.push_str(&format!(" --first {first}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_mean() {
        let texts = [95.0, 0.1, 99.9, 0.57 * 100.0, 1.0 / 3.0, 4.0, 100.0].map(plain);
        assert_eq!(texts, ["95", "0.1", "99.9", "57", "0.333333", "4", "100"]);
    }
}
