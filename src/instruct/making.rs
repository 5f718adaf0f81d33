//! "Make", "let", "have" and "give": a thing and its new state or possession, with no preposition between them.

use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::phrase::{
    Words, is_adjective_phrase, is_colour_phrase, is_property_word, is_texture_phrase, is_whole, phrase, size_phrase, with_property,
};
use super::places::{Place, place_at_start, split_place};

/// "Make X …": a pronoun, a predicate, a property at the end, or a second noun phrase.
pub fn make(rest: &Words) -> Draft {
    let rest = match rest.iter().position(|w| *w == "than") {
        Some(at) if at > 1 => &rest[..at],
        _ => rest,
    };
    if let [first, state @ ..] = rest
        && !state.is_empty()
        && is_pronoun(first, state)
    {
        return whole_made(state);
    }
    if let Some(draft) = two_made(rest) {
        return draft;
    }
    if let Some(at) = rest.iter().position(|w| matches!(*w, "without"))
        && at > 0
    {
        return draft::remove(&rest[at + 1..]);
    }
    if let Some(draft) = make_split(rest) {
        return draft;
    }
    match rest.split_last() {
        Some((last, thing)) if last.ends_with('s') && thing.iter().any(|w| !lex::is_determiner(w)) => {
            draft::replace(&phrase(thing), last).doubtful(format!("'{last}' is taken for the new thing"))
        }
        Some((last, thing)) if thing.iter().any(|w| !lex::is_determiner(w)) => {
            draft::other(&phrase(thing), &with_property(last, &phrase(thing))).doubtful(format!("'{last}' is taken for the new state"))
        }
        _ if grammar::is_indefinite(rest) || rest.len() == 1 => {
            draft::add_placed(&split_place(rest)).doubtful("'make' is read as an addition")
        }
        _ => draft::unread("it is not said what is to change"),
    }
}

/// Whether the first word stands for the picture: "it" does, "this" only where no noun follows ("make this red", not "this car red").
fn is_pronoun(first: &str, after: &Words) -> bool {
    let bare = match after {
        [] => true,
        [only] => !lex::is_picture(only),
        [next, ..] => {
            lex::is_article(next)
                || is_property_word(next)
                || lex::is_degree(next)
                || lex::is_be(next)
                || matches!(*next, "look" | "into" | "to" | "like" | "in" | "as" | "seem" | "appear" | "become" | "on" | "at")
        }
    };
    matches!(first, "it" | "everything") || (lex::is_whole(first) && bare)
}

/// "The hat blue and the shoes green": two things made, of which the first is held.
fn two_made(rest: &Words) -> Option<Draft> {
    let at = (2..rest.len()).find(|&at| rest[at] == "and" && rest.get(at + 1).is_some_and(|w| lex::is_definite(w)))?;
    property_start(&rest[at + 1..])?;
    let state = property_start(&rest[..at])?;
    Some(draft::become_state(&rest[..state], &rest[state..at]).with_more())
}

/// What follows "make it".
fn whole_made(state: &Words) -> Draft {
    let state = if let ["to", tail @ ..] = state { tail } else { state };
    match state {
        ["look" | "seem" | "appear", "like" | "as", "if" | "though", ..] => draft::global(),
        ["look" | "seem" | "appear" | "like", "like", tail @ ..] if !tail.is_empty() => like_whole(tail),
        ["look" | "seem" | "appear" | "into" | "be" | "as" | "in" | "like", tail @ ..] if !tail.is_empty() => like_whole(tail),
        [verb, tail @ ..] if lex::is_action(verb) || lex::is_have(verb) => {
            let words = [&[*verb], tail].concat();
            if draft::is_global_state(&words) { draft::global() } else { grammar::predicate_of(&["it"], state) }
        }
        _ => draft::become_state(&["it"], state),
    }
}

fn like_whole(state: &Words) -> Draft {
    if let ["it" | "a", "is" | "was" | "were", ..] = state { draft::global() } else { draft::become_state(&["it"], state) }
}

/// Finds where the thing ends and its new state begins, when no preposition says it.
pub fn make_split(rest: &Words) -> Option<Draft> {
    let joined = |at: usize| draft::become_state(&rest[..at], &rest[at..]);
    if let Some(at) = property_start(rest)
        && grammar::predicate_start(rest, 1).is_none_or(|verb| !is_strong_predicate(rest[verb]))
    {
        return Some(joined(at));
    }
    if let Some(at) = rest.iter().position(|w| matches!(*w, "into")).filter(|&at| at > 0) {
        return Some(draft::become_state(&rest[..at], &rest[at + 1..]));
    }
    if let Some(at) = (1..rest.len()).find(|&at| rest[at..].starts_with(&["out", "of"]) || rest[at..].starts_with(&["from"])) {
        return Some(joined(at));
    }
    if let Some(draft) = graded_as(rest).or_else(|| grammar::cause(rest)) {
        return Some(draft);
    }
    let participle = (1..rest.len()).find(|&at| {
        let known = lex::is_cover_verb(rest[at]) && rest[at].ends_with('d') || lex::is_have(rest[at]) && rest[at].ends_with("ing");
        known && rest.len() > at + 1 && !grammar::is_indefinite(rest)
    });
    if let Some(at) = participle {
        return Some(grammar::predicate_of(&rest[..at], &[&["be"], &rest[at..]].concat()));
    }
    let second = (1..rest.len()).find(|&at| {
        let before = rest[at - 1];
        matches!(rest[at], "a" | "an")
            && place_at_start(&rest[at - 1..]).is_none()
            && !matches!(before, "of" | "with" | "and" | "as" | "like")
            && !before.ends_with("ing")
            && rest[..at].iter().any(|w| !lex::is_determiner(w))
    });
    second.map(joined)
}

