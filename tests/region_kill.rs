//! `kill -9` at any moment loses at most the change in progress.
//!
//! The test starts itself a hundred times as a helper that changes regions and says which changes it has been promised are on disk,
//! kills it in the middle, and compares what the project holds with what the same changes give in memory. A second helper does it behind
//! the queues of the window.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use editscope::domain::mask_ops::Brush;
use editscope::domain::regions::{EntryKind, RegionId, RegionStream, SideRegions};
use editscope::domain::{Edit, EditKey, Item, ItemKey, PictureRef, Point, Rect, RegionRole, Side, Size};
use editscope::editor::RowId;
use editscope::editor::regions::{Author, LoadedSide, RegionDocument};
use editscope::storage::{Appended, EditId, Project};

/// Names the project to the helper.
const PROJECT: &str = "EDITSCOPE_TEST_KILLED_PROJECT";
const KILLS: u32 = 100;
const SIZE: Size = Size::new(300, 200);

/// The n-th change, the same in every process.
fn change(document: &mut RegionDocument, n: u32) {
    let author = Author { who: "ann".into(), at_millis: i64::from(n) };
    // A linear congruential generator (Numerical Recipes), so that the places look random and are the same everywhere.
    let random = |salt: u32| n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223).wrapping_add(salt.wrapping_mul(2_654_435_761)) >> 8;
    let place = |salt: u32| Point::new((random(salt) % 300) as f32 + 0.5, (random(salt + 1) % 200) as f32 + 0.5);
    let done = match n % 9 {
        3 => document.undo(&author).map(drop),
        4 => document.redo(&author).map(drop),
        7 => {
            let (a, side) = (place(5), if n.is_multiple_of(2) { RegionRole::Original } else { RegionRole::Edited });
            document.add_box(side, Rect::new(a.x - 20.0, a.y - 20.0, a.x + 20.0, a.y + 20.0), &format!("box {n}"), &author)
        }
        _ => {
            let (target, mut mask) = document.mask_to_paint(RegionRole::EditMask);
            let adds = !n.is_multiple_of(3) || mask.is_empty();
            Brush { diameter: 3 + random(1) % 30 }.stroke(&mut mask, place(2), place(3), adds);
            // So that every stroke changes something.
            let corner = mask.get(n % 300, 0);
            mask.set(n % 300, 0, !corner);
            document.paint(RegionRole::EditMask, target, mask, "brushed", &author)
        }
    };
    done.unwrap_or_else(|why| panic!("change {n}: {why}"));
}

fn load(project: &Project, edit: EditId) -> [LoadedSide; 2] {
    [Side::Source, Side::Edit].map(|side| {
        let journal = project.region_journal(edit, side, 64 << 20).unwrap();
        LoadedSide { stream: journal.stream, entries: journal.entries, older: journal.older }
    })
}

fn entries(loaded: &[LoadedSide; 2]) -> u32 {
    loaded.iter().map(|side| side.entries.len() as u32).sum()
}

/// The helper: goes on from what the project holds, and says `ack N` when the N-th change is on disk.
#[test]
fn helper_that_is_killed() {
    let Some(path) = std::env::var_os(PROJECT) else { return };
    let project = Project::open(Path::new(&path)).unwrap();
    let edit = project.edits().unwrap()[0].id;
    let loaded = load(&project, edit);
    let mut n = entries(&loaded);
    let mut document = RegionDocument::new(RowId(1), SIZE, SIZE, loaded);
    let mut out = std::io::stdout();
    writeln!(out, "ack {n}").unwrap();
    loop {
        change(&mut document, n);
        let entries = document.next_to_write(0.0);
        assert_eq!(project.append_region_changes(edit, &entries).unwrap(), (1, Appended::Stored));
        document.written(1);
        n += 1;
        writeln!(out, "ack {n}").unwrap();
        out.flush().unwrap();
    }
}

#[cfg(feature = "gui")]
#[path = "gui/busy_store.rs"]
mod busy_store;

#[cfg(feature = "gui")]
mod behind_the_queues {
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use editscope::editor::RowId;
    use editscope::editor::regions::RegionDocument;
    use editscope::gui::region_store::{RegionEvent, RegionRequest};
    use editscope::gui::store::{Shown, StoreEvent, StoreRequest, StoreThread};
    use editscope::storage::{Appended, Project};

    use super::busy_store::BusyStore;
    use super::{PROJECT, SIZE, change, entries, load};

