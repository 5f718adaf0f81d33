//! Tables with any column names: a map says which column is the item, the model, the rater, and which ones are answers.
//!
//! Written as `ROLE=COLUMN,ROLE=COLUMN,…`. Roles are `item`, `model`, `rater`, `comment`, `seconds`, `first`, `second` and `vote`;
//! every other word is a criterion. `CRITERION@RATER=COLUMN` is the answer of a named rater (tables with a column for each), and a
//! column written with `-` in front has lower values for better edits.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pairs::preference_of;
use super::{AnswerScale, OpinionFormat, Opinions, RatedEdit, number_of};
use crate::datasets::ratings::{UNNAMED_RATER, decimal, rater_of_file};
use crate::datasets::{Sheet, SheetRow};
use crate::domain::{CRITERIA, Criterion, ModelVote, Preference, Rating, is_answer};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Item,
    Model,
    Rater,
    Comment,
    /// How long the rating took.
    Seconds,
    /// Model of the first edit of a vote.
    First,
    /// Model of the second edit of a vote.
    Second,
    Vote,
    /// The answer to a criterion; by the named rater, or by that of the row.
    Answer {
        criterion: String,
        rater: Option<String>,
    },
}

impl Role {
    /// The roles that are not answers, with their words.
    pub const WORDS: [(&'static str, Self); 8] = [
        ("item", Self::Item),
        ("model", Self::Model),
        ("rater", Self::Rater),
        ("comment", Self::Comment),
        ("seconds", Self::Seconds),
        ("first", Self::First),
        ("second", Self::Second),
        ("vote", Self::Vote),
    ];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { criterion, rater: None } => f.write_str(criterion),
            Self::Answer { criterion, rater: Some(rater) } => write!(f, "{criterion}@{rater}"),
            plain => f.write_str(Self::WORDS.iter().find(|(_, role)| role == plain).map_or("", |(word, _)| word)),
        }
    }
}

/// One column and its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub role: Role,
    pub name: String,
    /// Lower values are better: answers are turned around.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lower_is_better: bool,
}

/// Which column holds what.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ColumnMap(pub Vec<Column>);

impl fmt::Display for ColumnMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, column) in self.0.iter().enumerate() {
            let (comma, minus) = (if i > 0 { "," } else { "" }, if column.lower_is_better { "-" } else { "" });
            write!(f, "{comma}{}={minus}{}", column.role, column.name)?;
        }
        Ok(())
    }
}

impl FromStr for ColumnMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut columns = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (role, name) = entry
                .split_once('=')
                .ok_or_else(|| format!("'{entry}' is no ROLE=COLUMN; write for example item=uid,model=method,rater=who,overall=score"))?;
            let (role, name) = (role.trim(), name.trim());
            let (lower_is_better, name) = name.strip_prefix('-').map_or((false, name), |name| (true, name.trim()));
            if role.is_empty() || name.is_empty() {
                return Err(format!("'{entry}' lacks the role or the column"));
            }
            let role = Role::WORDS.iter().find(|(word, _)| *word == role).map_or_else(|| answer(role), |(_, role)| role.clone());
            columns.push(Column { role, name: name.to_owned(), lower_is_better });
        }
        if columns.is_empty() { Err("no column is named".into()) } else { Ok(Self(columns)) }
    }
}

fn answer(word: &str) -> Role {
    let (criterion, rater) = word.split_once('@').map_or((word, None), |(criterion, rater)| (criterion, Some(rater.to_owned())));
    Role::Answer { criterion: criterion.to_owned(), rater }
}

