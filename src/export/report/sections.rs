//! The sections of the page; one that has nothing to say is empty.

use std::collections::BTreeSet;

use super::html::escape;
use super::pictures::{Which, figure};
use super::plots::{Dot, curve, dots};
use super::words::{ELO, ground_truth_words, is_of_zone, marked_metric, metric_words, significance_words};
use super::{ACROSS, ReportEdit, ReportExtras};
use crate::domain::Outcome;
use crate::stats::Interval;
use crate::stats::comparison::{ALL, Comparison, Leaderboard, MetricGroundTruth, Mismatch};
use crate::stats::published::{PAPER, beside, own_name};

/// A number, or why there is none, on hover.
pub(super) fn number(outcome: &Outcome<f64>) -> String {
    outcome.value().map_or_else(|| undefined(outcome), |value| format!("{value:.3}"))
}

/// What stands in the place of a number that is not defined; the reason is said on hover.
pub(super) fn undefined<T>(outcome: &Outcome<T>) -> String {
    missing("undefined", outcome.why().unwrap_or_default())
}

pub(super) fn missing(text: &str, why: &str) -> String {
    format!("<span class=\"undefined\" title=\"{}\">{text}</span>", escape(why))
}

pub(super) fn with_interval(outcome: &Outcome<f64>, interval: &Outcome<Interval>) -> String {
    let ends = match (outcome, interval) {
        (Outcome::Value(_), Outcome::Value(found)) => format!(" <small>{:.3} to {:.3}</small>", found.low, found.high),
        (Outcome::Value(_), Outcome::NotApplicable(why) | Outcome::Failed(why)) => {
            format!(" <small title=\"{}\">no interval</small>", escape(why))
        }
        _ => String::new(),
    };
    format!("{}{ends}", number(outcome))
}

/// A table: the first row is the head; cells are markup.
pub(super) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut text = String::from("<table><thead><tr>");
    for cell in head {
        text.push_str(&format!("<th>{}</th>", escape(cell)));
    }
    text.push_str("</tr></thead><tbody>");
    for row in rows {
        text.push_str("<tr>");
        for cell in row {
            text.push_str(&format!("<td>{cell}</td>"));
        }
        text.push_str("</tr>");
    }
    text.push_str("</tbody></table>\n");
    text
}

pub(super) fn votes(comparison: &Comparison) -> String {
    if comparison.votes.is_empty() {
        return String::new();
    }
    let rows = comparison.votes.iter().map(|line| {
        let half = line.by_policy.get(1).map(|share| number(&share.micro_mean)).unwrap_or_default();
        vec![
            escape(&marked_metric(comparison, &line.metric)),
            escape(&line.criterion),
            format!("{} of {}", line.agreement.counts.compared, line.votes),
            with_interval(&line.agreement.macro_mean, &line.macro_interval),
            with_interval(&line.agreement.micro_mean, &line.micro_interval),
            half,
        ]
    });
    let head = ["metric", "criterion", "votes compared", "macro", "micro", "micro, metric ties half"];
    format!("<h2>Metrics against votes</h2>\n{}", table(&head, rows))
}

pub(super) fn significance(comparison: &Comparison) -> String {
    let known: Vec<_> = comparison.significance.iter().filter_map(|found| Some((found, found.result.value()?))).collect();
    if known.is_empty() {
        return String::new();
    }
    let rows = known.iter().map(|(found, result)| {
        vec![
            escape(&format!("{} – {}", metric_words(comparison, &found.first), metric_words(comparison, &found.second))),
            escape(&found.criterion),
            with_interval(&Outcome::Value(result.difference), &result.interval),
            format!("{:.4}", result.p_value),
            found.p_holm.value().map_or_else(|| undefined(&found.p_holm), |p| format!("{p:.4}")),
            result.items.to_string(),
        ]
    });
    let unknown = comparison.significance.len() - known.len();
    let unknown = if unknown > 0 { format!(" {unknown} comparisons have no result and are left out.") } else { String::new() };
    format!(
        "<h2>Metrics against each other on the same items</h2>\n{}<p class=\"dim\">Difference of macro agreement. p: two metrics change places \
         within items drawn by coin. {}{unknown}</p>\n",
        table(&["first – second", "criterion", "difference", "p", "p, corrected", "items"], rows),
        escape(&significance_words(comparison))
    )
}

