//! What a person's actions on the agreement page change, and what its threads and the project tell.

use std::path::PathBuf;
use std::sync::Arc;

use super::worker::Message;
use super::{AgreementAction, AgreementEvent, AgreementRequest, AgreementView, Choices, PlotKind, Work};
use crate::domain::Range;
use crate::editor::{Filter, Picked, RowId};
use crate::engine::Level;
use crate::engine::results::Chosen;
use crate::gui::app::App;
use crate::gui::apply::now_millis;
use crate::gui::context::Action;
use crate::gui::dialogs::Ask;
use crate::gui::settings::Settings;
use crate::gui::state::Page;
use crate::gui::store::StoreRequest;
use crate::stats::comparison::changes;
use crate::storage::EditId;

impl App {
    /// Something that was asked for on the page.
    pub(in crate::gui) fn agreement_action(&mut self, action: AgreementAction) {
        let kept = &mut self.state.agreement.kept;
        match action {
            AgreementAction::View(view) => self.show_agreement(view),
            AgreementAction::Choose(choices) => self.choose(choices),
            AgreementAction::Brush { x, y } => self.brush(x, y),
            AgreementAction::ClearBrush => self.clear_picked(),
            AgreementAction::DraftName(name) => kept.name = name,
            AgreementAction::Save => self.save_comparison(),
            AgreementAction::Open(name) => self.ask_kept(AgreementRequest::Load { name, against: false }),
            AgreementAction::Close => (kept.opened, kept.against) = (None, None),
            AgreementAction::Against(name) => self.ask_kept(AgreementRequest::Load { name, against: true }),
            AgreementAction::DraftRange(name) => kept.range_name = name,
            AgreementAction::RangeOnShown(on) => kept.range_on_shown = on,
            AgreementAction::FitRange => self.fit_range(),
            AgreementAction::ExportRange(name) => self.ask(Ask::RangeTo { name }),
            AgreementAction::WriteRange { name, to } => {
                self.ask_kept(AgreementRequest::WriteRange { name, profile: self.settings.profile, to });
            }
            AgreementAction::ImportRange => self.ask(Ask::RangeFrom),
            AgreementAction::ReadRange(from) => {
                let name = Some(kept.range_name.trim().to_owned()).filter(|name| !name.is_empty());
                self.ask_kept(AgreementRequest::ReadRange { from, name });
            }
            AgreementAction::UseRange(range) => self.apply(Action::SetSettings(Settings { range, ..self.settings.clone() })),
            AgreementAction::Report(to) => self.write_report(to),
            AgreementAction::GroundTruth(table) => {
                let choices = Choices { ground_truth: Some(table), ..self.state.agreement.choices.clone() };
                self.choose(choices);
            }
        }
    }

    /// Fits a range under the name of the field, on all edits or on those that the queue shows.
    fn fit_range(&mut self) {
        let kept = &self.state.agreement.kept;
        let name = kept.range_name.trim().to_owned();
        if name.is_empty() {
            return;
        }
        let chosen = kept.range_on_shown.then(|| {
            let rows = self.chosen_rows(true);
            Chosen { which: self.which(true, rows.len()), edits: rows.into_iter().map(|row| EditId(row.0)).collect() }
        });
        self.ask_kept(AgreementRequest::FitRange { name, profile: self.settings.profile, chosen });
    }

    /// Says which parts have no value under a range.
    fn warn_of_range(&mut self, range: &Range) {
        for warning in range.warnings() {
            self.toast(Level::Warning, warning);
        }
    }

    /// Another project is opened: nothing of the one before stays but how things are shown.
    pub(in crate::gui) fn forget_agreement(&mut self) {
        let old = std::mem::take(&mut self.state.agreement);
        let view = AgreementView { only_model: None, ..old.view };
        self.state.agreement.view = view;
        self.state.agreement.choices = Choices { ground_truth: None, ..old.choices };
        self.state.agreement.kept.waiting = old.kept.waiting;
        self.agreement.forget();
    }

    /// Asks for what is kept by name.
    pub(in crate::gui) fn list_kept(&mut self) {
        self.ask_kept(AgreementRequest::List);
    }

    fn ask_kept(&mut self, request: AgreementRequest) {
        self.state.agreement.kept.waiting += 1;
        self.store.send(StoreRequest::Agreement(request));
    }

    fn show_agreement(&mut self, view: AgreementView) {
        let before = std::mem::replace(&mut self.state.agreement.view, view);
        let now = &self.state.agreement.view;
        if (&before.metric, &before.criterion) != (&now.metric, &now.criterion) {
            self.ask_cloud();
        }
    }

    /// From the scatter to the residuals and back.
    pub(in crate::gui) fn switch_plot(&mut self) {
        let plot = match self.state.agreement.view.plot {
            PlotKind::Scatter => PlotKind::Residuals,
            PlotKind::Residuals => PlotKind::Scatter,
        };
        self.show_agreement(AgreementView { plot, ..self.state.agreement.view.clone() });
    }

