//! The regions that networks found, in the form in which a person corrects them.

use std::sync::Arc;

use crate::domain::regions::{Area, KeptRegion, RegionFacts, RegionId};
use crate::domain::{Detection, RegionOrigin, RegionRole, Score};

/// The boxes and the mask of a score, source first, then edit. A mask that cannot be read is left out: the score says why.
pub fn automatic_regions(score: &Score) -> [Vec<KeptRegion>; 2] {
    let source = boxes(&score.boxes.source, RegionRole::Original);
    let mut edit = boxes(&score.boxes.edit, RegionRole::Edited);
    if let Some(mask) = score.mask.as_ref().and_then(|rle| rle.to_mask().ok()) {
        edit.push(KeptRegion {
            id: RegionId::automatic(RegionRole::EditMask, 0),
            facts: RegionFacts { role: RegionRole::EditMask, origin: RegionOrigin::Segmenter, name: "edit mask".into(), confidence: None },
            area: Area::Mask(Arc::new(mask)),
        });
    }
    [source, edit]
}

fn boxes(found: &[Detection], role: RegionRole) -> Vec<KeptRegion> {
    let region = |(n, found): (usize, &Detection)| KeptRegion {
        id: RegionId::automatic(role, n),
        facts: RegionFacts { role, origin: RegionOrigin::Detector, name: found.phrase.clone(), confidence: Some(found.confidence) },
        area: Area::Box(found.rect_in_image),
    };
    found.iter().enumerate().map(region).collect()
}
