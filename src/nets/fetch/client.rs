//! HTTP as the hub speaks it.
//!
//! Redirects are followed by hand: the hub sends large files to another host, and the access token must not go with them.

use std::io::Read;
use std::time::Duration;

use ureq::http::{HeaderMap, Response, Uri, header};
use ureq::{Agent, Body, Proxy};

use super::error::FetchError;
use super::proxy::ProxyEnv;
use crate::nets::catalog::{FileSum, HubEnv};

/// Redirects followed for one file.
const MAX_REDIRECTS: usize = 10;

/// What the server says of a file before it is fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    pub bytes: Option<u64>,
    /// A sum of the content, when the etag is one.
    pub sum: Option<FileSum>,
    /// The commit on the hub.
    pub revision: Option<String>,
}

/// Something between us and the server went wrong; whether it may go better next time.
#[derive(Debug)]
pub enum Trouble {
    /// The connection could not be made or broke.
    Broken { reason: String, never_connected: bool },
    /// The server is busy or ill (429, 5xx); it may say when to come again.
    Busy { status: u16, retry_after: Option<Duration> },
    /// It will not get better.
    Final(FetchError),
}

/// A connection to the hub and to whom it redirects.
pub struct Client {
    direct: Agent,
    /// Through the proxies for `http` and `https` addresses.
    proxied: [Option<Agent>; 2],
    proxies: ProxyEnv,
    endpoint: Option<Uri>,
    token: Option<String>,
}

impl Client {
    /// A client for the hub of `env`, through the proxies that `proxies` names.
    ///
    /// # Errors
    /// When the environment names a proxy that cannot be one.
    pub fn new(env: &HubEnv, proxies: &ProxyEnv, read_timeout: Duration) -> Result<Self, FetchError> {
        let agent = |proxy: Option<Proxy>| {
            Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .timeout_connect(Some(Duration::from_secs(20)))
                .timeout_recv_response(Some(read_timeout))
                .timeout_per_read(Some(read_timeout))
                .user_agent(concat!("editscope/", env!("CARGO_PKG_VERSION")))
                // A file must arrive byte for byte, and its length be the one in the header.
                .accept_encoding("identity")
                .proxy(proxy)
                .build()
                .new_agent()
        };
        let proxied = proxies.proxies()?.map(|proxy| proxy.map(|proxy| agent(Some(proxy))));
        let (endpoint, token) = (env.endpoint.parse().ok(), env.token.clone());
        Ok(Self { direct: agent(None), proxied, proxies: proxies.clone(), endpoint, token })
    }

    /// The way to an address.
    fn agent(&self, at: &Uri) -> &Agent {
        let [http, https] = &self.proxied;
        let proxied = if at.scheme_str() == Some("http") { http } else { https };
        proxied.as_ref().filter(|_| !self.proxies.is_exception(at)).unwrap_or(&self.direct)
    }

    /// Size, sum and commit of a file, without its content.
    pub fn head(&self, url: &str) -> Result<Remote, Trouble> {
        let mut at = parsed(url)?;
        for _ in 0..MAX_REDIRECTS {
            let mut request = self.agent(&at).head(at.clone());
            if let Some(token) = self.token_for(&at) {
                request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            }
            let response = request.call().map_err(broken)?;
            let status = response.status();
            if !status.is_redirection() {
                check(&response, url)?;
                return Ok(remote_of(response.headers()));
            }
            let next = target(&at, response.headers(), url)?;
            // The hub's own answer names size, sum and commit; the host that it redirects to knows less.
            if !same_host(&at, &next) && response.headers().contains_key("x-linked-etag") {
                return Ok(remote_of(response.headers()));
            }
            at = next;
        }
        Err(too_many(url))
    }

    /// The content from byte `from` on, as `(first byte, total, reader)`; the server may answer with the whole file instead.
    pub fn get(&self, url: &str, from: u64) -> Result<Opened, Trouble> {
        let mut at = parsed(url)?;
        for _ in 0..MAX_REDIRECTS {
            let mut request = self.agent(&at).get(at.clone());
            if from > 0 {
                request = request.header(header::RANGE, format!("bytes={from}-"));
            }
            if let Some(token) = self.token_for(&at) {
                request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
            }
            let response = request.call().map_err(broken)?;
            let status = response.status();
            if status.is_redirection() {
                at = target(&at, response.headers(), url)?;
                continue;
            }
            if status == 416 {
                return Ok(Opened::PastTheEnd);
            }
            check(&response, url)?;
            let (start, total) = if status == 206 {
                content_range(response.headers()).ok_or_else(|| protocol(url, "a partial answer without Content-Range"))?
            } else {
                (0, response.body().content_length())
            };
            let reader = response.into_body().into_with_config().limit(u64::MAX).reader();
            return Ok(Opened::Content { start, total, reader: Box::new(reader) });
        }
        Err(too_many(url))
    }

    fn token_for(&self, at: &Uri) -> Option<&str> {
        self.endpoint.as_ref().filter(|endpoint| same_host(endpoint, at)).and(self.token.as_deref())
    }
}

