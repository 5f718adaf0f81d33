//! Parts of a clause: noun phrases as the fields want them, places ("to the left of the tree"), and properties.

use super::lexicon as lex;

/// A run of words of one clause.
pub type Words<'a> = [&'a str];

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
    /// The place as a phrase, to be put behind the thing; empty without one.
    pub place_words: String,
}

/// Splits "a cat to the left of the tree" into the thing, its reference and the relation.
pub fn split_place(words: &Words) -> Placed {
    let Some(found) = first_place(words).filter(|found| found.at > 0) else {
        return Placed { thing: phrase(words), reference: String::new(), place: Place::Other, place_words: String::new() };
    };
    let after = &words[found.at + found.length..];
    let reference = if found.ground { words[found.at + found.length - 1].to_owned() } else { phrase(after) };
    let reference = if reference.split(' ').next_back().is_some_and(lex::is_picture) { String::new() } else { reference };
    let reference =
        if matches!(reference.as_str(), "nearby" | "each other" | "other" | "it" | "front" | "there") { String::new() } else { reference };
    let grip = reference.split(' ').next_back().is_some_and(lex::is_grip);
    let place = if grip && found.place == Place::Inside { Place::Other } else { found.place };
    let place_words = if found.ground || reference.is_empty() {
        words[found.at..found.at + found.length].join(" ")
    } else {
        words[found.at..].iter().copied().filter(|w| !lex::is_comma_word(w)).collect::<Vec<_>>().join(" ")
    };
    Placed { thing: phrase(&words[..found.at]), reference, place, place_words }
}

/// Words at the end that are no part of a thing.
const TAILS: &[&str] = &[
    "please",
    "too",
    "instead",
    "now",
    "again",
    "there",
    "here",
    "also",
    "completely",
    "entirely",
    "thanks",
    "well",
    "as",
    "and",
    "or",
    "with",
    "of",
    "to",
    "the",
    "a",
    "an",
    "is",
    "be",
    "like",
    "in",
    "that",
    "just",
    "only",
    "then",
    "somewhere",
    "anymore",
    "altogether",
    "up",
    "horizontally",
    "nearby",
    "vertically",
    "slightly",
    "upside",
    "down",
];

/// Where a thing ends: the words after these say what it is for or how it is meant.
const STOPS: &[&str] = &[",", ".", "!", "?", ";", ":", "(", ")", "so", "while", "but", "because", "whose", "which"];

/// The words of a thing as the fields want them: no article, no "all", no marks, pronouns for people as nouns.
///
/// "all" goes because the metric takes a field with that word for the whole picture.
pub fn phrase(words: &Words) -> String {
    let end = words.iter().position(|w| STOPS.contains(w)).unwrap_or(words.len());
    let mut words: Vec<&str> = words[..end].to_vec();
    while words.len() > 1 && words.first().is_some_and(|w| lex::is_determiner(w) || matches!(*w, "all" | "of" | "only" | "just" | "then")) {
        words.remove(0);
    }
    while words.len() > 1 && words.last().is_some_and(|w| TAILS.contains(w)) {
        words.pop();
    }
    if let Some(purpose) = words.windows(2).position(|pair| pair[0] == "to" && (lex::is_action(pair[1]) || lex::is_name_verb(pair[1])))
        && purpose > 0
    {
        words.truncate(purpose);
    }
    // A bare "all" or "none" left in a phrase would change the meaning of the field.
    words.retain(|w| !matches!(*w, "all" | "none"));
    if let [word] = words[..]
        && let Some(noun) = pronoun_noun(word)
    {
        return noun.to_owned();
    }
    words.join(" ")
}

/// The noun that a pronoun for a person stands for; a guess.
pub fn pronoun_noun(word: &str) -> Option<&'static str> {
    Some(match word {
        "she" | "her" => "woman",
        "he" | "him" => "man",
        "they" | "them" | "everyone" | "everybody" | "us" | "we" => "people",
        "someone" | "somebody" | "me" => "person",
        _ => return None,
    })
}

/// Whether the words name the whole picture: "it", "this", "the entire image", "everything".
pub fn is_whole(words: &Words) -> bool {
    let rest: Vec<&str> = words
        .iter()
        .copied()
        .filter(|w| {
            !lex::is_article(w)
                && !matches!(*w, "whole" | "entire" | "overall" | "full" | "of" | "all" | "given" | "original" | "my" | "current" | "thing")
        })
        .collect();
    match rest[..] {
        [] => !words.is_empty(),
        [one] => lex::is_whole(one) || lex::is_picture(one),
        [ref which @ .., last] => lex::is_picture(last) && which.iter().all(|w| lex::is_whole(w) || *w == "these" || is_property_word(w)),
    }
}

