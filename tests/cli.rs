//! The program from outside: what a script or a person at a terminal meets. Networks are the tiny checkpoints of `tests/golden` (random
//! weights), so values mean nothing here; that they are right is the business of `bpm_golden.rs`.
#![cfg(feature = "flex")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        // What this machine has fetched must not play a part.
        .env("EDITSCOPE_MODELS", folder.join("models of nobody"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Three pairs of the golden set as a manifest in a folder of its own; one edit is missing.
fn data(folder: &Path) -> PathBuf {
    let pictures = repository().join("tests/golden/bpm");
    for name in ["size-source.png", "size-edit.png", "remove-source.png", "remove-edit.png"] {
        std::fs::copy(pictures.join(name), folder.join(name)).expect("a fixture can be copied");
    }
    let rating = |v: u32| format!(r#"[{{"rater":"kim","values":{{"overall":{v}}}}}]"#);
    let lines = [
        format!(
            r#"{{"id":"a1","item":"a","source":"size-source.png","edited":"size-edit.png","instruction":"Make the tree bigger!","model":"one","ratings":{}}}"#,
            rating(4)
        ),
        format!(
            r#"{{"id":"a2","item":"a","source":"size-source.png","edited":"size-source.png","instruction":"Make the tree bigger!","model":"two","colour":"kept","ratings":{}}}"#,
            rating(2)
        ),
        r#"{"id":"b1","item":"b","source":"remove-source.png","edited":"remove-edit.png","instruction":"Remove the cat.","model":"one"}"#
            .to_owned(),
        r#"{"id":"b2","item":"b","source":"remove-source.png","edited":"not-there.png","instruction":"Remove the cat.","model":"two"}"#
            .to_owned(),
    ];
    let manifest = folder.join("manifest.jsonl");
    std::fs::write(&manifest, lines.join("\n")).expect("a manifest can be written");
    manifest
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the lines are there");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

const FIELDS: [&str; 7] = ["original_part", "edited_part", "edit_type", "being_added", "added_object", "size", "position"];

#[test]
fn parse_reads_a_line_and_writes_an_object_with_the_seven_fields() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let mut child = Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(["parse", "--stdin"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let input = b"make the mug red\r\n\n\xff\xfe not text\nturn the dog into a cat";
    std::io::Write::write_all(&mut child.stdin.take().expect("standard input is piped"), input).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    let objects: Vec<Value> = text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(objects.len(), 4, "one object a line, also for an empty line and one that is not UTF-8");
    for object in &objects {
        assert!(FIELDS.iter().all(|field| object[field].is_string()), "{object}");
    }
    assert_eq!((objects[0]["edited_part"].as_str(), objects[0]["edit_type"].as_str()), (Some("red mug"), Some("change color")));
    // The line that is no text is named, and the exit code says that not all went well.
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(
        text(&out.stderr),
        "problem: standard input:3: the line is no text in UTF-8: its byte 1 is 0xff; read without what is no text\n"
    );
    assert!(objects[2]["doubtful"].as_str().is_some_and(|why| why.contains("0xff")), "{}", objects[2]);
    let signs = editscope(dir.path(), &["parse", "🦊 → 🐻"]);
    assert!(text(&signs.stdout).contains("there is no word in the instruction, only '🦊 → 🐻'"), "{}", text(&signs.stdout));
}

#[test]
fn a_project_file_that_is_none_is_called_what_it_is_by_every_command() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("empty.editscope"), "").expect("the folder is ours");
    std::fs::write(dir.path().join("words.editscope"), "these are words ".repeat(40)).expect("the folder is ours");
    for (name, words) in [("empty.editscope", "it is empty (0 bytes)"), ("words.editscope", "it is no SQLite database")] {
        for arguments in [
            &["open", name][..],
            &["score", name],
            &["agree", name],
            &["export", name, "--format", "csv", "-o", "o.csv"],
            &["range", "list", name],
            &["merge", name, "missing.editscope", "-o", "m.editscope"],
        ] {
            let out = editscope(dir.path(), arguments);
            assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
            assert!(
                text(&out.stderr).contains(&format!("{name} is not an EditScope project: {words}")),
                "{arguments:?}: {}",
                text(&out.stderr)
            );
        }
    }
}

#[test]
fn lint_reads_every_pixel_says_where_and_never_calls_nothing_a_success() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    let whole = std::fs::read(dir.path().join("remove-edit.png")).expect("it was copied there");
    std::fs::write(dir.path().join("remove-edit.png"), &whole[..whole.len() / 2]).expect("the folder is ours");
    let found = editscope(dir.path(), &["lint", "."]);
    let said = text(&found.stdout);
    assert_eq!(found.status.code(), Some(1), "{said}");
    let cut: Vec<&str> = said.lines().filter(|line| line.contains("remove-edit.png")).collect();
    assert_eq!(cut.len(), 1, "{said}");
    assert!(cut[0].starts_with("error: manifest.jsonl:3: the edited image: "), "{said}");
    assert!(cut[0].ends_with("copy or export the picture again"), "{said}");
    assert!(said.contains("error: manifest.jsonl:4: edited picture 'not-there.png' is not there"), "{said}");
    let quick = text(&editscope(dir.path(), &["lint", ".", "--quick"]).stdout);
    assert!(!quick.contains("remove-edit.png") && quick.contains("only the headers were read"), "{quick}");
    let imported = editscope(dir.path(), &["import", ".", "-o", "p.editscope"]);
    assert!(text(&imported.stderr).contains("manifest.jsonl:3: the edited image: "), "{}", text(&imported.stderr));
    assert!(text(&imported.stdout).contains("pictures missing: 1; pictures that cannot be read: 1"), "{}", text(&imported.stdout));

    std::fs::write(dir.path().join("header.csv"), "id,source,instruction,edited\n").expect("the folder is ours");
    std::fs::write(dir.path().join("rows.csv"), "id,source,instruction,edited\na,,x,\n").expect("the folder is ours");
    for (file, words) in [("header.csv", "it has no rows"), ("rows.csv", "rows.csv:2: the row has no 'source'; left out")] {
        for arguments in [&["lint", file][..], &["lint", file, "--json"], &["import", file, "-o", "none.editscope"], &["score", file]] {
            let out = editscope(dir.path(), arguments);
            assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stdout));
            assert!(text(&out.stderr).contains("there is no item in it"), "{arguments:?}: {}", text(&out.stderr));
            assert!(text(&out.stderr).contains(words), "{arguments:?}: {}", text(&out.stderr));
            assert!(!dir.path().join("none.editscope").exists(), "{arguments:?}");
        }
    }
}

