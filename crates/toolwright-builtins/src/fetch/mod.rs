//! The toolset `fetch`, which fetches documents from allowed hosts. The IP addresses of a host are checked before it connects,
//! also at every redirect, so that private addresses are not reachable unless they are allowed.

mod addresses;
mod hosts;

use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, Url, redirect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright::outcome::describe;
use toolwright::spec::{ToolAnnotations, ToolsetInfo};
use toolwright::untrusted::visible;
use toolwright::{FailureKind, Recovery, Scope, ToolFailure, ToolSpec};
use toolwright_runtime::tools::{IntoSource, Json};
use toolwright_runtime::{FunctionTool, Source, Toolset};

use crate::{READS, ended_after, rejected};
use addresses::is_public;
use hosts::Hosts;
pub use hosts::InvalidHost;

static FETCH: ToolsetInfo =
    ToolsetInfo { name: "fetch", description: "Documents from the web.", service: "toolwright" };

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// The longest URL of a redirect, in bytes.
const MAX_URL_BYTES: usize = 4096;
/// The most characters of a content type that are returned.
const MAX_CONTENT_TYPE_CHARS: usize = 200;

/// The tool `fetch_url`, which fetches documents from allowed hosts. It only sends `GET` requests, without cookies and
/// credentials, and does not use a proxy of the environment.
///
/// A model can send data that it has read to any allowed host, as part of a URL.
///
/// ```
/// use toolwright_builtins::fetch::Fetch;
///
/// let fetch = Fetch::builder().with_host("docs.rs").with_host("*.wikipedia.org").build()?;
/// let registry = toolwright_runtime::Registry::new();
/// registry.register_toolset("web", fetch.source())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fetch {
    client: Client,
    hosts: Arc<Hosts>,
    size_limit: usize,
    time_limit: Duration,
}

/// Builds a [`Fetch`].
#[derive(Clone, Debug)]
pub struct FetchBuilder {
    hosts: Hosts,
    invalid: Option<InvalidHost>,
    size_limit: usize,
    time_limit: Duration,
}

/// A [`Fetch`] cannot be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// A host is not valid.
    Host(InvalidHost),
    /// The HTTP client could not be created, for example because there are no certificates.
    Client(String),
}

impl Fetch {
    /// Returns a builder without hosts.
    pub fn builder() -> FetchBuilder {
        FetchBuilder {
            hosts: Hosts::default(),
            invalid: None,
            size_limit: 200_000,
            time_limit: Duration::from_secs(30),
        }
    }

    /// Returns a source to register.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// Creates a toolset, for use in a factory.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let annotations = ToolAnnotations { open_world: Some(true), ..READS };
        let mut spec = ToolSpec::new("fetch_url")
            .in_toolset(&FETCH)
            .with_annotations(annotations)
            .with_limits(ended_after(self.time_limit));
        spec.set_description(format!(
            "Fetch a text document from the web. The hosts are: {}.",
            self.hosts.description()
        ));
        let fetch = self.clone();
        FunctionTool::new(spec, move |FetchArgs { url }: FetchArgs| {
            let fetch = fetch.clone();
            async move {
                let document = tokio::time::timeout(fetch.time_limit, fetch.get(&url)).await;
                document.unwrap_or_else(|_| Err(timed_out())).map(Json)
            }
        })
    }
}

impl FetchBuilder {
    /// Allows a public host, such as `docs.rs`, `docs.rs:8443`, or `*.docs.rs` for all its subdomains. Without a port, the ports
    /// 80 and 443 are allowed. A host with a private IP address is still refused.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> Self {
        self.invalid = self.hosts.allow(host).err().or(self.invalid);
        self
    }

    /// Allows all public hosts at the ports 80 and 443. Then a model can send data that it has read to anyone.
    #[must_use]
    pub fn with_any_public_host(mut self) -> Self {
        self.hosts.any_public = true;
        self
    }

    /// Allows a host that may have a private IP address, at one port: `127.0.0.1:8080`, `wiki.intranet:443`. Its other ports are
    /// refused.
    #[must_use]
    pub fn with_private_host(mut self, host: &str) -> Self {
        self.invalid = self.hosts.allow_private(host).err().or(self.invalid);
        self
    }

    /// Sets the most bytes of a document that are read. The default is 200,000.
    #[must_use]
    pub fn with_size_limit(mut self, bytes: usize) -> Self {
        self.size_limit = bytes;
        self
    }

    /// Sets the time limit of a call, including redirects. The default is 30 seconds.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Builds the [`Fetch`].
    ///
    /// # Errors
    ///
    /// A host is not valid, or the HTTP client cannot be created.
    pub fn build(self) -> Result<Fetch, FetchError> {
        if let Some(invalid) = self.invalid {
            return Err(FetchError::Host(invalid));
        }
        let hosts = Arc::new(self.hosts);
        let client = Client::builder()
            .dns_resolver(Arc::new(Resolver(Arc::clone(&hosts))))
            // A proxy would resolve names itself.
            .no_proxy()
            // `get` follows redirects and checks each URL.
            .redirect(redirect::Policy::none())
            .referer(false)
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| FetchError::Client(describe(&error)))?;
        let (size_limit, time_limit) = (self.size_limit, self.time_limit);
        Ok(Fetch { client, hosts, size_limit, time_limit })
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(invalid) => invalid.fmt(f),
            Self::Client(error) => write!(f, "the HTTP client cannot be created: {error}"),
        }
    }
}

