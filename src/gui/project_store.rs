//! Joins the window to the project file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::domain::{Baselines, PaperWeights, Parse, Parts, Profile, Range, Rating, Score, columns};
use crate::editor::{Audit, Automatic, Cell, Columns, Combined, EditDetails, HistoryLine, PictureState as Picture, Row, RowId};
use crate::engine::results::{self, automatic_parts};
use crate::engine::scored_by::scored_by;
use crate::engine::{BaselineChoice, BaselineView, combine, fit_range};
use crate::export::{write_csv, write_jsonl};
use crate::storage::{EditId, PictureState, Project, QueueRow, RunKind, StorageError};

use super::flags::flags_of;
use super::people::{PeopleEvent, PeopleRequest};
use super::region_store::RegionStore;
use super::rescore::combined;
use super::store::{Keeper, Shown, Store, StoreInfo};

/// The open project.
#[derive(Default)]
pub struct ProjectStore {
    project: Option<Project>,
    /// The range that was last fitted or read, and for what; computing it means reading all parts.
    range: Option<(Shown, Range)>,
}

/// What a person makes, on a connection of its own: nothing that [`ProjectStore`] reads delays it.
#[derive(Default)]
pub struct ProjectKeeper {
    project: Option<Project>,
}

impl ProjectKeeper {
    pub(super) fn project(&self) -> Result<&Project, String> {
        self.project.as_ref().ok_or_else(|| "no project is open".to_owned())
    }
}

impl Keeper for ProjectKeeper {
    fn open(&mut self, path: &Path) -> Result<(), String> {
        self.project = None;
        self.project = Some(opened(path)?.0);
        Ok(())
    }

    fn regions(&mut self) -> &mut dyn RegionStore {
        self
    }

    fn save_rating(&mut self, id: RowId, rating: &Rating) -> Result<(), String> {
        self.project()?.add_rating(EditId(id.0), rating).map_err(said)
    }

    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        super::people::answer(self.project(), request)
    }

    fn rest(&mut self) {
        rest(self.project.as_ref());
    }
}

/// A project in a folder that cannot be written to, or on a full disk, can still be looked at; then why nothing can be saved.
/// A copy of the file alone shall have what was said until now.
fn rest(project: Option<&Project>) {
    if let Some(project) = project.filter(|project| !project.is_read_only())
        && let Err(why) = project.checkpoint()
    {
        // Nothing is lost: it stays in the log, and the next rest tries again.
        tracing::warn!(%why, "changes stay in the log beside the project");
    }
}

fn opened(path: &Path) -> Result<(Project, Option<String>), String> {
    match Project::open(path) {
        Err(error @ (StorageError::ReadOnly { .. } | StorageError::DiskFull { .. })) => {
            Ok((Project::open_read_only(path).map_err(said)?, Some(said(error))))
        }
        opened => Ok((opened.map_err(said)?, None)),
    }
}

fn said(error: StorageError) -> String {
    error.to_string()
}

impl ProjectStore {
    pub(super) fn project(&self) -> Result<&Project, String> {
        self.project.as_ref().ok_or_else(|| "no project is open".to_owned())
    }

    /// The range that scores are shown with: the saved one, or the bounds of the parts in `queue`.
    fn range_of(&self, shown: &Shown, queue: &[QueueRow]) -> Result<Range, String> {
        if let Some(name) = &shown.range {
            let saved = self.project()?.range(name, shown.profile).map_err(said)?;
            return saved
                .ok_or_else(|| format!("there is no range '{name}' for profile {}: choose another one in the settings", shown.profile));
        }
        let scores: Vec<Score> = queue.iter().filter_map(|row| automatic_parts(row, shown.profile)).collect();
        let fitted_on = format!("{} edits of this project", scores.len());
        Ok(fit_range(shown.profile, &scores, "this project", &fitted_on))
    }

