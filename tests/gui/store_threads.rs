//! The threads behind the window's store, over a real project file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use editscope::domain::regions::{JournalEntry, RegionStream, Token};
use editscope::domain::{Edit, EditKey, Item, ItemKey, PictureRef, Rect, RegionRole, Side, Size};
use editscope::editor::regions::{Author, LoadedSide, RegionDocument};
use editscope::editor::{RatingDraft, RowId};
use editscope::gui::region_store::{RegionEvent, RegionRequest};
use editscope::gui::store::{Shown, StoreEvent, StoreRequest, StoreThread};
use editscope::storage::{Appended, EditId, Project};

use crate::busy_store::BusyStore;

const EDIT: RowId = RowId(1);

/// A project of one edit, whose pictures nobody looks at.
fn project(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let picture = |name: &str| PictureRef { path: folder.join(name), given: name.into() };
    let edit = Edit { key: EditKey("e".into()), picture: picture("e.png"), model: "m".into(), ratings: vec![], extra: Default::default() };
    let item = Item {
        key: ItemKey("i".into()),
        source: picture("s.png"),
        instruction: "Make the cup red".into(),
        parse: None,
        edits: vec![edit],
        extra: Default::default(),
    };
    let project = Project::create(&path).unwrap();
    project.import(&[item]).unwrap();
    assert_eq!(project.edits().unwrap()[0].id, EditId(EDIT.0));
    path
}

fn next(store: &StoreThread) -> StoreEvent {
    let began = Instant::now();
    loop {
        if let Some(event) = store.try_next() {
            return event;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "no answer");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn open(store: &StoreThread, path: &Path) {
    store.send(StoreRequest::Open(path.to_owned()));
    assert!(matches!(next(store), StoreEvent::Opened { result: Ok(_), .. }));
}

/// So many strokes, which follow each other.
fn strokes(count: usize) -> Vec<JournalEntry> {
    let nothing = [Side::Source, Side::Edit].map(|side| LoadedSide { stream: RegionStream::unspoken(side), entries: vec![], older: 0 });
    let mut document = RegionDocument::new(EDIT, Size::new(100, 100), Size::new(100, 100), nothing);
    let author = Author { who: "ann".into(), at_millis: 5 };
    for n in 0..count {
        document.add_box(RegionRole::Edited, Rect::new(1.0, 1.0, 10.0 + n as f32, 10.0), "cup", &author).unwrap();
    }
    document.next_to_write(0.0)
}

fn append(project: &Path, entries: Vec<JournalEntry>) -> StoreRequest {
    StoreRequest::Regions { project: project.to_owned(), request: RegionRequest::Append(EDIT, entries) }
}

fn rate(project: &Path) -> StoreRequest {
    let mut draft = RatingDraft::default();
    draft.set(4, 3);
    StoreRequest::SaveRating { project: project.to_owned(), id: EDIT, rating: draft.rating("ann", 5) }
}

#[test]
fn strokes_and_ratings_are_on_disk_while_an_export_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path(), "p.editscope");
    let (store, go_on) = BusyStore::new();
    let store = StoreThread::start(Box::new(store), Arc::new(|| {})).unwrap();
    open(&store, &path);
    store.send(StoreRequest::Export { to: folder.path().join("o.csv"), shown: Shown::default() });
    store.send(StoreRequest::Rows(Shown::default()));
    store.send(append(&path, strokes(3)));
    store.send(rate(&path));
    match next(&store) {
        StoreEvent::Regions { event: RegionEvent::Appended(EDIT, result), .. } => assert_eq!(result, Ok((3, Appended::Stored))),
        other => panic!("{other:?}"),
    }
    assert!(matches!(next(&store), StoreEvent::RatingSaved(EDIT, _, Ok(()))));
    // Another program sees them, and the export has not ended.
    let other = Project::open(&path).unwrap();
    assert_eq!(other.region_journal(EditId(EDIT.0), Side::Edit, 1 << 20).unwrap().entries.len(), 3);
    assert_eq!(other.latest_ratings(EditId(EDIT.0)).unwrap().len(), 1);
    assert!(store.try_next().is_none() && !store.is_keeping());
    go_on.send(()).unwrap();
    assert!(matches!(next(&store), StoreEvent::Exported(Ok(_))));
    assert!(matches!(next(&store), StoreEvent::Rows(Ok(_))));
}

#[test]
fn what_belongs_to_a_project_that_is_no_longer_open_is_not_written_into_another() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (project(folder.path(), "a.editscope"), project(folder.path(), "b.editscope"));
    let (store, _go_on) = BusyStore::new();
    let store = StoreThread::start(Box::new(store), Arc::new(|| {})).unwrap();
    open(&store, &a);
    open(&store, &b);
    store.send(append(&a, strokes(1)));
    match next(&store) {
        StoreEvent::Regions { project, event: RegionEvent::Appended(EDIT, Err(why)) } => {
            assert!(project == a && why.contains("a.editscope") && why.contains("no longer open"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    store.send(rate(&a));
    assert!(matches!(next(&store), StoreEvent::RatingSaved(EDIT, _, Err(_))));
    for path in [&a, &b] {
        let project = Project::open(path).unwrap();
        assert_eq!(project.region_head(EditId(EDIT.0), Side::Edit).unwrap(), Token::NONE, "{}", path.display());
        assert!(project.latest_ratings(EditId(EDIT.0)).unwrap().is_empty());
    }
}

#[test]
fn what_is_read_shows_what_was_sent_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path(), "p.editscope");
    let (store, _go_on) = BusyStore::new();
    let store = StoreThread::start(Box::new(store), Arc::new(|| {})).unwrap();
    open(&store, &path);
    for _ in 0..20 {
        store.send(rate(&path));
    }
    store.send(StoreRequest::Details(EDIT, Shown::default()));
    let mut saved = 0;
    loop {
        match next(&store) {
            StoreEvent::RatingSaved(..) => saved += 1,
            StoreEvent::Details(_, details) => {
                assert_eq!((saved, details.unwrap().ratings.len()), (20, 1));
                return;
            }
            other => panic!("{other:?}"),
        }
    }
}
