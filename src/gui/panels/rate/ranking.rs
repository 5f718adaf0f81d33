//! The form of a ranking: edits on shelves, one a rank. Two on one shelf are a tie.

use egui::{Frame, Id, Label, Margin, RichText, Role, Sense, Ui, vec2};

use super::send;
use crate::editor::letter;
use crate::gui::context::Context;
use crate::gui::people::PeopleAction;
use crate::gui::widgets;

/// What is dragged: the place of an edit on the screen.
#[derive(Clone, Copy)]
struct Dragged(usize);

/// Draws the shelves; edits without a rank wait above them.
pub fn ranking_ui(ui: &mut Ui, cx: &Context<'_>, ranks: &[Option<u32>], active: usize) {
    let palette = cx.palette(ui);
    ui.add(
        Label::new(
            RichText::new("Drag each edit to its rank, press digits, or move it with ← and →. Two on one rank are a tie.").size(12.5),
        )
        .wrap(),
    );
    ui.add_space(4.0);
    let waiting = || ranks.iter().enumerate().filter(|(_, rank)| rank.is_none()).map(|(index, _)| index);
    shelf(ui, cx, "no rank yet", None, waiting(), active);
    for rank in 1..=ranks.len() as u32 {
        let words = match rank {
            1 => "1 best".to_owned(),
            last if last as usize == ranks.len() => format!("{last} worst"),
            rank => rank.to_string(),
        };
        let here = ranks.iter().enumerate().filter(move |(_, given)| **given == Some(rank)).map(|(index, _)| index);
        shelf(ui, cx, &words, Some(rank), here, active);
    }
    ui.label(RichText::new("Gaps do not matter: 1 1 4 is kept as 1 1 3.").size(11.5).color(palette.text_dim.0));
}

fn shelf(ui: &mut Ui, cx: &Context<'_>, words: &str, rank: Option<u32>, edits: impl Iterator<Item = usize>, active: usize) {
    let palette = cx.palette(ui);
    let frame = Frame::new().fill(palette.field.0).corner_radius(4).inner_margin(Margin::symmetric(8, 4));
    let (_, dropped) = ui.dnd_drop_zone::<Dragged, ()>(frame, |ui| {
        ui.set_width(ui.available_width());
        ui.set_min_height(30.0);
        ui.horizontal(|ui| {
            ui.allocate_ui(vec2(78.0, 26.0), |ui| ui.label(RichText::new(words).size(12.0).color(palette.text_dim.0)));
            edits.for_each(|index| card(ui, cx, index, rank, index == active));
        });
    });
    if let (Some(dropped), Some(rank)) = (dropped, rank) {
        send(cx, PeopleAction::Rank(dropped.0, rank));
    }
}

fn card(ui: &mut Ui, cx: &Context<'_>, index: usize, rank: Option<u32>, active: bool) {
    let palette = cx.palette(ui);
    let letter = letter(index);
    let id = Id::unique(("ranked edit", index));
    let response = ui
        .dnd_drag_source(id, Dragged(index), |ui| {
            let fill = if active { palette.selection.0 } else { palette.raised.0 };
            Frame::new().fill(fill).corner_radius(4).inner_margin(Margin::symmetric(12, 4)).show(ui, |ui| {
                let mark = if active { "▶ " } else { "" };
                ui.label(RichText::new(format!("{mark}{letter}")).strong().color(palette.text_strong.0));
            });
        })
        .response;
    let place = rank.map_or_else(|| "no rank".to_owned(), |rank| format!("rank {rank}"));
    widgets::name(&response, Role::ListItem, active, format!("Edit {letter}: {place}"));
    // A click marks; dragging is the source's.
    if ui.interact(response.rect, id.with("click"), Sense::click()).clicked() {
        send(cx, PeopleAction::Mark(index));
    }
}