    /// The range for one edit: that of the rows, if they were read with the same choice.
    fn range_now(&mut self, shown: &Shown) -> Result<Range, String> {
        if let Some((for_what, range)) = &self.range
            && for_what == shown
        {
            return Ok(range.clone());
        }
        let queue = self.project()?.queue(shown.profile).map_err(said)?;
        let range = self.range_of(shown, &queue)?;
        self.range = Some((shown.clone(), range.clone()));
        Ok(range)
    }
}

/// As much of a score as ranges and overalls need.
fn bare_score(row: &QueueRow, profile: Profile) -> Option<Score> {
    let stored = row.score.as_ref()?;
    let parts = stored.parts.as_ref().ok()?.clone();
    Some(Score::of_parts(profile, stored.global, parts))
}

fn problem(state: PictureState) -> Option<&'static str> {
    match state {
        PictureState::Unchecked | PictureState::Present => None,
        PictureState::Missing => Some("the file was not there when it was last looked for"),
        PictureState::Changed => Some("the file is not the one that was imported"),
        PictureState::Unreadable => Some("the file could not be read"),
    }
}

fn row_of(stored: QueueRow, range: &Range, ratings: &[Rating], columns: Columns) -> Row {
    let flags = flags_of(&stored);
    let score = bare_score(&stored, range.profile);
    let failed = stored.score.as_ref().is_some_and(|score| score.parts.is_err());
    let none = if failed { Cell::Failed } else { Cell::Unscored };
    let parts = |score: &Score| Parts::NAMES.map(|name| score.parts.get(name).map_or(Cell::Unscored, Cell::from));
    let mut row = Row {
        columns,
        id: RowId(stored.edit.0),
        item: stored.item_key.0.into(),
        instruction: stored.instruction.into(),
        model: stored.model.into(),
        source: stored.source,
        edited: stored.picture,
        parts: score.as_ref().map_or([none; 4], parts),
        overall: score.as_ref().map_or(none, |score| (&combine(score, Some(range), PaperWeights::default()).overall).into()),
        people: [None; 5],
        raters: 0,
        simulated: false,
        flags,
    };
    row.take_ratings(ratings);
    row
}

/// Column names, each kept once however many rows have it.
#[derive(Default)]
struct ColumnNames(BTreeSet<Arc<str>>);

impl ColumnNames {
    fn columns(&mut self, found: &Baselines) -> Columns {
        let mut shared = |name: String| match self.0.get(name.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let name: Arc<str> = name.into();
                self.0.insert(Arc::clone(&name));
                name
            }
        };
        columns(found).into_iter().map(|(name, value)| (shared(name), value)).collect()
    }
}

impl Store for ProjectStore {
    fn open(&mut self, path: &Path) -> Result<StoreInfo, String> {
        self.project = None;
        self.range = None;
        let (project, only_read) = opened(path)?;
        let (items, _) = project.counts().map_err(said)?;
        let mut ranges: Vec<String> = project.ranges(None).map_err(said)?.into_iter().map(|range| range.name).collect();
        ranges.dedup();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let networks = scored_by(&project).map_err(said)?;
        self.project = Some(project);
        Ok(StoreInfo { path: path.to_owned(), name, items, ranges, only_read, networks })
    }

    fn rows(&mut self, shown: &Shown) -> Result<Vec<Row>, String> {
        let queue = self.project()?.queue(shown.profile).map_err(said)?;
        let range = self.range_of(shown, &queue)?;
        let ratings = self.project()?.all_latest_ratings().map_err(said)?;
        let mut baselines = self.project()?.all_latest_baselines(shown.profile).map_err(said)?;
        let mut names = ColumnNames::default();
        let rows = queue.into_iter().map(|row| {
            let ratings = ratings.get(&row.edit).map_or(&[][..], Vec::as_slice);
            let columns = baselines.remove(&row.edit).map(|found| names.columns(&found)).unwrap_or_default();
            row_of(row, &range, ratings, columns)
        });
        let rows = rows.collect();
        self.range = Some((shown.clone(), range));
        Ok(rows)
    }

