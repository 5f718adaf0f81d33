//! The queue: rows, what is shown of them and in which order, and which one is selected.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::flags::Flag;
use super::row::{Row, RowId};

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SortKey {
    /// As the data set has them.
    #[default]
    Given,
    Instruction,
    Model,
    Overall,
    /// Index into [`crate::domain::Parts::NAMES`].
    Part(usize),
    Human,
    /// How far metric and people differ in rank.
    Disagreement,
    Flags,
}

/// A coarse choice of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ShowOnly {
    #[default]
    All,
    Unscored,
    Unrated,
    Flagged,
    /// Rows with one certain flag.
    With(Flag),
}

/// Rows that were picked elsewhere, such as in a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    pub rows: Arc<HashSet<RowId>>,
    /// What they are, in words ("12 edits picked in the plot").
    pub what: String,
}

/// Which rows are shown.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Filter {
    /// Words that must all occur in instruction, model or item; any case.
    pub text: String,
    pub model: Option<Arc<str>>,
    pub only: ShowOnly,
    pub picked: Option<Picked>,
}

/// Rows with filter, order and selection. The shown rows are computed when something changes, not each frame.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    rows: Vec<Row>,
    index_of: HashMap<RowId, usize>,
    /// Indices of the rows of each item, in the order of the data set: asked for in every frame, so never searched for.
    of_item: HashMap<Arc<str>, Vec<usize>>,
    disagreement: Vec<Option<f64>>,
    models: Vec<Arc<str>>,
    filter: Filter,
    sort: SortKey,
    descending: bool,
    shown: Vec<usize>,
    /// For each row its place in `shown`.
    places: Vec<Option<usize>>,
    /// How many rows have each flag, in the order of [`Flag::ALL`].
    flag_counts: Vec<usize>,
    selected: Option<RowId>,
}

impl Queue {
    /// Takes new rows; filter, order and (if it still exists) selection stay.
    pub fn set_rows(&mut self, rows: Vec<Row>) {
        self.index_of = rows.iter().enumerate().map(|(index, row)| (row.id, index)).collect();
        self.models = rows.iter().map(|row| Arc::clone(&row.model)).collect();
        self.models.sort();
        self.models.dedup();
        self.of_item.clear();
        for (index, row) in rows.iter().enumerate() {
            self.of_item.entry(Arc::clone(&row.item)).or_default().push(index);
        }
        self.rows = rows;
        if self.selected.is_some_and(|id| !self.index_of.contains_key(&id)) {
            self.selected = None;
        }
        self.refresh();
    }

    /// All rows, in the order of the data set.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of an id.
    pub fn row(&self, id: RowId) -> Option<&Row> {
        self.rows.get(*self.index_of.get(&id)?)
    }

    /// Changes one row, but neither its id nor its item; call [`Self::refresh`] when a batch is done.
    pub fn update(&mut self, id: RowId, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.index_of.get(&id).and_then(|&index| self.rows.get_mut(index)) {
            change(row);
        }
    }

    /// Names of the models, sorted.
    pub fn models(&self) -> &[Arc<str>] {
        &self.models
    }

    /// Indices into [`Self::rows`] of what is shown, in order.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Changes the filter.
    pub fn set_filter(&mut self, filter: Filter) {
        if self.filter != filter {
            self.filter = filter;
            self.refresh();
        }
    }

    /// What the rows are sorted by, and whether the greatest come first.
    pub fn sort(&self) -> (SortKey, bool) {
        (self.sort, self.descending)
    }

    /// Sorts by `key`; a second time turns the order round.
    pub fn sort_by(&mut self, key: SortKey) {
        self.descending = if self.sort == key { !self.descending } else { matches!(key, SortKey::Disagreement | SortKey::Flags) };
        self.sort = key;
        self.refresh();
    }

    /// The selected row's id.
    pub fn selected(&self) -> Option<RowId> {
        self.selected
    }

    /// The selected row.
    pub fn selected_row(&self) -> Option<&Row> {
        self.row(self.selected?)
    }

    /// Selects a row; `false` when there is no such row.
    pub fn select(&mut self, id: RowId) -> bool {
        let known = self.index_of.contains_key(&id);
        if known {
            self.selected = Some(id);
        }
        known
    }

    /// Place of the selected row among the shown ones.
    pub fn selected_place(&self) -> Option<usize> {
        let index = *self.index_of.get(&self.selected?)?;
        self.places.get(index).copied().flatten()
    }

