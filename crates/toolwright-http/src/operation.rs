//! Descriptions of operations: how the methods of a service are called over HTTP. Generated code has them as statics.

pub use toolwright::http::{Body, Content, Parameter, Part, QueryParameter, Status, Style, Verb};

/// Describes how a method of a service is called over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name of the method in the schema file, for messages.
    pub name: &'static str,
    /// The HTTP method.
    pub verb: Verb,
    /// The path below the base address.
    pub path: &'static [Part],
    /// The query parameters, in order.
    pub query: &'static [QueryParameter],
    /// The headers.
    pub headers: &'static [Parameter],
    /// The cookies.
    pub cookies: &'static [Parameter],
    /// The body of the request.
    pub body: Body,
    /// The format of a successful response.
    pub answer: Answer,
    /// The declared errors. An exact status takes precedence over its class.
    pub errors: &'static [DeclaredError],
}

/// The format of a successful response's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// JSON. An empty body is `null`.
    Json,
    /// Text. The result is a string.
    Text,
    /// The body is ignored. The result is `null`.
    Nothing,
}

/// An error that a method declares for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredError {
    /// The status.
    pub status: Status,
    /// The name of the error in the schema file.
    pub code: &'static str,
    /// The description of the error.
    pub description: &'static str,
    /// True if the body of the response is the error's data.
    pub has_payload: bool,
    /// True if the method is called again after it.
    pub is_retried: bool,
}

impl Operation {
    /// Creates an operation without parameters and body that returns JSON.
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

    /// Returns the error that is declared for a status.
    pub(crate) fn error(&self, status: u16) -> Option<&'static DeclaredError> {
        let find = |wanted: Status| self.errors.iter().find(move |error| error.status == wanted);
        find(Status::Exactly(status)).or_else(|| find(Status::Class(status / 100)))
    }
}