impl Error for FetchError {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchArgs {
    /// The URL, such as `https://docs.rs/serde`.
    #[schemars(length(min = 1, max = 4096))]
    url: String,
}

#[derive(Serialize, JsonSchema)]
struct Document {
    /// The URL of the document, after redirects.
    url: String,
    /// The HTTP status; 200 means success.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    text: String,
    /// Whether the document is longer than `text`.
    is_cut_off: bool,
}

impl Fetch {
    async fn get(&self, url: &str) -> Result<Document, ToolFailure> {
        let mut url = Url::parse(url).map_err(|error| {
            rejected(format!(
                "the URL is not valid: {error}; expected a URL such as `https://docs.rs/serde`"
            ))
        })?;
        for _ in 0..=MAX_REDIRECTS {
            self.hosts.check(&url).map_err(denied)?;
            let response =
                self.client.get(url.clone()).send().await.map_err(|error| failed(&error))?;
            match redirect_target(&url, &response)? {
                Some(next) => url = next,
                None => return self.read(url, response).await,
            }
        }
        Err(rejected(format!(
            "there were more than {MAX_REDIRECTS} redirects, the last to `{url}`"
        )))
    }

    async fn read(&self, url: Url, mut response: Response) -> Result<Document, ToolFailure> {
        let mut bytes = Vec::new();
        let mut is_cut_off = false;
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
            let room = self.size_limit - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                is_cut_off = true;
                break;
            }
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|text| text.to_str().ok());
        let content_type: Option<String> =
            content_type.map(|text| text.chars().take(MAX_CONTENT_TYPE_CHARS).collect());
        if bytes.contains(&0) {
            let kind = content_type.as_deref().unwrap_or("of no known type");
            return Err(rejected(format!("`{url}` is binary ({kind}), expected text")));
        }
        let text = String::from_utf8_lossy(&bytes);
        // A byte order mark is removed, as `visible` would show it as a hidden character.
        let text = visible(text.strip_prefix('\u{feff}').unwrap_or(&text)).into_owned();
        Ok(Document {
            url: url.into(),
            status: response.status().as_u16(),
            content_type,
            text,
            is_cut_off,
        })
    }
}

/// Returns the URL that a response redirects to, if it is a redirect.
fn redirect_target(url: &Url, response: &Response) -> Result<Option<Url>, ToolFailure> {
    let location = response.headers().get(LOCATION);
    let Some(location) =
        location.filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308))
    else {
        return Ok(None);
    };
    let next = location.to_str().ok().and_then(|location| url.join(location).ok());
    let next = next.ok_or_else(|| rejected(format!("`{url}` redirects to an invalid URL")))?;
    let length = next.as_str().len();
    if length > MAX_URL_BYTES {
        return Err(rejected(format!(
            "`{url}` redirects to a URL of {length} bytes, expected at most {MAX_URL_BYTES}"
        )));
    }
    Ok(Some(next))
}

fn denied(message: String) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// Converts an error of the client into a failure.
fn failed(error: &reqwest::Error) -> ToolFailure {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(refused) = inner.downcast_ref::<NotPublic>() {
            return denied(refused.to_string());
        }
        cause = inner.source();
    }
    let message = "the document cannot be fetched now";
    ToolFailure::new(FailureKind::Unavailable, message, Recovery::Retry)
        .with_detail(describe(error))
}

fn timed_out() -> ToolFailure {
    ToolFailure::new(FailureKind::Timeout, "the document took too long", Recovery::Retry)
}

/// Resolves names with the system's resolver, and returns only addresses that are allowed.
struct Resolver(Arc<Hosts>);

/// A name has no allowed address.
#[derive(Debug)]
struct NotPublic {
    name: String,
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` has no public address; only documents from public addresses may be fetched",
            self.name
        )
    }
}

impl Error for NotPublic {}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let hosts = Arc::clone(&self.0);
        Box::pin(async move {
            let name = name.as_str();
            let found: Vec<_> = tokio::net::lookup_host((name, 0)).await?.collect();
            Ok(allowed_addresses(&hosts, name, found)?)
        })
    }
}

/// Returns the addresses of a name that are allowed.
fn allowed_addresses(
    hosts: &Hosts,
    name: &str,
    found: Vec<SocketAddr>,
) -> Result<Addrs, NotPublic> {
    let is_private = hosts.is_private(name);
    let kept: Vec<_> =
        found.into_iter().filter(|address| is_private || is_public(address.ip())).collect();
    if kept.is_empty() {
        Err(NotPublic { name: name.to_owned() })
    } else {
        Ok(Box::new(kept.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name may have public and private addresses. A client tries one after the other.
    #[test]
    fn r5_private_addresses_of_a_name_are_not_used() {
        let mut hosts = Hosts::default();
        hosts.allow_private("wiki.intranet:443").unwrap();
        let found = ["93.184.216.34:0", "10.0.0.1:0", "[::1]:0", "[2606:4700::1]:0"];
        let found = found.map(|address| address.parse().unwrap()).to_vec();
        let kept = |name| allowed_addresses(&hosts, name, found.clone()).unwrap().count();
        assert_eq!(kept("docs.rs"), 2);
        assert_eq!(kept("wiki.intranet"), 4);
        assert!(allowed_addresses(&hosts, "docs.rs", found[1..3].to_vec()).is_err());
    }
}
