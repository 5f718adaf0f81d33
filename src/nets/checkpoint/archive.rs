//! The zip archives that PyTorch writes: entries are stored, never compressed, and may lie beyond 4 GB.
//!
//! Format: PKWARE, APPNOTE.TXT 6.3, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16 (end, and end for 64 bits), 4.5.3
//! (sizes in 64 bits).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

/// First bytes of an archive.
pub const MAGIC: &[u8] = b"PK\x03\x04";
/// Largest directory taken, in bytes; a network of thousands of tensors has less than one megabyte.
const DIRECTORY_LIMIT: u64 = 64 << 20;
/// The end of an archive with the longest comment.
const LONGEST_END: u64 = 22 + 65_535;

/// An entry's place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Where its local header begins.
    header: u64,
    size: u64,
    stored: bool,
}

/// An open archive.
pub struct Archive {
    file: Mutex<File>,
    entries: BTreeMap<String, Entry>,
}

impl Archive {
    /// Opens `path` and reads its directory.
    ///
    /// # Errors
    /// When it cannot be read or has no directory, in words.
    pub fn open(path: &Path) -> Result<Self, String> {
        let mut file = File::open(path).map_err(|e| e.to_string())?;
        let directory = directory(&mut file)?;
        let mut entries = BTreeMap::new();
        let mut rest = directory.as_slice();
        while rest.starts_with(b"PK\x01\x02") {
            let (name, entry, length) = entry(rest).ok_or("the directory of its archive is damaged")?;
            entries.insert(name, entry);
            rest = &rest[length..];
        }
        Ok(Self { file: Mutex::new(file), entries })
    }

    /// Names of the entries, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The folder of the entry `file`, with its slash, the shortest if there are several.
    pub fn folder_of(&self, file: &str) -> Option<String> {
        let folders = self.names().filter_map(|name| name.strip_suffix(file));
        folders.filter(|folder| folder.is_empty() || folder.ends_with('/')).min_by_key(|folder| folder.len()).map(str::to_owned)
    }

    /// The bytes of an entry.
    ///
    /// # Errors
    /// When there is none, it is compressed, longer than `limit`, or reaches beyond the file; in words.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, String> {
        let entry = *self.entries.get(name).ok_or_else(|| format!("its archive has no {name}"))?;
        if !entry.stored || entry.size > limit {
            return Err(format!("{name} in its archive is compressed or too large, which PyTorch does not write"));
        }
        let gone = |_| format!("{name} in its archive reaches beyond the file");
        // A poisoned lock only means that another reader panicked; the next seek is absolute anyway.
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut header = [0; 30];
        file.seek(SeekFrom::Start(entry.header)).map_err(gone)?;
        file.read_exact(&mut header).map_err(gone)?;
        let skip = number(&header, 26, 2).unwrap_or(0) + number(&header, 28, 2).unwrap_or(0);
        let start = entry.header.saturating_add(30 + skip);
        // What is stored cannot be longer than the file, so the length is checked before it is allocated.
        let length = file.seek(SeekFrom::End(0)).map_err(gone)?;
        if !header.starts_with(MAGIC) || start.checked_add(entry.size).is_none_or(|end| end > length) {
            return Err(format!("{name} in its archive reaches beyond the file"));
        }
        let mut bytes = vec![0; entry.size as usize];
        file.seek(SeekFrom::Start(start)).map_err(gone)?;
        file.read_exact(&mut bytes).map_err(gone)?;
        Ok(bytes)
    }
}

/// A little-endian number of `size` bytes at `at`.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The bytes of the archive's directory.
fn directory(file: &mut File) -> Result<Vec<u8>, String> {
    const NONE: &str = "its archive has no end; it was cut short or is no archive";
    let length = file.seek(SeekFrom::End(0)).map_err(|e| e.to_string())?;
    let from = length.saturating_sub(LONGEST_END);
    let tail = read_at(file, from, length - from)?;
    let end = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").ok_or(NONE)?;
    let field = |at, size| number(&tail, end + at, size).ok_or(NONE);
    let (mut size, mut start) = (field(12, 4)?, field(16, 4)?);
    if size == u64::from(u32::MAX) || start == u64::from(u32::MAX) || field(10, 2)? == u64::from(u16::MAX) {
        // The numbers do not fit; they stand in a record whose place stands before the end.
        let locator = end.checked_sub(20).filter(|&at| tail[at..].starts_with(b"PK\x06\x07")).ok_or(NONE)?;
        let record = read_at(file, number(&tail, locator + 8, 8).ok_or(NONE)?, 56)?;
        if !record.starts_with(b"PK\x06\x06") {
            return Err(NONE.to_owned());
        }
        (size, start) = (number(&record, 40, 8).ok_or(NONE)?, number(&record, 48, 8).ok_or(NONE)?);
    }
    if size > DIRECTORY_LIMIT || start.checked_add(size).is_none_or(|end| end > length) {
        return Err("the directory of its archive is damaged".to_owned());
    }
    read_at(file, start, size)
}

fn read_at(file: &mut File, start: u64, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(|e| e.to_string())?;
    file.take(length).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// The first entry of a directory: its name, its place, and the bytes that it takes there.
fn entry(directory: &[u8]) -> Option<(String, Entry, usize)> {
    let field = |at, size| number(directory, at, size);
    let lengths = [field(28, 2)? as usize, field(30, 2)? as usize, field(32, 2)? as usize];
    let name = String::from_utf8(directory.get(46..46 + lengths[0])?.to_vec()).ok()?;
    let extra = directory.get(46 + lengths[0]..46 + lengths[0] + lengths[1])?;
    let mut long = long_numbers(extra);
    // Those of the three that do not fit stand in the extra field, in this order.
    let mut whole = |short: u64| if short == u64::from(u32::MAX) { long.next() } else { Some(short) };
    let (size, packed, header) = (whole(field(24, 4)?)?, whole(field(20, 4)?)?, whole(field(42, 4)?)?);
    let stored = field(10, 2)? == 0 && size == packed;
    Some((name, Entry { header, size, stored }, 46 + lengths.iter().sum::<usize>()))
}

/// The numbers of 64 bits in an entry's extra field.
fn long_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found = Vec::new();
    while let (Some(kind), Some(size)) = (number(extra, 0, 2), number(extra, 2, 2)) {
        let Some(field) = extra.get(4..4 + size as usize) else { break };
        if kind == 1 {
            found = field.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
        }
        extra = &extra[4 + size as usize..];
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_are_found_among_other_fields() {
        // A timestamp field (0x5455, five bytes), then sizes 2^33 and 7 by APPNOTE 4.5.3.
        let mut extra = vec![0x55, 0x54, 5, 0, 1, 2, 3, 4, 5, 1, 0, 16, 0];
        extra.extend((1u64 << 33).to_le_bytes());
        extra.extend(7u64.to_le_bytes());
        assert_eq!(long_numbers(&extra).collect::<Vec<_>>(), [1 << 33, 7]);
        assert_eq!(long_numbers(&extra[..extra.len() - 1]).count(), 0, "a field that is cut short");
    }
}
