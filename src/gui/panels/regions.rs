//! The inspector's list of regions: what counts, who made it, and how to put it right; and their journal.

use std::sync::{Arc, Weak};

use egui::{Button, ComboBox, DragValue, Frame, Grid, Id, Label, Margin, RichText, Role, TextEdit, Ui, vec2};

use super::history::utc;
use crate::domain::regions::{Area, EntryKind, KeptRegion, RegionId, Token, roles_of};
use crate::domain::{Mask, RegionOrigin, RegionRole, Side};
use crate::editor::EditDetails;
use crate::editor::regions::{LogLine, RegionDocument, role_name};
use crate::gui::command::Command;
use crate::gui::context::{Action, Context};
use crate::gui::panels::tool_strip::read_again_ui;
use crate::gui::tool_actions::ToolAction;
use crate::gui::unreadable::{NoRegions, no_regions};
use crate::gui::widgets::{self, command_button, section};

/// The parts of the list.
const PARTS: [(RegionRole, Side, &str, &str); 4] = [
    (
        RegionRole::Original,
        Side::Source,
        "Boxes on the source",
        "What the instruction changes (of an addition: what it is added to). They hold for all edits of this source.",
    ),
    (RegionRole::Edited, Side::Edit, "Boxes on the edit", "What the instruction leads to."),
    (
        RegionRole::EditMask,
        Side::Edit,
        "Edit mask",
        "The pixels that were to change, at the size of the source; preservation is judged outside them.",
    ),
    (RegionRole::Ignore, Side::Edit, "Ignored pixels", "They count neither way, for example a watermark."),
];

/// Points left in a heading's row from which on there is room for a word beside a pen.
const MARKED: f32 = 90.0;
/// Width of the labels beside the fields of a region, in points.
const LABELS: f32 = 96.0;

fn send(cx: &Context<'_>, action: ToolAction) {
    cx.send(Action::Tool(action));
}

/// Draws the tab.
pub fn regions_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    let Some(document) = cx.state.tools.document_of(details.id) else {
        match no_regions(cx.state, cx.pictures) {
            Some(NoRegions::Because { short, long }) => {
                ui.label(RichText::new(format!("⚠ {short}")).strong().color(palette.bad.0));
                ui.add(Label::new(RichText::new(long).color(palette.text.0)).wrap());
                read_again_ui(ui, cx);
            }
            Some(NoRegions::Reading) | None => {
                ui.spinner();
            }
        }
        return;
    };
    trouble_ui(ui, cx, document);
    other_size_ui(ui, cx, document);
    for (role, side, title, meaning) in PARTS {
        part_ui(ui, cx, document, (role, side, title, meaning));
    }
    ui.add_space(6.0);
    ui.separator();
    match document.selected() {
        Some((side, region)) => selected_ui(ui, cx, document, side, region),
        None => {
            let hint = "Select a region here or on the canvas, or take a tool from the strip to draw one. A change of an automatic \
                        region makes it yours; the score follows.";
            ui.add(Label::new(RichText::new(hint).size(12.0).color(palette.text_dim.0)).wrap());
        }
    }
}

/// Says that regions were made for pictures of other sizes than those that are there: they are shown stretched.
fn other_size_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument) {
    let now = cx.state.tools.sizes.filter(|(of, ..)| *of == document.id).map_or(document.source_size, |(_, source, _)| source);
    let masks = [RegionRole::EditMask, RegionRole::Ignore].into_iter().flat_map(|role| document.masks(role));
    let sizes = masks.filter_map(|region| match &region.area {
        Area::Mask(mask) => Some(mask.size()),
        Area::Box(_) => None,
    });
    if let Some(other) = sizes.chain([document.source_size]).find(|size| *size != now) {
        let text = format!(
            "⚠ The source is {now}, these regions were made for {other}: they are shown stretched. Where another picture was put in its place, \
             put the old one back, or draw them anew."
        );
        ui.add(Label::new(RichText::new(text).color(cx.palette(ui).warning.0)).wrap());
    }
}

