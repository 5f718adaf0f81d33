//! An instruction to its parse: politeness off, clauses apart, the first edit held, doubts and further edits marked.

use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::phrase::{Words, place_at_start};
use super::tokens::{is_mostly_latin, near_verb, tokenize};
use super::verbs::base_form;
use crate::domain::Parse;

/// Longer instructions are read, but CLIP holds 77 tokens and the rules were written for a sentence or two.
const LONG: usize = 60;

/// Reads the seven fields out of an English instruction. Never fails: what it cannot read is `none`, with the reason in `doubtful`.
pub fn parse_instruction(instruction: &str) -> Parse {
    if instruction.trim().is_empty() {
        return finish(draft::unread("the instruction is empty"), false);
    }
    if !is_mostly_latin(instruction) {
        return finish(draft::unread("the instruction is not English: write the fields by hand, or use a language model"), false);
    }
    let tokens = tokenize(instruction);
    let words: Vec<&str> = tokens.words.iter().map(String::as_str).collect();
    let words = without_picture(&words);
    let clauses = clauses(&words);
    let mut edits: Vec<Draft> = Vec::new();
    let mut antecedent: Option<Vec<&str>> = None;
    for (at, clause) in clauses.iter().enumerate() {
        let resolved = resolve(clause, antecedent.as_deref());
        let pronoun_follows = clauses.get(at + 1).is_some_and(|next| object_pronoun(next).is_some());
        if let Some(thing) = remark(&resolved).filter(|_| pronoun_follows) {
            antecedent = Some(thing.to_vec());
            continue;
        }
        read_into(&resolved, &mut edits);
    }
    let more = edits.len() > 1;
    let mut draft = if edits.is_empty() { last_resort(&words) } else { edits.swap_remove(0) };
    draft.doubts.extend(tokens.corrected.iter().map(|fix| format!("read {fix}")));
    if words.len() > LONG {
        draft.doubts.push(format!("long instruction ({} words)", words.len()));
    }
    finish(draft, more)
}

fn finish(draft: Draft, more: bool) -> Parse {
    let nothing = draft.parse.original_part == "none" && draft.parse.edited_part == "none";
    let draft = if nothing && draft.doubts.is_empty() { draft::unread("it is not said what is to change") } else { draft };
    let doubtful = (!draft.doubts.is_empty()).then(|| draft.doubts.join("; "));
    Parse { doubtful, more_edits: more || draft.more, ..draft.parse }
}

/// A remark about a thing, which is no edit when the next clause says what to do with "it": "the dog is too big", "I do not like the cup".
fn remark<'a, 'b>(clause: &'b Words<'a>) -> Option<&'b Words<'a>> {
    match clause {
        ["i", "do", "not", "like", thing @ ..] | ["i", "see", thing @ ..] | ["there", "is" | "are", thing @ ..] => Some(thing),
        _ => {
            let at = clause.iter().position(|w| matches!(*w, "is" | "are" | "looks" | "look" | "seems")).filter(|&at| at > 0)?;
            (clause.first().is_some_and(|w| lex::is_definite(w)) && clause.get(at + 1) != Some(&"now")).then_some(&clause[..at])
        }
    }
}

/// Where a clause has "it" or "them" as the object of its command.
fn object_pronoun(clause: &Words) -> Option<usize> {
    let start = clause.len() - strip_manners(clause).0.len();
    let verb = clause.get(start).filter(|w| lex::is_command(w) || lex::is_opener(w))?;
    (start + 1..clause.len()).find(|&at| matches!(clause[at], "it" | "them")).filter(|&at| at == start + 1 || *verb == "get")
}

/// The clause with the thing that was remarked upon in place of the pronoun.
fn resolve<'a>(clause: &Words<'a>, antecedent: Option<&Words<'a>>) -> Vec<&'a str> {
    match (object_pronoun(clause), antecedent) {
        (Some(at), Some(thing)) => [&clause[..at], thing, &clause[at + 1..]].concat(),
        _ => clause.to_vec(),
    }
}

