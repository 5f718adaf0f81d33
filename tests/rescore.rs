//! Corrections: what they touch is computed anew, what they don't is found, and both scores are kept and told.
//!
//! Expected numbers are hand calculations over the pixels of the pictures, written next to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use editscope::domain::rle::Rle;
use editscope::domain::{
    Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, ParseOrigin, Profile, Rect, Region, RegionOrigin, RegionRole, RegionShape, Scale,
    Side, Size,
};
use editscope::engine::audit::{Ask, AuditEvent, AuditRequest};
use editscope::engine::{
    BaselineChoice, DevicePreference, Engine, Event, ModelSource, NetworkSlot, Partial, Pending, Request, Run, RunToken, ScoreRequest,
    evaluate, files, results,
};
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::metrics::bpm::{Canvases, Overrides, PairInput, Settings, judge};
use editscope::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use editscope::storage::{EditId, Project, RunKind};
use image::{Rgb, RgbImage};

/// Networks that know what the test says they know.
struct Fakes {
    boxes: Option<Vec<[f32; 4]>>,
    masks: bool,
    features: bool,
}

struct Fake<'a>(&'a Fakes);

impl Detector for Fake<'_> {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let boxes = self.0.boxes.as_ref().ok_or(PortError::NotComputed { network: "detector" })?;
        let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(Size::new(picture.width(), picture.height()), Size::BPM500);
        let found = |[x0, y0, x1, y1]: &[f32; 4]| Detection {
            rect_in_image: image_from_bpm500 * Rect::new(*x0, *y0, *x1, *y1),
            phrase: phrase.to_owned(),
            confidence: 0.9,
            tokens: Vec::new(),
        };
        Ok(boxes.iter().map(found).collect())
    }
}

impl Segmenter for Fake<'_> {
    fn segment(&mut self, _: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        if !self.0.masks {
            return Err(PortError::NotComputed { network: "segmenter" });
        }
        let fill = |b: &Rect<Bpm500>| Mask::from_fn(Size::BPM500, |x, y| b.contains(editscope::domain::Point::new(x as f32, y as f32)));
        Ok(boxes.iter().map(fill).collect())
    }
}

impl ImageTextEncoder for Fake<'_> {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        if !self.0.features {
            return Err(PortError::NotComputed { network: "image-text encoder" });
        }
        Ok(pictures.iter().map(|p| vec![f32::from(p.get_pixel(0, 0).0[0]), 1.0]).collect())
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        Ok(texts.iter().map(|t| TextFeature { values: vec![t.len() as f32, 1.0], tokens_cut: 0 }).collect())
    }
}

/// Grey 100 against a picture whose left half is grey 151 (a distance of 51/255 = 0.2 on half of the pixels).
fn judged(fakes: &Fakes, overrides: &Overrides) -> Partial {
    let source = RgbImage::from_pixel(500, 500, Rgb([100; 3]));
    let edit = RgbImage::from_fn(500, 500, |x, _| Rgb([if x < 250 { 151 } else { 100 }; 3]));
    let mut parse = Parse::default();
    for (name, value) in Parse::FIELDS.into_iter().zip(["cat", "tiger", "replace", "none", "none", "unchanged", "unchanged"]) {
        *parse.field_mut(name).expect("a name of FIELDS") = value.to_owned();
    }
    let canvases = Canvases::new(&source, &edit).expect("pictures with pixels");
    let input = PairInput { source: &source, edit: &edit, instruction: "make the cat a tiger", parse: &parse, overrides };
    let (mut detector, mut segmenter, mut encoder) = (Fake(fakes), Fake(fakes), Fake(fakes));
    let mut networks = Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder };
    judge(&input, &canvases, &Settings::new(Profile::Corrected), &mut networks).expect("nothing fails")
}

const BOX: [f32; 4] = [100.0, 100.0, 200.0, 200.0];

