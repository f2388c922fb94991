//! The hosts from which documents may be fetched. The addresses that a name resolves to are checked later.

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
    /// Hosts that may have private addresses. They are allowed only at the ports listed here.
    private: BTreeSet<Host>,
}

/// A host of a URL, without the brackets of IPv6 and a dot at the end of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Host {
    name: String,
    port: Option<u16>,
}

/// A host is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHost {
    host: String,
    expected: &'static str,
}

impl fmt::Display for InvalidHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a valid host, expected {}", self.host, self.expected)
    }
}

impl Error for InvalidHost {}

impl Hosts {
    /// Allows a public host. With the prefix `*.` all its subdomains are allowed.
    pub(super) fn allow(&mut self, host: &str) -> Result<(), InvalidHost> {
        let (prefix, rest) = host.strip_prefix("*.").map_or(("", host), |rest| ("*.", rest));
        let parsed = Host::parse(rest).ok_or_else(|| InvalidHost {
            host: host.to_owned(),
            expected: "a name or an IP address such as `docs.rs`, `*.docs.rs` or `docs.rs:8443`",
        })?;
        self.public.insert(Host { name: format!("{prefix}{}", parsed.name), ..parsed });
        Ok(())
    }

    /// Allows a host that may have private addresses, at one port.
    pub(super) fn allow_private(&mut self, host: &str) -> Result<(), InvalidHost> {
        let parsed = Host::parse(host).filter(|host| host.port.is_some());
        let parsed = parsed.ok_or_else(|| InvalidHost {
            host: host.to_owned(),
            expected: "a name or an IP address with a port, such as `127.0.0.1:8080`",
        })?;
        self.private.insert(parsed);
        Ok(())
    }

    /// Returns whether a name may resolve to private addresses. [`Hosts::check`] checks the port.
    pub(super) fn is_private(&self, name: &str) -> bool {
        self.private.iter().any(|host| host.name == without_dot(name))
    }

    /// Checks that a document may be fetched. The error is a message for the model.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        if !url.username().is_empty() || url.password().is_some() {
            // The messages below contain the URL, so this must come first to keep secrets out of them.
            return Err("the URL has a user name or a password, expected neither".to_owned());
        }
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(format!("the scheme of `{url}` is `{scheme}`, expected `http` or `https`"));
        }
        if url.scheme() == "https" && !cfg!(feature = "tls") {
            return Err(format!("`{url}` needs `https`, which this program does not support"));
        }
        let Some(host) = Host::of(url) else { return Err(format!("`{url}` has no host")) };
        if self.is_private(&host.name) {
            return if self.private.contains(&host) { Ok(()) } else { Err(self.refusal(&host)) };
        }
        let address = host.name.parse::<IpAddr>().ok();
        if let Some(address) = address.filter(|address| !is_public(*address)) {
            return Err(format!(
                "{address} is not a public address; only documents from public addresses may be fetched"
            ));
        }
        let is_default_port = matches!(host.port, Some(80 | 443));
        let is_listed = self.public.iter().any(|listed| {
            let port = listed.port.map_or(is_default_port, |port| host.port == Some(port));
            port && listed.matches(&host.name)
        });
        if is_listed || (self.any_public && is_default_port) {
            Ok(())
        } else {
            Err(self.refusal(&host))
        }
    }

    fn refusal(&self, host: &Host) -> String {
        format!("documents from `{host}` may not be fetched, expected {}", self.description())
    }

    /// Returns a list of the hosts for the model.
    pub(super) fn description(&self) -> String {
        let any = self.any_public.then(|| "any public host at its default port".to_owned());
        let listed = self.public.iter().chain(&self.private).map(ToString::to_string);
        let hosts: Vec<_> = any.into_iter().chain(listed).collect();
        if hosts.is_empty() { "no host at all".to_owned() } else { hosts.join(", ") }
    }
}

impl Host {
    /// Parses a host in the same way as that of a URL.
    fn parse(host: &str) -> Option<Self> {
        if host.contains(['/', '\\', '?', '#', '@', '*']) {
            return None;
        }
        let url = Url::parse(&format!("http://{host}/")).ok()?;
        // `Url` does not keep a port that is the default one.
        let port = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Some(Self { port, ..Self::of(&url)? })
    }

    fn of(url: &Url) -> Option<Self> {
        let name = url.host_str()?.trim_start_matches('[').trim_end_matches(']');
        Some(Self { name: without_dot(name).to_owned(), port: url.port_or_known_default() })
    }

    fn matches(&self, name: &str) -> bool {
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

/// Removes the dot at the end of a fully qualified name.
fn without_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}
