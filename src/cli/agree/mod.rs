//! `agree`: how metrics agree with people, people with each other, and models compare; as tables, JSON, a report, or kept by name.

mod args;
mod gather;
mod print;
mod saved;
mod tables;

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::domain::Profile;
use crate::engine::evidence::report_points;
use crate::export::{ReportPoint, check_output, check_report_name};
use crate::stats::comparison::{Comparison, compare_all};
use crate::storage::Project;

pub use args::Agree;

use super::Finish;

/// More problems than this are counted, not listed, on a terminal.
const LISTED: usize = 20;

/// Compares, or shows what was saved.
pub fn run(agree: &Agree) -> anyhow::Result<Finish> {
    telling(agree, !agree.quiet)
}

/// The same; `told`: what goes on is told, and what was remarked. Data that are left out are always told.
fn telling(agree: &Agree, told: bool) -> anyhow::Result<Finish> {
    if let Some(out) = &agree.report {
        let inputs: Vec<&Path> = agree.people.ratings.iter().chain(&agree.data).map(PathBuf::as_path).collect();
        check_output(out, &inputs)?;
        if let Some(project) = agree.data.as_deref().filter(|data| Project::is_project(data)) {
            super::export::refuse_lost(&Project::open_read_only(project)?, out)?;
        }
        // Said before minutes of computing, not after.
        check_report_name(out)?;
    }
    if agree.range.is_some() && !agree.data.as_deref().is_some_and(Project::is_meant) {
        bail!("--range: only the scores of a project are normalised; tables and lines of `score` hold what they hold: leave --range out");
    }
    if agree.saved.list {
        return saved::list(agree);
    }
    let (comparison, points, finish) = match &agree.saved.saved {
        Some(name) => (saved::load(agree, name)?, None, Finish::Done),
        None => compute(agree, told)?,
    };
    if let Some(name) = &agree.saved.against {
        return saved::print_changes(name, &saved::load(agree, name)?, &comparison, agree.json).map(|()| finish);
    }
    if let Some(out) = &agree.report {
        if told {
            tell!("writing {} …", out.display());
        }
        super::report::write(&comparison, points, agree.data.as_deref(), out)?;
        if told {
            tell!("report: {}", out.display());
        }
    }
    if agree.json {
        out_json!("{}", serde_json::to_string(&comparison)?);
    } else if !agree.quiet {
        print::print(&comparison);
    }
    Ok(finish)
}

/// Writes the report of a project's scores under a profile, every split included: `export --format report`.
pub(super) fn report(project: &Path, profile: Profile, out: &Path) -> anyhow::Result<Finish> {
    telling(&Agree { report: Some(out.to_owned()), quiet: true, ..Agree::of_project(project, profile) }, true)
}

/// The comparison, and the points of its scatter where a report is asked for.
fn compute(agree: &Agree, told: bool) -> anyhow::Result<(Comparison, Option<Vec<ReportPoint>>, Finish)> {
    if agree.data.is_none() && agree.people.ratings.is_empty() {
        bail!("there is nothing to compare: name a scored project or a table of scores, or give tables of ratings with --ratings");
    }
    let plan = agree.statistics.plan()?;
    let reporting = agree.report.is_some();
    if reporting && told {
        tell!("reading what was scored and rated …");
    }
    let gathered = gather::gather(agree)?;
    for problem in gathered.problems.iter().take(LISTED) {
        tell!("problem: {problem}");
    }
    if gathered.problems.len() > LISTED {
        tell!("problem: … and {} more", gathered.problems.len() - LISTED);
    }
    for remark in gathered.remarks.iter().filter(|_| told) {
        tell!("note: {remark}");
    }
    if let Some(unknown) = plan.first.as_ref().filter(|first| !gathered.evidence.metrics.contains(first)) {
        bail!("--first: there is no metric '{unknown}'; there are: {}", gathered.evidence.metrics.join(", "));
    }
    let about = gathered.about.clone();
    if about.rated == 0 && about.vote_count == 0 && gathered.evidence.marks.is_empty() {
        bail!("{}: none of its {} edits has been rated, so there is nothing to agree with", about.data, about.edits);
    }
    if reporting && told {
        tell!("comparing {} rated edits, with intervals by drawing again …", about.rated);
    }
    let mut comparison = compare_all(crate::stats::comparison::About { tie_policy: plan.ties.words(), ..about }, &gathered.evidence, &plan);
    if agree.saved.save.is_some() {
        saved::save(agree, &mut comparison)?;
    }
    let points = reporting.then(|| report_points(&comparison, &gathered));
    Ok((comparison, points, if gathered.problems.is_empty() { Finish::Done } else { Finish::SomeFailed }))
}
