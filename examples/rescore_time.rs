//! How long a score takes to follow a correction, at 1024×1024: `cargo run --release --example rescore_time`.
//!
//! A project of the demo's first item, its pictures enlarged to 1024×1024, is scored once; then the engine is asked to follow four kinds of
//! correction, as the window asks it, and the time from the request to the first answer is printed (median and worst of ten).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use editscope::domain::rle::Rle;
use editscope::domain::{Mask, Parse, ParseOrigin, Profile, Rect, Region, RegionOrigin, RegionRole, RegionShape, Side, Size};
use editscope::engine::audit::{Ask, AuditEvent, AuditRequest};
use editscope::engine::{
    BaselineChoice, DevicePreference, Engine, Event, ModelSource, NetworkSlot, Partial, Request, Run, RunToken, ScoreRequest, evaluate,
    files,
};
use editscope::storage::{EditId, Project};

const SIDE: u32 = 1024;
const TIMES: usize = 10;
const PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = scored_project(folder.path())?;
    let project = Project::open(&path)?;
    let edit = project.edits()?.first().context("the demo has edits")?.id;
    let item = project.edit(edit)?.item;
    let parse = project.item(item)?.parse.context("the demo's instructions are parsed")?;
    let engine = Engine::start(Arc::new(|| {}))?;
    let mut ticket = 0;
    let mut follow = |what: &str, correct: &dyn Fn(usize) -> anyhow::Result<()>| -> anyhow::Result<()> {
        let mut millis = Vec::new();
        let mut pending = String::new();
        for round in 0..TIMES {
            // A person's pause: the other edits of the item, whose scores a parse touches too, are scored meanwhile, one after another.
            std::thread::sleep(PAUSE);
            correct(round)?;
            ticket += 1;
            let (took, first) = ask(&engine, &path, edit, ticket)?;
            millis.push(took);
            pending = waiting(&first);
        }
        millis.sort_by(f64::total_cmp);
        println!("{what:<44} median {:>6.1} ms   worst {:>6.1} ms   {pending}", millis[TIMES / 2], millis[TIMES - 1]);
        Ok(())
    };
    let size = Size::new(SIDE, SIDE);
    let by_hand = |side, role, shape| Region { side, role, origin: RegionOrigin::Person, shape, label: "by hand".into(), confidence: None };
    let mask = |round: usize| {
        let drawn = Mask::from_fn(size, |x, y| (x as i64 - 500).pow(2) + (y as i64 - 500).pow(2) < (200 + round as i64).pow(2));
        by_hand(Side::Edit, RegionRole::EditMask, RegionShape::Mask(Rle::from_mask(&drawn)))
    };
    let moved = |round: usize| {
        let x = 300.0 + round as f32;
        by_hand(Side::Edit, RegionRole::Edited, RegionShape::Box(Rect::new(x, 300.0, x + 300.0, 600.0)))
    };
    println!("from a correction to the first answer, pictures of {size}, {TIMES} times each:");
    follow("a drawn mask", &|round| Ok(project.set_regions(edit, Side::Edit, &[mask(round)], "bench", "mask")?))?;
    follow("a moved box, with a drawn mask", &|round| {
        Ok(project.set_regions(edit, Side::Edit, &[mask(0), moved(round)], "bench", "box")?)
    })?;
    follow("another relation in the parse", &|round| {
        let position = if round % 2 == 0 { "left" } else { "right" };
        let corrected = Parse { position: position.into(), origin: ParseOrigin::Person, ..parse.clone() };
        Ok(project.set_parse(item, &corrected, "bench")?)
    })?;
    follow("a moved box, the mask left to the segmenter", &|round| {
        Ok(project.set_regions(edit, Side::Edit, &[moved(100 + round)], "bench", "box")?)
    })
}

fn waiting(partial: &Partial) -> String {
    let waits: Vec<&str> = ["size", "position", "modify", "preserve"].into_iter().filter(|part| partial.pending.has(part)).collect();
    if waits.is_empty() { "all parts".to_owned() } else { format!("in the background: {}", waits.join(", ")) }
}

/// Milliseconds until the first answer, and what it was; returns when the score is kept.
fn ask(engine: &Engine, project: &Path, edit: EditId, ticket: u64) -> anyhow::Result<(f64, Arc<Partial>)> {
    let began = Instant::now();
    engine.send(Request::Audit(AuditRequest::Rescore(Ask {
        ticket,
        project: project.to_owned(),
        edit,
        profile: Profile::Corrected,
        models: ModelSource::Demo,
        device: DevicePreference::CPU,
    })));
    let mut first = None;
    loop {
        match engine.events().recv_timeout(Duration::from_secs(120))? {
            Event::Audit(AuditEvent::Rescored { edit: of, partial, kept, .. }) if of == edit => {
                let first = first.get_or_insert_with(|| (began.elapsed().as_secs_f64() * 1e3, partial));
                if kept {
                    return Ok((first.0, Arc::clone(&first.1)));
                }
            }
            Event::Audit(AuditEvent::Failed { why, .. }) => bail!("{why}"),
            _ => {}
        }
    }
}

/// The demo's first item at 1024×1024, scored by the demo's networks.
fn scored_project(folder: &Path) -> anyhow::Result<std::path::PathBuf> {
    let demo = folder.join("demo");
    files::make_demo(&demo)?;
    let small = Project::open(&demo.join(files::DEMO_PROJECT))?;
    let item = small.items()?.into_iter().next().context("the demo has items")?;
    let enlarge = |from: &Path, name: &str| -> anyhow::Result<()> {
        let picture = image::open(from)?.resize_exact(SIDE, SIDE, image::imageops::FilterType::CatmullRom);
        Ok(picture.save(folder.join(name))?)
    };
    enlarge(&item.source.path, "source.png")?;
    let mut lines = String::new();
    for (index, edit) in small.edits_of(item.id)?.iter().enumerate() {
        enlarge(&edit.picture.path, &format!("edit{index}.png"))?;
        let line = serde_json::json!({"id": format!("e{index}"), "item": "i", "source": "source.png", "instruction": item.instruction,
            "edited": format!("edit{index}.png"), "model": edit.model, "parse": item.parse});
        lines.push_str(&format!("{line}\n"));
    }
    std::fs::write(folder.join("manifest.jsonl"), lines)?;
    let path = folder.join("large.editscope");
    files::import(&folder.join("manifest.jsonl"), &path, None)?;
    let request = ScoreRequest {
        project: path.clone(),
        edits: None,
        models: ModelSource::Demo,
        profile: Profile::Corrected,
        device: DevicePreference::CPU,
        range: None,
        rescore: false,
        baselines: BaselineChoice::None,
    };
    let mut run = Run { token: RunToken(1), request: &request, cancelled: &|| false, emit: &mut |_| {}, between: &mut |_| {} };
    evaluate(&Project::open(&path)?, &mut NetworkSlot::default(), &mut run)?;
    Ok(path)
}
