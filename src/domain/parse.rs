//! The seven fields read out of an instruction (`bpm.md` section 1), kept as words because profiles test them differently.

use serde::{Deserialize, Serialize};

/// Who made a parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum ParseOrigin {
    /// The built-in rules.
    #[default]
    Rules,
    /// A language model.
    Llm,
    /// It came with the data.
    Import,
    /// A person wrote or corrected it.
    Person,
}

/// The seven fields, lower case. `none` and the empty string mean the same; `all` means the whole picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Parse {
    pub original_part: String,
    pub edited_part: String,
    pub edit_type: String,
    pub being_added: String,
    pub added_object: String,
    pub size: String,
    pub position: String,
    /// Why the reader had to guess; `None` when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubtful: Option<String>,
    /// The instruction asks for more edits than the one held here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more_edits: bool,
    pub origin: ParseOrigin,
}

/// The kinds of edit of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EditType {
    Add,
    Remove,
    Replace,
    ChangeColor,
    ChangeTexture,
    ChangeSize,
    Other,
}

/// What the size field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeWord {
    Bigger,
    Smaller,
    Unchanged,
    /// `none`, empty, or a word that says nothing about size.
    None,
}

/// What the position field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PositionWord {
    Left,
    Right,
    Above,
    Below,
    Inside,
    Unchanged,
    /// `none`, empty, or a word that names no relation.
    None,
}

/// Whole-word tests on one field.
pub struct FieldWords<'a>(pub &'a str);

impl FieldWords<'_> {
    /// Whether `word` stands in the field as a whole word, whatever the case and punctuation around it.
    pub fn has(&self, word: &str) -> bool {
        self.0.split(|c: char| !c.is_alphanumeric()).any(|w| w.eq_ignore_ascii_case(word))
    }

    /// Whether the field is empty or says `none` as a whole word (`bpm.md` section 11, point 1).
    pub fn is_none(&self) -> bool {
        self.0.trim().is_empty() || self.has("none")
    }

    /// Whether the field says `all` as a whole word.
    pub fn is_all(&self) -> bool {
        self.has("all")
    }
}

impl Parse {
    /// The seven field names, in the order of `bpm.md`.
    pub const FIELDS: [&str; 7] = ["original_part", "edited_part", "edit_type", "being_added", "added_object", "size", "position"];

    /// The text of one of [`Self::FIELDS`]; `None` for another name.
    pub fn field(&self, name: &str) -> Option<&str> {
        Some(match name {
            "original_part" => &self.original_part,
            "edited_part" => &self.edited_part,
            "edit_type" => &self.edit_type,
            "being_added" => &self.being_added,
            "added_object" => &self.added_object,
            "size" => &self.size,
            "position" => &self.position,
            _ => return None,
        })
    }

    /// The text of one of [`Self::FIELDS`], to write to; `None` for another name.
    pub fn field_mut(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "original_part" => &mut self.original_part,
            "edited_part" => &mut self.edited_part,
            "edit_type" => &mut self.edit_type,
            "being_added" => &mut self.being_added,
            "added_object" => &mut self.added_object,
            "size" => &mut self.size,
            "position" => &mut self.position,
            _ => return None,
        })
    }

    /// The kind of edit, by whole words; [`EditType::Other`] where none of the paper's kinds is named.
    pub fn kind(&self) -> EditType {
        let words = FieldWords(&self.edit_type);
        if words.has("color") || words.has("colour") {
            EditType::ChangeColor
        } else if words.has("texture") {
            EditType::ChangeTexture
        } else if words.has("size") {
            EditType::ChangeSize
        } else if words.has("add") {
            EditType::Add
        } else if words.has("remove") {
            EditType::Remove
        } else if words.has("replace") {
            EditType::Replace
        } else {
            EditType::Other
        }
    }

    /// What the size field says, by whole words.
    pub fn size_word(&self) -> SizeWord {
        let words = FieldWords(&self.size);
        if words.has("bigger") {
            SizeWord::Bigger
        } else if words.has("smaller") {
            SizeWord::Smaller
        } else if words.has("unchanged") {
            SizeWord::Unchanged
        } else {
            SizeWord::None
        }
    }

    /// What the position field says, by whole words.
    pub fn position_word(&self) -> PositionWord {
        let words = FieldWords(&self.position);
        for (word, value) in [
            ("left", PositionWord::Left),
            ("right", PositionWord::Right),
            ("above", PositionWord::Above),
            ("below", PositionWord::Below),
            ("inside", PositionWord::Inside),
            ("unchanged", PositionWord::Unchanged),
        ] {
            if words.has(word) {
                return value;
            }
        }
        PositionWord::None
    }

    /// Whether the whole picture is to change (whole-word test).
    pub fn is_global(&self) -> bool {
        FieldWords(&self.original_part).is_all()
    }
}

impl EditType {
    /// The word of `bpm.md` section 1.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Replace => "replace",
            Self::ChangeColor => "change color",
            Self::ChangeTexture => "change texture",
            Self::ChangeSize => "change size",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_and_none_are_whole_words() {
        // The traps of trial-inputs 14: "wall" and "small ball" are not global; "None." is none.
        for (text, all, none) in
            [("wall", false, false), ("small ball", false, false), ("All.", true, false), ("None.", false, true), (" ", false, true)]
        {
            assert_eq!((FieldWords(text).is_all(), FieldWords(text).is_none()), (all, none), "{text:?}");
        }
    }

    #[test]
    fn kinds_and_words_are_read_with_or_without_full_stops() {
        let parse = Parse { edit_type: "change size.".into(), size: "bigger.".into(), position: "left".into(), ..Parse::default() };
        assert_eq!(parse.kind(), EditType::ChangeSize);
        assert_eq!(parse.size_word(), SizeWord::Bigger);
        assert_eq!(parse.position_word(), PositionWord::Left);
        assert_eq!(Parse::default().position_word(), PositionWord::None);
    }

    #[test]
    fn every_field_name_is_reachable() {
        let mut parse = Parse::default();
        for name in Parse::FIELDS {
            *parse.field_mut(name).unwrap() = name.to_owned(); // a name of FIELDS
        }
        assert!(Parse::FIELDS.iter().all(|name| parse.field(name) == Some(name)));
        assert_eq!(parse.field("colour"), None);
    }
}
