//! One change of the regions of a side, as a difference that can be applied and reversed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Area, KeptRegion, MaskDiff, MaskDiffError, RegionFacts, RegionId, SideRegions, StoredRegion, StoredSide};
use crate::domain::rle::{Counts, RleError};
use crate::domain::{ImageSpace, Mask, Rect, RegionRole, RegionShape, Side};

/// What one gesture changed: pieces that are applied in order.
///
/// A change made by [`Self::between`] begins as the two states, which costs nothing; its pieces (differences and run lengths of masks, which
/// take up to seconds for a mask of 8192×8192) are made when they are first asked for: by the thread that writes the journal, not by the
/// one that draws. Copies and inverses of a change share its pieces.
#[derive(Clone, Default)]
pub struct RegionChange {
    made: Arc<Made>,
    /// From the second state to the first.
    back: bool,
}

/// What copies of a change share. One of the two is there at any time.
#[derive(Default)]
struct Made {
    states: Mutex<Option<Arc<States>>>,
    /// From the first state to the second. Empty where there are no states.
    pieces: OnceLock<Vec<Piece>>,
}

struct States {
    before: SideRegions,
    after: SideRegions,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Roles {
        before: Vec<RegionRole>,
        after: Vec<RegionRole>,
    },
    /// At a place of the list.
    Added {
        at: usize,
        region: StoredRegion,
    },
    Removed {
        at: usize,
        region: StoredRegion,
    },
    Described {
        id: RegionId,
        before: RegionFacts,
        after: RegionFacts,
    },
    Moved {
        id: RegionId,
        before: Rect<ImageSpace>,
        after: Rect<ImageSpace>,
    },
    Painted {
        id: RegionId,
        diff: MaskDiff,
    },
    /// The whole state, of files that kept no differences.
    Replaced {
        before: StoredSide,
        after: StoredSide,
    },
}

/// Why a change does not fit a state.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ChangeError {
    #[error("the change is about region {0}, which is not there or not of that kind")]
    NoRegion(u32),
    #[error("the change begins with another state than there is")]
    OtherState,
    #[error(transparent)]
    Mask(#[from] MaskDiffError),
    #[error(transparent)]
    Rle(#[from] RleError),
}

impl RegionChange {
    /// What leads from `before` to `after`, which are states of one side.
    pub fn between(before: &SideRegions, after: &SideRegions) -> Self {
        let states = States { before: before.clone(), after: after.clone() };
        Self { made: Arc::new(Made { states: Mutex::new(Some(Arc::new(states))), pieces: OnceLock::new() }), back: false }
    }

    fn of(pieces: Vec<Piece>) -> Self {
        Self { made: Arc::new(Made { states: Mutex::new(None), pieces: OnceLock::from(pieces) }), back: false }
    }

    fn states(&self) -> Option<Arc<States>> {
        // A panic elsewhere cannot leave an option half-changed.
        self.made.states.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forward_pieces(&self) -> &[Piece] {
        self.made.pieces.get_or_init(|| self.states().map(|states| pieces(&states.before, &states.after)).unwrap_or_default())
    }

    fn pieces(&self) -> Cow<'_, [Piece]> {
        let forward = self.forward_pieces();
        if self.back { Cow::Owned(forward.iter().rev().map(Piece::inverse).collect()) } else { Cow::Borrowed(forward) }
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.states().map_or_else(|| self.forward_pieces().is_empty(), |states| states.before == states.after)
    }

    /// The change back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { made: Arc::clone(&self.made), back: !self.back }
    }

    /// The state after the change.
    ///
    /// # Errors
    /// When the change does not fit `state`; nothing is lost, as `state` stays as it is.
    pub fn applied(&self, state: &SideRegions) -> Result<SideRegions, ChangeError> {
        if let Some(states) = self.states() {
            let (from, to) = if self.back { (&states.after, &states.before) } else { (&states.before, &states.after) };
            if from == state {
                return Ok(to.clone());
            }
        }
        let mut next = state.clone();
        for piece in self.pieces().iter() {
            piece.apply(&mut next)?;
        }
        Ok(next)
    }

    /// About how many bytes it takes in memory: its pieces as far as they are made, and the masks of its states as long as it has them.
    pub fn bytes(&self) -> usize {
        let pieces = self.made.pieces.get().map_or(0, |pieces| pieces.iter().map(Piece::bytes).sum());
        pieces + self.states().map_or(0, |states| states.mask_bytes())
    }

    /// Whether it has its two states, so that applying it costs nothing.
    pub fn has_states(&self) -> bool {
        self.states().is_some()
    }

    /// Lets the states go; its pieces are all that is left. Makes these if nobody has asked for them yet.
    pub fn let_states_go(&self) {
        self.forward_pieces();
        *self.made.states.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// As files of version 1 kept it: two states without what leads from one to the other.
    pub fn replacing(before: &SideRegions, after: &SideRegions) -> Self {
        Self::of(vec![Piece::Replaced { before: before.stored(), after: after.stored() }])
    }
}

impl PartialEq for RegionChange {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.made, &other.made) && self.back == other.back) || self.pieces() == other.pieces()
    }
}

