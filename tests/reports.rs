//! Reports with everything that only a project knows: pictures, what the metric saw on them, traces and points; and ranges from outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine as _;
use editscope::domain::rle::Rle;
use editscope::domain::{BoxesBySide, Detection, Mask, Outcome, Parts, Profile, Rect, Score, Size, TraceKind, TraceStep};
use editscope::export::{ReportEdit, ReportExtras, ReportPoint, write_report};
use editscope::stats::Bootstrap;
use editscope::stats::comparison::{About, Comparison, Evidence, Plan, Subject, compare_all};
use editscope::storage::{NewRun, Project, RunKind};
use image::{Rgb, RgbImage};

fn found(phrase: &str) -> Detection {
    Detection { rect_in_image: Rect::new(10.0, 20.0, 40.0, 60.0), phrase: phrase.into(), confidence: 0.875, tokens: Vec::new() }
}

/// Two edits of one item that the metric and people put in opposite order.
fn comparison() -> Comparison {
    let subject = |model: &str, metric: f64, human: f64| Subject {
        item: "i".into(),
        model: model.into(),
        metrics: [("overall".to_owned(), metric)].into(),
        human: [("overall".to_owned(), human)].into(),
        ..Subject::default()
    };
    let evidence =
        Evidence { subjects: vec![subject("a", 0.1, 5.0), subject("b", 0.9, 1.0)], metrics: vec!["overall".into()], ..Evidence::default() };
    let plan = Plan { bootstrap: Bootstrap { resamples: 20, ..Bootstrap::default() }, ..Plan::default() };
    compare_all(About::default(), &evidence, &plan)
}

fn page(folder: &Path, comparison: &Comparison, extras: &ReportExtras) -> String {
    let out = folder.join("r.html");
    write_report(comparison, extras, &out).expect("it can be written");
    std::fs::read_to_string(out).expect("it was written")
}

/// The bytes of the data URIs of a kind, in the order of the page.
fn pictures(page: &str, kind: &str) -> Vec<image::DynamicImage> {
    let head = format!("data:image/{kind};base64,");
    page.split(&head)
        .skip(1)
        .map(|rest| {
            let text = rest.split('"').next().expect("an attribute ends");
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).expect("it is base64");
            image::load_from_memory(&bytes).expect("it is a picture")
        })
        .collect()
}

#[test]
fn the_worst_disagreements_are_pictures_with_boxes_region_and_trace() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (source, edited) = (folder.path().join("source.png"), folder.path().join("edit.png"));
    RgbImage::from_pixel(720, 360, Rgb([200, 40, 40])).save(&source).expect("the folder is ours");
    RgbImage::from_pixel(100, 50, Rgb([40, 40, 200])).save(&edited).expect("the folder is ours");
    let step = |text: &str, fallback| TraceStep { kind: TraceKind::Boxes, text: text.into(), fallback, numbers: BTreeMap::new() };
    let edit = ReportEdit {
        item: "i".into(),
        model: "a".into(),
        instruction: "make <it> red".into(),
        source,
        edited,
        boxes: BoxesBySide { source: vec![found("mug <i>")], edit: vec![found("cup"), found("cap")] },
        // The left half.
        mask: Some(Rle::from_mask(&Mask::from_fn(Size::new(720, 360), |x, _| x < 360))),
        trace: vec![step("Looked for “mug” & found it.", false), step("No box on the edit.", true)],
    };
    let page = page(folder.path(), &comparison(), &ReportExtras { edits: vec![edit], points: Vec::new() });

    let photos = pictures(&page, "jpeg");
    // The longer side is 360 at most; a small picture stays as it is.
    assert_eq!(photos.iter().map(|photo| (photo.width(), photo.height())).collect::<Vec<_>>(), [(360, 180), (100, 50)]);
    for (photo, expected) in photos.iter().zip([[200, 40, 40], [40, 40, 200]]) {
        let Rgb(colour) = *photo.to_rgb8().get_pixel(50, 25);
        assert!(colour.iter().zip(expected).all(|(got, wanted)| got.abs_diff(wanted) < 12), "{colour:?} for {expected:?}");
    }
    // The region lies on the source alone, as large as the small picture, its right half clear.
    let masks = pictures(&page, "png");
    assert_eq!(masks.len(), 1);
    let mask = masks[0].to_rgba8();
    assert_eq!((mask.dimensions(), mask.get_pixel(10, 90).0[3] > 0, mask.get_pixel(350, 90).0[3]), ((360, 180), true, 0));
    // Boxes are in pixels of the whole picture, which the drawing's own units are.
    assert!(page.contains("<svg viewBox=\"0 0 720 360\" width=\"360\" height=\"180\""), "{page}");
    assert_eq!((page.matches("<rect class=\"source-box\"").count(), page.matches("<rect class=\"edit-box\"").count()), (1, 2));
    let rect =
        "<rect class=\"source-box\" x=\"10.0\" y=\"20.0\" width=\"30.0\" height=\"40.0\" stroke-width=\"4.0\"><title>mug &lt;i&gt; 0.88";
    assert!(page.contains(rect), "{page}");
    assert!(page.contains("<li>Looked for “mug” &amp; found it.</li><li><b>Fallback:</b> No box on the edit.</li>"), "{page}");
    assert!(page.contains("“make &lt;it&gt; red”") && !page.contains("<it>"));
    // By hand: people put a first and b last, the metric the other way round.
    assert!(page.contains("<h3>i by a</h3>") && page.contains("the metric is too harsh"), "{page}");
}

