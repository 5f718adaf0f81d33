//! The ways to compare two pictures on the canvas: what each pane shows, and how far a divider, a blink or a gain is set.

use crate::domain::{Rect, Side, UiSpace};

/// How source and edit are laid beside or over each other. All share one zoom and pan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum CompareMode {
    #[default]
    SideBySide,
    /// One over the other with a divider between.
    Wipe,
    /// One after the other at the same place.
    Blink,
    /// The edit, partly transparent, over the source.
    Onion,
    /// What differs, as a picture.
    Difference,
    /// One of the two alone.
    Single,
    /// The source and all edits of the item.
    Grid,
}

impl CompareMode {
    /// All modes, in the order of the toolbar.
    pub const ALL: [Self; 7] = [Self::SideBySide, Self::Wipe, Self::Blink, Self::Onion, Self::Difference, Self::Single, Self::Grid];

    /// The name on its button.
    pub const fn label(self) -> &'static str {
        match self {
            Self::SideBySide => "Side by side",
            Self::Wipe => "Wipe",
            Self::Blink => "Blink",
            Self::Onion => "Onion skin",
            Self::Difference => "Difference",
            Self::Single => "Single",
            Self::Grid => "Grid",
        }
    }

    /// What it does, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::SideBySide => "Source and edit beside each other.",
            Self::Wipe => "Source and edit over each other with a divider to drag; again: the divider lies the other way.",
            Self::Blink => "Source and edit by turns at the same place; again: pauses and goes on.",
            Self::Onion => "The edit, partly transparent, over the source.",
            Self::Difference => "What differs: L2 heat map, absolute or signed; again: the next of them.",
            Self::Single => "One picture alone; again: the other one.",
            Self::Grid => "The source and all edits of the item; a click selects an edit.",
        }
    }
}

/// Which way the divider of the wipe lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Divider {
    /// A vertical line: source left, edit right.
    #[default]
    Vertical,
    /// A horizontal line: source above, edit below.
    Horizontal,
}

/// How a difference is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DifferenceView {
    /// The metric's distance as a heat map.
    #[default]
    L2,
    /// Each channel's absolute difference as a colour.
    Absolute,
    /// Brighter or darker than the source.
    Signed,
}

impl DifferenceView {
    /// All, in the order that the key goes through.
    pub const ALL: [Self; 3] = [Self::L2, Self::Absolute, Self::Signed];

    /// The name on its button.
    pub const fn label(self) -> &'static str {
        match self {
            Self::L2 => "L2 heat map",
            Self::Absolute => "Absolute",
            Self::Signed => "Signed",
        }
    }

    fn next(self) -> Self {
        let place = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::ALL[(place + 1) % Self::ALL.len()]
    }
}

/// What a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    Picture(Side),
    /// The edit over the source.
    Onion,
    Difference,
}

impl Content {
    /// The side whose regions are edited on the pane.
    pub const fn side(self) -> Side {
        match self {
            Self::Picture(side) => side,
            Self::Onion | Self::Difference => Side::Edit,
        }
    }

    /// Whether overlays of `side` belong on the pane.
    pub fn shows(self, side: Side) -> bool {
        match self {
            Self::Picture(shown) => shown == side,
            Self::Onion | Self::Difference => true,
        }
    }
}

/// A part of the canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaneLayout {
    pub content: Content,
    /// Which of the edits that are shown; always 0 but in the grid.
    pub edit: usize,
    /// The area that zoom and pan refer to.
    pub rect: Rect<UiSpace>,
    /// The part of it that is drawn on.
    pub clip: Rect<UiSpace>,
}

/// The compare mode and its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compare {
    pub mode: CompareMode,
    pub divider: Divider,
    /// Where the divider lies, as a share of the pane's width or height.
    pub divider_at: f32,
    /// Seconds that each picture of a blink is shown.
    pub blink_seconds: f32,
    pub blink_paused: bool,
    /// Opacity of the edit in the onion skin.
    pub onion: f32,
    pub difference: DifferenceView,
    /// Differences are multiplied by this before they are drawn.
    pub gain: f32,
    /// The picture that is alone.
    pub single: Side,
    /// While the key is held: the other picture in place of the edit (of the source, where that is alone).
    pub flipped: bool,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            mode: CompareMode::SideBySide,
            divider: Divider::Vertical,
            divider_at: 0.5,
            blink_seconds: 0.5,
            blink_paused: false,
            onion: 0.5,
            difference: DifferenceView::L2,
            gain: 4.0,
            single: Side::Edit,
            flipped: false,
        }
    }
}

