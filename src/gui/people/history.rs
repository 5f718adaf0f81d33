//! What raters said about one edit, in the words of the History tab.

use crate::domain::{Answer, CRITERIA, Criterion, EditKey, Judgement, Preference, Rating, TaskRole};
use crate::editor::{HistoryLine, letter};
use crate::storage::{EditId, Project, StorageError};

/// What was said about an edit that is no rating: votes, ranks, repeats, checks and what could not be judged in sessions, in the order they
/// were said (skips are none), then votes that came out of tables.
pub fn judgement_lines(project: &Project, id: EditId) -> Result<Vec<HistoryLine>, StorageError> {
    let key = project.edit(id)?.key;
    let mut lines = Vec::new();
    for (session, said) in project.judgements_about(id)? {
        let mut names = Vec::with_capacity(said.shown.len());
        for edit in &said.shown {
            let model = match project.edit_by_key(edit)? {
                Some(other) => project.edit(other)?.model,
                None => String::new(),
            };
            names.push(if model.is_empty() { edit.0.clone() } else { model });
        }
        let Some(words) = judgement_words(&said, &key, &names) else { continue };
        let comment = if said.comment.is_empty() { String::new() } else { format!(" “{}”", said.comment) };
        let what = format!("{words} · session “{session}”{comment}");
        lines.push(HistoryLine { at_millis: Some(said.at_millis), who: said.rater, what });
    }
    for (vote, at) in project.table_votes_about(id)? {
        let (own, other) = if vote.first == id { (vote.preference, vote.second) } else { (vote.preference.swapped(), vote.first) };
        let other = project.edit(other)?;
        let other = if other.model.is_empty() { other.key.0 } else { other.model };
        let what = format!("{} on {} · vote from a table", preference_words(own, &other), vote.criterion);
        lines.push(HistoryLine { at_millis: Some(at), who: vote.rater, what });
    }
    Ok(lines)
}

/// A vote from the side of one edit.
fn preference_words(own: Preference, other: &str) -> String {
    match own {
        Preference::First => format!("Better than {other}"),
        Preference::Second => format!("Worse than {other}"),
        Preference::Tie => format!("Tie with {other}"),
        Preference::BothBad => format!("As bad as {other}"),
    }
}

/// A rating in words: the paper's criteria in their order, then the others.
pub fn rating_words(rating: &Rating) -> String {
    let paper = CRITERIA.map(Criterion::name);
    let known = paper.into_iter().filter_map(|name| Some((name, rating.values.get(name)?)));
    let others = rating.values.iter().filter(|(name, _)| !paper.contains(&name.as_str())).map(|(name, value)| (name.as_str(), value));
    let mut answers: Vec<String> = known.chain(others).map(|(name, value)| format!("{name} {value}")).collect();
    let unjudged = rating.context.as_ref().map(|context| context.cannot_judge.as_slice()).unwrap_or_default();
    answers.extend(unjudged.iter().map(|name| format!("{name} can’t judge")));
    let comment = if rating.comment.is_empty() { String::new() } else { format!(" “{}”", rating.comment) };
    if answers.is_empty() { format!("Commented:{comment}") } else { format!("Rated: {}{comment}", answers.join(", ")) }
}

