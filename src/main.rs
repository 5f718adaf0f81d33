//! The program: reads the command line, and opens a window or runs a command.

use std::process::ExitCode;

use clap::Parser as _;
use editscope::cli::{self, Arguments, Outcome};

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "error,editscope=info".into()))
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_writer(std::io::stderr)
        .init();
    let finished = cli::run(Arguments::parse()).and_then(|outcome| match outcome {
        Outcome::Finished(finish) => Ok(finish.into()),
        Outcome::Window(request) => open_window(request),
    });
    match finished {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {}", cli::visible_lines(&editscope::engine::in_words(&error)));
            ExitCode::from(2)
        }
    }
}

#[cfg(feature = "gui")]
fn open_window(request: cli::WindowRequest) -> anyhow::Result<ExitCode> {
    let cli::WindowRequest { project, device, models, score } = request;
    editscope::gui::run(editscope::gui::GuiOptions { project, device, models, score })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "gui"))]
fn open_window(_request: cli::WindowRequest) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this build has no window (feature `gui` is off); see `editscope --help` for the commands")
}
