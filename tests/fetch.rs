//! Fetching published networks, against a local imitation of the hub. Expected sums come from Python's hashlib (see `CONTENT`).

#![cfg(any(feature = "wgpu", feature = "flex"))]

mod hub;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use editscope::nets::catalog::{CatalogFile, CatalogNetwork, HubEnv, Record, Role, network, place_of, verify};
use editscope::nets::fetch::{Doing, FetchError, Options, Patience, Progress, ProxyEnv, fetch};
use hub::proxy::Proxy;
use hub::{COMMIT, Fault, Served, Server};

/// `bytes(range(256)) * 4096`: 1 MiB.
fn content() -> Vec<u8> {
    (0..=255_u8).cycle().take(1 << 20).collect()
}

/// `hashlib.sha256(bytes(range(256)) * 4096).hexdigest()`.
const WEIGHTS_SHA256: &str = "fbbab289f7f94b25736c58be46a994c441fd02552cc6022352e3d86d2fab7c83";
/// `hashlib.sha1(b"blob 2\0{}").hexdigest()`, which is `git hash-object` of `{}`.
const CONFIG_BLOB: &str = "9e26dfeeb6e641a33dae4961196235bdb965b21b";

const WEIGHTS: &str = "/org/net/resolve/main/model.safetensors";
const CONFIG: &str = "/org/net/resolve/main/config.json";

struct Hub {
    hub: Server,
    cdn: Server,
    dir: tempfile::TempDir,
}

impl Hub {
    fn new() -> Self {
        let cdn = Server::start(None);
        let hub = Server::start(Some(&cdn));
        let weights = Served { content: content(), etag: format!("\"{WEIGHTS_SHA256}\""), large: true };
        for revision in ["main", COMMIT] {
            let weights_at = WEIGHTS.replace("main", revision);
            hub.put(&weights_at, weights.clone());
            cdn.put(&weights_at, Served { large: false, etag: "\"of-the-cdn\"".to_owned(), ..weights.clone() });
            let config = Served { content: b"{}".to_vec(), etag: format!("W/\"{CONFIG_BLOB}\""), large: false };
            hub.put(&CONFIG.replace("main", revision), config);
        }
        Self { hub, cdn, dir: tempfile::tempdir().unwrap() }
    }

    fn options(&self) -> Options {
        let patience = Patience { tries: 3, first_wait: Duration::from_millis(1), longest_wait: Duration::from_millis(5) };
        let env = HubEnv { endpoint: self.hub.endpoint(), token: None, cache: None, offline: false };
        // A proxy of this machine must not play a part.
        let proxies = ProxyEnv::default();
        Options { env, proxies, patience, read_timeout: Duration::from_secs(5), ..Options::new(self.dir.path().to_owned()) }
    }

    fn weights(&self) -> std::path::PathBuf {
        self.dir.path().join("net/model.safetensors")
    }

    fn part(&self) -> std::path::PathBuf {
        self.dir.path().join("net/model.safetensors.part")
    }
}

fn net() -> CatalogNetwork {
    let file = |path: &str| CatalogFile { path: path.to_owned(), alternative: None, bytes: None, sha256: None, unsure: false, url: None };
    CatalogNetwork {
        name: "net".to_owned(),
        role: Role::Clip,
        sets: Vec::new(),
        hub: Some("org/net".to_owned()),
        revision: None,
        licence: "MIT".to_owned(),
        files: vec![file("model.safetensors"), file("config.json")],
    }
}

fn go(_: &Progress) -> bool {
    true
}

#[test]
fn a_network_is_fetched_checked_and_recorded_with_its_commit() {
    let hub = Hub::new();
    let mut last = None;
    let fetched = fetch(&net(), &hub.options(), &mut |progress| {
        assert!(progress.done <= progress.total || progress.total == 0, "{progress:?}");
        last = Some(progress.clone());
        true
    })
    .unwrap();
    assert_eq!((fetched.received.len(), fetched.unchecked.len()), (2, 0));
    assert_eq!(fetched.revision.as_deref(), Some(COMMIT));
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
    assert!(!hub.part().exists());
    assert_eq!(last.unwrap().total, (1 << 20) + 2);
    let record = Record::read(&hub.dir.path().join("net")).unwrap();
    assert_eq!(record.revision.as_deref(), Some(COMMIT));
    // A commit that was newest at the first fetch stays the one that counts.
    hub.hub.forget();
    std::fs::remove_file(hub.dir.path().join("net/config.json")).unwrap();
    fetch(&net(), &hub.options(), &mut go).unwrap();
    let asked: Vec<String> = hub.hub.log().into_iter().map(|asked| asked.path).collect();
    assert!(asked.iter().all(|path| path.contains(COMMIT) && path.ends_with("config.json")), "{asked:?}");
}

