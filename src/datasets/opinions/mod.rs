//! What people said of edits, from tables that need no pictures: ratings by criterion, and votes between two edits.
//!
//! | format | what it is | recognised by |
//! |---|---|---|
//! | `imagenhub` | one table a rater, `[SC, PQ]` in a column for each model | a column `uid` and cells of two numbers in brackets |
//! | `genai-bench` | votes left, right, tie, both bad | columns `left_model`, `right_model`, `vote_type` |
//! | `editreward` | pairs, the preferred one first, with 1-4 on two dimensions | columns `model1`, `model2`, `model1_dim1_score` |
//! | `editscore` | pairs, the preferred one first, by dimension | columns `key`, `dimension`, `output_images` |
//! | `bpm` | `user_…` values of BPM's JSON | as a data set |
//! | `manifest` | ratings inside the neutral manifest | columns `source` and `edited` |
//! | `editscope` | what `export --format ratings` writes | columns `kind` and `rater` |
//! | `columns` | anything else, by a [`ColumnMap`] that is given or guessed from the names | – |
//!
//! The sets that are published as Parquet are read from their JSON, JSONL or CSV export. Higher answers are better; a column whose
//! lower values are better is marked in the map. What was not understood is listed with row and column, and the rest goes on.

mod by_columns;
mod columns;
mod imagenhub;
mod pairs;
mod rater_file;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::{DecimalSign, Format, LOCATE_LATER, Problem, ReadError, Sheet, bpm, read_rater_rows};
use crate::domain::{ModelVote, Preference, Rating, assumed_scale, rater_name, scale_words};

pub use by_columns::read_columns;
pub use columns::{Column, ColumnMap, Role, may_be_quality};
pub use rater_file::recognises as is_rater_file;

/// A way in which opinions are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpinionFormat {
    ImagenHub,
    GenAiBench,
    EditReward,
    EditScore,
    Bpm,
    Manifest,
    /// What this program exports.
    RaterFile,
    Columns,
}

impl OpinionFormat {
    /// All formats, in the order of the table above.
    pub const ALL: [Self; 8] =
        [Self::ImagenHub, Self::GenAiBench, Self::EditReward, Self::EditScore, Self::Bpm, Self::Manifest, Self::RaterFile, Self::Columns];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ImagenHub => "imagenhub",
            Self::GenAiBench => "genai-bench",
            Self::EditReward => "editreward",
            Self::EditScore => "editscore",
            Self::Bpm => "bpm",
            Self::Manifest => "manifest",
            Self::RaterFile => "editscope",
            Self::Columns => "columns",
        }
    }
}

impl fmt::Display for OpinionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OpinionFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("there is no format of ratings '{text}'; take one of {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// One rating, with the names of what was rated.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedEdit {
    /// Key of the item, as the table writes it.
    pub item: String,
    /// Empty when the table names no model.
    pub model: String,
    pub rating: Rating,
    /// How long it took; `None` when the table does not say.
    pub seconds: Option<f64>,
    /// Where it stands, as a message names it (`file:line`).
    pub place: String,
}

/// The answers that a criterion allows; higher is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerScale {
    pub min: f64,
    pub max: f64,
    /// Distance of neighbouring answers; `None` when anything between is allowed.
    pub step: Option<f64>,
}

impl AnswerScale {
    /// The paper's rubric, 1 to 5. Means of several people are answers too, so there is no step.
    pub const RUBRIC: Self = Self { min: 1.0, max: 5.0, step: None };

    /// In the words of [`scale_words`].
    pub fn words(self) -> String {
        match self.step {
            Some(step) if step > 0.0 => {
                let points = ((self.max - self.min) / step).round().max(0.0) as u32;
                scale_words(&(0..=points).map(|point| self.min + f64::from(point) * step).collect::<Vec<_>>())
            }
            _ => format!("{} to {}", self.min, self.max),
        }
    }

    /// Whether `value` is an allowed answer.
    pub fn fits(self, value: f64) -> bool {
        let on_step = self.step.is_none_or(|step| {
            let steps = (value - self.min) / step;
            (steps - steps.round()).abs() < 1e-9
        });
        (self.min..=self.max).contains(&value) && on_step
    }
}

