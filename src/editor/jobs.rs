//! Runs as the jobs bar shows them.

use super::row::RowId;

/// What became of one edit that could not be scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub row: Option<RowId>,
    pub label: String,
    pub why: String,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    /// Networks are being loaded.
    Starting,
    Running,
    /// Asked to stop, not stopped yet.
    Cancelling,
    Finished {
        cancelled: bool,
    },
    /// It could not begin or go on.
    Failed(String),
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The engine's token of the run.
    pub token: u64,
    pub title: String,
    pub state: JobState,
    /// Device and networks, in words, once known.
    pub device: String,
    pub models: String,
    /// Edits to score now.
    pub total: usize,
    /// Edits that were scored before and are left alone.
    pub already: usize,
    pub done: usize,
    pub failed: usize,
    pub seconds: f64,
    pub current: String,
    pub failures: Vec<Failure>,
}

impl Job {
    /// A job whose networks are being loaded.
    pub fn new(token: u64, title: String) -> Self {
        Self {
            token,
            title,
            state: JobState::Starting,
            device: String::new(),
            models: String::new(),
            total: 0,
            already: 0,
            done: 0,
            failed: 0,
            seconds: 0.0,
            current: String::new(),
            failures: Vec::new(),
        }
    }

    /// Whether it still works.
    pub const fn is_active(&self) -> bool {
        matches!(self.state, JobState::Starting | JobState::Running | JobState::Cancelling)
    }

    /// Share done, `0..=1`; `None` while the total is unknown.
    pub fn progress(&self) -> Option<f32> {
        (self.total > 0).then(|| (self.done + self.failed) as f32 / self.total as f32)
    }

    /// Edits a second; `None` before the first is done.
    pub fn per_second(&self) -> Option<f64> {
        let finished = self.done + self.failed;
        (finished > 0 && self.seconds > 0.0).then(|| finished as f64 / self.seconds)
    }

    /// Seconds left at the present speed.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.total.saturating_sub(self.done + self.failed);
        self.per_second().map(|speed| left as f64 / speed)
    }
}

/// The jobs of this session, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jobs(pub Vec<Job>);

impl Jobs {
    /// The job of a token.
    pub fn get_mut(&mut self, token: u64) -> Option<&mut Job> {
        self.0.iter_mut().find(|job| job.token == token)
    }

    /// The job to show: the newest that works, else the newest.
    pub fn shown(&self) -> Option<&Job> {
        self.0.iter().rev().find(|job| job.is_active()).or_else(|| self.0.last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_and_time_left_are_of_what_was_done() {
        let mut job = Job::new(1, "Score".into());
        assert_eq!((job.progress(), job.seconds_left()), (None, None));
        (job.total, job.done, job.failed, job.seconds) = (96, 22, 2, 12.0);
        // 24 of 96 in 12 s: a quarter, two a second, 72 left take 36 s.
        assert_eq!((job.progress(), job.per_second(), job.seconds_left()), (Some(0.25), Some(2.0), Some(36.0)));
    }
}
