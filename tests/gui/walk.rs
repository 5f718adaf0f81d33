//! What a person does, step by step, through labels and keys.

use editscope::domain::TraceKind;
use editscope::editor::{Overlay, RowId};
use editscope::gui::command::Command;
use editscope::gui::state::{Page, ProjectState, Tab};
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

#[test]
fn opening_the_demo_shows_its_first_edit_with_its_score() {
    let window = Window::open(Setup::default());
    assert!(matches!(window.state().project, ProjectState::Open(_)));
    assert_eq!(window.state().queue.rows().len(), 96);
    window.harness.get_by_label("24 items · 96 edits · 4 models");
    // The first edit is selected and its trace is readable.
    window.harness.get_by_label("How little the rest of the picture changed.");
    window.harness.get_by_label("96 of 96");
}

#[test]
fn a_project_that_cannot_be_opened_says_why_and_what_to_do() {
    let window = Window::open(Setup { open: Some("broken.editscope".into()), ..Setup::default() });
    window.harness.get_by_label("this file is no project");
    assert_eq!(window.harness.get_all_by_label("Open project…").count(), 1);
}

#[test]
fn a_click_in_the_queue_selects_an_edit_and_arrows_go_on() {
    let mut window = Window::open(Setup::default());
    window.harness.get_by_label("Add a pizza to the picture. · Blitz").click();
    window.settle();
    assert_eq!(window.state().queue.selected(), Some(RowId(3)));
    assert_eq!(window.state().details.as_ref().map(|details| details.id), Some(RowId(3)));
    window.key(Key::ArrowDown);
    assert_eq!(window.state().queue.selected(), Some(RowId(4)));
    window.key(Key::K);
    window.key(Key::ArrowUp);
    assert_eq!(window.state().queue.selected(), Some(RowId(2)));
}

#[test]
fn overlays_are_switched_by_label_and_by_key() {
    let mut window = Window::open(Setup::default());
    assert!(window.state().overlays.is_on(Overlay::Mask));
    window.harness.get_by_role_and_label(egui::accesskit::Role::CheckBox, "Edit mask").click();
    window.settle();
    assert!(!window.state().overlays.is_on(Overlay::Mask));
    window.key(Key::M);
    assert!(window.state().overlays.is_on(Overlay::Mask));
    window.key(Key::D);
    assert!(window.state().overlays.is_on(Overlay::ChangeMap));
    window.key(Key::H);
    assert!(window.state().overlays.bare);
}

#[test]
fn pointing_at_a_step_of_the_trace_shows_its_overlay() {
    // So tall that no step of the trace has to be scrolled to.
    let mut window = Window::open(Setup { size: [1280.0, 2600.0], ..Setup::default() });
    window.harness.get_by_label("Modify looks at the boxes grown by half about their centre.").hover();
    window.harness.run_ok();
    assert_eq!(window.state().highlight, Some(TraceKind::Crop));
    assert!(window.state().overlays.drawn(Overlay::Crop, window.state().highlight) > 0.0);
    window.harness.remove_cursor();
    window.settle();
    assert_eq!(window.state().highlight, None);
}

#[test]
fn five_keys_rate_an_edit_and_each_answer_is_saved_at_once() {
    let mut window = Window::open(Setup::default());
    for (pressed, key) in [Key::Num5, Key::Num4, Key::Num3, Key::Num2, Key::Num1].into_iter().enumerate() {
        window.key(key);
        assert_eq!(window.written.lock().unwrap().ratings.len(), pressed + 1);
    }
    assert_eq!(window.state().tab, Tab::Rate);
    window.harness.get_by_label("✔ Saved, all five answered");
    let (row, rating) = window.written.lock().unwrap().ratings.last().cloned().unwrap();
    assert_eq!((row, rating.rater.as_str(), rating.simulated), (RowId(1), "ann", false));
    let answers: Vec<(&str, f64)> = rating.values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(answers, [("modification", 5.0), ("overall", 1.0), ("position", 2.0), ("preservation", 4.0), ("size", 3.0)]);
    // The mean of three simulated raters (5, 5, 5) and ann (1): 4.
    let mean = window.state().queue.selected_row().and_then(editscope::editor::Row::human);
    assert_eq!(mean, Some(4.0));
}

#[test]
fn arrows_and_clicks_choose_the_question_to_answer() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F4);
    window.key(Key::ArrowRight);
    window.key(Key::ArrowRight);
    window.key(Key::ArrowLeft);
    window.key(Key::Num2);
    window.harness.get_by_label("overall 4").click();
    window.settle();
    let rating = window.written.lock().unwrap().ratings.last().cloned().unwrap().1;
    assert_eq!((rating.values.get("preservation"), rating.values.get("overall"), rating.values.len()), (Some(&2.0), Some(&4.0), 2));
}

#[test]
fn nobody_rates_without_a_name() {
    let mut window = Window::open(Setup { rater: "", ..Setup::default() });
    window.key(Key::Num3);
    assert!(window.written.lock().unwrap().ratings.is_empty());
    window.harness.get_by_label("⚠ needed to rate");
}

