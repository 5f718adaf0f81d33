//! The agreement page: the plot and its links to edits, the tables, what is chosen, and what is kept by name.

use std::path::{Path, PathBuf};
use std::time::Instant;

use editscope::domain::{Outcome, Parts, Profile, Score, Zone};
use editscope::editor::RowId;
use editscope::gui::agreement::{AgreementTab, PlotKind};
use editscope::gui::command::Command;
use editscope::gui::project_store::ProjectStore;
use editscope::gui::state::Page;
use editscope::stats::comparison::{ALL, Comparison, Line, OVERALL, Ties};
use editscope::stats::correlation::{kendall_tau_b, spearman};
use editscope::stats::{Row as StatRow, TiePolicy, agreement};
use editscope::storage::{NewRun, Project, RunKind};
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

mod kept;
mod marks;
mod room;

fn page() -> Window {
    let mut window = Window::open(Setup::default());
    window.key(Key::G);
    window
}

fn found(window: &Window) -> &Comparison {
    window.state().agreement.shown().expect("everything is compared")
}

fn line<'a>(window: &'a Window, metric: &str) -> &'a Line {
    let all = found(window).lines.iter().find(|line| line.metric == metric && line.criterion == OVERALL && line.split == ALL);
    all.expect("a line")
}

fn choose(window: &mut Window, shown: &str, choice: &str) {
    window.harness.get_by_value(shown).click();
    window.settle();
    window.harness.get_by_label(choice).click();
    window.settle();
}

fn command(window: &mut Window, command: Command) {
    let shortcut = command.shortcut().expect("it has a key");
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    window.settle();
}

/// The numbers are those of the statistics on what stands in the rows: distances turned, the paper's ties.
#[test]
fn the_table_says_what_the_rows_say_and_turns_distances_round() {
    let window = page();
    let rows = window.state().queue.rows();
    for (name, sign) in [("l1", -1.0), ("ssim", 1.0)] {
        let (metric, human): (Vec<f64>, Vec<f64>) = rows.iter().filter_map(|row| Some((sign * row.column(name)?, row.human()?))).unzip();
        assert_eq!(metric.len(), 96);
        let line = line(&window, name);
        let near = |a: &Outcome<f64>, b: Outcome<f64>| match (a, b) {
            (Outcome::Value(a), Outcome::Value(b)) => assert!((a - b).abs() < 1e-12 && b.abs() > 1e-3, "{name}: {a} {b}"),
            other => panic!("{other:?}"),
        };
        near(&line.spearman, spearman(&metric, &human));
        near(&line.kendall_tau_b, kendall_tau_b(&metric, &human));
        let plain: Vec<StatRow> = rows
            .iter()
            .map(|row| StatRow {
                item: row.item.to_string(),
                model: row.model.to_string(),
                metric: row.column(name).map(|value| sign * value),
                human: row.human(),
            })
            .collect();
        near(&line.agreement.macro_mean, agreement(&plain, TiePolicy::Paper).macro_mean);
        assert!(line.macro_interval.value().is_some(), "intervals come after the numbers");
    }
    window.harness.get_by_label("plot L1 against overall");
}

#[test]
fn metrics_of_a_zone_are_listed_when_it_is_chosen() {
    let mut window = page();
    window.harness.get_by_label("plot L1 against overall");
    choose(&mut window, "the whole picture", "outside the region");
    assert_eq!(window.state().agreement.view.zone, Zone::Outside);
    assert!(window.harness.query_by_label("plot L1 against overall").is_none());
    window.harness.get_by_label("plot L1 outside against overall").click();
    window.settle();
    let cloud = window.state().agreement.cloud.clone().expect("points");
    assert_eq!((cloud.metric.as_str(), cloud.lower_is_better, cloud.points.len()), ("l1.outside", true, 96));
    let row = window.state().queue.row(cloud.points[5].row).expect("its row");
    assert_eq!(row.column("l1.outside"), Some(cloud.points[5].value), "as the metric gives it, not turned");
}

#[test]
fn ties_are_a_switch_and_the_command_line_is_told_which() {
    let mut window = page();
    let before = line(&window, "size").agreement.clone();
    assert!(before.counts.metric_ties > 0, "the size score has few values");
    choose(&mut window, "metric ties wrong (paper)", "metric ties half right");
    assert_eq!(window.state().agreement.choices.ties, Ties::As(TiePolicy::MetricTiesHalf));
    let after = line(&window, "size").agreement.clone();
    // Every metric tie is worth half a pair more, and the compared pairs stay.
    assert_eq!(after.counts.compared, before.counts.compared);
    assert!((after.counts.right - before.counts.right - before.counts.metric_ties as f64 / 2.0).abs() < 1e-9);
    window.harness.get_by_label_contains("--ties half --split scope --resamples 2000");
}

