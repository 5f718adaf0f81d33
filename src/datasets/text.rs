//! Text files as people have them: byte order marks, UTF-16, and JSON with the `NaN` that Python writes.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::ReadError;
use crate::domain::json;

/// Bytes looked at to detect a format.
const HEAD_BYTES: u64 = 64 * 1024;

/// The beginning of a file, for detection.
pub(super) struct Head {
    bytes: Vec<u8>,
    /// Lossy: a character may be cut at the end.
    pub text: String,
}

impl Head {
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let io = |source| ReadError::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        std::fs::File::open(path).map_err(io)?.take(HEAD_BYTES).read_to_end(&mut bytes).map_err(io)?;
        let text = match decode_utf16(&bytes) {
            Some(text) => text,
            None => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).into_owned(),
        };
        Ok(Self { bytes, text })
    }

    /// Says what the file is when it is a well-known thing that is no data set for this program.
    pub fn known_stranger(&self) -> Option<&'static str> {
        if self.bytes.starts_with(b"SQLite format 3\0") {
            Some("it is a database; an EditScope project is opened, not imported")
        } else if self.bytes.starts_with(b"PAR1") {
            Some("it is a Parquet file, which is not read yet; convert it to JSONL with pictures beside it")
        } else if self.bytes.starts_with(b"PK\x03\x04") {
            Some("it is a zip archive; unpack it first")
        } else if self.bytes.starts_with(b"\x89PNG") || self.bytes.starts_with(b"\xff\xd8\xff") {
            Some("it is a picture; name the folder or the manifest instead")
        } else {
            None
        }
    }
}

/// The whole file as text, without its byte order mark.
pub(super) fn read(path: &Path) -> Result<String, ReadError> {
    let bytes = std::fs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    if let Some(text) = decode_utf16(&bytes) {
        return Ok(text);
    }
    let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut text =
        String::from_utf8(bytes).map_err(|error| ReadError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })?;
    text.drain(..start);
    Ok(text)
}

/// UTF-16 with a byte order mark; `None` for anything else.
fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let from: fn([u8; 2]) -> u16 = match bytes.get(..2)? {
        b"\xff\xfe" => u16::from_le_bytes,
        b"\xfe\xff" => u16::from_be_bytes,
        _ => return None,
    };
    let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Parses JSON; bare `NaN`, `Infinity` and `-Infinity` (Python writes them, JSON has none) are read as `null`.
///
/// The list names the fields where that was done.
///
/// # Errors
/// When it is no JSON; the text says why and where.
pub(super) fn parse_json(text: &str) -> Result<(Value, Vec<String>), String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok((value, Vec::new())),
        Err(error) => {
            let cleaned = without_nan(text).ok_or_else(|| json::syntax(text, &error))?;
            let mut value = serde_json::from_str(&cleaned).map_err(|error| json::syntax(&cleaned, &error))?;
            let mut fields = Vec::new();
            marks_to_null(&mut value, String::new(), &mut fields);
            Ok((value, fields))
        }
    }
}

/// What to say about [`parse_json`]'s list; `None` when it is empty.
pub(super) fn nan_note(fields: &[String]) -> Option<String> {
    const NAMED: usize = 3;
    let named: Vec<String> = fields.iter().take(NAMED).map(|field| format!("'{field}'")).collect();
    let more = fields.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!fields.is_empty()).then(|| format!("field {}{more} is NaN or Infinity, which JSON has not; read as null", named.join(", ")))
}

/// Stands for a number word until its field is known; no text that is read can hold it.
const MARK: &str = "\u{0}NaN\u{0}";
const MARK_IN_JSON: &str = r#""\u0000NaN\u0000""#;

fn marks_to_null(value: &mut Value, place: String, fields: &mut Vec<String>) {
    match value {
        Value::String(text) if text == MARK => {
            *value = Value::Null;
            fields.push(place);
        }
        Value::Array(list) => {
            list.iter_mut().enumerate().for_each(|(index, inner)| marks_to_null(inner, format!("{place}[{index}]"), fields));
        }
        Value::Object(object) => {
            for (key, inner) in object.iter_mut() {
                let inside = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
                marks_to_null(inner, inside, fields);
            }
        }
        _ => {}
    }
}

/// `text` with the number words that JSON lacks replaced by [`MARK`], outside strings; `None` when it has none.
fn without_nan(text: &str) -> Option<String> {
    let mut cleaned = String::with_capacity(text.len());
    let (mut in_string, mut escaped, mut found) = (false, false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !in_string && let Some(word) = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| rest.starts_with(word)) {
            cleaned.push_str(MARK_IN_JSON);
            found = true;
            rest = &rest[word.len()..];
            continue;
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = in_string,
            '"' => in_string = !in_string,
            _ => {}
        }
        cleaned.push(c);
        rest = &rest[c.len_utf8()..];
    }
    found.then_some(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_outside_strings_becomes_null_and_inside_stays() {
        let (value, fields) = parse_json(r#"{"a": NaN, "b": "NaN \" NaN", "c": [1, {"d": -Infinity}]}"#).unwrap(); // valid once cleaned
        assert_eq!(value, serde_json::json!({"a": null, "b": "NaN \" NaN", "c": [1, {"d": null}]}));
        assert_eq!(fields, ["a", "c[1].d"]);
        assert_eq!(nan_note(&fields).as_deref(), Some("field 'a', 'c[1].d' is NaN or Infinity, which JSON has not; read as null"));
        let many: Vec<String> = (0..5).map(|n| n.to_string()).collect();
        assert!(nan_note(&many).is_some_and(|note| note.contains("'2' and 2 more is")));
        assert_eq!(nan_note(&[]), None);
        assert!(parse_json("{\"a\": 1").is_err());
    }

    #[test]
    fn utf16_of_both_byte_orders_is_read() {
        assert_eq!(decode_utf16(b"\xff\xfeA\0\xe9\0").as_deref(), Some("Aé"));
        assert_eq!(decode_utf16(b"\xfe\xff\0A\0\xe9").as_deref(), Some("Aé"));
        assert_eq!(decode_utf16(b"plain"), None);
    }
}
