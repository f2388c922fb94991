//! Builds a client from its settings.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use reqwest::{Url, redirect};
use toolwright::http::RedactedUrl;

use crate::client::Client;
use crate::credentials::Credentials;

/// The default timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The default maximum size of a response, in bytes.
const MAX_ANSWER: usize = 4 << 20;

/// Builds a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    base: String,
    credentials: Credentials,
    timeout: Duration,
    max_answer: usize,
}

/// The error of an invalid setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    message: String,
}

impl Client {
    /// Creates a builder for the client of a service. The paths of operations are appended to the base address, such as
    /// `http://127.0.0.1:8080/v1`.
    pub fn builder(base: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(base.into())
    }
}

impl ClientBuilder {
    pub(crate) fn new(base: String) -> Self {
        Self { base, credentials: Credentials::default(), timeout: TIMEOUT, max_answer: MAX_ANSWER }
    }

    /// Sets the credentials of every request. The default is none.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Sets the timeout of a call, from connecting to the last byte. The default is 30 seconds.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum size of a response, in bytes. The default is 4 MiB.
    #[must_use]
    pub fn with_max_answer(mut self, bytes: usize) -> Self {
        self.max_answer = bytes;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// Fails if the base address is invalid, needs a feature that is missing, or if the credentials cannot be sent.
    pub fn build(self) -> Result<Client, BuildError> {
        let base = parse_base(&self.base)?;
        self.credentials.check().map_err(|message| BuildError { message })?;
        // A proxy from the environment must not see credentials. `Client` decides about redirects.
        let http = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| BuildError { message: error.to_string() })?;
        Ok(Client::new(http, base, self.credentials, self.timeout, self.max_answer))
    }
}

/// Parses a base address and removes slashes at its end.
fn parse_base(text: &str) -> Result<Url, BuildError> {
    let invalid = |reason: &str| BuildError { message: format!("the base address {reason}") };
    let mut url =
        Url::parse(text).map_err(|error| invalid(&format!("is not an address: {error}")))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => {
            return Err(invalid("is `https`, which needs the feature `tls` of toolwright-http"));
        }
        other => return Err(invalid(&format!("is `{other}`, expected `http` or `https`"))),
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("has a query or a fragment; remove it"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("has a user name; use `Credentials::basic` instead"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

impl fmt::Debug for ClientBuilder {
    /// Writes the address without secrets.
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
