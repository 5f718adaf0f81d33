//! What is chosen and kept on the page: statistics, ranges on a selection and in files, saved comparisons of votes and of many metrics.

use editscope::domain::{Bounds, ModelVote, Preference, Profile, Range};
use editscope::gui::agreement::{AgreementEvent, AgreementRequest, answer};
use editscope::gui::project_store::ProjectStore;
use editscope::stats::Bootstrap;
use editscope::stats::comparison::{About, Comparison, Evidence, Plan, Subject, compare_all};
use editscope::storage::Project;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

use super::{found, page, project};

fn write(window: &mut Window, field: &str, text: &str) {
    window.harness.get_by_label(field).focus();
    window.settle();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.harness.event(egui::Event::Text(text.into()));
    window.settle();
    window.key(Key::Enter);
}

#[test]
fn level_seed_width_and_good_from_are_chosen_and_the_command_line_is_told() {
    let mut window = page();
    assert!(window.harness.query_by_label_contains("--seed").is_none(), "the usual ones need no option");
    window.harness.get_by_label("Statistics").click();
    window.settle();
    // Without the digits that only come from how numbers are stored.
    window.harness.get_by_value("95 %");
    window.harness.get_by_value("0.1");
    window.harness.get_by_value("as usual: BPM against each of the others");
    write(&mut window, "Level of intervals", "80");
    write(&mut window, "Seed", "7");
    write(&mut window, "Width for items needed", "0.2");
    window.harness.get_by_label("an edit is good from").click();
    window.settle();
    let plan = found(&window).plan.clone();
    assert_eq!((plan.bootstrap.level, plan.bootstrap.seed, plan.split_seed), (0.8, 7, 7));
    assert_eq!((plan.width, plan.good_from), (0.2, Some(4.0)));
    window.harness.get_by_label_contains("--resamples 2000 --level 0.8 --seed 7 --width 0.2 --good-from 4");
    window.harness.get_by_label_contains("Brackets: 80 % intervals");
}

#[test]
fn what_was_tested_and_corrected_for_is_told() {
    let window = page();
    let found = found(&window);
    let tested = found.significance.iter().filter(|pair| pair.p_holm.value().is_some()).count();
    // BPM, its parts and two other metrics in three zones: more than six, so one is held against the others.
    assert!(found.significance.iter().all(|pair| pair.first == "overall"));
    let text = format!("Only overall is held against each of the other {} metrics", found.significance.len());
    window.harness.get_by_label_contains(&text);
    window.harness.get_by_label_contains(&format!("Holm's correction is for all comparisons with a result ({tested} on overall)"));
    let elsewhere = found.significance.iter().filter(|pair| pair.second.ends_with("side") && pair.result.value().is_some()).count();
    assert!(elsewhere > 0);
    window.harness.get_by_label_contains(&format!("{elsewhere} of them are of other zones"));
}

#[test]
fn the_metric_that_is_held_against_the_others_is_chosen() {
    let mut window = page();
    window.harness.get_by_label("Statistics").click();
    window.settle();
    window.harness.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Held against the others").click();
    window.settle();
    window.harness.get_by_label("L1 outside").click();
    window.settle();
    let found = found(&window);
    assert!(found.significance.iter().all(|pair| pair.first == "l1.outside") && found.significance.len() == 10, "{:?}", found.significance);
    window.harness.get_by_label_contains("--first l1.outside");
}

fn fill(window: &mut Window, field: &str, text: &str) {
    window.harness.get_by_label(field).focus();
    window.settle();
    window.harness.get_by_label(field).type_text(text);
    window.settle();
}

#[test]
fn a_range_is_fitted_on_what_the_queue_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let mut window = Window::with_store(Setup { open: Some(path.clone()), ..Setup::default() }, Box::<ProjectStore>::default());
    let model = window.state().queue.models()[0].to_string();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    window.settle();
    window.harness.event(egui::Event::Text(model.clone()));
    window.settle();
    window.key(Key::Escape);
    window.key(Key::G);
    window.harness.get_by_label("Saved").click();
    window.settle();
    fill(&mut window, "Range name", "one model");
    window.harness.get_by_label("the 6 that the queue shows").click();
    window.settle();
    window.harness.get_by_label("Fit and save range").click();
    window.settle();
    let kept = Project::open_read_only(&path).unwrap();
    let range = kept.range("one model", Profile::Corrected).unwrap().expect("saved");
    // The parts are made up by the number of the edit: see `project`.
    let edits = kept.edits().unwrap();
    let modify = edits.iter().enumerate().filter(|(_, edit)| edit.model == model).map(|(at, _)| (at * 7 % 17) as f64 / 17.0);
    let modify: Vec<f64> = modify.collect();
    let expected = Bounds::of(modify.iter().copied()).unwrap();
    let fitted = range.modify.expect("they have the part");
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(modify.len() == 6 && near(fitted.min, expected.min) && near(fitted.max, expected.max), "{fitted:?} {expected:?}");
    assert!(range.fitted_on.contains("6 of 24 edits, as the queue shows them") && range.fitted_on.contains(&model), "{}", range.fitted_on);
}

