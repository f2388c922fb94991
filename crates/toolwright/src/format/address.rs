//! IP addresses (RFC 2673, section 3.2; RFC 4291, section 2.2), parsed by the standard library.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Format, Formatted};

/// An IPv6 address of the format `ipv6`, which keeps its text, since an address can be written in several ways.
///
/// Values are compared by text; use [`Ipv6::addr`] to compare the addresses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ipv6 {
    pub(super) text: String,
    addr: Ipv6Addr,
}

impl Ipv6 {
    /// The address.
    pub fn addr(&self) -> Ipv6Addr {
        self.addr
    }
}

impl From<Ipv6Addr> for Ipv6 {
    fn from(addr: Ipv6Addr) -> Self {
        Self { text: addr.to_string(), addr }
    }
}

impl Formatted for Ipv6 {
    const FORMAT: Format = Format::Ipv6;

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().map(|addr| Self { text: text.to_owned(), addr })
    }

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

pub(super) fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}
