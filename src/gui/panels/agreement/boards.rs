//! Models against each other: leaderboards by people and by each metric side by side, and one board in full.

use egui::{Label, RichText, Ui};

use super::cells::{Head, Reasons, count_ui, interval_ui, metric_label, table_ui, value_ui, words_ui};
use crate::domain::Outcome;
use crate::editor::Measure;
use crate::gui::context::Context;
use crate::gui::panels::queue::model_name;
use crate::gui::widgets::section;
use crate::stats::comparison::{ALL, Comparison, Leaderboard, PEOPLE, VOTES};

/// Judges side by side in one table; more stand in further tables below it.
const JUDGES: usize = 10;

/// Who judges, in words.
fn judge_name(board: &Leaderboard) -> String {
    match board.judge.as_str() {
        PEOPLE => format!("people: {}", board.criterion),
        VOTES => format!("votes: {}", board.criterion),
        metric => Measure::named(metric).label(),
    }
}

fn is_people(board: &Leaderboard) -> bool {
    [PEOPLE, VOTES].contains(&board.judge.as_str())
}

pub(super) fn boards_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let view = &cx.state.agreement.view;
    let zone = view.zone;
    let all: Vec<&Leaderboard> = found
        .leaderboards
        .iter()
        .filter(|board| board.split == ALL && (is_people(board) || Measure::named(&board.judge).is_of(zone)))
        .collect();
    let people = all.iter().copied().filter(|board| is_people(board) && (board.criterion == view.criterion || board.judge == VOTES));
    let metrics = all.iter().copied().filter(|board| !is_people(board));
    let shown: Vec<&Leaderboard> = people.chain(metrics).collect();
    if shown.is_empty() {
        words_ui(ui, palette, "No item has rated or scored edits of two models, so no model can win.");
        return;
    }
    section(ui, palette, "Win rates side by side");
    side_by_side_ui(ui, cx, &shown, "all edits");
    let text = "Wins plus half of the ties over all duels; in brackets the place. A duel: two models' edits of one item. Below: strength (mean 0) \
                and Elo (mean over 100 orders).";
    words_ui(ui, palette, text);
    let chosen = all.iter().copied().filter(|board| is_people(board) && board.criterion == view.criterion);
    let metric = all.iter().copied().filter(|board| board.judge == view.metric);
    for board in chosen.chain(metric) {
        board_ui(ui, cx, board);
    }
    groups_ui(ui, cx, found);
}

/// The same for each group of the split: win rates side by side, and the boards of people and of the plot's metric in full.
fn groups_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let view = &cx.state.agreement.view;
    let of_view = |board: &&Leaderboard| match board.judge.as_str() {
        PEOPLE => board.criterion == view.criterion,
        VOTES => true,
        metric => Measure::named(metric).is_of(view.zone),
    };
    let boards: Vec<&Leaderboard> = found.leaderboards.iter().filter(|board| board.split != ALL).filter(of_view).collect();
    let mut groups: Vec<(&str, &str)> = boards.iter().map(|board| (board.split.as_str(), board.group.as_str())).collect();
    groups.dedup();
    let mut seen = std::collections::BTreeSet::new();
    groups.retain(|group| seen.insert(*group));
    if groups.is_empty() {
        words_ui(
            ui,
            palette,
            "No group of the split has two models that share an item, so there is no board by group. By model there is none.",
        );
        return;
    }
    for (split, group) in groups {
        let (people, metrics): (Vec<&Leaderboard>, Vec<&Leaderboard>) = boards
            .iter()
            .copied()
            .filter(|board| (board.split.as_str(), board.group.as_str()) == (split, group))
            .partition(|b| is_people(b));
        section(ui, palette, &format!("{split}: {group}"));
        let shown: Vec<&Leaderboard> = people.iter().chain(&metrics).copied().collect();
        side_by_side_ui(ui, cx, &shown, &format!("{split} {group}"));
        let full = people.iter().chain(metrics.iter().filter(|board| board.judge == view.metric));
        full.for_each(|board| board_ui(ui, cx, board));
    }
    let votes = found.leaderboards.iter().any(|board| board.judge == VOTES);
    if votes && !boards.iter().any(|board| board.judge == VOTES) {
        words_ui(ui, palette, "Votes have a board over all edits only.");
    }
    words_ui(ui, palette, "The split is chosen on the Splits tab.");
}

