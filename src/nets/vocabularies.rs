//! The published tokenizers of CLIP and BERT, for checkpoints that come without a `tokenizer.json`.
//!
//! The word lists are `assets/tokenizers`; the steps around them are those of the files on the Hugging Face hub.

use serde_json::{Map, Value, json};

const CLIP_MERGES: &str = include_str!("../../assets/tokenizers/clip-merges.txt");
const BERT_WORDS: &str = include_str!("../../assets/tokenizers/bert-base-uncased-vocab.txt");

/// CLIP's `tokenizer.json`: 49 408 tokens of byte pairs.
///
/// The vocabulary's order is openai/CLIP's, `clip/simple_tokenizer.py`: letters for the 256 bytes, the same at the end of a word, the merges,
/// start and end of a text.
pub fn clip_tokenizer() -> Value {
    let letters = byte_letters();
    let singles = letters.iter().map(char::to_string);
    let ends = letters.iter().map(|letter| format!("{letter}</w>"));
    let merged = CLIP_MERGES.lines().map(|pair| pair.replace(' ', ""));
    let tokens = singles.chain(ends).chain(merged).chain(["<|startoftext|>".to_owned(), "<|endoftext|>".to_owned()]);
    let vocabulary: Map<String, Value> = tokens.enumerate().map(|(number, token)| (token, number.into())).collect();
    let (start, end) = (vocabulary["<|startoftext|>"].clone(), vocabulary["<|endoftext|>"].clone());
    let special = |id: &Value, content: &str, normalized: bool| json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": normalized, "special": true });
    json!({
        "version": "1.0",
        "added_tokens": [special(&start, "<|startoftext|>", true), special(&end, "<|endoftext|>", false)],
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "NFC" },
            { "type": "Replace", "pattern": { "Regex": r"\s+" }, "content": " " },
            { "type": "Lowercase" },
        ]},
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
            {
                "type": "Split",
                "pattern": { "Regex": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+" },
                "behavior": "Removed",
                "invert": true,
            },
            { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true },
        ]},
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": ["<|endoftext|>", end],
            "cls": ["<|startoftext|>", start],
            "trim_offsets": false,
            "add_prefix_space": false,
        },
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true },
        "model": {
            "type": "BPE",
            "unk_token": "<|endoftext|>",
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "</w>",
            "fuse_unk": false,
            "byte_fallback": false,
            "vocab": vocabulary,
            "merges": CLIP_MERGES.lines().collect::<Vec<_>>(),
        },
    })
}

/// BERT's `tokenizer.json`, uncased: 30 522 word pieces.
pub fn bert_tokenizer() -> Value {
    let vocabulary: Map<String, Value> = BERT_WORDS.lines().enumerate().map(|(number, word)| (word.to_owned(), number.into())).collect();
    let specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(|content| {
        let id = &vocabulary[content];
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true })
    });
    let special = |id: &str, kind: i32| json!({ "SpecialToken": { "id": id, "type_id": kind } });
    let sequence = |id: &str, kind: i32| json!({ "Sequence": { "id": id, "type_id": kind } });
    let ends = ["[CLS]", "[SEP]"].map(|token| (token.to_owned(), json!({ "id": token, "ids": [vocabulary[token]], "tokens": [token] })));
    json!({
        "version": "1.0",
        "added_tokens": specials,
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)],
            "pair": [special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)],
            "special_tokens": Map::from_iter(ends),
        },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    })
}

/// The letter that stands for each byte, in the vocabulary's order: bytes that print as themselves, then the others from U+0100 on
/// (openai/CLIP, `bytes_to_unicode`).
fn byte_letters() -> Vec<char> {
    let prints = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let plain = (0..=u8::MAX).filter(|&byte| prints(byte)).map(char::from);
    let others = (0..=u8::MAX).filter(|&byte| !prints(byte)).count() as u32;
    // Numbers below U+0200 are all characters.
    plain.chain((0..others).filter_map(|number| char::from_u32(0x100 + number))).collect()
}
