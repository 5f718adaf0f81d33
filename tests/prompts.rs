//! Points and boxes for the segmenter, through the engine's threads and with the demo's networks.
#![cfg(feature = "nets")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use editscope::domain::{Mask, Point, Rect, Size};
use editscope::engine::{DevicePreference, Engine, Event, ModelSource, PromptEvent, PromptRequest, Request};

/// A picture of the demo with the box of one of its objects, from the demo's own truth.
fn object() -> (PathBuf, Rect<editscope::domain::ImageSpace>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let truth = std::fs::read_to_string(folder.join("truth.jsonl")).unwrap();
    for line in truth.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(object) = line["objects"].as_array().and_then(|objects| objects.first()) else { continue };
        let edges: Vec<f32> = object["box"].as_array().unwrap().iter().map(|edge| edge.as_f64().unwrap() as f32).collect();
        return (folder.join(line["picture"].as_str().unwrap()), Rect::new(edges[0], edges[1], edges[2], edges[3]));
    }
    panic!("the demo has objects");
}

fn answer(engine: &Engine, token: u64) -> (Vec<(Mask, f32)>, Vec<String>) {
    let (began, mut stages) = (Instant::now(), Vec::new());
    loop {
        match engine.events().recv_timeout(Duration::from_secs(300)).unwrap() {
            Event::Prompt(PromptEvent::Stage { token: of, words }) if of == token => stages.push(words),
            Event::Prompt(PromptEvent::Answered { token: of, result }) if of == token => return (result.unwrap(), stages),
            _ => assert!(began.elapsed() < Duration::from_secs(300)),
        }
    }
}

#[test]
fn a_box_gives_a_mask_of_the_thing_in_it_from_an_embedding_that_is_made_once() {
    let (picture, rect) = object();
    let engine = Engine::start(Arc::new(|| {})).unwrap();
    let out = Size::new(448, 448);
    let ask = |token, points: Vec<(Point<_>, bool)>, rect| {
        engine.send(Request::Prompt(PromptRequest {
            token,
            picture: picture.clone(),
            models: ModelSource::Demo,
            device: DevicePreference::CPU,
            points,
            rect,
            out,
        }));
        answer(&engine, token)
    };
    let (by_box, stages) = ask(1, Vec::new(), Some(rect));
    assert!(stages.iter().any(|words| words == "looking at the picture"), "{stages:?}");
    assert_eq!((by_box.len(), by_box[0].0.size()), (1, out));
    let (mask, boxed) = (&by_box[0].0, Mask::from_fn(out, |x, y| rect.contains(Point::new(x as f32 + 0.5, y as f32 + 0.5))));
    let iou = mask.iou(&boxed).unwrap();
    assert!(iou > 0.5, "the mask of the box's thing overlaps its box by {iou:.2} only");
    // The second question about the same picture does not look at it again.
    let (by_point, stages) = ask(2, vec![(rect.center(), true)], None);
    assert!(!stages.iter().any(|words| words == "looking at the picture"), "{stages:?}");
    assert!(!by_point.is_empty() && by_point.windows(2).all(|pair| pair[0].1 >= pair[1].1), "best first");
}

#[test]
fn a_picture_that_is_gone_is_named() {
    let engine = Engine::start(Arc::new(|| {})).unwrap();
    engine.send(Request::Prompt(PromptRequest {
        token: 9,
        picture: "nowhere/gone.png".into(),
        models: ModelSource::Demo,
        device: DevicePreference::CPU,
        points: vec![(Point::new(1.0, 1.0), true)],
        rect: None,
        out: Size::new(8, 8),
    }));
    loop {
        if let Event::Prompt(PromptEvent::Answered { token: 9, result }) = engine.events().recv_timeout(Duration::from_secs(300)).unwrap() {
            let why = result.unwrap_err();
            assert!(why.contains("gone.png"), "{why}");
            return;
        }
    }
}
