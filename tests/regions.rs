//! Regions from gesture to project file: undo and redo, the journal, two windows, a failing disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use editscope::domain::regions::{Area, EntryKind, KeptRegion, RegionFacts, RegionId, RegionStream, SideRegions, Token};
use editscope::domain::rle::Rle;
use editscope::domain::{Edit, EditKey, ImageSpace, Item, ItemKey, Mask, PictureRef, Point, Rect, RegionOrigin, RegionRole, Side, Size};
use editscope::editor::RowId;
use editscope::editor::regions::{Author, HISTORY_BYTES, History, LoadedSide, LogLine, MaskOp, NotChanged, RegionDocument};
use editscope::editor::tools::{Tool, ToolOptions, Tools};
use editscope::storage::{Appended, EditId, Project, StorageError};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

#[path = "../benches/regions.rs"]
mod figures;

const SOURCE: Size = Size::new(70, 50);
const EDIT: Size = Size::new(140, 100);

fn author(who: &str) -> Author {
    Author { who: who.into(), at_millis: 1_000 }
}

fn unspoken() -> [LoadedSide; 2] {
    [Side::Source, Side::Edit].map(|side| LoadedSide { stream: RegionStream::unspoken(side), entries: Vec::new(), older: 0 })
}

/// A document with one box found on the source, two on the edit, and a mask.
fn document(loaded: [LoadedSide; 2]) -> RegionDocument {
    let mut document = RegionDocument::new(RowId(1), SOURCE, EDIT, loaded);
    let found = |role, n, rect: [f32; 4]| KeptRegion {
        id: RegionId::automatic(role, n),
        facts: RegionFacts { role, origin: RegionOrigin::Detector, name: "cup".into(), confidence: Some(0.7) },
        area: Area::Box(Rect::new(rect[0], rect[1], rect[2], rect[3])),
    };
    let mask = KeptRegion {
        id: RegionId::automatic(RegionRole::EditMask, 0),
        facts: RegionFacts { role: RegionRole::EditMask, origin: RegionOrigin::Segmenter, name: "edit mask".into(), confidence: None },
        area: Area::Mask(Arc::new(Mask::from_fn(SOURCE, |x, y| (10..30).contains(&x) && (5..25).contains(&y)))),
    };
    document.set_automatic([
        vec![found(RegionRole::Original, 0, [10.0, 5.0, 30.0, 25.0])],
        vec![found(RegionRole::Edited, 0, [20.0, 10.0, 60.0, 50.0]), found(RegionRole::Edited, 1, [80.0, 10.0, 120.0, 50.0]), mask],
    ]);
    document
}

fn tools(tool: Tool, document: RegionDocument) -> Tools {
    let options = ToolOptions { brush_px: 5, ..ToolOptions::default() };
    Tools { tool, options, document: Some(document), ..Tools::default() }
}

fn boxes(document: &RegionDocument, side: Side) -> Vec<[f32; 4]> {
    let rect = |region: &KeptRegion| match &region.area {
        Area::Box(rect) => Some(rect.to_array()),
        Area::Mask(_) => None,
    };
    document.shown(side).filter_map(rect).collect()
}

fn mask(document: &RegionDocument, role: RegionRole) -> Option<Mask> {
    document.masks(role).find_map(|region| match &region.area {
        Area::Mask(mask) => Some(Mask::clone(mask)),
        Area::Box(_) => None,
    })
}