/// Names that columns commonly have, by role; compared without case, and `_`, `-` and spaces are one.
const SYNONYMS: [(&str, &[&str]); 8] = [
    ("item", &["item", "item_id", "uid", "image_id", "img_id", "sample", "sample_id", "key", "id", "index"]),
    (
        "model",
        &[
            "model",
            "method",
            "system",
            "editor",
            "model_name",
            "method_name",
            "model_id",
            "algorithm",
            "approach",
            "technique",
            "generator",
            "network",
            "edit_model",
            "editing_method",
        ],
    ),
    (
        "rater",
        &[
            "rater",
            "annotator",
            "worker",
            "rater_id",
            "annotator_id",
            "worker_id",
            "user_id",
            "user",
            "who",
            "participant",
            "participant_id",
            "judge",
            "judge_id",
            "evaluator",
            "evaluator_id",
            "reviewer",
            "labeler",
            "labeller",
            "labeler_id",
            "subject_id",
            "respondent",
            "observer",
            "assessor",
            "user_name",
            "username",
            "rated_by",
        ],
    ),
    ("comment", &["comment", "comments", "remark", "note"]),
    ("seconds", &["seconds", "duration", "duration_s", "time_s"]),
    ("first", &["first", "model_a", "model1", "model_1", "left_model", "left"]),
    ("second", &["second", "model_b", "model2", "model_2", "right_model", "right"]),
    ("vote", &["vote", "winner", "preference", "vote_type", "choice"]),
];

/// The columns of a table that are called by a name of this role, the most telling name first.
pub(super) fn named_columns<'a>(header: &'a [String], role: &str) -> Vec<&'a str> {
    let names = SYNONYMS.iter().find(|(known, _)| *known == role).map_or(&[][..], |(_, names)| names);
    names.iter().filter_map(|name| header.iter().find(|column| alike(column, name)).map(String::as_str)).collect()
}

/// Whether two names of columns are written alike.
fn alike(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-'], "_");
    plain(a) == plain(b)
}

/// Names of columns of numbers that say nothing about quality; so do names that end in `id`.
const NO_QUALITY: [&str; 20] = [
    "seed",
    "index",
    "idx",
    "width",
    "height",
    "turn",
    "turn_index",
    "unnamed: 0",
    "row",
    "row_idx",
    "page",
    "step",
    "steps",
    "cfg",
    "guidance_scale",
    "timestamp",
    "time",
    "date",
    "at_millis",
    "age",
];

/// Whether the numbers of a column of that name may say how good an edit is.
pub fn may_be_quality(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let is_id = lower == "id" || lower.ends_with("_id") || lower.ends_with(" id") || lower.ends_with("-id");
    !is_id && !NO_QUALITY.contains(&lower.as_str())
}

/// Rows looked at to tell columns of numbers.
const LOOK: usize = 200;

impl ColumnMap {
    /// The column of a role.
    pub fn column(&self, role: &Role) -> Option<&Column> {
        self.0.iter().find(|column| column.role == *role)
    }

    /// A map guessed from names and contents: as [`Self::guess_by_name`]; where no column is an answer by its name, every other column
    /// of numbers is one that [`may_be_quality`].
    pub fn guess(sheet: &Sheet) -> Self {
        let mut map = Self::guess_by_name(sheet);
        if !map.0.iter().any(|column| matches!(column.role, Role::Answer { .. })) {
            let free: Vec<&String> = map.free_numbers(sheet);
            let answers = free.into_iter().filter(|name| may_be_quality(name)).map(|name| Column {
                role: Role::Answer { criterion: name.clone(), rater: None },
                name: name.clone(),
                lower_is_better: false,
            });
            let answers: Vec<Column> = answers.collect();
            map.0.extend(answers);
        }
        map
    }

