//! From JSON to data, with errors for the person who wrote the JSON: which field, what stands there, what was expected.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer as _, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde_json::{Map, Value};

/// Why JSON is not what was expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Line of the text, from 1, where the text has several.
    pub line: Option<usize>,
    /// The field as a path from the top, `protocol.questions[2].scale`; empty when it is the whole.
    pub field: String,
    /// What is wrong with it: "is text 'high', not a number".
    pub reason: String,
}

impl FieldError {
    /// The same error about a value that is itself the field `outer` of something.
    #[must_use]
    pub fn inside(self, outer: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        Self { field: format!("{outer}{dot}{}", self.field), ..self }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        match self.field.as_str() {
            "" => write!(f, "it {}", self.reason),
            field => write!(f, "field '{field}' {}", self.reason),
        }
    }
}

impl std::error::Error for FieldError {}

/// Reads data out of a JSON value.
///
/// # Errors
/// When the value is something else; the error names the field.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, FieldError> {
    // The walk that keeps track of the place is slower, so it is taken only when there is something to tell.
    T::deserialize(value).or_else(|_| {
        let place = Place::default();
        T::deserialize(Located { value, place: &place }).map_err(|Wrong(reason)| FieldError { line: None, field: place.words(), reason })
    })
}

/// Reads data out of JSON text.
///
/// # Errors
/// When the text is no JSON, or something else than was expected; the error names the line (where there are several) and the field.
pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, FieldError> {
    serde_json::from_str::<T>(text).map_err(|told| {
        let line = (text.trim_end().contains('\n') && told.line() > 0).then(|| told.line());
        let found = match serde_json::from_str::<Value>(text) {
            // What reads the text but not the value cannot be placed.
            Ok(value) => from_value::<T>(&value).err(),
            Err(error) => return FieldError { line: None, field: String::new(), reason: format!("is no JSON ({})", syntax(text, &error)) },
        };
        let unplaced = || FieldError { line, field: String::new(), reason: format!("cannot be read: {told}") };
        found.map_or_else(unplaced, |found| FieldError { line, ..found })
    })
}

/// What is wrong with text that is no JSON, and where in it.
pub fn syntax(text: &str, error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "it ends too early; it may be cut short".to_owned();
    }
    let told = error.to_string();
    let told = told.split(" at line ").next().unwrap_or_default();
    let column = error.column();
    let at = if text.trim_end().contains('\n') { format!("line {}, column {column}", error.line()) } else { format!("column {column}") };
    format!("{told} at {at}")
}

/// A JSON value in a few words: "text 'high'", "a list", "3".
pub fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Longer texts are cut in messages.
const SHOWN: usize = 40;

fn quoted(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    format!("text '{start}{}'", if start.len() < text.len() { "…" } else { "" })
}

/// What a reader of this crate expects, in the words of people.
fn expectation(expected: &dyn Expected) -> String {
    let told = expected.to_string();
    match told.as_str() {
        "f64" | "f32" => "a number".to_owned(),
        "i64" | "i32" | "i16" | "i8" => "a whole number".to_owned(),
        "u64" | "u32" | "u16" | "u8" | "usize" => "a whole number from 0".to_owned(),
        "a string" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "unit" => "null".to_owned(),
        told if told == "a map" || told.starts_with("struct ") || told.starts_with("internally tagged enum ") => "an object".to_owned(),
        told if told.starts_with("tuple ") || told.starts_with("a tuple ") => "a list".to_owned(),
        told if told.contains("enum") || told.contains("variant") => "a word or an object".to_owned(),
        told => told.to_owned(),
    }
}

