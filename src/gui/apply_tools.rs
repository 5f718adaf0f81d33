//! What the tools do to the state, and what they exchange with the project file and the segmenter.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::domain::Side;
use crate::editor::regions::{Author, LogLine, NotChanged, RegionDocument};
use crate::editor::tools::{Done, PointMark, PromptStage, Proposal, TakenBack, Tool};
use crate::editor::{RowId, Thresholds};
use crate::engine::{Level, PromptEvent, PromptRequest, Request};
use crate::storage::Appended;

use super::app::App;
use super::found::Found;
use super::region_store::{LoadedRegions, RegionEvent, RegionRequest};
use super::store::StoreRequest;
use super::tool_actions::{ToolAction, in_order};

/// How the message begins that goes away once the disk takes changes again.
const IN_MEMORY_ONLY: &str = "The change is kept in memory only";

/// Seconds between two looks whether another window wrote.
const CHECK_EVERY: f64 = 2.0;

/// What the tools wait for from other threads.
#[derive(Default)]
pub struct ToolTraffic {
    /// The project that the documents belong to.
    project: Option<PathBuf>,
    /// The edit whose regions were asked for.
    loading: Option<RowId>,
    /// They are here; the document begins once the sizes of the pictures are known.
    loaded: Option<(RowId, LoadedRegions)>,
    /// How often it was asked to keep which regions are hidden, without an answer yet.
    pub(super) hiding: usize,
    /// How often it was asked for older regions, to go back to them, without an answer yet.
    going_back: usize,
    /// What networks found, as it was taken over, or asked for.
    pub(super) taken_from: Option<(RowId, Found)>,
    check_at: f64,
    checking: bool,
    next_prompt: u64,
}

impl App {
    /// Whether nothing of the tools is on its way.
    pub(super) fn tools_settled(&self) -> bool {
        let tools = &self.state.tools;
        let writing = tools.document.iter().chain(&tools.unsaved).any(|document| {
            let outbox = document.outbox();
            outbox.is_in_flight() || (!outbox.is_empty() && outbox.failure().is_none())
        });
        let asking = tools.prompt.as_ref().is_some_and(|prompt| matches!(prompt.stage, PromptStage::Working(_)));
        let reading = self.tool_traffic.loading.is_some() && self.tool_traffic.loaded.is_none() && tools.unreadable.is_none();
        let hiding = self.tool_traffic.hiding > 0;
        let going_back = self.tool_traffic.going_back > 0;
        !writing && !asking && !reading && !hiding && !going_back && !self.tool_traffic.checking && self.mask_work.is_done()
    }

    /// Follows the selection, writes what waits, and looks now and then whether another window wrote.
    pub(super) fn update_tools(&mut self) {
        let now = self.ctx.input(|input| input.time);
        self.follow_project();
        let selected = self.state.queue.selected().filter(|_| self.state.info().is_some());
        self.follow_selection(selected);
        self.follow_found();
        self.update_masks();
        self.write_regions(now);
        self.check_other_windows(now);
    }

    /// Regions belong to the project they were read from.
    fn follow_project(&mut self) {
        let open = self.state.info().map(|info| info.path.clone());
        if open.is_none() || open == self.tool_traffic.project {
            return;
        }
        self.forget_regions();
        self.tool_traffic.project = open;
    }

    /// Forgets all regions, also changes that are not on disk: another project is opened, and either there are none or the person said so.
    pub(super) fn forget_regions(&mut self) {
        self.state.tools.document = None;
        self.state.tools.unsaved.clear();
        self.state.tools.hidden.clear();
        self.state.tools.cancel();
        self.mask_work = Default::default();
        self.tool_traffic = ToolTraffic { next_prompt: self.tool_traffic.next_prompt, ..ToolTraffic::default() };
    }

    /// Asks about regions of the project that they were read from; whoever answers refuses it when another one is open by then.
    pub(super) fn ask_regions(&self, request: RegionRequest) {
        if let Some(project) = self.tool_traffic.project.clone() {
            self.store.send(StoreRequest::Regions { project, request });
        }
    }

