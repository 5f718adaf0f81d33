//! Collects the path to a score, in sentences that a newcomer understands.

use crate::domain::{TraceKind, TraceStep};

/// The steps so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace(Vec<TraceStep>);

impl Trace {
    /// A step of the plain rule.
    pub fn note(&mut self, kind: TraceKind, text: impl Into<String>) {
        self.push(kind, text.into(), false, &[]);
    }

    /// A step of the plain rule with the numbers it speaks of.
    pub fn numbers<const N: usize>(&mut self, kind: TraceKind, text: impl Into<String>, numbers: [(&str, f64); N]) {
        self.push(kind, text.into(), false, &numbers);
    }

    /// A step that leaves the plain rule: a missing box, a sentinel, a cut text.
    pub fn fallback(&mut self, kind: TraceKind, text: impl Into<String>) {
        self.push(kind, text.into(), true, &[]);
    }

    /// A step with numbers that may leave the plain rule.
    pub fn step<const N: usize>(&mut self, kind: TraceKind, text: impl Into<String>, fallback: bool, numbers: [(&str, f64); N]) {
        self.push(kind, text.into(), fallback, &numbers);
    }

    fn push(&mut self, kind: TraceKind, text: String, fallback: bool, numbers: &[(&str, f64)]) {
        self.0.push(TraceStep {
            kind,
            text,
            fallback,
            numbers: numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        });
    }

    /// The steps, in order.
    pub fn into_steps(self) -> Vec<TraceStep> {
        self.0
    }
}
