//! One clause to one edit: subject and predicate ("the cat should have glasses"), existence ("there should be a cat"),
//! and bare phrases ("as a cartoon"). Clauses that begin with a command are read by [`super::verbs`].

use super::draft::{self, Draft};
use super::lexicon as lex;
use super::phrase::{Words, gerund, is_adjective_phrase, is_whole, phrase};
use super::places::{Placed, first_place, place_at_start, split_place};
use super::verbs;

/// Reads one clause; `None` when it asks for nothing that is known.
pub fn read_clause(words: &Words) -> Option<Draft> {
    let words = trim_clause(words);
    if words.is_empty() {
        return None;
    }
    if let Some(draft) = instead_of(words) {
        return Some(draft);
    }
    bare_phrase(words).or_else(|| verbs::read_command(words)).or_else(|| existence(words)).or_else(|| statement(words))
}

/// Marks and filler at both ends.
fn trim_clause<'a, 'b>(mut words: &'b Words<'a>) -> &'b Words<'a> {
    while let [first, rest @ ..] = words
        && (lex::is_comma_word(first) || matches!(*first, "and" | "then" | "also" | "finally" | "next" | "first" | "second" | "so" | "now"))
    {
        words = rest;
    }
    while let [rest @ .., last] = words
        && (lex::is_comma_word(last) || matches!(*last, "and" | "then" | "please" | "also" | "thanks"))
    {
        words = rest;
    }
    words
}

/// "Y instead of X", "Y in (the) place of X", "Y rather than X".
fn instead_of(words: &Words) -> Option<Draft> {
    const MARKS: &[&[&str]] = &[&["instead", "of"], &["in", "the", "place", "of"], &["in", "place", "of"], &["rather", "than"]];
    let (at, length) =
        (1..words.len()).find_map(|at| MARKS.iter().find(|mark| words[at..].starts_with(mark)).map(|mark| (at, mark.len())))?;
    let (old, new) = (&words[at + length..], &words[..at]);
    if old.is_empty() {
        return None;
    }
    let old_bare: Vec<&str> = old.iter().copied().filter(|w| !lex::is_article(w)).collect();
    let mut draft = read_clause(new)?;
    if super::phrase::is_colour_phrase(&old_bare) && draft.parse.edit_type == "change color" {
        let bare = draft.parse.original_part.clone();
        draft.parse.original_part = super::phrase::with_property(&old_bare.join(" "), &bare);
        return Some(draft);
    }
    let acts = draft.parse.edit_type == "other" && draft.parse.edited_part.starts_with(&draft.parse.original_part);
    if acts && draft.parse.original_part != "all" {
        return Some(draft);
    }
    let new = if draft.parse.added_object == "none" { draft.parse.edited_part } else { draft.parse.added_object };
    let new = if new == "all" { phrase(&new_object(words, at)) } else { new };
    Some(draft::replace(&phrase(old), &new))
}

/// The object of "make it a cat", when the pronoun is the thing that goes.
fn new_object<'a>(words: &Words<'a>, end: usize) -> Vec<&'a str> {
    let start = words[..end].iter().position(|w| lex::is_whole(w)).map_or(0, |at| at + 1);
    words[start..end].iter().copied().filter(|w| !matches!(*w, "be" | "into" | "to")).collect()
}

/// Phrases without a verb that still say what is wanted.
fn bare_phrase(words: &Words) -> Option<Draft> {
    match words {
        ["in", rest @ ..] if rest.iter().any(|w| lex::is_style(w)) && !rest.iter().any(|w| lex::is_command(w)) => Some(draft::global()),
        ["as", "a" | "an" | "if", rest @ ..] if draft::is_global_state(rest) => Some(draft::global()),
        ["as", "a" | "an", ..] => Some(draft::global().doubtful("'as …' without a verb is read as a change of the whole picture")),
        ["what", "would", question @ ..] => {
            let at = question.iter().position(|w| *w == "look").filter(|&at| at > 0 && question.get(at + 1) == Some(&"like"))?;
            let subject = &question[..at];
            match question.get(at + 2..)? {
                ["as", state @ ..] => Some(draft::become_state(subject, state)),
                ["with" | "wearing" | "holding", thing @ ..] => Some(draft::owns(subject, thing)),
                ["if", clause @ ..] => read_clause(clause),
                state => Some(draft::become_state(subject, state)),
            }
        }
        ["without" | "no", rest @ ..] if !rest.is_empty() => Some(draft::remove(rest)),
        ["with", rest @ ..] if !rest.is_empty() => {
            Some(draft::add_placed(&split_place(rest)).doubtful("'with …' without a verb is read as an addition"))
        }
        _ => None,
    }
}

