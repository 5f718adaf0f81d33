//! Corrections: what they touch is computed anew, what they don't is found, and both scores are kept and told.
//!
//! Expected numbers are hand calculations over the pixels of the pictures, written next to them.

mod exports;
mod judged;
mod measures;
mod networks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use editscope::domain::rle::Rle;
use editscope::domain::{Mask, Outcome, Parse, ParseOrigin, Profile, Rect, Region, RegionOrigin, RegionRole, RegionShape, Side, Size};
use editscope::engine::audit::{Ask, AuditEvent, AuditRequest};
use editscope::engine::{
    BaselineChoice, DevicePreference, Engine, Event, ModelSource, NetworkSlot, Partial, Request, Run, RunToken, ScoreRequest, evaluate,
    files, results,
};
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::storage::{EditId, Project, RunKind};
use image::RgbImage;

/// An item of the demo, scored.
struct Demo {
    folder: tempfile::TempDir,
    edits: Vec<EditId>,
}

impl Demo {
    /// The first item with all of its edits.
    fn new() -> Self {
        Self::of(0, usize::MAX)
    }

    /// The first `edits` edits of the item at `place`.
    fn of(place: usize, edits: usize) -> Self {
        let demo = Self::unscored(place, edits);
        demo.score();
        demo
    }

    fn unscored(place: usize, edits: usize) -> Self {
        let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
        files::make_demo(folder.path()).expect("the demo is in the program");
        let mut demo = Self { folder, edits: Vec::new() };
        let project = demo.project();
        demo.edits = project
            .edits_of(project.items().expect("readable")[place].id)
            .expect("readable")
            .into_iter()
            .map(|edit| edit.id)
            .take(edits)
            .collect();
        demo
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(files::DEMO_PROJECT)
    }

    fn project(&self) -> Project {
        Project::open(&self.path()).expect("made above")
    }

    /// As `editscope score` does it.
    fn score(&self) {
        self.score_with(ModelSource::Demo);
    }

    fn score_with(&self, models: ModelSource) {
        let request = ScoreRequest {
            project: self.path(),
            edits: Some(self.edits.clone()),
            models,
            profile: Profile::Corrected,
            device: DevicePreference::CPU,
            range: None,
            rescore: false,
            baselines: BaselineChoice::None,
        };
        let mut run = Run { token: RunToken(1), request: &request, cancelled: &|| false, emit: &mut |_| {}, between: &mut |_| {} };
        let tally = evaluate(&self.project(), &mut NetworkSlot::default(), &mut run).expect("the demo's networks are in the program");
        assert_eq!((tally.done, tally.failed), (self.edits.len(), 0));
    }

    /// Asks the engine to follow a correction, and waits for the answers: the first one and the one that is kept.
    fn follow(&self, edit: EditId) -> (Arc<Partial>, Arc<Partial>) {
        self.follow_with(edit, ModelSource::Demo).unwrap_or_else(|why| panic!("{why}"))
    }

    /// As [`Self::follow`], with other networks named; or why there is no score.
    fn follow_with(&self, edit: EditId, models: ModelSource) -> Result<(Arc<Partial>, Arc<Partial>), String> {
        let engine = Engine::start(Arc::new(|| {})).expect("threads");
        let (project, profile, device) = (self.path(), Profile::Corrected, DevicePreference::CPU);
        engine.send(Request::Audit(AuditRequest::Rescore(Ask { ticket: 1, project, edit, profile, models, device })));
        let (began, mut first) = (Instant::now(), None);
        while began.elapsed() < Duration::from_secs(120) {
            match engine.events().recv_timeout(Duration::from_secs(120)).expect("an answer") {
                Event::Audit(AuditEvent::Rescored { edit: of, partial, kept, .. }) if of == edit => {
                    let first = first.get_or_insert_with(|| Arc::clone(&partial));
                    if kept {
                        return Ok((Arc::clone(first), partial));
                    }
                }
                Event::Audit(AuditEvent::Failed { why, .. }) => return Err(why),
                _ => {}
            }
        }
        panic!("no answer in two minutes")
    }
}

