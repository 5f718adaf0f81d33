//! How the numbers of the page were made, and the command line that gives the same.

use std::path::Path;

use egui::{Label, RichText, Ui};

use super::statistics;
use crate::domain::{Profile, Range};
use crate::gui::context::Context;
use crate::stats::TiePolicy;
use crate::stats::comparison::{About, Comparison, Ties};

/// The saved range that numbers were made with; `None` where it was fitted on the project itself.
pub(super) fn named_range<'a>(cx: &Context<'_>, about: &'a About) -> Option<&'a Range> {
    about.range.as_ref().filter(|range| cx.settings.range.as_ref() == Some(&range.name))
}

/// The line at the foot of tables that says how their numbers were made, and which command gives the same.
pub(super) fn how_ui(ui: &mut Ui, cx: &Context<'_>, found: &Comparison) {
    let palette = cx.palette(ui);
    let plan = &found.plan;
    let intervals = if plan.bootstrap.resamples == 0 {
        "Intervals follow.".to_owned()
    } else {
        let level = statistics::plain(plan.bootstrap.level * 100.0);
        format!("Brackets: {level} % intervals, bootstrap over items, {} resamples.", plan.bootstrap.resamples)
    };
    let agreement = &cx.state.agreement;
    let command = if agreement.kept.opened.is_some() {
        format!("editscope agree PROJECT --json --saved {}", quoted(&found.about.name))
    } else {
        let range = named_range(cx, &found.about).map(|range| range.name.as_str());
        command_of(found, range, agreement.choices.ground_truth.as_deref())
    };
    ui.add_space(8.0);
    let text = format!("{} Ties: {}. The same numbers: {command}", intervals, plan.ties.words());
    ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
}

/// The command that computes the same from the project: every choice that is not the usual one is named.
fn command_of(found: &Comparison, range: Option<&str>, ground_truth: Option<&Path>) -> String {
    let plan = &found.plan;
    let ties = match plan.ties {
        Ties::As(TiePolicy::Paper) => "paper".to_owned(),
        Ties::As(TiePolicy::MetricTiesHalf) => "half".to_owned(),
        Ties::As(TiePolicy::MetricTiesDropped) => "dropped".to_owned(),
        Ties::As(TiePolicy::Calibrated(threshold)) => format!("calibrated={threshold}"),
        Ties::Fitted => "calibrated".to_owned(),
    };
    let split = if plan.splits.is_empty() { "none".to_owned() } else { plan.splits.join(",") };
    let mut text = "editscope agree PROJECT --json".to_owned();
    if let Some(profile) = found.about.profile.as_deref().filter(|profile| *profile != Profile::default().name()) {
        text.push_str(&format!(" --profile {profile}"));
    }
    if let Some(range) = range {
        text.push_str(&format!(" --range {}", quoted(range)));
    }
    text.push_str(&format!(" --ties {ties} --split {split} --resamples {}{}", plan.bootstrap.resamples, statistics::arguments(plan)));
    if let Some(table) = ground_truth {
        text.push_str(&format!(" --ground-truth {}", quoted(&table.display().to_string())));
    }
    text
}

/// A word of a command line as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._/:=,+-".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::comparison::{Evidence, Plan, compare_all};

    /// What an option changes is in the command, and what is usual is not.
    #[test]
    fn the_command_names_profile_range_and_truth() {
        let of = |profile: Profile| {
            let about = About { profile: Some(profile.name().to_owned()), ..About::default() };
            compare_all(about, &Evidence::default(), &Plan::default())
        };
        let usual = command_of(&of(Profile::Corrected), None, None);
        assert_eq!(usual, "editscope agree PROJECT --json --ties paper --split none --resamples 2000");
        let all = command_of(&of(Profile::Paper), Some("Kim's own"), Some(Path::new("truth table.csv")));
        assert_eq!(
            all,
            "editscope agree PROJECT --json --profile paper --range 'Kim'\\''s own' --ties paper --split none --resamples 2000 --ground-truth \
             'truth table.csv'"
        );
    }
}
