//! What a session came to, of all its raters: tables for the end of a session; the first of them also beside the form while rating.

use egui::{Button, Grid, Label, RichText, Ui, vec2};

use super::{plural, send};
use crate::domain::{Outcome, ProtocolKind};
use crate::gui::context::Context;
use crate::gui::people::{LiveAgreement, LiveLine, PeopleAction, RaterLine, SessionResults};
use crate::gui::widgets::{self, section};
use crate::stats::raters::RaterHabit;

/// A statistic of agreement: its heading, what it means, and where it is found.
type Statistic = (&'static str, &'static str, fn(&LiveLine) -> &Outcome<f64>);

const ALPHA: Statistic =
    ("α ordinal", "Krippendorff’s α; answers count by their order: 1 is perfect, 0 is chance", |line| &line.all.alpha_ordinal);
const ALPHA_NOMINAL: Statistic = ("α nominal", "Krippendorff’s α; answers are equal or not", |line| &line.all.alpha_nominal);
const ALPHA_INTERVAL: Statistic =
    ("α interval", "Krippendorff’s α; differences count by their squares", |line| &line.all.alpha_interval);
const FLEISS: Statistic =
    ("Fleiss κ", "Fleiss’ κ over what every rater answered: 1 is perfect, 0 is chance", |line| &line.all.fleiss_kappa);
const ICC_SINGLE: Statistic = ("ICC(2,1)", "Intraclass correlation, the same raters, one answer", |line| &line.all.icc_single);
const ICC_MEAN: Statistic = ("ICC(2,k)", "Intraclass correlation of the mean over the raters", |line| &line.all.icc_mean);

/// The statistics that mean something for answers of this kind; `wide`: all of them, else those that fit beside the form.
fn statistics(kind: ProtocolKind, wide: bool) -> &'static [Statistic] {
    match (kind, wide) {
        (ProtocolKind::Pairwise, _) => &[ALPHA_NOMINAL, FLEISS],
        (_, false) => &[ALPHA, FLEISS, ICC_SINGLE],
        (_, true) => &[ALPHA, ALPHA_NOMINAL, ALPHA_INTERVAL, FLEISS, ICC_SINGLE, ICC_MEAN],
    }
}

/// How raters agree, one line a question; `wide` where there is room for every statistic and for pairs of raters.
pub fn agreement_ui(ui: &mut Ui, cx: &Context<'_>, live: &LiveAgreement, kind: ProtocolKind, wide: bool) {
    let palette = cx.palette(ui);
    if live.raters < 2 {
        ui.add(Label::new(RichText::new("Nobody else has answered in this session yet. Ratings from elsewhere, simulated ones among them, are not counted here.").size(12.0).color(palette.text_dim.0)).wrap());
        return;
    }
    let shown = statistics(kind, wide);
    let gap = if wide { 14.0 } else { 6.0 };
    Grid::new("live agreement").num_columns(3 + shown.len()).spacing(vec2(gap, 3.0)).min_col_width(20.0).show(ui, |ui| {
        let raters = plural(live.raters, "rater");
        let mut heads = vec![
            (raters.as_str(), "Raters of this session"),
            ("shared", "Things that two raters or more answered"),
            ("equal", "Share of pairs of answers that are the same"),
        ];
        heads.extend(shown.iter().map(|(name, meaning, _)| (*name, *meaning)));
        head_ui(ui, cx, &heads);
        for line in &live.lines {
            ui.label(RichText::new(&line.name).size(12.0));
            ui.label(RichText::new(line.units.to_string()).monospace());
            outcome_ui(ui, &line.equal, |share| format!("{:.0} %", share * 100.0));
            for (_, _, of) in shown {
                outcome_ui(ui, of(line), widgets::two_decimals);
            }
            ui.end_row();
        }
    });
    if wide {
        pairs_ui(ui, cx, live);
    }
}

