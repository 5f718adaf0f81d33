//! Every metric against people, with intervals; a click on a line plots it.

use egui::{Label, RichText, Sense, Ui};

use super::cells::{Head, Reasons, Row, count_ui, interval_ui, metric_label, table_ui, value_ui, words_ui};
use super::{how_ui, published};
use crate::domain::Outcome;
use crate::editor::Measure;
use crate::export::significance_words;
use crate::gui::agreement::{AgreementAction, AgreementView};
use crate::gui::context::{Action, Context};
use crate::gui::widgets::{self, section};
use crate::stats::comparison::{ALL, Comparison, Line, Significance};

const HEADS: [Head<'static>; 8] = [
    Head::new("metric", "Click a line to plot it.", 104.0),
    Head::new(
        "pairwise",
        "The paper's agreement: over the items on which people prefer one of two models' edits, the share on which the metric prefers the \
         same one; then the plain mean over the pairs of models.",
        128.0,
    ),
    Head::new("Spearman", "Spearman's ρ over all edits.", 136.0),
    Head::new("Kendall", "Kendall's τ-b over all edits.", 48.0),
    Head::new("Pearson", "Pearson's r over all edits.", 50.0),
    Head::new("in items", "Spearman's ρ within each item, mean over items.", 50.0),
    Head::new("AUC", "Area under the curve for telling edits above the median of people from the others.", 44.0),
    Head::new("pairs", "Pairs of edits that were compared.", 44.0),
];

pub(super) fn metrics_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let zone = cx.state.agreement.view.zone;
    let all: Vec<&Line> = found.lines.iter().filter(|line| line.split == ALL && Measure::named(&line.metric).is_of(zone)).collect();
    if all.is_empty() {
        words_ui(ui, palette, "No metric has values here: score the project, and the table follows.");
    }
    // Criteria that are held against every metric have a table each; parts against their own criterion share one.
    let mut criteria: Vec<&str> = all.iter().map(|line| line.criterion.as_str()).collect();
    criteria.dedup();
    let (shared, own): (Vec<&str>, Vec<&str>) =
        criteria.into_iter().partition(|criterion| all.iter().filter(|line| line.criterion == *criterion).count() > 1);
    for criterion in shared {
        section(ui, palette, &format!("How each metric agrees with people on {criterion}"));
        lines_ui(ui, cx, &all.iter().copied().filter(|line| line.criterion == criterion).collect::<Vec<_>>(), criterion);
    }
    if !own.is_empty() {
        section(ui, palette, "Each part against its own criterion");
        lines_ui(ui, cx, &all.iter().copied().filter(|line| own.contains(&line.criterion.as_str())).collect::<Vec<_>>(), "own");
    }
    needed_ui(ui, cx, found, &all);
    how_ui(ui, cx, found);
    section(ui, palette, "Metrics against each other on the same items");
    significance_ui(ui, cx, found);
    if !found.votes.is_empty() {
        section(ui, palette, "Metrics against votes");
        votes_ui(ui, cx, found);
    }
    published::published_ui(ui, cx, found);
}

fn lines_ui(ui: &mut Ui, cx: &Context<'_>, lines: &[&Line], salt: &str) {
    let palette = cx.palette(ui);
    let mut reasons = Reasons::default();
    table_ui(ui, cx, salt, &HEADS, lines.len(), |row| {
        if let Some(line) = lines.get(row.index()) {
            line_ui(row, cx, line);
        }
    });
    for line in lines {
        let name = metric_label(&line.metric);
        reasons.add(&name, &line.agreement.macro_mean);
        reasons.add(&name, &line.spearman);
        for note in &line.notes {
            words_ui(ui, palette, &format!("{name}: {note}"));
        }
    }
    reasons.ui(ui, palette);
}

fn line_ui(row: &mut Row<'_, '_>, cx: &Context<'_>, line: &Line) {
    let view = &cx.state.agreement.view;
    let selected = line.metric == view.metric && line.criterion == view.criterion;
    row.set_selected(selected);
    row.col(|ui| {
        let measure = Measure::named(&line.metric);
        let text = RichText::new(metric_label(&line.metric)).strong();
        let label = ui.add(Label::new(text).truncate().sense(Sense::click()));
        widgets::name(&label, egui::Role::Button, selected, format!("plot {} against {}", measure.label(), line.criterion));
        let definition = measure.definition().map(|text| format!("{text} ")).unwrap_or_default();
        let label = label.on_hover_text(format!("{definition}({}) Click to plot it.", measure.better().words()));
        if label.clicked() {
            let view = AgreementView { metric: line.metric.clone(), criterion: line.criterion.clone(), ..view.clone() };
            cx.send(Action::Agreement(AgreementAction::View(view)));
        }
    });
    row.col(|ui| interval_ui(ui, cx, &line.agreement.macro_mean, &line.macro_interval));
    row.col(|ui| interval_ui(ui, cx, &line.spearman, &line.spearman_interval));
    for value in [&line.kendall_tau_b, &line.pearson, &line.spearman_per_item.mean, &line.area_under_curve] {
        row.col(|ui| value_ui(ui, value));
    }
    row.col(|ui| count_ui(ui, line.agreement.counts.compared));
}

