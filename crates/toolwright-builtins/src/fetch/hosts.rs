//! Which addresses of documents may be fetched: by the rules of the host, not yet by what a name resolves to.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use super::addresses::is_public;

/// The hosts of a [`Fetch`](super::Fetch).
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    pub(super) any_public: bool,
    public: BTreeSet<Host>,
    /// Hosts that may have any address, each at one port, and at no other.
    private: BTreeSet<Host>,
}

/// A host as it stands in an address, without the brackets of IPv6 and the dot at the end of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Host {
    name: String,
    port: Option<u16>,
}

/// What was given as a host is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHost {
    host: String,
    expected: &'static str,
}

impl fmt::Display for InvalidHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no host that can be allowed, expected {}", self.host, self.expected)
    }
}

impl Error for InvalidHost {}

impl Hosts {
    /// Allows a host of the internet. `*.` before it stands for all names below it.
    pub(super) fn allow(&mut self, host: &str) -> Result<(), InvalidHost> {
        let (prefix, rest) = host.strip_prefix("*.").map_or(("", host), |rest| ("*.", rest));
        let parsed = Host::parse(rest).ok_or_else(|| InvalidHost {
            host: host.to_owned(),
            expected: "a name or an address such as `docs.rs`, `*.docs.rs` or `docs.rs:8443`",
        })?;
        self.public.insert(Host { name: format!("{prefix}{}", parsed.name), ..parsed });
        Ok(())
    }

    /// Allows a host wherever it is.
    pub(super) fn allow_private(&mut self, host: &str) -> Result<(), InvalidHost> {
        let parsed = Host::parse(host).filter(|host| host.port.is_some());
        let parsed = parsed.ok_or_else(|| InvalidHost {
            host: host.to_owned(),
            expected: "a name or an address with its port, such as `127.0.0.1:8080`",
        })?;
        self.private.insert(parsed);
        Ok(())
    }

    /// Whether a name may resolve to private addresses. Such a host is only reached at the ports that were allowed: see
    /// [`Hosts::judge`].
    pub(super) fn is_private(&self, name: &str) -> bool {
        self.private.iter().any(|host| host.name == without_dot(name))
    }

    /// Why a document may not be fetched.
    pub(super) fn judge(&self, url: &Url) -> Result<(), String> {
        if !url.username().is_empty() || url.password().is_some() {
            // No message from here on repeats it: it may be a secret.
            return Err("the address holds a user name or a password, expected neither".to_owned());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "`{}` is the scheme of `{url}`, expected `http` or `https`",
                url.scheme()
            ));
        }
        if url.scheme() == "https" && !cfg!(feature = "tls") {
            return Err(format!("`{url}` needs `https`, which this program was built without"));
        }
        let Some(host) = Host::of(url) else { return Err(format!("`{url}` names no host")) };
        if self.is_private(&host.name) {
            return if self.private.contains(&host) { Ok(()) } else { Err(self.refusal(&host)) };
        }
        let address = host.name.parse::<IpAddr>().ok();
        if let Some(address) = address.filter(|address| !is_public(*address)) {
            return Err(format!(
                "{address} is not an address of the internet, and no other may be fetched from"
            ));
        }
        let is_usual_port = matches!(host.port, Some(80 | 443));
        let is_listed = self.public.iter().any(|listed| {
            let port = listed.port.map_or(is_usual_port, |port| host.port == Some(port));
            port && listed.covers(&host.name)
        });
        if is_listed || (self.any_public && is_usual_port) {
            Ok(())
        } else {
            Err(self.refusal(&host))
        }
    }

    fn refusal(&self, host: &Host) -> String {
        format!("nothing may be fetched from `{host}`, expected {}", self.in_words())
    }

    /// The hosts, for the model.
    pub(super) fn in_words(&self) -> String {
        let any = self.any_public.then(|| "any host of the internet at its usual port".to_owned());
        let listed = self.public.iter().chain(&self.private).map(ToString::to_string);
        let words: Vec<_> = any.into_iter().chain(listed).collect();
        if words.is_empty() { "no host at all".to_owned() } else { words.join(", ") }
    }
}

impl Host {
    /// A host, as an address of a document would have it.
    fn parse(host: &str) -> Option<Self> {
        if host.contains(['/', '\\', '?', '#', '@', '*']) {
            return None;
        }
        let url = Url::parse(&format!("http://{host}/")).ok()?;
        // `Url` leaves a port out where it is the usual one.
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Some(Self { port, ..Self::of(&url)? })
    }

    fn of(url: &Url) -> Option<Self> {
        let name = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
        Some(Self { name: without_dot(name).to_owned(), port: url.port_or_known_default() })
    }

    fn covers(&self, name: &str) -> bool {
        match self.name.strip_prefix('*') {
            Some(end) => name.len() > end.len() && name.ends_with(end),
            None => self.name == name,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match (self.port, name.contains(':')) {
            (None, _) => f.write_str(name),
            (Some(port), false) => write!(f, "{name}:{port}"),
            (Some(port), true) => write!(f, "[{name}]:{port}"),
        }
    }
}

/// A dot at the end of a name says that it is whole, which changes nothing here.
fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}
