//! Clauses that begin with a command ("replace", "make", "give", …), and their participles.

use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::making::{give, let_or_have, make, make_split};
use super::objects::{add, apply, cover, graded, grown_word, is_graded, paint, relocate, resized, scaled, state_verb};
use super::phrase::{Words, is_colour_phrase, is_texture_phrase, is_whole, phrase, with_property};
use super::places::{first_place, place_at_start, split_place};

/// Reads a clause whose first word is a command; `None` when it is not one, or what follows cannot be read.
pub fn read_command(words: &Words) -> Option<Draft> {
    let [verb, rest @ ..] = words else { return None };
    let (verb, rest) = normal_verb(verb, rest);
    if rest.is_empty() {
        return None;
    }
    Some(match verb {
        "get" if matches!(rest, ["rid", "of", ..]) => draft::remove(until_source(&rest[2..])),
        "take" | "cut" | "edit" | "crop" | "wipe" | "strip" if has_particle(rest) => draft::remove(&without_particle(rest)),
        "drop" if first_place(rest).is_none() => draft::remove(rest),
        "make" | "turn" if matches!(rest, ["on" | "off", ..]) => switched(&rest[1..], rest[0]),
        "turn" if matches!(rest.last(), Some(&"on" | &"off")) => switched(&rest[..rest.len() - 1], rest[rest.len() - 1]),
        "turn" if switch_at(rest).is_some() => {
            let at = switch_at(rest).unwrap_or_default();
            switched(&[&rest[..at], &rest[at + 1..]].concat(), rest[at])
        }
        "make" | "get" | "render" | "colorize" if verb == "make" || first_place(rest).is_none() && verb != "colorize" => make(rest),
        "let" | "have" => let_or_have(rest),
        "give" => give(rest),
        "use" | "apply" => apply(rest),
        "edit" if matches!(rest, ["out", ..]) => draft::remove(&rest[1..]),
        "scale" | "size" => scaled(rest),
        "increase" | "decrease" | "reduce"
            if rest.iter().take(2).any(|w| matches!(*w, "number" | "count" | "amount")) && rest.contains(&"to") =>
        {
            change(verb, rest)
        }
        "increase" | "decrease" | "reduce" | "boost" | "raise" | "lower" | "improve" if is_graded(rest) => graded(verb, rest),
        "position" | "set" | "adjust" | "modify" | "edit" if matches!(rest, [_, "background", "by", ..]) => {
            return grammar::read_clause(&rest[3..]);
        }
        _ if lex::is_remove_verb(verb) && matches!(rest, ["everything" | "all", "except" | "but", ..]) => {
            all_but(rest[2..].strip_prefix(&["for"]).unwrap_or(&rest[2..]))
        }
        _ if lex::is_remove_verb(verb) && matches!(phrase(rest).as_str(), "noise" | "blur" | "motion blur" | "grain" | "haze") => {
            draft::global()
        }
        _ if lex::is_remove_verb(verb) => draft::remove(until_source(rest)),
        _ if lex::is_replace_verb(verb) => replace(verb, rest),
        _ if verb == "switch" => replace(verb, rest),
        _ if lex::is_colour_verb(verb) => paint(rest),
        _ if lex::is_grow_verb(verb) => resized(rest, grown_word(verb), true),
        _ if lex::is_shrink_verb(verb) => resized(rest, grown_word(verb), false),
        _ if lex::is_cover_verb(verb) => cover(verb, rest),
        "raise" | "lift" | "lower" if first_place(rest).is_none() => return state_verb(verb, rest),
        "extract" | "isolate" => all_but(rest),
        "double" | "triple" | "halve" => resized(rest, if verb == "halve" { "smaller" } else { "bigger" }, verb != "halve"),
        "write" | "type" | "spell" => draft::add_placed(&split_place(rest)),
        _ if lex::is_move_verb(verb) => relocate(rest),
        "resize" => become_after(rest).unwrap_or_else(|| draft::become_state(rest, &[])),
        _ if lex::is_change_verb(verb) && !(verb == "set" && !rest.contains(&"to") && !is_whole(&rest[..1])) => change(verb, rest),
        _ if lex::is_add_verb(verb) => add(verb, rest),
        _ => return state_verb(verb, rest),
    })
}

/// The base form of a command in -ing or -ed ("adding", "removed"), and particles that belong to it.
fn normal_verb<'a, 'b>(verb: &'a str, rest: &'b Words<'a>) -> (&'a str, &'b Words<'a>) {
    let rest = match (verb, rest) {
        ("swap" | "switch" | "change", ["out", tail @ ..]) => tail,
        ("add" | "put" | "throw", ["in" | "back" | "up", tail @ ..])
            if tail.len() > 1 && place_at_start(rest).is_some() && verb != "put" =>
        {
            tail
        }
        ("bring", ["in", tail @ ..]) => return ("add", tail),
        _ => rest,
    };
    (base_form(verb), rest)
}

