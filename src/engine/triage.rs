//! What is said of a pair besides the metric, so that the edits that need a person's look are found without looking at all.

use crate::domain::{Mask, Score, Shift, Size, TraceKind, TraceStep};
use crate::imaging::register::register;
use crate::metrics::bpm::Canvases;

/// The score with what the metric does not know: whether the edit is moved or zoomed as a whole.
///
/// `judged` is the score with its edit region on the canvas, whose pixels may change and so say nothing about a motion. Of an edit of the
/// whole picture every pixel may change; there nothing is said.
pub fn complete((mut score, mask): (Score, Option<Mask>), canvases: &Canvases) -> Score {
    if !score.global {
        score.triage.shift = register(canvases.source(), canvases.edit(), mask.as_ref()).map(|found| {
            let motion = found.motion.scaled(Size::BPM500, canvases.source_size());
            Shift {
                dx: motion.dx,
                dy: motion.dy,
                zoom: motion.zoom,
                explained: found.explained(),
                loss: Some(found.loss),
                loss_aligned: Some(found.loss_aligned),
            }
        });
        score.trace.extend(score.triage.shift.map(|shift| step(&shift, canvases.source_size())));
    }
    score
}

/// The motion as a step of the trace, beside what it cost.
fn step(shift: &Shift, source: Size) -> TraceStep {
    let (loss, aligned) = (shift.loss.unwrap_or_default(), shift.loss_aligned.unwrap_or_default());
    let text = format!(
        "The whole edit is {} against the source: outside the mask the pictures differ by {loss:.4} where both show something, with the edit \
         moved back by {aligned:.4}. That explains {:.0} % of the preservation loss; preserve counts all of it.",
        shift.words(source),
        shift.explained * 100.0
    );
    let numbers = [("shift_dx", shift.dx), ("shift_dy", shift.dy), ("shift_zoom", shift.zoom), ("shift_explained", shift.explained)];
    let losses = [("loss", loss), ("loss_aligned", aligned)];
    let numbers = numbers.into_iter().chain(losses).map(|(name, value)| (name.to_owned(), value)).collect();
    TraceStep { kind: TraceKind::Preserve, text, fallback: false, numbers }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;
    use crate::domain::{Outcome, Parts, Profile};

    /// A picture with something to see everywhere.
    fn textured(dx: u32) -> RgbImage {
        RgbImage::from_fn(1000, 1000, |x, y| {
            let (x, y) = ((x + 1000 - dx) as f32, y as f32);
            let wave = |a: f32, b: f32| ((x * a + y * b).sin() * 60.0 + 128.0) as u8;
            Rgb([wave(0.031, 0.017), wave(-0.021, 0.043), wave(0.013, -0.037)])
        })
    }

    #[test]
    fn a_moved_edit_is_told_in_pixels_of_the_source() {
        let none = || Outcome::NotApplicable("not judged".to_owned());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: none() };
        let score = || Score::of_parts(Profile::Corrected, false, parts.clone());
        let moved = Canvases::new(&textured(0), &textured(12)).expect("pictures with pixels");
        let shift = complete((score(), None), &moved).triage.shift.expect("the edit is moved by 12 px of the source");
        assert!((shift.dx - 12.0).abs() < 1.0 && shift.dy.abs() < 1.0 && (shift.zoom - 1.0).abs() < 0.01, "{shift:?}");
        // By hand: without a mask the loss is the mean distance over what both show, which moving back nearly takes away.
        let (loss, aligned) = (shift.loss.expect("just found"), shift.loss_aligned.expect("just found"));
        assert!(loss > 0.03 && aligned < loss / 4.0 && (shift.explained - (1.0 - aligned / loss)).abs() < 1e-12, "{shift:?}");
        let told = complete((score(), None), &moved).trace;
        assert!(told[0].text.contains("explains") && told[0].numbers["loss"] == loss, "{told:?}");
        let same = Canvases::new(&textured(0), &textured(0)).expect("pictures with pixels");
        assert_eq!(complete((score(), None), &same).triage.shift, None);
    }
}