    /// The shown row `by` places from the selected one, clamped to the ends; the first when nothing shown is selected.
    pub fn neighbour(&self, by: isize) -> Option<RowId> {
        let last = self.shown.len().checked_sub(1)?;
        let place = self.selected_place().map_or(0, |place| place.saturating_add_signed(by).min(last));
        Some(self.rows[self.shown[place]].id)
    }

    /// The next shown row after the selected one that `wanted` accepts, going round at the end.
    pub fn next_where(&self, wanted: impl Fn(&Row) -> bool) -> Option<RowId> {
        let start = self.selected_place().map_or(0, |place| place + 1);
        let count = self.shown.len();
        (0..count).map(|step| &self.rows[self.shown[(start + step) % count]]).find(|row| wanted(row)).map(|row| row.id)
    }

    /// The shown row `by` places from `from` when those with the greatest disagreement come first, going round; the first when `from`
    /// is not among them.
    pub fn next_disagreement(&self, from: Option<RowId>, by: isize) -> Option<RowId> {
        let gap = |index: usize| self.disagreement(index).unwrap_or_default();
        let mut apart: Vec<usize> = self.shown.iter().copied().filter(|&index| gap(index) > 0.0).collect();
        apart.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)).then(a.cmp(&b)));
        let count = apart.len();
        let place = apart.iter().position(|&index| Some(self.rows[index].id) == from);
        let next = place.map_or(0, |place| (place as isize + by).rem_euclid(count as isize) as usize);
        apart.get(next).map(|&index| self.rows[index].id)
    }

    /// Edits of the same item as `row`, in the order of the data set.
    pub fn siblings<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Row> {
        self.of_item.get(&row.item).into_iter().flatten().filter_map(|&index| self.rows.get(index))
    }

    /// How far metric and people differ in rank for the row at `index`, `0..=1`.
    pub fn disagreement(&self, index: usize) -> Option<f64> {
        self.disagreement.get(index).copied().flatten()
    }

    /// The flags that some row has, with the number of rows, in the order of [`Flag::ALL`].
    pub fn flags(&self) -> impl Iterator<Item = (Flag, usize)> + '_ {
        Flag::ALL.into_iter().zip(self.flag_counts.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// Recomputes what is shown; selection stays even if it is filtered out.
    pub fn refresh(&mut self) {
        self.disagreement = disagreement(&self.rows);
        self.flag_counts = Flag::ALL.into_iter().map(|flag| self.rows.iter().filter(|row| row.flags.has(flag)).count()).collect();
        let words: Vec<String> = self.filter.text.split_whitespace().map(str::to_lowercase).collect();
        let (rows, filter) = (&self.rows, &self.filter);
        self.shown = (0..rows.len()).filter(|&index| accepts(&rows[index], filter, &words)).collect();
        let (sort, descending) = (self.sort, self.descending);
        let disagreement = &self.disagreement;
        self.shown.sort_by(|&a, &b| compare(sort, descending, (&rows[a], disagreement[a]), (&rows[b], disagreement[b])).then(a.cmp(&b)));
        self.places = vec![None; rows.len()];
        for (place, &index) in self.shown.iter().enumerate() {
            self.places[index] = Some(place);
        }
    }
}

fn accepts(row: &Row, filter: &Filter, words: &[String]) -> bool {
    let only = match filter.only {
        ShowOnly::All => true,
        ShowOnly::Unscored => row.parts == [super::row::Cell::Unscored; 4],
        ShowOnly::Unrated => row.raters == 0,
        ShowOnly::Flagged => !row.flags.is_empty(),
        ShowOnly::With(flag) => row.flags.has(flag),
    };
    only && filter.picked.as_ref().is_none_or(|picked| picked.rows.contains(&row.id))
        && filter.model.as_ref().is_none_or(|model| *model == row.model)
        && (words.is_empty() || {
            let text = format!("{}\n{}\n{}", row.instruction, row.model, row.item).to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        })
}

