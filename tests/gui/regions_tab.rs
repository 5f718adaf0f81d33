//! The Regions tab and the journal: what can be done to a region, what went wrong with the disk, what another window did.

use std::time::{Duration, Instant};

use editscope::domain::regions::{EntryKind, JournalEntry, RegionChange, RegionId, RegionStream, Token};
use editscope::domain::{RegionRole, Side};
use editscope::editor::RowId;
use editscope::gui::state::Tab;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

use crate::pointer::{document, drag, persons_boxes, press, shift, type_over};
use crate::support::{Setup, Window};

/// Waits for what another thread does without the window being busy: writing the journal, or reading it for a way back.
fn wait_until(window: &mut Window, what: &str, is_so: impl Fn(&Window) -> bool) {
    let began = Instant::now();
    while !is_so(window) {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
        window.settle();
    }
    window.settle();
}

#[test]
fn the_list_selects_renames_hides_deletes_and_goes_back_to_automatic() {
    let mut window = Window::open(Setup::default());
    window.key(Key::F6);
    assert_eq!(window.state().tab, Tab::Regions);
    let found: Vec<String> = document(&window).shown(Side::Edit).map(|region| region.facts.name.clone()).collect();
    let first = found[0].clone();
    assert!(!document(&window).speaks_for(Side::Edit, RegionRole::Edited));
    window.harness.get_all_by_label(&format!("Region {first}")).next().unwrap().click();
    window.settle();
    press(&mut window, "Name");
    type_over(&mut window, "my thing");
    assert!(document(&window).shown(Side::Edit).any(|region| region.facts.name == "my thing"));
    window.harness.get_by_label("Hide my thing").click();
    window.settle();
    window.harness.get_by_label("Show my thing");
    window.harness.get_by_label("Delete my thing").click();
    window.settle();
    assert!(document(&window).speaks_for(Side::Edit, RegionRole::Edited));
    window.harness.get_by_label("Back to automatic: Boxes on the edit").click();
    window.settle();
    assert_eq!(document(&window).shown(Side::Edit).map(|region| region.facts.name.clone()).collect::<Vec<_>>(), found);
    // The journal tells it all, and leads back.
    window.key(Key::F5);
    // Before that a line of the journal offers no way back.
    wait_until(&mut window, "the changes do not reach the disk", |window| document(window).outbox().is_empty());
    window.harness.get_by_label("deleted “my thing”");
    let back = window.harness.get_all_by_label("Back to before").nth(1).unwrap();
    back.click();
    window.settle();
    let is_back = |window: &Window| document(window).shown(Side::Edit).any(|region| region.facts.name == "my thing");
    wait_until(&mut window, "the state before the deletion does not come back", is_back);
    window.harness.get_by_label("went back to before “deleted “my thing””");
}

#[test]
fn the_keys_select_rename_hide_and_change_the_role_of_a_region() {
    let mut window = Window::open(Setup::default());
    // Nothing is selected: the keys say how to.
    shift(&mut window, Key::H);
    window.harness.get_by_label("Select a region first, on the canvas, in the list or with .");
    let listed: Vec<(Side, RegionId)> = document(&window).listed().map(|(side, region)| (side, region.id)).collect();
    let mut visited = Vec::new();
    for _ in 0..listed.len() {
        window.key(Key::Period);
        visited.extend(document(&window).selected);
    }
    assert_eq!(visited, listed);
    window.key(Key::Period);
    assert_eq!(document(&window).selected, Some(listed[0]), "round and round");
    window.key(Key::Comma);
    assert_eq!(document(&window).selected, listed.last().copied());
    // To a box of the edit.
    while document(&window).selected().is_none_or(|(_, region)| region.facts.role != RegionRole::Edited) {
        window.key(Key::Comma);
    }
    shift(&mut window, Key::R);
    assert_eq!(window.state().tab, Tab::Regions);
    type_over(&mut window, "my thing");
    let selected = |window: &Window| document(window).selected().map(|(_, region)| region.facts.clone()).unwrap();
    assert_eq!(selected(&window).name, "my thing");
    shift(&mut window, Key::H);
    window.harness.get_by_label("Show my thing");
    for role in [RegionRole::EditMask, RegionRole::Ignore, RegionRole::Edited] {
        shift(&mut window, Key::O);
        assert_eq!(selected(&window).role, role);
    }
    let edited = |window: &Window| document(window).speaks_for(Side::Edit, RegionRole::Edited);
    assert!(edited(&window));
    shift(&mut window, Key::A);
    assert!(!edited(&window));
    // By the mouse: the role of a found box.
    window.key(Key::Period);
    while document(&window).selected().is_none_or(|(_, region)| region.facts.role != RegionRole::Edited) {
        window.key(Key::Period);
    }
    press(&mut window, "Role of the region");
    press(&mut window, "ignored");
    assert_eq!(selected(&window).role, RegionRole::Ignore);
    window.key(Key::Delete);
    assert!(!document(&window).shown(Side::Edit).any(|region| region.facts.role == RegionRole::Ignore));
}

