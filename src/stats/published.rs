//! Published agreement of metrics with people, to stand beside one's own: always on other data, other raters and other models.

use serde::Serialize;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A slip of the pen shows: the printed mean is that of the printed shares, to the last digit that is printed.
    #[test]
    fn printed_means_are_those_of_the_printed_shares() {
        for line in PAPER.iter().flat_map(|table| table.lines).filter(|line| !line.shares.is_empty()) {
            let mean = line.shares.iter().sum::<f64>() / line.shares.len() as f64;
            assert!((mean - line.mean).abs() <= 0.001, "{}: {mean} against {}", line.metric, line.mean);
        }
    }
}
