//! Small projects with known content, and the words of raters.

use std::collections::BTreeMap;
use std::path::Path;

use editscope::domain::{
    Answer, Edit, EditKey, Item, ItemKey, Judgement, PictureRef, Protocol, Rating, Rubric, RubricId, SessionEdit, SessionSetup, TaskRole,
    Visible,
};
use editscope::storage::{EditId, Project};

pub fn picture(folder: &Path, name: &str, content: &str) -> PictureRef {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("the folder is ours");
    PictureRef { path, given: name.into() }
}

/// Items `i0`, `i1`, … with edits `i0-a`, `i0-b`, …; the pictures hold their names.
pub fn items(folder: &Path, count: usize, edits: usize) -> Vec<Item> {
    let edit = |key: String, letter: usize| Edit {
        picture: picture(folder, &format!("{key}.png"), &key),
        key: EditKey(key),
        model: format!("model-{letter}"),
        ratings: Vec::new(),
        extra: Default::default(),
    };
    let letters = ["a", "b", "c", "d"];
    (0..count)
        .map(|item| Item {
            key: ItemKey(format!("i{item}")),
            source: picture(folder, &format!("i{item}.png"), &format!("source {item}")),
            instruction: format!("make it {item}"),
            parse: None,
            edits: (0..edits).map(|index| edit(format!("i{item}-{}", letters[index]), index)).collect(),
            extra: Default::default(),
        })
        .collect()
}

pub fn project(folder: &Path, name: &str, items: &[Item]) -> Project {
    let project = Project::create(&folder.join(name)).expect("the folder is ours");
    project.import(items).expect("the items are fine");
    project
}

pub fn setup(protocol: Protocol, items: &[Item]) -> SessionSetup {
    let edits = items
        .iter()
        .flat_map(|item| item.edits.iter().map(|edit| SessionEdit { item: item.key.clone(), edit: edit.key.clone() }).collect::<Vec<_>>());
    SessionSetup {
        name: "first round".into(),
        protocol,
        blind: true,
        live_agreement: false,
        repeat_percent: 0,
        checks: 0,
        seed: 1,
        which: "all".into(),
        edits: edits.collect(),
        created_by: "ann".into(),
        created_millis: 0,
    }
}

pub fn paper() -> Protocol {
    Protocol::Rubric { rubric: Rubric::paper() }
}

pub fn rubric_answer(value: f64) -> Answer {
    let values = Rubric::paper().questions.into_iter().map(|question| (question.name, value)).collect();
    Answer::Rubric { values, cannot_judge: Vec::new() }
}

pub fn judgement(session: &str, rater: &str, edit: &str, answer: Answer, at_millis: i64) -> Judgement {
    Judgement {
        session: session.into(),
        rater: rater.into(),
        item: ItemKey(edit.split('-').next().unwrap_or_default().into()),
        shown: vec![EditKey(edit.into())],
        task: format!("edit:{edit}"),
        role: TaskRole::Plain,
        answer,
        comment: String::new(),
        place: 3,
        seconds: 4.5,
        at_millis,
        visible: Visible::default(),
        rubric: Some(RubricId::from(&Rubric::paper())),
    }
}

pub fn id_of(project: &Project, key: &str) -> EditId {
    project.edit_by_key(&EditKey(key.into())).expect("readable").expect("imported")
}

pub fn rating(rater: &str, overall: f64, at_millis: Option<i64>) -> Rating {
    Rating { at_millis, ..Rating::new(rater, BTreeMap::from([("overall".into(), overall)])) }
}
