//! Data sets as people have them on disk: what can be read is read, what cannot is said with its place.

use std::path::{Path, PathBuf};

use editscope::datasets::{Dataset, Depth, Format, ReadError, detect, lint, read, unreadable};
use editscope::domain::{ParseOrigin, Rating};
use serde_json::{Value, json};

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("the test machine has a temporary folder") }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file in the folder")).expect("the folder is ours");
        std::fs::write(&path, content).expect("the folder is ours");
        path
    }

    /// Files that stand for pictures; readers do not look inside.
    fn pictures(&self, names: &[&str]) {
        for name in names {
            self.write(name, "x");
        }
    }

    fn manifest(&self, lines: &[&str]) -> Dataset {
        read(&self.write("manifest.jsonl", lines.join("\n")), None).expect("a manifest")
    }

    fn table(&self, content: impl AsRef<[u8]>) -> Dataset {
        read(&self.write("t.csv", content), None).expect("a table")
    }
}

fn problems(dataset: &Dataset) -> Vec<String> {
    dataset.problems.iter().map(ToString::to_string).collect()
}

fn keys(dataset: &Dataset) -> Vec<(&str, Vec<&str>)> {
    dataset.items.iter().map(|item| (item.key.0.as_str(), item.edits.iter().map(|edit| edit.key.0.as_str()).collect())).collect()
}

fn rating(rater: &str, values: &[(&str, f64)]) -> Rating {
    let values = values.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    Rating::new(rater, values)
}

#[test]
fn rows_of_one_item_or_of_one_source_and_instruction_are_edits_of_one_item() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "e1.png", "e2.png"]);
    let dataset = bench.manifest(&[
        r#"{"id": "a", "item": "I", "source": "s.png", "instruction": "make it red", "edited": "e1.png", "model": "m1", "seed": 7}"#,
        r#"{"id": "b", "item": "I", "source": "s.png", "instruction": " make it red ", "edited": "e2.png", "model": "m2", "item.scene": "x"}"#,
        r#"{"id": 3, "source": "s.png", "instruction": "remove it", "edited": "e1.png"}"#,
        "",
        r#"{"id": 4, "source": "s.png", "instruction": "remove it", "edited": "e2.png"}"#,
        r#"{"source": "s.png", "instruction": "other", "edited": "e2.png", "model": "m"}"#,
        r#"{"id": "c", "item": "I", "source": "s.png", "instruction": "something else", "edited": "e1.png"}"#,
    ]);
    assert_eq!(dataset.format, Format::Jsonl);
    assert_eq!(keys(&dataset), [("I", vec!["a", "b"]), ("3", vec!["3", "4"]), ("s.png", vec!["s.png/m"]), ("I#2", vec!["c"])]);
    assert_eq!(problems(&dataset), ["manifest.jsonl:7: item 'I' had another source or instruction before; kept as item 'I#2'"]);
    let item = &dataset.items[0];
    assert_eq!(item.instruction, "make it red");
    assert_eq!(Value::Object(item.edits[0].extra.clone()), json!({"seed": 7}));
    assert_eq!(Value::Object(item.extra.clone()), json!({"scene": "x"}));
    assert_eq!(item.edits[1].model, "m2");
    assert!(item.source.path.is_file() && item.source.given == "s.png");
}

