//! Other metrics beside BPM: the inspector's table and the agreement page.

use editscope::domain::Zone;
use editscope::editor::Measure;
use egui::Key;
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

#[test]
fn the_inspector_lists_other_metrics_and_says_which_have_no_value() {
    let mut window = Window::open(Setup::default());
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

#[test]
fn the_agreement_page_compares_other_metrics_of_a_zone_with_people() {
    let mut window = Window::open(Setup::default());
    window.key(Key::G);
    let measures = |window: &Window| -> Vec<String> {
        let table = window.state().agreement_table.clone().expect("the table is computed");
        table.lines.iter().skip(Measure::OWN.len()).map(|line| line.measure.label()).collect()
    };
    assert_eq!(measures(&window), ["L1", "SSIM"]);
    window.harness.get_by_label("L1 ↓");
    window.harness.get_by_label("other metrics of");
    window.harness.get_by_value("the whole picture").click();
    window.settle();
    window.harness.get_by_label("outside the region").click();
    window.settle();
    assert_eq!(window.state().agreement.zone, Zone::Outside);
    assert_eq!(measures(&window), ["L1 outside", "SSIM outside"]);
}

#[test]
fn agreement_turns_distances_round() {
    let mut window = Window::open(Setup::default());
    window.key(Key::G);
    let table = window.state().agreement_table.clone().expect("the table is computed");
    let spearman = |label: &str| {
        let line = table.lines.iter().find(|line| line.measure.label() == label).expect("a line");
        line.spearman.value().copied().expect("a coefficient")
    };
    // The same numbers as they stand in the rows, against the same people, by the statistics' own function.
    let rows = window.state().queue.rows();
    let of = |name: &str| -> (Vec<f64>, Vec<f64>) { rows.iter().filter_map(|row| Some((row.column(name)?, row.human()?))).unzip() };
    for (label, name, sign) in [("L1", "l1", -1.0), ("SSIM", "ssim", 1.0)] {
        let (metric, human) = of(name);
        let plain = editscope::stats::correlation::spearman(&metric, &human).value().copied().expect("a coefficient");
        assert!((spearman(label) - sign * plain).abs() < 1e-12, "{label}");
        assert!(plain.abs() > 1e-3, "{label}: a coefficient near zero would tell nothing");
    }
}
