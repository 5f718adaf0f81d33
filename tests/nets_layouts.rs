//! Every layout that the networks are published in, against `tests/golden/layouts`: names and shapes that the authors' own code gives, and
//! tiny checkpoints in their authors' layouts, which must load to the same network as the hub's.
#![cfg(feature = "flex")]

mod nets_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use editscope::domain::Size;
use editscope::nets::checkpoint::{CheckpointError, Family, TensorFile, TensorInfo, Weights};
use editscope::nets::clip::{CLIP, Clip, ClipConfig, TextModel, VisionModel};
use editscope::nets::grounding_dino::{self, GROUNDING_DINO, GroundingDino};
use editscope::nets::layers::Activation;
use editscope::nets::sam::{SAM, Sam, SamConfig};
use nets_support::{Stages, golden, picture};
use tempfile::TempDir;

/// Names and shapes of a checkpoint, in memory; every value is 0.
struct Listed {
    path: PathBuf,
    tensors: BTreeMap<String, Vec<usize>>,
}

impl Listed {
    /// A list of `tests/golden/layouts`.
    fn read(name: &str) -> Self {
        let path = golden("layouts").join(format!("{name}.txt"));
        let text = std::fs::read_to_string(&path).expect("a golden list");
        let mut tensors = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            let name = words.next().expect("a name");
            let shape: Vec<usize> = words.map(|side| side.parse().expect("a size")).collect();
            for name in unfolded(name) {
                assert!(tensors.insert(name, shape.clone()).is_none(), "{line} stands twice");
            }
        }
        Self { path, tensors }
    }

    fn weights(self, family: &Family) -> Result<Weights, CheckpointError> {
        Weights::from_files(vec![Box::new(self)], &Device::flex())?.in_layout_of(family)
    }

    fn with(mut self, name: &str, shape: &[usize]) -> Self {
        self.tensors.insert(name.to_owned(), shape.to_vec());
        self
    }
}

impl TensorFile for Listed {
    fn path(&self) -> &Path {
        &self.path
    }

    fn tensors(&self) -> Vec<TensorInfo> {
        self.tensors.iter().map(|(name, shape)| TensorInfo { name: name.clone(), shape: shape.clone() }).collect()
    }

    fn read(&self, name: &str) -> Result<Vec<f32>, CheckpointError> {
        Ok(vec![0.0; self.tensors[name].iter().product()])
    }
}

/// `a.{0..2}.b` → `a.0.b`, `a.1.b`, `a.2.b`
fn unfolded(name: &str) -> Vec<String> {
    let Some((head, rest)) = name.split_once("{0..") else { return vec![name.to_owned()] };
    let (last, tail) = rest.split_once('}').expect("a range ends");
    let last: usize = last.parse().expect("a range ends with a number");
    (0..=last).flat_map(|number| unfolded(tail).into_iter().map(move |tail| format!("{head}{number}{tail}"))).collect()
}

fn named(weights: &Weights) -> BTreeMap<String, Vec<usize>> {
    weights.tensors().map(|(name, shape)| (name.to_owned(), shape.to_vec())).collect()
}

/// What the hub's files have under a second name, of which one is enough: SAM's position code, and the twelve names of one box head.
fn second_name(name: &str) -> bool {
    name == "prompt_encoder.shared_embedding.positional_embedding"
}

#[test]
fn original_names_become_the_hub_s_in_every_published_size() {
    let sizes: [(&Family, &str, &[&str]); 3] = [
        (&CLIP, "clip", &["b-32", "b-16", "l-14", "l-14-336"]),
        (&SAM, "sam", &["b", "l", "h"]),
        (&GROUNDING_DINO, "grounding-dino", &["t", "b"]),
    ];
    for (family, name, sizes) in sizes {
        for size in sizes {
            let original = Listed::read(&format!("{name}-{size}.original")).weights(family).expect("a layout");
            let hub = Listed::read(&format!("{name}-{size}.hub")).weights(family).expect("a layout");
            assert_ne!(original.layout().expect("recognised").name, hub.layout().expect("recognised").name);
            let mut wanted = named(&hub);
            wanted.retain(|name, _| !second_name(name));
            let found = named(&original);
            let lacking: Vec<_> = wanted.iter().filter(|(name, shape)| found.get(*name) != Some(shape)).collect();
            let extra: Vec<_> = found.iter().filter(|(name, shape)| wanted.get(*name) != Some(shape)).collect();
            assert!(lacking.is_empty() && extra.is_empty(), "{name}-{size} lacks {lacking:?}, has {extra:?} too");
        }
    }
}

