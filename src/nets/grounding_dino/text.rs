//! Phrases: from words to tokens that see only their own phrase, and from tokens back to words.
//!
//! Source of the arithmetic: transformers 4.57, `modeling_grounding_dino.py`, `generate_masks_with_special_tokens_and_transfer_map`.

use burn::tensor::{Device, Tensor};

use super::Stages;
use crate::nets::NetError;
use crate::nets::checkpoint::CheckpointError;
use crate::nets::tokenize::BertTokenizer;

/// A text as the detector was trained on: lower case, trimmed, ending in a full stop.
pub fn caption(text: &str) -> String {
    let mut caption = text.to_lowercase().trim().to_owned();
    if !caption.ends_with('.') {
        caption.push('.');
    }
    caption
}

/// The tokens of a caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// `[CLS]`, words, `[SEP]`; cut to the longest text of the network.
    pub ids: Vec<u32>,
    /// Place of each token within its phrase, from 0.
    pub positions: Vec<usize>,
    /// Row-major `tokens × tokens`: whether a token (row) sees another (column).
    pub seen: Vec<bool>,
    /// How many tokens did not fit and were cut.
    pub cut: usize,
}

impl Tokens {
    /// Groups `ids` into phrases, each ending with one of `separators`, and cuts what lies beyond `longest`.
    ///
    /// The first and the last token, and a tail without a separator, see only themselves and have the position 0. Phrases are those of the
    /// uncut text.
    pub fn new(mut ids: Vec<u32>, separators: &[u32], longest: usize) -> Self {
        let count = ids.len();
        let kept = count.min(longest);
        let mut positions = vec![0; count];
        let mut phrase: Vec<usize> = (0..count).collect();
        // The first token, `[CLS]`, belongs to no phrase.
        let mut begin = 1;
        for (at, id) in ids.iter().enumerate() {
            if !separators.contains(id) {
                continue;
            }
            if at > 0 && at + 1 < count {
                for token in begin..=at {
                    positions[token] = token - begin;
                    phrase[token] = begin;
                }
            }
            begin = at + 1;
        }
        let seen = phrase[..kept].iter().flat_map(|a| phrase[..kept].iter().map(move |b| a == b)).collect();
        ids.truncate(kept);
        positions.truncate(kept);
        Self { ids, positions, seen, cut: count - kept }
    }

    /// Shows what the text model is told, as floats.
    pub(super) fn show(&self, stages: &mut Stages<'_>, device: &Device) {
        let tensor = |values: Vec<f32>| Tensor::<1>::from_floats(values.as_slice(), device);
        stages.keep("ids", || tensor(self.ids.iter().map(|&id| id as f32).collect()));
        stages.keep("positions", || tensor(self.positions.iter().map(|&at| at as f32).collect()));
        stages.keep("phrase_mask", || tensor(self.seen.iter().map(|&seen| f32::from(u8::from(seen))).collect()));
    }

    /// Number of tokens.
    pub fn count(&self) -> usize {
        self.ids.len()
    }
}

/// BERT's tokenizer with the separators of phrases.
pub struct Words {
    tokenizer: BertTokenizer,
    separators: Vec<u32>,
    longest: usize,
}

impl Words {
    /// Phrases in the words of `tokenizer`, for texts of at most `longest` tokens.
    ///
    /// # Errors
    /// When the vocabulary lacks what ends phrases.
    pub fn new(tokenizer: BertTokenizer, longest: usize) -> Result<Self, CheckpointError> {
        let separators = ["[CLS]", "[SEP]", ".", "?"].map(|token| tokenizer.needed(token)).into_iter().collect::<Result<_, _>>()?;
        Ok(Self { tokenizer, separators, longest })
    }

    /// The tokens of a caption.
    ///
    /// # Errors
    /// [`NetError::Tokens`] when the tokenizer fails.
    pub fn tokens(&self, caption: &str) -> Result<Tokens, NetError> {
        Ok(Tokens::new(self.tokenizer.encode(caption)?.ids, &self.separators, self.longest))
    }

    /// Tokens as words, `[CLS]` and `[SEP]` included.
    ///
    /// # Errors
    /// [`NetError::Tokens`] when the tokenizer fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String, NetError> {
        self.tokenizer.decode(ids)
    }

    /// Each token by itself, as the vocabulary has it.
    pub fn pieces(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|&id| self.tokenizer.piece(id).unwrap_or_default()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEPARATORS: [u32; 4] = [101, 102, 1012, 1029];

    #[test]
    fn captions_end_in_one_full_stop() {
        // The released script: lower(), strip(), and a full stop where there is none.
        assert_eq!(caption("  A Cat "), "a cat.");
        assert_eq!(caption("a cat."), "a cat.");
        assert_eq!(caption(""), ".");
        assert_eq!(caption("is it? "), "is it?.");
    }

    #[test]
    fn phrases_by_hand() {
        // [CLS] a . b c ? d [SEP], by the description in the reference: the tail "d" sees only itself.
        let tokens = Tokens::new(vec![101, 7, 1012, 8, 9, 1029, 10, 102], &SEPARATORS, 256);
        assert_eq!(tokens.positions, [0, 0, 1, 0, 1, 2, 0, 0]);
        let groups = [0, 1, 1, 2, 2, 2, 3, 4];
        for (row, a) in groups.iter().enumerate() {
            for (column, b) in groups.iter().enumerate() {
                assert_eq!(tokens.seen[row * 8 + column], a == b, "{row} {column}");
            }
        }
        assert_eq!(tokens.cut, 0);
    }

    #[test]
    fn a_long_text_is_cut_after_grouping() {
        // Cut to four, the phrase "8 9 ?" keeps its position although its separator is gone.
        let tokens = Tokens::new(vec![101, 7, 1012, 8, 9, 1029, 102], &SEPARATORS, 5);
        assert_eq!(tokens.ids, [101, 7, 1012, 8, 9]);
        assert_eq!(tokens.positions, [0, 0, 1, 0, 1]);
        assert_eq!(tokens.cut, 2);
        assert!(tokens.seen[3 * 5 + 4] && !tokens.seen[2 * 5 + 3]);
    }
}
