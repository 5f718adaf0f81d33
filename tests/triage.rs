//! Every reason to look twice: a pair that shows it, and one that must not. The networks are fakes that see what the test says, so that
//! each flag has one cause.

use std::collections::HashMap;
use std::path::Path;

use editscope::domain::{
    Bpm500, Detection, ImageSpace, Mask, Outcome, Parse, Profile, Rect, RegionRole, Scale, Score, Side, Size, TraceKind,
};
use editscope::engine::triage;
use editscope::metrics::bpm::{Canvases, Overrides, PairInput, Settings, judge};
use editscope::metrics::ports::{Detector, ImageTextEncoder, Networks, PortError, Segmenter, TextFeature};
use editscope::storage::{Flag, flags_of};
use image::{Rgb, RgbImage};

/// Boxes on the canvas by phrase, each of confidence 0.9; masks fill their boxes, or are empty.
#[derive(Default)]
struct Fakes {
    boxes: HashMap<&'static str, Vec<[f32; 4]>>,
    empty_masks: bool,
}

struct Fake<'a>(&'a Fakes);

impl Detector for Fake<'_> {
    fn detect(&mut self, picture: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        let image_from_bpm500 = Scale::<ImageSpace, Bpm500>::stretch(Size::new(picture.width(), picture.height()), Size::BPM500);
        let found = |[x0, y0, x1, y1]: &[f32; 4]| Detection {
            rect_in_image: image_from_bpm500 * Rect::new(*x0, *y0, *x1, *y1),
            phrase: phrase.to_owned(),
            confidence: 0.9,
            tokens: Vec::new(),
        };
        Ok(self.0.boxes.get(phrase).into_iter().flatten().map(found).collect())
    }
}

impl Segmenter for Fake<'_> {
    fn segment(&mut self, _: &RgbImage, boxes: &[Rect<Bpm500>]) -> Result<Vec<Mask>, PortError> {
        let center = |x: u32, y: u32| editscope::domain::Point::new(x as f32 + 0.5, y as f32 + 0.5);
        let fill = |b: &Rect<Bpm500>| Mask::from_fn(Size::BPM500, |x, y| !self.0.empty_masks && b.contains(center(x, y)));
        Ok(boxes.iter().map(fill).collect())
    }
}

impl ImageTextEncoder for Fake<'_> {
    fn encode_pictures(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
        // The mean brightness is feature enough: an edit that changes it has a direction.
        let mean = |p: &RgbImage| p.as_raw().iter().map(|&v| f32::from(v)).sum::<f32>() / p.as_raw().len() as f32;
        Ok(pictures.iter().map(|picture| vec![mean(picture), 1.0]).collect())
    }

    fn encode_texts(&mut self, texts: &[&str]) -> Result<Vec<TextFeature>, PortError> {
        Ok(texts.iter().map(|text| TextFeature { values: vec![text.len() as f32, 1.0], tokens_cut: 0 }).collect())
    }
}

/// A pair with its networks; the plain one shows no flag at all.
struct Case {
    source: RgbImage,
    edit: RgbImage,
    parse: Parse,
    fakes: Fakes,
    overrides: Overrides,
}

fn parse(fields: [&str; 7]) -> Parse {
    let mut parse = Parse::default();
    for (name, value) in Parse::FIELDS.into_iter().zip(fields) {
        *parse.field_mut(name).expect("a name of FIELDS") = value.to_owned();
    }
    parse
}

/// Hills, so that a motion has something to hold on to; moved to the right by `dx` pixels.
fn hills(size: Size, dx: f64) -> RgbImage {
    RgbImage::from_fn(size.width, size.height, |x, y| {
        let (x, y) = (f64::from(x) - dx, f64::from(y));
        let value = 128.0 + 50.0 * (x / 17.0).sin() * (y / 23.0).cos() + 60.0 * ((x - y) / 41.0).sin() * ((x + y * 1.7) / 71.0).cos();
        Rgb([value as u8, (value * 0.7) as u8, (255.0 - value) as u8])
    })
}

const CAT: [f32; 4] = [100.0, 100.0, 300.0, 300.0];

impl Case {
    /// "Make the cat a tiger": found on both pictures, changed in its box only.
    fn plain() -> Self {
        let source = hills(Size::BPM500, 0.0);
        let inside = |v: u32| (100..300).contains(&v);
        let edit = RgbImage::from_fn(500, 500, |x, y| if inside(x) && inside(y) { Rgb([250, 120, 10]) } else { *source.get_pixel(x, y) });
        Self {
            source,
            edit,
            parse: parse(["cat", "tiger", "replace", "none", "none", "unchanged", "unchanged"]),
            fakes: Fakes { boxes: HashMap::from([("cat", vec![CAT]), ("tiger", vec![CAT])]), empty_masks: false },
            overrides: Overrides::default(),
        }
    }

