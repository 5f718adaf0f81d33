//! `demo`: builds the demo project, scores it, and opens the window or prints the table.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::domain::Profile;
use crate::engine::results::{self, ScoredEdit};
use crate::engine::{DEMO_NOTICE, ModelSource, ScoreRequest, files};
use crate::storage::Project;

use super::args::Demo;
use super::score::run_with_progress;
use super::{Finish, Outcome, WindowRequest};

/// Where the demo is built when nothing else is said.
const FOLDER: &str = "editscope-demo";

/// Builds the demo; opens it where there is a display, else scores it and prints the table.
pub fn run(demo: Demo) -> anyhow::Result<Outcome> {
    let folder = demo.folder.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let made = files::make_demo(&folder).with_context(|| format!("the demo cannot be built in {}", folder.display()))?;
    let shown = std::path::absolute(&folder).unwrap_or(folder);
    out!("demo project: {}", shown.join(files::DEMO_PROJECT).display());
    match window_wanted(&demo) {
        Ok(()) => Ok(Outcome::Window(WindowRequest {
            project: Some(made.project),
            device: demo.device.preference(),
            models: Some(ModelSource::Demo),
            score: true,
        })),
        Err(why) => {
            out!("{why}; scoring here instead of opening the window");
            print_table(&made.project, &demo).map(Outcome::Finished)
        }
    }
}

/// Whether a window can and should be opened; if not, why.
fn window_wanted(demo: &Demo) -> Result<(), String> {
    if demo.no_window {
        return Err("--no-window".to_owned());
    }
    if !cfg!(feature = "gui") {
        return Err("this build has no window".to_owned());
    }
    let named = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(all(unix, not(target_os = "macos"))) && !named("DISPLAY") && !named("WAYLAND_DISPLAY") {
        return Err("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)".to_owned());
    }
    Ok(())
}

fn print_table(path: &Path, demo: &Demo) -> anyhow::Result<Finish> {
    let project = Project::open(path)?;
    let request = ScoreRequest {
        project: path.to_owned(),
        edits: None,
        models: ModelSource::Demo,
        profile: Profile::default(),
        device: demo.device.preference(),
        range: None,
        rescore: false,
        baselines: Default::default(),
    };
    let tally = run_with_progress(&project, &request)?;
    let range = results::fit(&project, Profile::default(), None)?;
    let scored = results::all(&project, Profile::default(), Some(&range), None)?;
    out!("");
    out!(
        "{:<18} {:<9} {:>6} {:>6} {:>7} {:>8} {:>7} {:>10}  instruction",
        "item",
        "editor",
        "size",
        "place",
        "modify",
        "preserve",
        "BPM",
        "people*"
    );
    for edit in &scored {
        let cell = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| format!("{v:.3}"));
        let part = |name: &str| cell(edit.score.as_ref().and_then(|score| score.parts.get(name)?.value().copied()));
        out!(
            "{:<18} {:<9} {:>6} {:>6} {:>7} {:>8} {:>7} {:>10}  {}",
            edit.item.0,
            edit.model,
            part("size"),
            part("position"),
            part("modify"),
            part("preserve"),
            cell(edit.combined.overall.value().copied()),
            edit.human_overall().map_or_else(|| "-".to_owned(), |v| format!("{v:.2}")),
            edit.instruction
        );
    }
    out!("");
    summary(&scored);
    out!("* mean of simulated raters, 1 to 5: these ratings were made by a program whose rule models/train/README.md gives.");
    out!("n/a: not applicable, most often because a thing was not found; `editscope score` gives the reason of each.");
    out!("{DEMO_NOTICE}");
    out!("open it: editscope open {}", path.display());
    Ok(if tally.failed == 0 { Finish::Done } else { Finish::SomeFailed })
}

/// Means by editor, and how many edits have no overall.
fn summary(scored: &[ScoredEdit]) {
    let mut editors: Vec<&str> = scored.iter().map(|edit| edit.model.as_str()).collect();
    editors.sort_unstable();
    editors.dedup();
    let mean = |values: Vec<f64>| {
        if values.is_empty() { "n/a".to_owned() } else { format!("{:.3}", values.iter().sum::<f64>() / values.len() as f64) }
    };
    for editor in editors {
        let own = || scored.iter().filter(|edit| edit.model == editor);
        let overall: Vec<f64> = own().filter_map(|edit| edit.combined.overall.value().copied()).collect();
        out!(
            "{editor:<9} mean BPM {} over {} of {} edits, people* {}",
            mean(overall.clone()),
            overall.len(),
            own().count(),
            mean(own().filter_map(ScoredEdit::human_overall).collect())
        );
    }
    out!("");
}
