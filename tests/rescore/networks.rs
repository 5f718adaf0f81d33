//! A set is scored by one kind of networks: what is computed about an edit later is computed with those that scored it.

use std::fs;
use std::path::{Path, PathBuf};

use editscope::domain::{Profile, Rect, RegionRole, RegionShape, Side};
use editscope::engine::ModelSource;
use editscope::engine::scored_by::scored_by;
use editscope::storage::{Project, Run, RunKind};

use crate::{Demo, region};

/// The demo's networks in a folder of their own, with a blank behind a configuration: they find the same, and have another fingerprint.
fn others(folder: &Path) -> PathBuf {
    let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("models/demo"), folder.join("others"));
    for role in ["clip", "sam", "grounding-dino"] {
        fs::create_dir_all(to.join(role)).expect("the folder is ours");
        for file in fs::read_dir(from.join(role)).expect("committed").map(|file| file.expect("readable").path()) {
            fs::copy(&file, to.join(role).join(file.file_name().expect("a file"))).expect("the folder is ours");
        }
    }
    let config = to.join("clip/config.json");
    let text = fs::read_to_string(&config).expect("committed");
    fs::write(&config, text + "\n ").expect("the folder is ours");
    to
}

fn runs_of_the_set(project: &Project) -> Vec<Run> {
    project.runs().expect("readable").into_iter().filter(|run| run.about.kind == RunKind::Set).collect()
}

/// Moves the box of the source: the segmenter and CLIP have to look again.
fn move_the_box(demo: &Demo) {
    let project = demo.project();
    let found = project.latest_score(demo.edits[0], Profile::Corrected).expect("readable").expect("scored").score.boxes.source[0].clone();
    let rect = found.rect_in_image;
    let moved = RegionShape::Box(Rect::new(rect.x0 + 20.0, rect.y0 + 10.0, rect.x1 + 30.0, rect.y1 + 20.0));
    let moved = region(Side::Source, RegionRole::Original, moved);
    project.set_regions(demo.edits[0], Side::Source, &[moved], "ann", "moved a box").expect("writable");
}

#[test]
fn a_correction_is_scored_with_the_networks_of_its_run_whichever_are_named() {
    // "Remove the chair.": one box on the source.
    let demo = Demo::of(2, 1);
    let (project, edit) = (demo.project(), demo.edits[0]);
    let before = runs_of_the_set(&project);
    move_the_box(&demo);
    let named = ModelSource::Folder(others(demo.folder.path()));
    let (first, kept) = demo.follow_with(edit, named).expect("the demo's networks are in the program");
    assert!(first.pending.modify && kept.pending.is_none());
    let after = runs_of_the_set(&project);
    assert_eq!(after.len(), 1, "no run of other networks was begun");
    assert_eq!(after[0].about.models_fingerprint, before[0].about.models_fingerprint);
    let counts = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored");
    let by = project.run(counts.run).expect("stored").about;
    assert_eq!((counts.stale, by.kind, by.models_fingerprint), (false, RunKind::Correction, before[0].about.models_fingerprint.clone()));
}

#[test]
fn where_the_networks_of_its_run_are_gone_a_correction_says_so_and_scores_nothing() {
    let demo = Demo::unscored(2, 1);
    let (project, edit) = (demo.project(), demo.edits[0]);
    let folder = others(demo.folder.path());
    demo.score_with(ModelSource::Folder(folder.clone()));
    let before = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored");
    move_the_box(&demo);
    fs::remove_dir_all(&folder).expect("made above");
    let why = demo.follow_with(edit, ModelSource::Demo).expect_err("only other networks are here");
    assert!(why.contains("scored with the networks") && why.contains("others") && why.contains("models fetch"), "{why}");
    assert_eq!(runs_of_the_set(&project).len(), 1, "no run of other networks was begun");
    let now = project.latest_score(edit, Profile::Corrected).expect("readable").expect("scored");
    assert_eq!((&now.score, now.run, now.stale), (&before.score, before.run, true), "it stands, marked");
}

#[test]
fn a_project_knows_its_networks_and_whether_they_are_here() {
    let demo = Demo::unscored(2, 1);
    let project = demo.project();
    assert_eq!(scored_by(&project).expect("readable"), None);
    demo.score();
    let found = scored_by(&project).expect("readable").expect("scored");
    assert_eq!((found.models, found.missing), (ModelSource::Demo, None));
    let folder = others(demo.folder.path());
    demo.score_with(ModelSource::Folder(folder.clone()));
    let found = scored_by(&project).expect("readable").expect("scored");
    assert_eq!((found.models.clone(), found.missing), (ModelSource::Folder(folder.clone()), None), "the newest run counts");
    fs::remove_dir_all(&folder).expect("made above");
    let found = scored_by(&project).expect("readable").expect("scored");
    assert!(found.missing.is_some_and(|why| why.contains("others")), "it is said what is missing");
}