/// Rows without the value come last whatever the direction.
fn compare(key: SortKey, descending: bool, a: (&Row, Option<f64>), b: (&Row, Option<f64>)) -> Ordering {
    let turn = |order: Ordering| if descending { order.reverse() } else { order };
    let numbers = |x: Option<f64>, y: Option<f64>| match (x, y) {
        (Some(x), Some(y)) => turn(x.total_cmp(&y)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    match key {
        SortKey::Given => Ordering::Equal,
        SortKey::Instruction => turn(a.0.instruction.cmp(&b.0.instruction)),
        SortKey::Model => turn(a.0.model.cmp(&b.0.model)),
        SortKey::Overall => numbers(a.0.overall.value(), b.0.overall.value()),
        SortKey::Part(index) => {
            let part = |row: &Row| row.parts.get(index).and_then(|cell| cell.value());
            numbers(part(a.0), part(b.0))
        }
        SortKey::Human => numbers(a.0.human(), b.0.human()),
        SortKey::Disagreement => numbers(a.1, b.1),
        SortKey::Flags => turn(a.0.flags.count().cmp(&b.0.flags.count())),
    }
}

/// Difference of the rank by the overall and the rank by people among rows that have both, as a share of the greatest possible.
fn disagreement(rows: &[Row]) -> Vec<Option<f64>> {
    let both: Vec<(usize, f64, f64)> =
        rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.overall.value()?, row.human()?))).collect();
    let mut result = vec![None; rows.len()];
    if both.len() < 2 {
        return result;
    }
    let by_metric = ranks(both.iter().map(|&(_, metric, _)| metric));
    let by_people = ranks(both.iter().map(|&(_, _, human)| human));
    for (place, &(index, _, _)) in both.iter().enumerate() {
        result[index] = Some((by_metric[place] - by_people[place]).abs() / (both.len() - 1) as f64);
    }
    result
}

