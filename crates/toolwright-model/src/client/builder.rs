//! Builds a client from a preset and settings.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use toolwright::http::RedactedUrl;
use toolwright::untrusted::{Redactor, line};
use toolwright_dialect::Dialect;

#[cfg(feature = "sigv4")]
use super::AwsCredentials;
use super::Client;
use super::build_error::BuildError;
use super::preset::{KeyHeader, Preset};
use super::rate_limit::RateLimit;
use crate::model::ModelFacts;
use crate::wire::Wire;

/// The time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of a name in an error.
const EXCERPT: usize = 100;

/// The default number of attempts.
const ATTEMPTS: u32 = 4;

/// The default time without a byte.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// The shortest part of a key that is removed from a text that was cut.
const LEAST_PART: usize = 4;

/// Builds a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    preset: Preset,
    model: String,
    base: String,
    dialect: String,
    key: Option<String>,
    #[cfg(feature = "sigv4")]
    credentials: Option<AwsCredentials>,
    attempts: u32,
    rate_limit: Option<RateLimit>,
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
            #[cfg(feature = "sigv4")]
            credentials: None,
            attempts: ATTEMPTS,
            rate_limit: None,
            idle_timeout: IDLE_TIMEOUT,
        }
    }
}

impl ClientBuilder {
    /// Creates a builder for a model as users name it, with the key and the base address of the environment.
    ///
    /// With the feature `sigv4`, a model of Amazon Bedrock without such a key takes the credentials and the region from the
    /// variables of the AWS tools, such as `AWS_ACCESS_KEY_ID`.
    ///
    /// A name consists of a preset and the id of the model, such as `anthropic/claude-sonnet-4-5` or `ollama/qwen3:8b`. The key
    /// is in [`Preset::key_variable`]. The variable [`Preset::base_variable`] may hold another base address.
    ///
    /// # Errors
    ///
    /// The name has no `/`, there is no such preset, or the key is missing.
    pub fn from_env(name: &str) -> Result<Self, BuildError> {
        Self::from_variables(name, |variable| std::env::var(variable).ok())
    }

    fn from_variables(
        name: &str,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, BuildError> {
        let read = |variable: &str| read(variable).filter(|value| !value.is_empty());
        let (preset, model) = name.split_once('/').ok_or_else(|| {
            let found = line(name, EXCERPT);
            let expected =
                "expected a provider and its model, such as `anthropic/claude-sonnet-4-5`";
            BuildError::new(format!("found the model `{found}`, {expected}"))
        })?;
        let preset = Preset::find(preset)?;
        let mut builder = Client::builder(preset, model);
        #[cfg(feature = "sigv4")]
        if preset.wire == Wire::Bedrock
            && read(preset.key_variable).is_none()
            && let Some(credentials) = AwsCredentials::from_variables(read)
        {
            builder = builder.with_aws_credentials(credentials);
        }
        if let Some(base) = read(&preset.base_variable()) {
            builder = builder.with_base(base);
        }
        match read(preset.key_variable) {
            Some(key) => Ok(builder.with_key(key)),
            None if preset.key_variable.is_empty() => Ok(builder),
            #[cfg(feature = "sigv4")]
            None if builder.credentials.is_some() => Ok(builder),
            None => Err(BuildError::new(format!(
                "the key of `{}` is missing; set the variable `{}` to it",
                preset.name, preset.key_variable
            ))),
        }
    }

    /// Sets the key, which goes with every request.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the credentials of an AWS account, with which requests to Amazon Bedrock are signed in place of a key, and the base
    /// address of their region.
    #[cfg(feature = "sigv4")]
    #[must_use]
    pub fn with_aws_credentials(mut self, credentials: AwsCredentials) -> Self {
        self.base = credentials.base();
        self.credentials = Some(credentials);
        self
    }

    /// Sets the base address, such as `https://bedrock-runtime.eu-west-1.amazonaws.com`.
    #[must_use]
    pub fn with_base(mut self, base: impl Into<String>) -> Self {
        self.base = base.into();
        self
    }

    /// Sets the wire, for an endpoint that has another API than its preset.
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

    /// Lets the client share a limit with others, such as those with the same key.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: &RateLimit) -> Self {
        self.rate_limit = Some(limit.clone());
        self
    }