/// How many items an interval of the planned width needs, for the metric of the plot, and its share under every tie policy.
fn needed_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison, lines: &[&Line]) {
    let palette = cx.palette(ui);
    let view = &cx.state.agreement.view;
    let Some(line) = lines.iter().find(|line| line.metric == view.metric && line.criterion == view.criterion) else { return };
    let name = metric_label(&line.metric);
    let policies: Vec<String> =
        line.by_policy.iter().filter_map(|share| Some(format!("{:.3} with {}", share.macro_mean.value()?, share.policy))).collect();
    if !policies.is_empty() {
        words_ui(ui, palette, &format!("{name} under every treatment of ties: {}.", policies.join(" · ")));
    }
    let width = found.plan.width;
    let text = match &line.items_needed {
        Outcome::Value(items) => {
            format!("{name}: an interval of width {width} needs about {items} items ({} now).", line.agreement.items)
        }
        Outcome::NotApplicable(why) | Outcome::Failed(why) => {
            format!("{name}: how many items an interval of width {width} needs is not known: {why}.")
        }
    };
    // While intervals are still being drawn there is nothing to say about their width.
    if found.plan.bootstrap.resamples > 0 {
        words_ui(ui, palette, &text);
    }
    words_ui(ui, palette, &format!("AUC: an edit is good with a {}.", line.good));
}

const SIGNIFICANCE: [Head<'static>; 5] = [
    Head::new("metrics", "", 190.0),
    Head::new("criterion", "", 84.0),
    Head::new("difference", "Pairwise agreement of the first minus that of the second.", 150.0),
    Head::new(
        "p, corrected",
        "By swapping the two within items; corrected after Holm, for as many comparisons as are named below the table.",
        84.0,
    ),
    Head::new("items", "", 44.0),
];

fn significance_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let zone = cx.state.agreement.view.zone;
    let of_zone = |name: &str| Measure::named(name).is_of(zone);
    let shown: Vec<&Significance> = found.significance.iter().filter(|pair| of_zone(&pair.first) && of_zone(&pair.second)).collect();
    let tested = |pairs: &[&Significance]| pairs.iter().filter(|pair| pair.result.value().is_some()).count();
    if tested(&shown) == 0 {
        let none = if found.significance.is_empty() {
            "fewer than two metrics have values"
        } else {
            "the metrics that were held against each other are of other zones than the one chosen above"
        };
        let why = shown.first().and_then(|pair| pair.result.why()).unwrap_or(none);
        words_ui(ui, palette, &format!("Nothing to compare: {why}."));
        return;
    }
    table_ui(ui, cx, "significance", &SIGNIFICANCE, shown.len(), |row| {
        let Some(pair) = shown.get(row.index()) else { return };
        row.col(|ui| {
            ui.add(Label::new(format!("{} – {}", Measure::named(&pair.first).label(), Measure::named(&pair.second).label())).truncate());
        });
        row.col(|ui| {
            ui.add(Label::new(&pair.criterion).truncate());
        });
        row.col(|ui| match &pair.result {
            Outcome::Value(result) => interval_ui(ui, cx, &Outcome::Value(result.difference), &result.interval),
            Outcome::NotApplicable(why) | Outcome::Failed(why) => value_ui(ui, &Outcome::NotApplicable(why.clone())),
        });
        row.col(|ui| value_ui(ui, &pair.p_holm));
        row.col(|ui| match &pair.result {
            Outcome::Value(result) => count_ui(ui, result.items),
            Outcome::NotApplicable(why) | Outcome::Failed(why) => value_ui(ui, &Outcome::NotApplicable(why.clone())),
        });
    });
    let elsewhere = tested(&found.significance.iter().collect::<Vec<_>>()) - tested(&shown);
    let others = match elsewhere {
        0 => String::new(),
        count => format!(" {count} of them are of other zones than the one chosen above, and are not in this table."),
    };
    words_ui(ui, palette, &format!("{}{others}", significance_words(found)));
}

const VOTES: [Head<'static>; 4] = [
    Head::new("metric", "", 104.0),
    Head::new("criterion", "", 84.0),
    Head::new("of all votes", "The share of the votes that the metric agrees with.", 150.0),
    Head::new("compared", "Votes that count: ties are treated as chosen above.", 70.0),
];

fn votes_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let zone = cx.state.agreement.view.zone;
    let lines: Vec<_> = found.votes.iter().filter(|line| Measure::named(&line.metric).is_of(zone)).collect();
    table_ui(ui, cx, "votes", &VOTES, lines.len(), |row| {
        let Some(line) = lines.get(row.index()) else { return };
        row.col(|ui| {
            ui.label(RichText::new(metric_label(&line.metric)).strong());
        });
        row.col(|ui| {
            ui.add(Label::new(&line.criterion).truncate());
        });
        row.col(|ui| interval_ui(ui, cx, &line.agreement.micro_mean, &line.micro_interval));
        row.col(|ui| count_ui(ui, line.agreement.counts.compared));
    });
}
