//! Random gestures: undo and redo lead back and forth, and a restart changes nothing.

use editscope::domain::regions::{Area, RegionId, SideRegions};
use editscope::domain::rle::Rle;
use editscope::domain::{Point, Rect, RegionRole, Side};
use editscope::editor::regions::{History, LoadedSide, MaskOp, RegionDocument};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use crate::{author, document, unspoken};

/// One random gesture.
#[derive(Clone, Debug)]
enum Gesture {
    Box(u8, u8, u8, u8, bool),
    Brush(u8, u8, u8, u8, bool, bool),
    Op(u8, bool),
    Nudge(u8, i8, i8),
    Rename(u8, String),
    Role(u8, bool),
    Delete(u8),
    Revert(u8),
    Undo,
    Redo,
}

fn gesture() -> impl Strategy<Value = Gesture> {
    let (x, y) = (0u8..70, 0u8..50);
    prop_oneof![
        (x.clone(), y.clone(), x.clone(), y.clone(), any::<bool>()).prop_map(|(a, b, c, d, e)| Gesture::Box(a, b, c, d, e)),
        (x.clone(), y.clone(), x, y, any::<bool>(), any::<bool>()).prop_map(|(a, b, c, d, e, f)| Gesture::Brush(a, b, c, d, e, f)),
        (0u8..6, any::<bool>()).prop_map(|(op, ignore)| Gesture::Op(op, ignore)),
        (any::<u8>(), -20i8..20, -20i8..20).prop_map(|(n, dx, dy)| Gesture::Nudge(n, dx, dy)),
        (any::<u8>(), "[a-z]{0,4}").prop_map(|(n, name)| Gesture::Rename(n, name)),
        (any::<u8>(), any::<bool>()).prop_map(|(n, ignore)| Gesture::Role(n, ignore)),
        any::<u8>().prop_map(Gesture::Delete),
        (0u8..4).prop_map(Gesture::Revert),
        Just(Gesture::Undo),
        Just(Gesture::Redo),
    ]
}

const ROLES: [RegionRole; 4] = [RegionRole::Original, RegionRole::Edited, RegionRole::EditMask, RegionRole::Ignore];

fn perform(document: &mut RegionDocument, gesture: &Gesture) {
    let ann = author("ann");
    let mask_role = |ignore: bool| if ignore { RegionRole::Ignore } else { RegionRole::EditMask };
    let nth = |document: &RegionDocument, n: u8| {
        let all: Vec<_> = [Side::Source, Side::Edit]
            .into_iter()
            .flat_map(|side| document.shown(side).map(move |region| (side, region.id)).collect::<Vec<_>>())
            .collect();
        all.get(usize::from(n) % all.len().max(1)).copied()
    };
    // Refusals (a box outside the picture, nothing to change) are part of the game.
    let _ = match gesture {
        Gesture::Box(x0, y0, x1, y1, source) => {
            let role = if *source { RegionRole::Original } else { RegionRole::Edited };
            let rect = Rect::new(f32::from(*x0), f32::from(*y0), f32::from(*x1), f32::from(*y1));
            document.add_box(role, rect, "new", &ann)
        }
        Gesture::Brush(x0, y0, x1, y1, erase, ignore) => {
            let (target, mut mask) = document.mask_to_paint(mask_role(*ignore));
            let (a, b) = (Point::new(f32::from(*x0), f32::from(*y0)), Point::new(f32::from(*x1), f32::from(*y1)));
            editscope::domain::mask_ops::Brush { diameter: 7 }.stroke(&mut mask, a, b, !erase);
            document.paint(mask_role(*ignore), target, mask, "brushed", &ann)
        }
        Gesture::Op(op, ignore) => {
            let ops = [MaskOp::FillHoles, MaskOp::RemoveSpecks(20), MaskOp::Dilate(2), MaskOp::Erode(2), MaskOp::Invert, MaskOp::Clear];
            document.mask_op(mask_role(*ignore), ops[usize::from(*op)], &ann)
        }
        Gesture::Nudge(n, dx, dy) => match nth(document, *n) {
            Some((side, id)) => document.nudge_box(side, id, f32::from(*dx), f32::from(*dy), &ann),
            None => Ok(()),
        },
        Gesture::Rename(n, name) => match nth(document, *n) {
            Some((side, id)) => document.rename(side, id, name, &ann),
            None => Ok(()),
        },
        Gesture::Role(n, ignore) => match nth(document, *n) {
            Some((side, id)) => document.set_role(side, id, mask_role(*ignore), &ann),
            None => Ok(()),
        },
        Gesture::Delete(n) => match nth(document, *n) {
            Some((side, id)) => document.delete(side, id, &ann),
            None => Ok(()),
        },
        Gesture::Revert(role) => document.revert_to_automatic(ROLES[usize::from(*role)], &ann),
        Gesture::Undo => document.undo(&ann).map(drop),
        Gesture::Redo => document.redo(&ann).map(drop),
    };
}

fn states(document: &RegionDocument) -> [SideRegions; 2] {
    [Side::Source, Side::Edit].map(|side| document.state(side).clone())
}

/// What a project file would hold after these entries.
fn replayed(document: &mut RegionDocument) -> [LoadedSide; 2] {
    let mut loaded = unspoken();
    let entries = document.next_to_write(0.0);
    document.written(entries.len());
    for entry in entries {
        // Through JSON, as on disk.
        let change = serde_json::from_str(&serde_json::to_string(&entry.change).unwrap()).unwrap();
        let entry = editscope::domain::regions::JournalEntry { change, ..entry };
        let side = &mut loaded[usize::from(entry.side == Side::Edit)];
        side.stream.push(&entry).unwrap();
        side.entries.push(entry);
    }
    loaded
}

