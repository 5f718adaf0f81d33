//! Where a thing is to be: prepositions, the relation they state, and the thing they are told from.

use super::lexicon as lex;
use super::phrase::{Words, head, phrase};

/// What a preposition says about where a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Left,
    Right,
    Above,
    Below,
    Inside,
    /// A place that is none of the metric's relations (next to, behind, on, …).
    Other,
}

impl Place {
    /// The word of the `position` field.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Above => "above",
            Self::Below => "below",
            Self::Inside => "inside",
            Self::Other => "none",
        }
    }
}

/// Prepositions, longer ones first.
const PLACES: &[(&[&str], Place)] = &[
    (&["to", "the", "left", "side", "of"], Place::Left),
    (&["on", "the", "left", "side", "of"], Place::Left),
    (&["at", "the", "left", "side", "of"], Place::Left),
    (&["to", "the", "right", "side", "of"], Place::Right),
    (&["on", "the", "right", "side", "of"], Place::Right),
    (&["at", "the", "right", "side", "of"], Place::Right),
    (&["on", "the", "other", "side", "of"], Place::Other),
    (&["to", "the", "left", "of"], Place::Left),
    (&["on", "the", "left", "of"], Place::Left),
    (&["at", "the", "left", "of"], Place::Left),
    (&["to", "the", "right", "of"], Place::Right),
    (&["on", "the", "right", "of"], Place::Right),
    (&["at", "the", "right", "of"], Place::Right),
    (&["in", "the", "middle", "of"], Place::Inside),
    (&["in", "the", "center", "of"], Place::Inside),
    (&["in", "the", "centre", "of"], Place::Inside),
    (&["on", "the", "top", "of"], Place::Above),
    (&["at", "the", "top", "of"], Place::Other),
    (&["at", "the", "bottom", "of"], Place::Other),
    (&["at", "the", "edge", "of"], Place::Other),
    (&["on", "the", "side", "of"], Place::Other),
    (&["on", "the", "left", "side"], Place::Left),
    (&["on", "the", "right", "side"], Place::Right),
    (&["to", "the", "left", "side"], Place::Left),
    (&["to", "the", "right", "side"], Place::Right),
    (&["on", "the", "left", "hand", "side"], Place::Left),
    (&["on", "the", "right", "hand", "side"], Place::Right),
    (&["on", "the", "left"], Place::Left),
    (&["on", "the", "right"], Place::Right),
    (&["to", "the", "left"], Place::Left),
    (&["to", "the", "right"], Place::Right),
    (&["at", "the", "left"], Place::Left),
    (&["at", "the", "right"], Place::Right),
    (&["in", "front", "of"], Place::Other),
    (&["on", "top", "of"], Place::Above),
    (&["in", "between"], Place::Other),
    (&["in", "the", "distance"], Place::Other),
    (&["in", "the", "middle"], Place::Other),
    (&["in", "the", "center"], Place::Other),
    (&["in", "the", "centre"], Place::Other),
    (&["in", "the", "corner"], Place::Other),
    (&["at", "the", "top"], Place::Other),
    (&["at", "the", "bottom"], Place::Other),
    (&["closer", "to"], Place::Other),
    (&["in", "the", "background"], Place::Other),
    (&["in", "the", "foreground"], Place::Other),
    (&["on", "the", "background"], Place::Other),
    (&["all", "over"], Place::Other),
    (&["left", "of"], Place::Left),
    (&["right", "of"], Place::Right),
    (&["inside", "of"], Place::Inside),
    (&["next", "to"], Place::Other),
    (&["close", "to"], Place::Other),
    (&["near", "to"], Place::Other),
    (&["opposite", "to"], Place::Other),
    (&["adjacent", "to"], Place::Other),
    (&["standing", "by"], Place::Other),
    (&["above"], Place::Above),
    (&["over"], Place::Above),
    (&["atop"], Place::Above),
    (&["under"], Place::Below),
    (&["underneath"], Place::Below),
    (&["below"], Place::Below),
    (&["beneath"], Place::Below),
    (&["inside"], Place::Inside),
    (&["within"], Place::Inside),
    (&["into"], Place::Inside),
    (&["in"], Place::Inside),
    (&["near"], Place::Other),
    (&["beside"], Place::Other),
    (&["besides"], Place::Other),
    (&["alongside"], Place::Other),
    (&["by"], Place::Other),
    (&["behind"], Place::Other),
    (&["between"], Place::Other),
    (&["among"], Place::Other),
    (&["around"], Place::Other),
    (&["across"], Place::Other),
    (&["along"], Place::Other),
    (&["against"], Place::Other),
    (&["at"], Place::Other),
    (&["on"], Place::Other),
    (&["onto"], Place::Other),
    (&["upon"], Place::Other),
    (&["to"], Place::Other),
    (&["for"], Place::Other),
    (&["from"], Place::Other),
    (&["off"], Place::Other),
    (&["outside"], Place::Other),
    (&["throughout"], Place::Other),
    (&["towards"], Place::Other),
    (&["toward"], Place::Other),
    (&["through"], Place::Other),
];

