//! Published networks, fetched: from the hub or a mirror of it, continued where an earlier fetch stopped, checked before they count.
//!
//! A file that another program has already put into the hub's cache is linked instead of fetched. What was fetched, from where and at
//! which commit is written beside the files (`fetched.json`), so that a later check needs no connection.

mod client;
mod download;
mod error;
mod proxy;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::{Client, Remote, Trouble, host_of};
pub use download::Patience;
use download::{Phase, Wanted, download, part_of};
pub use error::FetchError;
pub use proxy::ProxyEnv;

use super::catalog::{CatalogFile, CatalogNetwork, FileSum, HubEnv, Record, RecordedFile};

/// Room that stays free on the disk.
const SPARE_BYTES: u64 = 64 << 20;

/// How to fetch.
#[derive(Clone)]
pub struct Options {
    pub env: HubEnv,
    pub proxies: ProxyEnv,
    /// The folder of all networks; each has its own inside.
    pub root: PathBuf,
    pub patience: Patience,
    /// A connection that is silent for this long counts as broken.
    pub read_timeout: Duration,
    /// Free bytes of the disk of a folder.
    pub free_bytes: fn(&Path) -> std::io::Result<u64>,
}

impl Options {
    /// As the environment says, into `root`.
    pub fn new(root: PathBuf) -> Self {
        Self {
            env: HubEnv::from_env(),
            proxies: ProxyEnv::from_env(),
            root,
            patience: Patience::default(),
            read_timeout: Duration::from_secs(30),
            free_bytes: |folder| fs4::available_space(folder),
        }
    }
}

/// How far a fetch is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub network: String,
    pub file: String,
    /// Bytes of all files of the network that are here.
    pub done: u64,
    /// Bytes of all its files, as far as known.
    pub total: u64,
    pub doing: Doing,
}

/// What a fetch is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Asking,
    Receiving,
    Checking,
    /// The connection broke or the server is busy.
    Waiting,
    /// The file was there already, or in the hub's cache.
    Found,
}

/// What became of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub folder: PathBuf,
    /// The commit, where the network comes from the hub.
    pub revision: Option<String>,
    /// Files that had to be fetched; the others were there.
    pub received: Vec<String>,
    /// Files for which nobody knows a sum: only their size was checked.
    pub unchecked: Vec<String>,
}

/// One file with everything that is known of it.
struct Plan {
    /// Path below the network's folder.
    path: String,
    url: String,
    bytes: Option<u64>,
    sum: Option<FileSum>,
    /// A copy in the hub's cache.
    cached: Option<PathBuf>,
    /// It is in place and right.
    there: bool,
}

/// Fetches the files of `network` that are not here yet. `step` hears of the progress; returning `false` stops the fetch.
///
/// # Errors
/// See [`FetchError`]; files that are complete stay, an unfinished one waits in `.part`. Where nothing was received, no folder is left.
pub fn fetch(network: &CatalogNetwork, options: &Options, step: &mut dyn FnMut(&Progress) -> bool) -> Result<Fetched, FetchError> {
    let folder = options.root.join(&network.name);
    // Held until the end: two that write the same `.part` would destroy it.
    let _lock = lock(&options.root, network)?;
    let fetched = fetch_into(folder.clone(), network, options, step);
    if fetched.is_err() {
        // Removes nothing but an empty folder; one that cannot be removed changes nothing about the error.
        let _ = fs::remove_dir(&folder);
    }
    fetched
}

/// The right to write to a network's folder, of this process alone, until it is dropped.
fn lock(root: &Path, network: &CatalogNetwork) -> Result<File, FetchError> {
    fs::create_dir_all(root).map_err(FetchError::file(root))?;
    let path = root.join(format!(".{}.lock", network.name));
    let file = File::create(&path).map_err(FetchError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FetchError::Busy { network: network.name.clone() }),
        // A file system without locks: as it was before there was one.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(source)) => Err(FetchError::File { path, source }),
    }
}

