//! Loads one network, runs it once on the CPU and prints what came out, how long it took and how much memory it needed, as JSON.
//!
//! `tests/golden/full_size.py` makes checkpoints of the published sizes, calls this for each and compares with PyTorch:
//! `cargo run --release --example full_size -- clip|sam|grounding-dino CHECKPOINT INPUTS.json`.
//!
//! Inputs, one object: `picture` (path), `texts` (CLIP, Grounding DINO), `boxes` (SAM; x0 y0 x1 y1 in pixels of the picture).

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use burn::tensor::{Device, TensorData};
use editscope::domain::{Mask, Size};
use editscope::nets::clip::Clip;
use editscope::nets::grounding_dino::{GroundingDino, Stages};
use editscope::nets::sam::Sam;
use image::RgbImage;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Inputs {
    picture: PathBuf,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    boxes: Vec<[f32; 4]>,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, checkpoint, inputs] = arguments.as_slice() else {
        bail!("usage: full_size clip|sam|grounding-dino CHECKPOINT INPUTS.json");
    };
    let text = std::fs::read_to_string(inputs).with_context(|| inputs.clone())?;
    let inputs: Inputs = serde_json::from_str(&text).with_context(|| inputs.clone())?;
    let picture = image::open(&inputs.picture).with_context(|| inputs.picture.display().to_string())?.to_rgb8();
    let report = match network.as_str() {
        "clip" => run(
            |device| Clip::load(Path::new(checkpoint), device),
            |clip| clip_outputs(clip, &picture, &inputs),
            |c| c.recognised().to_string(),
        ),
        "sam" => run(
            |device| Sam::load(Path::new(checkpoint), device),
            |sam| sam_outputs(sam, &picture, &inputs),
            |s| s.recognised().to_string(),
        ),
        "grounding-dino" => run(
            |device| GroundingDino::load(Path::new(checkpoint), device),
            |dino| dino_outputs(dino, &picture, &inputs),
            |d| d.recognised().to_string(),
        ),
        other => bail!("there is no network '{other}'; take clip, sam or grounding-dino"),
    }?;
    println!("{report}");
    Ok(())
}

/// Loads a network, asks it for its outputs, and adds what that cost.
fn run<N, E: std::error::Error + Send + Sync + 'static>(
    load: impl FnOnce(&Device) -> Result<N, E>,
    outputs: impl FnOnce(&N) -> anyhow::Result<Value>,
    recognised: impl FnOnce(&N) -> String,
) -> anyhow::Result<Value> {
    let before = peak_bytes();
    let start = Instant::now();
    let network = load(&Device::flex())?;
    let load_seconds = start.elapsed().as_secs_f64();
    let loaded = peak_bytes();
    let start = Instant::now();
    let outputs = outputs(&network)?;
    Ok(json!({
        "recognised": recognised(&network),
        "load_seconds": load_seconds,
        "run_seconds": start.elapsed().as_secs_f64(),
        "bytes_before": before,
        "peak_bytes_loaded": loaded,
        "peak_bytes": peak_bytes(),
        "outputs": outputs,
    }))
}

fn clip_outputs(clip: &Clip, picture: &RgbImage, inputs: &Inputs) -> anyhow::Result<Value> {
    let texts: Vec<&str> = inputs.texts.iter().map(String::as_str).collect();
    let texts = clip.encode_texts(&texts)?.into_iter().map(|(features, _)| features).collect::<Vec<_>>();
    Ok(json!({ "pictures": clip.encode_pictures(&[picture])?, "texts": texts }))
}

fn sam_outputs(sam: &Sam, picture: &RgbImage, inputs: &Inputs) -> anyhow::Result<Value> {
    let embedding = sam.embed(picture)?;
    let masks = sam.masks_for_boxes(&embedding, &inputs.boxes, Size::new(picture.width(), picture.height()))?;
    let masks: Vec<String> = masks.iter().map(bits).collect();
    let features: Vec<f32> = embedding.features.try_into_vec_as().map_err(|e| anyhow::anyhow!("{e}"))?;
    Ok(json!({ "masks": masks, "embedding": features }))
}

/// A mask row by row, `1` inside.
fn bits(mask: &Mask) -> String {
    let size = mask.size();
    (0..size.height).flat_map(|y| (0..size.width).map(move |x| if mask.get(x, y) { '1' } else { '0' })).collect()
}

fn dino_outputs(dino: &GroundingDino, picture: &RgbImage, inputs: &Inputs) -> anyhow::Result<Value> {
    let seen = dino.features(picture)?;
    let (mut found, mut ranks) = (Vec::new(), Vec::new());
    for text in &inputs.texts {
        let mut top: Vec<usize> = Vec::new();
        // Numbers below 2^24: exact as floats.
        let mut listen = |stage: &str, data: TensorData| {
            if stage == "top" {
                top = data.iter::<f32>().map(|rank| rank as usize).collect();
            }
        };
        let detected = dino.match_staged(&seen, &dino.phrase(text)?, &mut Stages::to(&mut listen))?;
        ranks.push(top);
        let candidates = detected.candidates.iter().map(|c| {
            let r = &c.rect_in_image;
            json!({ "query": c.query, "box": [r.x0, r.y0, r.x1, r.y1], "score": c.confidence, "phrase": c.phrase })
        });
        found.push(candidates.collect::<Vec<_>>());
    }
    Ok(json!({ "candidates": found, "ranks": ranks }))
}

/// The most memory that this process has had, in bytes; `None` where the system does not say (it does on Linux).
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