    fn choose(&mut self, choices: Choices) {
        let before = std::mem::replace(&mut self.state.agreement.choices, choices);
        if before.ground_truth != self.state.agreement.choices.ground_truth {
            self.agreement_stale = true;
        } else if before != self.state.agreement.choices {
            self.compare();
        }
    }

    /// Leaves only the edits of a rectangle of the plot in the queue.
    fn brush(&mut self, x: [f64; 2], y: [f64; 2]) {
        let Some(cloud) = &self.state.agreement.cloud else { return };
        let view = &self.state.agreement.view;
        let only = view.only_model.as_ref().and_then(|model| cloud.models.binary_search(model).ok());
        let inside = |value: f64, ends: [f64; 2]| ends[0] <= value && value <= ends[1];
        let rows: std::collections::HashSet<RowId> = cloud
            .points
            .iter()
            .filter(|point| only.is_none_or(|only| usize::from(point.model) == only))
            .filter(|point| {
                let value = if view.plot == PlotKind::Residuals { point.residual } else { point.value };
                inside(point.human, x) && inside(value, y)
            })
            .map(|point| point.row)
            .collect();
        if rows.is_empty() {
            self.toast(Level::Info, "There is no edit in this rectangle.");
            return;
        }
        let what = format!("{} edits picked in the plot", rows.len());
        let picked = Some(Picked { rows: Arc::new(rows), what });
        self.state.queue.set_filter(Filter { picked, ..self.state.queue.filter().clone() });
    }

    /// Brings back the edits that a pick in the plot left out.
    pub(in crate::gui) fn clear_picked(&mut self) {
        self.state.queue.set_filter(Filter { picked: None, ..self.state.queue.filter().clone() });
    }

    /// Selects the edit on which the metric of the plot and people differ most after the selected one; on the agreement page it
    /// stays there, so that one can step through the plot.
    pub(in crate::gui) fn step_disagreement(&mut self, by: isize) {
        let queue = &self.state.queue;
        let wanted = |row: RowId| queue.filter().picked.as_ref().is_none_or(|picked| picked.rows.contains(&row));
        // Whoever comes from elsewhere begins with the greatest disagreement.
        let from = self.state.agreement.stepped.filter(|row| queue.selected() == Some(*row));
        let next = match &self.state.agreement.cloud {
            Some(cloud) => cloud.next_disagreement(from, by, wanted),
            None => queue.next_disagreement(from, by),
        };
        match next {
            Some(id) => {
                self.state.agreement.stepped = Some(id);
                self.select(id);
            }
            None => self.toast(Level::Info, "Metric and people order all edits alike, or too few edits have both numbers."),
        }
    }

    fn save_comparison(&mut self) {
        let agreement = &self.state.agreement;
        let name = agreement.kept.name.trim().to_owned();
        let Some(comparison) = agreement.comparison.as_ref().filter(|_| agreement.work == Work::Nothing && !name.is_empty()) else {
            return;
        };
        let who = self.settings.rater_name();
        let mut comparison = (**comparison).clone();
        comparison.about.name.clone_from(&name);
        comparison.about.who.clone_from(&who);
        comparison.about.at_millis = Some(now_millis());
        self.ask_kept(AgreementRequest::Save { name, who, comparison: Arc::new(comparison) });
    }

    fn write_report(&mut self, to: PathBuf) {
        let project = self.state.info().map(|info| info.path.clone());
        if let (Some(comparison), Some(project)) = (self.state.agreement.shown().cloned(), project) {
            let agreement = &self.state.agreement;
            let gathered = agreement.gathered.clone().filter(|_| agreement.kept.opened.is_none());
            let started = self.agreement.report(comparison, gathered, project, to);
            self.started(started);
        }
    }

    fn started(&mut self, started: std::io::Result<()>) {
        if let Err(error) = started {
            (self.state.agreement.work, self.state.agreement.placing) = (Work::Nothing, false);
            self.toast(Level::Error, format!("Nothing can be compared: the system gives no thread ({error})"));
        }
    }

    fn ask_cloud(&mut self) {
        if let Some(gathered) = self.state.agreement.gathered.clone() {
            let AgreementView { metric, criterion, .. } = self.state.agreement.view.clone();
            self.state.agreement.placing = true;
            let started = self.agreement.cloud(gathered, metric, criterion);
            self.started(started);
        }
    }

    fn compare(&mut self) {
        let agreement = &mut self.state.agreement;
        let Some(gathered) = agreement.gathered.clone() else { return };
        agreement.work = Work::Comparing;
        let plan = agreement.choices.plan(gathered.about.edits);
        let started = self.agreement.compare(gathered, plan);
        self.started(started);
    }

