//! Tokenizers against the reference implementation (`tests/golden/tokenizers/ids.json`).
#![cfg(feature = "nets")]

mod nets_support;

use editscope::nets::checkpoint::CheckpointError;
use editscope::nets::grounding_dino::caption;
use editscope::nets::tokenize::{BertTokenizer, ClipTokenizer};
use nets_support::golden;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    text: String,
    clip: Vec<u32>,
    clip_uncut_length: usize,
    bert: Vec<u32>,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(golden("tokenizers").join("ids.json")).expect("golden ids");
    let rows: Vec<Row> = serde_json::from_str(&text).expect("golden ids have this form");
    assert!(rows.len() > 20, "the golden file shrank");
    rows
}

/// Positions of the published network.
const POSITIONS: usize = 77;

#[test]
fn clip_ids_are_the_reference_s() {
    let tokenizer = ClipTokenizer::load(&golden("clip"), POSITIONS, 667).expect("the golden tokenizer loads");
    for row in rows() {
        let tokens = tokenizer.encode(&row.text).expect("tokens");
        assert_eq!(tokens.ids, row.clip, "{:?}", row.text);
        assert_eq!(tokens.cut, row.clip_uncut_length.saturating_sub(POSITIONS), "{:?}", row.text);
    }
}

#[test]
fn bert_ids_are_the_reference_s() {
    let tokenizer = BertTokenizer::load(&golden("grounding-dino"), 30522).expect("the golden tokenizer loads");
    for row in rows() {
        let tokens = tokenizer.encode(&row.text).expect("tokens");
        assert_eq!(tokens.ids, row.bert, "{:?}", row.text);
        assert_eq!(tokens.places.len(), tokens.ids.len());
    }
}

#[test]
fn tokens_know_their_place_in_the_text() {
    let tokenizer = BertTokenizer::load(&golden("grounding-dino"), 30522).expect("the golden tokenizer loads");
    let text = "a cat. a red ball.";
    let tokens = tokenizer.encode(text).expect("tokens");
    let words: Vec<&str> = tokens.places.iter().map(|place| &text[place.clone()]).collect();
    assert_eq!(words, ["", "a", "cat", ".", "a", "red", "ball", ".", ""]);
    assert_eq!(tokenizer.decode(&tokens.ids).expect("words"), "[CLS] a cat. a red ball. [SEP]");
}

#[test]
fn a_tokenizer_of_another_network_is_refused() {
    let error = ClipTokenizer::load(&golden("grounding-dino"), POSITIONS, 30522).err().expect("BERT's is not CLIP's");
    assert!(error.to_string().contains("<|endoftext|>"), "{error}");
    // 667 tokens in the golden file; one row too few in the network's table.
    let error = ClipTokenizer::load(&golden("clip"), POSITIONS, 666).err().expect("too large for the table");
    assert!(matches!(&error, CheckpointError::Tokenizer { .. }) && error.to_string().contains("666"), "{error}");
    let error = BertTokenizer::load(&golden("sam"), 30522).err().expect("SAM has no tokenizer");
    assert!(matches!(&error, CheckpointError::Read { path, .. } if path.ends_with("tokenizer.json")), "{error}");
}

#[derive(Deserialize)]
struct PublishedRow {
    text: String,
    clip: Vec<u32>,
    bert: Vec<u32>,
    bert_grounding: Vec<u32>,
}

#[test]
fn the_built_in_vocabularies_give_the_published_ids() {
    let text = std::fs::read_to_string(golden("tokenizers").join("published_ids.jsonl")).expect("golden ids");
    let rows: Vec<PublishedRow> = text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(rows.len(), 170, "the golden file shrank");
    let clip = ClipTokenizer::built_in(POSITIONS, 49408).expect("CLIP's vocabulary");
    let bert = BertTokenizer::built_in(30522).expect("BERT's vocabulary");
    for row in rows {
        assert_eq!(clip.encode(&row.text).expect("tokens").ids, row.clip, "{:?}", row.text);
        assert_eq!(bert.encode(&row.text).expect("tokens").ids, row.bert, "{:?}", row.text);
        assert_eq!(bert.encode(&caption(&row.text)).expect("tokens").ids, row.bert_grounding, "{:?}", row.text);
    }
    // openai/CLIP's notebook: "Hello World!".
    assert_eq!(clip.encode("Hello World!").expect("tokens").ids, [49406, 3306, 1002, 256, 49407]);
    // One row less than the vocabulary needs.
    assert!(ClipTokenizer::built_in(POSITIONS, 49407).is_err() && BertTokenizer::built_in(30521).is_err());
}
