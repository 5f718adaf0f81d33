//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::domain::Profile;
use crate::engine::{BaselineChoice, DeviceChoice, DevicePreference, PrecisionChoice};

use super::agree::Agree;
use super::range::RangeArgs;

/// Audit instruction-guided image edits: score them with BPM, see why, correct, rate, compare with people.
#[derive(Debug, Parser)]
#[command(
    name = "editscope",
    version,
    about,
    after_help = "Without a command the window opens. Exit codes: 0 done, 1 some items failed (each is listed), 2 wrong usage or nothing could be done."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open a project in the window
    Open(Open),
    /// Build the demo project, score it and open it; without a display print the table instead
    Demo(Demo),
    /// Read a data set into a project
    Import(Import),
    /// Check a data set without changing anything: rows, pictures (every pixel is decoded), pairs that do not fit
    Lint(Lint),
    /// Read the seven fields out of instructions, one JSON object a line
    Parse(Parse),
    /// Score every edit of a project or data set, one JSON object a line
    Score(Score),
    /// How metrics agree with people, people with each other, and models compare
    Agree(Box<Agree>),
    /// Saved normalisations of modify and preserve
    Range(RangeArgs),
    /// Write scores, ratings and regions of a project to files
    Export(Export),
    /// Join the projects of several raters into one, without duplicates, and list what they do not agree about
    Merge(Merge),
    /// Checkpoints that this program knows
    Models(Models),
}

/// Networks and device, shared by several commands.
#[derive(Debug, Args, Clone)]
pub struct NetworkArgs {
    /// `demo` (inside the program; knows only the demo's scenes), a set of `editscope models list`, or a folder with `clip`, `sam` and `grounding-dino` or with the authors' own
    /// files; `,sam=PATH` after it takes one network from a folder or file of its own, or by its name in the catalog
    #[arg(long, default_value = "demo", value_name = "demo|SET|DIR")]
    pub models: String,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Where networks run and how finely, shared by all commands that run them.
#[derive(Debug, Args, Clone, Copy)]
pub struct DeviceArgs {
    /// Where networks run: a GPU if there is one (`auto`), `cpu` or `gpu`
    #[arg(long, default_value = "auto", value_name = "auto|cpu|gpu")]
    device: DeviceChoice,
    /// How finely linear layers multiply: `auto` takes `f16` on a GPU whose shaders compute in it, else `f32`; `f16` on the CPU is slow and shows
    /// what such a GPU finds
    #[arg(long, default_value = "auto", value_name = "auto|f32|f16")]
    precision: PrecisionChoice,
}

impl DeviceArgs {
    /// Both together.
    pub const fn preference(self) -> DevicePreference {
        DevicePreference { device: self.device, precision: self.precision }
    }
}

#[derive(Debug, Args)]
pub struct Open {
    /// The project file (NAME.editscope)
    pub project: PathBuf,
    /// Networks for new runs, as in `score`; corrections are always scored with the networks that scored the edit [default: those of the
    /// project's newest run, else demo]
    #[arg(long, value_name = "demo|SET|DIR")]
    pub models: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Where to build it [default: editscope-demo in the current folder]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Print the table even where a window could open
    #[arg(long)]
    pub no_window: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Args)]
pub struct Import {
    /// A manifest (.jsonl, .csv, BPM's .json) or a folder
    pub data: PathBuf,
    /// The project file to make or extend
    #[arg(short, long, value_name = "PROJECT")]
    pub output: PathBuf,
    /// DATA is what people said of edits that the project has: a file of `export --format ratings`, or a table in any format that
    /// `agree --ratings` reads (ImagenHub, GenAI-Bench, EditReward, EditScore, BPM, a manifest, any columns); votes are taken too
    #[arg(long, conflicts_with = "format")]
    pub ratings: bool,
    /// The format of such a table, if it should not be detected: imagenhub, genai-bench, editreward, editscore, bpm, manifest, editscope, columns
    #[arg(long, value_name = "FORMAT", conflicts_with = "format")]
    pub ratings_format: Option<crate::datasets::opinions::OpinionFormat>,
    /// The format, if it should not be detected: bpm, jsonl, csv, pairs
    #[arg(long)]
    pub format: Option<String>,
    /// What the columns of such a table mean, as in `agree --columns`
    #[arg(long, value_name = "ROLE=COLUMN,…", conflicts_with = "format")]
    pub columns: Option<crate::datasets::opinions::ColumnMap>,
}

