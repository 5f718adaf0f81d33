//! What a person can do to regions, each one change of the document.

use std::sync::Arc;

use super::mask_job::{MaskDone, MaskJob};
use super::{Author, NotChanged, RegionDocument, index};
use crate::domain::mask_ops::{dilate, erode, fill_holes, fill_rect, remove_specks};
use crate::domain::regions::{Area, KeptRegion, RegionFacts, RegionId, SideRegions};
use crate::domain::{ImageSpace, Mask, Rect, RegionOrigin, RegionRole, Scale, Side, Size};

/// The four edges of a box, for entry as numbers.
pub type BoxEdges = [f32; 4];

/// What can be done to a whole mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOp {
    FillHoles,
    /// Parts of fewer pixels go.
    RemoveSpecks(u32),
    /// By so many pixels.
    Dilate(u32),
    Erode(u32),
    Invert,
    Clear,
}

impl MaskOp {
    pub(super) fn apply(self, mask: &Mask) -> Mask {
        match self {
            Self::FillHoles => fill_holes(mask),
            Self::RemoveSpecks(least) => remove_specks(mask, u64::from(least)),
            Self::Dilate(radius) => dilate(mask, radius),
            Self::Erode(radius) => erode(mask, radius),
            Self::Invert => {
                let mut mask = mask.clone();
                mask.invert();
                mask
            }
            Self::Clear => Mask::empty(mask.size()),
        }
    }

    /// What is being done, in words.
    pub fn doing(self) -> String {
        match self {
            Self::FillHoles => "filling holes".into(),
            Self::RemoveSpecks(least) => format!("removing specks below {least} px"),
            Self::Dilate(radius) => format!("dilating by {radius} px"),
            Self::Erode(radius) => format!("eroding by {radius} px"),
            Self::Invert => "inverting the mask".into(),
            Self::Clear => "clearing the mask".into(),
        }
    }

    /// What was done, for the journal.
    pub(super) fn what(self) -> String {
        match self {
            Self::FillHoles => "filled holes".into(),
            Self::RemoveSpecks(least) => format!("removed specks below {least} px"),
            Self::Dilate(radius) => format!("dilated by {radius} px"),
            Self::Erode(radius) => format!("eroded by {radius} px"),
            Self::Invert => "inverted the mask".into(),
            Self::Clear => "cleared the mask".into(),
        }
    }
}

/// What a mask is called that a person begins.
const fn mask_name(role: RegionRole) -> &'static str {
    match role {
        RegionRole::Ignore => "ignored",
        _ => "edit mask",
    }
}

/// The side on which regions of a role lie.
const fn side_of(role: RegionRole) -> Side {
    match role {
        RegionRole::Original => Side::Source,
        RegionRole::Edited | RegionRole::EditMask | RegionRole::Ignore => Side::Edit,
    }
}

/// A new name that no region of the side has, had, or will have when a change is taken back: what is kept about a region (that it is hidden)
/// must never hold for another one. It is drawn by lot, because the journal's older part, other windows and other copies of the project
/// may know names that this document does not; two in 2³⁰ meet.
fn fresh_id(state: &SideRegions) -> RegionId {
    loop {
        let id = RegionId::random();
        if state.get(id).is_none() {
            return id;
        }
    }
}

impl RegionDocument {
    /// Size of the picture that boxes of a side are measured in.
    pub const fn size_of(&self, side: Side) -> Size {
        match side {
            Side::Source => self.source_size,
            Side::Edit => self.edit_size,
        }
    }

    /// From the canvas (pixels of the source) to pixels of a side: the edit is stretched to the source.
    pub fn side_from_canvas(&self, side: Side) -> Scale<ImageSpace, ImageSpace> {
        Scale::stretch(self.size_of(side), self.source_size)
    }

    /// Takes over the found regions of a role, so that a person's change of one leaves the others as they are.
    fn adopt(automatic: &[KeptRegion], state: &mut SideRegions, role: RegionRole) {
        if state.speaks_for(role) {
            return;
        }
        state.regions.retain(|region| region.facts.role != role);
        state.regions.extend(automatic.iter().filter(|region| region.facts.role == role).cloned());
        state.speak_for(role, true);
    }