#[test]
fn a_dropped_connection_is_continued_from_the_last_byte() {
    let hub = Hub::new();
    hub.cdn.fail(WEIGHTS, &[Fault::DropAfter(300_000), Fault::Status(503), Fault::DropAfter(200_000)]);
    let fetched = fetch(&net(), &hub.options(), &mut go);
    fetched.unwrap();
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
    let ranges: Vec<Option<String>> = hub.cdn.log().into_iter().filter(|asked| asked.method == "GET").map(|asked| asked.range).collect();
    let from = |bytes: usize| Some(format!("bytes={bytes}-"));
    assert_eq!(ranges, [None, from(300_000), from(300_000), from(500_000)]);
}

#[test]
fn a_second_fetch_of_the_same_network_is_refused_and_the_first_goes_on() {
    let hub = Hub::new();
    let mut second = None;
    let mut step = |progress: &Progress| {
        if progress.doing == Doing::Receiving && second.is_none() {
            second = Some(fetch(&net(), &hub.options(), &mut go));
        }
        true
    };
    fetch(&net(), &hub.options(), &mut step).unwrap();
    assert!(matches!(&second, Some(Err(FetchError::Busy { network })) if network == "net"), "{second:?}");
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
    assert!(fetch(&net(), &hub.options(), &mut go).is_ok(), "the lock ends with the fetch");
}

#[test]
fn a_stopped_fetch_goes_on_where_it_stopped() {
    let hub = Hub::new();
    let mut stop = |progress: &Progress| !(progress.doing == Doing::Receiving && progress.done > 400_000);
    assert!(matches!(fetch(&net(), &hub.options(), &mut stop), Err(FetchError::Cancelled)));
    let here = std::fs::metadata(hub.part()).unwrap().len();
    assert!(here > 400_000 && here < 1 << 20 && !hub.weights().exists(), "{here}");
    let clip = net();
    assert_eq!(place_of(&clip, hub.dir.path(), &hub.options().env).partial_bytes, here);
    hub.cdn.forget();
    fetch(&clip, &hub.options(), &mut go).unwrap();
    assert_eq!(hub.cdn.log()[0].range, Some(format!("bytes={here}-")));
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
}

#[test]
fn a_server_without_ranges_and_a_complete_part_are_no_obstacle() {
    let hub = Hub::new();
    std::fs::create_dir_all(hub.dir.path().join("net")).unwrap();
    std::fs::write(hub.part(), &content()[..1000]).unwrap();
    hub.cdn.fail(WEIGHTS, &[Fault::IgnoreRange]);
    fetch(&net(), &hub.options(), &mut go).unwrap();
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
    // Stopped between the last byte and the rename: nothing is fetched again.
    std::fs::rename(hub.weights(), hub.part()).unwrap();
    hub.cdn.forget();
    fetch(&net(), &hub.options(), &mut go).unwrap();
    assert!(hub.cdn.log().is_empty() && hub.weights().exists());
}

#[test]
fn wrong_bytes_are_named_and_never_kept() {
    let hub = Hub::new();
    hub.cdn.fail(WEIGHTS, &[Fault::WrongBit]);
    let error = fetch(&net(), &hub.options(), &mut go).unwrap_err();
    assert!(matches!(&error, FetchError::WrongContent { expected, .. } if expected.contains(WEIGHTS_SHA256)), "{error}");
    assert!(!hub.weights().exists() && !hub.part().exists());
    std::fs::create_dir_all(hub.part().parent().unwrap()).unwrap();
    // A beginning that belongs to another file is found by the check, and the file fetched anew.
    std::fs::write(hub.part(), vec![7; 5000]).unwrap();
    fetch(&net(), &hub.options(), &mut go).unwrap();
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
}

