//! Regions from gesture to project file: undo and redo, the journal, two windows, a failing disk.

use std::sync::Arc;

use editscope::domain::regions::{Area, KeptRegion, RegionFacts, RegionId, RegionStream, SideRegions};
use editscope::domain::{ImageSpace, Mask, Point, Rect, RegionOrigin, RegionRole, Side, Size};
use editscope::editor::RowId;
use editscope::editor::regions::{Author, HISTORY_BYTES, LoadedSide, MaskOp, NotChanged, RegionDocument};
use editscope::editor::tools::{PointMark, TakenBack, Tool, ToolOptions, Tools};

#[path = "../../benches/regions.rs"]
mod figures;
mod history;
mod project;

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
    assert_eq!(document.log().last().unwrap().what, "copied a box of the source to the edit: 20, 10 – 60, 50");
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
    assert_eq!(document.log().last().unwrap().what, "brushed (+71 px, edit mask, on the automatic mask of 400 px)");
    // That is 20 by 20 pixels; the next stroke begins with a person's mask.
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
    let entries = document.next_to_write(0.0);
    document.written(entries.len());
    for entry in entries {
        written += serde_json::to_string(&entry.change).unwrap().len();
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

#[ignore = "prints figures, which a loaded machine spoils"]
#[test]
fn figures_at_8193() {
    figures::main();
}

#[test]
fn the_name_of_a_deleted_region_is_never_given_again() {
    let mut document = document(unspoken());
    let mut seen = std::collections::HashSet::new();
    for n in 0..50 {
        document.add_box(RegionRole::Edited, Rect::new(1.0, 1.0, 9.0 + n as f32, 9.0), "box", &author("ann")).unwrap();
        let (side, id) = document.selected.unwrap();
        assert!(!id.is_automatic() && id != RegionId::default());
        assert!(seen.insert(id), "{id:?} is another region's");
        if n % 2 == 0 { document.delete(side, id, &author("ann")).unwrap() } else { drop(document.undo(&author("ann")).unwrap()) }
    }
}

#[test]
fn a_box_with_the_role_of_a_mask_is_drawn_on_as_the_pixels_that_it_stands_for() {
    let mut tools = tools(Tool::Eraser, document(unspoken()));
    let ann = author("ann");
    let document = tools.document.as_mut().unwrap();
    // On the edit, which is twice as large: columns 10 to 29 and rows 10 to 19 of the source.
    document.add_box(RegionRole::Edited, Rect::new(20.0, 20.0, 60.0, 40.0), "box", &ann).unwrap();
    let (side, id) = document.selected.unwrap();
    document.set_role(side, id, RegionRole::Ignore, &ann).unwrap();
    // Inverted: by hand, all but 20·10 of the 70·50 pixels.
    document.mask_op(RegionRole::Ignore, MaskOp::Invert, &ann).unwrap();
    let inverted = mask(document, RegionRole::Ignore).unwrap();
    assert_eq!(inverted.count(), 3500 - 200);
    assert!(!inverted.get(10, 10) && !inverted.get(29, 19) && inverted.get(9, 10) && inverted.get(30, 10));
    document.undo(&ann).unwrap();
    assert!(mask(document, RegionRole::Ignore).is_none(), "a box again");
    // Erased: a dab of five pixels' diameter takes its 21 pixels away.
    tools.options.mask_role = RegionRole::Ignore;
    tools.press(Side::Edit, Point::new(20.5, 14.5), 1.0, false);
    tools.release(&ann).unwrap();
    let document = tools.document.as_mut().unwrap();
    let erased = mask(document, RegionRole::Ignore).unwrap();
    assert_eq!(erased.count(), 200 - 21);
    assert!(!erased.get(20, 14) && erased.get(12, 12));
    assert_eq!(document.log().last().unwrap().what, "erased (-21 px, ignored)");
    // An operation that is asked for and a box that moves meanwhile.
    document.undo(&ann).unwrap();
    let job = document.mask_job(RegionRole::Ignore, MaskOp::Dilate(1)).unwrap();
    let (side, region) = (Side::Edit, document.painted(RegionRole::Ignore).next().unwrap().id);
    document.nudge_box(side, region, 2.0, 0.0, &ann).unwrap();
    let refused = document.finish_mask_job(job.run(), &ann).unwrap_err();
    assert!(refused.to_string().contains("changed before"), "{refused}");
}

#[test]
fn a_stroke_goes_onto_the_mask_as_it_is_when_the_stroke_ends() {
    let mut tools = tools(Tool::Brush, document(unspoken()));
    let ann = author("ann");
    let p = |x: f32, y: f32| Point::<ImageSpace>::new(x, y);
    tools.press(Side::Edit, p(50.5, 30.5), 1.0, false);
    tools.drag(&[p(55.5, 30.5), p(60.5, 30.5)]);
    // Meanwhile the mask is cleared, as by a key or another window.
    tools.document.as_mut().unwrap().mask_op(RegionRole::EditMask, MaskOp::Clear, &ann).unwrap();
    tools.release(&ann).unwrap();
    // By hand, as in the test of one gesture: 21 + 50 pixels, and none of those that were cleared.
    let after = mask(tools.document.as_ref().unwrap(), RegionRole::EditMask).unwrap();
    assert_eq!(after.count(), 71);
    assert!(!after.get(20, 15) && after.get(55, 30));
}

#[test]
fn what_is_drawn_is_taken_back_piece_by_piece() {
    let mut tools = tools(Tool::Points, document(unspoken()));
    assert_eq!(tools.take_back(), TakenBack::Nothing);
    let mark = |x: f32| PointMark { at: Point::new(x, 9.0), inside: true };
    tools.prompt_on(Side::Edit).add(mark(1.0));
    tools.prompt_on(Side::Edit).set_rect(Rect::new(1.0, 1.0, 5.0, 5.0));
    tools.prompt_on(Side::Edit).add(mark(2.0));
    let told = |tools: &Tools| tools.prompt.as_ref().map(|prompt| (prompt.points.len(), prompt.rect.is_some()));
    assert_eq!(told(&tools), Some((2, true)));
    let steps = [(TakenBack::Point, Some((1, true))), (TakenBack::Point, Some((1, false))), (TakenBack::Drawn, None)];
    for (taken, left) in steps {
        assert_eq!((tools.take_back(), told(&tools)), (taken, left));
    }
}