    fn score(&self) -> Score {
        let canvases = Canvases::new(&self.source, &self.edit).expect("pictures with pixels");
        let input = PairInput {
            source: &self.source,
            edit: &self.edit,
            instruction: "make the cat a tiger",
            parse: &self.parse,
            overrides: &self.overrides,
        };
        let (mut detector, mut segmenter, mut encoder) = (Fake(&self.fakes), Fake(&self.fakes), Fake(&self.fakes));
        let mut networks = Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder };
        let judged = judge(&input, &canvases, &Settings::new(Profile::Corrected), &mut networks).expect("nothing fails");
        triage::complete(judged.complete().expect("nothing is pending"), &canvases)
    }

    fn flags(&self) -> Vec<Flag> {
        flags_of(&self.score())
    }
}

#[test]
fn a_plain_pair_has_no_flag() {
    assert_eq!(Case::plain().flags(), []);
}

#[test]
fn a_phrase_that_is_not_found_is_flagged_and_one_that_nothing_asks_for_is_not() {
    let mut case = Case::plain();
    case.fakes.boxes.remove("tiger");
    // The boxes of the source stand in for those of the edit, which is a fallback too.
    assert_eq!(case.flags(), [Flag::NoBox, Flag::Fallback]);
    // A removal looks for nothing on the edit.
    case.parse = parse(["cat", "none", "remove", "none", "none", "none", "none"]);
    assert_eq!(case.flags(), []);
    // A person's box takes the place of the one that is missing.
    let mut case = Case::plain();
    case.fakes.boxes.remove("tiger");
    let drawn = Detection { rect_in_image: Rect::new(100.0, 100.0, 300.0, 300.0), phrase: "tiger".into(), confidence: 1.0, tokens: vec![] };
    case.overrides.edit_boxes = Some(vec![drawn]);
    assert_eq!(case.flags(), []);
}

#[test]
fn a_box_of_nearly_everything_is_flagged_on_either_side() {
    // 490 · 490 of 250,000 pixels are 96 %, 480 · 480 are 92 %.
    for (phrase, side, flagged) in [("cat", 490.0, true), ("tiger", 490.0, true), ("cat", 480.0, false), ("tiger", 480.0, false)] {
        let mut case = Case::plain();
        case.fakes.boxes.insert(phrase, vec![[5.0, 5.0, 5.0 + side, 5.0 + side]]);
        assert_eq!(case.flags().contains(&Flag::BoxNearlyWhole), flagged, "{phrase} {side}");
    }
    // The edit's boxes are measured by its own size: a box of 240 × 240 pixels fills an edit of 250 × 250.
    let mut case = Case::plain();
    case.edit = image::imageops::resize(&case.edit, 250, 250, image::imageops::FilterType::Triangle);
    case.fakes.boxes.insert("tiger", vec![[5.0, 5.0, 495.0, 495.0]]);
    assert!(case.flags().contains(&Flag::BoxNearlyWhole));
}

#[test]
fn an_empty_mask_is_flagged_and_its_leak_is_not() {
    let mut case = Case::plain();
    case.fakes.empty_masks = true;
    // Everything lies outside of no region: that says nothing.
    assert_eq!(case.flags(), [Flag::EmptyMask, Flag::Fallback]);
    case.overrides.mask = Some(Mask::from_fn(Size::BPM500, |x, y| (100..300).contains(&x) && (100..300).contains(&y)));
    assert_eq!(case.flags(), []);
}

#[test]
fn a_mask_of_everything_is_flagged_and_one_pixel_less_is_not() {
    let mut case = Case::plain();
    case.overrides.mask = Some(Mask::full(Size::BPM500));
    assert_eq!(case.flags(), [Flag::FullMask, Flag::Fallback]);
    case.overrides.mask = Some(Mask::from_fn(Size::BPM500, |x, y| (x, y) != (0, 0)));
    assert_eq!(case.flags(), []);
}

