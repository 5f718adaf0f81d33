//! The project file from outside: nothing that a person made is lost, and 100,000 edits are no burden.

mod killed;
mod moved;
mod pictures;
mod scores;

use std::collections::BTreeMap;
use std::path::PathBuf;

use editscope::domain::rle::Rle;
use editscope::domain::{
    Bounds, BoxesBySide, Detection, Edit, EditKey, Item, ItemKey, Mask, Outcome, Parse, ParseOrigin, Parts, PictureRef, Profile, Range,
    Rating, Rect, Region, RegionOrigin, RegionRole, RegionShape, Score, Side, Size, TraceKind, TraceStep,
};
use editscope::storage::{EditId, ItemId, NewRun, Project, RunKind, StorageError};
use serde_json::{Map, json};

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("the test machine has a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn picture(&self, name: &str, content: &str) -> PictureRef {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a file in the folder")).expect("the folder is ours");
        std::fs::write(&path, content).expect("the folder is ours");
        PictureRef { path, given: name.into() }
    }

    fn project(&self) -> Project {
        Project::open_or_create(&self.path("p.editscope")).expect("the folder is ours")
    }
}

fn rating(rater: &str, overall: f64, at_millis: Option<i64>) -> Rating {
    Rating { at_millis, ..Rating::new(rater, BTreeMap::from([("overall".into(), overall)])) }
}

fn item(key: &str, source: PictureRef, edits: Vec<Edit>) -> Item {
    Item { key: ItemKey(key.into()), source, instruction: "make it red".into(), parse: None, edits, extra: Map::new() }
}

fn edit(key: &str, picture: PictureRef, ratings: Vec<Rating>) -> Edit {
    Edit { key: EditKey(key.into()), picture, model: "m".into(), ratings, extra: Map::new() }
}

/// One item with two edits, `a` and `b`.
fn two_edits(bench: &Bench) -> Vec<Item> {
    let edits =
        vec![edit("a", bench.picture("in/a.png", "a"), vec![]), edit("b", bench.picture("in/b.png", "b"), vec![rating("x", 2.0, None)])];
    vec![item("1", bench.picture("in/s.png", "s"), edits)]
}

fn parse(part: &str, origin: ParseOrigin) -> Parse {
    Parse { original_part: part.into(), origin, ..Parse::default() }
}

fn run(profile: Profile, kind: RunKind) -> NewRun {
    NewRun {
        kind,
        profile,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: "cpu".into(),
        settings: json!({"box": 0.3}),
        range: None,
    }
}

fn score(modify: Outcome<f64>) -> Score {
    let size = Size::new(4, 4);
    Score {
        profile: Profile::Corrected,
        parts: Parts {
            size: Outcome::Value(1.0),
            position: Outcome::NotApplicable("no box".into()),
            modify,
            preserve: Outcome::Value(0.75),
        },
        global: false,
        parse: Parse::default(),
        boxes: BoxesBySide {
            source: vec![Detection {
                rect_in_image: Rect::new(0.0, 0.0, 4.0, 3.9),
                phrase: "cup".into(),
                confidence: 0.5,
                tokens: Vec::new(),
            }],
            edit: vec![],
        },
        candidates: BoxesBySide::default(),
        mask: Some(Rle::from_mask(&Mask::full(size))),
        crop_in_bpm500: None,
        trace: vec![TraceStep {
            kind: TraceKind::Crop,
            text: "No box.".into(),
            fallback: true,
            numbers: BTreeMap::from([("n".into(), f64::NAN)]),
        }],
        triage: editscope::domain::Triage::default(),
        said: Vec::new(),
    }
}

fn id_of(project: &Project, key: &str) -> EditId {
    project.edit_by_key(&EditKey(key.into())).expect("readable").expect("imported")
}

