//! What is drawn over the pictures: visibility and opacity of each overlay, and which one a step of the trace points at.

use crate::domain::TraceKind;

/// One kind of drawing over the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Overlay {
    SourceBoxes,
    EditBoxes,
    Candidates,
    Mask,
    MaskOutline,
    Ignored,
    Crop,
    ChangeMap,
}

impl Overlay {
    /// All overlays, in the order of the legend.
    pub const ALL: [Self; 8] =
        [Self::SourceBoxes, Self::EditBoxes, Self::Candidates, Self::Mask, Self::MaskOutline, Self::Ignored, Self::Crop, Self::ChangeMap];

    /// The name in the legend.
    pub const fn label(self) -> &'static str {
        match self {
            Self::SourceBoxes => "Source boxes",
            Self::EditBoxes => "Edit boxes",
            Self::Candidates => "Candidates",
            Self::Mask => "Edit mask",
            Self::MaskOutline => "Outline",
            Self::Ignored => "Ignored",
            Self::Crop => "Crop",
            Self::ChangeMap => "Change map",
        }
    }

    /// What it shows, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::SourceBoxes => "Boxes on the source that the metric used (solid lines).",
            Self::EditBoxes => "Boxes on the edit that the metric used (dashed lines).",
            Self::Candidates => {
                "Boxes the detector proposed but the metric did not use (thin dotted lines, with confidence), from the threshold up."
            }
            Self::Mask => "The region that was to change (hatched to the right): preservation is judged outside it.",
            Self::MaskOutline => "The border of the region that was to change.",
            Self::Ignored => "Pixels that a person took out (hatched to the left): they count neither way.",
            Self::Crop => "Where modify looked (corner marks), on both pictures.",
            Self::ChangeMap => "How much each pixel differs from the source: the stronger the colour, the more it changed.",
        }
    }

    const fn index(self) -> usize {
        self as usize
    }
}

/// Thresholds of the detector, to try what others would choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Boxes above this confidence are used.
    pub boxes: f32,
    /// Tokens above this probability make a box's label. No part of a score depends on it.
    pub text: f32,
}

impl Thresholds {
    /// Those of the metric.
    pub const METRIC: Self = Self { boxes: 0.3, text: 0.25 };
    /// Least and greatest that can be tried: runs keep candidates from the least up.
    pub const LIMITS: (f32, f32) = (Overlays::LEAST_THRESHOLD, 0.6);

    /// In steps of a hundredth and within the limits, as the parts at other thresholds are computed.
    #[must_use]
    pub fn rounded(self) -> Self {
        let step = |threshold: f32| ((threshold * 100.0).round() / 100.0).clamp(Self::LIMITS.0, Self::LIMITS.1);
        Self { boxes: step(self.boxes), text: step(self.text) }
    }
}

/// Visibility and opacity of each overlay.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlays {
    visible: [bool; 8],
    opacity: [f32; 8],
    /// Candidates below this confidence are not drawn.
    threshold: f32,
    /// Boxes are drawn as other thresholds than the metric's would choose them.
    preview: Option<Thresholds>,
    /// All are hidden for a look at the bare pictures; the visibilities are kept.
    pub bare: bool,
}

impl Default for Overlays {
    fn default() -> Self {
        Self {
            visible: [true, true, false, true, true, true, false, false],
            opacity: [1.0, 1.0, 0.8, 0.35, 0.9, 0.5, 0.9, 0.8],
            threshold: Self::LEAST_THRESHOLD,
            preview: None,
            bare: false,
        }
    }
}

impl Overlays {
    /// Candidates below this confidence are not kept by a run.
    pub const LEAST_THRESHOLD: f32 = 0.05;

    /// Least confidence of a candidate that is drawn.
    pub const fn threshold(&self) -> f32 {
        self.threshold
    }

    /// Sets it, clamped to what runs keep.
    pub const fn set_threshold(&mut self, threshold: f32) {
        self.threshold = threshold.clamp(Self::LEAST_THRESHOLD, 1.0);
    }

    /// The thresholds that boxes are drawn by in place of the metric's.
    pub const fn preview(&self) -> Option<Thresholds> {
        self.preview
    }

