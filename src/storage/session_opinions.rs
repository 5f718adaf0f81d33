//! What sessions say beside the ratings that they leave: votes, second answers, and who said what about one edit.

use std::collections::HashMap;

use rusqlite::Connection;

use super::error::Fault;
use super::sessions::judgements_where;
use super::{EditId, ItemId, Project, StorageError, StoredEdit};
use crate::domain::{Answer, EditKey, ItemKey, Judgement, ModelVote, Rating, RatingContext, counting_judgements, repeated, votes_of};

/// The opinions of all sessions of a project, and the votes that were imported into it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOpinions {
    /// Votes between two edits, those that rankings come to, and those of imported tables. Models have the names of
    /// [`Project::model_names`].
    pub votes: Vec<ModelVote>,
    /// Second answers of rubric tasks that were asked twice: the edit, and the values whose question was answered both times.
    pub repeats: Vec<(EditKey, Rating)>,
    /// Answers that say nothing about models, one sentence each.
    pub problems: Vec<String>,
}

impl Project {
    /// What counts in the sessions, for comparing models and raters; the answers to rubrics are ratings already.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn session_opinions(&self) -> Result<SessionOpinions, StorageError> {
        let log = self.judgements()?;
        let names = self.model_names()?;
        let edits = self.edits()?;
        let name = |edit: EditId| names.get(&edit).cloned().unwrap_or_default();
        let models: HashMap<EditKey, String> = edits.iter().map(|edit| (edit.key.clone(), name(edit.id))).collect();
        let model_of = |edit: &EditKey| models.get(edit).map(String::as_str).filter(|model| !model.is_empty());
        let counting = counting_judgements(&log);
        let mut found = SessionOpinions::default();
        for said in &counting {
            match votes_of(said, model_of) {
                Ok(votes) => found.votes.extend(votes),
                Err(why) => found.problems.push(why),
            }
        }
        for (first, again) in repeated(&counting) {
            let (Answer::Rubric { values: once, .. }, Answer::Rubric { values, .. }) = (&first.answer, &again.answer) else { continue };
            let values = values.iter().filter(|(name, _)| once.contains_key(*name)).map(|(name, value)| (name.clone(), *value)).collect();
            let Some(edit) = again.shown.first() else { continue };
            let context = RatingContext::of_judgement(again, Vec::new());
            found.repeats.push((edit.clone(), Rating { context: Some(context), ..Rating::new(&*again.rater, values) }));
        }
        self.add_table_votes(&edits, &name, &mut found)?;
        found.problems.sort();
        found.problems.dedup();
        Ok(found)
    }

    /// Votes out of tables, as votes between models.
    fn add_table_votes(
        &self,
        edits: &[StoredEdit],
        name: &dyn Fn(EditId) -> String,
        found: &mut SessionOpinions,
    ) -> Result<(), StorageError> {
        let items: HashMap<ItemId, ItemKey> = self.items()?.into_iter().map(|item| (item.id, item.key)).collect();
        let item_of: HashMap<EditId, &ItemKey> = edits.iter().filter_map(|edit| Some((edit.id, items.get(&edit.item)?))).collect();
        for vote in self.table_votes()? {
            let Some(item) = item_of.get(&vote.first) else { continue };
            let (first, second) = (name(vote.first), name(vote.second));
            if first.is_empty() || second.is_empty() {
                let why = format!("an edit of item '{item}' names no model, so a vote of '{}' about it cannot be told apart", vote.rater);
                found.problems.push(why);
                continue;
            }
            let (item, rater, criterion, preference) = (item.0.clone(), vote.rater, vote.criterion, vote.preference);
            found.votes.push(ModelVote { item, criterion, rater, first, second, preference });
        }
        Ok(())
    }

    /// What was said in sessions about tasks that showed an edit, oldest first, each with the name of its session.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn judgements_about(&self, edit: EditId) -> Result<Vec<(String, Judgement)>, StorageError> {
        self.read("reading what raters said", |conn| {
            let filter = "WHERE judgements.id IN (SELECT judgement_id FROM judgement_edits WHERE edit_id = ?1)";
            let judgements = judgements_where(conn, filter, Some(&edit))?;
            let mut names: HashMap<String, String> = HashMap::new();
            judgements
                .into_iter()
                .map(|said| {
                    let name = match names.get(&said.session) {
                        Some(name) => name.clone(),
                        None => name_of(conn, &said.session)?,
                    };
                    names.insert(said.session.clone(), name.clone());
                    Ok((name, said))
                })
                .collect()
        })
    }
}

/// The name of a session, without reading its list of edits.
fn name_of(conn: &Connection, uid: &str) -> Result<String, Fault> {
    Ok(conn
        .prepare_cached("SELECT json_extract(setup, '$.name') FROM rating_sessions WHERE uid = ?1")?
        .query_row([uid], |row| row.get(0))?)
}
