//! What correcting regions costs on masks of 8193×8193 pixels, printed: `cargo bench --bench regions`, or `figures_at_8193` of the tests.
//!
//! "window" is time on the window's thread, which has 16 ms for a frame: the whole of a stroke, of an undo, and of a lasso; of an operation
//! on a whole mask the preparation and the taking in of its result. "worker" is what such an operation takes on its own thread, "journal"
//! what the thread that writes to the disk takes for the difference as JSON, without the disk.

use std::sync::Arc;
use std::time::Instant;

use editscope::domain::regions::{Area, KeptRegion, RegionFacts, RegionId, RegionStream};
use editscope::domain::rle::Rle;
use editscope::domain::{ImageSpace, Mask, Point, RegionOrigin, RegionRole, Side, Size};
use editscope::editor::RowId;
use editscope::editor::regions::{Author, LoadedSide, MaskOp, RegionDocument};
use editscope::editor::tools::{Tool, ToolOptions, Tools};

const SIZE: Size = Size::new(8193, 8193);
const ROUNDS: usize = 15;

fn author() -> Author {
    Author { who: "bench".into(), at_millis: 0 }
}

/// A document whose edit mask is `mask`.
fn document(mask: &Mask) -> RegionDocument {
    let nothing = [Side::Source, Side::Edit].map(|side| LoadedSide { stream: RegionStream::unspoken(side), entries: Vec::new(), older: 0 });
    let mut document = RegionDocument::new(RowId(1), SIZE, SIZE, nothing);
    document.paint(RegionRole::EditMask, None, mask.clone(), "began", &author()).expect("the mask has the size of the source");
    // As if it were on disk.
    let written = document.next_to_write(0.0).len();
    document.written(written);
    document
}

/// A disc with a hole of 8 pixels and a speck of 4 pixels in every square of 64: 8,000 runs of a simple mask, 60,000 of a hard one.
fn blob() -> Mask {
    Mask::from_fn(SIZE, |x, y| {
        let inside = x.abs_diff(4096).pow(2) + y.abs_diff(4096).pow(2) < 3000 * 3000;
        let (u, v) = (x % 64, y % 64);
        if inside { !(u < 4 && v < 2) } else { u < 2 && v < 2 }
    })
}

/// Every second pixel: the most runs that a mask can have.
fn checkered() -> Mask {
    Mask::from_fn(SIZE, |x, y| (x + y).is_multiple_of(2))
}

/// A document whose edit mask a network found: the first change takes it over.
fn found(mask: &Mask) -> RegionDocument {
    let mut document = document(&Mask::from_fn(SIZE, |x, y| x == 0 && y == 0));
    document.undo(&author()).expect("the mask of one pixel");
    let facts = RegionFacts { role: RegionRole::EditMask, origin: RegionOrigin::Segmenter, name: "edit mask".into(), confidence: None };
    let id = RegionId::automatic(RegionRole::EditMask, 0);
    document.set_automatic([Vec::new(), vec![KeptRegion { id, facts, area: Area::Mask(Arc::new(mask.clone())) }]]);
    document
}

struct Times(Vec<f64>);

impl Times {
    fn add<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = work();
        self.0.push(began.elapsed().as_secs_f64() * 1e3);
        result
    }

    /// Median and greatest, in milliseconds.
    fn text(mut self) -> String {
        self.0.sort_by(f64::total_cmp);
        match (self.0.get(self.0.len() / 2), self.0.last()) {
            (Some(median), Some(most)) => format!("{median:8.1} {most:8.1}"),
            _ => format!("{:>17}", "-"),
        }
    }
}

/// Writes the newest change as the journal does, but to no disk.
fn write(document: &mut RegionDocument, journal: &mut Times) {
    let mut entries = document.next_to_write(0.0);
    document.written(entries.len());
    if let Some(entry) = entries.pop() {
        journal.add(|| serde_json::to_string(&entry.change)).expect("plain data");
    }
}

