//! What the benchmarks work on: pictures by formula, fixed boxes and phrases, and an item of one source and four edits.
//!
//! `benches/reference/torch_worker.py` makes the same pictures and takes the same boxes.
#![allow(dead_code, reason = "each benchmark uses its own part")]

use std::path::{Path, PathBuf};

use editscope::domain::{Detection, Parse, Profile, Rect, Size};
use editscope::engine::{DevicePreference, MemoryCache, ModelSource, NetworkSlot};
use editscope::imaging::resize::cv2_resize_linear;
use editscope::metrics::bpm::{Overrides, PairInput, Settings, score_pair};
use editscope::metrics::ports::{Detector, Networks, PortError};
use image::{Rgb, RgbImage};

/// Side of the benchmarks' square pictures, in pixels.
const SIDE: u32 = 512;

/// Edits of the item.
const EDITS: u32 = 4;

/// What is looked for on the source, and on the edits.
pub const PHRASES: [&str; 2] = ["a red ball", "the small dog"];

/// Boxes on the canvas (x0, y0, x1, y1 in bpm500) that stand in for detections: with random weights the detector finds nothing sensible.
pub const BOXES: [[f32; 4]; 2] = [[60.0, 80.0, 260.0, 300.0], [200.0, 20.0, 480.0, 450.0]];

/// The folder with `clip`, `sam` and `grounding-dino`: what `EDITSCOPE_BENCH_MODELS` names, else the demo's.
pub fn models() -> PathBuf {
    std::env::var_os("EDITSCOPE_BENCH_MODELS").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("models/demo"), PathBuf::from)
}

/// A picture by formula; another one for each number.
pub fn picture(number: u32) -> RgbImage {
    RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let level = |channel: u32| ((x * 3 + y * 5 + x * y / 7 + 40 * number * (channel + 1)) % 256) as u8;
        Rgb([level(0), level(1), level(2)])
    })
}

/// A picture on the metric's canvas.
pub fn canvas(number: u32) -> RgbImage {
    cv2_resize_linear(&picture(number), Size::BPM500)
}

/// The detector, whose answer is replaced by [`BOXES`] after it has done its work.
struct FixedBoxes<'a>(&'a mut dyn Detector);

impl Detector for FixedBoxes<'_> {
    fn detect(&mut self, seen: &RgbImage, phrase: &str) -> Result<Vec<Detection>, PortError> {
        self.0.detect(seen, phrase)?;
        let to_image = seen.width() as f32 / Size::BPM500.width as f32;
        let detection = |[x0, y0, x1, y1]: [f32; 4]| Detection {
            rect_in_image: Rect::new(x0 * to_image, y0 * to_image, x1 * to_image, y1 * to_image),
            phrase: phrase.to_owned(),
            confidence: 0.9,
            tokens: Vec::new(),
        };
        Ok(BOXES.map(detection).to_vec())
    }
}

/// Networks and inputs of a whole item.
pub struct Item {
    networks: NetworkSlot,
    /// Counts the runs, so that no run finds what an earlier one has left in a cache.
    run: u32,
}

impl Item {
    /// Loads the networks of `models` onto the CPU.
    pub fn load(models: PathBuf) -> Self {
        let mut networks = NetworkSlot::default();
        networks.load(&ModelSource::Folder(models), DevicePreference::CPU, &mut |_| ()).expect("the benchmark's models load");
        Self { networks, run: 0 }
    }

    /// Scores a source with four edits, a replacement, from pixels to parts.
    pub fn score(&mut self) {
        self.run += 1;
        let first = self.run * (EDITS + 1);
        let source = picture(first);
        // Another item has other phrases.
        let parse = Parse {
            original_part: format!("{} {}", PHRASES[0], self.run),
            edited_part: format!("{} {}", PHRASES[1], self.run),
            edit_type: "replace".to_owned(),
            ..Parse::default()
        };
        let (overrides, settings, cache) = (Overrides::default(), Settings::new(Profile::Corrected), MemoryCache::default());
        for number in 1..=EDITS {
            let edit = picture(first + number);
            let input = PairInput { source: &source, edit: &edit, instruction: "", parse: &parse, overrides: &overrides };
            let mut work = |networks: &mut Networks<'_>| {
                let mut detector = FixedBoxes(&mut *networks.detector);
                let mut fixed = Networks { detector: &mut detector, segmenter: &mut *networks.segmenter, encoder: &mut *networks.encoder };
                score_pair(&input, &settings, &mut fixed)
            };
            let score = self.networks.lend(&cache, &|| false, &mut |_| (), &mut work).expect("the item can be scored");
            assert!(score.parts.modify.value().is_some(), "modify must have been computed, or the benchmark measures too little");
        }
    }
}
