//! A comparison as tables on a terminal.

use std::collections::BTreeMap;

use crate::domain::Outcome;
use crate::export::{
    ELO, TURNED, ground_truth_words, is_distance, is_of_zone, marked_metric, metric_words, no_pairs_words, note_words, one_rater_words,
    significance_words,
};
use crate::stats::Interval;
use crate::stats::comparison::{ALL, Comparison, Leaderboard, Line};
use crate::stats::people::{BetweenRaters, RaterReport};

/// What stands where a statistic is not defined; the reasons follow the table.
const UNDEFINED: &str = "undef.";

/// Prints everything that there is something to say about.
pub(super) fn print(comparison: &Comparison) {
    let about = &comparison.about;
    let votes = if about.vote_count > 0 { format!(", {} votes", about.vote_count) } else { String::new() };
    out!("{}: {} edits, {} rated{votes}; ties: {}", about.data, about.edits, about.rated, about.tie_policy);
    for note in &comparison.notes {
        out!("note: {}", note_words(comparison, note));
    }
    lines(comparison);
    votes_table(comparison);
    pairs(comparison);
    significance(comparison);
    people(comparison);
    boards(comparison);
    weights(comparison);
    profiles(comparison);
    ground_truth(comparison);
    mismatches(comparison);
}

/// Values of a baseline inside and outside the region are in the JSON and in the report; here they would bury the rest.
fn is_shown(metric: &str) -> bool {
    !is_of_zone(metric)
}

fn cell(outcome: &Outcome<f64>) -> String {
    outcome.value().map_or_else(|| UNDEFINED.to_owned(), |value| format!("{value:.3}"))
}

fn interval(outcome: &Outcome<Interval>) -> String {
    outcome.value().map_or_else(
        || "no interval".to_owned(),
        |found| {
            // A dash before a minus sign would be read as a longer dash.
            let between = if found.high < 0.0 || found.low < 0.0 { " to " } else { "–" };
            format!("{:.3}{between}{:.3}", found.low, found.high)
        },
    )
}

fn edits(split: &str, group: &str) -> String {
    if split == ALL { ALL.to_owned() } else { format!("{split}: {group}") }
}

/// Reasons of undefined statistics, each once.
#[derive(Default)]
struct Reasons(BTreeMap<String, Vec<String>>);

impl Reasons {
    fn add<T>(&mut self, of: &str, outcome: &Outcome<T>) {
        if let Some(why) = outcome.why() {
            self.0.entry(why.to_owned()).or_default().push(of.to_owned());
        }
    }

    fn print(&self) {
        for (why, of) in &self.0 {
            let more = if of.len() > 3 { format!(" and {} more", of.len() - 3) } else { String::new() };
            out!("{UNDEFINED}: {}{more}: {why}", of.iter().take(3).cloned().collect::<Vec<_>>().join(", "));
        }
    }
}

fn lines(comparison: &Comparison) {
    if comparison.lines.is_empty() {
        return;
    }
    let width = comparison.lines.iter().map(|line| marked_metric(comparison, &line.metric).chars().count()).max().unwrap_or(0).max(8);
    out!("");
    out!(
        "{:<22} {:<width$} {:<13} {:>6} {:>13} {:>6} {:>8} {:>8} {:>7} {:>7} {:>6} {:>6}",
        "edits",
        "metric",
        "criterion",
        "macro",
        "interval",
        "micro",
        "compared",
        "Spearman",
        "Kendall",
        "Pearson",
        "item ρ",
        "AUC"
    );
    let mut reasons = Reasons::default();
    for line in comparison.lines.iter().filter(|line| is_shown(&line.metric)) {
        out!(
            "{:<22} {:<width$} {:<13} {:>6} {:>13} {:>6} {:>8} {:>8} {:>7} {:>7} {:>6} {:>6}",
            edits(&line.split, &line.group),
            marked_metric(comparison, &line.metric),
            line.criterion,
            cell(&line.agreement.macro_mean),
            interval(&line.macro_interval),
            cell(&line.agreement.micro_mean),
            line.agreement.counts.compared,
            cell(&line.spearman),
            cell(&line.kendall_tau_b),
            cell(&line.pearson),
            cell(&line.spearman_per_item.mean),
            cell(&line.area_under_curve)
        );
        line_reasons(comparison, line, &mut reasons);
    }
    reasons.print();
    about_lines(comparison);
}

