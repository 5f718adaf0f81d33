//! What the ecosystem's environment variables say about the Hugging Face hub.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The hub as this machine is set up for it (the variables that `huggingface_hub` documents).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubEnv {
    /// Address without a slash at the end (`HF_ENDPOINT`).
    pub endpoint: String,
    /// Access token (`HF_TOKEN`, else the file that `hf auth login` writes); never printed.
    pub token: Option<String>,
    /// Where other programs keep what they fetched (`HF_HUB_CACHE`, else `HF_HOME/hub`).
    pub cache: Option<PathBuf>,
    /// The person wants no request to be made (`HF_HUB_OFFLINE`).
    pub offline: bool,
}

impl HubEnv {
    /// As the environment of this process says.
    pub fn from_env() -> Self {
        Self::from_lookup(|name| std::env::var_os(name), dirs::home_dir().as_deref())
    }

    /// As `lookup` says; `home` is the person's home folder.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Self {
        let text = |name: &str| lookup(name).map(|value| value.to_string_lossy().trim().to_owned()).filter(|value| !value.is_empty());
        let folder = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let hf_home = folder("HF_HOME").or_else(|| {
            let cache = folder("XDG_CACHE_HOME").or_else(|| home.map(|home| home.join(".cache")))?;
            Some(cache.join("huggingface"))
        });
        let token_file = folder("HF_TOKEN_PATH").or_else(|| hf_home.as_ref().map(|folder| folder.join("token")));
        let token = text("HF_TOKEN")
            .or_else(|| text("HUGGING_FACE_HUB_TOKEN"))
            .or_else(|| std::fs::read_to_string(token_file?).ok().map(|token| token.trim().to_owned()))
            .filter(|token| !token.is_empty());
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let truth = |value: String| matches!(value.to_ascii_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE");
        Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token,
            cache: folder("HF_HUB_CACHE").or_else(|| folder("HUGGINGFACE_HUB_CACHE")).or_else(|| hf_home.map(|folder| folder.join("hub"))),
            offline: text("HF_HUB_OFFLINE").is_some_and(truth),
        }
    }

    /// Address of a file.
    pub fn url(&self, hub: &str, revision: &str, file: &str) -> String {
        format!("{}/{hub}/resolve/{revision}/{file}", self.endpoint)
    }

    /// The folder of one commit in the cache of `huggingface_hub`; `None` when it is not there. Without a revision, the commit that the
    /// cache calls `main`.
    pub fn cached_snapshot(&self, hub: &str, revision: Option<&str>) -> Option<PathBuf> {
        let repository = self.cache.as_ref()?.join(format!("models--{}", hub.replace('/', "--")));
        let revision = match revision {
            Some(revision) => revision.to_owned(),
            None => std::fs::read_to_string(repository.join("refs").join("main")).ok()?.trim().to_owned(),
        };
        let snapshot = repository.join("snapshots").join(revision);
        snapshot.is_dir().then_some(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn env(pairs: &[(&str, &str)], home: &Path) -> HubEnv {
        let map: HashMap<String, OsString> = pairs.iter().map(|(k, v)| ((*k).to_owned(), OsString::from(v))).collect();
        HubEnv::from_lookup(|name| map.get(name).cloned(), Some(home))
    }

    #[test]
    fn defaults_are_those_of_huggingface_hub() {
        // huggingface_hub's documented defaults: ~/.cache/huggingface/hub, token in ~/.cache/huggingface/token.
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".cache/huggingface")).unwrap();
        std::fs::write(home.path().join(".cache/huggingface/token"), "hf_file\n").unwrap();
        let plain = env(&[], home.path());
        assert_eq!(plain.endpoint, "https://huggingface.co");
        assert_eq!(plain.token.as_deref(), Some("hf_file"));
        assert_eq!(plain.cache, Some(home.path().join(".cache/huggingface/hub")));
        assert!(!plain.offline);
    }

    #[test]
    fn variables_overrule_the_defaults() {
        let home = Path::new("/nowhere");
        let set = env(
            &[("HF_ENDPOINT", "https://mirror.example/"), ("HF_TOKEN", " hf_env "), ("HF_HOME", "/data/hf"), ("HF_HUB_OFFLINE", "1")],
            home,
        );
        assert_eq!((set.endpoint.as_str(), set.token.as_deref()), ("https://mirror.example", Some("hf_env")));
        assert_eq!((set.cache, set.offline), (Some(PathBuf::from("/data/hf/hub")), true));
        assert_eq!(env(&[("HF_HOME", "/a"), ("HF_HUB_CACHE", "/b")], home).cache, Some(PathBuf::from("/b")));
        assert_eq!(env(&[("XDG_CACHE_HOME", "/x")], home).cache, Some(PathBuf::from("/x/huggingface/hub")));
    }
}
