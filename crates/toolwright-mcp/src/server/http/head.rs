//! What the head of a request says of whom it is from and for whom it is. Never judges a token.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use sha2::{Digest as _, Sha256};

use super::bearer;
use super::options::PrincipalOf;
use crate::server::sessions::Caller;

/// The header with the id of a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// How it is known whom a request is from.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) principal: Option<PrincipalOf>,
    /// Whether a bearer token has been accepted.
    pub(super) bearer: bool,
}

impl Identity {
    /// Whom a request is from.
    ///
    /// # Errors
    ///
    /// The host's own code panics; the panic's message has gone where panics go.
    pub(super) fn of(&self, request: &Parts) -> Result<Caller, (StatusCode, &'static str)> {
        let principal = match &self.principal {
            Some(of) => catch_unwind(AssertUnwindSafe(|| of(request))).map_err(|_| {
                (StatusCode::INTERNAL_SERVER_ERROR, "the request could not be begun")
            })?,
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

/// A token as it is kept: of no use to whoever sees it.
fn digest(token: &str) -> String {
    Sha256::digest(token).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// What a request names twice that it may name once (RFC 9112, section 3.2; RFC 6454, section 7.3): what stands before
/// this server may have read the other one.
pub(super) fn ambiguity(request: &Parts) -> Option<&'static str> {
    let mut hosts = request.headers.get_all(header::HOST).iter();
    let (host, target) = (hosts.next(), request.uri.authority());
    if hosts.next().is_some() {
        return Some("a request has one `Host`");
    }
    if let (Some(host), Some(target)) = (host, target)
        && !host.as_bytes().eq_ignore_ascii_case(target.as_str().as_bytes())
    {
        return Some("`Host` must be the host of the request's target");
    }
    let origin = request.headers.get(header::ORIGIN);
    if origin.is_some_and(|origin| !origin.to_str().is_ok_and(is_origin)) {
        return Some("`Origin` must be `null`, or a scheme, a host and perhaps a port");
    }
    [
        (header::AUTHORIZATION.as_str(), "a request has one `Authorization` at most"),
        (header::ORIGIN.as_str(), "a request has one `Origin` at most"),
        (SESSION, "a request has one `Mcp-Session-Id` at most"),
        ("mcp-protocol-version", "a request has one `MCP-Protocol-Version` at most"),
    ]
    .into_iter()
    .find_map(|(name, why)| request.headers.get_all(name).iter().nth(1).map(|_| why))
}

/// Returns whether a text is an origin (RFC 6454, section 6.2). A more lenient parser could take one host for another.
fn is_origin(text: &str) -> bool {
    if text == "null" {
        return true;
    }
    let Some((_, place)) = text.split_once("://") else { return false };
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !place.ends_with(']') => (host, port),
        _ => (place, "0"),
    };
    !host.is_empty() && !host.contains(['@', '/', '?', '#']) && port.parse::<u16>().is_ok()
}
