//! Regions that people changed on copies of a project come together: nothing twice, nothing lost, and who went another way is said.

use std::path::{Path, PathBuf};

use editscope::domain::regions::{EntryKind, JournalEntry, RegionChange, SideRegions, Token};
use editscope::domain::{Item, Rect, Region, RegionOrigin, RegionRole, RegionShape, Side};
use editscope::storage::{Appended, Conflict, ConflictKind, EditId, MergeReport, Project, merge};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::support::{id_of, items, project};

/// The regions of a side when a person has drawn boxes of these names.
fn boxes(side: Side, names: &[String]) -> SideRegions {
    let role = if side == Side::Source { RegionRole::Original } else { RegionRole::Edited };
    let region = |name: &String| Region {
        side,
        role,
        origin: RegionOrigin::Person,
        shape: RegionShape::Box(Rect::new(0.0, 0.0, 2.0, 2.0)),
        label: name.clone(),
        confidence: None,
    };
    SideRegions::from_plain(side, &names.iter().map(region).collect::<Vec<_>>()).unwrap()
}

fn names(state: &SideRegions) -> Vec<String> {
    state.plain().into_iter().map(|region| region.label).collect()
}

fn counting(project: &Project, edit: EditId, side: Side) -> Vec<String> {
    names(&project.region_journal(edit, side, usize::MAX).unwrap().stream.state)
}

/// `who` goes on from what counts by one more box.
fn draw(project: &Project, edit: EditId, side: Side, who: &str, at_millis: i64) {
    let stream = project.region_journal(edit, side, usize::MAX).unwrap().stream;
    let mut all = names(&stream.state);
    all.push(format!("{who}{at_millis}"));
    let change = RegionChange::between(&stream.state, &boxes(side, &all));
    append(project, edit, JournalEntry { kind: EntryKind::Do, ..entry(stream.head, side, who, at_millis, change) });
}

fn entry(parent: Token, side: Side, who: &str, at_millis: i64, change: RegionChange) -> JournalEntry {
    let what = format!("drew {at_millis}");
    JournalEntry { token: Token::random(), parent, side, kind: EntryKind::Do, who: who.into(), what, at_millis, change }
}

fn append(project: &Project, edit: EditId, entry: JournalEntry) {
    assert_eq!(project.append_region_change(edit, &entry).unwrap(), Appended::Stored);
}

/// `who` takes the newest change back.
fn undo(project: &Project, edit: EditId, side: Side, who: &str, at_millis: i64) {
    let journal = project.region_journal(edit, side, usize::MAX).unwrap();
    let last = journal.entries.last().unwrap();
    let kind = EntryKind::Undo(last.token);
    append(project, edit, JournalEntry { kind, ..entry(journal.stream.head, side, who, at_millis, last.change.inverse()) });
}