    fn follow_selection(&mut self, selected: Option<RowId>) {
        let tools = &mut self.state.tools;
        if tools.document.as_ref().map(|document| document.id) != selected {
            if let Some(left) = tools.document.take() {
                tools.cancel();
                tools.last_dab = None;
                self.tool_traffic.taken_from = None;
                if !left.outbox().is_empty() || left.conflict().is_some() {
                    tools.unsaved.push(left);
                }
            }
            let kept = tools.unsaved.iter().position(|document| Some(document.id) == selected);
            tools.document = kept.map(|at| tools.unsaved.swap_remove(at));
            tools.revision += 1;
        }
        let Some(id) = selected else { return };
        let stale = tools.document.as_ref().is_some_and(|document| document.stale && document.is_settled());
        let missing = tools.document.is_none();
        if (missing || stale) && self.tool_traffic.loading != Some(id) {
            self.state.tools.unreadable = None;
            self.tool_traffic.loading = Some(id);
            self.tool_traffic.loaded = None;
            self.ask_regions(RegionRequest::Load(id));
        }
        self.begin_document(id);
    }

    /// Asks for the regions of an edit once more, where the project file did not give them.
    pub(super) fn read_regions_again(&mut self, id: RowId) {
        if self.state.tools.unreadable.take_if(|(of, _)| *of == id).is_some() {
            self.tool_traffic.loading = None;
        }
    }

    /// Begins (or refreshes) the document once both its regions and the sizes of its pictures are there.
    fn begin_document(&mut self, id: RowId) {
        // Whoever draws takes over what networks found, which is not known before the edit is read.
        if self.state.reading && self.state.details.as_ref().is_none_or(|details| details.id != id) {
            return;
        }
        let tools = &mut self.state.tools;
        let Some((_, source, edit)) = tools.sizes.filter(|(of, ..)| *of == id) else { return };
        let Some((_, loaded)) = self.tool_traffic.loaded.take_if(|(of, _)| *of == id) else { return };
        self.tool_traffic.loading = None;
        match &mut tools.document {
            // Changed meanwhile: they will meet the other window's when they are written. In a conflict what this window has waits for the
            // person's choice, after which all is read again.
            Some(document) if !document.is_settled() => document.stale = false,
            Some(document) => document.load(loaded.sides),
            None => {
                tools.document = Some(RegionDocument::new(id, source, edit, loaded.sides));
                self.take_hidden(id, loaded.hidden);
            }
        }
        self.state.tools.revision += 1;
    }

    /// Sends what waits to be written, all of an edit in one go.
    pub(super) fn write_regions(&mut self, now: f64) {
        let tools = &mut self.state.tools;
        let mut next_try = f64::INFINITY;
        let mut to_write = Vec::new();
        for document in tools.document.iter_mut().chain(&mut tools.unsaved) {
            let entries = document.next_to_write(now);
            if !entries.is_empty() {
                to_write.push(RegionRequest::Append(document.id, entries));
            } else if let Some(failure) = document.outbox().failure() {
                next_try = next_try.min(failure.retry_at - now);
            }
        }
        to_write.into_iter().for_each(|request| self.ask_regions(request));
        if next_try.is_finite() {
            self.ctx.request_repaint_after(Duration::from_secs_f64(next_try.clamp(0.05, 60.0)));
        }
    }

    fn check_other_windows(&mut self, now: f64) {
        let Some(document) = &self.state.tools.document else { return };
        if self.screenshot.is_some() {
            // A picture is taken once nothing is on its way; where frames take long, this always would be.
            return;
        }
        let at_rest = document.outbox().is_empty()
            && document.conflict().is_none()
            && !document.stale
            && !self.state.tools.is_busy()
            && self.mask_work.is_done();
        if !at_rest || self.tool_traffic.checking {
            return;
        }
        if now >= self.tool_traffic.check_at {
            self.tool_traffic.check_at = now + CHECK_EVERY;
            self.tool_traffic.checking = true;
            self.ask_regions(RegionRequest::Heads(document.id));
        }
        self.ctx.request_repaint_after(Duration::from_secs_f64(CHECK_EVERY));
    }

    fn document_mut(&mut self, id: RowId) -> Option<&mut RegionDocument> {
        let tools = &mut self.state.tools;
        tools.document.iter_mut().chain(&mut tools.unsaved).find(|document| document.id == id)
    }