/// The owner's form: "cat" to "cat's", "girls" to "girls'".
pub fn possessive(noun: &str) -> String {
    if noun.ends_with('s') { format!("{noun}'") } else { format!("{noun}'s") }
}

/// Whether a word ends in the mark of possession.
pub fn is_possessive(word: &str) -> bool {
    word.ends_with("'s") || word.ends_with("s'")
}

/// Whether `word` is a colour, also hyphenated ("white-red").
pub fn is_colour(word: &str) -> bool {
    lex::is_colour(word) || (word.contains('-') && word.split('-').all(|p| lex::is_colour(p) || lex::is_colour_modifier(p)))
}

/// Whether the words name nothing but a colour: "light blue", "black and white", "bright red".
pub fn is_colour_phrase(words: &Words) -> bool {
    words.iter().any(|w| is_colour(w))
        && words.iter().all(|w| {
            is_colour(w)
                || lex::is_colour_modifier(w)
                || matches!(*w, "and" | "color" | "colour" | "colored" | "coloured" | "in" | "with")
                || lex::is_degree(w)
        })
}

/// Whether the words name nothing but a material or a pattern.
pub fn is_texture_phrase(words: &Words) -> bool {
    let texture = |i: usize| {
        lex::is_texture(words[i])
            || (words[i] == "polka" && words.get(i + 1).is_some_and(|n| n.starts_with("dot")))
            || (words[i].starts_with("dot") && i > 0 && words[i - 1] == "polka")
            || (matches!(words[i], "leopard" | "zebra" | "tiger") && words.get(i + 1) == Some(&"print"))
    };
    (0..words.len()).any(texture)
        && (0..words.len()).all(|i| {
            texture(i)
                || lex::is_texture_noun(words[i])
                || is_colour(words[i])
                || lex::is_colour_modifier(words[i])
                || words[i].contains('-')
                || matches!(words[i], "and" | "solid" | "polished" | "weathered" | "old" | "like" | "out" | "of" | "made" | "from")
                || (lex::is_degree(words[i]) && !lex::is_article(words[i]))
        })
}

/// The relation that a size phrase states: "much bigger", "twice as tall", "tiny".
pub fn size_phrase(words: &Words) -> Option<bool> {
    let is_size = |w: &str| lex::is_bigger(w) || lex::is_smaller(w);
    if !words.iter().all(|w| is_size(w) || lex::is_degree(w) || matches!(*w, "and" | "in" | "its" | "the" | "their" | "of")) {
        return None;
    }
    if words.iter().any(|w| *w == "size") && words.iter().any(|w| matches!(*w, "twice" | "double" | "triple" | "times" | "half")) {
        return Some(!words.contains(&"half"));
    }
    // "a little bigger": the word that grades is not the size.
    let size = words.iter().find(|w| is_size(w) && **w != "little").or_else(|| words.iter().find(|w| **w == "little"))?;
    let shrinks = words.starts_with(&["half"]) || words.contains(&"less");
    Some(lex::is_bigger(size) && !shrinks)
}

/// Whether the words are adjectives only, of whatever kind.
pub fn is_adjective_phrase(words: &Words) -> bool {
    if matches!(words, ["more" | "less" | "very" | "extra", _]) {
        return true;
    }
    words.iter().any(|w| is_property_word(w) || looks_adjective(w))
        && words.iter().all(|w| {
            is_property_word(w) || looks_adjective(w) || matches!(*w, "and" | "more" | "less") || (lex::is_degree(w) && !lex::is_article(w))
        })
}

/// A colour, material, size or other listed adjective.
pub fn is_property_word(word: &str) -> bool {
    is_colour(word)
        || lex::is_texture(word)
        || lex::is_adjective(word)
        || lex::is_bigger(word)
        || lex::is_smaller(word)
        || lex::is_weather_adjective(word)
}

/// Endings that hardly occur on nouns.
pub fn looks_adjective(word: &str) -> bool {
    word.len() > 5 && ["ful", "less", "ous", "ish", "ier", "able", "like"].iter().any(|e| word.ends_with(e))
}

