//! What a project of many edits costs: `cargo run --release --example comparison_time [EDITS]` (100,000 when nothing is said).
//!
//! A project of items with four models' edits each, three raters and two other metrics is made in a temporary folder (its pictures are not
//! there); then the time of each step is printed that a person waits for: opening it in the window, the details of one edit, gathering what the
//! Agreement page compares, and the comparison itself with as many resamples as the window draws and as `agree` draws.

use std::time::Instant;

use anyhow::Context as _;
use editscope::domain::{
    Baselines, CRITERIA, Edit, EditKey, Item, ItemKey, Outcome, Parts, PictureRef, Profile, Random, Rating, Score, Zoned,
};
use editscope::engine::evidence;
use editscope::gui::project_store::ProjectStore;
use editscope::gui::store::{Shown, Store as _};
use editscope::stats::Bootstrap;
use editscope::stats::comparison::{Plan, SPLITS, compare_all};
use editscope::storage::{NewRun, Project, RunKind};

const MODELS: [&str; 4] = ["ddim", "ip2p", "mgie", "turbo"];

fn main() -> anyhow::Result<()> {
    let edits: usize = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse()).context("the number of edits")?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("p.editscope");
    let timed = |what: &str, began: Instant| println!("{what:<64} {:>8.2} s", began.elapsed().as_secs_f64());

    let began = Instant::now();
    make(&path, edits.div_ceil(MODELS.len()))?;
    timed("making the project (all of this, scores and two metrics one by one)", began);

    let began = Instant::now();
    let mut store = ProjectStore::default();
    let said = |why: String| anyhow::anyhow!(why);
    store.open(&path).map_err(said)?;
    let rows = store.rows(&Shown::default()).map_err(said)?;
    timed(&format!("opening it in the window: {} rows of the queue", rows.len()), began);
    let began = Instant::now();
    let looked_at = 20.min(rows.len());
    for row in &rows[..looked_at] {
        store.details(row.id, &Shown::default()).map_err(said)?;
    }
    timed(&format!("the details of {looked_at} edits, one after another"), began);

    let began = Instant::now();
    let gathered = evidence::of_project(&path, Profile::Corrected, None, None)?;
    timed("gathering what is compared", began);
    for (whose, resamples, splits) in [
        ("first numbers of the window", 0, vec!["scope".to_owned()]),
        ("the window", 200, vec!["scope".to_owned()]),
        ("`agree`", 2000, vec!["scope".to_owned()]),
        ("`agree --split all`, no intervals", 0, SPLITS.map(str::to_owned).to_vec()),
    ] {
        let plan = Plan { bootstrap: Bootstrap { resamples, ..Bootstrap::default() }, splits, ..Plan::default() };
        let began = Instant::now();
        let found = compare_all(gathered.about.clone(), &gathered.evidence, &plan);
        timed(&format!("comparing, {whose}: {resamples} resamples, {} lines", found.lines.len()), began);
    }
    Ok(())
}

/// A table of a thousand raters about the first edits, as `import --ratings` takes it.
fn import_many_raters() -> anyhow::Result<()> {
    const RATERS: usize = 1000;
    const EDITS: usize = 96;
    let folder = tempfile::tempdir()?;
    let copy = Project::create(&folder.path().join("raters.editscope"))?;
    let picture = |name: String| PictureRef { path: format!("gone/{name}").into(), given: name };
    let edit = |at: usize| Edit {
        key: EditKey(at.to_string()),
        picture: picture(format!("{at}.png")),
        model: format!("m{at}"),
        ratings: Vec::new(),
        extra: Default::default(),
    };
    let item = Item {
        key: ItemKey("i".into()),
        source: picture("i.png".into()),
        instruction: "make it red".into(),
        parse: None,
        edits: (0..EDITS).map(edit).collect(),
        extra: Default::default(),
    };
    copy.import(&[item])?;
    let edits: Vec<_> = copy.edits()?.into_iter().map(|edit| edit.id).collect();
    let rating = |rater: usize, at: usize| {
        let value = ((rater * 7 + at) % 5 + 1) as f64;
        Rating::new(format!("rater {rater}"), [("overall".to_owned(), value)].into())
    };
    let all: Vec<_> = (0..RATERS).flat_map(|rater| edits.iter().enumerate().map(move |(at, edit)| (*edit, rater, at))).collect();
    let all: Vec<_> = all.into_iter().map(|(edit, rater, at)| (edit, rating(rater, at))).collect();
    for what in ["importing", "importing again"] {
        let began = Instant::now();
        let (new, _) = copy.import_opinions(&all, &[])?;
        let text = format!("{what} {} ratings of {RATERS} raters, {new} new", all.len());
        println!("{text:<64} {:>8.2} s", began.elapsed().as_secs_f64());
    }
    Ok(())
}