/// All entries by what they are about, then by time; tokens among them.
fn journals(path: &Path) -> Vec<String> {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let query = "SELECT items.key, edits.key, region_changes.at_millis, token, parent, region_changes.kind, target, who, what, change
                 FROM region_changes JOIN items ON items.id = region_changes.item_id
                 LEFT JOIN edits ON edits.id = region_changes.edit_id
                 ORDER BY items.key, edits.key, region_changes.at_millis, token";
    let mut query = conn.prepare(query).unwrap();
    let rows = query.query_map([], |row| {
        let cells: Result<Vec<String>, _> = (0..10).map(|column| row.get_ref(column).map(|value| format!("{value:?}"))).collect();
        Ok(cells?.join(" | "))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn merged(folder: &Path, inputs: &[&Path], name: &str) -> (PathBuf, MergeReport) {
    let output = folder.join(name);
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    let report = merge(&inputs, &output).unwrap();
    (output, report)
}

/// A project of one item with two edits in which ann drew on the source, and copies of it.
struct Copies {
    folder: tempfile::TempDir,
    items: Vec<Item>,
}

impl Copies {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let items = items(folder.path(), 1, 2);
        let project = project(folder.path(), "base.editscope", &items);
        draw(&project, id_of(&project, "i0-a"), Side::Source, "ann", 1);
        Self { folder, items }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.editscope"))
    }

    fn copy(&self, name: &str, work: impl FnOnce(&Project, EditId, EditId)) -> PathBuf {
        let path = self.path(name);
        std::fs::copy(self.path("base"), &path).unwrap();
        let project = Project::open(&path).unwrap();
        work(&project, id_of(&project, "i0-a"), id_of(&project, "i0-b"));
        path
    }
}

#[test]
fn journals_are_joined_and_merging_again_adds_nothing() {
    let copies = Copies::new();
    let a = copies.copy("a", |project, a, _| {
        draw(project, a, Side::Source, "ann", 10);
        undo(project, a, Side::Source, "ann", 11);
        draw(project, a, Side::Source, "ann", 12);
    });
    let b = copies.copy("b", |project, a, b| {
        draw(project, a, Side::Edit, "bob", 5);
        draw(project, b, Side::Edit, "bob", 6);
    });
    let folder = copies.folder.path();
    let (alone, report) = merged(folder, &[&a, &a], "aa.editscope");
    assert_eq!((journals(&alone), report.conflicts), (journals(&a), vec![]));
    let (first, report) = merged(folder, &[&a, &b], "ab.editscope");
    let (second, _) = merged(folder, &[&b, &a], "ba.editscope");
    assert_eq!(report.conflicts, [], "they worked on different sides");
    // One of the base, three of a, two of b.
    assert_eq!((report.merged.region_changes, journals(&first).len()), (6, 6));
    assert_eq!(journals(&first), journals(&second));
    let (again, report) = merged(folder, &[&first, &a, &b], "again.editscope");
    assert_eq!((journals(&again), report.conflicts), (journals(&first), vec![]));
    let project = Project::open(&first).unwrap();
    let (a, b) = (id_of(&project, "i0-a"), id_of(&project, "i0-b"));
    assert_eq!(counting(&project, a, Side::Source), ["ann1", "ann12"]);
    assert_eq!((counting(&project, a, Side::Edit), counting(&project, b, Side::Edit)), (vec!["bob5".into()], vec!["bob6".into()]));
    let kinds: Vec<EntryKind> = project.region_journal(a, Side::Source, usize::MAX).unwrap().entries.iter().map(|e| e.kind).collect();
    assert!(matches!(kinds[..], [EntryKind::Do, EntryKind::Do, EntryKind::Undo(_), EntryKind::Do]), "{kinds:?}");
}

#[test]
fn who_went_another_way_is_said_the_newest_counts_and_the_other_can_be_brought_back() {
    let copies = Copies::new();
    let folder = copies.folder.path();
    let a = copies.copy("a", |project, a, _| {
        draw(project, a, Side::Source, "ann", 10);
        draw(project, a, Side::Source, "ann", 11);
    });
    let b = copies.copy("b", |project, a, _| draw(project, a, Side::Source, "bob", 20));
    let (both, report) = merged(folder, &[&a, &b], "ab.editscope");
    let (turned, other) = merged(folder, &[&b, &a], "ba.editscope");
    assert_eq!((journals(&both), &report.conflicts), (journals(&turned), &other.conflicts));
    let [Conflict { kind: ConflictKind::Regions, what }] = &report.conflicts[..] else { panic!("{:?}", report.conflicts) };
    assert_eq!(
        what,
        "regions of the source of item 'i0': a.editscope has 2 changes of its own, the newest by ann, b.editscope has 1 changes of its own, \
         the newest by bob; all are kept, those of b.editscope count, the others are set aside in the history"
    );
    let project = Project::open(&both).unwrap();
    let edit = id_of(&project, "i0-a");
    assert_eq!(counting(&project, edit, Side::Source), ["ann1", "bob20"]);
    let entries = project.region_journal(edit, Side::Source, usize::MAX).unwrap().entries;
    let aside: Vec<&JournalEntry> = entries.iter().filter(|entry| entry.kind == EntryKind::SetAside).collect();
    assert_eq!(aside.iter().map(|entry| entry.what.as_str()).collect::<Vec<_>>(), ["drew 10", "drew 11"]);
    // The second of them leads on from the first.
    let brought_back = |token| names(&project.regions_before(edit, Side::Source, token).unwrap());
    assert_eq!(brought_back(aside[0].token), ["ann1", "ann10"]);
    assert_eq!(brought_back(aside[1].token), ["ann1", "ann10", "ann11"]);
    // It was decided: merging again says nothing more about it. Work goes on from here.
    draw(&project, edit, Side::Source, "cho", 30);
    drop(project);
    let (again, report) = merged(folder, &[&a, &both, &b], "again.editscope");
    assert_eq!((journals(&again), report.conflicts), (journals(&both), vec![]));
    // Ann, who never saw it, goes on on her copy: this is another way again, and the newest one.
    let on = Project::open(&a).unwrap();
    draw(&on, id_of(&on, "i0-a"), Side::Source, "ann", 40);
    drop(on);
    let (third, report) = merged(folder, &[&both, &a], "third.editscope");
    assert_eq!(report.conflicts.len(), 1);
    let project = Project::open(&third).unwrap();
    assert_eq!(counting(&project, id_of(&project, "i0-a"), Side::Source), ["ann1", "ann10", "ann11", "ann40"]);
    assert_eq!(report.merged.region_changes, 6, "1, 10, 11, 20, 30 and 40");
}

#[test]
fn row_ids_of_upgraded_files_are_not_taken_for_the_same_change() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    // As an upgrade from file version 2 leaves them: tokens 1, 2, … in every file.
    let upgraded = |name: &str, key: &str| {
        let project = project(folder.path(), name, &items);
        let edit = id_of(&project, key);
        for (token, parent, at) in [(1, 0, 100), (2, 1, 200)] {
            let before = project.region_journal(edit, Side::Edit, usize::MAX).unwrap().stream.state;
            let change = RegionChange::replacing(&before, &boxes(Side::Edit, &[format!("{name} {at}")]));
            append(&project, edit, JournalEntry { token: Token(token), ..entry(Token(parent), Side::Edit, "old", at, change) });
        }
        project.path().to_owned()
    };
    let (a, b) = (upgraded("a.editscope", "i0-a"), upgraded("b.editscope", "i0-b"));
    let (output, report) = merged(folder.path(), &[&a, &b], "c.editscope");
    assert_eq!((report.merged.region_changes, report.conflicts), (4, vec![]));
    let (again, report) = merged(folder.path(), &[&b, &output, &a], "d.editscope");
    assert_eq!((journals(&again), report.conflicts), (journals(&output), vec![]));
    let project = Project::open(&output).unwrap();
    for (key, label) in [("i0-a", "a.editscope 200"), ("i0-b", "b.editscope 200")] {
        assert_eq!(counting(&project, id_of(&project, key), Side::Edit), [label]);
    }
}

#[test]
fn copies_whose_pictures_became_different_keep_their_regions_apart() {
    let copies = Copies::new();
    let here = copies.copy("here", |project, a, _| draw(project, a, Side::Edit, "ann", 10));
    // The copy lies elsewhere, with another picture under the same name.
    let there = copies.folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    for item in &copies.items {
        let pictures = item.edits.iter().map(|edit| &edit.picture).chain([&item.source]);
        for picture in pictures {
            std::fs::copy(&picture.path, there.join(&picture.given)).unwrap();
        }
    }
    std::fs::write(there.join("i0-a.png"), "another picture").unwrap();
    std::fs::copy(&here, there.join("p.editscope")).unwrap();
    let moved = there.join("p.editscope");
    let folder = copies.folder.path();
    let (output, _) = merged(folder, &[&here, &moved], "c.editscope");
    let project = Project::open(&output).unwrap();
    let with_key: Vec<EditId> =
        project.edits().unwrap().into_iter().filter(|edit| edit.key.0.starts_with("i0-a")).map(|edit| edit.id).collect();
    assert_eq!(with_key.len(), 2);
    for edit in with_key {
        assert_eq!(counting(&project, edit, Side::Edit), ["ann10"]);
    }
    drop(project);
    let (again, _) = merged(folder, &[&output, &here, &moved], "d.editscope");
    assert_eq!(journals(&again), journals(&output));
}

/// Scores an edit in a run of its own.
fn score(project: &Project, edit: EditId) {
    use editscope::domain::{Outcome, Parts, Profile, Score};
    use editscope::storage::{NewRun, RunKind};
    let run = NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: project.path().display().to_string(),
        settings: serde_json::Value::Null,
        range: None,
    };
    let run = project.start_run(&run).unwrap();
    let half = || Outcome::Value(0.5);
    let parts = Parts { size: half(), position: half(), modify: half(), preserve: half() };
    project.put_score(run, edit, &Score::of_parts(Profile::Corrected, false, parts), 1.0).unwrap();
}

