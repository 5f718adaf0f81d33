//! Regions in the project file: what is on disk, what two windows do to each other, and what a failing disk does.

use std::path::{Path, PathBuf};

use editscope::domain::regions::{EntryKind, RegionId, Token};
use editscope::domain::{Edit, EditKey, Item, ItemKey, PictureRef, Rect, RegionRole, Side};
use editscope::editor::RowId;
use editscope::editor::regions::{LoadedSide, LogLine, NotChanged, RegionDocument};
use editscope::storage::{Appended, EditId, Project, StorageError};

use crate::{EDIT, SOURCE, author, document};

/// A project with one item and two edits; its folder is deleted when dropped.
struct Bench {
    folder: tempfile::TempDir,
    edits: Vec<EditId>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let picture = |name: &str| PictureRef { path: folder.path().join(name), given: name.into() };
        let edit = |name: &str| Edit {
            key: EditKey(name.into()),
            picture: picture(name),
            model: name.into(),
            ratings: Vec::new(),
            extra: Default::default(),
        };
        let item = Item {
            key: ItemKey("i".into()),
            source: picture("s.png"),
            instruction: "Make the cup red".into(),
            parse: None,
            edits: vec![edit("a"), edit("b")],
            extra: Default::default(),
        };
        let bench = Self { edits: Vec::new(), folder };
        let project = Project::create(&bench.path()).unwrap();
        project.import(&[item]).unwrap();
        let edits = project.edits().unwrap().into_iter().map(|edit| edit.id).collect();
        Self { edits, ..bench }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("p.editscope")
    }

    fn open(&self) -> Project {
        Project::open(&self.path()).unwrap()
    }
}

fn load(project: &Project, edit: EditId) -> [LoadedSide; 2] {
    [Side::Source, Side::Edit].map(|side| {
        let journal = project.region_journal(edit, side, 1 << 20).unwrap();
        LoadedSide { stream: journal.stream, entries: journal.entries, older: journal.older }
    })
}

/// Writes what waits, as the window does.
fn write(project: &Project, edit: EditId, document: &mut RegionDocument, who: &str) {
    loop {
        let entries = document.next_to_write(0.0);
        if entries.is_empty() {
            return;
        }
        match project.append_region_changes(edit, &entries) {
            Ok((stored, became)) => {
                document.written(stored);
                if let Appended::Conflict { theirs, entries } = became {
                    document.met(theirs, entries.iter().map(LogLine::from).collect(), &author(who));
                }
            }
            Err(error) => document.write_failed(error.to_string(), 0.0),
        }
    }
}

#[test]
fn changes_are_on_disk_as_they_are_made_and_those_of_the_source_hold_for_all_edits() {
    let bench = Bench::new();
    let (a, b) = (bench.edits[0], bench.edits[1]);
    let project = bench.open();
    let mut document = document(load(&project, a));
    document.nudge_box(Side::Source, RegionId::automatic(RegionRole::Original, 0), 5.0, 0.0, &author("ann")).unwrap();
    document.add_box(RegionRole::Edited, Rect::new(1.0, 2.0, 3.0, 4.0), "mug", &author("ann")).unwrap();
    write(&project, a, &mut document, "ann");
    drop(project);
    let project = bench.open();
    let regions = |edit, side| project.regions(edit, side).unwrap().map(|set| (set.regions.len(), set.who, set.what));
    assert_eq!(regions(b, Side::Source), Some((1, "ann".into(), "moved a box to 15, 5 – 35, 25".into())));
    assert_eq!(regions(a, Side::Edit), Some((3, "ann".into(), "drew a box 1, 2 – 3, 4".into())));
    assert_eq!(regions(b, Side::Edit), None);
    // The other edit can undo what was done to the source.
    let mut other = RegionDocument::new(RowId(2), SOURCE, EDIT, load(&project, b));
    assert_eq!(other.undo(&author("bob")).unwrap(), "moved a box to 15, 5 – 35, 25");
    write(&project, b, &mut other, "bob");
    assert_eq!(project.regions(a, Side::Source).unwrap().unwrap().regions, []);
    assert_eq!(project.region_history(a, Side::Source).unwrap().len(), 2);
}

