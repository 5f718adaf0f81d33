//! COCO as `pycocotools` has it: run lengths, areas, boxes and polygons of five masks (`tests/golden/coco/generate.py`).

use std::path::Path;

use editscope::domain::rle::Rle;
use editscope::domain::{Mask, PictureRef, Region, RegionOrigin, RegionRole, RegionShape, Side, Size};
use editscope::export::{CocoPicture, MaskForm, write_coco};
use serde_json::{Value, json};

/// The masks by the formulas of the generator.
fn masks() -> [(&'static str, Mask); 5] {
    let square = |x: u32, y: u32, cx: u32, cy: u32| x.abs_diff(cx).pow(2) + y.abs_diff(cy).pow(2);
    [
        ("rectangle", Mask::from_fn(Size::new(9, 7), |x, y| (2..6).contains(&x) && (1..4).contains(&y))),
        (
            "angle",
            Mask::from_fn(Size::new(12, 9), |x, y| {
                ((2..5).contains(&x) && (1..7).contains(&y)) || ((2..10).contains(&x) && (5..7).contains(&y))
            }),
        ),
        ("disc", Mask::from_fn(Size::new(70, 60), |x, y| square(x, y, 30, 25) < 18 * 18)),
        ("ring", Mask::from_fn(Size::new(40, 40), |x, y| (36..225).contains(&square(x, y, 20, 20)))),
        ("corners", Mask::from_fn(Size::new(8, 8), |x, y| (x < 3 && y < 3) || ((3..6).contains(&x) && (3..6).contains(&y)))),
    ]
}

/// The annotation that the export makes of a mask.
fn exported(mask: &Mask, form: MaskForm) -> Value {
    let folder = tempfile::tempdir().expect("the test machine has a temporary folder");
    let region = Region {
        side: Side::Source,
        role: RegionRole::EditMask,
        origin: RegionOrigin::Person,
        shape: RegionShape::Mask(Rle::from_mask(mask)),
        label: String::new(),
        confidence: None,
    };
    let picture = PictureRef { path: folder.path().join("s.png"), given: "s.png".into() };
    let out = folder.path().join("coco.json");
    write_coco(&[CocoPicture { picture, size: mask.size(), regions: vec![region.into()] }], form, &out).expect("the folder is ours");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("written above")).expect("JSON");
    written["annotations"][0].clone()
}

/// Each ring beginning with its topmost, then leftmost corner; rings in order.
fn sorted(segmentation: &Value) -> Vec<Vec<i64>> {
    let number = |value: &Value| value.as_f64().expect("a number") as i64;
    let mut rings: Vec<Vec<i64>> = segmentation
        .as_array()
        .expect("polygons")
        .iter()
        .map(|ring| {
            let corners: Vec<i64> = ring.as_array().expect("a ring").iter().map(number).collect();
            let first = (0..corners.len() / 2).min_by_key(|&i| (corners[2 * i + 1], corners[2 * i])).expect("a corner");
            corners[2 * first..].iter().chain(&corners[..2 * first]).copied().collect()
        })
        .collect();
    rings.sort();
    rings
}

#[test]
fn run_lengths_areas_boxes_and_polygons_are_those_of_pycocotools() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/coco/masks.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(golden).expect("committed")).expect("JSON");
    for (name, mask) in masks() {
        let expected = &golden[name];
        let rle = exported(&mask, MaskForm::Rle);
        assert_eq!(rle["segmentation"], json!({"size": expected["size"], "counts": expected["counts"]}), "{name}");
        let polygons = exported(&mask, MaskForm::Polygons);
        for annotation in [&rle, &polygons] {
            assert_eq!(annotation["area"].as_f64(), expected["area"].as_f64(), "{name}");
            let bbox = |value: &Value| value.as_array().map(|edges| edges.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
            assert_eq!(bbox(&annotation["bbox"]), bbox(&expected["bbox"]), "{name}");
        }
        if expected["holes"] == 0 {
            assert_eq!(sorted(&polygons["segmentation"]), sorted(&expected["polygons"]), "{name}");
        } else {
            // COCO's polygons have no holes; such a mask keeps its run lengths.
            assert_eq!(polygons["segmentation"], rle["segmentation"], "{name}");
        }
    }
}
