//! What a rater's actions on the Rating page change, and what the project's thread says about sessions.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use crate::domain::{EditKey, Judgement, ProtocolKind, RatingContext, Rubric, RubricId, TaskRole, Visible};
use crate::editor::{Overlay, Pressed, RowId, SessionRun, Task, View};
use crate::engine::Level;

use super::app::App;
use super::apply::now_millis;
use super::command::{Command, Group};
use super::context::Action;
use super::key_press::KeyPress;
use super::people::{OpenSession, OpenedSession, PeopleAction, PeopleEvent, PeopleRequest, SetupDraft, keys};
use super::pictures::{Slot, Wanted};
use super::state::Page;
use super::store::StoreRequest;

/// What is said when somebody answers before the pictures are there.
const LOADING: &str = "The pictures are still loading; answers count from when they are on the screen.";

/// What is said when somebody answers a task that came within the same frame.
const NOT_SEEN: &str = "The next task was not on the screen yet; what was pressed for it does not count.";

impl App {
    /// How an answer on the inspector's Rate tab comes about: outside of a session, with everything in sight that is switched on.
    pub(super) fn quick_context(&self) -> RatingContext {
        let overlays = &self.state.overlays;
        let regions = Overlay::ALL.into_iter().filter(|&overlay| !overlays.bare && overlays.is_on(overlay));
        let seconds = self.state.people.looked.seconds(self.ctx.input(|input| input.time));
        RatingContext {
            protocol: ProtocolKind::Rubric,
            rubric: Some(RubricId::from(&Rubric::paper())),
            session: None,
            place: None,
            // Whoever rates without having had the pictures on the screen has no time.
            seconds: (seconds > 0.0).then_some(seconds),
            visible: Some(Visible {
                models: true,
                scores: true,
                regions: regions.map(|overlay| overlay.label().to_owned()).collect(),
                seen_before: false,
            }),
            cannot_judge: self.state.rating.cannot_judge(),
            scales: std::collections::BTreeMap::new(),
        }
    }

    /// Asks for the sessions of the project, with how far the rater of the settings is.
    pub(super) fn list_sessions(&mut self) {
        if self.state.info().is_some() {
            let rater = self.settings.rater_name();
            let people = &mut self.state.people;
            // Another name opens no wall: what is hidden from those who sat here before stays hidden.
            people.names.insert(rater.clone());
            let before = people.names.iter().filter(|name| **name != rater).cloned().collect();
            self.ask_people(PeopleRequest::List { rater, before });
        }
    }

    fn ask_people(&mut self, request: PeopleRequest) {
        self.state.people.waiting += 1;
        self.store.send(StoreRequest::People(request));
    }

    /// Another project is opened: nothing of the one before stays.
    pub(super) fn forget_sessions(&mut self) {
        let waiting = self.state.people.waiting;
        self.state.people = super::people::PeopleState { waiting, ..Default::default() };
    }

    /// The settings name another rater: a session that is open belongs to the one before.
    pub(super) fn rater_changed(&mut self) {
        let rater = self.settings.rater_name();
        if self.state.people.open.as_ref().is_some_and(|open| open.run.rater() != rater) {
            self.close_session();
        } else {
            self.list_sessions();
        }
    }

    /// Gives a key to the Rating page, before the commands of the other pages see it; whether it has a use for it.
    pub(super) fn rating_key(&mut self, press: &KeyPress) -> bool {
        if self.state.page != Page::Rate || self.state.dialog.is_some() || self.state.info().is_none() {
            return false;
        }
        let people = &self.state.people;
        let action = match (&people.open, &people.draft) {
            (Some(open), _) if !open.is_done() => keys::running(press),
            (Some(open), _) => keys::at_end(press, &open.differing_rows()),
            (None, Some(_)) => keys::in_setup(press),
            (None, None) if people.opening => None,
            (None, None) => {
                let shown: Vec<&str> =
                    people.sessions.iter().flatten().rev().filter(|line| !line.archived).map(|line| line.uid.as_str()).collect();
                keys::in_list(press, people.first_open().map(|line| line.uid.as_str()), &shown)
            }
        };
        let Some(action) = action else { return false };
        if matches!(action, PeopleAction::Press(_)) {
            // Who answers by digits wants Enter to save.
            self.ctx.memory_mut(|memory| memory.focused().into_iter().for_each(|id| memory.surrender_focus(id)));
        }
        self.people_action(action);
        true
    }

