//! Instruction to parse. [`parse_instruction`] is the built-in reader: rules over a small English grammar and lexicon.
//!
//! Layers, each using only those before it: [`lexicon`] (word lists), [`tokens`] (text to words, misspellings),
//! [`phrase`] (noun phrases, places, properties), [`draft`] (the seven fields of each kind of edit), [`grammar`] and
//! [`verbs`] (one clause to one edit), [`rules`] (clauses of an instruction, the flags). A reader that asks a language
//! model would stand beside `rules` and give the same [`crate::domain::Parse`].

mod draft;
mod grammar;
mod lexicon;
mod phrase;
mod rules;
mod tokens;
mod verbs;

pub use rules::parse_instruction;