    /// One answer of the store. Those about another project come too late: its edits have the same numbers.
    pub(super) fn region_event(&mut self, project: &Path, event: RegionEvent) {
        if self.tool_traffic.project.as_deref() != Some(project) {
            return;
        }
        match event {
            RegionEvent::Loaded(id, Ok(loaded)) => {
                if self.tool_traffic.loading == Some(id) {
                    self.tool_traffic.loaded = Some((id, loaded));
                }
            }
            RegionEvent::Loaded(id, Err(why)) => {
                self.toast(Level::Error, format!("The regions cannot be read: {why}"));
                if self.tool_traffic.loading == Some(id) {
                    self.state.tools.unreadable = Some((id, why));
                }
            }
            RegionEvent::Found(id, found) => {
                if let Some(document) = self.document_mut(id) {
                    document.set_automatic(found);
                    self.state.tools.revision += 1;
                }
            }
            RegionEvent::Heads(id, heads) => {
                self.tool_traffic.checking = false;
                let heads = match heads {
                    Ok(heads) => heads,
                    Err(why) => return self.toast_once(Level::Error, why),
                };
                if let Some(document) = self.document_mut(id).filter(|document| document.outbox().is_empty())
                    && document.heads() != heads
                {
                    document.stale = true;
                    self.toast(Level::Info, "Another window changed these regions; they are read again.");
                }
            }
            RegionEvent::Appended(id, result) => self.appended(id, result),
            RegionEvent::Hidden(result) => self.hidden_kept(result),
            RegionEvent::Before { id, what, result: Ok(state) } => {
                self.tool_traffic.going_back = self.tool_traffic.going_back.saturating_sub(1);
                let author = self.author();
                self.following_hidden(|app| {
                    if let Some(document) = app.state.tools.document.as_mut().filter(|document| document.id == id) {
                        let done = document.restore(&state, &author, what);
                        app.tell(done, "That is what counts already.");
                    }
                });
            }
            RegionEvent::Before { result: Err(why), .. } => {
                self.tool_traffic.going_back = self.tool_traffic.going_back.saturating_sub(1);
                self.toast(Level::Error, format!("The older regions cannot be read: {why}"));
            }
        }
    }

    /// Says something that is asked for again and again, unless it stands there already.
    fn toast_once(&mut self, level: Level, text: String) {
        if !self.state.toasts.iter().any(|toast| toast.text == text) {
            self.toast(level, text);
        }
    }

    fn appended(&mut self, id: RowId, result: Result<(usize, Appended), String>) {
        let now = self.ctx.input(|input| input.time);
        let author = self.author();
        let Some(document) = self.document_mut(id) else { return };
        match result {
            Ok((stored, became)) => {
                let failed_before = document.outbox().failure().is_some();
                document.written(stored);
                let met = match became {
                    Appended::Stored => false,
                    Appended::Conflict { theirs, entries } => {
                        document.met(theirs, entries.iter().map(LogLine::from).collect(), &author);
                        true
                    }
                };
                let all_written = document.outbox().is_empty();
                self.told_of_writing(failed_before, met);
                if all_written {
                    self.state.tools.unsaved.retain(|document| document.id != id || document.conflict().is_some());
                    self.regions_changed(id);
                }
            }
            Err(why) => {
                let first = document.outbox().failure().is_none();
                document.write_failed(why.clone(), now);
                if first {
                    self.toast(Level::Error, format!("{IN_MEMORY_ONLY}, the disk refused it: {why}"));
                }
            }
        }
    }

    /// Changes were written, after the disk had refused them (`failed_before`), and perhaps met another window's.
    fn told_of_writing(&mut self, failed_before: bool, met: bool) {
        if failed_before {
            self.state.toasts.retain(|toast| !toast.text.starts_with(IN_MEMORY_ONLY));
            self.toast(Level::Info, "The disk takes changes again; they are being written.");
        }
        if met {
            self.state.tools.revision += 1;
            self.toast(Level::Warning, "Another window changed the same regions. Choose in the Regions tab whose version counts.");
        }
    }

    /// Who works here, and now.
    pub(super) fn author(&self) -> Author {
        let who = self.settings.rater.trim();
        Author { who: if who.is_empty() { "unnamed".into() } else { who.to_owned() }, at_millis: super::apply::now_millis() }
    }

