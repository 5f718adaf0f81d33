//! What `export --format ratings` wrote, as opinions: the ratings and votes that count in it, as they would in a project.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{OpinionFormat, Opinions, RatedEdit};
use crate::datasets::{Problem, RaterFile, Sheet};
use crate::domain::{Answer, EditKey, Judgement, ModelVote, RaterRow, Rating, RatingContext, counting_judgements, repeated, votes_of};

/// Kinds of rows of such a file.
const KINDS: [&str; 4] = ["session", "rating", "judgement", "vote"];

/// Whether `sheet` is what `export --format ratings` wrote.
pub fn recognises(sheet: &Sheet) -> bool {
    sheet.has(&["kind"]) && sheet.rows.iter().any(|row| row.word("kind").is_some_and(|kind| KINDS.contains(&kind.as_str())))
}

/// The opinions in `file`. Ratings that were replaced when it was written are left out, unless it says of none that it counts. Edits have the
/// names of their models where a rating tells them, else their keys.
///
/// # Errors
/// When it holds neither a rating nor a vote.
pub(super) fn opinions(file: RaterFile) -> Result<Opinions, String> {
    let RaterFile { rows, places, problems } = file;
    let mut found = Opinions::new(OpinionFormat::RaterFile, problems);
    let names = Names::of(&rows);
    let says_what_counts = rows.iter().any(|row| matches!(row, RaterRow::Rating { counts: true, .. }));
    let mut said: Vec<(Judgement, String)> = Vec::new();
    for (row, place) in rows.into_iter().zip(places) {
        match row {
            RaterRow::Rating { counts: false, .. } if says_what_counts => {}
            RaterRow::Rating { item, edit, rating, .. } => {
                found.ratings.push(RatedEdit { item: item.0, model: names.of_edit(&edit), rating, seconds: None, place });
            }
            RaterRow::Vote { item, first, second, rater, criterion, preference } => {
                let (first, second) = (names.of_edit(&first), names.of_edit(&second));
                found.add_vote(&place, ModelVote { item: item.0, criterion, rater, first, second, preference });
            }
            RaterRow::Judgement(judgement) => said.push((judgement, place)),
            RaterRow::Session { .. } => {}
        }
    }
    // Of one rater and edit the newest answer counts, which is the last one here; those without a time are oldest.
    found.ratings.sort_by_key(|rated| rated.rating.at_millis);
    add_sessions(&said, &names, &mut found);
    if found.ratings.is_empty() && found.votes.is_empty() {
        return Err("it is a raters' file without a rating or a vote".into());
    }
    let by_key = if names.all_known { "" } else { "; edits that it names no model for, or several of one model, are called by their keys" };
    found.read_as = format!("the ratings and votes that count in what `export --format ratings` wrote{by_key}");
    Ok(found)
}

/// Votes of sessions, and second answers of rubrics: these go before all others, so that they show consistency and replace nothing.
fn add_sessions(said: &[(Judgement, String)], names: &Names, found: &mut Opinions) {
    let key = |said: &Judgement| (said.session.clone(), said.rater.clone(), said.task.clone(), said.at_millis);
    let places: HashMap<_, &String> = said.iter().map(|(judgement, place)| (key(judgement), place)).collect();
    let log: Vec<Judgement> = said.iter().map(|(judgement, _)| judgement.clone()).collect();
    let place_of = |judgement: &Judgement| places.get(&key(judgement)).map(|place| (*place).clone()).unwrap_or_default();
    let counting = counting_judgements(&log);
    for judgement in &counting {
        match votes_of(judgement, |edit| names.models.get(edit).map(String::as_str)) {
            Ok(votes) => votes.into_iter().for_each(|vote| found.add_vote(&place_of(judgement), vote)),
            Err(why) => found.problems.push(Problem { place: place_of(judgement), reason: format!("{why}; left out") }),
        }
    }
    let mut again = Vec::new();
    for (first, second) in repeated(&counting) {
        let (Answer::Rubric { values: once, .. }, Answer::Rubric { values, .. }, Some(edit)) =
            (&first.answer, &second.answer, second.shown.first())
        else {
            continue;
        };
        let values = values.iter().filter(|(name, _)| once.contains_key(*name)).map(|(name, value)| (name.clone(), *value)).collect();
        let context = Some(RatingContext::of_judgement(second, Vec::new()));
        let rating = Rating { context, ..Rating::new(&*second.rater, values) };
        again.push(RatedEdit { item: second.item.0.clone(), model: names.of_edit(edit), rating, seconds: None, place: place_of(second) });
    }
    found.ratings.splice(0..0, again);
}

/// What edits are called.
struct Names {
    models: HashMap<EditKey, String>,
    /// Every edit is called by its model.
    all_known: bool,
}

impl Names {
    fn of(rows: &[RaterRow]) -> Self {
        let mut by_name: BTreeMap<(&str, &str), BTreeSet<&EditKey>> = BTreeMap::new();
        let mut all: BTreeSet<&EditKey> = BTreeSet::new();
        for row in rows {
            match row {
                RaterRow::Rating { item, edit, model, .. } => {
                    all.insert(edit);
                    if !model.is_empty() {
                        by_name.entry((&item.0, model)).or_default().insert(edit);
                    }
                }
                RaterRow::Judgement(said) => all.extend(&said.shown),
                RaterRow::Vote { first, second, .. } => all.extend([first, second]),
                RaterRow::Session { .. } => {}
            }
        }
        let single = by_name.into_iter().filter(|(_, edits)| edits.len() == 1);
        let mut models: HashMap<EditKey, String> =
            single.flat_map(|((_, model), edits)| edits.into_iter().map(move |edit| (edit.clone(), model.to_owned()))).collect();
        let all_known = models.len() == all.len();
        for edit in all {
            models.entry(edit.clone()).or_insert_with(|| edit.0.clone());
        }
        Self { models, all_known }
    }

    fn of_edit(&self, edit: &EditKey) -> String {
        self.models.get(edit).unwrap_or(&edit.0).clone()
    }
}