#[test]
fn clip_s_sizes_follow_from_its_shapes() {
    // openai/CLIP's own table of models: patch, side, width and layers of the vision model, width of the text model.
    let sizes = [
        ("b-32", 32, 224, 768, 12, 512),
        ("b-16", 16, 224, 768, 12, 512),
        ("l-14", 14, 224, 1024, 24, 768),
        ("l-14-336", 14, 336, 1024, 24, 768),
    ];
    for (size, patch, side, width, layers, text) in sizes {
        let config =
            ClipConfig::inferred(&Listed::read(&format!("clip-{size}.original")).weights(&CLIP).expect("a layout")).expect("sizes");
        assert_eq!((config.patch, config.side, config.projection), (patch, side, text), "{size}");
        assert_eq!(
            (config.vision.width, config.vision.layers, config.vision.heads, config.vision.mlp),
            (width, layers, width / 64, 4 * width)
        );
        assert_eq!((config.text.width, config.text.layers, config.text.heads, config.text.mlp), (text, 12, text / 64, 4 * text));
        assert_eq!((config.vocabulary, config.positions, config.text.activation), (49408, 77, Activation::QuickGelu));
    }
}

#[test]
fn sam_s_sizes_follow_from_its_shapes() {
    // segment-anything, `build_sam.py`.
    let sizes: [(&str, usize, usize, usize, [usize; 4]); 3] =
        [("b", 768, 12, 12, [2, 5, 8, 11]), ("l", 1024, 24, 16, [5, 11, 17, 23]), ("h", 1280, 32, 16, [7, 15, 23, 31])];
    for (size, width, layers, heads, global) in sizes {
        let config = SamConfig::inferred(&Listed::read(&format!("sam-{size}.original")).weights(&SAM).expect("a layout")).expect("sizes");
        let encoder = &config.encoder;
        assert_eq!((encoder.width, encoder.layers, encoder.heads, encoder.mlp), (width, layers, heads, 4 * width), "{size}");
        assert_eq!((encoder.side, encoder.patch, encoder.window, encoder.channels), (1024, 16, 14, 256));
        assert_eq!(encoder.global, global);
        let decoder = &config.decoder;
        assert_eq!((decoder.width, decoder.layers, decoder.heads, decoder.mlp, decoder.downsample), (256, 2, 8, 2048, 2));
        assert_eq!((decoder.alternatives, decoder.quality_depth, decoder.quality_hidden), (3, 3, 256));
    }
}

#[test]
fn a_pruned_sam_s_sizes_follow_from_its_shapes() {
    // SlimSAM-77 (transformers, `convert_sam_to_hf.py`, `get_config`): 168 wide, twelve heads of 14, MLP 696.
    let mut pruned = Listed::read("sam-b.hub");
    for (name, shape) in &mut pruned.tensors {
        for side in shape.iter_mut().filter(|_| name.starts_with("vision_encoder.")) {
            *side = match *side {
                768 => 168,
                2304 => 504,
                3072 => 696,
                64 if name.contains("rel_pos") => 14,
                other => other,
            };
        }
    }
    let config = SamConfig::inferred(&pruned.weights(&SAM).expect("a layout")).expect("sizes");
    let encoder = &config.encoder;
    assert_eq!((encoder.width, encoder.heads, encoder.mlp, encoder.window), (168, 12, 696, 14));
    assert_eq!(encoder.global, [2, 5, 8, 11]);
}

#[test]
fn grounding_dino_s_sizes_follow_from_its_shapes() {
    // GroundingDINO, `config/*.py` and `swin_transformer.py`, `build_swin_transformer`.
    let sizes = [("t", 96, [2, 2, 6, 2], [3, 6, 12, 24], 7), ("b", 128, [2, 2, 18, 2], [4, 8, 16, 32], 12)];
    for (size, width, depths, heads, window) in sizes {
        let listed = Listed::read(&format!("grounding-dino-{size}.original"));
        let config = grounding_dino::Config::inferred(&listed.weights(&GROUNDING_DINO).expect("a layout")).expect("sizes");
        let swin = &config.backbone_config;
        assert_eq!((swin.embed_dim, swin.window_size, swin.patch_size), (width, window, 4), "{size}");
        assert_eq!((&swin.depths[..], &swin.num_heads[..]), (&depths[..], &heads[..]));
        // Everything else is what transformers' configuration has by default, as its published files say.
        let defaults = grounding_dino::Config { backbone_config: swin.clone(), ..grounding_dino::Config::default() };
        assert_eq!(config, defaults);
    }
}