#[test]
fn many_strokes_are_read_back_from_checkpoints() {
    let bench = Bench::new();
    let (edit, project) = (bench.edits[0], bench.open());
    let mut document = document(load(&project, edit));
    for n in 0..400u32 {
        // Noise, so that differences grow past the size at which a checkpoint is written.
        let (target, mut mask) = document.mask_to_paint(RegionRole::EditMask);
        for i in 0..700u32 {
            let place = (n * 7919 + i * 104_729) % (70 * 50);
            let (x, y) = (place % 70, place / 70);
            mask.set(x, y, !mask.get(x, y));
        }
        document.paint(RegionRole::EditMask, target, mask, "noise", &author("ann")).unwrap();
        write(&project, edit, &mut document, "ann");
    }
    let loaded = load(&bench.open(), edit);
    assert_eq!(&loaded[1].stream.state, document.state(Side::Edit));
    assert_eq!(loaded[1].stream.head, document.heads()[1]);
    // An older state is found too: before the 10th stroke.
    let tenth = loaded[1].entries[9].token;
    let before = project.regions_before(edit, Side::Edit, tenth).unwrap();
    for _ in 9..400 {
        document.undo(&author("ann")).unwrap();
    }
    assert_eq!(&before, document.state(Side::Edit));
}

#[test]
fn which_regions_are_hidden_survives_closing_the_project_and_is_no_part_of_the_journal() {
    let bench = Bench::new();
    let [first, second] = bench.edits[..] else { panic!("the project has two edits") };
    let hidden = [(Side::Source, RegionId::automatic(RegionRole::Original, 0)), (Side::Edit, RegionId(3))];
    bench.open().set_hidden_regions(first, &hidden).unwrap();
    let project = bench.open();
    assert_eq!(project.hidden_regions(first).unwrap(), hidden);
    assert_eq!(project.hidden_regions(second).unwrap(), []);
    assert_eq!(project.region_head(first, Side::Edit).unwrap(), Token::NONE);
    project.set_hidden_regions(first, &[]).unwrap();
    assert_eq!(bench.open().hidden_regions(first).unwrap(), []);
    // A list that somebody broke is said, with what it belongs to.
    project.set_meta(&format!("hidden_regions:{}", first.0), "[7").unwrap();
    let error = project.hidden_regions(first).unwrap_err().to_string();
    assert!(error.contains("hidden regions"), "{error}");
}

#[test]
fn an_entry_that_is_sent_twice_is_there_once() {
    let bench = Bench::new();
    let (edit, project) = (bench.edits[0], bench.open());
    let mut document = document(load(&project, edit));
    document.add_box(RegionRole::Edited, Rect::new(1.0, 2.0, 3.0, 4.0), "mug", &author("ann")).unwrap();
    let entry = document.next_to_write(0.0).remove(0);
    assert_eq!(project.append_region_change(edit, &entry).unwrap(), Appended::Stored);
    assert_eq!(project.append_region_change(edit, &entry).unwrap(), Appended::Stored);
    assert_eq!(project.region_history(edit, Side::Edit).unwrap().len(), 1);
}

#[test]
fn what_waits_is_written_in_one_go_as_far_as_another_window_lets_it() {
    let bench = Bench::new();
    let (edit, ann, bob) = (bench.edits[0], bench.open(), bench.open());
    let mut of_ann = document(load(&ann, edit));
    let mut of_bob = document(load(&bob, edit));
    let draw = |document: &mut RegionDocument, role, name: &str| {
        document.add_box(role, Rect::new(1.0, 1.0, 5.0, 5.0), name, &author("ann")).unwrap();
    };
    draw(&mut of_bob, RegionRole::Edited, "bob's");
    write(&bob, edit, &mut of_bob, "bob");
    // The source first, which is free; then the edit, where bob was.
    draw(&mut of_ann, RegionRole::Original, "first");
    draw(&mut of_ann, RegionRole::Original, "second");
    draw(&mut of_ann, RegionRole::Edited, "third");
    draw(&mut of_ann, RegionRole::Original, "fourth");
    let entries = of_ann.next_to_write(0.0);
    assert_eq!(entries.len(), 4, "all that waits");
    let (stored, became) = ann.append_region_changes(edit, &entries).unwrap();
    assert!(stored == 2 && matches!(became, Appended::Conflict { .. }), "{stored} {became:?}");
    assert_eq!(names(&ann, edit, Side::Source), ["cup", "first", "second"]);
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "bob's"]);
    of_ann.written(stored);
    assert_eq!(of_ann.outbox().len(), 2, "the third and the fourth wait");
}

