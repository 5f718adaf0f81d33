//! What no longer holds does not stand there as if it did.

use std::path::PathBuf;
use std::sync::Arc;

use editscope::domain::{Outcome, Parts, Profile, Score};
use editscope::editor::{Flag, RowId};
use editscope::engine::audit::{PastedBack, Sensitivity};
use editscope::engine::{Event, Pending, RunToken, SensitivityPoint};
use editscope::gui::pictures::Wanted;
use editscope::storage::{EditId, PictureReport};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;

use crate::audit::correct_the_parse;
use crate::support::{Setup, Window};

fn tall() -> Window {
    Window::open(Setup { size: [1280.0, 2200.0], ..Setup::default() })
}

fn shown(window: &Window) -> Score {
    Score::clone(window.state().details.as_ref().and_then(|details| details.score.as_ref()).expect("the demo is scored"))
}

#[test]
fn a_score_that_could_not_follow_a_correction_is_marked_with_the_reason_until_it_does() {
    let mut window = tall();
    let why = "⚠ score outdated: no answer in this test";
    let is_marked = |window: &Window| {
        let row = window.state().queue.row(RowId(1)).expect("the first row");
        row.flags.has(Flag::Stale)
    };
    assert!(!is_marked(&window));
    correct_the_parse(&mut window);
    window.settle();
    window.key(Key::F2);
    window.harness.get_by_label(why);
    assert!(is_marked(&window));
    // It is still known after looking at another edit.
    window.key(Key::ArrowDown);
    assert!(window.harness.query_by_label(why).is_none(), "that edit was not touched");
    window.key(Key::ArrowUp);
    window.harness.get_by_label(why);
    let corrected = shown(&window);
    window.audit.borrow_mut().corrected = Some(corrected);
    correct_the_parse(&mut window);
    window.let_go();
    window.key(Key::F2);
    assert!(window.harness.query_by_label(why).is_none());
    assert!(!is_marked(&window));
}

fn firmness(at: f64) -> Sensitivity {
    let parts =
        Parts { size: Outcome::Value(1.0), position: Outcome::Value(1.0), modify: Outcome::Value(at), preserve: Outcome::Value(at) };
    let points = vec![SensitivityPoint { at, parts, pending: Pending::default(), mask: None }];
    Sensitivity { profile: Profile::Corrected, box_threshold: 0.3, by_box_threshold: points, by_growth: Vec::new() }
}

fn pasted(name: &str) -> PastedBack {
    PastedBack { picture: PathBuf::from(name), feather: 4.0, score: Some(Err("none here".into())) }
}

/// What the engine answered about the selected edit: at which threshold, and which picture.
fn answers(window: &Window) -> (Option<f64>, Option<PathBuf>) {
    let audit = &window.state().audit;
    let firmness = audit.sensitivity.as_ref().and_then(|asked| asked.result.as_ref()?.as_ref().ok().map(|s| s.by_box_threshold[0].at));
    let pasted = audit.pasted.as_ref().and_then(|asked| asked.result.as_ref()?.as_ref().ok().map(|pasted| pasted.picture.clone()));
    (firmness, pasted)
}

/// A window that shows how firm a score is and the region pasted back, and whose engine would answer something else now.
fn asked_before() -> Window {
    let mut window = tall();
    window.audit.borrow_mut().sensitivity = Some(firmness(0.3));
    window.audit.borrow_mut().pasted = Some(pasted("before.png"));
    window.key(Key::F7);
    window.key(Key::F8);
    window.settle();
    assert_eq!(answers(&window), (Some(0.3), Some("before.png".into())));
    window.audit.borrow_mut().sensitivity = Some(firmness(0.4));
    window.audit.borrow_mut().pasted = Some(pasted("now.png"));
    window
}

#[test]
fn sensitivity_and_pasted_region_are_those_of_the_newest_score() {
    let mut window = asked_before();
    let score = Arc::new(shown(&window));
    window.told(Event::EditScored { run: RunToken(99), edit: EditId(1), score, seconds: 0.1 });
    assert_eq!(answers(&window), (Some(0.4), Some("now.png".into())));
}

