//! Reads the head of a request: determines its caller and rejects ambiguous headers.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use super::bearer;
use super::options::PrincipalOf;
use crate::server::sessions::Caller;

/// The header that holds the id of a session.
pub(super) const SESSION_ID: &str = "mcp-session-id";

/// The most bytes of the head of a request.
pub(super) const MOST_HEAD_BYTES: usize = 64 << 10;

/// The bytes of `: ` and of the end of a line.
const SEPARATORS: usize = 4;

/// Determines the caller of a request.
#[derive(Clone)]
pub(super) struct CallerResolver {
    pub(super) principal: Option<PrincipalOf>,
    /// True if a [`BearerLayer`](super::BearerLayer) has validated the request's token.
    pub(super) bearer: bool,
}

impl CallerResolver {
    /// Returns the caller of a request.
    ///
    /// # Errors
    ///
    /// Returns status 500 if the host's function panics. The panic hook has reported the panic.
    pub(super) fn resolve(&self, request: &Parts) -> Result<Caller, (StatusCode, &'static str)> {
        let principal = match &self.principal {
            Some(principal) => {
                catch_unwind(AssertUnwindSafe(|| principal(request))).map_err(|_| {
                    (
                        StatusCode::INTERNAL_SERVER_ERROR,
                        "the server could not determine who sent the request",
                    )
                })?
            }
            None if self.bearer => bearer::token(&request.headers).map(digest),
            None => None,
        };
        let peer: Option<&ConnectInfo<SocketAddr>> = request.extensions.get();
        Ok(match (principal, peer) {
            (Some(principal), _) => Caller::Principal(principal),
            (None, Some(ConnectInfo(peer))) => Caller::of_address(peer.ip()),
            (None, None) => Caller::Unknown,
        })
    }
}

/// Returns the SHA-256 of a token, so that the token itself is not kept.
fn digest(token: &str) -> String {
    Sha256::digest(token).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Returns whether the head of a request is longer than the limit. Hyper accepts some that are up to twice as long.
pub(super) fn is_too_long(request: &Parts) -> bool {
    let headers = request.headers.iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + SEPARATORS);
    let target = request.uri.path_and_query().map_or(0, |target| target.as_str().len());
    target + headers.sum::<usize>() > MOST_HEAD_BYTES
}

/// Returns an error for a request with two values where one is allowed, or with a malformed host or origin (RFC 9112,
/// section 3.2; RFC 6454, section 7.3). A proxy in front of this server may have used the other value.
pub(super) fn ambiguity(request: &Parts) -> Option<&'static str> {
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let (host, target) = (hosts.next(), request.uri.authority());
    if hosts.next().is_some() {
        return Some("a request must have exactly one `Host`");
    }
    let is_host = |host: &HeaderValue| host.to_str().is_ok_and(is_authority);
    if host.is_some_and(|host| !is_host(host))
        || target.is_some_and(|target| !is_authority(target.as_str()))
    {
        return Some("`Host` must be a host with an optional port");
    }
    if let (Some(host), Some(target)) = (host, target)
        && !host.as_bytes().eq_ignore_ascii_case(target.as_str().as_bytes())
    {
        return Some("`Host` must be the host of the request's target");
    }
    let origin = request.headers.get(header::ORIGIN);
    if origin.is_some_and(|origin| !origin.to_str().is_ok_and(is_origin)) {
        return Some("`Origin` must be `null`, or a scheme and a host with an optional port");
    }
    [
        (header::AUTHORIZATION.as_str(), "a request must have at most one `Authorization`"),
        (header::CONTENT_TYPE.as_str(), "a request must have at most one `Content-Type`"),
        (header::ORIGIN.as_str(), "a request must have at most one `Origin`"),
        (SESSION_ID, "a request must have at most one `Mcp-Session-Id`"),
        ("mcp-protocol-version", "a request must have at most one `MCP-Protocol-Version`"),
    ]
    .into_iter()
    .find_map(|(name, why)| request.headers.get_all(name).iter().nth(1).map(|_| why))
}

/// Returns whether a text is an origin (RFC 6454, section 6.2). A more lenient parser could take one host for another.
fn is_origin(text: &str) -> bool {
    if text == "null" {
        return true;
    }
    text.split_once("://").is_some_and(|(_, authority)| is_authority(authority))
}

/// Returns whether a text is a host with an optional port, and without a user (RFC 9110, section 7.2).
fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, port),
        _ => (authority, "0"),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    !host.is_empty() && !host.contains(['@', '/', '?', '#']) && is_port
}
