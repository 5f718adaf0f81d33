//! An instruction to its parse: politeness off, clauses apart, the first edit held, doubts and further edits marked.

use super::clauses::{clauses, without_list_commas, without_picture};
use super::draft::{self, Draft};
use super::grammar;
use super::lexicon as lex;
use super::manners::{Manner, strip_manners};
use super::phrase::{Words, phrase};
use super::tokens::{is_mostly_latin, near_verb, no_english, tokenize};
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
        let found = no_english(instruction);
        return finish(draft::unread(format!("{found}: write the fields by hand, or use a language model")), false);
    }
    let tokens = tokenize(instruction);
    let words: Vec<&str> = tokens.words.iter().map(String::as_str).collect();
    let words = without_list_commas(&without_picture(&words));
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
    let about_it = |added: &str| clause.iter().position(|w| lex::is_modal(w)).is_some_and(|at| added.contains(&phrase(&clause[..at])));
    if last.parse.edit_type == "add" && about_it(&last.parse.added_object) {
        return true;
    }
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
        ["replace" | "replacing" | "swap", "it" | "them" | "that" | "him" | "her", "with" | "by" | "for", new @ ..] => Some(phrase(new)),
        [verb, new @ .., "in", "place"] | [verb, new @ .., "in", "its" | "their" | "that", "place"] | [verb, new @ .., "instead"]
            if lex::is_add_verb(base_form(verb)) =>
        {
            Some(phrase(new))
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
    if words.iter().skip(1).any(|w| lex::is_modal(w) || lex::is_be(w)) {
        return grammar::read_clause(words);
    }
    if let Some(instead) = words.windows(2).position(|pair| pair == ["instead", "of"]) {
        return Some(draft::replace(&phrase(&words[instead + 2..]), &phrase(&words[..instead])));
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
        let thing = phrase(rest);
        let draft = if super::phrase::is_whole(rest) { draft::global() } else { draft::other(&thing, &format!("changed {thing}")) };
        return draft.doubtful(format!("the verb '{verb}' is not known"));
    }
    let picture = words.iter().take(4).any(|w| lex::is_picture(w) || matches!(*w, "painting" | "drawing" | "sketch"));
    if picture || draft::is_global_state(words) {
        return draft::global().doubtful("no instruction was found; read as a description of the whole picture");
    }
    let end = words.iter().position(|w| lex::is_comma_word(w)).unwrap_or(words.len());
    if let Some(at) = words[..end].iter().position(|w| *w == "to").filter(|&at| at > 0 && at + 1 < end) {
        return draft::become_state(&words[..at], &words[at + 1..end])
            .doubtful("no verb was found; read as a change from one thing to another");
    }
    if let ["more", thing @ ..] = &words[..end]
        && !thing.is_empty()
    {
        return draft::add_placed(&super::places::split_place(thing)).doubtful("no verb was found; read as something to add");
    }
    let owning =
        words[..end].iter().position(|w| matches!(*w, "with" | "wearing" | "holding" | "carrying")).filter(|&at| at > 0 && at + 1 < end);
    if let Some(at) = owning {
        return draft::owns(&words[..at], &words[at + 1..end]).doubtful("no instruction was found; read as something to add");
    }
    if super::places::first_place(&words[..end]).is_some_and(|found| found.at > 0) {
        return draft::add_placed(&super::places::split_place(&words[..end]))
            .doubtful("no instruction was found; read as something to add");
    }
    draft::unread("no instruction was found")
}
