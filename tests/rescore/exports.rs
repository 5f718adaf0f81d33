//! What goes out of a project after corrections.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use editscope::domain::rle::Rle;
use editscope::domain::{Mask, Outcome, Parse, ParseOrigin, Profile, Rect, RegionRole, RegionShape, Side, Size};
use editscope::storage::{Project, StoredEdit};
use image::GrayImage;
use serde_json::Value;

use crate::{Demo, picture, region};

fn run(arguments: &[&OsStr]) -> std::process::Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_editscope")).args(arguments).output().expect("the program is built")
}

/// Runs the program; its standard output.
fn editscope(arguments: &[&OsStr]) -> String {
    let done = run(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Exports `project` in a format, into a place named after it.
fn export(project: &Path, format: &str, more: &[&str]) -> PathBuf {
    let out = project.with_file_name("out");
    std::fs::create_dir_all(&out).expect("the folder is ours");
    let to = out.join(format);
    let mut arguments: Vec<&OsStr> = vec!["export".as_ref(), project.as_ref(), "--format".as_ref(), format.as_ref()];
    arguments.extend(["-o".as_ref(), to.as_os_str()]);
    arguments.extend(more.iter().map(OsStr::new));
    editscope(&arguments);
    to
}

/// The lines of a file of JSON lines, by their ids.
fn by_id(file: &Path) -> HashMap<String, Value> {
    let text = std::fs::read_to_string(file).expect("written above");
    let line = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    text.lines().map(line).map(|line| (line["id"].as_str().expect("a key").to_owned(), line)).collect()
}

fn read_json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).expect("written above")).expect("JSON")
}

/// The demo's second edit, with an edit mask that somebody drew; its score has not followed yet.
fn drawn_on() -> (Demo, StoredEdit, Mask) {
    let demo = Demo::new();
    let project = demo.project();
    let edit = project.edit(demo.edits[1]).expect("stored");
    let drawn = Mask::from_fn(Size::new(448, 448), |x, y| (100..300).contains(&x) && (50..250).contains(&y));
    let shape = RegionShape::Mask(Rle::from_mask(&drawn));
    project.set_regions(edit.id, Side::Edit, &[region(Side::Edit, RegionRole::EditMask, shape)], "ann", "drew").expect("writable");
    (demo, edit, drawn)
}

fn number(part: &Outcome<f64>) -> Option<f64> {
    part.value().copied()
}

#[test]
fn exports_carry_both_scores_and_the_drawn_mask() {
    let (demo, edit, drawn) = drawn_on();
    let project = demo.project();
    let automatic = project.latest_score(edit.id, Profile::Corrected).expect("readable").expect("scored").score;
    demo.score();
    let lines = by_id(&export(&demo.path(), "jsonl", &[]));
    let line = &lines[&edit.key.0];
    assert_eq!(line["editscope"]["automatic"]["parts"]["preserve"].as_f64(), number(&automatic.parts.preserve));
    let corrected = project.latest_score(edit.id, Profile::Corrected).expect("readable").expect("scored").score;
    assert_eq!(line["editscope"]["parts"]["preserve"].as_f64(), number(&corrected.parts.preserve));
    assert_ne!(number(&corrected.parts.preserve), number(&automatic.parts.preserve));
    assert_eq!(line["editscope"].get("outdated"), None);
    // Masks: what was drawn, at the size of the source; black where the edit is with --invert.
    let mask = image::open(export(&demo.path(), "masks", &["--invert"]).join(format!("{}.png", edit.key.0))).expect("a PNG").into_luma8();
    assert!(mask.enumerate_pixels().all(|(x, y, pixel)| (pixel.0[0] == 0) == drawn.get(x, y)));
}