/// Ranks from 0, equal values sharing the mean of their places.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut result = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let end = (start..order.len()).find(|&place| values[order[place]] != values[order[start]]).unwrap_or(order.len());
        for &index in &order[start..end] {
            result[index] = (start + end - 1) as f64 / 2.0;
        }
        start = end;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::Flags;
    use crate::editor::row::Cell;

    fn row(id: i64, instruction: &str, model: &str, overall: Option<f64>, human: Option<f64>) -> Row {
        Row {
            id: RowId(id),
            item: format!("item{}", id / 2).into(),
            instruction: instruction.into(),
            model: model.into(),
            source: "s.png".into(),
            edited: "e.png".into(),
            parts: [Cell::Unscored; 4],
            overall: overall.map_or(Cell::NotApplicable, Cell::Value),
            columns: Default::default(),
            people: [None, None, None, None, human],
            raters: u32::from(human.is_some()),
            simulated: false,
            flags: Flags::NONE,
        }
    }

    fn queue() -> Queue {
        let mut queue = Queue::default();
        queue.set_rows(vec![
            row(0, "Make the cat red", "good", Some(1.0), Some(5.0)),
            row(1, "Make the cat red", "lazy", Some(3.0), Some(1.0)),
            row(2, "Remove the dog", "good", None, Some(3.0)),
            row(3, "Remove the dog", "lazy", Some(2.0), None),
        ]);
        queue
    }

    #[test]
    fn every_word_of_the_search_must_occur() {
        let mut queue = queue();
        queue.set_filter(Filter { text: "LAZY dog".into(), ..Filter::default() });
        assert_eq!(queue.shown(), [3]);
        queue.set_filter(Filter { only: ShowOnly::Unrated, ..Filter::default() });
        assert_eq!(queue.shown(), [3]);
        queue.set_filter(Filter { model: Some("good".into()), ..Filter::default() });
        assert_eq!(queue.shown(), [0, 2]);
    }

    #[test]
    fn rows_without_a_value_come_last_in_both_directions() {
        let mut queue = queue();
        queue.sort_by(SortKey::Overall);
        assert_eq!(queue.shown(), [0, 3, 1, 2]);
        queue.sort_by(SortKey::Overall);
        assert_eq!(queue.shown(), [1, 3, 0, 2]);
    }

    #[test]
    fn the_greatest_disagreement_comes_first() {
        // Rows 0 and 1 have both numbers; the metric turns their order round, the greatest difference there is.
        let mut queue = queue();
        queue.sort_by(SortKey::Disagreement);
        assert_eq!((queue.disagreement(0), queue.disagreement(1), queue.disagreement(2)), (Some(1.0), Some(1.0), None));
        assert_eq!(queue.shown(), [0, 1, 2, 3]);
    }

    #[test]
    fn disagreements_are_stepped_through_and_a_pick_leaves_the_others_out() {
        let mut rows: Vec<Row> = (0..4).map(|id| row(id, "x", "m", Some([1.0, 2.0, 3.0, 4.0][id as usize]), None)).collect();
        // Ranks by people 3, 1, 2, 0 against 0, 1, 2, 3 by the metric: rows 0 and 3 lie furthest apart, the others agree.
        for (row, human) in rows.iter_mut().zip([4.0, 2.0, 3.0, 1.0]) {
            row.people[4] = Some(human);
        }
        let mut queue = Queue::default();
        queue.set_rows(rows);
        assert_eq!((queue.next_disagreement(None, 1), queue.next_disagreement(Some(RowId(0)), 1)), (Some(RowId(0)), Some(RowId(3))));
        assert_eq!(
            (queue.next_disagreement(Some(RowId(3)), 1), queue.next_disagreement(Some(RowId(0)), -1)),
            (Some(RowId(0)), Some(RowId(3)))
        );
        let picked = Picked { rows: Arc::new([RowId(1), RowId(3)].into()), what: "2 edits".into() };
        queue.set_filter(Filter { picked: Some(picked), ..Filter::default() });
        assert_eq!((queue.shown(), queue.next_disagreement(Some(RowId(3)), 1)), (&[1, 3][..], Some(RowId(3))));
    }

    #[test]
    fn stepping_follows_the_shown_order_and_stops_at_the_ends() {
        let mut queue = queue();
        assert_eq!(queue.neighbour(1), Some(RowId(0)));
        assert!(queue.select(RowId(0)) && !queue.select(RowId(77)));
        assert_eq!((queue.neighbour(1), queue.neighbour(-1)), (Some(RowId(1)), Some(RowId(0))));
        assert_eq!(queue.next_where(|row| row.raters == 0), Some(RowId(3)));
        queue.select(RowId(3));
        assert_eq!(queue.next_where(|row| row.raters > 0), Some(RowId(0)));
    }

    #[test]
    fn edits_of_an_item_and_places_are_those_of_a_search_through_all_rows() {
        let mut queue = queue();
        queue.set_filter(Filter { model: Some("lazy".into()), ..Filter::default() });
        queue.sort_by(SortKey::Overall);
        // Of the rows shown, 3 (overall 2) comes before 1 (overall 3).
        let places = |queue: &mut Queue| [0, 1, 2, 3].map(|id| queue.select(RowId(id)).then(|| queue.selected_place()).flatten());
        assert_eq!(places(&mut queue), [None, Some(1), None, Some(0)]);
        let of = |queue: &Queue, id| -> Vec<i64> {
            queue.row(RowId(id)).map(|row| queue.siblings(row).map(|row| row.id.0).collect()).unwrap_or_default()
        };
        assert_eq!((of(&queue, 0), of(&queue, 3)), (vec![0, 1], vec![2, 3]), "whatever the filter");
        // Other rows: nothing of the old ones is left.
        queue.set_rows(vec![row(3, "Remove the dog", "lazy", None, None), row(7, "x", "lazy", None, None)]);
        assert_eq!((of(&queue, 3), of(&queue, 0)), (vec![3], Vec::new()));
        assert_eq!((queue.select(RowId(7)), queue.selected_place()), (true, Some(1)));
    }

    #[test]
    fn flags_are_counted_over_all_rows_and_a_filter_shows_those_that_have_one() {
        let mut rows = vec![row(0, "a", "m", None, None), row(1, "b", "m", None, None), row(2, "c", "m", None, None)];
        for (row, flags) in rows.iter_mut().zip([&[Flag::NoBox, Flag::LeakHigh][..], &[], &[Flag::LeakHigh]]) {
            flags.iter().for_each(|flag| row.flags.set(*flag, true));
        }
        let mut queue = Queue::default();
        queue.set_rows(rows);
        assert_eq!(queue.flags().collect::<Vec<_>>(), [(Flag::NoBox, 1), (Flag::LeakHigh, 2)]);
        queue.set_filter(Filter { only: ShowOnly::With(Flag::LeakHigh), ..Filter::default() });
        assert_eq!(queue.shown(), [0, 2]);
        // The next problem goes round among what is shown.
        queue.select(RowId(2));
        assert_eq!(queue.next_where(|row| !row.flags.is_empty()), Some(RowId(0)));
        assert_eq!(queue.flags().count(), 2, "counts are of all rows, not of the shown ones");
    }

    #[test]
    fn equal_values_share_their_rank() {
        // Hand calculation: 1 → 0; the two 2s take places 1 and 2 → 1.5; 3 → 3.
        assert_eq!(ranks([2.0, 1.0, 3.0, 2.0].into_iter()), [1.5, 0.0, 3.0, 1.5]);
    }
}
