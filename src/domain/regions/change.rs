//! One change of the regions of a side, as a difference that can be applied and reversed.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Area, KeptRegion, MaskDiff, MaskDiffError, RegionFacts, RegionId, SideRegions, StoredRegion, StoredSide};
use crate::domain::rle::RleError;
use crate::domain::{ImageSpace, Mask, Rect, RegionRole, Side};

/// What one gesture changed: pieces that are applied in order.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RegionChange {
    pieces: Vec<Piece>,
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
        Self { pieces }
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The change back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let back = |piece: &Piece| match piece.clone() {
            Piece::Roles { before, after } => Piece::Roles { before: after, after: before },
            Piece::Added { at, region } => Piece::Removed { at, region },
            Piece::Removed { at, region } => Piece::Added { at, region },
            Piece::Described { id, before, after } => Piece::Described { id, before: after, after: before },
            Piece::Moved { id, before, after } => Piece::Moved { id, before: after, after: before },
            painted @ Piece::Painted { .. } => painted,
            Piece::Replaced { before, after } => Piece::Replaced { before: after, after: before },
        };
        Self { pieces: self.pieces.iter().rev().map(back).collect() }
    }

    /// The state after the change.
    ///
    /// # Errors
    /// When the change does not fit `state`; nothing is lost, as `state` stays as it is.
    pub fn applied(&self, state: &SideRegions) -> Result<SideRegions, ChangeError> {
        let mut next = state.clone();
        for piece in &self.pieces {
            piece.apply(&mut next)?;
        }
        Ok(next)
    }

    /// About how many bytes it takes, in memory and on disk.
    pub fn bytes(&self) -> usize {
        let region = |region: &StoredRegion| {
            let shape = match &region.shape {
                crate::domain::RegionShape::Box(_) => 16,
                crate::domain::RegionShape::Mask(rle) => match &rle.counts {
                    crate::domain::rle::Counts::Packed(text) => text.len(),
                    crate::domain::rle::Counts::Runs(runs) => runs.len() * 4,
                },
            };
            shape + region.facts.name.len() + 64
        };
        let side = |side: &StoredSide| side.regions.iter().map(region).sum::<usize>();
        let piece = |piece: &Piece| match piece {
            Piece::Roles { .. } | Piece::Moved { .. } => 64,
            Piece::Added { region: of, .. } | Piece::Removed { region: of, .. } => region(of),
            Piece::Described { before, after, .. } => before.name.len() + after.name.len() + 64,
            Piece::Painted { diff, .. } => diff.bytes() + 32,
            Piece::Replaced { before, after } => side(before) + side(after),
        };
        self.pieces.iter().map(piece).sum()
    }

    /// As files of version 1 kept it: two states without what leads from one to the other.
    pub fn replacing(before: &SideRegions, after: &SideRegions) -> Self {
        Self { pieces: vec![Piece::Replaced { before: before.stored(), after: after.stored() }] }
    }
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