fn board_table(board: &Leaderboard) -> String {
    let rows = board.standings.iter().map(|standing| {
        vec![
            escape(&standing.model),
            number(&standing.win_rate),
            format!("{} / {} / {}", standing.wins, standing.losses, standing.ties),
            with_interval(&standing.strength, &standing.strength_interval),
            format!("{:.0}", standing.elo),
            number(&standing.mean),
        ]
    });
    table(&["model", "win rate", "won / lost / tied", "log strength", ELO, "mean"], rows)
}

/// Places of each model by some judges, side by side.
fn place_table(boards: &[(String, &Leaderboard)]) -> String {
    let mut models: Vec<&str> = boards.iter().flat_map(|(_, board)| &board.standings).map(|standing| standing.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let mut head = vec!["model"];
    head.extend(boards.iter().map(|(name, _)| name.as_str()));
    let rows = models.iter().map(|model| {
        let place = |(_, board): &(String, &Leaderboard)| {
            let at = board.standings.iter().position(|standing| standing.model == *model);
            at.map_or_else(
                || missing("–", "this judge has no duel of the model"),
                |at| if at == 0 { "<span class=\"good\">1st</span>".to_owned() } else { format!("{}", at + 1) },
            )
        };
        std::iter::once(escape(model)).chain(boards.iter().map(place)).collect()
    });
    table(&head, rows)
}

pub(super) fn models(comparison: &Comparison) -> String {
    let boards: Vec<&Leaderboard> = comparison.leaderboards.iter().filter(|board| board.split == ALL).collect();
    if boards.is_empty() {
        return String::new();
    }
    let name = |board: &Leaderboard| {
        let judge = metric_words(comparison, &board.judge);
        if board.criterion.is_empty() { judge.to_owned() } else { format!("{judge}: {}", board.criterion) }
    };
    let (zones, whole): (Vec<&Leaderboard>, Vec<&Leaderboard>) = boards.iter().copied().partition(|board| is_of_zone(&board.judge));
    let places = |boards: &[&Leaderboard]| -> String {
        let named: Vec<(String, &Leaderboard)> = boards.iter().map(|board| (name(board), *board)).collect();
        named.chunks(ACROSS).map(place_table).collect()
    };
    let mut text = format!("<h2>Models against each other</h2>\n<p class=\"dim\">Places by each judge.</p>\n{}", places(&whole));
    if !zones.is_empty() {
        let tables = places(&zones);
        text.push_str(&format!("<details><summary>Places by metrics inside and outside of the region</summary>{tables}</details>\n"));
    }
    for board in boards {
        let shown: Vec<Dot> = board
            .standings
            .iter()
            .filter_map(|s| {
                Some(Dot { label: s.model.clone(), value: *s.strength.value()?, interval: s.strength_interval.value().copied() })
            })
            .collect();
        let plot = if shown.is_empty() { String::new() } else { dots(&shown, span(&shown), Some((0.0, "mean"))) };
        text.push_str(&format!(
            "<details><summary>By {} ({} comparisons)</summary>{plot}{}</details>\n",
            escape(&name(board)),
            board.duels,
            board_table(board)
        ));
    }
    text.push_str(
        "<p class=\"dim\">Strengths: Davidson's extension of Bradley and Terry with ties, maximum likelihood, natural logarithm, mean 0. \
         Elo starts at 1000 with a step of 32 and is the mean over 100 orders of the comparisons (fewer of very many), since one order would \
         decide it; win rates and strengths know no order.</p>\n",
    );
    let groups: Vec<&Leaderboard> = comparison.leaderboards.iter().filter(|board| board.split != ALL).collect();
    if !groups.is_empty() {
        text.push_str(&format!("<details><summary>By group of edits ({} boards)</summary>", groups.len()));
        for board in groups {
            let heading = format!("{}: {} · {}", board.split, board.group, name(board));
            text.push_str(&format!("<h4>{}</h4>{}", escape(&heading), board_table(board)));
        }
        text.push_str("</details>\n");
    }
    text
}

/// From the least to the greatest value and interval end.
fn span(shown: &[Dot]) -> [f64; 2] {
    let ends = |dot: &Dot| dot.interval.map_or([dot.value; 2], |found| [found.low.min(dot.value), found.high.max(dot.value)]);
    let (low, high) = shown.iter().map(ends).fold((0.0_f64, 0.0_f64), |(low, high), [a, b]| (low.min(a), high.max(b)));
    [low - 0.1, high + 0.1]
}

pub(super) fn weights(comparison: &Comparison) -> String {
    let Some(weights) = &comparison.weights else { return String::new() };
    let points: Vec<(f64, f64)> = weights.sweep.iter().filter_map(|at| Some((at.alpha, *at.agreement.value()?))).collect();
    let plot = if points.is_empty() { String::new() } else { curve(&points, "α (weight of modify and preserve)", "macro agreement") };
    let held_out = match &weights.held_out {
        Outcome::Value(found) => format!(
            "Chosen on {} items: α = {:.1} with {:.3}; held out, on the other {} items: <b>{:.3}</b> (seed {}).",
            found.items_chosen, found.alpha, found.agreement_on_chosen, found.items_held_out, found.agreement_held_out, found.seed
        ),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => format!("No held-out test: {}.", escape(why)),
    };
    format!(
        "<h2>The weight α</h2>\n{plot}<p>{} local edits with all four parts. {held_out}</p><p class=\"note\">{}</p>\n",
        weights.edits,
        escape(&weights.warning)
    )
}

pub(super) fn profiles(comparison: &Comparison) -> String {
    if comparison.profiles.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Profiles: what changes its order</h2>\n");
    for found in &comparison.profiles {
        text.push_str(&format!(
            "<p><b>{} against {}</b>: {} of {} pairs change their order, in {} of {} items; {} tie under one only; {} pairs lack a value.</p>",
            escape(&found.readings[0]),
            escape(&found.readings[1]),
            found.reversals.len(),
            found.pairs,
            found.items_changed,
            found.items,
            found.ties_in_one,
            found.missing
        ));
        let rows = found.reversals.iter().take(30).map(|reversal| {
            let values = |[a, b]: [f64; 2]| format!("{a:.3}, {b:.3}");
            vec![escape(&reversal.item), escape(&reversal.models.join(" > ")), values(reversal.before), values(reversal.after)]
        });
        text.push_str(&format!(
            "<details><summary>Which</summary>{}</details>\n",
            table(&["item", "order under the first", found.readings[0].as_str(), found.readings[1].as_str()], rows)
        ));
    }
    text
}

pub(super) fn ground_truth(comparison: &Comparison) -> String {
    if comparison.ground_truth.is_empty() {
        return String::new();
    }
    let (zones, whole): (Vec<&MetricGroundTruth>, Vec<&MetricGroundTruth>) =
        comparison.ground_truth.iter().partition(|found| is_of_zone(&found.metric));
    let mut text = format!(
        "<h2>Ground truth</h2>\n{}<p class=\"dim\">The share of items where the good edit scores strictly above every worse one, of those where \
         every edit has a value; over one kind: of the edits of that kind that have a value beside the good one.</p>\n",
        ground_truth_table(comparison, &whole)
    );
    if !zones.is_empty() {
        let table = ground_truth_table(comparison, &zones);
        text.push_str(&format!("<details><summary>Metrics inside and outside of the region</summary>{table}</details>\n"));
    }
    text
}

/// A column for each kind of worse edit, and below what the counts leave out.
fn ground_truth_table(comparison: &Comparison, lines: &[&MetricGroundTruth]) -> String {
    let kinds: BTreeSet<&str> = lines.iter().flat_map(|found| &found.result.against).map(|against| against.kind.as_str()).collect();
    let names: Vec<String> = kinds.iter().map(|kind| format!("over {kind}")).collect();
    let mut head = vec!["metric", "share right", "items", "without a value"];
    head.extend(names.iter().map(String::as_str));
    let rows = lines.iter().map(|found| {
        let result = &found.result;
        let mut row = vec![
            escape(&marked_metric(comparison, &found.metric)),
            number(&result.share),
            format!("{} of {}", result.right, result.items),
            result.missing_metric.to_string(),
        ];
        row.extend(kinds.iter().map(|kind| {
            result.against.iter().find(|against| against.kind == *kind).map_or_else(
                || missing("–", "no item has a value of both edits"),
                |against| format!("{} ({}/{})", number(&against.share), against.right, against.compared),
            )
        }));
        row
    });
    let mut text = table(&head, rows);
    // Metrics that leave out the same are told together.
    let mut left_out: Vec<(String, Vec<&str>)> = Vec::new();
    for found in lines {
        let Some(words) = ground_truth_words(&found.result) else { continue };
        let name = metric_words(comparison, &found.metric);
        match left_out.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(name),
            None => left_out.push((words, vec![name])),
        }
    }
    for (words, names) in left_out {
        text.push_str(&format!("<p class=\"dim\">{}: {}.</p>\n", escape(&names.join(", ")), escape(&words)));
    }
    text
}

