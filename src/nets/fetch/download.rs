//! One file: to `.part`, continued, checked, renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::client::{Client, Opened, Trouble, host_of};
use super::error::FetchError;
use crate::nets::catalog::FileSum;

/// How often a broken connection or a busy server is tried again without any byte of progress.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub tries: u32,
    /// Wait before the second try; doubled each time.
    pub first_wait: Duration,
    /// Longest wait, also when the server asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 5, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(30) }
    }
}

/// One file to fetch.
pub struct Wanted<'a> {
    pub url: &'a str,
    pub target: &'a Path,
    pub bytes: Option<u64>,
    pub sum: Option<&'a FileSum>,
}

/// What a download tells while it goes on; returning `false` stops it.
pub type Step<'a> = &'a mut dyn FnMut(Phase) -> bool;

/// What is being done with the current file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// So many bytes of the file are here.
    Received(u64),
    /// So many more bytes of it were read to check it.
    Checked(u64),
    /// The connection broke or the server is busy; the next try comes after this wait.
    Waiting(Duration),
}

/// The file that an unfinished download of `target` is in.
pub fn part_of(target: &Path) -> PathBuf {
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    target.with_file_name(name)
}

/// Fetches a file. What an earlier call left in `.part` is continued; a continued file that turns out wrong is fetched once more from
/// its beginning, since the server may have changed in between.
///
/// # Errors
/// See [`FetchError`]. The target only ever holds a file that passed its check.
pub fn download(client: &Client, wanted: &Wanted<'_>, patience: Patience, step: Step<'_>) -> Result<u64, FetchError> {
    let part = part_of(wanted.target);
    let continued = fs::metadata(&part).is_ok_and(|there| there.len() > 0);
    let outcome = receive(client, wanted, &part, patience, step).and_then(|()| check(wanted, &part, step));
    let outcome = match outcome {
        Err(FetchError::WrongContent { .. }) if continued => {
            remove(&part)?;
            receive(client, wanted, &part, patience, step).and_then(|()| check(wanted, &part, step))
        }
        other => other,
    };
    if let Err(FetchError::WrongContent { .. }) = outcome {
        remove(&part)?;
    }
    let bytes = outcome?;
    fs::rename(&part, wanted.target).map_err(FetchError::file(wanted.target))?;
    sync_folder(wanted.target);
    Ok(bytes)
}

fn remove(part: &Path) -> Result<(), FetchError> {
    fs::remove_file(part).map_err(FetchError::file(part))
}

/// A rename is only as lasting as its folder; systems where a folder cannot be opened keep it themselves.
fn sync_folder(target: &Path) {
    if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
}

/// Fills `part` until the server has no more, through broken connections.
fn receive(client: &Client, wanted: &Wanted<'_>, part: &Path, patience: Patience, step: Step<'_>) -> Result<(), FetchError> {
    let mut failures = 0;
    loop {
        let before = fs::metadata(part).map_or(0, |there| there.len());
        let trouble = match attempt(client, wanted, part, before, step) {
            Ok(()) => return Ok(()),
            Err(trouble) => trouble,
        };
        let progressed = fs::metadata(part).is_ok_and(|there| there.len() > before);
        failures = if progressed { 1 } else { failures + 1 };
        let given_up = failures >= patience.tries;
        let url = wanted.url.to_owned();
        let asked = match trouble {
            Trouble::Final(error) => return Err(error),
            Trouble::Broken { reason, never_connected } if never_connected && before == 0 && !progressed => {
                let folder = wanted.target.parent().unwrap_or(wanted.target).to_owned();
                return Err(FetchError::Offline { host: host_of(&url), reason, folder });
            }
            Trouble::Broken { reason, .. } if given_up => return Err(FetchError::Broken { url, reason, tried: failures }),
            Trouble::Busy { status, .. } if given_up => return Err(FetchError::Status { url, status, tried: Some(failures) }),
            Trouble::Broken { .. } => None,
            Trouble::Busy { retry_after, .. } => retry_after,
        };
        let wait = asked.unwrap_or(patience.first_wait * 2_u32.saturating_pow(failures - 1)).min(patience.longest_wait);
        pause(wait, step)?;
    }
}

