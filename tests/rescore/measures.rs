//! What other metrics say after a correction: the whole picture as before, the zones of the new region anew, or why not.

use super::*;
use editscope::domain::Baselines;

/// Scores the demo's first edit with the other metrics that this machine can compute.
fn measured() -> (Demo, EditId, Baselines) {
    let demo = Demo::unscored(0, 1);
    let request = ScoreRequest {
        project: demo.path(),
        edits: Some(demo.edits.clone()),
        models: ModelSource::Demo,
        profile: Profile::Corrected,
        device: DevicePreference::CPU,
        range: None,
        rescore: false,
        baselines: BaselineChoice::All,
    };
    let mut run = Run { token: RunToken(1), request: &request, cancelled: &|| false, emit: &mut |_| {}, between: &mut |_| {} };
    evaluate(&demo.project(), &mut NetworkSlot::default(), &mut run).expect("the demo's networks are in the program");
    let edit = demo.edits[0];
    let before = latest(&demo, edit);
    assert!(before["l1"].inside.value().is_some() && before["clip-i"].whole.value().is_some(), "{before:?}");
    (demo, edit, before)
}

fn latest(demo: &Demo, edit: EditId) -> Baselines {
    demo.project().newest_baselines(edit, Profile::Corrected).expect("readable").expect("scored").1
}

/// Has the engine follow a correction, until the other metrics have followed too.
fn follow_measures(demo: &Demo, edit: EditId) {
    let engine = Engine::start(Arc::new(|| {})).expect("threads");
    let (project, models) = (demo.path(), ModelSource::Demo);
    let ask = Ask { ticket: 1, project, edit, profile: Profile::Corrected, models, device: DevicePreference::CPU };
    engine.send(Request::Audit(AuditRequest::Rescore(ask)));
    loop {
        match engine.events().recv_timeout(Duration::from_secs(120)).expect("an answer in two minutes") {
            Event::Audit(AuditEvent::Measured { edit: of, .. }) if of == edit => return,
            Event::Audit(AuditEvent::Rescored { kept: true, .. }) => {
                // Whoever reads now finds numbers or reasons, nothing is lost.
                assert!(latest(demo, edit)["l1"].whole.value().is_some(), "the whole picture's numbers went over");
            }
            Event::Audit(AuditEvent::Failed { why, .. }) => panic!("{why}"),
            _ => {}
        }
    }
}

/// L1 by its definition over the left half (the right one without `left`).
fn l1_of_half(demo: &Demo, edit: EditId, left: bool) -> f64 {
    let project = demo.project();
    let edit = project.edit(edit).expect("stored");
    let (a, b) = (picture(&project.item(edit.item).expect("stored").source.path), picture(&edit.picture.path));
    let of_half = a.enumerate_pixels().zip(b.pixels()).filter(|((x, _, _), _)| (*x < 224) == left);
    let (mut sum, mut count) = (0.0, 0.0);
    for ((_, _, a), b) in of_half {
        sum += a.0.iter().zip(b.0).map(|(&a, b)| (f64::from(a) - f64::from(b)).abs() / 255.0).sum::<f64>();
        count += 3.0;
    }
    sum / count
}

#[test]
fn a_drawn_mask_keeps_the_whole_pictures_numbers_and_measures_its_zones_anew() {
    let (demo, edit, before) = measured();
    let mask = Mask::from_fn(Size::new(448, 448), |x, _| x < 224);
    let drawn = region(Side::Edit, RegionRole::EditMask, RegionShape::Mask(Rle::from_mask(&mask)));
    demo.project().set_regions(edit, Side::Edit, &[drawn], "ann", "drew").expect("writable");
    follow_measures(&demo, edit);
    let after = latest(&demo, edit);
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "no metric is lost");
    for name in ["l1", "l2", "psnr", "ssim", "clip-i", "clip-t"] {
        assert_eq!(after[name].whole, before[name].whole, "{name}");
    }
    for (left, zone) in [(true, &after["l1"].inside), (false, &after["l1"].outside)] {
        let (found, expected) = (zone.value().expect("measured"), l1_of_half(&demo, edit, left));
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }
}

#[test]
fn a_moved_box_whose_mask_a_network_makes_loses_no_metric() {
    let (demo, edit, before) = measured();
    let moved = region(Side::Edit, RegionRole::Edited, RegionShape::Box(Rect::new(300.0, 20.0, 430.0, 150.0)));
    demo.project().set_regions(edit, Side::Edit, &[moved], "ann", "moved").expect("writable");
    follow_measures(&demo, edit);
    let after = latest(&demo, edit);
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "no metric is lost");
    assert_eq!((&after["l1"].whole, &after["clip-i"]), (&before["l1"].whole, &before["clip-i"]));
    assert!(after["l1"].inside.value().is_some() && after["l1"].inside != before["l1"].inside, "{:?}", after["l1"]);
}