/// Cohen's κ of every pair of raters, or why it is left out.
fn pairs_ui(ui: &mut Ui, cx: &Context<'_>, live: &LiveAgreement) {
    let palette = cx.palette(ui);
    if live.lines.iter().all(|line| line.all.cohen_kappa.is_empty()) {
        let text = format!(
            "Cohen’s κ is left out: {} raters make {} pairs. Fleiss’ κ and α are of all of them.",
            live.raters,
            live.raters * (live.raters - 1) / 2
        );
        ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        return;
    }
    ui.add_space(6.0);
    Grid::new("pairs of raters").num_columns(1 + live.lines.len()).spacing(vec2(14.0, 3.0)).show(ui, |ui| {
        let meaning = "Cohen’s κ of two raters, over what both answered: 1 is perfect, 0 is chance";
        let mut heads = vec![("Cohen κ", meaning)];
        heads.extend(live.lines.iter().map(|line| (line.name.as_str(), meaning)));
        head_ui(ui, cx, &heads);
        // The raters are the same for every question.
        let pairs = live.lines.iter().map(|line| line.all.cohen_kappa.len()).max().unwrap_or(0);
        for index in 0..pairs {
            let name = live.lines.iter().find_map(|line| line.all.cohen_kappa.get(index)).map(|pair| pair.raters.join(" – "));
            ui.label(RichText::new(name.unwrap_or_default()).size(12.0));
            for line in &live.lines {
                match line.all.cohen_kappa.get(index) {
                    Some(pair) => outcome_ui(ui, &pair.kappa, widgets::two_decimals),
                    None => missing_ui(ui, "nobody answered this question"),
                }
            }
            ui.end_row();
        }
    });
}

/// Everything at the end of a session.
pub fn results_ui(ui: &mut Ui, cx: &Context<'_>, kind: ProtocolKind, results: &SessionResults) {
    let palette = cx.palette(ui);
    section(ui, palette, "Agreement between raters");
    agreement_ui(ui, cx, &results.agreement, kind, true);
    section(ui, palette, "Raters");
    raters_ui(ui, cx, kind, &results.raters);
    let bias = "Mean of own answers minus the mean of the others on the same edits, in points of the scale";
    habits_ui(ui, cx, &results.raters, ("bias", bias), |ui, habit| outcome_ui(ui, &habit.bias, widgets::two_decimals_signed));
    let spread = "Standard deviation of own answers, in points of the scale";
    habits_ui(ui, cx, &results.raters, ("spread", spread), |ui, habit| outcome_ui(ui, &habit.spread, widgets::two_decimals));
    if results.raters.len() > 1 {
        section(ui, palette, "Where raters differ most");
        differing_ui(ui, cx, results);
    }
}

fn head_ui(ui: &mut Ui, cx: &Context<'_>, columns: &[(&str, &str)]) {
    let palette = cx.palette(ui);
    for (text, meaning) in columns {
        ui.label(RichText::new(*text).size(11.5).color(palette.text_dim.0)).on_hover_text(*meaning);
    }
    ui.end_row();
}

/// A number, or `n/a` with the reason in its tooltip.
fn outcome_ui(ui: &mut Ui, outcome: &Outcome<f64>, words: impl Fn(f64) -> String) {
    let text = outcome.value().map_or_else(|| "n/a".to_owned(), |value| words(*value));
    let label = ui.label(RichText::new(text).monospace());
    if let Some(why) = outcome.why() {
        label.on_hover_text(why);
    }
}

/// One column of the table of raters.
struct RaterColumn {
    head: (&'static str, &'static str),
    cell: fn(&mut Ui, &RaterLine),
}

/// Where there is no number: why.
fn missing_ui(ui: &mut Ui, why: &str) {
    ui.label(RichText::new("–").monospace()).on_hover_text(why);
}

fn mono_ui(ui: &mut Ui, text: impl Into<String>) {
    ui.label(RichText::new(text.into()).monospace());
}

/// The columns that say something in a session of this kind: what no task of it asks for is left out.
fn rater_columns(kind: ProtocolKind, raters: &[RaterLine]) -> Vec<RaterColumn> {
    let mut columns = vec![RaterColumn {
        head: ("answers", "Tasks with an answer, repeats and checks among them"),
        cell: |ui, rater| mono_ui(ui, rater.summary.answered.to_string()),
    }];
    match kind {
        ProtocolKind::Pairwise => columns.push(RaterColumn {
            head: ("for A", "Share of the decided votes that went to the edit on the left; half when the side does not matter"),
            cell: |ui, rater| outcome_ui(ui, &rater.for_a, |share| format!("{:.0} %", share * 100.0)),
        }),
        ProtocolKind::Rubric | ProtocolKind::Ranking => {}
    }
    if raters.iter().any(|rater| rater.summary.consistency.answers > 0) {
        columns.push(RaterColumn {
            head: ("same twice", "Share of answers that were the same when a task was asked again"),
            cell: |ui, rater| {
                let twice = &rater.summary.consistency;
                if twice.answers == 0 {
                    missing_ui(ui, "no task was answered twice");
                } else {
                    mono_ui(ui, format!("{:.0} %", 100.0 * twice.same as f64 / twice.answers as f64));
                }
            },
        });
    }
    columns.push(RaterColumn {
        head: ("a task", "Half of the tasks took no longer than this, without breaks; repeats and checks not counted"),
        cell: |ui, rater| match rater.summary.median_seconds {
            Some(seconds) => mono_ui(ui, format!("{seconds:.1} s")),
            None => missing_ui(ui, "nothing was answered"),
        },
    });
    if raters.iter().any(|rater| rater.summary.checks + rater.summary.checks_unjudged > 0) {
        columns.push(RaterColumn {
            head: ("checks", "Attention checks passed, of those that were answered and that a question can judge"),
            cell: |ui, rater| {
                let (passed, checks) = (rater.summary.checks_passed, rater.summary.checks);
                let why = match rater.summary.checks_unjudged {
                    0 => "no check was answered",
                    _ => "no answered question can tell that nothing was edited",
                };
                if checks == 0 { missing_ui(ui, why) } else { mono_ui(ui, format!("{passed} of {checks}")) }
            },
        });
    }
    columns
}