#[test]
fn score_writes_every_edit_resumes_and_agrees_with_people() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    let models = repository().join("tests/golden").display().to_string();
    let arguments = ["score", ".", "--models", &models, "--device", "cpu", "--out", "s.jsonl"];
    let first = editscope(dir.path(), &arguments);
    assert_eq!(first.status.code(), Some(1), "one picture is missing: {}", text(&first.stderr));
    assert!(text(&first.stderr).contains("not-there.png"), "{}", text(&first.stderr));
    let out = dir.path().join("s.jsonl");
    let scored = lines(&out);
    assert_eq!(scored.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>(), ["a1", "a2", "b1", "b2"]);
    for line in &scored {
        for key in ["item", "model", "profile", "parts", "normalised", "overall", "seconds"] {
            assert!(!line[key].is_null(), "{key} is missing in {line}");
        }
    }
    assert!(scored[3]["overall"]["failed"].as_str().unwrap().contains("not-there.png"));
    for key in ["range", "parse", "boxes", "mask", "trace", "device", "models"] {
        assert!(!scored[0][key].is_null(), "{key} is missing");
    }
    let before = std::fs::read(&out).expect("the lines are there");
    let again = editscope(dir.path(), &arguments);
    assert!(text(&again.stderr).contains("3 of them scored before"), "{}", text(&again.stderr));
    assert_eq!(std::fs::read(&out).expect("the lines are there"), before, "a second run writes the same bytes");

    let agreed = editscope(dir.path(), &["agree", "s.jsonl", "--json"]);
    let report: Value = serde_json::from_slice(&agreed.stdout).expect("one JSON object");
    assert_eq!((report["edits"].as_u64(), report["rated"].as_u64()), (Some(4), Some(2)));
    let from_project = editscope(dir.path(), &["agree", "s.editscope", "--json"]);
    let other: Value = serde_json::from_slice(&from_project.stdout).expect("one JSON object");
    assert_eq!(report["lines"], other["lines"], "lines and project say the same");

    let exported = editscope(dir.path(), &["export", "s.editscope", "--format", "jsonl", "-o", "out.jsonl"]);
    assert!(exported.status.success(), "{}", text(&exported.stderr));
    let rows = lines(&dir.path().join("out.jsonl"));
    assert_eq!((rows.len(), rows[1]["colour"].as_str()), (4, Some("kept")), "unknown keys come out again");
    for (format, to) in [("csv", "out.csv"), ("coco", "out.json"), ("masks", "masks")] {
        let exported = editscope(dir.path(), &["export", "s.editscope", "--format", format, "-o", to]);
        assert!(exported.status.success(), "{format}: {}", text(&exported.stderr));
        assert!(dir.path().join(to).exists(), "{format}");
    }
    let polygons = editscope(dir.path(), &["export", "s.editscope", "--format", "coco", "--polygons", "-o", "polygons.json"]);
    assert!(polygons.status.success(), "{}", text(&polygons.stderr));
    assert!(text(&polygons.stdout).contains("regions"), "{}", text(&polygons.stdout));
    assert!(dir.path().join("polygons.json").exists());
}