#[test]
fn a_broken_manifest_is_read_as_far_as_it_goes_and_says_what_was_wrong_where() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "e1.png", "e2.png"]);
    let dataset = bench.manifest(&[
        r#"{"id": "a", "source": "s.png", "instruction": "x", "edited": "e1.png", "loss": NaN, "note": "NaN"}"#,
        r#"{"id": "b", "source": "s.png", "instruction": "x"}"#,
        r#"[1, 2]"#,
        r#"{"id": "a", "source": "s.png", "instruction": "x", "edited": "e2.png"}"#,
        r#"{"id": "a", "source": "s.png", "instruction": "x", "edited": "e1.png", "loss": null, "note": "NaN"}"#,
        r#"{"id": "d", "source": "s.png", "instruction": "", "edited": "gone.png"}"#,
        r#"{"id": "e", "source": "s.png", "instruct"#,
    ]);
    assert_eq!(keys(&dataset), [("a", vec!["a", "a#2"]), ("d", vec!["d"])]);
    assert_eq!(Value::Object(dataset.items[0].edits[0].extra.clone()), json!({"loss": null, "note": "NaN"}));
    let said = problems(&dataset);
    let expected = [
        ("manifest.jsonl:1", "field 'loss' is NaN or Infinity, which JSON has not; read as null"),
        ("manifest.jsonl:2", "the row has no 'edited'; left out"),
        ("manifest.jsonl:3", "the row is a list, not an object; left out"),
        ("manifest.jsonl:4", "id 'a' is that of manifest.jsonl:1 already; kept as 'a#2'"),
        ("manifest.jsonl:5", "id 'a' repeats manifest.jsonl:1; left out"),
        ("manifest.jsonl:6", "the instruction is empty; kept"),
        ("manifest.jsonl:6", "edited picture 'gone.png' is not there; kept, to be located later"),
        ("manifest.jsonl:7", "the row is no JSON"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (place, reason)) in said.iter().zip(expected) {
        assert!(said.starts_with(&format!("{place}: ")) && said.contains(reason), "{said}");
    }
    assert!(dataset.items[1].edits[0].picture.path.ends_with("gone.png"));
}

#[test]
fn parses_are_lower_cased_and_trimmed_and_keep_their_full_stops() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "e.png"]);
    let dataset = bench.manifest(&[
        r#"{"id": "a", "source": "s.png", "instruction": "x", "edited": "e.png",
            "parsed": {"original_part": " The Cup. ", "size": "Bigger.", "position": null, "by": "gpt"}}"#
            .replace('\n', " ")
            .as_str(),
        r#"{"id": "b", "source": "s.png", "instruction": "y", "edited": "e.png", "parse": {"edited_part": "ALL", "origin": "person"}}"#,
        r#"{"id": "c", "source": "s.png", "instruction": "z", "edited": "e.png", "parse.size": "smaller", "parse": null}"#,
        r#"{"id": "d", "source": "s.png", "instruction": "w", "edited": "e.png", "parse": "cup"}"#,
    ]);
    let parse = dataset.items[0].parse.clone().expect("the row has a parse");
    assert_eq!((parse.original_part.as_str(), parse.size.as_str(), parse.position.as_str()), ("the cup.", "bigger.", ""));
    assert_eq!(parse.origin, ParseOrigin::Import);
    assert_eq!(dataset.items[0].edits[0].extra["parse.by"], "gpt");
    assert_eq!(dataset.items[1].parse.as_ref().map(|parse| (parse.edited_part.as_str(), parse.origin)), Some(("all", ParseOrigin::Person)));
    assert_eq!(dataset.items[2].parse.as_ref().map(|parse| parse.size.as_str()), Some("smaller"));
    assert_eq!(dataset.items[3].parse, None);
    let rest = "this parse is not taken, the instruction is read by the rules";
    let said = format!("manifest.jsonl:4: field 'parse' is text that is no JSON object (expected value at column 1); {rest}");
    assert_eq!(problems(&dataset), [said]);
}