#[test]
fn a_file_that_the_hub_replaced_is_refused_before_it_is_fetched() {
    let hub = Hub::new();
    let mut pinned = net();
    pinned.files[0].sha256 = Some("ab".repeat(32));
    let error = fetch(&pinned, &hub.options(), &mut go).unwrap_err();
    assert!(matches!(error, FetchError::Replaced { .. }), "{error}");
    assert!(hub.cdn.log().is_empty());
}

#[test]
fn refusals_and_missing_files_say_what_to_do() {
    let hub = Hub::new();
    hub.hub.fail(WEIGHTS, &[Fault::Status(401)]);
    let refused = fetch(&net(), &hub.options(), &mut go).unwrap_err().to_string();
    assert!(refused.contains("401") && refused.contains("HF_TOKEN"), "{refused}");
    let mut other = net();
    other.hub = Some("org/none".to_owned());
    let missing = fetch(&other, &hub.options(), &mut go).unwrap_err().to_string();
    assert!(missing.contains("/org/none/resolve/main/model.safetensors") && missing.contains("404"), "{missing}");
    hub.hub.fail(WEIGHTS, &[Fault::Status(503), Fault::Status(503), Fault::Status(503)]);
    let busy = fetch(&net(), &hub.options(), &mut go).unwrap_err().to_string();
    assert!(busy.contains("503 3 times"), "{busy}");
}

#[test]
fn another_name_of_the_weights_is_tried() {
    let hub = Hub::new();
    let mut old = net();
    old.files[0].path = "weights.safetensors".to_owned();
    old.files[0].alternative = Some("model.safetensors".to_owned());
    let fetched = fetch(&old, &hub.options(), &mut go).unwrap();
    assert_eq!(fetched.received, ["model.safetensors", "config.json"]);
    assert!(place_of(&old, hub.dir.path(), &hub.options().env).problems.is_empty());
}

#[test]
fn the_token_stays_with_the_hub() {
    let hub = Hub::new();
    let mut options = hub.options();
    options.env.token = Some("hf_secret".to_owned());
    fetch(&net(), &options, &mut go).unwrap();
    assert!(hub.hub.log().iter().all(|asked| asked.authorization.as_deref() == Some("Bearer hf_secret")));
    assert!(!hub.cdn.log().is_empty());
    assert!(hub.cdn.log().iter().all(|asked| asked.authorization.is_none()), "{:?}", hub.cdn.log());
}

#[test]
fn a_full_disk_is_said_before_anything_is_fetched() {
    let hub = Hub::new();
    let options = Options { free_bytes: |_| Ok(1000), ..hub.options() };
    let error = fetch(&net(), &options, &mut go).unwrap_err();
    assert!(matches!(error, FetchError::DiskFull { free: 1000, need, .. } if need == (1 << 20) + 2), "{error}");
    assert!(hub.cdn.log().is_empty());
}

#[cfg(unix)]
#[test]
fn a_file_in_the_hubs_cache_is_linked_and_a_broken_one_is_not() {
    let hub = Hub::new();
    let cache = hub.dir.path().join("cache");
    let repository = cache.join("models--org--net");
    let snapshot = repository.join("snapshots").join(COMMIT);
    std::fs::create_dir_all(repository.join("blobs")).unwrap();
    std::fs::create_dir_all(repository.join("refs")).unwrap();
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::write(repository.join("refs/main"), COMMIT).unwrap();
    std::fs::write(repository.join("blobs").join(WEIGHTS_SHA256), content()).unwrap();
    std::fs::write(repository.join("blobs").join(CONFIG_BLOB), "broken").unwrap();
    std::os::unix::fs::symlink(format!("../../blobs/{WEIGHTS_SHA256}"), snapshot.join("model.safetensors")).unwrap();
    std::os::unix::fs::symlink(format!("../../blobs/{CONFIG_BLOB}"), snapshot.join("config.json")).unwrap();
    let mut options = hub.options();
    options.env.cache = Some(cache);
    let fetched = fetch(&net(), &options, &mut go).unwrap();
    assert_eq!(fetched.received, ["config.json"]);
    assert!(hub.hub.log().iter().all(|asked| asked.path.ends_with("config.json")), "{:?}", hub.hub.log());
    assert_eq!(std::fs::read(hub.weights()).unwrap(), content());
}