/// What keeps work from being saved, and what can be done.
fn trouble_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument) {
    let palette = cx.palette(ui);
    let frame = Frame::new().fill(palette.raised.0).corner_radius(4).inner_margin(Margin::same(8));
    if let Some(conflict) = document.conflict() {
        frame.show(ui, |ui| {
            let side = if conflict.side == Side::Source { "source" } else { "edit" };
            let title = format!("⚠ Two windows changed the same regions of the {side}");
            ui.add(Label::new(RichText::new(title).strong().color(palette.warning.0)).wrap());
            for line in &conflict.their_log {
                ui.add(Label::new(format!("{} {}, {}", line.who, line.what, utc(line.at_millis))).wrap());
            }
            let kept = "Both versions are in the history, whichever you choose.";
            ui.add(Label::new(RichText::new(kept).size(12.0).color(palette.text_dim.0)).wrap());
            ui.horizontal(|ui| {
                if ui.button("Keep mine").on_hover_text("What this window shows counts.").clicked() {
                    send(cx, ToolAction::KeepMine);
                }
                if ui.button("Take theirs").on_hover_text("What the other window saved counts; yours stays in the history.").clicked() {
                    send(cx, ToolAction::KeepTheirs);
                }
            });
        });
    } else if let Some(failure) = document.outbox().failure() {
        frame.show(ui, |ui| {
            let title = format!("⚠ {} not saved, kept in memory", changes(document.outbox().len()));
            ui.label(RichText::new(title).strong().color(palette.bad.0));
            ui.add(Label::new(&failure.why).wrap());
            let again = format!("Tried {}×; tried again by itself.", failure.attempts);
            ui.label(RichText::new(again).size(12.0).color(palette.text_dim.0));
            if ui.button("Try again now").clicked() {
                send(cx, ToolAction::RetrySaving);
            }
        });
    }
}

fn changes(n: usize) -> String {
    if n == 1 { "1 change".into() } else { format!("{n} changes") }
}

fn part_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument, (role, side, title, meaning): (RegionRole, Side, &str, &str)) {
    let palette = cx.palette(ui);
    let said = document.speaks_for(side, role);
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new(title.to_uppercase()).small().strong().color(palette.text_dim.0));
        widgets::right(ui, |ui| {
            if said {
                let back = ui.add(Button::new(RichText::new("Back to automatic").size(11.5)));
                widgets::name(&back, Role::Button, false, format!("Back to automatic: {title}"));
                if back.on_hover_text("Drops the person's regions of this kind; Ctrl+Z brings them back.").clicked() {
                    send(cx, ToolAction::RevertToAutomatic(role));
                }
                // Where there is no room for the word, the pen says it.
                let words = if ui.available_width() > MARKED { "✏ corrected" } else { "✏" };
                ui.label(RichText::new(words).size(11.5).color(palette.good.0))
                    .on_hover_text("A person's word counts here, not the networks'.");
            }
        });
    })
    .response
    .on_hover_text(meaning);
    let mut any = false;
    for region in document.shown(side).filter(|region| region.facts.role == role) {
        any = true;
        line_ui(ui, cx, document, side, region);
    }
    if !any {
        let text = match (said, role) {
            (true, RegionRole::Ignore) | (false, RegionRole::Ignore) => "none",
            (true, _) => "none: a person says that there is nothing",
            (false, _) => "none found",
        };
        ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
    }
}

fn line_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument, side: Side, region: &KeptRegion) {
    let palette = cx.palette(ui);
    let hidden = cx.state.tools.is_hidden(document.id, side, region.id);
    let selected = document.selected == Some((side, region.id));
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        widgets::right(ui, |ui| {
            let delete = ui.add(Button::new("×").frame(false)).on_hover_text("Delete.  [Delete]");
            widgets::name(&delete, Role::Button, false, format!("Delete {}", region.facts.name));
            if delete.clicked() {
                send(cx, ToolAction::Delete(side, region.id));
            }
            hide_ui(ui, cx, (side, region), hidden);
            let facts = format!("{} · {}", origin_words(region), size_words(ui, region));
            ui.label(RichText::new(facts).size(11.5).color(palette.text_dim.0));
            let left = ui.available_width();
            let name = if region.facts.name.is_empty() { "(no name)" } else { &region.facts.name };
            let mut text = RichText::new(name);
            if hidden {
                text = text.color(palette.text_dim.0).strikethrough();
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                // What grows behind the name keeps it at the left.
                let button = Button::selectable(selected, (text, egui::Atom::grow())).truncate();
                let button = button.min_size(vec2((left - 4.0).max(20.0), 0.0));
                let response = ui.add(button);
                widgets::name(&response, Role::Button, selected, format!("Region {name}"));
                let (here, pointed) = (Some((side, region.id)), cx.state.tools.pointed);
                if response.hovered() && pointed != here {
                    send(cx, ToolAction::PointAt(here));
                } else if !response.hovered() && pointed == here {
                    send(cx, ToolAction::PointAt(None));
                }
                if response.clicked() {
                    let choice = if selected { None } else { Some((side, region.id)) };
                    send(cx, ToolAction::Select(choice));
                }
            });
        });
    });
}