#[test]
fn what_cannot_be_exported_is_said_and_nothing_is_written() {
    let demo = Demo::of(0, 1);
    let (path, to) = (demo.path(), demo.folder.path().join("refused"));
    for (more, words) in [
        (&["--format", "paste-back", "--profile", "paper"][..], "no edit has an edit region of profile paper"),
        (&["--format", "paste-back", "--feather", "1e9"], "from 0 (a hard edge) to 1000"),
        (&["--format", "masks", "--feather", "4"], "--feather is for --format paste-back"),
    ] {
        let mut arguments: Vec<&OsStr> = vec!["export".as_ref(), path.as_ref(), "-o".as_ref(), to.as_os_str()];
        arguments.extend(more.iter().map(OsStr::new));
        let done = run(&arguments);
        assert_eq!(done.status.code(), Some(2), "{more:?}: {}", String::from_utf8_lossy(&done.stdout));
        assert!(!to.exists(), "{more:?}");
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn the_drawn_region_is_pasted_back_and_scored_like_any_edit() {
    let (demo, edit, drawn) = drawn_on();
    let project = demo.project();
    demo.score();
    // Cut hard: the edit inside, the source outside, exactly.
    let folder = export(&demo.path(), "paste-back", &["--feather", "0"]);
    let pasted = image::open(folder.join(format!("{}.png", edit.key.0))).expect("a PNG").into_rgb8();
    let source = picture(&project.item(edit.item).expect("stored").source.path);
    let edited = picture(&edit.picture.path);
    let expected = |x: u32, y: u32| if drawn.get(x, y) { edited.get_pixel(x, y) } else { source.get_pixel(x, y) };
    assert!(pasted.enumerate_pixels().all(|(x, y, pixel)| pixel == expected(x, y)));
    // Its manifest is a data set. Outside the region nothing differs any more.
    let manifest = folder.join("manifest.jsonl");
    let scored =
        editscope(&["score".as_ref(), manifest.as_os_str(), "--device".as_ref(), "cpu".as_ref(), "--baselines".as_ref(), "none".as_ref()]);
    let mut lines = scored.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let line = lines.find(|line| line["id"] == format!("{}-pasted-back", edit.key.0)).expect("it was pasted");
    assert!(line["model"].as_str().is_some_and(|model| model.ends_with("(pasted back)")), "{line}");
    assert!(line["triage"]["change"]["changed"].as_f64().is_some_and(|share| share < 0.35), "only the region changed: {line}");
}

#[test]
fn what_no_longer_holds_is_marked_and_drawn_masks_go_out_as_they_are() {
    let (demo, edit, drawn) = drawn_on();
    let project = demo.project();
    // A parse that nobody scored since: it holds for all edits of the item.
    let parse = Parse { size: "smaller".into(), origin: ParseOrigin::Person, ..Parse::default() };
    project.set_parse(edit.item, &parse, "ann").expect("writable");
    // Another edit of the item, in which something was located.
    let located = |id: &&editscope::storage::EditId| {
        let score = project.latest_score(**id, Profile::Corrected).expect("readable").expect("scored").score;
        **id != edit.id && score.mask.is_some_and(|mask| !mask.is_empty())
    };
    let other = demo.edits.iter().find(located).expect("the demo's networks find something in one of them");
    let other = project.edit(*other).expect("stored").key.0;

    let lines = by_id(&export(&demo.path(), "jsonl", &[]));
    assert_eq!((&lines[&edit.key.0]["editscope"]["outdated"], &lines[&other]["editscope"]["outdated"]), (&true.into(), &true.into()));
    let mut table = csv::Reader::from_path(export(&demo.path(), "csv", &[])).expect("written above");
    let column = table.headers().expect("a header").iter().position(|name| name == "editscope.outdated").expect("some are outdated");
    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("readable")).collect();
    let told = |key: &str| rows.iter().find(|row| &row[0] == key).map(|row| row[column].to_owned());
    assert_eq!(told(&edit.key.0).as_deref(), Some("true"));

    // The drawn mask is what counts now, though no score has followed; that of the other edit belongs to an outdated score.
    let folder = export(&demo.path(), "masks", &[]);
    let mask = image::open(folder.join(format!("{}.png", edit.key.0))).expect("a PNG").into_luma8();
    assert!(mask.enumerate_pixels().all(|(x, y, pixel)| (pixel.0[0] == 255) == drawn.get(x, y)));
    let outdated = std::fs::read_to_string(folder.join("OUTDATED.txt")).expect("something is outdated");
    assert!(outdated.lines().any(|line| line == other) && !outdated.lines().any(|line| line == edit.key.0), "{outdated}");
    let coco = read_json(&export(&demo.path(), "coco", &[]));
    let masks = |key: &str| annotations(&coco, key).into_iter().filter(|found| found["category_id"] == 3).collect::<Vec<_>>();
    // 200 × 200 pixels were drawn.
    assert_eq!((masks(&edit.key.0)[0]["area"].as_f64(), masks(&edit.key.0)[0].get("outdated")), (Some(40_000.0), None));
    assert_eq!(masks(&other)[0]["outdated"], true);

    // Once the scores have followed nothing is marked.
    demo.score();
    assert!(!export(&demo.path(), "masks", &[]).join("OUTDATED.txt").exists());
    assert_eq!(by_id(&export(&demo.path(), "jsonl", &[]))[&edit.key.0]["editscope"].get("outdated"), None);
}

#[test]
fn an_export_replaces_nothing_but_what_exports_wrote() {
    let (demo, edit, _) = drawn_on();
    let path = demo.path();
    let to = |format: &str, folder: &Path| {
        run(&["export".as_ref(), path.as_ref(), "--format".as_ref(), format.as_ref(), "-o".as_ref(), folder.as_os_str()])
    };
    for (format, name) in [("masks", format!("{}.png", edit.key.0)), ("paste-back", "manifest.jsonl".to_owned())] {
        let folder = demo.folder.path().join(format!("mine-{format}"));
        std::fs::create_dir(&folder).expect("the folder is ours");
        std::fs::write(folder.join(&name), "mine").expect("the folder is ours");
        let done = to(format, &folder);
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{format}: {why}");
        assert!(why.contains(&name) && why.contains("no export wrote it") && why.contains("choose an empty folder"), "{why}");
        assert_eq!(std::fs::read_to_string(folder.join(&name)).expect("it is there"), "mine");
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1, "nothing was written beside it");
        // What an export wrote another one replaces.
        std::fs::remove_file(folder.join(&name)).expect("it is ours");
        for _ in 0..2 {
            assert!(to(format, &folder).status.success());
        }
    }
}