    /// Sets how long the provider may be silent, before and within an answer. The default is 60 seconds. If it only keeps the
    /// connection open, with comments or events such as `ping`, and nothing adds to a streamed answer, it may do so ten times as
    /// long.
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
        #[cfg_attr(not(feature = "sigv4"), expect(unused_mut, reason = "there are no others"))]
        let mut secrets: Vec<_> = self.key.into_iter().filter(|key| !key.is_empty()).collect();
        #[cfg(feature = "sigv4")]
        if let Some(credentials) = &self.credentials {
            secrets.push(credentials.secret_access_key.clone());
            secrets.extend(credentials.session_token.clone());
        }
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
            secret: Secret(secrets),
            #[cfg(feature = "sigv4")]
            credentials: self.credentials,
            attempts: self.attempts,
            rate_limit: self.rate_limit,
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

/// Keys, to be taken out of texts.
pub(super) struct Secret(Vec<String>);

impl Secret {
    /// Returns a text without the keys, in any encoding of [`Redactor`]. Where a text was cut, the beginning of a key before the
    /// `…` is removed, too.
    pub(super) fn redacted(&self, text: &str) -> String {
        let redactor = Redactor::new(&self.0);
        let text = redactor.redacted(text);
        let without_part = |piece: &str| match piece.strip_suffix('…') {
            Some(cut) => format!("{}…", redactor.without_cut_secret(cut, LEAST_PART)),
            None => piece.to_owned(),
        };
        text.split_inclusive('…').map(without_part).collect()
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

#[cfg(all(test, feature = "openai-chat", feature = "openai-responses"))]
mod tests {
    use expect_test::{Expect, expect};

    use super::ClientBuilder;

    fn check(name: &str, variables: &[(&str, &str)], expected: Expect) {
        let read = |variable: &str| {
            let found = variables.iter().find(|(name, _)| *name == variable);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = match ClientBuilder::from_variables(name, read) {
            Ok(builder) => format!(
                "{} {} {} {:?}",
                builder.preset.name, builder.model, builder.base, builder.key
            ),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&found);
    }

    #[test]
    fn a_model_is_found_by_its_name_and_the_environment() {
        let key = ("OPENAI_API_KEY", "sk-1");
        check(
            "openai/gpt-5",
            &[key],
            expect![[r#"openai gpt-5 https://api.openai.com/v1 Some("sk-1")"#]],
        );
        let base = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
        check(
            "openai-responses/gpt-5",
            &[key, base],
            expect![[r#"openai-responses gpt-5 http://127.0.0.1:1/v1 Some("sk-1")"#]],
        );
        check(
            "openrouter/qwen/qwen3",
            &[("OPENROUTER_API_KEY", "sk-2")],
            expect![[r#"openrouter qwen/qwen3 https://openrouter.ai/api/v1 Some("sk-2")"#]],
        );
        check("ollama/qwen3:8b", &[], expect!["ollama qwen3:8b http://127.0.0.1:11434/v1 None"]);
    }

    #[test]
    fn mistakes_in_a_name_or_the_environment_say_what_to_set() {
        check(
            "gpt-5",
            &[],
            expect![
                "found the model `gpt-5`, expected a provider and its model, such as `anthropic/claude-sonnet-4-5`"
            ],
        );
        check("opnai/gpt-5", &[], expect!["there is no preset `opnai`; did you mean `openai`?"]);
        check(
            "openai/gpt-5",
            &[],
            expect!["the key of `openai` is missing; set the variable `OPENAI_API_KEY` to it"],
        );
        check(
            "openai/gpt-5",
            &[("OPENAI_API_KEY", "")],
            expect!["the key of `openai` is missing; set the variable `OPENAI_API_KEY` to it"],
        );
    }
}
