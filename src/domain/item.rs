//! Items and their edits.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parse::Parse;
use super::rating::Rating;

macro_rules! key {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

key! {
    /// Names an item within its data set or project.
    ItemKey
}
key! {
    /// Names an edit within its data set or project.
    EditKey
}

/// A picture on disk. Inputs are never written to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PictureRef {
    /// Where it is: absolute, or relative to the folder that the holder names (a reader returns paths that can be opened as they are).
    pub path: PathBuf,
    /// The path as the data set wrote it, for messages and export.
    pub given: String,
}

/// One source image with one instruction, and the edits that models made for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub key: ItemKey,
    pub source: PictureRef,
    pub instruction: String,
    /// The parse that came with the data, if any.
    pub parse: Option<Parse>,
    pub edits: Vec<Edit>,
    /// Keys that this program does not know, kept and exported again.
    pub extra: Map<String, Value>,
}

/// An image that a model made for an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub key: EditKey,
    pub picture: PictureRef,
    /// Name of the model that made it; empty if unknown.
    pub model: String,
    pub ratings: Vec<Rating>,
    /// Keys that this program does not know, kept and exported again.
    pub extra: Map<String, Value>,
}
