//! What goes out reads the same when it comes in again, and other tools' formats are what those tools expect.

use std::path::{Path, PathBuf};

use editscope::datasets::{Dataset, read};
use editscope::domain::rle::{Counts, Rle};
use editscope::domain::{
    Baselines, ChangeShares, Item, Mask, Outcome, Parts, PictureRef, Profile, Rect, Region, RegionOrigin, RegionRole, RegionShape, Side,
    Size, Triage, Zoned,
};
use editscope::export::{
    CocoPicture, ExportRegion, ExportResult, ExportRow, INCOMPLETE, MaskForm, MaskInk, write_coco, write_csv, write_jsonl, write_masks,
};
use serde_json::{Value, json};

fn folder_with(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
    for name in names {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file in the folder")).expect("the folder is ours");
        std::fs::write(path, "x").expect("the folder is ours");
    }
    folder
}

fn rows_of(dataset: &Dataset) -> Vec<ExportRow> {
    let parts = Parts {
        size: Outcome::Value(0.5),
        position: Outcome::NotApplicable("no box, sorry".into()),
        modify: Outcome::Failed("NaN".into()),
        preserve: Outcome::Value(0.1 + 0.2),
    };
    let ssim = Zoned {
        whole: Outcome::Value(0.75),
        inside: Outcome::NotApplicable("no region".into()),
        outside: Outcome::NotApplicable("no region".into()),
        note: String::new(),
    };
    let baselines = Baselines::from([("ssim".to_owned(), ssim)]);
    let result = ExportResult {
        profile: Profile::Paper,
        parts: Ok(parts),
        overall: Some(Outcome::Value(1.5)),
        range: Some("demo".into()),
        automatic: None,
        baselines,
        triage: Triage { change: Some(ChangeShares { leak: Some(0.25), unchanged: None, changed: 0.5 }), ..Triage::default() },
        flags: vec!["no-box".into(), "empty-mask".into()],
        outdated: true,
    };
    let row = |item: &Item, index: usize| ExportRow {
        id: item.edits[index].key.0.clone(),
        item: item.key.0.clone(),
        source: item.source.clone(),
        instruction: item.instruction.clone(),
        edited: item.edits[index].picture.clone(),
        model: item.edits[index].model.clone(),
        parse: item.parse.clone(),
        ratings: item.edits[index].ratings.clone(),
        item_extra: item.extra.clone(),
        extra: item.edits[index].extra.clone(),
        result: Some(result.clone()),
    };
    dataset.items.iter().flat_map(|item| (0..item.edits.len()).map(move |index| row(item, index))).collect()
}

/// The items with real paths instead of those that each manifest writes in its own way.
fn comparable(dataset: Dataset) -> Vec<Item> {
    assert!(dataset.problems.is_empty(), "{:?}", dataset.problems);
    let real = |picture: &mut PictureRef| {
        picture.path = picture.path.canonicalize().expect("the picture is there");
        picture.given.clear();
    };
    let mut items = dataset.items;
    for item in &mut items {
        real(&mut item.source);
        item.edits.iter_mut().for_each(|edit| real(&mut edit.picture));
    }
    items
}

