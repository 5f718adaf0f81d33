//! Ratings and votes out of tables in a project: every format that `agree` reads, under the names of their files, kept once.

use std::path::Path;
use std::process::{Command, Output};

use editscope::domain::{Answer, EditKey, Judgement, ModelVote, Preference, Protocol};
use editscope::storage::{ConflictKind, EditVote, Project, StorageError, merge};
use serde_json::{Map, Value, json};

use crate::support::{id_of, items, judgement, project, rating, setup};

fn editscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_editscope"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .expect("the program starts")
}

/// Imports a table of ratings; exit code, what was printed, what was listed.
fn import(folder: &Path, name: &str, content: &str) -> (Option<i32>, String, String) {
    std::fs::write(folder.join(name), content).unwrap();
    let out = editscope(folder, &["import", name, "-o", "p.editscope", "--ratings"]);
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[track_caller]
fn agree(folder: &Path) -> Value {
    let out = editscope(folder, &["agree", "p.editscope", "--resamples", "20", "--json"]);
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn tables_without_a_rater_are_by_their_files_and_none_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 1, 2));
    for (name, value) in [("kim.csv", 4), ("jo.csv", 2)] {
        let (code, printed, listed) = import(folder.path(), name, &format!("item,model,overall\ni0,model-0,{value}\n"));
        assert_eq!(code, Some(0), "{listed}");
        assert!(printed.contains("1 of 1 ratings are new") && listed.contains("as the file is called"), "{printed}{listed}");
    }
    let raters: Vec<String> = project.latest_ratings(id_of(&project, "i0-a")).unwrap().into_iter().map(|rating| rating.rater).collect();
    assert_eq!(raters, ["jo", "kim"]);
    // The same for data sets.
    let manifest = |overall: u32| {
        format!(
            r#"{{"id": "i0-a", "item": "i0", "source": "i0.png", "edited": "i0-a.png", "instruction": "make it 0", "model": "model-0", "rating_overall": {overall}}}"#
        )
    };
    for (name, overall) in [("lee.jsonl", 1), ("max.jsonl", 5)] {
        std::fs::write(folder.path().join(name), manifest(overall)).unwrap();
        let out = editscope(folder.path(), &["import", name, "-o", "p.editscope"]);
        let printed = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(printed.contains("ratings that name no rater are by '") && printed.contains("1 ratings are new"), "{printed}");
    }
    assert_eq!(project.latest_ratings(id_of(&project, "i0-a")).unwrap().len(), 4);
}

#[test]
fn every_format_of_ratings_enters_a_project_once() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), "p.editscope", &items(folder.path(), 2, 3));
    let tsv = "uid\tmodel-0\tmodel-1\ni0\t[0,0]\t[1, 0.5]\ni1\t[0.5, 1]\t[1,1]\nnowhere\t[0,0]\t[0,0]\n";
    let (code, printed, listed) = import(folder.path(), "IE_rater1.tsv", tsv);
    assert_eq!(code, Some(1), "{listed}");
    assert!(
        printed.contains("4 of 6 ratings are new") && listed.contains("the project has no edit of 'nowhere' by 'model-0'"),
        "{printed}{listed}"
    );
    assert!(import(folder.path(), "IE_rater1.tsv", tsv).1.contains("0 of 6 ratings are new"));
    let votes = [
        r#"{"id": "i0", "left_model": "model-0", "right_model": "model-1", "vote_type": "leftvote"}"#,
        r#"{"id": "i1", "left_model": "model-1", "right_model": "model-0", "vote_type": "bothbad_vote"}"#,
        r#"{"id": "i1", "left_model": "model-0", "right_model": "model-9", "vote_type": "tievote"}"#,
    ]
    .join("\n");
    let (code, printed, listed) = import(folder.path(), "genai.jsonl", &votes);
    assert_eq!(code, Some(1));
    assert!(
        printed.contains("2 of 3 votes are new") && listed.contains("the project has no edit of 'i1' by 'model-9'"),
        "{printed}{listed}"
    );
    assert!(import(folder.path(), "genai.jsonl", &votes).1.contains("0 of 3 votes are new"));
    // The first is preferred; the edits are named by their keys.
    let score = r#"{"key": ["i0-c", "i0-a"], "instruction": "make it 0", "output_images": ["x", "y"], "dimension": "consistency"}"#;
    assert_eq!(import(folder.path(), "bench.jsonl", score).1.trim_end(), "p.editscope: 1 of 1 votes are new");
    let reward = r#"[{"id": "i0", "model1": "model-2", "model2": "model-1", "model1_dim1_score": 4, "model2_dim1_score": 2}]"#;
    assert!(import(folder.path(), "reward.json", reward).1.contains("2 of 2 ratings and 1 of 1 votes are new"));

    let found = agree(folder.path());
    assert_eq!((&found["vote_count"], &found["rater_set"]), (&4.into(), &json!(["bench", "genai", "rater1", "reward"])));
    assert_eq!(found["between_raters_all"]["SC"]["answers"], 4);
    let votes: Vec<ModelVote> = project.session_opinions().unwrap().votes;
    let vote = |item: &str, criterion: &str, rater: &str, first: &str, second: &str, preference| ModelVote {
        item: item.into(),
        criterion: criterion.into(),
        rater: rater.into(),
        first: first.into(),
        second: second.into(),
        preference,
    };
    assert_eq!(
        votes,
        [
            vote("i0", "overall", "genai", "model-0", "model-1", Preference::First),
            vote("i1", "overall", "genai", "model-1", "model-0", Preference::BothBad),
            vote("i0", "consistency", "bench", "model-2", "model-0", Preference::First),
            vote("i0", "overall", "reward", "model-2", "model-1", Preference::First),
        ]
    );
    let about: Vec<_> =
        project.table_votes_about(id_of(&project, "i0-a")).unwrap().into_iter().map(|(vote, _)| (vote.rater, vote.criterion)).collect();
    assert_eq!(about, [("genai".to_owned(), "overall".to_owned()), ("bench".to_owned(), "consistency".to_owned())]);
    // What is about nothing, and what is no rating, is refused.
    let (code, _, listed) =
        import(folder.path(), "none.jsonl", r#"{"id": "x", "left_model": "a", "right_model": "b", "vote_type": "tievote"}"#);
    assert!(code == Some(2) && listed.contains("none of the 1 votes is about an edit of"), "{listed}");
    let (code, _, listed) = import(folder.path(), "scores.csv", "item,model,lpips\ni0,model-0,0.5\n");
    assert!(code == Some(2) && listed.contains("agree PROJECT --scores"), "{listed}");
}