fn region(side: Side, role: RegionRole, shape: RegionShape) -> Region {
    Region { side, role, origin: RegionOrigin::Person, shape, label: "by hand".into(), confidence: None }
}

fn picture(path: &Path) -> RgbImage {
    decode(path, &DecodeOptions::default()).expect("a picture of the demo").rgb
}

/// Preserve by its definition, over pictures of one size that are stretched to the canvas by OpenCV's bilinear (tested by itself in
/// `imaging_resize.rs`), with a mask that is half of the canvas.
fn preserve_right_of_the_middle(project: &Project, edit: EditId) -> f64 {
    let edit = project.edit(edit).expect("stored");
    let source = picture(&project.item(edit.item).expect("stored").source.path);
    let on_canvas = |p: &RgbImage| editscope::imaging::resize::cv2_resize_linear(p, Size::BPM500);
    let (a, b) = (on_canvas(&source), on_canvas(&picture(&edit.picture.path)));
    let outside = a.enumerate_pixels().zip(b.pixels()).filter(|((x, _, _), _)| *x >= 250);
    let (mut sum, mut count) = (0.0, 0.0);
    for ((_, _, a), b) in outside {
        let squares: f64 = a.0.iter().zip(b.0).map(|(&a, b)| (f64::from(a) - f64::from(b)).powi(2)).sum();
        sum += (squares / 3.0).sqrt() / 255.0;
        count += 1.0;
    }
    1.0 - sum / count
}

#[test]
fn a_drawn_mask_changes_preserve_alone_and_both_scores_are_kept() {
    let demo = Demo::new();
    let project = demo.project();
    let edit = demo.edits[0];
    let automatic = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored").score;
    let size = Size::new(448, 448);
    let mask = Mask::from_fn(size, |x, _| x < 224);
    let drawn = region(Side::Edit, RegionRole::EditMask, RegionShape::Mask(Rle::from_mask(&mask)));
    project.set_regions(edit, Side::Edit, &[drawn], "ann", "drew the edit mask").expect("writable");

    let (first, kept) = demo.follow(edit);
    assert!(first.pending.is_none(), "a mask needs no network: {:?}", first.pending);
    assert_eq!(first.score.parts.size, automatic.parts.size);
    assert_eq!(first.score.parts.position, automatic.parts.position);
    assert_eq!(first.score.parts.modify, automatic.parts.modify);
    let expected = preserve_right_of_the_middle(&project, edit);
    assert!((first.score.parts.preserve.value().expect("judged") - expected).abs() < 1e-9);
    assert_eq!(kept.score.parts, first.score.parts);
    // Which of its regions are a person's, so that nobody takes them for a network's.
    assert_eq!((&automatic.said[..], &kept.score.said[..]), (&[][..], &[RegionRole::EditMask][..]));

    // In the project: the corrected score counts, the automatic one is beside it.
    let counts = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored");
    assert_eq!((counts.score.parts.clone(), counts.stale), (first.score.parts.clone(), false));
    let beside = project.latest_score_of(edit, Profile::Corrected, RunKind::Set).expect("readable").expect("scored");
    assert_eq!(beside.score.parts, automatic.parts);
    let row = project.queue_row(edit, Profile::Corrected).expect("readable").score.expect("scored");
    assert_eq!(row.automatic, Some(automatic.parts.clone()));

    // An ordinary run scores both again and tells both; the range is that of the automatic scores.
    demo.score();
    let range = results::fit(&project, Profile::Corrected, None).expect("readable");
    let all = results::all(&project, Profile::Corrected, Some(&range), Some(&[edit])).expect("readable");
    assert_eq!(all[0].score.as_ref().map(|score| &score.parts), Some(&first.score.parts));
    assert_eq!(all[0].automatic.as_ref().map(|automatic| &automatic.score.parts), Some(&automatic.parts));
}

