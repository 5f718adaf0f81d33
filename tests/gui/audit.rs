//! What an auditor does about one edit: correct it and see the score follow, ask how firm it is, look at candidates and at the region.

use std::collections::HashMap;

use editscope::domain::rle::Rle;
use editscope::domain::{ChangeShares, Mask, Outcome, PaperWeights, Parts, Profile, Score, Side, Size, TraceKind};
use editscope::editor::{Flag, Overlay, Overlays, RowId, ShowOnly};
use editscope::engine::audit::{PastedBack, Sensitivity};
use editscope::engine::{DifferenceKind, Pending, SensitivityPoint, explain};
use editscope::gui::pictures::Wanted;
use editscope::gui::state::{Dialog, Tab};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::support::{Setup, Window};

fn tall() -> Window {
    Window::open(Setup { size: [1280.0, 3000.0], ..Setup::default() })
}

fn shown(window: &Window) -> Score {
    let details = window.state().details.clone().unwrap();
    Score::clone(details.score.as_ref().unwrap())
}

/// The score of the selected edit with other parts.
fn with(window: &Window, parts: impl FnOnce(&mut Parts)) -> Score {
    let mut score = shown(window);
    parts(&mut score.parts);
    score
}

/// The overall of the selected edit, if it has one.
fn overall(window: &Window) -> Option<f64> {
    let details = window.state().details.clone()?;
    details.combined.as_ref()?.overall.value().copied()
}

