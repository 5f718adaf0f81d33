//! Edits item by item with their names as numbers: a set of 100,000 edits is compared dozens of times (by metric, criterion, group and
//! resample), and comparing names each time costs more than the statistics do.

use std::collections::HashMap;

use super::agreement::Row;

/// The sum of the squares of larger numbers does not fit into floating point; they count as no number.
pub const LARGEST: f64 = 1e140;

/// Where one row of a table belongs.
#[derive(Clone, Copy, Debug)]
struct Place {
    row: usize,
    item: u32,
    model: u32,
}

/// The names of a table's edits. A name's number is its place in alphabetical order.
#[derive(Debug)]
pub struct Names<'a> {
    pub items: Vec<&'a str>,
    pub models: Vec<&'a str>,
    /// Item by item; within an item in the order of the table.
    places: Vec<Place>,
}

impl<'a> Names<'a> {
    /// Of a table's rows, each named by item and model.
    pub fn new(edits: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (mut items, mut models) = (Numbers::default(), Numbers::default());
        let mut places: Vec<Place> =
            edits.enumerate().map(|(row, (item, model))| Place { row, item: items.of(item), model: models.of(model) }).collect();
        let (item_places, items) = items.sorted();
        let (model_places, models) = models.sorted();
        for place in &mut places {
            place.item = item_places[place.item as usize];
            place.model = model_places[place.model as usize];
        }
        places.sort_by_key(|place| place.item);
        Self { items, models, places }
    }

    /// Of rows.
    pub fn of_rows(rows: &'a [Row]) -> Self {
        Self::new(rows.iter().map(|row| (row.item.as_str(), row.model.as_str())))
    }

    /// Two columns of the table. `values` gives a row's metric and human mean, or `None` where the row does not belong to what is looked at.
    pub fn sheet(&'a self, values: impl Fn(usize) -> Option<[Option<f64>; 2]>) -> Sheet<'a> {
        let number = |value: Option<f64>| value.filter(|value| value.abs() <= LARGEST).unwrap_or(f64::NAN);
        let cell = |place: &Place| {
            let [metric, human] = values(place.row)?.map(number);
            Some(Cell { item: place.item, model: place.model, metric, human })
        };
        Sheet { names: self, cells: self.places.iter().filter_map(cell).collect() }
    }

    /// The columns of the rows that the names were made of.
    pub fn of(&'a self, rows: &[Row]) -> Sheet<'a> {
        self.sheet(|row| rows.get(row).map(|row| [row.metric, row.human]))
    }
}

/// One edit: what a metric and what people say of it; NaN where they say nothing.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub item: u32,
    pub model: u32,
    pub metric: f64,
    pub human: f64,
}

/// Two columns over some edits of a table, item by item.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    pub names: &'a Names<'a>,
    pub cells: Vec<Cell>,
}

impl<'a> Sheet<'a> {
    /// The edits of each item.
    pub fn items(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|a, b| a.item == b.item)
    }

    /// The same, of one model's edits only.
    pub fn of_model(&self, model: &str) -> Self {
        let own = self.names.models.binary_search(&model).ok();
        let is_own = |cell: &&Cell| Some(cell.model as usize) == own;
        Self { names: self.names, cells: self.cells.iter().filter(is_own).copied().collect() }
    }

    /// The same, of the cells that `keep` says (one for each cell).
    pub fn filtered(&self, keep: &[bool]) -> Self {
        let cells = self.cells.iter().zip(keep).filter_map(|(cell, keep)| keep.then_some(*cell)).collect();
        Self { names: self.names, cells }
    }

    /// Names of the models that have an edit here, in alphabetical order.
    pub fn models(&self) -> Vec<&'a str> {
        let mut seen = vec![false; self.names.models.len()];
        self.cells.iter().for_each(|cell| seen[cell.model as usize] = true);
        self.names.models.iter().zip(seen).filter_map(|(name, seen)| seen.then_some(*name)).collect()
    }

    /// The two columns of the edits that have both values.
    pub fn complete(&self) -> (Vec<f64>, Vec<f64>) {
        complete(&self.cells)
    }
}

/// The two columns of the cells that have both values.
pub fn complete(cells: &[Cell]) -> (Vec<f64>, Vec<f64>) {
    cells.iter().filter(|cell| !cell.metric.is_nan() && !cell.human.is_nan()).map(|cell| (cell.metric, cell.human)).unzip()
}

/// Numbers for names, in the order in which they come.
#[derive(Default)]
pub struct Numbers<'a> {
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Numbers<'a> {
    /// The number of a name.
    pub fn of(&mut self, name: &'a str) -> u32 {
        let next = self.numbers.len() as u32; // four thousand million names do not fit into memory
        *self.numbers.entry(name).or_insert(next)
    }

    /// For each number the place of its name in alphabetical order, and the names in that order.
    pub fn sorted(self) -> (Vec<u32>, Vec<&'a str>) {
        let mut names: Vec<(&str, u32)> = self.numbers.into_iter().collect();
        names.sort_unstable();
        let mut places = vec![0; names.len()];
        for (place, (_, number)) in names.iter().enumerate() {
            places[*number as usize] = place as u32;
        }
        (places, names.into_iter().map(|(name, _)| name).collect())
    }
}