impl fmt::Display for AnswerScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)?;
        self.step.map_or(Ok(()), |step| write!(f, " in steps of {step}"))
    }
}

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinions {
    pub format: OpinionFormat,
    /// In the order of the file. The same rater may come twice for an edit: the last answer counts, the earlier ones show how
    /// consistent the rater is.
    pub ratings: Vec<RatedEdit>,
    pub votes: Vec<ModelVote>,
    /// Where each vote stands, as a message names it (`file:line`).
    pub vote_places: Vec<String>,
    /// The scale of each criterion that has a known one.
    pub scales: BTreeMap<String, AnswerScale>,
    /// Criteria whose answers are on no known scale, whatever such a criterion is usually asked on: their sign was turned, or they do not fit.
    pub unscaled: BTreeSet<String>,
    /// How columns were taken, in words, for the person to check.
    pub read_as: String,
    /// What was not understood, or is out of its scale.
    pub problems: Vec<Problem>,
}

impl Opinions {
    /// Nothing read yet; `problems` are those of the table.
    const fn new(format: OpinionFormat, problems: Vec<Problem>) -> Self {
        Self {
            format,
            ratings: Vec::new(),
            votes: Vec::new(),
            vote_places: Vec::new(),
            scales: BTreeMap::new(),
            unscaled: BTreeSet::new(),
            read_as: String::new(),
            problems,
        }
    }

    fn add_vote(&mut self, place: &str, vote: ModelVote) {
        self.votes.push(vote);
        self.vote_places.push(place.to_owned());
    }

    fn problem(&mut self, place: &str, column: &str, reason: impl fmt::Display) {
        self.problems.push(Problem { place: format!("{place}, column '{column}'"), reason: reason.to_string() });
    }

    /// The scale of a criterion in words ([`crate::domain::scale_words`]); empty when nothing says it.
    pub fn scale_of(&self, criterion: &str) -> String {
        if self.unscaled.contains(criterion) {
            return String::new();
        }
        self.scales.get(criterion).map_or_else(|| assumed_scale(criterion), |scale| scale.words())
    }

    /// Lists the answers that are outside the scale of their criterion; they are kept. Where most are, they are not on that scale.
    fn check_scales(&mut self) {
        for (criterion, scale) in self.scales.clone() {
            let of_it: Vec<&RatedEdit> = self.ratings.iter().filter(|rated| rated.rating.values.contains_key(&criterion)).collect();
            let outside: Vec<&RatedEdit> = of_it.iter().copied().filter(|rated| !scale.fits(rated.rating.values[&criterion])).collect();
            let Some(first) = outside.first() else { continue };
            let value = first.rating.values[&criterion];
            let other = outside.len() * 2 > of_it.len();
            let kept = if other { "kept, as answers on another scale that nothing names" } else { "kept" };
            let reason = format!(
                "{} answer(s) to '{criterion}' are outside {scale}, first {value} by {} for {} of {}; {kept}",
                outside.len(),
                first.rating.rater,
                if first.model.is_empty() { "the edit" } else { &first.model },
                first.item
            );
            self.problems.push(Problem { place: "scale".into(), reason });
            if other {
                self.unscaled.insert(criterion);
            }
        }
    }

    /// Brings the names of raters into the form in which they are kept.
    fn name_raters(&mut self) {
        for name in self.ratings.iter_mut().map(|rated| &mut rated.rating.rater).chain(self.votes.iter_mut().map(|vote| &mut vote.rater)) {
            *name = rater_name(name);
        }
    }

    /// Leaves one vote of each rater about two edits under a criterion, the last, and says how many were given more than once.
    fn check_votes(&mut self, file: &str) {
        let mut last: HashMap<[String; 5], (usize, Preference)> = HashMap::new();
        let (mut same, mut other) = (None, None);
        for (place, vote) in self.votes.iter().enumerate() {
            let (about, says) = about(vote);
            if let Some((_, before)) = last.insert(about, (place, says)) {
                let told = if before == says { &mut same } else { &mut other };
                let first = || format!("{} about {} and {} of {}", vote.rater, vote.first, vote.second, vote.item);
                told.get_or_insert_with(|| (0, first())).0 += 1;
            }
        }
        let mut say = |told: Option<(usize, String)>, what: &str| {
            let Some((count, first)) = told else { return };
            let reason = format!("{count} votes {what}, first {first}");
            self.problems.push(Problem { place: file.to_owned(), reason });
        };
        say(same, "are given more than once by the same rater; each counts once");
        say(other, "contradict an earlier one of the same rater about the same edits; the last counts");
        let mut place = 0..;
        self.votes.retain(|vote| last.get(&about(vote).0).map(|(last, _)| *last) == place.next());
    }