#[test]
fn names_of_nested_files_are_found_and_foreign_ones_refused() {
    let prefixed = |prefix: &str| {
        let mut listed = Listed::read("grounding-dino-t.original");
        listed.tensors = listed.tensors.into_iter().map(|(name, shape)| (format!("{prefix}{name}"), shape)).collect();
        listed
    };
    for prefix in ["", "model.module.", "module.", "model."] {
        let weights = prefixed(prefix).weights(&GROUNDING_DINO).expect("a layout");
        assert!(weights.has("model.query_position_embeddings.weight"), "{prefix}");
    }
    let error = Listed::read("sam-b.original").weights(&CLIP).err().expect("SAM is not CLIP");
    let text = error.to_string();
    assert!(text.contains("CLIP") && text.contains("OpenAI") && text.contains("Hugging Face") && text.contains("image_encoder"), "{text}");
}

#[test]
fn missing_misshapen_and_unused_names_are_said_in_the_file_s_own_words() {
    let load = |listed: Listed| {
        let weights = listed.weights(&SAM).expect("a layout");
        let config = SamConfig::inferred(&weights)?;
        editscope::nets::sam::MaskDecoder::load(&weights.root().at("mask_decoder"), &config.decoder)?;
        editscope::nets::sam::PromptEncoder::load(&weights.root(), &config)?;
        weights.finish(&["vision_encoder.**"])
    };
    load(Listed::read("sam-b.original")).expect("the list is whole");
    let mut listed = Listed::read("sam-b.original");
    let shape = listed.tensors.remove("mask_decoder.output_upscaling.1.bias").expect("it is there");
    let error = load(listed.with("mask_decoder.output_upscaling.1.biass", &shape)).expect_err("a name is wrong");
    let text = error.to_string();
    assert!(matches!(error, CheckpointError::Missing { .. }), "{text}");
    for part in ["'mask_decoder.upscale_layer_norm.bias'", "(here 'mask_decoder.output_upscaling.1.bias')", "output_upscaling.1.biass'"] {
        assert!(text.contains(part), "{text} lacks {part}");
    }
    let error = load(Listed::read("sam-b.original").with("mask_decoder.output_upscaling.1.bias", &[65])).expect_err("a shape is wrong");
    assert!(error.to_string().contains("'mask_decoder.output_upscaling.1.bias' has the shape [65], expected [64]"), "{error}");
    let error = load(Listed::read("sam-b.original").with("mask_decoder.output_upscaling.5.bias", &[8])).expect_err("a tensor too many");
    assert!(
        matches!(&error, CheckpointError::Unused { count: 1, first, .. } if first == "mask_decoder.output_upscaling.5.bias"),
        "{error}"
    );
    let error = Listed::read("clip-b-32.original")
        .with("visual.transformer.resblocks.0.attn.in_proj_bias", &[2305])
        .weights(&CLIP)
        .err()
        .expect("three parts of 2305 rows");
    assert!(matches!(&error, CheckpointError::NotParts { .. }) && error.to_string().contains("[2305]"), "{error}");
}

/// A folder with the settings of golden folder `name` and the file `weights` of `tests/golden/layouts`.
fn folder_with(name: &str, weights: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["config.json", "preprocessor_config.json", "tokenizer.json"] {
        let from = golden(name).join(file);
        if from.exists() {
            std::fs::copy(from, folder.path().join(file)).expect("a golden file can be copied");
        }
    }
    std::fs::copy(golden("layouts").join(weights), folder.path().join(weights)).expect("a golden file can be copied");
    folder
}

#[test]
fn segment_anything_s_file_gives_the_hub_s_masks() {
    let folder = folder_with("sam", "sam.pth");
    let [original, hub] = [folder.path(), &golden("sam")].map(|path| Sam::load(path, &Device::flex()).expect("it loads"));
    assert!(original.recognised().to_string().contains("sam.pth: names of segment-anything"), "{}", original.recognised());
    let seen = picture("sam", "picture.png");
    let masks = |sam: &Sam| {
        let embedding = sam.embed(&seen).expect("an embedding");
        let boxes = [[10.0, 8.0, 60.0, 50.0], [40.0, 20.0, 90.0, 65.0]];
        (embedding.features.to_data(), sam.masks_for_boxes(&embedding, &boxes, Size::new(97, 71)).expect("masks"))
    };
    // The same weights, so the same bits.
    assert_eq!(masks(&original), masks(&hub));
}