/// How the lines were made, and what narrower intervals would need.
fn about_lines(comparison: &Comparison) {
    if comparison.lines.iter().any(|line| is_shown(&line.metric) && is_distance(&line.metric)) {
        out!("{TURNED}");
    }
    let level = comparison.plan.bootstrap.level * 100.0;
    out!(
        "intervals: {level} %, bootstrap over items, {} resamples, seed {}",
        comparison.plan.bootstrap.resamples,
        comparison.plan.bootstrap.seed
    );
    for line in comparison.lines.iter().filter(|line| line.split == ALL && is_shown(&line.metric)) {
        if let Outcome::Value(items) = line.items_needed {
            out!(
                "{} against {}: an interval of width {} needs about {items} items ({} now)",
                metric_words(comparison, &line.metric),
                line.criterion,
                comparison.plan.width,
                line.agreement.items
            );
        }
    }
}

fn line_reasons(comparison: &Comparison, line: &Line, reasons: &mut Reasons) {
    let of = format!("{} against {} ({})", metric_words(comparison, &line.metric), line.criterion, edits(&line.split, &line.group));
    reasons.add(&of, &line.agreement.macro_mean);
    if line.agreement.macro_mean.value().is_some() {
        reasons.add(&of, &line.macro_interval);
        reasons.add(&of, &line.spearman);
        reasons.add(&of, &line.area_under_curve);
    }
}

fn votes_table(comparison: &Comparison) {
    if comparison.votes.is_empty() {
        return;
    }
    out!("");
    out!("metrics against votes:");
    for line in comparison.votes.iter().filter(|line| is_shown(&line.metric)) {
        let policies: Vec<String> = line.by_policy.iter().map(|share| format!("{} {}", share.policy, cell(&share.micro_mean))).collect();
        out!(
            "  {:<16} {:<13} macro {} micro {} ({}), {} of {} votes compared; by policy: {}",
            marked_metric(comparison, &line.metric),
            line.criterion,
            cell(&line.agreement.macro_mean),
            cell(&line.agreement.micro_mean),
            interval(&line.micro_interval),
            line.agreement.counts.compared,
            line.votes,
            policies.join(" · ")
        );
    }
}

fn pairs(comparison: &Comparison) {
    let Some(first) = comparison.lines.first() else { return };
    out!("");
    out!("{} against {}, pair of models by pair (macro is their plain mean):", metric_words(comparison, &first.metric), first.criterion);
    for pair in &first.agreement.pairs {
        out!(
            "  {:<40} {:>6}  ({} compared, {} human ties, {} metric ties, {} without a value)",
            pair.models.join(" – "),
            cell(&pair.share),
            pair.counts.compared,
            pair.counts.human_ties,
            pair.counts.metric_ties,
            pair.counts.missing_metric
        );
        if let Some(why) = pair.share.why() {
            out!("      {why}");
        }
    }
    out!("the same under other treatments of ties (macro):");
    for share in &first.by_policy {
        out!("  {:>6}  {} ({} compared)", cell(&share.macro_mean), share.policy, share.compared);
    }
}

