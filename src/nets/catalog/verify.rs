//! Whether a file is the published one.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::CatalogNetwork;
use super::place::{Record, RecordedFile};

/// What a file is checked against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSum {
    /// SHA-256, 64 hex digits: the catalog's, or the hub's etag of a large file.
    Sha256(String),
    /// Git's name of the content, 40 hex digits: the hub's etag of a small file.
    GitBlob(String),
}

impl FileSum {
    /// Reads an etag of the hub; `None` when it is neither kind of sum (a content network's own etag proves nothing).
    pub fn from_etag(etag: &str) -> Option<Self> {
        let digits = etag.trim().trim_start_matches("W/").trim_matches('"').to_ascii_lowercase();
        let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        match digits.len() {
            64 if hex => Some(Self::Sha256(digits)),
            40 if hex => Some(Self::GitBlob(digits)),
            _ => None,
        }
    }

    /// The sum of the same kind of what is in `path`. `step` is told how many bytes were read and may stop by returning `false`.
    ///
    /// # Errors
    /// When the file cannot be read, or `step` stopped it (`Interrupted`).
    pub fn of_file(&self, path: &Path, step: &mut dyn FnMut(u64) -> bool) -> io::Result<Self> {
        match self {
            Self::Sha256(_) => sha256_of(path, step).map(Self::Sha256),
            Self::GitBlob(_) => git_blob_of(path, step).map(Self::GitBlob),
        }
    }
}

impl std::fmt::Display for FileSum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sha256(sum) => write!(f, "sha256 {sum}"),
            Self::GitBlob(sum) => write!(f, "git blob {sum}"),
        }
    }
}

fn read_all(path: &Path, step: &mut dyn FnMut(u64) -> bool, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        take(&buffer[..count]);
        if !step(count as u64) {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256 of a file, lower-case hex.
///
/// # Errors
/// As [`FileSum::of_file`].
pub fn sha256_of(path: &Path, step: &mut dyn FnMut(u64) -> bool) -> io::Result<String> {
    let mut hasher = Sha256::new();
    read_all(path, step, |bytes| hasher.update(bytes))?;
    Ok(hex(&hasher.finalize()))
}

/// Git's object name of a file's content: SHA-1 over `blob LENGTH\0` and the bytes.
///
/// # Errors
/// As [`FileSum::of_file`].
pub fn git_blob_of(path: &Path, step: &mut dyn FnMut(u64) -> bool) -> io::Result<String> {
    let mut hasher = sha1_smol::Sha1::new();
    hasher.update(format!("blob {}\0", std::fs::metadata(path)?.len()).as_bytes());
    read_all(path, step, |bytes| hasher.update(bytes))?;
    Ok(hasher.digest().to_string())
}

/// What `verify` found about one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub file: PathBuf,
    /// `None`: the file is what was published.
    pub problem: Option<String>,
    /// What it was checked against, in words.
    pub against: String,
}

/// Reads every file of `network` in `folder` again and compares it with the catalog, else with what the hub said when it was fetched.
/// `step` is told how many bytes were read and may stop by returning `false`.
///
/// # Errors
/// Only when `step` stopped it.
pub fn verify(network: &CatalogNetwork, folder: &Path, step: &mut dyn FnMut(u64) -> bool) -> io::Result<Vec<Finding>> {
    let record = Record::read(folder).unwrap_or_default();
    let mut findings = Vec::new();
    for file in &network.files {
        let recorded = record.files.iter().find(|recorded| file.names().any(|name| name == recorded.path));
        let present = file.names().map(|name| folder.join(name)).find(|path| path.exists());
        let path = present.unwrap_or_else(|| folder.join(recorded.map_or(file.path.as_str(), |recorded| &recorded.path)));
        let sum = file.sha256.clone().map(FileSum::Sha256).or_else(|| recorded.and_then(|recorded| recorded.sum.clone()));
        let bytes = file.sure_bytes().or_else(|| recorded.map(|recorded| recorded.bytes));
        let (problem, against) = check(&path, bytes, sum.as_ref(), recorded, &|there| file.expected_instead_of(there), step)?;
        findings.push(Finding { file: path, problem, against });
    }
    Ok(findings)
}

type Checked = (Option<String>, String);

fn check(
    path: &Path,
    bytes: Option<u64>,
    sum: Option<&FileSum>,
    recorded: Option<&RecordedFile>,
    about: &dyn Fn(u64) -> Option<u64>,
    step: &mut dyn FnMut(u64) -> bool,
) -> io::Result<Checked> {
    let against = match (sum, bytes) {
        (Some(sum), _) => sum.to_string(),
        (None, Some(bytes)) => format!("{bytes} bytes"),
        (None, None) => "nothing: no size or sum of it is known".to_owned(),
    };
    let there = match std::fs::metadata(path) {
        Ok(there) => there.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = if recorded.is_some() { "it was fetched once and is gone" } else { "it is missing" };
            return Ok((Some(why.to_owned()), against));
        }
        Err(error) => return Ok((Some(format!("it cannot be read: {error}")), against)),
    };
    if let Some(bytes) = bytes.filter(|&bytes| bytes != there) {
        let kind = if there < bytes { "truncated" } else { "too long" };
        return Ok((Some(format!("{kind}: it has {there} bytes, the published file {bytes}")), against));
    }
    if let Some(about) = about(there).filter(|_| bytes.is_none()) {
        return Ok((Some(format!("another file: it has {there} bytes, the published file about {about}")), against));
    }
    let Some(sum) = sum else { return Ok((None, against)) };
    match sum.of_file(path, step) {
        Ok(got) if got == *sum => Ok((None, against)),
        Ok(got) => Ok((Some(format!("altered: its content has {got}, the published file {sum}")), against)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        Err(error) => Ok((Some(format!("it cannot be read: {error}")), against)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_sha256sum_and_git_hash_object() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hello");
        std::fs::write(&path, "hello\n").unwrap();
        // `printf 'hello\n' | sha256sum` and `printf 'hello\n' | git hash-object --stdin`.
        assert_eq!(sha256_of(&path, &mut |_| true).unwrap(), "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
        assert_eq!(git_blob_of(&path, &mut |_| true).unwrap(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(sha256_of(&path, &mut |_| false).unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn only_sums_are_taken_from_etags() {
        let blob = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(FileSum::from_etag(&format!("W/\"{blob}\"")), Some(FileSum::GitBlob(blob.to_owned())));
        assert_eq!(FileSum::from_etag(&"AB".repeat(32)), Some(FileSum::Sha256("ab".repeat(32))));
        assert_eq!(FileSum::from_etag("\"d41d8cd98f00b204e9800998ecf8427e-12\""), None);
    }
}