/// Key of the edit, whether the score was made in project a, whether it is stale.
fn staleness(path: &Path) -> Vec<(String, bool, bool)> {
    let conn = Connection::open(path).unwrap();
    let mut query = conn
        .prepare("SELECT edits.key, device LIKE '%a.editscope', stale FROM scores JOIN edits ON edits.id = edit_id JOIN runs ON runs.id = run_id ORDER BY 1, 2")
        .unwrap();
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap().map(Result::unwrap).collect()
}

#[test]
fn scores_are_fresh_only_where_their_parse_counts() {
    use editscope::domain::{Parse, ParseOrigin};
    let copies = Copies::new();
    let parse = |project: &Project, edit: EditId, part: &str, origin: ParseOrigin, who: &str| {
        let item = project.edit(edit).unwrap().item;
        let parse = Parse { edited_part: part.into(), origin, ..Parse::default() };
        project.set_parse(item, &parse, who).unwrap();
    };
    // Both read the instruction by rules and scored; b's rater then put the parse right and scored one of the two edits again.
    let a = copies.copy("a", |project, a, b| {
        parse(project, a, "mug", ParseOrigin::Rules, "rules");
        [a, b].into_iter().for_each(|edit| score(project, edit));
    });
    let b = copies.copy("b", |project, a, b| {
        parse(project, a, "mug", ParseOrigin::Rules, "rules");
        score(project, b);
        parse(project, a, "red mug", ParseOrigin::Person, "bob");
        score(project, a);
    });
    let of = |key: &str, from_a, stale| (key.to_owned(), from_a, stale);
    let expected = [of("i0-a", false, false), of("i0-a", true, true), of("i0-b", false, true), of("i0-b", true, true)];
    for (order, name) in [([&*a, &*b], "c.editscope"), ([&*b, &*a], "d.editscope")] {
        let (output, _) = merged(copies.folder.path(), &order, name);
        assert_eq!(staleness(&output), expected, "{name}");
        // Merging once more what is merged changes nothing.
        let (again, _) = merged(copies.folder.path(), &[&output, &a], &format!("again-{name}"));
        assert_eq!(staleness(&again), expected, "{name}");
    }
    // Where both say the same, nothing is stale.
    let same = copies.copy("e", |project, a, b| {
        parse(project, a, "mug", ParseOrigin::Rules, "rules");
        [a, b].into_iter().for_each(|edit| score(project, edit));
    });
    let (output, _) = merged(copies.folder.path(), &[&a, &same], "f.editscope");
    assert!(staleness(&output).iter().all(|(_, _, stale)| !stale));
}

