//! How a method goes over HTTP: where each property of its payload stands in a request, what an answer is. Never a
//! Rust name.

use toolwright::http::{Body, Parameter, Part, QueryParameter, Verb};

/// How one method goes over HTTP. Every property of its payload stands in one place.
#[derive(Clone, Debug)]
pub struct Route {
    /// The request's method.
    pub verb: Verb,
    /// The path below the service's base address.
    pub path: Vec<Part<String>>,
    /// The parameters of the query.
    pub query: Vec<QueryParameter<String>>,
    /// The parameters in headers.
    pub headers: Vec<Parameter<String>>,
    /// The parameters in cookies.
    pub cookies: Vec<Parameter<String>>,
    /// The request's body.
    pub body: Body<String>,
    /// Whether a good answer is text, which the result takes as a string.
    pub answers_text: bool,
}