/// "Add a bird. Make it blue.": the second clause says more about what the first brings in.
fn elaborate(last: &mut Draft, clause: &Words) -> bool {
    let Some(at) = object_pronoun(clause).filter(|_| matches!(last.parse.edit_type.as_str(), "add" | "replace")) else {
        return false;
    };
    let thing = last.parse.edited_part.clone();
    let named: Vec<&str> = [&clause[..at], &["the"], &thing.split(' ').collect::<Vec<_>>()[..], &clause[at + 1..]].concat();
    let Some(more) = grammar::read_clause(strip_manners(&named).0) else { return false };
    if more.parse.original_part != thing || more.parse.edited_part == "none" {
        return false;
    }
    if last.parse.edit_type == "add" {
        more.parse.edited_part.clone_into(&mut last.parse.added_object);
    }
    last.parse.edited_part = more.parse.edited_part;
    true
}

/// Reads a clause and adds its edit; a clause about the edit before it ("and put a cat in its place") changes that one.
fn read_into(clause: &[&str], edits: &mut Vec<Draft>) {
    let clause = if let ["but", rest @ ..] = clause { rest } else { clause };
    let (words, manner) = strip_manners(clause);
    if words.is_empty() || is_keeping(words) || is_keeping(clause) {
        return;
    }
    if let Some(last) = edits.last_mut()
        && last.parse.edit_type == "remove"
        && let Some(new) = replacement(words)
    {
        let old = std::mem::take(&mut last.parse.original_part);
        *last = draft::replace(&old, &new);
        return;
    }
    if edits.last_mut().is_some_and(|last| elaborate(last, clause)) {
        return;
    }
    if !edits.is_empty() && matches!(words, ["it" | "they" | "this" | "that", ..]) {
        return;
    }
    let (corrected, slip) = correct_verb(words);
    let read = match manner {
        Manner::Wish => wish(&corrected),
        Manner::Question => question(&corrected).or_else(|| grammar::read_clause(&corrected)),
        Manner::Plain => grammar::read_clause(&corrected),
    };
    if let Some(draft) = read {
        edits.push(match slip {
            Some(why) => draft.doubtful(why),
            None => draft,
        });
    }
}

/// A misspelt verb at the start of a clause.
fn correct_verb<'a>(words: &Words<'a>) -> (Vec<&'a str>, Option<String>) {
    let mut words = words.to_vec();
    if let Some(first) = words.first().copied()
        && words.get(1).is_some_and(|next| !lex::is_be(next) && !lex::is_modal(next))
        && base_form(first) == first
        && let Some(verb) = near_verb(first)
    {
        words[0] = verb;
        return (words, Some(format!("read '{first}' as '{verb}'")));
    }
    (words, None)
}

/// "Replace it with Y", "put Y in its place" after a removal.
fn replacement(words: &Words) -> Option<String> {
    match words {
        ["replace" | "replacing" | "swap", "it" | "them" | "that" | "him" | "her", "with" | "by" | "for", new @ ..] => {
            Some(super::phrase::phrase(new))
        }
        [verb, new @ .., "in", "place"] | [verb, new @ .., "in", "its" | "their" | "that", "place"] | [verb, new @ .., "instead"]
            if lex::is_add_verb(base_form(verb)) =>
        {
            Some(super::phrase::phrase(new))
        }
        _ => None,
    }
}

/// A clause that says what stays.
fn is_keeping(words: &Words) -> bool {
    matches!(words, ["make", "sure", ..] | ["to", "make", ..] | ["do", "not", "change" | "alter" | "modify" | "touch" | "edit", ..])
        || words.first().is_some_and(|w| lex::is_keep(w))
        || matches!(words, ["everything", "else", ..] | ["the", "rest", ..] | ["while" | "without", _, ..] if words.get(1).is_some_and(|w| w.ends_with("ing")))
}

