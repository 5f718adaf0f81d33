//! What a person corrected about an edit, beside what the metric went by itself; and the scores of both.
//!
//! A correction is a person's parse, or regions of a person (or of the data) on either side. Its score belongs to a run of kind
//! [`RunKind::Correction`], is newer than the automatic one and so counts; the automatic one stays beside it.

use rusqlite::params;

use super::{EditId, ItemId, NewRun, Project, RunId, RunKind, StorageError};
use crate::domain::{Parse, ParseOrigin, Profile, Region, RegionOrigin, RegionRole, Side};

/// What a score of an edit starts from, besides the pictures and the instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs {
    /// `None` when nobody has read the instruction yet.
    pub automatic_parse: Option<Parse>,
    /// A person's parse, where its fields differ from the automatic one's.
    pub corrected_parse: Option<Parse>,
    /// Regions of people or of the data on both sides; what networks proposed is left out.
    pub regions: Vec<Region>,
    /// The roles that people speak for: of these there are no other regions than those in `regions`, even if there are none.
    pub roles: Vec<RegionRole>,
}

impl Inputs {
    /// Whether a person (or the data) said something else than the networks and the reader of instructions.
    pub fn are_corrected(&self) -> bool {
        self.corrected_parse.is_some() || !self.regions.is_empty() || !self.roles.is_empty()
    }
}

impl Project {
    /// What the scores of an edit start from.
    ///
    /// # Errors
    /// When there is no such edit, or the file cannot be read.
    pub fn inputs_of(&self, edit: EditId) -> Result<Inputs, StorageError> {
        let item = self.edit(edit)?.item;
        let (automatic_parse, corrected_parse) = self.parses_of(item)?;
        let mut inputs = Inputs { automatic_parse, corrected_parse, ..Inputs::default() };
        for side in [Side::Source, Side::Edit] {
            let Some(set) = self.regions(edit, side)? else { continue };
            inputs.roles.extend(&set.roles);
            // Networks do not override themselves.
            let said = |region: &Region| matches!(region.origin, RegionOrigin::Person | RegionOrigin::Import);
            inputs.regions.extend(set.regions.into_iter().filter(said));
        }
        Ok(inputs)
    }

    /// The parse that the data or a program gave, and a person's where it says something else.
    ///
    /// What came with the data goes before what a program read; of several, the newest counts.
    ///
    /// # Errors
    /// When there is no such item, or the file cannot be read.
    pub fn parses_of(&self, item: ItemId) -> Result<(Option<Parse>, Option<Parse>), StorageError> {
        let counting = self.item(item)?.parse;
        let history: Vec<Parse> = self.parse_history(item)?.into_iter().map(|stored| stored.parse).collect();
        let imported = history.iter().find(|parse| parse.origin == ParseOrigin::Import);
        let automatic = imported.or_else(|| history.iter().find(|parse| parse.origin != ParseOrigin::Person)).cloned();
        let corrected = counting.filter(|parse| {
            let differs = |automatic: &Parse| Parse::FIELDS.iter().any(|name| parse.field(name) != automatic.field(name));
            parse.origin == ParseOrigin::Person && automatic.as_ref().is_none_or(differs)
        });
        Ok((automatic, corrected))
    }

    /// The run that corrections made with these networks and settings belong to, begun if there is none. It never ends.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn correction_run(&self, like: &NewRun) -> Result<RunId, StorageError> {
        let about = NewRun { kind: RunKind::Correction, ..like.clone() };
        match self.unfinished_run(&about)? {
            Some(run) => Ok(run),
            None => self.start_run(&about),
        }
    }

    /// Forgets the scores of an edit's corrections: the person went back to what the metric found by itself.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn drop_corrections(&self, edit: EditId, profile: Profile) -> Result<usize, StorageError> {
        self.write("going back to the automatic score", |conn| {
            Ok(conn
                .prepare_cached(
                    "DELETE FROM scores WHERE edit_id = ?1 AND profile = ?2
                     AND run_id IN (SELECT id FROM runs WHERE kind = 'correction')",
                )?
                .execute(params![edit, profile.name()])?)
        })
    }
}
