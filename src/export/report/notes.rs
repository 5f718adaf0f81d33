//! Notes on the numbers: those on all of them at the top, those on single lines and raters folded, each kind once.

use super::html::escape;
use super::words::metric_words;
use crate::stats::comparison::Comparison;

/// One note: whom it is about, if that is a line, and what it says.
struct Note<'a> {
    /// Metrics and criterion; empty for a note that names them in its text.
    about: String,
    text: &'a str,
}

/// Notes of one kind: the same words about other numbers and names.
struct Kind<'a> {
    key: String,
    notes: Vec<Note<'a>>,
}

/// Whether a note is about all numbers.
fn is_general(comparison: &Comparison, note: &str) -> bool {
    about_lines(comparison, note).is_none() && !note.starts_with("Rater '")
}

/// Metrics, criterion and text of a note that begins with them.
fn about_lines<'a>(comparison: &'a Comparison, note: &'a str) -> Option<(Vec<&'a str>, &'a str, &'a str)> {
    let (names, rest) = note.split_once(" against ")?;
    let names: Vec<&str> = names.split(", ").collect();
    let begins = |criterion: &str| rest.strip_prefix(criterion).is_some_and(|rest| rest.starts_with(": "));
    let criterion = comparison.lines.iter().map(|line| line.criterion.as_str()).find(|criterion| begins(criterion))?;
    let known = |name: &&str| comparison.lines.iter().any(|line| line.metric == **name);
    names.iter().all(known).then(|| (names, criterion, &rest[criterion.len() + 2..])) // begins with the criterion and two ASCII letters
}

/// The words of a note without its numbers and quoted names.
fn key_of(text: &str) -> String {
    let mut key = String::new();
    let (mut quoted, mut number) = (false, false);
    let mut before = ' ';
    for c in text.chars() {
        // An apostrophe inside a word begins no name.
        let quote = c == '\'' && (quoted || !before.is_alphanumeric());
        let digit = c.is_ascii_digit() || (number && c == '.');
        if !quoted && !quote && !digit {
            key.push(c);
        } else if (quote && !quoted) || (!quoted && digit && !number) {
            key.push('…');
        }
        quoted ^= quote;
        (number, before) = (digit, c);
    }
    key.replace("-…", "…")
}

/// A note as people read it: metrics by the names that they have everywhere else.
pub fn note_words(comparison: &Comparison, note: &str) -> String {
    match about_lines(comparison, note) {
        Some((metrics, criterion, text)) => {
            let names: Vec<&str> = metrics.into_iter().map(|metric| metric_words(comparison, metric)).collect();
            format!("{} against {criterion}: {text}", names.join(", "))
        }
        None => note.to_owned(),
    }
}

fn kinds(comparison: &Comparison) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for note in comparison.notes.iter().filter(|note| !is_general(comparison, note)) {
        let note = match about_lines(comparison, note) {
            Some((metrics, criterion, text)) => {
                let names: Vec<&str> = metrics.into_iter().map(|metric| metric_words(comparison, metric)).collect();
                Note { about: format!("{} against {criterion}", names.join(", ")), text }
            }
            None => Note { about: String::new(), text: note },
        };
        let key = key_of(note.text);
        match kinds.iter_mut().find(|kind| kind.key == key) {
            Some(kind) => kind.notes.push(note),
            None => kinds.push(Kind { key, notes: vec![note] }),
        }
    }
    kinds
}

/// Notes on all numbers, open: whoever reads one number should have read them.
pub(super) fn general(comparison: &Comparison) -> String {
    let notes = comparison.notes.iter().filter(|note| is_general(comparison, note));
    notes.map(|note| format!("<p class=\"note\">{}</p>\n", escape(note))).collect()
}

/// All other notes, folded, each kind once.
pub(super) fn folded(comparison: &Comparison) -> String {
    let kinds = kinds(comparison);
    let count: usize = kinds.iter().map(|kind| kind.notes.len()).sum();
    if count == 0 {
        return String::new();
    }
    let texts: String = kinds.iter().map(kind_text).collect();
    let notes = if count == 1 { "1 note".to_owned() } else { format!("{count} notes") };
    let of = match kinds.len() {
        _ if count == 1 => String::new(),
        1 => ", all of the same kind".to_owned(),
        kinds => format!(" of {kinds} kinds"),
    };
    format!("<details class=\"notes\"><summary>Notes on single numbers: {notes}{of}</summary>{texts}</details>\n")
}

fn kind_text(kind: &Kind<'_>) -> String {
    let whole = |note: &Note<'_>| if note.about.is_empty() { note.text.to_owned() } else { format!("{}: {}", note.about, note.text) };
    match &kind.notes[..] {
        [one] => format!("<p class=\"note\">{}</p>\n", escape(&whole(one))),
        notes => {
            let all: String = notes.iter().map(|note| format!("<li>{}</li>", escape(&whole(note)))).collect();
            format!("<details class=\"note\"><summary>{} times: {}</summary><ul>{all}</ul></details>\n", notes.len(), escape(&kind.key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_a_kind_differ_in_numbers_and_names_alone() {
        let rater =
            |name: &str, rho: &str| format!("Rater '{name}' runs against the others on size (Spearman {rho}): is the scale reversed?");
        assert_eq!(key_of(&rater("kim", "-0.25")), key_of(&rater("jo 2", "0.4")));
        assert_eq!(key_of("all 12 items' pairs say 0.5."), "all … items' pairs say …");
        assert_ne!(key_of("one item is compared"), key_of("one item is left out"));
    }
}
