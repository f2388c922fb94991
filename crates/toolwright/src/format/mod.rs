//! The formats of JSON Schema that are checked, and the Rust types of some of them.
//!
//! Each check follows the specification of its format and takes only the text.

mod address;
mod convert;
mod date;
mod date_time;
mod duration;
mod email;
mod hostname;
mod idna;
mod integer;
mod pointer;
mod range;
mod regex;
mod text;
mod time;
mod uri;
mod uuid;

use std::fmt;

pub use address::Ipv6;
pub use date::Date;
pub use date_time::DateTime;
pub use integer::IntegerFormat;
pub use range::RangeError;
pub use text::{FormatError, Formatted};
pub use uuid::Uuid;

text::text_conversions!(Date, DateTime, Ipv6, Uuid);

/// A format of text that is checked (JSON Schema 2020-12 Validation, section 7.3).
///
/// It displays as its name in schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `date-time`: a date and a time with an offset (RFC 3339, section 5.6).
    DateTime,
    /// `date`: a day of the calendar (RFC 3339, section 5.6, `full-date`).
    Date,
    /// `time`: a time of day with an offset (RFC 3339, section 5.6, `full-time`).
    Time,
    /// `duration`: a span of time (RFC 3339, appendix A).
    Duration,
    /// `uuid`: hexadecimal digits with hyphens (RFC 9562, section 4; RFC 4122, section 3).
    Uuid,
    /// `ipv4`: four decimal octets (RFC 2673, section 3.2), without leading zeros.
    Ipv4,
    /// `ipv6`: an address without zone or prefix length (RFC 4291, section 2.2).
    Ipv6,
    /// `uri`: a URI with its scheme (RFC 3986, section 3).
    Uri,
    /// `email`: a mailbox (RFC 5321, section 4.1.2).
    Email,
    /// `hostname`: a host name (RFC 1123, section 2.1), punycode labels included (RFC 5891, section 4.4).
    Hostname,
    /// `regex`: a regular expression (ECMA-262, section 21.2.1, with the `u` flag).
    Regex,
    /// `json-pointer`: a JSON Pointer (RFC 6901, section 5).
    JsonPointer,
}

impl Format {
    /// Every format, in the order of the specification's sections.
    pub const ALL: [Self; 12] = [
        Self::DateTime,
        Self::Date,
        Self::Time,
        Self::Duration,
        Self::Email,
        Self::Hostname,
        Self::Ipv4,
        Self::Ipv6,
        Self::Uri,
        Self::Uuid,
        Self::JsonPointer,
        Self::Regex,
    ];

    /// Returns the format with this name in schemas, if it is checked.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name in schemas.
    pub const fn name(self) -> &'static str {
        self.details().0
    }

    /// The noun for a text of the format, with an article: `a date`.
    pub const fn noun(self) -> &'static str {
        self.details().1
    }

    /// An example of the format.
    pub const fn example(self) -> &'static str {
        self.details().2
    }

    /// Returns true if a text is of the format.
    pub fn is_valid(self, text: &str) -> bool {
        match self {
            Self::DateTime => date_time::is_date_time(text),
            Self::Date => date::is_date(text),
            Self::Time => time::is_time(text),
            Self::Duration => duration::is_duration(text),
            Self::Uuid => uuid::is_uuid(text),
            Self::Ipv4 => address::is_ipv4(text),
            Self::Ipv6 => address::is_ipv6(text),
            Self::Uri => uri::is_uri(text),
            Self::Email => email::is_email(text),
            Self::Hostname => hostname::is_hostname(text),
            Self::Regex => regex::is_regex(text),
            Self::JsonPointer => pointer::is_pointer(text),
        }
    }

    /// Its name, noun and example.
    const fn details(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::DateTime => ("date-time", "a date-time", "2026-11-21T10:00:00Z"),
            Self::Date => ("date", "a date", "2026-11-21"),
            Self::Time => ("time", "a time with its offset", "10:00:00Z"),
            Self::Duration => ("duration", "a duration", "PT1H30M"),
            Self::Uuid => ("uuid", "a UUID", "123e4567-e89b-42d3-a456-426614174000"),
            Self::Ipv4 => ("ipv4", "an IPv4 address", "192.0.2.1"),
            Self::Ipv6 => ("ipv6", "an IPv6 address", "2001:db8::1"),
            Self::Uri => ("uri", "a URI with its scheme", "https://example.com/page"),
            Self::Email => ("email", "an email address", "name@example.com"),
            Self::Hostname => ("hostname", "a hostname", "www.example.com"),
            Self::Regex => ("regex", "a regular expression", "^[a-z]+$"),
            Self::JsonPointer => ("json-pointer", "a JSON Pointer", "/items/0/id"),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