fn raters_ui(ui: &mut Ui, cx: &Context<'_>, kind: ProtocolKind, raters: &[RaterLine]) {
    let columns = rater_columns(kind, raters);
    Grid::new("session raters").num_columns(columns.len() + 1).spacing(vec2(14.0, 3.0)).show(ui, |ui| {
        let heads: Vec<(&str, &str)> = std::iter::once(("", "")).chain(columns.iter().map(|column| column.head)).collect();
        head_ui(ui, cx, &heads);
        for rater in raters {
            ui.label(RichText::new(&rater.name).size(12.0));
            columns.iter().for_each(|column| (column.cell)(ui, rater));
            ui.end_row();
        }
    });
}

/// One number of every rater for each question of the rubric; nothing for votes and ranks.
fn habits_ui(ui: &mut Ui, cx: &Context<'_>, raters: &[RaterLine], head: (&str, &str), cell: fn(&mut Ui, &RaterHabit)) {
    let Some(first) = raters.first().filter(|rater| !rater.habits.is_empty()) else { return };
    ui.add_space(6.0);
    Grid::new(("habits", head.0)).num_columns(first.habits.len() + 1).spacing(vec2(14.0, 3.0)).show(ui, |ui| {
        let questions = first.habits.iter().map(|(question, _)| (question.as_str(), head.1));
        let heads: Vec<(&str, &str)> = std::iter::once(head).chain(questions).collect();
        head_ui(ui, cx, &heads);
        for rater in raters {
            ui.label(RichText::new(&rater.name).size(12.0));
            rater.habits.iter().for_each(|(_, habit)| cell(ui, habit));
            ui.end_row();
        }
    });
}

/// Points that the name of an item takes at most in the list of differences.
const ITEM_WIDTH: f32 = 150.0;

fn differing_ui(ui: &mut Ui, cx: &Context<'_>, results: &SessionResults) {
    let palette = cx.palette(ui);
    let dim = |text: String| RichText::new(text).size(12.0).color(palette.text_dim.0);
    if results.differing.is_empty() {
        ui.label(dim("Nowhere: every task that two raters answered has the same answer.".to_owned()));
        return;
    }
    let shown = results.differing.len();
    let more = if results.differing_count > shown { format!("{shown} of {} tasks; a", results.differing_count) } else { "A".to_owned() };
    ui.label(dim(format!("{more} digit or a click opens the edit on the Audit page.")));
    ui.add_space(4.0);
    let words_width = (ui.available_width() - ITEM_WIDTH - 26.0 - 2.0 * 10.0).max(120.0);
    Grid::new("differing tasks").num_columns(3).spacing(vec2(10.0, 6.0)).show(ui, |ui| {
        for (index, task) in results.differing.iter().enumerate() {
            let open = ui.add_enabled(task.row.is_some(), Button::new((index + 1).to_string()).min_size(vec2(26.0, 22.0)));
            widgets::name(&open, egui::Role::Button, false, format!("Open {}: {}", task.item, task.words));
            if open.on_hover_text("Shows it on the Audit page.").clicked()
                && let Some(row) = task.row
            {
                send(cx, PeopleAction::OpenEdit(row));
            }
            ui.scope(|ui| {
                ui.set_max_width(ITEM_WIDTH);
                ui.add(Label::new(RichText::new(&task.item).size(12.0).color(palette.text_dim.0)).truncate());
            });
            ui.scope(|ui| {
                ui.set_max_width(words_width);
                ui.add(Label::new(RichText::new(&task.words).size(12.5)).wrap());
            });
            ui.end_row();
        }
    });
}
