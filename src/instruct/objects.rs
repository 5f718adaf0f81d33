//! Commands by what they do to their object: paint, resize, cover, move, add, open.

use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::making::property_start;
use super::phrase::{Words, is_colour_phrase, is_texture_phrase, is_whole, phrase, with_property};
use super::places::{Place, Placed, first_place, split_place};
use super::verbs::become_after;

/// "Apply a filter", "use a pencil-sketch style".
pub fn apply(rest: &Words) -> Draft {
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
pub fn paint(rest: &Words) -> Draft {
    let mark = rest.iter().position(|w| matches!(*w, "in" | "with" | "to" | "into" | "as" | "from")).filter(|&at| at > 0);
    let (thing, state) = match mark {
        Some(at) if rest[at] == "from" => (&rest[..at], draft::from_to(&rest[at..]).1),
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

pub fn grown_word(verb: &str) -> &'static str {
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
pub fn resized(rest: &Words, word: &str, bigger: bool) -> Draft {
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

pub fn scaled(rest: &Words) -> Draft {
    match rest {
        ["up", thing @ ..] | [thing @ .., "up"] => draft::resize(&phrase(thing), "bigger", true),
        ["down", thing @ ..] | [thing @ .., "down"] => draft::resize(&phrase(thing), "smaller", false),
        _ => become_after(rest).unwrap_or_else(|| draft::become_state(rest, &[])),
    }
}

/// Whether the object is a quality of the picture or of light, not a thing.
pub fn is_graded(rest: &Words) -> bool {
    rest.iter().take(3).any(|w| lex::is_global_aspect(w))
}

pub fn graded(verb: &str, rest: &Words) -> Draft {
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
pub fn cover(verb: &str, rest: &Words) -> Draft {
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
pub fn relocate(rest: &Words) -> Draft {
    let end = rest.iter().position(|w| lex::is_comma_word(w)).unwrap_or(rest.len());
    let kept: Vec<&str> = rest[..end]
        .iter()
        .copied()
        .filter(|w| !matches!(*w, "further" | "farther" | "slightly" | "more" | "bit" | "little" | "towards" | "toward"))
        .collect();
    let bare = |thing: &Words, place| {
        let thing = phrase(thing);
        draft::relocate(&Placed { thing, reference: String::new(), place, named: true })
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
        [thing @ .., "up" | "upward" | "upwards" | "higher"] if !thing.is_empty() => bare(thing, Place::Above),
        [thing @ .., "down" | "downward" | "downwards" | "lower"] if !thing.is_empty() => bare(thing, Place::Below),
        [thing @ .., "to" | "on" | "at", "left"]
        | [thing @ .., "to" | "on", "the", "left"]
        | [thing @ .., "left" | "leftward" | "leftwards"]
            if !thing.is_empty() =>
        {
            bare(thing.strip_suffix(&["to", "the"]).unwrap_or(thing), Place::Left)
        }
        [thing @ .., "to" | "on" | "at", "right"]
        | [thing @ .., "to" | "on", "the", "right"]
        | [thing @ .., "right" | "rightward" | "rightwards"]
            if !thing.is_empty() =>
        {
            bare(thing.strip_suffix(&["to", "the"]).unwrap_or(thing), Place::Right)
        }
        _ => {
            let placed = split_place(kept);
            if !placed.named { moved_somehow(&placed.thing, kept) } else { draft::relocate(&placed) }
        }
    }
}

fn moved_somehow(thing: &str, words: &Words) -> Draft {
    if let [thing @ .., "closer"] = words {
        return draft::other(&phrase(thing), &with_property("closer", &phrase(thing)));
    }
    let placed = Placed { thing: thing.to_owned(), reference: String::new(), place: Place::Other, named: false };
    draft::relocate(&placed).doubtful("it is not said where it moves")
}

/// "Add X to Y"; "put the X on the Y" moves something that is there.
pub fn add(verb: &str, rest: &Words) -> Draft {
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
    if rest.iter().position(|w| *w == "to").is_some_and(|at| draft::is_global_state(&rest[..at]) && is_whole(&rest[at + 1..])) {
        return draft::global();
    }
    let styled = rest.iter().any(|w| matches!(*w, "filter" | "style" | "effect")) && first_place(rest).is_none();
    if styled {
        return draft::global();
    }
    // "A crown to his head and a ring to his hand": a second thing with its own place is another edit.
    let second = first_place(rest).and_then(|place| {
        let starts = |at: &usize| rest[*at] == "and" && rest.get(at + 1).is_some_and(|w| lex::is_article(w) || *w == "some");
        (place.at..rest.len()).find(starts).filter(|&at| first_place(&rest[at + 1..]).is_some_and(|p| p.at > 0))
    });
    match second {
        Some(at) => draft::add_placed(&split_place(&rest[..at])).with_more(),
        None => draft::add_placed(&split_place(rest)),
    }
}

/// Verbs whose object takes on a state ("open the door"); on the picture they are global.
pub fn state_verb(verb: &str, rest: &Words) -> Option<Draft> {
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