    /// One change of a side in which `role` is a person's word.
    fn correct(
        &mut self,
        role: RegionRole,
        author: &Author,
        what: impl Into<String>,
        edit: impl FnOnce(&mut SideRegions) -> Result<(), NotChanged>,
    ) -> Result<(), NotChanged> {
        let side = side_of(role);
        let automatic = self.automatic[index(side)].clone();
        self.change(side, author, what, |state| {
            Self::adopt(&automatic, state, role);
            edit(state)
        })
    }

    /// One change of one region, which becomes a person's.
    fn correct_one(
        &mut self,
        side: Side,
        id: RegionId,
        author: &Author,
        what: impl Into<String>,
        edit: impl FnOnce(&mut KeptRegion) -> Result<(), NotChanged>,
    ) -> Result<(), NotChanged> {
        let role = self.get(side, id).ok_or_else(|| NotChanged::Because("the region is no longer there".into()))?.facts.role;
        self.correct(role, author, what, |state| {
            let region = state.get_mut(id).ok_or(NotChanged::Nothing)?;
            let before = region.clone();
            edit(region)?;
            if *region == before {
                return Err(NotChanged::Nothing);
            }
            region.facts.origin = RegionOrigin::Person;
            Ok(())
        })
    }

    /// Adds a box, in pixels of its side, and selects it.
    ///
    /// # Errors
    /// When nothing of it lies on the picture, or a conflict is not settled.
    pub fn add_box(&mut self, role: RegionRole, rect_in_image: Rect<ImageSpace>, name: &str, author: &Author) -> Result<(), NotChanged> {
        self.put_box(role, rect_in_image, name, "drew a box", author)
    }

    fn put_box(
        &mut self,
        role: RegionRole,
        rect_in_image: Rect<ImageSpace>,
        name: &str,
        what: &str,
        author: &Author,
    ) -> Result<(), NotChanged> {
        let side = side_of(role);
        let rect = rect_in_image.clipped(self.size_of(side));
        if rect.area() <= 0.0 {
            return Err(NotChanged::Because("the box lies outside the picture".into()));
        }
        let mut added = RegionId::default();
        self.correct(role, author, format!("{what} {}", edges_text(&rect)), |state| {
            added = fresh_id(state);
            state.regions.push(KeptRegion { id: added, facts: a_persons(role, name), area: Area::Box(rect) });
            Ok(())
        })?;
        self.selected = Some((side, added));
        Ok(())
    }

    /// Gives a box other edges, in pixels of its side; they are put in order and clipped to the picture.
    ///
    /// # Errors
    /// When nothing of it would be left, or a conflict is not settled.
    pub fn set_box(&mut self, side: Side, id: RegionId, [x0, y0, x1, y1]: BoxEdges, author: &Author) -> Result<(), NotChanged> {
        let rect = Rect::new(x0.min(x1), y0.min(y1), x0.max(x1), y0.max(y1)).clipped(self.size_of(side));
        if !rect.to_array().iter().all(|edge| edge.is_finite()) || rect.area() <= 0.0 {
            return Err(NotChanged::Because("a box needs a width and a height within the picture".into()));
        }
        self.correct_one(side, id, author, format!("moved a box to {}", edges_text(&rect)), |region| {
            match &mut region.area {
                Area::Box(old) => *old = rect,
                Area::Mask(_) => return Err(NotChanged::Because("a mask has no edges to set".into())),
            }
            Ok(())
        })
    }

    /// Moves a box by whole pixels of its side, as far as the picture reaches.
    ///
    /// # Errors
    /// When it cannot move, or a conflict is not settled.
    pub fn nudge_box(&mut self, side: Side, id: RegionId, dx: f32, dy: f32, author: &Author) -> Result<(), NotChanged> {
        let Some(Area::Box(rect)) = self.get(side, id).map(|region| &region.area) else { return Err(NotChanged::Nothing) };
        let moved = moved_within(rect, dx, dy, self.size_of(side));
        self.set_box(side, id, moved.to_array(), author)
    }