#[test]
fn a_later_table_corrects_the_votes_of_its_rater_and_votes_travel() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 3);
    let a = project(folder.path(), "a.editscope", &items);
    let vote = |first: &str, second: &str, rater: &str, preference| EditVote {
        first: id_of(&a, first),
        second: id_of(&a, second),
        rater: rater.into(),
        criterion: "overall".into(),
        preference,
    };
    let first = [
        vote("i0-a", "i0-b", "kim", Preference::First),
        vote("i0-a", "i0-c", "kim", Preference::Tie),
        vote("i0-a", "i0-b", "jo", Preference::Second),
    ];
    assert_eq!(a.import_opinions(&[], &first).unwrap(), (0, 3));
    // The same the other way round says nothing new; another preference does.
    let again = [vote("i0-b", "i0-a", "kim", Preference::Second), vote("i0-c", "i0-a", "kim", Preference::First)];
    assert_eq!(a.import_opinions(&[], &again).unwrap(), (0, 1));
    let counting = [first[0].clone(), first[2].clone(), again[1].clone()];
    assert_eq!(a.table_votes().unwrap(), counting);
    let wrong = EditVote { second: first[0].first, ..first[0].clone() };
    assert!(matches!(a.import_opinions(&[], &[wrong]), Err(StorageError::Invalid { .. })));

    let rows = a.rater_rows(Some("kim")).unwrap();
    let file = folder.path().join("kim.csv");
    editscope::export::write_ratings_csv(&rows, &file).unwrap();
    let read = editscope::datasets::read_rater_rows(&file).unwrap();
    assert_eq!((&read.rows, &read.problems), (&rows, &vec![]));
    let b = project(folder.path(), "b.editscope", &items);
    assert_eq!(b.import_rater_rows(&read.rows).unwrap().votes_added, 2);
    assert_eq!(b.import_rater_rows(&read.rows).unwrap().votes_added, 0);
    let output = folder.path().join("c.editscope");
    let report = merge(&[a.path().to_owned(), b.path().to_owned()], &output).unwrap();
    assert_eq!(report.conflicts, []);
    let c = Project::open(&output).unwrap();
    assert_eq!(c.session_opinions().unwrap().votes.len(), 3);
}

