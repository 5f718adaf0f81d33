//! The tools at the left of the canvas, and above it a row with what the tool in the hand can be told.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{Button, ComboBox, DragValue, FontId, PopupCloseBehavior, RichText, Role, Sense, Slider, Ui, vec2};

use crate::domain::RegionRole;
use crate::editor::regions::MaskOp;
use crate::editor::tools::{PromptStage, Tool, ToolOptions, Tools};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::tool_actions::ToolAction;
use crate::gui::unreadable::{NoRegions, no_regions};
use crate::gui::{theme::Palette, tool_icons, widgets};

/// Width of the strip.
pub const WIDTH: f32 = 40.0;
/// Height of the row.
pub const OPTIONS_HEIGHT: f32 = 34.0;
/// Largest number that dilating, eroding and removing specks go by.
const MOST_GROW: u32 = 256;
const MOST_SPECK: u32 = 1_000_000;

fn send(cx: &Context<'_>, action: ToolAction) {
    cx.send(Action::Tool(action));
}

/// Height of a button with which all of the strip fits into `room` points: seven tools, two smaller buttons, a line, and an eighth of it
/// between each two.
fn button_side(room: f32) -> f32 {
    const LINE: f32 = 6.0;
    ((room - LINE + 8.0) / (9.0 + 9.0 / 8.0)).floor().clamp(24.0, 32.0)
}

/// The tools, and undo and redo.
pub fn strip_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let tools = &cx.state.tools;
    let side = button_side(ui.available_height());
    ui.spacing_mut().item_spacing = vec2(0.0, side / 8.0);
    for tool in Tool::ALL {
        let command = Command::of_tool(tool);
        let selected = tools.tool == tool;
        let (rect, response) = ui.allocate_exact_size(vec2(32.0, side), Sense::click());
        widgets::name(&response, Role::Button, selected, command.label());
        let visuals = ui.style().interact_selectable(&response, selected);
        if selected || response.hovered() || response.has_focus() {
            ui.painter().rect(rect, 4.0, visuals.weak_bg_fill, visuals.bg_stroke, egui::StrokeKind::Inside);
        }
        let color = if selected { palette.text_strong.0 } else { palette.text.0 };
        tool_icons::paint(ui.painter(), tool, egui::Rect::from_center_size(rect.center(), egui::Vec2::splat(side - 14.0)), color);
        let text = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
        if response.on_hover_text(text).clicked() {
            cx.send(Action::Do(command));
        }
    }
    ui.separator();
    let history = tools.document.as_ref().map(crate::editor::regions::RegionDocument::history);
    let next = |step: Option<&crate::editor::regions::Step>| step.map_or(String::new(), |step| format!("\nNext: {}", step.what));
    let (undo, redo) = (history.and_then(|history| history.next_undo()), history.and_then(|history| history.next_redo()));
    for (command, sign, step) in [(Command::Undo, "↶", undo), (Command::Redo, "↷", redo)] {
        // What is being drawn is taken back before any change is.
        let can = step.is_some() || (command == Command::Undo && tools.is_busy());
        let button = ui.add_enabled(can, Button::new(RichText::new(sign).size(17.0)).min_size(vec2(32.0, side - 4.0)));
        widgets::name(&button, Role::Button, false, command.label());
        let text = format!("{}{}", command.tooltip(ui.ctx()), next(step));
        if button.on_hover_text(&text).on_disabled_hover_text(&text).clicked() {
            cx.send(Action::Do(command));
        }
    }
}

/// What the tool in the hand can be told, and whether the work is on disk.
pub fn options_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let tools = &cx.state.tools;
    ui.spacing_mut().item_spacing.x = 6.0;
    if tools.document.is_none() {
        no_regions_ui(ui, cx);
        return;
    }
    ui.label(RichText::new(tools.tool.label()).strong());
    match &tools.prompt {
        // In place of the options: a narrow canvas has no room for both.
        Some(prompt) => prompt_ui(ui, cx, &prompt.stage),
        None => tool_options_ui(ui, cx),
    }
    widgets::right(ui, |ui| {
        saved_ui(ui, cx);
        // Whole or not at all: half a sentence says nothing. The button of the tool tells it in full.
        let hint = ui.painter().layout_no_wrap(tools.tool.hint().into(), FontId::proportional(11.5), palette.text_dim.0);
        if hint.size().x <= ui.available_width() {
            ui.label(hint).on_hover_text(tools.tool.does());
        }
    });
}