#[test]
fn what_is_known_is_judged_and_the_rest_is_pending() {
    let known = |boxes: bool, masks, features| Fakes { boxes: boxes.then(|| vec![BOX]), masks, features };
    let all = judged(&known(true, true, true), &Overrides::default());
    assert!(all.pending.is_none());
    // Outside of the box's 100 × 100 pixels, 125,000 − 10,000 pixels of 240,000 differ by 0.2.
    let preserve = 1.0 - 0.2 * 115_000.0 / 240_000.0;
    assert!((all.score.parts.preserve.value().expect("judged") - preserve).abs() < 1e-9);

    let without_clip = judged(&known(true, true, false), &Overrides::default());
    assert_eq!(without_clip.pending, Pending { modify: true, ..Pending::default() });
    assert_eq!(without_clip.score.parts.preserve, all.score.parts.preserve);
    assert_eq!(without_clip.score.parts.size, Outcome::Value(1.0));
    assert!(without_clip.score.parts.modify.value().is_none());

    let only_boxes = judged(&known(true, false, false), &Overrides::default());
    assert_eq!(only_boxes.pending, Pending { boxes: false, mask: true, modify: true });
    assert_eq!(only_boxes.score.parts.position, Outcome::Value(1.0));

    let nothing = judged(&known(false, true, true), &Overrides::default());
    assert_eq!(nothing.pending, Pending { boxes: true, mask: true, modify: true });
    assert_eq!(nothing.complete().expect_err("it waits").to_string(), "detector: not computed yet");
}