#[test]
fn votes_and_rankings_that_differ_between_copies_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let (a, b) = (project(folder.path(), "a.editscope", &items), project(folder.path(), "b.editscope", &items));
    let pairs = setup(Protocol::Pairwise, &items);
    let ranking = setup(Protocol::Ranking, &items);
    let uids: Vec<[String; 2]> =
        [&a, &b].iter().map(|project| [project.add_session(&pairs).unwrap(), project.add_session(&ranking).unwrap()]).collect();
    assert_eq!(uids[0], uids[1]);
    let [pair, rank] = &uids[0];
    let shown = |uid: &str, rater: &str, task: &str, answer, at| Judgement {
        task: task.into(),
        shown: ["i0-a", "i0-b"].map(|key| EditKey(key.into())).into(),
        rubric: None,
        ..judgement(uid, rater, "i0-a", answer, at)
    };
    let vote = |rater: &str, preference, at| shown(pair, rater, "pair", Answer::Pair(preference), at);
    // ann votes differently on two machines; bob corrects on b what he said on both; cho ranks differently.
    a.add_judgement(&vote("ann", Preference::First, 10)).unwrap();
    b.add_judgement(&vote("ann", Preference::Second, 11)).unwrap();
    for project in [&a, &b] {
        project.add_judgement(&vote("bob", Preference::First, 10)).unwrap();
    }
    b.add_judgement(&vote("bob", Preference::Tie, 12)).unwrap();
    a.add_judgement(&shown(rank, "cho", "rank", Answer::Ranking(vec![1, 2]), 10)).unwrap();
    b.add_judgement(&shown(rank, "cho", "rank", Answer::Ranking(vec![2, 1]), 9)).unwrap();
    for (project, preference) in [(&a, Preference::First), (&b, Preference::Tie)] {
        let (first, second) = (id_of(project, "i0-a"), id_of(project, "i0-b"));
        let vote = EditVote { first, second, rater: "dan".into(), criterion: "overall".into(), preference };
        project.import_opinions(&[], &[vote]).unwrap();
    }
    let output = folder.path().join("c.editscope");
    let report = merge(&[a.path().to_owned(), b.path().to_owned()], &output).unwrap();
    let told: Vec<&str> = report.conflicts.iter().map(|conflict| conflict.what.as_str()).collect();
    assert!(report.conflicts.iter().all(|conflict| conflict.kind == ConflictKind::Vote), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
    for words in [
        "task 'pair', rater ann: a.editscope says {\"pair\":\"first\"} of i0-a, i0-b, b.editscope says {\"pair\":\"second\"} of i0-a, i0-b",
        "task 'rank', rater cho",
        "edits 'i0-a' and 'i0-b', overall, rater dan: a.editscope says i0-a is better, b.editscope says tie",
    ] {
        assert!(told.iter().any(|told| told.contains(words)), "{words}: {told:?}");
    }
    // The later one counts, whatever the order of the projects.
    let turned = folder.path().join("d.editscope");
    merge(&[b.path().to_owned(), a.path().to_owned()], &turned).unwrap();
    for output in [output, turned] {
        let votes = Project::open(&output).unwrap().session_opinions().unwrap().votes;
        let of = |rater: &str| votes.iter().find(|vote| vote.rater == rater).unwrap().preference;
        assert_eq!([of("ann"), of("bob"), of("cho")], [Preference::Second, Preference::Tie, Preference::First]);
    }
}

#[test]
fn an_older_vote_that_is_imported_later_corrects_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    let (a, b) = (project(folder.path(), "a.editscope", &items), project(folder.path(), "b.editscope", &items));
    let pairs = setup(Protocol::Pairwise, &items);
    let uid = a.add_session(&pairs).unwrap();
    b.add_session(&pairs).unwrap();
    let vote = |preference, at| Judgement {
        task: "pair".into(),
        shown: ["i0-a", "i0-b"].map(|key| EditKey(key.into())).into(),
        rubric: None,
        ..judgement(&uid, "ann", "i0-a", Answer::Pair(preference), at)
    };
    a.add_judgement(&vote(Preference::First, 10)).unwrap();
    b.add_judgement(&vote(Preference::Second, 20)).unwrap();
    b.import_rater_rows(&a.rater_rows(Some("ann")).unwrap()).unwrap();
    assert_eq!(b.session_opinions().unwrap().votes[0].preference, Preference::Second);
}

