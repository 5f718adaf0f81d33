//! CLIP against the reference implementation, stage by stage (`tests/golden/clip`).
#![cfg(feature = "flex")]

mod nets_support;

use burn::tensor::{Device, Tensor};
use editscope::nets::NetError;
use editscope::nets::clip::Clip;
use editscope::nets::device::{Precision, Target};
use image::RgbImage;
use nets_support::{NOISE, Stages, golden, picture, relative_error};

fn clip() -> Clip {
    Clip::load(&golden("clip"), &Device::flex()).expect("the golden checkpoint loads")
}

#[test]
fn pictures_agree_with_the_reference_at_every_stage() {
    let (clip, stages) = (clip(), Stages::of("clip"));
    let pixels = clip.pixels(&[&picture("clip", "picture.png")]).expect("pixels");
    stages.check("picture.pixels", &pixels);
    let patches = clip.vision.patches(pixels.clone());
    stages.check("picture.patch_embed", &patches.clone().permute([0, 3, 1, 2]));
    let x = clip.vision.embed(patches);
    stages.check("picture.embeddings", &x);
    let x = clip.vision.pre_norm(x);
    stages.check("picture.pre_norm", &x);
    let x = clip.vision.blocks[0].forward(x);
    stages.check("picture.block0", &x);
    let x = clip.vision.blocks[1..].iter().fold(x, |x, block| block.forward(x));
    stages.check("picture.last_hidden", &x);
    let pooled = clip.vision.pool(x);
    stages.check("picture.pooled", &pooled);
    stages.check("picture.features", &clip.vision.project(pooled));
    stages.check("picture.features", &clip.vision.forward(pixels));
}

#[test]
fn half_precision_rounds_products_and_nothing_else() {
    let target = Target { device: Device::flex(), precision: Precision::F16 };
    let (clip, stages) = (Clip::load(&golden("clip"), target).expect("the golden checkpoint loads"), Stages::of("clip"));
    let pixels = clip.pixels(&[&picture("clip", "picture.png")]).expect("pixels");
    let x = clip.vision.pre_norm(clip.vision.embed(clip.vision.patches(pixels.clone())));
    stages.check("picture.pre_norm", &x);
    // Numbers of half precision are rounded by up to 2⁻¹¹; a handful of such roundings add up.
    let (_, expected) = stages.get("picture.features");
    let found = clip.vision.forward(pixels).to_data().try_to_vec::<f32>().expect("what leaves a layer is f32");
    let error = relative_error(&found, &expected);
    assert!(error > 1e-5 && error < 8.0 * 2f32.powi(-11), "{error}");
}

#[test]
fn a_long_picture_loses_its_ends() {
    let (clip, stages) = (clip(), Stages::of("clip"));
    let tall = picture("clip", "picture-tall.png");
    stages.check("picture-tall.pixels", &clip.pixels(&[&tall]).expect("pixels"));
    stages.check_values("picture-tall.features", &clip.encode_pictures(&[&tall]).expect("features")[0], NOISE);
}

#[test]
fn texts_agree_with_the_reference_at_every_stage() {
    let (clip, stages) = (clip(), Stages::of("clip"));
    let ids = stages.ints::<2>("text0.ids", &Device::flex());
    let x = clip.text.embed(ids);
    stages.check("text0.embeddings", &x);
    let x = clip.text.blocks[0].forward(x);
    stages.check("text0.block0", &x);
    let x = clip.text.blocks[1..].iter().fold(x, |x, block| block.forward(x));
    stages.check("text0.last_hidden", &clip.text.final_norm(x));
}

#[test]
fn phrases_of_different_lengths_in_one_batch_agree_with_the_reference() {
    let (clip, stages) = (clip(), Stages::of("clip"));
    let text = std::fs::read_to_string(golden("clip").join("phrases.json")).expect("golden phrases");
    let phrases: Vec<String> = serde_json::from_str(&text).expect("golden phrases are a list");
    let phrases: Vec<&str> = phrases.iter().map(String::as_str).collect();
    // The reference took them one by one without padding, so this also shows that padding changes nothing.
    for (n, (features, cut)) in clip.encode_texts(&phrases).expect("features").into_iter().enumerate() {
        stages.check_values(&format!("text{n}.features"), &features, NOISE);
        assert_eq!(cut, 0, "{}", phrases[n]);
    }
}

#[test]
fn a_batch_gives_what_one_by_one_gives() {
    let clip = clip();
    // More than one batch of sixteen.
    let pictures: Vec<RgbImage> = (0..18u32)
        .map(|n| RgbImage::from_fn(30 + n, 60 - n, |x, y| image::Rgb([(x * 7 + n * 31) as u8, (y * 5) as u8, (x * y + n) as u8])))
        .collect();
    let together = clip.encode_pictures(&pictures.iter().collect::<Vec<_>>()).expect("features");
    assert_eq!(together.len(), pictures.len());
    for (n, picture) in pictures.iter().enumerate() {
        let alone = clip.encode_pictures(&[picture]).expect("features");
        assert!(relative_error(&together[n], &alone[0]) < NOISE, "picture {n}");
    }
}

#[test]
fn what_does_not_fit_is_cut_and_counted() {
    let clip = clip();
    let long = "a red ball ".repeat(60);
    let features = clip.encode_texts(&[&long, "a red ball"]).expect("features");
    // 60 phrases of three words, each one token in this vocabulary (text0.ids: 5 numbers with both ends), so 182 tokens for 77 places.
    assert_eq!((features[0].1, features[1].1), (182 - 77, 0));
    let longer = clip.encode_texts(&[&format!("{long} and more")]).expect("features");
    assert_eq!(longer[0].0, features[0].0, "what was cut cannot matter");
}

#[test]
fn empty_and_impossible_pictures_are_errors() {
    let clip = clip();
    assert!(matches!(clip.encode_pictures(&[&RgbImage::new(0, 5)]), Err(NetError::EmptyPicture { width: 0, height: 5 })));
    assert!(matches!(clip.encode_pictures(&[&RgbImage::new(1, 5000)]), Err(NetError::TooThin { .. })));
    assert!(clip.encode_pictures(&[]).expect("nothing from nothing").is_empty());
    assert!(clip.encode_texts(&[]).expect("nothing from nothing").is_empty());
}

#[test]
fn one_pixel_is_a_picture() {
    let clip = clip();
    // A picture of one colour, whatever its size, is the same square.
    let [small, large] = [1, 200].map(|side| RgbImage::from_pixel(side, side, image::Rgb([200, 30, 90])));
    let pixels: [Tensor<4>; 2] = [&small, &large].map(|p| clip.pixels(&[p]).expect("pixels"));
    assert_eq!(pixels[0].to_data(), pixels[1].to_data());
}