#[test]
fn typing_in_a_text_field_presses_no_keys() {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.settle();
    let before = window.state().overlays.clone();
    for (text, key) in [("m", Key::M), ("5", Key::Num5), ("j", Key::J)] {
        window.harness.event(egui::Event::Text(text.into()));
        window.harness.key_press(key);
        window.settle();
    }
    assert_eq!(window.state().queue.filter().text, "m5j");
    assert_eq!(window.state().overlays, before);
    assert_eq!(window.state().queue.selected(), Some(RowId(1)));
    assert!(window.written.lock().unwrap().ratings.is_empty());
    // No edit fits; the way back is offered.
    window.harness.get_by_label("Show all").click();
    window.settle();
    assert_eq!(window.state().queue.shown().len(), 96);
}

#[test]
fn a_comment_is_saved_when_another_edit_is_selected() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F4);
    window.harness.get_by_label("Comment").click();
    window.settle();
    window.harness.event(egui::Event::Text("odd shadow".into()));
    window.settle();
    assert!(window.state().rating.dirty);
    window.harness.get_by_label("Add a pizza to the picture. · Wanda").click();
    window.settle();
    let ratings = window.written.lock().unwrap().ratings.clone();
    assert!(ratings.iter().any(|(row, rating)| *row == RowId(1) && rating.comment == "odd shadow"), "{ratings:?}");
}

#[test]
fn scoring_fills_the_table_and_the_trace() {
    let mut window = Window::open(Setup { scored: false, ..Setup::default() });
    window.harness.get_by_label("This edit has no score yet under this profile.");
    window.harness.get_all_by_label("Score all").next().unwrap().click();
    window.settle();
    assert_eq!(*window.asked.borrow(), ["score None"]);
    window.harness.get_by_label("✔ done");
    window.harness.get_by_label("96 scored in 10 s");
    window.harness.get_by_label("How little the rest of the picture changed.");
    assert!(window.state().queue.rows().iter().any(|row| row.overall.value().is_some()));
}

#[test]
fn a_corrected_parse_is_saved_as_a_persons() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F3);
    window.harness.get_by_label("added object").click();
    window.settle();
    window.harness.key_press(Key::End);
    window.harness.event(egui::Event::Text(" slice".into()));
    window.settle();
    window.harness.get_by_label("Save parse").click();
    window.settle();
    let (row, parse) = window.written.lock().unwrap().parses.last().cloned().unwrap();
    assert_eq!((row, parse.added_object.as_str()), (RowId(1), "pizza slice"));
    assert_eq!(parse.origin, editscope::domain::ParseOrigin::Person);
}

#[test]
fn a_click_on_the_scatter_opens_the_edit() {
    let mut window = Window::open(Setup::default());
    window.key(Key::G);
    assert_eq!(window.state().page, Page::Agreement);
    window.harness.get_by_label("mark Make the balloon yellow. · Osric").click();
    window.settle();
    assert_eq!(window.state().page, Page::Audit);
    let opened = window.state().queue.selected_row().map(|row| (row.instruction.to_string(), row.human()));
    // Marks may lie on each other; the one that opens has the same numbers as the one that was clicked.
    let clicked = window.state().queue.rows().iter().find(|row| &*row.instruction == "Make the balloon yellow." && &*row.model == "Osric");
    assert_eq!(opened.and_then(|(_, human)| human), clicked.and_then(editscope::editor::Row::human));
    assert!(window.state().details.is_some());
}

#[test]
fn files_that_are_dropped_are_opened_or_imported() {
    let mut window = Window::open(Setup { open: None, ..Setup::default() });
    window.harness.get_by_label("Audit image edits");
    window.harness.input_mut().dropped_files.push(std::sync::Arc::new(Dropped("/data/set.jsonl".into())));
    window.settle();
    assert_eq!(*window.asked.borrow(), ["import /data/set.jsonl"]);
}

#[derive(Debug)]
pub struct Dropped(pub std::path::PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &std::path::Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window reads files by path".into())
    }
}

#[test]
fn the_key_sheet_lists_every_key_and_escape_closes_it() {
    let mut window = Window::open(Setup::default());
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::Questionmark);
    window.settle();
    for command in Command::all().filter(|command| command.shortcut().is_some()) {
        assert!(window.harness.query_all_by_label(command.label()).next().is_some(), "{command:?} is missing");
    }
    // While a dialog is open, keys of the page do nothing.
    window.key(Key::ArrowDown);
    assert_eq!(window.state().queue.selected(), Some(RowId(1)));
    window.key(Key::Escape);
    assert_eq!(window.state().dialog, None);
}

#[test]
fn thousands_of_edits_are_listed_filtered_and_drawn() {
    let mut window = Window::open(Setup { edits: 5_000, ..Setup::default() });
    assert!(window.state().queue.rows().len() >= 5_000);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.settle();
    window.harness.event(egui::Event::Text("pizza".into()));
    window.settle();
    let shown = window.state().queue.shown().len();
    assert!(shown > 0 && shown < 5_000, "{shown}");
    // Only what is on the screen is made: a few dozen thumbnails, not thousands.
    assert!(window.harness.query_all_by_label_contains(" · Blitz").count() < 40);
}