#[test]
fn no_output_replaces_a_project_or_what_is_being_read() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    let imported = editscope(dir.path(), &["import", ".", "-o", "p.editscope"]);
    assert!(dir.path().join("p.editscope").exists(), "{}", text(&imported.stderr));
    std::fs::write(dir.path().join("votes.csv"), "item,model,rater,overall\na,m1,kim,4\na,m1,lee,4\n").expect("the folder is ours");
    std::fs::copy(dir.path().join("p.editscope"), dir.path().join("other.db")).expect("the folder is ours");
    let calls: [&[&str]; 6] = [
        &["export", "p.editscope", "--format", "csv", "-o", "p.editscope"],
        &["export", "p.editscope", "--format", "jsonl", "-o", "other.db"],
        &["score", "p.editscope", "--out", "p.editscope"],
        &["score", "p.editscope", "--out", "./other.db"],
        &["score", "votes.csv", "--out", "./votes.csv"],
        &["agree", "--ratings", "votes.csv", "--report", "votes.csv"],
    ];
    for arguments in calls {
        let target = dir.path().join(arguments.last().expect("each has an output"));
        let before = std::fs::read(&target).expect("it is there");
        let out = editscope(dir.path(), arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains("choose another name"), "{arguments:?}: {}", text(&out.stderr));
        assert!(std::fs::read(&target).expect("it is there") == before, "{arguments:?} changed it");
    }
}

#[test]
fn no_output_replaces_a_picture_or_a_part_of_the_project() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    editscope(dir.path(), &["import", ".", "-o", "p.editscope"]);
    let calls: [&[&str]; 6] = [
        &["export", "p.editscope", "--format", "csv", "-o", "size-source.png"],
        &["export", "p.editscope", "--format", "coco", "-o", "size-edit.png"],
        &["export", "p.editscope", "--format", "ratings", "-o", "size-edit.png"],
        &["score", "p.editscope", "--out", "remove-source.png"],
        &["agree", "p.editscope", "--report", "size-edit.png"],
        &["range", "export", "p.editscope", "none", "-o", "size-edit.png"],
    ];
    for arguments in calls {
        let target = dir.path().join(arguments.last().expect("each has an output"));
        let before = std::fs::read(&target).expect("it is there");
        let out = editscope(dir.path(), arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains("is a picture of the project, and would be lost"), "{arguments:?}: {}", text(&out.stderr));
        assert!(std::fs::read(&target).expect("it is there") == before, "{arguments:?} changed it");
    }
    for part in ["p.editscope-wal", "p.editscope-shm", "p.editscope-journal"] {
        let out = editscope(dir.path(), &["export", "p.editscope", "--format", "csv", "-o", part]);
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains("choose another name"), "{part}: {}", text(&out.stderr));
    }
}

