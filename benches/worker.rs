//! One task on command: EditScope's side of `benches/reference/compare.py`.
//!
//! `worker MODELS TASK` prints `ready` when the networks are loaded, then, for every line on standard input, runs the task once and prints
//! the seconds that it took. Threads as rayon takes them (`RAYON_NUM_THREADS`).

mod common;

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::tensor::Device;
use common::{BOXES, Item, PHRASES, canvas, picture};
use editscope::domain::{Bpm500, Rect, Size};
use editscope::metrics::bpm::crop_edges;
use editscope::nets::clip::Clip;
use editscope::nets::grounding_dino::GroundingDino;
use editscope::nets::sam::Sam;

/// The task of that name, its networks loaded.
fn task(models: &Path, name: &str) -> Box<dyn FnMut()> {
    let device = Device::flex();
    let clip = || Clip::load(&models.join("clip"), &device).expect("CLIP loads");
    match name {
        "clip-pictures" => {
            let clip = clip();
            Box::new(move || {
                let boxes = BOXES.map(|[x0, y0, x1, y1]| Rect::<Bpm500>::new(x0, y0, x1, y1));
                let [x0, y0, x1, y1] = crop_edges(&boxes).expect("the boxes leave a crop");
                let crops = [0, 1].map(|number| image::imageops::crop_imm(&canvas(number), x0, y0, x1 - x0, y1 - y0).to_image());
                clip.encode_pictures(&[&crops[0], &crops[1]]).expect("CLIP encodes pictures");
            })
        }
        "clip-texts" => {
            let clip = clip();
            Box::new(move || drop(clip.encode_texts(&PHRASES).expect("CLIP encodes texts")))
        }
        "sam" => {
            let sam = Sam::load(&models.join("sam"), &device).expect("SAM loads");
            Box::new(move || {
                let embedding = sam.embed(&canvas(0)).expect("SAM embeds");
                sam.masks_for_boxes(&embedding, &BOXES, Size::BPM500).expect("SAM makes masks");
            })
        }
        "detector" => {
            let detector = GroundingDino::load(&models.join("grounding-dino"), &device).expect("Grounding DINO loads");
            Box::new(move || drop(detector.detect(&picture(0), PHRASES[0]).expect("Grounding DINO detects")))
        }
        "item" => {
            let mut item = Item::load(models.to_owned());
            Box::new(move || item.score())
        }
        other => panic!("there is no task '{other}'"),
    }
}

fn main() {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let (Some(models), Some(name)) = (arguments.next(), arguments.next()) else {
        println!("worker MODELS TASK is started by benches/reference/compare.py; `cargo bench --bench networks` measures by itself");
        return;
    };
    let mut task = task(&PathBuf::from(models), &name);
    let mut out = std::io::stdout().lock();
    let mut say = |text: String| writeln!(out, "{text}").and_then(|()| out.flush()).expect("standard output is open");
    say("ready".to_owned());
    for _ in std::io::stdin().lock().lines() {
        let began = Instant::now();
        task();
        say(format!("{:.6}", began.elapsed().as_secs_f64()));
    }
}