/// "Adding", "removed" to the command they come from; other words stay.
pub fn base_form(verb: &str) -> &str {
    let commands = || lex::COMMANDS.split_ascii_whitespace().chain(lex::OPENERS.split_ascii_whitespace());
    if commands().any(|c| c == verb) {
        return verb;
    }
    for ending in ["ing", "ed", "d"] {
        let Some(stem) = verb.strip_suffix(ending) else { continue };
        if let Some(base) = commands().find(|c| *c == stem || c.strip_suffix('e') == Some(stem)) {
            return base;
        }
        // "putting", "wrapped": the last letter of the base form is doubled.
        let mut ends = stem.chars().rev();
        if let (Some(last), Some(before)) = (ends.next(), ends.next())
            && last == before
            && let Some(base) = commands().find(|c| stem.strip_suffix(last) == Some(*c))
        {
            return base;
        }
    }
    match verb {
        "gave" | "given" => "give",
        "took" | "taken" => "take",
        "made" => "make",
        _ => verb,
    }
}

fn has_particle(rest: &Words) -> bool {
    rest.iter().any(|w| matches!(*w, "away" | "out" | "off"))
}

/// "The glasses off the woman", "away the chairs", "the tree out": only the thing.
fn without_particle<'a>(rest: &Words<'a>) -> Vec<&'a str> {
    let rest = if matches!(rest, ["away" | "out" | "off", ..]) { &rest[1..] } else { rest };
    let end = rest.iter().position(|w| matches!(*w, "off" | "away" | "out")).unwrap_or(rest.len());
    until_source(&rest[..end]).to_vec()
}

/// Ends before "from …": where a thing is taken from is no part of it.
fn until_source<'a, 'b>(rest: &'b Words<'a>) -> &'b Words<'a> {
    let rest = if matches!(rest, ["away" | "out", ..]) { &rest[1..] } else { rest };
    match rest.iter().position(|w| *w == "from") {
        Some(at)
            if at > 0
                && !matches!(rest[at - 1], "far" | "made" | "different")
                && !matches!(rest[at..], [_, "the", "left" | "right" | "top" | "bottom" | "front" | "back", ..]) =>
        {
            &rest[..at]
        }
        _ => rest,
    }
}

/// "The lights on in the house": where "on" or "off" stands.
fn switch_at(rest: &Words) -> Option<usize> {
    (1..rest.len()).find(|&at| matches!(rest[at], "on" | "off") && matches!(rest.get(at + 1), Some(&"in" | &"at" | &"of")))
}

/// "Extract the dog", "remove everything but the dog": what goes is what surrounds it.
fn all_but(kept: &Words) -> Draft {
    draft::remove(&["background"]).doubtful(format!("everything but '{}' is read as the background", phrase(until_source(kept))))
}

fn switched(thing: &Words, how: &str) -> Draft {
    let thing = phrase(thing);
    draft::other(&thing, &format!("{thing} turned {how}"))
}

/// "Replace X with Y", "substitute Y for X", "swap X and Y".
fn replace(verb: &str, rest: &Words) -> Draft {
    let mark = |m: &[&str]| rest.iter().position(|w| m.contains(w)).filter(|&at| at > 0);
    if verb.starts_with("substitut")
        && let Some(at) = mark(&["for"])
    {
        return draft::replace(&phrase(&rest[at + 1..]), &phrase(&rest[..at]));
    }
    if let Some(at) = mark(&["with", "by", "for", "into"]).or_else(|| mark(&["to"])) {
        let (old, new) = (&rest[..at], &rest[at + 1..]);
        if is_whole(old) {
            return draft::become_state(old, new).doubtful("the thing to replace is not named");
        }
        let (old_text, new_text) = (phrase(old), phrase(new));
        let colours: Vec<&str> = new.iter().copied().filter(|w| !lex::is_article(w) && *w != "one").collect();
        if is_colour_phrase(&colours) || is_texture_phrase(&colours) && new.len() == colours.len() {
            return draft::become_state(old, &colours);
        }
        return match draft::become_state(old, new) {
            same if same.parse.edit_type == "change color" || matches!(new.last(), Some(&"one" | &"ones")) => same,
            _ => draft::replace(&old_text, &new_text),
        };
    }
    if let Some(at) = mark(&["and"]) {
        let (one, two) = (phrase(&rest[..at]), phrase(&rest[at + 1..]));
        return draft::replace(&one, &two).doubtful(format!("'{one}' and '{two}' change places; only the first is held")).with_more();
    }
    draft::become_state(rest, &[])
}