#[test]
fn every_tab_has_its_table_and_what_is_undefined_has_its_reason() {
    let mut window = page();
    for (tab, words) in [
        ("Pairs", "BPM AGAINST PEOPLE ON OVERALL, BY PAIR OF MODELS"),
        ("Splits", "No edit belongs to a group of this split: labels come with scores."),
        ("Models", "WIN RATES SIDE BY SIDE"),
        ("Raters", "HABITS OF EACH RATER"),
        ("Weights", "No local edit has all four parts and a rating, so no weight can be judged."),
        ("Ground truth", "Ground truth…"),
        ("Saved", "RANGES OF MODIFY AND PRESERVE"),
    ] {
        window.harness.get_by_label(tab).click();
        window.settle();
        window.harness.get_by_label(words);
    }
    window.harness.get_by_label("Profiles").click();
    window.settle();
    window.harness.get_by_label_contains("Only one profile is scored.");
    window.harness.get_by_label("Pairs").click();
    window.settle();
    let pair = &line(&window, OVERALL).agreement.pairs[0];
    let share = pair.share.value().expect("a share");
    let words = format!("{} – {}: {share:.3} of {} compared", pair.models[0], pair.models[1], pair.counts.compared);
    assert_eq!(window.harness.query_all_by_label_contains(&words).count(), 2, "the matrix has the pair on both sides of its diagonal");
}

#[test]
fn residuals_are_a_key_away_and_a_model_can_stand_alone() {
    let mut window = page();
    command(&mut window, Command::SwitchPlot);
    assert_eq!(window.state().agreement.view.plot, PlotKind::Residuals);
    let cloud = window.state().agreement.cloud.clone().expect("points");
    // The residuals of least squares have mean 0.
    let mean = cloud.points.iter().map(|point| point.residual).sum::<f64>() / cloud.points.len() as f64;
    assert!(mean.abs() < 1e-12 && cloud.points.iter().any(|point| point.residual.abs() > 1e-3));
    window.harness.get_by_label("■ Margit").click();
    window.settle();
    assert_eq!(window.state().agreement.view.only_model.as_deref(), Some("Margit"));
}

#[test]
fn disagreements_are_stepped_through_on_the_page_and_opened_in_the_canvas() {
    let mut window = page();
    let cloud = window.state().agreement.cloud.clone().expect("points");
    let order: Vec<RowId> = cloud.order.iter().map(|&at| cloud.points[at as usize].row).collect();
    command(&mut window, Command::NextDisagreement);
    assert_eq!((window.state().queue.selected(), window.state().page), (Some(order[0]), Page::Agreement));
    command(&mut window, Command::NextDisagreement);
    assert_eq!(window.state().queue.selected(), Some(order[1]));
    command(&mut window, Command::PreviousDisagreement);
    assert_eq!(window.state().queue.selected(), Some(order[0]));
    window.harness.get_by_label("Open in canvas").click();
    window.settle();
    assert_eq!((window.state().queue.selected(), window.state().page), (Some(order[0]), Page::Audit));
    command(&mut window, Command::NextDisagreement);
    assert_eq!((window.state().queue.selected(), window.state().page), (Some(order[1]), Page::Audit));
}

fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    let button = |pressed, pos| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    for event in [Event::PointerMoved(from), button(true, from)] {
        window.harness.event(event);
        window.harness.step();
    }
    for step in 1..=4 {
        window.harness.event(Event::PointerMoved(from + (to - from) * (step as f32 / 4.0)));
        window.harness.step();
    }
    window.harness.event(button(false, to));
    window.settle();
}

