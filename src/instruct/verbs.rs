//! Clauses that begin with a command ("replace", "make", "give", …), and their participles.

use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::phrase::{
    Place, Placed, Words, first_place, is_adjective_phrase, is_colour_phrase, is_property_word, is_texture_phrase, is_whole, phrase,
    place_at_start, size_phrase, split_place, with_property,
};

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
        "use_as" => return None,
        _ if lex::is_remove_verb(verb) && matches!(rest, ["everything" | "all", "except" | "but", ..]) => {
            all_but(rest[2..].strip_prefix(&["for"]).unwrap_or(&rest[2..]))
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
        Some(at) if at > 0 && !matches!(rest[at..], [_, "the", "left" | "right" | "top" | "bottom" | "front" | "back", ..]) => &rest[..at],
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

/// The state after "into", "to", "as", "with", "by".
fn become_after(rest: &Words) -> Option<Draft> {
    let at = ["into", "to", "as", "with", "by", "in"].iter().find_map(|m| rest.iter().position(|w| w == m).filter(|&at| at > 0))?;
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

/// "Make X …": a pronoun, a predicate, a property at the end, or a second noun phrase.
fn make(rest: &Words) -> Draft {
    let rest = match rest.iter().position(|w| *w == "than") {
        Some(at) if at > 1 => &rest[..at],
        _ => rest,
    };
    if let [first, state @ ..] = rest
        && lex::is_whole(first)
        && !state.is_empty()
        && !lex::is_picture(state[0])
    {
        return whole_made(state);
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
fn make_split(rest: &Words) -> Option<Draft> {
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
    lex::is_be(word) || lex::is_have(word) || matches!(word, "look" | "become" | "appear" | "disappear" | "vanish")
}

/// Where the longest run of property words at the end begins, leaving a thing before it.
fn property_start(rest: &Words) -> Option<usize> {
    let end = rest.iter().position(|w| lex::is_comma_word(w)).unwrap_or(rest.len());
    let (rest, tail) = rest.split_at(end);
    let _ = tail;
    let is_state =
        |words: &Words| is_colour_phrase(words) || is_texture_phrase(words) || size_phrase(words).is_some() || is_adjective_phrase(words);
    (1..rest.len()).find(|&at| {
        let begins =
            !matches!(rest[at], "and" | "of" | "in" | "a" | "an" | "with") && (rest[at] != "out" || rest.get(at + 1) == Some(&"of"));
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
fn let_or_have(rest: &Words) -> Draft {
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
fn give(rest: &Words) -> Draft {
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
    let one = if lex::is_person_word(rest[0]) || lex::is_whole(rest[0]) && !rest.get(1).is_some_and(|w| lex::is_picture(w)) {
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

/// "Apply a filter", "use a pencil-sketch style".
fn apply(rest: &Words) -> Draft {
    if draft::is_global_state(rest) || rest.iter().any(|w| matches!(*w, "effect" | "effects" | "filter")) {
        return draft::global();
    }
    if let Some(at) = rest.iter().position(|w| matches!(*w, "to" | "on")).filter(|&at| at > 0) {
        let state: Vec<&str> = rest[..at].iter().copied().filter(|w| !lex::is_article(w)).collect();
        if is_texture_phrase(&state) || is_colour_phrase(&state) {
            return draft::become_state(&rest[at + 1..], &state);
        }
    }
    draft::add_placed(&split_place(rest))
}

/// "Paint X red", "paint X in red", "colour the sky with pink".
fn paint(rest: &Words) -> Draft {
    let mark = rest.iter().position(|w| matches!(*w, "in" | "with" | "to" | "into" | "as" | "from")).filter(|&at| at > 0);
    let (thing, state) = match mark {
        Some(at) if rest[at] == "from" => match draft::from_to(&rest[at..]) {
            (_, state) => (&rest[..at], state),
        },
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => match property_start(rest) {
            Some(at) => rest.split_at(at),
            None if grammar::is_indefinite(rest) => return draft::add_placed(&split_place(rest)),
            None => (rest, &rest[..0]),
        },
    };
    let colours: Vec<&str> = state.iter().copied().filter(|w| !lex::is_article(w)).collect();
    if state.is_empty() || !is_colour_phrase(&colours) {
        if grammar::is_indefinite(rest) && first_place(rest).is_some() {
            return draft::add_placed(&split_place(rest));
        }
        return draft::become_state(thing, state);
    }
    draft::become_state(thing, &colours)
}

fn grown_word(verb: &str) -> &'static str {
    match verb {
        "widen" => "wider",
        "lengthen" => "longer",
        "thicken" => "thicker",
        "shorten" => "shorter",
        "narrow" => "narrower",
        _ if lex::is_shrink_verb(verb) => "smaller",
        _ => "bigger",
    }
}

/// "Enlarge X", "increase the size of X", "reduce X's size".
fn resized(rest: &Words, word: &str, bigger: bool) -> Draft {
    let end = rest.iter().position(|w| matches!(*w, "by" | "to" | "in")).filter(|&at| at > 0).unwrap_or(rest.len());
    let mut thing = &rest[..end];
    let mut word = word;
    let measure = |w: &str| match (w, bigger) {
        ("size" | "scale" | "dimensions", true) => Some("bigger"),
        ("size" | "scale" | "dimensions", false) => Some("smaller"),
        ("height", true) => Some("taller"),
        ("length", true) => Some("longer"),
        ("width", true) => Some("wider"),
        ("height" | "length", false) => Some("shorter"),
        ("width", false) => Some("narrower"),
        _ => None,
    };
    if let Some((at, measured)) = thing.iter().enumerate().find_map(|(at, w)| measure(w).map(|m| (at, m))) {
        word = measured;
        thing = if thing.get(at + 1) == Some(&"of") { &thing[at + 2..] } else { &thing[..at] };
    }
    let text = phrase(thing);
    let owner = text.strip_suffix("'s").unwrap_or(&text);
    draft::resize(owner, word, bigger)
}

fn scaled(rest: &Words) -> Draft {
    match rest {
        ["up", thing @ ..] | [thing @ .., "up"] => draft::resize(&phrase(thing), "bigger", true),
        ["down", thing @ ..] | [thing @ .., "down"] => draft::resize(&phrase(thing), "smaller", false),
        _ => become_after(rest).unwrap_or_else(|| draft::become_state(rest, &[])),
    }
}

/// Whether the object is a quality of the picture or of light, not a thing.
fn is_graded(rest: &Words) -> bool {
    rest.iter().take(3).any(|w| lex::is_global_aspect(w))
}

fn graded(verb: &str, rest: &Words) -> Draft {
    let more = !matches!(verb, "decrease" | "reduce" | "lower");
    match rest.iter().position(|w| matches!(*w, "of" | "in" | "on")) {
        Some(at) if at + 1 < rest.len() && !is_whole(&rest[at + 1..]) => {
            let thing = phrase(&rest[at + 1..]);
            let grade = if more { "more" } else { "less" };
            draft::other(&thing, &format!("{thing} with {grade} {}", phrase(&rest[..at])))
        }
        _ => draft::global(),
    }
}

/// "Fill X with Y", "dress X in Y".
fn cover(verb: &str, rest: &Words) -> Draft {
    if let Some(at) = rest.iter().position(|w| matches!(*w, "as" | "like")).filter(|&at| at > 0) {
        let (thing, _) = draft::subject(rest[..at].strip_suffix(&["up"]).unwrap_or(&rest[..at]));
        return draft::other(&thing, &format!("{thing} dressed as {}", phrase(&rest[at + 1..])));
    }
    let Some(at) = rest.iter().position(|w| matches!(*w, "with" | "in")).filter(|&at| at > 0) else {
        return draft::become_state(rest, &[]);
    };
    let place = if matches!(verb, "fill" | "filled" | "stuff" | "stuffed" | "load" | "loaded") { Place::Inside } else { Place::Other };
    if is_whole(&rest[..at]) {
        return draft::add_placed(&split_place(&rest[at + 1..]));
    }
    let (owner, doubt) = draft::subject(&rest[..at]);
    let draft = draft::add(&phrase(&rest[at + 1..]), &owner, place);
    match doubt {
        Some(why) => draft.doubtful(why),
        None => draft,
    }
}

/// A new place for something that is there.
fn relocate(rest: &Words) -> Draft {
    let end = rest.iter().position(|w| lex::is_comma_word(w)).unwrap_or(rest.len());
    let kept: Vec<&str> = rest[..end]
        .iter()
        .copied()
        .filter(|w| !matches!(*w, "further" | "farther" | "slightly" | "more" | "bit" | "little" | "towards" | "toward"))
        .collect();
    let bare = |thing: &Words, place, words: &str| {
        let thing = phrase(thing);
        draft::relocate(&Placed { thing, reference: String::new(), place, place_words: words.to_owned() })
    };
    let kept = match kept.iter().position(|w| *w == "from").filter(|&at| at > 0) {
        Some(from) => match kept[from..].iter().position(|w| matches!(*w, "to" | "onto" | "into" | "under")) {
            Some(to) => [&kept[..from], &kept[from + to..]].concat(),
            None => kept,
        },
        None => kept,
    };
    let mut kept = &kept[..];
    while let [rest @ .., "a" | "the" | "side" | "it"] = kept {
        kept = rest;
    }
    match kept {
        [thing @ .., "up" | "upward" | "upwards" | "higher"] if !thing.is_empty() => bare(thing, Place::Above, "higher up"),
        [thing @ .., "down" | "downward" | "downwards" | "lower"] if !thing.is_empty() => bare(thing, Place::Below, "lower down"),
        [thing @ .., "to" | "on" | "at", "left"]
        | [thing @ .., "to" | "on", "the", "left"]
        | [thing @ .., "left" | "leftward" | "leftwards"]
            if !thing.is_empty() =>
        {
            bare(thing.strip_suffix(&["to", "the"]).unwrap_or(thing), Place::Left, "on the left")
        }
        [thing @ .., "to" | "on" | "at", "right"]
        | [thing @ .., "to" | "on", "the", "right"]
        | [thing @ .., "right" | "rightward" | "rightwards"]
            if !thing.is_empty() =>
        {
            bare(thing.strip_suffix(&["to", "the"]).unwrap_or(thing), Place::Right, "on the right")
        }
        _ => {
            let placed = split_place(kept);
            if placed.place_words.is_empty() { moved_somehow(&placed.thing, kept) } else { draft::relocate(&placed) }
        }
    }
}

fn moved_somehow(thing: &str, words: &Words) -> Draft {
    if let [thing @ .., "closer"] = words {
        return draft::other(&phrase(thing), &with_property("closer", &phrase(thing)));
    }
    let placed = Placed { thing: thing.to_owned(), reference: String::new(), place: Place::Other, place_words: String::new() };
    draft::relocate(&placed).doubtful("it is not said where it moves")
}

/// "Add X to Y"; "put the X on the Y" moves something that is there.
fn add(verb: &str, rest: &Words) -> Draft {
    if matches!(verb, "put" | "place" | "position" | "set" | "lay" | "drop") && (lex::is_definite(rest[0]) || lex::is_person_word(rest[0]))
    {
        if let Some(at) = rest.iter().position(|w| *w == "in").filter(|&at| at > 0 && rest[at..].iter().any(|w| lex::is_clothing(w))) {
            return draft::owns(&rest[..at], &rest[at + 1..]);
        }
        let bare = rest.iter().any(|w| matches!(*w, "further" | "farther" | "higher" | "lower"));
        let draft = relocate(rest);
        let said = bare || rest.iter().any(|w| w.contains('-'));
        return if said { draft } else { draft.doubtful(format!("'{verb} the …' is read as a move of something that is there")) };
    }
    if let Some(at) =
        rest.iter().position(|w| *w == "to").filter(|&at| at > 0 && draft::is_global_state(&rest[..at]) && is_whole(&rest[at + 1..]))
    {
        let _ = at;
        return draft::global();
    }
    let styled = rest.iter().any(|w| matches!(*w, "filter" | "style" | "effect")) && first_place(rest).is_none();
    if styled {
        return draft::global();
    }
    draft::add_placed(&split_place(rest))
}

/// Verbs whose object takes on a state ("open the door"); on the picture they are global.
fn state_verb(verb: &str, rest: &Words) -> Option<Draft> {
    let object = if lex::is_global_verb(verb) && matches!(rest, ["in" | "out", ..]) { &rest[1..] } else { rest };
    if lex::is_global_verb(verb) && (object.is_empty() || is_whole(object) || is_whole(&object[..object.len().min(2)]))
        || matches!(verb, "crop" | "zoom")
    {
        return Some(draft::global());
    }
    let state = lex::state_of(verb)?;
    let thing = phrase(rest);
    Some(draft::other(&thing, &with_property(state, &thing)))
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
