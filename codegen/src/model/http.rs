//! How a method goes over HTTP: where each property of its payload stands in a request, what an answer is. Never a
//! Rust name.

pub use toolwright::http::{Content, Status, Style, Verb};

/// How one method goes over HTTP. Every property of its payload stands in one place.
#[derive(Clone, Debug)]
pub struct Route {
    /// The request's method.
    pub verb: Verb,
    /// The path below the service's base address.
    pub path: Vec<Part>,
    /// What stands in the query.
    pub query: Vec<QueryParameter>,
    /// Names of headers, and the properties that stand there.
    pub headers: Vec<(String, String)>,
    /// Names of cookies, and the properties that stand there.
    pub cookies: Vec<(String, String)>,
    /// The request's body.
    pub body: Option<(Body, Content)>,
    /// Whether a good answer is text, which the result takes as a string.
    pub answers_text: bool,
}

/// A part of a path, or of the sentence of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// The value of a property, which the payload requires.
    Property(String),
}

/// A property in the query.
#[derive(Clone, Debug)]
pub struct QueryParameter {
    /// Its name there.
    pub name: String,
    /// The property of the payload.
    pub property: String,
    /// How lists and objects are written.
    pub style: Style,
    /// Whether each item is a parameter of its own.
    pub explode: bool,
}

/// What a body is made of.
#[derive(Clone, Debug)]
pub enum Body {
    /// One property.
    Property(String),
    /// An object of every property that stands nowhere else.
    Rest,
}
