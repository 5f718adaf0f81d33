//! Places labels beside boxes so that they do not cover each other.

use crate::domain::{Rect, UiSpace};

/// A label to place: the box it belongs to and the size of its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelBox {
    pub anchor: Rect<UiSpace>,
    pub width: f32,
    pub height: f32,
}

/// A place for each label, in the order given: above the box, else below, else inside, else beside, else up to three steps above or below.
///
/// Places stay within `pane` as far as they fit, and off `kept_free`, where something else stands. `None` for a label that finds no free
/// place; it is better left out than unreadable.
pub fn place_labels(labels: &[LabelBox], pane: &Rect<UiSpace>, kept_free: &[Rect<UiSpace>]) -> Vec<Option<Rect<UiSpace>>> {
    let mut taken = kept_free.to_vec();
    labels
        .iter()
        .map(|label| {
            let place = candidates(label, pane).find(|place| taken.iter().all(|other| place.intersection(other).area() <= 0.0));
            taken.extend(place);
            place
        })
        .collect()
}

fn candidates(label: &LabelBox, pane: &Rect<UiSpace>) -> impl Iterator<Item = Rect<UiSpace>> {
    let LabelBox { anchor, width, height } = *label;
    let within = *pane;
    let tops = [anchor.y0 - height, anchor.y1, anchor.y0, anchor.y1 - height];
    let lefts = [anchor.x0, anchor.x1 - width];
    let beside_boxes = tops.into_iter().flat_map(move |y| lefts.into_iter().map(move |x| (x, y)));
    let ladder = (1..4).flat_map(move |step| {
        let dy = step as f32 * height;
        [(anchor.x0, anchor.y0 - height - dy), (anchor.x0, anchor.y1 + dy)]
    });
    beside_boxes.chain(ladder).map(move |(x, y)| {
        let x = x.min(within.x1 - width).max(within.x0);
        let y = y.min(within.y1 - height).max(within.y0);
        Rect::new(x, y, x + width, y + height)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_equal_boxes_do_not_overlap_and_stay_near() {
        let pane = Rect::new(0.0, 0.0, 300.0, 300.0);
        let anchor = Rect::new(100.0, 100.0, 160.0, 160.0);
        let labels = [LabelBox { anchor, width: 50.0, height: 14.0 }; 30];
        let places: Vec<_> = place_labels(&labels, &pane, &[]).into_iter().flatten().collect();
        // Four heights beside the box (left and right edge overlap), three steps above and three below.
        assert_eq!(places.len(), 10);
        assert_eq!(places[0].to_array(), [100.0, 86.0, 150.0, 100.0]);
        for (i, a) in places.iter().enumerate() {
            assert!(places[..i].iter().all(|b| a.intersection(b).area() <= 0.0), "{i}: {a:?}");
            assert!(a.x0 >= 0.0 && a.y0 >= 0.0 && a.x1 <= 300.0 && a.y1 <= 300.0);
        }
    }

    #[test]
    fn a_box_at_the_top_edge_has_its_label_inside_the_pane() {
        let pane = Rect::new(0.0, 0.0, 100.0, 100.0);
        let label = LabelBox { anchor: Rect::new(-5.0, -5.0, 40.0, 40.0), width: 30.0, height: 10.0 };
        assert_eq!(place_labels(&[label], &pane, &[])[0].map(|r| r.to_array()), Some([0.0, 0.0, 30.0, 10.0]));
        // Where a note stands in that corner, the label goes to the next place: below the box.
        let note = Rect::new(0.0, 0.0, 60.0, 12.0);
        assert_eq!(place_labels(&[label], &pane, &[note])[0].map(|r| r.to_array()), Some([0.0, 40.0, 30.0, 50.0]));
    }
}
