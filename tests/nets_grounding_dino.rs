//! Grounding DINO against the reference implementation, stage by stage (`tests/golden/grounding-dino`).
#![cfg(feature = "flex")]

mod nets_support;

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::{Device, TensorData};
use editscope::domain::Rect;
use editscope::nets::NetError;
use editscope::nets::checkpoint::CheckpointError;
use editscope::nets::grounding_dino::{Detected, GroundingDino, KEPT_ABOVE, Stages as Listened, TEXT_THRESHOLD};
use image::RgbImage;
use nets_support::{NOISE, Stages, golden, picture, relative_error};
use serde::Deserialize;

const FOLDER: &str = "grounding-dino";

fn network() -> GroundingDino {
    GroundingDino::load(&golden(FOLDER), &Device::flex()).expect("the golden checkpoint loads")
}

/// What one pass of the network gave, stage by stage.
type Pass = BTreeMap<String, TensorData>;

/// A pass over a golden picture with a text taken as it is.
fn pass(network: &GroundingDino, file: &str, text: &str) -> (Pass, Detected) {
    let mut pass = Pass::new();
    let mut listener = |name: &str, values: TensorData| {
        assert!(pass.insert(name.to_owned(), values).is_none(), "{name} came twice");
    };
    let mut stages = Listened::to(&mut listener);
    let features = network.features_staged(&picture(FOLDER, file), &mut stages).expect("features");
    let phrase = network.phrase_staged(text.to_owned(), &mut stages).expect("phrase");
    let detected = network.match_staged(&features, &phrase, &mut stages).expect("detections");
    (pass, detected)
}

fn floats(values: &TensorData) -> Vec<f32> {
    values.clone().try_to_vec::<f32>().expect("networks compute in f32")
}

/// Compares stages of `case`, in order, so that the first failure names the first layer that is off.
fn check(stages: &Stages, case: &str, pass: &Pass, names: &[&str]) {
    for name in names {
        let found = pass.get(*name).unwrap_or_else(|| panic!("the network showed no stage '{name}'"));
        stages.check_values(&format!("{case}.{name}"), &floats(found), NOISE);
    }
}

/// Stages that the reference keeps of all layers in one tensor `[1, layers, queries, width]`.
fn check_layers(stages: &Stages, case: &str, pass: &Pass, name: &str, ours: &str) {
    let layers: Vec<f32> = (0..2).flat_map(|layer| floats(&pass[&format!("{ours}{layer}")])).collect();
    stages.check_values(&format!("{case}.{name}"), &layers, NOISE);
}