impl std::fmt::Debug for RegionChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.made.pieces.get() {
            Some(_) => f.debug_list().entries(self.pieces().iter()).finish(),
            None => f.write_str("RegionChange (not computed yet)"),
        }
    }
}

impl Serialize for RegionChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.pieces().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RegionChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::of)
    }
}

impl States {
    /// Bytes of the masks that are there after the change and were not before it; those of before are the change's before this one.
    fn mask_bytes(&self) -> usize {
        let masks = |state: &SideRegions| -> Vec<Arc<Mask>> {
            let mask = |region: &KeptRegion| match &region.area {
                Area::Mask(mask) => Some(Arc::clone(mask)),
                Area::Box(_) => None,
            };
            state.regions.iter().filter_map(mask).collect()
        };
        let before = masks(&self.before);
        let new = |mask: &Arc<Mask>| !before.iter().any(|old| Arc::ptr_eq(old, mask));
        masks(&self.after).iter().filter(|mask| new(mask)).map(|mask| mask.bytes()).sum()
    }
}

/// What leads from `before` to `after`.
fn pieces(before: &SideRegions, after: &SideRegions) -> Vec<Piece> {
    let side = before.side;
    let mut pieces = Vec::new();
    let lasting = lasting(before, after);
    // From the back, so that the places of those in front hold.
    for (at, region) in before.regions.iter().enumerate().rev().filter(|(_, region)| !lasting.contains(&region.id)) {
        pieces.push(Piece::Removed { at, region: region.stored(side) });
    }
    for region in before.regions.iter().filter(|region| lasting.contains(&region.id)) {
        if let Some(new) = after.get(region.id) {
            changed(region, new, &mut pieces);
        }
    }
    for (at, region) in after.regions.iter().enumerate().filter(|(_, region)| !lasting.contains(&region.id)) {
        pieces.push(Piece::Added { at, region: region.stored(side) });
    }
    if before.roles != after.roles {
        pieces.push(Piece::Roles { before: before.roles.clone(), after: after.roles.clone() });
    }
    pieces
}

/// The regions of both states that keep their kind of area, when they are in the same order; else none.
fn lasting(before: &SideRegions, after: &SideRegions) -> HashSet<RegionId> {
    let same_kind = |a: &Area, b: &Area| match (a, b) {
        (Area::Box(_), Area::Box(_)) => true,
        (Area::Mask(a), Area::Mask(b)) => a.size() == b.size(),
        _ => false,
    };
    let lasts = |of: &KeptRegion, other: &SideRegions| other.get(of.id).is_some_and(|found| same_kind(&of.area, &found.area));
    let order = |of: &SideRegions, other: &SideRegions| -> Vec<RegionId> {
        of.regions.iter().filter(|region| lasts(region, other)).map(|region| region.id).collect()
    };
    let (old, new) = (order(before, after), order(after, before));
    if old == new { old.into_iter().collect() } else { HashSet::new() }
}

fn changed(old: &KeptRegion, new: &KeptRegion, pieces: &mut Vec<Piece>) {
    if old.facts != new.facts {
        pieces.push(Piece::Described { id: old.id, before: old.facts.clone(), after: new.facts.clone() });
    }
    match (&old.area, &new.area) {
        (Area::Box(before), Area::Box(after)) if before != after => {
            pieces.push(Piece::Moved { id: old.id, before: *before, after: *after });
        }
        (Area::Mask(before), Area::Mask(after)) if !Arc::ptr_eq(before, after) => {
            pieces.extend(MaskDiff::between(before, after).map(|diff| Piece::Painted { id: old.id, diff }));
        }
        _ => {}
    }
}

impl Piece {
    fn inverse(&self) -> Self {
        match self.clone() {
            Self::Roles { before, after } => Self::Roles { before: after, after: before },
            Self::Added { at, region } => Self::Removed { at, region },
            Self::Removed { at, region } => Self::Added { at, region },
            Self::Described { id, before, after } => Self::Described { id, before: after, after: before },
            Self::Moved { id, before, after } => Self::Moved { id, before: after, after: before },
            painted @ Self::Painted { .. } => painted,
            Self::Replaced { before, after } => Self::Replaced { before: after, after: before },
        }
    }