#[test]
fn importing_twice_changes_nothing_and_newer_data_updates_by_key_without_losing_anything() {
    let bench = Bench::new();
    let project = bench.project();
    let mut items = two_edits(&bench);
    items[0].extra.insert("kept".into(), json!(1));
    items[0].parse = Some(parse("cup", ParseOrigin::Import));
    let first = project.import(&items).unwrap();
    assert_eq!((first.items_added, first.edits_added, first.ratings_added, first.parses_added), (1, 2, 1, 1));
    assert!(project.import(&items).unwrap().changed_nothing());

    let b = id_of(&project, "b");
    project.add_rating(b, &rating("x", 5.0, None)).unwrap();
    project.set_parse(ItemId(1), &parse("mug", ParseOrigin::Person), "Jo").unwrap();
    items[0].extra = Map::from_iter([("new".into(), json!("n"))]);
    items[0].edits[0].model = "m2".into();
    items[0].edits.remove(1);
    let again = project.import(&items).unwrap();
    assert_eq!((again.items_changed, again.edits_changed, again.ratings_added), (1, 1, 0));
    let stored = project.items().unwrap();
    assert_eq!(serde_json::Value::Object(stored[0].extra.clone()), json!({"kept": 1, "new": "n"}));
    assert_eq!(stored[0].parse.as_ref().unwrap().original_part, "mug", "a person's parse goes on counting");
    assert_eq!(project.counts().unwrap(), (1, 2));
    // The import's rating has no time, so it is older than what was said here.
    assert_eq!(project.latest_ratings(b).unwrap()[0].values["overall"], 5.0);
    assert_eq!(project.rating_history(b).unwrap().len(), 2);
}

#[test]
fn the_newest_rating_of_each_rater_counts_and_none_can_be_changed() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let a = id_of(&project, "a");
    for (rater, overall, at) in [("x", 1.0, 10), ("y", 5.0, 10), ("x", 4.0, 20), ("x", 2.0, 15)] {
        project.add_rating(a, &rating(rater, overall, Some(at))).unwrap();
    }
    let counting: Vec<_> = project.latest_ratings(a).unwrap().iter().map(|r| (r.rater.clone(), r.values["overall"])).collect();
    assert_eq!(counting, [("x".into(), 4.0), ("y".into(), 5.0)]);
    let human = project.queue_row(a, Profile::Corrected).unwrap().human.unwrap();
    // By hand: (4 + 5) / 2 and 5 − 4.
    assert_eq!((human.mean, human.spread, human.raters, human.simulated), (Some(4.5), Some(1.0), 2, false));
    assert_eq!(project.rating_history(a).unwrap().len(), 4);
    assert_eq!(project.all_latest_ratings().unwrap()[&a].len(), 2);

    assert!(matches!(project.add_rating(a, &rating(" ", 1.0, None)), Err(StorageError::Invalid { .. })));
    assert!(matches!(project.add_rating(a, &rating("x", f64::NAN, None)), Err(StorageError::Invalid { .. })));
    assert!(matches!(project.add_rating(EditId(99), &rating("x", 1.0, None)), Err(StorageError::NoSuch { id: 99, .. })));
    let raw = rusqlite::Connection::open(project.path()).unwrap();
    assert!(raw.execute("UPDATE ratings SET overall = 1", []).is_err());
    assert!(raw.execute("DELETE FROM ratings", []).is_err());
}

#[test]
fn a_parse_of_a_person_wins_over_suggestions_and_every_one_is_kept() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let item = ItemId(1);
    let guess = Parse { doubtful: Some("two nouns".into()), ..parse("it", ParseOrigin::Rules) };
    assert_eq!(project.suggest_parse(item, &guess, "rules").unwrap(), guess);
    assert_eq!(project.queue(Profile::Corrected).unwrap()[0].parse_doubtful, Some(true));
    let run = project.start_run(&run(Profile::Corrected, RunKind::Set)).unwrap();
    project.put_score(run, id_of(&project, "a"), &score(Outcome::Value(0.1)), 0.1).unwrap();
    let person = parse("cup", ParseOrigin::Person);
    project.set_parse(item, &person, "Jo").unwrap();
    assert!(project.latest_score(id_of(&project, "a"), Profile::Corrected).unwrap().unwrap().stale);
    assert_eq!(project.suggest_parse(item, &parse("mug", ParseOrigin::Llm), "gemma").unwrap(), person);
    assert_eq!(project.item(item).unwrap().parse, Some(person));
    let history = project.parse_history(item).unwrap();
    let seen: Vec<_> = history.iter().map(|p| (p.parse.original_part.as_str(), p.who.as_str(), p.counts)).collect();
    assert_eq!(seen, [("mug", "gemma", false), ("cup", "Jo", true), ("it", "rules", false)]);
}