fn fetch_into(
    folder: PathBuf,
    network: &CatalogNetwork,
    options: &Options,
    step: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Fetched, FetchError> {
    fs::create_dir_all(&folder).map_err(FetchError::file(&folder))?;
    let client = Client::new(&options.env, &options.proxies, options.read_timeout)?;
    let mut record = Record::read(&folder).unwrap_or_default();
    let mut progress =
        Progress { network: network.name.clone(), file: String::new(), done: 0, total: network.bytes(), doing: Doing::Asking };
    let plans = plan(network, &folder, options, &client, &mut record, &mut progress, step)?;
    progress.total = plans.iter().filter_map(|plan| plan.bytes).sum();
    room_for(&plans, &folder, options)?;

    let mut fetched = Fetched { folder: folder.clone(), revision: record.revision.clone(), received: Vec::new(), unchecked: Vec::new() };
    let mut done = 0;
    for plan in &plans {
        progress.file.clone_from(&plan.path);
        progress.done = done;
        let (bytes, from) = obtain(plan, &folder, options, &client, &mut progress, step)?;
        if !plan.there && plan.cached.is_none() {
            fetched.received.push(plan.path.clone());
        }
        if plan.sum.is_none() {
            fetched.unchecked.push(plan.path.clone());
        }
        if !plan.there {
            record.set(RecordedFile { path: plan.path.clone(), bytes, sum: plan.sum.clone(), from });
            record.write(&folder).map_err(FetchError::file(&folder))?;
        }
        done += bytes;
    }
    Ok(fetched)
}

/// Finds out what there is to do.
fn plan(
    network: &CatalogNetwork,
    folder: &Path,
    options: &Options,
    client: &Client,
    record: &mut Record,
    progress: &mut Progress,
    step: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Vec<Plan>, FetchError> {
    // A revision that nobody pins is the newest at the first fetch, and stays that one.
    let mut revision = network.revision.clone().or_else(|| record.revision.clone());
    let mut plans = Vec::new();
    for file in &network.files {
        progress.file.clone_from(&file.path);
        progress.doing = Doing::Asking;
        if !step(progress) {
            return Err(FetchError::Cancelled);
        }
        if let Some(known) = in_place(file, folder, record, progress, step)? {
            plans.push(known);
            continue;
        }
        let asked = Asked { network, file, folder, options, client };
        let (plan, commit) = asked.plan(revision.as_deref(), progress, step)?;
        revision = revision.or(commit);
        plans.push(plan);
    }
    record.revision = revision;
    Ok(plans)
}

/// The plan of a file that is here and is what it should be.
fn in_place(
    file: &CatalogFile,
    folder: &Path,
    record: &Record,
    progress: &mut Progress,
    step: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<Plan>, FetchError> {
    for name in file.names() {
        let path = folder.join(name);
        let Ok(there) = fs::metadata(&path) else { continue };
        let recorded = record.files.iter().find(|recorded| recorded.path == name);
        let pinned = file.sha256.clone().filter(|_| name == file.path).map(FileSum::Sha256);
        let Some(sum) = pinned.or_else(|| recorded.and_then(|recorded| recorded.sum.clone())) else { continue };
        progress.doing = Doing::Checking;
        let got = sum.of_file(&path, &mut |_| step(progress)).map_err(|source| match source.kind() {
            std::io::ErrorKind::Interrupted => FetchError::Cancelled,
            _ => FetchError::File { path: path.clone(), source },
        })?;
        if got == sum {
            let (path, url, bytes) = (name.to_owned(), String::new(), Some(there.len()));
            return Ok(Some(Plan { path, url, bytes, sum: Some(sum), cached: None, there: true }));
        }
    }
    Ok(None)
}

/// A file whose place is being looked for.
struct Asked<'a> {
    network: &'a CatalogNetwork,
    file: &'a CatalogFile,
    folder: &'a Path,
    options: &'a Options,
    client: &'a Client,
}

impl Asked<'_> {
    /// Where the file comes from and what it must be, and the commit that the hub named.
    fn plan(
        &self,
        revision: Option<&str>,
        progress: &mut Progress,
        step: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<(Plan, Option<String>), FetchError> {
        if let Some(plan) = self.cached(revision, progress, step)? {
            return Ok((plan, None));
        }
        if self.options.env.offline {
            return Err(FetchError::ToldOffline { file: self.file.path.clone(), folder: self.folder.to_owned() });
        }
        let mut last = None;
        for name in self.file.names() {
            let url = match (&self.file.url, &self.network.hub) {
                (Some(url), _) => url.clone(),
                (None, Some(hub)) => self.options.env.url(hub, revision.unwrap_or("main"), name),
                // A test of the catalog checks that each file has the one or the other.
                (None, None) => continue,
            };
            match self.ask(&url, progress, step) {
                Ok(remote) => return self.agreed(name, url, remote),
                Err(error @ FetchError::NotFound { .. }) => last = last.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| FetchError::NotFound { url: self.file.path.clone() }))
    }

    /// A copy in the cache of `huggingface_hub` whose content is proven.
    fn cached(
        &self,
        revision: Option<&str>,
        progress: &mut Progress,
        step: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Option<Plan>, FetchError> {
        let Some(snapshot) = self.network.hub.as_deref().and_then(|hub| self.options.env.cached_snapshot(hub, revision)) else {
            return Ok(None);
        };
        for name in self.file.names() {
            let path = snapshot.join(name);
            let Ok(there) = fs::metadata(&path) else { continue };
            // The cache names a file's content by its etag: the link's target is the sum.
            let etag = fs::read_link(&path).ok().and_then(|link| FileSum::from_etag(&link.file_name()?.to_string_lossy()));
            let pinned = self.file.sha256.clone().filter(|_| name == self.file.path).map(FileSum::Sha256);
            let Some(sum) = pinned.or(etag) else { continue };
            progress.doing = Doing::Checking;
            match sum.of_file(&path, &mut |_| step(progress)) {
                Ok(got) if got == sum => {
                    let (path_in_folder, url, bytes) = (name.to_owned(), String::new(), Some(there.len()));
                    return Ok(Some(Plan { path: path_in_folder, url, bytes, sum: Some(sum), cached: Some(path), there: false }));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Err(FetchError::Cancelled),
                // An altered or unreadable copy is not used; the hub has the right one.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(None)
    }

    fn ask(&self, url: &str, progress: &mut Progress, step: &mut dyn FnMut(&Progress) -> bool) -> Result<Remote, FetchError> {
        let patience = self.options.patience;
        for tried in 1.. {
            let trouble = match self.client.head(url) {
                Ok(remote) => return Ok(remote),
                Err(trouble) => trouble,
            };
            let url = url.to_owned();
            match trouble {
                Trouble::Final(error) => return Err(error),
                Trouble::Broken { reason, never_connected: true } => {
                    return Err(FetchError::Offline { host: host_of(&url), reason, folder: self.folder.to_owned() });
                }
                Trouble::Broken { reason, .. } if tried >= patience.tries => return Err(FetchError::Broken { url, reason, tried }),
                Trouble::Busy { status, .. } if tried >= patience.tries => {
                    return Err(FetchError::Status { url, status, tried: Some(tried) });
                }
                Trouble::Broken { .. } | Trouble::Busy { .. } => {}
            }
            progress.doing = Doing::Waiting;
            if !step(progress) {
                return Err(FetchError::Cancelled);
            }
            std::thread::sleep((patience.first_wait * 2_u32.saturating_pow(tried - 1)).min(patience.longest_wait));
        }
        unreachable!("the loop has no end but its returns")
    }

    /// What catalog and hub say together; they must not contradict each other.
    fn agreed(&self, name: &str, url: String, remote: Remote) -> Result<(Plan, Option<String>), FetchError> {
        let pinned = self.file.sha256.clone().filter(|_| name == self.file.path).map(FileSum::Sha256);
        // Only the hub's etags are sums of the content; another server's may look like one and be none.
        let remote = if self.file.url.is_some() { Remote { sum: None, ..remote } } else { remote };
        if let (Some(FileSum::Sha256(catalog)), Some(FileSum::Sha256(hub))) = (&pinned, &remote.sum)
            && catalog != hub
        {
            return Err(FetchError::Replaced { url, hub: hub.clone(), catalog: catalog.clone() });
        }
        let bytes = self.file.sure_bytes().filter(|_| name == self.file.path).or(remote.bytes);
        let plan = Plan { path: name.to_owned(), url, bytes, sum: pinned.or(remote.sum), cached: None, there: false };
        Ok((plan, remote.revision))
    }
}

/// Refuses to begin what cannot end.
fn room_for(plans: &[Plan], folder: &Path, options: &Options) -> Result<(), FetchError> {
    let missing = |plan: &Plan| {
        let here = fs::metadata(part_of(&folder.join(&plan.path))).map_or(0, |part| part.len());
        plan.bytes.unwrap_or(0).saturating_sub(here)
    };
    let need: u64 = plans.iter().filter(|plan| !plan.there && plan.cached.is_none()).map(missing).sum();
    let free = (options.free_bytes)(folder).map_err(FetchError::file(folder))?;
    if need > 0 && free < need + SPARE_BYTES {
        return Err(FetchError::DiskFull { folder: folder.to_owned(), free, need });
    }
    Ok(())
}

/// Puts one file in its place; its size and where it came from.
fn obtain(
    plan: &Plan,
    folder: &Path,
    options: &Options,
    client: &Client,
    progress: &mut Progress,
    step: &mut dyn FnMut(&Progress) -> bool,
) -> Result<(u64, String), FetchError> {
    let target = folder.join(&plan.path);
    if plan.there || plan.cached.is_some() {
        if let Some(cached) = &plan.cached {
            link(cached, &target).map_err(FetchError::file(&target))?;
        }
        progress.doing = Doing::Found;
        progress.done += plan.bytes.unwrap_or(0);
        if !step(progress) {
            return Err(FetchError::Cancelled);
        }
        let from = plan.cached.as_ref().map_or_else(String::new, |cached| cached.display().to_string());
        return Ok((plan.bytes.unwrap_or(0), from));
    }
    let before = progress.done;
    let wanted = Wanted { url: &plan.url, target: &target, bytes: plan.bytes, sum: plan.sum.as_ref() };
    let bytes = download(client, &wanted, options.patience, &mut |phase| {
        progress.doing = match phase {
            Phase::Received(here) => {
                progress.done = before + here;
                Doing::Receiving
            }
            Phase::Checked(_) => Doing::Checking,
            Phase::Waiting(_) => Doing::Waiting,
        };
        step(progress)
    })?;
    Ok((bytes, plan.url.clone()))
}

/// Makes `target` the same file as `original`: a hard link, which outlives the cache; else a copy.
fn link(original: &Path, target: &Path) -> std::io::Result<()> {
    let original = original.canonicalize()?;
    if target.exists() {
        fs::remove_file(target)?;
    }
    if fs::hard_link(&original, target).is_ok() {
        return Ok(());
    }
    let part = part_of(target);
    fs::copy(&original, &part)?;
    fs::rename(part, target)
}
