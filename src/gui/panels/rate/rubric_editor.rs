//! Changing a rubric: questions, their words, scales and anchors.

use egui::{Checkbox, ComboBox, DragValue, Frame, Margin, RichText, TextEdit, Ui};

use crate::domain::{MAX_QUESTIONS, Question, Rubric, SCALE_POINTS, ScalePoint, Unedited};
use crate::gui::context::Context;
use crate::gui::widgets;

/// What is to be done with a question after all were drawn.
enum Change {
    Remove(usize),
    Up(usize),
}

/// Draws the editor; `open` is the question whose scale is shown.
pub fn editor_ui(ui: &mut Ui, cx: &Context<'_>, rubric: &mut Rubric, open: &mut Option<usize>) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        let label = ui.label("Rubric name");
        ui.add(TextEdit::singleline(&mut rubric.name).desired_width(280.0)).labelled_by(label.id);
    });
    let mut change = None;
    let count = rubric.questions.len();
    for (index, question) in rubric.questions.iter_mut().enumerate() {
        let is_open = *open == Some(index);
        Frame::new().fill(palette.panel.0).corner_radius(4).inner_margin(Margin::symmetric(10, 6)).show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.horizontal(|ui| {
                let sign = if is_open { "▼" } else { "▶" };
                let toggle = ui.button(sign).on_hover_text("Words and scale of this question");
                widgets::name(&toggle, egui::Role::Button, is_open, format!("Edit question {}", index + 1));
                if toggle.clicked() {
                    *open = if is_open { None } else { Some(index) };
                }
                ui.label(RichText::new(&question.name).strong());
                let values: Vec<String> = question.scale.iter().map(|point| point.value.to_string()).collect();
                let optional = if question.required { "" } else { " · optional" };
                ui.label(RichText::new(format!("{}{optional}", values.join(" "))).size(12.0).color(palette.text_dim.0));
                widgets::right(ui, |ui| {
                    let mut small = |sign: &str, meaning: &str| {
                        let button = ui.button(sign).on_hover_text(meaning);
                        widgets::name(&button, egui::Role::Button, false, format!("{meaning} ({})", index + 1));
                        button.clicked()
                    };
                    if count > 1 && small("×", "Remove this question") {
                        change = Some(Change::Remove(index));
                    }
                    if index > 0 && small("⬆", "Ask it earlier") {
                        change = Some(Change::Up(index));
                    }
                });
            });
            if is_open {
                question_ui(ui, cx, question);
            }
        });
    }
    match change {
        Some(Change::Remove(index)) => {
            rubric.questions.remove(index);
            *open = None;
        }
        Some(Change::Up(index)) => {
            rubric.questions.swap(index - 1, index);
            *open = None;
        }
        None => {}
    }
    if count < MAX_QUESTIONS && ui.button("Add a question").clicked() {
        *open = Some(count);
        rubric.questions.push(new_question(count));
    }
}

fn new_question(number: usize) -> Question {
    let anchors = ["bad", "poor", "fair", "good", "very good"];
    let scale = anchors.iter().zip(1..).map(|(anchor, value)| ScalePoint { value: f64::from(value), anchor: (*anchor).to_owned() });
    Question {
        name: format!("question {}", number + 1),
        asks: String::new(),
        scale: scale.collect(),
        required: true,
        unedited: Unedited::Unknown,
    }
}

fn question_ui(ui: &mut Ui, cx: &Context<'_>, question: &mut Question) {
    let palette = cx.palette(ui);
    ui.horizontal(|ui| {
        let label = ui.label("Name in files");
        ui.add(TextEdit::singleline(&mut question.name).desired_width(160.0)).labelled_by(label.id);
        ui.add(Checkbox::new(&mut question.required, "required"));
    });
    ui.horizontal(|ui| {
        let label = ui.label("Asks");
        ui.add(TextEdit::singleline(&mut question.asks).desired_width(f32::INFINITY)).labelled_by(label.id);
    });
    ui.horizontal(|ui| {
        let label = ui.label("For the unedited source");
        let words = |unedited: Unedited| match unedited {
            Unedited::Unknown => "it cannot tell",
            Unedited::Low => "the answer is low",
            Unedited::High => "the answer is high",
        };
        let combo = ComboBox::from_id_salt("unedited").selected_text(words(question.unedited)).show_ui(ui, |ui| {
            for unedited in [Unedited::Unknown, Unedited::Low, Unedited::High] {
                ui.selectable_value(&mut question.unedited, unedited, words(unedited));
            }
        });
        combo.response.labelled_by(label.id).on_hover_text("Attention checks show the source as the edit.");
    });
    ui.label(RichText::new("Scale, worst first; the form shows the key of each answer").size(12.0).color(palette.text_dim.0));
    let mut remove = None;
    let points = question.scale.len();
    for (index, point) in question.scale.iter_mut().enumerate() {
        ui.horizontal(|ui| {
            let number = index + 1;
            let value = ui.add(DragValue::new(&mut point.value).speed(0.1).max_decimals(3)).on_hover_text("The value in files");
            widgets::name(&value, egui::Role::SpinButton, false, format!("Value of point {number}"));
            let anchor = ui.add(TextEdit::singleline(&mut point.anchor).hint_text("what it means").desired_width(260.0));
            anchor.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, format!("Meaning of point {number}")));
            if points > *SCALE_POINTS.start() {
                let button = ui.button("×").on_hover_text("Remove this point");
                widgets::name(&button, egui::Role::Button, false, format!("Remove point {number}"));
                if button.clicked() {
                    remove = Some(index);
                }
            }
        });
    }
    if let Some(index) = remove {
        question.scale.remove(index);
    }
    if points < *SCALE_POINTS.end() && ui.button("Add a point").clicked() {
        let value = question.scale.last().map_or(1.0, |point| point.value + 1.0);
        question.scale.push(ScalePoint { value, anchor: String::new() });
    }
}