#[test]
fn a_picture_of_another_size_fails_alone_and_changed_pictures_are_outdated() {
    let demo = Demo::new();
    let project = demo.project();
    let located = |id: &&editscope::storage::EditId| {
        let score = project.latest_score(**id, Profile::Corrected).expect("readable").expect("scored").score;
        score.mask.is_some_and(|mask| !mask.is_empty())
    };
    let first = demo.edits.iter().find(located).expect("the demo's networks find something in one of them");
    let first = project.edit(*first).expect("stored");
    let source = project.item(first.item).expect("stored").source.path;
    image::RgbImage::new(300, 200).save(&source).expect("the folder is ours");
    let out = demo.folder.path().join("out");
    std::fs::create_dir(&out).expect("the folder is ours");
    for format in ["coco", "masks", "paste-back"] {
        let to = out.join(format);
        let done = run(&["export".as_ref(), demo.path().as_ref(), "--format".as_ref(), format.as_ref(), "-o".as_ref(), to.as_os_str()]);
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{format}: {why}");
        assert!(why.contains("its mask is 448×448") && why.contains("is 300×200 now"), "{format}: {why}");
        assert!(why.contains(&format!("outdated: {}", first.key)), "{format}: {why}");
        assert!(to.exists(), "{format}: the rest is written");
    }
    // The boxes of the edits, whose pictures are as they were, are there.
    let coco = read_json(&out.join("coco"));
    assert!(coco["annotations"].as_array().is_some_and(|found| !found.is_empty()));
    let lines = by_id(&export(&demo.path(), "jsonl", &[]));
    assert_eq!(lines[&first.key.0]["editscope"]["outdated"], true);
    // A picture that is gone is told once why.
    std::fs::remove_file(&source).expect("the folder is ours");
    let to = out.join("gone");
    let done = run(&["export".as_ref(), demo.path().as_ref(), "--format".as_ref(), "coco".as_ref(), "-o".as_ref(), to.as_os_str()]);
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    let line = why.lines().find(|line| line.starts_with("failed: ")).expect("the source is told");
    assert_eq!(line.matches("os error").count(), 1, "{line}");
}

