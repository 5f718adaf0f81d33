//! The strict checkpoint reader: what is wrong with a folder is an error that names it.
#![cfg(feature = "flex")]

mod nets_support;

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::Device;
use editscope::nets::checkpoint::{CheckpointError, WEIGHTS, WEIGHTS_INDEX, Weights};
use editscope::nets::clip::Clip;
use editscope::nets::sam::Sam;
use nets_support::{golden, picture};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use tempfile::TempDir;

/// A tensor as stored: type, shape, bytes.
type Stored = (Dtype, Vec<usize>, Vec<u8>);
type Tensors = BTreeMap<String, Stored>;

fn read(path: &Path) -> Tensors {
    let bytes = std::fs::read(path).expect("weights can be read");
    let file = SafeTensors::deserialize(&bytes).expect("weights are a safetensors file");
    file.tensors().into_iter().map(|(name, view)| (name, (view.dtype(), view.shape().to_vec(), view.data().to_vec()))).collect()
}

fn write(path: &Path, tensors: &Tensors) {
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, bytes))| (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).expect("bytes fit the shape")));
    safetensors::serialize_to_file(views, None, path).expect("weights can be written");
}

/// A copy of golden folder `name` whose tensors went through `change`.
fn changed(name: &str, change: impl FnOnce(&mut Tensors)) -> TempDir {
    let folder = copied(name);
    let path = folder.path().join(WEIGHTS);
    let mut tensors = read(&path);
    change(&mut tensors);
    write(&path, &tensors);
    folder
}

/// A copy of golden folder `name` in which the text of `file` went through `change`.
fn edited(name: &str, file: &str, change: impl FnOnce(String) -> String) -> TempDir {
    let folder = copied(name);
    let path = folder.path().join(file);
    let before = std::fs::read_to_string(&path).expect("a JSON file");
    let after = change(before.clone());
    assert_ne!(before, after, "the change found nothing to change");
    std::fs::write(path, after).expect("it can be written");
    folder
}

fn copied(name: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["config.json", "preprocessor_config.json", "tokenizer.json", WEIGHTS] {
        let from = golden(name).join(file);
        if from.exists() {
            std::fs::copy(from, folder.path().join(file)).expect("a golden file can be copied");
        }
    }
    folder
}

fn clip_error(folder: &TempDir) -> CheckpointError {
    Clip::load(folder.path(), &Device::flex()).err().expect("this folder must not load")
}

fn sam_error(folder: &TempDir) -> CheckpointError {
    Sam::load(folder.path(), &Device::flex()).err().expect("this folder must not load")
}

#[test]
fn a_missing_tensor_is_named_with_its_nearest_neighbour() {
    let name = "text_model.encoder.layers.1.mlp.fc2.bias";
    let folder = changed("clip", |tensors| {
        let moved = tensors.remove(name).expect("the golden file has it");
        tensors.insert("text_model.encoder.layers.1.mlp.fc2.bais".to_owned(), moved);
    });
    let error = clip_error(&folder);
    assert!(matches!(&error, CheckpointError::Missing { tensor, shape, .. } if tensor == name && shape == &[32]), "{error}");
    let text = error.to_string();
    assert!(text.contains(WEIGHTS) && text.contains("[32]") && text.contains("fc2.bais"), "{text}");
}

#[test]
fn a_misshapen_tensor_is_named_with_both_shapes() {
    let name = "vision_encoder.layers.1.attn.rel_pos_h";
    let folder = changed("sam", |tensors| {
        let (_, shape, bytes) = tensors.get_mut(name).expect("the golden file has it");
        assert_eq!(shape, &[19, 12], "a global block of a 10×10 grid");
        *shape = vec![7, 12];
        bytes.truncate(7 * 12 * 4);
    });
    let error = sam_error(&folder);
    assert!(matches!(&error, CheckpointError::Misshapen { tensor, .. } if tensor == name), "{error}");
    let text = error.to_string();
    assert!(text.contains("[19, 12]") && text.contains("[7, 12]") && text.contains(WEIGHTS), "{text}");
}