#[test]
fn what_was_imported_survives_export_and_import_in_both_formats() {
    let folder = folder_with(&["in/s 1.png", "in/e,1.png", "in/é.png", "out/sub/here"]);
    let manifest = folder.path().join("in/manifest.jsonl");
    let lines = [
        r#"{"id": "a", "item": "I", "source": "s%201.png", "instruction": "say \"hi\",\nplease", "edited": "e,1.png", "model": "m",
            "parse": {"original_part": "cup.", "size": "bigger", "doubtful": "two, nouns", "more_edits": true, "origin": "rules"},
            "ratings": [{"rater": "x", "simulated": true, "values": {"overall": 4.5, "odd;name": 2}, "comment": "a,b", "at_millis": 3},
                        {"rater": "y", "values": {"overall": 1}}],
            "seed": 7, "=sum": "=1+1", "shift": "-0.5", "note": "plain, text", "empty": "", "list": [1, null], "item.scene": "kitchen", "item.n": 1.5}"#,
        r#"{"id": "b", "item": "I", "source": "s%201.png", "instruction": "say \"hi\",\nplease", "edited": "é.png", "note": "007", "big": 12345678901234567890}"#,
    ];
    std::fs::write(&manifest, lines.map(|line| line.replace('\n', " ")).join("\n")).expect("the folder is ours");
    let before = read(&manifest, None).expect("a manifest");
    let rows = rows_of(&before);
    let before = comparable(before);
    for (name, write) in [("e.jsonl", write_jsonl as fn(&[ExportRow], &Path) -> _), ("e.csv", write_csv)] {
        let out = folder.path().join("out/sub").join(name);
        write(&rows, &out).expect("the folder is ours");
        let again = read(&out, None).expect("what was just written");
        assert!(again.items[0].source.given == "../../in/s 1.png", "{}", again.items[0].source.given);
        assert_eq!(comparable(again), before, "{name}");
    }
    let first = std::fs::read_to_string(folder.path().join("out/sub/e.jsonl")).expect("written above");
    let first: Value = serde_json::from_str(first.lines().next().expect("two lines")).expect("JSON");
    // 0.1 + 0.2 in IEEE double precision; the mean of 4.5 and 1.
    let expected = json!({"profile": "paper", "parts": {"size": 0.5, "position": {"na": "no box, sorry"}, "modify": {"failed": "NaN"},
        "preserve": 0.30000000000000004}, "overall": 1.5, "range": "demo",
        "baselines": {"ssim": {"whole": 0.75, "inside": {"na": "no region"}, "outside": {"na": "no region"}}},
        "triage": {"change": {"leak": 0.25, "unchanged": null, "changed": 0.5}}, "flags": ["no-box", "empty-mask"], "outdated": true, "human": {"odd;name": 2.0, "overall": 2.75}});
    assert_eq!(first["editscope"], expected);
    let table = std::fs::read_to_string(folder.path().join("out/sub/e.csv")).expect("written above");
    let mut table = csv::Reader::from_reader(table.as_bytes());
    let header: Vec<String> = table.headers().expect("a header").iter().map(str::to_owned).collect();
    let row = table.records().next().expect("two rows").expect("readable");
    let cell = |name: &str| header.iter().position(|column| column == name).map(|at| row[at].to_owned());
    assert_eq!(cell("editscope.position.why").as_deref(), Some("no box, sorry"));
    assert_eq!(cell("editscope.preserve").as_deref(), Some("0.30000000000000004"));
    assert_eq!(cell("editscope.ssim").as_deref(), Some("0.75"));
    assert_eq!(cell("editscope.ssim.inside.why").as_deref(), Some("no region"));
    assert_eq!(cell("editscope.flags").as_deref(), Some("no-box empty-mask"));
    assert_eq!(cell("editscope.outdated").as_deref(), Some("true"));
    assert_eq!((cell("editscope.triage.leak").as_deref(), cell("editscope.triage.changed").as_deref()), (Some("0.25"), Some("0.5")));
    assert!(!header.iter().any(|name| name.starts_with("editscope.triage.shift")), "nobody has a shift: {header:?}");
    assert_eq!(cell("editscope.human.overall").as_deref(), Some("2.75"));
    assert_eq!(cell("note").as_deref(), Some("plain, text"));
    assert_eq!(cell("seed:json").as_deref(), Some("7"));
    // No spreadsheet runs it; a number stays one.
    assert_eq!((cell("'=sum").as_deref(), cell("shift").as_deref()), (Some("'=1+1"), Some("-0.5")));
}

#[test]
fn bpm_data_goes_out_with_the_authors_numbers_beside_ours() {
    let folder = folder_with(&["s.png", "pie.png"]);
    let file = folder.path().join("local_metadata.json");
    let content = r#"[{"index": 0, "instruction": "i", "source_image_path": "s.png", "size": "bigger.", "set": "local",
        "edited_image1": {"image_path": "pie.png", "user_overall_quality": 3, "size": 1.0, "id": "theirs"}}]"#;
    std::fs::write(&file, content).expect("the folder is ours");
    let before = read(&file, None).expect("BPM's file");
    let out = folder.path().join("e.jsonl");
    write_jsonl(&rows_of(&before), &out).expect("the folder is ours");
    let again = read(&out, None).expect("what was just written");
    let (before, again) = (&before.items[0], &again.items[0]);
    assert_eq!((&again.key, &again.parse, &again.extra), (&before.key, &before.parse, &before.extra));
    assert_eq!(again.edits[0].ratings, before.edits[0].ratings);
    assert_eq!(Value::Object(again.edits[0].extra.clone()), json!({"size": 1.0, "extra.id": "theirs"}));
}

