//! Colours by role, read from `assets/theme/{dark,light}.ron`, and the spacing that every panel shares.
//!
//! Everything else names a role of these; only `colormap` makes colours too, those of differences.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme as Mode, Visuals};
use serde::{Deserialize, Deserializer};

use crate::editor::Overlay;

const DARK: &str = include_str!("../../assets/theme/dark.ron");
const LIGHT: &str = include_str!("../../assets/theme/light.ron");

/// DejaVu Sans, behind egui's own fonts: arrows, signs, Greek and Cyrillic are there on a machine that has no fonts at all.
const FALLBACK_FONT: &[u8] = include_bytes!("../../assets/fonts/DejaVuSans.ttf");

/// Adds the built-in fallback font; what it lacks (Chinese, emoji) comes from the system's fonts.
pub fn install_fonts(ctx: &egui::Context) {
    let mut fonts = egui::FontDefinitions::default();
    fonts.font_data.insert("dejavu".to_owned(), std::sync::Arc::new(egui::FontData::from_static(FALLBACK_FONT)));
    for family in [FontFamily::Proportional, FontFamily::Monospace] {
        fonts.families.entry(family).or_default().push("dejavu".to_owned());
    }
    ctx.set_fonts(fonts);
}

/// A colour of a theme file, written `#rrggbb` or `#rrggbbaa`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role(pub Color32);

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Color32::from_hex(&text)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("'{text}' is no colour; write #rrggbb or #rrggbbaa")))
    }
}

/// The colours of one theme. A role that is missing or unknown in the file is an error that names it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Palette {
    pub background: Role,
    pub panel: Role,
    pub raised: Role,
    pub hovered: Role,
    pub pressed: Role,
    pub field: Role,
    pub outline: Role,
    pub text: Role,
    pub text_dim: Role,
    pub text_strong: Role,
    pub accent: Role,
    pub on_accent: Role,
    pub selection: Role,
    pub good: Role,
    pub warning: Role,
    pub bad: Role,
    pub info: Role,
    pub canvas: Role,
    pub label_background: Role,
    pub source_box: Role,
    pub edit_box: Role,
    pub candidate: Role,
    pub mask: Role,
    pub ignored: Role,
    pub crop: Role,
    pub change: Role,
    /// Told apart in the scatter, together with the shape of the mark.
    pub models: Vec<Role>,
}

impl Palette {
    /// The colour of an overlay.
    pub const fn overlay(&self, overlay: Overlay) -> Color32 {
        match overlay {
            Overlay::SourceBoxes => self.source_box.0,
            Overlay::EditBoxes => self.edit_box.0,
            Overlay::Candidates => self.candidate.0,
            Overlay::Mask | Overlay::MaskOutline => self.mask.0,
            Overlay::Ignored => self.ignored.0,
            Overlay::Crop => self.crop.0,
            Overlay::ChangeMap => self.change.0,
        }
    }

    /// The colour of the model at `index` of the sorted list.
    pub fn model(&self, index: usize) -> Color32 {
        self.models.get(index % self.models.len().max(1)).map_or(self.text.0, |role| role.0)
    }
}

/// Both palettes.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    dark: Palette,
    light: Palette,
}

impl Theme {
    /// Reads the two theme files that are built into the program.
    ///
    /// # Errors
    /// When a file is not what it should be; the text names the role.
    pub fn load() -> anyhow::Result<Self> {
        use anyhow::Context as _;
        Ok(Self {
            dark: ron::from_str(DARK).context("assets/theme/dark.ron")?,
            light: ron::from_str(LIGHT).context("assets/theme/light.ron")?,
        })
    }

    /// The palette in use.
    pub fn palette(&self, mode: Mode) -> &Palette {
        match mode {
            Mode::Dark => &self.dark,
            Mode::Light => &self.light,
        }
    }