    /// Whether a command may act now: on the Rating page only those that do not touch what is out of sight.
    pub(super) fn allows(&self, command: Command) -> bool {
        let with_ctrl = command.shortcut().is_some_and(|shortcut| shortcut.modifiers.command);
        let view = matches!(command, Command::FitView | Command::OneToOne);
        self.state.page != Page::Rate || command.group() == Group::Window || with_ctrl || view
    }

    /// Fit and 1:1 mean the pictures of the page that is shown; whether this was the Rating page.
    pub(super) fn rating_view(&mut self, command: Command) -> bool {
        if self.state.page != Page::Rate {
            return false;
        }
        match command {
            Command::FitView => self.state.people.view.fit = true,
            Command::OneToOne => {
                let ppp = self.ctx.pixels_per_point();
                let pane = self.ctx.data(|data| data.get_temp::<egui::Rect>(super::panels::rate::pane_id()));
                let size = self.rating_paths().first().and_then(|path| Some(self.pictures.ready(&Wanted::Full(path.clone()))?.full_size));
                if let (Some(pane), Some(size)) = (pane, size) {
                    let view = self.state.people.view.resolved(&super::canvas::ui_rect(pane), size, ppp);
                    self.state.people.view = view.at_zoom(1.0 / ppp, ppp);
                }
            }
            _ => return false,
        }
        true
    }

    /// The pictures that the present task shows, the source first.
    fn rating_paths(&self) -> Vec<PathBuf> {
        let Some(open) = &self.state.people.open else { return Vec::new() };
        open.run.task().map(|task| self.paths_of(open, task)).unwrap_or_default()
    }

    fn paths_of(&self, open: &OpenSession, task: &Task) -> Vec<PathBuf> {
        let rows = task.shown.iter().filter_map(|edit| self.state.queue.row(*open.rows.get(edit)?));
        let mut paths: Vec<PathBuf> = Vec::new();
        for row in rows {
            if paths.is_empty() {
                paths.push(row.source.clone());
            }
            // An attention check shows the source in the place of the edit, which would be waited for in vain.
            if task.role != TaskRole::SourceAsEdit {
                paths.push(row.edited.clone());
            }
        }
        paths
    }

    /// Once the task's pictures are there those of the next one are decoded: who answers fast waits for nothing.
    pub(super) fn preload_task(&mut self) {
        if self.state.page != Page::Rate || self.pictures.underway() > 0 || self.waits_for_pictures() {
            return;
        }
        let Some(open) = &self.state.people.open else { return };
        let Some(next) = open.run.next_task().filter(|next| open.preloaded != Some(next.place)) else { return };
        let (place, paths) = (next.place, self.paths_of(open, next));
        self.state.people.open.iter_mut().for_each(|open| open.preloaded = Some(place));
        for path in paths {
            self.pictures.want_ahead(path, self.engine.as_ref());
        }
    }