#[test]
fn a_corrected_word_of_the_parse_is_judged_from_the_cache_and_a_new_phrase_in_the_background() {
    let demo = Demo::new();
    let project = demo.project();
    let edit = demo.edits[0];
    let item = project.edit(edit).expect("stored").item;
    let automatic = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored").score;
    // Size none and position none: nothing is judged there, both count 1, and no phrase changed.
    let relaxed = Parse {
        size: "none".into(),
        position: "none".into(),
        edit_type: "other".into(),
        origin: ParseOrigin::Person,
        ..automatic.parse.clone()
    };
    project.set_parse(item, &relaxed, "ann").expect("writable");
    let (first, _) = demo.follow(edit);
    assert!(first.pending.is_none(), "{:?}", first.pending);
    assert_eq!((&first.score.parts.size, &first.score.parts.position), (&Outcome::Value(1.0), &Outcome::Value(1.0)));
    assert_eq!(first.score.parts.preserve, automatic.parts.preserve);

    // A phrase that the detector never looked for: nothing is known at once, all of it later.
    let other = Parse { original_part: "banana".into(), added_object: "banana".into(), edited_part: "banana".into(), ..relaxed };
    project.set_parse(item, &other, "ann").expect("writable");
    let (first, kept) = demo.follow(edit);
    assert!(first.pending.boxes, "{:?}", first.pending);
    assert!(kept.pending.is_none());
    assert_eq!(kept.score.parse.edited_part, "banana");
    let beside = project.latest_score_of(edit, Profile::Corrected, RunKind::Set).expect("readable").expect("scored");
    assert_eq!(beside.score.parts, automatic.parts, "what was automatic stays");
}