#[test]
fn numbers_that_came_with_the_edits_are_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let mut items = items(folder.path(), 2, 2);
    // By hand: LPIPS is lower for the edit that ann prefers on both items, `clip` only on the first.
    for (item, [lpips, clip]) in items.iter_mut().zip([[[0.1, 0.5], [0.9, 0.1]], [[0.2, 0.4], [0.3, 0.8]]]) {
        for (at, edit) in item.edits.iter_mut().enumerate() {
            let clip = if at == 1 && clip[at] == 0.8 { json!("0,8") } else { json!(clip[at].to_string()) };
            edit.extra = Map::from_iter([
                ("lpips".to_owned(), json!(lpips[at])),
                ("clip".to_owned(), clip),
                ("seed".to_owned(), json!(at)),
                ("note".to_owned(), json!("fine")),
            ]);
        }
    }
    let project = project(folder.path(), "p.editscope", &items);
    for item in ["i0", "i1"] {
        for (edit, value) in [("a", 5.0), ("b", 1.0)] {
            project.add_rating(id_of(&project, &format!("{item}-{edit}")), &rating("ann", value, Some(1))).unwrap();
        }
    }
    let out = editscope(folder.path(), &["agree", "p.editscope", "--resamples", "20", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let found: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    let shares: Vec<(&str, f64)> = found["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["metric"].as_str().unwrap(), line["agreement"]["macro_mean"].as_f64().unwrap()))
        .collect();
    assert_eq!(shares, [("clip", 0.5), ("lpips", 1.0)]);
    assert!(said.contains("lower is better, so the sign is turned: lpips"), "{said}");
    assert!(said.contains("compared as metrics: clip, lpips; higher is taken for better in clip"), "{said}");
    // The window gathers the same.
    let gathered = editscope::engine::evidence::of_project(project.path(), Default::default(), None, None).unwrap();
    assert_eq!((gathered.evidence.metrics, gathered.turned), (vec!["clip".to_owned(), "lpips".to_owned()], vec!["lpips".to_owned()]));
}

#[test]
fn votes_that_cannot_be_taken_are_named_by_file_and_row_and_merge_counts_votes() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 1, 2);
    drop(project(folder.path(), "p.editscope", &items));
    drop(project(folder.path(), "q.editscope", &items));
    let votes = "item,first,second,rater,vote\ni0,model-0,model-1,kim,first\ni0,model-0,model-7,kim,tie\ni0,model-0,model-7,lee,first\n";
    let (code, printed, listed) = import(folder.path(), "v.csv", votes);
    assert!(code == Some(1) && printed.contains("1 of 3 votes are new"), "{printed}{listed}");
    assert!(listed.contains("problem: v.csv:3: the project has no edit of 'i0' by 'model-7' (2 votes)"), "{listed}");
    let out = editscope(folder.path(), &["merge", "p.editscope", "q.editscope", "-o", "m.editscope"]);
    let printed = String::from_utf8_lossy(&out.stdout).into_owned();
    let counts: Vec<bool> = printed.lines().map(|line| line.contains(", 1 votes from tables,")).collect();
    assert_eq!(counts, [true, false, true], "{printed}");
}

#[test]
fn agree_reads_exported_ratings_as_a_project_does() {
    let folder = tempfile::tempdir().unwrap();
    let items = items(folder.path(), 2, 2);
    let project = project(folder.path(), "p.editscope", &items);
    // Ann corrects herself once; bob rates half of it; kim votes in a table, and cho in a session.
    for (edit, rater, value, at) in [
        ("i0-a", "ann", 1.0, 1),
        ("i0-a", "ann", 5.0, 2),
        ("i0-b", "ann", 2.0, 3),
        ("i1-a", "ann", 4.0, 4),
        ("i1-b", "ann", 1.0, 5),
        ("i0-a", "bob", 4.0, 6),
        ("i0-b", "bob", 2.0, 7),
    ] {
        project.add_rating(id_of(&project, edit), &rating(rater, value, Some(at))).unwrap();
    }
    let vote = EditVote {
        first: id_of(&project, "i0-a"),
        second: id_of(&project, "i0-b"),
        rater: "kim".into(),
        criterion: "overall".into(),
        preference: Preference::First,
    };
    project.import_opinions(&[], &[vote]).unwrap();
    let uid = project.add_session(&setup(Protocol::Pairwise, &items)).unwrap();
    let pair = Judgement {
        task: "pair".into(),
        shown: ["i1-a", "i1-b"].map(|key| EditKey(key.into())).into(),
        rubric: None,
        ..judgement(&uid, "cho", "i1-a", Answer::Pair(Preference::Second), 10)
    };
    project.add_judgement(&pair).unwrap();
    drop(project);
    let of_project = agree(folder.path());
    for name in ["r.jsonl", "r.csv"] {
        let out = editscope(folder.path(), &["export", "p.editscope", "--format", "ratings", "-o", name]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let out = editscope(folder.path(), &["agree", "--ratings", name, "--resamples", "20", "--json"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        let found: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {said}"));
        assert_eq!(out.status.code(), Some(0), "{name}: {said}");
        for key in ["rater_set", "vote_count", "rated", "between_raters_all"] {
            assert_eq!(found[key], of_project[key], "{name}: {key}");
        }
        assert_eq!((&found["vote_count"], &found["rater_set"]), (&2.into(), &json!(["ann", "bob", "cho", "kim"])), "{name}");
        assert_eq!(found["between_raters_all"]["overall"]["answers"], 6, "{name}: the correction counts once");
        assert!(said.contains("read as editscope"), "{said}");
    }
}