#[test]
fn a_step_off_the_plain_rule_is_a_fallback_but_a_guessed_parse_has_its_own_flag() {
    let mut case = Case::plain();
    case.parse = parse(["none", "tiger", "add", "none", "none", "none", "none"]);
    assert!(case.flags().contains(&Flag::Fallback), "nothing says what is added: {:?}", case.score().trace);
    case.parse = parse(["none", "tiger", "add", "none", "tiger", "none", "none"]);
    assert_eq!(case.flags(), []);
    let mut case = Case::plain();
    case.parse.doubtful = Some("two nouns".into());
    assert_eq!(case.flags(), [Flag::ParseDoubtful]);
}

#[test]
fn a_part_that_failed_is_flagged_and_one_that_has_no_meaning_is_not() {
    let mut score = Case::plain().score();
    score.parts.modify = Outcome::Failed("NaN".into());
    assert_eq!(flags_of(&score), [Flag::PartFailed]);
    score.parts.modify = Outcome::NotApplicable("no crop".into());
    assert_eq!(flags_of(&score), []);
}

#[test]
fn an_edit_of_another_size_is_flagged() {
    let mut case = Case::plain();
    case.edit = image::imageops::resize(&case.edit, 250, 250, image::imageops::FilterType::Triangle);
    assert!(case.flags().contains(&Flag::SizeMismatch));
    case.source = image::imageops::resize(&case.source, 250, 250, image::imageops::FilterType::Triangle);
    assert!(!case.flags().contains(&Flag::SizeMismatch));
}

#[test]
fn a_moved_edit_is_flagged_told_in_the_trace_and_not_when_the_whole_picture_may_change() {
    let mut case = Case::plain();
    let moved = hills(Size::BPM500, 6.0);
    case.edit = RgbImage::from_fn(500, 500, |x, y| {
        let edited = (100..300).contains(&x) && (100..300).contains(&y);
        *if edited { case.edit.get_pixel(x, y) } else { moved.get_pixel(x, y) }
    });
    let score = case.score();
    assert!(flags_of(&score).contains(&Flag::Shifted), "{:?}", score.triage);
    let shift = score.triage.shift.expect("it is flagged");
    assert!((shift.dx - 6.0).abs() < 0.3 && shift.loss > shift.loss_aligned && shift.loss_aligned.is_some(), "{shift:?}");
    let told = score.trace.iter().find(|step| step.kind == TraceKind::Preserve && step.text.contains("preservation loss"));
    assert!(told.is_some_and(|step| step.text.contains("moved by 6.0") && !step.fallback), "{:?}", score.trace);
    case.parse = parse(["all", "all", "other", "none", "none", "none", "none"]);
    assert!(!case.flags().contains(&Flag::Shifted));
}

#[test]
fn change_that_lies_mostly_outside_the_region_is_flagged() {
    // Two squares of equal change; the region holds the first and a part of the second.
    let mut case = Case::plain();
    case.source = RgbImage::from_pixel(500, 500, Rgb([100; 3]));
    case.edit = RgbImage::from_fn(500, 500, |x, y| {
        let changed = (100..200).contains(&y) && ((0..100).contains(&x) || (200..300).contains(&x));
        Rgb([if changed { 180 } else { 100 }; 3])
    });
    let region = |to: u32| Some(Mask::from_fn(Size::BPM500, |x, y| (100..200).contains(&y) && x < to));
    // Columns 0..100 and 200..220 are inside: 80 of 200 columns, 40 %, leak.
    case.overrides.mask = region(220);
    assert!(!case.flags().contains(&Flag::LeakHigh), "{:?}", case.score().triage);
    // Half of the change is outside from here on.
    case.overrides.mask = region(200);
    assert!(case.flags().contains(&Flag::LeakHigh), "{:?}", case.score().triage);
}

/// A project of one pair on disk, scored by nobody: enough to see what files do.
fn project_with(folder: &Path) -> (editscope::storage::Project, editscope::storage::EditId) {
    for (name, color) in [("s.png", 100), ("e.png", 180)] {
        RgbImage::from_pixel(60, 60, Rgb([color; 3])).save(folder.join(name)).expect("the folder is ours");
    }
    let line = r#"{"id": "e", "item": "i", "source": "s.png", "instruction": "Make the cat a tiger", "edited": "e.png", "model": "m"}"#;
    std::fs::write(folder.join("m.jsonl"), line).expect("the folder is ours");
    let path = folder.join("p.editscope");
    editscope::engine::files::import(&folder.join("m.jsonl"), &path, None).expect("a manifest");
    let project = editscope::storage::Project::open(&path).expect("made above");
    let edit = project.edits().expect("readable")[0].id;
    (project, edit)
}

