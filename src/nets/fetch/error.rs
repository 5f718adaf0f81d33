//! Why a network could not be fetched, and what to do.

use std::io;
use std::path::PathBuf;

/// A fetch that did not come to its end. What was received so far stays in `.part` files and is continued next time.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("no connection to {host} ({reason}). Check the network or the proxy (HTTPS_PROXY); a mirror is named by HF_ENDPOINT. Without internet, put the files of `editscope models list` into {folder} by hand", folder = .folder.display())]
    Offline { host: String, reason: String, folder: PathBuf },
    #[error(
        "{variable} is set to something that is no address of a proxy (it is not shown, as it may hold a password); write for example http://proxy.example:3128, or unset it"
    )]
    NoProxyAddress { variable: String },
    #[error("HF_HUB_OFFLINE is set, so nothing is fetched; {file} is not on this machine. Unset it, or put the file into {folder} by hand", folder = .folder.display())]
    ToldOffline { file: String, folder: PathBuf },
    #[error("{url}: there is no such file (404); the catalog or HF_ENDPOINT is wrong")]
    NotFound { url: String },
    #[error(
        "{url}: access is refused ({status}). The network needs a login: set HF_TOKEN to a token that may read it, and accept its terms on the hub"
    )]
    Refused { url: String, status: u16 },
    #[error("{url}: the server answered {status}{again}", again = .tried.map_or(String::new(), |n| format!(" {n} times; try again later")))]
    Status { url: String, status: u16, tried: Option<u32> },
    #[error(
        "{url}: no answer after {tried} tries ({reason}); check the network, HTTPS_PROXY and HF_ENDPOINT, then run the same command again: it goes on where it stopped"
    )]
    Broken { url: String, reason: String, tried: u32 },
    #[error("{url}: {reason}")]
    Protocol { url: String, reason: String },
    #[error("{file}: the server sent something else than what was published (expected {expected}, got {got}); nothing was kept. Try again, or another HF_ENDPOINT", file = .file.display())]
    WrongContent { file: PathBuf, expected: String, got: String },
    #[error("{url}: the hub now has another file ({hub}) than the catalog pins ({catalog}); nothing was fetched")]
    Replaced { url: String, hub: String, catalog: String },
    #[error("{folder}: the disk has {free} bytes free, the files need {need} more; make room, or set EDITSCOPE_MODELS to a folder on another disk", folder = .folder.display())]
    DiskFull { folder: PathBuf, free: u64, need: u64 },
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{network} is being fetched already, by another window or command; wait for it, or stop it")]
    Busy { network: String },
    #[error("stopped; run the same command again, it goes on where it stopped")]
    Cancelled,
}

impl FetchError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