#[test]
fn grounding_dino_s_file_gives_the_hub_s_boxes() {
    let folder = folder_with("grounding-dino", "grounding-dino.pth");
    let [original, hub] =
        [folder.path(), &golden("grounding-dino")].map(|path| GroundingDino::load(path, &Device::flex()).expect("it loads"));
    assert!(original.recognised().layout.contains("GroundingDINO"), "{}", original.recognised());
    let seen = picture("grounding-dino", "picture.png");
    let found = original.detect(&seen, "a cat. a red ball.").expect("boxes");
    assert!(found.len() > 3);
    assert_eq!(found, hub.detect(&seen, "a cat. a red ball.").expect("boxes"));
}

#[test]
fn transformers_5_names_in_memory_give_the_hub_s_boxes() {
    // `checkpoints.md` section 4: what 5.x calls the parts of Swin.
    let base = "model.backbone.conv_encoder.model.";
    let renamed = |name: &str| {
        let Some(own) = name.strip_prefix(base) else { return name.to_owned() };
        if own.starts_with("hidden_states_norms") {
            return name.to_owned();
        }
        let pairs = [
            ("attention.self.query", "attention.q_proj"),
            ("attention.self.key", "attention.k_proj"),
            ("attention.self.value", "attention.v_proj"),
            ("attention.self.relative_position_bias_table", "attention.relative_position_bias.relative_position_bias_table"),
            ("attention.output.dense", "attention.o_proj"),
            ("intermediate.dense", "mlp.fc1"),
            ("output.dense", "mlp.fc2"),
        ];
        let own = pairs.iter().fold(own.to_owned(), |own, (old, new)| own.replace(old, new));
        format!("{base}swin.{own}")
    };
    let bytes = std::fs::read(golden("grounding-dino").join("model.safetensors")).expect("golden weights");
    let file = safetensors::SafeTensors::deserialize(&bytes).expect("golden weights");
    let extra = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2], &[0; 8]).expect("a tensor");
    let mut tensors: Vec<_> = file.tensors().into_iter().map(|(name, view)| (renamed(&name), view)).collect();
    tensors.push((format!("{base}swin.layernorm.weight"), extra));
    let folder = folder_with("grounding-dino", "grounding-dino.pth");
    std::fs::remove_file(folder.path().join("grounding-dino.pth")).expect("it was there");
    safetensors::serialize_to_file(tensors, None, &folder.path().join("model.safetensors")).expect("it can be written");
    let [renamed, hub] =
        [folder.path(), &golden("grounding-dino")].map(|path| GroundingDino::load(path, &Device::flex()).expect("it loads"));
    assert!(renamed.recognised().layout.contains("5.x"), "{}", renamed.recognised());
    let seen = picture("grounding-dino", "picture.png");
    assert_eq!(renamed.detect(&seen, "a cat.").expect("boxes"), hub.detect(&seen, "a cat.").expect("boxes"));
}

/// An f32 rounded to half precision and back.
fn half(value: f32) -> f32 {
    half::f16::from_f32(value).to_f32()
}

#[test]
fn openai_s_files_hold_the_hub_s_weights_in_half_precision() {
    let hub = Weights::open_as(&golden("clip"), &CLIP, &Device::flex()).expect("the golden checkpoint");
    for file in ["clip-script.pt", "clip-legacy.pt"] {
        let path = golden("layouts").join(file);
        let original = Weights::open_as(&path, &CLIP, &Device::flex()).expect("it opens");
        assert_eq!(named(&original), named(&hub), "{file}");
        for (name, shape) in named(&hub) {
            let (found, mut expected) = (original.values(&name, &shape).expect("values"), hub.values(&name, &shape).expect("values"));
            // Norms and tables stay as they are in OpenAI's files, products are halved.
            if !name.contains("norm") && !name.contains("layrnorm") && !name.contains("embedding") || name.contains("patch_embedding") {
                expected.iter_mut().for_each(|value| *value = half(*value));
            }
            assert!(found == expected, "{file}: {name}");
        }
        original.finish(&[]).expect("nothing is left over");
    }
}

#[test]
fn openai_s_archive_sees_and_reads_as_the_reference_does() {
    let folder = folder_with("clip", "clip-script.pt");
    let clip = Clip::load(folder.path(), &Device::flex()).expect("it loads");
    assert!(clip.recognised().to_string().ends_with("clip-script.pt: names of OpenAI's CLIP"), "{}", clip.recognised());
    let stages = Stages::of("clip");
    let found = clip.encode_pictures(&[&picture("clip", "picture.png")]).expect("features");
    // Half precision keeps eleven bits of each weight.
    stages.check_values("picture.features", &found[0], 2e-3);
    // The two kinds of file hold the same numbers, so they give the same bits.
    let legacy = Weights::open_as(&golden("layouts").join("clip-legacy.pt"), &CLIP, &Device::flex()).expect("it opens");
    let vision = VisionModel::load(&legacy.root(), &clip.config).expect("it loads");
    TextModel::load(&legacy.root(), &clip.config).expect("it loads");
    let pixels = clip.pixels(&[&picture("clip", "picture.png")]).expect("pixels");
    let values: Vec<f32> = vision.forward(pixels).try_into_vec_as().expect("features");
    assert_eq!(values, found[0]);
}