#[test]
fn a_broken_parse_is_named_and_not_taken_and_the_other_edits_of_the_item_keep_theirs() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "e.png"]);
    let row = |item: &str, id: &str, parse: &str| {
        format!(r#"{{"id": "{id}", "item": "{item}", "source": "s.png", "instruction": "{item}", "edited": "e.png", "parse": {parse}}}"#)
    };
    let good = r#"{"original_part": "cup", "edited_part": "red cup", "edit_type": "change color"}"#;
    let rows = [
        // The first row of an item speaks for it, so a broken one there must not.
        row("one", "a", r#"{"original_part": ["cup"], "edited_part": "red cup", "size": 3}"#),
        row("one", "b", good),
        row("one", "c", r#"{"orignal_part": "mug"}"#),
        row("two", "d", r#"{"edited_part": "x", "origin": "guess"}"#),
        row("two", "e", "[1]"),
        row("two", "f", r#"{"by": "gpt"}"#),
        row("two", "g", r#""{\"size\": ""#),
        row("three", "h", r#"{"edited_part": "cup", "size": "larger", "position": "near the door"}"#),
    ];
    let dataset = bench.manifest(&rows.each_ref().map(String::as_str));
    let parse = |item: usize| dataset.items[item].parse.as_ref();
    assert_eq!(parse(0).map(|parse| parse.edited_part.as_str()), Some("red cup"), "that of the second row");
    assert_eq!(parse(1), None, "the rules read it");
    assert_eq!(parse(2).map(|parse| (parse.size.as_str(), parse.doubtful.is_some())), Some(("larger", true)));
    let rest = "this parse is not taken, the instruction is read by the rules";
    assert_eq!(
        problems(&dataset),
        [
            format!("manifest.jsonl:1: field 'parse.original_part' is a list, not text; {rest}"),
            format!("manifest.jsonl:1: field 'parse.size' is 3, not text; {rest}"),
            format!("manifest.jsonl:3: field 'parse.orignal_part' is none of a parse; is 'original_part' meant?; {rest}"),
            format!("manifest.jsonl:4: field 'parse.origin' is 'guess'; it can be rules, llm, import, person; {rest}"),
            format!("manifest.jsonl:5: field 'parse' is a list, not an object; {rest}"),
            format!(
                "manifest.jsonl:6: field 'parse' has none of original_part, edited_part, edit_type, being_added, added_object, size, position; {rest}"
            ),
            format!("manifest.jsonl:7: field 'parse' is text that is no JSON object (it ends too early; it may be cut short); {rest}"),
            "manifest.jsonl:8: field 'parse.size' is 'larger', none of bigger, smaller, unchanged and none; size is not judged".to_owned(),
            "manifest.jsonl:8: field 'parse.position' is 'near the door', none of left, right, above, below, inside, unchanged and none; \
             position is not judged"
                .to_owned(),
        ]
    );
    // BPM's own file has the fields in the item.
    let file = bench.write(
        "local_metadata.json",
        r#"[{"index": 4, "instruction": "x", "source_image_path": "s.png", "original_part": 7, "size": "bigger.",
             "edited_image1": {"image_path": "e.png"}}]"#,
    );
    let dataset = read(&file, None).expect("BPM's file");
    assert_eq!(dataset.items[0].parse, None);
    assert_eq!(problems(&dataset), [format!("local_metadata.json item 4: field 'original_part' is 7, not text; {rest}")]);
}

#[test]
fn tables_are_read_with_marks_semicolons_decimal_commas_and_windows_line_ends() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "e.png", "f.png"]);
    let table = "\u{feff}ID;Source;Instruction;Edited;Model;Rater;rating_overall;rating_size;parse.size;seed;w:json\r\n\
        a;s.png;\"make it; \"\"red\"\"\nnow\";e.png;m;Jo;4,5;;Bigger;007;[1]\r\n\
        a;s.png;\"make it; \"\"red\"\"\nnow\";e.png;m;Al;NaN;2;Bigger;007;[1]\r\n\
        ;;;;;;;;;;\r\n\
        b;s.png;x;f.png;;;;;;;{\r\n\
        c;s.png;x;f.png;;;;;;;;too;many\r\n";
    let dataset = bench.table(table);
    assert_eq!(dataset.format, Format::Csv);
    assert_eq!(keys(&dataset), [("a", vec!["a"]), ("b", vec!["b"])]);
    let item = &dataset.items[0];
    assert_eq!(item.instruction, "make it; \"red\"\nnow");
    assert_eq!(item.parse.as_ref().map(|parse| parse.size.as_str()), Some("bigger"));
    assert_eq!(item.edits[0].ratings, [rating("Jo", &[("overall", 4.5)]), rating("Al", &[("size", 2.0)])]);
    assert_eq!(Value::Object(item.edits[0].extra.clone()), json!({"seed": "007", "w": [1]}));
    assert_eq!(Value::Object(dataset.items[1].edits[0].extra.clone()), json!({"w:json": "{"}));
    let said = problems(&dataset);
    assert_eq!(said.len(), 3, "{said:#?}");
    // Line 4, because the quoted cell above holds a line end.
    assert_eq!(said[0], "t.csv:4: rating 'overall' is text 'NaN', not a number; read as missing");
    assert!(said[1].starts_with("t.csv:7: column 'w:json' is no JSON"), "{}", said[1]);
    assert!(said[2].starts_with("t.csv:8: the row has 13 cells, the header 11; left out"), "{}", said[2]);
}

#[test]
fn the_same_table_in_other_encodings_and_delimiters_reads_the_same() {
    let bench = Bench::new();
    bench.pictures(&["s.png", "é.png"]);
    let lines = ["id,source,instruction,edited,rating.a.overall", "1,s.png,färbe es,é.png,3"];
    let plain = bench.table(lines.join("\n"));
    assert!(plain.problems.is_empty() && plain.items[0].edits[0].ratings == [rating("a", &[("overall", 3.0)])]);
    let tabs = lines.join("\r\n").replace(',', "\t");
    let utf16: Vec<u8> = std::iter::once(0xfeff).chain(tabs.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for other in [tabs.clone().into_bytes(), utf16, lines.join("\n").replace(',', ";").into_bytes()] {
        assert_eq!(bench.table(other), plain);
    }
    let latin = bench.write("latin.csv", b"id,source,instruction,edited\n1,s.png,f\xe4rbe,e.png\n");
    // 29 bytes of header, then `1,s.png,f`.
    assert!(matches!(read(&latin, None), Err(ReadError::NotText { at: 38, .. })));
    let wanting = bench.write("w.csv", "id,source,edited\n1,a,b\n");
    assert!(read(&wanting, None).expect_err("no instruction").to_string().contains("no column 'instruction'"));
}

#[test]
fn bpm_files_keep_words_and_numbers_of_the_same_name_apart() {
    let bench = Bench::new();
    bench.pictures(&["data/sample/0/source.png", "data/sample/0/pie.png", "data/sample/0/mgie.v2.png"]);
    // After formats.md section 1, with the authors' own path prefix and a NaN of their scripts.
    let file = bench.write(
        "local_metadata.json",
        r#"[{"index": 0, "instruction": "make the flower bigger", "source_image_path": "sample/0/source.png", "original_part": "Flower.",
            "edited_part": "bigger flower.", "edit_type": "change size.", "size": "bigger.", "position": "unchanged.", "set": "local",
            "edited_image1": {"image_path": "./data/sample/0/pie.png", "user_overall_quality": 3, "edit_quality": 0.21, "size": 1.0, "position": 0.5},
            "edited_image10": {"image_path": "sample/0/gone.png"},
            "edited_image2": {"image_path": "sample/0/mgie.v2.png", "user_edit_quality": 4, "preservation": NaN},
            "edited_image3": {}, "edited_image4": {"user_overall_quality": 1}},
           {"index": 0, "instruction": "x", "source_image_path": "sample/0/source.png"},
           {"index": 2, "instruction": "x"}]"#,
    );
    assert_eq!(detect(&file).expect("known").1, Format::Bpm);
    let dataset = read(bench.folder.path(), None).expect("a folder with BPM's file");
    assert_eq!(keys(&dataset), [("0", vec!["0/1", "0/2", "0/10"]), ("0#2", vec![])]);
    let item = &dataset.items[0];
    let parse = item.parse.as_ref().expect("the item has the fields");
    assert_eq!((parse.original_part.as_str(), parse.size.as_str(), parse.position.as_str()), ("flower.", "bigger.", "unchanged."));
    assert_eq!(Value::Object(item.extra.clone()), json!({"set": "local"}));
    let first = &item.edits[0];
    assert_eq!(first.model, "pie");
    assert_eq!(first.ratings, [rating("bpm-users", &[("overall", 3.0)])]);
    assert_eq!(Value::Object(first.extra.clone()), json!({"edit_quality": 0.21, "size": 1.0, "position": 0.5}));
    assert!(first.picture.path.is_file() && item.source.path.is_file());
    assert_eq!(item.edits[1].model, "mgie.v2");
    assert_eq!(item.edits[1].ratings, [rating("bpm-users", &[("modification", 4.0)])]);
    assert_eq!(
        problems(&dataset),
        [
            "local_metadata.json: field '[0].edited_image2.preservation' is NaN or Infinity, which JSON has not; read as null",
            "local_metadata.json item 0: edited_image4 has no 'image_path'; left out",
            "local_metadata.json item 0: edited picture 'sample/0/gone.png' is not there; kept, to be located later",
            "local_metadata.json item 0: index 0 came before; kept as item '0#2'",
            "local_metadata.json item 0: the item has no edited image",
            "local_metadata.json item 2: the item has no 'source_image_path'; left out",
        ]
    );
}