/// "Change X to Y", "turn X into Y", "change X from A to B".
fn change(verb: &str, rest: &Words) -> Draft {
    if verb == "edit" && grammar::is_indefinite(rest) {
        return draft::add_placed(&split_place(rest)).doubtful("'edit' is read as an addition");
    }
    if let Some(at) = rest.iter().position(|w| *w == "from").filter(|&at| at > 0)
        && let (Some(old), new) = draft::from_to(&rest[at..])
    {
        let thing = &rest[..at];
        let named = thing.iter().any(|w| {
            matches!(
                *w,
                "color" | "colour" | "material" | "texture" | "size" | "weather" | "season" | "time" | "number" | "count" | "amount"
            )
        });
        if named {
            return draft::become_state(thing, if lex::is_global_aspect(thing[thing.len() - 1]) { new } else { &rest[at..] });
        }
        let ground = thing.last().is_some_and(|w| matches!(*w, "background" | "setting" | "environment" | "scenery" | "landscape"));
        let times = |words: &Words| words.iter().all(|w| lex::is_season_or_time(w) || lex::is_weather_adjective(w) || lex::is_weather(w));
        if ground {
            return draft::replace(&phrase(thing), &phrase(new));
        }
        if times(old) && !is_whole(thing) {
            let thing = phrase(thing);
            return draft::other(&thing, &with_property(&phrase(new), &thing));
        }
        let colours: Vec<&str> = old.iter().copied().filter(|w| !lex::is_article(w)).collect();
        if is_colour_phrase(&colours) {
            let full = with_property(&colours.join(" "), &phrase(thing));
            return draft::become_state(&full.split(' ').collect::<Vec<_>>(), new);
        }
        return draft::become_state(old, new);
    }
    if let ["to" | "into", state @ ..] = rest
        && !state.is_empty()
    {
        return draft::become_state(&["it"], state);
    }
    if let Some(draft) = become_after(rest) {
        return draft;
    }
    if let Some(at) = whole_at_start(rest) {
        return draft::become_state(&["it"], &rest[at..]);
    }
    if let Some(at) = rest.iter().position(|w| matches!(*w, "in" | "on" | "at" | "during"))
        && is_whole(&rest[..at])
    {
        return draft::global();
    }
    make_split(rest).unwrap_or_else(|| draft::become_state(rest, &[]))
}

/// The length of a name of the whole picture that more words follow ("the whole picture | sepia").
fn whole_at_start(rest: &Words) -> Option<usize> {
    (1..rest.len()).rev().find(|&at| {
        (lex::is_whole(rest[at - 1]) || lex::is_picture(rest[at - 1]))
            && is_whole(&rest[..at])
            && !matches!(rest[at], "in" | "on" | "at" | "during" | "of")
    })
}

/// Whether a "to" leads to a new state and is no part of a place ("next to", "to the left of").
fn leads_to_state(before: &Words, after: &Words) -> bool {
    !matches!(before.last(), Some(&"next" | &"close" | &"adjacent" | &"near" | &"opposite"))
        && !matches!(after, ["the", "left" | "right", "of", ..] | ["match", ..])
}

/// The state after "into", "to", "as", "with", "by".
pub fn become_after(rest: &Words) -> Option<Draft> {
    let leads = |at: &usize, mark: &str| rest[*at] == mark && *at > 0 && (mark != "to" || leads_to_state(&rest[..*at], &rest[at + 1..]));
    let at = ["into", "to", "as", "with", "by", "in"].iter().find_map(|mark| (0..rest.len()).find(|at| leads(at, mark)))?;
    let (thing, state) = (&rest[..at], &rest[at + 1..]);
    if rest[at] == "in" && !draft::is_global_state(state) {
        return None;
    }
    let state = if let ["be" | "become" | "look" | "being", tail @ ..] = state { tail } else { state };
    let state = if let ["like" | "as", tail @ ..] = state { tail } else { state };
    if let ["have" | "wear" | "hold", owned @ ..] = state {
        return Some(draft::owns(thing, owned));
    }
    let times = |words: &Words| {
        words
            .iter()
            .all(|w| lex::is_season_or_time(w) || lex::is_weather(w) || lex::is_weather_adjective(w) || lex::is_article(w) || *w == "one")
    };
    if times(thing) && times(state) {
        return Some(draft::global());
    }
    let draft = draft::become_state(thing, state);
    Some(if thing.contains(&",") { draft.with_more() } else { draft })
}

/// "X should be removed", "… replaced with Y": the participle of a command with its object as the subject.
pub fn passive(subject: &Words, verb: &str, tail: &Words) -> Option<Draft> {
    let base = base_form(verb);
    if lex::is_add_verb(base) || lex::is_add_verb(verb) && base != "set" {
        if place_at_start(tail).is_some() && lex::is_definite(subject[0]) {
            return Some(draft::relocate(&split_place(&[subject, tail].concat())));
        }
        return Some(draft::add_placed(&split_place(&[subject, tail].concat())));
    }
    if verb == "made" && !tail.is_empty() {
        return Some(draft::become_state(subject, if let ["into" | "to", rest @ ..] = tail { rest } else { tail }));
    }
    let known = lex::is_remove_verb(base)
        || lex::is_replace_verb(base)
        || lex::is_change_verb(base)
        || lex::is_colour_verb(base)
        || lex::is_move_verb(base)
        || lex::is_grow_verb(base)
        || lex::is_shrink_verb(base)
        || lex::is_cover_verb(base);
    if !known && lex::state_of(base).is_none() {
        return None;
    }
    if matches!(base, "turn" | "switch") && matches!(tail, ["on" | "off", ..]) {
        return Some(switched(subject, tail[0]));
    }
    read_command(&[&[base], subject, tail].concat())
}
