//! The networks of the inference thread, and what happens when a GPU gives up.

#[cfg(feature = "nets")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::metrics::ports::{Networks, PortError};
use crate::nets::preference::{DeviceChoice, DevicePreference};
use crate::storage::{Project, StorageError};

use super::baseline_networks::BaselineNetworks;
use super::cache::ResultCache;
#[cfg(feature = "nets")]
use super::messages::Level;
use super::messages::{Event, ModelSource};
#[cfg(feature = "nets")]
use super::session::{Session, may_fall_back};

/// Where the loaded networks are kept between runs.
#[derive(Default)]
pub struct NetworkSlot {
    #[cfg(feature = "nets")]
    session: Option<Session>,
    /// The networks of the baselines, beside the three of the metric.
    pub(super) baselines: BaselineNetworks,
}

#[cfg(feature = "nets")]
/// The text of a panic, as far as it has one.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .unwrap_or_else(|| "unknown panic".to_owned())
}

#[cfg(feature = "nets")]
/// Network code below us (burn, cubecl, the GPU driver) reports exhaustion by panicking; on this thread that must end a score, not the program.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // The closure's captures are dropped or replaced by the callers when it panicked.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_text(&*panic))
}

#[cfg(feature = "nets")]
impl NetworkSlot {
    /// Makes sure that the networks of `models` are ready to be loaded, on the GPU if there is one that holds them (`Auto`), else on the CPU.
    ///
    /// # Errors
    /// When the files are missing or wrong, or a forced device cannot hold them.
    pub fn load(&mut self, models: &ModelSource, device: DevicePreference, emit: &mut dyn FnMut(Event)) -> anyhow::Result<()> {
        if self.session.as_ref().is_some_and(|session| session.is_for(models, device)) {
            return Ok(());
        }
        // The old networks go first, so that two sets never share a GPU's memory.
        self.session = None;
        let loaded = match guarded(|| Session::load(models, device)) {
            Ok(loaded) => loaded?,
            Err(panic) if may_fall_back(device) => {
                emit(Event::Message {
                    level: Level::Warning,
                    text: format!("The GPU could not hold the networks ({panic}); the CPU takes over."),
                });
                Session::load(models, DevicePreference::CPU)?.standing_in_for(device)
            }
            Err(panic) => anyhow::bail!("the device could not hold the networks ({panic}); try --device cpu"),
        };
        self.session = Some(loaded);
        Ok(())
    }

    /// Device and checkpoints in words, and the checkpoints' fingerprint.
    pub fn words(&self) -> (String, String, String) {
        self.session.as_ref().map_or_else(Default::default, |s| (s.device_words(), s.models_words(), s.fingerprint()))
    }

