//! Settings of a client. Never sends anything.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::{Url, redirect};
use toolwright::http::RedactedUrl;

use crate::client::Client;
use crate::credentials::Credentials;

/// How long a call may take unless said otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How many bytes an answer may have unless said otherwise.
const MAX_ANSWER: usize = 4 << 20;

/// Makes a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    base: String,
    credentials: Credentials,
    timeout: Duration,
    max_answer: usize,
}

/// Why a client cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    message: String,
}

impl Client {
    /// A client of the service whose paths begin behind this address, such as `http://127.0.0.1:8080/v1`.
    pub fn builder(base: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base.into())
    }
}

impl ClientBuilder {
    pub(crate) fn new(base: String) -> Self {
        Self { base, credentials: Credentials::default(), timeout: TIMEOUT, max_answer: MAX_ANSWER }
    }

    /// What every request carries to prove who sends it; nothing unless given.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// How long one call may take, from the connection to the last byte; 30 seconds unless given.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many bytes an answer may have; 4 MiB unless given.
    #[must_use]
    pub fn with_max_answer(mut self, bytes: usize) -> Self {
        self.max_answer = bytes;
        self
    }

    /// The client.
    ///
    /// # Errors
    ///
    /// When the address is no base of an API that this build can reach, or the credentials cannot be sent.
    pub fn build(self) -> Result<Client, BuildError> {
        let base = base(&self.base)?;
        if let Some(message) = self.credentials.mistake() {
            return Err(BuildError { message });
        }
        // No proxy of the environment is trusted with credentials, and redirects are judged one by one.
        let http = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| BuildError { message: error.to_string() })?;
        Ok(Client::of(http, base, self.credentials, self.timeout, self.max_answer))
    }
}

/// An address without a slash at its end.
fn base(text: &str) -> Result<Url, BuildError> {
    let bad = |why: &str| BuildError { message: format!("the base address {why}") };
    let mut url = Url::parse(text).map_err(|error| bad(&format!("is no address: {error}")))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => return Err(bad("is `https`, which takes the feature `tls` of toolwright-http")),
        other => return Err(bad(&format!("is `{other}`, expected `http` or `https`"))),
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("has a query or a fragment; those belong to operations"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("has a user in it; give `Credentials::basic` instead"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

impl fmt::Debug for ClientBuilder {
    /// The address and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = RedactedUrl::new(&self.base);
        f.debug_struct("ClientBuilder").field("base", &base).finish_non_exhaustive()
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for BuildError {}