    fn details(&mut self, id: RowId, shown: &Shown) -> Result<EditDetails, String> {
        let range = self.range_now(shown)?;
        let project = self.project()?;
        let edit = EditId(id.0);
        let row = project.queue_row(edit, shown.profile).map_err(said)?;
        let item = project.item(row.item).map_err(said)?;
        let stored = project.latest_score(edit, shown.profile).map_err(said)?;
        let failure = row.score.as_ref().and_then(|score| score.parts.as_ref().err().cloned());
        let run = match &stored {
            Some(stored) => Some((project.run_setup(stored.run).map_err(said)?, stored.seconds)),
            None => None,
        };
        let made_by = match (&run, failure) {
            (_, Some(why)) => format!("The newest run could not score this edit: {why}"),
            (Some((run, seconds)), None) => format!("networks: {} · device: {} · {seconds:.1} s", run.models, run.device),
            (None, None) => String::new(),
        };
        let words = if shown.range.is_some() { format!("{}, {}", range.name, range.fitted_on) } else { range.fitted_on.clone() };
        let combined = |score: &Score| Combined { range: words.clone(), ..combined(score, &range) };
        let corrected = run.is_some_and(|(run, _)| run.kind == RunKind::Correction);
        let automatic = match corrected {
            true => project.latest_score_of(edit, shown.profile, RunKind::Set).map_err(said)?,
            false => None,
        };
        let automatic = automatic.map(|stored| Automatic { combined: Some(combined(&stored.score)), score: Arc::new(stored.score) });
        let combined = stored.as_ref().map(|stored| combined(&stored.score));
        let mut baselines = Baselines::new();
        if stored.is_some() {
            baselines = project.latest_baselines(edit, shown.profile).map_err(said)?;
            BaselineView::of(BaselineChoice::All).complete(&mut baselines);
        }
        let picture = |path: &Path, state| Picture { path: path.to_owned(), problem: problem(state).map(str::to_owned) };
        Ok(EditDetails {
            id,
            source: picture(&row.source, row.source_state),
            edited: picture(&row.picture, row.picture_state),
            parse: item.parse,
            score: stored.map(|stored| Arc::new(stored.score)),
            combined,
            audit: Audit { automatic, range: Some(range) },
            baselines,
            made_by,
            flags: flags_of(&row),
            ratings: project.latest_ratings(edit).map_err(said)?,
            history: history_of(project, &row)?,
        })
    }

    fn save_parse(&mut self, id: RowId, parse: &Parse, who: &str) -> Result<(), String> {
        let project = self.project()?;
        let edit = project.edit(EditId(id.0)).map_err(said)?;
        project.set_parse(edit.item, parse, who).map_err(said)
    }

    fn keeper(&mut self) -> Box<dyn Keeper> {
        Box::new(ProjectKeeper::default())
    }

    fn people(&mut self, request: PeopleRequest) -> PeopleEvent {
        super::people::answer(self.project(), request)
    }

    fn rest(&mut self) {
        rest(self.project.as_ref());
    }

    fn agreement(&mut self, request: super::agreement::AgreementRequest) -> super::agreement::AgreementEvent {
        super::agreement::answer(self.project(), request)
    }

    fn export(&mut self, to: &Path, shown: &Shown) -> Result<String, String> {
        let write = match to.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase).as_deref() {
            Some("csv") => write_csv,
            Some("jsonl") => write_jsonl,
            _ => return Err(format!("the name must end in .csv (a table) or .jsonl (one edit a line): {}", to.display())),
        };
        super::exports::kept(self.project()?, to)?;
        let range = self.range_now(shown)?;
        let words = if shown.range.is_some() { range.name.as_str() } else { "fitted on this project" };
        let project = self.project()?;
        let mut scored = results::all(project, shown.profile, Some(&range), None).map_err(said)?;
        results::mark_changed(project, &mut scored).map_err(said)?;
        if scored.is_empty() {
            return Err("the project has no edits".to_owned());
        }
        let rows = results::rows(project, &scored, shown.profile, words).map_err(said)?;
        write(&rows, to).map_err(|error| error.to_string())?;
        let without = scored.iter().filter(|edit| edit.score.is_none()).count();
        let without = if without > 0 { format!("; {without} of them have no score") } else { String::new() };
        Ok(format!("{} edits with scores ({}, range {words}) and ratings{without}: {}", rows.len(), shown.profile, to.display()))
    }
}