/// Joins a property to a thing: before it, or behind the owner ("man's top" + "blue" = "man's blue top").
pub fn with_property(property: &str, thing: &str) -> String {
    if thing.is_empty() {
        return property.to_owned();
    }
    let words: Vec<&str> = thing.split(' ').collect();
    match words.iter().rposition(|w| is_possessive(w)).filter(|&i| i + 1 < words.len()) {
        Some(owner) => format!("{} {property} {}", words[..=owner].join(" "), words[owner + 1..].join(" ")),
        None => format!("{property} {thing}"),
    }
}

/// The thing without properties of one kind ("green ball" without colours is "ball"), unless nothing would be left.
pub fn without(thing: &str, kind: impl Fn(&str) -> bool) -> String {
    let words: Vec<&str> = thing.split(' ').collect();
    let kept: Vec<&str> = words.iter().enumerate().filter(|(i, w)| i + 1 == words.len() || !kind(w)).map(|(_, w)| *w).collect();
    kept.join(" ")
}

/// The property as an adjective: no article, no degree, no "color".
pub fn property_words(words: &Words) -> String {
    let kept: Vec<&str> = words
        .iter()
        .copied()
        .filter(|w| {
            !matches!(
                *w,
                "color"
                    | "colour"
                    | "colored"
                    | "coloured"
                    | "in"
                    | "like"
                    | "with"
                    | "texture"
                    | "pattern"
                    | "material"
                    | "finish"
                    | "surface"
                    | "out"
                    | "of"
                    | "made"
                    | "from"
                    | "one"
                    | "ones"
                    | "size"
                    | "too"
            ) && (!lex::is_degree(w) || matches!(*w, "little" | "more" | "less"))
                && !lex::is_article(w)
        })
        .collect();
    let kept = if kept.len() > 1 && kept[0] == "little" { &kept[1..] } else { &kept[..] };
    kept.join(" ")
}

/// The head noun of a phrase: the last word before "of", "with", "in", … .
pub fn head(phrase: &str) -> &str {
    let words: Vec<&str> = phrase.split(' ').collect();
    let end = words.iter().position(|w| matches!(*w, "of" | "with" | "in" | "on" | "that" | "at" | "from" | "for")).unwrap_or(words.len());
    // `split` gives at least one word, so this is in range unless the phrase begins with a preposition.
    words.get(end.saturating_sub(1)).copied().unwrap_or(phrase)
}

/// The -ing form of a verb's base form.
pub fn gerund(verb: &str) -> String {
    const DOUBLED: &[&str] = &[
        "run", "sit", "swim", "hug", "cut", "put", "get", "jog", "nod", "pet", "win", "spin", "skip", "hop", "clap", "wag", "chat", "grin",
        "nap", "drop", "stop", "hit", "chop", "dig", "sip", "squat", "shrug", "let", "set", "begin", "wrap", "beg",
    ];
    if verb.ends_with("ing") && verb.len() > 5 {
        verb.to_owned()
    } else if DOUBLED.contains(&verb) {
        format!("{verb}{}ing", &verb[verb.len() - 1..])
    } else if let Some(stem) = verb.strip_suffix("ie") {
        format!("{stem}ying")
    } else if let Some(stem) = verb.strip_suffix('e').filter(|_| !verb.ends_with("ee") && !verb.ends_with("oe")) {
        format!("{stem}ing")
    } else {
        format!("{verb}ing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    #[test]
    fn phrases_lose_what_is_no_part_of_them() {
        for (text, expected) in [
            ("all the grass", "grass"),
            ("the man on the left please", "man on the left"),
            ("her", "woman"),
            ("a skirt to wear", "skirt"),
            ("all people", "people"),
            ("the wall", "wall"),
        ] {
            assert_eq!(phrase(&words(text)), expected, "{text}");
        }
    }

    #[test]
    fn places_are_read_with_the_longest_preposition() {
        let placed = split_place(&words("a man in a suit to the left side of the tree"));
        assert_eq!((placed.thing.as_str(), placed.reference.as_str(), placed.place), ("man in a suit", "tree", Place::Left));
    }

    #[test]
    fn sizes_with_grades() {
        for (text, bigger) in [
            ("much bigger", Some(true)),
            ("a little bigger", Some(true)),
            ("half as tall", Some(false)),
            ("twice as tall", Some(true)),
            ("little", Some(false)),
            ("a bit smaller", Some(false)),
            ("big red", None),
        ] {
            assert_eq!(size_phrase(&words(text)), bigger, "{text}");
        }
    }

    #[test]
    fn gerunds() {
        for (verb, ing) in [("run", "running"), ("smile", "smiling"), ("lie", "lying"), ("lick", "licking"), ("see", "seeing")] {
            assert_eq!(gerund(verb), ing);
        }
    }
}
