//! The regions of one side while they are worked on, and their changes as differences.
//!
//! [`Region`](super::Region) is what files and the metric take. Here a region has an identity that lasts through changes, and its mask is
//! held as pixels. What lies where:
//!
//! | role | side | space |
//! |---|---|---|
//! | `Original` | source (shared by all edits of the item) | box in image pixels of the source |
//! | `Edited` | edit | box in image pixels of the edit |
//! | `EditMask`, `Ignore` | edit (they belong to the pair) | mask in image pixels of the **source**, to which the metric stretches the edit |

mod change;
mod journal;
mod mask_diff;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::geometry::{ImageSpace, Rect, Size};
use super::mask::Mask;
use super::region::{Region, RegionOrigin, RegionRole, RegionShape, Side};
use super::rle::{Rle, RleError};

pub use change::{ChangeError, RegionChange};
pub use journal::{EntryKind, JournalEntry, RegionStream, Token};
pub use mask_diff::{MaskDiff, MaskDiffError};

/// Names a region within its side; no two regions have the same name at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct RegionId(pub u32);

impl RegionId {
    /// Where the names of regions begin that networks made; a person's lie below.
    const AUTOMATIC: u32 = 1 << 30;

    /// So many names there are for regions of one role that networks made.
    pub const MOST_AUTOMATIC: usize = 1 << 20;

    /// The name with the number `n`, below [`Self::MOST_AUTOMATIC`], of a region of a role that a network made.
    pub const fn automatic(role: RegionRole, n: usize) -> Self {
        Self(Self::AUTOMATIC + ((role as u32) << 20) + n as u32)
    }

    /// A name for a person's region, drawn by lot.
    pub fn random() -> Self {
        // Never 0, which names no region.
        Self(1 + (Token::random().0 as u64 >> 16) as u32 % (Self::AUTOMATIC - 1))
    }

    /// Whether a network made the region under this name.
    pub const fn is_automatic(self) -> bool {
        self.0 >= Self::AUTOMATIC
    }
}

/// Where a region is.
#[derive(Clone, Debug, PartialEq)]
pub enum Area {
    Box(Rect<ImageSpace>),
    Mask(Arc<Mask>),
}

impl Area {
    /// Pixels it covers: of a box width times height, of a mask its set pixels.
    pub fn pixels(&self) -> f64 {
        match self {
            Self::Box(rect) => f64::from(rect.area()),
            Self::Mask(mask) => mask.count() as f64,
        }
    }

    /// Whether it is the very area that `other` was copied from: the same edges, or one mask that both share. Masks with the same pixels that
    /// are kept twice are not looked through.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Box(a), Self::Box(b)) => a == b,
            (Self::Mask(a), Self::Mask(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// What is known of a region besides where it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionFacts {
    pub role: RegionRole,
    pub origin: RegionOrigin,
    /// Shown beside it: the phrase, or what a person calls it.
    #[serde(rename = "label")]
    pub name: String,
    /// In `0..=1`, of a network.
    pub confidence: Option<f32>,
}

/// A region with an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRegion {
    pub id: RegionId,
    pub facts: RegionFacts,
    pub area: Area,
}

/// A region as JSON: the fields of [`Region`], with its identity beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredRegion {
    #[serde(default)]
    pub id: RegionId,
    pub side: Side,
    #[serde(flatten)]
    pub facts: RegionFacts,
    pub shape: RegionShape,
}

impl KeptRegion {
    /// The region as JSON holds it.
    pub fn stored(&self, side: Side) -> StoredRegion {
        let shape = match &self.area {
            Area::Box(rect) => RegionShape::Box(*rect),
            Area::Mask(mask) => RegionShape::Mask(Rle::from_mask(mask)),
        };
        StoredRegion { id: self.id, side, facts: self.facts.clone(), shape }
    }