#[test]
fn an_export_option_of_another_format_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    editscope(dir.path(), &["import", ".", "-o", "p.editscope"]);
    std::fs::write(dir.path().join("file"), "x").expect("the folder is ours");
    let calls: [(&[&str], &str); 4] = [
        (&["--format", "csv", "-o", "o", "--rater", "kim"], "--rater is for --format ratings"),
        (&["--format", "csv", "-o", "o", "--invert"], "--invert is for --format masks"),
        (&["--format", "masks", "-o", "o", "--polygons"], "--polygons is for --format coco"),
        (&["--format", "masks", "-o", "file"], "name a folder"),
    ];
    for (options, words) in calls {
        let out = editscope(dir.path(), &[&["export", "p.editscope"], options].concat());
        assert_eq!(out.status.code(), Some(2), "{options:?}");
        assert!(text(&out.stderr).contains(words), "{options:?}: {}", text(&out.stderr));
    }
}

#[test]
fn ratings_about_other_edits_are_told_with_their_lines_by_kind_and_nothing_is_added() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    editscope(dir.path(), &["import", ".", "-o", "p.editscope"]);
    let put = |name: &str, lines: Vec<String>| std::fs::write(dir.path().join(name), lines.join("\n")).expect("the folder is ours");
    let row = |n: usize| format!(r#"{{"kind":"rating","item":"i{n}","edit":"e{n}","rater":"kim","values":{{"overall":3}}}}"#);
    put("other.jsonl", (0..12).map(row).chain(["{}".to_owned()]).collect());
    let out = editscope(dir.path(), &["import", "--ratings", "other.jsonl", "-o", "p.editscope"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("problem: other.jsonl:5: this project has no edit 'e4'; the rating of 'kim' is left out"), "{said}");
    assert!(said.contains("problem: … and 7 more like these") && !said.contains("'e5'"), "{said}");
    assert!(said.contains("other.jsonl:13: it lacks the key 'kind'"), "{said}");
    // Where some fit, each that does not is named.
    let fitting = r#"{"kind":"rating","item":"a","edit":"a1","rater":"kim","values":{"overall":3}}"#.to_owned();
    put("some.jsonl", (0..7).map(row).chain([fitting]).collect());
    let out = editscope(dir.path(), &["import", "--ratings", "some.jsonl", "-o", "p.editscope"]);
    assert_eq!((out.status.code(), text(&out.stderr).lines().count()), (Some(1), 7), "{}", text(&out.stderr));

    put("tab.csv", ["item,model,who,overall", "a,one,kim,4", "x,one,kim,4", "y,one,kim,4", "x,one,jo,5"].map(str::to_owned).to_vec());
    let columns = ["-o", "p.editscope", "--columns", "item=item,model=model,rater=who,overall=overall"];
    let out = editscope(dir.path(), &[&["import", "tab.csv"][..], &columns].concat());
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("problem: tab.csv:3: the project has no edit of 'x' by 'one' (2 ratings)\n"), "{said}");
    assert!(said.contains("problem: tab.csv:4: the project has no edit of 'y' by 'one'\n"), "{said}");
    put("none.csv", std::iter::once("item,model,who,overall".to_owned()).chain((0..9).map(|n| format!("x{n},one,kim,4"))).collect());
    let out = editscope(dir.path(), &[&["import", "none.csv"][..], &columns].concat());
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("none.csv:6: the project") && said.contains("… and 4 more like these") && !said.contains("none.csv:7"), "{said}");

    std::fs::write(dir.path().join("r.json"), "{\n\"name\": \"r\",\n\"profile\": \"best\"}").expect("the folder is ours");
    let out = editscope(dir.path(), &["range", "import", "p.editscope", "r.json"]);
    assert_eq!(out.status.code(), Some(2));
    let said = text(&out.stderr);
    assert!(said.contains("r.json is no range") && said.contains("line 3: field 'profile' is 'best'; it can be corrected"), "{said}");
}

#[test]
fn a_shard_scores_its_share_and_says_that_it_has_no_range() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    let models = repository().join("tests/golden").display().to_string();
    let out = editscope(dir.path(), &["score", ".", "--models", &models, "--device", "cpu", "--shard", "1/2", "--out", "s.jsonl"]);
    assert_eq!(out.status.code(), Some(1), "the data set lacks a picture, though not in this shard: {}", text(&out.stderr));
    let scored = lines(&dir.path().join("s.jsonl"));
    assert_eq!(scored.iter().map(|line| line["item"].as_str().unwrap()).collect::<Vec<_>>(), ["a", "a"]);
    assert!(scored.iter().all(|line| line["overall"]["na"].is_string()), "{scored:?}");
}

