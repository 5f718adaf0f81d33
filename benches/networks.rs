//! The networks and a whole item on the CPU: `cargo bench --bench networks`.
//!
//! With the demo's checkpoints, which are small, or those in the folder that `EDITSCOPE_BENCH_MODELS` names. What the numbers mean and how
//! they compare with PyTorch is in `docs/performance.md`.

mod common;

use std::hint::black_box;
use std::time::Duration;

use burn::tensor::Device;
use common::{BOXES, Item, PHRASES, canvas, models, picture};
use criterion::{Criterion, criterion_group, criterion_main};
use editscope::domain::Size;
use editscope::nets::clip::Clip;
use editscope::nets::grounding_dino::GroundingDino;
use editscope::nets::sam::Sam;

fn clip(criterion: &mut Criterion) {
    let clip = Clip::load(&models().join("clip"), &Device::flex()).expect("CLIP loads");
    let crops = [canvas(0), canvas(1)];
    criterion.bench_function("clip/two pictures", |b| b.iter(|| black_box(clip.encode_pictures(&[&crops[0], &crops[1]]))));
    criterion.bench_function("clip/two texts", |b| b.iter(|| black_box(clip.encode_texts(&PHRASES))));
}

fn sam(criterion: &mut Criterion) {
    let sam = Sam::load(&models().join("sam"), &Device::flex()).expect("SAM loads");
    let seen = canvas(0);
    criterion.bench_function("sam/picture", |b| b.iter(|| black_box(sam.embed(&seen))));
    let embedding = sam.embed(&seen).expect("SAM embeds");
    criterion.bench_function("sam/two boxes", |b| b.iter(|| black_box(sam.masks_for_boxes(&embedding, &BOXES, Size::BPM500))));
}

fn grounding_dino(criterion: &mut Criterion) {
    let detector = GroundingDino::load(&models().join("grounding-dino"), &Device::flex()).expect("Grounding DINO loads");
    let seen = picture(0);
    criterion.bench_function("grounding-dino/picture", |b| b.iter(|| black_box(detector.features(&seen))));
    criterion.bench_function("grounding-dino/phrase", |b| b.iter(|| black_box(detector.phrase(PHRASES[0]))));
    let (features, phrase) = (detector.features(&seen).expect("features"), detector.phrase(PHRASES[0]).expect("a phrase"));
    criterion.bench_function("grounding-dino/match", |b| b.iter(|| black_box(detector.match_in(&features, &phrase))));
}

fn item(criterion: &mut Criterion) {
    let mut item = Item::load(models());
    criterion.bench_function("item of four edits", |b| b.iter(|| item.score()));
}

criterion_group! {
    name = networks;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
    targets = clip, sam, grounding_dino, item
}
criterion_main!(networks);
