//! Ways to ask ("could you please …", "what if …"), which say nothing about the edit itself.

use super::lexicon as lex;
use super::phrase::Words;

/// How a clause asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Plain,
    /// "I want …": what follows may be a thing, a clause, or "to" and a verb.
    Wish,
    /// "Could he …", "what if the dog had …": what follows may be a subject and its predicate.
    Question,
}

/// Ways to ask that say nothing about the edit; the longest that fits is taken off, again and again.
const MANNERS: &[(&str, Manner)] = &[
    ("what would it look like if", Manner::Question),
    ("what would happen if", Manner::Question),
    ("how would it look if", Manner::Question),
    ("it would be nice if", Manner::Question),
    ("it would be great if", Manner::Question),
    ("it would be cool if", Manner::Question),
    ("it would be better if", Manner::Question),
    ("i would love it if", Manner::Question),
    ("i would like it if", Manner::Question),
    ("would it be possible to", Manner::Plain),
    ("is it possible to", Manner::Plain),
    ("is there any chance you could", Manner::Plain),
    ("is there a chance you could", Manner::Plain),
    ("is there any way to", Manner::Plain),
    ("is there a way to", Manner::Plain),
    ("any chance you could", Manner::Plain),
    ("would you mind", Manner::Plain),
    ("i would appreciate it if you could", Manner::Plain),
    ("i would like you to", Manner::Plain),
    ("i would love you to", Manner::Plain),
    ("i would like for", Manner::Wish),
    ("i would like to see", Manner::Wish),
    ("i would like to have", Manner::Wish),
    ("i would like to", Manner::Plain),
    ("i would love to see", Manner::Wish),
    ("i would love to", Manner::Plain),
    ("i would like", Manner::Wish),
    ("i would love", Manner::Wish),
    ("i would prefer", Manner::Wish),
    ("i want you to", Manner::Plain),
    ("i need you to", Manner::Plain),
    ("i want to see", Manner::Wish),
    ("i want to have", Manner::Wish),
    ("i want to", Manner::Plain),
    ("i need to", Manner::Plain),
    ("i want", Manner::Wish),
    ("i need", Manner::Wish),
    ("i wish", Manner::Question),
    ("i think", Manner::Question),
    ("i do not want", Manner::Wish),
    ("we need to", Manner::Plain),
    ("we need", Manner::Wish),
    ("we should", Manner::Plain),
    ("you should", Manner::Plain),
    ("you can", Manner::Plain),
    ("let us see", Manner::Wish),
    ("let us have", Manner::Wish),
    ("let us", Manner::Plain),
    ("let me see", Manner::Wish),
    ("show me", Manner::Wish),
    ("can we have", Manner::Wish),
    ("could we have", Manner::Wish),
    ("can i have", Manner::Wish),
    ("could i have", Manner::Wish),
    ("may i have", Manner::Wish),
    ("can we see", Manner::Wish),
    ("can you help me to", Manner::Plain),
    ("can you help me", Manner::Plain),
    ("help me to", Manner::Plain),
    ("help me", Manner::Plain),
    ("can you make it so that", Manner::Question),
    ("make it so that", Manner::Question),
    ("make it so", Manner::Question),
    ("can you", Manner::Plain),
    ("could you", Manner::Plain),
    ("would you", Manner::Plain),
    ("will you", Manner::Plain),
    ("can we", Manner::Plain),
    ("could we", Manner::Plain),
    ("can i", Manner::Plain),
    ("may we", Manner::Plain),
    ("what if we", Manner::Plain),
    ("what if you", Manner::Plain),
    ("what if i", Manner::Plain),
    ("what if", Manner::Question),
    ("what about", Manner::Wish),
    ("how about", Manner::Wish),
    ("imagine if", Manner::Question),
    ("imagine", Manner::Question),
    ("suppose", Manner::Question),
    ("would like", Manner::Wish),
    ("it needs", Manner::Wish),
    ("try to", Manner::Plain),
    ("try", Manner::Plain),
    ("in order to", Manner::Plain),
    ("if possible", Manner::Plain),
    ("if", Manner::Question),
    ("why not", Manner::Plain),
    ("why do not we", Manner::Plain),
    ("could", Manner::Question),
    ("can", Manner::Question),
    ("would", Manner::Question),
    ("should", Manner::Question),
    ("may", Manner::Question),
    ("kindly", Manner::Plain),
    ("please", Manner::Plain),
    ("maybe", Manner::Plain),
    ("perhaps", Manner::Plain),
    ("simply", Manner::Plain),
    ("just", Manner::Plain),
    ("now", Manner::Plain),
    ("then", Manner::Plain),
    ("also", Manner::Plain),
    ("first", Manner::Plain),
    ("second", Manner::Plain),
    ("finally", Manner::Plain),
    ("next", Manner::Plain),
    ("and", Manner::Plain),
    ("hey", Manner::Plain),
    ("hi", Manner::Plain),
    ("hello", Manner::Plain),
    ("ok", Manner::Plain),
    ("okay", Manner::Plain),
    ("possible to", Manner::Plain),
    ("to", Manner::Plain),
];

/// Takes the manner of asking off the front.
pub fn strip_manners<'a, 'b>(mut words: &'b Words<'a>) -> (&'b Words<'a>, Manner) {
    let mut manner = Manner::Plain;
    loop {
        while let [first, rest @ ..] = words
            && lex::is_comma_word(first)
        {
            words = rest;
        }
        // "first" and "next" may begin a phrase ("next to the tree").
        if matches!(words, ["next", "to", ..]) {
            return (words, manner);
        }
        let fits = MANNERS.iter().find(|(text, _)| {
            let mut at = 0;
            text.split(' ').all(|w| {
                at += 1;
                words.get(at - 1) == Some(&w)
            })
        });
        let Some((text, found)) = fits else { return (words, manner) };
        if *text == "i do not want" {
            return (words, Manner::Wish);
        }
        words = &words[text.split(' ').count()..];
        if *found != Manner::Plain {
            manner = *found;
        }
    }
}
