//! How good the demo checkpoints are on scenes they were never trained on.
//!
//! ```text
//! cargo run --release --example demo_quality                    # the demo's own pictures
//! cargo run --release --example demo_quality -- FOLDER [MODELS] # a folder made by models/train/make_demo.py; other checkpoints
//! ```
//!
//! Prints: the share of present objects found (IoU ≥ 0.5 with the true box), the share of absent ones wrongly found, SAM's mean IoU when
//! prompted with true boxes, and how often BPM (`corrected`, range fitted on the set) prefers the good edit. An edit whose overall is not
//! applicable can neither win nor lose; such pairs are counted apart.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use editscope::domain::{Bpm500, ImageSpace, Mask, PaperWeights, Profile, Rect, Scale, Size, rle::Rle};
use editscope::engine::{DevicePreference, MemoryCache, ModelSource, Session, parse_instruction};
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::imaging::resize::cv2_resize_linear;
use editscope::metrics::bpm::{Overrides, PairInput, Settings, combine, fit_range, score_pair};
use image::RgbImage;
use serde::Deserialize;

/// What is true of one picture, as `models/train/make_demo.py` writes it.
#[derive(Deserialize)]
struct Truth {
    picture: PathBuf,
    objects: Vec<TrueObject>,
    absent: Vec<String>,
    absent_attribute: Vec<String>,
    role: String,
}

#[derive(Deserialize)]
struct TrueObject {
    phrase: String,
    #[serde(rename = "box")]
    rect: Rect<ImageSpace>,
    mask: Rle,
}

#[derive(Default)]
struct Share {
    hits: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.all += 1;
    }

    fn print(&self, name: &str, aim: &str) {
        println!("{name:<44} {:>5.1} %  ({}/{})  aim {aim}", 100.0 * self.hits as f64 / self.all.max(1) as f64, self.hits, self.all);
    }
}

fn picture(path: &Path) -> Result<RgbImage> {
    Ok(decode(path, &DecodeOptions::default())?.rgb)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let root = arguments.next().map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo"), PathBuf::from);
    let models = arguments.next().map_or(ModelSource::Demo, |folder| ModelSource::Folder(folder.into()));
    let mut session = Session::load(&models, DevicePreference::AUTO)?;
    println!("{} with {} on {}", root.display(), session.models_words(), session.device_words());
    let truths: Vec<Truth> = lines(&root.join("truth.jsonl"))?;
    networks(&root, &truths, &mut session)?;
    preferences(&root, &truths, &mut session)
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| path.display().to_string())).collect()
}

/// The detector and the segmenter against the true boxes and masks.
fn networks(root: &Path, truths: &[Truth], session: &mut Session) -> Result<()> {
    let (mut present, mut plain, mut absent, mut attribute) = (Share::default(), Share::default(), Share::default(), Share::default());
    let (mut iou_sum, mut masks) = (0.0, 0usize);
    let cache = MemoryCache::default();
    for truth in truths {
        let rgb = picture(&root.join(&truth.picture))?;
        let size = Size::new(rgb.width(), rgb.height());
        let bpm500_from_image = Scale::<Bpm500, ImageSpace>::stretch(Size::BPM500, size);
        let canvas = cv2_resize_linear(&rgb, Size::BPM500);
        session.with_networks(&cache, &|| false, |nets| -> Result<()> {
            let mut find = |phrase: &str| -> Result<Vec<Rect<ImageSpace>>> {
                let found = nets.detector.detect(&rgb, phrase)?;
                Ok(found.iter().filter(|d| d.confidence > 0.3).map(|d| d.rect_in_image).collect())
            };
            for object in &truth.objects {
                let hit = find(&object.phrase)?.iter().any(|found| found.iou(&object.rect) >= 0.5);
                present.add(hit);
                if truth.role == "source" || truth.role == "good" {
                    plain.add(hit);
                }
            }
            for phrase in &truth.absent {
                absent.add(!find(phrase)?.is_empty());
            }
            for phrase in &truth.absent_attribute {
                attribute.add(!find(phrase)?.is_empty());
            }
            let boxes: Vec<_> = truth.objects.iter().map(|o| bpm500_from_image * o.rect).collect();
            let found: Vec<Mask> = if boxes.is_empty() { Vec::new() } else { nets.segmenter.segment(&canvas, &boxes)? };
            for (mask, object) in found.iter().zip(&truth.objects) {
                iou_sum += object.mask.to_mask()?.resized_nearest(Size::BPM500).iou(mask).unwrap_or(0.0);
                masks += 1;
            }
            Ok(())
        })?;
    }
    present.print("present objects found, all pictures", "≥ 90 %");
    plain.print("present objects found, sources and good edits", "≥ 90 %");
    absent.print("absent objects wrongly found", "≤ 15 %");
    attribute.print("present things in a wrong colour found", "none set");
    println!("{:<44} {:>7.3}  ({masks} masks)  aim ≥ 0.85", "SAM with true boxes, mean IoU", iou_sum / masks.max(1) as f64);
    Ok(())
}