/// "There should be a cat", "let there be light", "there is no dog".
fn existence(words: &Words) -> Option<Draft> {
    let there = words.iter().position(|w| *w == "there").filter(|&at| at <= 1)?;
    let rest = &words[there + 1..];
    let be = rest.iter().position(|w| lex::is_be(w) || *w == "appear").filter(|&at| at <= 3)?;
    let negative = rest[..be].contains(&"not");
    let mut thing = &rest[be + 1..];
    if let ["no" | "not", gone @ ..] = thing {
        return Some(draft::remove(gone));
    }
    if let ["also" | "more", fresh @ ..] = thing {
        thing = fresh;
    }
    Some(if negative { draft::remove(thing) } else { draft::add_placed(&split_place(thing)) })
}

/// Something to see or have, without a subject: "a ship on the ocean" after "I want".
pub fn wanted(words: &Words) -> Draft {
    match words {
        ["no", gone @ ..] => draft::remove(gone),
        _ if is_whole(words) => draft::unread("it is not said what is to change"),
        _ => draft::add_placed(&split_place(words)),
    }
}

/// A subject and what it should be, have or do.
fn statement(words: &Words) -> Option<Draft> {
    let at = (1..words.len()).find(|&at| is_finite(words, at))?;
    let subject = &words[..at];
    let mut predicate = &words[at..];
    if let ["would" | "will", "be", "great" | "nice" | "cool" | "good" | "better" | "perfect" | "lovely" | "awesome", ..] = predicate {
        return Some(wanted(subject));
    }
    // "Has" and "needs" are full verbs before a thing: "the cat has glasses", "the man needs a hat".
    let owns = matches!(predicate, ["has" | "needs" | "need", next, ..] if *next != "to" && !lex::is_be(next));
    if owns {
        return Some(draft::owns(subject, &predicate[1..]));
    }
    if lex::is_modal(predicate[0]) || predicate[0] == "to" {
        predicate = &predicate[1..];
    }
    if let ["to", rest @ ..] = predicate {
        predicate = rest;
    }
    Some(predicate_of(subject, predicate))
}

/// Whether the predicate begins at `at`.
fn is_finite(words: &Words, at: usize) -> bool {
    let word = words[at];
    lex::is_modal(word) && word != "has" || lex::is_be(word) || lex::is_have(word) && !word.ends_with("ing") || is_becoming(word)
}

fn is_becoming(word: &str) -> bool {
    matches!(
        word,
        "change"
            | "become"
            | "becomes"
            | "became"
            | "look"
            | "looks"
            | "looked"
            | "turns"
            | "disappear"
            | "vanish"
            | "disappears"
            | "appear"
    )
}

/// What `predicate` asks for its subject.
pub fn predicate_of(subject: &Words, predicate: &Words) -> Draft {
    let (negative, predicate) = match predicate {
        ["not" | "never", rest @ ..] => (true, rest),
        _ => (false, predicate),
    };
    let [verb, rest @ ..] = predicate else {
        return draft::unread("it is not said what is to change");
    };
    if negative {
        return negated(subject, verb, rest);
    }
    if lex::is_be(verb) {
        return state_of_being(subject, rest);
    }
    if lex::is_have(verb) {
        return draft::owns(subject, rest);
    }
    match *verb {
        "disappear" | "disappears" | "vanish" | "go" if rest.is_empty() || rest == ["away"] => draft::remove(subject),
        "appear" if is_adjective_phrase(rest) => draft::become_state(subject, rest),
        "appear" => draft::add_placed(&split_place(&[subject, rest].concat())),
        "change" if !matches!(rest, ["to" | "into", _, ..]) => action(subject, verb, rest),
        "change" => draft::become_state(subject, &rest[1..]),
        "become" | "becomes" | "became" | "look" | "looks" | "looked" | "seem" | "turn" | "turns" if !is_direction(rest) => {
            let rest = if let ["like" | "as" | "into" | "better", tail @ ..] = rest { tail } else { rest };
            let rest = if let ["as" | "with", tail @ ..] = rest { tail } else { rest };
            if let ["it" | "they", copula, state @ ..] = rest
                && lex::is_be(copula)
            {
                return draft::become_state(subject, state);
            }
            draft::become_state(subject, rest)
        }
        _ => action(subject, verb, rest),
    }
}

/// Whether "look" or "turn" is a movement here.
fn is_direction(rest: &Words) -> bool {
    matches!(
        rest,
        ["at" | "around" | "up" | "down" | "away" | "toward" | "towards" | "left" | "right" | "over" | "back" | "out" | "sideways", ..]
    ) || matches!(rest, ["to", "the" | "its" | "his" | "her", ..])
}

/// "X should not be there", "X should not have a hat".
fn negated(subject: &Words, verb: &str, rest: &Words) -> Draft {
    if lex::is_have(verb) {
        return draft::remove(rest);
    }
    match rest {
        [] | ["there" | "here" | "visible" | "present" | "shown", ..] => draft::remove(subject),
        _ => draft::unread("a negation that names nothing to remove"),
    }
}

