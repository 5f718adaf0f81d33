//! The lines over all edits as a LaTeX table for a paper (package `booktabs`), the published means below as what they are.

use std::fmt::Write as _;

use super::words::{is_distance, is_of_zone, metric_words};
use crate::domain::Outcome;
use crate::stats::Interval;
use crate::stats::comparison::{ALL, Comparison, Line, utc_text};
use crate::stats::published::{PAPER, beside, own_name};

/// The table, with the packages that it needs and where it comes from in comments.
pub(super) fn table(comparison: &Comparison) -> String {
    let about = &comparison.about;
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!("% EditScope {}: {}", about.program, comment(&about.data)));
    line(format!("% profile {}; ties: {}", about.profile.as_deref().unwrap_or("none"), comment(&about.tie_policy)));
    if let Some(at) = about.at_millis {
        line(format!("% saved {} as {} by {}", utc_text(at), comment(&about.name), comment(&about.who)));
    }
    for content in &about.content {
        line(format!("% content of {}: {}", comment(&content.what), content.hash));
    }
    line("% needs \\usepackage{booktabs}".into());
    if comparison.lines.iter().any(|found| [&found.metric, &found.criterion].into_iter().any(|name| !name.is_ascii())) {
        line("% names in other scripts need XeLaTeX or LuaLaTeX and a font that has them".into());
    }
    line("\\begin{table}".into());
    line("  \\centering".into());
    // So that it fits a page of one column.
    line("  \\footnotesize".into());
    line("  \\setlength{\\tabcolsep}{3pt}".into());
    line("  \\begin{tabular}{llrrrrr}".into());
    line("    \\toprule".into());
    line("    Metric & Criterion & Pairs & Macro & Micro & Spearman $\\rho$ & Kendall $\\tau_b$ \\\\".into());
    line("    \\midrule".into());
    let lines = || comparison.lines.iter().filter(|found| found.split == ALL);
    let (zones, whole): (Vec<&Line>, Vec<&Line>) = lines().partition(|found| is_of_zone(&found.metric));
    whole.iter().for_each(|found| line(row(comparison, found)));
    if !zones.is_empty() {
        line(format!("% {} rows of metrics inside and outside of the region: take the % away to print them", zones.len()));
        zones.iter().for_each(|found| line(format!("%{}", row(comparison, found))));
    }
    line("    \\midrule".into());
    line("    \\multicolumn{7}{l}{\\emph{Published on other data (BPM, local edits; not comparable item by item)}} \\\\".into());
    for published in PAPER[0].lines {
        let own = beside(published.metric).columns.first().map(|column| own_name(column)).filter(|name| *name != published.metric);
        let own = own.map(|name| format!(" (cf. {name})")).unwrap_or_default();
        line(format!("    {}{} & overall & & {:.3} & & & \\\\", escape(published.metric), escape(&own), published.mean));
    }
    line("    \\bottomrule".into());
    line("  \\end{tabular}".into());
    let level = comparison.plan.bootstrap.level * 100.0;
    line(format!(
        "  \\caption{{Agreement with people, {} edits of which {} are rated. Macro: plain mean over pairs of models; micro: over all pairs. \
         Brackets: {level}\\,\\% intervals, bootstrap over items ({} resamples). Ties: {}.{}{}}}",
        about.edits,
        about.rated,
        comparison.plan.bootstrap.resamples,
        escape(&about.tie_policy),
        if lines().any(|found| is_distance(&found.metric)) { " $\\downarrow$: a distance, counted with its sign turned." } else { "" },
        if about.simulated_ratings { " Some ratings were simulated by a program." } else { "" }
    ));
    line("\\end{table}".into());
    text
}

/// One line of the comparison; a distance is marked.
fn row(comparison: &Comparison, found: &Line) -> String {
    let mark = if is_distance(&found.metric) { " $\\downarrow$" } else { "" };
    format!(
        "    {}{mark} & {} & {} & {} & {} & {} & {} \\\\",
        escape(metric_words(comparison, &found.metric)),
        escape(&found.criterion),
        found.agreement.counts.compared,
        with_interval(&found.agreement.macro_mean, &found.macro_interval),
        cell(&found.agreement.micro_mean),
        with_interval(&found.spearman, &found.spearman_interval),
        cell(&found.kendall_tau_b)
    )
}

fn cell(outcome: &Outcome<f64>) -> String {
    outcome.value().map_or_else(|| "--".to_owned(), |value| number(*value))
}

/// A number with a minus sign instead of a hyphen.
fn number(value: f64) -> String {
    format!("{value:.3}").replace('-', "$-$")
}

fn with_interval(outcome: &Outcome<f64>, interval: &Outcome<Interval>) -> String {
    let mut text = cell(outcome);
    if let (Some(_), Some(found)) = (outcome.value(), interval.value()) {
        // Writing to a string cannot fail.
        let _ = write!(text, " {{\\tiny [{}, {}]}}", number(found.low), number(found.high));
    }
    text
}

/// Text with LaTeX's special characters made plain.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(c);
            }
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '\\' => safe.push_str("\\textbackslash{}"),
            '<' => safe.push_str("\\textless{}"),
            '>' => safe.push_str("\\textgreater{}"),
            '|' => safe.push_str("\\textbar{}"),
            '"' => safe.push_str("''"),
            // At the beginning of a row they would belong to the line end before it.
            '[' | ']' => {
                safe.push('{');
                safe.push(c);
                safe.push('}');
            }
            '\n' | '\r' | '\t' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// Text that cannot end a comment early.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_plain() {
        assert_eq!(
            escape("a_b & 50 % {x} \\y ~^#$"),
            "a\\_b \\& 50 \\% \\{x\\} \\textbackslash{}y \\textasciitilde{}\\textasciicircum{}\\#\\$"
        );
        assert_eq!(escape("[a|b]<c>\n\"d\""), "{[}a\\textbar{}b{]}\\textless{}c\\textgreater{} ''d''");
        assert_eq!(number(-0.25), "$-$0.250");
        assert_eq!(comment("a\nb"), "a b");
    }
}