/// Scores the project with the demo's networks; how many edits were scored and failed, and the messages.
fn run(project: &editscope::storage::Project) -> (usize, usize, usize, Vec<String>) {
    use editscope::engine::{BaselineChoice, DevicePreference, Event, ModelSource, NetworkSlot, Run, RunToken, ScoreRequest, evaluate};
    let request = ScoreRequest {
        project: project.path().to_owned(),
        edits: None,
        models: ModelSource::Demo,
        profile: Profile::Corrected,
        device: DevicePreference::CPU,
        range: None,
        rescore: false,
        baselines: BaselineChoice::None,
    };
    let (mut scored, mut messages) = (0, Vec::new());
    let mut emit = |event: Event| match event {
        Event::EditScored { .. } => scored += 1,
        Event::Message { text, .. } => messages.push(text),
        _ => {}
    };
    let mut run = Run { token: RunToken(1), request: &request, cancelled: &|| false, emit: &mut emit, between: &mut |_| {} };
    let tally = evaluate(project, &mut NetworkSlot::default(), &mut run).expect("the demo's networks are in the program");
    (scored, tally.done, tally.failed, messages)
}

#[test]
fn a_picture_that_changes_after_scoring_is_noticed_and_scored_again_and_only_then() {
    let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
    let (project, edit) = project_with(folder.path());
    assert_eq!(run(&project).0, 1);
    let before = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored").score;
    // Nothing changed: nothing is scored, also when a file was only touched.
    let same = std::fs::read(folder.path().join("e.png")).expect("written above");
    std::fs::write(folder.path().join("e.png"), same).expect("the folder is ours");
    assert_eq!(project.look_for_pictures().expect("readable").changed.len(), 0);
    assert_eq!((run(&project).0, run(&project).1), (0, 1));
    // Another picture under the same name.
    RgbImage::from_fn(60, 60, |x, _| Rgb([x as u8 * 4; 3])).save(folder.path().join("e.png")).expect("the folder is ours");
    let report = project.look_for_pictures().expect("readable");
    assert_eq!((report.changed.len(), report.news), (1, 1));
    let row = || project.queue_row(edit, Profile::Corrected).expect("stored");
    assert!(row().score.is_some_and(|score| score.stale));
    let (scored, _, failed, messages) = run(&project);
    assert_eq!((scored, failed), (1, 0));
    assert!(messages.iter().any(|text| text.contains("changed since they were scored: 1")), "{messages:?}");
    assert!(row().score.is_some_and(|score| !score.stale));
    let after = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored").score;
    assert_ne!(before.triage.change, after.triage.change);
    // It counts with the content that it has now.
    assert_eq!(run(&project).0, 0);
    assert_eq!(project.look_for_pictures().expect("readable").news, 0);
}

#[test]
fn a_source_that_goes_away_after_the_import_is_noticed_and_its_return_too() {
    use editscope::storage::PictureState;
    let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
    let (project, edit) = project_with(folder.path());
    let states = || {
        let row = project.queue_row(edit, Profile::Corrected).expect("stored");
        (row.source_state, row.picture_state)
    };
    assert_eq!(states(), (PictureState::Unchecked, PictureState::Unchecked));
    std::fs::rename(folder.path().join("s.png"), folder.path().join("away.png")).expect("the folder is ours");
    let report = project.look_for_pictures().expect("readable");
    assert_eq!((report.missing.len(), report.news, states().0), (1, 1, PictureState::Missing));
    std::fs::rename(folder.path().join("away.png"), folder.path().join("s.png")).expect("the folder is ours");
    assert_eq!((project.look_for_pictures().expect("readable").news, states().0), (1, PictureState::Unchecked));
}

#[test]
fn a_region_that_a_person_corrects_makes_the_score_outdated() {
    let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
    let (project, edit) = project_with(folder.path());
    run(&project);
    let stale = || project.queue_row(edit, Profile::Corrected).expect("stored").score.is_some_and(|score| score.stale);
    assert!(!stale());
    let drawn = editscope::domain::Region {
        side: Side::Source,
        role: RegionRole::Original,
        origin: editscope::domain::RegionOrigin::Person,
        shape: editscope::domain::RegionShape::Box(Rect::new(1.0, 1.0, 20.0, 20.0)),
        label: "cat".into(),
        confidence: None,
    };
    project.set_regions(edit, Side::Source, &[drawn], "ann", "drew").expect("writable");
    assert!(stale());
    run(&project);
    assert!(!stale());
}