#[test]
fn a_file_alone_is_told_by_its_shapes() {
    // The tiny network's heads are not those of a published one, and its words are not enough for the published vocabulary.
    let error = Clip::load(&golden("layouts").join("clip-script.pt"), &Device::flex()).err().expect("no published size");
    assert!(matches!(&error, CheckpointError::Inferred { .. }) && error.to_string().contains("64"), "{error}");
}

#[test]
fn views_and_nested_dictionaries_read_as_pytorch_sees_them() {
    for (file, prefix) in [("strided.pth", "outer.inner."), ("strided-legacy.pth", "")] {
        let weights = Weights::open(&golden("layouts").join(file), &Device::flex()).expect("it opens");
        let values = |name: &str, shape: &[usize]| weights.values(&format!("{prefix}{name}"), shape).expect("values");
        let numbers = |list: &[u8]| list.iter().copied().map(f32::from).collect::<Vec<f32>>();
        // 0 … 23 as four rows of six.
        assert_eq!(values("whole", &[4, 6]), numbers(&(0..24).collect::<Vec<_>>()), "{file}");
        assert_eq!(values("transposed", &[6, 4])[..5], numbers(&[0, 6, 12, 18, 1]));
        assert_eq!(values("column", &[4]), numbers(&[2, 8, 14, 20]));
        assert_eq!(values("tail", &[4]), numbers(&[20, 21, 22, 23]));
        for name in ["half", "brain", "double"] {
            assert_eq!(values(name, &[1]), [1.5], "{file}: {name}");
        }
        assert!(values("empty", &[0, 3]).is_empty());
        let error = weights.values(&format!("{prefix}counts"), &[3]).expect_err("whole numbers are no weights");
        assert!(matches!(error, CheckpointError::NumberType { .. }), "{error}");
    }
}

#[test]
fn files_that_would_run_code_are_refused_and_nothing_runs() {
    for file in ["harmful.pth", "harmful-legacy.pth", "harmful-script.pt"] {
        let path = golden("layouts").join(file);
        let error = Weights::open(&path, &Device::flex()).err().expect("it must not open");
        let text = error.to_string();
        assert!(matches!(&error, CheckpointError::Code { import, .. } if import == "posix.system"), "{file}: {text}");
        assert!(text.contains(file) && text.contains("nothing of it was run"), "{text}");
    }
    // What the pickle would have made.
    assert!(!Path::new("editscope-was-here").exists());
}

#[test]
fn cut_and_scrambled_files_are_errors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["sam.pth", "clip-legacy.pt", "clip-script.pt", "strided.pth"] {
        let bytes = std::fs::read(golden("layouts").join(file)).expect("a golden file");
        let whole = Weights::open(&golden("layouts").join(file), &Device::flex()).expect("it opens");
        let names = named(&whole);
        for keep in [0, 1, 9, 60, bytes.len() / 3, bytes.len() - bytes.len() / 50 - 1, bytes.len() - 1] {
            let path = folder.path().join(file);
            std::fs::write(&path, &bytes[..keep]).expect("it can be written");
            // Either it does not open, or a tensor cannot be read.
            let found = Weights::open(&path, &Device::flex())
                .and_then(|weights| names.iter().try_for_each(|(name, shape)| weights.values(name, shape).map(drop)));
            let error = found.expect_err("a part of it is gone");
            assert!(error.to_string().contains(file), "{file} cut to {keep}: {error}");
        }
    }
}

#[test]
fn a_folder_with_one_file_is_that_file_and_with_two_a_question() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = Weights::open(folder.path(), &Device::flex()).err().expect("nothing is there");
    assert!(matches!(error, CheckpointError::NoWeights { .. }), "{error}");
    let copy = |name: &str| std::fs::copy(golden("layouts").join("strided.pth"), folder.path().join(name)).expect("it can be copied");
    copy("first.pth");
    assert!(Weights::open(folder.path(), &Device::flex()).expect("it opens").has("outer.inner.whole"));
    copy("second.pt");
    let error = Weights::open(folder.path(), &Device::flex()).err().expect("which one?");
    assert!(error.to_string().contains("first.pth, second.pt"), "{error}");
    // transformers' own name goes first.
    copy("pytorch_model.bin");
    Weights::open(folder.path(), &Device::flex()).expect("it opens");
}