/// Two windows on one project: both have read the same, ann writes first.
fn two_windows(bench: &Bench) -> (Project, Project, RegionDocument) {
    let edit = bench.edits[0];
    let (ann, bob) = (bench.open(), bench.open());
    let mut of_ann = document(load(&ann, edit));
    let mut of_bob = document(load(&bob, edit));
    of_ann.add_box(RegionRole::Edited, Rect::new(1.0, 1.0, 5.0, 5.0), "ann's", &author("ann")).unwrap();
    write(&ann, edit, &mut of_ann, "ann");
    of_bob.add_box(RegionRole::Edited, Rect::new(2.0, 2.0, 6.0, 6.0), "bob's", &author("bob")).unwrap();
    of_bob.rename(Side::Edit, of_bob.selected.unwrap().1, "bob's cup", &author("bob")).unwrap();
    // A change of the other side is in nobody's way.
    of_bob.add_box(RegionRole::Original, Rect::new(7.0, 7.0, 9.0, 9.0), "source", &author("bob")).unwrap();
    write(&bob, edit, &mut of_bob, "bob");
    (ann, bob, of_bob)
}

fn names(project: &Project, edit: EditId, side: Side) -> Vec<String> {
    project.regions(edit, side).unwrap().map(|set| set.regions.into_iter().map(|region| region.label).collect()).unwrap_or_default()
}

#[test]
fn two_windows_do_not_overwrite_each_other_and_the_person_chooses() {
    let bench = Bench::new();
    let edit = bench.edits[0];
    let (ann, bob, mut of_bob) = two_windows(&bench);
    // Nothing of ann's is lost, bob is told what she did, and his change waits.
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "ann's"]);
    assert_eq!(names(&ann, edit, Side::Source), ["cup", "source"]);
    let conflict = of_bob.conflict().unwrap();
    assert_eq!(
        conflict.their_log.iter().map(|line| (line.who.as_str(), line.what.as_str())).collect::<Vec<_>>(),
        [("ann", "drew a box 1, 1 – 5, 5")]
    );
    let (side, id) = of_bob.selected.unwrap();
    assert_eq!((side, of_bob.delete(side, id, &author("bob"))), (Side::Source, Ok(())), "the source side is free");
    let on_edit = of_bob.shown(Side::Edit).next().unwrap().id;
    assert_eq!(of_bob.delete(Side::Edit, on_edit, &author("bob")), Err(NotChanged::InConflict));
    of_bob.keep_mine(&author("bob"));
    write(&bob, edit, &mut of_bob, "bob");
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "bob's cup"]);
    // Both versions are in the history.
    let kinds: Vec<_> = load(&ann, edit)[1].entries.iter().map(|entry| (entry.kind, entry.who.clone())).collect();
    assert_eq!(kinds, [(EntryKind::Do, "ann".into()), (EntryKind::SetAside, "bob".into()), (EntryKind::Do, "bob".into())]);
    // What ann had can be brought back: it is the state before bob's choice.
    let last = load(&ann, edit)[1].entries[2].token;
    assert_eq!(ann.regions_before(edit, Side::Edit, last).unwrap().regions.last().unwrap().facts.name, "ann's");
}