    /// Time counts while the pictures are on the screen of a window that is in front, and the rater touches something now and then; in a
    /// session, and on the Audit page for what the Rate tab keeps.
    pub(super) fn rating_clock(&mut self) {
        // What was pressed is in `raw`, also where a key was taken by then.
        let (now, in_front, touched) = self.ctx.input(|input| (input.time, input.focused, !input.raw.events.is_empty()));
        let in_front = in_front && self.state.dialog.is_none();
        let ready = |path: PathBuf| self.pictures.ready(&Wanted::Full(path)).is_some();
        let selected = self.state.queue.selected_row().filter(|_| self.state.page == Page::Audit && !self.state.people.hides_scores());
        let sees_pair = in_front && selected.is_some_and(|row| ready(row.source.clone()) && ready(row.edited.clone()));
        let sees_task = in_front && self.state.page == Page::Rate && self.rating_paths().into_iter().all(ready);
        let people = &mut self.state.people;
        if touched {
            people.looked.touch(now);
        }
        if sees_pair {
            people.looked.look(now);
        } else {
            people.looked.pause(now);
        }
        if let Some(open) = &mut people.open {
            if touched {
                open.run.touch(now);
            }
            if sees_task {
                open.run.look(now);
            } else {
                open.run.pause(now);
            }
        }
    }

    /// Applies one action of the Rating page.
    pub(super) fn people_action(&mut self, action: PeopleAction) {
        match action {
            PeopleAction::NewSetup => self.new_setup(),
            PeopleAction::EditSetup(draft) => self.edit_setup(*draft),
            PeopleAction::CancelSetup => self.state.people.draft = None,
            PeopleAction::CreateSession => self.create_session(),
            PeopleAction::Open(uid) => {
                if self.has_rater() {
                    self.open_session(uid);
                }
            }
            PeopleAction::Close => self.close_session(),
            PeopleAction::Archive(uid, archived) => self.archive(uid, archived),
            PeopleAction::SetView(view) => self.state.people.view = view,
            PeopleAction::OpenEdit(row) => {
                self.apply(Action::Select(row));
                self.apply(Action::Do(Command::PageAudit));
            }
            PeopleAction::FocusComment => self.state.people.focus_comment = true,
            PeopleAction::Unblind => {
                let uid = self.state.people.open.as_ref().map(|open| open.run.uid().to_owned());
                if let Some(why) = uid.and_then(|uid| self.state.people.must_wait(&uid, true)) {
                    self.toast(Level::Warning, why);
                    return;
                }
                let at_millis = now_millis();
                let said = self.state.people.open.as_mut().and_then(|open| open.run.unblind(at_millis));
                self.keep(said);
            }
            form => self.form_action(form),
        }
    }

    fn open_session(&mut self, uid: String) {
        self.state.people.opening = true;
        self.ask_people(PeopleRequest::Open { uid, rater: self.settings.rater_name() });
    }

    /// Puts a session away or brings it back. Whoever is in the middle of it blind is not blind any more, and its log says so.
    fn archive(&mut self, uid: String, archived: bool) {
        let raters = self.state.people.names.iter().cloned().collect();
        self.ask_people(PeopleRequest::Archive { uid, archived, raters, at_millis: now_millis() });
        self.list_sessions();
    }

    /// The project notes whose models and scores a rater is shown beside the pictures: a blind answer about the same edit, in whichever
    /// session it comes, then says that they were seen before.
    pub(super) fn note_seen(&mut self) {
        if self.state.page != Page::Rate {
            return;
        }
        let Some(open) = self.state.people.open.as_mut().filter(|open| !open.run.is_blind()) else { return };
        let Some(task) = open.run.task().filter(|task| !task.role.is_check()) else { return };
        let new: Vec<EditKey> = task.shown.iter().filter(|edit| open.noted.insert((*edit).clone())).cloned().collect();
        if !new.is_empty() {
            let rater = open.run.rater().to_owned();
            self.ask_people(PeopleRequest::Saw { rater, edits: new });
        }
    }

    /// Whether a picture of the task is not decoded yet: nobody can judge what is not on the screen. One that cannot be shown is not waited for.
    fn waits_for_pictures(&self) -> bool {
        let waits = |path| !matches!(self.pictures.get(&Wanted::Full(path)), Some(Slot::Ready(_) | Slot::Failed(_)));
        self.rating_paths().into_iter().any(waits)
    }