/// Why there is nothing to work on, in a line.
fn no_regions_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    match no_regions(cx.state, cx.pictures) {
        Some(NoRegions::Because { short, long }) => {
            widgets::right(ui, |ui| {
                read_again_ui(ui, cx);
                let words = egui::Label::new(RichText::new(format!("⚠ {short}")).color(palette.bad.0)).truncate();
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| ui.add(words).on_hover_text(long));
            });
        }
        Some(NoRegions::Reading) | None => {
            ui.label(RichText::new("The regions are being read…").color(palette.text_dim.0));
        }
    }
}

/// A button that reads the pictures and regions again which could not be read.
pub fn read_again_ui(ui: &mut Ui, cx: &Context<'_>) {
    let button = ui.button("Read again").on_hover_text("Tries to read the pictures and regions of this edit once more.");
    if button.clicked() {
        cx.send(Action::ReadAgain);
    }
}

fn tool_options_ui(ui: &mut Ui, cx: &Context<'_>) {
    let tools = &cx.state.tools;
    match tools.tool {
        Tool::Brush | Tool::Eraser => size_ui(ui, cx),
        tool if tool.has_mode() => mode_ui(ui, cx),
        _ => {}
    }
    if tools.tool.draws_mask() {
        target_ui(ui, cx);
    }
    // It stays open: dilating is done again and again, and numbers are typed in it.
    let config = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Mask…").config(config).ui(ui, |ui| mask_menu_ui(ui, cx));
    button.on_hover_text("Fill holes, remove specks, dilate, erode, invert, clear.");
    if let Some(op) = tools.working {
        ui.spinner();
        let words = RichText::new(format!("{}…", op.doing())).color(cx.palette(ui).text_dim.0);
        ui.label(words).on_hover_text("Ctrl+Z stops it.");
    }
}

fn size_ui(ui: &mut Ui, cx: &Context<'_>) {
    let options = cx.state.tools.options;
    let mut brush_px = options.brush_px;
    ui.spacing_mut().slider_width = 80.0;
    let slider = Slider::new(&mut brush_px, ToolOptions::BRUSH.0..=ToolOptions::BRUSH.1).logarithmic(true).suffix(" px");
    let response = ui.add(slider).on_hover_text("Diameter in pixels of the source.  [ smaller, ] larger, Shift and the wheel");
    widgets::name(&response, Role::Slider, false, "Brush size");
    if brush_px != options.brush_px {
        send(cx, ToolAction::SetOptions(ToolOptions { brush_px, ..options }));
    }
}

fn mode_ui(ui: &mut Ui, cx: &Context<'_>) {
    let options = cx.state.tools.options;
    for (subtract, label) in [(false, "Add"), (true, "Take away")] {
        let button = ui.add(Button::selectable(options.subtract == subtract, label));
        if button.on_hover_text(Command::AddOrSubtract.tooltip(ui.ctx())).clicked() {
            send(cx, ToolAction::SetOptions(ToolOptions { subtract, ..options }));
        }
    }
}

/// Which mask is drawn on.
fn target_ui(ui: &mut Ui, cx: &Context<'_>) {
    let options = cx.state.tools.options;
    let name = |role| if role == RegionRole::Ignore { "Ignored pixels" } else { "Edit mask" };
    let combo = ComboBox::from_id_salt("mask target").selected_text(name(options.mask_role)).width(96.0);
    let shown = combo.show_ui(ui, |ui| {
        for role in [RegionRole::EditMask, RegionRole::Ignore] {
            if ui.selectable_label(options.mask_role == role, name(role)).clicked() {
                send(cx, ToolAction::SetOptions(ToolOptions { mask_role: role, ..options }));
            }
        }
    });
    widgets::name(&shown.response, Role::ComboBox, false, "Draws on");
    shown.response.on_hover_text("The edit mask is the region that was to change; ignored pixels count neither way.");
    let Some(document) = &cx.state.tools.document else { return };
    let count = document.painted(options.mask_role).count();
    if let Some(region) = document.painted_region(options.mask_role).filter(|_| count > 1) {
        let tip = format!("There are {count} of these masks; strokes go to this one. Select another in the Regions tab.");
        let name: String = region.facts.name.chars().take(14).collect();
        ui.label(RichText::new(format!("→ {name}")).color(cx.palette(ui).text_dim.0)).on_hover_text(tip);
    }
}

