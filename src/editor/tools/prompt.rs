//! Points and a box for the segmenter, and what it proposes for them.

use std::sync::Arc;

use super::{Done, Sketch, Tools};
use crate::domain::{ImageSpace, Mask, Point, Rect, Side};
use crate::editor::regions::{Author, NotChanged};

/// What [`Tools::take_back`] took back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// Nothing was being drawn.
    Nothing,
    /// A gesture, a corner, or the first point.
    Drawn,
    /// A point or a box; the segmenter is to be asked about those that are left.
    Point,
}

/// A point that the segmenter is told about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMark {
    /// On the canvas.
    pub at: Point<ImageSpace>,
    /// It belongs to the thing, or it does not.
    pub inside: bool,
}

/// What the segmenter is doing.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum PromptStage {
    #[default]
    Waiting,
    /// In words: "looking at the picture" and the like.
    Working(String),
    Ready,
    Failed(String),
}

/// A mask that a network suggests, before a person accepts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// At the size of the source.
    pub mask: Arc<Mask>,
    /// The network's own estimate of how well the mask fits (IoU), in `0..=1`.
    pub quality: f32,
}

/// What a person has told the segmenter about one picture, and its answer so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// On which picture the points lie.
    pub side: Side,
    pub points: Vec<PointMark>,
    /// On the canvas.
    pub rect: Option<Rect<ImageSpace>>,
    /// The points and the box before each of them was set, oldest first.
    before: Vec<(Vec<PointMark>, Option<Rect<ImageSpace>>)>,
    /// Which question this is; answers to older ones are dropped.
    pub token: u64,
    pub stage: PromptStage,
    /// The alternatives, best first; a single point is ambiguous and gets several.
    pub proposals: Vec<Proposal>,
    /// Which of them is shown.
    pub chosen: usize,
}

impl Prompt {
    /// Nothing said yet about one picture.
    pub const fn new(side: Side) -> Self {
        Self {
            side,
            points: Vec::new(),
            rect: None,
            before: Vec::new(),
            token: 0,
            stage: PromptStage::Waiting,
            proposals: Vec::new(),
            chosen: 0,
        }
    }

    /// Tells about one more point.
    pub fn add(&mut self, mark: PointMark) {
        self.before.push((self.points.clone(), self.rect));
        self.points.push(mark);
    }

    /// Tells about a box, in place of an earlier one.
    pub fn set_rect(&mut self, rect: Rect<ImageSpace>) {
        self.before.push((self.points.clone(), self.rect));
        self.rect = Some(rect);
    }

    /// Takes the newest point or box back; whether anything is left to ask about.
    fn take_back(&mut self) -> bool {
        let Some((points, rect)) = self.before.pop() else { return false };
        (self.points, self.rect) = (points, rect);
        !self.points.is_empty() || self.rect.is_some()
    }

    /// The proposal that is shown.
    pub fn proposal(&self) -> Option<&Proposal> {
        self.proposals.get(self.chosen)
    }

    /// Takes in an answer; one to an older question is dropped.
    pub fn answer(&mut self, token: u64, result: Result<Vec<Proposal>, String>) {
        if token != self.token {
            return;
        }
        match result {
            Ok(proposals) => {
                self.stage = PromptStage::Ready;
                self.chosen = 0;
                self.proposals = proposals;
            }
            Err(why) => self.stage = PromptStage::Failed(why),
        }
    }
}

impl Tools {
    /// The prompt of a side; one of the other side is dropped.
    pub fn prompt_on(&mut self, side: Side) -> &mut Prompt {
        if self.prompt.as_ref().is_some_and(|prompt| prompt.side != side) {
            self.prompt = None;
        }
        self.prompt.get_or_insert_with(|| Prompt::new(side))
    }

    /// Takes back the newest piece of what is being drawn and is no change yet: the whole gesture while the pointer draws, the last corner of
    /// a polygon, the last point or box for the segmenter.
    pub fn take_back(&mut self) -> TakenBack {
        if matches!(self.sketch, Some(Sketch::Polygon { .. })) {
            self.drop_corner();
            return TakenBack::Drawn;
        }
        self.revision += 1;
        if self.sketch.take().is_some() {
            return TakenBack::Drawn;
        }
        let Some(prompt) = &mut self.prompt else { return TakenBack::Nothing };
        if prompt.take_back() {
            return TakenBack::Point;
        }
        self.prompt = None;
        TakenBack::Drawn
    }

    /// Shows the next of the alternatives.
    pub fn next_proposal(&mut self) {
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.proposals.is_empty()) {
            prompt.chosen = (prompt.chosen + 1) % prompt.proposals.len();
            self.revision += 1;
        }
    }

    /// Adds the proposal to the mask (or takes it away): one change. The prompt is done with.
    ///
    /// # Errors
    /// When there is no proposal yet, nothing changes, or a conflict is not settled.
    pub fn accept_proposal(&mut self, author: &Author) -> Done {
        let prompt = self.prompt.as_ref().ok_or(NotChanged::Nothing)?;
        let proposed = prompt.proposal().ok_or_else(|| NotChanged::Because("there is no proposal yet".into()))?;
        let (proposed, options) = (Arc::clone(&proposed.mask), self.options);
        let document = self.document.as_mut().ok_or(NotChanged::Nothing)?;
        let (target, mut mask) = document.mask_to_paint(options.mask_role);
        let fits = if options.subtract { mask.subtract(&proposed) } else { mask.union_with(&proposed) };
        if !fits {
            return Err(NotChanged::Because(format!("the proposal is {}, the source {}", proposed.size(), mask.size())));
        }
        let what = if options.subtract { "took a proposal away" } else { "accepted a proposal" };
        let done = document.paint(options.mask_role, target, mask, what, author).map_err(|error| match error {
            NotChanged::Nothing if options.subtract => {
                NotChanged::Because("The proposal and the mask have no pixel in common: nothing was taken away.".into())
            }
            error => error,
        });
        self.prompt = None;
        self.revision += 1;
        done
    }
}