#[test]
fn a_drawn_mask_needs_no_network_and_ignored_pixels_count_neither_way() {
    let fakes = Fakes { boxes: None, masks: false, features: false };
    // The left half is the edit: nothing outside it differs.
    let left = Mask::from_fn(Size::new(10, 10), |x, _| x < 5);
    let drawn = judged(&fakes, &Overrides { mask: Some(left), ..Overrides::default() });
    assert_eq!(drawn.score.parts.preserve, Outcome::Value(1.0));
    assert_eq!(drawn.pending, Pending { boxes: true, mask: false, modify: true });
    // The mask is the top row of ten; the left half's other nine rows are ignored: what is left does not differ.
    let top = Mask::from_fn(Size::new(10, 10), |_, y| y == 0);
    let ignore = Mask::from_fn(Size::new(10, 10), |x, y| x < 5 && y > 0);
    let drawn = judged(&fakes, &Overrides { mask: Some(top.clone()), ignore: Some(ignore), ..Overrides::default() });
    assert_eq!(drawn.score.parts.preserve, Outcome::Value(1.0));
    // Without ignoring, half of what is outside differs by 0.2.
    let plain = judged(&fakes, &Overrides { mask: Some(top), ..Overrides::default() });
    assert!((plain.score.parts.preserve.value().expect("judged") - 0.9).abs() < 1e-9);
}

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
        demo.score();
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
        let request = ScoreRequest {
            project: self.path(),
            edits: Some(self.edits.clone()),
            models: ModelSource::Demo,
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
        let engine = Engine::start(Arc::new(|| {})).expect("threads");
        let ask = Ask {
            ticket: 1,
            project: self.path(),
            edit,
            profile: Profile::Corrected,
            models: ModelSource::Demo,
            device: DevicePreference::CPU,
        };
        engine.send(Request::Audit(AuditRequest::Rescore(ask)));
        let (began, mut first) = (Instant::now(), None);
        while began.elapsed() < Duration::from_secs(120) {
            match engine.events().recv_timeout(Duration::from_secs(120)).expect("an answer") {
                Event::Audit(AuditEvent::Rescored { edit: of, partial, kept, .. }) if of == edit => {
                    let first = first.get_or_insert_with(|| Arc::clone(&partial));
                    if kept {
                        return (Arc::clone(first), partial);
                    }
                }
                Event::Audit(AuditEvent::Failed { why, .. }) => panic!("{why}"),
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

/// Runs the program; its standard output.
fn editscope(arguments: &[&std::ffi::OsStr]) -> String {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_editscope")).args(arguments).output().expect("the program is built");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn exports_carry_both_scores_the_drawn_mask_and_the_region_pasted_back() {
    let demo = Demo::new();
    let project = demo.project();
    let edit = project.edit(demo.edits[1]).expect("stored");
    let automatic = project.latest_score(edit.id, Profile::Corrected).expect("readable").expect("scored").score;
    let size = Size::new(448, 448);
    let drawn = Mask::from_fn(size, |x, y| (100..300).contains(&x) && (50..250).contains(&y));
    let shape = RegionShape::Mask(Rle::from_mask(&drawn));
    project.set_regions(edit.id, Side::Edit, &[region(Side::Edit, RegionRole::EditMask, shape)], "ann", "drew").expect("writable");
    demo.score();
    let (path, out) = (demo.path(), demo.folder.path().join("out"));
    let export = |format: &str, more: &[&str]| {
        let to = out.join(format);
        std::fs::create_dir_all(&out).expect("the folder is ours");
        let mut arguments: Vec<&std::ffi::OsStr> = vec!["export".as_ref(), path.as_ref(), "--format".as_ref(), format.as_ref()];
        arguments.extend(["-o".as_ref(), to.as_os_str()]);
        arguments.extend(more.iter().map(std::ffi::OsStr::new));
        editscope(&arguments);
        to
    };
    let lines = std::fs::read_to_string(export("jsonl", &[])).expect("written above");
    let line = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let line = line.into_iter().find(|line| line["id"] == edit.key.0.as_str()).expect("every edit has a line");
    let number = |part: &Outcome<f64>| part.value().copied();
    assert_eq!(line["editscope"]["automatic"]["parts"]["preserve"].as_f64(), number(&automatic.parts.preserve));
    let corrected = project.latest_score(edit.id, Profile::Corrected).expect("readable").expect("scored").score;
    assert_eq!(line["editscope"]["parts"]["preserve"].as_f64(), number(&corrected.parts.preserve));
    assert_ne!(number(&corrected.parts.preserve), number(&automatic.parts.preserve));

    // Masks: what was drawn, at the size of the source; black where the edit is with --invert.
    let name = format!("{}.png", edit.key.0);
    let mask = image::open(export("masks", &["--invert"]).join(&name)).expect("a PNG").into_luma8();
    assert!(mask.enumerate_pixels().all(|(x, y, pixel)| (pixel.0[0] == 0) == drawn.get(x, y)));

    // What cannot be done is said, and nothing is written.
    let refused = |more: &[&str]| {
        let to = out.join("refused");
        let mut arguments: Vec<&std::ffi::OsStr> = vec!["export".as_ref(), path.as_ref(), "-o".as_ref(), to.as_os_str()];
        arguments.extend(more.iter().map(std::ffi::OsStr::new));
        let done = std::process::Command::new(env!("CARGO_BIN_EXE_editscope")).args(&arguments).output().expect("the program is built");
        assert_eq!(done.status.code(), Some(2), "{more:?}: {}", String::from_utf8_lossy(&done.stdout));
        assert!(!to.exists(), "{more:?}");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let why = refused(&["--format", "paste-back", "--profile", "paper"]);
    assert!(why.contains("no edit has an edit region of profile paper"), "{why}");
    let why = refused(&["--format", "paste-back", "--feather", "1e9"]);
    assert!(why.contains("from 0 (a hard edge) to 1000"), "{why}");
    let why = refused(&["--format", "masks", "--feather", "4"]);
    assert!(why.contains("--feather is for --format paste-back"), "{why}");

    // Pasted back, cut hard: the edit inside, the source outside, exactly.
    let folder = export("paste-back", &["--feather", "0"]);
    let pasted = image::open(folder.join(&name)).expect("a PNG").into_rgb8();
    let source = picture(&project.item(edit.item).expect("stored").source.path);
    let edited = picture(&edit.picture.path);
    let expected = |x: u32, y: u32| if drawn.get(x, y) { edited.get_pixel(x, y) } else { source.get_pixel(x, y) };
    assert!(pasted.enumerate_pixels().all(|(x, y, pixel)| pixel == expected(x, y)));
    // Scored like any edit: its manifest is a data set. Outside the region nothing differs any more.
    let manifest = folder.join("manifest.jsonl");
    let scored =
        editscope(&["score".as_ref(), manifest.as_os_str(), "--device".as_ref(), "cpu".as_ref(), "--baselines".as_ref(), "none".as_ref()]);
    let line = scored.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let line = line.into_iter().find(|line| line["id"] == format!("{}-pasted-back", edit.key.0)).expect("it was pasted");
    assert!(line["model"].as_str().is_some_and(|model| model.ends_with("(pasted back)")), "{line}");
    assert!(line["triage"]["change"]["changed"].as_f64().is_some_and(|share| share < 0.35), "only the region changed: {line}");
}