#[derive(Deserialize)]
struct Golden {
    box_threshold: f32,
    text_threshold: f32,
    cases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
struct Case {
    picture: String,
    text: String,
    kept: Vec<Kept>,
}

#[derive(Deserialize)]
struct Kept {
    query: usize,
    /// x0 y0 x1 y1 as fractions of the picture.
    #[serde(rename = "box")]
    rect: [f32; 4],
    score: f32,
    phrase_all_tokens: String,
    tokens: Vec<usize>,
}

fn detections() -> Golden {
    let text = std::fs::read_to_string(golden(FOLDER).join("detections.json")).expect("golden detections");
    serde_json::from_str(&text).expect("golden detections are as described in the README")
}

#[test]
fn every_stage_agrees_with_the_reference() {
    let (network, stages) = (network(), Stages::of(FOLDER));
    let (pass, _) = pass(&network, "picture.png", "a cat. a red ball.");
    check(&stages, "picture", &pass, &["pixels"]);
    let order = [
        "swin_embeddings",
        "swin_stage1_block0",
        "swin_stage1_block1",
        "swin_stage1_down",
        "swin_feature0",
        "swin_feature1",
        "swin_feature2",
        "input_projection0",
        "input_projection1",
        "input_projection2",
        "input_projection3",
        "vision_position",
        "bert_embeddings",
        "bert_layer0",
        "bert_last",
        "text_projected",
        "encoder0_fusion_vision",
        "encoder0_fusion_text",
        "encoder0_text_enhanced",
        "encoder0_vision",
        "encoder0_text",
        "encoder1_vision",
        "encoder1_text",
        "encoder_text",
        "proposal_scores",
        "proposal_boxes_logit",
        "top",
        "decoder_reference",
        "decoder0",
        "decoder1",
    ];
    check(&stages, "two", &pass, &order);
    check_layers(&stages, "two", &pass, "decoder_normed", "decoder_normed");
    check_layers(&stages, "two", &pass, "references", "references");
    check(&stages, "two", &pass, &["logits", "boxes_cxcywh"]);
}

#[test]
fn every_case_agrees_with_the_reference() {
    let (network, stages, golden) = (network(), Stages::of(FOLDER), detections());
    assert_eq!(golden.text_threshold, TEXT_THRESHOLD);
    for (name, case) in &golden.cases {
        let (pass, detected) = pass(&network, &case.picture, &case.text);
        let order = ["text_projected", "encoder_text", "proposal_scores", "top", "decoder_reference"];
        check(&stages, name, &pass, &order);
        if name == "wide" {
            check(&stages, name, &pass, &["proposal_boxes_logit"]);
        }
        check_layers(&stages, name, &pass, "decoder_normed", "decoder_normed");
        check_layers(&stages, name, &pass, "references", "references");
        check(&stages, name, &pass, &["logits", "boxes_cxcywh"]);
        let size = picture(FOLDER, &case.picture).dimensions();
        same_detections(name, case, golden.box_threshold, size, &detected);
    }
}

/// The candidates above `threshold` are those that the reference keeps.
fn same_detections(name: &str, case: &Case, threshold: f32, (width, height): (u32, u32), detected: &Detected) {
    let found: Vec<_> = detected.candidates.iter().filter(|c| c.confidence > threshold).collect();
    assert_eq!(found.len(), case.kept.len(), "{name}");
    let sides = [width, height, width, height].map(|side| side as f32);
    for (found, kept) in found.into_iter().zip(&case.kept) {
        assert_eq!(found.query, kept.query, "{name}");
        assert_eq!(found.phrase, kept.phrase_all_tokens, "{name}, query {}", kept.query);
        assert!((found.confidence - kept.score).abs() < 1e-4, "{name}, query {}: {}", kept.query, found.confidence);
        let tokens: Vec<usize> = (0..detected.tokens.len()).filter(|&t| found.token_probabilities[t] > TEXT_THRESHOLD).collect();
        assert_eq!(tokens, kept.tokens, "{name}, query {}", kept.query);
        let Rect { x0, y0, x1, y1, .. } = found.rect_in_image;
        for ((edge, fraction), side) in [x0, y0, x1, y1].iter().zip(kept.rect).zip(sides) {
            assert!((edge / side - fraction).abs() < 1e-4, "{name}, query {}: {edge}", kept.query);
        }
    }
}

#[test]
fn the_reference_reads_the_same_tokens_and_phrases() {
    let (network, stages) = (network(), Stages::of(FOLDER));
    for (name, case) in detections().cases {
        let mut shown = Pass::new();
        let mut listener = |name: &str, values: TensorData| {
            shown.insert(name.to_owned(), values);
        };
        network.phrase_staged(case.text, &mut Listened::to(&mut listener)).expect("phrase");
        check(&stages, &name, &shown, &["ids", "positions", "phrase_mask"]);
    }
}

#[test]
fn detect_takes_a_text_as_people_write_it() {
    let network = network();
    let shown = picture(FOLDER, "picture.png");
    let plain = network.detect(&shown, "a cat.").expect("detections");
    assert_eq!(network.detect(&shown, "  A Cat ").expect("detections"), plain);
    assert!(plain.iter().all(|d| d.confidence > KEPT_ABOVE));
    // More than what the threshold of the metric keeps: 0.05 lies below 0.3.
    let kept = detections().cases["cat"].kept.len();
    assert!(plain.len() > kept, "{} of at least {kept}", plain.len());
}

#[test]
fn features_serve_several_phrases_and_pictures() {
    let network = network();
    let shown = picture(FOLDER, "picture.png");
    let features = network.features(&shown).expect("features");
    for text in ["a blue car", "a cat", "a house. a red ball."] {
        let phrase = network.phrase(text).expect("phrase");
        let apart = network.match_in(&features, &phrase).expect("detections").into_detections();
        assert_eq!(apart, network.detect(&shown, text).expect("detections"), "{text}");
    }
}

#[test]
fn a_phrase_reads_the_same_beside_others() {
    let network = network();
    let read = |text: &str| {
        let mut last = Vec::new();
        let mut listener = |name: &str, values: TensorData| {
            if name == "bert_last" {
                last = floats(&values);
            }
        };
        network.phrase_staged(text.to_owned(), &mut Listened::to(&mut listener)).expect("phrase");
        last
    };
    // Tokens: [CLS] a cat . [SEP], and [CLS] a red ball . a cat . [SEP]; 40 numbers each.
    let (alone, beside) = (read("a cat."), read("a red ball. a cat."));
    assert_eq!((alone.len(), beside.len()), (5 * 40, 9 * 40));
    assert!(relative_error(&beside[5 * 40..8 * 40], &alone[40..4 * 40]) < NOISE);
    // Only the order of the words within a phrase makes a difference.
    assert!(relative_error(&read("cat a.")[40..4 * 40], &alone[40..4 * 40]) > 0.01);
}

#[test]
fn what_does_not_fit_is_cut_and_counted() {
    let network = network();
    let features = network.features(&picture(FOLDER, "picture.png")).expect("features");
    // Each "a cat." is three tokens in this vocabulary; 100 of them with both ends are 302, of which 256 fit.
    let long = "a cat. ".repeat(100);
    let detected = network.detect_in(&features, &long).expect("detections");
    assert_eq!((detected.tokens.len(), detected.tokens_cut), (256, 302 - 256));
    let same = network.detect_in(&features, &format!("{long}a cat. a cat.")).expect("detections");
    assert_eq!(same.candidates, detected.candidates, "what was cut cannot matter");
    let short = network.detect_in(&features, "a cat").expect("detections");
    assert_eq!((short.caption.as_str(), short.tokens_cut), ("a cat.", 0));
    assert_eq!(short.tokens, ["[CLS]", "a", "cat", ".", "[SEP]"]);
}

#[test]
fn odd_pictures_are_errors_or_boxes() {
    let network = network();
    assert!(matches!(network.detect(&RgbImage::new(0, 7), "a cat"), Err(NetError::EmptyPicture { width: 0, height: 7 })));
    assert!(matches!(network.detect(&RgbImage::new(2000, 1), "a cat"), Err(NetError::TooThin { width: 2000, height: 1 })));
    // A pixel wide strip: the map of every level is smaller than a window, and there are hardly more cells than queries.
    let strip = RgbImage::from_fn(300, 2, |x, _| image::Rgb([x as u8, 90, 200]));
    assert!(network.detect(&strip, "a cat").is_ok());
    assert!(network.detect(&RgbImage::new(1, 1), "").is_ok());
    assert!(network.detect(&RgbImage::new(64, 48), "🦀 \u{0} ??? ...").is_ok());
}

/// A copy of the golden folder, to be spoilt.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["config.json", "preprocessor_config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(golden(FOLDER).join(file), folder.path().join(file)).expect("a copy");
    }
    folder
}

