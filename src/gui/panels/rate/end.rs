//! The end of a session: what it came to.

use egui::{Button, CentralPanel, Frame, Grid, Label, Margin, RichText, ScrollArea, Ui, vec2};

use super::{plural, results, send};
use crate::domain::ProtocolKind;
use crate::editor::{Summary, summary};
use crate::gui::context::Context;
use crate::gui::people::{OpenSession, PeopleAction};
use crate::gui::widgets;

/// Draws the summary.
pub fn end_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    let frame = Frame::new().fill(palette.background.0).inner_margin(Margin::symmetric(24, 20));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(760.0);
            ui.heading(RichText::new("✔ Done, thank you").color(palette.good.0));
            ui.label(RichText::new(format!("{} · rater {}", open.run.setup().name, open.run.rater())).color(palette.text_dim.0));
            ui.add_space(12.0);
            lines_ui(ui, cx, open);
            // What came out names models, which another session may hide still.
            match cx.state.people.must_wait(open.run.uid(), true) {
                Some(why) => drop(ui.add(Label::new(RichText::new(why).color(palette.warning.0)).wrap())),
                None => results_ui(ui, cx, open),
            }
            ui.add_space(16.0);
            let back = ui.add(Button::new("Back to the sessions").shortcut_text("[Enter] [Esc]"));
            widgets::name(&back, egui::Role::Button, false, "Back to the sessions");
            if back.clicked() {
                send(cx, PeopleAction::Close);
            }
        });
    });
}

fn results_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    match &open.results {
        Some(Ok(found)) => results::results_ui(ui, cx, open.run.kind(), found),
        Some(Err(why)) => drop(ui.label(RichText::new(format!("⚠ The session cannot be summed up: {why}")).color(palette.bad.0))),
        None => drop(ui.spinner()),
    }
}

/// How many checks were passed, and why some are not judged.
fn checks_in_words(found: &Summary) -> String {
    let judged = format!("{} of {} passed", found.checks_passed, found.checks);
    match (found.checks, found.checks_unjudged) {
        (_, 0) => judged,
        (0, unjudged) => format!("{} not judged: no answered question can tell that nothing was edited", plural(unjudged, "check")),
        (_, unjudged) => format!("{judged}; {unjudged} not judged: no answered question can tell that nothing was edited"),
    }
}

fn lines_ui(ui: &mut Ui, cx: &Context<'_>, open: &OpenSession) {
    let palette = cx.palette(ui);
    let found = summary(open.run.setup(), &open.log, open.run.rater());
    let mut lines: Vec<(&str, String, &str)> = Vec::new();
    let unjudged = if found.cannot_judge > 0 { format!(", {} of them “can’t judge”", found.cannot_judge) } else { String::new() };
    lines.push(("Answers", format!("{}{unjudged}", found.answered), "Tasks with an answer, repeats and checks among them"));
    let median = found.median_seconds.map_or_else(|| "n/a".to_owned(), |seconds| format!("{seconds:.1} s"));
    lines.push(("Time", format!("{}, half of the answers within {median}", widgets::duration(found.seconds)), "Without breaks"));
    let twice = &found.consistency;
    let consistency = if twice.answers == 0 {
        "nothing was asked twice".to_owned()
    } else {
        let share = 100.0 * twice.same as f64 / twice.answers as f64;
        let apart = if open.run.kind() == ProtocolKind::Rubric {
            format!(", {:.2} points apart on average", twice.points_apart as f64 / twice.answers as f64)
        } else {
            String::new()
        };
        format!("{share:.0} % the same ({} of {} answers, {}){apart}", twice.same, twice.answers, plural(twice.tasks, "task"))
    };
    lines.push(("Self-consistency", consistency, "How your second answers fit the first ones"));
    if found.checks + found.checks_unjudged > 0 {
        lines.push(("Attention checks", checks_in_words(&found), "Tasks with a known answer"));
    }
    Grid::new("session summary").num_columns(2).spacing(vec2(20.0, 8.0)).show(ui, |ui| {
        for (name, text, meaning) in lines {
            ui.label(RichText::new(name).color(palette.text_dim.0)).on_hover_text(meaning);
            ui.add(Label::new(RichText::new(text).color(palette.text_strong.0)).wrap());
            ui.end_row();
        }
    });
}
