//! Parts of a clause: noun phrases as the fields want them, and properties (colour, material, size, other).

use super::lexicon as lex;

/// A run of words of one clause.
pub type Words<'a> = [&'a str];

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
    if words.contains(&"size") && words.iter().any(|w| matches!(*w, "twice" | "double" | "triple" | "times" | "half")) {
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
                "shade"
                    | "color"
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
    let vowel = |c: char| "aeiou".contains(c);
    let letters: Vec<char> = verb.chars().collect();
    // One vowel before one last consonant doubles it: "run", "stir"; not "look", "open", "show".
    let doubled = match letters[..] {
        [.., before, last] => {
            letters.len() <= 4
                && vowel(before)
                && !vowel(last)
                && !"wxy".contains(last)
                && letters.iter().filter(|c| vowel(**c)).count() == 1
        }
        _ => false,
    };
    if verb.ends_with("ing") && verb.len() > 5 {
        verb.to_owned()
    } else if doubled {
        format!("{verb}{}ing", letters[letters.len() - 1])
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
        for (verb, ing) in
            [("run", "running"), ("smile", "smiling"), ("lie", "lying"), ("lick", "licking"), ("see", "seeing"), ("open", "opening")]
        {
            assert_eq!(gerund(verb), ing);
        }
    }
}
