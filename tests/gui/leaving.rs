//! Closing the window and opening another project, with work that is not on disk.

use std::sync::Arc;

use editscope::domain::Side;
use editscope::gui::state::Dialog;
use egui::{Key, ViewportCommand, ViewportEvent, ViewportId};
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{drag, persons_boxes, press, shift};
use crate::support::{Setup, Window};
use crate::walk::Dropped;

/// A window with two boxes that the disk refuses.
fn with_unsaved_work() -> Window {
    let mut window = Window::open(Setup::default());
    window.regions.lock().unwrap().failing = Some("saving regions: the disk that holds demo.editscope is full".into());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
    drag(&mut window, Side::Edit, &[(250.0, 250.0), (300.0, 300.0), (350.0, 350.0)]);
    assert_eq!(window.state().tools.unsaved_count(), 2);
    window
}

/// What the window answers in one frame.
fn commands(window: &Window) -> Vec<ViewportCommand> {
    window.harness.output().viewport_output[&ViewportId::ROOT].commands.clone()
}

/// Somebody closes the window; whether it lets itself be closed.
fn closes(window: &mut Window) -> bool {
    window.harness.input_mut().viewports.entry(ViewportId::ROOT).or_default().events.push(ViewportEvent::Close);
    window.harness.step();
    !commands(window).contains(&ViewportCommand::CancelClose)
}

/// Whether the window closes itself within the next frames.
fn closes_itself(window: &mut Window) -> bool {
    (0..200).any(|_| {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(1));
        commands(window).contains(&ViewportCommand::Close)
    })
}

fn says(window: &Window, words: &str) -> bool {
    window.harness.query_all_by_label_contains(words).next().is_some()
}

#[test]
fn a_window_with_everything_on_disk_closes_at_once() {
    let mut window = Window::open(Setup::default());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
    assert_eq!(window.state().tools.unsaved_count(), 0);
    assert!(closes(&mut window));
}

#[test]
fn a_window_whose_work_the_disk_refuses_asks_and_closes_once_it_is_saved() {
    let mut window = with_unsaved_work();
    assert!(!closes(&mut window), "the work would be lost without a word");
    window.settle();
    assert_eq!(window.state().dialog, Some(Dialog::Leaving));
    assert!(says(&window, "Not on disk: 2 changes of regions. The disk refused it: saving regions"));
    press(&mut window, "Stay here");
    assert_eq!((window.state().dialog, window.state().tools.unsaved_count()), (None, 2));
    assert!(!closes(&mut window));
    window.settle();
    window.regions.lock().unwrap().failing = None;
    window.harness.get_by_label("Save again").click();
    assert!(closes_itself(&mut window), "once all is on disk it goes on");
    assert_eq!((window.state().tools.unsaved_count(), window.state().dialog), (0, None));
    assert!(closes(&mut window));
}

#[test]
fn a_person_may_lose_the_work_and_is_told_how_much() {
    let mut window = with_unsaved_work();
    assert!(!closes(&mut window));
    window.settle();
    window.harness.get_by_label("Close and lose 2 changes of regions").click();
    assert!(closes_itself(&mut window));
    assert!(closes(&mut window));
}

#[test]
fn another_project_is_opened_only_when_nothing_is_lost_or_the_person_says_so() {
    let mut window = with_unsaved_work();
    let open = |window: &Window| window.state().info().map(|info| info.path.display().to_string());
    window.harness.input_mut().dropped_files.push(Arc::new(Dropped("other.editscope".into())));
    window.settle();
    assert_eq!((open(&window).as_deref(), window.state().dialog), (Some("demo.editscope"), Some(Dialog::Leaving)));
    press(&mut window, "Open other and lose 2 changes of regions");
    assert_eq!((open(&window).as_deref(), window.state().dialog), (Some("other.editscope"), None));
    // The disk takes changes again: those of the other project must not arrive in this one, whose edits have the same numbers.
    window.regions.lock().unwrap().failing = None;
    for _ in 0..100 {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(window.regions.lock().unwrap().entries.is_empty());
    assert_eq!((window.state().tools.unsaved_count(), persons_boxes(&window, Side::Edit).len()), (0, 0));
}

#[test]
fn what_is_saved_meanwhile_lets_the_other_project_be_opened() {
    let mut window = with_unsaved_work();
    window.harness.input_mut().dropped_files.push(Arc::new(Dropped("other.editscope".into())));
    window.settle();
    window.regions.lock().unwrap().failing = None;
    press(&mut window, "Save again");
    assert_eq!(window.state().info().map(|info| info.path.display().to_string()).as_deref(), Some("other.editscope"));
    let written: usize = window.regions.lock().unwrap().entries.values().map(Vec::len).sum();
    assert_eq!(written, 2, "both are on disk, in the project that they belong to");
}

/// Draws a box on the edit, in pixels of a picture of 40×30.
#[cfg(target_os = "linux")]
fn draw_on_small(window: &mut Window, from: (f32, f32), to: (f32, f32)) {
    let size = editscope::domain::Size::new(40, 30);
    let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
    let path = [from, middle, to].map(|at| crate::pointer::place_in(window, 1, size, at));
    crate::pointer::drag_through(window, &path);
}

#[cfg(target_os = "linux")]
#[test]
fn work_on_a_project_file_that_was_renamed_stays_in_memory_until_it_is_back() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = |name: &str| folder.path().join(name);
    for name in ["s.png", "e.png"] {
        image::RgbImage::from_pixel(40, 30, image::Rgb([10; 3])).save(at(name)).expect("the folder is ours");
    }
    let line = r#"{"id": "e", "item": "i", "source": "s.png", "instruction": "Make it red", "edited": "e.png", "model": "m"}"#;
    std::fs::write(at("m.jsonl"), line).expect("the folder is ours");
    editscope::engine::files::import(&at("m.jsonl"), &at("p.editscope"), None).expect("a manifest");
    let store = Box::<editscope::gui::project_store::ProjectStore>::default();
    let mut window = Window::with_store(Setup { open: Some(at("p.editscope")), ..Setup::default() }, store);
    shift(&mut window, Key::B);
    draw_on_small(&mut window, (2.0, 2.0), (10.0, 10.0));
    assert_eq!(window.state().tools.unsaved_count(), 0);
    std::fs::rename(at("p.editscope"), at("renamed.editscope")).expect("the folder is ours");
    draw_on_small(&mut window, (20.0, 12.0), (30.0, 25.0));
    assert_eq!(window.state().tools.unsaved_count(), 1);
    assert!(!closes(&mut window), "the work would be lost without a word");
    window.settle();
    assert!(says(&window, "was moved, renamed or deleted while it was open"));
    // The moved file has the first box, whoever opens it.
    let boxes = |name: &str| {
        let project = editscope::storage::Project::open_read_only(&at(name)).expect("a project");
        let edit = project.edits().expect("readable")[0].id;
        project.regions(edit, Side::Edit).expect("readable").map_or(0, |said| said.regions.len())
    };
    std::fs::copy(at("renamed.editscope"), at("copy.editscope")).expect("the folder is ours");
    assert_eq!(boxes("copy.editscope"), 1);
    std::fs::rename(at("renamed.editscope"), at("p.editscope")).expect("the folder is ours");
    window.harness.get_by_label("Save again").click();
    assert!(closes_itself(&mut window), "once all is on disk it goes on");
    assert_eq!(boxes("p.editscope"), 2);
}
