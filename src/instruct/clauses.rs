//! An instruction cut into clauses, without the words that only name the picture.

use super::lexicon as lex;
use super::manners::strip_manners;
use super::phrase::{Words, is_property_word};
use super::places::place_at_start;
use super::verbs::base_form;

/// Takes out "in the image", "from this photo" and the like.
pub fn without_picture<'a>(words: &Words<'a>) -> Vec<&'a str> {
    let mut kept = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        match picture_phrase(&words[at..]) {
            Some(length) => at += length,
            None => {
                kept.push(words[at]);
                at += 1;
            }
        }
    }
    kept
}

/// Takes out commas between adjectives: "a small, charming gazebo", "smooth, glossy finish".
pub fn without_list_commas<'a>(words: &Words<'a>) -> Vec<&'a str> {
    let between_adjectives = |at: usize| {
        let Some(before) = at.checked_sub(1).map(|i| words[i]) else { return false };
        let opened = at >= 2 && matches!(words[at - 2], "a" | "an");
        let next = words.get(at + 1).copied().unwrap_or(".");
        let goes_on = !lex::is_article(next)
            && !matches!(next, "and" | "or" | "with" | "to" | "it" | "please" | "then" | "but")
            && !lex::is_command(base_form(next))
            && place_at_start(&words[at + 1..]).is_none();
        (opened || is_property_word(before)) && goes_on && words.get(at + 2).is_some_and(|w| !lex::is_comma_word(w))
    };
    (0..words.len()).filter(|&at| words[at] != "," || !between_adjectives(at)).map(|at| words[at]).collect()
}

/// The length of a phrase that only names the picture, at the start of `words`.
fn picture_phrase(words: &Words) -> Option<usize> {
    let preposition = matches!(
        words.first()?,
        &("in" | "of" | "on" | "from" | "to" | "within" | "inside" | "into" | "for" | "throughout" | "across" | "using")
    );
    if !preposition {
        return None;
    }
    let mut at = 1;
    let mut determined = false;
    while let Some(word) = words.get(at)
        && matches!(
            *word,
            "the"
                | "this"
                | "that"
                | "my"
                | "whole"
                | "entire"
                | "given"
                | "original"
                | "current"
                | "provided"
                | "above"
                | "attached"
                | "overall"
        )
    {
        determined = true;
        at += 1;
    }
    let named = words.get(at).is_some_and(|w| lex::is_picture(w));
    // "to" and "into" may lead to a new picture ("into a photo"), "on the frame" to a thing.
    let thing = words.get(at).is_some_and(|w| matches!(*w, "frame" | "canvas" | "view" | "shot"));
    (named && determined && !(thing && words[0] != "in")).then_some(at + 1)
}

/// Cuts an instruction into clauses: at full stops, and where "and", "then" or a comma is followed by a command.
pub fn clauses<'a>(words: &Words<'a>) -> Vec<Vec<&'a str>> {
    let mut clauses: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while at < words.len() {
        let word = words[at];
        let so_far = clauses.last().map_or(&[][..], Vec::as_slice);
        let cut = !so_far.is_empty() && (cuts_tail(&words[at..]) || starts_clause(&words[at..]) || is_purpose(so_far, &words[at..]));
        if matches!(word, "." | "!" | "?" | ";") || (word == "," && !cut && !so_far.is_empty() && is_fronted(so_far)) {
            clauses.push(Vec::new());
        } else if cut {
            clauses.push(vec![word]);
        } else if let Some(last) = clauses.last_mut() {
            last.push(word);
        }
        at += 1;
    }
    join_fronted(clauses)
}

/// Whether the words begin a part that says what stays or under which condition.
fn cuts_tail(words: &Words) -> bool {
    match words {
        ["while" | "ensuring" | "maintaining" | "preserving" | "keeping" | "but" | "whilst" | "leaving", ..] => true,
        ["to", "create" | "give" | "reveal" | "show" | "match" | "emphasize" | "highlight" | "focus" | "brighten" | "enhance", ..] => true,
        ["without", next, ..] => next.ends_with("ing"),
        ["and" | ",", next, ..] => lex::is_keep(next) || *next == "do" || (*next == "make" && words.get(2) == Some(&"sure")),
        ["so", "there" | "it" | "they" | "the" | "he" | "she", ..]
        | ["so" | "such", "that", ..]
        | ["making", "sure", ..]
        | ["with", "everything" | "the", "rest" | "else" | "same", ..] => true,
        _ => false,
    }
}

/// Whether "to make it …" here only says what a command before it is for.
fn is_purpose(before: &Words, words: &Words) -> bool {
    matches!(words, ["to", "make", "it" | "the", ..])
        && strip_manners(before).0.first().is_some_and(|w| lex::is_command(w) || lex::is_opener(w))
}

/// Whether "and", "then" or a comma here is followed by a new command.
fn starts_clause(words: &Words) -> bool {
    if !matches!(words[0], "and" | "," | "then" | "also" | "plus" | "&") {
        return false;
    }
    let skip = words
        .iter()
        .take_while(|w| {
            matches!(**w, "and" | "," | "then" | "also" | "finally" | "plus" | "next" | "please" | "&" | "instead" | "lastly" | "just")
        })
        .count();
    let Some(verb) = words.get(skip) else { return false };
    let fresh = lex::is_command(base_form(verb))
        && words.get(skip + 1).is_some()
        && !matches!(*verb, "set" | "cover" | "covered" | "filled" | "painted");
    fresh || matches!(words[skip..], ["let" | "have", ..]) && words[0] != "and" || matches!(words[skip..], ["there", "should", ..])
}

/// Whether a clause so far is only a place or a condition put in front ("on the table", "instead of a dog", "while …").
fn is_fronted(words: &Words) -> bool {
    let (words, _) = strip_manners(words);
    matches!(words, ["instead", "of", ..] | ["while" | "keeping" | "maintaining" | "without" | "for" | "preserving", ..])
        || (place_at_start(words).is_some() && !words.iter().any(|w| lex::is_style(w)))
}

/// Puts a place in front behind the clause that follows it.
fn join_fronted(clauses: Vec<Vec<&str>>) -> Vec<Vec<&str>> {
    let mut joined: Vec<Vec<&str>> = Vec::new();
    let mut fronted: Option<Vec<&str>> = None;
    for mut clause in clauses.into_iter().filter(|clause| !clause.is_empty()) {
        let placed = matches!(clause[..], ["instead", "of", ..]) || place_at_start(&clause).is_some();
        let verbless = !clause.iter().any(|w| lex::is_command(w) || lex::is_be(w) || lex::is_style(w));
        if placed && verbless && fronted.is_none() && joined.is_empty() {
            fronted = Some(clause);
        } else {
            if let Some(place) = fronted.take() {
                clause.extend(place);
            }
            joined.push(clause);
        }
    }
    joined.extend(fronted);
    joined
}