#[test]
fn correcting_one_of_two_found_boxes_keeps_the_other_and_can_be_reverted() {
    let mut document = document(unspoken());
    let id = RegionId::automatic(RegionRole::Edited, 0);
    assert!(document.state(Side::Edit).plain().is_empty(), "nothing is a person's yet");
    document.nudge_box(Side::Edit, id, -10.0, 0.0, &author("ann")).unwrap();
    assert_eq!(boxes(&document, Side::Edit), [[10.0, 10.0, 50.0, 50.0], [80.0, 10.0, 120.0, 50.0]]);
    let origins = document.state(Side::Edit).regions.iter().map(|region| region.facts.origin);
    assert_eq!(origins.collect::<Vec<_>>(), [RegionOrigin::Person, RegionOrigin::Detector]);
    // Towards the metric the person stands for both.
    let plain = document.state(Side::Edit).plain();
    assert!(plain.len() == 2 && plain.iter().all(|region| region.origin == RegionOrigin::Person));
    assert!(!document.speaks_for(Side::Edit, RegionRole::EditMask), "the mask stays automatic");
    // As far as the picture reaches: 10 to the left, not 100.
    document.nudge_box(Side::Edit, id, -100.0, 0.0, &author("ann")).unwrap();
    assert_eq!(boxes(&document, Side::Edit)[0], [0.0, 10.0, 40.0, 50.0]);
    assert_eq!(document.nudge_box(Side::Edit, id, -1.0, 0.0, &author("ann")), Err(NotChanged::Nothing));
    document.revert_to_automatic(RegionRole::Edited, &author("ann")).unwrap();
    assert_eq!(boxes(&document, Side::Edit)[0], [20.0, 10.0, 60.0, 50.0]);
    assert_eq!(document.history().depth(), (3, 0));
    document.undo(&author("ann")).unwrap();
    assert_eq!(boxes(&document, Side::Edit)[0], [0.0, 10.0, 40.0, 50.0]);
}

#[test]
fn a_box_is_copied_to_the_edit_as_the_pictures_are_stretched() {
    let mut document = document(unspoken());
    document.copy_to_edit(RegionId::automatic(RegionRole::Original, 0), &author("ann")).unwrap();
    // The edit is twice as large along both axes.
    assert_eq!(boxes(&document, Side::Edit)[2], [20.0, 10.0, 60.0, 50.0]);
    let (side, id) = document.selected.unwrap();
    document.rename(side, id, "mug", &author("ann")).unwrap();
    document.set_role(side, id, RegionRole::Ignore, &author("ann")).unwrap();
    document.delete(Side::Edit, RegionId::automatic(RegionRole::Edited, 1), &author("ann")).unwrap();
    let facts: Vec<_> = document.state(Side::Edit).regions.iter().map(|region| (region.facts.role, region.facts.name.as_str())).collect();
    assert_eq!(facts, [(RegionRole::Edited, "cup"), (RegionRole::Ignore, "mug")]);
    while document.undo(&author("ann")).is_ok() {}
    assert_eq!(document.state(Side::Edit), &SideRegions::unspoken(Side::Edit));
}

#[test]
fn one_gesture_is_one_step_and_draws_exactly_its_pixels() {
    let mut tools = tools(Tool::Brush, document(unspoken()));
    let before = mask(tools.document.as_ref().unwrap(), RegionRole::EditMask).unwrap();
    let p = |x: f32, y: f32| Point::<ImageSpace>::new(x, y);
    tools.press(Side::Edit, p(50.5, 30.5), 1.0, false);
    tools.drag(&[p(55.5, 30.5), p(60.5, 30.5)]);
    assert_eq!(tools.document.as_ref().unwrap().history().depth(), (0, 0), "nothing is changed while the pointer is down");
    tools.release(&author("ann")).unwrap();
    let document = tools.document.as_ref().unwrap();
    assert_eq!(document.history().depth(), (1, 0));
    // By hand: a disc of diameter 5 has 21 pixels; pulled along 10 more columns it gains 5 in each.
    let after = mask(document, RegionRole::EditMask).unwrap();
    assert_eq!(after.count() - before.count(), 21 + 50);
    assert_eq!(document.log().last().unwrap().what, "brushed (+71 px, edit mask)");
    // A straight line goes on from where the stroke ended.
    tools.press(Side::Edit, p(60.5, 40.5), 1.0, true);
    tools.release(&author("ann")).unwrap();
    assert!(mask(tools.document.as_ref().unwrap(), RegionRole::EditMask).unwrap().get(60, 35));
    tools.tool = Tool::Eraser;
    tools.press(Side::Source, p(20.5, 15.5), 1.0, false);
    tools.release(&author("ann")).unwrap();
    assert!(!mask(tools.document.as_ref().unwrap(), RegionRole::EditMask).unwrap().get(20, 15));
}