    /// Draws boxes as these thresholds would choose them; the metric's own end the preview.
    pub fn set_preview(&mut self, thresholds: Thresholds) {
        let thresholds = thresholds.rounded();
        self.preview = (thresholds != Thresholds::METRIC).then_some(thresholds);
    }

    /// Whether the legend shows it as switched on.
    pub const fn is_on(&self, overlay: Overlay) -> bool {
        self.visible[overlay.index()]
    }

    /// Switches it on or off; also ends the look at the bare pictures.
    pub const fn toggle(&mut self, overlay: Overlay) {
        self.visible[overlay.index()] = !self.visible[overlay.index()];
        self.bare = false;
    }

    /// Opacity in `0..=1`, whether visible or not.
    pub const fn opacity(&self, overlay: Overlay) -> f32 {
        self.opacity[overlay.index()]
    }

    /// Sets the opacity, clamped to `0..=1`.
    pub const fn set_opacity(&mut self, overlay: Overlay, opacity: f32) {
        self.opacity[overlay.index()] = opacity.clamp(0.0, 1.0);
    }

    /// Opacity to draw with: 0 when hidden. A highlighted overlay is drawn even when it is off, the others step back.
    pub fn drawn(&self, overlay: Overlay, highlight: Option<TraceKind>) -> f32 {
        let pointed_at = highlight.map(Self::of_trace).filter(|overlays| !overlays.is_empty());
        match pointed_at {
            Some(overlays) if overlays.contains(&overlay) => self.opacity(overlay).max(0.6),
            _ if self.bare || !self.is_on(overlay) => 0.0,
            Some(_) => self.opacity(overlay) * 0.25,
            None => self.opacity(overlay),
        }
    }

    /// The overlays that a step of the trace speaks of; empty when it speaks of none.
    pub const fn of_trace(kind: TraceKind) -> &'static [Overlay] {
        match kind {
            // What was read and looked for stands at the boxes, as their labels.
            TraceKind::Parse | TraceKind::Phrase => &[Overlay::SourceBoxes, Overlay::EditBoxes],
            TraceKind::Boxes => &[Overlay::SourceBoxes, Overlay::EditBoxes, Overlay::Candidates],
            // The rule chose the boxes that make the mask.
            TraceKind::Branch => &[Overlay::SourceBoxes, Overlay::EditBoxes, Overlay::Mask, Overlay::MaskOutline],
            TraceKind::Size | TraceKind::Position => &[Overlay::SourceBoxes, Overlay::EditBoxes],
            TraceKind::Mask | TraceKind::Overall => &[Overlay::Mask, Overlay::MaskOutline],
            TraceKind::Crop | TraceKind::Modify | TraceKind::Direction => &[Overlay::Crop],
            TraceKind::Preserve => &[Overlay::ChangeMap, Overlay::MaskOutline],
            TraceKind::Range | TraceKind::Device => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_goes_in_hundredths_and_ends_at_the_thresholds_of_the_metric() {
        let mut overlays = Overlays::default();
        assert_eq!(overlays.preview(), None);
        overlays.set_preview(Thresholds { boxes: 0.2049, text: 0.25 });
        assert_eq!(overlays.preview(), Some(Thresholds { boxes: 0.2, text: 0.25 }));
        overlays.set_preview(Thresholds { boxes: 0.0, text: 7.0 });
        assert_eq!(overlays.preview(), Some(Thresholds { boxes: 0.05, text: 0.6 }));
        overlays.set_preview(Thresholds::METRIC);
        assert_eq!(overlays.preview(), None);
    }

    #[test]
    fn a_highlight_shows_a_hidden_overlay_and_dims_the_others() {
        let mut overlays = Overlays::default();
        assert_eq!(overlays.drawn(Overlay::Crop, None), 0.0);
        assert_eq!(overlays.drawn(Overlay::Crop, Some(TraceKind::Crop)), 0.9);
        assert_eq!(overlays.drawn(Overlay::SourceBoxes, Some(TraceKind::Crop)), 0.25);
        // A step about no overlay changes nothing.
        assert_eq!(overlays.drawn(Overlay::SourceBoxes, Some(TraceKind::Range)), 1.0);
        overlays.bare = true;
        assert_eq!(overlays.drawn(Overlay::SourceBoxes, None), 0.0);
        overlays.toggle(Overlay::Crop);
        assert!(!overlays.bare && overlays.is_on(Overlay::Crop));
    }
}