#[test]
fn masks_are_white_where_the_edit_is_and_no_name_overwrites_another() {
    let folder = folder_with(&[]);
    let out = folder.path().join("masks");
    let mask = Mask::from_fn(Size::new(3, 2), |x, y| (x, y) == (2, 0));
    let mut told = Vec::new();
    let masks = ["a/1", "A_1", ".."].map(|name| (name, Ok(mask.clone())));
    let masks = masks.into_iter().chain([("broken", Err("no mask".to_owned()))]);
    let written = write_masks(masks, MaskInk::White, &out, &mut |n| told.push(n)).expect("the folder is ours");
    assert_eq!(written.failed, [("broken".to_owned(), "no mask".to_owned())]);
    let files = written.files;
    assert_eq!(told, [1, 2, 3, 4]);
    let files: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).collect();
    assert_eq!(files, ["a_1.png", "A_1_2.png", "mask.png"].map(|name| out.join(name)));
    let picture = image::open(&files[0]).expect("a PNG");
    assert_eq!(picture.color(), image::ColorType::L8);
    assert_eq!(picture.into_luma8().into_raw(), [0, 0, 255, 0, 0, 0]);
    assert_eq!(std::fs::read_dir(&out).expect("made above").count(), 3, "nothing half written stays");
    // A disk that fails half way leaves a word that pictures are missing; writing all of them takes it away.
    std::fs::create_dir(out.join("b.png")).expect("the folder is ours");
    let both = || ["a", "b"].map(|name| (name, Ok(mask.clone())));
    let error = write_masks(both(), MaskInk::White, &out, &mut |_| {}).expect_err("a folder has the name of a picture");
    assert!(error.to_string().contains("b.png"), "{error}");
    assert!(std::fs::read_to_string(out.join(INCOMPLETE)).expect("it stays").contains("export again"));
    std::fs::remove_dir(out.join("b.png")).expect("the folder is ours");
    write_masks(both(), MaskInk::White, &out, &mut |_| {}).expect("the folder is ours");
    assert!(!out.join(INCOMPLETE).exists());
    // For tools that want the edit in black: the negative.
    let files = write_masks([("a", Ok(mask.clone()))], MaskInk::Black, &out, &mut |_| {}).expect("the folder is ours").files;
    assert_eq!(image::open(&files[0].1).expect("a PNG").into_luma8().into_raw(), [255, 255, 0, 255, 255, 255]);
}

