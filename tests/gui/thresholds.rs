//! Other thresholds of the detector, tried in the inspector and seen on the canvas, without a network.

use std::sync::Arc;

use editscope::domain::rle::Rle;
use editscope::domain::{Mask, Outcome, Parts, Profile, Score, Size};
use editscope::editor::Thresholds;
use editscope::engine::audit::Sensitivity;
use editscope::engine::{Pending, SensitivityPoint};
use editscope::metrics::bpm::{Settings, sensitivity};
use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

/// So tall that the candidates need not be scrolled to.
fn open() -> Window {
    let mut window = Window::open(Setup { size: [1280.0, 3000.0], ..Setup::default() });
    // An edit with boxes that the metric did not use.
    while !score(&window).candidates.edit.iter().any(|found| found.confidence < 0.3) || score(&window).global {
        window.key(Key::ArrowDown);
    }
    window
}

fn score(window: &Window) -> Score {
    Score::clone(window.state().details.as_ref().unwrap().score.as_ref().unwrap())
}

fn set(window: &mut Window, slider: &str, to: f64) {
    window.harness.get_by_role_and_label(Role::Slider, slider).set_value_accesskit(to);
    window.settle();
}

fn says(window: &Window, part: &str) -> bool {
    window.harness.query_all_by_label_contains(part).next().is_some()
}

/// The mask that the segmenter gives for the boxes at 0.10.
fn tried() -> Mask {
    Mask::from_fn(Size::new(448, 448), |x, y| x < 40 && y < 30)
}

/// What other thresholds gave: at 0.10 all is known, at 0.11 preserve and modify wait.
fn known() -> Sensitivity {
    let point = |at: f64, size: f64, pending: Pending| SensitivityPoint {
        at,
        parts: Parts {
            size: Outcome::Value(size),
            position: Outcome::Value(1.0),
            modify: Outcome::Value(0.125),
            preserve: Outcome::Value(0.625),
        },
        pending,
        mask: (!pending.mask).then(|| Arc::new(Rle::from_mask(&tried()))),
    };
    let waits = Pending { mask: true, modify: true, ..Pending::default() };
    let by_box_threshold = vec![point(0.10, 0.5, Pending::default()), point(0.11, 0.0, waits)];
    Sensitivity { profile: Profile::Corrected, box_threshold: 0.3, by_box_threshold, by_growth: Vec::new() }
}

#[test]
fn the_thresholds_that_are_tried_begin_at_the_metrics_own() {
    for profile in [Profile::Corrected, Profile::Paper, Profile::ReleasedCode] {
        assert_eq!(Settings::new(profile).box_threshold, Thresholds::METRIC.boxes);
    }
    #[cfg(feature = "nets")]
    assert_eq!(editscope::nets::grounding_dino::TEXT_THRESHOLD, Thresholds::METRIC.text);
    // Every threshold of the slider is one at which parts are judged.
    let judged: Vec<f32> = sensitivity::thresholds().map(|at| at as f32).collect();
    assert_eq!((judged[0], judged[judged.len() - 1]), Thresholds::LIMITS);
    let of_slider = |at: f32| Thresholds { boxes: at + 0.003, text: 0.25 }.rounded().boxes;
    assert!(judged[..judged.len() - 1].iter().all(|at| of_slider(*at) == *at));
}