#[test]
fn sensitivity_and_pasted_region_are_those_of_the_profile_that_is_shown() {
    let mut window = asked_before();
    window.harness.key_press_modifiers(egui::Modifiers::COMMAND, Key::Comma);
    window.settle();
    window.harness.get_by_role_and_label(Role::ComboBox, "Profile").click();
    window.settle();
    window.harness.get_by_label("paper").click();
    window.settle();
    assert_eq!(window.harness.state().settings().profile, Profile::Paper);
    assert_eq!(answers(&window), (Some(0.4), Some("now.png".into())));
}

/// A folder of one pair, both pictures of one grey.
fn pair(grey: u8) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for name in ["s.png", "e.png"] {
        image::RgbImage::from_pixel(40, 30, image::Rgb([grey; 3])).save(folder.path().join(name)).expect("the folder is ours");
    }
    let line = r#"{"id": "e", "item": "i", "source": "s.png", "instruction": "Make it red", "edited": "e.png", "model": "m"}"#;
    std::fs::write(folder.path().join("manifest.jsonl"), line).expect("the folder is ours");
    folder
}

#[test]
fn a_picture_that_changed_on_disk_is_shown_as_it_is_now() {
    let folder = pair(10);
    let mut window = Window::open(Setup { data: Some(folder.path().to_owned()), edits: 1, scored: false, ..Setup::default() });
    let source = window.state().queue.selected_row().expect("the only edit").source.clone();
    let grey = |window: &Window| {
        let ready = window.harness.state().pictures().ready(&Wanted::Full(source.clone()))?;
        ready.picture()?.pyramid.pixel(0, 0)
    };
    assert_eq!(grey(&window), Some([10; 3]));
    let change = |grey: u8| image::RgbImage::from_pixel(40, 30, image::Rgb([grey; 3])).save(&source).expect("the folder is ours");
    // Told when the project is opened, or when its pictures are looked for.
    change(200);
    let report = PictureReport { changed: vec![source.clone()], ..PictureReport::default() };
    window.told(Event::PicturesSeen { project: "demo.editscope".into(), report });
    assert_eq!(grey(&window), Some([200; 3]));
    // Told by a run that scores it anew.
    change(90);
    window.told(Event::PicturesChanged(vec![source.clone()]));
    assert_eq!(grey(&window), Some([90; 3]));
}

#[test]
fn pictures_are_looked_at_when_the_window_comes_back_to_the_front() {
    let folder = pair(10);
    let mut window = Window::open(Setup { data: Some(folder.path().to_owned()), edits: 1, scored: false, ..Setup::default() });
    window.pictures.borrow_mut().checked.clear();
    for in_front in [false, true] {
        window.harness.input_mut().focused = in_front;
        window.settle();
    }
    assert_eq!(window.pictures.borrow().checked, [None], "all of them, once");
    // A file that was never scored has no content that is known; its size tells that it is another one.
    let source = window.state().queue.selected_row().expect("the only edit").source.clone();
    image::RgbImage::from_pixel(50, 30, image::Rgb([77; 3])).save(&source).expect("the folder is ours");
    let report = PictureReport { touched: vec![source.clone()], news: 1, ..PictureReport::default() };
    window.told(Event::PicturesSeen { project: "demo.editscope".into(), report });
    let shown = window.harness.state().pictures().ready(&Wanted::Full(source)).and_then(|ready| ready.picture()?.pyramid.pixel(0, 0));
    assert_eq!(shown, Some([77; 3]));
    // The regions were begun on another size, and the tab says so.
    window.key(Key::F6);
    window.harness.get_by_label_contains("The source is 50×30, these regions were made for 40×30");
}

#[test]
fn the_pictures_of_an_edit_are_looked_at_when_it_is_selected() {
    let mut window = tall();
    window.pictures.borrow_mut().checked.clear();
    window.key(Key::ArrowDown);
    let selected = window.state().queue.selected().map(|id| EditId(id.0));
    assert!(selected.is_some());
    assert_eq!(window.pictures.borrow().checked, [selected]);
}
