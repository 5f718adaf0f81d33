//! The points of the plot: one metric against one criterion, computed once for each choice.

use crate::domain::Outcome;
use crate::editor::RowId;
use crate::engine::evidence::Gathered;
use crate::stats::comparison::places;

/// One edit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloudPoint {
    pub row: RowId,
    /// Index into [`Cloud::models`].
    pub model: u16,
    /// Mean over raters.
    pub human: f64,
    /// As the metric gives it.
    pub value: f64,
    /// The value minus that of the line at this human mean; 0 where there is no line.
    pub residual: f64,
    /// Place of the metric among all edits minus the place of people, −1 to 1: positive where the metric is too kind.
    pub gap: f64,
}

/// A straight line: value = intercept + slope · human mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub intercept: f64,
    pub slope: f64,
}

impl Line {
    /// Its value there.
    pub fn at(self, human: f64) -> f64 {
        self.intercept + self.slope * human
    }
}

/// One metric against one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    pub metric: String,
    pub criterion: String,
    /// Lower values are better.
    pub lower_is_better: bool,
    /// Models, sorted by name.
    pub models: Vec<String>,
    pub points: Vec<CloudPoint>,
    /// Least squares.
    pub line: Outcome<Line>,
    /// Indices into the points, furthest apart first; those that agree are none.
    pub order: Vec<u32>,
    /// Edits that lack the metric's value or the rating.
    pub left_out: usize,
    /// Least and greatest human mean, value and residual; 0 without points.
    pub ends: [[f64; 2]; 3],
}

impl Cloud {
    /// The edits of a project that have both values.
    pub fn of(gathered: &Gathered, metric: &str, criterion: &str) -> Self {
        let subjects = &gathered.evidence.subjects;
        let mut models: Vec<String> = subjects.iter().map(|subject| subject.model.clone()).collect();
        models.sort();
        models.dedup();
        let lower_is_better = gathered.turned.iter().any(|name| name == metric);
        let sign = if lower_is_better { -1.0 } else { 1.0 };
        let mut points = Vec::new();
        for placed in places(&gathered.evidence, metric, criterion) {
            // Subjects beyond the project's edits (from tables) have no row to open.
            let Some(id) = gathered.edits.get(placed.subject) else { continue };
            let model = models.binary_search(&subjects[placed.subject].model).unwrap_or_default(); // every model is in the list
            points.push(CloudPoint {
                row: RowId(id.0),
                model: u16::try_from(model).unwrap_or(u16::MAX),
                human: placed.human,
                value: sign * placed.value,
                residual: 0.0,
                gap: placed.gap(),
            });
        }
        let line = least_squares(&points);
        if let Outcome::Value(line) = line {
            points.iter_mut().for_each(|point| point.residual = point.value - line.at(point.human));
        }
        let mut order: Vec<u32> = (0..points.len() as u32).filter(|&at| points[at as usize].gap != 0.0).collect();
        order.sort_by(|&a, &b| {
            let gap = |at: u32| points[at as usize].gap.abs();
            gap(b).total_cmp(&gap(a)).then(a.cmp(&b))
        });
        let ends = [|p: &CloudPoint| p.human, |p: &CloudPoint| p.value, |p: &CloudPoint| p.residual].map(|of| ends(points.iter().map(of)));
        let left_out = subjects.len() - points.len();
        let (metric, criterion) = (metric.to_owned(), criterion.to_owned());
        Self { metric, criterion, lower_is_better, models, points, line, order, left_out, ends }
    }

    /// The point of a row.
    pub fn point(&self, row: RowId) -> Option<&CloudPoint> {
        self.points.iter().find(|point| point.row == row)
    }

    /// The row `by` places from `from` in the order of disagreement, going round; the first when `from` is not among them. Only
    /// rows that `wanted` accepts.
    pub fn next_disagreement(&self, from: Option<RowId>, by: isize, wanted: impl Fn(RowId) -> bool) -> Option<RowId> {
        let rows: Vec<RowId> = self.order.iter().map(|&at| self.points[at as usize].row).filter(|row| wanted(*row)).collect();
        if rows.is_empty() {
            return None;
        }
        let place = from.and_then(|from| rows.iter().position(|row| *row == from));
        let next = place.map_or(0, |place| (place as isize + by).rem_euclid(rows.len() as isize) as usize);
        rows.get(next).copied()
    }
}

