//! The same rows as a table. The columns are those that some row has a value for.
//!
//! Unknown keys that hold only text are columns of their own name; others are columns `KEY:json` with JSON in the cells, so that
//! numbers, lists and empty texts come back as what they were. Results stand in columns `editscope.…` at the end: numbers, with
//! the reason beside them where there is none; `editscope.outdated` is `true` where picture, parse or regions changed since.

use std::path::Path;

use serde_json::Value;

use super::rows::Folder;
use super::{ExportError, write_file};
use crate::domain::{Baseline, ExportRow, Outcome, Parse, Parts, Triage, Zone, baseline_column, column_name, escaped_cell};

/// Writes a table with commas and a header. Picture paths are relative to the folder of `out`.
///
/// # Errors
/// When the file cannot be written.
pub fn write_csv(rows: &[ExportRow], out: &Path) -> Result<(), ExportError> {
    let folder = Folder::of(out)?;
    write_file(out, |file| {
        let mut table = csv::Writer::from_writer(file);
        let columns = Columns::of(rows);
        let escaped = |cells: Vec<String>| cells.into_iter().map(|cell| escaped_cell(&cell).into_owned()).collect::<Vec<_>>();
        table.write_record(escaped(columns.header())).map_err(|error| error.to_string())?;
        for row in rows {
            table.write_record(escaped(columns.cells(row, &folder)?)).map_err(|error| error.to_string())?;
        }
        table.flush().map_err(|error| error.to_string())
    })
}

const ALWAYS: [&str; 6] = ["id", "item", "source", "instruction", "edited", "model"];
const JSON_SUFFIX: &str = ":json";

struct Columns {
    parse: bool,
    ratings: bool,
    results: bool,
    /// Some row was corrected: what was automatic has columns too.
    automatic: bool,
    /// Columns of baselines that some row has an outcome for, by name.
    baselines: Vec<String>,
    /// Some row has flags.
    flags: bool,
    /// Some score is outdated.
    outdated: bool,
    /// Names of the triage numbers that some row has.
    triage: Vec<&'static str>,
    /// Criteria that anybody answered.
    criteria: Vec<String>,
    /// Key, and whether its cells hold JSON.
    unknown: Vec<(String, bool)>,
}

impl Columns {
    fn of(rows: &[ExportRow]) -> Self {
        let mut unknown: Vec<(String, bool)> = Vec::new();
        let mut index = std::collections::HashMap::new();
        for (key, value) in rows.iter().flat_map(ExportRow::unknown) {
            let at = *index.entry(key.clone()).or_insert_with(|| {
                let is_json = key.ends_with(JSON_SUFFIX);
                unknown.push((key, is_json));
                unknown.len() - 1
            });
            unknown[at].1 |= value.as_str().is_none_or(str::is_empty);
        }
        let mut criteria: Vec<String> =
            rows.iter().flat_map(|row| row.human().into_keys().map(str::to_owned).collect::<Vec<_>>()).collect();
        criteria.sort();
        criteria.dedup();
        Self {
            parse: rows.iter().any(|row| row.parse.is_some()),
            ratings: rows.iter().any(|row| !row.ratings.is_empty()),
            results: rows.iter().any(|row| row.result.is_some()),
            automatic: rows.iter().any(|row| row.result.as_ref().is_some_and(|result| result.automatic.is_some())),
            baselines: baseline_columns(rows),
            flags: rows.iter().any(|row| row.result.as_ref().is_some_and(|result| !result.flags.is_empty())),
            outdated: rows.iter().any(|row| row.result.as_ref().is_some_and(|result| result.outdated)),
            triage: triage_columns(rows),
            criteria,
            unknown,
        }
    }

    fn header(&self) -> Vec<String> {
        let mut header: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
        if self.parse {
            header.extend(Parse::FIELDS.iter().chain(&["doubtful", "more_edits", "origin"]).map(|name| format!("parse.{name}")));
        }
        if self.ratings {
            header.push("ratings".into());
        }
        header.extend(self.unknown.iter().map(|(key, is_json)| if *is_json { format!("{key}{JSON_SUFFIX}") } else { key.clone() }));
        if self.results {
            header.extend(["editscope.profile", "editscope.range", "editscope.failed"].map(str::to_owned));
            for name in Parts::NAMES.into_iter().chain(["overall"]) {
                header.extend([format!("editscope.{name}"), format!("editscope.{name}.why")]);
            }
            header.extend(self.baselines.iter().flat_map(|name| [format!("editscope.{name}"), format!("editscope.{name}.why")]));
        }
        if self.flags {
            header.push("editscope.flags".into());
        }
        if self.outdated {
            header.push("editscope.outdated".into());
        }
        header.extend(self.triage.iter().map(|name| format!("editscope.triage.{name}")));
        if self.automatic {
            for name in Parts::NAMES.into_iter().chain(["overall"]) {
                header.extend([format!("editscope.automatic.{name}"), format!("editscope.automatic.{name}.why")]);
            }
        }
        header.extend(self.criteria.iter().map(|criterion| format!("editscope.human.{criterion}")));
        header
    }