#[test]
fn an_unused_tensor_is_an_error_unless_listed() {
    let extra = || (Dtype::F32, vec![2], vec![0; 8]);
    let folder = changed("clip", |tensors| {
        tensors.insert("vision_model.encoder.layers.3.layer_norm1.bias".to_owned(), extra());
    });
    let error = clip_error(&folder);
    assert!(matches!(&error, CheckpointError::Unused { count: 1, first, .. } if first.contains("layers.3.layer_norm1")), "{error}");
    assert!(error.to_string().contains("layer_norm1.bias'"), "the nearest name is a hint: {error}");
    // Listed: the golden file has position_ids (whole numbers) and logit_scale, and loads; without them it loads too.
    let without = changed("clip", |tensors| tensors.retain(|name, _| !name.ends_with("position_ids") && name != "logit_scale"));
    Clip::load(without.path(), &Device::flex()).expect("they are not needed");
    let without = changed("sam", |tensors| tensors.retain(|name, _| !name.starts_with("prompt_encoder.mask_embed.")));
    Sam::load(without.path(), &Device::flex()).expect("mask prompts are not needed");
}

#[test]
fn tensors_of_whole_numbers_are_no_weights() {
    let folder = changed("clip", |tensors| {
        let (dtype, _, _) = tensors.get_mut("visual_projection.weight").expect("the golden file has it");
        *dtype = Dtype::I32;
    });
    let error = clip_error(&folder);
    assert!(matches!(&error, CheckpointError::NumberType { tensor, .. } if tensor == "visual_projection.weight"), "{error}");
}

#[test]
fn damaged_files_are_errors() {
    let bytes = std::fs::read(golden("sam").join(WEIGHTS)).expect("golden weights");
    let cases: [(&str, Vec<u8>); 5] = [
        ("cut in the header", bytes[..100].to_vec()),
        ("cut in the numbers", bytes[..bytes.len() - 4].to_vec()),
        ("longer than it says", [bytes.as_slice(), &[0; 4]].concat()),
        ("an absurd header", [u64::MAX.to_le_bytes().as_slice(), &bytes[8..]].concat()),
        ("no JSON", [bytes[..8].to_vec(), vec![b'x'; bytes.len() - 8]].concat()),
    ];
    for (case, bytes) in cases {
        let folder = copied("sam");
        std::fs::write(folder.path().join(WEIGHTS), bytes).expect("it can be written");
        let error = sam_error(&folder);
        assert!(matches!(&error, CheckpointError::Header { .. }), "{case}: {error}");
        assert!(error.to_string().contains(WEIGHTS), "{case}: {error}");
    }
}