/// The annotations of one edit.
fn annotations(coco: &Value, key: &str) -> Vec<Value> {
    coco["annotations"].as_array().expect("a list").iter().filter(|found| found["edit"] == key).cloned().collect()
}

/// An edit that was never scored, with two masks, ignored pixels and a box, each with a name.
fn unscored(project: &Project) -> StoredEdit {
    let edit = project.edits().expect("readable").pop().expect("the demo has edits");
    let source = picture(&project.item(edit.item).expect("stored").source.path);
    let size = Size::new(source.width(), source.height());
    let block = |x0: u32, y0: u32, side: u32| {
        let inside = move |x: u32, y: u32| (x0..x0 + side).contains(&x) && (y0..y0 + side).contains(&y);
        RegionShape::Mask(Rle::from_mask(&Mask::from_fn(size, inside)))
    };
    let named = |role, shape, name: &str| editscope::domain::Region { label: name.into(), ..region(Side::Edit, role, shape) };
    let regions = [
        named(RegionRole::EditMask, block(10, 10, 20), "left eye"),
        named(RegionRole::EditMask, block(60, 10, 5), "right eye"),
        named(RegionRole::Ignore, block(100, 100, 7), "watermark"),
        named(RegionRole::Edited, RegionShape::Box(Rect::new(5.0, 5.0, 15.0, 25.0)), "face"),
    ];
    project.set_regions(edit.id, Side::Edit, &regions, "ann", "drew").expect("writable");
    edit
}

#[test]
fn what_was_drawn_on_an_edit_without_a_score_goes_out_with_its_names_and_ignored_pixels() {
    let demo = Demo::of(0, 1);
    let project = demo.project();
    let edit = unscored(&project);
    assert!(project.latest_score(edit.id, Profile::Corrected).expect("readable").is_none());
    let coco = read_json(&export(&demo.path(), "coco", &[]));
    let mut found: Vec<(String, i64, f64)> = annotations(&coco, &edit.key.0)
        .iter()
        .map(|found| {
            let phrase = found["phrase"].as_str().expect("a name").to_owned();
            (phrase, found["category_id"].as_i64().expect("a number"), found["area"].as_f64().expect("a number"))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    // Areas by hand: 10 × 20, 20 × 20, 5 × 5, 7 × 7; the categories are edited, edit_mask and ignore.
    let expected = [("face", 2, 200.0), ("left eye", 3, 400.0), ("right eye", 3, 25.0), ("watermark", 4, 49.0)];
    assert_eq!(found, expected.map(|(name, category, area)| (name.to_owned(), category, area)));

    let folder = export(&demo.path(), "masks", &[]);
    let white = |file: PathBuf| {
        let mask: GrayImage = image::open(file).expect("a PNG").into_luma8();
        mask.pixels().filter(|pixel| pixel.0[0] == 255).count()
    };
    let name = format!("{}.png", edit.key.0);
    assert_eq!(white(folder.join(&name)), 425, "both masks together");
    assert_eq!(white(folder.join("ignored").join(&name)), 49);
}
