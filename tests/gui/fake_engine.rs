//! An engine for tests: it decodes pictures for real, and hands out scores that were made before.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use editscope::domain::{Mask, Point, Score, Size};
use editscope::editor::RowId;
use editscope::engine::audit::{AuditEvent, AuditRequest, PastedBack, Sensitivity};
use editscope::engine::{
    CanvasEvent, CanvasRequest, Event, Partial, Pending, PictureToken, Pixels, PromptEvent, PromptRequest, Request, RunToken,
};
use editscope::gui::engine_link::EngineLink;
use editscope::imaging::decode::{DecodeOptions, decode};
use editscope::storage::EditId;

use super::sample_store::Scores;

/// An engine that decodes for real and "scores" what it is told.
pub struct FakeEngine {
    pub events: Rc<RefCell<VecDeque<Event>>>,
    pub tokens: Cell<u64>,
    pub scores: Scores,
    pub asked: Rc<RefCell<Vec<String>>>,
    /// What questions about one edit are answered with.
    pub audit: Rc<RefCell<AuditAnswers>>,
    pub corrected: Scores,
    pub pictures: Rc<RefCell<PicturesAsked>>,
}

/// The pictures that the canvas asked for, in their order.
#[derive(Default)]
pub struct PicturesAsked {
    /// With whether it was asked for ahead of being looked at.
    pub paths: Vec<(PathBuf, bool)>,
    /// Nothing is answered until `Window::let_pictures_go`.
    pub hold: bool,
    pub held: Vec<CanvasRequest>,
    /// Whose files were to be looked at; `None`: all.
    pub checked: Vec<Option<EditId>>,
}

/// What the engine answers when it is asked about one edit.
#[derive(Default)]
pub struct AuditAnswers {
    /// The score after correction; modify comes late.
    pub corrected: Option<Score>,
    pub sensitivity: Option<Sensitivity>,
    pub pasted: Option<PastedBack>,
    /// Late answers, let go by `Window::let_go`.
    pub held: VecDeque<Event>,
}

impl FakeEngine {
    fn audit(&self, request: AuditRequest) {
        let mut answers = self.audit.borrow_mut();
        let mut events = self.events.borrow_mut();
        match request {
            AuditRequest::Rescore(ask) => {
                let Some(score) = answers.corrected.clone() else {
                    let why = "no answer in this test".to_owned();
                    events.push_back(Event::Audit(AuditEvent::Failed { ticket: ask.ticket, edit: ask.edit, why }));
                    return;
                };
                let told = |score: Score, pending, kept| {
                    let partial = Arc::new(Partial { score, pending, mask_in_bpm500: None });
                    Event::Audit(AuditEvent::Rescored { ticket: ask.ticket, edit: ask.edit, partial, millis: 12.0, kept })
                };
                events.push_back(told(score.clone(), Pending { modify: true, ..Pending::default() }, false));
                self.corrected.lock().unwrap().insert(RowId(ask.edit.0), Arc::new(score.clone()));
                answers.held.push_back(told(score, Pending::default(), true));
            }
            AuditRequest::Sensitivity { ask, .. } => {
                let result = answers.sensitivity.clone().map(Arc::new).ok_or_else(|| "no answer in this test".to_owned());
                events.push_back(Event::Audit(AuditEvent::Sensitivity { ticket: ask.ticket, edit: ask.edit, result }));
            }
            AuditRequest::PasteBack { ask, .. } => {
                let result = answers.pasted.clone().map(Arc::new).ok_or_else(|| "no answer in this test".to_owned());
                events.push_back(Event::Audit(AuditEvent::PastedBack { ticket: ask.ticket, edit: ask.edit, result }));
            }
        }
    }
}