    /// Copies a box of the source to the edit, stretched as the pictures are, and selects the copy.
    ///
    /// # Errors
    /// When it is no box of the source, or a conflict is not settled.
    pub fn copy_to_edit(&mut self, id: RegionId, author: &Author) -> Result<(), NotChanged> {
        let region = self.get(Side::Source, id).ok_or(NotChanged::Nothing)?;
        let Area::Box(rect) = &region.area else { return Err(NotChanged::Because("masks hold for both pictures already".into())) };
        let (rect, name) = (self.side_from_canvas(Side::Edit) * *rect, region.facts.name.clone());
        self.put_box(RegionRole::Edited, rect, &name, "copied a box of the source to the edit:", author)
    }

    /// Adds the pixels of a box to the mask of a role.
    ///
    /// # Errors
    /// When it is no box, adds nothing, or a conflict is not settled.
    pub fn box_to_mask(&mut self, side: Side, id: RegionId, role: RegionRole, author: &Author) -> Result<(), NotChanged> {
        let Some(Area::Box(rect)) = self.get(side, id).map(|region| &region.area) else { return Err(NotChanged::Nothing) };
        let in_canvas = self.side_from_canvas(side).inverse() * *rect;
        let (target, mut mask) = self.mask_to_paint(role);
        fill_rect(&mut mask, &in_canvas, true);
        self.paint(role, target, mask, "filled a box into the mask", author)
    }

    /// The selected region, when it has this role.
    fn selected_of(&self, role: RegionRole) -> Option<&KeptRegion> {
        self.selected().map(|(_, region)| region).filter(|region| region.facts.role == role)
    }

    /// The regions that count of a mask's role. A box among them stands for its pixels.
    pub fn painted(&self, role: RegionRole) -> impl Iterator<Item = &KeptRegion> {
        self.shown(Side::Edit).filter(move |region| region.facts.role == role)
    }

    /// The region that a stroke of a role changes: the selected one, else the first mask of the role, else its first box, which becomes a
    /// mask; `None` begins a new one.
    pub fn painted_region(&self, role: RegionRole) -> Option<&KeptRegion> {
        self.selected_of(role).or_else(|| self.masks(role).next()).or_else(|| self.painted(role).next())
    }

    /// The pixels that a region of a mask's role stands for, at its own size: of a box those whose centres lie in it, at the size of the
    /// source.
    fn pixels_of(&self, area: &Area) -> Arc<Mask> {
        match area {
            Area::Mask(mask) => Arc::clone(mask),
            Area::Box(rect) => {
                let mut mask = Mask::empty(self.source_size);
                fill_rect(&mut mask, &(self.side_from_canvas(Side::Edit).inverse() * *rect), true);
                Arc::new(mask)
            }
        }
    }

    /// The name of [`Self::painted_region`] and its pixels, at the size of the source.
    pub fn mask_to_paint(&self, role: RegionRole) -> (Option<RegionId>, Mask) {
        match self.painted_region(role).map(|region| (region.id, self.pixels_of(&region.area))) {
            Some((id, mask)) if mask.size() == self.source_size => (Some(id), Arc::unwrap_or_clone(mask)),
            Some((id, mask)) => (Some(id), mask.resized_nearest(self.source_size)),
            None => (None, Mask::empty(self.source_size)),
        }
    }

    /// What an operation on a whole mask works on. Unlike a stroke, whose pixels are seen where they are drawn, it does not guess among
    /// several masks.
    ///
    /// # Errors
    /// When the role has several masks and none of them is selected, or a conflict is not settled.
    pub fn mask_job(&self, role: RegionRole, op: MaskOp) -> Result<MaskJob, NotChanged> {
        self.allowed(side_of(role))?;
        let count = self.painted(role).count();
        if count > 1 && self.selected_of(role).is_none() {
            return Err(NotChanged::Because(format!("there are {count} masks ({}): select the one to change", mask_name(role))));
        }
        let region = self.painted_region(role);
        let mask = region.map_or_else(|| Arc::new(Mask::empty(self.source_size)), |region| self.pixels_of(&region.area));
        let target = region.map(|region| (region.id, region.area.clone()));
        Ok(MaskJob { document: self.id, role, op, target, mask, size: self.source_size })
    }