    fn bytes(&self) -> usize {
        let region = |region: &StoredRegion| {
            let shape = match &region.shape {
                RegionShape::Box(_) => 16,
                RegionShape::Mask(rle) => match &rle.counts {
                    Counts::Packed(text) => text.len(),
                    Counts::Runs(runs) => runs.len() * 4,
                },
            };
            shape + region.facts.name.len() + 64
        };
        let side = |side: &StoredSide| side.regions.iter().map(region).sum::<usize>();
        match self {
            Self::Roles { .. } | Self::Moved { .. } => 64,
            Self::Added { region: of, .. } | Self::Removed { region: of, .. } => region(of),
            Self::Described { before, after, .. } => before.name.len() + after.name.len() + 64,
            Self::Painted { diff, .. } => diff.bytes() + 32,
            Self::Replaced { before, after } => side(before) + side(after),
        }
    }

    fn apply(&self, state: &mut SideRegions) -> Result<(), ChangeError> {
        match self {
            Self::Roles { before, after } => {
                if state.roles != *before {
                    return Err(ChangeError::OtherState);
                }
                state.roles.clone_from(after);
            }
            Self::Added { at, region } => {
                if *at > state.regions.len() || state.get(region.id).is_some() {
                    return Err(ChangeError::OtherState);
                }
                state.regions.insert(*at, KeptRegion::from_stored(region)?);
            }
            Self::Removed { at, region } => {
                if state.regions.get(*at).is_none_or(|there| there.id != region.id) {
                    return Err(ChangeError::NoRegion(region.id.0));
                }
                state.regions.remove(*at);
            }
            Self::Described { id, before, after } => {
                let region = state.get_mut(*id).ok_or(ChangeError::NoRegion(id.0))?;
                if region.facts != *before {
                    return Err(ChangeError::OtherState);
                }
                region.facts.clone_from(after);
            }
            Self::Moved { id, before, after } => match state.get_mut(*id).map(|region| &mut region.area) {
                Some(Area::Box(rect)) if rect == before => *rect = *after,
                Some(Area::Box(_)) => return Err(ChangeError::OtherState),
                _ => return Err(ChangeError::NoRegion(id.0)),
            },
            Self::Painted { id, diff } => match state.get_mut(*id).map(|region| &mut region.area) {
                Some(Area::Mask(mask)) => {
                    let mut painted: Mask = Mask::clone(mask);
                    diff.apply(&mut painted)?;
                    *mask = Arc::new(painted);
                }
                _ => return Err(ChangeError::NoRegion(id.0)),
            },
            Self::Replaced { after, .. } => *state = read(state.side, after)?,
        }
        Ok(())
    }
}

fn read(side: Side, stored: &StoredSide) -> Result<SideRegions, ChangeError> {
    Ok(SideRegions::from_stored(side, stored)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RegionOrigin, Size};

    fn with_mask(width: u32) -> SideRegions {
        let mask = Mask::from_fn(Size::new(70, 5), |x, _| x < width);
        let facts = RegionFacts { role: RegionRole::EditMask, origin: RegionOrigin::Person, name: "m".into(), confidence: None };
        let mut state = SideRegions::unspoken(Side::Edit);
        state.regions.push(KeptRegion { id: RegionId(1), facts, area: Area::Mask(Arc::new(mask)) });
        state
    }

    #[test]
    fn a_change_computes_nothing_until_it_is_written_and_leads_there_and_back_with_and_without_its_states() {
        let (before, after) = (with_mask(10), with_mask(12));
        let change = RegionChange::between(&before, &after);
        assert!(!change.is_empty() && RegionChange::between(&before, &before.clone()).is_empty());
        assert_eq!((change.applied(&before), change.inverse().applied(&after)), (Ok(after.clone()), Ok(before.clone())));
        assert!(change.made.pieces.get().is_none(), "nothing of this asks for the difference");
        // The mask after it: five rows of two words.
        assert_eq!((change.has_states(), change.bytes()), (true, 80));
        let json = serde_json::to_string(&change).unwrap(); // plain data
        assert!(change.inverse().made.pieces.get().is_some(), "the inverse has the same");
        change.let_states_go();
        assert!(!change.inverse().has_states());
        let read: RegionChange = serde_json::from_str(&json).unwrap(); // written above
        assert_eq!((change.bytes(), &change), (read.bytes(), &read));
        for change in [change, read] {
            assert_eq!((change.applied(&before), change.inverse().applied(&after)), (Ok(after.clone()), Ok(before.clone())));
        }
    }

    #[test]
    fn a_state_that_is_not_its_own_gets_the_difference() {
        let change = RegionChange::between(&with_mask(10), &with_mask(12));
        let other = with_mask(20);
        let Area::Mask(mask) = &change.applied(&other).unwrap().regions[0].area else { panic!("a mask stays one") }; // it has the region
        // Columns 10 and 11 flip: of each of five rows' 20 pixels, 18 are left.
        assert_eq!((mask.count(), mask.get(9, 0), mask.get(10, 0)), (90, true, false));
        assert_eq!(change.applied(&SideRegions::unspoken(Side::Edit)), Err(ChangeError::NoRegion(1)));
    }
}