/// What a judgement says about the edit `key`; `names` are those of the shown edits. `None` for what is a rating already, and for skips.
fn judgement_words(said: &Judgement, key: &EditKey, names: &[String]) -> Option<String> {
    let place = said.shown.iter().position(|edit| edit == key)?;
    let why = match said.role {
        TaskRole::Plain => "",
        TaskRole::Repeat => " (asked again)",
        TaskRole::SourceAsEdit => " (attention check: the source was shown in its place)",
        TaskRole::SameTwice => " (attention check: it was shown twice)",
    };
    let words = match &said.answer {
        Answer::Skipped | Answer::Unblinded => return None,
        Answer::CannotJudge => "Cannot be judged".to_owned(),
        Answer::Rubric { .. } if said.role == TaskRole::Plain => return None,
        Answer::Rubric { values, .. } => {
            let rating = Rating::new(&*said.rater, values.clone());
            rating_words(&rating)
        }
        Answer::Pair(vote) => {
            let (other, own) = (names.get(1 - place.min(1))?, if place == 0 { *vote } else { vote.swapped() });
            let sides = format!("shown as {} beside {}", letter(place.min(1)), letter(1 - place.min(1)));
            format!("{} ({sides})", preference_words(own, other))
        }
        Answer::Ranking(ranks) => {
            let (rank, letter) = (ranks.get(place)?, letter(place));
            let others: Vec<String> = names.iter().zip(ranks).map(|(name, rank)| format!("{rank} {name}")).collect();
            format!("Rank {rank} of {} (shown as {letter}): {}", ranks.len(), others.join(", "))
        }
    };
    Some(format!("{words}{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Edit, Item, ItemKey, PictureRef, RatingContext, Visible};
    use crate::storage::EditVote;

    fn said(answer: Answer, role: TaskRole, shown: &[&str]) -> Judgement {
        Judgement {
            session: "s".into(),
            rater: "ann".into(),
            item: ItemKey("i".into()),
            shown: shown.iter().map(|key| EditKey((*key).into())).collect(),
            task: "t".into(),
            role,
            answer,
            comment: String::new(),
            place: 1,
            seconds: 1.0,
            at_millis: 1,
            visible: Visible::default(),
            rubric: None,
        }
    }

    fn words(answer: Answer, role: TaskRole, about: &str) -> Option<String> {
        let names = ["flux", "sdxl", "qwen"].map(str::to_owned);
        let shown = ["a", "b", "c"];
        let count = if matches!(answer, Answer::Ranking(_)) { 3 } else { 2 };
        judgement_words(&said(answer, role, &shown[..count]), &EditKey(about.into()), &names[..count])
    }

    #[test]
    fn a_vote_from_a_table_is_told_from_the_side_of_the_edit() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::create(&folder.path().join("p.editscope")).unwrap();
        let picture = |name: &str| PictureRef { path: folder.path().join(name), given: name.into() };
        let edit = |model: &str| Edit {
            key: EditKey(model.into()),
            picture: picture(model),
            model: model.into(),
            ratings: Vec::new(),
            extra: Default::default(),
        };
        let (key, instruction) = (ItemKey("i".into()), "make it red".into());
        let edits = vec![edit("flux"), edit("sdxl")];
        let item = Item { key, source: picture("s"), instruction, parse: None, edits, extra: Default::default() };
        project.import(&[item]).unwrap();
        let ids: Vec<EditId> = project.edits().unwrap().into_iter().map(|edit| edit.id).collect();
        let vote =
            EditVote { first: ids[0], second: ids[1], rater: "ann".into(), criterion: "overall".into(), preference: Preference::Second };
        project.import_opinions(&[], &[vote]).unwrap();
        let told = |id: EditId| -> Vec<(String, String)> {
            judgement_lines(&project, id).unwrap().into_iter().map(|line| (line.who, line.what)).collect()
        };
        assert_eq!(told(ids[0]), [("ann".to_owned(), "Worse than sdxl on overall · vote from a table".to_owned())]);
        assert_eq!(told(ids[1]), [("ann".to_owned(), "Better than flux on overall · vote from a table".to_owned())]);
    }

    #[test]
    fn a_vote_is_told_from_the_side_of_the_edit() {
        let vote = |vote, about| words(Answer::Pair(vote), TaskRole::Plain, about);
        assert_eq!(vote(Preference::First, "a").as_deref(), Some("Better than sdxl (shown as A beside B)"));
        assert_eq!(vote(Preference::First, "b").as_deref(), Some("Worse than flux (shown as B beside A)"));
        assert_eq!(vote(Preference::BothBad, "b").as_deref(), Some("As bad as flux (shown as B beside A)"));
        assert_eq!(vote(Preference::Tie, "z"), None, "it was not shown");
        let repeat = words(Answer::Pair(Preference::Second), TaskRole::Repeat, "a");
        assert_eq!(repeat.as_deref(), Some("Worse than sdxl (shown as A beside B) (asked again)"));
        let ranked = words(Answer::Ranking(vec![2, 1, 2]), TaskRole::Plain, "b");
        assert_eq!(ranked.as_deref(), Some("Rank 1 of 3 (shown as B): 2 flux, 1 sdxl, 2 qwen"));
        assert_eq!(words(Answer::Skipped, TaskRole::Plain, "a"), None);
    }

    #[test]
    fn a_rating_names_every_answer_whatever_the_rubric() {
        let mut rating = Rating::new("ann", [("SC", 0.5), ("overall", 2.0), ("size", 4.0)].map(|(n, v)| (n.to_owned(), v)).into());
        rating.context = Some(RatingContext { cannot_judge: vec!["PQ".into()], ..RatingContext::of_table(None, Default::default()) });
        assert_eq!(rating_words(&rating), "Rated: size 4, overall 2, SC 0.5, PQ can’t judge");
    }
}
