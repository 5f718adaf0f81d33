//! Answers as tables of edits and raters. Sorted once by number, because long tables are asked many things.

use std::collections::HashMap;

use super::people::Answer;
use super::raters::Unit;
use super::sheet::{LARGEST, Numbers};

/// The answers to one criterion.
pub struct Asked<'a> {
    pub criterion: &'a str,
    /// In alphabetical order.
    pub raters: Vec<&'a str>,
    /// Item and model, in alphabetical order; each has an answer.
    pub edits: Vec<(&'a str, &'a str)>,
    /// One unit an edit, one cell a rater: the answers that count. Of several by one rater for an edit the last one counts.
    pub units: Vec<Unit>,
    /// By rater: every answer, edit by edit, in the order given.
    all: Vec<Vec<(usize, &'a Answer)>>,
}

impl<'a> Asked<'a> {
    /// The edits of each model, in alphabetical order of models.
    pub fn by_model(&self) -> Vec<OfModel<'a>> {
        let mut models: Vec<(&str, usize)> = self.edits.iter().enumerate().map(|(at, (_, model))| (*model, at)).collect();
        models.sort_unstable();
        let part = |edits: &[(&'a str, usize)]| {
            let answered = |rater: usize| edits.iter().any(|(_, at)| self.units[*at][rater].is_some());
            let columns: Vec<usize> = (0..self.raters.len()).filter(|&rater| answered(rater)).collect();
            let unit = |(_, at): &(&str, usize)| columns.iter().map(|&rater| self.units[*at][rater]).collect();
            OfModel {
                model: edits[0].0,
                raters: columns.iter().map(|&rater| self.raters[rater]).collect(),
                units: edits.iter().map(unit).collect(),
                items: numbered(edits.iter().map(|(_, at)| self.edits[*at].0)),
            }
        };
        models.chunk_by(|a, b| a.0 == b.0).map(part).collect() // no chunk is empty
    }

    /// For each edit the number of its item.
    pub fn items(&self) -> Vec<usize> {
        numbered(self.edits.iter().map(|(item, _)| *item))
    }

    /// Distance of a rater's last two answers to each edit that was answered more than once.
    pub fn repeats(&self, rater: usize) -> Vec<f64> {
        let of_edit = self.all[rater].chunk_by(|a, b| a.0 == b.0);
        of_edit.filter_map(|answers| answers.last_chunk::<2>()).map(|[(_, a), (_, b)]| (a.value - b.value).abs()).collect()
    }

    /// How long a rater's answers took, as far as that is known.
    pub fn seconds(&self, rater: usize) -> Vec<f64> {
        self.all[rater].iter().filter_map(|(_, answer)| answer.seconds).collect()
    }
}

/// The answers to the edits of one model.
pub struct OfModel<'a> {
    pub model: &'a str,
    /// Who answered one of them.
    pub raters: Vec<&'a str>,
    pub units: Vec<Unit>,
    /// For each edit the number of its item.
    pub items: Vec<usize>,
}

/// The same number for the same name; names that are equal stand together.
pub fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let (mut number, mut last) = (0, None);
    names
        .map(|name| {
            number += usize::from(last.is_some_and(|last| last != name));
            last = Some(name);
            number
        })
        .collect()
}

/// One table for each criterion, in alphabetical order. Answers that are no numbers do not count.
pub fn counted(answers: &[Answer]) -> Vec<Asked<'_>> {
    let (mut criteria, mut raters) = (Numbers::default(), Numbers::default());
    let mut edits: HashMap<(&str, &str), u32> = HashMap::new();
    let mut placed: Vec<Placed> = Vec::with_capacity(answers.len());
    for (row, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.value.abs() <= LARGEST) {
        let next = edits.len() as u32; // more edits do not fit into memory
        let edit = *edits.entry((&answer.item, &answer.model)).or_insert(next);
        placed.push(Placed { criterion: criteria.of(&answer.criterion), edit, rater: raters.of(&answer.rater), row });
    }
    let ((criterion_places, criteria), (rater_places, raters)) = (criteria.sorted(), raters.sorted());
    let mut names: Vec<((&str, &str), u32)> = edits.into_iter().collect();
    names.sort_unstable();
    let mut edit_places = vec![0; names.len()];
    for (place, (_, number)) in names.iter().enumerate() {
        edit_places[*number as usize] = place as u32;
    }
    for cell in &mut placed {
        cell.criterion = criterion_places[cell.criterion as usize];
        cell.edit = edit_places[cell.edit as usize];
        cell.rater = rater_places[cell.rater as usize];
    }
    placed.sort_unstable_by_key(|cell| (cell.criterion, cell.edit, cell.row));
    let of_criterion = placed.chunk_by(|a, b| a.criterion == b.criterion);
    of_criterion.map(|cells| table(criteria[cells[0].criterion as usize], cells, answers, &raters, &names)).collect() // no chunk is empty
}

/// Where one answer belongs.
struct Placed {
    criterion: u32,
    edit: u32,
    rater: u32,
    row: usize,
}

/// The table of one criterion's answers, given edit by edit.
fn table<'a>(
    criterion: &'a str,
    cells: &[Placed],
    answers: &'a [Answer],
    raters: &[&'a str],
    names: &[((&'a str, &'a str), u32)],
) -> Asked<'a> {
    let mut columns = vec![None; raters.len()];
    cells.iter().for_each(|cell| columns[cell.rater as usize] = Some(0));
    let own: Vec<usize> = (0..raters.len()).filter(|&rater| columns[rater].is_some()).collect();
    own.iter().enumerate().for_each(|(column, &rater)| columns[rater] = Some(column));
    let mut found = Asked {
        criterion,
        raters: own.iter().map(|&rater| raters[rater]).collect(),
        edits: Vec::new(),
        units: Vec::new(),
        all: vec![Vec::new(); own.len()],
    };
    for of_edit in cells.chunk_by(|a, b| a.edit == b.edit) {
        let mut unit: Unit = vec![None; own.len()];
        for cell in of_edit {
            let answer = &answers[cell.row];
            if let Some(column) = columns[cell.rater as usize] {
                unit[column] = Some(answer.value);
                found.all[column].push((found.edits.len(), answer));
            }
        }
        found.edits.push(names[of_edit[0].edit as usize].0); // no chunk is empty
        found.units.push(unit);
    }
    found
}
