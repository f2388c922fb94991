//! Documents from hosts of a list, never from a private address: the addresses that a name resolves to are looked at, and
//! the connection goes to one of those. So it is at every redirect.

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

use crate::{READS, rejected};
use addresses::is_public;
use hosts::Hosts;
pub use hosts::InvalidHost;

static FETCH: ToolsetInfo =
    ToolsetInfo { name: "fetch", description: "Documents from the web.", service: "toolwright" };

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// How long an address of a redirect may be, and how much of a content type is kept; in bytes.
const LONGEST_ADDRESS: usize = 4096;
const CONTENT_TYPE_LIMIT: usize = 200;

/// Documents of some hosts, as the tool `fetch_url`. It only ever sends `GET`, without cookies, credentials or a proxy of
/// the environment.
///
/// A model can send what it has read to any allowed host, in an address.
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

/// Makes a [`Fetch`].
#[derive(Clone, Debug)]
pub struct FetchBuilder {
    hosts: Hosts,
    invalid: Option<InvalidHost>,
    size_limit: usize,
    time_limit: Duration,
}

/// Why there is no [`Fetch`].
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// A host that was given is none.
    Host(InvalidHost),
    /// The client could not be made, such as for want of certificates.
    Client(String),
}

impl Fetch {
    /// No host yet.
    pub fn builder() -> FetchBuilder {
        FetchBuilder {
            hosts: Hosts::default(),
            invalid: None,
            size_limit: 200_000,
            time_limit: Duration::from_secs(30),
        }
    }

    /// A factory of toolsets, to be registered.
    pub fn source(self) -> Source {
        (move |_: Scope| self.toolset()).into_source()
    }

    /// A toolset, for factories of your own.
    pub fn toolset(&self) -> impl Toolset + use<> {
        let annotations = ToolAnnotations { open_world: Some(true), ..READS };
        let mut spec = ToolSpec::new("fetch_url").in_toolset(&FETCH).with_annotations(annotations);
        spec.set_description(format!(
            "Fetch a text document from the web. The hosts are: {}.",
            self.hosts.in_words()
        ));
        let fetch = self.clone();
        FunctionTool::new(spec, move |Get { url }: Get| {
            let fetch = fetch.clone();
            async move {
                let document = tokio::time::timeout(fetch.time_limit, fetch.get(&url)).await;
                document.unwrap_or_else(|_| Err(too_long())).map(Json)
            }
        })
    }
}

impl FetchBuilder {
    /// Allows a host of the internet: `docs.rs`, `*.docs.rs` for all names below it, `docs.rs:8443`. Without a port it is
    /// allowed at 80 and 443. A name that resolves to a private address is refused all the same.
    #[must_use]
    pub fn with_host(mut self, host: &str) -> Self {
        self.invalid = self.hosts.allow(host).err().or(self.invalid);
        self
    }

    /// Allows every host of the internet at its usual port. A model can then send what it has read to anyone.
    #[must_use]
    pub fn with_any_public_host(mut self) -> Self {
        self.hosts.any_public = true;
        self
    }

    /// Allows a host wherever it is, with its port: `127.0.0.1:8080`, `wiki.intranet:443`. No other port of it is allowed
    /// then.
    #[must_use]
    pub fn with_private_host(mut self, host: &str) -> Self {
        self.invalid = self.hosts.allow_private(host).err().or(self.invalid);
        self
    }

    /// Sets how many bytes of a document are read; 200,000 if not set.
    #[must_use]
    pub fn with_size_limit(mut self, bytes: usize) -> Self {
        self.size_limit = bytes;
        self
    }

    /// Sets how long a document may take from the first request to its last byte, redirects included; 30 seconds if not set.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Makes the [`Fetch`] toolset.
    ///
    /// # Errors
    ///
    /// One of the hosts is none, or the client cannot be made.
    pub fn build(self) -> Result<Fetch, FetchError> {
        if let Some(invalid) = self.invalid {
            return Err(FetchError::Host(invalid));
        }
        let hosts = Arc::new(self.hosts);
        let client = Client::builder()
            .dns_resolver(Arc::new(Resolver(Arc::clone(&hosts))))
            // A proxy would resolve names itself.
            .no_proxy()
            // Each is judged anew.
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
            Self::Client(why) => write!(f, "the HTTP client cannot be made: {why}"),
        }
    }
}