#[test]
fn polygon_lasso_and_mask_operations_change_the_mask_that_is_drawn_on() {
    let mut tools = tools(Tool::Polygon, document(unspoken()));
    tools.options.mask_role = RegionRole::Ignore;
    for (x, y) in [(40.0, 10.0), (50.0, 10.0), (50.0, 20.0), (40.0, 20.0)] {
        tools.add_corner(Point::new(x, y));
    }
    tools.add_corner(Point::new(0.0, 0.0));
    tools.drop_corner();
    tools.close_polygon(&author("ann")).unwrap();
    let ignored = |tools: &Tools| mask(tools.document.as_ref().unwrap(), RegionRole::Ignore).map(|mask| mask.count());
    assert_eq!(ignored(&tools), Some(100));
    tools.tool = Tool::Lasso;
    tools.options.subtract = true;
    tools.press(Side::Edit, Point::new(42.0, 12.0), 1.0, false);
    tools.drag(&[Point::new(44.0, 12.0), Point::new(44.0, 14.0), Point::new(42.0, 14.0)]);
    tools.release(&author("ann")).unwrap();
    assert_eq!(ignored(&tools), Some(96));
    let document = tools.document.as_mut().unwrap();
    document.mask_op(RegionRole::Ignore, MaskOp::FillHoles, &author("ann")).unwrap();
    document.mask_op(RegionRole::Ignore, MaskOp::Dilate(1), &author("ann")).unwrap();
    // A square of 10 grows by one pixel along each side, not at its corners.
    assert_eq!(ignored(&tools), Some(140));
    let document = tools.document.as_mut().unwrap();
    document.mask_op(RegionRole::Ignore, MaskOp::Erode(1), &author("ann")).unwrap();
    assert_eq!(document.mask_op(RegionRole::Ignore, MaskOp::RemoveSpecks(100), &author("ann")), Err(NotChanged::Nothing));
    document.mask_op(RegionRole::Ignore, MaskOp::Invert, &author("ann")).unwrap();
    assert_eq!(ignored(&tools), Some(70 * 50 - 100));
    let document = tools.document.as_mut().unwrap();
    assert!(!document.speaks_for(Side::Edit, RegionRole::EditMask), "the edit mask was not touched");
    tools.tool = Tool::Polygon;
    tools.add_corner(Point::new(1.0, 1.0));
    assert!(matches!(tools.close_polygon(&author("ann")), Err(NotChanged::Because(_))));
    assert!(tools.sketch.is_some(), "what was clicked so far is kept");
}