#[test]
fn regions_of_the_source_hold_for_all_edits_and_those_of_an_edit_for_it_alone() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let (a, b) = (id_of(&project, "a"), id_of(&project, "b"));
    let region = |side, x1| Region {
        side,
        role: RegionRole::Original,
        origin: RegionOrigin::Person,
        shape: RegionShape::Box(Rect::new(0.0, 0.0, x1, 2.0)),
        label: "cup".into(),
        confidence: None,
    };
    assert_eq!(project.regions(a, Side::Source).unwrap(), None);
    project.set_regions(a, Side::Source, &[region(Side::Source, 2.0)], "Jo", "drew a box").unwrap();
    project.set_regions(a, Side::Source, &[region(Side::Source, 3.0)], "Jo", "moved a box").unwrap();
    project.set_regions(a, Side::Edit, &[], "Jo", "removed the box").unwrap();
    assert_eq!(project.regions(b, Side::Source).unwrap().unwrap().regions, [region(Side::Source, 3.0)]);
    assert_eq!(project.regions(a, Side::Edit).unwrap().unwrap().regions, [], "none is a statement");
    assert_eq!(project.regions(b, Side::Edit).unwrap(), None);
    let history = project.region_history(b, Side::Source).unwrap();
    assert_eq!(history.iter().map(|set| set.what.as_str()).collect::<Vec<_>>(), ["moved a box", "drew a box"]);
    assert!(matches!(project.set_regions(a, Side::Edit, &[region(Side::Source, 1.0)], "Jo", ""), Err(StorageError::Invalid { .. })));
}

#[test]
fn ranges_comparisons_settings_and_cached_results_are_kept() {
    let bench = Bench::new();
    let range = Range {
        name: "demo".into(),
        profile: Profile::Corrected,
        modify: Some(Bounds { min: -0.25, max: 0.5 }),
        preserve: None,
        fitted_on: "96 edits".into(),
    };
    {
        let project = bench.project();
        project.save_range(&range).unwrap();
        project.save_range(&Range { profile: Profile::Paper, ..range.clone() }).unwrap();
        project.save_comparison("first", "Kim", &json!({"mean": 0.8})).unwrap();
        assert!(project.save_comparison(" ", "", &json!({})).unwrap_err().to_string().contains("needs a name"));
        project.set_meta("rater", "Jo").unwrap();
        for (key, value) in [(b"k1", b"aaaa"), (b"k2", b"bbbb")] {
            project.cache_put(key, value).unwrap();
        }
    }
    let project = bench.project();
    assert_eq!(project.range("demo", Profile::Corrected).unwrap(), Some(range));
    assert_eq!(project.ranges(None).unwrap().len(), 2);
    let saved = project.comparison("first").unwrap().unwrap(); // saved above
    assert_eq!((saved.who.as_str(), &saved.content), ("Kim", &json!({"mean": 0.8})));
    assert_eq!(project.comparisons().unwrap(), [saved]);
    assert!(project.comparison("second").unwrap().is_none());
    assert!(project.delete_comparison("first").unwrap() && !project.delete_comparison("first").unwrap());
    assert_eq!(project.meta("rater").unwrap().as_deref(), Some("Jo"));
    assert_eq!(project.cache_get(b"k2").unwrap().as_deref(), Some(&b"bbbb"[..]));
    assert_eq!(project.cache_use().unwrap().bytes, 8);
    assert_eq!(project.cache_trim(7).unwrap(), 1);
    assert_eq!(project.cache_use().unwrap().entries, 1);
}

#[test]
fn a_hundred_thousand_edits_are_imported_once_and_listed_in_one_query() {
    let bench = Bench::new();
    let project = bench.project();
    let gone = |name: String| PictureRef { path: bench.path("gone").join(&name), given: name };
    let items: Vec<Item> = (0..25_000)
        .map(|i| {
            let edits = (0..4).map(|e| edit(&format!("{i}/{e}"), gone(format!("{i}-{e}.png")), vec![rating("x", f64::from(e), None)]));
            item(&i.to_string(), gone(format!("{i}.png")), edits.collect())
        })
        .collect();
    let report = project.import(&items).unwrap();
    assert_eq!((report.edits_added, report.ratings_added, report.pictures_missing), (100_000, 100_000, 125_000));
    assert!(project.import(&items).unwrap().changed_nothing());
    let queue = project.queue(Profile::Corrected).unwrap();
    assert_eq!(queue.len(), 100_000);
    assert_eq!(queue[99_999].human.unwrap().mean, Some(3.0));
    assert_eq!(queue[99_999].edit_key.0, "24999/3");
}