    /// Puts the result of an operation in place of the mask that it was computed from: one change.
    ///
    /// # Errors
    /// When the mask is no longer the one that it was computed from, nothing changes, or a conflict is not settled.
    pub fn finish_mask_job(&mut self, done: MaskDone, author: &Author) -> Result<(), NotChanged> {
        let MaskDone { job, mask, growth } = done;
        self.allowed(side_of(job.role))?;
        let same = match &job.target {
            Some((id, before)) => self.get(Side::Edit, *id).is_some_and(|region| region.area.is_same(before)),
            None => self.painted(job.role).next().is_none(),
        };
        if job.document != self.id || !same {
            let why = "the mask was changed before the operation on it was done: nothing is done; do it again";
            return Err(NotChanged::Because(why.into()));
        }
        let growth = growth.ok_or(NotChanged::Nothing)?;
        self.put_mask(job.role, job.target.map(|(id, _)| id), (mask, growth), &job.op.what(), author)
    }

    /// Puts the pixels of a finished stroke in place of those of the target (see [`Self::mask_to_paint`]), and selects it.
    ///
    /// # Errors
    /// When nothing changed, the mask has not the size of the source, or a conflict is not settled.
    pub fn paint(&mut self, role: RegionRole, target: Option<RegionId>, mask: Mask, what: &str, author: &Author) -> Result<(), NotChanged> {
        self.allowed(side_of(role))?;
        if mask.size() != self.source_size {
            return Err(NotChanged::Because(format!("the mask is {}, the source {}", mask.size(), self.source_size)));
        }
        let before = target.and_then(|id| self.get(Side::Edit, id)).map(|region| self.pixels_of(&region.area));
        let growth = match before {
            Some(before) => mask.growth_since(&before),
            None if mask.is_empty() => None,
            None => Some(mask.count() as i64),
        };
        let growth = growth.ok_or(NotChanged::Nothing)?;
        self.put_mask(role, target, (mask, growth), what, author)
    }

    /// For the journal: that a change begins with a mask that a network found, and which; another score finds another one.
    fn began_with(&self, role: RegionRole, target: Option<RegionId>) -> String {
        let found = target.filter(|_| !self.speaks_for(Side::Edit, role)).and_then(|id| self.get(Side::Edit, id));
        found.map_or_else(String::new, |region| format!(", on the automatic mask of {:.0} px", region.area.pixels()))
    }

    /// Puts a mask that differs in place of the target's; `growth` is how many pixels more it has.
    fn put_mask(
        &mut self,
        role: RegionRole,
        target: Option<RegionId>,
        (mask, growth): (Mask, i64),
        what: &str,
        author: &Author,
    ) -> Result<(), NotChanged> {
        let mut painted = target;
        let began = self.began_with(role, target);
        self.correct(role, author, format!("{what} ({growth:+} px, {}{began})", mask_name(role)), |state| {
            let area = Area::Mask(Arc::new(mask));
            match target.and_then(|id| state.get_mut(id)) {
                Some(region) => {
                    region.area = area;
                    region.facts.origin = RegionOrigin::Person;
                }
                None => {
                    let id = fresh_id(state);
                    painted = Some(id);
                    state.regions.push(KeptRegion { id, facts: a_persons(role, mask_name(role)), area });
                }
            }
            Ok(())
        })?;
        self.selected = painted.map(|id| (Side::Edit, id));
        Ok(())
    }

    /// Does something to the whole of a mask (see [`Self::mask_job`] for which), and waits for it: for small masks, and where nobody looks.
    ///
    /// # Errors
    /// When nothing changes, it is not clear which mask is meant, or a conflict is not settled.
    pub fn mask_op(&mut self, role: RegionRole, op: MaskOp, author: &Author) -> Result<(), NotChanged> {
        let job = self.mask_job(role, op)?;
        self.finish_mask_job(job.run(), author)
    }

