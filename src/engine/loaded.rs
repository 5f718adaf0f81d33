//! The networks of a session: each is loaded when it is first asked for, and the one that was not used for longest goes when memory is
//! short.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::nets::catalog::Role;
use crate::nets::checkpoint::{CheckpointError, Recognised};
use crate::nets::clip::Clip;
use crate::nets::device::ChosenDevice;
use crate::nets::grounding_dino::GroundingDino;
use crate::nets::sam::Sam;

use super::session::SessionError;

const MIB: u64 = 1 << 20;

/// A network that can be loaded and released.
pub trait Network: Sized {
    const ROLE: Role;
    /// Its name in messages.
    const NAME: &'static str;
    /// Bytes that a pass may take beside the weights, at the published sizes: an estimate on the safe side.
    const WORKING: u64;

    /// # Errors
    /// When a file is missing or is not what it should be.
    fn load(folder: &Path, device: &ChosenDevice) -> Result<Self, CheckpointError>;

    /// What its files turned out to be.
    fn recognised(&self) -> &Recognised;

    /// Where it is kept.
    fn slot(loaded: &mut Loaded) -> &mut Slot<Self>;
}

macro_rules! network {
    ($net:ty, $role:expr, $name:literal, $working:expr, $slot:ident) => {
        impl Network for $net {
            const ROLE: Role = $role;
            const NAME: &'static str = $name;
            const WORKING: u64 = $working;

            fn load(folder: &Path, device: &ChosenDevice) -> Result<Self, CheckpointError> {
                <$net>::load(folder, device)
            }

            fn recognised(&self) -> &Recognised {
                <$net>::recognised(self)
            }

            fn slot(loaded: &mut Loaded) -> &mut Slot<Self> {
                &mut loaded.$slot
            }
        }
    };
}

network!(Clip, Role::Clip, "CLIP", 200 * MIB, clip);
network!(Sam, Role::Sam, "SAM", 800 * MIB, sam);
network!(GroundingDino, Role::GroundingDino, "Grounding DINO", 800 * MIB, grounding_dino);

/// Place for one network.
pub struct Slot<N> {
    network: Option<Arc<N>>,
    /// Number of the last use; larger is later.
    used: u64,
    /// Why it cannot be loaded; it is not tried again.
    failed: Option<String>,
}

impl<N> Default for Slot<N> {
    fn default() -> Self {
        Self { network: None, used: 0, failed: None }
    }
}

/// Tells how many bytes of memory are free; `None` where the system does not say.
type FreeMemory = Box<dyn Fn() -> Option<u64> + Send>;

/// The networks of a set on one device.
pub struct Loaded {
    /// The folder of each network.
    folders: Vec<(Role, PathBuf)>,
    device: ChosenDevice,
    clip: Slot<Clip>,
    sam: Slot<Sam>,
    grounding_dino: Slot<GroundingDino>,
    uses: u64,
    free_memory: FreeMemory,
    messages: Vec<String>,
}

impl Loaded {
    /// Nothing is loaded yet. `folders` has the folder of each network.
    pub fn new(folders: Vec<(Role, PathBuf)>, device: ChosenDevice) -> Self {
        Self {
            folders,
            device,
            clip: Slot::default(),
            sam: Slot::default(),
            grounding_dino: Slot::default(),
            uses: 0,
            free_memory: Box::new(free_memory),
            messages: Vec::new(),
        }
    }

    /// Where the networks run.
    pub fn device(&self) -> &ChosenDevice {
        &self.device
    }

    /// The network, loaded if it is not; others are released first when memory would not suffice.
    ///
    /// # Errors
    /// When its files are missing or wrong; also when they were at an earlier time, without looking again.
    pub fn get<N: Network>(&mut self) -> Result<Arc<N>, SessionError> {
        self.uses += 1;
        let now = self.uses;
        let slot = N::slot(self);
        slot.used = now;
        if let Some(network) = &slot.network {
            return Ok(Arc::clone(network));
        }
        let error = |reason: String| SessionError::Load { network: N::NAME, reason };
        if let Some(reason) = &slot.failed {
            return Err(error(reason.clone()));
        }
        let Some((_, folder)) = self.folders.iter().find(|(role, _)| *role == N::ROLE).cloned() else {
            return Err(error("the set of networks has no folder for it".to_owned()));
        };
        self.make_room(N::ROLE, N::NAME, weight_bytes(&folder) + N::WORKING);
        let loaded = N::load(&folder, &self.device);
        // The sizes of a file without a configuration are a conclusion, which the person should see.
        if let Some(recognised) = loaded.as_ref().ok().map(N::recognised).filter(|recognised| recognised.inferred.is_some()) {
            self.messages.push(format!("{}: {recognised}", N::NAME));
        }
        let slot = N::slot(self);
        match loaded {
            Ok(network) => Ok(Arc::clone(slot.network.insert(Arc::new(network)))),
            Err(reason) => Err(error(slot.failed.insert(reason.to_string()).clone())),
        }
    }

    /// Why a network could not be loaded, if one could not.
    pub fn failure(&self) -> Option<SessionError> {
        let failed = [(Clip::NAME, &self.clip.failed), (Sam::NAME, &self.sam.failed), (GroundingDino::NAME, &self.grounding_dino.failed)];
        failed.into_iter().find_map(|(network, reason)| Some(SessionError::Load { network, reason: reason.clone()? }))
    }

