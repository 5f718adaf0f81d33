//! ImagenHub's tables of human ratings: one file a rater, a row for each picture, a column for each model, `[SC, PQ]` in the cells.
//!
//! SC is semantic consistency, PQ perceptual quality, both in {0, 0.5, 1}. The published files write `[0,0]` and `[0, 0]`.
//! Nothing is evaluated: a cell is two numbers in brackets, or it is listed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{AnswerScale, OpinionFormat, Opinions, RatedEdit, number_of};
use crate::datasets::Sheet;
use crate::domain::Rating;

const CRITERIA: [&str; 2] = ["SC", "PQ"];
const ITEM: &str = "uid";
/// Rows looked at to recognise the format.
const LOOK: usize = 20;

pub(super) fn recognises(sheet: &Sheet) -> bool {
    let bracketed = |value: &Value| value.as_str().is_some_and(|text| text.trim().starts_with('['));
    sheet.has(&[ITEM]) && sheet.rows.iter().take(LOOK).flat_map(|row| row.cells.values()).any(bracketed)
}

pub(super) fn read(sheet: &Sheet) -> Result<Opinions, String> {
    if !sheet.has(&[ITEM]) {
        return Err(format!("there is no column '{ITEM}'; it has: {}", sheet.header.join(", ")));
    }
    let rater = rater_of(&sheet.file);
    let mut found = Opinions::new(OpinionFormat::ImagenHub, sheet.problems.clone());
    let models: Vec<&String> = sheet.header.iter().filter(|column| *column != ITEM && !column.is_empty()).collect();
    for row in &sheet.rows {
        let Some(item) = row.word(ITEM) else {
            found.problem(&row.place, ITEM, "the row names no picture; left out");
            continue;
        };
        for model in &models {
            let Some(cell) = row.cells.get(*model) else { continue };
            let text = cell.as_str().map_or_else(|| cell.to_string(), |text| text.trim().to_owned());
            if text.is_empty() {
                continue;
            }
            match pair_in_brackets(&text) {
                Ok(pair) => {
                    let values: BTreeMap<String, f64> = CRITERIA.map(str::to_owned).into_iter().zip(pair).collect();
                    let rating = Rating::new(rater.clone(), values);
                    found.ratings.push(RatedEdit {
                        item: item.clone(),
                        model: (*model).clone(),
                        rating,
                        seconds: None,
                        place: row.place.clone(),
                    });
                }
                Err(why) => found.problem(&row.place, model, format!("'{text}' is not [SC, PQ]: {why}; left out")),
            }
        }
    }
    let scale = AnswerScale { min: 0.0, max: 1.0, step: Some(0.5) };
    found.scales = CRITERIA.map(|name| (name.to_owned(), scale)).into_iter().collect();
    found.read_as = format!("ratings [SC, PQ] by '{rater}' (from the file's name) of {} models", models.len());
    Ok(found)
}

/// Exactly two numbers in square brackets.
fn pair_in_brackets(text: &str) -> Result<[f64; 2], String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or("no brackets around it")?;
    let separator = if inner.contains(';') { ';' } else { ',' };
    let parts: Vec<&str> = inner.split(separator).collect();
    let [first, second] = parts[..] else { return Err(format!("{} values instead of two", parts.len())) };
    let number = |part: &str| number_of(part).ok_or_else(|| format!("'{}' is no number", part.trim()));
    Ok([number(first)?, number(second)?])
}

/// `Text-Guided_IE_rater2.tsv` was rated by `rater2`; a file without that word by its name.
fn rater_of(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match stem.to_ascii_lowercase().rfind("rater") {
        Some(at) => stem[at..].to_owned(),
        None => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_in_brackets_and_nothing_else() {
        for (text, pair) in [("[0,0]", [0.0, 0.0]), ("[0, 0.5]", [0.0, 0.5]), ("[ 1 ,1 ]", [1.0, 1.0]), ("[0,5; 1]", [0.5, 1.0])] {
            assert_eq!(pair_in_brackets(text), Ok(pair), "{text}");
        }
        for wrong in ["0, 0", "[0]", "[0, 0, 1]", "[0,5, 1]", "[a, 1]", "[nan, 1]", "[]", "[__import__('os'), 1]"] {
            assert!(pair_in_brackets(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_rater_is_named_by_the_file() {
        assert_eq!(rater_of("Text-Guided_IE_rater2.tsv"), "rater2");
        assert_eq!(rater_of("kim.tsv"), "kim");
    }
}