#[test]
fn folders_of_pairs_are_read_by_each_of_the_three_rules() {
    let bench = Bench::new();
    bench.pictures(&[
        "beside/house_source.png",
        "beside/house_edit.png",
        "beside/house_edit_ip2p.jpg",
        "beside/house_edit2.png",
        "beside/house_edit_mask.png",
        "beside/house_editor.png",
        "beside/lonely_source.png",
        "beside/orphan_edited.png",
        "items/dog/source.jpg",
        "items/dog/mgie.jpg",
        "items/dog/edit_pie.jpg",
        "items/dog/mask.png",
        "models/input/1.png",
        "models/input/2.png",
        "models/ip2p/1.png",
        "models/mgie/1.webp",
        "models/mgie/3.png",
    ]);
    bench.write("beside/house.txt", "paint it red\n");
    bench.write("items/dog/prompt.txt", "\u{feff}make it a cat");
    bench.write("models/1.txt", "one");
    let dataset = read(bench.folder.path(), None).expect("pairs");
    assert_eq!(dataset.format, Format::Pairs);
    let models: Vec<(&str, &str, Vec<&str>)> = dataset
        .items
        .iter()
        .map(|item| (item.key.0.as_str(), item.instruction.as_str(), item.edits.iter().map(|edit| edit.model.as_str()).collect()))
        .collect();
    assert_eq!(
        models,
        [
            ("beside/house", "paint it red", vec!["", "2", "ip2p"]),
            ("items/dog", "make it a cat", vec!["pie", "mgie"]),
            ("models/1", "one", vec!["ip2p", "mgie"]),
        ]
    );
    assert_eq!(dataset.items[0].edits[2].key.0, "beside/house_edit_ip2p.jpg");
    let said = problems(&dataset);
    let places: Vec<&str> = said.iter().filter_map(|said| said.split(": ").next()).collect();
    assert_eq!(places, ["beside/lonely_source.png", "beside/orphan_edited.png", "models/input/2.png", "models/mgie/3.png"]);
    // Without its text the pair is kept, and that is said.
    std::fs::remove_file(bench.folder.path().join("models/1.txt")).expect("written above");
    let dataset = read(bench.folder.path(), None).expect("pairs");
    assert_eq!(dataset.items[2].instruction, "");
    assert!(problems(&dataset)[2].contains("no instruction (looked for models/1.txt, models/input/1.txt, models/instructions/1.txt)"));
}

