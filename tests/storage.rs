//! The project file from outside: nothing that a person made is lost, and 100,000 edits are no burden.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use editscope::domain::{
    Baselines, Bounds, BoxesBySide, Detection, Edit, EditKey, Item, ItemKey, Mask, Outcome, Parse, ParseOrigin, Parts, PictureRef, Profile,
    Range, Rating, Rect, Region, RegionOrigin, RegionRole, RegionShape, Score, Side, Size, TraceKind, TraceStep, Zoned, rle::Rle,
};
use editscope::storage::{EditId, Flag, ItemId, NewRun, PictureState, Project, RunEnd, RunId, RunKind, StorageError};
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
fn pictures_are_found_relative_to_the_project_after_both_moved() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("old")).unwrap();
    std::fs::create_dir(bench.path("old/sub")).unwrap();
    let items = vec![item("1", bench.picture("old/in/s.png", "s"), vec![edit("a", bench.picture("old/in/a.png", "a"), vec![])])];
    Project::create(&bench.path("old/sub/p.editscope")).unwrap().import(&items).unwrap();
    std::fs::rename(bench.path("old"), bench.path("new")).unwrap();
    let project = Project::open(&bench.path("new/sub/p.editscope")).unwrap();
    let row = &project.queue(Profile::Corrected).unwrap()[0];
    assert_eq!(std::fs::read_to_string(&row.picture).unwrap(), "a");
    assert_eq!(std::fs::read_to_string(&row.source).unwrap(), "s");
}

#[test]
fn missing_and_changed_pictures_are_told_apart_and_make_scores_stale() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let report = project.check_pictures(|_, _| true).unwrap();
    assert_eq!((report.present, report.missing.len()), (3, 0));
    let run = project.start_run(&run(Profile::Corrected, RunKind::Set)).unwrap();
    let (a, b) = (id_of(&project, "a"), id_of(&project, "b"));
    for id in [a, b] {
        project.put_score(run, id, &score(Outcome::Value(0.1)), 0.5).unwrap();
    }
    std::fs::write(bench.path("in/a.png"), "longer than before").unwrap();
    std::fs::remove_file(bench.path("in/b.png")).unwrap();
    let report = project.check_pictures(|_, _| true).unwrap();
    assert_eq!(report.changed, [project.folder().join("in/a.png")]);
    assert_eq!(report.missing, [project.folder().join("in/b.png")]);
    let states: Vec<_> = project.edits().unwrap().iter().map(|edit| edit.picture_state).collect();
    assert_eq!(states, [PictureState::Changed, PictureState::Missing]);
    assert_eq!(project.scored_in_run(run).unwrap(), [b].into(), "the score of the changed picture is to be made again");

    bench.picture("elsewhere/in/b.png", "b");
    assert_eq!(project.locate_pictures(&bench.path("elsewhere")).unwrap(), 1);
    std::fs::write(bench.path("in/a.png"), "a").unwrap();
    let report = project.check_pictures(|_, _| true).unwrap();
    assert_eq!((report.present, report.changed.len(), report.missing.len()), (3, 0, 0), "putting the old file back is noticed");
}