impl Compare {
    /// Least and greatest time of a blink, in seconds. Three flashes a second are the limit of WCAG 2.3.1, so no faster than 0.2 s a picture
    /// (2.5 full flashes a second).
    pub const BLINK_LIMITS: (f32, f32) = (0.2, 3.0);
    /// Least and greatest gain of the difference.
    pub const GAIN_LIMITS: (f32, f32) = (1.0, 64.0);
    /// Most edits beside the source in the grid.
    pub const MOST_IN_GRID: usize = 24;

    /// The key of a mode was pressed: goes there, or, if it is there already, on to the mode's next variant.
    pub fn press(&mut self, mode: CompareMode) {
        if self.mode != mode {
            self.mode = mode;
            self.blink_paused = false;
            return;
        }
        match mode {
            CompareMode::Wipe => {
                self.divider = match self.divider {
                    Divider::Vertical => Divider::Horizontal,
                    Divider::Horizontal => Divider::Vertical,
                };
            }
            CompareMode::Blink => self.blink_paused = !self.blink_paused,
            CompareMode::Difference => self.difference = self.difference.next(),
            CompareMode::Single => self.single = other(self.single),
            CompareMode::SideBySide | CompareMode::Onion | CompareMode::Grid => {}
        }
    }

    /// The picture that a blink shows `seconds` after any fixed moment, and how long until the next one.
    pub fn blink(&self, seconds: f64) -> (Side, f64) {
        let period = f64::from(self.blink_seconds.clamp(Self::BLINK_LIMITS.0, Self::BLINK_LIMITS.1));
        if self.blink_paused {
            return (Side::Edit, f64::INFINITY);
        }
        let turns = seconds.max(0.0) / period;
        let side = if (turns as u64).is_multiple_of(2) { Side::Source } else { Side::Edit };
        (side, (turns.floor() + 1.0) * period - seconds.max(0.0))
    }

    /// The panes within `area`. `edits` counts the edits of the grid (at least 1), `seconds` is the clock of the blink; `title` is left free
    /// above each pane and `gap` between two, in points.
    pub fn panes(&self, area: &Rect<UiSpace>, edits: usize, seconds: f64, title: f32, gap: f32) -> Vec<PaneLayout> {
        let below_title = |rect: Rect<UiSpace>| Rect::new(rect.x0, (rect.y0 + title).min(rect.y1), rect.x1, rect.y1);
        let pane = |content, rect| PaneLayout { content, edit: 0, rect, clip: rect };
        let shown = |side| Content::Picture(if self.flipped { other(side) } else { side });
        let whole = below_title(*area);
        match self.mode {
            CompareMode::SideBySide => {
                let middle = (area.x0 + area.x1) / 2.0;
                let left = below_title(Rect::new(area.x0, area.y0, middle - gap / 2.0, area.y1));
                let right = below_title(Rect::new(middle + gap / 2.0, area.y0, area.x1, area.y1));
                let right_content = if self.flipped { Side::Source } else { Side::Edit };
                vec![pane(Content::Picture(Side::Source), left), pane(Content::Picture(right_content), right)]
            }
            CompareMode::Wipe => {
                let (first, second) = self.wiped(&whole);
                let half = |side, clip| PaneLayout { content: shown(side), edit: 0, rect: whole, clip };
                vec![half(Side::Source, first), half(Side::Edit, second)]
            }
            CompareMode::Blink => vec![pane(shown(self.blink(seconds).0), whole)],
            CompareMode::Onion if !self.flipped => vec![pane(Content::Onion, whole)],
            CompareMode::Difference if !self.flipped => vec![pane(Content::Difference, whole)],
            CompareMode::Onion | CompareMode::Difference => vec![pane(Content::Picture(Side::Source), whole)],
            CompareMode::Single => vec![pane(shown(self.single), whole)],
            CompareMode::Grid => {
                let edits = edits.clamp(1, Self::MOST_IN_GRID);
                let cells = grid(area, edits + 1, gap);
                let content = |index| if index == 0 || self.flipped { Side::Source } else { Side::Edit };
                cells
                    .into_iter()
                    .enumerate()
                    .map(|(index, cell)| PaneLayout {
                        edit: index.saturating_sub(1),
                        ..pane(Content::Picture(content(index)), below_title(cell))
                    })
                    .collect()
            }
        }
    }

    /// The two sides of the divider.
    fn wiped(&self, pane: &Rect<UiSpace>) -> (Rect<UiSpace>, Rect<UiSpace>) {
        let at = self.divider_at.clamp(0.0, 1.0);
        match self.divider {
            Divider::Vertical => {
                let x = pane.x0 + at * pane.width();
                (Rect::new(pane.x0, pane.y0, x, pane.y1), Rect::new(x, pane.y0, pane.x1, pane.y1))
            }
            Divider::Horizontal => {
                let y = pane.y0 + at * pane.height();
                (Rect::new(pane.x0, pane.y0, pane.x1, y), Rect::new(pane.x0, y, pane.x1, pane.y1))
            }
        }
    }
}