fn error(folder: &Path) -> CheckpointError {
    GroundingDino::load(folder, &Device::flex()).err().expect("loading must fail")
}

/// Rewrites a field of `config.json`; `path` leads to it.
fn configure(folder: &Path, file: &str, path: &[&str], value: serde_json::Value) {
    let file = folder.join(file);
    let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    let place = path.iter().fold(&mut json, |at, key| &mut at[*key]);
    *place = value;
    std::fs::write(&file, json.to_string()).expect("written");
}

/// Rewrites the weights: `change` may rename, drop or add tensors.
fn reweigh(folder: &Path, change: impl Fn(&mut BTreeMap<String, (Vec<usize>, Vec<f32>)>)) {
    let bytes = std::fs::read(golden(FOLDER).join("model.safetensors")).expect("weights");
    let file = safetensors::SafeTensors::deserialize(&bytes).expect("weights");
    let mut tensors = BTreeMap::new();
    for (name, view) in file.tensors() {
        if view.dtype() == safetensors::Dtype::F32 {
            let values = view.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
            tensors.insert(name, (view.shape().to_vec(), values));
        }
    }
    change(&mut tensors);
    let raw: BTreeMap<String, (Vec<usize>, Vec<u8>)> =
        tensors.into_iter().map(|(name, (shape, values))| (name, (shape, values.iter().flat_map(|v| v.to_le_bytes()).collect()))).collect();
    let views = raw.iter().map(|(name, (shape, bytes))| {
        let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), bytes).expect("a tensor");
        (name.clone(), view)
    });
    let written = safetensors::serialize(views, None).expect("serialised");
    std::fs::write(folder.join("model.safetensors"), written).expect("written");
}