/// What follows a form of "be": a participle, a place, or a state.
fn state_of_being(subject: &Words, rest: &Words) -> Draft {
    let rest = if let ["now" | "all" | "also" | "just" | "instead" | "completely", tail @ ..] = rest { tail } else { rest };
    let [first, tail @ ..] = rest else {
        return draft::unread("it is not said what is to change");
    };
    match *first {
        "not" | "no" => negated(subject, "be", tail),
        "gone" | "absent" | "missing" => draft::remove(subject),
        "there" | "here" | "visible" => draft::add_placed(&split_place(subject)),
        "made" if matches!(tail.first(), Some(&"of" | &"from" | &"out")) => draft::become_state(subject, rest),
        _ if lex::is_have(first) => draft::owns(subject, tail),
        _ => passive(subject, first, tail).unwrap_or_else(|| being(subject, rest)),
    }
}

/// A participle of a command: "removed", "replaced with a pear", "painted pink".
fn passive(subject: &Words, verb: &str, tail: &Words) -> Option<Draft> {
    let participle = verb.ends_with('d') || verb.ends_with('n') || matches!(verb, "put" | "made" | "hung" | "set" | "swapped" | "shrunk");
    if !participle {
        return None;
    }
    if matches!(verb, "taken" | "cut") && tail.first().is_some_and(|w| matches!(*w, "away" | "out" | "off" | "from")) {
        return Some(draft::remove(subject));
    }
    verbs::passive(subject, verb, tail)
}

fn being(subject: &Words, rest: &Words) -> Draft {
    if let ["on" | "off"] = rest {
        let thing = phrase(subject);
        return draft::other(&thing, &format!("{thing} turned {}", rest[0]));
    }
    let place = place_at_start(rest);
    if let (Some(_), false) = (place, is_whole(subject)) {
        let both = [subject, rest].concat();
        let placed = split_place(&both);
        return if is_indefinite(subject) { draft::add_placed(&placed) } else { moved_by_state(subject, &placed) };
    }
    if rest[0].ends_with("ing") && rest[0].len() > 4 && !draft::is_global_state(&rest[..1]) && !is_whole(subject) {
        return action(subject, rest[0], &rest[1..]);
    }
    draft::become_state(subject, rest)
}

fn moved_by_state(subject: &Words, placed: &Placed) -> Draft {
    let draft = draft::relocate(placed);
    match draft::subject(subject).1 {
        Some(why) => draft.doubtful(why),
        None => draft,
    }
}

/// Whether the words bring in something new: "a dog", "some birds", "two cats".
pub fn is_indefinite(words: &Words) -> bool {
    words.first().is_some_and(|w| lex::is_indefinite(w))
}

/// "X does something": an indefinite X is an addition, a definite one changes.
pub fn action(subject: &Words, verb: &str, rest: &Words) -> Draft {
    if is_whole(subject) {
        let words = [&[verb], rest].concat();
        let draft = draft::global();
        return if draft::is_global_state(&words) { draft } else { draft.doubtful("'it' is read as the whole picture") };
    }
    let (thing, doubt) = draft::subject(subject);
    let draft = if is_indefinite(subject) {
        let placed = split_place(&[subject, &[verb], rest].concat());
        let reference = if first_place(rest).is_some() { placed.reference } else { phrase(rest) };
        draft::add(&thing, if reference == "nearby" { "" } else { &reference }, placed.place)
    } else {
        let tail: Vec<&str> = rest.iter().copied().take_while(|w| !lex::is_comma_word(w)).filter(|w| *w != "please").collect();
        let edited = format!("{thing} {} {}", gerund(verb), tail.join(" "));
        draft::other(&thing, &edited)
    };
    match doubt {
        Some(why) => draft.doubtful(why),
        None => draft,
    }
}

/// Where the predicate of "X smile", "the cat to have glasses", "he be in the forest" begins, `from` being the first place to look.
pub fn predicate_start(words: &Words, from: usize) -> Option<usize> {
    (from.max(1)..words.len()).find(|&at| {
        let (word, before) = (words[at], words[at - 1]);
        let after_noun = (at == 1 && before == "her")
            || !lex::is_article(before) && !lex::is_definite(before) && !matches!(before, "of" | "and" | "with" | "in" | "on");
        word == "be"
            || (lex::is_have(word) && !word.ends_with("ing"))
            || is_becoming(word)
            || (after_noun && (lex::is_action(word) || word == "not") && !super::phrase::is_possessive(before))
    })
}

/// "Make/let/have/want" + subject + predicate; `None` when no predicate is found.
pub fn cause(words: &Words) -> Option<Draft> {
    let at = predicate_start(words, 1)?;
    let subject = if words[at - 1] == "to" && at > 1 { &words[..at - 1] } else { &words[..at] };
    Some(predicate_of(subject, &words[at..]))
}
