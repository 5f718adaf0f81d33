//! What networks found of the selected edit, as it counts now: one answer for the canvas, the list of regions and the tools.
//!
//! A correction changes what networks find: the segmenter gives another mask for a box that a person drew, the detector other boxes for a
//! corrected parse. So the found regions are those of the newest score that is shown. But a score holds a person's regions where there were
//! some ([`Score::said`]), and nothing yet where a network is still at work; such a role keeps what was found of it before.

use std::sync::Arc;

use crate::domain::regions::KeptRegion;
use crate::domain::rle::Rle;
use crate::domain::{Detection, RegionRole, Score, Side};
use crate::editor::regions::automatic_regions;
use crate::editor::{EditDetails, RowId, Thresholds};
use crate::engine::{Partial, Pending};

use super::app::App;
use super::pictures::Wanted;
use super::region_store::RegionRequest;
use super::rescore::AuditState;
use super::state::State;

/// A score that a role's regions are read from.
#[derive(Clone, Debug)]
enum Held {
    /// One that is on its way to the project.
    Live(Arc<Partial>),
    Kept(Arc<Score>),
}

impl Held {
    fn score(&self) -> &Score {
        match self {
            Self::Live(partial) => &partial.score,
            Self::Kept(score) => score,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Live(a), Self::Live(b)) => Arc::ptr_eq(a, b),
            (Self::Kept(a), Self::Kept(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether it tells what networks found of a role.
    fn tells(&self, role: RegionRole) -> bool {
        let pending = match self {
            Self::Live(partial) => partial.pending,
            Self::Kept(_) => Pending::default(),
        };
        let waits = match role {
            RegionRole::Original | RegionRole::Edited => pending.boxes,
            RegionRole::EditMask | RegionRole::Ignore => pending.mask,
        };
        !waits && !self.score().said.contains(&role)
    }
}

/// The scores that the found regions of an edit are read from, by role.
#[derive(Clone, Debug, Default)]
pub struct Found {
    original: Option<Held>,
    edited: Option<Held>,
    mask: Option<Held>,
}

impl Found {
    /// The boxes that the detector found on a side.
    pub fn boxes(&self, side: Side) -> &[Detection] {
        match side {
            Side::Source => self.original.as_ref().map_or(&[], |held| &held.score().boxes.source),
            Side::Edit => self.edited.as_ref().map_or(&[], |held| &held.score().boxes.edit),
        }
    }

    /// The segmenter's mask.
    pub fn mask(&self) -> Option<&Rle> {
        self.mask.as_ref()?.score().mask.as_ref()
    }

    /// The regions, of the source and of the edit; takes as long as the mask is large.
    pub fn regions(&self) -> [Vec<KeptRegion>; 2] {
        let [original, edited, mask] = [&self.original, &self.edited, &self.mask].map(|held| held.as_ref().map(Held::score));
        automatic_regions(original, edited, mask)
    }

    fn is_same(&self, other: &Self) -> bool {
        let same = |a: &Option<Held>, b: &Option<Held>| match (a, b) {
            (Some(a), Some(b)) => a.is_same(b),
            (None, None) => true,
            _ => false,
        };
        same(&self.original, &other.original) && same(&self.edited, &other.edited) && same(&self.mask, &other.mask)
    }
}

impl AuditState {
    /// What networks found of an edit whose details these are.
    fn found_now(&self, details: &EditDetails) -> Found {
        let live = self.live.as_ref().filter(|live| live.edit == details.id).and_then(|live| live.partial.clone());
        let automatic = details.audit.automatic.as_ref().map(|automatic| &automatic.score);
        let newest: Vec<Held> = live.map(Held::Live).into_iter().chain(details.score.clone().map(Held::Kept)).collect();
        let Some(profile) = newest.first().map(|held| held.score().profile) else { return Found::default() };
        let known = self.found_of(details.id);
        let of = |role: RegionRole, known: Option<&Option<Held>>| {
            let fresh = newest.iter().find(|held| held.tells(role)).cloned();
            let known = known.cloned().flatten().filter(|held| held.score().profile == profile);
            fresh.or(known).or_else(|| automatic.cloned().map(Held::Kept))
        };
        Found {
            original: of(RegionRole::Original, known.map(|found| &found.original)),
            edited: of(RegionRole::Edited, known.map(|found| &found.edited)),
            mask: of(RegionRole::EditMask, known.map(|found| &found.mask)),
        }
    }

    /// What networks found of the selected edit.
    pub fn found_of(&self, edit: RowId) -> Option<&Found> {
        self.found.as_ref().filter(|(of, _)| *of == edit).map(|(_, found)| found)
    }
}

impl State {
    /// The edit mask that the canvas draws of the selected edit where no tool draws it; `None` of another edit, or where there is none.
    ///
    /// Once its regions are read, that is what networks found; until then, what the score says.
    ///
    /// While other thresholds are tried it is the mask that they would give, where that is known ([`Self::tried_mask`]).
    pub fn shown_mask(&self, edit: RowId) -> Option<&Rle> {
        if let Some(tried) = self.tried_mask(edit) {
            return tried;
        }
        if self.tools.document_of(edit).is_some()
            && let Some(found) = self.audit.found_of(edit)
        {
            return found.mask();
        }
        let details = self.details.as_ref().filter(|details| details.id == edit)?;
        self.audit.shown(details)?.score.mask.as_ref()
    }
}

impl State {
    /// The edit mask under the box threshold that is tried (`Some(None)`: it would give none); `None` where none is tried, or where its mask
    /// is not known without asking a network.
    pub fn tried_mask(&self, edit: RowId) -> Option<Option<&Rle>> {
        let tried = self.overlays.preview().filter(|tried| tried.boxes != Thresholds::METRIC.boxes)?;
        let asked = self.audit.sensitivity.as_ref().filter(|asked| asked.edit == edit)?;
        let known = asked.result.as_ref()?.as_ref().ok()?;
        let point = known.by_box_threshold.iter().find(|point| (point.at - f64::from(tried.boxes)).abs() < 0.005)?;
        (!point.pending.boxes && !point.pending.mask).then_some(point.mask.as_deref())
    }
}

impl App {
    /// Follows what networks found of the selected edit: in its document, and on the canvas.
    pub(super) fn follow_found(&mut self) {
        if let Some(details) = &self.state.details {
            let (id, now) = (details.id, self.state.audit.found_now(details));
            if self.state.audit.found_of(id).is_none_or(|known| !known.is_same(&now)) {
                self.state.audit.found = Some((id, now));
            }
        }
        if let Some(id) = self.state.tools.document.as_ref().map(|document| document.id)
            && let Some(found) = self.state.audit.found_of(id)
            && !self.tool_traffic.taken_from.as_ref().is_some_and(|(of, taken)| *of == id && taken.is_same(found))
        {
            let found = found.clone();
            self.tool_traffic.taken_from = Some((id, found.clone()));
            self.ask_regions(RegionRequest::Found(id, found));
        }
        self.follow_shown_mask();
    }

    /// A mask on the canvas that no longer is the one to be shown is drawn anew.
    fn follow_shown_mask(&mut self) {
        let Some(edit) = self.state.details.as_ref().map(|details| details.id) else { return };
        let now = self.state.shown_mask(edit);
        let drawn = self.state.audit.drawn_mask.as_ref();
        if drawn.is_some_and(|(of, mask)| *of == edit && mask.as_ref() == now) {
            return;
        }
        self.state.audit.drawn_mask = Some((edit, now.cloned()));
        self.pictures.forget(&Wanted::Mask(edit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Outcome, Parts, Profile};

    #[test]
    fn what_waits_and_what_a_person_said_is_nothing_that_a_network_found() {
        let none = || Outcome::NotApplicable("not judged".to_owned());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: none() };
        let score = Score { said: vec![RegionRole::Edited], ..Score::of_parts(Profile::Corrected, false, parts) };
        let tells = |held: &Held| [RegionRole::Original, RegionRole::Edited, RegionRole::EditMask].map(|role| held.tells(role));
        assert_eq!(tells(&Held::Kept(Arc::new(score.clone()))), [true, false, true]);
        let pending = Pending { mask: true, modify: true, ..Pending::default() };
        let partial = Partial { score, pending, mask_in_bpm500: None };
        assert_eq!(tells(&Held::Live(Arc::new(partial.clone()))), [true, false, false]);
        let pending = Pending { boxes: true, mask: true, modify: true };
        assert_eq!(tells(&Held::Live(Arc::new(Partial { pending, ..partial }))), [false; 3]);
    }
}
