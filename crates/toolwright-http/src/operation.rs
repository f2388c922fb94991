//! How one method of a service goes over HTTP, as generated code says it. Never a value of a call.

/// One method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The method's name in the schema language, for failures.
    pub name: &'static str,
    /// The request's method.
    pub verb: Verb,
    /// The path below the base address.
    pub path: &'static [Part],
    /// What goes into the query, in order.
    pub query: &'static [QueryParameter],
    /// What goes into headers.
    pub headers: &'static [Parameter],
    /// What goes into cookies.
    pub cookies: &'static [Parameter],
    /// The request's body.
    pub body: Body,
    /// What the body of a good answer is.
    pub answer: Answer,
    /// The errors that the method declares for statuses; an exact status goes before its class.
    pub errors: &'static [DeclaredError],
}

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

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it is sent.
    Text(&'static str),
    /// The value of a property of the payload.
    Property(&'static str),
}

/// A property in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParameter {
    /// Its name in the query.
    pub name: &'static str,
    /// The property of the payload.
    pub property: &'static str,
    /// How lists and objects are written.
    pub style: Style,
    /// Whether each item is a parameter of its own.
    pub explode: bool,
}

/// A property in a header or a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name there.
    pub name: &'static str,
    /// The property of the payload.
    pub property: &'static str,
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

/// What a request's body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    Nothing,
    /// One property of the payload; none where that is absent.
    Property(&'static str, Content),
    /// An object of every property that stands nowhere else.
    Rest(Content),
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

/// What the body of a good answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// JSON; an empty body is `null`.
    Json,
    /// Text, which is a string to us.
    Text,
    /// Nothing that anybody reads: the result is `null`.
    Nothing,
}

/// An error that a method declares for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredError {
    /// The status.
    pub status: Status,
    /// Its name in the schema language.
    pub code: &'static str,
    /// What it means.
    pub description: &'static str,
}

/// A status of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// This one.
    Exactly(u16),
    /// All that begin with this digit.
    Class(u16),
}

impl Operation {
    /// An operation that sends nothing but its address and reads JSON.
    pub const fn new(name: &'static str, verb: Verb, path: &'static [Part]) -> Self {
        Self {
            name,
            verb,
            path,
            query: &[],
            headers: &[],
            cookies: &[],
            body: Body::Nothing,
            answer: Answer::Json,
            errors: &[],
        }
    }

    /// The error declared for a status.
    pub(crate) fn error(&self, status: u16) -> Option<&'static DeclaredError> {
        let is = |wanted: Status| self.errors.iter().find(move |error| error.status == wanted);
        is(Status::Exactly(status)).or_else(|| is(Status::Class(status / 100)))
    }
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
