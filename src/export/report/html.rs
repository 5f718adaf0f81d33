//! The page: head, styles for light and dark, and the sections in order.

use super::ReportExtras;
use super::{metrics, notes, people, sections};
use crate::stats::comparison::{Comparison, utc_text};

/// Text that is safe inside elements and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

const STYLE: &str = "
:root { --page: #f8f9fb; --text: #2b313a; --dim: #626c7a; --line: #ccd2db; --raised: #eef0f3; --accent: #1867c0; --warn: #8c5a00;
  --m0: #0077c2; --m1: #c25e00; --m2: #1d7f52; --m3: #8b2fc9; --m4: #6d6500; --m5: #b8325a; --m6: #4253b5; --m7: #2f7d73; }
@media (prefers-color-scheme: dark) {
  :root { --page: #16191e; --text: #d5dae2; --dim: #98a2b0; --line: #3a414c; --raised: #20252c; --accent: #6db1f5; --warn: #e2ad4d;
    --m0: #5ab4ee; --m1: #f0984a; --m2: #5fc795; --m3: #c58af0; --m4: #cdc34a; --m5: #ef7d9d; --m6: #93a1f2; --m7: #6fc7bb; } }
body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.4rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .25rem .5rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
th { color: var(--dim); font-weight: 600; white-space: normal; vertical-align: bottom; overflow-wrap: anywhere; min-width: 3.2rem; }
td:nth-child(-n+2) { white-space: normal; }
td small { color: var(--dim); display: block; } td.wide { white-space: normal; text-align: left; }
.note { border-left: 4px solid var(--warn); background: var(--raised); padding: .4rem .8rem; margin: .5rem 0; }
.dim, figcaption { color: var(--dim); font-size: .9rem; } .undefined { color: var(--dim); font-style: italic; }
svg.plot { max-width: 100%; height: auto; } svg text { fill: var(--text); font-size: 13px; } svg text.small { fill: var(--dim); font-size: 11px; }
.grid { stroke: var(--line); stroke-width: 1; } .mark { stroke: var(--warn); stroke-dasharray: 5 4; }
.interval { stroke: var(--accent); stroke-width: 3; stroke-linecap: round; opacity: .55; } .dot { fill: var(--accent); }
.curve { fill: none; stroke: var(--accent); stroke-width: 2; }
.m0 { fill: var(--m0); } .m1 { fill: var(--m1); } .m2 { fill: var(--m2); } .m3 { fill: var(--m3); }
.m4 { fill: var(--m4); } .m5 { fill: var(--m5); } .m6 { fill: var(--m6); } .m7 { fill: var(--m7); }
path[class^=m] { opacity: .75; }
.source-box { fill: none; stroke: #0077c2; } .edit-box { fill: none; stroke: #c25e00; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: .5rem 0; } figure.missing p { color: var(--warn); max-width: 360px; }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); }
.good { font-weight: 700; } code { background: var(--raised); padding: 0 .25rem; }
@media print { details { display: block; } }
";

/// The whole page.
pub(super) fn page(comparison: &Comparison, extras: &ReportExtras) -> String {
    let about = &comparison.about;
    let title = if about.name.is_empty() { format!("Agreement: {}", about.data) } else { about.name.clone() };
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
        escape(&title),
        escape(&title)
    );
    let saved = match about.at_millis {
        Some(at) => {
            format!("Saved {}{}. ", utc_text(at), if about.who.is_empty() { String::new() } else { format!(" by {}", escape(&about.who)) })
        }
        None => String::new(),
    };
    page.push_str(&format!(
        "<p class=\"dim\">{saved}{} edits, {} rated, {} votes. Ties: {}. EditScope {}.</p>\n",
        about.edits,
        about.rated,
        about.vote_count,
        escape(&about.tie_policy),
        escape(&about.program)
    ));
    page.push_str(&notes::general(comparison));
    for section in [
        metrics::metrics(comparison),
        metrics::scatter(comparison, extras),
        sections::votes(comparison),
        metrics::model_pairs(comparison),
        sections::significance(comparison),
        sections::models(comparison),
        people::people(comparison),
        sections::weights(comparison),
        sections::profiles(comparison),
        sections::ground_truth(comparison),
        sections::worst(comparison, extras),
        sections::published(comparison),
        sections::provenance(comparison),
    ] {
        page.push_str(&section);
    }
    page.push_str("</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
    }
}
