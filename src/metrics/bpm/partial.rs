//! The judgement of a pair from whatever is known: parts that wait for a network are told, the others stand.
//!
//! With networks that answer everything this is the whole metric. With networks that answer from a cache only it is the instant half of
//! a correction: what the correction did not touch is found, what it touched and needs a network is pending.

use crate::domain::{BoxesBySide, Mask, Outcome, Parts, Profile, RegionRole, Score, Size, TraceKind, Triage};
use crate::metrics::ports::{Networks, PortError};

use super::plan::Plan;
use super::{
    Canvases, Located, Overrides, Pair, PairInput, Settings, Trace, localize, mask_of_source, region_judge, semantic_judge, size_of,
};

/// What a judgement waits for, and so which parts have no value yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The detector: size, position and whatever needs a box.
    pub boxes: bool,
    /// The segmenter: preserve.
    pub mask: bool,
    /// The image-text encoder: modify.
    pub modify: bool,
}

impl Pending {
    /// Whether nothing is waited for.
    pub const fn is_none(self) -> bool {
        !self.boxes && !self.mask && !self.modify
    }

    /// Whether the part of that name waits.
    pub fn has(self, part: &str) -> bool {
        match part {
            "size" | "position" => self.boxes,
            "modify" => self.modify,
            "preserve" => self.mask,
            _ => !self.is_none(),
        }
    }
}

/// A score some of whose parts may wait for a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    /// Pending parts are `NotApplicable` with what they wait for; it is not to be kept until nothing is pending.
    pub score: Score,
    pub pending: Pending,
    /// The edit region on the canvas, before it is stretched to the source; `None` when there is none or it waits for the segmenter.
    pub mask_in_bpm500: Option<Mask>,
}

impl Partial {
    /// The network that is waited for, if any.
    pub const fn waits_for(&self) -> Option<&'static str> {
        match self.pending {
            Pending { boxes: true, .. } => Some("detector"),
            Pending { mask: true, .. } => Some("segmenter"),
            Pending { modify: true, .. } => Some("image-text encoder"),
            _ => None,
        }
    }
}

impl Partial {
    /// The score with nothing pending, beside the edit region on the canvas.
    ///
    /// # Errors
    /// [`PortError::NotComputed`] with the network that is waited for.
    pub fn complete(self) -> Result<(Score, Option<Mask>), PortError> {
        match self.waits_for() {
            None => Ok((self.score, self.mask_in_bpm500)),
            Some(network) => Err(PortError::NotComputed { network }),
        }
    }
}

