//! Pictures and regions that cannot be read: the window says what is wrong and what to do, and reads again.

use egui::Key;
use egui_kittest::kittest::Queryable as _;
use image::RgbImage;

use crate::support::{Setup, Window};

fn shows(window: &Window, part: &str) -> bool {
    window.harness.query_all_by_label_contains(part).next().is_some()
}

fn read_again(window: &mut Window) {
    window.harness.get_all_by_label("Read again").next().expect("there is a button").click();
    window.settle();
}

/// A folder with one pair, whose edit is no picture.
fn damaged() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    RgbImage::new(40, 30).save(folder.path().join("source.png")).unwrap();
    std::fs::write(folder.path().join("edit.png"), "no picture at all").unwrap();
    let line = r#"{"id": "1", "item": "1", "source": "source.png", "instruction": "Make it red", "edited": "edit.png", "model": "m"}"#;
    std::fs::write(folder.path().join("manifest.jsonl"), line).unwrap();
    folder
}

#[test]
fn a_picture_that_cannot_be_read_is_told_where_its_regions_would_be_and_read_again_once_it_is_right() {
    let folder = damaged();
    let mut window =
        Window::open(Setup { data: Some(folder.path().to_path_buf()), edits: 1, scored: false, real_engine: true, ..Setup::default() });
    window.key(Key::F6);
    assert!(!shows(&window, "being read"), "nothing is on its way");
    assert!(shows(&window, "No regions: the edit cannot be read"));
    // The pane and the tab say why, and the tab what to do.
    assert!(window.harness.query_all_by_label_contains("is not a picture of a kind").count() >= 2);
    assert!(shows(&window, "then press “Read again”"));
    read_again(&mut window);
    assert!(shows(&window, "No regions: the edit cannot be read"), "it still cannot be read");
    RgbImage::new(40, 30).save(folder.path().join("edit.png")).unwrap();
    read_again(&mut window);
    assert!(!shows(&window, "No regions") && !shows(&window, "cannot be shown"));
    assert!(window.state().tools.document.is_some(), "there are regions to work on");
}

#[test]
fn sizes_of_masks_wait_for_the_source() {
    // The edit can be shown and is smaller; without the source nobody knows how large a mask has to be.
    let folder = damaged();
    RgbImage::new(20, 20).save(folder.path().join("edit.png")).unwrap();
    std::fs::write(folder.path().join("source.png"), "no picture at all").unwrap();
    let mut window =
        Window::open(Setup { data: Some(folder.path().to_path_buf()), edits: 1, scored: false, real_engine: true, ..Setup::default() });
    assert!(window.state().tools.document.is_none());
    assert!(shows(&window, "No regions: the source cannot be read"));
    RgbImage::new(40, 30).save(folder.path().join("source.png")).unwrap();
    read_again(&mut window);
    let size = window.state().tools.document.as_ref().map(|document| document.source_size);
    assert_eq!(size, Some(editscope::domain::Size::new(40, 30)));
}

#[test]
fn regions_that_the_project_does_not_give_are_told_and_read_again() {
    let mut window = Window::open(Setup::default());
    window.regions.lock().unwrap().unreadable = Some("database disk image is malformed".into());
    window.key(Key::ArrowDown);
    window.key(Key::F6);
    assert!(!shows(&window, "being read"));
    assert!(shows(&window, "The project file does not give the regions of this edit: database disk image is malformed"));
    window.regions.lock().unwrap().unreadable = None;
    read_again(&mut window);
    assert!(window.state().tools.document.is_some() && !shows(&window, "The project file does not give"));
}