fn significance(comparison: &Comparison) {
    let known: Vec<_> = comparison.significance.iter().filter_map(|found| Some((found, found.result.value()?))).collect();
    if known.is_empty() {
        return;
    }
    out!("");
    out!(
        "metrics against each other on the same items (agreement of the first minus the second; p by swapping within items, Holm-corrected):"
    );
    let (shown, hidden): (Vec<_>, Vec<_>) = known.into_iter().partition(|(found, _)| is_shown(&found.first) && is_shown(&found.second));
    for (found, result) in shown {
        out!(
            "  {:<28} {:<13} {:>+6.3} ({})  p {:.4}, corrected {}  {} items",
            format!("{} – {}", metric_words(comparison, &found.first), metric_words(comparison, &found.second)),
            found.criterion,
            result.difference,
            interval(&result.interval),
            result.p_value,
            found.p_holm.value().map_or_else(|| UNDEFINED.to_owned(), |p| format!("{p:.4}")),
            result.items
        );
    }
    let rest = match hidden.len() {
        0 => String::new(),
        count => format!(" {count} of them are inside or outside the region; they are in the JSON and in the report."),
    };
    out!("{}{rest}", significance_words(comparison));
}

fn people(comparison: &Comparison) {
    let several = |criteria: &BTreeMap<String, BetweenRaters>| criteria.values().any(|found| found.raters.len() > 1);
    if several(&comparison.between_raters_all) {
        out!("");
        out!(
            "{:<14} {:<22} {:>6} {:>8} {:>8} {:>8} {:>7} {:>6} {:>7} {:>7} {:>7}",
            "people",
            "model",
            "edits",
            "per cent",
            "α nom.",
            "α ord.",
            "α int.",
            "of all",
            "Fleiss",
            "ICC2,1",
            "ICC2,k"
        );
        let mut reasons = Reasons::default();
        for (criterion, all) in comparison.between_raters_all.iter().filter(|(_, all)| all.raters.len() > 1) {
            between_line(criterion, "all models", all, &mut reasons);
            for (model, found) in comparison.between_raters.get(criterion).into_iter().flatten() {
                between_line(criterion, model, found, &mut reasons);
            }
        }
        reasons.print();
        if let Some(words) = one_rater_words(&comparison.between_raters_all) {
            out!("{words}");
        }
        out!("edits: answered by two raters or more; of all: by every rater, which Fleiss' κ and ICC are over");
        kappas(&comparison.between_raters_all);
        raters(&comparison.raters);
    }
    voters(comparison);
    if !comparison.disagreements.is_empty() {
        out!("");
        out!("people disagree most about:");
        for found in comparison.disagreements.iter().take(8) {
            let answers: Vec<String> = found.answers.iter().map(|(rater, value)| format!("{rater} {value}")).collect();
            out!("  {} by {} on {}: {}", found.item, found.model, found.criterion, answers.join(", "));
        }
    }
}

/// How voters agree, and how each of them votes.
fn voters(comparison: &Comparison) {
    let percent = |share: &Outcome<f64>| share.value().map_or_else(|| UNDEFINED.to_owned(), |share| format!("{:.0} %", share * 100.0));
    for (criterion, found) in &comparison.between_voters {
        if found.raters.len() > 1 {
            out!("");
            let (equal, alpha, kappa) = (percent(&found.percent), cell(&found.alpha_nominal), cell(&found.fleiss_kappa));
            out!("voters on {criterion}: {equal} equal, α nominal {alpha}, Fleiss' κ {kappa}");
            kappas(&BTreeMap::from([(criterion.clone(), found.clone())]));
        }
        for (voter, report) in comparison.voters.get(criterion).into_iter().flatten() {
            out!(
                "  {voter:<18} {} votes, {} of the decided ones for the first (left), {} ties or both bad, {} as the others",
                report.votes,
                percent(&report.first_share),
                percent(&report.tie_share),
                percent(&report.with_others)
            );
        }
    }
}

fn between_line(criterion: &str, model: &str, found: &BetweenRaters, reasons: &mut Reasons) {
    out!(
        "{criterion:<14} {model:<22} {:>6} {:>8} {:>8} {:>8} {:>7} {:>6} {:>7} {:>7} {:>7}",
        found.edits_with_two,
        cell(&found.percent),
        cell(&found.alpha_nominal),
        cell(&found.alpha_ordinal),
        cell(&found.alpha_interval),
        found.edits_with_all.map_or_else(|| "–".to_owned(), |count| count.to_string()),
        cell(&found.fleiss_kappa),
        cell(&found.icc_single),
        cell(&found.icc_mean)
    );
    reasons.add(&format!("α of {model} on {criterion}"), &found.alpha_ordinal);
    if found.alpha_ordinal.value().is_some() {
        reasons.add(&format!("κ and ICC of {model} on {criterion}"), &found.icc_mean);
    }
}

