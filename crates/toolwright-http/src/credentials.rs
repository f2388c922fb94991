//! The credentials of a client. `Debug` and failures never show them.

use std::fmt;

use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};

use toolwright::untrusted::{Redactor, secrets_in_header};

use crate::request::{Request, beginning};
use crate::value::encoded;

/// A shorter credential is not removed from results. It may be an ordinary word or number, without which a result might
/// not be JSON.
const MIN_IN_RESULTS: usize = 8;

/// The credentials that a client sends with every request.
#[derive(Clone, Default)]
pub struct Credentials {
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Bearer(String),
    Basic { user: String, password: String },
    Header { name: String, key: String },
    Query { name: String, key: String },
    Cookie { name: String, key: String },
}

impl Credentials {
    /// A bearer token in the header `Authorization` (RFC 6750).
    pub fn bearer(token: impl Into<String>) -> Self {
        Self::one(Part::Bearer(token.into()))
    }

    /// A user name and a password in the header `Authorization` (RFC 7617).
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::one(Part::Basic { user: user.into(), password: password.into() })
    }

    /// An API key in a header.
    pub fn header(name: impl Into<String>, key: impl Into<String>) -> Self {
        Self::one(Part::Header { name: name.into(), key: key.into() })
    }

    /// An API key in the query.
    pub fn query(name: impl Into<String>, key: impl Into<String>) -> Self {
        Self::one(Part::Query { name: name.into(), key: key.into() })
    }

    /// An API key in a cookie. Its name is sent as it is.
    pub fn cookie(name: impl Into<String>, key: impl Into<String>) -> Self {
        Self::one(Part::Cookie { name: name.into(), key: key.into() })
    }

    /// Adds other credentials, for a service that needs several.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.parts.extend(others.parts);
        self
    }

    fn one(part: Part) -> Self {
        Self { parts: vec![part] }
    }

    /// Checks that the credentials can be sent. The error shows no secret.
    pub(crate) fn check(&self) -> Result<(), String> {
        for part in &self.parts {
            // The names of cookies are tokens, as those of headers are (RFC 6265, section 4.1.1).
            let is_token = |name: &str| HeaderName::from_bytes(name.as_bytes()).is_ok();
            let (name, key) = match part {
                Part::Bearer(token) => ("authorization", token),
                Part::Header { name, key } => (name.as_str(), key),
                Part::Cookie { name, .. } if !is_token(name) => {
                    return Err(format!("`{name}` is not a valid name of a cookie"));
                }
                Part::Basic { .. } | Part::Query { .. } | Part::Cookie { .. } => continue,
            };
            if !is_token(name) {
                return Err(format!("`{name}` is not a valid name of a header"));
            }
            if HeaderValue::from_str(key).is_err() {
                return Err(format!(
                    "the value of the header `{name}` has characters that are not allowed there"
                ));
            }
        }
        Ok(())
    }

    /// Returns the names and keys in the query.
    pub(crate) fn in_query(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Query { name, key } => Some((name.as_str(), key.as_str())),
            _ => None,
        })
    }

    /// Returns the names and keys in cookies.
    pub(crate) fn in_cookies(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Cookie { name, key } => Some((name.as_str(), key.as_str())),
            _ => None,
        })
    }

    /// Returns the name of a credential that the arguments of a call have put into its request, too.
    pub(crate) fn named_in(&self, request: &Request) -> Option<&str> {
        let is_header = |name: &str| {
            request.headers.iter().any(|(known, _)| known.as_str().eq_ignore_ascii_case(name))
        };
        let is_pair = |pairs: &[String], name: &str| {
            let mut pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
            pairs.any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        self.parts.iter().find_map(|part| match part {
            Part::Bearer(_) | Part::Basic { .. } => {
                is_header(AUTHORIZATION.as_str()).then_some("Authorization")
            }
            Part::Header { name, key } => is_header(name).then_some(name.as_str()).or_else(|| {
                let is_cookie = name.eq_ignore_ascii_case(COOKIE.as_str());
                let names = key.split(';').filter_map(|pair| Some(pair.split_once('=')?.0.trim()));
                names.filter(|_| is_cookie).find(|name| is_pair(&request.cookies, name))
            }),
            Part::Query { name, .. } => {
                let own = encoded(name);
                // Services take `a[b]` for a part of `a`.
                let is_part = |pair: &String| beginning(pair).eq_ignore_ascii_case(&own);
                (is_pair(&request.query, &own) || request.query.iter().any(is_part)).then_some(name)
            }
            Part::Cookie { name, .. } => is_pair(&request.cookies, name).then_some(name),
        })
    }

    /// Adds the headers to a request, marked as sensitive.
    pub(crate) fn add_headers(&self, mut request: RequestBuilder) -> RequestBuilder {
        for part in &self.parts {
            request = match part {
                Part::Bearer(token) => request.bearer_auth(token),
                Part::Basic { user, password } => request.basic_auth(user, Some(password)),
                Part::Header { name, key } => match HeaderValue::from_str(key) {
                    Ok(mut value) => {
                        value.set_sensitive(true);
                        request.header(name, value)
                    }
                    Err(_) => request,
                },
                Part::Query { .. } | Part::Cookie { .. } => request,
            };
        }
        request
    }

    /// Removes these credentials from a text of the service, in any encoding.
    pub(crate) fn redacted(&self, text: &str) -> String {
        Redactor::new(self.secrets()).redacted(text).into_owned()
    }

    /// Removes these credentials from the beginning of a text of the service, also where it was cut.
    pub(crate) fn redacted_beginning(&self, text: &str) -> String {
        Redactor::new(self.secrets()).redacted_beginning(text)
    }

    /// Returns a redactor for results.
    pub(crate) fn redactor_of_results(&self) -> Redactor {
        let secrets = self.secrets();
        Redactor::new(secrets.iter().filter(|secret| secret.chars().count() >= MIN_IN_RESULTS))
    }

    fn secrets(&self) -> Vec<String> {
        let pairs = self.parts.iter().filter_map(|part| match part {
            Part::Basic { user, password } => Some(format!("{user}:{password}")),
            _ => None,
        });
        let keys = self.parts.iter().map(|part| match part {
            Part::Bearer(secret) | Part::Basic { password: secret, .. } => secret.as_str(),
            Part::Header { key, .. } | Part::Query { key, .. } | Part::Cookie { key, .. } => key,
        });
        let parts = self.parts.iter().filter_map(|part| match part {
            Part::Header { key, .. } => Some(secrets_in_header(key)),
            _ => None,
        });
        pairs.chain(keys.map(str::to_owned)).chain(parts.flatten()).collect()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({} hidden)", self.parts.len())
    }
}
