//! The dialog of published networks: what it lists, asks for and tells.

use std::path::PathBuf;
use std::sync::Arc;

use editscope::engine::Event;
use editscope::engine::models::{FetchProgress, ListedNetwork, ModelsEvent};
use editscope::nets::catalog::Place;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::support::{Setup, Window};

const GONE: &str = "model.safetensors is missing";

/// A network of the set "light", with what is amiss with its files.
fn network(name: &str, problems: &[&str], partial_bytes: u64) -> ListedNetwork {
    ListedNetwork {
        name: name.into(),
        role: "sam",
        sets: vec!["light".into()],
        hub: Some(format!("somebody/{name}")),
        revision: None,
        licence: "Apache-2.0".into(),
        bytes: 100_000_000,
        files: Vec::new(),
        place: Place {
            folder: PathBuf::from("nowhere").join(name),
            in_hub_cache: false,
            problems: problems.iter().map(ToString::to_string).collect(),
            partial_bytes,
        },
    }
}

/// The dialog, open, with a network that is here, one that was begun, and one that is not here.
fn dialog() -> Window {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::M);
    window.harness.step();
    assert!(asked(&window, "List"), "opening it asks what is on this machine");
    let listed = vec![network("here", &[], 0), network("begun", &[GONE], 40_000_000), network("absent", &[GONE], 0)];
    window.told(Event::Models(ModelsEvent::Listed(Arc::new(listed))));
    // The list makes the dialog higher, which is in its place again some frames later.
    window.settle();
    window
}

fn asked(window: &Window, what: &str) -> bool {
    window.asked.borrow().iter().any(|request| request.contains(what))
}

/// Whether each button of this label can be pressed, from above.
fn enabled(window: &Window, label: &str) -> Vec<bool> {
    let buttons = window.harness.get_all_by_role_and_label(Role::Button, label);
    buttons.map(|button| !button.accesskit_node().is_disabled()).collect()
}

fn receiving() -> FetchProgress {
    FetchProgress {
        name: "absent".into(),
        network: "absent".into(),
        file: "model.safetensors".into(),
        done_bytes: 25_000_000,
        total_bytes: 100_000_000,
        doing: "receiving",
        bytes_per_second: 5e6,
    }
}

#[test]
fn what_is_here_can_be_checked_and_what_is_not_fetched() {
    let window = dialog();
    window.harness.get_by_label("✔ here");
    window.harness.get_by_label("40 MB so far");
    window.harness.get_by_label("not fetched");
    assert_eq!(enabled(&window, "Verify"), [true, false, false]);
    assert_eq!((enabled(&window, "Fetch"), enabled(&window, "Continue")), (vec![false, true], vec![true]));
    // Of the three, the two that are not here are to be fetched.
    window.harness.get_by_label("Fetch all of “light” (200 MB)");
}

#[test]
fn a_fetch_shows_how_far_it_is_and_can_be_stopped() {
    let mut window = dialog();
    window.harness.get_by_label("Fetch all of “light” (200 MB)").click();
    window.settle();
    assert!(asked(&window, "Fetch(\"light\")"));
    window.told(Event::Models(ModelsEvent::Progress(receiving())));
    window.harness.get_by_label("absent model.safetensors: receiving");
    let bar = window.harness.get_by_role(Role::ProgressIndicator);
    assert_eq!(bar.accesskit_node().numeric_value(), Some(25.0));
    assert!(enabled(&window, "Fetch").iter().all(|can| !can), "one fetch at a time");
    window.harness.get_by_label("Stop").click();
    window.settle();
    assert!(asked(&window, "Cancel"));
    assert_eq!(enabled(&window, "Stop"), [false]);
    window.told(Event::Models(ModelsEvent::Failed { name: "light".into(), why: "stopped; what was received stays".into() }));
    // Stopping was wanted: no warning sign.
    window.harness.get_by_label("✔ light: stopped; what was received stays");
    assert_eq!(enabled(&window, "Fetch"), [false, true]);
}

#[test]
fn failures_and_altered_files_are_told_in_the_dialog_and_outside() {
    let mut window = dialog();
    window.harness.get_by_label("Continue").click();
    window.settle();
    assert!(asked(&window, "Fetch(\"begun\")"));
    window.told(Event::Models(ModelsEvent::Failed { name: "begun".into(), why: "the hub did not answer".into() }));
    window.harness.get_by_label("⚠ begun: the hub did not answer");
    window.harness.get_all_by_role_and_label(Role::Button, "Verify").next().expect("the first one is here").click();
    window.settle();
    assert!(asked(&window, "Verify(\"here\")"));
    window.key(egui::Key::Escape);
    assert!(window.harness.query_by_label("Published networks").is_none(), "the dialog is closed");
    let altered = vec!["model.safetensors: its sum is another".to_owned()];
    window.told(Event::Models(ModelsEvent::Verified { name: "here".into(), problems: altered, unchecked: Vec::new() }));
    window.harness.get_by_label_contains("here is not as published; fetch it again");
}
