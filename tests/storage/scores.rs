//! Runs and their scores.

use std::collections::BTreeMap;

use editscope::domain::{Baselines, Outcome, Profile, Score, Zoned};
use editscope::storage::{EditId, Flag, NewRun, RunEnd, RunId, RunKind, StorageError};

use crate::{Bench, id_of, run, score, two_edits};

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
