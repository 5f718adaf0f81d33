//! The marks of the plot as shapes: made once for each view of the plot, not each frame.

use std::collections::HashSet;
use std::sync::Arc;

use egui::{Color32, Id, Mesh, Pos2, Rect, Shape, Stroke, Ui, Vec2, pos2, vec2};
use egui_plot::{PlotPoint, PlotTransform};

use crate::gui::agreement::{Cloud, PlotKind};
use crate::gui::theme::Palette;

/// The signs of models in words; the shapes below look like them, so that models are told apart without colour.
pub(super) const SIGNS: [&str; 8] = ["●", "■", "◆", "▲", "▼", "×", "+", "○"];
/// From this many marks on they are small squares in one mesh, and marks of a model on the same pixels are drawn once.
const DENSE: usize = 3000;
const RADIUS: f32 = 4.5;
/// Side of a dense mark, and of the cells that hold one mark of a model, in points.
const SMALL: f32 = 2.5;
const CELL: f32 = 2.0;

/// What a set of shapes was made for.
#[derive(Clone, PartialEq)]
struct Key {
    bounds: [[f64; 2]; 2],
    frame: Rect,
    kind: PlotKind,
    only: Option<usize>,
    dark: bool,
}

#[derive(Clone)]
struct Kept {
    /// Kept alive, so that another cloud cannot come to the same address.
    cloud: Arc<Cloud>,
    key: Key,
    shapes: Arc<Vec<Shape>>,
}

/// The marks of a cloud, of model `only` alone if given.
pub(super) fn marks(
    ui: &Ui,
    palette: &Palette,
    cloud: &Arc<Cloud>,
    kind: PlotKind,
    only: Option<usize>,
    transform: &PlotTransform,
) -> Arc<Vec<Shape>> {
    let bounds = transform.bounds();
    let key = Key { bounds: [bounds.min(), bounds.max()], frame: *transform.frame(), kind, only, dark: ui.visuals().dark_mode };
    let id = Id::unique("agreement marks");
    if let Some(kept) = ui.data(|data| data.get_temp::<Kept>(id)).filter(|kept| Arc::ptr_eq(&kept.cloud, cloud) && kept.key == key) {
        return kept.shapes;
    }
    let shapes = Arc::new(made(palette, cloud, &key, transform));
    ui.data_mut(|data| data.insert_temp(id, Kept { cloud: Arc::clone(cloud), key, shapes: Arc::clone(&shapes) }));
    shapes
}

fn made(palette: &Palette, cloud: &Cloud, key: &Key, transform: &PlotTransform) -> Vec<Shape> {
    let frame = key.frame.expand(RADIUS);
    let places = cloud.points.iter().filter_map(|point| {
        let model = usize::from(point.model);
        let y = if key.kind == PlotKind::Residuals { point.residual } else { point.value };
        let at = transform.position_from_point(&PlotPoint::new(point.human, y));
        (key.only.is_none_or(|only| only == model) && frame.contains(at)).then_some((model, at))
    });
    if cloud.points.len() < DENSE {
        return places.flat_map(|(model, at)| sign(model, at, palette.model(model))).collect();
    }
    let mut mesh = Mesh::default();
    let mut taken = HashSet::new();
    for (model, at) in places {
        let cell = ((at.x / CELL) as i32, (at.y / CELL) as i32, model);
        if taken.insert(cell) {
            mesh.add_colored_rect(Rect::from_center_size(at, Vec2::splat(SMALL)), palette.model(model).gamma_multiply(0.75));
        }
    }
    vec![Shape::mesh(mesh)]
}

/// The mark of a model: the shape that [`SIGNS`] says.
fn sign(model: usize, at: Pos2, color: Color32) -> Vec<Shape> {
    let polygon = |corners: &[(f32, f32)]| {
        let corners = corners.iter().map(|(x, y)| at + vec2(x * RADIUS, y * RADIUS)).collect();
        vec![Shape::convex_polygon(corners, color, Stroke::NONE)]
    };
    let stroke = Stroke::new(2.0, color);
    let lines = |ends: [[(f32, f32); 2]; 2]| {
        let end = |(x, y): (f32, f32)| pos2(at.x + x * RADIUS, at.y + y * RADIUS);
        ends.map(|[from, to]| Shape::line_segment([end(from), end(to)], stroke)).to_vec()
    };
    match model % SIGNS.len() {
        0 => vec![Shape::circle_filled(at, RADIUS, color)],
        1 => polygon(&[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)]),
        2 => polygon(&[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)]),
        3 => polygon(&[(0.0, -1.1), (1.05, 0.8), (-1.05, 0.8)]),
        4 => polygon(&[(-1.05, -0.8), (1.05, -0.8), (0.0, 1.1)]),
        5 => lines([[(-0.8, -0.8), (0.8, 0.8)], [(-0.8, 0.8), (0.8, -0.8)]]),
        6 => lines([[(-1.0, 0.0), (1.0, 0.0)], [(0.0, -1.0), (0.0, 1.0)]]),
        _ => vec![Shape::circle_stroke(at, RADIUS, stroke)],
    }
}

/// A ring round a mark.
pub(super) fn ring(at: Pos2, color: Color32) -> Vec<Shape> {
    vec![Shape::circle_stroke(at, 9.0, Stroke::new(2.0, color))]
}