#[test]
fn a_quick_look_notices_what_the_file_system_tells() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let run = project.start_run(&run(Profile::Corrected, RunKind::Set)).unwrap();
    let (a, b) = (id_of(&project, "a"), id_of(&project, "b"));
    for id in [a, b] {
        project.put_score(run, id, &score(Outcome::Value(0.1)), 0.5).unwrap();
    }
    assert_eq!(project.look_for_pictures().unwrap().news, 0);
    // Nobody kept what the pictures held: another length tells that one is another.
    std::fs::write(bench.path("in/a.png"), "longer than before").unwrap();
    assert_eq!(project.look_for_pictures().unwrap().news, 1);
    assert_eq!(project.scored_in_run(run).unwrap(), [b].into());
    // What was kept is compared by content, whatever the length.
    project.keep_content_of(b).unwrap();
    assert_eq!(project.look_for_pictures().unwrap().news, 0);
    std::fs::write(bench.path("in/b.png"), "B").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(2);
    std::fs::File::options().write(true).open(bench.path("in/b.png")).unwrap().set_modified(later).unwrap();
    let report = project.look_for_pictures().unwrap();
    assert_eq!(report.changed, [project.folder().join("in/b.png")]);
    assert!(project.scored_in_run(run).unwrap().is_empty());
    project.keep_content_of(b).unwrap();
    assert_eq!(project.look_for_pictures().unwrap(), editscope::storage::PictureReport { present: 3, ..Default::default() });
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
fn scores_come_back_as_they_were_and_the_queue_shows_their_parts_and_flags() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let (a, b) = (id_of(&project, "a"), id_of(&project, "b"));
    let set = project.start_run(&run(Profile::Corrected, RunKind::Set)).unwrap();
    let mut expected = score(Outcome::Failed("the network gave NaN".into()));
    project.put_score(set, a, &expected, 1.5).unwrap();
    project.put_failure(set, b, Profile::Corrected, "no picture").unwrap();
    project.set_overalls(set, &[(a, Outcome::NotApplicable("no modify".into()))]).unwrap();

    expected.trace[0].numbers.clear(); // JSON has no NaN
    let stored = project.latest_score(a, Profile::Corrected).unwrap().unwrap();
    assert_eq!(stored.score, expected);
    assert_eq!((stored.seconds, stored.overall), (1.5, Some(Outcome::NotApplicable("no modify".into()))));
    assert_eq!(project.latest_score(a, Profile::Paper).unwrap(), None);
    assert_eq!(project.scored_in_run(set).unwrap(), [a].into(), "a failed edit is tried again");
    assert_eq!(project.failures_of_run(set).unwrap(), [(b, "no picture".into())]);
    // With other networks since, whose score counts now: going back to the first ones makes it again, so that what counts is theirs.
    let other = NewRun { models_fingerprint: "other".into(), ..run(Profile::Corrected, RunKind::Set) };
    let other = project.start_run(&other).unwrap();
    project.put_failure(other, a, Profile::Corrected, "the network gave NaN").unwrap();
    assert!(project.scored_in_run(set).unwrap().is_empty());
    project.put_score(set, a, &expected, 1.5).unwrap();
    assert_eq!(project.scored_in_run(set).unwrap(), [a].into());
    // A correction stands beside it and takes nothing away.
    let correction = project.start_run(&run(Profile::Corrected, RunKind::Correction)).unwrap();
    project.put_score(correction, a, &expected, 1.5).unwrap();
    assert_eq!(project.scored_in_run(set).unwrap(), [a].into());
    project.drop_corrections(a, Profile::Corrected).unwrap();
    project.set_overalls(set, &[(a, Outcome::NotApplicable("no modify".into()))]).unwrap();

    let queue = project.queue(Profile::Corrected).unwrap();
    let shown = queue[0].score.clone().unwrap();
    assert_eq!(shown.parts, Ok(expected.parts.clone()));
    // The box covers 15.6 of 16 pixels, the mask all; the trace holds a fallback, modify failed.
    assert_eq!(shown.flags, [Flag::BoxNearlyWhole, Flag::FullMask, Flag::Fallback, Flag::PartFailed]);
    assert_eq!(queue[1].score.clone().unwrap().parts, Err("no picture".into()));
    assert!(project.queue(Profile::Paper).unwrap().iter().all(|row| row.score.is_none()));

    let correction = project.start_run(&run(Profile::Corrected, RunKind::Correction)).unwrap();
    project.put_score(correction, a, &score(Outcome::Value(0.25)), 0.1).unwrap();
    let of = |kind| project.latest_score_of(a, Profile::Corrected, kind).unwrap().unwrap().score.parts.modify;
    assert_eq!(of(RunKind::Correction), Outcome::Value(0.25));
    assert_eq!(of(RunKind::Set), expected.parts.modify, "both scores are kept");

    let mut broken = score(Outcome::Value(f64::NAN));
    project.put_score(correction, a, &broken, 0.1).unwrap();
    let row = project.queue_row(a, Profile::Corrected).unwrap();
    assert!(matches!(row.score.unwrap().parts.unwrap().modify, Outcome::Failed(_)));
    broken.boxes.source[0].rect_in_image.x0 = f32::NAN;
    assert!(matches!(project.put_score(correction, a, &broken, 0.1), Err(StorageError::Invalid { .. })));
    assert!(project.latest_score(a, Profile::Corrected).unwrap().is_some(), "a refused score replaces nothing");
    assert!(matches!(project.put_score(RunId(99), a, &score(Outcome::Value(0.1)), 0.1), Err(StorageError::NoSuch { what: "run", .. })));
}

