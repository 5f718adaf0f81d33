//! Texts to token numbers, by the `tokenizer.json` of a checkpoint.
//!
//! Both published tokenizers (CLIP's byte-level BPE, BERT's WordPiece) run in the `tokenizers` crate, which the reference uses too.

use std::ops::Range;
use std::path::Path;

use tokenizers::Tokenizer;

use super::NetError;
use super::checkpoint::{CheckpointError, TOKENIZER};

fn open(folder: &Path) -> Result<Tokenizer, CheckpointError> {
    let path = folder.join(TOKENIZER);
    let text = std::fs::read(&path).map_err(|source| CheckpointError::Read { path: path.clone(), source })?;
    let mut tokenizer =
        Tokenizer::from_bytes(text).map_err(|e| CheckpointError::Tokenizer { path: path.clone(), reason: e.to_string() })?;
    // Some files ask for cutting or padding; both are the network's business.
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|e| CheckpointError::Tokenizer { path, reason: e.to_string() })?;
    Ok(tokenizer)
}

fn token(tokenizer: &Tokenizer, folder: &Path, text: &str) -> Result<u32, CheckpointError> {
    tokenizer
        .token_to_id(text)
        .ok_or_else(|| CheckpointError::Tokenizer { path: folder.join(TOKENIZER), reason: format!("it has no token '{text}'") })
}

/// Checks that every number of the tokenizer is below `vocabulary`, the rows of the network's table.
fn within(tokenizer: &Tokenizer, folder: &Path, vocabulary: usize) -> Result<(), CheckpointError> {
    match tokenizer.get_vocab(true).into_iter().max_by_key(|(_, id)| *id) {
        Some((token, id)) if id as usize >= vocabulary => Err(CheckpointError::Tokenizer {
            path: folder.join(TOKENIZER),
            reason: format!("its token '{token}' has the number {id}, but config.json has a vocabulary of {vocabulary}"),
        }),
        _ => Ok(()),
    }
}

fn failed(text: &str, reason: impl ToString) -> NetError {
    NetError::Tokens { text: text.to_owned(), reason: reason.to_string() }
}

/// Numbers of a text for CLIP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipTokens {
    /// Start, text, end; at most as many as the network has positions.
    pub ids: Vec<u32>,
    /// How many did not fit and were cut.
    pub cut: usize,
}

/// CLIP's tokenizer.
pub struct ClipTokenizer {
    tokenizer: Tokenizer,
    end: u32,
    positions: usize,
}

impl ClipTokenizer {
    /// Reads `tokenizer.json` of `folder`, for a network of `positions` (at least 2) tokens with both ends and a table of `vocabulary` rows.
    ///
    /// # Errors
    /// When the file is missing, no CLIP tokenizer, or larger than the network's table.
    pub fn load(folder: &Path, positions: usize, vocabulary: usize) -> Result<Self, CheckpointError> {
        let tokenizer = open(folder)?;
        within(&tokenizer, folder, vocabulary)?;
        let end = token(&tokenizer, folder, "<|endoftext|>")?;
        token(&tokenizer, folder, "<|startoftext|>")?;
        Ok(Self { tokenizer, end, positions })
    }

    /// The end token; also used to fill up a batch, where the causal mask hides it.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The text's tokens. What does not fit is cut before the end token (released scripts stop there instead).
    ///
    /// # Errors
    /// [`NetError::Tokens`] when the tokenizer fails.
    pub fn encode(&self, text: &str) -> Result<ClipTokens, NetError> {
        let encoding = self.tokenizer.encode(text, true).map_err(|e| failed(text, e))?;
        let mut ids = encoding.get_ids().to_vec();
        let cut = ids.len().saturating_sub(self.positions);
        if cut > 0 {
            ids.truncate(self.positions - 1);
            ids.push(self.end);
        }
        Ok(ClipTokens { ids, cut })
    }
}

/// Numbers of a text for BERT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BertTokens {
    /// `[CLS]`, text, `[SEP]`.
    pub ids: Vec<u32>,
    /// Where each token stands in the text, in bytes; empty at both ends.
    pub places: Vec<Range<usize>>,
}

/// BERT's tokenizer.
pub struct BertTokenizer {
    tokenizer: Tokenizer,
}

impl BertTokenizer {
    /// Reads `tokenizer.json` of `folder`, for a network with a table of `vocabulary` rows.
    ///
    /// # Errors
    /// When the file is missing, no BERT tokenizer, or larger than the network's table.
    pub fn load(folder: &Path, vocabulary: usize) -> Result<Self, CheckpointError> {
        let tokenizer = open(folder)?;
        within(&tokenizer, folder, vocabulary)?;
        for text in ["[CLS]", "[SEP]", "[UNK]"] {
            token(&tokenizer, folder, text)?;
        }
        Ok(Self { tokenizer })
    }

    /// The number of a token, such as `.` or `[SEP]`.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The text's tokens, uncut.
    ///
    /// # Errors
    /// [`NetError::Tokens`] when the tokenizer fails.
    pub fn encode(&self, text: &str) -> Result<BertTokens, NetError> {
        let encoding = self.tokenizer.encode(text, true).map_err(|e| failed(text, e))?;
        Ok(BertTokens { ids: encoding.get_ids().to_vec(), places: encoding.get_offsets().iter().map(|&(from, to)| from..to).collect() })
    }

    /// The words of some tokens, joined as the tokenizer does; `[CLS]` and `[SEP]` count as words.
    ///
    /// # Errors
    /// [`NetError::Tokens`] when the tokenizer fails.
    pub fn decode(&self, ids: &[u32]) -> Result<String, NetError> {
        self.tokenizer.decode(ids, false).map_err(|e| failed(&format!("{ids:?}"), e))
    }

    /// A token as the vocabulary has it (`##ing`).
    pub fn piece(&self, id: u32) -> Option<String> {
        self.tokenizer.id_to_token(id)
    }
}