#[test]
fn a_rectangle_in_the_plot_filters_the_queue_and_says_so() {
    let mut window = page();
    let frame = window.harness.get_by_label("Plot").rect();
    // The right half of the plot: people between the middle of the axis and its end.
    let (from, to) = (egui::pos2(frame.center().x, frame.top() + 4.0), egui::pos2(frame.right() - 2.0, frame.bottom() - 4.0));
    drag(&mut window, from, to);
    let picked = window.state().queue.filter().picked.clone().expect("a pick");
    let cloud = window.state().agreement.cloud.clone().expect("points");
    assert!(!picked.rows.is_empty() && picked.rows.len() < 96);
    let least = cloud.points.iter().filter(|point| picked.rows.contains(&point.row)).map(|point| point.human).fold(f64::MAX, f64::min);
    let greatest = cloud.points.iter().filter(|point| !picked.rows.contains(&point.row)).map(|point| point.human).fold(f64::MIN, f64::max);
    assert!(least > greatest, "the rectangle parts the edits by people: {least} {greatest}");
    assert_eq!(window.state().queue.shown().len(), picked.rows.len());
    window.key(Key::A);
    window.harness.get_by_label(&format!("{} of 96", picked.rows.len()));
    window.harness.get_by_label(&format!("▣ {}  ✕", picked.what)).click();
    window.settle();
    assert_eq!(window.state().queue.shown().len(), 96);
}

/// A scored project of the demo's first six items with their ratings.
fn project(folder: &Path) -> PathBuf {
    let mut data = editscope::datasets::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo"), None).unwrap();
    data.items.truncate(6);
    let path = folder.join("p.editscope");
    let project = Project::create(&path).unwrap();
    project.import(&data.items).unwrap();
    let run = NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "demo".into(),
        models_fingerprint: "f".into(),
        device: "cpu".into(),
        settings: serde_json::Value::Null,
        range: None,
    };
    let run = project.start_run(&run).unwrap();
    for (index, edit) in project.edits().unwrap().iter().enumerate() {
        let part = |step: usize| Outcome::Value((index * step % 17) as f64 / 17.0);
        let parts = Parts { size: part(3), position: part(5), modify: part(7), preserve: part(11) };
        project.put_score(run, edit.id, &Score::of_parts(Profile::Corrected, false, parts), 1.0).unwrap();
    }
    path
}

#[test]
fn page_saved_comparison_and_engine_give_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let setup = Setup { open: Some(path.clone()), ..Setup::default() };
    let mut window = Window::with_store(setup, Box::<ProjectStore>::default());
    window.key(Key::G);
    let gathered = editscope::engine::evidence::of_project(&path, Default::default(), None, None).unwrap();
    let plan = window.state().agreement.choices.plan(gathered.about.edits);
    let expected = editscope::stats::comparison::compare_all(gathered.about.clone(), &gathered.evidence, &plan);
    assert_eq!(found(&window).lines, expected.lines);
    assert_eq!(found(&window).leaderboards, expected.leaderboards);
    assert_eq!(found(&window).about.content, expected.about.content);

    window.harness.get_by_label("Saved").click();
    window.settle();
    window.harness.get_by_label("Comparison name").focus();
    window.settle();
    window.harness.get_by_label("Comparison name").type_text("first");
    window.settle();
    window.harness.get_by_label("Save comparison").click();
    window.settle();
    let kept = Project::open_read_only(&path).unwrap().comparison("first").unwrap().expect("it is in the project");
    let kept: Comparison = serde_json::from_value(kept.content).unwrap();
    assert_eq!((kept.lines, kept.about.who.as_str()), (expected.lines, "ann"));
    window.harness.get_by_label("Open").click();
    window.settle();
    window.harness.get_by_label_contains("Saved comparison 'first', saved ");
    window.harness.get_by_label("Metrics").click();
    window.settle();
    window.harness.get_by_label_contains("The same numbers: editscope agree PROJECT --json --saved first");
    window.harness.get_by_label("Saved").click();
    window.settle();
    window.harness.get_by_label("Back to now").click();
    window.settle();
    window.harness.get_by_label("What moved").click();
    window.settle();
    window.harness.get_by_label("Both are of the same data.");
    let moved = &window.state().agreement.kept.against.as_ref().expect("it was asked for").1;
    let same = moved.iter().filter(|change| change.split == ALL && editscope::export::stayed(change)).count();
    assert!(same > 1, "{moved:?}");
    window.harness.get_by_label(&format!("{same} numbers did not move."));
    assert!(window.harness.query_by_label("+0.000").is_none(), "what did not move is counted, not listed");
    assert!(
        window
            .state()
            .agreement
            .kept
            .against
            .as_ref()
            .unwrap()
            .1
            .iter()
            .all(|change| change.difference.value() == Some(&0.0) || change.difference.why().is_some())
    );
}