    /// A map guessed from names: known names by role, and the paper's criteria, `rating_NAME`, `user_NAME` and `raterN_NAME` as answers.
    pub fn guess_by_name(sheet: &Sheet) -> Self {
        let mut map = Self::default();
        for (word, names) in SYNONYMS {
            let role = Role::WORDS.iter().find(|(known, _)| *known == word).map_or(Role::Item, |(_, role)| role.clone());
            let found = names.iter().find_map(|name| sheet.header.iter().find(|column| alike(column, name)));
            if let Some(name) = found.filter(|name| !map.has(name)) {
                map.0.push(Column { role, name: name.clone(), lower_is_better: false });
            }
        }
        for name in &sheet.header {
            let role = named_answer(name).filter(|_| !map.has(name) && numbers_in(sheet, name).0 > 0);
            map.0.extend(role.map(|role| Column { role, name: name.clone(), lower_is_better: false }));
        }
        map
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|column| column.name == name)
    }

    /// Columns of numbers that the map gives no role, in the order of the table.
    pub fn free_numbers<'a>(&self, sheet: &'a Sheet) -> Vec<&'a String> {
        sheet.header.iter().filter(|name| !self.has(name) && is_numeric(sheet, name)).collect()
    }

    /// Why ratings and votes cannot be read from `sheet` with this map, if they cannot.
    pub fn objection(&self, sheet: &Sheet) -> Option<String> {
        let why = self.lack(sheet).or_else(|| self.collapse(sheet));
        why.map(|why| format!("{why}; the table has: {}", sheet.header.join(", ")))
    }

    /// Several rows would be one edit or one rater because no column says which: all but the last would be lost.
    fn collapse(&self, sheet: &Sheet) -> Option<String> {
        let has = |role: &Role| self.column(role).is_some();
        let answers: Vec<&Column> = self.0.iter().filter(|column| matches!(column.role, Role::Answer { .. })).collect();
        let unnamed = answers.iter().any(|column| matches!(column.role, Role::Answer { rater: None, .. }));
        let missing = match (has(&Role::Model), has(&Role::Rater) || !unnamed) {
            (true, true) => return None,
            (false, true) => "the model",
            (true, false) => "the rater",
            (false, false) => "the model or the rater",
        };
        let mut rows: HashMap<[String; 3], usize> = HashMap::new();
        for row in &sheet.rows {
            let answered = answers.iter().any(|column| row.word(&column.name).is_some());
            let cell = |role: Role| self.column(&role).and_then(|column| row.word(&column.name)).unwrap_or_default();
            let names = [cell(Role::Item), cell(Role::Model), cell(Role::Rater)];
            if !answered || names[0].is_empty() {
                continue;
            }
            let count = rows.entry(names).or_default();
            *count += 1;
        }
        let most = rows.into_iter().filter(|(_, count)| *count > 1).max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let ([item, model, rater], count) = most?;
        let by = [model, rater].into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ");
        let about = if by.is_empty() { format!("'{item}'") } else { format!("'{item}' ({by})") };
        Some(format!("{count} rows are about {about} and no column is named as {missing}, so that all but the last would be lost"))
    }

    /// What this map lacks to be used with `sheet` at all.
    pub fn lack(&self, sheet: &Sheet) -> Option<String> {
        if let Some(missing) = self.0.iter().find(|column| !sheet.header.contains(&column.name)) {
            return Some(format!("there is no column '{}' for {}", missing.name, missing.role));
        }
        if self.column(&Role::Item).is_none() {
            return Some("no column is named as the item".to_owned());
        }
        let votes = [Role::First, Role::Second, Role::Vote].map(|role| self.column(&role).is_some());
        let answers = self.0.iter().any(|column| matches!(column.role, Role::Answer { .. }));
        match (votes, answers) {
            ([true, true, true], _) | ([false, false, false], true) => None,
            ([false, false, false], false) => Some("no column is named as an answer or a vote".to_owned()),
            (_, true) if votes != [true; 3] => None,
            _ => Some("a vote needs the columns first, second and vote".into()),
        }
    }

    /// How to write on the command line what the columns of `sheet` mean: with its own names where they are plain, with `…` where they are
    /// not.
    pub fn hint(sheet: &Sheet) -> String {
        let guess = Self::guess(sheet);
        let name = |role: &Role| guess.column(role).map_or("…", |column| column.name.as_str());
        let mut words = vec![format!("item={}", name(&Role::Item)), format!("model={}", name(&Role::Model))];
        words.extend(guess.column(&Role::Rater).map(|column| format!("rater={}", column.name)));
        let answers: Vec<&Column> = guess.0.iter().filter(|column| matches!(column.role, Role::Answer { .. })).take(3).collect();
        words.extend(answers.iter().map(|column| format!("{}={}", column.role, column.name)));
        if answers.is_empty() {
            words.push("overall=…".to_owned());
        }
        format!("say what they mean with --columns {}", words.join(","))
    }
}

