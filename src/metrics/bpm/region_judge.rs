//! The region-aware judge: size and position of the edited box against the source box (`bpm.md` section 3; section 6 points 3-5; section
//! 11 points 2-5).

use crate::domain::{Bpm500, Outcome, Parse, PositionWord, Profile, Rect, SizeWord, TraceKind};

use super::plan::Plan;
use super::{Located, Trace};

/// What one box says about a relation, with the number behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub holds: bool,
    /// Size: ratio of areas. Position: L1 distance of the centres in pixels of 500.
    pub number: f64,
}

/// Ratios above this are bigger, and no longer unchanged.
const BIGGER: f64 = 1.2;
/// Ratios below this are smaller, and no longer unchanged.
const SMALLER: f64 = 0.8;
/// A directional relation needs boxes that overlap less than this.
const MAX_IOU: f64 = 0.4;
/// "Unchanged" needs centres nearer than this (L1, pixels of 500).
const MAX_MOVE: f64 = 40.0;

/// Whether the ratio of areas edited/source is what `relation` asks for. `None` when the source box has no area, or nothing is asked.
pub fn size_holds(relation: SizeWord, edited: Rect<Bpm500>, source: Rect<Bpm500>) -> Option<Verdict> {
    if source.area() <= 0.0 {
        return None;
    }
    let number = f64::from(edited.area()) / f64::from(source.area());
    let holds = match relation {
        SizeWord::Bigger => number > BIGGER,
        SizeWord::Smaller => number < SMALLER,
        SizeWord::Unchanged => (SMALLER..=BIGGER).contains(&number),
        SizeWord::None => return None,
    };
    Some(Verdict { holds, number })
}

/// Whether the edited box lies to the source box as `relation` asks. `None` when nothing is asked.
pub fn position_holds(relation: PositionWord, edited: Rect<Bpm500>, source: Rect<Bpm500>) -> Option<Verdict> {
    let (e, s) = (edited.center(), source.center());
    let (dx, dy) = (f64::from(e.x - s.x), f64::from(e.y - s.y));
    let apart = f64::from(edited.iou(&source)) < MAX_IOU;
    let (across, along) = (dx.abs() > dy.abs(), dy.abs() > dx.abs());
    let holds = match relation {
        PositionWord::Left => dx < 0.0 && across && apart,
        PositionWord::Right => dx > 0.0 && across && apart,
        PositionWord::Above => dy < 0.0 && along && apart,
        PositionWord::Below => dy > 0.0 && along && apart,
        PositionWord::Inside => edited.x0 > source.x0 && edited.y0 > source.y0 && edited.x1 < source.x1 && edited.y1 < source.y1,
        PositionWord::Unchanged => dx.abs() + dy.abs() < MAX_MOVE,
        PositionWord::None => return None,
    };
    Some(Verdict { holds, number: dx.abs() + dy.abs() })
}

/// All satisfy 1, some 0.5, none 0 (section 3; section 11 point 3). `None` for no verdict at all.
pub fn share_score(verdicts: &[Verdict]) -> Option<f64> {
    let satisfied = verdicts.iter().filter(|v| v.holds).count();
    match (satisfied, verdicts.len()) {
        (_, 0) => None,
        (0, _) => Some(0.0),
        (some, all) if some == all => Some(1.0),
        _ => Some(0.5),
    }
}

/// The box that a relation is measured against: the best-scoring one (`released-code`: the first in query order).
fn reference(source: &Located, profile: Profile) -> Option<Rect<Bpm500>> {
    match profile {
        Profile::ReleasedCode => source.in_bpm500.first().copied(),
        Profile::Corrected | Profile::Paper => source.best(),
    }
}

/// What a relation becomes when one of its boxes is missing (section 11 point 5).
fn missing_box(kind: TraceKind, part: &str, profile: Profile, no_source: bool, plan: &Plan, trace: &mut Trace) -> Outcome<f64> {
    let (side, phrase) = if no_source { ("source", &plan.source_phrase) } else { ("edited", &plan.edit_phrase) };
    let what = match phrase {
        Some(phrase) => format!("\"{phrase}\" was not found on the {side} image"),
        None => format!("there is nothing to look for on the {side} image"),
    };
    if profile == Profile::Corrected {
        trace.fallback(kind, format!("The {part} cannot be judged: {what}."));
        Outcome::NotApplicable(format!("{what}, so the {part} cannot be judged"))
    } else {
        trace.fallback(kind, format!("The {part} counts as right (1), because {what}: this profile forgives a missing box."));
        Outcome::Value(1.0)
    }
}

