//! The loaded networks: found, loaded when first needed, and kept while the same ones are asked for.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::metrics::ports::Networks;
use crate::nets::catalog;
use crate::nets::clip::Clip;
use crate::nets::device::{self, ChosenDevice, DeviceChoice};
use crate::nets::grounding_dino::GroundingDino;
use crate::nets::sam::{Sam, SamEmbedding};

use super::adapters::{CachedDetector, CachedEncoder, CachedSegmenter, Keep};
use super::cache::ResultCache;
use super::demo;
use super::known::CacheNames;
use super::messages::{DevicePreference, ModelSource};

/// Why networks could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the demo checkpoints cannot be unpacked: {0}")]
    Unpack(#[source] std::io::Error),
    #[error("models '{name}': {problem}; `--models DIR` takes a folder with clip, sam and grounding-dino instead")]
    NotFetched { name: String, problem: String },
    #[error("models '{}': there is no such set or folder; take demo, a set of `editscope models list`, or a folder with clip, sam and grounding-dino", .0.display())]
    NoSuchFolder(PathBuf),
    #[error("{folder}: it should hold the three folders clip, sam and grounding-dino, but {missing} is missing")]
    Incomplete { folder: PathBuf, missing: String },
    #[error("{network}: {reason}")]
    Load { network: &'static str, reason: String },
    #[error("device: {0}")]
    Device(String),
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
}

/// Three loaded networks on one device.
pub struct Session {
    models: ModelSource,
    preference: DevicePreference,
    device: ChosenDevice,
    detector: (GroundingDino, String),
    segmenter: (Sam, String),
    encoder: (Clip, String),
    recent: Vec<(String, SamEmbedding)>,
}

impl Session {
    /// Chooses a device and loads the networks of `models` onto it.
    ///
    /// # Errors
    /// When the files are not there or not what they should be, or when a forced device is not to be had; says which and what to do.
    pub fn load(models: &ModelSource, preference: DevicePreference) -> Result<Self, SessionError> {
        let parts = parts_of(models)?;
        let device = device::choose(match preference {
            DevicePreference::Auto => DeviceChoice::Auto,
            DevicePreference::Cpu => DeviceChoice::Cpu,
            DevicePreference::Gpu => DeviceChoice::Gpu,
        })
        .map_err(|e| SessionError::Device(e.to_string()))?;
        let load = |network: &'static str| {
            move |e: crate::nets::checkpoint::CheckpointError| SessionError::Load { network, reason: e.to_string() }
        };
        // `parts_of` gives every role of the metric.
        let part =
            |role: catalog::Role| parts.iter().find(|(known, _)| *known == role).map(|(_, folder)| folder.clone()).unwrap_or_default();
        let fingerprint = |role: catalog::Role| -> Result<String, SessionError> {
            Ok(format!("{}/{}", fingerprint_of(&part(role))?, device.kind_name()))
        };
        Ok(Self {
            detector: (
                GroundingDino::load(&part(catalog::Role::GroundingDino), &device.device).map_err(load("Grounding DINO"))?,
                fingerprint(catalog::Role::GroundingDino)?,
            ),
            segmenter: (Sam::load(&part(catalog::Role::Sam), &device.device).map_err(load("SAM"))?, fingerprint(catalog::Role::Sam)?),
            encoder: (Clip::load(&part(catalog::Role::Clip), &device.device).map_err(load("CLIP"))?, fingerprint(catalog::Role::Clip)?),
            models: models.clone(),
            preference,
            device,
            recent: Vec::new(),
        })
    }

    /// Whether this is what `models` and `preference` ask for.
    pub fn is_for(&self, models: &ModelSource, preference: DevicePreference) -> bool {
        self.models == *models && self.preference == preference
    }

    /// Whether a failing GPU may be replaced by the CPU: only when the device was chosen automatically.
    pub fn can_fall_back(&self) -> bool {
        self.preference == DevicePreference::Auto && self.device.is_gpu()
    }

    /// What was loaded.
    pub fn models(&self) -> &ModelSource {
        &self.models
    }

    /// Marks a session on the CPU as the answer to `Auto`, after the GPU has failed.
    pub fn standing_in_for_auto(mut self) -> Self {
        self.preference = DevicePreference::Auto;
        self
    }

    /// The device in words, with the reason why it was taken.
    pub fn device_words(&self) -> String {
        match &self.device.note {
            Some(note) => format!("{} ({note})", self.device.name),
            None => self.device.name.clone(),
        }
    }

    /// Hash of the content of the three checkpoints.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for fingerprint in [&self.detector.1, &self.segmenter.1, &self.encoder.1] {
            hasher.update(fingerprint.split('/').next().unwrap_or("").as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// What the cached results of each network are kept under.
    pub fn cache_names(&self) -> CacheNames {
        CacheNames { detector: self.detector.1.clone(), segmenter: self.segmenter.1.clone(), encoder: self.encoder.1.clone() }
    }

    /// The networks' name with the beginning of their fingerprint.
    pub fn models_words(&self) -> String {
        format!("{} ({})", self.models, &self.fingerprint()[..12])
    }

    /// The segmenter, with the fingerprint of its checkpoint and device.
    pub(super) fn segmenter(&self) -> (&Sam, &str) {
        (&self.segmenter.0, &self.segmenter.1)
    }

    /// Lends the networks to the metric, with a cache in between; `cancelled` is asked before each network call.
    pub fn with_networks<T>(
        &mut self,
        cache: &dyn ResultCache,
        cancelled: &dyn Fn() -> bool,
        use_them: impl FnOnce(&mut Networks<'_>) -> T,
    ) -> T {
        let keep = |fingerprint| Keep { cache, fingerprint, cancelled };
        let mut detector = CachedDetector { net: &self.detector.0, keep: keep(&self.detector.1) };
        let mut segmenter = CachedSegmenter { net: &self.segmenter.0, keep: keep(&self.segmenter.1), recent: &mut self.recent };
        let mut encoder = CachedEncoder { net: &self.encoder.0, keep: keep(&self.encoder.1) };
        use_them(&mut Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder })
    }
}

/// The folders of the three networks.
fn parts_of(models: &ModelSource) -> Result<Vec<(catalog::Role, PathBuf)>, SessionError> {
    let folder = match models {
        ModelSource::Demo => demo::checkpoint_folder().map_err(SessionError::Unpack)?,
        ModelSource::Folder(folder) if !folder.is_dir() => return Err(SessionError::NoSuchFolder(folder.clone())),
        ModelSource::Folder(folder) => folder.clone(),
        ModelSource::Catalog(name) => {
            return catalog::set_parts(name).map_err(|problem| SessionError::NotFetched { name: name.clone(), problem });
        }
    };
    let parts: Vec<_> = catalog::Role::METRIC.into_iter().map(|role| (role, folder.join(role.folder()))).collect();
    match parts.iter().find(|(_, folder)| !folder.is_dir()) {
        Some((missing, _)) => Err(SessionError::Incomplete { folder, missing: missing.folder().to_owned() }),
        None => Ok(parts),
    }
}

/// Hash of the files that a network is loaded from: another weight, size or word list gives another fingerprint.
pub(super) fn fingerprint_of(folder: &Path) -> Result<String, SessionError> {
    let read = |path: &Path, source| SessionError::Read { path: path.to_owned(), source };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| read(folder, e))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        // What a fetch wrote beside the files, and what it has not finished, are not what is loaded.
        .filter(|path| path.file_name().is_some_and(|name| name != "fetched.json"))
        .filter(|path| path.extension().is_some_and(|e| ["json", "safetensors", "bin", "pth", "pt"].iter().any(|known| e == *known)))
        .collect();
    files.sort();
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        hasher.update(path.file_name().unwrap_or_default().to_string_lossy().as_bytes());
        let mut file = File::open(&path).map_err(|e| read(&path, e))?;
        loop {
            let count = file.read(&mut buffer).map_err(|e| read(&path, e))?;
            if count == 0 {
                break;
            }
            hasher.update(&buffer[..count]);
        }
    }
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}