    /// A frame is drawn: the task on the page can be judged from now on.
    pub(super) fn note_painted(&mut self) {
        if self.state.page == Page::Rate && !self.waits_for_pictures() {
            self.state.people.open.iter_mut().for_each(|open| open.run.paint());
        }
    }

    /// Why an answer does not count yet.
    fn too_early(&self) -> Option<&'static str> {
        if self.waits_for_pictures() {
            return Some(LOADING);
        }
        let unseen = self.state.people.open.as_ref().is_some_and(|open| !open.is_done() && !open.run.is_painted());
        unseen.then_some(NOT_SEEN)
    }

    fn form_action(&mut self, action: PeopleAction) {
        if action.answers()
            && let Some(why) = self.too_early()
        {
            self.toast(Level::Info, why);
            return;
        }
        self.change_form(action);
        // A message about what is missing goes when it is there, or when another task is shown.
        let missing = self.state.people.open.as_ref().and_then(|open| open.run.missing_answer());
        if let Some(said) = self.state.people.warned.take_if(|said| missing.as_ref() != Some(said)) {
            self.state.toasts.retain(|toast| toast.text != said);
        }
    }

    fn change_form(&mut self, action: PeopleAction) {
        let now = self.ctx.input(|input| input.time);
        let Some(open) = &mut self.state.people.open else { return };
        let run = &mut open.run;
        match action {
            PeopleAction::Press(0) if run.kind() != ProtocolKind::Rubric => self.change_form(PeopleAction::CannotJudge),
            PeopleAction::Press(digit) => {
                let pressed = run.press(digit);
                if pressed == Pressed::Complete {
                    self.submit(now);
                }
            }
            PeopleAction::CannotJudgeOne => run.form.cannot_judge_one(),
            PeopleAction::Step(by) => run.form.step(by),
            PeopleAction::Sideways(by) if run.kind() == ProtocolKind::Ranking => run.form.shift(by),
            PeopleAction::Sideways(by) => run.form.step(by),
            PeopleAction::Mark(index) => run.form.mark(index),
            PeopleAction::Give(index, given) => run.form.give(index, given),
            PeopleAction::Rank(index, rank) => run.form.rank(index, rank),
            PeopleAction::Vote(vote) => {
                run.form = crate::editor::Form::Pair(Some(vote));
                self.submit(now);
            }
            PeopleAction::Comment(comment) => run.comment = comment,
            PeopleAction::Submit => self.submit(now),
            PeopleAction::CannotJudge => {
                let said = run.cannot_judge(now, now_millis());
                self.keep(said);
            }
            PeopleAction::Skip => self.skip(now),
            PeopleAction::Back => {
                // At the end of a blind session the result is out; what was said then stands.
                let ended = run.task().is_none() && run.is_blind();
                if ended || !run.back() {
                    self.toast(Level::Info, if ended { "The session is over; its answers stand." } else { "This is the first one." });
                }
                self.state.people.view = View::default();
            }
            _ => {}
        }
    }

    fn submit(&mut self, now: f64) {
        let Some(open) = &mut self.state.people.open else { return };
        match open.run.submit(now, now_millis()) {
            Ok(said) => self.keep(Some(said)),
            Err(why) => {
                self.state.people.warned = Some(why.clone());
                self.toast(Level::Warning, why);
            }
        }
    }

    fn skip(&mut self, now: f64) {
        let Some(open) = &mut self.state.people.open else { return };
        let progress = open.run.progress();
        let is_skipped = open.run.said().is_some_and(|said| !said.answer.is_answer());
        if is_skipped && progress.done + 1 == progress.total {
            self.toast(Level::Info, "Only this one is left. If it cannot be judged, say so with X.");
            return;
        }
        let said = open.run.skip(now, now_millis());
        self.state.people.view = View::default();
        self.keep(said);
    }

    /// Sends what was said to the project; the page shows the next task already.
    fn keep(&mut self, said: Option<Judgement>) {
        let (Some(said), Some(open)) = (said, &mut self.state.people.open) else { return };
        open.log.push(said.clone());
        let setup = open.run.setup();
        let live = setup.live_agreement && said.answer.is_answer();
        self.state.people.view = View::default();
        self.ask_people(PeopleRequest::Keep { judgement: Box::new(said), live });
    }

    fn has_rater(&mut self) -> bool {
        let named = !self.settings.rater.trim().is_empty();
        if !named {
            self.toast(Level::Warning, "Say who you are first: there is a field for your name at the top of the page.");
        }
        named
    }

    fn new_setup(&mut self) {
        if !self.has_rater() {
            return;
        }
        let number = self.state.people.sessions.as_ref().map_or(0, Vec::len) + 1;
        // Any number does; the clock's gives another one each time, and it is stored.
        let seed = (now_millis() / 1000 % 1_000_000) as u32;
        let draft = SetupDraft::new(&self.settings.rater_name(), number, seed);
        self.edit_setup(draft);
    }

    /// Takes an edited draft over, with what it makes counted again.
    fn edit_setup(&mut self, mut draft: SetupDraft) {
        let rows = self.chosen_rows(draft.only_shown);
        let mut per_item: HashMap<&str, usize> = HashMap::new();
        for row in rows.iter().filter_map(|id| self.state.queue.row(*id)) {
            *per_item.entry(&row.item).or_default() += 1;
        }
        draft.edits = rows.len();
        draft.plain_tasks = match draft.setup.protocol.kind() {
            ProtocolKind::Rubric => rows.len(),
            ProtocolKind::Pairwise => per_item.values().map(|&edits| edits * edits.saturating_sub(1) / 2).sum(),
            ProtocolKind::Ranking => per_item.values().filter(|&&edits| edits > 1).count(),
        };
        draft.setup.which = self.which(draft.only_shown, rows.len());
        self.state.people.draft = Some(draft);
    }

    pub(super) fn chosen_rows(&self, only_shown: bool) -> Vec<RowId> {
        let queue = &self.state.queue;
        if only_shown {
            let mut shown: Vec<usize> = queue.shown().to_vec();
            // In the order of the data: how the queue is sorted says nothing about the session.
            shown.sort_unstable();
            return shown.into_iter().filter_map(|index| Some(queue.rows().get(index)?.id)).collect();
        }
        queue.rows().iter().map(|row| row.id).collect()
    }

    /// Which edits were chosen for a session or a range, in words.
    pub(super) fn which(&self, only_shown: bool, edits: usize) -> String {
        if !only_shown {
            return format!("all {edits} edits");
        }
        let filter = self.state.queue.filter();
        let mut words = Vec::new();
        if !filter.text.trim().is_empty() {
            words.push(format!("“{}”", filter.text.trim()));
        }
        words.extend(filter.model.as_ref().map(|model| format!("model {model}")));
        if filter.only != crate::editor::ShowOnly::All {
            words.push(format!("{:?}", filter.only).to_lowercase());
        }
        words.extend(filter.picked.as_ref().map(|picked| picked.what.clone()));
        let filter = if words.is_empty() { "no filter".to_owned() } else { words.join(", ") };
        format!("{edits} of {} edits, as the queue shows them ({filter})", self.state.queue.rows().len())
    }

    fn create_session(&mut self) {
        let Some(draft) = &self.state.people.draft else { return };
        let mut setup = draft.setup.clone();
        setup.created_millis = now_millis();
        let rows = self.chosen_rows(draft.only_shown);
        self.ask_people(PeopleRequest::Create { setup, rows });
    }

    fn close_session(&mut self) {
        self.state.people.open = None;
        self.list_sessions();
        // The new ratings count in the queue.
        self.reload_rows();
        if let Some(id) = self.state.queue.selected() {
            self.request_details(id);
        }
    }

    /// At the end of a session its results are asked for, again after every answer that was kept.
    fn sum_up_if_done(&mut self) {
        if let Some(uid) = self.state.people.open.as_ref().filter(|open| open.is_done()).map(|open| open.run.uid().to_owned()) {
            self.ask_people(PeopleRequest::Results { uid });
        }
    }

    /// The page shows a session, unless it would show what a blind one hides. The list that says so was asked for before.
    fn show_session(&mut self, opened: OpenedSession) {
        self.state.people.opening = false;
        let rater = self.settings.rater_name();
        let run = SessionRun::resume(opened.setup, &rater, &opened.log, |edit| opened.rows.contains_key(edit)).with_seen(opened.seen);
        // The end of a session names models too.
        let tells = !run.is_blind() || run.task().is_none();
        if let Some(why) = tells.then(|| self.state.people.must_wait(run.uid(), run.is_blind())).flatten() {
            self.toast(Level::Warning, why);
            return;
        }
        if run.missing() > 0 {
            let text = format!("{} tasks are left out: this project does not have their edits.", run.missing());
            self.toast(Level::Warning, text);
        }
        self.state.people.view = View::default();
        self.state.people.open = Some(OpenSession {
            run,
            log: opened.log,
            rows: opened.rows,
            live: None,
            results: None,
            preloaded: None,
            noted: HashSet::new(),
        });
        self.sum_up_if_done();
    }

    /// One answer of the project's thread.
    pub(super) fn people_event(&mut self, event: PeopleEvent) {
        let people = &mut self.state.people;
        people.waiting = people.waiting.saturating_sub(1);
        match event {
            PeopleEvent::Listed(Ok(lines)) => {
                let first_time = people.sessions.is_none();
                let blind = lines.iter().find(|line| line.blind && line.is_underway() && !line.archived).map(|line| line.uid.clone());
                people.sessions = Some(lines);
                // A rater who was interrupted in a blind session must not see scores first.
                if first_time && let Some(uid) = blind {
                    self.state.page = Page::Rate;
                    self.open_session(uid);
                }
            }
            PeopleEvent::Listed(Err(why)) => {
                people.sessions.get_or_insert_default();
                self.toast(Level::Error, format!("The rating sessions cannot be read: {why}"));
            }
            PeopleEvent::Created(Ok(uid)) => {
                people.draft = None;
                self.open_session(uid);
                self.list_sessions();
            }
            PeopleEvent::Noted(Ok(())) => {}
            PeopleEvent::Noted(Err(why)) => {
                self.toast(Level::Error, format!("What you saw or put away is not noted in the project: {why}"));
            }
            PeopleEvent::Created(Err(why)) => self.toast(Level::Error, format!("The session is not saved: {why}")),
            PeopleEvent::Opened(Ok(opened)) => self.show_session(*opened),
            PeopleEvent::Opened(Err(why)) => {
                people.opening = false;
                self.toast(Level::Error, format!("The session cannot be opened: {why}"));
            }
            PeopleEvent::Kept { result: Ok(live), .. } => {
                if let Some(open) = &mut people.open {
                    open.live = live.or(open.live.take());
                }
                self.sum_up_if_done();
            }
            PeopleEvent::SummedUp { uid, result } => {
                if let Some(open) = people.open.as_mut().filter(|open| open.run.uid() == uid) {
                    open.results = Some(result.map(|found| *found));
                }
            }
            PeopleEvent::Kept { judgement, result: Err(why) } => {
                if let Some(open) = &mut people.open {
                    open.log.retain(|said| *said != *judgement);
                    open.run.take_back(&judgement);
                }
                let what = if judgement.role == TaskRole::Plain { "answer" } else { "answer (a repeat or a check)" };
                self.toast(Level::Error, format!("The {what} is not saved: {why}"));
            }
        }
    }
}