/// How often the good edit of an item is preferred, with the parse of the manifest and with that of the rules.
fn preferences(root: &Path, truths: &[Truth], session: &mut Session) -> Result<()> {
    let roles: BTreeMap<PathBuf, &str> = truths.iter().map(|t| (root.join(&t.picture), t.role.as_str())).collect();
    let dataset = editscope::datasets::read(&root.join("manifest.jsonl"), None)?;
    let cache = MemoryCache::default();
    for by_rules in [false, true] {
        let mut scores = Vec::new();
        for item in &dataset.items {
            let source = picture(&item.source.path)?;
            let parse = item.parse.clone().filter(|_| !by_rules).unwrap_or_else(|| parse_instruction(&item.instruction));
            for edit in &item.edits {
                let edited = picture(&edit.picture.path)?;
                let overrides = Overrides::default();
                let input =
                    PairInput { source: &source, edit: &edited, instruction: &item.instruction, parse: &parse, overrides: &overrides };
                let score =
                    session.with_networks(&cache, &|| false, |nets| score_pair(&input, &Settings::new(Profile::Corrected), nets))?;
                let role = roles.get(&edit.picture.path).copied().unwrap_or("unknown");
                scores.push((item.key.clone(), role, score));
            }
        }
        let range = fit_range(Profile::Corrected, scores.iter().map(|(_, _, score)| score), "set", "this set");
        let mut items: BTreeMap<_, BTreeMap<&str, Option<f64>>> = BTreeMap::new();
        for (item, role, score) in &scores {
            let overall = combine(score, Some(&range), PaperWeights::default()).overall.value().copied();
            items.entry(item).or_default().insert(role, overall);
        }
        println!(
            "{}",
            if by_rules { "BPM (corrected), parsed by the built-in rules:" } else { "BPM (corrected), parses of the manifest:" }
        );
        for other in ["over_preserved", "over_modified", "misplaced"] {
            let pairs: Vec<_> = items.values().filter_map(|by_role| Some((*by_role.get("good")?, *by_role.get(other)?))).collect();
            let both = pairs.iter().filter(|(good, other)| good.is_some() && other.is_some()).count();
            let wins = pairs.iter().filter(|pair| matches!(pair, (Some(good), Some(other)) if good > other)).count();
            let alone = pairs.iter().filter(|(good, other)| good.is_some() && other.is_none()).count();
            let none = pairs.iter().filter(|(good, _)| good.is_none()).count();
            let percent = |n: usize, of: usize| 100.0 * n as f64 / of.max(1) as f64;
            println!(
                "  good over {other:<15} {wins}/{both} comparable = {:>5.1} %; only the good one has a value {alone}; the good one has none {none}; of all {} items: strict {:.1} %, with those {:.1} %",
                percent(wins, both),
                pairs.len(),
                percent(wins, pairs.len()),
                percent(wins + alone, pairs.len())
            );
        }
    }
    Ok(())
}