#[test]
fn a_range_goes_out_into_a_file_and_in_again_and_none_is_replaced_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let own = Project::create(&folder.path().join("own.editscope")).unwrap();
    let other = Project::create(&folder.path().join("other.editscope")).unwrap();
    let range = Range {
        name: "spring".into(),
        profile: Profile::Corrected,
        modify: Some(Bounds { min: -0.25, max: 0.5 }),
        preserve: None,
        fitted_on: "4 edits".into(),
    };
    own.save_range(&range).unwrap();
    let file = folder.path().join("spring.json");
    let out = AgreementRequest::WriteRange { name: "spring".into(), profile: Profile::Corrected, to: file.clone() };
    let AgreementEvent::RangeWritten(Ok(_)) = answer(Ok(&own), out) else { panic!("it is written") };
    let read = |project: &Project, name: Option<&str>| {
        let request = AgreementRequest::ReadRange { from: file.clone(), name: name.map(str::to_owned) };
        match answer(Ok(project), request) {
            AgreementEvent::RangeRead(result) => result,
            event => panic!("{event:?}"),
        }
    };
    assert_eq!(read(&other, None), Ok(range.clone()));
    assert_eq!(other.range("spring", Profile::Corrected).unwrap(), Some(range.clone()));
    assert_eq!(read(&other, None), Ok(range.clone()), "the same again is no conflict");
    let changed = Range { fitted_on: "others".into(), ..range.clone() };
    own.save_range(&changed).unwrap();
    let why = read(&own, None).unwrap_err();
    assert!(why.contains("there is another range 'spring'"), "{why}");
    assert_eq!(own.range("spring", Profile::Corrected).unwrap(), Some(changed));
    assert_eq!(read(&own, Some("autumn")), Ok(Range { name: "autumn".into(), ..range }));
    std::fs::write(&file, "{\"name\": \"x\"}").unwrap();
    let why = read(&own, None).unwrap_err();
    assert!(why.contains("spring.json is no range") && why.contains("profile"), "{why}");
}

/// Fourteen metrics, and two voters who agree about one of two pairs.
fn many_metrics_and_votes() -> Comparison {
    let metrics: Vec<String> = (0..14).map(|number| format!("m{number}")).collect();
    let subject = |item: &str, model: &str, value: f64| Subject {
        item: item.into(),
        model: model.into(),
        metrics: metrics.iter().map(|name| (name.clone(), value)).collect(),
        ..Subject::default()
    };
    let vote = |item: &str, rater: &str, preference| ModelVote {
        item: item.into(),
        criterion: "overall".into(),
        rater: rater.into(),
        first: "x".into(),
        second: "y".into(),
        preference,
    };
    let evidence = Evidence {
        subjects: vec![subject("1", "x", 0.9), subject("1", "y", 0.1), subject("2", "x", 0.2), subject("2", "y", 0.7)],
        metrics: metrics.clone(),
        votes: vec![
            vote("1", "ann", Preference::First),
            vote("1", "bob", Preference::First),
            vote("2", "ann", Preference::First),
            vote("2", "bob", Preference::Second),
        ],
        ..Evidence::default()
    };
    let plan = Plan { bootstrap: Bootstrap { resamples: 20, ..Bootstrap::default() }, ..Plan::default() };
    compare_all(About { name: "votes".into(), ..About::default() }, &evidence, &plan)
}

#[test]
fn votes_alone_have_their_voters_and_no_judge_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let comparison = many_metrics_and_votes();
    Project::open(&path).unwrap().save_comparison("votes", "eve", &serde_json::to_value(&comparison).unwrap()).unwrap();
    let mut window = Window::with_store(Setup { open: Some(path), ..Setup::default() }, Box::<ProjectStore>::default());
    window.key(Key::G);
    window.harness.get_by_label("Saved").click();
    window.settle();
    window.harness.get_by_label("Open").click();
    window.settle();
    window.harness.get_by_label("Models").click();
    window.settle();
    // The votes and fourteen metrics: more than one table has room for.
    for judge in ["votes: overall", "m0", "m13"] {
        assert!(window.harness.query_all_by_label(judge).next().is_some(), "{judge}");
    }
    window.harness.get_by_label("Raters").click();
    window.settle();
    window.harness.get_by_label("Nobody has rated an edit: people voted only.");
    window.harness.get_by_label("HABITS OF EACH VOTER");
    window.harness.get_by_label("ann – bob");
    // By hand: equal in one of two pairs; ann always votes for the left one.
    window.harness.get_by_label_contains("2 voters, 2 pairs that two voted on, equal 0.500");
    assert_eq!(comparison.voters["overall"]["ann"].first_share.value(), Some(&1.0));
}

#[test]
fn raters_have_every_kappa_and_icc() {
    let mut window = page();
    window.harness.get_by_label("Raters").click();
    window.settle();
    for head in ["ICC(2,1)", "ICC(2,k)", "Cohen κ", "Fleiss κ"] {
        window.harness.get_by_label(head);
    }
    let all = &found(&window).between_raters_all["modification"];
    let pair = all.cohen_kappa[0].raters.join(" – ");
    assert!(window.harness.query_all_by_label(&pair).next().is_some(), "{pair}");
}
