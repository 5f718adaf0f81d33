//! The forms of rubric and pairwise tasks.

use egui::{Button, Frame, Label, Margin, RichText, Role, Sense, Ui, vec2};

use super::send;
use crate::domain::{Preference, Question, Rubric};
use crate::editor::Given;
use crate::gui::context::Context;
use crate::gui::people::PeopleAction;
use crate::gui::widgets;

/// The questions of a rubric with what was answered.
pub fn rubric_ui(ui: &mut Ui, cx: &Context<'_>, rubric: &Rubric, given: &[Given], active: usize) {
    for (index, (question, given)) in rubric.questions.iter().zip(given).enumerate() {
        question_ui(ui, cx, question, *given, index == active, &|action| match action {
            Clicked::Mark => send(cx, PeopleAction::Mark(index)),
            Clicked::Answer(given) => send(cx, PeopleAction::Give(index, given)),
        });
    }
}

/// The same form for looking at.
pub fn rubric_preview_ui(ui: &mut Ui, cx: &Context<'_>, rubric: &Rubric) {
    for question in &rubric.questions {
        // Every question is open here, to show its words and anchors.
        question_ui(ui, cx, question, Given::Open, true, &|_| {});
        ui.add_space(4.0);
    }
}

enum Clicked {
    Mark,
    Answer(Given),
}

fn question_ui(ui: &mut Ui, cx: &Context<'_>, question: &Question, given: Given, active: bool, clicked: &dyn Fn(Clicked)) {
    let palette = cx.palette(ui);
    let fill = if active { palette.raised.0 } else { palette.panel.0 };
    Frame::new().fill(fill).corner_radius(4).inner_margin(Margin::symmetric(10, 6)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 5.0;
        let done = match given {
            Given::Open => "  ",
            Given::Point(_) | Given::CannotJudge => "✔ ",
        };
        let optional = if question.required { "" } else { " (optional)" };
        let mark = if active { "▶ " } else { done };
        let title = RichText::new(format!("{mark}{}{optional}", question.name)).strong();
        let color = if active { palette.text_strong.0 } else { palette.text.0 };
        let title = ui.add(Label::new(title.color(color)).sense(Sense::click()));
        widgets::name(&title, Role::RadioButton, active, format!("Question {}", question.name));
        if title.clicked() {
            clicked(Clicked::Mark);
        }
        if active {
            ui.add(Label::new(RichText::new(&question.asks).size(12.5)).wrap());
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            let keys = question.digit_keys();
            for (index, (point, key)) in question.scale.iter().zip(&keys).enumerate() {
                let chosen = given == Given::Point(index);
                let key = key.map(|key| key.to_string()).unwrap_or_default();
                let name = format!("{} {}", question.name, point.value);
                if answer_button(ui, cx, &point.value.to_string(), &key, chosen, name).on_hover_text(&point.anchor).clicked() {
                    clicked(Clicked::Answer(Given::Point(index)));
                }
            }
            ui.add_space(6.0);
            let name = format!("{} can’t judge", question.name);
            let key = if keys.contains(&Some(0)) { "U" } else { "U 0" };
            if answer_button(ui, cx, "can’t judge", key, given == Given::CannotJudge, name).clicked() {
                clicked(Clicked::Answer(Given::CannotJudge));
            }
        });
        if active {
            anchors_ui(ui, cx, question);
        }
    });
}

/// A button with its key, where that is not what stands on it.
fn answer_button(ui: &mut Ui, cx: &Context<'_>, text: &str, key: &str, chosen: bool, name: String) -> egui::Response {
    let palette = cx.palette(ui);
    let has_key = !key.is_empty() && key != text;
    let text = RichText::new(text);
    let button = if chosen {
        Button::new(text.color(palette.on_accent.0).strong()).fill(palette.accent.0)
    } else {
        Button::new(text).fill(palette.field.0)
    };
    let button = if has_key { button.shortcut_text(widgets::key_hint(palette, format!("[{key}]"), chosen)) } else { button };
    let response = ui.add(button.min_size(vec2(34.0, 26.0)));
    widgets::name(&response, Role::RadioButton, chosen, name);
    response
}

/// What the values mean: all of them when the words are few, else the two ends.
fn anchors_ui(ui: &mut Ui, cx: &Context<'_>, question: &Question) {
    let palette = cx.palette(ui);
    let words: Vec<String> = question
        .scale
        .iter()
        .filter(|point| !point.anchor.trim().is_empty())
        .map(|point| format!("{} {}", point.value, point.anchor.trim()))
        .collect();
    ui.add(Label::new(RichText::new(words.join(" · ")).size(11.5).color(palette.text_dim.0)).wrap());
}

/// The four votes.
pub fn pair_ui(ui: &mut Ui, cx: &Context<'_>, vote: Option<Preference>) {
    let palette = cx.palette(ui);
    ui.label(RichText::new("Which edit does better what the instruction says, and leaves the rest alone?").size(13.0));
    ui.add_space(6.0);
    for (index, option) in Preference::ALL.into_iter().enumerate() {
        let chosen = vote == Some(option);
        let text = RichText::new(option.label());
        let button = if chosen {
            Button::new(text.color(palette.on_accent.0).strong()).fill(palette.accent.0)
        } else {
            Button::new(text).fill(palette.field.0)
        };
        let button =
            button.shortcut_text(widgets::key_hint(palette, (index + 1).to_string(), chosen)).min_size(vec2(ui.available_width(), 34.0));
        let response = ui.add(button);
        widgets::name(&response, Role::RadioButton, chosen, option.label());
        if response.clicked() {
            send(cx, PeopleAction::Vote(option));
        }
    }
}
