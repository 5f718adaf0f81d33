//! Signs of the tools, drawn as lines so that they are crisp at every scale.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::editor::tools::Tool;

/// Draws the sign of a tool into `rect`, a square.
pub fn paint(painter: &Painter, tool: Tool, rect: Rect, color: Color32) {
    let stroke = Stroke::new(1.6, color);
    // From fractions of the square.
    let at = |x: f32, y: f32| pos2(rect.left() + x * rect.width(), rect.top() + y * rect.height());
    let line = |points: &[(f32, f32)]| {
        painter.line(points.iter().map(|&(x, y)| at(x, y)).collect::<Vec<Pos2>>(), stroke);
    };
    match tool {
        Tool::Pan => {
            line(&[(0.5, 0.0), (0.5, 1.0)]);
            line(&[(0.0, 0.5), (1.0, 0.5)]);
            for [a, tip, b] in [
                [(0.34, 0.16), (0.5, 0.0), (0.66, 0.16)],
                [(0.34, 0.84), (0.5, 1.0), (0.66, 0.84)],
                [(0.16, 0.34), (0.0, 0.5), (0.16, 0.66)],
                [(0.84, 0.34), (1.0, 0.5), (0.84, 0.66)],
            ] {
                line(&[a, tip, b]);
            }
        }
        Tool::Box => {
            painter.rect_stroke(Rect::from_min_max(at(0.08, 0.16), at(0.92, 0.84)), 0.0, stroke, StrokeKind::Middle);
            for (x, y) in [(0.08, 0.16), (0.92, 0.16), (0.92, 0.84), (0.08, 0.84)] {
                painter.rect_filled(Rect::from_center_size(at(x, y), vec2(4.5, 4.5)), 0.0, color);
            }
        }
        Tool::Brush => {
            painter.line_segment([at(0.98, 0.02), at(0.5, 0.5)], Stroke::new(2.6, color));
            painter.circle_filled(at(0.3, 0.7), rect.width() * 0.24, color);
        }
        Tool::Eraser => {
            line(&[(0.3, 0.95), (0.02, 0.67), (0.6, 0.08), (0.95, 0.43), (0.43, 0.95), (0.3, 0.95)]);
            line(&[(0.28, 0.4), (0.63, 0.75)]);
            line(&[(0.43, 0.95), (1.0, 0.95)]);
        }
        Tool::Polygon => {
            let corners = [(0.5, 0.04), (0.98, 0.42), (0.78, 0.94), (0.18, 0.9), (0.04, 0.36)];
            line(&[corners[0], corners[1], corners[2], corners[3], corners[4], corners[0]]);
            for (x, y) in corners {
                painter.circle_filled(at(x, y), 2.2, color);
            }
        }
        Tool::Lasso => {
            let around = |i: usize| {
                let angle = i as f32 / 24.0 * std::f32::consts::TAU;
                at(0.5 + 0.48 * angle.cos(), 0.38 + 0.34 * angle.sin())
            };
            painter.extend(Shape::dashed_line(&(0..=24).map(around).collect::<Vec<_>>(), stroke, 3.5, 2.0));
            line(&[(0.3, 0.7), (0.22, 0.86), (0.34, 1.0)]);
        }
        Tool::Points => {
            painter.circle_stroke(at(0.3, 0.34), rect.width() * 0.28, stroke);
            line(&[(0.3, 0.18), (0.3, 0.5)]);
            line(&[(0.14, 0.34), (0.46, 0.34)]);
            painter.circle_stroke(at(0.74, 0.74), rect.width() * 0.24, stroke);
            line(&[(0.6, 0.74), (0.88, 0.74)]);
        }
    }
}