#[test]
fn a_picture_that_cannot_be_read_is_said_in_its_place() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("broken.png"), "no picture").expect("the folder is ours");
    let edit = ReportEdit {
        item: "i".into(),
        model: "a".into(),
        instruction: "x".into(),
        source: folder.path().join("gone.png"),
        edited: folder.path().join("broken.png"),
        boxes: BoxesBySide::default(),
        mask: None,
        trace: Vec::new(),
    };
    let page = page(folder.path(), &comparison(), &ReportExtras { edits: vec![edit], points: Vec::new() });
    assert_eq!(page.matches("<figure class=\"missing\">").count(), 2, "{page}");
    assert!(page.contains("gone.png") && page.contains("broken.png") && !page.contains("data:image"), "{page}");
}

/// By hand: people 1 to 5 with a margin of 5 % on either side lie on 680 points from 60 on, so that 1 is at 60 + 0.2/4.4 · 680 = 90.9;
/// the metric 0 to 1 goes up over 346 points from 376, so that 0 is at 376 − 0.05/1.1 · 346 = 360.3.
#[test]
fn the_scatter_has_a_mark_for_each_edit_where_it_belongs() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let point = |model: &str, human: f64, metric: f64| ReportPoint { item: "i".into(), model: model.into(), human, metric };
    let extras = ReportExtras { edits: Vec::new(), points: vec![point("a", 1.0, 0.0), point("<b>", 5.0, 1.0)] };
    let text = page(folder.path(), &comparison(), &extras);
    assert!(text.contains("<h2>overall against people, edit by edit</h2>"), "{text}");
    // Models in alphabetical order: '<b>' is a circle, 'a' a square whose corner is 3.5 up and left of its middle.
    assert!(text.contains("<path class=\"m1\" d=\"M87.4 356.8h7v7h-7z\"><title>i · a: 0.000, people 1.00</title>"), "{text}");
    assert!(text.contains("<title>i · &lt;b&gt;: 1.000, people 5.00</title>"), "{text}");
    // Two marks, and two in the legend.
    assert_eq!(text.matches("<path class=\"m").count(), 4);
    let many = (0..10).map(|model| point(&format!("model {model}"), 1.0 + f64::from(model) / 3.0, f64::from(model)));
    let text = page(folder.path(), &comparison(), &ReportExtras { edits: Vec::new(), points: many.collect() });
    assert!(text.contains("+ 2 models"), "a legend without room says so: {text}");
}

