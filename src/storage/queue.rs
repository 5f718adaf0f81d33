//! The queue: every edit in one query, with just what the table shows, filters and sorts by.

use std::path::{Path, PathBuf};

use rusqlite::{Row, params};

use super::error::Fault;
use super::pictures::PictureState;
use super::scores::outcome_of;
use super::{EditId, ItemId, Project, RunId, StorageError, answers};
use crate::domain::{Criterion, Detection, EditKey, ItemKey, Outcome, Parts, Profile, Score, Size, TraceKind};

/// One edit in the queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRow {
    pub edit: EditId,
    pub item: ItemId,
    pub item_key: ItemKey,
    pub edit_key: EditKey,
    pub instruction: String,
    pub model: String,
    /// Can be opened as it is.
    pub source: PathBuf,
    pub source_state: PictureState,
    /// Can be opened as it is.
    pub picture: PathBuf,
    pub picture_state: PictureState,
    /// The parse that counts was a guess, or there is none (`None`).
    pub parse_doubtful: Option<bool>,
    /// The newest score under the profile asked for.
    pub score: Option<QueueScore>,
    /// What people say; `None` when nobody rated it.
    pub human: Option<HumanSummary>,
}

/// A score as the queue shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueScore {
    pub run: RunId,
    /// The four parts, or why the edit could not be scored at all.
    pub parts: Result<Parts, String>,
    /// `None` until the run has a range.
    pub overall: Option<Outcome<f64>>,
    /// The whole picture was to change.
    pub global: bool,
    pub stale: bool,
    pub flags: Vec<Flag>,
    /// What the metric said by itself, where a person's correction is what counts; `None` where nothing was corrected.
    pub automatic: Option<Parts>,
}

/// The answers that count of all raters, in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HumanSummary {
    /// Mean of the overall answers, on the scale that most of them were given on; `None` when nobody answered that question.
    pub mean: Option<f64>,
    /// Greatest minus least overall answer: how far people disagree.
    pub spread: Option<f64>,
    pub raters: u32,
    /// Some of the raters are programs.
    pub simulated: bool,
}

/// Why a score wants a look; computed when the score is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// The detector found no box for a phrase that the metric needs, or a local edit has no box at all.
    NoBox,
    /// A box that was used covers at least 95 % of its picture.
    BoxNearlyWhole,
    EmptyMask,
    FullMask,
    /// The trace left the plain rule somewhere.
    Fallback,
    /// The parse that was used was a guess.
    ParseDoubtful,
    /// A part failed.
    PartFailed,
    /// Source and edit differ in size.
    SizeMismatch,
    /// The edit looks moved or zoomed as a whole.
    Shifted,
    /// Most of the change lies outside the region that was to change.
    LeakHigh,
}

impl Flag {
    /// All flags, in the order they are offered as filters.
    pub const ALL: [Self; 10] = [
        Self::NoBox,
        Self::BoxNearlyWhole,
        Self::EmptyMask,
        Self::FullMask,
        Self::Fallback,
        Self::ParseDoubtful,
        Self::PartFailed,
        Self::SizeMismatch,
        Self::Shifted,
        Self::LeakHigh,
    ];

    /// The word in the project file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoBox => "no-box",
            Self::BoxNearlyWhole => "box-nearly-whole",
            Self::EmptyMask => "empty-mask",
            Self::FullMask => "full-mask",
            Self::Fallback => "fallback",
            Self::ParseDoubtful => "parse-doubtful",
            Self::PartFailed => "part-failed",
            Self::SizeMismatch => "size-mismatch",
            Self::Shifted => "shifted",
            Self::LeakHigh => "leak-high",
        }
    }

    /// What it says to a person.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoBox => "no box found",
            Self::BoxNearlyWhole => "a box is nearly the whole picture",
            Self::EmptyMask => "the edit mask is empty",
            Self::FullMask => "the edit mask is the whole picture",
            Self::Fallback => "a fallback was taken",
            Self::ParseDoubtful => "the parse is a guess",
            Self::PartFailed => "a part could not be computed",
            Self::SizeMismatch => "source and edit differ in size",
            Self::Shifted => "the edit is moved or zoomed as a whole",
            Self::LeakHigh => "most of the change lies outside the region",
        }
    }

    /// Flags of later versions are passed over.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flag| flag.name() == name)
    }
}