/// 48 cases unless `PROPTEST_CASES` asks for more; failures are kept beside this file.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { 48 };
    let kept = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

/// Closes the window after `gestures` and opens it again: state and history are as they were, and go on alike.
///
/// What is selected belongs to the window, not to the project, and says which mask is painted: it is the same in both here.
fn restart_changes_nothing(gestures: &[Gesture], again: &[Gesture]) -> Result<(), TestCaseError> {
    let mut before = document(unspoken());
    gestures.iter().for_each(|gesture| perform(&mut before, gesture));
    let mut after = document(replayed(&mut before.clone()));
    prop_assert_eq!(states(&after), states(&before));
    prop_assert_eq!(after.history().depth(), before.history().depth());
    after.selected = before.selected;
    for gesture in again {
        perform(&mut before, gesture);
        perform(&mut after, gesture);
        // What is made from here on gets other ids, by chance.
        prop_assert_eq!(by_place(&after), by_place(&before));
        prop_assert_eq!(selected_place(&after), selected_place(&before));
    }
    // Masks survive as COCO run lengths.
    for region in &after.state(Side::Edit).regions {
        if let Area::Mask(mask) = &region.area {
            let back = Rle::from_mask(mask).to_mask();
            prop_assert_eq!(back.as_ref(), Ok(&**mask));
        }
    }
    Ok(())
}

/// The states with each region's place as its id.
fn by_place(document: &RegionDocument) -> [SideRegions; 2] {
    states(document).map(|mut side| {
        for (at, region) in side.regions.iter_mut().enumerate() {
            region.id = RegionId(at as u32);
        }
        side
    })
}

/// Side and place of what is selected.
fn selected_place(document: &RegionDocument) -> Option<(Side, Option<usize>)> {
    let (side, id) = document.selected?;
    Some((side, document.state(side).regions.iter().position(|region| region.id == id)))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn undoing_all_gives_the_start_and_redoing_all_the_end(gestures in proptest::collection::vec(gesture(), 1..40)) {
        let mut document = document(unspoken());
        gestures.iter().for_each(|gesture| perform(&mut document, gesture));
        let end = states(&document);
        let (undone, redone) = document.history().depth();
        // Redo first what random undos have left, so that the end is the end of everything.
        for _ in 0..redone {
            document.redo(&author("ann")).unwrap();
        }
        let all_done = states(&document);
        for _ in 0..undone + redone {
            document.undo(&author("ann")).unwrap();
        }
        prop_assert_eq!(states(&document), [SideRegions::unspoken(Side::Source), SideRegions::unspoken(Side::Edit)]);
        for _ in 0..undone + redone {
            document.redo(&author("ann")).unwrap();
        }
        prop_assert_eq!(states(&document), all_done);
        for _ in 0..redone {
            document.undo(&author("ann")).unwrap();
        }
        prop_assert_eq!(states(&document), end);
        prop_assert_eq!(document.history().depth(), (undone, redone));
    }

    #[test]
    fn a_restart_changes_neither_state_nor_history(gestures in proptest::collection::vec(gesture(), 1..40), again in proptest::collection::vec(gesture(), 0..10)) {
        restart_changes_nothing(&gestures, &again)?;
    }

    #[test]
    fn the_history_stays_within_its_bytes(gestures in proptest::collection::vec(gesture(), 1..60), budget in 200usize..6_000) {
        let mut before = document(unspoken());
        gestures.iter().for_each(|gesture| perform(&mut before, gesture));
        let mut entries = before.clone();
        let loaded = replayed(&mut entries);
        // Both sides in the order in which they were made.
        let journal: Vec<_> = loaded.iter().flat_map(|side| &side.entries).collect();
        let order: Vec<_> = before.log().iter().filter_map(|line| journal.iter().find(|entry| entry.token == line.token).copied()).collect();
        for n in 0..=order.len() {
            let history = History::from_journal(order[..n].iter().copied(), budget);
            prop_assert!(history.bytes() <= budget, "{} of {}", history.bytes(), budget);
            let unlimited = History::from_journal(order[..n].iter().copied(), usize::MAX);
            let ((undo, redo), all) = (history.depth(), unlimited.depth());
            prop_assert!(undo <= all.0 && redo <= all.1);
            // The newest step is forgotten last.
            if undo > 0 {
                prop_assert_eq!(history.next_undo(), unlimited.next_undo());
            }
        }
    }
}

/// Two masks of ignored pixels, of which the second is selected (this was found by the property above, when the selection was lost).
#[test]
fn a_restart_between_two_masks_of_one_role_changes_nothing() {
    use Gesture::{Box, Brush, Delete, Nudge, Op, Rename, Role, Undo};
    let gestures = [
        Nudge(0, 0, 0),
        Op(4, true),
        Delete(75),
        Rename(170, String::new()),
        Box(0, 6, 0, 0, false),
        Role(55, true),
        Brush(0, 0, 2, 35, false, true),
    ];
    let again = [
        Nudge(182, 3, -4),
        Role(214, true),
        Undo,
        Op(4, true),
        Rename(247, "dl".into()),
        Op(1, false),
        Rename(183, "qt".into()),
        Delete(228),
    ];
    restart_changes_nothing(&gestures, &again).unwrap();
}