/// A project's scores: the metric is BPM to people, a distance is marked, what is of a zone is folded, and notes are told once a kind.
#[test]
fn a_page_names_bpm_and_folds_zones_and_notes() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let metrics = ["overall", "l1", "l1.inside", "ssim.outside"].map(str::to_owned);
    let subject = |n: usize| Subject {
        item: format!("i{}", n / 3),
        model: ["a", "b", "c"][n % 3].to_owned(),
        metrics: metrics.iter().enumerate().map(|(m, name)| (name.clone(), ((n * (m + 3)) % 7) as f64)).collect(),
        human: [("overall".to_owned(), (n * 5 % 11) as f64)].into(),
        ..Subject::default()
    };
    let evidence = Evidence { subjects: (0..12).map(subject).collect(), metrics: metrics.to_vec(), ..Evidence::default() };
    let plan = Plan { bootstrap: Bootstrap { resamples: 20, ..Bootstrap::default() }, ..Plan::default() };
    let about = About { profile: Some("corrected".into()), ..About::default() };
    let mut comparison = compare_all(about, &evidence, &plan);
    let of = |metric: &str, level: usize| format!("{metric} against overall: it has {level} levels");
    comparison.notes = vec!["On everything.".into(), of("overall", 2), of("l1", 3), of("ssim.outside", 4)];
    let text = page(folder.path(), &comparison, &ReportExtras::default());
    assert!(text.contains("<td>BPM</td>") && !text.contains("<td>overall</td><td>overall</td>"), "{text}");
    assert!(text.contains("BPM · overall</text>") && text.contains("<td>l1 ↓</td>") && text.contains("sign is turned"), "{text}");
    assert!(text.contains("Elo (mean over 100 orders)") && text.contains("<td>BPM – l1</td>"), "{text}");
    // Notes: the general one open before the first table, the three of a kind folded after it.
    let (head, rest) = text.split_once("</table>").expect("a table");
    assert!(head.contains("<p class=\"note\">On everything.</p>") && !head.contains("levels"), "{head}");
    assert!(rest.contains("<summary>Notes on single numbers: 3 notes, all of the same kind</summary>"), "{rest}");
    assert!(rest.contains("<summary>3 times: it has … levels</summary>") && rest.contains("<li>BPM against overall: it has 2 levels</li>"));
    // Zones come only below their fold.
    let fold = text.find("Metrics inside and outside of the region (2 lines)").expect("a fold");
    assert!(text.find("l1.inside").expect("a line") > fold, "{text}");
    // A comparison of somebody's own column of that name says nothing of BPM.
    comparison.about.profile = None;
    let text = page(folder.path(), &comparison, &ReportExtras::default());
    assert!(text.contains("<td>overall</td><td>overall</td>"), "{text}");
}

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The demo's first three items with made-up scores: modify is the number of the edit, tenths.
fn project(folder: &Path) -> PathBuf {
    let mut data = editscope::datasets::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo"), None).expect("it is committed");
    data.items.truncate(3);
    let path = folder.join("p.editscope");
    let project = Project::create(&path).expect("the folder is ours");
    project.import(&data.items).expect("the items are fine");
    let run = NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: "cpu".into(),
        settings: serde_json::Value::Null,
        range: None,
    };
    let run = project.start_run(&run).expect("a run begins");
    for (index, edit) in project.edits().expect("readable").iter().enumerate() {
        let part = |value: f64| Outcome::Value(value);
        let parts =
            Parts { size: part(1.0), position: part(0.5), modify: part(index as f64 / 10.0), preserve: part(0.9 - index as f64 / 20.0) };
        project.put_score(run, edit.id, &Score::of_parts(Profile::Corrected, false, parts), 1.0).expect("it is kept");
    }
    path
}

