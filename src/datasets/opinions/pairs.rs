//! Published sets of preferences: GenAI-Bench's votes, EditReward's pairs and EditScore's pairs, from JSON, JSONL or CSV exports.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

use super::columns::named_columns;
use super::{AnswerScale, OpinionFormat, Opinions, RatedEdit, about};
use crate::datasets::ratings::{is_true, rater_of_file};
use crate::datasets::{Sheet, SheetRow};
use crate::domain::{ModelVote, Preference, Rating};

/// Asked when a set does not say what.
const OVERALL: &str = "overall";

/// Who decided: the first column that is named as the rater and filled in, or the name of the file.
fn rater_in(row: &SheetRow, sheet: &Sheet) -> String {
    let named = named_columns(&sheet.header, "rater").into_iter().find_map(|name| row.word(name));
    named.unwrap_or_else(|| rater_of_file(Path::new(&sheet.file)))
}

/// Columns that are listed by name as unused; more are counted.
const LISTED: usize = 8;

/// Says by which column raters are told apart, whose word the other rows are, and which columns say nothing to this reader, which knows
/// those in `used`.
fn read_as(sheet: &Sheet, what: &str, used: &[&str]) -> String {
    let raters = named_columns(&sheet.header, "rater");
    let by = raters.first().map_or_else(String::new, |column| format!("the rater from column '{column}'; "));
    let known = |name: &str| used.contains(&name) || KEYS.contains(&name) || raters.contains(&name);
    let unused: Vec<&str> = sheet.header.iter().map(String::as_str).filter(|name| !known(name)).collect();
    let more = if unused.len() > LISTED { format!(" and {} more", unused.len() - LISTED) } else { String::new() };
    let unused = match unused.len() {
        0 => String::new(),
        _ => format!("; columns not used: {}{more}", unused.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ")),
    };
    let file = rater_of_file(Path::new(&sheet.file));
    format!("{what}; {by}rows that name no rater are by '{file}', as the file is called{unused}")
}

/// Columns that name the item by a key.
const KEYS: [&str; 4] = ["item", "uid", "id", "index"];

/// The item of a row: a key if there is one, else the instruction with the source.
fn item_in(row: &SheetRow, instruction: &[&str], source: &[&str]) -> Option<String> {
    if let Some(key) = KEYS.iter().find_map(|name| row.word(name)) {
        return Some(key);
    }
    let text = |names: &[&str]| names.iter().find_map(|name| row.word(name));
    match (text(source), text(instruction)) {
        (Some(source), Some(instruction)) => Some(format!("{source}: {instruction}")),
        (one, other) => one.or(other),
    }
}

/// GenAI-Bench, image edition: `left_model`, `right_model` and `vote_type` in {leftvote, rightvote, tievote, bothbad_vote}.
pub(super) fn read_genai_bench(sheet: &Sheet) -> Result<Opinions, String> {
    const INSTRUCTION: [&str; 3] = ["instruct_prompt", "instruction", "prompt"];
    const SOURCE: [&str; 2] = ["source_image", "source_prompt"];
    let mut found = Opinions::new(OpinionFormat::GenAiBench, sheet.problems.clone());
    for row in &sheet.rows {
        let Some(item) = item_in(row, &INSTRUCTION, &SOURCE) else {
            found.problem(&row.place, "instruct_prompt", "the row names no item; left out");
            continue;
        };
        let vote = row.word("vote_type").unwrap_or_default();
        let Some(preference) = preference_of(&vote) else {
            found.problem(&row.place, "vote_type", format!("'{vote}' is no vote (left, right, tie, both bad); left out"));
            continue;
        };
        add_vote(
            &mut found,
            (sheet, row),
            item,
            [("left_model", row.word("left_model")), ("right_model", row.word("right_model"))],
            OVERALL,
            preference,
        );
    }
    tell_voters_apart(&mut found, sheet);
    let used = [&INSTRUCTION[..], &SOURCE, &["left_model", "right_model", "vote_type"]].concat();
    found.read_as = read_as(sheet, "votes between left_model and right_model", &used);
    Ok(found)
}

/// Every row of that set is one person's vote, and names nobody: of several votes about the same edits the second is by another voter, who is
/// called `FILE #2`, the third by `FILE #3`, ….
fn tell_voters_apart(found: &mut Opinions, sheet: &Sheet) {
    let nameless = rater_of_file(Path::new(&sheet.file));
    let mut counts: HashMap<[String; 5], usize> = HashMap::new();
    for vote in found.votes.iter_mut().filter(|vote| vote.rater == nameless) {
        let count = counts.entry(about(vote).0).or_default();
        *count += 1;
        if *count > 1 {
            vote.rater = format!("{nameless} #{count}");
        }
    }
}

/// A vote in the words of several sets; `None` for anything else.
pub(super) fn preference_of(text: &str) -> Option<Preference> {
    let word: String = text.to_lowercase().replace("vote", "").chars().filter(|c| c.is_alphanumeric()).collect();
    Some(match word.as_str() {
        "left" | "first" | "a" | "modela" | "1" | "aisbetter" | "abetter" => Preference::First,
        "right" | "second" | "b" | "modelb" | "2" | "bisbetter" | "bbetter" => Preference::Second,
        "tie" | "equal" | "draw" | "same" | "both" | "0" => Preference::Tie,
        "bothbad" | "neither" | "none" => Preference::BothBad,
        _ => return None,
    })
}

/// Adds a vote if both models are named and differ.
fn add_vote(
    found: &mut Opinions,
    (sheet, row): (&Sheet, &SheetRow),
    item: String,
    models: [(&str, Option<String>); 2],
    criterion: &str,
    preference: Preference,
) {
    let [(first_column, first), (second_column, second)] = models;
    let (Some(first), Some(second)) = (&first, &second) else {
        let column = if first.is_none() { first_column } else { second_column };
        found.problem(&row.place, column, "no model is named; left out");
        return;
    };
    if first == second {
        found.problem(&row.place, second_column, format!("both edits are by '{first}', so they cannot be told apart; left out"));
        return;
    }
    let rater = rater_in(row, sheet);
    let vote = ModelVote { item, criterion: criterion.to_owned(), rater, first: first.clone(), second: second.clone(), preference };
    found.add_vote(&row.place, vote);
}

/// EditReward's training pairs: the first of the two is preferred unless `tie_case` says that they tie; each has 1-4 on two
/// dimensions (instruction following, visual quality) and their sum.
pub(super) fn read_editreward(sheet: &Sheet) -> Result<Opinions, String> {
    const ANSWERS: [(&str, &str); 3] =
        [("dim1_score", "instruction_following"), ("dim2_score", "visual_quality"), ("overall_score", OVERALL)];
    const INSTRUCTION: [&str; 2] = ["prompt", "instruction"];
    const SOURCE: [&str; 2] = ["path_src", "source"];
    let mut found = Opinions::new(OpinionFormat::EditReward, sheet.problems.clone());
    for row in &sheet.rows {
        let Some(item) = item_in(row, &INSTRUCTION, &SOURCE) else {
            found.problem(&row.place, "prompt", "the row names no item; left out");
            continue;
        };
        for side in ["model1", "model2"] {
            let Some(model) = row.word(side) else { continue };
            let mut values = BTreeMap::new();
            for (column, criterion) in ANSWERS {
                let column = format!("{side}_{column}");
                let Some(text) = row.word(&column) else { continue };
                match sheet.decimals.number(&text) {
                    Some(value) => drop(values.insert(criterion.to_owned(), value)),
                    None => found.problem(&row.place, &column, format!("{}; read as missing", sheet.decimals.why_none(&text))),
                }
            }
            if !values.is_empty() {
                let rater = rater_in(row, sheet);
                let rating = Rating::new(rater, values);
                found.ratings.push(RatedEdit { item: item.clone(), model, rating, seconds: None, place: row.place.clone() });
            }
        }
        let tie = row.cells.get("tie_case").is_some_and(|value| is_true(value) || value.as_str().is_some_and(|text| text.trim() == "tie"));
        let preference = if tie { Preference::Tie } else { Preference::First };
        add_vote(&mut found, (sheet, row), item, [("model1", row.word("model1")), ("model2", row.word("model2"))], OVERALL, preference);
    }
    let dimension = AnswerScale { min: 1.0, max: 4.0, step: None };
    let sum = AnswerScale { min: 2.0, max: 8.0, step: None };
    found.scales = ANSWERS.map(|(_, name)| (name.to_owned(), if name == OVERALL { sum } else { dimension })).into_iter().collect();
    let answers: Vec<String> = ["model1", "model2"].iter().flat_map(|side| ANSWERS.map(|(column, _)| format!("{side}_{column}"))).collect();
    let mut used = [&INSTRUCTION[..], &SOURCE, &["model1", "model2", "tie_case"]].concat();
    used.extend(answers.iter().map(String::as_str));
    found.read_as = read_as(sheet, "pairs of model1 (preferred) and model2, with ratings of both on two dimensions", &used);
    Ok(found)
}

/// EditScore's benchmark: `key` names two edits, the preferred one first; one row for each dimension.
pub(super) fn read_editscore(sheet: &Sheet) -> Result<Opinions, String> {
    let mut found = Opinions::new(OpinionFormat::EditScore, sheet.problems.clone());
    for row in &sheet.rows {
        let Some([first, second]) = row.cells.get("key").and_then(two_names) else {
            found.problem(&row.place, "key", "it does not name two edits; left out");
            continue;
        };
        let item = row.word("instruction").unwrap_or_else(|| format!("{first} {second}"));
        let criterion = row.word("dimension").unwrap_or_else(|| OVERALL.to_owned());
        add_vote(&mut found, (sheet, row), item, [("key", Some(first)), ("key", Some(second))], &criterion, Preference::First);
    }
    // The order says who won, so a file that was written twice holds every pair twice.
    let before = found.votes.len();
    let mut seen = std::collections::HashSet::new();
    let places = std::mem::take(&mut found.vote_places);
    for (vote, place) in std::mem::take(&mut found.votes).into_iter().zip(places) {
        if seen.insert((vote.item.clone(), vote.criterion.clone(), vote.first.clone(), vote.second.clone(), vote.rater.clone())) {
            found.add_vote(&place, vote);
        }
    }
    if found.votes.len() < before {
        let reason = format!("{} pairs come more than once; each is counted once", before - found.votes.len());
        found.problems.push(crate::datasets::Problem { place: sheet.file.clone(), reason });
    }
    let what = "pairs named by 'key', the first preferred; edits are told apart by their keys, the set names no models";
    found.read_as = read_as(sheet, what, &["key", "instruction", "dimension"]);
    Ok(found)
}

/// Two names: a list of two, or such a list as text.
fn two_names(value: &Value) -> Option<[String; 2]> {
    let parsed;
    let list = match value {
        Value::Array(list) => list,
        Value::String(text) => {
            parsed = serde_json::from_str::<Vec<Value>>(&text.replace('\'', "\"")).ok()?;
            &parsed
        }
        _ => return None,
    };
    let [first, second] = &list[..] else { return None };
    let name = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    Some([name(first)?, name(second)?])
}