/// A win rate with the place, or why there is none.
fn rate_ui(ui: &mut Ui, board: &Leaderboard, model: &str) {
    let Some((place, standing)) = board.standings.iter().enumerate().find(|(_, standing)| standing.model == model) else {
        ui.label(RichText::new("–").monospace()).on_hover_text("this judge has no duel of the model");
        return;
    };
    match &standing.win_rate {
        Outcome::Value(rate) => drop(ui.label(RichText::new(format!("{rate:.2} ({})", place + 1)).monospace())),
        undefined => value_ui(ui, undefined),
    }
}

fn side_by_side_ui(ui: &mut Ui, cx: &Context<'_>, boards: &[&Leaderboard], salt: &str) {
    // In the order of the first judge, then those that it has no place for.
    let mut models: Vec<&str> = Vec::new();
    for standing in boards.iter().flat_map(|board| &board.standings) {
        if !models.contains(&standing.model.as_str()) {
            models.push(&standing.model);
        }
    }
    for (number, judges) in boards.chunks(JUDGES).enumerate() {
        if number > 0 {
            ui.add_space(8.0);
        }
        judges_ui(ui, cx, judges, &models, (salt, number));
    }
}

/// One table of at most [`JUDGES`].
fn judges_ui(ui: &mut Ui, cx: &Context<'_>, boards: &[&Leaderboard], models: &[&str], salt: (&str, usize)) {
    let words: Vec<(String, String)> = boards
        .iter()
        .map(|board| {
            let name = judge_name(board);
            let meaning = format!("{name}: {} duels", board.duels);
            (name, meaning)
        })
        .collect();
    let mut heads = vec![Head::new("", "", 110.0)];
    heads.extend(words.iter().map(|(name, meaning)| Head::new(name, meaning, 78.0)));
    table_ui(ui, cx, &format!("side by side {} {}", salt.0, salt.1), &heads, models.len(), |row| {
        let Some(model) = models.get(row.index()) else { return };
        row.col(|ui| {
            ui.add(Label::new(RichText::new(model_name(model)).strong()).truncate());
        });
        for board in boards {
            row.col(|ui| rate_ui(ui, board, model));
        }
    });
}

const HEADS: [Head<'static>; 8] = [
    Head::new("model", "", 110.0),
    Head::new("win rate", "Wins plus half of the ties over all duels.", 56.0),
    Head::new("strength", "Natural logarithm of Davidson's strength (Bradley-Terry with ties); mean 0.", 160.0),
    Head::new("won", "", 40.0),
    Head::new("lost", "", 40.0),
    Head::new("tied", "", 40.0),
    Head::new(
        "Elo",
        "Elo (mean over 100 orders): start 1000, step 32; one order of the duels would decide it. Fewer orders of very many duels.",
        50.0,
    ),
    Head::new("mean", "Mean of the judge's values.", 50.0),
];

fn board_ui(ui: &mut Ui, cx: &Context<'_>, board: &Leaderboard) {
    let palette = cx.palette(ui);
    let name = if is_people(board) { judge_name(board) } else { metric_label(&board.judge) };
    let of = if board.split == ALL { String::new() } else { format!(" · {}: {}", board.split, board.group) };
    section(ui, palette, &format!("By {name}{of}, {} duels", board.duels));
    table_ui(ui, cx, &format!("board {name}{of}"), &HEADS, board.standings.len(), |row| {
        let Some(standing) = board.standings.get(row.index()) else { return };
        row.col(|ui| {
            ui.add(Label::new(RichText::new(model_name(&standing.model)).strong()).truncate());
        });
        row.col(|ui| value_ui(ui, &standing.win_rate));
        row.col(|ui| interval_ui(ui, cx, &standing.strength, &standing.strength_interval));
        for count in [standing.wins, standing.losses, standing.ties] {
            row.col(|ui| count_ui(ui, count));
        }
        row.col(|ui| {
            ui.label(RichText::new(format!("{:.0}", standing.elo)).monospace());
        });
        row.col(|ui| value_ui(ui, &standing.mean));
    });
    let mut reasons = Reasons::default();
    board.standings.iter().for_each(|standing| reasons.add("strength", &standing.strength));
    reasons.ui(ui, palette);
}
