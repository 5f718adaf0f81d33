//! Everything that can be done, to be found by typing a few letters.

use egui::{Button, Key, Label, Modifiers, RichText, ScrollArea, TextEdit, Ui, vec2};

use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::widgets;

/// Height of the list, in points.
const LIST: f32 = 380.0;

/// Draws the dialog's content. Arrow keys mark, Enter does what is marked.
pub fn commands_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let (text, marked) = &cx.state.sought_command;
    let (down, up, enter) = ui.input_mut(|input| {
        // Several may fall into one frame; each moves the mark.
        let mut pressed = |key| input.count_and_consume_key(Modifiers::NONE, key);
        (pressed(Key::ArrowDown), pressed(Key::ArrowUp), pressed(Key::Enter) > 0)
    });
    let mut typed = text.clone();
    let field = ui.add(TextEdit::singleline(&mut typed).hint_text("What do you want to do?").desired_width(f32::INFINITY));
    field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Words of the command"));
    field.request_focus();
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    // Those whose label has the words come before those that only speak of them.
    let in_label = |command: &Command| words.iter().all(|word| command.label().to_lowercase().contains(word.as_str()));
    let mut found: Vec<Command> = Command::all().filter(|command| command.fits(&words) && *command != Command::FindCommand).collect();
    found.sort_by_key(|command| !in_label(command));
    let last = found.len().saturating_sub(1);
    let marked = if field.changed() { 0 } else { (*marked + down).saturating_sub(up).min(last) };
    if field.changed() || marked != cx.state.sought_command.1 {
        cx.send(Action::SeekCommand(typed, marked));
    }
    ui.add_space(4.0);
    if found.is_empty() {
        ui.label(RichText::new("No command has all of these words.").color(palette.text_dim.0));
    }
    ScrollArea::vertical().max_height(LIST).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        for (index, command) in found.iter().enumerate() {
            if line_ui(ui, cx, *command, index == marked, down + up > 0 && index == marked) {
                cx.send(Action::RunFound(*command));
            }
        }
    });
    if let Some(command) = found.get(marked).filter(|_| enter) {
        cx.send(Action::RunFound(*command));
    }
}

/// One command; whether it was clicked.
fn line_ui(ui: &mut Ui, cx: &Context<'_>, command: Command, marked: bool, reveal: bool) -> bool {
    let palette = cx.palette(ui);
    let label = RichText::new(command.label()).color(palette.text_strong.0);
    let mut button = Button::selectable(marked, label).min_size(vec2(ui.available_width(), 22.0));
    if let Some(key) = command.shortcut_text(ui.ctx()) {
        button = button.shortcut_text(key);
    }
    let response = ui.add(button).on_hover_text(command.does());
    widgets::name(&response, egui::Role::Button, marked, command.label());
    if reveal {
        response.scroll_to_me(None);
    }
    if marked {
        let text = format!("{} · {}", command.group().label(), command.does());
        ui.indent(("what it does", command), |ui| {
            ui.add(Label::new(RichText::new(text).size(12.0).color(palette.text_dim.0)).wrap());
        });
    }
    response.clicked()
}