fn mask_menu_ui(ui: &mut Ui, cx: &Context<'_>) {
    let options = cx.state.tools.options;
    widgets::command_menu_item(ui, cx, Command::FillHoles, true);
    widgets::command_menu_item(ui, cx, Command::InvertMask, true);
    ui.separator();
    ui.horizontal(|ui| {
        let mut speck_px = options.speck_px;
        command_ui(ui, cx, Command::RemoveSpecks);
        let below = ui.add(DragValue::new(&mut speck_px).range(1..=MOST_SPECK).prefix("below ").suffix(" px"));
        widgets::name(&below, Role::SpinButton, false, "Speck size");
        if speck_px != options.speck_px {
            send(cx, ToolAction::SetOptions(ToolOptions { speck_px, ..options }));
        }
    });
    ui.horizontal(|ui| {
        let mut grow_px = options.grow_px;
        command_ui(ui, cx, Command::Dilate);
        command_ui(ui, cx, Command::Erode);
        let by = ui.add(DragValue::new(&mut grow_px).range(1..=MOST_GROW).prefix("by ").suffix(" px"));
        widgets::name(&by, Role::SpinButton, false, "Dilate and erode by");
        if grow_px != options.grow_px {
            send(cx, ToolAction::SetOptions(ToolOptions { grow_px, ..options }));
        }
    });
    ui.separator();
    if ui.button("Clear").on_hover_text("Takes every pixel out of the mask; Ctrl+Z brings them back.").clicked() {
        send(cx, ToolAction::Mask(MaskOp::Clear));
        ui.close();
    }
}

/// A button of a command inside the menu.
fn command_ui(ui: &mut Ui, cx: &Context<'_>, command: Command) {
    if ui.button(command.label()).on_hover_text(command.tooltip(ui.ctx())).clicked() {
        cx.send(Action::Do(command));
    }
}

fn prompt_ui(ui: &mut Ui, cx: &Context<'_>, stage: &PromptStage) {
    let palette = cx.palette(ui);
    let prompt = cx.state.tools.prompt.as_ref();
    match stage {
        PromptStage::Working(words) => {
            ui.spinner();
            ui.label(RichText::new(format!("{words}…")).color(palette.text_dim.0));
        }
        PromptStage::Failed(why) => {
            ui.add(egui::Label::new(RichText::new(format!("⚠ {why}")).color(palette.bad.0)).truncate()).on_hover_text(why);
        }
        PromptStage::Waiting | PromptStage::Ready => {}
    }
    let proposal = prompt.and_then(|prompt| prompt.proposal());
    if let Some(proposal) = proposal {
        let text = format!("quality {:.2}", proposal.quality);
        ui.label(RichText::new(text).monospace()).on_hover_text("The segmenter's own guess of how well its mask fits (IoU).");
    }
    let count = prompt.map_or(0, |prompt| prompt.proposals.len());
    if ui.add_enabled(proposal.is_some(), Button::new("Accept")).on_hover_text("Adds the proposal to the mask.  [Enter]").clicked() {
        send(cx, ToolAction::Accept);
    }
    if ui.button("Reject").on_hover_text("Drops the proposal and its points.  [Esc]").clicked() {
        send(cx, ToolAction::Cancel);
    }
    if count > 1 {
        let chosen = prompt.map_or(0, |prompt| prompt.chosen);
        let text = format!("{} of {count}", chosen + 1);
        if ui.button(text).on_hover_text(Command::NextProposal.tooltip(ui.ctx())).clicked() {
            send(cx, ToolAction::NextProposal);
        }
    }
}

/// Whether the work is on disk, always at the same place.
fn saved_ui(ui: &mut Ui, cx: &Context<'_>) {
    let palette = cx.palette(ui);
    let (text, color, why) = saved_words(&cx.state.tools, palette);
    let label = ui.label(RichText::new(text).size(11.5).color(color));
    if !why.is_empty() {
        label.on_hover_text(why);
    }
}

fn saved_words(tools: &Tools, palette: &Palette) -> (String, egui::Color32, String) {
    let documents = || tools.document.iter().chain(&tools.unsaved);
    let count = tools.unsaved_count();
    if documents().any(|document| document.conflict().is_some()) {
        return ("⚠ conflict".into(), palette.warning.0, "Another window changed the same regions: see the Regions tab.".into());
    }
    if let Some(failure) = documents().find_map(|document| document.outbox().failure()) {
        let text = format!("⚠ {count} not saved");
        return (text, palette.bad.0, format!("{}\nThe work is kept in memory and tried again by itself.", failure.why));
    }
    if count > 0 {
        ("saving…".into(), palette.text_dim.0, String::new())
    } else {
        ("✔ saved".into(), palette.text_dim.0, String::new())
    }
}
