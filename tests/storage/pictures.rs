//! Pictures that move, change and go.

use editscope::domain::{Outcome, Profile};
use editscope::storage::{PictureState, Project, RunKind};

use crate::{Bench, edit, id_of, item, run, score, two_edits};

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
fn the_pictures_of_one_edit_are_looked_at_alone_and_by_content_where_it_is_known() {
    let bench = Bench::new();
    let project = bench.project();
    project.import(&two_edits(&bench)).unwrap();
    let (a, b) = (id_of(&project, "a"), id_of(&project, "b"));
    project.keep_content_of(b).unwrap();
    assert!(project.changed_pictures().unwrap().is_empty());
    let at = |name: &str| project.folder().join(name);
    std::fs::write(at("in/a.png"), "another length").unwrap();
    std::fs::write(at("in/b.png"), "another length").unwrap();
    assert_eq!(project.changed_pictures().unwrap(), [at("in/a.png"), at("in/b.png")].into());
    let report = project.look_for_pictures_of(a).unwrap();
    // What a.png held was never known.
    assert_eq!((report.touched, report.changed, report.news), (vec![at("in/a.png")], vec![], 1));
    let report = project.look_for_pictures_of(b).unwrap();
    assert_eq!((report.touched, report.changed, report.news), (vec![], vec![at("in/b.png")], 1));
    assert_eq!(project.look_for_pictures_of(b).unwrap().news, 0, "told once");
    // The content that was kept is back, at another time: nothing changed.
    std::fs::write(at("in/b.png"), "b").unwrap();
    assert!(!project.changed_pictures().unwrap().contains(&at("in/b.png")));
}
