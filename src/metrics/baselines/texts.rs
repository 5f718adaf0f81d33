//! The texts that CLIP's baselines compare pictures with.

use serde_json::{Map, Value};

use crate::domain::{FieldWords, Parse};

/// Keys under which data sets keep what the source shows: the neutral manifest, EmuEdit, ImagenHub, PIE-Bench, GenAI-Bench.
const SOURCE_KEYS: [&str; 5] = ["source_caption", "input_caption", "source_global_caption", "original_prompt", "source_prompt"];
/// The same for what the edit should show.
const TARGET_KEYS: [&str; 5] = ["target_caption", "output_caption", "target_global_caption", "editing_prompt", "target_prompt"];

/// A text with where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    pub text: String,
    /// In words, for the note beside the value.
    pub from: String,
}

/// What is known in words about a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// What the source shows, if the data says so.
    pub source: Option<Caption>,
    /// What the edit should show, if the data says so.
    pub target: Option<Caption>,
    /// What stands in for the target's caption, or why nothing does.
    pub edited: Result<Caption, String>,
}

impl Texts {
    /// Reads the captions from the keys that came with the edit or its item (the edit's count first), and from the parse.
    ///
    /// Without a caption, the edited part stands for the target; for an edit of the whole picture, the instruction does, as in BPM
    /// (`bpm.md` section 4). Square brackets, which PIE-Bench puts around the changed word, are left out.
    pub fn of(instruction: &str, parse: &Parse, item_extra: &Map<String, Value>, edit_extra: &Map<String, Value>) -> Self {
        let find = |keys: &[&str]| {
            [edit_extra, item_extra].into_iter().find_map(|extra| {
                keys.iter().find_map(|&key| {
                    let text = extra.get(key)?.as_str()?.replace(['[', ']'], "");
                    let text = text.trim();
                    (!text.is_empty()).then(|| Caption { text: text.to_owned(), from: key.to_owned() })
                })
            })
        };
        Self { source: find(&SOURCE_KEYS), target: find(&TARGET_KEYS), edited: edited(instruction, parse) }
    }
}

fn edited(instruction: &str, parse: &Parse) -> Result<Caption, String> {
    let (text, from) = if parse.is_global() { (instruction, "the instruction") } else { (parse.edited_part.as_str(), "the edited part") };
    let text = text.trim().to_lowercase();
    if text.is_empty() || (!parse.is_global() && FieldWords(&text).is_none()) {
        return Err("the data has no target caption, and the parse names nothing that the edit should show".to_owned());
    }
    Ok(Caption { text, from: from.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn captions_are_found_under_the_keys_of_data_sets() {
        let item = map(&json!({"original_prompt": "a slanted bicycle", "editing_prompt": "a slanted [rusty] bicycle", "seed": 3}));
        let texts = Texts::of("Make the frame rusty", &Parse::default(), &item, &Map::new());
        assert_eq!(texts.source.as_ref().map(|caption| caption.text.as_str()), Some("a slanted bicycle"));
        assert_eq!(texts.target.as_ref().map(|caption| caption.text.as_str()), Some("a slanted rusty bicycle"));
        let edit = map(&json!({"target_caption": "this edit's own"}));
        let texts = Texts::of("Make the frame rusty", &Parse::default(), &item, &edit);
        assert_eq!(texts.target.map(|caption| (caption.text, caption.from)), Some(("this edit's own".into(), "target_caption".into())));
    }

    #[test]
    fn without_captions_the_parse_speaks() {
        let parse = |original: &str, edited: &str| Parse { original_part: original.into(), edited_part: edited.into(), ..Parse::default() };
        let text = |parse: &Parse| Texts::of("Make it NIGHT", parse, &Map::new(), &Map::new()).edited.map(|caption| caption.text);
        assert_eq!(text(&parse("cat", " Red cat")), Ok("red cat".to_owned()));
        assert_eq!(text(&parse("all", "all")), Ok("make it night".to_owned()));
        assert!(text(&parse("cat", "none")).is_err());
        assert!(text(&parse("cat", "")).is_err());
    }
}
