//! Boxes and masks on the source or on an edit, with what they are for and where they came from.

use serde::{Deserialize, Serialize};

use super::geometry::{ImageSpace, Rect};
use super::rle::Rle;

/// Which picture of the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Source,
    Edit,
}

/// One box that a detector proposed for a phrase, in upright pixels of the picture it was found on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Edges in image pixels; may leave the picture a little.
    #[serde(rename = "box")]
    pub rect_in_image: Rect<ImageSpace>,
    /// The words of the query that the detector matched.
    pub phrase: String,
    /// Largest token probability, in `0..=1`.
    pub confidence: f32,
    /// The tokens of the query with their probabilities, in their order; empty for boxes that no detector made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<TokenMatch>,
}

impl Detection {
    /// Whether the metric uses it under a box threshold: only boxes above it are used, not those at it.
    pub fn is_above(&self, box_threshold: f32) -> bool {
        self.confidence > box_threshold
    }

    /// What it is called on screen and in files for other tools: the phrase without the dot that ends the detector's query.
    pub fn name(&self) -> &str {
        self.phrase.trim_end_matches(['.', ' '])
    }

    /// The words that would be its label under another text threshold: those of tokens whose probability is above it, pieces of words (`##`)
    /// written together. The phrase as it is where no detector told tokens.
    pub fn phrase_above(&self, text_threshold: f32) -> String {
        if self.tokens.is_empty() {
            return self.phrase.clone();
        }
        let mut words = String::new();
        for found in self.tokens.iter().filter(|found| found.probability > text_threshold) {
            match found.token.strip_prefix("##") {
                Some(piece) => words.push_str(piece),
                None if words.is_empty() => words.push_str(&found.token),
                None => {
                    words.push(' ');
                    words.push_str(&found.token);
                }
            }
        }
        words
    }
}

/// How surely a box shows one token of the query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenMatch {
    /// As the detector's vocabulary writes it (`##` begins a piece inside a word).
    pub token: String,
    /// In `0..=1`.
    pub probability: f32,
}

/// What a region stands for in the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionRole {
    /// What the instruction changes, on the source; of an addition the reference it is added to.
    Original,
    /// What the instruction leads to, on the edit.
    Edited,
    /// Pixels that belong to the edit region; preservation is judged outside.
    EditMask,
    /// Pixels that count neither way.
    Ignore,
}

/// Who drew a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionOrigin {
    Detector,
    Segmenter,
    Person,
    Import,
}

/// The area itself, in image pixels of its side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegionShape {
    Box(Rect<ImageSpace>),
    Mask(Rle),
}

/// A box or mask on one picture of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    pub side: Side,
    pub role: RegionRole,
    pub origin: RegionOrigin,
    pub shape: RegionShape,
    /// The phrase or name shown beside it; empty if none.
    pub label: String,
    /// Confidence in `0..=1`, for proposals of a network.
    pub confidence: Option<f32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_to_be_exceeded_and_pieces_of_words_are_written_together() {
        let token = |token: &str, probability| TokenMatch { token: token.into(), probability };
        let tokens = vec![token("red", 0.5), token("sun", 0.4), token("##flower", 0.25)];
        let found = Detection { rect_in_image: Rect::new(0.0, 0.0, 1.0, 1.0), phrase: "red sun".into(), confidence: 0.5, tokens };
        assert!(found.is_above(0.49) && !found.is_above(0.5));
        assert_eq!([0.2, 0.25, 0.45, 0.6].map(|threshold| found.phrase_above(threshold)), ["red sunflower", "red sun", "red", ""]);
        assert_eq!(Detection { tokens: Vec::new(), ..found }.phrase_above(0.9), "red sun");
    }
}
