//! Plots as SVG text, drawn by hand: dots with intervals, a scatter, a curve. Colours are classes, so that light and dark follow the
//! page; shapes and words say the same as colours.

use std::fmt::Write as _;

use super::ReportPoint;
use super::html::escape;
use crate::stats::Interval;

/// One dot with its interval.
pub(super) struct Dot {
    pub label: String,
    pub value: f64,
    pub interval: Option<Interval>,
}

const WIDTH: f64 = 760.0;
/// Room for labels at the left: what the longest needs, within these; a longer one ends in dots and is whole on hover.
const LEFT: [f64; 2] = [90.0, 420.0];
/// About the width of a letter of a label.
const LETTER: f64 = 7.2;
const RIGHT: f64 = 24.0;
const ROW: f64 = 24.0;

/// Dots one below the other on one axis from `low` to `high`; `mark` draws a line ("chance", "mean").
pub(super) fn dots(dots: &[Dot], [low, high]: [f64; 2], mark: Option<(f64, &str)>) -> String {
    let height = ROW * dots.len() as f64 + 40.0;
    let longest = dots.iter().map(|dot| dot.label.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * LETTER + 20.0).clamp(LEFT[0], LEFT[1]);
    let x = |value: f64| left + (value.clamp(low, high) - low) / (high - low) * (WIDTH - left - RIGHT);
    let bottom = height - 28.0;
    let mut svg = open(WIDTH, height);
    for tick in ticks(low, high) {
        axis_tick(&mut svg, x(tick), bottom, tick);
    }
    if let Some((value, word)) = mark {
        let at = x(value);
        put(&mut svg, format_args!("<line class=\"mark\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"4\" y2=\"{bottom:.1}\"/>"));
        put(&mut svg, format_args!("<text class=\"small\" x=\"{:.1}\" y=\"12\">{}</text>", at + 4.0, escape(word)));
    }
    for (row, dot) in dots.iter().enumerate() {
        let y = ROW * row as f64 + 20.0;
        put(
            &mut svg,
            format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"><title>{}</title>{}</text>",
                left - 12.0,
                y + 4.0,
                escape(&dot.label),
                escape(&fitted(&dot.label, left - 12.0))
            ),
        );
        if let Some(found) = dot.interval {
            let (from, to) = (x(found.low), x(found.high));
            put(&mut svg, format_args!("<line class=\"interval\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"));
        }
        let words = dot.interval.map_or_else(String::new, |found| format!(" ({:.3} to {:.3})", found.low, found.high));
        let at = x(dot.value);
        put(
            &mut svg,
            format_args!(
                "<circle class=\"dot\" cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"5\"><title>{}: {:.3}{words}</title></circle>",
                escape(&dot.label),
                dot.value
            ),
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A label as far as it fits.
fn fitted(label: &str, width: f64) -> String {
    let most = (width / LETTER) as usize;
    if label.chars().count() <= most { label.to_owned() } else { format!("{}…", label.chars().take(most - 1).collect::<String>()) }
}

/// A curve through points, with a dot on each.
pub(super) fn curve(points: &[(f64, f64)], x_label: &str, y_label: &str) -> String {
    let (width, height, left, bottom) = (560.0, 260.0, 60.0, 220.0);
    let (min, max) = points.iter().fold((f64::MAX, f64::MIN), |(min, max), (_, y)| (min.min(*y), max.max(*y)));
    let (low, high) = ((min - 0.02).max(0.0), (max + 0.02).min(1.0));
    let x = |value: f64| left + value * (width - left - 20.0);
    let y = |value: f64| bottom - (value - low) / (high - low).max(1e-9) * (bottom - 16.0);
    let mut svg = open(width, height);
    for tick in ticks(0.0, 1.0) {
        axis_tick(&mut svg, x(tick), bottom, tick);
    }
    for tick in ticks(low, high) {
        let at = y(tick);
        put(&mut svg, format_args!("<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>", width - 20.0));
        put(
            &mut svg,
            format_args!("<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick:.2}</text>", left - 6.0, at + 4.0),
        );
    }
    let path: Vec<String> = points.iter().map(|(a, b)| format!("{:.1},{:.1}", x(*a), y(*b))).collect();
    put(&mut svg, format_args!("<polyline class=\"curve\" points=\"{}\"/>", path.join(" ")));
    for (a, b) in points {
        put(
            &mut svg,
            format_args!("<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"><title>{a:.1}: {b:.3}</title></circle>", x(*a), y(*b)),
        );
    }
    put(&mut svg, format_args!("<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{}</text>", width / 2.0, height - 4.0, escape(x_label)));
    put(&mut svg, format_args!("<text class=\"small\" x=\"4\" y=\"12\">{}</text></svg>", escape(y_label)));
    svg
}

/// Shapes of models, so that they are told apart without colour.
const SHAPES: usize = 4;
/// More points than this are not drawn one by one: a page must stay light.
const DRAWN: usize = 4000;

/// The metric (up) against people (right), one mark an edit.
pub(super) fn scatter(points: &[ReportPoint], x_label: &str, y_label: &str) -> String {
    let (width, height, left, bottom) = (760.0, 420.0, 60.0, 376.0);
    let span = |values: &dyn Fn(&ReportPoint) -> f64| {
        let (min, max) = points.iter().map(values).fold((f64::MAX, f64::MIN), |(min, max), v| (min.min(v), max.max(v)));
        let pad = ((max - min) * 0.05).max(1e-6);
        (min - pad, max + pad)
    };
    let ((x0, x1), (y0, y1)) = (span(&|p| p.human), span(&|p| p.metric));
    let x = |value: f64| left + (value - x0) / (x1 - x0) * (width - left - 20.0);
    let y = |value: f64| bottom - (value - y0) / (y1 - y0) * (bottom - 30.0);
    let mut models: Vec<&str> = points.iter().map(|point| point.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let mut svg = open(width, height);
    for tick in ticks(x0, x1) {
        axis_tick(&mut svg, x(tick), bottom, tick);
    }
    for tick in ticks(y0, y1) {
        let at = y(tick);
        put(&mut svg, format_args!("<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>", width - 20.0));
        put(
            &mut svg,
            format_args!("<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick:.2}</text>", left - 6.0, at + 4.0),
        );
    }
    let every = points.len().div_ceil(DRAWN).max(1);
    for point in points.iter().step_by(every) {
        let model = models.binary_search(&point.model.as_str()).unwrap_or_default(); // every model is in the list
        let title = format!("{} · {}: {:.3}, people {:.2}", escape(&point.item), escape(&point.model), point.metric, point.human);
        put(&mut svg, format_args!("{}<title>{title}</title></path>", shape(model, x(point.human), y(point.metric))));
    }
    for (i, model) in models.iter().enumerate().take(8) {
        let at = left + 8.0 + 88.0 * i as f64;
        put(
            &mut svg,
            format_args!("{}</path><text class=\"small\" x=\"{:.1}\" y=\"15\">{}</text>", shape(i, at, 11.0), at + 9.0, escape(model)),
        );
    }
    if let Some(more) = models.len().checked_sub(8).filter(|more| *more > 0) {
        let at = left + 8.0 + 88.0 * 8.0 - 20.0;
        put(&mut svg, format_args!("<text class=\"small\" x=\"{at:.1}\" y=\"15\" text-anchor=\"end\">+ {more} models</text>"));
    }
    let sampled = if every > 1 { format!(" (every {every}th edit)") } else { String::new() };
    put(
        &mut svg,
        format_args!("<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{}{sampled}</text>", width / 2.0, height - 6.0, escape(x_label)),
    );
    put(&mut svg, format_args!("<text class=\"small\" x=\"4\" y=\"26\">{}</text></svg>", escape(y_label)));
    svg
}

/// The opening tag of a mark: circle, square, triangle or diamond.
fn shape(model: usize, x: f64, y: f64) -> String {
    let path = match model % SHAPES {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0),
        _ => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
    };
    format!("<path class=\"m{}\" d=\"{path}\">", model % 8)
}

fn open(width: f64, height: f64) -> String {
    format!("<svg class=\"plot\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">")
}

/// Writing to a string cannot fail.
fn put(svg: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(words);
}

fn axis_tick(svg: &mut String, x: f64, bottom: f64, value: f64) {
    put(svg, format_args!("<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"16\" y2=\"{bottom:.1}\"/>"));
    put(svg, format_args!("<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>", bottom + 16.0, plain(value)));
}

/// A tick's number without noise of floating point.
fn plain(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Round numbers between `low` and `high`, about five of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = (high - low).max(1e-9);
    let rough = span / 5.0;
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough).unwrap_or(span);
    let first = (low / step).ceil() as i64;
    (first..).map(|n| n as f64 * step).take_while(|tick| *tick <= high + step * 1e-9).take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a label ends at the left: its anchor is its end, its letters are as wide as on screen at 13 pixels or less.
    #[test]
    fn labels_of_dots_are_not_cut() {
        for (label, whole) in [("snr.inside · overall (0, 0.5, 1, 2)".to_owned(), true), ("x".repeat(80), false), ("a".to_owned(), true)] {
            let svg = dots(&[Dot { label: label.clone(), value: 0.5, interval: None }], [0.0, 1.0], None);
            let text = svg.split("</title>").skip(1).find_map(|rest| rest.split_once("</text>").map(|(text, _)| text)).expect("a label");
            assert_eq!(text == label, whole, "{text}");
            let anchor = svg.split("<text x=\"").skip(1).find(|rest| rest.contains("text-anchor=\"end\"")).expect("a label");
            let anchor: f64 = anchor.split('"').next().expect("an attribute ends").parse().expect("a number");
            assert!(text.chars().count() as f64 * 7.0 <= anchor, "{text} ends at {anchor}");
        }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let texts = |low, high| ticks(low, high).into_iter().map(plain).collect::<Vec<_>>();
        assert_eq!(texts(0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(texts(-0.31, 2.9), ["0", "1", "2"]);
        assert_eq!(texts(0.48, 0.83), ["0.5", "0.6", "0.7", "0.8"]);
    }
}
