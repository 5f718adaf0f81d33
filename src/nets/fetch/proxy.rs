//! Which proxy a request goes through, as the environment says it to every program.
//!
//! `HTTPS_PROXY` is for `https` addresses, `HTTP_PROXY` for `http` ones, `ALL_PROXY` for those that neither names; each also in lower case,
//! which counts first. `NO_PROXY` lists what is reached without: hosts with all their subdomains, `host:port`, addresses, networks like
//! `10.0.0.0/8`, or `*`. A request through an HTTP proxy is tunnelled (`CONNECT`), `http` addresses too.

use std::net::IpAddr;

use ureq::Proxy;
use ureq::http::Uri;

use super::error::FetchError;

/// What the environment says about proxies, as it stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyEnv {
    /// Name of the variable and its value.
    http: Option<(String, String)>,
    https: Option<(String, String)>,
    exceptions: Vec<String>,
}

impl ProxyEnv {
    /// As the environment of this process says.
    pub fn from_env() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// As `lookup` says.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| -> Option<(String, String)> {
            let names = [name.to_lowercase(), name.to_owned()];
            names.into_iter().find_map(|name| {
                let value = lookup(&name)?.trim().to_owned();
                (!value.is_empty()).then_some((name, value))
            })
        };
        let exceptions = find("NO_PROXY").map(|(_, value)| value).unwrap_or_default();
        let exceptions = exceptions.split(|c: char| c == ',' || c.is_whitespace()).filter(|entry| !entry.is_empty());
        Self {
            http: find("HTTP_PROXY").or_else(|| find("ALL_PROXY")),
            https: find("HTTPS_PROXY").or_else(|| find("ALL_PROXY")),
            exceptions: exceptions.map(str::to_lowercase).collect(),
        }
    }

    /// The proxies for `http` and for `https` addresses.
    ///
    /// # Errors
    /// When a variable holds no address of a proxy. Going without it would leave the person's network by another way than they said.
    pub fn proxies(&self) -> Result<[Option<Proxy>; 2], FetchError> {
        let proxy = |said: &Option<(String, String)>| {
            let Some((variable, value)) = said else { return Ok(None) };
            Proxy::new(value).map(Some).map_err(|_| FetchError::NoProxyAddress { variable: variable.clone() })
        };
        Ok([proxy(&self.http)?, proxy(&self.https)?])
    }

    /// Whether an address is reached without a proxy.
    pub fn is_exception(&self, uri: &Uri) -> bool {
        let Some(host) = uri.host() else { return false };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_lowercase();
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
        let address: Option<IpAddr> = host.parse().ok();
        self.exceptions.iter().any(|entry| match address {
            _ if entry == "*" => true,
            Some(address) => is_address(entry, address, port),
            None => is_host(entry, &host, port),
        })
    }
}

/// Whether `entry` names `host` or a domain above it.
fn is_host(entry: &str, host: &str, port: u16) -> bool {
    let (entry, wanted) = match entry.rsplit_once(':') {
        Some((name, number)) => (name, number.parse::<u16>().ok()),
        None => (entry, None),
    };
    let domain = entry.strip_prefix('*').unwrap_or(entry).trim_start_matches('.');
    let below = host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    !domain.is_empty() && below && wanted.is_none_or(|wanted| wanted == port)
}

/// Whether `entry` is `address`, that address with its port, or a network that holds it.
fn is_address(entry: &str, address: IpAddr, port: u16) -> bool {
    let plain = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    if let Some((network, bits)) = entry.split_once('/') {
        return match (plain(network), bits.parse::<u32>(), address) {
            (Some(IpAddr::V4(network)), Ok(bits @ 0..=32), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            (Some(IpAddr::V6(network)), Ok(bits @ 0..=128), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                network.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        };
    }
    plain(entry) == Some(address)
        || entry.rsplit_once(':').is_some_and(|(host, number)| plain(host) == Some(address) && number.parse() == Ok(port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> ProxyEnv {
        ProxyEnv::from_lookup(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_scheme_has_its_proxy_lower_case_first_and_all_proxy_last() {
        let value = |said: &Option<(String, String)>| said.as_ref().map(|(_, value)| value.clone());
        let both = env(&[("HTTP_PROXY", "a:1"), ("HTTPS_PROXY", "b:2"), ("https_proxy", "c:3"), ("ALL_PROXY", "d:4")]);
        assert_eq!((value(&both.http), value(&both.https)), (Some("a:1".into()), Some("c:3".into())));
        let rest = env(&[("http_proxy", " "), ("all_proxy", "socks5h://d:4")]);
        assert_eq!((value(&rest.http), value(&rest.https)), (Some("socks5h://d:4".into()), Some("socks5h://d:4".into())));
        assert!(rest.proxies().is_ok_and(|[http, https]| http.is_some() && https.is_some()));
        assert_eq!(env(&[]).proxies().ok(), Some([None, None]));
        let wrong = env(&[("HTTPS_PROXY", "gopher://secret@x")]).proxies().unwrap_err().to_string();
        assert!(wrong.contains("HTTPS_PROXY") && !wrong.contains("secret"), "{wrong}");
    }

    #[test]
    fn no_proxy_is_read_as_other_programs_read_it() {
        let spared = |list: &str, url: &str| env(&[("NO_PROXY", list)]).is_exception(&url.parse().unwrap()); // addresses below
        for (list, url) in [
            ("*", "https://huggingface.co/x"),
            ("huggingface.co", "https://huggingface.co/x"),
            ("huggingface.co", "https://cdn.HuggingFace.co/x"),
            (".huggingface.co", "https://cdn.huggingface.co/x"),
            ("*.huggingface.co", "https://cdn.huggingface.co/x"),
            ("other.org , huggingface.co", "https://huggingface.co/x"),
            ("localhost:8080", "http://localhost:8080/x"),
            ("127.0.0.1", "http://127.0.0.1:9/x"),
            ("127.0.0.1:9", "http://127.0.0.1:9/x"),
            ("10.0.0.0/8", "http://10.200.3.4/x"),
            ("::1", "http://[::1]:80/x"),
            ("fd00::/8", "http://[fd12::1]/x"),
        ] {
            assert!(spared(list, url), "{list}: {url}");
        }
        for (list, url) in [
            ("", "https://huggingface.co/x"),
            ("gingface.co", "https://huggingface.co/x"),
            ("cdn.huggingface.co", "https://huggingface.co/x"),
            ("localhost:8080", "http://localhost:8081/x"),
            ("127.0.0.1:9", "http://127.0.0.1:10/x"),
            ("10.0.0.0/8", "http://11.0.0.1/x"),
            ("10.0.0.0/40", "http://10.0.0.1/x"),
            (".", "https://huggingface.co/x"),
        ] {
            assert!(!spared(list, url), "{list}: {url}");
        }
    }
}