    /// Whether these networks are loaded for this device.
    pub(super) fn is_for(&self, models: &ModelSource, device: DevicePreference) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_for(models, device))
    }

    /// The networks that are loaded and the device asked for, if they have this fingerprint and run where they shall.
    pub(super) fn holds(&self, fingerprint: &str, device: DeviceChoice) -> Option<(ModelSource, DevicePreference)> {
        let session =
            self.session.as_ref().filter(|session| session.preference().device == device && session.fingerprint() == fingerprint)?;
        Some((session.models().clone(), session.preference()))
    }

    /// Lends the segmenter to `work`, with a name that changes with its checkpoint and device.
    ///
    /// # Errors
    /// When no networks are loaded, `work` fails, or the device gives up.
    pub fn with_segmenter<T>(&self, work: impl FnOnce(&crate::nets::sam::Sam, &str) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let session = self.session.as_ref().ok_or_else(|| anyhow::anyhow!("the networks are not loaded"))?;
        let (sam, name) = session.segmenter()?;
        guarded(|| work(&sam, name)).map_err(|panic| anyhow::anyhow!("the device gave up: {panic}"))?
    }

    /// Why a network could not be loaded when it was needed, if one could not: every further edit would fail like the last.
    pub fn failure(&self) -> Option<String> {
        self.session.as_ref()?.failure().map(|error| error.to_string())
    }

    /// Notes in the project under which names the cache keeps what these networks gave, so that it can be read without them, and where they
    /// are, so that they are found again.
    ///
    /// # Errors
    /// When the project cannot be written.
    pub fn remember(&self, project: &Project) -> Result<(), StorageError> {
        let Some(session) = &self.session else { return Ok(()) };
        let fingerprint = session.fingerprint();
        session.cache_names().remember(project, &fingerprint)?;
        session.noted().remember(project, &fingerprint)
    }

    /// Lends the networks to `work`. When a GPU that was chosen automatically fails, the CPU takes over and `work` runs again.
    ///
    /// # Errors
    /// When the networks fail, or `cancelled` says so between two of them.
    pub fn lend<T>(
        &mut self,
        cache: &dyn ResultCache,
        cancelled: &dyn Fn() -> bool,
        emit: &mut dyn FnMut(Event),
        work: &mut dyn FnMut(&mut Networks<'_>) -> Result<T, PortError>,
    ) -> Result<T, PortError> {
        let failed = |reason: String| PortError::Failed { network: "networks", reason };
        let session = self.session.as_mut().ok_or_else(|| failed("they are not loaded".to_owned()))?;
        match guarded(|| session.with_networks(cache, cancelled, &mut *work)) {
            Ok(result) => {
                for text in session.take_messages() {
                    emit(Event::Message { level: Level::Warning, text });
                }
                result
            }
            Err(panic) if session.can_fall_back() => {
                let (models, asked) = (session.models().clone(), session.preference());
                self.session = None;
                emit(Event::Message { level: Level::Warning, text: format!("The GPU failed ({panic}); the CPU takes over.") });
                let session = Session::load(&models, DevicePreference::CPU).map_err(|e| failed(e.to_string()))?;
                let session = self.session.insert(session.standing_in_for(asked));
                guarded(|| session.with_networks(cache, cancelled, work)).unwrap_or_else(|panic| Err(failed(panic)))
            }
            Err(panic) => Err(failed(panic)),
        }
    }
}

#[cfg(not(feature = "nets"))]
impl NetworkSlot {
    /// Nothing is loaded.
    pub(super) fn is_for(&self, _models: &ModelSource, _device: DevicePreference) -> bool {
        false
    }

    /// Nothing is loaded.
    pub(super) fn holds(&self, _fingerprint: &str, _device: DeviceChoice) -> Option<(ModelSource, DevicePreference)> {
        None
    }

    /// Nothing is loaded, so nothing fails.
    pub fn failure(&self) -> Option<String> {
        None
    }

    /// There are no networks in this build.
    ///
    /// # Errors
    /// Always.
    pub fn load(&mut self, _models: &ModelSource, _device: DevicePreference, _emit: &mut dyn FnMut(Event)) -> anyhow::Result<()> {
        anyhow::bail!("this build has no networks (features `wgpu` and `flex` are off)")
    }

    /// Nothing to note.
    ///
    /// # Errors
    /// Never.
    pub fn remember(&self, _project: &Project) -> Result<(), StorageError> {
        Ok(())
    }

    /// Nothing to name.
    pub fn words(&self) -> (String, String, String) {
        Default::default()
    }

    /// Never reached: `load` fails first.
    ///
    /// # Errors
    /// Always.
    pub fn lend<T>(
        &mut self,
        _cache: &dyn ResultCache,
        _cancelled: &dyn Fn() -> bool,
        _emit: &mut dyn FnMut(Event),
        _work: &mut dyn FnMut(&mut Networks<'_>) -> Result<T, PortError>,
    ) -> Result<T, PortError> {
        Err(PortError::Failed { network: "networks", reason: "this build has none".to_owned() })
    }
}