/// Share of the picture from which a box counts as nearly all of it.
const NEARLY_WHOLE: f64 = 0.95;

/// Share of all change outside the region from which it counts as most of it.
const HIGH_LEAK: f64 = 0.5;

/// The flags that a score shows by itself.
pub fn flags_of(score: &Score) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut flag = |flag: Flag, on: bool| {
        if on {
            flags.push(flag);
        }
    };
    let missed = score.trace.iter().any(|step| step.fallback && step.kind == TraceKind::Boxes);
    flag(Flag::NoBox, !score.global && (missed || (score.boxes.source.is_empty() && score.boxes.edit.is_empty())));
    if let Some(mask) = &score.mask {
        let pixels = u64::from(mask.size[0]) * u64::from(mask.size[1]);
        // An edit of another size than the source has boxes in its own pixels.
        let of_edit = score.triage.other_size.map_or(pixels, Size::pixels);
        let nearly_whole = |found: &[Detection], pixels: u64| {
            found.iter().any(|found| f64::from(found.rect_in_image.area()) >= NEARLY_WHOLE * pixels as f64)
        };
        let whole = nearly_whole(&score.boxes.source, pixels) || nearly_whole(&score.boxes.edit, of_edit);
        flag(Flag::BoxNearlyWhole, !score.global && pixels > 0 && whole);
        let set = mask.count().ok();
        flag(Flag::EmptyMask, set == Some(0));
        flag(Flag::FullMask, pixels > 0 && set == Some(pixels));
    }
    // A guessed parse has its own flag.
    flag(Flag::Fallback, score.trace.iter().any(|step| step.fallback && step.kind != TraceKind::Parse));
    flag(Flag::ParseDoubtful, score.parse.doubtful.is_some());
    let failed = Parts::NAMES.iter().filter_map(|name| score.parts.get(name)).any(|part| matches!(part, Outcome::Failed(_)));
    flag(Flag::PartFailed, failed);
    flag(Flag::SizeMismatch, score.triage.other_size.is_some());
    flag(Flag::Shifted, score.triage.shift.is_some());
    // Without a region everything lies outside of it; that is the flag of the empty mask.
    let change = score.triage.change.filter(|change| change.unchanged.is_some());
    flag(Flag::LeakHigh, change.and_then(|change| change.leak).is_some_and(|leak| leak >= HIGH_LEAK));
    flags
}

const QUEUE: &str = "
SELECT e.id, i.id, i.key, e.key, i.instruction, e.model, sp.path, sp.state, ep.path, ep.state, p.doubtful,
       s.run_id, s.size, s.size_why, s.position, s.position_why, s.modify, s.modify_why, s.preserve, s.preserve_why,
       s.overall, s.overall_why, s.global, s.stale, s.flags, s.failure,
       r.raters, r.mean, r.spread, r.simulated,
       a.id, a.size, a.size_why, a.position, a.position_why, a.modify, a.modify_why, a.preserve, a.preserve_why
FROM edits e
JOIN items i ON i.id = e.item_id
JOIN pictures sp ON sp.id = i.source_id
JOIN pictures ep ON ep.id = e.picture_id
LEFT JOIN parses p ON p.id = i.parse_id
LEFT JOIN scores s ON s.id = (SELECT id FROM scores WHERE edit_id = e.id AND profile = ?1 ORDER BY id DESC LIMIT 1)
LEFT JOIN runs sr ON sr.id = s.run_id
LEFT JOIN scores a ON sr.kind = 'correction' AND a.id = (
    SELECT scores.id FROM scores JOIN runs ON runs.id = scores.run_id
    WHERE edit_id = e.id AND scores.profile = ?1 AND runs.kind = 'set' AND failure IS NULL ORDER BY scores.id DESC LIMIT 1)