    /// Calls a region something else.
    ///
    /// # Errors
    /// When it is called so already, or a conflict is not settled.
    pub fn rename(&mut self, side: Side, id: RegionId, name: &str, author: &Author) -> Result<(), NotChanged> {
        self.correct_one(side, id, author, format!("named a region “{name}”"), |region| {
            name.clone_into(&mut region.facts.name);
            Ok(())
        })
    }

    /// Gives a region another role of its side. Boxes stay boxes: a box with a mask's role stands for its pixels.
    ///
    /// # Errors
    /// When it has that role already, or a conflict is not settled.
    pub fn set_role(&mut self, side: Side, id: RegionId, role: RegionRole, author: &Author) -> Result<(), NotChanged> {
        let old = self.get(side, id).ok_or(NotChanged::Nothing)?.facts.role;
        if old == role || side_of(role) != side {
            return Err(NotChanged::Nothing);
        }
        let automatic = self.automatic[index(side)].clone();
        let mut renamed = id;
        self.correct(old, author, format!("gave a region the role {}", role_name(role)), |state| {
            Self::adopt(&automatic, state, role);
            if id.is_automatic() {
                // An automatic name belongs to its role: it comes back there when the role goes back to automatic.
                renamed = fresh_id(state);
            }
            let region = state.get_mut(id).ok_or(NotChanged::Nothing)?;
            region.id = renamed;
            region.facts.role = role;
            region.facts.origin = RegionOrigin::Person;
            Ok(())
        })?;
        self.selected = Some((side, renamed));
        Ok(())
    }

    /// Deletes a region.
    ///
    /// # Errors
    /// When a conflict is not settled.
    pub fn delete(&mut self, side: Side, id: RegionId, author: &Author) -> Result<(), NotChanged> {
        let region = self.get(side, id).ok_or(NotChanged::Nothing)?;
        let (role, name) = (region.facts.role, region.facts.name.clone());
        self.correct(role, author, format!("deleted “{name}”"), |state| {
            state.regions.retain(|region| region.id != id);
            Ok(())
        })
    }

    /// Drops a person's regions of a role: what the networks found counts again.
    ///
    /// # Errors
    /// When nobody speaks for the role, or a conflict is not settled.
    pub fn revert_to_automatic(&mut self, role: RegionRole, author: &Author) -> Result<(), NotChanged> {
        let side = side_of(role);
        self.change(side, author, format!("went back to the automatic regions ({})", role_name(role)), |state| {
            if !state.speaks_for(role) {
                return Err(NotChanged::Nothing);
            }
            state.regions.retain(|region| region.facts.role != role);
            state.speak_for(role, false);
            Ok(())
        })
    }
}

/// A box moved by (dx, dy), but not out of the picture.
pub fn moved_within(rect: &Rect<ImageSpace>, dx: f32, dy: f32, size: Size) -> Rect<ImageSpace> {
    // A box that leaves the picture (a detector may return one) can still be moved inwards.
    let within = |d: f32, low: f32, high: f32, limit: f32| d.clamp((-low).min(0.0), (limit - high).max(0.0));
    let dx = within(dx, rect.x0, rect.x1, size.width as f32);
    let dy = within(dy, rect.y0, rect.y1, size.height as f32);
    Rect::new(rect.x0 + dx, rect.y0 + dy, rect.x1 + dx, rect.y1 + dy)
}

fn a_persons(role: RegionRole, name: &str) -> RegionFacts {
    RegionFacts { role, origin: RegionOrigin::Person, name: name.to_owned(), confidence: None }
}

/// The words for a role.
pub const fn role_name(role: RegionRole) -> &'static str {
    match role {
        RegionRole::Original => "original",
        RegionRole::Edited => "edited",
        RegionRole::EditMask => "edit mask",
        RegionRole::Ignore => "ignored",
    }
}

fn edges_text(rect: &Rect<ImageSpace>) -> String {
    let [x0, y0, x1, y1] = rect.to_array();
    format!("{x0:.0}, {y0:.0} – {x1:.0}, {y1:.0}")
}
