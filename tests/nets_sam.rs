//! SAM against the reference implementation, stage by stage (`tests/golden/sam`).
#![cfg(feature = "flex")]

mod nets_support;

use burn::tensor::{Device, Tensor};
use editscope::domain::{Mask, Size};
use editscope::imaging::resize::cv2_resize_linear;
use editscope::nets::NetError;
use editscope::nets::sam::{Placement, PointPrompt, PromptToken, Sam, SamEmbedding};
use image::RgbImage;
use nets_support::{NOISE, Stages, golden, picture};
use serde::Deserialize;

#[derive(Deserialize)]
struct Prompts {
    boxes_bpm500: Vec<[f32; 4]>,
    points_image: Vec<Vec<[f32; 2]>>,
    labels: Vec<Vec<i32>>,
}

fn prompts() -> Prompts {
    let text = std::fs::read_to_string(golden("sam").join("prompts.json")).expect("golden prompts");
    serde_json::from_str(&text).expect("golden prompts have this form")
}

fn sam() -> Sam {
    Sam::load(&golden("sam"), &Device::flex()).expect("the golden checkpoint loads")
}

/// The golden picture on the metric's canvas.
fn canvas() -> RgbImage {
    cv2_resize_linear(&picture("sam", "picture.png"), Size::BPM500)
}

/// `[prompts, …]` as the reference has it, with a batch of one in front.
fn batched<const D: usize, const E: usize>(x: Tensor<D>) -> Tensor<E> {
    x.unsqueeze()
}

fn corners([x0, y0, x1, y1]: [f32; 4]) -> Vec<PromptToken> {
    vec![PromptToken::FirstCorner([x0, y0]), PromptToken::SecondCorner([x1, y1])]
}

/// The embedding that the reference computed, so that what follows is compared on its own.
fn reference_embedding(stages: &Stages, case: &str, picture: Size, net: Size) -> SamEmbedding {
    SamEmbedding { features: stages.tensor(&format!("{case}.image_embedding"), &Device::flex()), picture, net }
}

#[test]
fn the_image_encoder_agrees_with_the_reference_at_every_stage() {
    let (sam, stages) = (sam(), Stages::of("sam"));
    let (pixels, net) = sam.pixels(&canvas()).expect("pixels");
    assert_eq!(net, Size::new(160, 160));
    stages.check("boxes.pixels", &pixels);
    let x = sam.encoder.patches(pixels.clone());
    stages.check("boxes.patch_embed", &x);
    let x = sam.encoder.positioned(x);
    stages.check("boxes.positioned", &x);
    // Block 1 is global; the windows of 4 of the others do not divide the grid of 10.
    let x = (0..3).fold(x, |x, n| {
        let x = sam.encoder.blocks[n].forward(x);
        stages.check(&format!("boxes.block{n}"), &x);
        x
    });
    stages.check("boxes.image_embedding", &sam.encoder.neck(x));
    stages.check("boxes.image_embedding", &sam.encoder.forward(pixels));
    stages.check("dense_position", &sam.places().clone().swap_dims(1, 2).reshape([1, 32, 10, 10]));
}

#[test]
fn a_picture_that_is_not_square_is_padded() {
    let (sam, stages) = (sam(), Stages::of("sam"));
    let embedding = sam.embed(&picture("sam", "picture.png")).expect("an embedding");
    // 97 × 71 to 160: 71·160/97 = 117.1.
    assert_eq!((embedding.picture, embedding.net), (Size::new(97, 71), Size::new(160, 117)));
    stages.check("points.image_embedding", &embedding.features);
}