/// Cohen's κ of every pair of people, or why it is left out.
fn kappas(criteria: &BTreeMap<String, BetweenRaters>) {
    let mut reasons = Reasons::default();
    for (criterion, found) in criteria {
        if let Some(why) = no_pairs_words(found) {
            out!("{criterion}: {why}");
        }
        if !found.cohen_kappa.is_empty() {
            let pairs: Vec<String> =
                found.cohen_kappa.iter().map(|pair| format!("{} {}", pair.raters.join(" – "), cell(&pair.kappa))).collect();
            out!("Cohen's κ on {criterion}: {}", pairs.join(" · "));
        }
        for pair in &found.cohen_kappa {
            reasons.add(&format!("κ of {} on {criterion}", pair.raters.join(" – ")), &pair.kappa);
        }
    }
    reasons.print();
}

fn raters(reports: &BTreeMap<String, BTreeMap<String, RaterReport>>) {
    out!("");
    out!(
        "{:<14} {:<18} {:>7} {:>7} {:>7} {:>11} {:>9} {:>9}",
        "criterion",
        "rater",
        "answers",
        "bias",
        "spread",
        "with others",
        "repeated",
        "seconds"
    );
    let mut reasons = Reasons::default();
    for (criterion, raters) in reports {
        for (rater, report) in raters {
            let of = format!("{rater} on {criterion}");
            reasons.add(&format!("bias of {of}"), &report.bias);
            reasons.add(&format!("spread of {of}"), &report.spread);
            reasons.add(&format!("ρ of {of}"), &report.with_others);
            // Where nothing was asked twice or timed, a dash says enough for all.

            let consistency = report.self_consistency.value().map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", share * 100.0));
            let seconds = report.median_seconds.value().map_or_else(|| "–".to_owned(), |seconds| format!("{seconds:.1}"));
            let bias = report.bias.value().map_or_else(|| UNDEFINED.to_owned(), |bias| format!("{bias:+.3}"));
            out!(
                "{criterion:<14} {rater:<18} {:>7} {bias:>7} {:>7} {:>11} {consistency:>9} {seconds:>9}",
                report.answers,
                cell(&report.spread),
                cell(&report.with_others)
            );
        }
    }
    reasons.print();
}

fn boards(comparison: &Comparison) {
    for board in comparison.leaderboards.iter().filter(|board| board.split == ALL && is_shown(&board.judge)) {
        out!("");
        out!("{}", heading(comparison, board));
        for standing in &board.standings {
            let strength = standing.strength.value().map_or_else(|| UNDEFINED.to_owned(), |value| format!("{value:+.3}"));
            out!(
                "  {:<22} win rate {} ({} won, {} lost, {} tied)  strength {strength} ({})  Elo {:.0}  mean {}",
                standing.model,
                cell(&standing.win_rate),
                standing.wins,
                standing.losses,
                standing.ties,
                interval(&standing.strength_interval),
                standing.elo,
                cell(&standing.mean)
            );
        }
        if let Some(why) = board.standings.iter().find_map(|standing| standing.strength.why()) {
            out!("  no strengths: {why}");
        }
    }
    group_boards(comparison);
}

/// The order of models in groups of edits, a line a judge.
fn group_boards(comparison: &Comparison) {
    let mut last = String::new();
    for board in comparison.leaderboards.iter().filter(|board| board.split != ALL && is_shown(&board.judge)) {
        let group = edits(&board.split, &board.group);
        if group != last {
            out!("");
            out!("models in {group} (win rates):");
            last = group;
        }
        let order: Vec<String> =
            board.standings.iter().map(|standing| format!("{} {}", standing.model, cell(&standing.win_rate))).collect();
        let judge = judge(comparison, board);
        out!("  by {judge} ({} comparisons): {}", board.duels, order.join(" > "));
    }
}

