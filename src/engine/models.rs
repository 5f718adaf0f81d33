//! The catalog of published checkpoints, as front ends show it, fetch it and check it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::Receiver;
use serde::Serialize;

use crate::nets::catalog::{self, CatalogNetwork, HubEnv, Place};

use super::handle::Outbox;
use super::messages::Event;

/// One published network, with where its files are on this machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedNetwork {
    pub name: String,
    pub role: &'static str,
    pub sets: Vec<String>,
    /// Name on the hub; `None` when every file has its own address.
    pub hub: Option<String>,
    /// The pinned commit; `None` when none is known.
    pub revision: Option<String>,
    pub licence: String,
    /// Total of the known file sizes.
    pub bytes: u64,
    pub files: Vec<catalog::CatalogFile>,
    pub place: Place,
}

/// What is to be done with published networks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelsRequest {
    /// Say what there is, and where.
    List,
    /// Fetch the networks of a set, or one network.
    Fetch(String),
    /// Read the files of a set or network again and compare them with what was published.
    Verify(String),
    /// Stop what is going on; what was received stays.
    Cancel,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelsEvent {
    Listed(Arc<Vec<ListedNetwork>>),
    Progress(FetchProgress),
    /// A set or network is here.
    Fetched {
        name: String,
        summary: String,
    },
    /// What `Verify` found; no problems: every file is as published.
    Verified {
        name: String,
        problems: Vec<String>,
        unchecked: Vec<String>,
    },
    Failed {
        name: String,
        why: String,
    },
}

/// How far a fetch or a check is.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FetchProgress {
    /// The set or network that was asked for.
    pub name: String,
    pub network: String,
    pub file: String,
    pub done_bytes: u64,
    pub total_bytes: u64,
    /// What is being done, in a word ("receiving").
    pub doing: &'static str,
    /// Rate of what is being received; 0 while nothing is.
    pub bytes_per_second: f64,
}

/// The catalog and the places of its networks. No file is read, only looked for.
///
/// # Errors
/// When this machine names no folder for them.
pub fn list() -> anyhow::Result<Vec<ListedNetwork>> {
    let (root, env) = (root()?, HubEnv::from_env());
    Ok(catalog::networks()
        .into_iter()
        .map(|network| ListedNetwork {
            bytes: network.bytes(),
            place: catalog::place_of(&network, &root, &env),
            name: network.name,
            role: network.role.folder(),
            sets: network.sets,
            hub: network.hub,
            revision: network.revision,
            licence: network.licence,
            files: network.files,
        })
        .collect())
}

/// The names that `fetch` and `--models` take: sets first.
pub fn sets() -> Vec<String> {
    catalog::sets()
}

/// The folder of all fetched networks.
///
/// # Errors
/// When this machine names none.
pub fn root() -> anyhow::Result<PathBuf> {
    catalog::models_root().ok_or_else(|| anyhow::anyhow!("this machine names no data folder; set EDITSCOPE_MODELS to a folder"))
}

fn wanted(name: &str) -> anyhow::Result<Vec<CatalogNetwork>> {
    let networks = catalog::named(name);
    if networks.is_empty() {
        let known: Vec<String> = catalog::sets().into_iter().chain(catalog::networks().into_iter().map(|n| n.name)).collect();
        anyhow::bail!("the catalog has no set or network called '{name}'; it has {}", known.join(", "));
    }
    Ok(networks)
}

/// What became of the networks that were to be fetched: a sentence on each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchReport {
    pub done: Vec<String>,
    /// Networks that could not be fetched, why, and what to do.
    pub failed: Vec<String>,
}

impl FetchReport {
    /// The failures first, then what is here.
    fn in_words(&self) -> String {
        self.failed.iter().chain(&self.done).cloned().collect::<Vec<_>>().join("\n")
    }
}