    /// Says how many answers are replaced by a later one of the same rater about the same edit.
    fn check_repeats(&mut self, file: &str) {
        let mut last: HashMap<[&str; 4], f64> = HashMap::new();
        let mut replaced: Option<(usize, String)> = None;
        let mut same = 0;
        for rated in &self.ratings {
            for (criterion, value) in &rated.rating.values {
                let before = last.insert([&rated.item, &rated.model, &rated.rating.rater, criterion], *value);
                same += usize::from(before == Some(*value));
                if before.is_some_and(|before| before != *value) {
                    let model = if rated.model.is_empty() { "the edit" } else { &rated.model };
                    let first = || format!("{} about {model} of {} at {}", rated.rating.rater, rated.item, rated.place);
                    replaced.get_or_insert_with(|| (0, first())).0 += 1;
                }
            }
        }
        if same > 0 {
            self.read_as
                .push_str(&format!("; {same} answers say again what the same rater said of the same edit, which counts as a repeat"));
        }
        if let Some((count, first)) = replaced {
            let reason =
                format!("{count} answers differ from an earlier one of the same rater to the same edit, first {first}; the last counts");
            self.problems.push(Problem { place: file.to_owned(), reason });
        }
    }
}

/// What a vote is about, whichever edit stands first (item, both models, criterion, rater), and what it says with the first model by name first.
pub fn about(vote: &ModelVote) -> ([String; 5], Preference) {
    let turned = vote.first > vote.second;
    let (first, second) = if turned { (&vote.second, &vote.first) } else { (&vote.first, &vote.second) };
    let says = if turned { vote.preference.swapped() } else { vote.preference };
    ([&vote.item, first, second, &vote.criterion, &vote.rater].map(Clone::clone), says)
}

/// Reads opinions. `format` overrides the detection; `columns` says what the columns mean (and that the format is `columns`).
///
/// # Errors
/// When the file cannot be read, is no table, or holds no opinion at all. What is odd in single cells is no error: it is listed.
pub fn read_opinions(path: &Path, format: Option<OpinionFormat>, columns: Option<&ColumnMap>) -> Result<Opinions, ReadError> {
    let nothing = |reason: String| ReadError::NoRatings { path: path.to_owned(), reason };
    let format = match (format, columns) {
        (_, Some(_)) => OpinionFormat::Columns,
        (Some(format), None) => format,
        (None, None) if is_data_set(path) => OpinionFormat::Manifest,
        (None, None) => {
            let sheet = Sheet::read(path)?;
            if !rater_file::recognises(&sheet) {
                return of_sheet(&sheet, None, None).map_err(nothing);
            }
            OpinionFormat::RaterFile
        }
    };
    match format {
        OpinionFormat::Bpm | OpinionFormat::Manifest => from_data_set(path),
        OpinionFormat::RaterFile => rater_file::opinions(read_rater_rows(path)?).map_err(nothing),
        format => of_sheet(&Sheet::read(path)?, Some(format), columns).map_err(nothing),
    }
}

/// Whether `path` plainly holds opinions: a data set (which may hold some), a published format, or a table with columns that are answers or
/// votes by their names.
pub fn holds_opinions(path: &Path) -> bool {
    let is_score = |sheet: &Sheet| sheet.has(&["item", "model", "parts", "overall"]);
    let by_name = |sheet: &Sheet| {
        let map = ColumnMap::guess_by_name(sheet);
        let has_vote = [Role::First, Role::Second, Role::Vote].iter().all(|role| map.column(role).is_some());
        has_vote || map.0.iter().any(|column| matches!(column.role, Role::Answer { .. }))
    };
    let plainly =
        |sheet: Sheet| !sheet.has(&["kind"]) && !is_score(&sheet) && (recognise(&sheet) != OpinionFormat::Columns || by_name(&sheet));
    is_data_set(path) || Sheet::read(path).is_ok_and(plainly)
}

/// Whether `path` holds items with pictures, in a format that is read as a data set.
pub fn is_data_set(path: &Path) -> bool {
    super::detect(path).is_ok_and(|(_, format)| format != Format::Pairs)
}

