//! The networks that only baselines need (LPIPS, DINO): found in the catalog's folders, loaded when first needed.

use crate::domain::Baseline;
use crate::metrics::ports::{PerceptualDistance, PictureEncoder};
use crate::nets::catalog;
use crate::nets::preference::DevicePreference;

use super::cache::ResultCache;

/// Whether the files of a network of the catalog are complete on this machine.
pub fn is_fetched(name: &str) -> bool {
    cfg!(feature = "nets") && catalog::network_folder(name).is_ok()
}

#[cfg(not(feature = "nets"))]
mod without {
    use super::{Baseline, DevicePreference, PerceptualDistance, PictureEncoder, ResultCache};

    /// This build has no networks, so there is never one to lend.
    #[derive(Default)]
    pub struct BaselineNetworks;

    impl BaselineNetworks {
        /// Nothing to prepare.
        pub fn begin_run(&mut self, _device: DevicePreference) {}

        /// Never reached: [`super::is_fetched`] is false in this build.
        ///
        /// # Errors
        /// Always.
        pub fn with_lpips<T>(&mut self, _baseline: Baseline, _use_it: impl FnOnce(&mut dyn PerceptualDistance) -> T) -> Result<T, String> {
            Err("this build has no networks".to_owned())
        }

        /// Never reached: [`super::is_fetched`] is false in this build.
        ///
        /// # Errors
        /// Always.
        pub fn with_dino<T>(
            &mut self,
            _baseline: Baseline,
            _cache: &dyn ResultCache,
            _use_it: impl FnOnce(&mut dyn PictureEncoder) -> T,
        ) -> Result<T, String> {
            Err("this build has no networks".to_owned())
        }
    }
}
#[cfg(not(feature = "nets"))]
pub use without::BaselineNetworks;

#[cfg(feature = "nets")]
mod loaded {
    use std::collections::BTreeMap;

    use image::RgbImage;

    use super::super::cache::{floats_from_bytes, floats_to_bytes, picture_hash};
    use super::super::networks::guarded;
    use super::super::session::fingerprint_of;
    use super::{Baseline, DevicePreference, PerceptualDistance, PictureEncoder, ResultCache, catalog};
    use crate::domain::Outcome;
    use crate::metrics::ports::{PerceptualMap, PortError};
    use crate::nets::NetError;
    use crate::nets::device::{self, ChosenDevice};
    use crate::nets::dino::{Dino, DinoModel};
    use crate::nets::lpips::{Features, Lpips, Trunk};

    enum Network {
        /// With the features of the last source: the edits of an item follow one another.
        Lpips(Box<Lpips>, Option<(String, Features)>),
        /// With the fingerprint of its files.
        Dino(Box<Dino>, String),
    }

    /// The loaded networks of the baselines.
    #[derive(Default)]
    pub struct BaselineNetworks {
        preference: DevicePreference,
        device: Option<ChosenDevice>,
        /// A network that could not be loaded is not tried again in the same run.
        networks: BTreeMap<Baseline, Result<Network, String>>,
    }

    impl BaselineNetworks {
        /// Forgets what failed, and everything that is on another device than the run asks for.
        pub fn begin_run(&mut self, device: DevicePreference) {
            if self.preference != device {
                *self = Self { preference: device, ..Self::default() };
            }
            self.networks.retain(|_, network| network.is_ok());
        }

        fn network(&mut self, baseline: Baseline) -> Result<&mut Network, String> {
            if !self.networks.contains_key(&baseline) {
                let loaded = self.load(baseline);
                self.networks.insert(baseline, loaded);
            }
            match self.networks.get_mut(&baseline) {
                Some(Ok(network)) => Ok(network),
                Some(Err(why)) => Err(why.clone()),
                None => Err("the network was not kept".to_owned()),
            }
        }