/// Whether most of the cells that are filled hold numbers.
fn is_numeric(sheet: &Sheet, name: &str) -> bool {
    let (numbers, filled) = numbers_in(sheet, name);
    numbers * 2 > filled
}

/// How many of the cells looked at hold numbers, and how many are filled.
fn numbers_in(sheet: &Sheet, name: &str) -> (usize, usize) {
    let cells: Vec<String> = sheet.rows.iter().take(LOOK).filter_map(|row| row.word(name)).collect();
    (cells.iter().filter(|cell| number_of(cell).is_some()).count(), cells.len())
}

/// An answer that is plain from its name.
fn named_answer(name: &str) -> Option<Role> {
    let lower = name.to_lowercase();
    let criterion = lower.strip_prefix("rating_").or_else(|| lower.strip_prefix("user_")).unwrap_or(&lower);
    if let Some(known) = CRITERIA.into_iter().map(Criterion::name).find(|known| *known == criterion) {
        return Some(Role::Answer { criterion: known.to_owned(), rater: None });
    }
    let (rater, criterion) = name.split_once('_')?;
    let number = rater.to_lowercase().strip_prefix("rater").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    (number && !criterion.is_empty()).then(|| Role::Answer { criterion: criterion.to_owned(), rater: Some(rater.to_owned()) })
}

/// Reads a table by a map; without one by a guessed one.
///
/// # Errors
/// When the map names a column that is not there, or lacks the item or any answer.
pub fn read_columns(sheet: &Sheet, map: Option<&ColumnMap>) -> Result<Opinions, String> {
    let guessed;
    let (map, how) = match map {
        Some(map) => (map, "columns as given"),
        None => {
            guessed = ColumnMap::guess(sheet);
            (&guessed, "columns guessed (--columns says otherwise)")
        }
    };
    if let Some(why) = map.objection(sheet) {
        return Err(why);
    }
    let mut found = Opinions::new(OpinionFormat::Columns, sheet.problems.clone());
    let nameless = rater_of_file(Path::new(&sheet.file));
    for row in &sheet.rows {
        read_row(map, row, &nameless, &mut found);
    }
    let paper = CRITERIA.map(Criterion::name);
    for column in &map.0 {
        let Role::Answer { criterion, .. } = &column.role else { continue };
        if column.lower_is_better {
            found.unscaled.insert(criterion.clone());
        } else if paper.contains(&criterion.as_str()) {
            found.scales.insert(criterion.clone(), AnswerScale::RUBRIC);
        }
    }
    let unnamed = found.ratings.iter().map(|rated| &rated.rating.rater).chain(found.votes.iter().map(|vote| &vote.rater));
    let by_file = map.column(&Role::Rater).is_none() && unnamed.into_iter().any(|rater| *rater == nameless);
    let by_file =
        if by_file { format!("; no column names the rater, so it is '{nameless}', as the file is called") } else { String::new() };
    found.read_as = format!("{how}: {map}{by_file}");
    Ok(found)
}