/// A button that hides a region on the canvas, or shows it again.
fn hide_ui(ui: &mut Ui, cx: &Context<'_>, (side, region): (Side, &KeptRegion), hidden: bool) {
    let does = if hidden { "Show" } else { "Hide" };
    let button = ui.add(Button::new(RichText::new(does).size(11.5)).frame(false)).on_hover_text(Command::HideRegion.tooltip(ui.ctx()));
    widgets::name(&button, Role::Button, hidden, format!("{does} {}", region.facts.name));
    if button.clicked() {
        send(cx, ToolAction::ToggleHidden(side, region.id));
    }
}

fn origin_words(region: &KeptRegion) -> String {
    let origin = match region.facts.origin {
        RegionOrigin::Detector => "detector",
        RegionOrigin::Segmenter => "segmenter",
        RegionOrigin::Person => "✏ person",
        RegionOrigin::Import => "import",
    };
    match region.facts.confidence {
        Some(confidence) if region.facts.origin == RegionOrigin::Detector => format!("{origin} {confidence:.2}"),
        _ => origin.to_owned(),
    }
}

fn size_words(ui: &Ui, region: &KeptRegion) -> String {
    match &region.area {
        Area::Box(rect) => format!("{:.0}×{:.0}", rect.width(), rect.height()),
        Area::Mask(mask) => format!("{} px", mask_pixels(ui, region.id, mask)),
    }
}

/// The pixels of a mask, counted once and not in each frame: a mask of 8192×8192 is 8 MiB to look through.
fn mask_pixels(ui: &Ui, of: RegionId, mask: &Arc<Mask>) -> u64 {
    /// As long as the weak reference is kept, no other mask can come to lie at its address.
    type Counted = (Weak<Mask>, u64);
    let id = Id::unique(("mask pixels", of.0));
    let known = ui.data(|data| data.get_temp::<Counted>(id)).filter(|(of, _)| Weak::as_ptr(of) == Arc::as_ptr(mask));
    known.map_or_else(
        || {
            let pixels = mask.count();
            ui.data_mut(|data| data.insert_temp(id, (Arc::downgrade(mask), pixels)));
            pixels
        },
        |(_, pixels)| pixels,
    )
}

/// What can be set of the selected region.
fn selected_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument, side: Side, region: &KeptRegion) {
    let palette = cx.palette(ui);
    section(ui, palette, "Selected region");
    // As wide for a mask as for a box, whose labels are longer: otherwise the panel grows when the selection goes from one to the other.
    Grid::new("selected region").num_columns(2).min_col_width(LABELS).spacing(vec2(10.0, 6.0)).show(ui, |ui| {
        name_ui(ui, cx, document, side, region);
        role_ui(ui, cx, side, region);
        if let Area::Box(rect) = &region.area {
            edges_ui(ui, cx, document, side, region.id, rect.to_array());
        }
    });
    ui.horizontal_wrapped(|ui| {
        if matches!(region.area, Area::Box(_)) {
            if side == Side::Source {
                command_button(ui, cx, Command::CopyToEdit, true);
            }
            let fill = ui.button("Fill into mask");
            if fill.on_hover_text("Adds the pixels whose centres lie in the box to the mask that is drawn on.").clicked() {
                send(cx, ToolAction::BoxToMask(side, region.id));
            }
        }
        if ui.button("Delete").on_hover_text("Deletes the region.  [Delete]").clicked() {
            send(cx, ToolAction::Delete(side, region.id));
        }
    });
}

/// A value that is being typed or dragged; it becomes one change when it is let go.
fn draft_id(document: &RegionDocument, side: Side, id: RegionId, what: &str) -> Id {
    Id::unique(("region draft", document.id.0, side as u8, id.0, what))
}

fn name_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument, side: Side, region: &KeptRegion) {
    let label = ui.label("Name");
    let draft = draft_id(document, side, region.id, "name");
    let mut name: String = ui.ctx().data(|data| data.get_temp(draft)).unwrap_or_else(|| region.facts.name.clone());
    let response = ui.add(TextEdit::singleline(&mut name).desired_width(f32::INFINITY)).labelled_by(label.id);
    if cx.state.tools.focus_name {
        response.request_focus();
        response.scroll_to_me(None);
    }
    if response.changed() {
        ui.ctx().data_mut(|data| data.insert_temp(draft, name.clone()));
    }
    if response.lost_focus() {
        ui.ctx().data_mut(|data| data.remove::<String>(draft));
        if name != region.facts.name {
            send(cx, ToolAction::Rename(side, region.id, name));
        }
    }
    ui.end_row();
}