#[test]
fn a_range_is_fitted_named_and_chosen_in_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = project(folder.path());
    let setup = Setup { open: Some(path.clone()), ..Setup::default() };
    let mut window = Window::with_store(setup, Box::<ProjectStore>::default());
    window.key(Key::G);
    window.harness.get_by_label("Saved").click();
    window.settle();
    window.harness.get_by_label("Range name").focus();
    window.settle();
    window.harness.get_by_label("Range name").type_text("mine");
    window.settle();
    window.harness.get_by_label("Fit and save range").click();
    window.settle();
    let saved = Project::open_read_only(&path).unwrap().range("mine", Default::default()).unwrap().expect("saved");
    assert!(saved.modify.is_some_and(|bounds| bounds.min < bounds.max));
    window.harness.get_by_label("mine").click();
    window.settle();
    assert_eq!(window.harness.state().settings().range.as_deref(), Some("mine"));
    let used = found(&window).about.range.clone().expect("a range");
    assert_eq!(used.name, "mine", "the page compares anew with it");
    // Whatever tab is open: plot and tables are no longer what the plain command gives.
    window.harness.get_by_label("Metrics").click();
    window.settle();
    window.harness.get_by_label("Range 'mine' is in force");
    let kept = window.harness.state().settings();
    assert_eq!(kept.ranges.values().collect::<Vec<_>>(), ["mine"], "for the next time");
    window.harness.get_by_label_contains("editscope agree PROJECT --json --range mine --ties paper");
    window.harness.get_by_label("Saved").click();
    window.settle();
    window.harness.get_by_label("fitted on this project as it is").click();
    window.settle();
    assert!(window.harness.query_by_label("Range 'mine' is in force").is_none());
    window.harness.get_by_label("Range: fitted on this project");
    assert!(window.harness.state().settings().ranges.is_empty());
    // The next time; and once more with a range that the project does not have.
    for (range, in_force) in [("mine", Some("mine")), ("gone", None)] {
        let setup = Setup { open: Some(path.clone()), range: Some(range), ..Setup::default() };
        let window = Window::with_store(setup, Box::<ProjectStore>::default());
        assert_eq!(window.harness.state().settings().range.as_deref(), in_force);
    }
}

#[test]
fn without_ratings_the_page_says_what_to_do() {
    let mut window = Window::open(Setup { scored: false, ..Setup::default() });
    window.key(Key::G);
    window.harness.get_by_label("No edit has both a value of BPM and a rating of overall.");
    window.harness.get_by_label("Score the project, and rate edits on the Rating page or in the inspector's Rate tab.");
    // The table has its lines, and says why none has a number.
    let why = line(&window, OVERALL).agreement.macro_mean.why().map(str::to_owned).expect("a reason");
    assert!(why.contains("without a metric value"), "{why}");
    assert!(window.harness.query_all_by_label_contains(&why).next().is_some());
    assert_eq!(window.state().agreement.view.tab, AgreementTab::Metrics);
}

#[test]
#[ignore = "prints how long frames of the plot take with 100,000 edits"]
fn frame_time_of_100_000_marks() {
    let mut window = Window::open(Setup { edits: 100_000, ..Setup::default() });
    let shortcut = Command::PageAgreement.shortcut().expect("it has a key");
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    let began = Instant::now();
    while window.state().agreement.cloud.is_none() {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    println!("points after {:.1} s", began.elapsed().as_secs_f64());
    let frame = window.harness.get_by_label("Plot").rect();
    let mut measure = |name: &str, pointer: &dyn Fn(usize) -> Option<Pos2>| {
        let mut millis: Vec<f64> = (0..200)
            .map(|step| {
                if let Some(at) = pointer(step) {
                    window.harness.event(Event::PointerMoved(at));
                }
                let began = Instant::now();
                window.harness.step();
                began.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        millis.sort_by(f64::total_cmp);
        println!("{name}: median {:.2} ms, p99 {:.2} ms, worst {:.2} ms", millis[100], millis[198], millis[199]);
    };
    measure("100,000 marks, still", &|_| None);
    measure("100,000 marks, pointing", &|step| Some(frame.min + egui::vec2(60.0 + step as f32, 60.0 + step as f32 * 0.7)));
    let began = Instant::now();
    window.settle_within(std::time::Duration::from_secs(1200));
    println!("everything compared after another {:.1} s", began.elapsed().as_secs_f64());
}