/// The other picture of the pair.
pub const fn other(side: Side) -> Side {
    match side {
        Side::Source => Side::Edit,
        Side::Edit => Side::Source,
    }
}

/// `count` equal cells, row by row; as many columns as make the shorter side of a cell longest.
fn grid(area: &Rect<UiSpace>, count: usize, gap: f32) -> Vec<Rect<UiSpace>> {
    let shorter_side = |columns: usize| (area.width() / columns as f32).min(area.height() / count.div_ceil(columns) as f32);
    let columns = (1..=count.max(1)).max_by(|&a, &b| shorter_side(a).total_cmp(&shorter_side(b))).unwrap_or(1);
    let rows = count.div_ceil(columns).max(1);
    let width = (area.width() - gap * (columns - 1) as f32) / columns as f32;
    let height = (area.height() - gap * (rows - 1) as f32) / rows as f32;
    (0..count)
        .map(|index| {
            let (x, y) = (area.x0 + (index % columns) as f32 * (width + gap), area.y0 + (index / columns) as f32 * (height + gap));
            Rect::new(x, y, x + width, y + height)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect<UiSpace> = Rect::new(0.0, 0.0, 402.0, 220.0);

    fn panes(compare: &Compare, edits: usize) -> Vec<PaneLayout> {
        compare.panes(&AREA, edits, 0.0, 20.0, 2.0)
    }

    #[test]
    fn side_by_side_halves_the_area_below_the_titles() {
        let panes = panes(&Compare::default(), 1);
        let edges: Vec<[f32; 4]> = panes.iter().map(|pane| pane.rect.to_array()).collect();
        assert_eq!(edges, [[0.0, 20.0, 200.0, 220.0], [202.0, 20.0, 402.0, 220.0]]);
        assert_eq!(panes[0].content.side(), Side::Source);
    }

    #[test]
    fn a_second_press_goes_on_to_the_variant() {
        let mut compare = Compare::default();
        compare.press(CompareMode::Wipe);
        compare.divider_at = 0.25;
        let clips: Vec<[f32; 4]> = panes(&compare, 1).iter().map(|pane| pane.clip.to_array()).collect();
        assert_eq!(clips, [[0.0, 20.0, 100.5, 220.0], [100.5, 20.0, 402.0, 220.0]]);
        compare.press(CompareMode::Wipe);
        assert_eq!(panes(&compare, 1)[1].clip.to_array(), [0.0, 70.0, 402.0, 220.0]);
        compare.press(CompareMode::Difference);
        let seen: Vec<DifferenceView> = (0..3)
            .map(|_| {
                compare.press(CompareMode::Difference);
                compare.difference
            })
            .collect();
        assert_eq!(seen, [DifferenceView::Absolute, DifferenceView::Signed, DifferenceView::L2]);
        compare.press(CompareMode::Single);
        compare.press(CompareMode::Single);
        assert_eq!(panes(&compare, 1)[0].content, Content::Picture(Side::Source));
    }

    #[test]
    fn a_blink_shows_both_by_turns() {
        let compare = Compare { mode: CompareMode::Blink, blink_seconds: 0.5, ..Compare::default() };
        assert_eq!(compare.blink(0.2).0, Side::Source);
        let (side, left) = compare.blink(0.7);
        assert_eq!(side, Side::Edit);
        assert!((left - 0.3).abs() < 1e-9);
        assert_eq!(Compare { blink_paused: true, ..compare }.blink(0.2).0, Side::Edit);
    }

    #[test]
    fn holding_the_key_shows_the_other_picture() {
        for mode in CompareMode::ALL {
            let compare = Compare { mode, blink_paused: true, flipped: true, ..Compare::default() };
            let panes = panes(&compare, 3);
            let last = panes.last().unwrap();
            assert_eq!(last.content, Content::Picture(Side::Source), "{mode:?}");
        }
    }

    #[test]
    fn the_grid_has_the_source_first_and_cells_as_large_as_can_be() {
        let compare = Compare { mode: CompareMode::Grid, ..Compare::default() };
        let panes = panes(&compare, 4);
        // Five cells of 402×220: three columns give 134×110, two 201×73, four 100×110.
        let lefts: Vec<f32> = panes.iter().map(|pane| pane.rect.x0.round()).collect();
        assert_eq!(lefts, [0.0, 135.0, 269.0, 0.0, 135.0]);
        assert_eq!(panes.iter().map(|pane| pane.edit).collect::<Vec<_>>(), [0, 0, 1, 2, 3]);
        assert_eq!(compare.panes(&AREA, 1000, 0.0, 20.0, 2.0).len(), 25, "a thousand edits are cut to what can be seen");
    }
}