pub(super) fn worst(comparison: &Comparison, extras: &ReportExtras) -> String {
    if comparison.mismatches.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Where the metric and people differ most</h2>\n");
    for found in &comparison.mismatches {
        let edit = extras.edits.iter().find(|edit| edit.item == found.item && edit.model == found.model);
        text.push_str(&mismatch(found, metric_words(comparison, &found.metric), edit));
    }
    text
}

fn mismatch(found: &Mismatch, metric: &str, edit: Option<&ReportEdit>) -> String {
    let kind = if found.gap() > 0.0 { "too kind" } else { "too harsh" };
    let mut text = format!(
        "<h3>{} by {}</h3><p>{} {:.3} (place {:.2} of 0 to 1), people {:.2} (place {:.2}): the metric is {kind}.</p>",
        escape(&found.item),
        escape(&found.model),
        escape(metric),
        found.value,
        found.metric_place,
        found.human,
        found.human_place
    );
    let Some(edit) = edit else { return text };
    text.push_str(&format!(
        "<p>“{}”</p><div class=\"pair\">{}{}</div>",
        escape(&edit.instruction),
        figure(edit, Which::Source),
        figure(edit, Which::Edit)
    ));
    let steps: String = edit
        .trace
        .iter()
        .map(|step| format!("<li>{}{}</li>", if step.fallback { "<b>Fallback:</b> " } else { "" }, escape(&step.text)))
        .collect();
    text.push_str(&format!("<details><summary>How the score came about</summary><ol>{steps}</ol></details>\n"));
    text
}

