//! Which networks a window works with.

use editscope::engine::scored_by::ScoredBy;
use editscope::engine::{ModelSource, PrecisionChoice};
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

fn paper(missing: Option<&str>) -> Option<ScoredBy> {
    Some(ScoredBy {
        words: "paper (0123456789ab)".into(),
        models: ModelSource::Catalog("paper".into()),
        precision: PrecisionChoice::F16,
        missing: missing.map(str::to_owned),
    })
}

/// What stands above the page.
fn told(window: &Window) -> Option<String> {
    let words = window.state().about_networks.clone();
    if let Some(words) = &words {
        window.harness.get_by_label(words);
    }
    words
}

#[test]
fn a_project_is_gone_on_with_by_the_networks_that_scored_it() {
    let window = Window::open(Setup { networks: paper(None), ..Setup::default() });
    let settings = window.harness.state().settings();
    assert_eq!((&settings.models, settings.device.precision), (&ModelSource::Catalog("paper".into()), PrecisionChoice::F16));
    assert_eq!(told(&window), None);
    // Where nothing was scored, there is nothing to go on with.
    let window = Window::open(Setup::default());
    assert_eq!(window.harness.state().settings().models, ModelSource::Demo);
}

#[test]
fn networks_that_are_not_here_are_said() {
    let window = Window::open(Setup { networks: paper(Some("sam-vit-huge is not fetched")), ..Setup::default() });
    assert_eq!(window.harness.state().settings().models, ModelSource::Catalog("paper".into()), "not the demo's in their place");
    let words = told(&window).expect("a line above the page");
    assert!(words.contains("scored with paper (0123456789ab)") && words.contains("sam-vit-huge is not fetched"), "{words}");
}

#[test]
fn networks_that_a_person_named_are_for_new_runs_and_it_says_so() {
    let window = Window::open(Setup { networks: paper(None), named: Some(ModelSource::Demo), ..Setup::default() });
    assert_eq!(window.harness.state().settings().models, ModelSource::Demo);
    let words = told(&window).expect("a line above the page");
    assert!(words.contains("scored with paper (0123456789ab)") && words.contains("demo, are for new runs only"), "{words}");
    // The same ones need no word.
    let named = Some(ModelSource::Catalog("paper".into()));
    assert_eq!(told(&Window::open(Setup { networks: paper(None), named, ..Setup::default() })), None);
}