#[test]
fn formats_are_told_apart_by_content_and_strangers_are_named() {
    let bench = Bench::new();
    let row = r#"{"source": "s", "instruction": "i", "edited": "e"}"#;
    for (name, content, format) in [
        ("a.txt", row.to_owned(), Format::Jsonl),
        ("list.json", format!("[{row},\n{row}]"), Format::Jsonl),
        ("b.jsonl", "source,instruction,edited\ns,i,e\n".into(), Format::Csv),
        ("c.tsv", "\u{feff}Source\tinstruction\tedited\ns\ti\te\n".into(), Format::Csv),
        ("d", r#"[{"source_image_path": "s", "instruction": "i", "edited_image1": {"image_path": "e"}}]"#.into(), Format::Bpm),
    ] {
        let path = bench.write(name, content);
        assert_eq!(detect(&path).expect(name).1, format, "{name}");
        assert_eq!(read(&path, None).expect(name).edit_count(), 1, "{name}");
    }
    let why = |path: &Path| read(path, None).expect_err("no data set").to_string();
    assert!(why(&bench.write("p.editscope", b"SQLite format 3\0...")).contains("opened, not imported"));
    assert!(why(&bench.write("p.parquet", b"PAR1....")).contains("Parquet"));
    assert!(why(&bench.write("empty", b"")).contains("the file is empty"));
    assert!(why(&bench.write("prose.txt", b"hello\n")).contains("neither 'source' and 'edited' nor BPM's keys"));
    assert!(matches!(read(&bench.folder.path().join("none"), None), Err(ReadError::Io { .. })));
    assert!(matches!(read(&bench.write("x.json", "{}"), Some(Format::Bpm)), Err(ReadError::Malformed { .. })));
    std::fs::create_dir(bench.folder.path().join("bare")).expect("the folder is ours");
    assert!(why(&bench.folder.path().join("bare")).contains("no manifest.jsonl"));
    assert!(Format::ALL.iter().all(|format| format.name().parse() == Ok(*format)));
}

#[test]
fn lint_finds_what_will_make_scores_doubtful() {
    let bench = Bench::new();
    for (name, width) in [("s.png", 4), ("same.png", 4), ("wide.png", 6)] {
        image::RgbImage::new(width, 3).save(bench.folder.path().join(name)).expect("the folder is ours");
    }
    bench.pictures(&["broken.png"]);
    let dataset = bench.manifest(&[
        r#"{"id": "a", "item": "1", "source": "s.png", "instruction": "x", "edited": "wide.png", "item.input_caption": "c", "item.output_caption": "c "}"#,
        r#"{"id": "b", "item": "1", "source": "s.png", "instruction": "x", "edited": "broken.png"}"#,
        r#"{"id": "c", "item": "1", "source": "s.png", "instruction": "x", "edited": "gone.png"}"#,
        r#"{"id": "d", "item": "2", "source": "s.png", "instruction": "X", "edited": "same.png"}"#,
        r#"{"id": "e", "item": "2", "source": "s.png", "instruction": "X", "edited": "s.png"}"#,
    ]);
    let counted = std::sync::atomic::AtomicUsize::new(0);
    let found = lint(&dataset, Depth::Pixels, &|_, total| {
        assert_eq!(total, 4, "each picture that is there, once");
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(counted.into_inner(), 4);
    let said: Vec<(bool, &str, &str)> = found.iter().map(|f| (f.error, f.place.as_str(), f.reason.as_str())).collect();
    let expected = [
        (true, "manifest.jsonl:3", "'gone.png' is not there"),
        (true, "manifest.jsonl:2", "broken.png: is not a picture of a kind this program reads"),
        (false, "1", "the captions before and after the edit are the same: 'c'"),
        (false, "a", "the edit is 6×3, its source 4×3"),
        (false, "e", "the edit is the source file itself"),
        (false, "2", "source and instruction are those of item '1'"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.0 == expected.0 && said.1 == expected.1 && said.2.contains(expected.2), "{said:?} {expected:?}");
    }
}

/// Every way in which a picture is no picture, found with the line that names it, in the words of scoring.
#[test]
fn pictures_that_scoring_cannot_read_are_found_before_with_their_line_and_the_same_words() {
    let bench = Bench::new();
    let noise = image::RgbImage::from_fn(64, 64, |x, y| image::Rgb([(x * 37 % 251) as u8, (y * 91 % 251) as u8, (x * y % 251) as u8]));
    let encoded = |format| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        noise.write_to(&mut bytes, format).expect("noise can be encoded");
        bytes.into_inner()
    };
    let (png, jpeg) = (encoded(image::ImageFormat::Png), encoded(image::ImageFormat::Jpeg));
    bench.write("s.png", &png);
    bench.write("good.jpg", &jpeg);
    bench.write("tail.png", [&png[..], b"after the end"].concat());
    bench.write("cut.png", &png[..png.len() / 2]);
    bench.write("cut.jpg", &jpeg[..jpeg.len() - 30]);
    bench.write("nothing.png", "");
    bench.write("bytes.png", "no picture");
    std::fs::create_dir(bench.folder.path().join("folder.png")).expect("the folder is ours");
    let edits = ["good.jpg", "tail.png", "cut.png", "cut.jpg", "nothing.png", "bytes.png", "folder.png", "cut.png"];
    let row = |edit: &str| format!(r#"{{"item":"i","source":"s.png","instruction":"x","edited":"{edit}","model":"m-{edit}"}}"#);
    let rows = edits.map(row);
    let dataset = bench.manifest(&rows.each_ref().map(String::as_str));
    assert_eq!(
        problems(&dataset),
        [
            "manifest.jsonl:7: edited picture 'folder.png' is a folder, not a picture; kept, to be located later",
            "manifest.jsonl:8: id 'i/m-cut.png' repeats manifest.jsonl:3; left out",
        ]
    );
    let expected = [
        ("manifest.jsonl:3", "cut.png", "is damaged or cut short"),
        ("manifest.jsonl:4", "cut.jpg", "is damaged or cut short"),
        ("manifest.jsonl:5", "nothing.png", "is empty (0 bytes)"),
        ("manifest.jsonl:6", "bytes.png", "is not a picture of a kind this program reads"),
    ];
    let in_words = |place: &str, name: &str| {
        let path = bench.folder.path().join(name);
        let why = editscope::imaging::decode::decode(&path, &Default::default()).expect_err("no picture");
        (place.to_owned(), format!("the edited image: {why}"))
    };
    let expected = expected.map(|(place, name, reason)| {
        let words = in_words(place, name);
        assert!(words.1.contains(reason), "{words:?}");
        words
    });
    let found: Vec<_> = unreadable(&dataset).into_iter().map(|problem| (problem.place, problem.reason)).collect();
    assert_eq!(found, expected, "without decoding what ends as it should");
    let linted = |depth| -> Vec<_> {
        let findings = lint(&dataset, depth, &|_, _| {}).into_iter().filter(|finding| finding.reason.contains("the edited image"));
        findings.map(|finding| (finding.place, finding.reason)).collect()
    };
    assert_eq!(linted(Depth::Pixels), expected);
    // Headers tell nothing of an end that is missing.
    assert_eq!(linted(Depth::Headers), expected[2..]);
}

/// A grey PNG of a size, as far as its header tells; there are no pixels in it.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let checked = [&kind[..], data].concat();
        // The sum of the PNG specification, annex D, bit by bit.
        let sum = checked.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
        });
        [&(data.len() as u32).to_be_bytes()[..], &checked, &(!sum).to_be_bytes()].concat()
    };
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", &[]), chunk(b"IEND", &[])].concat()
}