    /// The next answer; a helper that hears nothing for a minute fails.
    fn next(store: &StoreThread) -> StoreEvent {
        let began = Instant::now();
        loop {
            if let Some(event) = store.try_next() {
                return event;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no answer in a minute");
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// The helper behind the window's store.
    #[test]
    fn helper_that_is_killed() {
        let Some(project) = std::env::var_os(PROJECT).map(PathBuf::from) else { return };
        let (edit, loaded) = {
            let opened = Project::open(&project).unwrap();
            let edit = opened.edits().unwrap()[0].id;
            (edit, load(&opened, edit))
        };
        // Nobody ever lets the export go on.
        let (store, _never) = BusyStore::new();
        let store = StoreThread::start(Box::new(store), Arc::new(|| {})).unwrap();
        store.send(StoreRequest::Open(project.clone()));
        assert!(matches!(next(&store), StoreEvent::Opened { result: Ok(_), .. }));
        store.send(StoreRequest::Export { to: project.with_extension("csv"), shown: Shown::default() });
        let mut n = entries(&loaded);
        let id = RowId(edit.0);
        let mut document = RegionDocument::new(id, SIZE, SIZE, loaded);
        let mut out = std::io::stdout();
        writeln!(out, "ack {n}").unwrap();
        loop {
            change(&mut document, n);
            let request = RegionRequest::Append(id, document.next_to_write(0.0));
            store.send(StoreRequest::Regions { project: project.clone(), request });
            match next(&store) {
                StoreEvent::Regions { event: RegionEvent::Appended(_, result), .. } => assert_eq!(result, Ok((1, Appended::Stored))),
                other => panic!("{other:?}"),
            }
            document.written(1);
            n += 1;
            writeln!(out, "ack {n}").unwrap();
            out.flush().unwrap();
        }
    }
}

/// Starts a helper, kills it a moment after its `changes`-th change, and returns the last change that it was promised.
fn run_and_kill(helper: &str, path: &Path, changes: u32, after: Duration) -> u32 {
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", helper, "--nocapture"])
        .env(PROJECT, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(helper.stdout.take().unwrap()).lines().map_while(Result::ok);
    let number = |line: &String| line.rsplit_once("ack ").and_then(|(_, n)| n.parse::<u32>().ok());
    let first = lines.by_ref().find_map(|line| number(&line)).expect("the helper starts");
    let reached = lines.by_ref().filter_map(|line| number(&line)).find(|n| *n >= first + changes).expect("the helper goes on");
    std::thread::sleep(after);
    // SIGKILL on Unix: nothing of the helper runs after it.
    helper.kill().unwrap();
    let ended = helper.wait().unwrap();
    // It was killed; it did not end by itself before.
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9), "{ended:?}");
    assert!(!ended.success());
    // A line that was cut by the kill reads as a smaller number.
    lines.filter_map(|line| number(&line)).fold(reached, u32::max)
}

/// New regions get ids by chance, so those of two programs differ: here each is the place of its region.
fn without_ids(side: &SideRegions) -> SideRegions {
    let mut side = side.clone();
    for (at, region) in side.regions.iter_mut().enumerate() {
        region.id = RegionId(at as u32);
    }
    side
}

#[test]
fn a_killed_program_loses_at_most_the_change_in_progress() {
    kill_again_and_again("helper_that_is_killed", KILLS);
}

/// Through the queues and threads of the window, while the project's thread is busy with something that takes for ever.
#[cfg(feature = "gui")]
#[test]
fn behind_the_windows_queues_a_killed_program_loses_at_most_the_change_in_progress() {
    kill_again_and_again("behind_the_queues::helper_that_is_killed", KILLS / 4);
}

fn kill_again_and_again(helper: &str, kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.editscope");
    let picture = |name: &str| PictureRef { path: folder.path().join(name), given: name.into() };
    let edit =
        Edit { key: EditKey("e".into()), picture: picture("e.png"), model: "m".into(), ratings: Vec::new(), extra: Default::default() };
    let item = Item {
        key: ItemKey("i".into()),
        source: picture("s.png"),
        instruction: "Make the cup red".into(),
        parse: None,
        edits: vec![edit],
        extra: Default::default(),
    };
    Project::create(&path).unwrap().import(&[item]).unwrap();

    // Never restarted and never written: what the same changes give.
    let nothing =
        || [Side::Source, Side::Edit].map(|side| LoadedSide { stream: RegionStream::unspoken(side), entries: Vec::new(), older: 0 });
    let mut expected = RegionDocument::new(RowId(1), SIZE, SIZE, nothing());
    let mut made = 0;
    let (began, mut in_progress_kept) = (Instant::now(), 0);
    for kill in 0..kills {
        let promised = run_and_kill(helper, &path, 1 + kill % 3, Duration::from_micros(u64::from(kill * 7919 % 9_000)));
        let project = Project::open(&path).unwrap();
        let edit = project.edits().unwrap()[0].id;
        let loaded = load(&project, edit);
        let kept = entries(&loaded);
        assert!(kept == promised || kept == promised + 1, "kill {kill}: {promised} changes were promised, {kept} are there");
        in_progress_kept += u32::from(kept == promised + 1);
        while made < kept {
            change(&mut expected, made);
            made += 1;
        }
        for (side, loaded) in [Side::Source, Side::Edit].into_iter().zip(&loaded) {
            assert_eq!(without_ids(&loaded.stream.state), without_ids(expected.state(side)), "kill {kill}, {side:?}, after {kept} changes");
        }
        // Undo and redo go on where they were.
        let reopened = RegionDocument::new(RowId(1), SIZE, SIZE, loaded);
        assert_eq!(reopened.history().depth(), expected.history().depth(), "kill {kill}");
    }
    assert!(made >= kills, "{made} changes in {kills} starts");
    assert!(expected.log().iter().any(|line| matches!(line.kind, EntryKind::Undo(_))));
    assert_ne!(expected.state(Side::Edit), &SideRegions::unspoken(Side::Edit));
    println!("{kills} kills, {made} changes, {in_progress_kept} of those in progress kept, {:.1} s", began.elapsed().as_secs_f64());
}