    /// Says why something was not done; `nothing` where there was nothing to do.
    pub(super) fn tell(&mut self, done: Done, nothing: &str) {
        self.state.tools.revision += 1;
        match done {
            Ok(()) => {}
            Err(NotChanged::Nothing) if nothing.is_empty() => {}
            Err(NotChanged::Nothing) => self.toast(Level::Info, nothing),
            Err(why @ NotChanged::InConflict) => self.toast(Level::Warning, why.to_string()),
            Err(NotChanged::Because(why)) => self.toast(Level::Info, why),
        }
    }

    /// Applies one action of the tools.
    pub(super) fn apply_tool(&mut self, action: ToolAction) {
        self.following_hidden(|app| app.do_tool(action));
    }

    fn do_tool(&mut self, action: ToolAction) {
        if action.draws() {
            // Nobody draws on what is only tried: the mask that is seen is the one that is changed.
            self.state.overlays.set_preview(Thresholds::METRIC);
        }
        match action {
            ToolAction::Take(tool) => self.take_tool(tool),
            ToolAction::SetOptions(options) => {
                self.state.tools.options = options;
                self.state.tools.revision += 1;
            }
            ToolAction::Sizes { id, source, edit } => self.state.tools.sizes = Some((id, source, edit)),
            ToolAction::Hover(hover) => self.state.tools.hover = hover,
            ToolAction::PointAt(region) => self.state.tools.pointed = region,
            ToolAction::Select(region) => self.select_region(region),
            ToolAction::SelectAt { side, at, reach } => {
                let hit = self.state.tools.region_at(side, at, reach);
                self.select_region(hit.map(|id| (side, id)));
            }
            ToolAction::SelectNext { forwards } => self.select_next_region(forwards),
            ToolAction::OfSelected(what) => self.apply_to_selected(what),
            ToolAction::ToggleHidden(side, id) => self.toggle_hidden(side, id),
            ToolAction::Cancel => {
                if self.state.tools.is_busy() {
                    self.state.tools.cancel();
                } else {
                    self.select_region(None);
                }
            }
            ToolAction::GoBack(side, token) => self.go_back(side, token),
            ToolAction::Mask(op) => self.ask_mask_op(op),
            // What is not done yet is undone by not doing it.
            ToolAction::Undo if self.state.tools.is_busy() => {
                if self.state.tools.take_back() == TakenBack::Point {
                    self.ask_segmenter();
                }
            }
            ToolAction::Redo if self.state.tools.is_busy() => {
                self.toast(Level::Info, "Finish what is being drawn, or drop it with Esc; then changes can be made again.");
            }
            ToolAction::Undo if self.withdraw_mask_op() => {}
            gesture @ (ToolAction::Press { .. }
            | ToolAction::Drag(_)
            | ToolAction::Release
            | ToolAction::Corner(_)
            | ToolAction::DropCorner
            | ToolAction::ClosePolygon
            | ToolAction::Mark { .. }
            | ToolAction::Accept
            | ToolAction::NextProposal) => self.apply_gesture(gesture),
            change => self.apply_change(change),
        }
    }

    fn take_tool(&mut self, tool: Tool) {
        let tools = &mut self.state.tools;
        if tools.tool != tool {
            tools.cancel();
            tools.tool = tool;
        }
    }

    fn apply_gesture(&mut self, action: ToolAction) {
        let author = self.author();
        let tools = &mut self.state.tools;
        match action {
            ToolAction::Press { side, at, reach, straight } => tools.press(side, at, reach, straight),
            ToolAction::Drag(path) => tools.drag(&path),
            ToolAction::Release => match tools.release(&author) {
                Ok(None) => {}
                Ok(Some((side, rect))) if rect.area() > 0.0 => {
                    tools.prompt_on(side).set_rect(rect);
                    self.ask_segmenter();
                }
                Ok(Some(_)) => {}
                Err(why) => self.tell(Err(why), ""),
            },
            ToolAction::Corner(at) => tools.add_corner(at),
            ToolAction::DropCorner => tools.drop_corner(),
            ToolAction::ClosePolygon => {
                let done = tools.close_polygon(&author);
                self.tell(done, "The polygon changes nothing.");
            }
            ToolAction::Mark { side, at, inside } => {
                tools.prompt_on(side).add(PointMark { at, inside });
                self.ask_segmenter();
            }
            ToolAction::Accept => {
                let done = tools.accept_proposal(&author);
                self.tell(done, "The proposal changes nothing.");
            }
            ToolAction::NextProposal => tools.next_proposal(),
            _ => {}
        }
    }

