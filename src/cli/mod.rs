//! The command line: the same engine as the window, printed.

/// Prints a line for people to standard output; see [`print_line`] and [`visible`].
macro_rules! out {
    ($($words:tt)*) => { $crate::cli::print_line(&$crate::cli::visible::visible(&format!($($words)*))) };
}

/// Prints a line for programs to standard output, as it is.
macro_rules! out_json {
    ($($words:tt)*) => { $crate::cli::print_line(&format!($($words)*)) };
}

/// Prints a line for people to standard error.
macro_rules! tell {
    ($($words:tt)*) => { eprintln!("{}", $crate::cli::visible::visible(&format!($($words)*))) };
}

mod agree;
mod args;
mod demo;
mod export;
mod export_pictures;
mod merge;
mod models;
mod progress;
mod range;
mod rating_table;
mod ratings;
mod report;
mod score;
mod tools;
mod visible;

pub use args::{Arguments, Command};
pub use visible::visible_lines;

use std::process::ExitCode;

/// Prints a line. A reader that has seen enough (`| head`) ends the program quietly; any other failure ends it with 2.
fn print_line(line: &str) {
    use std::io::Write as _;
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("error: standard output: {error}");
        std::process::exit(2);
    }
}

/// What a command came to; exit codes of the design: 0 done, 1 some items failed, 2 nothing could be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Done,
    SomeFailed,
}

/// What the caller (`main`) has to do after the command line is read.
#[derive(Debug)]
pub enum Outcome {
    /// The command has run.
    Finished(Finish),
    /// A window is wanted.
    Window(WindowRequest),
}

/// Which window to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowRequest {
    /// The project to open; `None` shows the start page.
    pub project: Option<std::path::PathBuf>,
    pub device: crate::engine::DevicePreference,
    /// `None`: those that scored the project.
    pub models: Option<crate::engine::ModelSource>,
    /// Score the project as soon as it is open (the demo).
    pub score: bool,
}

impl From<Finish> for ExitCode {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Done => Self::SUCCESS,
            Finish::SomeFailed => Self::from(1),
        }
    }
}

/// Runs a command.
///
/// # Errors
/// When nothing could be done; the chain of reasons is for the person (exit code 2).
pub fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    match arguments.command {
        None => Ok(Outcome::Window(WindowRequest::default())),
        Some(Command::Open(open)) => tools::open(open).map(Outcome::Window),
        Some(Command::Demo(demo)) => demo::run(demo),
        Some(Command::Import(import)) => tools::import(&import).map(Outcome::Finished),
        Some(Command::Lint(lint)) => tools::lint(&lint).map(Outcome::Finished),
        Some(Command::Parse(parse)) => tools::parse(&parse).map(Outcome::Finished),
        Some(Command::Score(score)) => score::run(&score).map(Outcome::Finished),
        Some(Command::Agree(agree)) => agree::run(&agree).map(Outcome::Finished),
        Some(Command::Range(range)) => range::run(&range).map(Outcome::Finished),
        Some(Command::Export(export)) => export::run(&export).map(Outcome::Finished),
        Some(Command::Merge(merge)) => merge::run(&merge).map(Outcome::Finished),
        Some(Command::Models(models)) => models::run(&models).map(Outcome::Finished),
    }
}