/// An answer to [`Client::get`].
pub enum Opened {
    Content {
        start: u64,
        total: Option<u64>,
        reader: Box<dyn Read>,
    },
    /// There is nothing from that byte on.
    PastTheEnd,
}

/// The host of an address, for messages.
pub fn host_of(url: &str) -> String {
    url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string)).unwrap_or_else(|| url.to_owned())
}

fn parsed(url: &str) -> Result<Uri, Trouble> {
    url.parse().map_err(|error| protocol(url, &format!("this is not an address: {error}")))
}

fn protocol(url: &str, reason: &str) -> Trouble {
    Trouble::Final(FetchError::Protocol { url: url.to_owned(), reason: reason.to_owned() })
}

fn too_many(url: &str) -> Trouble {
    protocol(url, "it redirects in a circle")
}

/// Scheme, host and port are the same: a token for one may go to the other.
fn same_host(a: &Uri, b: &Uri) -> bool {
    let port = |uri: &Uri| uri.port_u16().or(if uri.scheme_str() == Some("http") { Some(80) } else { Some(443) });
    a.scheme() == b.scheme() && a.host().map(str::to_ascii_lowercase) == b.host().map(str::to_ascii_lowercase) && port(a) == port(b)
}

/// Where a redirect leads: an absolute address, or a path on the same host.
fn target(at: &Uri, headers: &HeaderMap, url: &str) -> Result<Uri, Trouble> {
    let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| protocol(url, "a redirect without an address"))?;
    let absolute = if location.starts_with('/') {
        let authority = at.authority().map(ToString::to_string).unwrap_or_default();
        format!("{}://{authority}{location}", at.scheme_str().unwrap_or("https"))
    } else {
        location.to_owned()
    };
    let next: Uri = absolute.parse().map_err(|_| protocol(url, "a redirect to something that is no address"))?;
    if at.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
        return Err(protocol(url, "it redirects from https to an unprotected address, which is not followed"));
    }
    Ok(next)
}

fn check(response: &Response<Body>, url: &str) -> Result<(), Trouble> {
    let status = response.status().as_u16();
    match status {
        200..=299 => Ok(()),
        401 | 403 => Err(Trouble::Final(FetchError::Refused { url: url.to_owned(), status })),
        404 => Err(Trouble::Final(FetchError::NotFound { url: url.to_owned() })),
        408 | 429 | 500..=599 => {
            let seconds = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            Err(Trouble::Busy { status, retry_after: seconds.map(Duration::from_secs) })
        }
        _ => Err(Trouble::Final(FetchError::Status { url: url.to_owned(), status, tried: None })),
    }
}

fn broken(error: ureq::Error) -> Trouble {
    let never_connected = match &error {
        // A proxy that refuses will refuse again.
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => true,
        ureq::Error::Timeout(timeout) => matches!(timeout, ureq::Timeout::Connect | ureq::Timeout::Resolve),
        ureq::Error::Io(io) => matches!(
            io.kind(),
            std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NetworkUnreachable | std::io::ErrorKind::HostUnreachable
        ),
        _ => false,
    };
    Trouble::Broken { reason: error.to_string(), never_connected }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The hub's headers: those of a large file are called `x-linked-*`.
fn remote_of(headers: &HeaderMap) -> Remote {
    let bytes = header_text(headers, "x-linked-size").or_else(|| header_text(headers, "content-length"));
    let etag = header_text(headers, "x-linked-etag").or_else(|| header_text(headers, "etag"));
    Remote {
        bytes: bytes.and_then(|text| text.trim().parse().ok()),
        sum: etag.and_then(FileSum::from_etag),
        revision: header_text(headers, "x-repo-commit").map(str::to_owned),
    }
}

/// `bytes FIRST-LAST/TOTAL` → first and total.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = header_text(headers, "content-range")?.trim().strip_prefix("bytes")?.trim();
    let (range, total) = text.split_once('/')?;
    Some((range.split_once('-')?.0.trim().parse().ok()?, total.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_stay_with_their_host() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        let hub = uri("https://huggingface.co");
        assert!(same_host(&hub, &uri("https://HuggingFace.co:443/a/b")));
        for other in ["http://huggingface.co/a", "https://cdn.huggingface.co/a", "https://huggingface.co:8443/a"] {
            assert!(!same_host(&hub, &uri(other)), "{other}");
        }
    }

    #[test]
    fn redirects_may_be_relative_but_never_lose_their_protection() {
        let at: Uri = "https://hub.example/x/resolve/main/f".parse().unwrap();
        let with = |location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::LOCATION, location.parse().unwrap());
            target(&at, &headers, "u")
        };
        assert_eq!(with("/api/cache/f").ok(), "https://hub.example/api/cache/f".parse().ok());
        assert_eq!(with("https://cdn.example/f?x=1").ok(), "https://cdn.example/f?x=1".parse().ok());
        assert!(with("http://cdn.example/f").is_err());
    }
}
