//! What `agree` takes.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use crate::datasets::opinions::{ColumnMap, OpinionFormat};
use crate::domain::Profile;
use crate::stats::comparison::{Plan, SPLITS, Ties};
use crate::stats::{Bootstrap, TiePolicy};

/// `agree`.
#[derive(Debug, Args)]
pub struct Agree {
    /// A scored project, the lines that `score --out` wrote, or any table of numbers; not needed with --ratings
    pub data: Option<PathBuf>,
    /// Which profile's scores to compare (projects only)
    #[arg(long, default_value = "corrected", value_name = "PROFILE")]
    pub profile: Profile,
    /// Normalise with a saved range of the project, or one that `range export` wrote, instead of one fitted on it (projects only)
    #[arg(long, value_name = "NAME|FILE.json")]
    pub range: Option<String>,
    #[command(flatten)]
    pub people: PeopleArgs,
    #[command(flatten)]
    pub statistics: StatisticsArgs,
    #[command(flatten)]
    pub saved: SavedArgs,
    /// Write a report as well: one HTML file with pictures, a CSV table, or a LaTeX table, by the ending
    #[arg(long, value_name = "OUT.html|csv|tex")]
    pub report: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print no tables, progress or notes (with --report); data that had to be left out are still named
    #[arg(long, requires = "report", conflicts_with = "json")]
    pub quiet: bool,
}

impl Agree {
    /// Everything about one project, as the command line would have it by default, with every split.
    pub fn of_project(project: &Path, profile: Profile) -> Self {
        let plan = Plan::default();
        Self {
            data: Some(project.to_owned()),
            profile,
            range: None,
            people: PeopleArgs {
                ratings: Vec::new(),
                ratings_format: None,
                columns: None,
                scores: Vec::new(),
                lower_is_better: Vec::new(),
                ground_truth: None,
            },
            statistics: StatisticsArgs {
                ties: plan.ties,
                split: vec!["all".into()],
                resamples: plan.bootstrap.resamples,
                level: plan.bootstrap.level,
                seed: plan.bootstrap.seed,
                width: plan.width,
                good_from: None,
                first: None,
            },
            saved: SavedArgs { save: None, who: None, replace: false, saved: None, against: None, list: false },
            report: None,
            json: false,
            quiet: false,
        }
    }
}

/// Where opinions and further numbers come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "People and metrics from tables")]
pub struct PeopleArgs {
    /// Tables of ratings or votes (TSV, CSV, JSON, JSONL); alone they give the agreement between people
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub ratings: Vec<PathBuf>,
    /// Their format, if it should not be detected: imagenhub, genai-bench, editreward, editscore, bpm, manifest, editscope, columns
    #[arg(long, value_name = "FORMAT")]
    pub ratings_format: Option<OpinionFormat>,
    /// What their columns mean: roles item, model, rater, comment, seconds, first, second, vote; other words are criteria.
    /// CRITERION@RATER=COLUMN for a column of one rater; a minus before the column if lower is better
    #[arg(long, value_name = "ROLE=COLUMN,…")]
    pub columns: Option<ColumnMap>,
    /// Further tables of metrics: every column of numbers is one, found by the columns item and model
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub scores: Vec<PathBuf>,
    /// Metrics where lower is better, beside the known ones (L1, L2, MSE, LPIPS, DISTS)
    #[arg(long, value_delimiter = ',', value_name = "METRIC,…")]
    pub lower_is_better: Vec<String>,
    /// A table with item, model and role ("good", "over_preserved", …): how often each metric prefers the good edit
    #[arg(long, value_name = "FILE")]
    pub ground_truth: Option<PathBuf>,
}