fn of_sheet(sheet: &Sheet, format: Option<OpinionFormat>, columns: Option<&ColumnMap>) -> Result<Opinions, String> {
    let format = format.unwrap_or_else(|| recognise(sheet));
    let found = read_sheet(sheet, format, columns).map_err(|why| match format {
        OpinionFormat::Columns => format!("{why}; {}", ColumnMap::hint(sheet)),
        _ => why,
    })?;
    if found.ratings.is_empty() && found.votes.is_empty() {
        let first = found.problems.first().map(|problem| format!(" ({problem})")).unwrap_or_default();
        let header = sheet.header.join(", ");
        return Err(format!("read as {format}, no row holds an answer{first}; the table has: {header}; {}", ColumnMap::hint(sheet)));
    }
    Ok(found)
}

/// Reads the opinions of a table in a format that is no data set; it may hold none.
///
/// # Errors
/// When it is no table of that format, or has not the columns that were named.
pub fn read_sheet(sheet: &Sheet, format: OpinionFormat, columns: Option<&ColumnMap>) -> Result<Opinions, String> {
    let mut found = match format {
        OpinionFormat::ImagenHub => imagenhub::read(sheet)?,
        OpinionFormat::GenAiBench => pairs::read_genai_bench(sheet)?,
        OpinionFormat::EditReward => pairs::read_editreward(sheet)?,
        OpinionFormat::EditScore => pairs::read_editscore(sheet)?,
        OpinionFormat::Bpm | OpinionFormat::Manifest | OpinionFormat::RaterFile | OpinionFormat::Columns => read_columns(sheet, columns)?,
    };
    found.name_raters();
    found.check_scales();
    found.check_repeats(&sheet.file);
    found.check_votes(&sheet.file);
    Ok(found)
}

/// The format of a table by its columns; [`OpinionFormat::Columns`] where they are those of no other.
pub fn recognise(sheet: &Sheet) -> OpinionFormat {
    if sheet.has(&["left_model", "right_model", "vote_type"]) {
        OpinionFormat::GenAiBench
    } else if sheet.has(&["model1", "model2", "model1_dim1_score"]) {
        OpinionFormat::EditReward
    } else if sheet.has(&["key", "dimension", "output_images"]) {
        OpinionFormat::EditScore
    } else if imagenhub::recognises(sheet) {
        OpinionFormat::ImagenHub
    } else {
        OpinionFormat::Columns
    }
}

/// The ratings inside a manifest or BPM's JSON. Pictures that are missing do not matter here.
fn from_data_set(path: &Path) -> Result<Opinions, ReadError> {
    let dataset = super::read(path, None)?;
    let format = if dataset.format == Format::Bpm { OpinionFormat::Bpm } else { OpinionFormat::Manifest };
    let problems = dataset.problems.into_iter().filter(|problem| !problem.reason.ends_with(LOCATE_LATER)).collect();
    let mut found = Opinions::new(format, problems);
    for item in dataset.items {
        for edit in item.edits {
            let place = dataset.named_at.get(&edit.picture.path).cloned().unwrap_or_else(|| format!("edit '{}'", edit.key));
            found.ratings.extend(edit.ratings.into_iter().map(|rating| RatedEdit {
                item: item.key.0.clone(),
                model: edit.model.clone(),
                rating,
                seconds: None,
                place: place.clone(),
            }));
        }
    }
    if found.ratings.is_empty() {
        let reason = format!("its {format} rows hold no ratings");
        return Err(ReadError::NoRatings { path: path.to_owned(), reason });
    }
    let criteria: std::collections::BTreeSet<&String> = found.ratings.iter().flat_map(|rated| rated.rating.values.keys()).collect();
    let paper = crate::domain::CRITERIA.map(crate::domain::Criterion::name);
    let scales: Vec<String> = criteria.into_iter().filter(|name| paper.contains(&name.as_str())).cloned().collect();
    found.scales = scales.into_iter().map(|name| (name, AnswerScale::RUBRIC)).collect();
    found.read_as = if format == OpinionFormat::Bpm {
        format!("the user_… values; the file names no rater, so all are '{}'", bpm::RATER)
    } else {
        let by_file = dataset.named_by_file.map(|rater| format!("; those that name no rater are by '{rater}', as the file is called"));
        format!("the ratings of the manifest{}", by_file.unwrap_or_default())
    };
    // Answers outside the scale were said one by one, each with its place, while the data set was read.
    Ok(found)
}

/// A number in a text that belongs to no table: plain, or with a decimal comma that cannot stand between thousands.
pub fn number_of(text: &str) -> Option<f64> {
    DecimalSign::Unknown.number(text)
}
