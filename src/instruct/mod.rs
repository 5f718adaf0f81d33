//! Instruction to parse. [`parse_instruction`] is the built-in reader: rules over a small English grammar and lexicon.
//!
//! Layers: `lexicon` (word lists) and `tokens` (text to words, misspellings); `phrase` (things and properties) and `places`
//! (where); `draft` (the seven fields of each kind of edit); `verbs`, `making`, `objects` and `grammar` (one clause to one
//! edit); `manners` and `clauses` (politeness off, clauses apart); `rules` (the whole instruction, its flags). A reader that
//! asks a language model would stand beside `rules` and give the same [`crate::domain::Parse`].

mod clauses;
mod draft;
mod grammar;
mod lexicon;
mod making;
mod manners;
mod objects;
mod phrase;
mod places;
mod rules;
mod tokens;
mod verbs;

pub use rules::parse_instruction;