#[test]
fn conflicts_of_both_sides_are_settled_one_after_the_other() {
    let bench = Bench::new();
    let edit = bench.edits[0];
    let (ann, bob) = (bench.open(), bench.open());
    let (mut of_ann, mut of_bob) = (document(load(&ann, edit)), document(load(&bob, edit)));
    let draw = |document: &mut RegionDocument, name: &str, x: f32| {
        for role in [RegionRole::Edited, RegionRole::Original] {
            document.add_box(role, Rect::new(x, 1.0, x + 5.0, 5.0), name, &author(name)).unwrap();
        }
    };
    draw(&mut of_ann, "ann", 1.0);
    write(&ann, edit, &mut of_ann, "ann");
    draw(&mut of_bob, "bob", 2.0);
    write(&bob, edit, &mut of_bob, "bob");
    let side = |document: &RegionDocument| document.conflict().map(|conflict| conflict.side);
    assert_eq!(side(&of_bob), Some(Side::Edit), "the older first");
    let blocked = |document: &mut RegionDocument, role| document.add_box(role, Rect::new(7.0, 7.0, 9.0, 9.0), "x", &author("bob"));
    for role in [RegionRole::Edited, RegionRole::Original] {
        assert_eq!(blocked(&mut of_bob, role), Err(NotChanged::InConflict), "{role:?}");
    }
    of_bob.keep_mine(&author("bob"));
    write(&bob, edit, &mut of_bob, "bob");
    assert_eq!(side(&of_bob), Some(Side::Source));
    assert!(!of_bob.is_settled(), "what bob drew on the source still waits for his choice");
    of_bob.keep_theirs();
    write(&bob, edit, &mut of_bob, "bob");
    assert_eq!(side(&of_bob), None);
    assert!(of_bob.is_settled());
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "bob"]);
    assert_eq!(names(&ann, edit, Side::Source), ["cup", "ann"]);
}

#[test]
fn what_was_set_aside_can_be_brought_back() {
    let bench = Bench::new();
    let edit = bench.edits[0];
    let (ann, bob, mut of_bob) = two_windows(&bench);
    of_bob.keep_theirs();
    write(&bob, edit, &mut of_bob, "bob");
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "ann's"]);
    assert!(of_bob.stale, "the journal is to be read again");
    of_bob.load(load(&bob, edit));
    let aside = of_bob.log().iter().find(|line| line.kind == EntryKind::SetAside).unwrap().token;
    let state = bob.regions_before(edit, Side::Edit, aside).unwrap();
    of_bob.restore(&state, &author("bob"), "took the version that was set aside").unwrap();
    write(&bob, edit, &mut of_bob, "bob");
    assert_eq!(names(&ann, edit, Side::Edit), ["cup", "cup", "bob's cup"]);
}

#[test]
fn a_failing_disk_keeps_the_work_in_memory_and_tries_again() {
    let bench = Bench::new();
    let edit = bench.edits[0];
    let mut document = document(load(&bench.open(), edit));
    let read_only = Project::open_read_only(&bench.path()).unwrap();
    document.add_box(RegionRole::Edited, Rect::new(1.0, 1.0, 5.0, 5.0), "mug", &author("ann")).unwrap();
    document.add_box(RegionRole::Edited, Rect::new(2.0, 2.0, 5.0, 5.0), "jug", &author("ann")).unwrap();
    let entries = document.next_to_write(0.0);
    assert_eq!(entries.len(), 2);
    assert_eq!(document.next_to_write(0.0), [], "not while they are on their way");
    let error = read_only.append_region_changes(edit, &entries).unwrap_err();
    assert!(matches!(error, StorageError::ReadOnly { .. }), "{error}");
    document.write_failed(error.to_string(), 0.0);
    assert_eq!((document.outbox().len(), document.shown(Side::Edit).count()), (2, 5));
    let failure = document.outbox().failure().unwrap();
    assert!(failure.why.contains("read-only") && failure.attempts == 1, "{failure:?}");
    // Not before its time; then longer and longer, up to half a minute.
    assert_eq!(document.next_to_write(0.5), []);
    for (n, wait) in [(2, 2.0), (3, 4.0), (4, 8.0), (5, 16.0), (6, 30.0), (7, 30.0)] {
        assert_eq!(document.next_to_write(1_000.0).len(), 2);
        document.write_failed("the disk is full".into(), 1_000.0);
        let failure = document.outbox().failure().unwrap();
        assert_eq!((failure.attempts, failure.retry_at), (n, 1_000.0 + wait));
        document.retry();
    }
    write(&bench.open(), edit, &mut document, "ann");
    assert!(document.outbox().is_empty() && document.outbox().failure().is_none());
    assert_eq!(names(&read_only, edit, Side::Edit), ["cup", "cup", "mug", "jug"]);
}

#[test]
fn an_unknown_entry_is_said() {
    let bench = Bench::new();
    let error = bench.open().regions_before(bench.edits[0], Side::Edit, Token(7)).unwrap_err().to_string();
    assert!(error.contains("change of regions 7"), "{error}");
    assert!(Path::new(&bench.path()).exists());
}