pub(super) fn published(comparison: &Comparison) -> String {
    let mut text = String::from(
        "<h2>Published numbers, for comparison</h2>\n<p class=\"note\">These are on other data, other raters and other models: they say how \
         large such numbers are, not which metric is better here.</p>\n",
    );
    for published in &PAPER {
        let mut head = vec!["metric", "published mean", "beside our", "ours"];
        head.extend(published.pairs);
        let rows = published.lines.iter().map(|line| {
            let own = published.own_line(line.metric, comparison);
            let name = own.map(|own| own.metric.as_str()).or(beside(line.metric).columns.first().copied()).map_or("–", own_name);
            let ours = own.map_or_else(|| missing("–", "it has no values here"), |own| number(&own.agreement.macro_mean));
            let shares = line.shares.iter().map(|share| format!("{share:.3}"));
            [escape(line.metric), format!("{:.3}", line.mean), escape(name), ours].into_iter().chain(shares).collect()
        });
        text.push_str(&format!(
            "<details><summary>{}: {}</summary>{}</details>\n",
            escape(published.title),
            escape(published.source),
            table(&head, rows)
        ));
    }
    let remarks = PAPER[0].lines.iter().map(|line| format!("{}: {}", line.metric, beside(line.metric).remark));
    text.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&remarks.collect::<Vec<_>>().join(" "))));
    text
}

pub(super) fn provenance(comparison: &Comparison) -> String {
    let about = &comparison.about;
    let range = about.range.as_ref().map_or_else(|| "none".to_owned(), |range| format!("{} ({})", range.name, range.bounds_words()));
    let mut rows = vec![
        ("data", about.data.clone()),
        ("profile", about.profile.clone().unwrap_or_else(|| "none".into())),
        ("range", range),
        ("checkpoints", about.checkpoints.join("; ")),
        ("devices", about.devices.join("; ")),
        ("raters", about.rater_set.join(", ")),
        ("ties", about.tie_policy.clone()),
        ("seeds", format!("bootstrap {}, held-out halves {}", comparison.plan.bootstrap.seed, comparison.plan.split_seed)),
        ("program", format!("EditScope {}", about.program)),
    ];
    let hashes: Vec<String> = about.content.iter().map(|content| format!("{}: {}", content.what, content.hash)).collect();
    rows.push(("content hashes", hashes.join("; ")));
    let cells = rows.iter().map(|(what, value)| format!("<tr><td>{what}</td><td class=\"wide\">{}</td></tr>", escape(value)));
    format!("<h2>Where these numbers come from</h2>\n<table><tbody>{}</tbody></table>\n", cells.collect::<String>())
}