#[test]
fn verify_names_what_is_truncated_altered_or_gone() {
    let hub = Hub::new();
    fetch(&net(), &hub.options(), &mut go).unwrap();
    let folder = hub.dir.path().join("net");
    let problems =
        || -> Vec<Option<String>> { verify(&net(), &folder, &mut |_| true).unwrap().into_iter().map(|finding| finding.problem).collect() };
    assert_eq!(problems(), [None, None]);
    let mut altered = content();
    altered[500] ^= 4;
    std::fs::write(hub.weights(), &altered).unwrap();
    std::fs::remove_file(folder.join("config.json")).unwrap();
    let found = problems();
    assert!(found[0].as_deref().unwrap().starts_with("altered"), "{found:?}");
    assert!(found[1].as_deref().unwrap().contains("gone"), "{found:?}");
    std::fs::write(hub.weights(), &altered[..1000]).unwrap();
    assert!(problems()[0].as_deref().unwrap().starts_with("truncated: it has 1000 bytes"), "{:?}", problems());
    // Fetching again puts both right.
    fetch(&net(), &hub.options(), &mut go).unwrap();
    assert_eq!(problems(), [None, None]);
}

fn editscope(root: &Path, endpoint: &str, arguments: &[&str]) -> std::process::Output {
    with_proxies(root, endpoint, &[], arguments)
}

/// Runs the program with these proxy variables and no others.
fn with_proxies(root: &Path, endpoint: &str, proxies: &[(&str, &str)], arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_editscope"));
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
        .args(arguments)
        .env("EDITSCOPE_MODELS", root)
        .env("HF_ENDPOINT", endpoint)
        .env("HF_HOME", root.join("hf"))
        .env_remove("HF_TOKEN")
        .env_remove("HF_HUB_OFFLINE")
        .envs(proxies.iter().copied())
        .output()
        .unwrap()
}

/// A hub that has this network of the catalog (with a file of two bytes for each of its files).
fn put(server: &Server, name: &str) {
    let network = network(name).unwrap();
    let hub = network.hub.clone().unwrap();
    for file in &network.files {
        let path = format!("/{hub}/resolve/{}/{}", network.revision.as_deref().unwrap(), file.path);
        server.put(&path, Served { content: b"{}".to_vec(), etag: format!("\"{CONFIG_BLOB}\""), large: false });
    }
}