    /// What there is to say to the person since the last call.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// Releases networks, least recently used first, until `bytes` are free. Only for the memory of the host: that of a GPU is not known.
    fn make_room(&mut self, role: Role, name: &str, bytes: u64) {
        if self.device.is_gpu() {
            return;
        }
        let mut released = Vec::new();
        while (self.free_memory)().is_some_and(|free| free < bytes) {
            match self.release_oldest(role) {
                Some(other) => released.push(other),
                None => {
                    self.messages.push(format!(
                        "{name} needs about {} MiB of memory, which is more than is free; the computer may become slow.",
                        bytes / MIB
                    ));
                    break;
                }
            }
        }
        if !released.is_empty() {
            self.messages.push(format!(
                "Memory is short: {} released to make room for {name} ({} MiB), and loaded again when needed.",
                released.join(" and "),
                bytes / MIB
            ));
        }
    }

    /// Releases the loaded network, other than `kept`, that was not used for longest, and names it.
    fn release_oldest(&mut self, kept: Role) -> Option<&'static str> {
        type Release = fn(&mut Loaded) -> &'static str;
        fn loaded<N: Network>(slot: &Slot<N>) -> Option<(u64, Role, Release)> {
            slot.network.is_some().then_some((slot.used, N::ROLE, release::<N>))
        }
        let all = [loaded(&self.clip), loaded(&self.sam), loaded(&self.grounding_dino)];
        let (_, _, release) = all.into_iter().flatten().filter(|&(_, role, _)| role != kept).min_by_key(|&(used, ..)| used)?;
        Some(release(self))
    }
}

fn release<N: Network>(loaded: &mut Loaded) -> &'static str {
    N::slot(loaded).network = None;
    N::NAME
}

/// Bytes of the weight files of a folder. Half-precision files take twice as much when widened, which this does not know.
fn weight_bytes(folder: &Path) -> u64 {
    if folder.is_file() {
        return std::fs::metadata(folder).map_or(0, |file| file.len());
    }
    let is_weight = |path: &Path| path.extension().is_some_and(|e| ["safetensors", "pth", "pt", "bin"].iter().any(|weight| e == *weight));
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(|entry| is_weight(&entry.path())).filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// Memory that can be had without swapping, within the limits of the process's group where it has any.
fn free_memory() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let free = system.available_memory();
    let limited = system.cgroup_limits().map_or(free, |limits| limits.free_memory.min(free));
    (limited > 0).then_some(limited)
}

#[cfg(test)]
#[cfg(feature = "flex")]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::nets::device::choose;
    use crate::nets::preference::DevicePreference;

    fn in_folder(folder: &Path, free: impl Fn() -> Option<u64> + Send + 'static) -> Loaded {
        let device = choose(DevicePreference::CPU).expect("the CPU is part of this build");
        let folders = Role::METRIC.map(|role| (role, folder.join(role.folder()))).to_vec();
        Loaded { free_memory: Box::new(free), ..Loaded::new(folders, device) }
    }

    fn golden(free: impl Fn() -> Option<u64> + Send + 'static) -> Loaded {
        in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), free)
    }

    fn names(loaded: &Loaded) -> Vec<&'static str> {
        let all = [
            (Clip::NAME, loaded.clip.network.is_some()),
            (Sam::NAME, loaded.sam.network.is_some()),
            (GroundingDino::NAME, loaded.grounding_dino.network.is_some()),
        ];
        all.into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
    }

    #[test]
    fn networks_are_loaded_when_first_asked_for_and_once() {
        let mut loaded = golden(|| None);
        assert!(names(&loaded).is_empty());
        let first = loaded.get::<Sam>().expect("the golden SAM loads");
        assert_eq!(names(&loaded), ["SAM"]);
        assert!(Arc::ptr_eq(&first, &loaded.get::<Sam>().expect("it is there")));
        assert!(loaded.take_messages().is_empty());
    }

    #[test]
    fn the_one_not_used_for_longest_goes_when_memory_is_short() {
        // Enough until the third network, short once, enough again.
        let answers = Mutex::new(vec![u64::MAX, 0, u64::MAX, u64::MAX]);
        let mut loaded = golden(move || answers.lock().expect("no other test holds it").pop());
        loaded.get::<Clip>().expect("loads");
        loaded.get::<Sam>().expect("loads");
        loaded.get::<Clip>().expect("is there");
        loaded.get::<GroundingDino>().expect("loads");
        assert_eq!(names(&loaded), ["CLIP", "Grounding DINO"]);
        let messages = loaded.take_messages();
        assert!(messages.len() == 1 && messages[0].contains("SAM released to make room for Grounding DINO"), "{messages:?}");
    }

    #[test]
    fn a_network_that_never_fits_is_loaded_all_the_same_and_said() {
        let mut loaded = golden(|| Some(0));
        loaded.get::<Clip>().expect("loads");
        loaded.get::<Sam>().expect("loads");
        assert_eq!(names(&loaded), ["SAM"]);
        let messages = loaded.take_messages();
        assert!(messages.iter().any(|m| m.contains("SAM needs about") && m.contains("more than is free")), "{messages:?}");
    }

    #[test]
    fn a_broken_checkpoint_is_named_and_not_read_again() {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::create_dir(dir.path().join("clip")).expect("a folder can be made");
        let mut loaded = in_folder(dir.path(), || None);
        assert!(loaded.failure().is_none());
        let error = loaded.get::<Clip>().err().expect("there is nothing to load").to_string();
        assert!(error.starts_with("CLIP: ") && error.contains("no weights are there"), "{error}");
        std::fs::remove_dir(dir.path().join("clip")).expect("the folder can be removed");
        assert_eq!(loaded.get::<Clip>().err().expect("still nothing").to_string(), error);
        assert_eq!(loaded.failure().expect("it is kept").to_string(), error);
    }
}
