//! The loaded networks: found, loaded when first needed, and kept while the same ones are asked for.

use std::cell::RefCell;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::metrics::ports::Networks;
use crate::nets::catalog;
use crate::nets::checkpoint::open_regular;
use crate::nets::device::{self, Precision};
use crate::nets::grounding_dino::{PhraseFeatures, PictureFeatures};
use crate::nets::preference::{DeviceChoice, DevicePreference, PrecisionChoice};
use crate::nets::sam::{Sam, SamEmbedding};

use super::adapters::{CachedDetector, CachedEncoder, CachedSegmenter, Keep};
use super::cache::ResultCache;
use super::known::CacheNames;
use super::loaded::Loaded;
use super::messages::ModelSource;
use super::model_parts::parts_of;
use super::recent::Recent;
use super::scored_by::Noted;

/// Why networks could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the demo checkpoints cannot be unpacked: {0}")]
    Unpack(#[source] std::io::Error),
    #[error("models '{name}': {problem}; `--models DIR` takes a folder with clip, sam and grounding-dino instead")]
    NotFetched { name: String, problem: String },
    #[error("models '{}': there is no such set or folder; take demo, a set of `editscope models list`, or a folder with clip, sam and grounding-dino", .0.display())]
    NoSuchFolder(PathBuf),
    #[error("{role}={}: there is no such file or folder, and no published network of that name (see `editscope models list`)", .path.display())]
    NoSuchPart { role: &'static str, path: PathBuf },
    #[error("{role}={name}: {name} is a network for {is}")]
    OtherRole { name: String, role: &'static str, is: &'static str },
    #[error(
        "{folder}: it should hold the folders clip, sam and grounding-dino, or the authors' own files of weights, but there is nothing for {missing}"
    )]
    Incomplete { folder: PathBuf, missing: String },
    #[error("{} and {} are both weights of {role}; leave one of them, or name one: --models DIR,{role}=FILE", .first.display(), .second.display())]
    Ambiguous { role: &'static str, first: PathBuf, second: PathBuf },
    #[error("{network}: {reason}")]
    Load { network: &'static str, reason: String },
    #[error("device: {0}")]
    Device(String),
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
}

/// Three networks on one device, and what they have lately computed.
pub struct Session {
    models: ModelSource,
    preference: DevicePreference,
    loaded: RefCell<Loaded>,
    fingerprints: Fingerprints,
    /// Source and edit at hand.
    embeddings: Recent<SamEmbedding>,
    pictures: Recent<PictureFeatures>,
    /// A phrase serves all edits of its item.
    phrases: Recent<PhraseFeatures>,
}

/// Of each network: hash of its files, with the device.
struct Fingerprints {
    detector: String,
    segmenter: String,
    encoder: String,
}

/// Pictures whose features are kept in memory: the source of the item at hand and one edit.
const RECENT_PICTURES: usize = 2;

/// Phrases whose features are kept in memory; they are small.
const RECENT_PHRASES: usize = 64;

impl Session {
    /// Chooses a device for the networks of `models`, which are loaded when they are first needed.
    ///
    /// # Errors
    /// When the files are not there, or when a forced device is not to be had; says which and what to do.
    pub fn load(models: &ModelSource, preference: DevicePreference) -> Result<Self, SessionError> {
        let parts = parts_of(models)?;
        let device = device::choose(preference).map_err(|e| SessionError::Device(e.to_string()))?;
        // `parts_of` gives every role of the metric.
        let part =
            |role: catalog::Role| parts.iter().find(|(known, _)| *known == role).map(|(_, folder)| folder.clone()).unwrap_or_default();
        let fingerprint = |role: catalog::Role| -> Result<String, SessionError> {
            Ok(format!("{}/{}", fingerprint_of(&part(role))?, device.kind_name()))
        };
        Ok(Self {
            fingerprints: Fingerprints {
                detector: fingerprint(catalog::Role::GroundingDino)?,
                segmenter: fingerprint(catalog::Role::Sam)?,
                encoder: fingerprint(catalog::Role::Clip)?,
            },
            models: models.clone(),
            preference,
            loaded: RefCell::new(Loaded::new(parts, device)),
            embeddings: Recent::new(RECENT_PICTURES),
            pictures: Recent::new(RECENT_PICTURES),
            phrases: Recent::new(RECENT_PHRASES),
        })
    }

    /// Whether this is what `models` and `preference` ask for.
    pub fn is_for(&self, models: &ModelSource, preference: DevicePreference) -> bool {
        self.models == *models && self.preference == preference
    }

    /// What was asked for.
    pub fn preference(&self) -> DevicePreference {
        self.preference
    }

    /// Whether a failing GPU may be replaced by the CPU.
    pub fn can_fall_back(&self) -> bool {
        may_fall_back(self.preference) && self.loaded.borrow().device().is_gpu()
    }

    /// What was loaded.
    pub fn models(&self) -> &ModelSource {
        &self.models
    }

    /// Marks a session on the CPU as the answer to `asked`, after the GPU has failed.
    pub fn standing_in_for(mut self, asked: DevicePreference) -> Self {
        self.preference = asked;
        self
    }

    /// The device in words, with the reason why it was taken.
    pub fn device_words(&self) -> String {
        let loaded = self.loaded.borrow();
        let device = loaded.device();
        let name = match device.precision {
            Precision::F32 => device.name.clone(),
            half => format!("{}, {}", device.name, half.name()),
        };
        match &device.note {
            Some(note) => format!("{name} ({note})"),
            None => name,
        }
    }

    /// Hash of the content of the three checkpoints, and of the precision where it is not f32: a run in half precision is another run.
    pub fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for fingerprint in [&self.fingerprints.detector, &self.fingerprints.segmenter, &self.fingerprints.encoder] {
            hasher.update(fingerprint.split('/').next().unwrap_or("").as_bytes());
        }
        match self.loaded.borrow().device().precision {
            Precision::F32 => {}
            half => drop(hasher.update(half.name().as_bytes())),
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// What the cached results of each network are kept under.
    pub fn cache_names(&self) -> CacheNames {
        let Fingerprints { detector, segmenter, encoder } = &self.fingerprints;
        CacheNames { detector: detector.clone(), segmenter: segmenter.clone(), encoder: encoder.clone() }
    }

    /// Where these networks are, and how finely they multiply.
    pub(super) fn noted(&self) -> Noted {
        let precision = match self.loaded.borrow().device().precision {
            Precision::F32 => PrecisionChoice::F32,
            Precision::F16 => PrecisionChoice::F16,
        };
        Noted { models: self.models.clone(), precision }
    }

    /// The networks' name with the beginning of their fingerprint.
    pub fn models_words(&self) -> String {
        format!("{} ({})", self.models, &self.fingerprint()[..12])
    }

    /// The segmenter, loaded if it is not, with the fingerprint of its checkpoint and device.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(super) fn segmenter(&self) -> Result<(Arc<Sam>, &str), SessionError> {
        Ok((self.loaded.borrow_mut().get::<Sam>()?, &self.fingerprints.segmenter))
    }

    /// Why a network could not be loaded when it was needed, if one could not: nothing that needs it will succeed.
    pub fn failure(&self) -> Option<SessionError> {
        self.loaded.borrow().failure()
    }

    /// What there is to say to the person about loading since the last call.
    pub fn take_messages(&self) -> Vec<String> {
        self.loaded.borrow_mut().take_messages()
    }

    /// Lends the networks to the metric, with a cache in between; `cancelled` is asked before each network call.
    pub fn with_networks<T>(
        &mut self,
        cache: &dyn ResultCache,
        cancelled: &dyn Fn() -> bool,
        use_them: impl FnOnce(&mut Networks<'_>) -> T,
    ) -> T {
        let (loaded, fingerprints) = (&self.loaded, &self.fingerprints);
        let keep = |fingerprint| Keep { loaded, cache, fingerprint, cancelled };
        let mut detector = CachedDetector { keep: keep(&fingerprints.detector), pictures: &mut self.pictures, phrases: &mut self.phrases };
        let mut segmenter = CachedSegmenter { keep: keep(&fingerprints.segmenter), embeddings: &mut self.embeddings };
        let mut encoder = CachedEncoder { keep: keep(&fingerprints.encoder) };
        use_them(&mut Networks { detector: &mut detector, segmenter: &mut segmenter, encoder: &mut encoder })
    }
}

/// Whether the CPU may take over from a GPU that gives up: only when the device was chosen automatically, and nothing was asked for that the
/// CPU has not.
pub(super) fn may_fall_back(preference: DevicePreference) -> bool {
    preference.device == DeviceChoice::Auto && preference.precision != PrecisionChoice::F16
}

/// Hash of the files that a network is loaded from: another weight, size or word list gives another fingerprint.
pub(super) fn fingerprint_of(folder: &Path) -> Result<String, SessionError> {
    let read = |path: &Path, source| SessionError::Read { path: path.to_owned(), source };
    if folder.is_file() {
        return fingerprint_of_files(vec![folder.to_owned()]);
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|e| read(folder, e))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        // What a fetch wrote beside the files, and what it has not finished, are not what is loaded.
        .filter(|path| path.file_name().is_some_and(|name| name != "fetched.json"))
        .filter(|path| path.extension().is_some_and(|e| ["json", "safetensors", "bin", "pth", "pt"].iter().any(|known| e == *known)))
        .collect();
    files.sort();
    fingerprint_of_files(files)
}

fn fingerprint_of_files(files: Vec<PathBuf>) -> Result<String, SessionError> {
    let read = |path: &Path, source| SessionError::Read { path: path.to_owned(), source };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        hasher.update(path.file_name().unwrap_or_default().to_string_lossy().as_bytes());
        let mut file = open_regular(&path).map_err(|e| read(&path, e))?;
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