#[derive(Debug, Args)]
pub struct Lint {
    /// A manifest or a folder
    pub data: PathBuf,
    /// The format, if it should not be detected: bpm, jsonl, csv, pairs
    #[arg(long)]
    pub format: Option<String>,
    /// Read the headers of the pictures only: fast, but pictures that are cut short go unseen
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object a finding
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Parse {
    /// The instruction
    #[arg(required_unless_present = "stdin")]
    pub instruction: Option<String>,
    /// Read one instruction a line from standard input
    #[arg(long, conflicts_with = "instruction")]
    pub stdin: bool,
}

#[derive(Debug, Args)]
pub struct Score {
    /// A project file, or a data set (which is kept in a project beside --out)
    pub data: PathBuf,
    #[command(flatten)]
    pub networks: NetworkArgs,
    /// Which reading of the metric: corrected, paper, released-code
    #[arg(long, default_value = "corrected", value_name = "PROFILE")]
    pub profile: Profile,
    /// Write the lines to a file instead of standard output
    #[arg(long, value_name = "FILE.jsonl")]
    pub out: Option<PathBuf>,
    /// Normalise with a saved range of the project, or one that `range export` wrote, instead of one fitted on this set
    #[arg(long, value_name = "NAME|FILE.json")]
    pub range: Option<String>,
    /// Save the range fitted on this set under a name
    #[arg(long, value_name = "NAME", conflicts_with = "range")]
    pub save_range: Option<String>,
    /// Save it even if there is one of that name
    #[arg(long, requires = "save_range")]
    pub replace: bool,
    /// Score only every N-th item, starting with the I-th (1-based)
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<Shard>,
    /// Score again what an earlier run has already scored
    #[arg(long)]
    pub rescore: bool,
    /// Other metrics beside BPM: `none`, `pixels` (L1, L2, PSNR, SSIM), or `all` whose networks are there
    #[arg(long, default_value = "all", value_name = "none|pixels|all")]
    pub baselines: BaselineChoice,
}

/// One of `count` equal shares of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// 1-based.
    pub index: usize,
    pub count: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let wrong = || format!("'{text}' is not a shard; write I/N with 1 ≤ I ≤ N, for example 1/4");
    let (index, count) = text.split_once('/').ok_or_else(wrong)?;
    let shard = Shard { index: index.trim().parse().map_err(|_| wrong())?, count: count.trim().parse().map_err(|_| wrong())? };
    if shard.index >= 1 && shard.index <= shard.count { Ok(shard) } else { Err(wrong()) }
}

fn parse_feather(text: &str) -> Result<f32, String> {
    let most = crate::engine::paste_back::MOST_FEATHER;
    let wrong = || format!("give a number of pixels from 0 (a hard edge) to {most}");
    text.trim().parse::<f32>().ok().filter(|feather| (0.0..=most).contains(feather)).ok_or_else(wrong)
}

/// What `export` can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One edit a row, for spreadsheets
    Csv,
    /// One edit a line, as `import` reads it
    Jsonl,
    /// COCO annotations; masks as RLE (as polygons with --polygons)
    Coco,
    /// One PNG a mask: white is the edit region (black with --invert); ignored pixels in the folder `ignored` below
    Masks,
    /// What raters said, one thing a line (a table for OUT.csv), as `import --ratings` reads it
    Ratings,
    /// One PNG an edit: only its region, pasted back on the source
    PasteBack,
    /// The agreement with people as one HTML file with pictures (or .csv, .tex), as `agree --report`
    Report,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The project file
    pub project: PathBuf,
    /// What to write
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// The file (folder for masks and paste-back) to write
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Only what this rater said (with --format ratings)
    #[arg(long, value_name = "NAME")]
    pub rater: Option<String>,
    /// Masks: black where the edit is, white elsewhere
    #[arg(long)]
    pub invert: bool,
    /// COCO: masks as polygons along the sides of their pixels; those with holes stay RLE, as COCO's polygons have none
    #[arg(long)]
    pub polygons: bool,
    /// Paste-back: pixels of the source over which the region's edge is soft, inwards; 0 to 1000 [default: 4]
    #[arg(long, value_name = "PX", value_parser = parse_feather, allow_negative_numbers = true)]
    pub feather: Option<f32>,
    /// Which profile's scores to write
    #[arg(long, default_value = "corrected", value_name = "PROFILE")]
    pub profile: Profile,
}

#[derive(Debug, Args)]
#[command(after_help = "Everything is kept; of what differs the newest counts. Exit code 1 when there are conflicts (each is listed).")]
pub struct Merge {
    /// The projects to merge; they are only read
    #[arg(required = true, num_args = 2.., value_name = "PROJECT")]
    pub projects: Vec<PathBuf>,
    /// The project to make
    #[arg(short, long, value_name = "PROJECT")]
    pub output: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Models {
    #[command(subcommand)]
    pub command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// List published checkpoints with sizes, licences and where they are on this machine
    List {
        /// Print one JSON object a network
        #[arg(long)]
        json: bool,
    },
    /// Fetch a set (`paper`, `light`, `baselines`) or single networks; goes on where an earlier fetch stopped
    ///
    /// HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE mean what they mean to the hub's own tools, HTTPS_PROXY, HTTP_PROXY,
    /// ALL_PROXY and NO_PROXY what they mean everywhere. Files that are in the hub's cache already are linked, not fetched. A network that cannot
    /// be fetched does not keep the others; it is named at the end, and the exit code is 1 (2 when none could be fetched).
    Fetch {
        /// Sets or networks of `models list`
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Where to put them [default: EDITSCOPE_MODELS, else the user's data folder]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Read fetched files again and name those that are missing, truncated or altered
    Verify {
        /// Sets or networks of `models list` [default: every network that is here]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Where they are [default: EDITSCOPE_MODELS, else the user's data folder]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Print one JSON object a network
        #[arg(long)]
        json: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_feather_is_a_number_of_pixels_within_reason() {
        assert_eq!((parse_feather("0"), parse_feather("12.5")), (Ok(0.0), Ok(12.5)));
        for wrong in ["-1", "1001", "1e9", "NaN", "inf", "wide", ""] {
            assert!(parse_feather(wrong).is_err_and(|why| why.contains("from 0 (a hard edge) to 1000")), "{wrong}");
        }
    }

    #[test]
    fn the_feather_that_help_names_is_the_one_that_is_taken() {
        use clap::CommandFactory as _;
        let help = Arguments::command().find_subcommand_mut("export").map(|export| export.render_long_help().to_string());
        assert!(help.is_some_and(|help| help.contains(&format!("[default: {}]", crate::engine::paste_back::FEATHER))));
    }

    #[test]
    fn shards_are_checked() {
        assert_eq!(parse_shard("2/3"), Ok(Shard { index: 2, count: 3 }));
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0"] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
