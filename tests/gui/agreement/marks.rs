//! The marks of the plot: what pointing at one tells, and that a hundred thousand of them are still quick.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use editscope::domain::Parse;
use editscope::editor::{Cell, EditDetails, Flags, Row, RowId};
use editscope::engine::evidence::Gathered;
use editscope::gui::agreement::{AgreementEvent, AgreementRequest, Cloud, CloudPoint, EvidenceJob, nothing_kept};
use editscope::gui::command::Command;
use editscope::gui::state::Page;
use editscope::gui::store::{Keeper, Shown, Store, StoreInfo};
use editscope::stats::comparison::{OVERALL, Subject};
use editscope::storage::EditId;
use egui::Event;
use egui_kittest::kittest::Queryable as _;

use crate::support::{Setup, Window};

use super::{drag, page};

/// The mark that is furthest from all others, so that pointing at it means no other one; not the selected edit's.
fn loneliest(cloud: &Cloud, selected: Option<RowId>) -> CloudPoint {
    let [x, y, _] = cloud.ends;
    let apart =
        |a: &CloudPoint, b: &CloudPoint| ((a.human - b.human) / (x[1] - x[0])).powi(2) + ((a.value - b.value) / (y[1] - y[0])).powi(2);
    let alone = |point: &CloudPoint| {
        cloud.points.iter().filter(|other| other.row != point.row).map(|other| apart(point, other)).fold(f64::MAX, f64::min)
    };
    let others = cloud.points.iter().filter(|point| Some(point.row) != selected);
    *others.max_by(|a, b| alone(a).total_cmp(&alone(b))).expect("there are marks")
}

#[test]
fn pointing_at_a_mark_shows_its_pair_with_its_numbers() {
    let mut window = page();
    let cloud = window.state().agreement.cloud.clone().expect("points");
    let point = loneliest(&cloud, window.state().queue.selected());
    let row = window.state().queue.row(point.row).expect("its row").clone();
    let hint = "Click opens the edit in the canvas. Drag a rectangle to pick edits.";
    let numbers = format!("BPM {:.3} · people {:.2} · places apart {:.0} %", point.value, point.human, point.gap.abs() * 100.0);
    assert!(window.harness.query_by_label(hint).is_none() && window.harness.query_by_label_contains(&numbers).is_none());
    let mark = window.harness.get_by_label(&format!("mark {} · {}", row.instruction, row.model)).rect().center();
    window.harness.hover_at(mark);
    // A tooltip waits until the pointer stands still.
    (0..60).for_each(|_| window.harness.step());
    window.harness.get_by_label(hint);
    window.harness.get_by_label_contains(&numbers);
    window.harness.get_by_label(&format!("{} · {}", row.model, row.item));
    // Away from all marks there is nothing to tell.
    window.harness.remove_cursor();
    (0..10).for_each(|_| window.harness.step());
    assert!(window.harness.query_by_label(hint).is_none());
}

/// A project of very many edits with one metric and one criterion; it knows nothing else.
struct Many {
    rows: Vec<Row>,
    inner: crate::support::SampleStore,
}

/// Human mean and value of an edit: two numbers that wander over their ranges without following each other.
fn numbers_of(edit: usize) -> [f64; 2] {
    let spread = |step: usize, of: usize| (edit * step % of) as f64 / of as f64;
    [1.0 + 4.0 * spread(7919, 997), 2.0 * spread(104_729, 99_991)]
}

impl Many {
    fn new(edits: usize) -> Self {
        let folder = crate::support::demo_folder();
        let mut inner = crate::support::SampleStore::new(&folder, 4, true, Arc::<Mutex<_>>::default(), Default::default());
        let sample = inner.rows(&Shown::default()).expect("the demo").remove(0);
        let row = |edit: usize| Row {
            id: RowId(edit as i64 + 1),
            item: format!("item {}", edit / 4).as_str().into(),
            model: format!("model {}", edit % 4).as_str().into(),
            overall: Cell::Value(numbers_of(edit)[1]),
            flags: Flags::NONE,
            ..sample.clone()
        };
        Self { rows: (0..edits).map(row).collect(), inner }
    }
}