#[test]
fn a_proxy_is_used_for_its_scheme_and_not_for_the_exceptions() {
    let server = Server::start(None);
    put(&server, "sam-vit-base");
    let proxy = Proxy::start(Some(server.port));
    let fetch = |endpoint: &str, proxies: &[(&str, &str)]| {
        let dir = tempfile::tempdir().unwrap();
        let output = with_proxies(dir.path(), endpoint, proxies, &["models", "fetch", "sam-vit-base"]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The name is known to nobody, so whoever fetches from it went through the proxy.
    let (code, said) = fetch("http://hub.invalid:8080", &[("HTTP_PROXY", &proxy.address())]);
    assert_eq!((code, proxy.asked()), (Some(0), vec!["hub.invalid:8080".to_owned()]), "{said}");

    let proxy = Proxy::start(Some(server.port));
    let with_login = proxy.address().replace("http://", "http://kim:pa%40ss@");
    let (code, said) = fetch("http://hub.invalid", &[("all_proxy", &with_login)]);
    assert_eq!((code, proxy.asked()), (Some(0), vec!["hub.invalid:80".to_owned()]), "{said}");
    // `printf kim:pa@ss | base64`
    assert_eq!(proxy.logins().first().map(String::as_str), Some("Basic a2ltOnBhQHNz"));

    let (for_http, for_https) = (Proxy::start(None), Proxy::start(None));
    let both = [("HTTP_PROXY", for_http.address()), ("HTTPS_PROXY", for_https.address())];
    let both = both.each_ref().map(|(name, address)| (*name, address.as_str()));
    let (code, said) = fetch("https://hub.invalid", &both);
    assert_eq!((code, for_http.asked(), for_https.asked()), (Some(2), vec![], vec!["hub.invalid:443".to_owned()]), "{said}");
    assert!(said.contains("HTTPS_PROXY"), "{said}");

    // The server of this machine is an exception, by its address, by a network, or because everything is.
    for exceptions in ["127.0.0.1", "10.0.0.0/8,127.0.0.0/8", "*"] {
        let proxies = [both[0], both[1], ("no_proxy", exceptions)];
        let (code, said) = fetch(&server.endpoint(), &proxies);
        assert_eq!((code, for_http.asked()), (Some(0), vec![]), "{exceptions}: {said}");
    }
    let (code, said) = fetch(&server.endpoint(), &both);
    assert_eq!((code, for_http.asked()), (Some(2), vec![format!("127.0.0.1:{}", server.port)]), "{said}");
    let (code, said) = fetch(&server.endpoint(), &[("HTTP_PROXY", "gopher://kim:secret@x")]);
    assert!(code == Some(2) && said.contains("http_proxy") | said.contains("HTTP_PROXY") && !said.contains("secret"), "{said}");
}

#[test]
fn a_network_that_fails_leaves_nothing_and_does_not_keep_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(None);
    put(&server, "sam-vit-base");
    let run = |arguments: &[&str]| editscope(dir.path(), &server.endpoint(), arguments);
    // The server has one of the two, and it comes second.
    let fetched = run(&["models", "fetch", "clip-vit-large-patch14", "sam-vit-base"]);
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    assert_eq!(fetched.status.code(), Some(1), "{said}");
    assert!(String::from_utf8_lossy(&fetched.stdout).starts_with("sam-vit-base: "), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.starts_with("failed: clip-vit-large-patch14: ") && line.contains("404")), "{said}");
    assert!(!dir.path().join("clip-vit-large-patch14").exists());
    let verified = run(&["models", "verify"]);
    let message = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!((verified.status.code(), message.contains("clip-vit")), (Some(0), false), "{message}");
    // A folder that somebody else left empty is no network either; a name that is not known is said before anything is fetched.
    std::fs::create_dir(dir.path().join("clip-vit-large-patch14")).unwrap();
    assert_eq!(run(&["models", "verify"]).status.code(), Some(0));
    server.forget();
    assert_eq!(run(&["models", "fetch", "sam-vit-base", "sam-vit-bass"]).status.code(), Some(2));
    assert_eq!(server.log(), []);
    let alone = run(&["models", "fetch", "clip-vit-large-patch14"]);
    assert_eq!(alone.status.code(), Some(2), "nothing could be done");
}

#[test]
fn offline_is_said_at_once_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    // A port that nobody listens on: bound once, to be free, and closed.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let began = Instant::now();
    let output = editscope(dir.path(), &format!("http://127.0.0.1:{port}"), &["models", "fetch", "sam-vit-base"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    for words in ["no connection to 127.0.0.1", "HTTPS_PROXY", "HF_ENDPOINT", "sam-vit-base"] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "it tried for {:?}", began.elapsed());
}

#[test]
fn the_command_line_fetches_lists_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(None);
    put(&server, "sam-vit-base");
    let run = |arguments: &[&str]| editscope(dir.path(), &server.endpoint(), arguments);
    let unknown = run(&["models", "fetch", "sam-vit-bass"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("sam-vit-base"));
    let fetched = run(&["models", "fetch", "sam-vit-base"]);
    assert_eq!(fetched.status.code(), Some(0), "{}", String::from_utf8_lossy(&fetched.stderr));
    let listed = String::from_utf8_lossy(&run(&["models", "list"]).stdout).into_owned();
    assert!(listed.lines().any(|line| line.starts_with("sam-vit-base") && line.contains(" here ")), "{listed}");
    assert_eq!(run(&["models", "verify"]).status.code(), Some(0));
    std::fs::write(dir.path().join("sam-vit-base/config.json"), "{").unwrap();
    let verified = run(&["models", "verify", "sam-vit-base"]);
    let message = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(verified.status.code(), Some(1), "{message}");
    assert!(message.contains("config.json: truncated") && message.contains("models fetch sam-vit-base"), "{message}");
}