#[test]
fn configurations_of_other_networks_are_refused_by_field() {
    let refused = [
        (vec!["model_type"], serde_json::json!("owlvit"), "model_type"),
        (vec!["backbone_config", "model_type"], serde_json::json!("resnet"), "backbone_config.model_type"),
        (vec!["backbone_config", "out_indices"], serde_json::json!([3, 4]), "out_indices"),
        (vec!["backbone_config", "num_heads"], serde_json::json!([1, 2, 3, 8]), "num_heads"),
        (vec!["text_config", "model_type"], serde_json::json!("clip"), "text_config.model_type"),
        (vec!["position_embedding_type"], serde_json::json!("learned"), "position_embedding_type"),
        (vec!["two_stage"], serde_json::json!(false), "two_stage"),
        (vec!["activation_function"], serde_json::json!("mish"), "activation_function"),
        (vec!["decoder_attention_heads"], serde_json::json!(5), "decoder_attention_heads"),
        (vec!["num_queries"], serde_json::json!(0), "num_queries"),
        (vec!["max_text_len"], serde_json::json!(100_000), "max_text_len"),
        (vec!["encoder_attention_heads"], serde_json::json!(0), "encoder_attention_heads"),
    ];
    for (path, value, field) in refused {
        let folder = copy();
        configure(folder.path(), "config.json", &path, value.clone());
        let message = error(folder.path()).to_string();
        assert!(message.contains(field) && message.contains("config.json"), "{value}: {message}");
    }
    let folder = copy();
    configure(folder.path(), "preprocessor_config.json", &["size"], serde_json::json!({"height": 800, "width": 800}));
    let message = error(folder.path()).to_string();
    assert!(message.contains("size") && message.contains("preprocessor_config.json"), "{message}");
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "preprocessor_config.json", "tokenizer.json", "model.safetensors"] {
        let folder = copy();
        std::fs::remove_file(folder.path().join(file)).expect("removed");
        let message = error(folder.path()).to_string();
        assert!(message.contains(file), "{file}: {message}");
    }
    let folder = copy();
    std::fs::write(folder.path().join("tokenizer.json"), "{}").expect("written");
    assert!(matches!(error(folder.path()), CheckpointError::Tokenizer { .. }));
}

#[test]
fn missing_misshapen_and_unused_tensors_are_named() {
    let name = "model.encoder.layers.1.fusion_layer.attn.text_proj.weight";
    let folder = copy();
    reweigh(folder.path(), |tensors| {
        tensors.remove(name);
    });
    assert!(matches!(error(folder.path()), CheckpointError::Missing { tensor, .. } if tensor == name));
    reweigh(folder.path(), |tensors| {
        if let Some((shape, _)) = tensors.get_mut(name) {
            shape.reverse();
        }
    });
    assert!(matches!(error(folder.path()), CheckpointError::Misshapen { tensor, .. } if tensor == name));
    reweigh(folder.path(), |tensors| {
        tensors.insert("model.label_enc.weight".to_owned(), (vec![1], vec![0.0]));
    });
    assert!(matches!(error(folder.path()), CheckpointError::Unused { first, count: 1, .. } if first == "model.label_enc.weight"));
}

#[test]
fn the_shared_box_head_may_be_stored_under_every_name_it_has() {
    let layers = ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight", "layers.2.bias"];
    let every = ["bbox_embed.0", "bbox_embed.1", "model.decoder.bbox_embed.0", "model.decoder.bbox_embed.1"];
    let expected = network().detect(&picture(FOLDER, "picture.png"), "a cat").expect("detections");
    let store = |folder: &Path, heads: &[&str], spoil: bool| {
        reweigh(folder, |tensors| {
            for layer in layers {
                let stored = tensors.remove(&format!("bbox_embed.0.{layer}")).expect("the published place");
                for head in heads {
                    tensors.insert(format!("{head}.{layer}"), stored.clone());
                }
            }
            if spoil {
                tensors.get_mut(&format!("{}.layers.1.bias", heads[1])).expect("a head").1[3] += 1.0;
            }
        });
    };
    for heads in [&every[..], &every[2..3], &every[..2]] {
        let folder = copy();
        store(folder.path(), heads, false);
        let network = GroundingDino::load(folder.path(), &Device::flex()).expect("another way of storing it");
        assert_eq!(network.detect(&picture(FOLDER, "picture.png"), "a cat").expect("detections"), expected, "{heads:?}");
    }
    let folder = copy();
    store(folder.path(), &every, true);
    let error = error(folder.path());
    assert!(matches!(&error, CheckpointError::NotTied { second, .. } if second == "bbox_embed.1.layers.1.bias"), "{error}");
    // Without sharing each layer has its own head.
    configure(folder.path(), "config.json", &["decoder_bbox_embed_share"], serde_json::json!(false));
    store(folder.path(), &every[..2], true);
    let apart = GroundingDino::load(folder.path(), &Device::flex()).expect("two heads");
    assert_ne!(apart.detect(&picture(FOLDER, "picture.png"), "a cat").expect("detections"), expected);
}
