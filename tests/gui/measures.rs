//! Other metrics beside BPM: the inspector's table.

use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

#[test]
fn the_inspector_lists_other_metrics_and_says_which_have_no_value() {
    // The table stands at the end of the tab.
    let mut window = Window::open(Setup { size: [1280.0, 3200.0], ..Setup::default() });
    window.harness.get_by_label("OTHER METRICS");
    // Distances are marked as such, without colour.
    window.harness.get_by_label("L1 ↓");
    window.harness.get_by_label("SSIM ↑");
    let why = "LPIPS Alex: the network is not fetched: `editscope models fetch lpips-alex`";
    assert!(window.harness.query_by_label(why).is_none(), "reasons are folded away");
    window.harness.get_by_label("1 without a value").click();
    window.settle();
    window.harness.get_by_label(why);
}

#[test]
fn an_edit_without_a_score_has_no_other_metrics() {
    let window = Window::open(Setup { scored: false, ..Setup::default() });
    assert!(window.harness.query_by_label("OTHER METRICS").is_none());
}