#[test]
fn a_box_threshold_is_tried_on_the_pictures_and_told_with_the_parts_that_it_gives() {
    let mut window = open();
    window.audit.borrow_mut().sensitivity = Some(known());
    let all = score(&window).candidates.edit.len();
    let used = score(&window).boxes.edit.len();
    assert!(says(&window, &format!("On the edit: {used} of {all} used")));
    set(&mut window, "box threshold", 0.1);
    assert_eq!(window.state().overlays.preview(), Some(Thresholds { boxes: 0.1, text: 0.25 }));
    // The candidates have a confidence of 0.12 and 0.87: at 0.10 all are used, and the canvas says that this is no score.
    assert!(says(&window, &format!("On the edit: {all} of {all} would be used")));
    assert!(says(&window, "Source · preview of thresholds 0.10 and 0.25"));
    assert!(says(&window, "⚠ Preview: the pictures show what these thresholds would choose, not what was scored"));
    // With the mask of those boxes, which is known.
    let on_canvas = |window: &Window| window.state().shown_mask(window.state().queue.selected().unwrap()).cloned();
    assert_eq!(on_canvas(&window), Some(Rle::from_mask(&tried())));
    // The parts at it, which differ from those of the score.
    assert!(says(&window, "at 0.10"));
    window.harness.get_by_label(" 0.625");
    window.harness.get_by_label(" 0.125");
    assert!(window.asked.borrow().is_empty(), "no network is asked: {:?}", window.asked.borrow());
    // A little higher something waits for the networks, and it says for which.
    set(&mut window, "box threshold", 0.11);
    window.harness.get_by_label("waits for the segmenter");
    assert!(says(&window, "The mask on them is still that of the score: that of the new boxes is not known yet"));
    assert_eq!(on_canvas(&window), score(&window).mask);
    window.harness.get_by_label("waits for the encoder");
    window.harness.get_by_label("Ask the networks");
    assert!(window.harness.query_by_label(" 0.625").is_none(), "what waits has no number");
    // High above all, nothing is left.
    set(&mut window, "box threshold", 0.6);
    let left = score(&window).candidates.edit.iter().filter(|found| found.confidence > 0.6).count();
    assert!(says(&window, &format!("On the edit: {left} of {all} would be used")));
    assert!(says(&window, "At this threshold nothing was judged."));
    window.harness.get_by_label("Reset thresholds").click();
    window.settle();
    assert_eq!(window.state().overlays.preview(), None);
    assert!(says(&window, &format!("On the edit: {used} of {all} used")));
    assert!(!says(&window, "preview of thresholds"));
}

#[test]
fn the_text_threshold_changes_labels_alone() {
    let mut window = open();
    let found = score(&window).candidates.edit.iter().find(|found| found.confidence < 0.3).cloned().unwrap();
    assert!((found.tokens[0].probability - 0.12).abs() < 1e-6);
    set(&mut window, "text threshold", 0.5);
    assert_eq!(window.state().overlays.preview(), Some(Thresholds { boxes: 0.3, text: 0.5 }));
    assert!(says(&window, "(no word above 0.50)"));
    assert!(says(&window, "The text threshold changes labels alone"));
    assert!(window.state().audit.sensitivity.is_none(), "nothing is judged anew for it");
}

#[test]
fn without_an_answer_the_parts_say_why() {
    let mut window = open();
    set(&mut window, "box threshold", 0.2);
    assert!(says(&window, "⚠ The parts at this threshold are not known: no answer in this test"));
}

#[test]
fn a_preview_ends_with_esc_with_the_title_s_button_and_with_another_edit() {
    let mut window = open();
    window.audit.borrow_mut().sensitivity = Some(known());
    let ends: [&dyn Fn(&mut Window); 3] = [
        &|window| window.key(Key::Escape),
        &|window| {
            window.harness.get_all_by_label("Back to what was scored").next().unwrap().click();
            window.settle();
        },
        &|window| window.key(Key::ArrowDown),
    ];
    for end in ends {
        set(&mut window, "box threshold", 0.1);
        assert!(window.state().overlays.preview().is_some() && window.state().audit.sensitivity.is_some());
        end(&mut window);
        assert!(window.state().overlays.preview().is_none() && window.state().audit.sensitivity.is_none());
        assert!(!says(&window, "preview of thresholds") && window.harness.query_by_label("Back to what was scored").is_none());
    }
}

#[test]
fn drawing_ends_a_preview_so_that_nobody_draws_on_a_mask_that_does_not_count() {
    let mut window = open();
    window.audit.borrow_mut().sensitivity = Some(known());
    set(&mut window, "box threshold", 0.1);
    let tools = |window: &Window| window.state().tools.document.as_ref().unwrap().log().len();
    assert_eq!((window.state().overlays.preview().is_some(), tools(&window)), (true, 0));
    window.harness.key_press_modifiers(egui::Modifiers::SHIFT, Key::P);
    window.settle();
    assert!(window.state().overlays.preview().is_some(), "a tool in the hand draws nothing yet");
    let at = window.harness.get_by_label("Canvas").rect().center() + egui::vec2(-200.0, 0.0);
    crate::pointer::drag_through(&mut window, &[at, at + egui::vec2(5.0, 0.0), at + egui::vec2(12.0, 0.0)]);
    assert!(window.state().overlays.preview().is_none());
}
