//! The HTTP request of a method, with the place of each property of its payload, and the format of the response.

use toolwright::http::{Body, Parameter, Part, QueryParameter, Verb};

/// The HTTP request of a method. Every property of the payload has one place in it.
#[derive(Clone, Debug)]
pub struct Route {
    /// The HTTP method.
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
    /// True if a successful response is text, which becomes a string.
    pub answers_text: bool,
}