    /// Gives egui the colours, text sizes and spacing.
    pub fn install(&self, ctx: &egui::Context) {
        for mode in [Mode::Dark, Mode::Light] {
            ctx.set_visuals_of(mode, visuals(mode, self.palette(mode)));
        }
        ctx.all_styles_mut(|style| {
            let sized = |size| FontId::new(size, FontFamily::Proportional);
            style.text_styles.insert(TextStyle::Small, sized(11.0));
            style.text_styles.insert(TextStyle::Body, sized(13.0));
            style.text_styles.insert(TextStyle::Button, sized(13.0));
            style.text_styles.insert(TextStyle::Heading, sized(17.0));
            style.text_styles.insert(TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace));
            style.spacing.item_spacing = egui::vec2(8.0, 6.0);
            style.spacing.button_padding = egui::vec2(8.0, 4.0);
            style.spacing.interact_size = egui::vec2(32.0, 24.0);
            style.spacing.window_margin = Margin::same(16);
            style.spacing.menu_margin = Margin::same(8);
            style.spacing.tooltip_width = 420.0;
            style.spacing.slider_width = 140.0;
            style.spacing.indent = 14.0;
            style.interaction.tooltip_delay = 0.35;
            style.interaction.selectable_labels = false;
        });
    }
}

fn visuals(mode: Mode, palette: &Palette) -> Visuals {
    let mut visuals = match mode {
        Mode::Dark => Visuals::dark(),
        Mode::Light => Visuals::light(),
    };
    let radius = CornerRadius::same(4);
    let outline = Stroke::new(1.0, palette.outline.0);
    visuals.panel_fill = palette.panel.0;
    visuals.window_fill = palette.panel.0;
    visuals.window_stroke = outline;
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.extreme_bg_color = palette.field.0;
    visuals.text_edit_bg_color = Some(palette.field.0);
    visuals.faint_bg_color = palette.background.0;
    visuals.code_bg_color = palette.raised.0;
    visuals.warn_fg_color = palette.warning.0;
    visuals.error_fg_color = palette.bad.0;
    visuals.hyperlink_color = palette.accent.0;
    visuals.weak_text_color = Some(palette.text_dim.0);
    visuals.selection.bg_fill = palette.selection.0;
    visuals.selection.stroke = Stroke::new(1.0, palette.text_strong.0);
    visuals.slider_trailing_fill = true;
    let states = [
        (&mut visuals.widgets.noninteractive, palette.panel, palette.text, palette.outline.0),
        (&mut visuals.widgets.inactive, palette.raised, palette.text, Color32::TRANSPARENT),
        (&mut visuals.widgets.hovered, palette.hovered, palette.text_strong, palette.outline.0),
        (&mut visuals.widgets.active, palette.pressed, palette.text_strong, palette.accent.0),
        (&mut visuals.widgets.open, palette.hovered, palette.text_strong, palette.outline.0),
    ];
    for (state, fill, text, stroke) in states {
        state.bg_fill = fill.0;
        state.weak_bg_fill = fill.0;
        state.fg_stroke = Stroke::new(1.0, text.0);
        state.bg_stroke = Stroke::new(1.0, stroke);
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast ratio as WCAG 2 defines it, from relative luminance.
    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |c: Color32| {
            let linear = egui::Rgba::from(c);
            0.2126 * linear.r() + 0.7152 * linear.g() + 0.0722 * linear.b()
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_is_readable_on_every_surface_of_both_themes() {
        // WCAG 2 AA: 4.5 for text.
        let theme = Theme::load().unwrap();
        for mode in [Mode::Dark, Mode::Light] {
            let p = theme.palette(mode);
            for surface in [p.background, p.panel, p.raised, p.field] {
                for text in [p.text, p.text_dim, p.text_strong, p.warning, p.bad, p.good] {
                    assert!(contrast(text.0, surface.0) >= 4.5, "{mode:?}: {text:?} on {surface:?} is {}", contrast(text.0, surface.0));
                }
            }
            assert!(contrast(p.text_strong.0, p.selection.0) >= 4.5);
            assert!(contrast(p.on_accent.0, p.accent.0) >= 4.5);
        }
    }

    /// How a colour looks to a person without one kind of cone: the matrices of severity 1 of Machado, Oliveira and Fernandes (2009), "A
    /// physiologically-based model for simulation of color vision deficiency", on linear RGB.
    const PROTANOPIA: [[f32; 3]; 3] =
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]];
    const DEUTERANOPIA: [[f32; 3]; 3] =
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]];
    const TRITANOPIA: [[f32; 3]; 3] =
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]];
    const UNCHANGED: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    /// CIE L*a*b* (D65) of a colour seen through `vision`.
    fn lab(color: Color32, vision: [[f32; 3]; 3]) -> [f32; 3] {
        let linear = egui::Rgba::from(color);
        let [r, g, b] = vision.map(|row| (row[0] * linear.r() + row[1] * linear.g() + row[2] * linear.b()).clamp(0.0, 1.0));
        let xyz = [
            (0.412_453 * r + 0.357_580 * g + 0.180_423 * b) / 0.950_47,
            0.212_671 * r + 0.715_160 * g + 0.072_169 * b,
            (0.019_334 * r + 0.119_193 * g + 0.950_227 * b) / 1.088_83,
        ];
        let [x, y, z] = xyz.map(|t| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn lab_is_that_of_scikit_image() {
        // `skimage.color.rgb2lab` of scikit-image 0.26.0.
        for (hex, expected) in
            [("#63c6fd", [76.15, -13.17, -35.73]), ("#ca0040", [42.66, 68.73, 24.97]), ("#256e47", [41.22, -32.39, 15.29])]
        {
            let found = lab(Color32::from_hex(hex).unwrap(), UNCHANGED);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.1), "{hex}: {found:?}");
        }
    }

    #[test]
    fn overlays_are_told_apart_by_people_who_do_not_see_all_colours() {
        // 2.3 is just noticeable side by side (CIE76); thin lines apart from each other need several times that.
        let theme = Theme::load().unwrap();
        for mode in [Mode::Dark, Mode::Light] {
            let p = theme.palette(mode);
            let roles = [p.source_box, p.edit_box, p.candidate, p.mask, p.ignored, p.crop, p.change];
            for vision in [UNCHANGED, PROTANOPIA, DEUTERANOPIA, TRITANOPIA] {
                for (index, a) in roles.iter().enumerate() {
                    for b in &roles[..index] {
                        let (x, y) = (lab(a.0, vision), lab(b.0, vision));
                        let distance = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f32>().sqrt();
                        assert!(distance >= 15.0, "{mode:?}: {a:?} and {b:?} are {distance} apart through {vision:?}");
                    }
                }
            }
            // Labels are written in these colours, on a rim that is nearly opaque.
            let [r, g, b, _] = p.label_background.0.to_srgba_unmultiplied();
            assert!(roles.iter().all(|role| contrast(role.0, Color32::from_rgb(r, g, b)) >= 4.5), "{mode:?}");
        }
    }

    #[test]
    fn the_edit_mask_is_seen_on_dark_and_on_bright_pictures_in_the_light_theme() {
        // The picture does not follow the theme. Half way between black and white both have a contrast of 4.58 (the root of 21).
        let mask = Theme::load().unwrap().palette(Mode::Light).mask.0;
        for picture in [Color32::BLACK, Color32::WHITE] {
            assert!(contrast(mask, picture) >= 4.5, "{}", contrast(mask, picture));
        }
    }

    #[test]
    fn an_unknown_role_is_named() {
        let text = DARK.replace("accent:", "acent:");
        let error = ron::from_str::<Palette>(&text).unwrap_err().to_string();
        assert!(error.contains("acent"), "{error}");
    }
}