        fn load(&mut self, baseline: Baseline) -> Result<Network, String> {
            let name = baseline.name();
            let folder = catalog::network_folder(name)?;
            if self.device.is_none() {
                self.device = Some(device::choose(self.preference).map_err(|e| e.to_string())?);
            }
            let Some(chosen) = &self.device else { return Err("no device was chosen".to_owned()) };
            let trunk = |trunk| Lpips::load(&folder, trunk, chosen).map(|net| Network::Lpips(Box::new(net), None));
            let dino = |model| {
                let fingerprint = fingerprint_of(&folder).map_err(|e| e.to_string())?;
                let net = Dino::load(&folder, model, chosen).map_err(|e| e.to_string())?;
                Ok(Network::Dino(Box::new(net), format!("{fingerprint}/{}", chosen.kind_name())))
            };
            guarded(|| match baseline {
                Baseline::LpipsAlex => trunk(Trunk::Alex).map_err(|e| e.to_string()),
                Baseline::LpipsVgg => trunk(Trunk::Vgg).map_err(|e| e.to_string()),
                Baseline::LpipsSqueeze => trunk(Trunk::Squeeze).map_err(|e| e.to_string()),
                Baseline::DinoVits16 => dino(DinoModel::VITS16),
                Baseline::DinoVitb8 => dino(DinoModel::VITB8),
                _ => Err(format!("{name} has no network of its own")),
            })
            .unwrap_or_else(Err)
        }

        /// Lends the LPIPS network of `baseline`.
        ///
        /// # Errors
        /// When it cannot be loaded.
        pub fn with_lpips<T>(&mut self, baseline: Baseline, use_it: impl FnOnce(&mut dyn PerceptualDistance) -> T) -> Result<T, String> {
            match self.network(baseline)? {
                Network::Lpips(net, recent) => Ok(use_it(&mut KeptLpips { net, recent })),
                Network::Dino(..) => Err("it is no LPIPS network".to_owned()),
            }
        }

        /// Lends the DINO network of `baseline`, with a cache in between.
        ///
        /// # Errors
        /// When it cannot be loaded.
        pub fn with_dino<T>(
            &mut self,
            baseline: Baseline,
            cache: &dyn ResultCache,
            use_it: impl FnOnce(&mut dyn PictureEncoder) -> T,
        ) -> Result<T, String> {
            match self.network(baseline)? {
                Network::Dino(net, fingerprint) => Ok(use_it(&mut CachedDino { net, fingerprint, cache })),
                Network::Lpips(..) => Err("it is no DINO network".to_owned()),
            }
        }
    }

    /// What a failing network says; a device that gives up by panicking included.
    fn tried<T>(network: &'static str, work: impl FnOnce() -> Result<T, NetError>) -> Result<T, PortError> {
        let failed = |reason| PortError::Failed { network, reason };
        guarded(work).map_err(failed)?.map_err(|e| failed(e.to_string()))
    }

    struct KeptLpips<'a> {
        net: &'a Lpips,
        recent: &'a mut Option<(String, Features)>,
    }

    impl PerceptualDistance for KeptLpips<'_> {
        fn distance(&mut self, a: &RgbImage, b: &RgbImage) -> Result<Outcome<PerceptualMap>, PortError> {
            if let Some(why) = self.net.cannot_see(a) {
                return Ok(Outcome::NotApplicable(why));
            }
            let hash = picture_hash(a);
            let known = self.recent.take().filter(|(of, _)| *of == hash).map(|(_, features)| features);
            let first = known.map_or_else(|| tried("LPIPS", || self.net.features(a)), Ok)?;
            let found = tried("LPIPS", || {
                let second = self.net.features(b)?;
                self.net.distance(&first, &second)
            });
            *self.recent = Some((hash, first));
            let (distance, map) = found?;
            Ok(Outcome::Value(PerceptualMap { distance, map }))
        }
    }

    struct CachedDino<'a> {
        net: &'a Dino,
        fingerprint: &'a str,
        cache: &'a dyn ResultCache,
    }

    impl PictureEncoder for CachedDino<'_> {
        fn encode(&mut self, pictures: &[&RgbImage]) -> Result<Vec<Vec<f32>>, PortError> {
            let one = |picture: &&RgbImage| {
                let key = format!("dino/{}/{}", self.fingerprint, picture_hash(picture));
                if let Some(kept) = self.cache.get(&key).and_then(|bytes| floats_from_bytes(&bytes)) {
                    return Ok(kept);
                }
                let features = tried("DINO", || self.net.encode(picture))?;
                self.cache.put(&key, &floats_to_bytes(&features));
                Ok(features)
            };
            pictures.iter().map(one).collect()
        }
    }
}
#[cfg(feature = "nets")]
pub use loaded::BaselineNetworks;