/// "The bird as big as the house".
fn graded_as(rest: &Words) -> Option<Draft> {
    let at = (1..rest.len()).find(|&at| rest[at] == "as" && rest.get(at + 2) == Some(&"as"))?;
    let bigger = size_phrase(&rest[at + 1..at + 2])?;
    Some(draft::become_state(&rest[..at], &["as", if bigger { "big" } else { "small" }]))
}

fn is_strong_predicate(word: &str) -> bool {
    lex::is_be(word) || lex::is_have(word) || matches!(word, "look" | "turn" | "change" | "become" | "appear" | "disappear" | "vanish")
}

/// Where the longest run of property words at the end begins, leaving a thing before it.
pub fn property_start(rest: &Words) -> Option<usize> {
    let end = rest.iter().position(|w| lex::is_comma_word(w)).unwrap_or(rest.len());
    let rest = &rest[..end];
    let is_state =
        |words: &Words| is_colour_phrase(words) || is_texture_phrase(words) || size_phrase(words).is_some() || is_adjective_phrase(words);
    (1..rest.len()).find(|&at| {
        let slightly = matches!(rest[at..], ["a", "little" | "bit" | "lot", _, ..]);
        let begins = slightly
            || !matches!(rest[at], "and" | "of" | "in" | "a" | "an" | "with") && (rest[at] != "out" || rest.get(at + 1) == Some(&"of"));
        let thing = &rest[..at];
        let named = thing.iter().any(|w| !lex::is_determiner(w) && *w != "all" && !is_property_word(w) && !lex::is_number(w))
            || thing.last().is_some_and(|w| super::phrase::pronoun_noun(w).is_some())
            || thing.len() == 1 && !lex::is_determiner(thing[0]);
        let graded = matches!(rest[at..], ["more" | "less" | "very" | "extra", _]);
        begins
            && named
            && !matches!(thing[thing.len() - 1], "of" | "and" | "with" | "a" | "an" | "the" | "more" | "look")
            && (graded || is_state(&rest[at..]))
    })
}

/// "Let X …" and "have X …".
pub fn let_or_have(rest: &Words) -> Draft {
    if let ["there", be, thing @ ..] = rest
        && lex::is_be(be)
    {
        return grammar::wanted(thing);
    }
    if let [first, verb, tail @ ..] = rest
        && lex::is_whole(first)
    {
        return if lex::is_be(verb) { draft::become_state(&["it"], tail) } else { whole_made(&rest[1..]) };
    }
    if let Some(at) = grammar::predicate_start(rest, 1) {
        let bare_noun = at == 1 && !lex::is_person_word(rest[0]) && rest[0] != "them" && lex::is_action(rest[at]);
        if bare_noun {
            let thing = phrase(&rest[..1]);
            let placed = split_place(&[&["x"], &rest[at + 1..]].concat());
            return draft::add(&thing, &placed.reference, Place::Other);
        }
        if let Some(draft) = grammar::cause(rest) {
            return draft;
        }
    }
    // "The man press the keyboard": a word before a second noun phrase is the verb, known or not.
    let verb = (2..rest.len().saturating_sub(1)).find(|&at| {
        let next = rest[at + 1];
        (lex::is_article(next) || lex::is_definite(next) || next == "some")
            && place_at_start(&rest[at..]).is_none()
            && !matches!(rest[at], "of" | "and" | "with")
    });
    if let Some(at) = verb.filter(|_| lex::is_definite(rest[0]) || lex::is_article(rest[0])) {
        return grammar::action(&rest[..at], rest[at], &rest[at + 1..]);
    }
    if let Some(at) = rest.iter().position(|w| w.ends_with("ing") && w.len() > 4).filter(|&at| at > 0 && !grammar::is_indefinite(rest)) {
        return grammar::predicate_of(&rest[..at], &[&["be"], &rest[at..]].concat());
    }
    make_split(rest).unwrap_or_else(|| grammar::wanted(rest))
}

/// "Give X Y" and "give Y to X".
pub fn give(rest: &Words) -> Draft {
    if let Some(at) = rest
        .iter()
        .position(|w| *w == "to")
        .filter(|&at| at > 0 && !rest.get(at + 1).is_some_and(|w| lex::is_name_verb(w) || lex::is_action(w)))
        && !lex::is_definite(rest[0])
        && !lex::is_person_word(rest[0])
    {
        return draft::add(&phrase(&rest[..at]), &phrase(&rest[at + 1..]), Place::Other);
    }
    let second = (1..rest.len())
        .find(|&at| matches!(rest[at], "a" | "an" | "some" | "more" | "no") && rest[at - 1] != "of" && !lex::is_article(rest[at - 1]));
    let one = if lex::is_person_word(rest[0]) || is_pronoun(rest[0], &rest[1..]) {
        1
    } else {
        let determined = usize::from(lex::is_determiner(rest[0]));
        determined + 1 + usize::from(rest.get(determined).is_some_and(|w| super::phrase::is_possessive(w) || is_property_word(w)))
    };
    let at = second.unwrap_or(one).min(rest.len());
    let (owner, thing) = rest.split_at(at);
    if thing.is_empty() {
        return draft::unread("it is not said what to give");
    }
    if is_whole(owner) {
        let known = draft::is_global_state(thing);
        return if known { draft::global() } else { draft::owns(owner, thing).doubtful("'it' is read as the whole picture") };
    }
    let last = thing.iter().rfind(|w| !lex::is_comma_word(w)).copied().unwrap_or_default();
    if lex::is_texture_noun(last) || matches!(last, "color" | "colour" | "look" | "appearance") {
        let state: Vec<&str> = thing.iter().copied().filter(|w| !lex::is_article(w)).collect();
        return draft::become_state(owner, &state);
    }
    draft::owns(owner, thing)
}