/// Waits in short steps, so that a cancel is heard.
fn pause(wait: Duration, step: Step<'_>) -> Result<(), FetchError> {
    let slice = Duration::from_millis(100);
    let mut left = wait;
    loop {
        if !step(Phase::Waiting(left)) {
            return Err(FetchError::Cancelled);
        }
        if left.is_zero() {
            return Ok(());
        }
        let now = left.min(slice);
        std::thread::sleep(now);
        left -= now;
    }
}

/// One request, from the end of `part` on.
fn attempt(client: &Client, wanted: &Wanted<'_>, part: &Path, have: u64, step: Step<'_>) -> Result<(), Trouble> {
    let file_error = |source| Trouble::Final(FetchError::File { path: part.to_owned(), source });
    if have > 0 && wanted.bytes == Some(have) {
        return Ok(()); // complete; it was stopped between the last byte and the rename
    }
    let have = if wanted.bytes.is_some_and(|bytes| have > bytes) { 0 } else { have };
    let (start, total, mut reader) = match client.get(wanted.url, have)? {
        Opened::Content { start, total, reader } => (start, total, reader),
        // Nothing beyond what is here: complete, as far as the server knows; the check says whether it is.
        Opened::PastTheEnd => return Ok(()),
    };
    if start != 0 && start != have {
        let reason = format!("asked for the bytes from {have} on, it sends those from {start} on");
        return Err(Trouble::Final(FetchError::Protocol { url: wanted.url.to_owned(), reason }));
    }
    let total = wanted.bytes.or(total);
    let mut file = OpenOptions::new().create(true).append(start > 0).write(true).truncate(start == 0).open(part).map_err(file_error)?;
    let mut here = start;
    let mut buffer = vec![0; 1 << 16];
    let ended = loop {
        if !step(Phase::Received(here)) {
            return Err(Trouble::Final(FetchError::Cancelled));
        }
        match reader.read(&mut buffer) {
            Ok(0) => break None,
            Ok(count) => {
                file.write_all(&buffer[..count]).map_err(file_error)?;
                here += count as u64;
                if let Some(bytes) = total.filter(|&bytes| here > bytes) {
                    let (expected, got) = (format!("{bytes} bytes"), "more".to_owned());
                    return Err(Trouble::Final(FetchError::WrongContent { file: wanted.target.to_owned(), expected, got }));
                }
            }
            Err(error) => break Some(error.to_string()),
        }
    };
    file.sync_all().map_err(file_error)?;
    match ended {
        Some(reason) => Err(Trouble::Broken { reason, never_connected: false }),
        None if total.is_some_and(|bytes| here < bytes) => {
            let reason = format!("it ended after {here} of {} bytes", total.unwrap_or_default());
            Err(Trouble::Broken { reason, never_connected: false })
        }
        None => Ok(()),
    }
}

/// Whether `part` is what was published; its size.
fn check(wanted: &Wanted<'_>, part: &Path, step: Step<'_>) -> Result<u64, FetchError> {
    let bytes = fs::metadata(part).map_err(FetchError::file(part))?.len();
    let wrong = |expected: String, got: String| FetchError::WrongContent { file: wanted.target.to_owned(), expected, got };
    if let Some(expected) = wanted.bytes.filter(|&expected| expected != bytes) {
        return Err(wrong(format!("{expected} bytes"), format!("{bytes} bytes")));
    }
    let Some(sum) = wanted.sum else { return Ok(bytes) };
    match sum.of_file(part, &mut |count| step(Phase::Checked(count))) {
        Ok(got) if got == *sum => Ok(bytes),
        Ok(got) => Err(wrong(sum.to_string(), got.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Err(FetchError::Cancelled),
        Err(source) => Err(FetchError::File { path: part.to_owned(), source }),
    }
}