fn operation(name: &str, mask: &Mask, op: MaskOp) {
    let (mut window, mut worker, mut journal) = (Times(Vec::new()), Times(Vec::new()), Times(Vec::new()));
    for _ in 0..ROUNDS {
        let mut document = document(mask);
        let prepared = Instant::now();
        let job = document.mask_job(RegionRole::EditMask, op).expect("there is one mask");
        let preparing = prepared.elapsed().as_secs_f64() * 1e3;
        let done = worker.add(|| job.run());
        // An operation that changes nothing is timed too.
        let _ = window.add(|| document.finish_mask_job(done, &author()));
        if let Some(last) = window.0.last_mut() {
            *last += preparing;
        }
        write(&mut document, &mut journal);
    }
    println!("{name:34} {}   {}   {}", window.text(), worker.text(), journal.text());
}

fn gesture(name: &str, begin_with: impl Fn() -> RegionDocument, tool: Tool, corners: &[(f32, f32)]) {
    let [mut begin, mut end, mut undo, mut redo, mut journal] = [(); 5].map(|()| Times(Vec::new()));
    let path: Vec<Point<ImageSpace>> = corners.iter().map(|(x, y)| Point::new(*x, *y)).collect();
    for _ in 0..ROUNDS {
        let options = ToolOptions { brush_px: 101, ..ToolOptions::default() };
        let mut tools = Tools { tool, options, document: Some(begin_with()), ..Tools::default() };
        begin.add(|| tools.press(Side::Edit, path[0], 1.0, false));
        begin.add(|| tools.drag(&path[1..]));
        end.add(|| tools.release(&author())).expect("the gesture changes pixels");
        let document = tools.document.as_mut().expect("set above");
        write(document, &mut journal);
        undo.add(|| document.undo(&author())).expect("there is one change");
        redo.add(|| document.redo(&author())).expect("it was undone");
    }
    println!("{:34} {}", format!("{name}, drawing"), begin.text());
    println!("{:34} {}   {:17}   {}", format!("{name}, letting go"), end.text(), "", journal.text());
    println!("{:34} {}", format!("{name}, undo"), undo.text());
    println!("{:34} {}", format!("{name}, redo"), redo.text());
}

pub fn main() {
    println!(
        "Milliseconds at 8193×8193, median and greatest of {ROUNDS}\n{:34} {:>17}   {:>17}   {:>17}",
        "", "window", "worker", "journal"
    );
    let mut stored = Times(Vec::new());
    let mask = blob();
    for _ in 0..ROUNDS {
        let rle = stored.add(|| Rle::from_mask(&mask));
        stored.add(|| rle.to_mask()).expect("written by this program");
    }
    println!("{:34} {}", "disc with holes: to RLE, or back", stored.text());
    for (shape, mask) in [("disc with holes", blob()), ("checkered", checkered())] {
        let operations = [
            ("fill holes", MaskOp::FillHoles),
            ("remove specks", MaskOp::RemoveSpecks(64)),
            ("dilate by 2", MaskOp::Dilate(2)),
            ("dilate by 50", MaskOp::Dilate(50)),
            ("erode by 2", MaskOp::Erode(2)),
            ("invert", MaskOp::Invert),
            ("clear", MaskOp::Clear),
        ];
        for (name, op) in operations {
            operation(&format!("{shape}: {name}"), &mask, op);
        }
        gesture(&format!("{shape}: brush"), || document(&mask), Tool::Brush, &[(100.0, 100.0), (4000.0, 3000.0), (8000.0, 400.0)]);
        gesture(&format!("{shape}: first stroke"), || found(&mask), Tool::Brush, &[(100.0, 100.0), (4000.0, 3000.0), (8000.0, 400.0)]);
        gesture(
            &format!("{shape}: lasso"),
            || document(&mask),
            Tool::Lasso,
            &[(100.0, 100.0), (8000.0, 400.0), (7000.0, 8000.0), (300.0, 7000.0)],
        );
    }
}