/// A place found in a run of words: `words[at..at + length]` is the preposition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub at: usize,
    pub length: usize,
    pub place: Place,
    /// "in the background" names its reference itself.
    pub ground: bool,
}

/// The preposition that `words` begins with.
pub fn place_at_start(words: &Words) -> Option<Found> {
    let (pattern, place) =
        PLACES.iter().find(|(pattern, _)| words.starts_with(pattern) && !is_qualifier(pattern, &words[pattern.len()..]))?;
    let ground = pattern.last().is_some_and(|last| last.ends_with("ground"));
    Some(Found { at: 0, length: pattern.len(), place: *place, ground })
}

/// Whether a side, middle or corner at the end of a preposition only says which thing is meant ("on the left wall", "in the corner of").
fn is_qualifier(pattern: &[&str], after: &Words) -> bool {
    let side = pattern.len() == 3
        && matches!(pattern[2], "left" | "right" | "distance" | "middle" | "center" | "centre" | "corner" | "top" | "bottom");
    let ends = after.first().is_none_or(|w| {
        lex::is_comma_word(w) || matches!(*w, "and" | "please" | "that" | "side") || (*w != "of" && PLACES.iter().any(|(p, _)| p[0] == *w))
    });
    side && !ends
}

/// The first place in `words` that says where the thing is, not what it is ("in a red suit", "to wear").
pub fn first_place(words: &Words) -> Option<Found> {
    (0..words.len()).find_map(|at| {
        let found = place_at_start(&words[at..])?;
        let after = &words[at + found.length..];
        let worn = words[at] == "in" && after.iter().take(4).any(|w| lex::is_clothing(w));
        let inner = worn || (found.length == 1 && after.first().is_some_and(|w| words[at] == "to" && lex::is_action(w)));
        (!inner).then_some(Found { at, ..found })
    })
}

/// A thing and where it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub thing: String,
    /// What it is added to; empty when nothing, or only the picture, is named.
    pub reference: String,
    pub place: Place,
    /// Whether a place is named at all.
    pub named: bool,
}

/// Splits "a cat to the left of the tree" into the thing, its reference and the relation.
pub fn split_place(words: &Words) -> Placed {
    let Some(found) = first_place(words).filter(|found| found.at > 0) else {
        return Placed { thing: phrase(words), reference: String::new(), place: Place::Other, named: false };
    };
    let after = &words[found.at + found.length..];
    let reference = if found.ground { words[found.at + found.length - 1].to_owned() } else { phrase(after) };
    let reference = if reference.split(' ').next_back().is_some_and(lex::is_picture) { String::new() } else { reference };
    let reference =
        if matches!(reference.as_str(), "nearby" | "each other" | "other" | "it" | "front" | "there") { String::new() } else { reference };
    // "On the screen" is within the screen (an example of the paper's prompts); on other things it may be either.
    let shown =
        words[found.at] == "on" && found.length == 1 && matches!(head(&reference), "screen" | "tv" | "television" | "monitor" | "display");
    let grip = reference.split(' ').next_back().is_some_and(lex::is_grip);
    let place = if grip && found.place == Place::Inside {
        Place::Other
    } else if shown {
        Place::Inside
    } else {
        found.place
    };
    Placed { thing: phrase(&words[..found.at]), reference, place, named: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    #[test]
    fn places_are_read_with_the_longest_preposition() {
        let placed = split_place(&words("a man in a suit to the left side of the tree"));
        assert_eq!((placed.thing.as_str(), placed.reference.as_str(), placed.place), ("man in a suit", "tree", Place::Left));
    }

    #[test]
    fn a_side_before_a_noun_says_which_thing_not_where() {
        let placed = split_place(&words("a clock on the left wall"));
        assert_eq!((placed.reference.as_str(), placed.place), ("left wall", Place::Other));
        let placed = split_place(&words("a clock on the left"));
        assert_eq!((placed.reference.as_str(), placed.place), ("", Place::Left));
    }
}