#[test]
fn what_is_hidden_stays_hidden_on_the_next_visit() {
    let mut window = Window::open(Setup::default());
    window.key(Key::Period);
    let (side, id) = document(&window).selected.unwrap();
    shift(&mut window, Key::H);
    assert!(window.state().tools.is_hidden(RowId(1), side, id));
    assert_eq!(window.regions.lock().unwrap().hidden[&RowId(1)], [(side, id)]);
    // Another edit, and what the project says when this one is opened again.
    window.key(Key::Escape);
    window.key(Key::J);
    window.regions.lock().unwrap().hidden.clear();
    window.key(Key::K);
    assert!(!window.state().tools.is_hidden(RowId(1), side, id));
    window.key(Key::J);
    window.regions.lock().unwrap().hidden.insert(RowId(1), vec![(side, id)]);
    window.key(Key::K);
    assert!(window.state().tools.is_hidden(RowId(1), side, id));
}

#[test]
fn a_failing_disk_is_said_and_the_work_is_kept_and_written_later() {
    let mut window = Window::open(Setup::default());
    window.regions.lock().unwrap().failing = Some("saving regions: the disk that holds demo.editscope is full".into());
    shift(&mut window, Key::B);
    drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
    drag(&mut window, Side::Edit, &[(250.0, 250.0), (300.0, 300.0), (350.0, 350.0)]);
    window.harness.get_by_label("⚠ 2 not saved");
    window.key(Key::F6);
    window.harness.get_by_label("⚠ 2 changes not saved, kept in memory");
    assert!(window.harness.query_all_by_label_contains("is full").next().is_some());
    // Leaving the edit does not lose them.
    window.key(Key::Escape);
    window.key(Key::J);
    assert_eq!(window.state().tools.unsaved_count(), 2);
    window.key(Key::K);
    assert_eq!(persons_boxes(&window, Side::Edit).len(), 2);
    window.regions.lock().unwrap().failing = None;
    window.harness.get_by_label("Try again now").click();
    window.settle();
    assert_eq!(window.state().tools.unsaved_count(), 0);
    assert!(window.harness.query_all_by_label_contains("kept in memory").next().is_none(), "the message is out of date");
    assert_eq!(window.regions.lock().unwrap().of(RowId(1), Side::Edit).len(), 2);
}

/// Another window draws nothing, but says so: the role is a person's from then on.
fn another_window_writes(window: &Window) {
    let mut journal = window.regions.lock().unwrap();
    let RegionStream { state, head } = journal.stream(RowId(1), Side::Edit);
    let mut theirs = state.clone();
    theirs.regions.clear();
    theirs.speak_for(RegionRole::Edited, true);
    let entry = JournalEntry {
        token: Token::random(),
        parent: head,
        side: Side::Edit,
        kind: EntryKind::Do,
        who: "bob".into(),
        what: "said that there is no box".into(),
        at_millis: 0,
        change: RegionChange::between(&state, &theirs),
    };
    journal.add(RowId(1), entry);
}

#[test]
fn another_windows_change_is_shown_and_the_person_chooses() {
    for (choice, boxes) in [("Keep mine", 1), ("Take theirs", 0)] {
        let mut window = Window::open(Setup::default());
        another_window_writes(&window);
        shift(&mut window, Key::B);
        drag(&mut window, Side::Edit, &[(100.0, 100.0), (150.0, 150.0), (200.0, 200.0)]);
        window.key(Key::F6);
        window.harness.get_by_label("⚠ Two windows changed the same regions of the edit");
        assert!(window.harness.query_all_by_label_contains("bob said that there is no box").next().is_some());
        window.harness.get_by_label(choice).click();
        window.settle();
        assert_eq!(persons_boxes(&window, Side::Edit).len(), boxes, "{choice}");
        assert!(document(&window).conflict().is_none());
        let kinds: Vec<_> = window.regions.lock().unwrap().of(RowId(1), Side::Edit).iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds[..2], [EntryKind::Do, EntryKind::SetAside], "{choice}: both are in the history");
        window.key(Key::F5);
        window.harness.get_by_label("Use this version");
    }
}

#[test]
fn another_windows_change_is_read_when_nothing_is_under_way() {
    let mut window = Window::open(Setup::default());
    another_window_writes(&window);
    // Two seconds and a bit of the window's clock.
    window.harness.run_steps(140);
    window.settle();
    assert!(document(&window).speaks_for(Side::Edit, RegionRole::Edited));
}
