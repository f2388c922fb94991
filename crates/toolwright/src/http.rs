//! The parts of an HTTP request that hold the payload of a service's method. `S` is the type of texts: `&'static str`
//! in generated code, `String` in the compiler.

mod redacted_url;

pub use redacted_url::RedactedUrl;

/// A request's method (RFC 9110, 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
    /// `TRACE`
    Trace,
}

/// Returns whether a status says that the server has not begun to handle the request: 425 (RFC 8470), 429 (RFC
/// 6585) and 503 (RFC 9110, section 15.6.4).
pub const fn is_refusal(status: u16) -> bool {
    matches!(status, 425 | 429 | 503)
}

/// The notation of lists and objects in a query (OpenAPI 3.1, "Style Values").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `a=1&a=2`, or `a=1,2`.
    Form,
    /// `a=1%202`
    SpaceDelimited,
    /// `a=1%7C2`
    PipeDelimited,
    /// `a[b]=1`
    DeepObject,
}

/// The encoding of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// `application/json`
    Json,
    /// `application/x-www-form-urlencoded`: lists as several parameters, objects as JSON.
    Form,
    /// The same, with lists and objects as `a[b]=1`.
    DeepForm,
    /// `text/plain`
    Text,
}

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<S = &'static str> {
    /// Text as it is sent.
    Text(S),
    /// The value of a property of the payload.
    Property(S),
}

/// A property that is sent in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParameter<S = &'static str> {
    /// Its name in the query.
    pub name: S,
    /// The property of the payload.
    pub property: S,
    /// The notation of lists and objects.
    pub style: Style,
    /// True if each item is a separate parameter.
    pub explode: bool,
}

/// A property that is sent in a header or a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<S = &'static str> {
    /// The name of the header or cookie.
    pub name: S,
    /// The property of the payload.
    pub property: S,
}

/// The content of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<S = &'static str> {
    /// No body.
    Nothing,
    /// One property of the payload; no body if the property is absent.
    Property(S, Content),
    /// An object of all properties that are in no other part of the request.
    Rest(Content),
}

/// The status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// This status.
    Exactly(u16),
    /// All statuses that begin with this digit.
    Class(u16),
}

impl Verb {
    /// The method's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
        }
    }
}
