//! Texts to token numbers, by the `tokenizer.json` of a checkpoint or the published vocabularies inside the program.
//!
//! Both published tokenizers (CLIP's byte-level BPE, BERT's WordPiece) run in the `tokenizers` crate, which the reference uses too.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use super::checkpoint::{CheckpointError, TOKENIZER};
use super::{NetError, vocabularies};

/// A tokenizer with the place it came from, for messages.
struct Source {
    tokenizer: Tokenizer,
    path: PathBuf,
}

impl Source {
    fn open(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(TOKENIZER);
        let text = std::fs::read(&path).map_err(|source| CheckpointError::Read { path: path.clone(), source })?;
        Self::new(&text, path)
    }

    fn new(text: &[u8], path: PathBuf) -> Result<Self, CheckpointError> {
        let bad = |e: tokenizers::Error| CheckpointError::Tokenizer { path: path.clone(), reason: e.to_string() };
        let mut tokenizer = Tokenizer::from_bytes(text).map_err(bad)?;
        // Some files ask for cutting or padding; both are the network's business.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(bad)?;
        Ok(Self { tokenizer, path })
    }

    fn token(&self, text: &str) -> Result<u32, CheckpointError> {
        let reason = || format!("it has no token '{text}'");
        self.tokenizer.token_to_id(text).ok_or_else(|| CheckpointError::Tokenizer { path: self.path.clone(), reason: reason() })
    }

    /// Checks that every number of the tokenizer is below `vocabulary`, the rows of the network's table.
    fn within(&self, vocabulary: usize) -> Result<(), CheckpointError> {
        match self.tokenizer.get_vocab(true).into_iter().max_by_key(|(_, id)| *id) {
            Some((token, id)) if id as usize >= vocabulary => Err(CheckpointError::Tokenizer {
                path: self.path.clone(),
                reason: format!("its token '{token}' has the number {id}, but the network has a vocabulary of {vocabulary}"),
            }),
            _ => Ok(()),
        }
    }
}

/// Stands for a path in messages about a vocabulary inside the program.
const BUILT_IN: &str = "the built-in vocabulary";

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
        Self::checked(Source::open(folder)?, positions, vocabulary)
    }

    /// The published tokenizer, which is part of the program; otherwise as [`ClipTokenizer::load`].
    ///
    /// # Errors
    /// When the network's table is smaller.
    pub fn built_in(positions: usize, vocabulary: usize) -> Result<Self, CheckpointError> {
        let text = vocabularies::clip_tokenizer().to_string();
        Self::checked(Source::new(text.as_bytes(), BUILT_IN.into())?, positions, vocabulary)
    }

    fn checked(source: Source, positions: usize, vocabulary: usize) -> Result<Self, CheckpointError> {
        source.within(vocabulary)?;
        let end = source.token("<|endoftext|>")?;
        source.token("<|startoftext|>")?;
        Ok(Self { tokenizer: source.tokenizer, end, positions })
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
    /// Where it came from, for messages.
    path: PathBuf,
}

impl BertTokenizer {
    /// Reads `tokenizer.json` of `folder`, for a network with a table of `vocabulary` rows.
    ///
    /// # Errors
    /// When the file is missing, no BERT tokenizer, or larger than the network's table.
    pub fn load(folder: &Path, vocabulary: usize) -> Result<Self, CheckpointError> {
        Self::checked(Source::open(folder)?, vocabulary)
    }

    /// The published tokenizer, which is part of the program; otherwise as [`BertTokenizer::load`].
    ///
    /// # Errors
    /// When the network's table is smaller.
    pub fn built_in(vocabulary: usize) -> Result<Self, CheckpointError> {
        let text = vocabularies::bert_tokenizer().to_string();
        Self::checked(Source::new(text.as_bytes(), BUILT_IN.into())?, vocabulary)
    }

    fn checked(source: Source, vocabulary: usize) -> Result<Self, CheckpointError> {
        source.within(vocabulary)?;
        for text in ["[CLS]", "[SEP]", "[UNK]"] {
            source.token(text)?;
        }
        Ok(Self { tokenizer: source.tokenizer, path: source.path })
    }

    /// The number of a token that the network needs, such as `.`.
    ///
    /// # Errors
    /// When the vocabulary does not have it.
    pub fn needed(&self, token: &str) -> Result<u32, CheckpointError> {
        let reason = || format!("it has no token '{token}', which ends phrases");
        self.id(token).ok_or_else(|| CheckpointError::Tokenizer { path: self.path.clone(), reason: reason() })
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