    /// Reads a stored region.
    ///
    /// # Errors
    /// When its mask is no mask.
    pub fn from_stored(stored: &StoredRegion) -> Result<Self, RleError> {
        let area = match &stored.shape {
            RegionShape::Box(rect) => Area::Box(*rect),
            RegionShape::Mask(rle) => Area::Mask(Arc::new(rle.to_mask()?)),
        };
        Ok(Self { id: stored.id, facts: stored.facts.clone(), area })
    }
}

/// The regions that people (or the data) stand for on one side.
///
/// A side is spoken for role by role: of a role in `roles` exactly the regions here count, even if there are none; of any other role those
/// that the networks find.
#[derive(Clone, Debug, PartialEq)]
pub struct SideRegions {
    pub side: Side,
    /// In ascending order.
    pub roles: Vec<RegionRole>,
    /// In the order they are listed and drawn.
    pub regions: Vec<KeptRegion>,
}

/// [`SideRegions`] as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredSide {
    /// Missing in states of older files: then the roles of a person's or imported regions, and all roles where there is no region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<RegionRole>>,
    pub regions: Vec<StoredRegion>,
}

/// The roles that regions of a side can have.
pub const fn roles_of(side: Side) -> &'static [RegionRole] {
    match side {
        Side::Source => &[RegionRole::Original],
        Side::Edit => &[RegionRole::Edited, RegionRole::EditMask, RegionRole::Ignore],
    }
}

impl SideRegions {
    /// Nobody said anything.
    pub const fn unspoken(side: Side) -> Self {
        Self { side, roles: Vec::new(), regions: Vec::new() }
    }

    /// Whether the regions of this role are a person's (or the data's) word.
    pub fn speaks_for(&self, role: RegionRole) -> bool {
        self.roles.contains(&role)
    }

    /// From now on (not) the regions of this role count that are here.
    pub fn speak_for(&mut self, role: RegionRole, speaks: bool) {
        self.roles.retain(|other| *other != role);
        if speaks {
            self.roles.push(role);
            self.roles.sort_unstable();
        }
    }

    /// The region of that name.
    pub fn get(&self, id: RegionId) -> Option<&KeptRegion> {
        self.regions.iter().find(|region| region.id == id)
    }

    /// The region of that name, to change it.
    pub fn get_mut(&mut self, id: RegionId) -> Option<&mut KeptRegion> {
        self.regions.iter_mut().find(|region| region.id == id)
    }

    /// The size of the first mask, which is that of the source it was drawn on.
    pub fn mask_size(&self) -> Option<Size> {
        self.regions.iter().find_map(|region| match &region.area {
            Area::Mask(mask) => Some(mask.size()),
            Area::Box(_) => None,
        })
    }

    /// The spoken-for regions as files and the metric take them. Whoever speaks for a role stands for all its regions, also for those that
    /// were left as a network found them: outside this program's window they are a person's.
    pub fn plain(&self) -> Vec<Region> {
        let plain = |region: &KeptRegion| {
            let StoredRegion { side, facts, shape, .. } = region.stored(self.side);
            let RegionFacts { role, origin, name, confidence } = facts;
            let origin = match origin {
                RegionOrigin::Detector | RegionOrigin::Segmenter => RegionOrigin::Person,
                RegionOrigin::Person | RegionOrigin::Import => origin,
            };
            Region { side, role, origin, shape, label: name, confidence }
        };
        self.regions.iter().filter(|region| self.speaks_for(region.facts.role)).map(plain).collect()
    }

    /// The state that plain regions describe, with names given in order.
    ///
    /// # Errors
    /// When a mask is no mask.
    pub fn from_plain(side: Side, regions: &[Region]) -> Result<Self, RleError> {
        let stored = regions.iter().map(|region| StoredRegion {
            id: RegionId::default(),
            side,
            facts: RegionFacts { role: region.role, origin: region.origin, name: region.label.clone(), confidence: region.confidence },
            shape: region.shape.clone(),
        });
        Self::from_stored(side, &StoredSide { roles: None, regions: stored.collect() })
    }