/// A project whose scores and ratings follow one hidden quality, so that nothing is degenerate.
fn make(path: &std::path::Path, items: usize) -> anyhow::Result<()> {
    let mut random = Random::new(1);
    let mut unit = move || random.below(1 << 20) as f64 / f64::from(1 << 20);
    let picture = |name: String| PictureRef { path: format!("gone/{name}").into(), given: name };
    let mut quality = Vec::new();
    let mut all = Vec::with_capacity(items);
    for item in 0..items {
        let mut edits = Vec::new();
        for (place, model) in MODELS.iter().enumerate() {
            let good = unit();
            quality.push(good);
            let answer = |noise: f64| (1.0 + 4.0 * (0.7 * good + 0.3 * noise)).round().clamp(1.0, 5.0);
            let rating = |rater: &str, unit: &mut dyn FnMut() -> f64| {
                Rating::new(rater, CRITERIA.iter().map(|criterion| (criterion.name().to_owned(), answer(unit()))).collect())
            };
            edits.push(Edit {
                key: EditKey(format!("{item}/{place}")),
                picture: picture(format!("{item}-{place}.png")),
                model: (*model).to_owned(),
                ratings: ["ann", "bob", "cho"].map(|rater| rating(rater, &mut unit)).to_vec(),
                extra: Default::default(),
            });
        }
        let (key, source) = (ItemKey(item.to_string()), picture(format!("{item}.png")));
        let instruction = format!("make thing {item} red");
        all.push(Item { key, source, instruction, parse: None, edits, extra: Default::default() });
    }
    let project = Project::create(path)?;
    let began = Instant::now();
    project.import(&all)?;
    println!("{:<64} {:>8.2} s", "importing the edits and their ratings, in one transaction", began.elapsed().as_secs_f64());
    import_many_raters()?;
    let run = project.start_run(&NewRun {
        kind: RunKind::Set,
        profile: Profile::Corrected,
        models: "none".into(),
        models_fingerprint: "none".into(),
        device: "none".into(),
        settings: serde_json::Value::Null,
        range: None,
    })?;
    for (edit, good) in project.edits()?.iter().zip(quality) {
        let part = |noise: f64| Outcome::Value(0.6 * good + 0.4 * noise);
        let half = |noise: f64| Outcome::Value((2.0 * (0.5 * good + 0.5 * noise)).round() / 2.0);
        let parts = Parts { size: half(unit()), position: half(unit()), modify: part(unit()), preserve: part(unit()) };
        project.put_score(run, edit.id, &Score::of_parts(Profile::Corrected, false, parts), 0.0)?;
        let metric = |noise: f64| Zoned::uniform(&Outcome::Value(0.3 * good + 0.7 * noise));
        let metrics: Baselines =
            [("ssim", metric(unit())), ("clip-i", metric(unit()))].map(|(name, zoned)| (name.to_owned(), zoned)).into();
        project.put_baselines(run, edit.id, &metrics)?;
    }
    Ok(())
}
