//! How far a command has come: a bar on a terminal, a plain line now and then elsewhere. On standard error, so that output stays clean.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::visible::visible;

/// Away from a terminal a line is printed each time so many more are done.
const EVERY: usize = 25;

/// Quick work says nothing; long work says so often how far it is.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// Tells now and then on standard error how many of all `what` are done, for work that most times is over before anybody asks.
pub fn told(what: &str) -> impl Fn(usize, usize) {
    let last = Cell::new(Instant::now());
    move |done, total| {
        if last.get().elapsed() >= TOLD_EVERY {
            last.set(Instant::now());
            eprintln!("{done} of {total} {what}, {} %", done * 100 / total.max(1));
        }
    }
}

/// Progress of work on many things.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing is done yet; the number of things is told later ([`Self::set_total`]).
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} · {per_sec} · {eta} left · {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::no_length().with_style(style)
        });
        Self { bar }
    }

    /// How many things there are.
    pub fn set_total(&self, total: usize) {
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
        }
    }

    /// A line above the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(visible(text)),
            None => tell!("{text}"),
        }
    }

    /// So many of `total` are done; `current` is what comes next.
    pub fn at(&self, done: usize, total: usize, current: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done as u64);
                bar.set_message(visible(current).into_owned());
            }
            None if done.is_multiple_of(EVERY) || done == total => tell!("{done}/{total}"),
            None => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