/// What was said and changed about an edit and its item, newest first.
fn history_of(project: &Project, row: &QueueRow) -> Result<Vec<HistoryLine>, String> {
    let mut lines = Vec::new();
    for stored in project.rating_history(row.edit).map_err(said)? {
        let simulated = if stored.rating.simulated { " (simulated)" } else { "" };
        lines.push(HistoryLine {
            at_millis: stored.rating.at_millis,
            who: format!("{}{simulated}", stored.rating.rater),
            what: super::people::rating_words(&stored.rating),
        });
    }
    lines.extend(super::people::judgement_lines(project, row.edit).map_err(said)?);
    for stored in project.parse_history(row.item).map_err(said)? {
        let parse = &stored.parse;
        let who = if stored.who.is_empty() { "import".to_owned() } else { stored.who };
        let what = format!("Parse: {} → {} ({})", parse.original_part, parse.edited_part, parse.edit_type);
        lines.push(HistoryLine { at_millis: Some(stored.at_millis), who, what });
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.at_millis.unwrap_or(i64::MIN)));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Edit, EditKey, Item, ItemKey, Outcome, PictureRef};
    use crate::storage::{NewRun, RunKind};

    fn picture(name: &str) -> PictureRef {
        PictureRef { path: name.into(), given: name.into() }
    }

    fn no_parts() -> Score {
        let none = || Outcome::NotApplicable("none".into());
        let parts = Parts { size: none(), position: none(), modify: none(), preserve: none() };
        Score::of_parts(Profile::Corrected, false, parts)
    }

    /// A project with one item and three edits; the first two are scored.
    fn project(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("p.editscope");
        let project = Project::create(&path).unwrap();
        let edit = |name: &str| Edit {
            key: EditKey(name.into()),
            picture: picture(&format!("{name}.png")),
            model: name.into(),
            ratings: Vec::new(),
            extra: Default::default(),
        };
        let item = Item {
            key: ItemKey("i".into()),
            source: picture("s.png"),
            instruction: "Make the cat red".into(),
            parse: None,
            edits: vec![edit("a"), edit("b"), edit("c")],
            extra: Default::default(),
        };
        project.import(&[item]).unwrap();
        let run = NewRun {
            kind: RunKind::Set,
            profile: Profile::Corrected,
            models: "demo".into(),
            models_fingerprint: "x".into(),
            device: "CPU".into(),
            settings: serde_json::Value::Null,
            range: None,
        };
        let run = project.start_run(&run).unwrap();
        let edits = project.edits().unwrap();
        for (edit, modify, preserve) in [(edits[0].id, 0.1, 0.9), (edits[1].id, 0.3, 0.8)] {
            let parts = Parts {
                size: Outcome::Value(1.0),
                position: Outcome::Value(0.5),
                modify: Outcome::Value(modify),
                preserve: Outcome::Value(preserve),
            };
            let score = Score { parts, ..no_parts() };
            project.put_score(run, edit, &score, 1.0).unwrap();
        }
        path
    }

    #[test]
    fn rows_and_details_agree_on_the_overall() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ProjectStore::default();
        let info = store.open(&project(folder.path())).unwrap();
        assert_eq!((info.name.as_str(), info.items), ("p", 1));
        let rows = store.rows(&Shown::default()).unwrap();
        // bpm.md section 5 by hand: the range makes modify 0 and preserve 1 for the first edit, 1 and 0 for the second;
        // 0.7 · 1 + 0.3 · 1.5 = 1.15 for both. The third is not scored.
        let overalls: Vec<Cell> = rows.iter().map(|row| row.overall).collect();
        assert!(overalls[..2].iter().all(|cell| cell.value().is_some_and(|value| (value - 1.15).abs() < 1e-9)), "{overalls:?}");
        assert_eq!(overalls[2], Cell::Unscored);
        let details = store.details(rows[0].id, &Shown::default()).unwrap();
        assert_eq!(details.combined.unwrap().overall.value().copied(), overalls[0].value());
        assert!(store.details(rows[2].id, &Shown::default()).unwrap().score.is_none());
    }

    #[test]
    fn ratings_and_parses_are_kept_with_their_history() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ProjectStore::default();
        store.open(&project(folder.path())).unwrap();
        let id = store.rows(&Shown::default()).unwrap()[2].id;
        let mut draft = crate::editor::RatingDraft::default();
        draft.set(4, 3);
        let mut keeper = store.keeper();
        keeper.open(store.project().unwrap().path()).unwrap();
        keeper.save_rating(id, &draft.rating("ann", 5)).unwrap();
        draft.set(4, 4);
        keeper.save_rating(id, &draft.rating("ann", 6)).unwrap();
        let parse = Parse { edited_part: "red cat".into(), origin: crate::domain::ParseOrigin::Person, ..Parse::default() };
        store.save_parse(id, &parse, "ann").unwrap();
        let details = store.details(id, &Shown::default()).unwrap();
        assert_eq!(details.ratings.iter().map(|rating| rating.values["overall"]).collect::<Vec<_>>(), [4.0]);
        assert_eq!(details.parse.as_ref().map(|parse| parse.edited_part.as_str()), Some("red cat"));
        assert_eq!(details.history.len(), 3);
    }

    #[test]
    fn scores_are_exported_as_they_are_shown_and_nothing_is_replaced_that_must_not_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = project(folder.path());
        let mut store = ProjectStore::default();
        store.open(&path).unwrap();
        let shown = Shown::default();
        let overall = store.rows(&shown).unwrap()[0].overall.value().unwrap();
        let table = folder.path().join("o.CSV");
        let said = store.export(&table, &shown).unwrap();
        assert!(said.starts_with("3 edits with scores (corrected, range fitted on this project)"), "{said}");
        assert!(said.contains("1 of them have no score"), "{said}");
        assert_eq!(std::fs::read_to_string(&table).unwrap().lines().count(), 4, "a header and three edits");
        let lines = folder.path().join("o.jsonl");
        store.export(&lines, &shown).unwrap();
        let text = std::fs::read_to_string(&lines).unwrap();
        let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(first["editscope"]["overall"].as_f64(), Some(overall));
        // A range by name is called by its name, and a name that gives no format or is the project is refused.
        let range = Range { name: "spring".into(), ..store.range_now(&shown).unwrap() };
        store.project().unwrap().save_range(&range).unwrap();
        let named = Shown { range: Some("spring".into()), ..Shown::default() };
        assert!(store.export(&lines, &named).unwrap().contains("range spring"));
        assert!(store.export(&folder.path().join("o.txt"), &shown).unwrap_err().contains(".csv"));
        let disguised = folder.path().join("p.csv");
        std::fs::copy(&path, &disguised).unwrap();
        assert!(store.export(&disguised, &shown).unwrap_err().contains("choose another name"));
    }

    #[test]
    fn a_range_that_does_not_exist_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = ProjectStore::default();
        store.open(&project(folder.path())).unwrap();
        let shown = Shown { range: Some("paper".into()), ..Shown::default() };
        assert!(store.rows(&shown).unwrap_err().contains("paper"));
        assert!(ProjectStore::default().rows(&Shown::default()).is_err());
    }
}