    /// A change of the document, which is journaled.
    fn apply_change(&mut self, action: ToolAction) {
        let author = self.author();
        let role = self.state.tools.options.mask_role;
        let Some(document) = &mut self.state.tools.document else {
            return self.tell_no_regions();
        };
        let (done, nothing) = match action {
            ToolAction::SetBox(side, id, edges) => (in_order(edges).and_then(|()| document.set_box(side, id, edges, &author)), ""),
            ToolAction::Nudge { dx, dy } => match document.selected {
                Some((side, id)) => (document.nudge_box(side, id, dx, dy, &author), ""),
                None => (Err(NotChanged::Nothing), ""),
            },
            ToolAction::Rename(side, id, name) => (document.rename(side, id, &name, &author), ""),
            ToolAction::SetRole(side, id, role) => (document.set_role(side, id, role, &author), ""),
            ToolAction::Delete(side, id) => (document.delete(side, id, &author), ""),
            ToolAction::CopyToEdit(id) => (document.copy_to_edit(id, &author), "Select a box of the source to copy it to the edit."),
            ToolAction::BoxToMask(side, id) => (document.box_to_mask(side, id, role, &author), "The mask holds these pixels already."),
            ToolAction::RevertToAutomatic(role) => (document.revert_to_automatic(role, &author), "These regions are the automatic ones."),
            ToolAction::Undo => (document.undo(&author).map(drop), "There is nothing to undo."),
            ToolAction::Redo => (document.redo(&author).map(drop), "There is nothing to redo."),
            ToolAction::KeepMine => {
                document.keep_mine(&author);
                (Ok(()), "")
            }
            ToolAction::KeepTheirs => {
                document.keep_theirs();
                (Ok(()), "")
            }
            ToolAction::RetrySaving => {
                document.retry();
                (Ok(()), "")
            }
            _ => return,
        };
        self.tell(done, nothing);
    }

    fn go_back(&mut self, side: Side, token: crate::domain::regions::Token) {
        let Some(document) = &self.state.tools.document else { return };
        let Some(line) = document.log().iter().find(|line| line.token == token) else { return };
        let what = match line.kind {
            crate::domain::regions::EntryKind::SetAside => format!("took the version that was set aside ({})", line.what),
            _ => format!("went back to before “{}”", line.what),
        };
        let id = document.id;
        self.tool_traffic.going_back += 1;
        self.ask_regions(RegionRequest::Before { id, side, token, what });
    }

    /// Asks the segmenter about the points and the box so far; an older question is dropped.
    fn ask_segmenter(&mut self) {
        let Some(row) = self.state.queue.selected_row() else { return };
        let (source, edited) = (row.source.clone(), row.edited.clone());
        let Some(document) = &self.state.tools.document else { return };
        let Some(prompt) = &mut self.state.tools.prompt else { return };
        self.tool_traffic.next_prompt += 1;
        prompt.token = self.tool_traffic.next_prompt;
        prompt.stage = PromptStage::Working("asking the segmenter".into());
        let side_from_canvas = document.side_from_canvas(prompt.side);
        let request = PromptRequest {
            token: prompt.token,
            picture: if prompt.side == Side::Source { source } else { edited },
            models: self.settings.models.clone(),
            device: self.settings.device,
            points: prompt.points.iter().map(|mark| (side_from_canvas * mark.at, mark.inside)).collect(),
            rect: prompt.rect.map(|rect| side_from_canvas * rect),
            out: document.source_size,
        };
        self.engine.send(Request::Prompt(request));
        self.state.tools.revision += 1;
    }

    /// The segmenter's progress or answer.
    pub(super) fn prompt_event(&mut self, event: PromptEvent) {
        let Some(prompt) = &mut self.state.tools.prompt else { return };
        match event {
            PromptEvent::Stage { token, words } if token == prompt.token => prompt.stage = PromptStage::Working(words),
            PromptEvent::Stage { .. } => {}
            PromptEvent::Answered { token, result } => {
                let proposals = result.map(|masks| {
                    let proposal = |(mask, quality)| Proposal { mask: Arc::new(mask), quality };
                    masks.into_iter().map(proposal).collect()
                });
                prompt.answer(token, proposals);
            }
        }
        self.state.tools.revision += 1;
    }
}