#[test]
fn wrong_usage_and_nothing_to_do_end_with_2_and_say_what_to_do() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(dir.path().join("empty.jsonl"), "").expect("a file can be written");
    std::fs::create_dir(dir.path().join("models")).expect("a folder can be made");
    data(dir.path());
    for (arguments, words) in [
        (&["score", "nowhere.jsonl"][..], "nowhere.jsonl"),
        (&["score", ".", "--models", "models", "--device", "cpu"], "grounding-dino"),
        (&["score", ".", "--models", "paper", "--device", "cpu"], "`editscope models fetch paper` fetches what is missing"),
        (&["score", ".", "--profile", "best"], "corrected"),
        (&["score", ".", "--precision", "bf16"], "auto, f32, f16"),
        (&["open", "nowhere.editscope"], "nowhere.editscope"),
        (&["agree", "manifest.jsonl"], "manifest.jsonl"),
        (&["import", ".", "-o", "no/such/folder/p.editscope"], "p.editscope"),
    ] {
        let out = editscope(dir.path(), arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(words), "{arguments:?}: {}", text(&out.stderr));
        assert!(!text(&out.stderr).contains("panicked"), "{arguments:?}: {}", text(&out.stderr));
    }
}

#[test]
fn other_metrics_are_written_beside_the_score_and_filled_in_later() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    data(dir.path());
    let models = repository().join("tests/golden").display().to_string();
    let score = |choice: &str| {
        let arguments = ["score", ".", "--models", &models, "--device", "cpu", "--out", "s.jsonl", "--baselines", choice];
        let out = editscope(dir.path(), &arguments);
        assert_eq!(out.status.code(), Some(1), "one picture is missing: {}", text(&out.stderr));
        (lines(&dir.path().join("s.jsonl")), text(&out.stderr))
    };
    let (without, _) = score("none");
    assert_eq!(without[0]["baselines"].as_object().map(serde_json::Map::len), Some(0));
    // The scores hold; only the metrics are added.
    let (pixels, said) = score("pixels");
    assert!(said.contains("3 of them scored before"), "{said}");
    assert_eq!(pixels[0]["parts"], without[0]["parts"]);
    let of = |lines: &[Value], edit: usize, name: &str| lines[edit]["baselines"][name].clone();
    // a2 is its own source.
    assert_eq!(of(&pixels, 1, "l1")["whole"].as_f64(), Some(0.0));
    assert_eq!(of(&pixels, 1, "ssim")["whole"].as_f64(), Some(1.0));
    assert!(of(&pixels, 1, "psnr")["whole"]["na"].as_str().is_some_and(|why| why.contains("identical")));
    assert!(of(&pixels, 0, "l1")["whole"].as_f64().is_some_and(|value| value > 0.0 && value < 1.0));
    assert!(pixels[0]["baselines"]["clip-i"].is_null());
    let (all, _) = score("all");
    assert_eq!(of(&all, 0, "l1"), of(&pixels, 0, "l1"));
    assert!(of(&all, 1, "clip-i")["whole"].as_f64().is_some_and(|value| (value - 1.0).abs() < 1e-9), "{all:?}");
    assert!(of(&all, 0, "clip-t")["note"].as_str().is_some_and(|note| note.contains("edited part")), "{all:?}");
    assert!(of(&all, 0, "clip-direction")["whole"]["na"].as_str().is_some_and(|why| why.contains("captions")));
    assert!(of(&all, 0, "lpips-alex")["whole"]["na"].as_str().is_some_and(|why| why.contains("models fetch lpips-alex")));
    assert!(all[3]["baselines"].is_null(), "an edit without a score has none");

    let out = editscope(dir.path(), &["export", "s.editscope", "--format", "csv", "-o", "out.csv"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut table = csv::Reader::from_path(dir.path().join("out.csv")).expect("a table");
    let header: Vec<String> = table.headers().expect("a header").iter().map(str::to_owned).collect();
    let at = header.iter().position(|name| name == "editscope.ssim").expect("a column for SSIM");
    let row = table.records().nth(1).expect("four rows").expect("readable");
    assert_eq!(row[at].parse::<f64>().ok(), Some(1.0));
    let out = editscope(dir.path(), &["score", ".", "--models", &models, "--baselines", "some"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("none, pixels, all"), "{}", text(&out.stderr));
}