#[test]
fn coco_annotations_have_boxes_areas_and_run_lengths_by_its_rules() {
    let folder = folder_with(&["in/s.png"]);
    let region = |shape, confidence| Region {
        side: Side::Source,
        role: RegionRole::EditMask,
        origin: RegionOrigin::Segmenter,
        shape,
        label: "cup".into(),
        confidence,
    };
    // The mask of the COCO API's example in domain::rle: rows 0 1 1 and 0 1 0, counts "231".
    let mask = Mask::from_fn(Size::new(3, 2), |x, y| x == 1 || (x == 2 && y == 0));
    let runs = Rle { size: [2, 3], counts: Counts::Runs(vec![2, 3, 1]) };
    let picture = |regions: Vec<Region>| CocoPicture {
        picture: PictureRef { path: folder.path().join("in/s.png"), given: "s.png".into() },
        size: mask.size(),
        regions: regions.into_iter().map(Into::into).collect(),
    };
    let out: PathBuf = folder.path().join("coco.json");
    let regions = vec![region(RegionShape::Mask(runs), None), region(RegionShape::Box(Rect::new(0.5, 0.0, 2.5, 1.0)), Some(0.25))];
    write_coco(&[picture(regions)], MaskForm::Rle, &out).expect("the folder is ours");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("written above")).expect("JSON");
    assert_eq!(written["images"], json!([{"id": 1, "file_name": "in/s.png", "width": 3, "height": 2}]));
    assert_eq!(
        written["annotations"],
        json!([
            {"id": 1, "image_id": 1, "category_id": 3, "segmentation": {"size": [2, 3], "counts": "231"}, "bbox": [1.0, 0.0, 2.0, 2.0],
             "area": 3.0, "iscrowd": 0, "phrase": "cup", "origin": "segmenter"},
            {"id": 2, "image_id": 1, "category_id": 3, "segmentation": [[0.5, 0.0, 2.5, 0.0, 2.5, 1.0, 0.5, 1.0]],
             "bbox": [0.5, 0.0, 2.0, 1.0], "area": 2.0, "iscrowd": 0, "phrase": "cup", "origin": "segmenter", "score": 0.25},
        ])
    );
    let other_size = region(RegionShape::Mask(Rle::from_mask(&Mask::empty(Size::new(4, 2)))), None);
    let error = write_coco(&[picture(vec![other_size])], MaskForm::Polygons, &out).expect_err("the mask is of another size").to_string();
    assert!(error.contains("its mask is 4×2, the picture 3×2"), "{error}");
    assert!(std::fs::read_to_string(&out).expect("written above").contains("231"), "the older file stays");
    assert!(write_coco(&[], MaskForm::Rle, &folder.path().join("no/such/folder.json")).is_err());
}

#[test]
fn coco_leaves_out_what_has_no_pixel_ends_boxes_at_the_picture_and_counts_masks_with_holes() {
    let folder = folder_with(&["s.png"]);
    let size = Size::new(40, 20);
    let region = |shape| Region {
        side: Side::Source,
        role: RegionRole::EditMask,
        origin: RegionOrigin::Segmenter,
        shape,
        label: "edit mask".into(),
        confidence: None,
    };
    let of = |shape| ExportRegion { region: region(shape), edit: Some("e-1".into()), outdated: false };
    let bars = Mask::from_fn(size, |x, y| (2..9).contains(&x) && (2..9).contains(&y) && !(4..7).contains(&x));
    let holed = Mask::from_fn(size, |x, y| (2..9).contains(&x) && (2..9).contains(&y) && (x, y) != (5, 5));
    let regions = vec![
        of(RegionShape::Mask(Rle::from_mask(&Mask::empty(size)))),
        // By hand: from -1.5 to 38.5 and 2 to 22 on 40 by 20 is 0 to 38.5 and 2 to 20.
        of(RegionShape::Box(Rect::new(-1.5, 2.0, 38.5, 22.0))),
        of(RegionShape::Box(Rect::new(41.0, 2.0, 50.0, 9.0))),
        of(RegionShape::Mask(Rle::from_mask(&bars))),
        of(RegionShape::Mask(Rle::from_mask(&holed))),
    ];
    let picture = PictureRef { path: folder.path().join("s.png"), given: "s.png".into() };
    let out = folder.path().join("coco.json");
    let written = write_coco(&[CocoPicture { picture, size, regions }], MaskForm::Polygons, &out).expect("the folder is ours");
    assert_eq!((written.annotations, written.with_holes), (3, 1));
    assert_eq!(written.empty, ["e-1", "e-1"]);
    assert_eq!(
        written.words(),
        "; 1 masks have holes and are run lengths, because COCO's polygons have none; 2 regions without a pixel are left out: e-1, e-1"
    );
    let json: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("written above")).expect("JSON");
    let all = json["annotations"].as_array().expect("a list");
    assert_eq!(all.iter().map(|one| one["id"].as_i64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert_eq!((&all[0]["bbox"], &all[0]["area"]), (&json!([0.0, 2.0, 38.5, 18.0]), &json!(693.0)));
    assert_eq!(all[0]["segmentation"], json!([[0.0, 2.0, 38.5, 2.0, 38.5, 20.0, 0.0, 20.0]]));
    assert!(all[1]["segmentation"].is_array() && all[2]["segmentation"]["counts"].is_string(), "{all:?}");
    assert!(all.iter().all(|one| one["area"].as_f64().is_some_and(|area| area > 0.0)));
}