#[test]
fn boxes_agree_with_the_reference_at_every_stage() {
    let (sam, stages) = (sam(), Stages::of("sam"));
    let embedding = reference_embedding(&stages, "boxes", Size::BPM500, Size::new(160, 160));
    let boxes: Vec<[f32; 4]> = prompts()
        .boxes_bpm500
        .iter()
        .map(|&[x0, y0, x1, y1]| {
            let [a, b] = embedding.net_from_picture([x0, y0]);
            let [c, d] = embedding.net_from_picture([x1, y1]);
            [a, b, c, d]
        })
        .collect();
    stages.check_values("boxes.net_boxes", boxes.as_flattened(), NOISE);
    let tokens: Vec<_> = boxes.into_iter().map(corners).collect();
    let sparse = sam.prompts.tokens(&tokens);
    stages.check("boxes.sparse", &batched::<3, 4>(sparse.clone()));
    let (_, first) = sam.decoder.exchange_blocks(sparse, sam.image_tokens(&embedding), sam.places(), 1);
    stages.check("boxes.decoder_layer0_tokens", &batched::<3, 4>(first.tokens));
    let decoded = sam.decode(&embedding, &tokens);
    stages.check("boxes.decoder_tokens", &batched::<3, 4>(decoded.tokens.clone()));
    stages.check("boxes.low_res_masks", &batched::<4, 5>(sam.decoder.masks(&decoded, 10, 0..4)));
    stages.check("boxes.iou_scores", &batched::<2, 3>(sam.decoder.quality(&decoded)));
}

#[test]
fn box_masks_on_the_canvas_are_the_reference_s() {
    let (sam, stages) = (sam(), Stages::of("sam"));
    let embedding = sam.embed(&canvas()).expect("an embedding");
    let masks = sam.masks_for_boxes(&embedding, &prompts().boxes_bpm500, Size::BPM500).expect("masks");
    assert_eq!(masks.len(), 3);
    for (n, mask) in masks.iter().enumerate() {
        let expected = picture("sam", &format!("mask500-{n}.png"));
        let expected = Mask::from_fn(Size::BPM500, |x, y| expected.get_pixel(x, y).0[0] > 0);
        let iou = mask.iou(&expected).expect("both masks have pixels and one size");
        assert!(iou > 0.9999, "mask {n}: IoU {iou}");
    }
    // The logits behind them, at every seventh pixel.
    let (_, coarse) = stages.get("boxes.low_res_masks");
    let placement = Placement { coarse: 40, side: 160, known: Size::new(160, 160) };
    let sampled: Vec<f32> = (0..3)
        .flat_map(|n| {
            let logits = placement.logits(&coarse[n * 4 * 1600..][..1600], Size::BPM500);
            (3..500).step_by(7).flat_map(|y| (3..500).step_by(7).map(move |x| y * 500 + x)).map(|i| logits[i]).collect::<Vec<_>>()
        })
        .collect();
    stages.check_values("boxes.logits500_from3_step7", &sampled, NOISE);
}

#[test]
fn points_agree_with_the_reference() {
    let (sam, stages, prompts) = (sam(), Stages::of("sam"), prompts());
    let embedding = reference_embedding(&stages, "points", Size::new(97, 71), Size::new(160, 117));
    let tokens: Vec<Vec<PromptToken>> = prompts
        .points_image
        .iter()
        .zip(&prompts.labels)
        .map(|(points, labels)| {
            let token = |(&place, &label): (&[f32; 2], &i32)| {
                let place = embedding.net_from_picture(place);
                if label == 1 { PromptToken::Inside(place) } else { PromptToken::Outside(place) }
            };
            points.iter().zip(labels).map(token).chain([PromptToken::NoPoint]).collect()
        })
        .collect();
    stages.check("points.sparse", &batched::<3, 4>(sam.prompts.tokens(&tokens)));
    let decoded = sam.decode(&embedding, &tokens);
    let masks = sam.decoder.masks(&decoded, 10, 0..4);
    stages.check("points.low_res_masks", &batched::<4, 5>(masks));
    stages.check("points.iou_scores", &batched::<2, 3>(sam.decoder.quality(&decoded)));
    let (_, coarse) = stages.get("points.low_res_masks");
    let placement = Placement { coarse: 40, side: 160, known: embedding.net };
    let logits: Vec<f32> = (0..2).flat_map(|n| placement.logits(&coarse[n * 4 * 1600..][..1600], embedding.picture)).collect();
    stages.check_values("points.logits_image", &logits, NOISE);
}