    /// The state as JSON holds it.
    pub fn stored(&self) -> StoredSide {
        StoredSide { roles: Some(self.roles.clone()), regions: self.regions.iter().map(|region| region.stored(self.side)).collect() }
    }

    /// Reads a stored state; regions without a name are given one.
    ///
    /// # Errors
    /// When a mask is no mask.
    pub fn from_stored(side: Side, stored: &StoredSide) -> Result<Self, RleError> {
        let mut regions = stored.regions.iter().map(KeptRegion::from_stored).collect::<Result<Vec<_>, _>>()?;
        let named = regions.iter().filter(|region| !region.id.is_automatic()).map(|region| region.id.0).max().unwrap_or(0);
        let nameless = regions.iter_mut().filter(|region| region.id == RegionId::default());
        nameless.zip(named + 1..).for_each(|(region, id)| region.id = RegionId(id));
        let mut state = Self { side, roles: Vec::new(), regions };
        let roles = stored.roles.clone().unwrap_or_else(|| {
            let said = |region: &&KeptRegion| matches!(region.facts.origin, RegionOrigin::Person | RegionOrigin::Import);
            if state.regions.is_empty() {
                roles_of(side).to_vec()
            } else {
                state.regions.iter().filter(said).map(|region| region.facts.role).collect()
            }
        });
        roles.into_iter().for_each(|role| state.speak_for(role, true));
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(role: RegionRole, origin: RegionOrigin) -> RegionFacts {
        RegionFacts { role, origin, name: "cup".into(), confidence: Some(0.5) }
    }

    #[test]
    fn a_corrected_box_counts_beside_the_one_that_was_left_as_found() {
        let kept = |id, origin, x1| KeptRegion {
            id: RegionId(id),
            facts: facts(RegionRole::Original, origin),
            area: Area::Box(Rect::new(0.0, 0.0, x1, 1.0)),
        };
        let mut side = SideRegions::unspoken(Side::Source);
        side.regions = vec![kept(1, RegionOrigin::Person, 1.0), kept(2, RegionOrigin::Detector, 2.0)];
        assert!(side.plain().is_empty(), "nobody speaks for the role yet");
        side.speak_for(RegionRole::Original, true);
        assert_eq!(side.plain().len(), 2);
        side.regions.clear();
        assert!(side.speaks_for(RegionRole::Original), "that there is none is a statement");
    }

    #[test]
    fn states_survive_json_and_older_ones_get_names_and_roles() {
        let size = Size::new(5, 3);
        let mut side = SideRegions::unspoken(Side::Edit);
        side.regions.push(KeptRegion {
            id: RegionId(7),
            facts: facts(RegionRole::Ignore, RegionOrigin::Person),
            area: Area::Mask(Arc::new(Mask::from_fn(size, |x, y| x > y))),
        });
        side.speak_for(RegionRole::Ignore, true);
        let json = serde_json::to_string(&side.stored()).unwrap(); // plain data
        let back = SideRegions::from_stored(Side::Edit, &serde_json::from_str(&json).unwrap()).unwrap(); // written above
        assert_eq!(back, side);
        // As file version 1 wrote it.
        let old = r#"{"regions":[{"side":"source","role":"original","origin":"person","shape":{"box":[0.0,0.0,3.0,2.0]},"label":"cup","confidence":null}]}"#;
        let old = SideRegions::from_stored(Side::Source, &serde_json::from_str(old).unwrap()).unwrap(); // valid JSON above
        assert_eq!((old.regions[0].id, old.roles.as_slice()), (RegionId(1), &[RegionRole::Original][..]));
        let none = SideRegions::from_stored(Side::Edit, &StoredSide { roles: None, regions: Vec::new() }).unwrap(); // no masks
        assert_eq!(none.roles, roles_of(Side::Edit));
    }
}