/// A network's answer, or `None` when it is not known.
fn known<T>(answer: Result<T, PortError>) -> Result<Option<T>, PortError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(PortError::NotComputed { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn waiting(part: &str, network: &str) -> Outcome<f64> {
    Outcome::NotApplicable(format!("{part} is being computed: it waits for the {network}"))
}

/// Judges one edit as far as `networks` know; see [`super::score_pair`] for the rules.
///
/// # Errors
/// When a network fails or answers wrongly, or the run is cancelled. [`PortError::NotComputed`] is no error here: it makes parts pending.
pub fn judge(input: &PairInput<'_>, canvases: &Canvases, settings: &Settings, networks: &mut Networks<'_>) -> Result<Partial, PortError> {
    let mut trace = Trace::default();
    let plan = Plan::read(input.parse, settings.profile, &mut trace);
    let pair = Pair { input: *input, canvases };
    let mut triage = Triage::default();
    if size_of(input.source) != size_of(input.edit) {
        triage.other_size = Some(size_of(input.edit));
        trace.note(
            TraceKind::Branch,
            format!(
                "The edit is {} and the source {}: both are stretched to the 500×500 canvas, so a cropped edit counts as changed everywhere.",
                size_of(input.edit),
                size_of(input.source)
            ),
        );
    }
    if plan.global {
        return judge_global(&pair, settings, networks, trace, triage);
    }
    let source = known(localize::source_boxes(&pair, &plan, settings, networks, &mut trace))?;
    let edit = known(localize::edit_boxes(&pair, &plan, settings, networks, &mut trace))?;
    let found = Found { plan, source, edit, trace, triage };
    judge_local(&pair, settings, networks, found)
}

/// What localization came to.
struct Found {
    plan: Plan,
    /// `None` when the detector's answer is not known.
    source: Option<Located>,
    edit: Option<Located>,
    trace: Trace,
    triage: Triage,
}

fn judge_local(pair: &Pair<'_>, settings: &Settings, networks: &mut Networks<'_>, found: Found) -> Result<Partial, PortError> {
    let Found { plan, source, edit, mut trace, mut triage } = found;
    let (input, profile) = (&pair.input, settings.profile);
    let both = source.as_ref().zip(edit.as_ref());
    let (size, position) = match both {
        Some((source, edit)) => (
            region_judge::size(&plan, input.parse, profile, source, edit, &mut trace),
            region_judge::position(&plan, input.parse, profile, source, edit, &mut trace),
        ),
        None => (waiting("size", "detector"), waiting("position", "detector")),
    };
    let mask = match (both, &input.overrides.mask) {
        (Some((source, edit)), _) => known(localize::edit_mask(pair, &plan, profile, source, edit, networks, &mut trace))?,
        // A person's mask needs no box.
        (None, Some(drawn)) => Some(drawn.resized_nearest(Size::BPM500)),
        (None, None) => None,
    };
    let preserve = match &mask {
        Some(mask) => {
            triage.change = Some(pair.canvases.change_shares(mask));
            semantic_judge::preserve(pair.canvases, &with_ignored(mask, input.overrides, &mut trace), profile, &mut trace)
        }
        None => waiting("preserve", "segmenter"),
    };
    let modify = match both {
        Some((source, edit)) => known(semantic_judge::modify(pair, &plan, profile, source, edit, networks, &mut trace))?,
        None => None,
    };
    let pending = Pending { boxes: both.is_none(), mask: mask.is_none(), modify: modify.is_none() };
    let (modify, crop_in_bpm500) = modify.unwrap_or_else(|| (waiting("modify", "image-text encoder"), None));
    let (source, edit) = (source.unwrap_or_default(), edit.unwrap_or_default());
    let score = Score {
        profile,
        parts: Parts { size, position, modify, preserve },
        global: false,
        parse: input.parse.clone(),
        boxes: BoxesBySide { source: source.used, edit: edit.used },
        candidates: BoxesBySide { source: source.candidates, edit: edit.candidates },
        mask: mask.as_ref().map(|mask| mask_of_source(mask, input)),
        crop_in_bpm500,
        trace: trace.into_steps(),
        triage,
        said: said(input.overrides),
    };
    Ok(Partial { score, pending, mask_in_bpm500: mask })
}

/// The roles that a person speaks for, in ascending order.
fn said(overrides: &Overrides) -> Vec<RegionRole> {
    let Overrides { source_boxes, edit_boxes, mask, ignore } = overrides;
    let said = [
        (RegionRole::Original, source_boxes.is_some()),
        (RegionRole::Edited, edit_boxes.is_some()),
        (RegionRole::EditMask, mask.is_some()),
        (RegionRole::Ignore, ignore.is_some()),
    ];
    said.into_iter().filter_map(|(role, is)| is.then_some(role)).collect()
}

/// The mask with the pixels that count neither way: preservation is judged outside both.
fn with_ignored(mask_in_bpm500: &Mask, overrides: &Overrides, trace: &mut Trace) -> Mask {
    let mut left_out = mask_in_bpm500.clone();
    if let Some(ignore) = &overrides.ignore {
        let ignore = ignore.resized_nearest(Size::BPM500);
        let share = ignore.count() as f64 / Size::BPM500.pixels() as f64;
        trace.numbers(
            TraceKind::Preserve,
            format!("A person marked {:.1} % of the picture to be ignored: it counts neither as kept nor as changed.", share * 100.0),
            [("ignored", share)],
        );
        let joined = left_out.union_with(&ignore);
        debug_assert!(joined, "both are of the canvas's size");
    }
    left_out
}

/// A global edit: modify is the cosine of the edited picture with the instruction, the region judge does not speak (section 4; section
/// 11 point 9).
fn judge_global(
    pair: &Pair<'_>,
    settings: &Settings,
    networks: &mut Networks<'_>,
    mut trace: Trace,
    triage: Triage,
) -> Result<Partial, PortError> {
    if *pair.input.overrides != Overrides::default() {
        trace.note(TraceKind::Branch, "The boxes and the mask that a person drew are not used: the whole picture was to change.");
    }
    let modify = known(semantic_judge::modify_global(pair, settings.profile, networks, &mut trace))?;
    let pending = Pending { modify: modify.is_none(), ..Pending::default() };
    let modify = modify.unwrap_or_else(|| waiting("modify", "image-text encoder"));
    let parts = if settings.profile == Profile::ReleasedCode {
        trace.fallback(
            TraceKind::Branch,
            "The released scripts store size 1, position 1 and preserve 0 for a global edit, without looking.",
        );
        Parts { size: Outcome::Value(1.0), position: Outcome::Value(1.0), modify, preserve: Outcome::Value(0.0) }
    } else {
        if let Some(distance) = semantic_judge::mean_outside(pair.canvases.distances(), &Mask::empty(Size::BPM500)) {
            trace.numbers(
                TraceKind::Preserve,
                format!("For information: the two pictures differ by {distance:.4} on average over the whole picture; a global edit has nothing to preserve by region."),
                [("whole_picture_distance", distance)],
            );
        }
        let na = |part: &str| Outcome::NotApplicable(format!("the whole picture was to change, so {part} has no region to be judged by"));
        Parts { size: na("size"), position: na("position"), modify, preserve: na("preserve") }
    };
    let score =
        Score { parse: pair.input.parse.clone(), trace: trace.into_steps(), triage, ..Score::of_parts(settings.profile, true, parts) };
    Ok(Partial { score, pending, mask_in_bpm500: None })
}