/// An error in the words of this module.
#[derive(Debug)]
struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl serde::de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(format!("cannot be read: {message}"))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(text) => quoted(text),
            Unexpected::Bool(flag) => flag.to_string(),
            Unexpected::Unsigned(number) => number.to_string(),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Float(number) => number.to_string(),
            Unexpected::Unit | Unexpected::Option => "null".to_owned(),
            Unexpected::Seq | Unexpected::TupleVariant => "a list".to_owned(),
            Unexpected::Map | Unexpected::StructVariant | Unexpected::NewtypeVariant => "an object".to_owned(),
            other => other.to_string(),
        };
        Self(format!("is {found}, not {}", expectation(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self(format!("has {length} entries, not {}", expectation(expected)))
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self(format!("is '{variant}'; it can be {}", known.join(", ")))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self(format!("has the unknown key '{field}'; it can have {}", known.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(format!("lacks the key '{field}'"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(format!("has the key '{field}' twice"))
    }
}

/// Where in the value the walk is. After an error it stays where the error is.
#[derive(Default)]
struct Place(RefCell<Vec<String>>);

impl Place {
    fn words(&self) -> String {
        self.0.borrow().concat().trim_start_matches('.').to_owned()
    }

    /// Runs `inside` one step further in; steps back unless it fails.
    fn step<T>(&self, name: String, inside: impl FnOnce() -> Result<T, Wrong>) -> Result<T, Wrong> {
        self.0.borrow_mut().push(name);
        let done = inside()?;
        self.0.borrow_mut().pop();
        Ok(done)
    }
}

/// A value that tells `place` how far into it the reader is.
#[derive(Clone, Copy)]
struct Located<'a> {
    value: &'a Value,
    place: &'a Place,
}

impl<'de> Deserializer<'de> for Located<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Self { value, place } = self;
        match value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => visitor.visit_u64(number),
                (_, Some(number), _) => visitor.visit_i64(number),
                (_, _, Some(number)) => visitor.visit_f64(number),
                _ => Err(Wrong(format!("is {number}, a number too large"))),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(list) => visitor.visit_seq(List { left: list.iter().enumerate(), place }),
            Value::Object(fields) => visitor.visit_map(Fields { left: fields.iter(), value: None, place }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &'static str, _: &'static [&'static str], visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::String(text) => visitor.visit_enum(Variant { name: text, content: None, place: self.place }),
            Value::Object(fields) if fields.len() == 1 => {
                let only = fields.iter().next();
                let (name, content) = only.ok_or_else(|| Wrong::custom("an object without a key"))?;
                visitor.visit_enum(Variant { name, content: Some(content), place: self.place })
            }
            other => Err(Wrong(format!("is {}, not a word or an object with one key", in_words(other)))),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

struct List<'a> {
    left: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
    place: &'a Place,
}

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Wrong> {
        let Some((index, value)) = self.left.next() else { return Ok(None) };
        let place = self.place;
        place.step(format!("[{index}]"), || seed.deserialize(Located { value, place })).map(Some)
    }
}

struct Fields<'a> {
    left: <&'a Map<String, Value> as IntoIterator>::IntoIter,
    value: Option<(&'a str, &'a Value)>,
    place: &'a Place,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some((key, value));
        seed.deserialize(StringDeserializer::new(key.clone())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let (key, value) = self.value.take().ok_or_else(|| Wrong::custom("a value without its key"))?;
        let place = self.place;
        place.step(format!(".{key}"), || seed.deserialize(Located { value, place }))
    }
}

struct Variant<'a> {
    name: &'a str,
    content: Option<&'a Value>,
    place: &'a Place,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Wrong;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Wrong> {
        let name: StringDeserializer<Wrong> = self.name.to_owned().into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl Variant<'_> {
    fn inside<T>(self, read: impl FnOnce(Located<'_>) -> Result<T, Wrong>) -> Result<T, Wrong> {
        let Self { name, content, place } = self;
        let value = content.ok_or_else(|| Wrong(format!("is '{name}' without what belongs to it; write {{\"{name}\": …}}")))?;
        place.step(format!(".{name}"), || read(Located { value, place }))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(other) => Err(Wrong(format!("is '{}' with {}; nothing belongs to that word", self.name, in_words(other)))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Wrong> {
        self.inside(|inner| seed.deserialize(inner))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.inside(|inner| inner.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Wrong> {
        self.inside(|inner| inner.deserialize_any(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Choice {
        Plain,
        Number(u8),
        Named { low: f64 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Whole {
        name: String,
        count: u32,
        maybe: Option<f64>,
        #[serde(default)]
        list: Vec<Choice>,
        #[serde(default)]
        values: BTreeMap<String, f64>,
        #[serde(default)]
        pair: Option<(bool, i64)>,
    }

    #[test]
    fn what_is_right_is_read_as_serde_reads_it() {
        let text = r#"{"name": "n", "count": 3, "maybe": null, "list": ["plain", {"number": 7}, {"named": {"low": 1}}],
            "values": {"a": 1.5, "b": 2}, "pair": [true, -4], "more": {}}"#;
        let whole: Whole = from_text(text).unwrap(); // written above
        assert_eq!(whole.list, [Choice::Plain, Choice::Number(7), Choice::Named { low: 1.0 }]);
        assert_eq!((whole.values["b"], whole.pair), (2.0, Some((true, -4))));
        // The walk that is taken for errors reads the same.
        let place = Place::default();
        let value: Value = serde_json::from_str(text).unwrap(); // as above
        assert_eq!(Whole::deserialize(Located { value: &value, place: &place }).unwrap(), whole); // as above
        assert_eq!(place.words(), "", "it steps back out of everything");
    }

    #[test]
    fn errors_name_the_field_what_stands_there_and_what_was_expected() {
        let good = json!({"name": "n", "count": 3});
        let with = |pairs: Value| {
            let mut all = good.clone();
            all.as_object_mut().unwrap().extend(pairs.as_object().unwrap().clone()); // both are objects
            from_value::<Whole>(&all).unwrap_err().to_string() // each is wrong in one place
        };
        for (pairs, words) in [
            (json!({"name": 5}), "field 'name' is 5, not text"),
            (json!({"count": "three"}), "field 'count' is text 'three', not a whole number from 0"),
            (json!({"count": -1}), "field 'count' is -1, not a whole number from 0"),
            (json!({"maybe": [1]}), "field 'maybe' is a list, not a number"),
            (json!({"values": 4}), "field 'values' is 4, not an object"),
            (json!({"values": {"a": 1, "overall": null}}), "field 'values.overall' is null, not a number"),
            (json!({"list": {}}), "field 'list' is an object, not a list"),
            (json!({"list": ["plain", "other"]}), "field 'list[1]' is 'other'; it can be plain, number, named"),
            (json!({"list": [{"number": 300}]}), "field 'list[0].number' is 300, not a whole number from 0"),
            (json!({"list": [{"named": {}}]}), "field 'list[0].named' lacks the key 'low'"),
            (json!({"list": [7]}), "field 'list[0]' is 7, not a word or an object with one key"),
            (json!({"pair": [true, 0.5]}), "field 'pair[1]' is 0.5, not a whole number"),
        ] {
            assert_eq!(with(pairs), words);
        }
        assert_eq!(from_value::<Whole>(&json!({"name": "n"})).unwrap_err().to_string(), "it lacks the key 'count'");
        assert_eq!(from_value::<Whole>(&json!([])).unwrap_err().to_string(), "it has 0 entries, not an object");
    }

    #[test]
    fn errors_in_text_name_the_line_where_there_are_several() {
        let told = |text: &str| from_text::<Whole>(text).unwrap_err().to_string(); // each is wrong
        assert_eq!(told("{\n  \"name\": \"n\",\n  \"count\": true\n}"), "line 3: field 'count' is true, not a whole number from 0");
        assert_eq!(told(r#"{"name": "n", "count": true}"#), "field 'count' is true, not a whole number from 0");
        assert_eq!(told(r#"{"name": "n", "count": NaN}"#), "it is no JSON (expected value at column 24)");
        assert_eq!(told(r#"{"name": "n", "cou"#), "it is no JSON (it ends too early; it may be cut short)");
        // The first fault is one of content, but nothing is to be told about the content of what is no JSON.
        assert_eq!(told("{\"name\": 1,\n\"count\": x}"), "it is no JSON (expected value at line 2, column 10)");
        let long = format!(r#"{{"name": "n", "count": "{}"}}"#, "é".repeat(50));
        assert!(told(&long).contains(&format!("text '{}…'", "é".repeat(40))));
    }
}