    fn cells(&self, row: &ExportRow, folder: &Folder) -> Result<Vec<String>, String> {
        let (source, edited) = (folder.path_to(&row.source), folder.path_to(&row.edited));
        let mut cells = vec![row.id.clone(), row.item.clone(), source, row.instruction.clone(), edited, row.model.clone()];
        if self.parse {
            cells.extend(parse_cells(row.parse.as_ref()));
        }
        if self.ratings {
            let ratings = serde_json::to_string(&row.ratings).map_err(|error| error.to_string())?;
            cells.push(if row.ratings.is_empty() { String::new() } else { ratings });
        }
        let unknown: std::collections::HashMap<String, &Value> = row.unknown().collect();
        cells.extend(self.unknown.iter().map(|(key, is_json)| match unknown.get(key) {
            None => String::new(),
            Some(Value::String(text)) if !is_json => text.clone(),
            Some(value) => value.to_string(),
        }));
        if self.results {
            cells.extend(result_cells(row));
            cells.extend(self.baselines.iter().flat_map(|name| {
                let outcome = row.result.as_ref().and_then(|result| baseline_column(&result.baselines, name));
                outcome_cells(outcome)
            }));
        }
        if self.flags {
            cells.push(row.result.as_ref().map(|result| result.flags.join(" ")).unwrap_or_default());
        }
        if self.outdated {
            let outdated = row.result.as_ref().is_some_and(|result| result.outdated);
            cells.push(if outdated { "true".to_owned() } else { String::new() });
        }
        let triage = row.result.as_ref().map(|result| triage_cells(&result.triage)).unwrap_or_default();
        let number = |name: &&str| triage.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value);
        cells.extend(self.triage.iter().map(|name| number(name).map(|value| value.to_string()).unwrap_or_default()));
        if self.automatic {
            let automatic = row.result.as_ref().and_then(|result| result.automatic.as_ref());
            cells.extend(part_cells(automatic.map(|automatic| &automatic.parts), automatic.map(|automatic| &automatic.overall)));
        }
        let human = row.human();
        cells.extend(self.criteria.iter().map(|criterion| human.get(criterion.as_str()).map(f64::to_string).unwrap_or_default()));
        Ok(cells)
    }
}

fn parse_cells(parse: Option<&Parse>) -> Vec<String> {
    let Some(parse) = parse else { return vec![String::new(); Parse::FIELDS.len() + 3] };
    let origin = serde_json::to_value(parse.origin).ok().and_then(|origin| origin.as_str().map(str::to_owned));
    let fields = Parse::FIELDS.iter().map(|name| parse.field(name).unwrap_or_default().to_owned());
    let more = if parse.more_edits { "true".to_owned() } else { String::new() };
    fields.chain([parse.doubtful.clone().unwrap_or_default(), more, origin.unwrap_or_default()]).collect()
}

fn result_cells(row: &ExportRow) -> Vec<String> {
    let Some(result) = &row.result else { return vec![String::new(); 3 + 2 * (Parts::NAMES.len() + 1)] };
    let failed = result.parts.as_ref().err().cloned().unwrap_or_default();
    let mut cells = vec![result.profile.to_string(), result.range.clone().unwrap_or_default(), failed];
    cells.extend(part_cells(result.parts.as_ref().ok(), result.overall.as_ref()));
    cells
}

/// Value and reason of the four parts and of the overall; empty where there is neither.
fn part_cells(parts: Option<&Parts>, overall: Option<&Outcome<f64>>) -> Vec<String> {
    let named = Parts::NAMES.into_iter().map(|name| parts.and_then(|parts| parts.get(name)));
    named.chain([overall]).flat_map(outcome_cells).collect()
}

/// A value, and the reason why there is none.
fn outcome_cells(outcome: Option<&Outcome<f64>>) -> [String; 2] {
    [
        outcome.and_then(Outcome::value).map(f64::to_string).unwrap_or_default(),
        outcome.and_then(Outcome::why).unwrap_or_default().to_owned(),
    ]
}

/// The numbers of triage by the names of their columns, in their order.
fn triage_cells(triage: &Triage) -> Vec<(&'static str, Option<f64>)> {
    let (change, shift) = (triage.change, triage.shift);
    vec![
        ("leak", change.and_then(|change| change.leak)),
        ("unchanged", change.and_then(|change| change.unchanged)),
        ("changed", change.map(|change| change.changed)),
        ("edit_width", triage.other_size.map(|size| f64::from(size.width))),
        ("edit_height", triage.other_size.map(|size| f64::from(size.height))),
        ("shift_dx", shift.map(|shift| shift.dx)),
        ("shift_dy", shift.map(|shift| shift.dy)),
        ("shift_zoom", shift.map(|shift| shift.zoom)),
        ("shift_explained", shift.map(|shift| shift.explained)),
        ("shift_loss", shift.and_then(|shift| shift.loss)),
        ("shift_loss_aligned", shift.and_then(|shift| shift.loss_aligned)),
    ]
}

/// Those of them that some row has.
fn triage_columns(rows: &[ExportRow]) -> Vec<&'static str> {
    let results: Vec<_> = rows.iter().filter_map(|row| Some(triage_cells(&row.result.as_ref()?.triage))).collect();
    let has = |at: usize| results.iter().any(|cells| cells[at].1.is_some());
    triage_cells(&Triage::default()).into_iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, (name, _))| name).collect()
}

/// Whole, inside and outside of every baseline that some row has, in the order that they are shown; unknown ones last.
fn baseline_columns(rows: &[ExportRow]) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> =
        rows.iter().filter_map(|row| row.result.as_ref()).flat_map(|result| result.baselines.keys()).collect();
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort_by_key(|name| Baseline::from_name(name).map_or(usize::MAX, |baseline| baseline as usize));
    names.into_iter().flat_map(|name| Zone::ALL.map(|zone| column_name(name, zone))).collect()
}