#[test]
fn points_and_a_box_together_have_no_padding_point() {
    let (sam, stages, prompts) = (sam(), Stages::of("sam"), prompts());
    let embedding = reference_embedding(&stages, "points", Size::new(97, 71), Size::new(160, 117));
    let (_, net_box) = stages.get("mixed.net_box");
    let mut tokens: Vec<PromptToken> = vec![
        PromptToken::Inside(embedding.net_from_picture(prompts.points_image[0][0])),
        PromptToken::Outside(embedding.net_from_picture(prompts.points_image[0][1])),
    ];
    tokens.extend(corners([net_box[0], net_box[1], net_box[2], net_box[3]]));
    stages.check("mixed.sparse", &batched::<3, 4>(sam.prompts.tokens(&[tokens.clone()])));
    let decoded = sam.decode(&embedding, &[tokens]);
    stages.check("mixed.low_res_masks", &batched::<4, 5>(sam.decoder.masks(&decoded, 10, 0..4)));
    stages.check("mixed.iou_scores", &batched::<2, 3>(sam.decoder.quality(&decoded)));
}

#[test]
fn point_masks_through_the_front_door() {
    let (sam, stages, prompts) = (sam(), Stages::of("sam"), prompts());
    let embedding = sam.embed(&picture("sam", "picture.png")).expect("an embedding");
    let points: Vec<PointPrompt> =
        prompts.points_image[0].iter().zip(&prompts.labels[0]).map(|(&[x, y], &label)| PointPrompt { x, y, inside: label == 1 }).collect();
    let (_, logits) = stages.get("points.logits_image");
    let expected = Mask::from_fn(embedding.picture, |x, y| logits[(y * 97 + x) as usize] > 0.0);
    let clear = sam.masks_for_points(&embedding, &points, None, embedding.picture).expect("a mask");
    assert_eq!(clear.len(), 1);
    assert!(clear[0].mask.iou(&expected).expect("masks with pixels") > 0.999);
    let (_, qualities) = stages.get("points.iou_scores");
    assert!((clear[0].quality - qualities[0]).abs() < 1e-4);
    // One point is ambiguous: the three alternatives, best first.
    let many = sam.masks_for_points(&embedding, &points[..1], None, embedding.picture).expect("masks");
    assert_eq!(many.len(), 3);
    assert!(many.windows(2).all(|pair| pair[0].quality >= pair[1].quality));
}

#[test]
fn a_batch_of_boxes_gives_what_one_by_one_gives() {
    let sam = sam();
    let embedding = sam.embed(&canvas()).expect("an embedding");
    // More than one batch of sixteen.
    let boxes: Vec<[f32; 4]> = (0..19).map(|n| n as f32 * 12.0).map(|at| [at, 300.0 - at, at + 150.0, 430.0 - at / 2.0]).collect();
    let together = sam.masks_for_boxes(&embedding, &boxes, Size::BPM500).expect("masks");
    assert_eq!(together.len(), boxes.len());
    for (n, corners) in boxes.iter().enumerate() {
        let alone = sam.masks_for_boxes(&embedding, &[*corners], Size::BPM500).expect("a mask");
        // Products of other sizes sum in another order: a pixel on the edge may differ.
        let iou = alone[0].iou(&together[n]);
        assert!(alone[0] == together[n] || iou.is_some_and(|iou| iou > 0.9995), "box {n}: {iou:?}");
    }
}

#[test]
fn impossible_inputs_are_errors() {
    let sam = sam();
    assert!(matches!(sam.embed(&RgbImage::new(0, 0)), Err(NetError::EmptyPicture { .. })));
    assert!(matches!(sam.embed(&RgbImage::new(1000, 1)), Err(NetError::TooThin { .. })));
    let embedding = sam.embed(&RgbImage::new(1, 1)).expect("one pixel is a picture");
    assert!(matches!(sam.masks_for_boxes(&embedding, &[[0.0, f32::NAN, 1.0, 1.0]], Size::new(1, 1)), Err(NetError::NotFinitePrompt(_))));
    assert!(sam.masks_for_boxes(&embedding, &[], Size::BPM500).expect("nothing from nothing").is_empty());
    // Boxes outside the picture or turned inside out are only unusual.
    let odd = [[-50.0, -50.0, -10.0, -10.0], [9.0, 9.0, 0.0, 0.0], [0.0; 4]];
    assert_eq!(sam.masks_for_boxes(&embedding, &odd, Size::new(3, 2)).expect("masks").len(), 3);
}
