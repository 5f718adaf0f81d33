//! The threads behind the page. Each answer carries the number of its question, so that late ones are dropped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::{Cloud, EvidenceJob};
use crate::engine::Wake;
use crate::engine::evidence::{Gathered, report_extras, report_points};
use crate::export::{DRAWN_NOW, write_report};
use crate::stats::comparison::{About, Comparison, Plan, compare_all};
use crate::storage::Project;

/// What a thread tells.
#[derive(Debug)]
pub enum Message {
    Gathered(Result<Arc<Gathered>, String>),
    /// `done`: with intervals.
    Compared {
        comparison: Arc<Comparison>,
        done: bool,
    },
    Cloud(Arc<Cloud>),
    /// What was written.
    Reported(Result<String, String>),
}

/// What an answer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ticket {
    Comparison(u64),
    Cloud(u64),
    Report,
}

/// Starts threads and takes in their answers.
pub struct Worker {
    outgoing: Sender<(Ticket, Message)>,
    answers: Receiver<(Ticket, Message)>,
    wake: Wake,
    comparison: u64,
    cloud: u64,
}

impl Worker {
    /// No thread yet; `wake` is called after each answer.
    pub fn new(wake: Wake) -> Self {
        let (outgoing, answers) = unbounded();
        Self { outgoing, answers, wake, comparison: 0, cloud: 0 }
    }

    /// Gathers with `job`; what was asked before is no longer waited for.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn gather(&mut self, job: EvidenceJob, ground_truth: Option<PathBuf>) -> std::io::Result<()> {
        self.comparison += 1;
        let ticket = Ticket::Comparison(self.comparison);
        self.spawn(move |send| send(ticket, Message::Gathered((job.0)(ground_truth.as_deref()).map(Arc::new))))
    }

    /// Compares: first without intervals, then with them.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn compare(&mut self, gathered: Arc<Gathered>, plan: Plan) -> std::io::Result<()> {
        self.comparison += 1;
        let ticket = Ticket::Comparison(self.comparison);
        self.spawn(move |send| {
            let about = About { tie_policy: plan.ties.words(), ..gathered.about.clone() };
            let mut quick = plan.clone();
            quick.bootstrap.resamples = 0;
            let first = compare_all(about.clone(), &gathered.evidence, &quick);
            send(ticket, Message::Compared { comparison: Arc::new(first), done: false });
            let all = compare_all(about, &gathered.evidence, &plan);
            send(ticket, Message::Compared { comparison: Arc::new(all), done: true });
        })
    }

    /// Computes the points of the plot.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn cloud(&mut self, gathered: Arc<Gathered>, metric: String, criterion: String) -> std::io::Result<()> {
        self.cloud += 1;
        let ticket = Ticket::Cloud(self.cloud);
        self.spawn(move |send| send(ticket, Message::Cloud(Arc::new(Cloud::of(&gathered, &metric, &criterion)))))
    }

    /// Writes a report; pictures and traces come from the project, the points of the scatter from what was compared. Without that (a saved
    /// comparison was opened) they are of the project as it is now, which the report says.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn report(
        &self,
        comparison: Arc<Comparison>,
        gathered: Option<Arc<Gathered>>,
        project: PathBuf,
        to: PathBuf,
    ) -> std::io::Result<()> {
        self.spawn(move |send| {
            let written = report(&comparison, gathered.as_deref(), &project, &to).map_err(|error| error.to_string());
            send(Ticket::Report, Message::Reported(written.map(|()| to.display().to_string())));
        })
    }

    /// Nothing that was asked for is waited for any more.
    pub fn forget(&mut self) {
        self.comparison += 1;
        self.cloud += 1;
    }

    fn spawn(&self, work: impl FnOnce(&dyn Fn(Ticket, Message)) + Send + 'static) -> std::io::Result<()> {
        let (outgoing, wake) = (self.outgoing.clone(), Arc::clone(&self.wake));
        std::thread::Builder::new().name("agreement".into()).spawn(move || {
            work(&|ticket, message| {
                // The window may be gone; then nobody needs the answer.
                let _ = outgoing.send((ticket, message));
                wake();
            });
        })?;
        Ok(())
    }

    /// The next answer that is still waited for.
    pub fn try_next(&self) -> Option<Message> {
        self.answers.try_iter().find_map(|(ticket, message)| {
            let current = match ticket {
                Ticket::Comparison(number) => number == self.comparison,
                Ticket::Cloud(number) => number == self.cloud,
                Ticket::Report => true,
            };
            current.then_some(message)
        })
    }
}

fn report(comparison: &Comparison, gathered: Option<&Gathered>, project: &Path, to: &Path) -> anyhow::Result<()> {
    let project = Project::open_read_only(project)?;
    crate::gui::exports::kept(&project, to).map_err(anyhow::Error::msg)?;
    let mut extras = report_extras(comparison, &project)?;
    let mut comparison = comparison.clone();
    match gathered {
        Some(gathered) => extras.points = report_points(&comparison, gathered),
        None => comparison.notes.push(DRAWN_NOW.to_owned()),
    }
    Ok(write_report(&comparison, &extras, to)?)
}