/// The catalog's networks of these names, each once.
///
/// # Errors
/// When the catalog has no such set or network.
fn all_wanted(names: &[String]) -> anyhow::Result<Vec<(String, CatalogNetwork)>> {
    let mut all: Vec<(String, CatalogNetwork)> = Vec::new();
    for name in names {
        for network in wanted(name)? {
            if !all.iter().any(|(_, known)| known.name == network.name) {
                all.push((name.clone(), network));
            }
        }
    }
    Ok(all)
}

/// Fetches the networks of `names` into `root`. One that cannot be fetched does not keep the others. `step` may stop it by returning
/// `false`.
///
/// # Errors
/// When the catalog has no such name (nothing is fetched then), or `step` stopped it.
#[cfg(feature = "nets")]
pub fn fetch(names: &[String], root: &Path, step: &mut dyn FnMut(FetchProgress) -> bool) -> anyhow::Result<FetchReport> {
    use crate::nets::fetch::{FetchError, Options, fetch};

    let options = Options::new(root.to_owned());
    let mut report = FetchReport::default();
    for (name, network) in all_wanted(names)? {
        let mut rate = Rate::new();
        let fetched = fetch(&network, &options, &mut |progress| {
            step(FetchProgress {
                name: name.clone(),
                network: progress.network.clone(),
                file: progress.file.clone(),
                done_bytes: progress.done,
                total_bytes: progress.total,
                doing: words(progress.doing),
                bytes_per_second: rate.of(progress.done, progress.doing == crate::nets::fetch::Doing::Receiving),
            })
        });
        match fetched {
            Ok(fetched) => report.done.push(sentence(&network, &fetched)),
            Err(error @ FetchError::Cancelled) => return Err(error.into()),
            Err(error) => report.failed.push(format!("{}: {error}", network.name)),
        }
    }
    Ok(report)
}

#[cfg(feature = "nets")]
fn sentence(network: &CatalogNetwork, fetched: &crate::nets::fetch::Fetched) -> String {
    let what = if fetched.received.is_empty() { "was here already".to_owned() } else { format!("{} fetched", fetched.received.join(", ")) };
    let commit = fetched.revision.as_ref().map_or(String::new(), |revision| format!(", commit {revision}"));
    let unchecked = match fetched.unchecked.as_slice() {
        [] => String::new(),
        files => format!("; nobody publishes a sum of {}, only the size was checked", files.join(", ")),
    };
    format!("{}: {what}{commit}{unchecked}; in {}", network.name, fetched.folder.display())
}

/// Never fetches: there is nothing that could use the networks.
///
/// # Errors
/// Always.
#[cfg(not(feature = "nets"))]
pub fn fetch(names: &[String], _root: &Path, _step: &mut dyn FnMut(FetchProgress) -> bool) -> anyhow::Result<FetchReport> {
    let _ = all_wanted(names)?;
    anyhow::bail!("this build has no networks (features `wgpu` and `flex` are off)")
}

#[cfg(feature = "nets")]
fn words(doing: crate::nets::fetch::Doing) -> &'static str {
    use crate::nets::fetch::Doing;
    match doing {
        Doing::Asking => "asking",
        Doing::Receiving => "receiving",
        Doing::Checking => "checking",
        Doing::Waiting => "waiting for the server",
        Doing::Found => "found",
    }
}

/// Bytes a second over the last seconds.
#[cfg(feature = "nets")]
struct Rate {
    since: std::time::Instant,
    from: Option<u64>,
    rate: f64,
}

#[cfg(feature = "nets")]
impl Rate {
    fn new() -> Self {
        Self { since: std::time::Instant::now(), from: None, rate: 0.0 }
    }

    fn of(&mut self, done: u64, receiving: bool) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        match self.from {
            Some(from) if receiving && seconds < 1.0 => {
                if self.rate == 0.0 && seconds > 0.2 {
                    self.rate = done.saturating_sub(from) as f64 / seconds;
                }
            }
            Some(from) if receiving => {
                self.rate = done.saturating_sub(from) as f64 / seconds;
                (self.since, self.from) = (std::time::Instant::now(), Some(done));
            }
            _ => {
                self.rate = 0.0;
                (self.since, self.from) = (std::time::Instant::now(), receiving.then_some(done));
            }
        }
        self.rate
    }
}