    /// Takes in what the page's threads tell, and starts anew when rows changed and the page is looked at.
    pub(in crate::gui) fn refresh_agreement(&mut self) {
        while let Some(message) = self.agreement.try_next() {
            self.agreement_message(message);
        }
        let looked_at = self.state.page == Page::Agreement && self.state.info().is_some();
        if self.agreement_stale && looked_at && self.state.agreement.work == Work::Nothing {
            self.agreement_stale = false;
            self.state.agreement.work = Work::Gathering;
            let shown = self.shown();
            self.ask_kept(AgreementRequest::Source(shown));
        }
    }

    fn agreement_message(&mut self, message: Message) {
        match message {
            Message::Gathered(Ok(gathered)) => {
                self.state.agreement.failed = None;
                self.state.agreement.gathered = Some(gathered);
                self.keep_view_known();
                self.ask_cloud();
                self.compare();
            }
            Message::Gathered(Err(why)) => self.agreement_failed(why),
            Message::Compared { comparison, done } => {
                let agreement = &mut self.state.agreement;
                agreement.work = if done { Work::Nothing } else { Work::Intervals };
                agreement.comparison = Some(comparison);
            }
            Message::Cloud(cloud) => {
                self.state.agreement.placing = false;
                self.state.agreement.cloud = Some(cloud);
            }
            Message::Reported(Ok(file)) => self.toast(Level::Info, format!("Report written: {file}")),
            Message::Reported(Err(why)) => self.toast(Level::Error, format!("No report is written: {why}")),
        }
    }

    fn agreement_failed(&mut self, why: String) {
        let agreement = &mut self.state.agreement;
        (agreement.work, agreement.gathered, agreement.comparison, agreement.cloud) = (Work::Nothing, None, None, None);
        agreement.failed = Some(why);
    }

    /// A metric or criterion that the new data lack is left for one that they have.
    fn keep_view_known(&mut self) {
        let agreement = &mut self.state.agreement;
        let Some(gathered) = &agreement.gathered else { return };
        for (chosen, known) in
            [(&mut agreement.view.metric, &gathered.evidence.metrics), (&mut agreement.view.criterion, &gathered.criteria)]
        {
            if !known.contains(chosen)
                && let Some(first) = known.first()
            {
                chosen.clone_from(first);
            }
        }
    }

    /// One answer of the project's thread.
    pub(in crate::gui) fn agreement_event(&mut self, event: AgreementEvent) {
        let kept = &mut self.state.agreement.kept;
        kept.waiting = kept.waiting.saturating_sub(1);
        match event {
            // Another project was opened meanwhile.
            AgreementEvent::Source(_) if self.state.agreement.work != Work::Gathering => {}
            AgreementEvent::Source(Ok(job)) => {
                let started = self.agreement.gather(job, self.state.agreement.choices.ground_truth.clone());
                self.started(started);
            }
            AgreementEvent::Source(Err(why)) => self.agreement_failed(why),
            AgreementEvent::Listed(Ok(list)) => kept.list = list,
            AgreementEvent::Saved(Ok(name)) => {
                kept.name.clear();
                self.toast(Level::Info, format!("Comparison '{name}' saved."));
                self.list_kept();
            }
            AgreementEvent::Loaded { against: false, result: Ok(comparison) } => kept.opened = Some(comparison),
            AgreementEvent::Loaded { against: true, result: Ok(before) } => {
                if let Some(after) = self.state.agreement.shown().cloned() {
                    let moved = changes(&before, &after);
                    self.state.agreement.kept.against = Some((before, moved));
                }
            }
            AgreementEvent::RangeFitted(Ok(range)) => {
                kept.range_name.clear();
                self.toast(Level::Info, format!("Range '{}' saved, fitted on {}.", range.name, range.fitted_on));
                self.warn_of_range(&range);
                self.state.know_range(&range.name);
                self.list_kept();
            }
            AgreementEvent::RangeRead(Ok(range)) => {
                kept.range_name.clear();
                let other = if range.profile == self.settings.profile { "" } else { "; choose its profile in the settings to use it" };
                self.toast(Level::Info, format!("Range '{}' of profile {} taken{other}.", range.name, range.profile));
                self.warn_of_range(&range);
                self.state.know_range(&range.name);
                self.list_kept();
            }
            AgreementEvent::RangeWritten(Ok(file)) => self.toast(Level::Info, format!("Range written: {file}")),
            AgreementEvent::RangeRead(Err(why)) => self.toast(Level::Error, format!("No range is taken: {why}")),
            AgreementEvent::RangeWritten(Err(why)) => self.toast(Level::Error, format!("No range is written: {why}")),
            AgreementEvent::Listed(Err(why)) | AgreementEvent::Loaded { result: Err(why), .. } => self.toast(Level::Error, why),
            AgreementEvent::Saved(Err(why)) => self.toast(Level::Error, format!("The comparison is not saved: {why}")),
            AgreementEvent::RangeFitted(Err(why)) => self.toast(Level::Error, format!("No range is saved: {why}")),
        }
    }
}