fn not_judged(kind: TraceKind, part: &str, trace: &mut Trace) -> Outcome<f64> {
    trace.note(kind, format!("The {part} was not judged (1): the instruction states and implies nothing about it."));
    Outcome::Value(1.0)
}

/// The part score of size.
pub(super) fn size(plan: &Plan, parse: &Parse, profile: Profile, source: &Located, edit: &Located, trace: &mut Trace) -> Outcome<f64> {
    if plan.size == SizeWord::None {
        if profile == Profile::ReleasedCode && parse.size_word() != SizeWord::None {
            trace.fallback(
                TraceKind::Size,
                format!("The released scripts do not judge the size here (1): they want the type \"change size\" and exactly one of their words, and found \"{}\" and \"{}\".", parse.edit_type, parse.size),
            );
            return Outcome::Value(1.0);
        }
        return not_judged(TraceKind::Size, "size", trace);
    }
    let Some(reference) = reference(source, profile) else {
        return missing_box(TraceKind::Size, "size", profile, true, plan, trace);
    };
    // The released scripts look at the first edited box alone (section 6 point 3).
    let judged = if profile == Profile::ReleasedCode { &edit.in_bpm500[..edit.in_bpm500.len().min(1)] } else { &edit.in_bpm500[..] };
    let verdicts: Vec<Verdict> = judged.iter().filter_map(|&edited| size_holds(plan.size, edited, reference)).collect();
    let Some(score) = share_score(&verdicts) else {
        if !judged.is_empty() {
            let why = "the source box has no area, so there is no ratio of areas";
            trace.fallback(TraceKind::Size, format!("The size cannot be judged: {why}."));
            return Outcome::NotApplicable(why.to_owned());
        }
        return missing_box(TraceKind::Size, "size", profile, false, plan, trace);
    };
    let asked = match plan.size {
        SizeWord::Bigger => "bigger (more than 1.2 times the area)",
        SizeWord::Smaller => "smaller (less than 0.8 times the area)",
        SizeWord::Unchanged | SizeWord::None => "unchanged (0.8 to 1.2 times the area)",
    };
    let asked = &with_reason(asked, parse.size_word() == SizeWord::None);
    describe(TraceKind::Size, "Size", asked, "times the area", &verdicts, score, trace);
    Outcome::Value(score)
}

/// The part score of position.
pub(super) fn position(plan: &Plan, parse: &Parse, profile: Profile, source: &Located, edit: &Located, trace: &mut Trace) -> Outcome<f64> {
    if plan.position == PositionWord::None {
        if profile == Profile::ReleasedCode && parse.position_word() != PositionWord::None {
            trace.fallback(
                TraceKind::Position,
                "The released scripts do not judge the position here (1): they do so only for additions that name what they are added to.",
            );
            return Outcome::Value(1.0);
        }
        return not_judged(TraceKind::Position, "position", trace);
    }
    let Some(reference) = reference(source, profile) else {
        return missing_box(TraceKind::Position, "position", profile, true, plan, trace);
    };
    let verdicts: Vec<Verdict> = edit.in_bpm500.iter().filter_map(|&edited| position_holds(plan.position, edited, reference)).collect();
    let Some(score) = share_score(&verdicts) else {
        return missing_box(TraceKind::Position, "position", profile, false, plan, trace);
    };
    let asked = match plan.position {
        PositionWord::Left => "left of the source box",
        PositionWord::Right => "right of the source box",
        PositionWord::Above => "above the source box",
        PositionWord::Below => "below the source box",
        PositionWord::Inside => "inside the source box",
        PositionWord::Unchanged | PositionWord::None => "unchanged (centres less than 40 px of 500 apart)",
    };
    let asked = &with_reason(asked, parse.position_word() == PositionWord::None);
    describe(TraceKind::Position, "Position", asked, "px between the centres", &verdicts, score, trace);
    Outcome::Value(score)
}