#[test]
fn what_is_no_file_of_weights_is_called_what_it_is() {
    for (content, words) in [("<!DOCTYPE html><title>Log in</title>", "a web page"), ("", "an empty file")] {
        let folder = copied("sam");
        std::fs::write(folder.path().join(WEIGHTS), content).expect("it can be written");
        let error = sam_error(&folder);
        assert!(matches!(&error, CheckpointError::NotWeights { .. }) && error.to_string().contains(words), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_weights_is_an_error_and_no_endless_wait() {
    let folder = copied("sam");
    let path = folder.path().join(WEIGHTS);
    std::fs::remove_file(&path).expect("it was there");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
    assert!(made.success());
    // A folder's weights are looked for among its files; a name is taken as it is.
    assert!(matches!(sam_error(&folder), CheckpointError::NoWeights { .. }));
    let Err(error) = Sam::load(&path, &Device::flex()) else { panic!("a pipe is no network") };
    assert!(error.to_string().contains("neither a file nor a link to one"), "{error}");
}

#[test]
fn missing_files_are_named() {
    for file in ["config.json", "preprocessor_config.json", "tokenizer.json"] {
        let folder = copied("clip");
        std::fs::remove_file(folder.path().join(file)).expect("it was there");
        let error = clip_error(&folder);
        assert!(matches!(&error, CheckpointError::Read { path, .. } if path.ends_with(file)), "{error}");
        assert!(error.to_string().contains("put the published file there"), "{error}");
    }
    let folder = copied("clip");
    std::fs::remove_file(folder.path().join(WEIGHTS)).expect("it was there");
    let error = clip_error(&folder);
    assert!(matches!(&error, CheckpointError::NoWeights { .. }) && error.to_string().contains(WEIGHTS), "{error}");
}

#[test]
fn another_architecture_is_refused_by_name() {
    let cases: [(&str, TempDir); 6] = [
        ("model_type", edited("clip", "config.json", |text| text.replace("\"model_type\": \"clip\"", "\"model_type\": \"siglip\""))),
        (
            "hidden_act",
            edited("clip", "config.json", |text| {
                text.replace("\"hidden_act\": \"quick_gelu\"", "\"hidden_act\": \"swish\"").replace("_config_dict", "_unused")
            }),
        ),
        (
            "num_attention_heads",
            edited("clip", "config.json", |text| text.replace("\"num_attention_heads\": 4", "\"num_attention_heads\": 7")),
        ),
        ("resample", edited("clip", "preprocessor_config.json", |text| text.replace("\"resample\": 3", "\"resample\": 2"))),
        ("crop_size", edited("clip", "preprocessor_config.json", |text| text.replace("\"crop_size\": 56", "\"crop_size\": 48"))),
        (
            "do_normalize",
            edited("clip", "preprocessor_config.json", |text| text.replace("\"do_normalize\": true", "\"do_normalize\": false")),
        ),
    ];
    for (field, folder) in &cases {
        let error = clip_error(folder);
        assert!(matches!(&error, CheckpointError::Config { field: found, .. } if found.contains(field)), "{field}: {error}");
    }
    let cases: [(&str, TempDir); 4] = [
        ("use_rel_pos", edited("sam", "config.json", |text| text.replace("\"use_rel_pos\": true", "\"use_rel_pos\": false"))),
        (
            "attention_downsample_rate",
            edited("sam", "config.json", |text| text.replace("\"attention_downsample_rate\": 2", "\"attention_downsample_rate\": 0")),
        ),
        ("patch_size", edited("sam", "config.json", |text| text.replacen("\"patch_size\": 16", "\"patch_size\": 7", 2))),
        ("size", edited("sam", "preprocessor_config.json", |text| text.replace("\"longest_edge\": 160", "\"longest_edge\": 1024"))),
    ];
    for (field, folder) in &cases {
        let error = sam_error(folder);
        assert!(matches!(&error, CheckpointError::Config { field: found, .. } if found.contains(field)), "{field}: {error}");
    }
}

#[test]
fn sizes_in_the_repeated_part_override_and_default() {
    // The published file has sizes twice. What the overriding part leaves out is a default, not the other part's value: 12 layers here.
    let folder = edited("clip", "config.json", |text| {
        let at = text.find("\"text_config_dict\"").expect("the golden file repeats sizes");
        let (head, tail) = text.split_at(at);
        head.to_owned() + &tail.replacen("\"num_hidden_layers\": 2,", "", 1)
    });
    let error = clip_error(&folder);
    assert!(matches!(&error, CheckpointError::Missing { tensor, .. } if tensor.starts_with("text_model.encoder.layers.2.")), "{error}");
    // Without the repetition the plain part counts.
    let folder = edited("clip", "config.json", |text| text.replace("_config_dict", "_config_gone"));
    Clip::load(folder.path(), &Device::flex()).expect("the same sizes stand in the plain part");
}

#[test]
fn sam_takes_either_place_of_the_position_code_but_not_two_different_ones() {
    let names = ["shared_image_embedding.positional_embedding", "prompt_encoder.shared_embedding.positional_embedding"];
    for name in names {
        let folder = changed("sam", |tensors| drop(tensors.remove(name)));
        Sam::load(folder.path(), &Device::flex()).expect("one place is enough");
    }
    let folder = changed("sam", |tensors| tensors.retain(|name, _| !names.contains(&name.as_str())));
    assert!(matches!(sam_error(&folder), CheckpointError::Missing { .. }));
    let folder = changed("sam", |tensors| tensors.get_mut(names[1]).expect("it is there").2[0] ^= 1);
    let error = sam_error(&folder);
    assert!(matches!(&error, CheckpointError::NotTied { .. }) && error.to_string().contains(names[1]), "{error}");
}

/// Floats rounded to bfloat16 (the upper half of an f32; ties do not matter here) or kept.
fn halved(tensors: &mut Tensors) {
    for (dtype, _, bytes) in tensors.values_mut().filter(|(dtype, _, _)| *dtype == Dtype::F32) {
        *bytes = bytes.as_chunks::<4>().0.iter().flat_map(|b| [b[2], b[3]]).collect();
        *dtype = Dtype::BF16;
    }
}

#[test]
fn half_precision_files_load() {
    let folder = changed("clip", halved);
    let half = Clip::load(folder.path(), &Device::flex()).expect("bfloat16 loads");
    let full = Clip::load(&golden("clip"), &Device::flex()).expect("the golden checkpoint loads");
    let seen = picture("clip", "picture.png");
    let [a, b] = [half, full].map(|clip| clip.encode_pictures(&[&seen]).expect("features").remove(0));
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
    assert!(cosine > 0.999 && a != b, "eight bits of mantissa lose something, but little: {cosine}");
}

#[test]
fn split_weights_load_like_whole_ones_and_no_name_may_stand_twice() {
    let folder = copied("sam");
    let all = read(&folder.path().join(WEIGHTS));
    std::fs::remove_file(folder.path().join(WEIGHTS)).expect("it was there");
    let (mut first, mut second) = (Tensors::new(), Tensors::new());
    let mut map = BTreeMap::new();
    for (n, (name, tensor)) in all.into_iter().enumerate() {
        let (part, file) =
            if n % 2 == 0 { (&mut first, "model-00001-of-00002.safetensors") } else { (&mut second, "model-00002-of-00002.safetensors") };
        map.insert(name.clone(), file);
        part.insert(name, tensor);
    }
    let index = serde_json::json!({ "metadata": {}, "weight_map": map });
    std::fs::write(folder.path().join(WEIGHTS_INDEX), index.to_string()).expect("it can be written");
    let parts = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"].map(|file| folder.path().join(file));
    write(&parts[0], &first);
    write(&parts[1], &second);
    Sam::load(folder.path(), &Device::flex()).expect("split weights load");
    let (name, tensor) = first.iter().next().expect("half of the tensors");
    second.insert(name.clone(), tensor.clone());
    write(&parts[1], &second);
    assert!(matches!(sam_error(&folder), CheckpointError::Twice { tensor, .. } if tensor == *name));
}

#[test]
fn values_come_as_stored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // 1.5 in every type, from the IEEE formats by hand: sign, exponent bias 15/127/1023, fraction .1000….
    let stored = [
        ("f16", Dtype::F16, vec![0x00, 0x3e]),
        ("bf16", Dtype::BF16, vec![0xc0, 0x3f]),
        ("f32", Dtype::F32, vec![0x00, 0x00, 0xc0, 0x3f]),
        ("f64", Dtype::F64, vec![0, 0, 0, 0, 0, 0, 0xf8, 0x3f]),
    ];
    let tensors = stored.iter().map(|(name, dtype, bytes)| ((*name).to_owned(), (*dtype, vec![1], bytes.clone()))).collect();
    write(&folder.path().join(WEIGHTS), &tensors);
    let weights = Weights::open(folder.path(), &Device::flex()).expect("it opens");
    for (name, _, _) in stored {
        assert_eq!(weights.values(name, &[1]).expect("a value"), [1.5], "{name}");
    }
    weights.finish(&[]).expect("all were used");
}