/// Changes a field and saves it; the engine's first answer arrives, the late ones are held.
pub fn correct_the_parse(window: &mut Window) {
    window.key(Key::F3);
    window.harness.get_by_label("added object").click();
    window.settle();
    window.harness.key_press(Key::End);
    window.harness.event(egui::Event::Text(" slice".into()));
    window.settle();
    window.harness.get_by_label("Save parse").click();
    for _ in 0..40 {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn a_corrected_parse_shows_what_is_known_at_once_and_the_rest_when_it_comes() {
    let mut window = tall();
    let before = shown(&window);
    let preserve = *before.parts.preserve.value().unwrap();
    let corrected = with(&window, |parts| {
        parts.preserve = Outcome::Value(preserve - 0.25);
        parts.size = Outcome::Value(0.5);
    });
    let size_before = *before.parts.size.value().unwrap();
    window.audit.borrow_mut().corrected = Some(corrected.clone());
    correct_the_parse(&mut window);
    window.harness.key_press(Key::F2);
    window.harness.step();
    window.harness.step();
    // Modify waits; size and preserve are there.
    assert!(!window.harness.state().is_settled());
    window.harness.get_by_label("computing…");
    window.harness.get_by_label("… Some parts are being computed; the others already follow the correction.");
    window.harness.get_by_label(&format!("{:>6.3}", preserve - 0.25));

    window.let_go();
    assert!(window.harness.query_by_label("computing…").is_none());
    let audit = window.state().details.as_ref().unwrap().audit.clone();
    assert_eq!(audit.automatic.map(|automatic| automatic.score.parts.clone()), Some(before.parts.clone()));
    // Change of the parts, by hand: preserve falls by a quarter, size to one half.
    window.harness.get_by_label("-0.250");
    window.harness.get_by_label(&format!("{:>+6.3}", 0.5 - size_before));
    window.harness.get_by_label_contains("→ corrected");
    assert!(window.harness.query_all_by_label_contains("rank ").count() >= 1);
    // The queue's row follows too.
    assert_eq!(window.state().queue.row(RowId(1)).and_then(|row| row.parts[0].value()), Some(0.5));
}

#[test]
fn the_inspector_tells_the_overall_and_the_rank_before_and_after_a_correction() {
    let mut window = tall();
    let item = window.state().queue.selected_row().unwrap().item.clone();
    let overall_of = |window: &Window| window.state().queue.selected_row().unwrap().overall.value();
    let others = |window: &Window| -> Vec<f64> {
        let row = window.state().queue.selected_row().unwrap();
        window.state().queue.siblings(row).filter(|other| other.id != row.id).filter_map(|other| other.overall.value()).collect()
    };
    // An edit of the first item that is not its best.
    let not_best = |window: &Window| overall_of(window).filter(|own| others(window).iter().any(|other| other > own));
    while not_best(&window).is_none() {
        window.key(Key::ArrowDown);
        assert_eq!(window.state().queue.selected_row().unwrap().item, item, "one of the first item's edits is not its best");
    }
    let (before, others) = (overall_of(&window).unwrap(), others(&window));
    let rank = 1 + others.iter().filter(|other| **other > before).count();
    let range = window.state().details.as_ref().unwrap().audit.range.clone().unwrap();
    let best = with(&window, |parts| {
        *parts = Parts {
            size: Outcome::Value(1.0),
            position: Outcome::Value(1.0),
            modify: Outcome::Value(range.modify.unwrap().max),
            preserve: Outcome::Value(range.preserve.unwrap().max),
        };
    });
    window.audit.borrow_mut().corrected = Some(best);
    correct_the_parse(&mut window);
    window.let_go();
    window.key(Key::F2);
    // The greatest overall, by hand: 0.7·(1 + 1) + 0.3·(1 + 1) = 2.
    window.harness.get_by_label_contains(&format!("automatic {before:.3} → corrected 2.000"));
    window.harness.get_by_label_contains(&format!("Δ\u{a0}{:+.3}", 2.0 - before));
    window.harness.get_by_label(&format!("rank {rank} → 1 of {}", others.len() + 1));
}

#[test]
fn the_canvas_shows_the_score_that_the_inspector_shows_while_a_part_is_pending() {
    let mut window = tall();
    let mask_size = |window: &Window| {
        let ready = window.harness.state().pictures().ready(&Wanted::Mask(RowId(1)));
        ready.map(|ready| ready.full_size)
    };
    assert_eq!(mask_size(&window), Some(Size::new(448, 448)));
    let mut corrected = shown(&window);
    // Told from the mask of before by its size alone.
    corrected.mask = Some(Rle::from_mask(&Mask::full(Size::new(224, 224))));
    let mut found = corrected.candidates.edit[0].clone();
    (found.phrase, found.confidence) = ("another thing".into(), 0.77);
    (corrected.candidates.edit, corrected.boxes.edit) = (vec![found.clone()], vec![found]);
    window.audit.borrow_mut().corrected = Some(corrected.clone());
    correct_the_parse(&mut window);
    window.harness.key_press(Key::F2);
    for _ in 0..20 {
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    window.harness.get_by_label("computing…");
    assert_eq!(mask_size(&window), Some(Size::new(224, 224)), "modify is pending, and the mask is the new one");
    // A candidate of the list is the same one on the canvas.
    window.harness.get_by_label("candidate 0.77 another thing").hover();
    window.harness.run_steps(4);
    assert_eq!(window.state().audit.pointed, Some((Side::Edit, 0)));
    let state = window.state();
    let shown_score = state.audit.shown(state.details.as_ref().unwrap()).unwrap().score;
    assert_eq!(shown_score.candidates.edit[0].phrase, "another thing");
    window.let_go();
    assert_eq!(mask_size(&window), Some(Size::new(224, 224)));
}

#[test]
fn the_change_map_is_that_of_the_picture_that_is_shown() {
    let mut window = tall();
    let folder = tempfile::tempdir().unwrap();
    let pasted = folder.path().join("pasted.png");
    image::RgbImage::from_pixel(448, 448, image::Rgb([9, 9, 9])).save(&pasted).unwrap();
    window.audit.borrow_mut().pasted = Some(PastedBack { picture: pasted.clone(), feather: 4.0, score: Some(Err("none here".into())) });
    window.key(Key::D);
    let source = window.state().queue.selected_row().unwrap().source.clone();
    let edited = window.state().queue.selected_row().unwrap().edited.clone();
    let change = |window: &Window, edit: &std::path::Path| {
        let wanted = Wanted::Difference { source: source.clone(), edit: edit.to_path_buf(), kind: DifferenceKind::L2 };
        window.harness.state().pictures().ready(&wanted).is_some()
    };
    assert!(change(&window, &edited) && !change(&window, &pasted));
    window.harness.get_by_role_and_label(Role::CheckBox, "Change map");
    window.key(Key::F8);
    assert!(change(&window, &pasted));
    window.harness.get_by_role_and_label(Role::CheckBox, "Change map (pasted back)");
    window.key(Key::F8);
    window.harness.get_by_role_and_label(Role::CheckBox, "Change map");
}

#[test]
fn typed_fields_are_there_again_after_looking_at_other_edits() {
    let mut window = tall();
    window.key(Key::F3);
    window.harness.get_by_label("added object").click();
    window.settle();
    window.harness.key_press(Key::End);
    window.harness.event(egui::Event::Text(" slice".into()));
    window.settle();
    let typed = window.state().parse_draft.clone().unwrap();
    assert!(typed.added_object.ends_with(" slice"), "{typed:?}");
    let saved = |window: &Window| window.state().details.as_ref().unwrap().parse.clone();
    // An edit of the same item, whose fields they are too.
    window.harness.get_by_label("Add a pizza to the picture. · Blitz").click();
    window.settle();
    assert_eq!(window.state().queue.selected(), Some(RowId(3)));
    assert_eq!(window.state().parse_draft.as_ref(), Some(&typed));
    // Another item has its own.
    window.key(Key::J);
    window.key(Key::J);
    assert_eq!(window.state().queue.selected(), Some(RowId(5)));
    assert_eq!(window.state().parse_draft, saved(&window));
    window.key(Key::K);
    assert_eq!(window.state().parse_draft.as_ref(), Some(&typed));
    window.harness.get_by_label("These fields are not saved. They stay here while you look at other edits.");
    window.harness.get_by_label("Revert").click();
    window.settle();
    assert_eq!(window.state().parse_draft, saved(&window));
    assert!(window.written.lock().unwrap().parses.is_empty(), "nothing is saved that nobody saved");
}

#[test]
fn closing_the_window_asks_about_typed_fields() {
    let close = |window: &mut Window| {
        let viewports = &mut window.harness.input_mut().viewports;
        viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
        window.harness.step();
        let commands = &window.harness.output().viewport_output[&egui::ViewportId::ROOT].commands;
        commands.contains(&egui::ViewportCommand::CancelClose)
    };
    let mut window = tall();
    assert!(!close(&mut window) && window.state().dialog.is_none(), "nothing is typed");
    window.key(Key::F3);
    window.harness.get_by_label("added object").click();
    window.settle();
    window.harness.event(egui::Event::Text("slice".into()));
    window.settle();
    assert!(close(&mut window), "the window stays");
    window.settle();
    assert_eq!(window.state().dialog, Some(Dialog::Leaving));
    let item = window.state().queue.selected_row().unwrap().item.to_string();
    window.harness.get_by_label_contains(&format!("fields of the parse of {item}: save them in the Parse tab"));
    window.harness.get_by_label("Stay here").click();
    window.settle();
    assert!(window.state().dialog.is_none() && window.state().typed_parse().is_some());
    // Also when another edit is looked at meanwhile.
    window.harness.get_by_label("Please add an orange house left of the elephant. · Blitz").click();
    window.settle();
    assert!(close(&mut window));
    window.settle();
    window.harness.get_by_label("Close and lose it").click();
    window.settle();
    assert!(!close(&mut window));
}

#[test]
fn saved_fields_are_not_asked_to_be_scored_while_they_are_being_scored() {
    let mut window = tall();
    // The first answer still has the old fields.
    window.audit.borrow_mut().corrected = Some(shown(&window));
    correct_the_parse(&mut window);
    assert!(window.state().audit.is_waiting(RowId(1)));
    window.harness.get_by_label("… The score is being made with these fields.");
    assert!(window.harness.query_by_label_contains("Score this edit again").is_none());
    window.let_go();
    assert!(window.harness.query_by_label_contains("The score is being made").is_none());
}

#[test]
fn pointing_at_a_candidate_marks_it_on_the_canvas() {
    let mut window = tall();
    let candidates = shown(&window).candidates.edit;
    let (index, surest) = candidates.iter().enumerate().max_by(|a, b| a.1.confidence.total_cmp(&b.1.confidence)).unwrap();
    let label = format!("candidate {:.2} {}", surest.confidence, surest.phrase);
    window.harness.get_all_by_label(&label).last().unwrap().hover();
    window.harness.run_ok();
    assert_eq!(window.state().audit.pointed.map(|(side, _)| side), Some(Side::Edit));
    assert_eq!(window.state().audit.pointed.map(|(_, at)| candidates[at].confidence), Some(candidates[index].confidence));
    window.harness.remove_cursor();
    window.settle();
    assert_eq!(window.state().audit.pointed, None);
}

#[test]
fn a_flag_filters_the_queue_and_the_problem_key_goes_round_in_it() {
    let mut window = tall();
    let flags: HashMap<Flag, usize> = window.state().queue.flags().collect();
    let count = flags[&Flag::NoBox];
    assert!(count > 1 && count < 96, "{flags:?}");
    window.harness.get_by_label(&format!("no box {count}")).click();
    window.settle();
    assert_eq!(window.state().queue.filter().only, ShowOnly::With(Flag::NoBox));
    assert_eq!(window.state().queue.shown().len(), count);
    for _ in 0..3 {
        window.key(Key::P);
        assert!(window.state().queue.selected_row().unwrap().flags.has(Flag::NoBox));
        let said = window.state().toasts.last().unwrap().text.clone();
        assert!(said.starts_with("Stopped at: ") && said.contains("no box"), "{said}");
    }
    window.harness.get_by_label(&format!("no box {count}")).click();
    window.settle();
    assert_eq!(window.state().queue.shown().len(), 96);
}

fn point(at: f64, modify: f64, preserve: f64, pending: bool) -> SensitivityPoint {
    let parts = Parts {
        size: Outcome::Value(1.0),
        position: Outcome::Value(1.0),
        modify: Outcome::Value(modify),
        preserve: Outcome::Value(preserve),
    };
    SensitivityPoint { at, parts, pending: Pending { mask: pending, ..Pending::default() }, mask: None }
}

#[test]
fn a_wide_band_is_called_fragile_with_its_ends() {
    let mut window = tall();
    let range = window.state().details.as_ref().unwrap().audit.range.clone().unwrap();
    let (modify, preserve) = (range.modify.unwrap(), range.preserve.unwrap());
    // Least and greatest of both: 0.7·(0 + 0) + 0.3·2 = 0.6 and 0.7·2 + 0.3·2 = 2.
    let curves =
        vec![point(0.05, modify.min, preserve.min, false), point(0.3, modify.max, preserve.max, false), point(0.6, 0.0, 0.0, true)];
    window.audit.borrow_mut().sensitivity =
        Some(Sensitivity { profile: Profile::Corrected, box_threshold: 0.3, by_box_threshold: curves, by_growth: Vec::new() });
    window.key(Key::F7);
    window.settle();
    window.harness.get_by_label("⚠ fragile: overall moves between 0.600 and 2.000; not computed yet at 1 of 3 settings");
    window.harness.get_by_label("Compute them");
    window.harness.get_by_role_and_label(Role::Image, "overall against the box threshold");
    window.harness.get_by_label("There is no mask to grow or shrink.");
    window.key(Key::F7);
    assert!(window.harness.query_by_label_contains("fragile").is_none());
    // On another tab the key shows the section instead of closing what is not seen.
    window.key(Key::F7);
    window.key(Key::F3);
    window.key(Key::F7);
    assert_eq!(window.state().tab, Tab::Score);
    window.harness.get_by_label_contains("⚠ fragile");
}

#[test]
fn a_threshold_that_nearly_loses_the_box_is_called_fragile() {
    let mut window = tall();
    let lost = |at: f64| {
        let none = || Outcome::NotApplicable("no box".to_owned());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: Outcome::Value(0.9) };
        SensitivityPoint { at, parts, pending: Pending::default(), mask: None }
    };
    let curves = |last: f64| vec![point(0.3, 0.1, 0.9, false), lost(last)];
    let told = |window: &mut Window, last| {
        window.audit.borrow_mut().sensitivity =
            Some(Sensitivity { profile: Profile::Corrected, box_threshold: 0.3, by_box_threshold: curves(last), by_growth: Vec::new() });
        window.key(Key::F7);
        window.settle();
    };
    told(&mut window, 0.35);
    window.harness.get_by_label_contains("⚠ fragile: a slightly other setting leaves no overall");
    let mut window = tall();
    told(&mut window, 0.36);
    window.harness.get_by_label_contains("✔ firm: overall stays between");
}

#[test]
fn the_region_is_pasted_anew_once_a_correction_is_kept() {
    let mut window = tall();
    let picture = std::path::PathBuf::from("pasted.png");
    window.audit.borrow_mut().pasted = Some(PastedBack { picture, feather: 4.0, score: Some(Err("none here".into())) });
    window.key(Key::F8);
    let corrected = shown(&window);
    window.audit.borrow_mut().corrected = Some(corrected);
    correct_the_parse(&mut window);
    // The region of before is no longer shown, and that of now is not known yet.
    assert!(window.state().audit.pasted.is_none());
    window.let_go();
    assert!(window.state().audit.pasted.as_ref().is_some_and(|asked| asked.edit == RowId(1) && asked.result.is_some()));
}

#[test]
fn without_a_region_there_is_nothing_to_paste_and_it_says_so() {
    let mut window = tall();
    let mut score = shown(&window);
    score.mask = Some(Rle::from_mask(&Mask::empty(Size::new(448, 448))));
    window.audit.borrow_mut().corrected = Some(score);
    correct_the_parse(&mut window);
    window.let_go();
    window.key(Key::F2);
    window.harness.get_by_label_contains("The edit mask is empty: there is no region to paste back.");
    assert!(window.harness.get_by_label("Show only the region on the source").accesskit_node().is_disabled());
}

#[test]
fn the_region_pasted_back_stands_in_for_the_edit_with_its_own_parts() {
    let mut window = tall();
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("pasted.png");
    image::RgbImage::from_pixel(448, 448, image::Rgb([9, 9, 9])).save(&picture).unwrap();
    let score = with(&window, |parts| parts.preserve = Outcome::Value(0.987));
    window.audit.borrow_mut().pasted = Some(PastedBack { picture: picture.clone(), feather: 4.0, score: Some(Ok(score.into())) });
    window.key(Key::F8);
    window.settle();
    assert_eq!(window.state().audit.stand_in(RowId(1)), Some(&picture));
    window.harness.get_by_label("pasted back");
    window.harness.get_by_label(" 0.987");
    window.key(Key::F8);
    assert_eq!(window.state().audit.stand_in(RowId(1)), None);
    // Esc ends it too, and so does looking at another edit.
    window.key(Key::F8);
    window.key(Key::Escape);
    assert_eq!(window.state().audit.stand_in(RowId(1)), None);
    window.key(Key::F8);
    assert!(window.state().audit.stand_in(RowId(1)).is_some());
    window.key(Key::ArrowDown);
    window.settle();
    assert!(!window.state().audit.pasted_shown && window.state().audit.pasted.is_none());
}

#[test]
fn leak_and_unchanged_share_are_shown_with_what_they_mean() {
    let mut window = tall();
    let mut score = shown(&window);
    score.triage.change = Some(ChangeShares { leak: Some(0.625), unchanged: Some(0.125), changed: 0.04 });
    window.audit.borrow_mut().corrected = Some(score);
    correct_the_parse(&mut window);
    window.let_go();
    window.key(Key::F2);
    assert_eq!(window.state().tab, Tab::Score);
    window.harness.get_by_label(" 62.5 %");
    window.harness.get_by_label(" 12.5 %");
    window.harness.get_by_label("leak (change outside)");
}

#[test]
fn each_step_of_the_trace_shows_its_overlay_and_each_fallback_is_marked() {
    let mut window = tall();
    // An edit of a part of the picture with an overall, so that no kind of step is missing.
    while shown(&window).global || overall(&window).is_none() {
        window.key(Key::ArrowDown);
    }
    let instruction = format!("“{}”", window.state().queue.selected_row().unwrap().instruction);
    let (boxes, mask) = ([Overlay::SourceBoxes, Overlay::EditBoxes], [Overlay::Mask, Overlay::MaskOutline]);
    let rule = [boxes, mask].concat();
    let steps: [(&str, TraceKind, &[Overlay]); 13] = [
        (instruction.as_str(), TraceKind::Parse, &boxes),
        ("The instruction was read as", TraceKind::Parse, &boxes),
        ("The detector looks for", TraceKind::Phrase, &boxes),
        ("Looked for", TraceKind::Boxes, &[Overlay::SourceBoxes, Overlay::EditBoxes, Overlay::Candidates]),
        ("The boxes of both pictures", TraceKind::Branch, &rule),
        ("The edit region is the union", TraceKind::Mask, &mask),
        ("Modify looks at the boxes", TraceKind::Crop, &[Overlay::Crop]),
        ("The wanted direction", TraceKind::Direction, &[Overlay::Crop]),
        ("Its area was compared", TraceKind::Size, &boxes),
        ("Its centre was compared", TraceKind::Position, &boxes),
        ("How far the picture moved", TraceKind::Modify, &[Overlay::Crop]),
        ("How little the rest", TraceKind::Preserve, &[Overlay::ChangeMap, Overlay::MaskOutline]),
        ("BPM = ", TraceKind::Overall, &mask),
    ];
    for (text, kind, overlays) in steps {
        window.harness.get_by_label_contains(text).hover();
        window.harness.run_ok();
        let highlight = window.state().highlight;
        assert_eq!(highlight, Some(kind), "{text}");
        assert_eq!(Overlays::of_trace(kind), overlays, "{text}");
        let drawn = |overlay: &Overlay| window.state().overlays.drawn(*overlay, highlight) > 0.0;
        assert!(overlays.iter().all(drawn), "{text}: also what is switched off is drawn");
    }
    // Steps about numbers alone point at nothing.
    for text in ["has modify from", "Judged on the processor."] {
        window.harness.get_by_label_contains(text).hover();
        window.harness.run_ok();
        assert_eq!(window.state().highlight, None, "{text}");
    }
    window.harness.remove_cursor();
    window.settle();
    // Through the demo: the number of marks is that of the steps that left the plain rule.
    let mut seen = [0, 0];
    for _ in 0..24 {
        let score = shown(&window);
        // Behind the kept steps stand those of the range: a value outside it is marked too.
        let range = window.state().details.as_ref().and_then(|details| details.audit.range.clone());
        let explained = explain(&score, range.as_ref(), PaperWeights::default());
        let fallbacks = score.trace.iter().chain(&explained).filter(|step| step.fallback).count();
        // The queue's rows and the flags above say it too, of edits.
        let trace = window.harness.get_by_label("TRACE").rect();
        let in_trace = |mark: &egui::Rect| mark.left() >= trace.left() && mark.top() > trace.top();
        let marks = window.harness.query_all_by_label("⚠ fallback").filter(|mark| in_trace(&mark.rect())).count();
        assert_eq!(marks, fallbacks);
        seen[fallbacks.min(1)] += 1;
        window.key(Key::ArrowDown);
    }
    assert!(seen[0] > 0 && seen[1] > 0, "edits with and without: {seen:?}");
}