#[test]
fn scores_are_fresh_only_where_their_regions_count() {
    let copies = Copies::new();
    // Both scored both edits; b drew on edit b and scored it again.
    let a = copies.copy("a", |project, a, b| [a, b].into_iter().for_each(|edit| score(project, edit)));
    let b = copies.copy("b", |project, a, b| {
        draw(project, b, Side::Edit, "bob", 10);
        [a, b].into_iter().for_each(|edit| score(project, edit));
    });
    let (output, _) = merged(copies.folder.path(), &[&a, &b], "c.editscope");
    let found = staleness(&output);
    let of = |key: &str, from_a, stale| (key.to_owned(), from_a, stale);
    assert_eq!(found, [of("i0-a", false, false), of("i0-a", true, false), of("i0-b", false, false), of("i0-b", true, true)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn whatever_people_do_the_order_of_merging_does_not_show(work in prop::collection::vec((0..3_usize, 0..4_usize, prop::bool::ANY), 1..14)) {
        let copies = Copies::new();
        let paths: Vec<PathBuf> = ["a", "b", "c"].map(|name| copies.copy(name, |_, _, _| {})).into();
        for (step, (copy, place, takes_back)) in work.iter().enumerate() {
            let project = Project::open(&paths[*copy]).unwrap();
            let edit = id_of(&project, if place % 2 == 0 { "i0-a" } else { "i0-b" });
            let side = if *place < 2 { Side::Source } else { Side::Edit };
            let (who, at) = (["ann", "bob", "cho"][*copy], 10 + step as i64);
            let last = project.region_journal(edit, side, usize::MAX).unwrap().entries.last().cloned();
            match last {
                Some(last) if *takes_back && last.kind == EntryKind::Do => undo(&project, edit, side, who, at),
                _ => draw(&project, edit, side, who, at),
            }
        }
        let folder = copies.folder.path();
        let [a, b, c] = [&*paths[0], &*paths[1], &*paths[2]];
        let (all, report) = merged(folder, &[a, b, c], "abc.editscope");
        // Nothing is lost and nothing comes twice: one entry of the base, one for each thing that was done.
        prop_assert_eq!(report.merged.region_changes, 1 + work.len());
        let (turned, _) = merged(folder, &[c, a, b], "cab.editscope");
        prop_assert_eq!(journals(&turned), journals(&all));
        let (two, _) = merged(folder, &[b, c], "bc.editscope");
        let (step_by_step, _) = merged(folder, &[&two, a], "bc-a.editscope");
        prop_assert_eq!(journals(&step_by_step), journals(&all));
        // What counts can be read, and each entry leads somewhere.
        let project = Project::open(&all).unwrap();
        for key in ["i0-a", "i0-b"] {
            for side in [Side::Source, Side::Edit] {
                let edit = id_of(&project, key);
                for entry in project.region_journal(edit, side, usize::MAX).unwrap().entries {
                    prop_assert!(project.regions_before(edit, side, entry.token).is_ok());
                }
            }
        }
    }
}