#[test]
fn a_killed_run_is_found_again_and_a_finished_one_is_not() {
    let bench = Bench::new();
    let wanted = run(Profile::Paper, RunKind::Set);
    let started = {
        let project = bench.project();
        project.import(&two_edits(&bench)).unwrap();
        let started = project.start_run(&wanted).unwrap();
        let score = Score { profile: Profile::Paper, ..score(Outcome::Value(0.1)) };
        project.put_score(started, id_of(&project, "a"), &score, 0.1).unwrap();
        started
    };
    let project = bench.project();
    assert_eq!(project.unfinished_run(&wanted).unwrap(), Some(started));
    let elsewhere = NewRun { device: "gpu".into(), ..wanted.clone() };
    assert_eq!(project.unfinished_run(&elsewhere).unwrap(), Some(started));
    let other = NewRun { models_fingerprint: "other".into(), ..wanted.clone() };
    assert_eq!(project.unfinished_run(&other).unwrap(), None);
    assert_eq!(project.scored_in_run(started).unwrap().len(), 1);
    project.finish_run(started, &RunEnd::Done).unwrap();
    assert_eq!(project.unfinished_run(&wanted).unwrap(), None);
    let stored = project.run(started).unwrap();
    assert_eq!((stored.about, stored.end, stored.scored, stored.failed), (wanted, Some(RunEnd::Done), 1, 0));
    assert!(matches!(project.finish_run(RunId(99), &RunEnd::Done), Err(StorageError::NoSuch { .. })));
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
fn what_is_no_project_is_refused_and_left_alone() {
    let bench = Bench::new();
    let refused = |path: &Path| Project::open(path).expect_err("not a project").to_string();
    assert!(refused(&bench.path("none.editscope")).contains("there is no project"));
    assert!(refused(bench.folder.path()).contains("folder"));
    let text = bench
        .picture("text.editscope", "just some text, long enough to be looked at as a database header, one hundred bytes or more of it")
        .path;
    assert!(refused(&text).contains("no SQLite database"), "{}", refused(&text));
    let other = bench.path("other.sqlite");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(refused(&other).contains("another program"));
    assert!(matches!(Project::create(&text), Err(StorageError::Exists { .. })));
    assert!(matches!(Project::create(&bench.path("no/such/folder/p.editscope")), Err(StorageError::CannotOpen { .. })));

    drop(bench.project());
    let read_only = Project::open_read_only(&bench.path("p.editscope")).unwrap();
    assert!(matches!(read_only.set_meta("a", "b"), Err(StorageError::ReadOnly { .. })));
    assert_eq!(read_only.counts().unwrap(), (0, 0));
}

#[test]
fn two_windows_see_each_other_and_both_writes_arrive() {
    let bench = Bench::new();
    let (one, two) = (bench.project(), bench.project());
    one.import(&two_edits(&bench)).unwrap();
    let a = id_of(&two, "a");
    let before = two.data_version().unwrap();
    two.set_meta("own", "write").unwrap();
    assert_eq!(two.data_version().unwrap(), before, "one's own writes are no news");
    one.add_rating(a, &rating("one", 1.0, None)).unwrap();
    assert_ne!(two.data_version().unwrap(), before);
    // Both write at once, from two threads; SQLite makes them wait for each other.
    let path = bench.path("p.editscope");
    std::thread::scope(|scope| {
        for rater in ["t1", "t2"] {
            let path = &path;
            scope.spawn(move || {
                let project = Project::open(path).unwrap();
                for n in 0..50 {
                    project.add_rating(a, &rating(rater, f64::from(n), Some(n.into()))).unwrap();
                }
            });
        }
    });
    assert_eq!(two.rating_history(a).unwrap().len(), 101);
}

/// Names the project to the child of the test below.
const VICTIM: &str = "EDITSCOPE_TEST_VICTIM";

/// The child of the test below: rates without end, and says each rating after it was saved. Does nothing in a plain test run.
#[test]
fn victim() {
    let Ok(path) = std::env::var(VICTIM) else { return };
    let project = Project::open(Path::new(&path)).unwrap();
    let a = id_of(&project, "a");
    for n in 1.. {
        project.add_rating(a, &rating("x", f64::from(n), Some(n.into()))).unwrap();
        println!("saved {n}");
    }
}

#[test]
fn a_program_killed_while_saving_loses_nothing_that_was_saved() {
    use std::io::{BufRead, BufReader};
    let bench = Bench::new();
    bench.project().import(&two_edits(&bench)).unwrap();
    let path = bench.path("p.editscope");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut last = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(n) = line.unwrap().strip_prefix("saved ") {
            last = n.parse().unwrap();
            if last == 40 {
                child.kill().unwrap(); // SIGKILL
            }
        }
    }
    child.wait().unwrap();
    assert!(last >= 40);
    let project = Project::open(&path).unwrap();
    let history = project.rating_history(id_of(&project, "a")).unwrap();
    assert!(history.len() >= last, "{} of {last}", history.len());
    let counting = project.latest_ratings(id_of(&project, "a")).unwrap();
    assert_eq!(counting[0].values["overall"], history.len() as f64, "the newest whole rating counts");
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

#[test]
fn baselines_hang_on_a_score_and_the_newest_count() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let edits: Vec<EditId> = project.edits().unwrap().iter().map(|edit| edit.id).collect();
    let first = project.start_run(&run(Profile::Corrected, RunKind::Set)).unwrap();
    let ssim = |whole: f64| Zoned {
        whole: Outcome::Value(whole),
        inside: Outcome::NotApplicable("no region".into()),
        outside: Outcome::Failed("NaN".into()),
        note: "stretched".into(),
    };
    let one = |name: &str, zoned: &Zoned| Baselines::from([(name.to_owned(), zoned.clone())]);
    let without_score = project.put_baselines(first, edits[0], &one("ssim", &ssim(0.5)));
    assert!(matches!(without_score, Err(StorageError::NoSuch { .. })), "{without_score:?}");
    project.put_score(first, edits[0], &score(Outcome::Value(0.5)), 1.0).unwrap();
    project.put_baselines(first, edits[0], &one("ssim", &ssim(0.5))).unwrap();
    // Later ones of another name are added, of the same name replaced.
    project.put_baselines(first, edits[0], &one("l1", &Zoned::uniform(&Outcome::Value(f64::NAN)))).unwrap();
    project.put_baselines(first, edits[0], &one("ssim", &ssim(0.25))).unwrap();
    let kept = project.latest_baselines(edits[0], Profile::Corrected).unwrap();
    assert_eq!(kept["ssim"], ssim(0.25));
    assert!(matches!(&kept["l1"].whole, Outcome::Failed(why) if why.contains("NaN")), "what is no number is a failure: {kept:?}");
    assert!(project.latest_baselines(edits[1], Profile::Corrected).unwrap().is_empty());
    assert!(project.latest_baselines(edits[0], Profile::Paper).unwrap().is_empty());

    // A newer score without baselines leaves the older ones, one with its own replaces them.
    let second = project.start_run(&run(Profile::Corrected, RunKind::Correction)).unwrap();
    project.put_score(second, edits[0], &score(Outcome::Value(0.6)), 1.0).unwrap();
    assert_eq!(project.latest_baselines(edits[0], Profile::Corrected).unwrap(), kept);
    assert_eq!(project.newest_baselines(edits[0], Profile::Corrected).unwrap(), Some((second, Baselines::new())));
    project.put_baselines(second, edits[0], &one("ssim", &ssim(1.0))).unwrap();
    let newest = one("ssim", &ssim(1.0));
    assert_eq!(project.latest_baselines(edits[0], Profile::Corrected).unwrap(), newest);
    assert_eq!(project.all_latest_baselines(Profile::Corrected).unwrap(), BTreeMap::from([(edits[0], newest)]));
    assert_eq!(project.newest_baselines(edits[1], Profile::Corrected).unwrap(), None);

    // Scoring again within a run takes a score's baselines with it.
    project.put_score(second, edits[0], &score(Outcome::Value(0.65)), 1.0).unwrap();
    assert_eq!(project.latest_baselines(edits[0], Profile::Corrected).unwrap(), kept);
    project.put_score(first, edits[0], &score(Outcome::Value(0.7)), 1.0).unwrap();
    assert!(project.latest_baselines(edits[0], Profile::Corrected).unwrap().is_empty());
    let kept = project.score_in_run(first, edits[0]).unwrap().map(|stored| stored.score.parts);
    assert_eq!(kept, Some(score(Outcome::Value(0.7)).parts));
    assert_eq!(project.score_in_run(first, edits[1]).unwrap(), None);
}
