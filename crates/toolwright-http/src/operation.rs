//! How one method of a service goes over HTTP, as generated code says it. Never a value of a call.

pub use toolwright::http::{Body, Content, Parameter, Part, QueryParameter, Status, Style, Verb};

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
    /// Whether the answer's body is its data.
    pub has_payload: bool,
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
