//! What networks gave, kept by the content of what they were given.

use std::collections::HashMap;
use std::sync::Mutex;

use image::RgbImage;

/// A store of network results. A cache that cannot be read or written only costs time, so it has no errors: implementations log them.
pub trait ResultCache {
    /// The bytes kept under `key`.
    fn get(&self, key: &str) -> Option<Vec<u8>>;
    /// Keeps bytes under `key`.
    fn put(&self, key: &str, value: &[u8]);
}

/// A cache that lives as long as the process.
#[derive(Default)]
pub struct MemoryCache(Mutex<HashMap<String, Vec<u8>>>);

impl ResultCache for MemoryCache {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.lock().ok()?.get(key).cloned()
    }

    fn put(&self, key: &str, value: &[u8]) {
        if let Ok(mut kept) = self.0.lock() {
            kept.insert(key.to_owned(), value.to_vec());
        }
    }
}

/// Content hash of an upright RGB picture: its size and pixels.
pub fn picture_hash(picture: &RgbImage) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&picture.width().to_le_bytes());
    hasher.update(&picture.height().to_le_bytes());
    hasher.update(picture.as_raw());
    hasher.finalize().to_hex().to_string()
}

#[cfg(feature = "nets")]
/// Little-endian bytes of `values`.
pub fn floats_to_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The inverse of [`floats_to_bytes`]; `None` for a broken length.
pub fn floats_from_bytes(bytes: &[u8]) -> Option<Vec<f32>> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
}

/// The cache inside a project file.
pub struct ProjectCache<'a>(pub &'a crate::storage::Project);

impl ResultCache for ProjectCache<'_> {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.cache_get(key.as_bytes()).unwrap_or_else(|error| {
            tracing::warn!("a cached network result cannot be read, it is computed again: {error}");
            None
        })
    }

    fn put(&self, key: &str, value: &[u8]) {
        if let Err(error) = self.0.cache_put(key.as_bytes(), value) {
            tracing::warn!("a network result cannot be cached: {error}");
        }
    }
}