/// How numbers are made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Statistics")]
pub struct StatisticsArgs {
    /// Ties: `paper` (human ties dropped, metric ties wrong), `half`, `dropped`, `calibrated` (fitted) or `calibrated=T`
    #[arg(long, default_value = "paper", value_name = "POLICY", value_parser = parse_ties)]
    pub ties: Ties,
    /// Report groups of edits too: scope, edit-type, model, region-size, flag, or all
    #[arg(long, value_delimiter = ',', default_value = "scope", value_name = "SPLIT,…")]
    pub split: Vec<String>,
    /// Resamples of the bootstrap over items
    #[arg(long, default_value_t = 2000, value_name = "N")]
    pub resamples: usize,
    /// The share of resamples inside an interval
    #[arg(long, default_value_t = 0.95, value_name = "SHARE")]
    pub level: f64,
    /// Seed of the bootstrap and of the halves of the held-out test
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Say how many items an interval of this width needs
    #[arg(long, default_value_t = 0.1, value_name = "WIDTH")]
    pub width: f64,
    /// For the area under the curve an edit is good from this human mean on [default: above the median]
    #[arg(long, value_name = "MEAN")]
    pub good_from: Option<f64>,
    /// Hold this metric against each of the others [default: all pairs, or the first where there are more than six metrics]
    #[arg(long, value_name = "METRIC")]
    pub first: Option<String>,
}

/// Comparisons kept in a project.
#[derive(Debug, Args)]
#[command(next_help_heading = "Saved comparisons (kept in the project)")]
pub struct SavedArgs {
    /// Save the result under a name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["saved", "list"])]
    pub save: Option<String>,
    /// Who saves it
    #[arg(long, value_name = "WHO", requires = "save")]
    pub who: Option<String>,
    /// Save even if there is one of that name
    #[arg(long, requires = "save")]
    pub replace: bool,
    /// Print a saved comparison (its name, or a file that `--json` wrote) instead of computing one
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "list")]
    pub saved: Option<String>,
    /// Print what changed since another saved comparison
    #[arg(long, value_name = "NAME|FILE")]
    pub against: Option<String>,
    /// List the saved comparisons
    #[arg(long)]
    pub list: bool,
}

fn parse_ties(text: &str) -> Result<Ties, String> {
    Ok(match text {
        "paper" => Ties::As(TiePolicy::Paper),
        "half" => Ties::As(TiePolicy::MetricTiesHalf),
        "dropped" => Ties::As(TiePolicy::MetricTiesDropped),
        "calibrated" => Ties::Fitted,
        other => {
            let threshold = other.strip_prefix("calibrated=").and_then(|number| f64::from_str(number).ok());
            let wrong = || format!("'{text}' is no tie policy; take paper, half, dropped, calibrated or calibrated=THRESHOLD");
            Ties::As(TiePolicy::Calibrated(threshold.filter(|t| t.is_finite() && *t >= 0.0).ok_or_else(wrong)?))
        }
    })
}

impl StatisticsArgs {
    /// The plan that was asked for.
    ///
    /// # Errors
    /// When a number or a split makes no sense; the message names the option.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let mut splits = Vec::new();
        for split in &self.split {
            match split.as_str() {
                "all" => splits.extend(SPLITS.map(str::to_owned)),
                "none" => {}
                known if SPLITS.contains(&known) => splits.push(known.to_owned()),
                other => anyhow::bail!("--split: there is no split '{other}'; take {}, all or none", SPLITS.join(", ")),
            }
        }
        splits.dedup();
        anyhow::ensure!(self.resamples > 0, "--resamples must be at least 1");
        anyhow::ensure!(self.level > 0.0 && self.level < 1.0, "--level must lie between 0 and 1, not {}", self.level);
        anyhow::ensure!(self.width > 0.0, "--width must be above 0, not {}", self.width);
        if let Some(from) = self.good_from.filter(|from| !from.is_finite()) {
            anyhow::bail!("--good-from must be a number, not {from}");
        }
        Ok(Plan {
            ties: self.ties,
            bootstrap: Bootstrap { resamples: self.resamples, level: self.level, seed: self.seed },
            splits,
            width: self.width,
            good_from: self.good_from,
            split_seed: self.seed,
            first: self.first.clone(),
            ..Plan::default()
        })
    }
}