/// What a check of one network found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedNetwork {
    pub name: String,
    pub folder: PathBuf,
    pub findings: Vec<catalog::Finding>,
}

/// Reads the files of `name` again and compares them with what was published. `step` may stop it by returning `false`.
///
/// # Errors
/// When the catalog has no such name, or `step` stopped it.
pub fn verify(name: &str, root: &Path, step: &mut dyn FnMut(FetchProgress) -> bool) -> anyhow::Result<Vec<VerifiedNetwork>> {
    let env = HubEnv::from_env();
    let mut verified = Vec::new();
    for network in wanted(name)? {
        let folder = catalog::place_of(&network, root, &env).folder;
        let mut done_bytes = 0;
        let findings = catalog::verify(&network, &folder, &mut |count| {
            done_bytes += count;
            step(FetchProgress {
                name: name.to_owned(),
                network: network.name.clone(),
                done_bytes,
                total_bytes: network.bytes(),
                doing: "checking",
                ..FetchProgress::default()
            })
        })?;
        verified.push(VerifiedNetwork { name: network.name.clone(), folder, findings });
    }
    Ok(verified)
}

/// Answers requests until the engine is gone. `stops` counts how often the person asked to stop.
pub(super) fn serve(requests: &Receiver<ModelsRequest>, out: &Outbox, stops: &AtomicU64) {
    for request in requests {
        let before = stops.load(Ordering::Relaxed);
        let mut last = std::time::Instant::now();
        let mut step = |progress: FetchProgress| {
            // A window needs some news a second, not one for each block.
            if last.elapsed().as_millis() >= 100 || progress.doing != "receiving" && progress.doing != "checking" {
                last = std::time::Instant::now();
                out.publish(Event::Models(ModelsEvent::Progress(progress)));
            }
            stops.load(Ordering::Relaxed) == before
        };
        let event = match &request {
            ModelsRequest::Cancel => continue,
            ModelsRequest::List => list().map(|listed| ModelsEvent::Listed(Arc::new(listed))),
            ModelsRequest::Fetch(name) => {
                root().and_then(|root| fetch(std::slice::from_ref(name), &root, &mut step)).map(|report| fetched_event(name, &report))
            }
            ModelsRequest::Verify(name) => {
                root().and_then(|root| verify(name, &root, &mut step)).map(|verified| verified_event(name, &verified))
            }
        };
        let name = match &request {
            ModelsRequest::Fetch(name) | ModelsRequest::Verify(name) => name.clone(),
            ModelsRequest::List | ModelsRequest::Cancel => String::new(),
        };
        out.publish(Event::Models(event.unwrap_or_else(|error| ModelsEvent::Failed { name, why: crate::engine::in_words(&error) })));
        if !matches!(request, ModelsRequest::List)
            && let Ok(listed) = list()
        {
            out.publish(Event::Models(ModelsEvent::Listed(Arc::new(listed))));
        }
    }
}

fn fetched_event(name: &str, report: &FetchReport) -> ModelsEvent {
    let (name, words) = (name.to_owned(), report.in_words());
    if report.failed.is_empty() { ModelsEvent::Fetched { name, summary: words } } else { ModelsEvent::Failed { name, why: words } }
}

fn verified_event(name: &str, verified: &[VerifiedNetwork]) -> ModelsEvent {
    let findings = || verified.iter().flat_map(|network| &network.findings);
    let problems = findings().filter_map(|f| f.problem.as_ref().map(|problem| format!("{}: {problem}", f.file.display()))).collect();
    let unchecked =
        findings().filter(|f| f.problem.is_none() && f.against.starts_with("nothing")).map(|f| f.file.display().to_string()).collect();
    ModelsEvent::Verified { name: name.to_owned(), problems, unchecked }
}