#[test]
fn the_scatter_of_a_report_counts_ratings_from_tables_and_a_reopened_one_says_what_is_of_now() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let path = project(dir.path());
    let project = Project::open_read_only(&path).expect("it is there");
    let edit = project.edits().expect("readable").remove(0);
    let item = project.item(edit.item).expect("readable").key.0;
    let own: Vec<f64> =
        project.latest_ratings(edit.id).expect("readable").iter().filter_map(|r| r.values.get("overall").copied()).collect();
    assert!(own.len() > 1, "the demo comes with ratings");
    // One rater more, far from the others.
    let asked = if own.iter().sum::<f64>() / own.len() as f64 > 3.0 { 1.0 } else { 5.0 };
    let table = format!("item,model,rater,overall\n{item},{},zoe,{asked}\n", edit.model);
    std::fs::write(dir.path().join("zoe.csv"), table).expect("the folder is ours");
    let mean = (own.iter().sum::<f64>() + asked) / (own.len() + 1) as f64;
    let report = |arguments: &[&str]| {
        let done =
            editscope(dir.path(), &[&["agree", "p.editscope", "--resamples", "20", "--quiet", "--report", "r.html"], arguments].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        std::fs::read_to_string(dir.path().join("r.html")).expect("the report is there")
    };
    let now = "as they were saved";
    let page = report(&["--ratings", "zoe.csv"]);
    let mark = |mean: f64| format!(", people {mean:.2}</title>");
    let title = format!("<title>{item} · {}: ", edit.model);
    let people = page.split(&title).nth(1).unwrap_or_else(|| panic!("{title} is missing")).split_once("</title>").expect("it ends").0;
    assert!(format!("{people}</title>").ends_with(&mark(mean)), "{people} against {mean}");
    assert!(!page.contains(now));
    let saved = report(&["--save", "first"]);
    assert!(!saved.contains(now), "it was just computed");
    assert!(report(&["--saved", "first"]).contains(now));
}

#[test]
fn a_range_is_fitted_on_some_models_or_items_and_says_so() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let path = project(dir.path());
    let project = Project::open_read_only(&path).expect("it is there");
    let edits = project.edits().expect("readable");
    let item = project.item(edits[4].item).expect("readable").key.0;
    // Four edits an item: those of the second item are the edits 4 to 7.
    let done = editscope(dir.path(), &["range", "fit", "p.editscope", "--name", "second", "--item", &item]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let range = project.range("second", Profile::Corrected).expect("readable").expect("it is kept");
    let modify = range.modify.expect("four edits have the part");
    assert_eq!((modify.min, modify.max), (0.4, 0.7));
    assert!(range.fitted_on.starts_with("4 edits of p.editscope: item "), "{}", range.fitted_on);
    let done = editscope(dir.path(), &["range", "fit", "p.editscope", "--name", "model", "--model", &edits[2].model]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let expected: Vec<f64> = edits.iter().enumerate().filter(|(_, e)| e.model == edits[2].model).map(|(i, _)| i as f64 / 10.0).collect();
    let modify = project.range("model", Profile::Corrected).expect("readable").expect("it is kept").modify.expect("they have the part");
    let (min, max) = expected.iter().fold((f64::MAX, f64::MIN), |(min, max), value| (min.min(*value), max.max(*value)));
    assert_eq!((modify.min, modify.max), (min, max));
    let wrong = editscope(dir.path(), &["range", "fit", "p.editscope", "--name", "x", "--model", "nobody"]);
    assert!(wrong.status.code() == Some(2) && text(&wrong.stderr).contains("no edit of model 'nobody'"), "{}", text(&wrong.stderr));
}

#[test]
fn what_moved_is_told_with_the_range_and_every_kind_of_number() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    project(dir.path());
    let run = |arguments: &[&str]| {
        let done = editscope(dir.path(), &[&["agree", "p.editscope", "--resamples", "20"], arguments].concat());
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    run(&["--save", "before"]);
    let fitted = editscope(dir.path(), &["range", "fit", "p.editscope", "--name", "own"]);
    assert!(fitted.status.success(), "{}", text(&fitted.stderr));
    let said = run(&["--range", "own", "--seed", "9", "--against", "before"]);
    for words in ["  range: fitted (modify", "→ own (modify", "  seed of intervals: 1 → 9", " numbers did not move."] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("undef.  undef."), "what is undefined before and now did not move: {said}");
    // Only the range and the seed are other.
    assert!(!said.contains("The data are not the same"), "{said}");
    assert!(!said.contains("+0.000"), "what did not move is counted, not listed: {said}");
    let json: serde_json::Value = serde_json::from_str(&run(&["--seed", "9", "--against", "before", "--json"])).expect("one JSON object");
    assert_eq!(json["made_differently"][0]["what"], "seed of intervals");
    assert_eq!(json["changes"][0]["quantity"], "macro agreement");
    let quantities: Vec<&str> =
        json["changes"].as_array().expect("a list").iter().filter_map(|change| change["quantity"].as_str()).collect();
    for quantity in ["macro agreement", "α ordinal", "win rate"] {
        assert!(quantities.contains(&quantity), "{quantity}: {quantities:?}");
    }
}
