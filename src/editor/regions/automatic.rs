//! The regions that networks found, in the form in which a person corrects them.

use std::collections::HashSet;
use std::sync::Arc;

use crate::domain::regions::{Area, KeptRegion, RegionFacts, RegionId};
use crate::domain::{Detection, RegionOrigin, RegionRole, Score};

/// The boxes and the mask that networks found, source first, then edit: each role may be known from another score. A mask that cannot be
/// read is left out: the score says why.
pub fn automatic_regions(original: Option<&Score>, edited: Option<&Score>, mask: Option<&Score>) -> [Vec<KeptRegion>; 2] {
    let source = original.map(|score| boxes(&score.boxes.source, RegionRole::Original)).unwrap_or_default();
    let mut edit = edited.map(|score| boxes(&score.boxes.edit, RegionRole::Edited)).unwrap_or_default();
    if let Some(mask) = mask.and_then(|score| score.mask.as_ref()?.to_mask().ok()) {
        edit.push(KeptRegion {
            id: RegionId::automatic(RegionRole::EditMask, 0),
            facts: RegionFacts { role: RegionRole::EditMask, origin: RegionOrigin::Segmenter, name: "edit mask".into(), confidence: None },
            area: Area::Mask(Arc::new(mask)),
        });
    }
    [source, edit]
}

/// Boxes are named by what they are, not by their place in the list: what a person hid or selected is the same box after the edit is scored
/// again, whatever else was found then. A box at another place (by more than rounding to a pixel) or of another phrase is another box.
fn boxes(found: &[Detection], role: RegionRole) -> Vec<KeptRegion> {
    let mut taken = HashSet::new();
    let mut name = |found: &Detection| {
        let mut n = fingerprint(found);
        // Two boxes alike, or alike by chance: the later one is the next number.
        while !taken.insert(n) {
            n = (n + 1) % RegionId::MOST_AUTOMATIC;
        }
        n
    };
    let region = |found: &Detection| KeptRegion {
        id: RegionId::automatic(role, name(found)),
        facts: RegionFacts { role, origin: RegionOrigin::Detector, name: found.name().to_owned(), confidence: Some(found.confidence) },
        area: Area::Box(found.rect_in_image),
    };
    found.iter().map(region).collect()
}

/// A number below [`RegionId::MOST_AUTOMATIC`] for the phrase and the box in whole pixels (FNV-1a; it is kept in project files).
fn fingerprint(found: &Detection) -> usize {
    let edges = found.rect_in_image.to_array().map(|edge| (edge.round() as i32).to_le_bytes());
    let bytes = found.phrase.bytes().chain(edges.into_iter().flatten());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    ((hash >> 32) ^ hash) as usize % RegionId::MOST_AUTOMATIC
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Rect;

    fn found(phrase: &str, left: f32, confidence: f32) -> Detection {
        Detection { rect_in_image: Rect::new(left, 2.0, left + 10.0, 9.0), phrase: phrase.into(), confidence, tokens: Vec::new() }
    }

    #[test]
    fn a_box_keeps_its_name_when_others_are_found_beside_it() {
        let ids = |found: &[Detection]| -> Vec<RegionId> { boxes(found, RegionRole::Edited).into_iter().map(|region| region.id).collect() };
        let before = ids(&[found("cup", 3.0, 0.9), found("cup", 40.0, 0.8)]);
        // Scored again, on a device that rounds otherwise: a new box leads the list, and the confidences are others.
        let after = ids(&[found("spoon", 3.0, 0.95), found("cup", 40.01, 0.85), found("cup", 2.99, 0.7)]);
        assert_eq!((before[0], before[1]), (after[2], after[1]));
        assert!(!before.contains(&after[0]), "another phrase is another box");
        assert!(after.iter().all(|id| id.is_automatic()));
        let alike = ids(&[found("cup", 3.0, 0.9), found("cup", 3.0, 0.9)]);
        assert!(alike[0] != alike[1] && alike[0] == before[0]);
        let source = boxes(&[found("cup", 3.0, 0.9)], RegionRole::Original);
        assert_ne!(source[0].id, before[0], "roles have names of their own");
    }
}