/// Least and greatest of some values; 0 where there are none.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.map(|value| [value, value]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).unwrap_or_default()
}

/// The line of least squares of the metric on the human mean.
fn least_squares(points: &[CloudPoint]) -> Outcome<Line> {
    let n = points.len() as f64;
    if points.len() < 2 {
        return Outcome::NotApplicable(format!("{} edit(s) have both values; a line needs two", points.len()));
    }
    let mean = |of: fn(&CloudPoint) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.human), mean(|p| p.value));
    let (mut xx, mut xy) = (0.0, 0.0);
    for point in points {
        xx += (point.human - x).powi(2);
        xy += (point.human - x) * (point.value - y);
    }
    if xx <= 1e-12 {
        return Outcome::NotApplicable("people give every edit the same mean, so no line leads from them to the metric".into());
    }
    let slope = xy / xx;
    Outcome::Value(Line { intercept: y - slope * x, slope })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::comparison::Subject;
    use crate::storage::EditId;

    fn gathered(rows: &[(&str, Option<f64>, Option<f64>)]) -> Gathered {
        let mut gathered = Gathered::new("test".into());
        for (index, (model, metric, human)) in rows.iter().enumerate() {
            let named = |value: &Option<f64>| value.iter().map(|value| ("overall".to_owned(), *value)).collect();
            gathered.evidence.subjects.push(Subject {
                item: format!("i{}", index / 2),
                model: (*model).to_owned(),
                metrics: named(metric),
                human: named(human),
                ..Subject::default()
            });
            gathered.edits.push(EditId(index as i64 + 1));
        }
        gathered.evidence.metrics.push("overall".into());
        gathered
    }

    /// Line and residuals: `numpy.polyfit([1, 2, 3, 4], [1, 3, 2, 6], 1)` gives slope 1.4 and intercept −0.5.
    #[test]
    fn the_line_is_that_of_numpy_and_the_order_that_of_places() {
        let cloud = Cloud::of(
            &gathered(&[
                ("b", Some(1.0), Some(1.0)),
                ("a", Some(3.0), Some(2.0)),
                ("a", None, Some(5.0)),
                ("b", Some(2.0), Some(3.0)),
                ("a", Some(6.0), Some(4.0)),
            ]),
            "overall",
            "overall",
        );
        let Outcome::Value(line) = cloud.line else { panic!("{:?}", cloud.line) };
        assert!((line.slope - 1.4).abs() < 1e-12 && (line.intercept + 0.5).abs() < 1e-12, "{line:?}");
        assert_eq!(cloud.ends[..2], [[1.0, 4.0], [1.0, 6.0]]);
        let residuals: Vec<f64> = cloud.points.iter().map(|point| (point.residual * 10.0).round() / 10.0).collect();
        assert_eq!(residuals, [0.1, 0.7, -1.7, 0.9]);
        assert_eq!((cloud.left_out, cloud.models.as_slice()), (1, &["a".to_owned(), "b".to_owned()][..]));
        // Places by the metric 0, 2, 1, 3 of 3, by people 0, 1, 2, 3: two edits lie a third apart, the others agree.
        let rows: Vec<i64> = cloud.order.iter().map(|&at| cloud.points[at as usize].row.0).collect();
        assert_eq!(rows, [2, 4]);
        let next = |from: Option<i64>, by| cloud.next_disagreement(from.map(RowId), by, |_| true).map(|row| row.0);
        assert_eq!((next(None, 1), next(Some(2), 1), next(Some(4), 1), next(Some(2), -1)), (Some(2), Some(4), Some(2), Some(4)));
        assert_eq!(cloud.next_disagreement(None, 1, |row| row.0 == 4), Some(RowId(4)));
    }

    #[test]
    fn without_a_spread_of_people_there_is_no_line_and_the_reason_is_said() {
        let cloud = Cloud::of(&gathered(&[("a", Some(1.0), Some(3.0)), ("b", Some(2.0), Some(3.0))]), "overall", "overall");
        assert!(cloud.line.why().is_some_and(|why| why.contains("same mean")));
        assert_eq!(cloud.points[1].residual, 0.0);
    }
}
