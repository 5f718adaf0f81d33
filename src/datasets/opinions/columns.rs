//! Tables with any column names: a map says which column is the item, the model, the rater, and which ones are answers.
//!
//! Written as `ROLE=COLUMN,ROLE=COLUMN,…`. Roles are `item`, `model`, `rater`, `comment`, `seconds`, `first`, `second` and `vote`;
//! every other word is a criterion. `CRITERION@RATER=COLUMN` is the answer of a named rater (tables with a column for each), and a
//! column written with `-` in front has lower values for better edits.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::datasets::{Sheet, is_missing_word};
use crate::domain::{CRITERIA, Criterion};

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

/// Filled cells looked at to tell columns of numbers.
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
            let is_free = |role: &Role| !map.has(name) && map.column(role).is_none();
            let role = named_answer(name).filter(|role| is_free(role) && numbers_in(sheet, name).0 > 0);
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

    /// Columns of no role that hold numbers, or words for missing ones, but too few numbers to be taken for a column of them; one sentence
    /// each.
    pub fn passed_over(&self, sheet: &Sheet) -> Vec<String> {
        let mut told = Vec::new();
        for name in sheet.header.iter().filter(|name| !name.is_empty() && !self.has(name)) {
            let (numbers, filled) = numbers_in(sheet, name);
            if may_be_quality(name) && numbers > 0 && numbers * 2 <= filled {
                told.push(format!(
                    "column '{name}' is not taken for one of numbers: of {filled} cells that were looked at, {numbers} hold one"
                ));
            } else if may_be_quality(name) && filled == 0 && sheet.rows.iter().any(|row| row.word(name).is_some()) {
                told.push(format!(
                    "column '{name}' is not taken for one of numbers: all of its cells say that there is none (\"NaN\", \"n/a\")"
                ));
            }
        }
        told
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
        let twice = self.0.iter().enumerate().find_map(|(at, column)| Some((column, self.0[..at].iter().find(|c| c.role == column.role)?)));
        if let Some((second, first)) = twice {
            return Some(format!("the columns '{}' and '{}' are both named as {}", first.name, second.name, second.role));
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

/// Whether most of the cells that hold anything hold numbers. Words for a missing number say nothing.
fn is_numeric(sheet: &Sheet, name: &str) -> bool {
    let (numbers, filled) = numbers_in(sheet, name);
    numbers * 2 > filled
}

/// How many of the cells looked at hold numbers, and how many hold anything; words for a missing number ("NaN", "n/a") are nothing.
pub(super) fn numbers_in(sheet: &Sheet, name: &str) -> (usize, usize) {
    let filled = sheet.rows.iter().filter_map(|row| row.word(name)).filter(|cell| !is_missing_word(cell));
    let are_numbers: Vec<bool> = filled.take(LOOK).map(|cell| sheet.decimals.number(&cell).is_some()).collect();
    (are_numbers.iter().filter(|is_number| **is_number).count(), are_numbers.len())
}

/// An answer that is plain from its name.
pub(super) fn named_answer(name: &str) -> Option<Role> {
    let lower = name.to_lowercase();
    let criterion = lower.strip_prefix("rating_").or_else(|| lower.strip_prefix("user_")).unwrap_or(&lower);
    if let Some(known) = CRITERIA.into_iter().map(Criterion::name).find(|known| *known == criterion) {
        return Some(Role::Answer { criterion: known.to_owned(), rater: None });
    }
    let (rater, criterion) = name.split_once('_')?;
    let number = rater.to_lowercase().strip_prefix("rater").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    (number && !criterion.is_empty()).then(|| Role::Answer { criterion: criterion.to_owned(), rater: Some(rater.to_owned()) })
}