/// How many results of each kind networks have given to this project.
fn given(project: &Project) -> BTreeMap<String, usize> {
    let raw = rusqlite::Connection::open(project.path()).expect("a project is a database");
    let mut query = raw.prepare("SELECT key FROM network_results").expect("the table is there");
    let keys = query.query_map([], |row| row.get::<_, Vec<u8>>(0)).expect("readable");
    let mut counts = BTreeMap::new();
    for key in keys {
        let key = String::from_utf8(key.expect("readable")).expect("keys are text");
        *counts.entry(key.split('/').next().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn each_kind_of_correction_asks_the_networks_for_what_depends_on_it_and_nothing_else() {
    // "Remove the chair.": one box on the source, which prompts the segmenter on both pictures.
    let demo = Demo::of(2, 1);
    let project = demo.project();
    let edit = demo.edits[0];
    let item = project.edit(edit).expect("stored").item;
    let automatic = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored").score;
    assert_eq!((automatic.boxes.source.len(), automatic.boxes.edit.len(), automatic.global), (1, 0, false), "{:?}", automatic.trace);
    let found = automatic.boxes.source[0].rect_in_image;
    let asked = |what: &str, correct: &dyn Fn(), expected: &[(&str, usize)]| {
        let before = given(&project);
        correct();
        let stale = project.queue_row(edit, Profile::Corrected).expect("readable").score.is_some_and(|score| score.stale);
        assert!(stale, "{what}: until the score follows it is marked");
        let (first, kept) = demo.follow(edit);
        let after = given(&project);
        let new: Vec<(&str, usize)> = after
            .iter()
            .map(|(kind, count)| (kind.as_str(), count - before.get(kind).copied().unwrap_or_default()))
            .filter(|(_, new)| *new > 0)
            .collect();
        assert_eq!(new, expected, "{what}");
        // What needs no network is told at once and in full.
        assert_eq!(first.pending.is_none(), expected.is_empty(), "{what}: {:?}", first.pending);
        assert!(kept.pending.is_none());
        let stale = project.queue_row(edit, Profile::Corrected).expect("readable").score.is_some_and(|score| score.stale);
        assert!(!stale, "{what}: now it holds");
    };
    let source =
        |role, shape| project.set_regions(edit, Side::Source, &[region(Side::Source, role, shape)], "ann", "drew").expect("writable");
    let mask = Mask::from_fn(Size::new(480, 360), |x, y| (100..300).contains(&x) && y > 60);
    let drawn = region(Side::Edit, RegionRole::EditMask, RegionShape::Mask(Rle::from_mask(&mask)));
    let ignored = region(Side::Edit, RegionRole::Ignore, RegionShape::Box(Rect::new(0.0, 0.0, 40.0, 40.0)));
    let moved = Rect::new(found.x0 + 20.0, found.y0 + 10.0, found.x1 + 30.0, found.y1 + 20.0);

    asked("a moved box", &|| source(RegionRole::Original, RegionShape::Box(moved)), &[("masks", 2), ("picture", 2)]);
    asked("the box as it was", &|| source(RegionRole::Original, RegionShape::Box(found)), &[]);
    let regions = |all: &[Region]| project.set_regions(edit, Side::Edit, all, "ann", "drew").expect("writable");
    asked("a drawn mask", &|| regions(std::slice::from_ref(&drawn)), &[]);
    asked("ignored pixels too", &|| regions(&[drawn.clone(), ignored.clone()]), &[]);
    let parse = Parse { origin: ParseOrigin::Person, size: "smaller".into(), ..automatic.parse.clone() };
    asked("a relation of the parse", &|| project.set_parse(item, &parse, "ann").expect("writable"), &[]);
    // The box is a person's and stays: the detector is asked for its candidates all the same, and the text is another one.
    let other = Parse { original_part: "wooden chair".into(), ..parse.clone() };
    asked("a phrase", &|| project.set_parse(item, &other, "ann").expect("writable"), &[("boxes-2", 1), ("text", 1)]);
}

#[test]
fn of_many_corrections_in_a_row_the_last_one_counts() {
    let demo = Demo::of(2, 1);
    let (project, edit) = (demo.project(), demo.edits[0]);
    let engine = Engine::start(Arc::new(|| {})).expect("threads");
    let size = Size::new(480, 360);
    let last = 24;
    for ticket in 1..=last {
        // Masks need no network, moved boxes do: both ways are under way at once.
        let wide = (ticket * 10) as u32;
        let mask = Mask::from_fn(size, |x, _| x < wide);
        let drawn = region(Side::Edit, RegionRole::EditMask, RegionShape::Mask(Rle::from_mask(&mask)));
        let moved = Rect::new(10.0 + ticket as f32, 10.0, 100.0, 100.0);
        let moved = region(Side::Source, RegionRole::Original, RegionShape::Box(moved));
        project.set_regions(edit, Side::Source, &[moved], "ann", "moved").expect("writable");
        project.set_regions(edit, Side::Edit, &[drawn], "ann", "drew").expect("writable");
        engine.send(Request::Audit(AuditRequest::Rescore(Ask {
            ticket,
            project: demo.path(),
            edit,
            profile: Profile::Corrected,
            models: ModelSource::Demo,
            device: DevicePreference::CPU,
        })));
    }
    let mut kept = 0;
    loop {
        match engine.events().recv_timeout(Duration::from_secs(120)).expect("an answer") {
            Event::Audit(AuditEvent::Rescored { ticket, kept: true, .. }) => {
                assert!(ticket >= kept, "an older answer after a newer one: {ticket} after {kept}");
                kept = ticket;
                if ticket == last {
                    break;
                }
            }
            Event::Audit(AuditEvent::Failed { why, .. }) => panic!("{why}"),
            _ => {}
        }
    }
    let stored = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored");
    assert!(!stored.stale);
    let mask = stored.score.mask.expect("it was drawn").to_mask().expect("whole");
    assert_eq!(mask.count(), u64::from(last as u32 * 10) * 360, "the last mask counts");
    assert_eq!(stored.score.boxes.source[0].rect_in_image.x0, 10.0 + last as f32);
}
