//! Which edits are their source moved or zoomed, as far as it was looked at. Computed by the engine's picture threads.

use std::collections::HashMap;

use crate::domain::Shift;
use crate::editor::RowId;
use crate::engine::{CanvasEvent, CanvasRequest, PictureToken, Registration, Request};

use super::app::App;
use super::pictures::{Ready, Wanted};

/// More edits than this are not remembered; the next one then begins anew.
const MOST: usize = 4096;

enum Motion {
    Underway(PictureToken),
    Known(Option<Shift>),
}

/// What is known of each edit.
#[derive(Default)]
pub struct Motions(HashMap<RowId, Motion>);

impl std::fmt::Debug for Motions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} motions", self.0.len())
    }
}

impl Motions {
    /// The motion of an edit, if it was looked for and found.
    pub fn found(&self, id: RowId) -> Option<&Shift> {
        match self.0.get(&id)? {
            Motion::Known(found) => found.as_ref(),
            Motion::Underway(_) => None,
        }
    }

    /// Whether one is being looked for.
    pub fn is_underway(&self) -> bool {
        self.0.values().any(|motion| matches!(motion, Motion::Underway(_)))
    }

    /// Looks anew: the edit's mask changed.
    pub fn forget(&mut self, id: RowId) {
        self.0.remove(&id);
    }

    /// Another project is opened.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn answered(&mut self, token: PictureToken, answer: Option<Option<Shift>>) {
        let asked = self.0.iter().find(|(_, motion)| matches!(motion, Motion::Underway(other) if *other == token)).map(|(id, _)| *id);
        match (asked, answer) {
            (Some(id), Some(found)) => {
                self.0.insert(id, Motion::Known(found));
            }
            (Some(id), None) => self.forget(id),
            (None, _) => {}
        }
    }
}

/// As a score keeps it.
fn shift_of(found: Registration) -> Shift {
    let crate::engine::Motion { dx, dy, zoom } = found.motion;
    Shift { dx, dy, zoom, explained: found.explained(), loss: Some(found.loss), loss_aligned: Some(found.loss_aligned) }
}

impl App {
    /// The picture threads answered the canvas.
    pub(super) fn canvas_event(&mut self, event: CanvasEvent) {
        match &event {
            CanvasEvent::Registered { token, found } => self.state.motions.answered(*token, Some(found.map(shift_of))),
            CanvasEvent::Dropped { token } => self.state.motions.answered(*token, None),
            CanvasEvent::Picture { .. } | CanvasEvent::Difference { .. } => {}
        }
        self.pictures.canvas_event(&self.ctx, event, &self.raster);
    }

    /// Looks for the motion of the selected edit once its pictures are there, unless its score says what there is.
    pub(super) fn look_for_motion(&mut self) {
        let Some(row) = self.state.queue.selected_row() else { return };
        let Some(details) = self.state.details.as_ref().filter(|details| details.id == row.id) else { return };
        if self.state.motions.0.contains_key(&row.id) {
            return;
        }
        // Scoring looked already; every pixel of a global edit may change, which says nothing about a motion.
        if let Some(score) = details.score.as_ref().filter(|score| score.global || score.triage.change.is_some()) {
            self.state.motions.0.insert(row.id, Motion::Known(score.triage.shift));
            return;
        }
        let picture = |path: &std::path::PathBuf| self.pictures.ready(&Wanted::Full(path.clone())).and_then(Ready::picture).cloned();
        let (Some(source), Some(edit)) = (picture(&row.source), picture(&row.edited)) else { return };
        let token = self.engine.new_picture();
        if self.state.motions.0.len() >= MOST {
            self.state.motions.clear();
        }
        self.state.motions.0.insert(row.id, Motion::Underway(token));
        let score = details.score.clone();
        self.engine.send(Request::Canvas(CanvasRequest::Register { token, source, edit, score }));
    }
}
