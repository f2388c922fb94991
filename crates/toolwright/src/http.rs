//! The parts of an HTTP request in which a method of a service puts its payload. `S` is the type of texts: `&'static str`
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

/// How lists and objects are written in a query (OpenAPI 3.1, "Style Values").
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

/// How a request's body is written.
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

/// A property in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParameter<S = &'static str> {
    /// Its name in the query.
    pub name: S,
    /// The property of the payload.
    pub property: S,
    /// How lists and objects are written.
    pub style: Style,
    /// Whether each item is a parameter of its own.
    pub explode: bool,
}

/// A property in a header or a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<S = &'static str> {
    /// Its name there.
    pub name: S,
    /// The property of the payload.
    pub property: S,
}

/// What a request's body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<S = &'static str> {
    /// There is none.
    Nothing,
    /// One property of the payload; none where that is absent.
    Property(S, Content),
    /// An object of every property that stands nowhere else.
    Rest(Content),
}

/// A status of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// This one.
    Exactly(u16),
    /// All that begin with this digit.
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
