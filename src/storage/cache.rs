//! Results of networks by a key of everything that they depend on (pixels, checkpoint, settings), so that no work is done twice.
//!
//! Keys and values are opaque bytes; losing them costs time only, so the store may be trimmed or emptied at will.

use rusqlite::{OptionalExtension, params};

use super::{Project, StorageError, now_millis};

/// How much the cached results take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CacheUse {
    pub entries: usize,
    pub bytes: u64,
}

impl Project {
    /// The cached result for a key.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn cache_get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        self.read("reading a cached result", |conn| {
            Ok(conn.prepare_cached("SELECT value FROM network_results WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    /// Keeps results, all in one transaction.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cache_put_all<'a>(&self, entries: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Result<(), StorageError> {
        self.write("caching results", |conn| {
            let mut insert = conn.prepare_cached(
                "INSERT INTO network_results (key, used_millis, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (key) DO UPDATE SET used_millis = ?2, value = ?3",
            )?;
            for (key, value) in entries {
                insert.execute(params![key, now_millis(), value])?;
            }
            Ok(())
        })
    }

    /// Keeps one result.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cache_put(&self, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        self.cache_put_all([(key, value)])
    }

    /// How much is cached.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn cache_use(&self) -> Result<CacheUse, StorageError> {
        self.read("measuring the cache", |conn| {
            let (entries, bytes): (i64, i64) =
                conn.query_row("SELECT count(*), coalesce(sum(length(value)), 0) FROM network_results", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            Ok(CacheUse { entries: entries.unsigned_abs() as usize, bytes: bytes.unsigned_abs() })
        })
    }

    /// Forgets the oldest results until at most `bytes` are left; how many were forgotten.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn cache_trim(&self, bytes: u64) -> Result<usize, StorageError> {
        self.write("trimming the cache", |conn| {
            Ok(conn.execute(
                "DELETE FROM network_results WHERE key IN (
                     SELECT key FROM (
                         SELECT key, sum(length(value)) OVER (ORDER BY used_millis DESC, key ROWS UNBOUNDED PRECEDING) AS total
                         FROM network_results)
                     WHERE total > ?1)",
                [i64::try_from(bytes).unwrap_or(i64::MAX)],
            )?)
        })
    }
}