#[test]
fn pictures_that_are_too_large_or_too_thin_are_told_before_they_are_scored() {
    let bench = Bench::new();
    // One row of pixels more than are read.
    bench.write("giga.png", png_header(20_000, 10_001));
    for (name, width, height) in [("s.png", 4, 3), ("thin.png", 1, 3000), ("flat.png", 3000, 1), ("narrow.png", 1, 2000)] {
        image::RgbImage::new(width, height).save(bench.folder.path().join(name)).expect("the folder is ours");
    }
    let rows = ["giga", "thin", "flat", "narrow"]
        .map(|name| format!(r#"{{"id":"{name}","item":"{name}","source":"s.png","instruction":"{name}","edited":"{name}.png"}}"#));
    let dataset = bench.manifest(&rows.each_ref().map(String::as_str));
    let why = editscope::imaging::decode::decode(&bench.folder.path().join("giga.png"), &Default::default()).expect_err("too large");
    let found: Vec<String> = unreadable(&dataset).into_iter().map(|problem| problem.to_string()).collect();
    assert_eq!(found, [format!("manifest.jsonl:1: the edited image: {why}")]);
    for depth in [Depth::Headers, Depth::Pixels] {
        let found = lint(&dataset, depth, &|_, _| {});
        assert!(found.iter().any(|finding| finding.error && finding.reason.ends_with(&why.to_string())), "{found:?}");
        let thin: Vec<_> = found.iter().filter(|finding| finding.reason.contains("too long and thin")).map(|f| f.place.as_str()).collect();
        // Of 2000 pixels 1024 are left, and of one pixel more than a half: it stays.
        assert_eq!(thin, ["thin", "flat"]);
    }
}

#[test]
fn a_hundred_thousand_rows_are_gathered_without_a_word_lost() {
    let bench = Bench::new();
    let rows: Vec<String> = (0..100_000)
        .map(|i| format!(r#"{{"id":"{i}","item":"{}","source":"s{}.png","instruction":"x","edited":"e{i}.png","n":{i}}}"#, i / 4, i / 4))
        .collect();
    let dataset = bench.manifest(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((dataset.items.len(), dataset.edit_count()), (25_000, 100_000));
    assert_eq!(dataset.items[24_999].edits[3].extra["n"], 99_999);
    // None of the 125,000 pictures is there.
    assert_eq!(dataset.problems.len(), 125_000);
}
