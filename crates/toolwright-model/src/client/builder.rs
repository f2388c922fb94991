//! Builds a client from a preset and settings.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use toolwright::http::RedactedUrl;
use toolwright::untrusted::Redactor;
use toolwright_dialect::Dialect;

use super::Client;
use super::build_error::BuildError;
use super::preset::{KeyHeader, Preset};
use crate::model::ModelFacts;
use crate::wire::Wire;

/// The time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The default number of attempts.
const ATTEMPTS: u32 = 4;

/// The default of the time without a byte.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// The shortest part of a key that is taken out of a text that was cut.
const LEAST_PART: usize = 4;

/// Builds a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    preset: Preset,
    model: String,
    base: String,
    dialect: String,
    key: Option<String>,
    attempts: u32,
    idle_timeout: Duration,
}

impl Client {
    /// Creates a builder for a model of an endpoint.
    pub fn builder(preset: &Preset, model: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            preset: preset.clone(),
            model: model.into(),
            base: preset.base.to_owned(),
            dialect: preset.dialect.to_owned(),
            key: None,
            attempts: ATTEMPTS,
            idle_timeout: IDLE_TIMEOUT,
        }
    }
}

impl ClientBuilder {
    /// Sets the key, which goes with every request.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the base address, such as `https://bedrock-runtime.eu-west-1.amazonaws.com`.
    #[must_use]
    pub fn with_base(mut self, base: impl Into<String>) -> Self {
        self.base = base.into();
        self
    }

    /// Sets the wire, for an endpoint that speaks another API than its preset.
    #[must_use]
    pub fn with_wire(mut self, wire: Wire) -> Self {
        self.preset.wire = wire;
        self
    }

    /// Sets the dialect of the tools by its id.
    #[must_use]
    pub fn with_dialect(mut self, id: impl Into<String>) -> Self {
        self.dialect = id.into();
        self
    }

    /// Sets the number of attempts, the first included. The default is 4.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets how long the provider may be silent, before and within an answer. The default is 60 seconds.
    #[must_use]
    pub fn with_idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time;
        self
    }

    /// Builds the client.
    ///
    /// # Errors
    ///
    /// If the base address is missing or invalid or needs the feature `tls`, if there is no such dialect, or if the key cannot
    /// be sent in a header.
    pub fn build(self) -> Result<Client, BuildError> {
        let base = parse_base(self.preset.name, &self.base)?;
        let dialect = Dialect::find(&self.dialect);
        let dialect = dialect.map_err(|error| BuildError::new(error.to_string()))?;
        let key = self.key.as_deref().map(|key| header(self.preset.key_header, key)).transpose()?;
        // A proxy of the environment must not see the key, nor another server that a redirect leads to.
        let http = reqwest::Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| BuildError::new(error.to_string()))?;
        Ok(Client {
            http,
            base,
            wire: self.preset.wire,
            facts: ModelFacts { provider: self.preset.name.to_owned(), model: self.model, dialect },
            key,
            secret: Secret(self.key.unwrap_or_default()),
            attempts: self.attempts,
            idle_timeout: self.idle_timeout,
        })
    }
}

fn parse_base(name: &str, text: &str) -> Result<Url, BuildError> {
    let invalid = |reason: &str| BuildError::new(format!("the base address of `{name}` {reason}"));
    if text.is_empty() {
        return Err(invalid("is missing, as every customer has another one; use `with_base`"));
    }
    let url = Url::parse(text).map_err(|error| invalid(&format!("is not an address: {error}")))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => {
            return Err(invalid("is `https`, which needs the feature `tls` of toolwright-model"));
        }
        other => return Err(invalid(&format!("is `{other}`, expected `http` or `https`"))),
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("has a query or a fragment; remove it"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("has a user name or a password; use `with_key` instead"));
    }
    Ok(url)
}

fn header(header: KeyHeader, key: &str) -> Result<(HeaderName, HeaderValue), BuildError> {
    let (name, value) = match header {
        KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {key}")),
        KeyHeader::Named(name) => (HeaderName::from_static(name), key.to_owned()),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| {
        let message = "the key has characters that no header can hold, such as a line break";
        BuildError::new(message.to_owned())
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// A key, to be taken out of texts.
pub(super) struct Secret(String);

impl Secret {
    /// Returns a text without the key, in any encoding. Where something was cut, which `…` shows, the beginning of the key
    /// before it goes too.
    pub(super) fn redacted(&self, text: &str) -> String {
        let keys = Some(self.0.as_str()).filter(|key| !key.is_empty());
        let text = Redactor::new(keys).redacted(text);
        let parts = || (LEAST_PART..self.0.len()).rev().filter_map(|length| self.0.get(..length));
        let without_part = |piece: &str| {
            let cut = piece.strip_suffix('…')?;
            parts().find_map(|part| cut.strip_suffix(part)).map(|before| format!("{before}…"))
        };
        let pieces = text.split_inclusive('…');
        pieces.map(|piece| without_part(piece).unwrap_or_else(|| piece.to_owned())).collect()
    }
}

impl fmt::Debug for ClientBuilder {
    /// Writes the settings without the key.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = RedactedUrl::new(&self.base);
        let mut shown = out.debug_struct("ClientBuilder");
        let shown = shown.field("preset", &self.preset.name).field("model", &self.model);
        shown.field("base", &base).finish_non_exhaustive()
    }
}
