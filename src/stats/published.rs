//! Published agreement of metrics with people, to stand beside one's own: always on other data, other raters and other models.

use serde::Serialize;

use super::comparison::{ALL, BY_SCOPE, Comparison, Line, OVERALL};
use crate::domain::Baseline;

/// One line of a published table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedLine {
    pub metric: &'static str,
    /// By pair of models, in the order of [`PublishedTable::pairs`]; empty when only the mean is published.
    pub shares: &'static [f64],
    /// The plain mean over pairs of models, as printed.
    pub mean: f64,
}

/// A published table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedTable {
    pub title: &'static str,
    pub source: &'static str,
    pub pairs: &'static [&'static str],
    pub lines: &'static [PublishedLine],
}

const fn line(metric: &'static str, shares: &'static [f64], mean: f64) -> PublishedLine {
    PublishedLine { metric, shares, mean }
}

const SOURCE: &str = "BPM, arXiv 2506.13827 (ICML 2025); other items, models and raters than these";

/// The paper's two tables of agreement with people.
pub const PAPER: [PublishedTable; 2] = [
    PublishedTable {
        title: "Local edits",
        source: SOURCE,
        pairs: &["MGIE-FT", "MGIE-IP2P", "IP2P-FT", "DALLE2-IP2P", "DALLE2-FT", "DALLE2-MGIE"],
        lines: &[
            line("L2", &[0.651, 0.614, 0.724, 0.762, 0.659, 0.801], 0.702),
            line("LPIPS", &[0.687, 0.602, 0.665, 0.731, 0.626, 0.791], 0.683),
            line("CLIP-I", &[0.578, 0.574, 0.571, 0.705, 0.643, 0.796], 0.644),
            line("DINOScore", &[0.608, 0.597, 0.606, 0.746, 0.692, 0.796], 0.674),
            line("CLIPScore", &[0.530, 0.477, 0.494, 0.394, 0.429, 0.387], 0.452),
            line("GPT-4o", &[0.681, 0.676, 0.712, 0.860, 0.780, 0.817], 0.754),
            line("CLIPScore+CLIP-I", &[0.648, 0.667, 0.607, 0.691, 0.573, 0.660], 0.641),
            line("BPM", &[0.663, 0.659, 0.818, 0.943, 0.802, 0.911], 0.799),
        ],
    },
    PublishedTable {
        title: "Global edits (means only)",
        source: SOURCE,
        pairs: &[],
        lines: &[
            line("L2", &[], 0.661),
            line("LPIPS", &[], 0.690),
            line("CLIP-I", &[], 0.702),
            line("DINOScore", &[], 0.667),
            line("CLIPScore", &[], 0.817),
            line("GPT-4o", &[], 0.730),
            line("CLIPScore+CLIP-I", &[], 0.787),
            line("BPM", &[], 0.829),
        ],
    },
];

/// What of ours a published metric stands beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Our columns that may be meant, the likeliest first; empty where nothing of ours is the same.
    pub columns: &'static [&'static str],
    /// What the publication leaves open, or why nothing of ours is the same.
    pub remark: &'static str,
}

/// Our variants of a published metric.
pub fn beside(metric: &str) -> Beside {
    let (columns, remark): (&[&str], _) = match metric {
        "BPM" => (&[OVERALL], "Under the profile and range that are shown here."),
        "L2" => {
            (&["l2"], "How the paper computes it is not said; here: mean squared difference, the whole picture at the size of the source.")
        }
        "LPIPS" => {
            (&["lpips-alex", "lpips-vgg", "lpips-squeeze"], "The paper does not name the network; AlexNet is the package's default.")
        }
        "CLIP-I" => (&["clip-i"], "Whole pictures, with the CLIP that BPM uses here; the paper does not name its own."),
        "DINOScore" => (&["dino-vits16", "dino-vitb8"], "The paper does not name the network; ViT-S/16 is what MagicBrush evaluates with."),
        "CLIPScore" => (&["clip-t"], "CLIPScore is 2.5 times CLIP-T, which orders edits alike; what text the paper took is not said."),
        "GPT-4o" => (&[], "No language model is run here."),
        "CLIPScore+CLIP-I" => (&[], "How the paper adds the two is not said, so it is not computed here."),
        _ => (&[], "Nothing of ours is the same."),
    };
    Beside { columns, remark }
}

/// The name on screen of one of our columns.
pub fn own_name(column: &str) -> &str {
    match Baseline::from_name(column) {
        _ if column == OVERALL => "BPM",
        Some(baseline) => baseline.label(),
        None => column,
    }
}

impl PublishedTable {
    /// The edits that it is about, as a comparison calls that group of its split by scope.
    pub fn group(&self) -> &'static str {
        if self.pairs.is_empty() { "global" } else { "local" }
    }

    /// Our line beside one of its own: of the first variant that has one, local or global as the table is where edits are split by scope,
    /// else over all edits. Against people on the overall impression.
    pub fn own_line<'a>(&self, metric: &str, found: &'a Comparison) -> Option<&'a Line> {
        let of = |column: &str, split: &str, group: &str| {
            found.lines.iter().find(|line| line.metric == column && line.criterion == OVERALL && line.split == split && line.group == group)
        };
        beside(metric).columns.iter().find_map(|column| of(column, BY_SCOPE, self.group()).or_else(|| of(column, ALL, ALL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_metric_names_what_of_ours_it_stands_beside_or_why_nothing_does() {
        for line in PAPER.iter().flat_map(|table| table.lines) {
            let found = beside(line.metric);
            assert!(!found.remark.is_empty(), "{}", line.metric);
            let unknown = |column: &&&str| **column != OVERALL && Baseline::from_name(column).is_none();
            assert_eq!(found.columns.iter().find(unknown), None, "{}", line.metric);
        }
        assert_eq!((PAPER[0].group(), PAPER[1].group()), ("local", "global"));
        assert_eq!((own_name(OVERALL), own_name("lpips-alex"), own_name("mine")), ("BPM", "LPIPS Alex", "mine"));
    }

    /// A slip of the pen shows: the printed mean is that of the printed shares, to the last digit that is printed.
    #[test]
    fn printed_means_are_those_of_the_printed_shares() {
        for line in PAPER.iter().flat_map(|table| table.lines).filter(|line| !line.shares.is_empty()) {
            let mean = line.shares.iter().sum::<f64>() / line.shares.len() as f64;
            assert!((mean - line.mean).abs() <= 0.001, "{}: {mean} against {}", line.metric, line.mean);
        }
    }
}