impl Error for FetchError {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The address, such as `https://docs.rs/serde`.
    #[schemars(length(min = 1, max = 4096))]
    url: String,
}

#[derive(Serialize, JsonSchema)]
struct Document {
    /// Where it was found, after redirects.
    url: String,
    /// The HTTP status; 200 is success.
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    text: String,
    /// Whether the document goes on.
    is_cut_off: bool,
}

impl Fetch {
    async fn get(&self, url: &str) -> Result<Document, ToolFailure> {
        let mut url = Url::parse(url).map_err(|error| {
            rejected(format!(
                "this is no address: {error}; expected one such as `https://docs.rs/serde`"
            ))
        })?;
        for _ in 0..=REDIRECTS {
            self.hosts.judge(&url).map_err(denied)?;
            let response =
                self.client.get(url.clone()).send().await.map_err(|error| failed(&error))?;
            match redirected(&url, &response)? {
                Some(next) => url = next,
                None => return self.read(url, response).await,
            }
        }
        Err(rejected(format!("`{url}` is the end of {REDIRECTS} redirects and redirects again")))
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
            content_type.map(|text| text.chars().take(CONTENT_TYPE_LIMIT).collect());
        if bytes.contains(&0) {
            let kind = content_type.as_deref().unwrap_or("of no known type");
            return Err(rejected(format!("`{url}` is binary ({kind}), expected text")));
        }
        let text = String::from_utf8_lossy(&bytes);
        // A mark of the encoding hides nothing.
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

/// Where a response sends its client.
fn redirected(url: &Url, response: &Response) -> Result<Option<Url>, ToolFailure> {
    let location = response.headers().get(LOCATION);
    let Some(location) =
        location.filter(|_| matches!(response.status().as_u16(), 301..=303 | 307 | 308))
    else {
        return Ok(None);
    };
    let next = location.to_str().ok().and_then(|location| url.join(location).ok());
    let next = next.ok_or_else(|| rejected(format!("`{url}` redirects to what is no address")))?;
    let length = next.as_str().len();
    if length > LONGEST_ADDRESS {
        return Err(rejected(format!(
            "`{url}` redirects to an address of {length} bytes, expected at most {LONGEST_ADDRESS}"
        )));
    }
    Ok(Some(next))
}

fn denied(message: String) -> ToolFailure {
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
}

/// The failure that an error of the client is.
fn failed(error: &reqwest::Error) -> ToolFailure {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(refused) = inner.downcast_ref::<NotPublic>() {
            return denied(refused.to_string());
        }
        cause = inner.source();
    }
    let what = "the document cannot be fetched now";
    ToolFailure::new(FailureKind::Unavailable, what, Recovery::Retry).with_detail(describe(error))
}

fn too_long() -> ToolFailure {
    ToolFailure::new(FailureKind::Timeout, "the document took too long", Recovery::Retry)
}

/// Resolves names as the system does, and keeps the addresses that may be connected to.
struct Resolver(Arc<Hosts>);

/// A name that has no address that may be connected to.
#[derive(Debug)]
struct NotPublic {
    name: String,
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` has no address of the internet, and no other may be fetched from",
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
            Ok(connectable(&hosts, name, found)?)
        })
    }
}

/// The addresses of a name that may be connected to.
fn connectable(hosts: &Hosts, name: &str, found: Vec<SocketAddr>) -> Result<Addrs, NotPublic> {
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

    /// A name may have a public and a private address at once, and a connection tries one after the other.
    #[test]
    fn r5_of_a_names_addresses_the_private_ones_are_never_connected_to() {
        let mut hosts = Hosts::default();
        hosts.allow_private("wiki.intranet:443").unwrap();
        let found = ["93.184.216.34:0", "10.0.0.1:0", "[::1]:0", "[2606:4700::1]:0"];
        let found = found.map(|address| address.parse().unwrap()).to_vec();
        let kept = |name| connectable(&hosts, name, found.clone()).unwrap().count();
        assert_eq!(kept("docs.rs"), 2);
        assert_eq!(kept("wiki.intranet"), 4);
        assert!(connectable(&hosts, "docs.rs", found[1..3].to_vec()).is_err());
    }
}