impl EngineLink for FakeEngine {
    fn send(&self, request: Request) {
        let mut events = self.events.borrow_mut();
        match request {
            Request::Picture(token, request) => {
                events.push_back(Event::PictureReady { token, result: pixels(&request.path, request.max_side) });
            }
            // Looking for motions takes longest and is tested with the real engine.
            Request::Canvas(CanvasRequest::Register { token, .. }) => {
                events.push_back(Event::Canvas(CanvasEvent::Registered { token, found: None }));
            }
            Request::Canvas(request @ CanvasRequest::Picture { .. }) => {
                let mut pictures = self.pictures.borrow_mut();
                if let CanvasRequest::Picture { path, ahead, .. } = &request {
                    pictures.paths.push((path.clone(), *ahead));
                }
                if pictures.hold {
                    pictures.held.push(request);
                } else {
                    events.push_back(Event::Canvas(editscope::engine::pictures::answer(request)));
                }
            }
            Request::Canvas(request) => events.push_back(Event::Canvas(editscope::engine::pictures::answer(request))),
            Request::ForgetPictures | Request::LookForPictures { .. } => {}
            Request::CheckPictures { edit, .. } => self.pictures.borrow_mut().checked.push(edit),
            Request::Score(run, request) => {
                self.asked.borrow_mut().push(format!("score {:?}", request.edits));
                let mut scores = self.scores.lock().unwrap();
                let total = scores.len();
                events.push_back(Event::RunStarted { run, total, already: 0, device: "CPU".into(), models: "demo".into() });
                for (row, score) in scores.iter() {
                    events.push_back(Event::EditScored { run, edit: EditId(row.0), score: Arc::clone(score), seconds: 0.1 });
                }
                let marker = scores.values().next().cloned();
                scores.extend(marker.map(|score| (RowId(0), score)));
                events.push_back(Event::Progress { run, done: total, failed: 0, total, seconds: 9.6, current: "last".into() });
                events.push_back(Event::RunFinished { run, done: total, failed: 0, cancelled: false, seconds: 9.6 });
            }
            Request::Prompt(prompt) => {
                self.asked.borrow_mut().push(format!("prompt {} points", prompt.points.len()));
                let answered = PromptEvent::Answered { token: prompt.token, result: Ok(proposed(&prompt)) };
                events.push_back(Event::Prompt(answered));
            }
            Request::Audit(request) => {
                drop(events);
                self.audit(request);
            }
            Request::Import(import) => self.asked.borrow_mut().push(format!("import {}", import.data.display())),
            Request::Table(request) => events.push_back(Event::Table(editscope::engine::opinions::answer(&request))),
            other => self.asked.borrow_mut().push(format!("{other:?}")),
        }
    }

    fn try_next(&self) -> Option<Event> {
        self.events.borrow_mut().pop_front()
    }

    fn new_run(&self) -> RunToken {
        self.tokens.set(self.tokens.get() + 1);
        RunToken(self.tokens.get())
    }

    fn new_picture(&self) -> PictureToken {
        self.tokens.set(self.tokens.get() + 1);
        PictureToken(self.tokens.get())
    }
}

/// The box as a mask, or discs around the first point: three for a single point, as a segmenter answers.
fn proposed(prompt: &PromptRequest) -> Vec<(Mask, f32)> {
    if let Some(rect) = prompt.rect {
        return vec![(Mask::from_fn(prompt.out, |x, y| rect.contains(Point::new(x as f32, y as f32))), 0.9)];
    }
    let at = prompt.points[0].0;
    let disc = |radius: f32| Mask::from_fn(prompt.out, |x, y| (x as f32 - at.x).hypot(y as f32 - at.y) <= radius);
    let count = if prompt.points.len() == 1 { 3 } else { 1 };
    (1..=count).map(|n| (disc(10.0 * n as f32), 1.0 - 0.1 * n as f32)).collect()
}

fn pixels(path: &Path, max_side: Option<u32>) -> Result<Arc<Pixels>, String> {
    let rgb = decode(path, &DecodeOptions::default()).map_err(|error| error.to_string())?.rgb;
    let full_size = Size::new(rgb.width(), rgb.height());
    let rgb = match max_side {
        Some(side) if side < 1000 => image::imageops::thumbnail(&rgb, side, side),
        _ => rgb,
    };
    Ok(Arc::new(Pixels { size: Size::new(rgb.width(), rgb.height()), full_size, rgb: rgb.into_raw(), notes: Vec::new() }))
}