/// A relation that the parse does not state is implied by the type of the edit (section 11 point 4).
fn with_reason(asked: &str, implied: bool) -> String {
    if implied { format!("{asked}, as this type of edit implies") } else { asked.to_owned() }
}

fn describe(kind: TraceKind, part: &str, asked: &str, unit: &str, verdicts: &[Verdict], score: f64, trace: &mut Trace) {
    let satisfied = verdicts.iter().filter(|v| v.holds).count();
    let found: Vec<String> = verdicts.iter().map(|v| format!("{:.2}", v.number)).collect();
    trace.numbers(
        kind,
        format!(
            "{part} should be {asked}: {satisfied} of {} edited boxes satisfy it ({} {unit}), so the score is {score}.",
            verdicts.len(),
            found.join(", ")
        ),
        [("satisfied", satisfied as f64), ("boxes", verdicts.len() as f64), ("score", score)],
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x0: f32, y0: f32, x1: f32, y1: f32) -> Rect<Bpm500> {
        Rect::new(x0, y0, x1, y1)
    }

    #[test]
    fn size_limits_are_those_of_the_paper() {
        // Hand calculation: the source has 100×100; 120.5, 80 and 79.9 px of width give 1.205, 0.8 and 0.799 times its area.
        let source = rect(0.0, 0.0, 100.0, 100.0);
        let wide = |w| rect(0.0, 0.0, w, 100.0);
        let holds = |relation, w| size_holds(relation, wide(w), source).is_some_and(|v| v.holds);
        assert!(holds(SizeWord::Bigger, 120.5) && !holds(SizeWord::Bigger, 120.0));
        assert!(holds(SizeWord::Smaller, 79.9) && !holds(SizeWord::Smaller, 80.0));
        assert!(holds(SizeWord::Unchanged, 80.0) && holds(SizeWord::Unchanged, 120.0) && !holds(SizeWord::Unchanged, 120.5));
        assert_eq!(size_holds(SizeWord::Bigger, wide(9.0), rect(1.0, 1.0, 1.0, 1.0)), None);
    }

    #[test]
    fn directions_need_the_side_the_axis_and_little_overlap() {
        let source = rect(200.0, 200.0, 300.0, 300.0);
        let holds = |relation, edited| position_holds(relation, edited, source).is_some_and(|v| v.holds);
        assert!(holds(PositionWord::Left, rect(50.0, 210.0, 150.0, 310.0)));
        assert!(!holds(PositionWord::Right, rect(50.0, 210.0, 150.0, 310.0)), "the other side");
        assert!(!holds(PositionWord::Left, rect(150.0, 50.0, 250.0, 150.0)), "the vertical axis dominates");
        assert!(holds(PositionWord::Above, rect(150.0, 50.0, 250.0, 150.0)));
        // IoU of a box shifted by 40: 60/140 = 0.43; by 45: 55/145 = 0.38.
        assert!(!holds(PositionWord::Right, rect(240.0, 200.0, 340.0, 300.0)));
        assert!(holds(PositionWord::Right, rect(245.0, 200.0, 345.0, 300.0)));
    }

    #[test]
    fn inside_is_strict_and_unchanged_ends_at_forty() {
        let source = rect(100.0, 100.0, 200.0, 200.0);
        let holds = |relation, edited| position_holds(relation, edited, source).is_some_and(|v| v.holds);
        assert!(holds(PositionWord::Inside, rect(101.0, 101.0, 199.0, 199.0)));
        assert!(!holds(PositionWord::Inside, rect(100.0, 101.0, 199.0, 199.0)));
        assert!(holds(PositionWord::Unchanged, rect(120.0, 119.0, 220.0, 219.0)), "20 + 19 = 39");
        assert!(!holds(PositionWord::Unchanged, rect(120.0, 120.0, 220.0, 220.0)), "20 + 20 = 40 is not less than 40");
    }

    #[test]
    fn several_boxes_give_one_a_half_or_nothing() {
        let v = |holds| Verdict { holds, number: 0.0 };
        assert_eq!(share_score(&[v(true), v(true)]), Some(1.0));
        assert_eq!(share_score(&[v(true), v(false)]), Some(0.5));
        assert_eq!(share_score(&[v(false)]), Some(0.0));
        assert_eq!(share_score(&[]), None);
    }
}