fn read_row(map: &ColumnMap, row: &SheetRow, nameless: &str, found: &mut Opinions) {
    let cell = |role: &Role| map.column(role).and_then(|column| row.word(&column.name));
    let name_of = |role: &Role| map.column(role).map_or("", |column| column.name.as_str());
    let Some(item) = cell(&Role::Item) else {
        found.problem(&row.place, name_of(&Role::Item), "the row names no item; left out");
        return;
    };
    let rater = match (map.column(&Role::Rater), cell(&Role::Rater)) {
        (_, Some(rater)) => rater,
        (None, None) => nameless.to_owned(),
        (Some(column), None) => {
            found.problem(&row.place, &column.name, format!("the row names no rater; taken as by '{UNNAMED_RATER}'"));
            UNNAMED_RATER.to_owned()
        }
    };
    read_vote(map, row, &item, &rater, found);
    let by_rater = answers_of(map, row, &rater, found);
    let comment = cell(&Role::Comment).unwrap_or_default();
    let seconds = cell(&Role::Seconds).and_then(|text| number_of(&text)).filter(|seconds| *seconds >= 0.0);
    let model = cell(&Role::Model);
    if model.is_none() && map.column(&Role::Model).is_some() && !by_rater.is_empty() {
        found.problem(&row.place, name_of(&Role::Model), "the row names no model; its ratings are left out");
        return;
    }
    for (rater, values) in by_rater {
        let rating = Rating { comment: comment.clone(), ..Rating::new(rater, values) };
        let model = model.clone().unwrap_or_default();
        found.ratings.push(RatedEdit { item: item.clone(), model, rating, seconds, place: row.place.clone() });
    }
}

/// The answers in a row, by rater and criterion.
fn answers_of(map: &ColumnMap, row: &SheetRow, rater: &str, found: &mut Opinions) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut by_rater: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for column in &map.0 {
        let Role::Answer { criterion, rater: named } = &column.role else { continue };
        let value = match row.cells.get(&column.name) {
            None | Some(Value::Null) => continue,
            Some(Value::Number(number)) => number.as_f64(),
            Some(_) => match row.word(&column.name) {
                None => continue,
                Some(text) => number_of(&text),
            },
        };
        let Some(value) = value.filter(|value| is_answer(*value)) else {
            let text = row.word(&column.name).unwrap_or_else(|| row.cells[&column.name].to_string());
            let why = if is_too_large(&text) { TOO_LARGE } else { "is not a number" };
            found.problem(&row.place, &column.name, format!("'{text}' {why}; read as missing"));
            continue;
        };
        let value = if column.lower_is_better { -value } else { value };
        by_rater.entry(named.as_deref().unwrap_or(rater).to_owned()).or_default().insert(criterion.clone(), value);
    }
    by_rater
}

/// What is said of a number that no scale needs.
const TOO_LARGE: &str = "is beyond ±1e15, which no scale needs";

/// Whether a cell holds a number that is too large for an answer.
fn is_too_large(text: &str) -> bool {
    decimal(text).is_some_and(|value| !value.is_nan() && !is_answer(value))
}

/// A vote may be written in words, or as the name of the model that won.
fn read_vote(map: &ColumnMap, row: &SheetRow, item: &str, rater: &str, found: &mut Opinions) {
    let [Some(first), Some(second), Some(vote)] = [Role::First, Role::Second, Role::Vote].map(|role| map.column(&role)) else { return };
    let (Some(first_model), Some(second_model)) = (row.word(&first.name), row.word(&second.name)) else {
        found.problem(&row.place, &first.name, "the row does not name two models; its vote is left out");
        return;
    };
    let Some(text) = row.word(&vote.name) else { return };
    let preference = match text.as_str() {
        text if text == first_model => Some(Preference::First),
        text if text == second_model => Some(Preference::Second),
        text => preference_of(text),
    };
    let Some(preference) = preference.filter(|_| first_model != second_model) else {
        let reason = format!("'{text}' is no vote between '{first_model}' and '{second_model}'; left out");
        found.problem(&row.place, &vote.name, reason);
        return;
    };
    found.votes.push(ModelVote {
        item: item.to_owned(),
        criterion: Criterion::Overall.name().to_owned(),
        rater: rater.to_owned(),
        first: first_model,
        second: second_model,
        preference,
    });
}