fn role_ui(ui: &mut Ui, cx: &Context<'_>, side: Side, region: &KeptRegion) {
    ui.label("Role");
    let roles = roles_of(side);
    if roles.len() == 1 {
        ui.label(role_name(region.facts.role));
        ui.end_row();
        return;
    }
    let shown = ComboBox::from_id_salt("region role").selected_text(role_name(region.facts.role)).show_ui(ui, |ui| {
        for role in roles {
            if ui.selectable_label(region.facts.role == *role, role_name(*role)).clicked() {
                send(cx, ToolAction::SetRole(side, region.id, *role));
            }
        }
    });
    widgets::name(&shown.response, Role::ComboBox, false, "Role of the region");
    shown.response.on_hover_text(Command::ChangeRole.tooltip(ui.ctx()));
    ui.end_row();
}

fn edges_ui(ui: &mut Ui, cx: &Context<'_>, document: &RegionDocument, side: Side, id: RegionId, edges: [f32; 4]) {
    let size = document.size_of(side);
    let draft = draft_id(document, side, id, "edges");
    let mut now: [f32; 4] = ui.ctx().data(|data| data.get_temp(draft)).unwrap_or(edges);
    let mut done = false;
    for (row, names) in [("Left, top", ["Left", "Top"]), ("Right, bottom", ["Right", "Bottom"])].into_iter().enumerate() {
        let (title, names) = names;
        ui.label(title);
        ui.horizontal(|ui| {
            for (axis, name) in names.into_iter().enumerate() {
                let limit = if axis == 0 { size.width } else { size.height };
                let value = DragValue::new(&mut now[2 * row + axis]).range(0.0..=limit as f32).speed(1.0).max_decimals(1).suffix(" px");
                let response = ui.add(value).on_hover_text("In image pixels of this picture; drag or type.");
                widgets::name(&response, Role::SpinButton, false, format!("{name} edge"));
                if response.changed() {
                    ui.ctx().data_mut(|data| data.insert_temp(draft, now));
                }
                done |= response.drag_stopped() || response.lost_focus();
            }
        });
        ui.end_row();
    }
    if done {
        ui.ctx().data_mut(|data| data.remove::<[f32; 4]>(draft));
        if now != edges {
            send(cx, ToolAction::SetBox(side, id, now));
        }
    }
}

/// The journal of both sides, newest first, with a way back to each state.
pub fn journal_ui(ui: &mut Ui, cx: &Context<'_>, details: &EditDetails) {
    let palette = cx.palette(ui);
    let Some(document) = cx.state.tools.document_of(details.id) else { return };
    section(ui, palette, "Regions");
    if document.log().is_empty() {
        ui.label(RichText::new("No region has been changed yet.").color(palette.text_dim.0));
    }
    let waiting: Vec<Token> =
        [Side::Source, Side::Edit].into_iter().flat_map(|side| document.outbox().of_side(side)).map(|entry| entry.token).collect();
    for line in document.log().iter().rev() {
        log_line_ui(ui, cx, line, waiting.contains(&line.token));
    }
    if document.older() > 0 {
        let text = format!("{} older changes are in the project file.", document.older());
        ui.label(RichText::new(text).size(12.0).color(palette.text_dim.0));
    }
    section(ui, palette, "Ratings and parses");
}

fn log_line_ui(ui: &mut Ui, cx: &Context<'_>, line: &LogLine, waiting: bool) {
    let palette = cx.palette(ui);
    let (verb, back, tip) = match line.kind {
        EntryKind::Do => ("", "Back to before", "Brings back the regions as they were before this change; that is a change itself."),
        EntryKind::Undo(_) => ("undid: ", "Back to before", "Brings back the regions as they were before they were undone."),
        EntryKind::Redo(_) => ("redid: ", "Back to before", "Brings back the regions as they were before this."),
        EntryKind::SetAside => ("set aside: ", "Use this version", "Makes the version that was set aside the one that counts."),
    };
    Frame::new().fill(palette.background.0).corner_radius(4).inner_margin(Margin::symmetric(8, 5)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.label(RichText::new(&line.who).strong());
            let side = if line.side == Side::Source { "source" } else { "edit" };
            ui.label(RichText::new(side).size(11.5).color(palette.text_dim.0));
            widgets::right(ui, |ui| ui.label(RichText::new(utc(line.at_millis)).size(11.5).color(palette.text_dim.0)));
        });
        ui.add(Label::new(format!("{verb}{}", line.what)).wrap());
        // The same place and height in both cases: lines below must not jump when the disk is done.
        let words = if waiting { RichText::new("Not on disk yet").color(palette.warning.0) } else { RichText::new(back) };
        if ui.add_enabled(!waiting, Button::new(words.size(11.5))).on_hover_text(tip).clicked() {
            send(cx, ToolAction::GoBack(line.side, line.token));
        }
    });
}
