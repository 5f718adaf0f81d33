//! Comparisons and ranges kept in a project, from the command line. Scores are put into the project as they are, so that no network runs;
//! only `score --range` scores, with the tiny checkpoints of `tests/golden`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use editscope::domain::{Edit, EditKey, Item, ItemKey, Outcome, Parts, PictureRef, Profile, Rating, Score};
use editscope::storage::{NewRun, Project, RunEnd, RunKind};
use serde_json::Value;

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("EDITSCOPE_MODELS", folder.join("models of nobody"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("the program starts")
}

fn printed(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn listed(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

#[track_caller]
fn done(out: &Output) -> String {
    assert_eq!(out.status.code(), Some(0), "{}{}", printed(out), listed(out));
    printed(out)
}

#[track_caller]
fn json(out: &Output) -> Value {
    serde_json::from_str(&done(out)).unwrap_or_else(|error| panic!("{error}: {}", printed(out)))
}

/// Four items with edits by `good` and `bad`: people (kim: 5 and 1) and the metric (modify from 0.1 to 0.8) prefer the good one.
fn project(folder: &Path) -> Project {
    let picture = |name: String| {
        let path = folder.join(&name);
        std::fs::write(&path, &name).expect("the folder is ours");
        PictureRef { path, given: name }
    };
    let edit = |item: usize, model: &str, overall: f64| Edit {
        key: EditKey(format!("i{item}-{model}")),
        picture: picture(format!("i{item}-{model}.png")),
        model: model.into(),
        ratings: vec![Rating::new("kim", BTreeMap::from([("overall".into(), overall)]))],
        extra: Default::default(),
    };
    let items: Vec<Item> = (0..4)
        .map(|item| Item {
            key: ItemKey(format!("i{item}")),
            source: picture(format!("i{item}.png")),
            instruction: "make it red".into(),
            parse: None,
            edits: vec![edit(item, "good", 5.0), edit(item, "bad", 1.0)],
            extra: Default::default(),
        })
        .collect();
    let project = Project::create(&folder.join("p.editscope")).expect("the folder is ours");
    project.import(&items).expect("the items are fine");
    let run = NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: "cpu".into(),
        settings: Value::Null,
        range: None,
    };
    let run = project.start_run(&run).expect("a run begins");
    for (n, edit) in project.edits().expect("readable").iter().enumerate() {
        let modify = if edit.model == "good" { 0.5 + 0.1 * (n / 2) as f64 } else { 0.1 + 0.1 * (n / 2) as f64 };
        let one = || Outcome::Value(1.0);
        let parts = Parts { size: one(), position: one(), modify: Outcome::Value(modify), preserve: Outcome::Value(-0.25) };
        project.put_score(run, edit.id, &Score::of_parts(Profile::Corrected, false, parts), 1.0).expect("a score is kept");
    }
    project.finish_run(run, &RunEnd::Done).expect("a run ends");
    project
}

const QUICK: [&str; 2] = ["--resamples", "20"];

#[test]
fn comparisons_are_saved_listed_printed_again_and_compared() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let run = |arguments: &[&str]| editscope(dir.path(), &[&["agree", "p.editscope"][..], arguments].concat());
    drop(project(dir.path()));
    let none = run(&["--list"]);
    assert!(done(&none).contains("no comparison is saved yet"), "{}", printed(&none));
    let first = run(&[&QUICK[..], &["--save", "first", "--who", "Kim", "--json"]].concat());
    let saved = json(&first);
    assert_eq!((&saved["name"], &saved["who"], &saved["rated"]), (&"first".into(), &"Kim".into(), &8.into()));
    let line =
        saved["lines"].as_array().and_then(|lines| lines.iter().find(|line| line["metric"] == "modify")).expect("modify is compared");
    // By hand: on every item the good edit has the greater modify and the better rating.
    assert_eq!(line["agreement"]["macro_mean"], 1.0);
    assert!(listed(&first).contains("comparison 'first' saved"));
    // Exactly what was saved is printed, and listed.
    assert_eq!(json(&run(&["--saved", "first", "--json"])), saved);
    assert!(done(&run(&["--list"])).contains("first  by Kim: 8 edits, 8 rated"));
    let listing = json(&run(&["--list", "--json"]));
    assert_eq!((&listing["name"], &listing["edits"]), (&"first".into(), &8.into()));

    // A known name is not taken again without being asked, and what was saved stays.
    let again = run(&[&QUICK[..], &["--save", "first", "--ties", "half"]].concat());
    assert_eq!(again.status.code(), Some(2));
    assert!(listed(&again).contains("there is a comparison 'first' already; take another name, or add --replace"), "{}", listed(&again));
    assert_eq!(json(&run(&["--saved", "first", "--json"])), saved);
    // Jo disagrees on one item; the comparison says that the data moved.
    let project = Project::open(&dir.path().join("p.editscope")).expect("a project");
    for (key, overall) in [("i0-good", 1.0), ("i0-bad", 5.0)] {
        let edit = project.edit_by_key(&EditKey(key.into())).expect("readable").expect("imported");
        project.add_rating(edit, &Rating::new("jo", BTreeMap::from([("overall".into(), overall)]))).expect("a rating is kept");
    }
    drop(project);
    let moved = json(&run(&[&QUICK[..], &["--against", "first", "--json"]].concat()));
    assert_eq!(moved["same_data"], false);
    assert_eq!(moved["after"]["rater_set"], serde_json::json!(["jo", "kim"]));
    let words = run(&[&QUICK[..], &["--against", "first"]].concat());
    assert!(done(&words).contains("The data are not the same: opinions."), "{}", printed(&words));
    let replaced = json(&run(&[&QUICK[..], &["--save", "first", "--replace", "--json"]].concat()));
    assert_ne!(replaced["rater_set"], saved["rater_set"]);
    assert_eq!(json(&run(&["--saved", "first", "--json"])), replaced);
    let same = json(&run(&["--saved", "first", "--against", "first", "--json"]));
    assert_eq!(same["same_data"], true);
    let unknown = run(&["--saved", "second"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(listed(&unknown).contains("there is no comparison 'second' (saved are: 'first')"), "{}", listed(&unknown));
}

#[test]
fn ranges_are_fitted_listed_carried_and_never_replaced_unasked() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let run = |arguments: &[&str]| editscope(dir.path(), &[&["range"][..], arguments].concat());
    drop(project(dir.path()));
    assert!(done(&run(&["list", "p.editscope"])).contains("no range is saved"));
    // By hand: modify from 0.1 to 0.8, preserve always −0.25.
    let words = "spring (corrected): modify 0.1000 to 0.8000, preserve -0.2500 to -0.2500; fitted on 8 edits of p.editscope";
    assert_eq!(done(&run(&["fit", "p.editscope", "--name", "spring"])).trim_end(), words);
    assert_eq!(done(&run(&["list", "p.editscope"])).trim_end(), words);
    let range = json(&run(&["list", "p.editscope", "--json"]));
    assert_eq!((&range["name"], &range["modify"]["max"]), (&"spring".into(), &0.8.into()));

    let refused = "there is a range 'spring' of profile corrected already; take another name, or add --replace";
    let again = run(&["fit", "p.editscope", "--name", "spring"]);
    assert!(again.status.code() == Some(2) && listed(&again).contains(refused), "{}", listed(&again));
    done(&run(&["fit", "p.editscope", "--name", "spring", "--replace"]));

    assert!(done(&run(&["export", "p.editscope", "spring", "-o", "spring.json"])).contains("spring.json: spring (corrected)"));
    let unknown = run(&["export", "p.editscope", "autumn", "-o", "autumn.json"]);
    assert!(unknown.status.code() == Some(2) && listed(&unknown).contains("saved are: spring"), "{}", listed(&unknown));
    // The very same again is nothing new; another one of that name is refused, and taken under another name or when asked.
    done(&run(&["import", "p.editscope", "spring.json"]));
    let text = std::fs::read_to_string(dir.path().join("spring.json")).expect("it was written");
    std::fs::write(dir.path().join("other.json"), text.replace("0.8", "0.9")).expect("the folder is ours");
    let other = run(&["import", "p.editscope", "other.json"]);
    assert!(other.status.code() == Some(2) && listed(&other).contains(refused), "{}", listed(&other));
    done(&run(&["import", "p.editscope", "other.json", "--name", "wide"]));
    assert!(done(&run(&["list", "p.editscope"])).lines().count() == 2);
    assert!(done(&run(&["import", "p.editscope", "other.json", "--replace"])).contains("0.1000 to 0.9000"));

    // Comparing takes a range by name, and says which one it was.
    let agree = |range: &str| editscope(dir.path(), &["agree", "p.editscope", "--range", range, "--resamples", "20", "--json"]);
    assert_eq!(json(&agree("wide"))["range"]["name"], "wide");
    // A file too, as for scoring, and one that an editor wrote with a byte order mark.
    let text = text.replace("spring", "marked");
    std::fs::write(dir.path().join("marked.json"), format!("\u{feff}{text}")).expect("the folder is ours");
    assert_eq!(json(&agree("marked.json"))["range"]["name"], "marked");
    assert!(done(&run(&["import", "p.editscope", "marked.json"])).starts_with("marked (corrected)"));
    std::fs::write(dir.path().join("paper.json"), text.replace("corrected", "paper")).expect("the folder is ours");
    let other = agree("paper.json");
    assert!(other.status.code() == Some(2) && listed(&other).contains("was fitted on profile paper"), "{}", listed(&other));
    let unknown = agree("autumn");
    assert!(unknown.status.code() == Some(2) && listed(&unknown).contains("no range 'autumn'"), "{}", listed(&unknown));
}

#[cfg(feature = "flex")]
#[test]
fn scoring_takes_a_saved_range_and_refuses_to_replace_one() {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in ["size-source.png", "size-edit.png"] {
        std::fs::copy(golden.join("bpm").join(name), dir.path().join(name)).expect("a fixture can be copied");
    }
    let row =
        r#"{"id":"a1","item":"a","source":"size-source.png","edited":"size-edit.png","instruction":"Make the tree bigger!","model":"one"}"#;
    std::fs::write(dir.path().join("manifest.jsonl"), row).expect("the folder is ours");
    done(&editscope(dir.path(), &["import", ".", "-o", "p.editscope"]));
    let range =
        r#"{"name":"spring","profile":"corrected","modify":{"min":-1,"max":1},"preserve":{"min":-1,"max":0},"fitted_on":"by hand"}"#;
    std::fs::write(dir.path().join("spring.json"), range).expect("the folder is ours");
    done(&editscope(dir.path(), &["range", "import", "p.editscope", "spring.json"]));
    let models = golden.display().to_string();
    let score = |arguments: &[&str]| {
        editscope(
            dir.path(),
            &[&["score", "p.editscope", "--models", &models, "--device", "cpu", "--baselines", "none"][..], arguments].concat(),
        )
    };
    for range in ["spring", "spring.json"] {
        let line = json(&score(&["--range", range]));
        assert_eq!((&line["range"]["name"], &line["range"]["fitted_on"]), (&"spring".into(), &"by hand".into()));
    }
    let unknown = score(&["--range", "autumn"]);
    assert!(unknown.status.code() == Some(2) && listed(&unknown).contains("(saved are: spring)"), "{}", listed(&unknown));
    let taken = score(&["--save-range", "spring"]);
    assert!(taken.status.code() == Some(2) && listed(&taken).contains("or add --replace"), "{}", listed(&taken));
    assert!(printed(&taken).is_empty(), "it is said before anything is scored");
    done(&score(&["--save-range", "spring", "--replace"]));
    let kept = json(&editscope(dir.path(), &["range", "list", "p.editscope", "--json"]));
    assert_ne!(kept["fitted_on"], "by hand");
}