fn heading(comparison: &Comparison, board: &Leaderboard) -> String {
    format!("models by {} ({} comparisons; strength: log of Davidson's, mean 0; {ELO}):", judge(comparison, board), board.duels)
}

/// Who judges.
fn judge(comparison: &Comparison, board: &Leaderboard) -> String {
    let judge = metric_words(comparison, &board.judge);
    if board.criterion.is_empty() { judge.to_owned() } else { format!("{judge} on {}", board.criterion) }
}

fn weights(comparison: &Comparison) {
    let Some(weights) = &comparison.weights else { return };
    out!("");
    out!("weight α of modify and preserve against size and position, {} local edits with all parts:", weights.edits);
    let sweep: Vec<String> = weights.sweep.iter().map(|at| format!("{:.1} {}", at.alpha, cell(&at.agreement))).collect();
    out!("  {}", sweep.join(" · "));
    match &weights.held_out {
        Outcome::Value(found) => out!(
            "  chosen on {} items: α = {:.1} ({:.3}); held out, on the other {}: {:.3}",
            found.items_chosen,
            found.alpha,
            found.agreement_on_chosen,
            found.items_held_out,
            found.agreement_held_out
        ),
        Outcome::NotApplicable(why) | Outcome::Failed(why) => out!("  no held-out test: {why}"),
    }
    out!("  {}", weights.warning);
}

fn profiles(comparison: &Comparison) {
    for found in &comparison.profiles {
        out!("");
        out!(
            "{} against {}: {} of {} pairs change their order ({} of {} items), {} tie under one only",
            found.readings[0],
            found.readings[1],
            found.reversals.len(),
            found.pairs,
            found.items_changed,
            found.items,
            found.ties_in_one
        );
        for reversal in found.reversals.iter().take(5) {
            out!(
                "  {}: {} before {} ({:.3}, {:.3}), then behind ({:.3}, {:.3})",
                reversal.item,
                reversal.models[0],
                reversal.models[1],
                reversal.before[0],
                reversal.before[1],
                reversal.after[0],
                reversal.after[1]
            );
        }
    }
}

fn ground_truth(comparison: &Comparison) {
    if !comparison.ground_truth.is_empty() {
        out!("");
        out!("ground truth (share of items where the good edit scores above the others; a tie is wrong):");
        for found in comparison.ground_truth.iter().filter(|found| is_shown(&found.metric)) {
            let against: Vec<String> =
                found.result.against.iter().map(|a| format!("{} {} ({}/{})", a.kind, cell(&a.share), a.right, a.compared)).collect();
            let over = if against.is_empty() { String::new() } else { format!("; over {}", against.join(", ")) };
            out!(
                "  {:<16} {} ({} of {} items; {} without a value){over}",
                marked_metric(comparison, &found.metric),
                cell(&found.result.share),
                found.result.right,
                found.result.items,
                found.result.missing_metric
            );
            if let Some(words) = ground_truth_words(&found.result) {
                out!("      {words}");
            }
            if let Some(why) = found.result.share.why() {
                out!("      {why}");
            }
        }
    }
}

fn mismatches(comparison: &Comparison) {
    if !comparison.mismatches.is_empty() {
        out!("");
        out!("the metric and people differ most on:");
        for found in comparison.mismatches.iter().take(5) {
            let kind = if found.gap() > 0.0 { "too kind" } else { "too harsh" };
            out!(
                "  {} by {}: {} {:.3} (place {:.2}), people {:.2} (place {:.2}): {kind}",
                found.item,
                found.model,
                metric_words(comparison, &found.metric),
                found.value,
                found.metric_place,
                found.human,
                found.human_place
            );
        }
    }
}