LEFT JOIN (
    SELECT edit_id, count(DISTINCT rater) AS raters, avg(CASE WHEN criterion = 'overall' AND scale = ?2 THEN value END) AS mean,
        max(CASE WHEN criterion = 'overall' AND scale = ?2 THEN value END)
        - min(CASE WHEN criterion = 'overall' AND scale = ?2 THEN value END) AS spread, max(simulated) AS simulated
    FROM answers WHERE value IS NOT NULL AND {edit_id} GROUP BY edit_id
) r ON r.edit_id = e.id
WHERE {e.id}
ORDER BY i.id, e.id";

impl Project {
    /// Every edit with its newest score under `profile` and its ratings in short, items together, in the order of their import.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn queue(&self, profile: Profile) -> Result<Vec<QueueRow>, StorageError> {
        self.queue_where(profile, None)
    }

    /// The row of one edit, to refresh it after a change.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn queue_row(&self, edit: EditId, profile: Profile) -> Result<QueueRow, StorageError> {
        let found = self.queue_where(profile, Some(edit))?;
        found.into_iter().next().ok_or_else(|| Fault::NoSuch("edit", edit.0).at(self.path(), READING))
    }

    fn queue_where(&self, profile: Profile, edit: Option<EditId>) -> Result<Vec<QueueRow>, StorageError> {
        self.read(READING, |conn| {
            let (of_answers, of_edits) = if edit.is_some() { ("edit_id = ?3", "e.id = ?3") } else { ("?3 IS NULL", "?3 IS NULL") };
            let mut query = conn.prepare_cached(&QUEUE.replace("{edit_id}", of_answers).replace("{e.id}", of_edits))?;
            let mut rows = query.query(params![profile.name(), answers::plain_scale(conn, Criterion::Overall.name())?, edit])?;
            let mut queue = Vec::new();
            while let Some(row) = rows.next()? {
                queue.push(row_of(row, self.folder())?);
            }
            Ok(queue)
        })
    }
}

const READING: &str = "reading the queue";

fn row_of(row: &Row<'_>, folder: &Path) -> Result<QueueRow, Fault> {
    let state = |at| PictureState::from_name(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?);
    Ok(QueueRow {
        edit: row.get(0)?,
        item: row.get(1)?,
        item_key: ItemKey(row.get(2)?),
        edit_key: EditKey(row.get(3)?),
        instruction: row.get(4)?,
        model: row.get(5)?,
        source: folder.join(row.get::<_, String>(6)?),
        source_state: state(7)?,
        picture: folder.join(row.get::<_, String>(8)?),
        picture_state: state(9)?,
        parse_doubtful: row.get(10)?,
        score: row.get::<_, Option<RunId>>(11)?.map(|run| score_of(row, run)).transpose()?,
        human: match row.get::<_, Option<u32>>(26)? {
            None => None,
            Some(raters) => Some(HumanSummary { raters, mean: row.get(27)?, spread: row.get(28)?, simulated: row.get(29)? }),
        },
    })
}

fn score_of(row: &Row<'_>, run: RunId) -> Result<QueueScore, Fault> {
    let part = |at| outcome_of(row, at)?.ok_or_else(|| Fault::Invalid("a score has a part without value and without reason".into()));
    let parts_from = |at| -> Result<Parts, Fault> {
        Ok(Parts { size: part(at)?, position: part(at + 2)?, modify: part(at + 4)?, preserve: part(at + 6)? })
    };
    let parts = match row.get::<_, Option<String>>(25)? {
        Some(why) => Err(why),
        None => Ok(parts_from(12)?),
    };
    let automatic = row.get::<_, Option<i64>>(30)?.map(|_| parts_from(31)).transpose()?;
    let flags = row.get_ref(24)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(QueueScore {
        run,
        parts,
        overall: outcome_of(row, 20)?,
        global: row.get(22)?,
        stale: row.get(23)?,
        flags: flags.split(' ').filter_map(Flag::from_name).collect(),
        automatic,
    })
}