impl Store for Many {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        self.inner.open(path)
    }

    fn rows(&mut self, _shown: &Shown) -> Result<Vec<Row>, String> {
        Ok(self.rows.clone())
    }

    fn details(&mut self, id: RowId, shown: &Shown) -> Result<EditDetails, String> {
        Ok(EditDetails { id, ..self.inner.details(RowId(1), shown)? })
    }

    fn save_parse(&mut self, _id: RowId, _parse: &Parse, _who: &str) -> Result<(), String> {
        Err("not in this test".to_owned())
    }

    fn export(&mut self, _to: &Path, _shown: &Shown) -> Result<String, String> {
        Err("not in this test".to_owned())
    }

    fn agreement(&mut self, request: AgreementRequest) -> AgreementEvent {
        let AgreementRequest::Source(_) = request else { return nothing_kept(request) };
        let names: Vec<(String, String)> = self.rows.iter().map(|row| (row.item.to_string(), row.model.to_string())).collect();
        AgreementEvent::Source(Ok(EvidenceJob(Arc::new(move |_| {
            let mut gathered = Gathered::new("many".into());
            for (edit, (item, model)) in names.iter().cloned().enumerate() {
                let [human, value] = numbers_of(edit);
                let one = |value: f64| BTreeMap::from([(OVERALL.to_owned(), value)]);
                gathered.evidence.subjects.push(Subject { item, model, metrics: one(value), human: one(human), ..Subject::default() });
                gathered.edits.push(EditId(edit as i64 + 1));
            }
            gathered.evidence.metrics.push(OVERALL.to_owned());
            gathered.finish(&[], None).map_err(|error| error.to_string())
        }))))
    }

    fn keeper(&mut self) -> Box<dyn Keeper> {
        self.inner.keeper()
    }
}

#[test]
fn the_page_works_with_100_000_marks() {
    const EDITS: usize = 100_000;
    let mut window = Window::with_store(Setup { edits: EDITS, ..Setup::default() }, Box::new(Many::new(EDITS)));
    let shortcut = Command::PageAgreement.shortcut().expect("it has a key");
    window.harness.key_press_modifiers(shortcut.modifiers, shortcut.logical_key);
    let began = Instant::now();
    while window.state().agreement.cloud.is_none() {
        assert!(began.elapsed().as_secs() < 60, "the points are placed while the rest is still being compared");
        window.harness.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let cloud = window.state().agreement.cloud.clone().expect("points");
    assert_eq!((cloud.points.len(), cloud.left_out), (EDITS, 0));
    let [human, value] = numbers_of(70_000);
    assert_eq!((cloud.points[70_000].row, cloud.points[70_000].human, cloud.points[70_000].value), (RowId(70_001), human, value));
    // So many marks are not named one by one: the tree of names stays small.
    let instruction = window.state().queue.rows()[0].instruction.to_string();
    assert!(window.harness.query_all_by_label_contains(&format!("mark {instruction}")).next().is_none());
    // Pointing about, with `--nocapture` for the figure; how long it takes is no test, since machines differ.
    let frame = window.harness.get_by_label("Plot").rect();
    let mut millis: Vec<f64> = (0..60)
        .map(|step| {
            window.harness.event(Event::PointerMoved(frame.min + egui::vec2(60.0 + step as f32, 60.0 + step as f32 * 0.7)));
            let began = Instant::now();
            window.harness.step();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    millis.sort_by(f64::total_cmp);
    println!("pointing about among {EDITS} marks: the middle frame takes {:.1} ms", millis[30]);
    // A rectangle over the right half parts the edits by people.
    window.settle_within(std::time::Duration::from_secs(240));
    let (from, to) = (egui::pos2(frame.center().x, frame.top() + 4.0), egui::pos2(frame.right() - 2.0, frame.bottom() - 4.0));
    drag(&mut window, from, to);
    let picked = window.state().queue.filter().picked.clone().expect("a pick");
    let inside = |point: &&CloudPoint| picked.rows.contains(&point.row);
    let least = cloud.points.iter().filter(inside).map(|point| point.human).fold(f64::MAX, f64::min);
    let greatest = cloud.points.iter().filter(|point| !inside(point)).map(|point| point.human).fold(f64::MIN, f64::max);
    assert!(least > greatest, "{least} {greatest}");
    assert!(picked.rows.len() > EDITS / 4 && picked.rows.len() < EDITS * 3 / 4, "{}", picked.rows.len());
    assert_eq!(window.state().queue.shown().len(), picked.rows.len());
    assert_eq!(window.state().page, Page::Agreement);
}