#[test]
fn a_found_box_with_another_role_is_not_mixed_up_with_the_one_that_is_found_again() {
    let mut document = document(unspoken());
    let found = RegionId::automatic(RegionRole::Edited, 0);
    document.set_role(Side::Edit, found, RegionRole::Ignore, &author("ann")).unwrap();
    document.revert_to_automatic(RegionRole::Edited, &author("ann")).unwrap();
    // The found box counts again, beside the one that a person made of it.
    let mut ids: Vec<RegionId> = document.shown(Side::Edit).map(|region| region.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), count), (4, 4));
    document.nudge_box(Side::Edit, found, 1.0, 0.0, &author("ann")).unwrap();
    while document.undo(&author("ann")).is_ok() {}
    assert_eq!(document.state(Side::Edit), &SideRegions::unspoken(Side::Edit));
}

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
    while let Some(entry) = document.next_to_write(0.0) {
        document.written();
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
        prop_assert_eq!(states(&after), states(&before));
        prop_assert_eq!(after.selected, before.selected);
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

#[test]
fn an_operation_on_one_of_two_masks_says_that_it_must_be_selected() {
    let mut document = document(unspoken());
    document.mask_op(RegionRole::Ignore, MaskOp::Invert, &author("ann")).unwrap();
    document.set_role(Side::Edit, RegionId::automatic(RegionRole::EditMask, 0), RegionRole::Ignore, &author("ann")).unwrap();
    let counts = |document: &RegionDocument| document.masks(RegionRole::Ignore).map(|mask| mask.area.pixels()).collect::<Vec<_>>();
    assert_eq!(counts(&document), [3500.0, 400.0]);
    // As after a restart.
    document.selected = None;
    let refused = document.mask_op(RegionRole::Ignore, MaskOp::Invert, &author("ann")).unwrap_err();
    assert!(refused.to_string().contains("2 masks"), "{refused}");
    assert_eq!(counts(&document), [3500.0, 400.0]);
    let second = document.masks(RegionRole::Ignore).nth(1).unwrap().id;
    document.selected = Some((Side::Edit, second));
    document.mask_op(RegionRole::Ignore, MaskOp::Invert, &author("ann")).unwrap();
    assert_eq!(counts(&document), [3500.0, 3100.0]);
}

#[test]
fn strokes_on_a_large_mask_cost_what_they_change() {
    let size = Size::new(8193, 8193);
    let mut tools = tools(Tool::Brush, RegionDocument::new(RowId(1), size, size, unspoken()));
    tools.options.brush_px = 101;
    for n in 0..20 {
        let y = 300.0 * n as f32 + 400.0;
        tools.press(Side::Edit, Point::new(100.0, y), 1.0, false);
        tools.drag(&[Point::new(4000.0, y + 90.0), Point::new(8000.0, y)]);
        tools.release(&author("ann")).unwrap();
    }
    let document = tools.document.as_mut().unwrap();
    // The newest steps keep the masks that they lead between, within the budget that all steps share.
    assert!(document.history().bytes() <= HISTORY_BYTES, "{}", document.history().bytes());
    let mut written = 0;
    while let Some(entry) = document.next_to_write(0.0) {
        written += serde_json::to_string(&entry.change).unwrap().len();
        document.written();
    }
    // 20 copies of the mask would be 168 MB. A stroke touches about 190 rows; two runs and their gaps take under 16 bytes a row, a third
    // more as text. The first one adds the region with its mask.
    assert!(written < (20 * 200 * 16 + 20 * 1_000 + 30_000) * 4 / 3, "{written}");
    // Masks whose states were let go come back by their differences, the others by their states.
    let pixels = |document: &RegionDocument| document.state(Side::Edit).regions.iter().map(|region| region.area.pixels()).sum::<f64>();
    let mut before = pixels(document);
    for n in 0..20 {
        document.undo(&author("ann")).unwrap();
        assert!(pixels(document) < before, "stroke {n} from the end had added pixels");
        before = pixels(document);
    }
    assert_eq!(document.state(Side::Edit), &SideRegions::unspoken(Side::Edit));
}

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
    while let Some(entry) = document.next_to_write(0.0) {
        match project.append_region_change(edit, &entry) {
            Ok(Appended::Stored) => document.written(),
            Ok(Appended::Conflict { theirs, entries }) => document.met(theirs, entries.iter().map(LogLine::from).collect(), &author(who)),
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
    let entry = document.next_to_write(0.0).unwrap();
    assert_eq!(project.append_region_change(edit, &entry).unwrap(), Appended::Stored);
    assert_eq!(project.append_region_change(edit, &entry).unwrap(), Appended::Stored);
    assert_eq!(project.region_history(edit, Side::Edit).unwrap().len(), 1);
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
    let entry = document.next_to_write(0.0).unwrap();
    assert_eq!(document.next_to_write(0.0), None, "one after the other");
    let error = read_only.append_region_change(edit, &entry).unwrap_err();
    assert!(matches!(error, StorageError::ReadOnly { .. }), "{error}");
    document.write_failed(error.to_string(), 0.0);
    assert_eq!((document.outbox().len(), document.shown(Side::Edit).count()), (2, 5));
    let failure = document.outbox().failure().unwrap();
    assert!(failure.why.contains("read-only") && failure.attempts == 1, "{failure:?}");
    // Not before its time; then longer and longer, up to half a minute.
    assert_eq!(document.next_to_write(0.5), None);
    for (n, wait) in [(2, 2.0), (3, 4.0), (4, 8.0), (5, 16.0), (6, 30.0), (7, 30.0)] {
        assert!(document.next_to_write(1_000.0).is_some());
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

#[ignore = "prints figures, which a loaded machine spoils"]
#[test]
fn figures_at_8193() {
    figures::main();
}