/// How a clause asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
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
fn strip_manners<'a, 'b>(mut words: &'b Words<'a>) -> (&'b Words<'a>, Manner) {
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

/// What is wished: nothing of it, a thing, a clause with "to", or a finite clause.
fn wish(words: &Words) -> Option<Draft> {
    if let ["i", "do", "not", "want", gone @ ..] = words {
        let end = gone.iter().position(|w| *w == "to").unwrap_or(gone.len());
        return Some(draft::remove(&gone[..end]));
    }
    let verb = base_form(words.first()?);
    if lex::is_command(verb) && !matches!(verb, "picture" | "set" | "cover") {
        return grammar::read_clause(words);
    }
    if let Some(at) = (1..words.len()).find(|&at| words[at] == "to" && words.get(at + 1).is_some_and(|w| is_predicate_word(w))) {
        return Some(grammar::predicate_of(&words[..at], &words[at + 1..]));
    }
    if let Some(at) = words.iter().position(|w| lex::is_modal(w) || lex::is_be(w)).filter(|&at| at > 0) {
        let _ = at;
        return grammar::read_clause(words);
    }
    if let Some(instead) = words.windows(2).position(|pair| pair == ["instead", "of"]) {
        return Some(draft::replace(&super::phrase::phrase(&words[instead + 2..]), &super::phrase::phrase(&words[..instead])));
    }
    // "I want the car red", "I want the man wearing a hat".
    if words.first().is_some_and(|w| lex::is_definite(w) || lex::is_whole(w)) {
        let made = [&["make"], words].concat();
        return grammar::read_clause(&made);
    }
    Some(grammar::wanted(words))
}

fn is_predicate_word(word: &str) -> bool {
    lex::is_be(word)
        || lex::is_have(word)
        || lex::is_action(word)
        || matches!(word, "become" | "look" | "turn" | "appear" | "disappear" | "change")
}

/// A subject and its predicate after "could", "what if": "he be in the forest", "the dog had a bone".
fn question(words: &Words) -> Option<Draft> {
    if words.first().is_some_and(|w| lex::is_command(base_form(w))) || words.contains(&"there") {
        return grammar::read_clause(words);
    }
    let finite = (1..words.len()).find(|&at| {
        lex::is_be(words[at]) || lex::is_modal(words[at]) && words[at] != "has" || lex::is_have(words[at]) && !words[at].ends_with("ing")
    });
    match finite {
        Some(_) => grammar::read_clause(words),
        None => grammar::cause(words),
    }
}

/// No edit was found: a description or a lone phrase. A picture's name means the whole picture; else nothing is invented.
fn last_resort(words: &Words) -> Draft {
    if let [verb, rest @ ..] = words
        && rest.first().is_some_and(|w| lex::is_determiner(w))
        && !lex::is_determiner(verb)
    {
        let thing = super::phrase::phrase(rest);
        let draft = if super::phrase::is_whole(rest) { draft::global() } else { draft::other(&thing, &format!("changed {thing}")) };
        return draft.doubtful(format!("the verb '{verb}' is not known"));
    }
    let picture = words.iter().take(4).any(|w| lex::is_picture(w) || matches!(*w, "painting" | "drawing" | "sketch"));
    if picture || draft::is_global_state(words) {
        return draft::global().doubtful("no instruction was found; read as a description of the whole picture");
    }
    let end = words.iter().position(|w| lex::is_comma_word(w)).unwrap_or(words.len());
    let owning =
        words[..end].iter().position(|w| matches!(*w, "with" | "wearing" | "holding" | "carrying")).filter(|&at| at > 0 && at + 1 < end);
    if let Some(at) = owning {
        return draft::owns(&words[..at], &words[at + 1..end]).doubtful("no instruction was found; read as something to add");
    }
    if super::phrase::first_place(&words[..end]).is_some_and(|found| found.at > 0) {
        return draft::add_placed(&super::phrase::split_place(&words[..end]))
            .doubtful("no instruction was found; read as something to add");
    }
    draft::unread("no instruction was found")
}

/// Takes out "in the image", "from this photo" and the like.
fn without_picture<'a>(words: &Words<'a>) -> Vec<&'a str> {
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
fn clauses<'a>(words: &Words<'a>) -> Vec<Vec<&'a str>> {
    let mut clauses: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while at < words.len() {
        let word = words[at];
        let here = clauses.last().map_or(0, Vec::len);
        if matches!(word, "." | "!" | "?" | ";") {
            clauses.push(Vec::new());
        } else if here > 1 && is_purpose(clauses.last().map_or(&[], Vec::as_slice), &words[at..]) {
            clauses.push(vec![word]);
        } else if here > 0 && (cuts_tail(&words[at..]) || starts_clause(&words[at..])) {
            clauses.push(vec![word]);
        } else if word == "," && here > 0 && is_fronted(clauses.last().map_or(&[], Vec::as_slice)) {
            clauses.push(Vec::new());
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
fn join_fronted<'a>(clauses: Vec<Vec<&'a str>>) -> Vec<Vec<&'a str>> {
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
