//! Mistakes in how methods go over HTTP. Never about what a method takes or gives.

use super::{among, at, given, mistakes, times};
use crate::prose::advice;
use crate::source::{Span, Spanned};

mistakes! {
    /// A path that cannot be the path of a request.
    ///
    /// It begins with `/`, has properties between braces, and all else in it is sent as it stands: letters, digits and
    /// what RFC 3986 allows beside them; other characters are written `%20`. `?` begins a query, which has a key of its own.
    /// A segment `.` or `..` would lead elsewhere.
    Error "http-path" http_path(path: &Spanned<String>, why: &str) {
        at(path.span, format!("the path {why}")).help("write it as in `/pets/{petId}/photos`")
    }

    /// A property in the path that the payload does not require.
    ///
    /// Without it there is no path.
    Error "http-optional-in-path" http_optional_in_path(path: Span, property: &str, declared: Span) {
        at(path, format!("the path needs `{property}`, which the payload does not require"))
            .also(declared, "declared here")
            .help(format!("add `{property}` to `required` of the payload"))
    }

    /// A property that goes into a request and is none of the payload.
    ///
    /// What a request carries is what the method takes.
    Error "http-unknown-property" http_unknown_property(property: &Spanned<String>, known: &[&str]) {
        at(property.span, format!("the payload has no property `{}`", property.value))
            .help(advice(&property.value, known.iter().copied(), "properties"))
    }

    /// A property that stands in several places of one request.
    ///
    /// Each has one place: the path, the query, a header, a cookie or the body.
    Error "http-placed-twice" http_placed_twice(property: &str, places: Vec<Span>) {
        let message = format!("`{property}` is placed {} in one request", times(places.len()));
        among(given(places), message).help("keep one of them")
    }

    /// Names in one part of a request that are equal.
    ///
    /// A service could not tell the two values apart.
    Error "http-name-twice" http_name_twice(name: &str, what: &str, places: Vec<Span>) {
        let message = format!("the {what} `{name}` is sent {}", times(places.len()));
        among(given(places), message).help("give each a name of its own")
    }

    /// A property of the payload that no part of the request carries.
    ///
    /// The service would never see it. `body: \"*\"` makes the body of all that stands nowhere else.
    Error "http-not-placed" http_not_placed(request: Span, what: &str, declared: Span) {
        at(request, format!("no part of the request carries {what}"))
            .also(declared, "declared here")
            .help("name it under `query`, `headers`, `cookies` or `body`, or write `body: \"*\"`")
    }

    /// A body in a request that has none.
    ///
    /// `GET`, `HEAD` and `TRACE` have no body that a service would look at (RFC 9110, 9.3).
    Error "http-no-body" http_no_body(body: Span, verb: &str) {
        at(body, format!("a `{verb}` request has no body"))
            .help("put its properties into `query`, or use another method")
    }

    /// A header or cookie that a request cannot have under this name.
    ///
    /// Names are those of RFC 9110, 5.6.2. `Authorization` comes from credentials, which no schema holds; `Content-Type`,
    /// `Host` and others are the client's own.
    Error "http-bad-name" http_bad_name(name: &Spanned<String>, what: &str, why: &str) {
        at(name.span, format!("the {what} `{}` {why}", name.value))
            .help("use the service's own name for it; credentials are given at run time")
    }

    /// A body or an answer of a kind that its schema cannot be.
    ///
    /// Text is a string, a form an object; `content` says how a body is written, so there has to be one.
    Error "http-content" http_content(span: Span, why: &str) {
        at(span, why.to_owned()).help("change the schema, or say `json`")
    }

    /// A method without `http` beside others that have it.
    ///
    /// The generated client answers for the whole service: it implements the trait, and that has all methods.
    Error "http-missing" http_missing(method: &Spanned<String>, service: &str, other: Span) {
        at(method.span, format!("the method `{}` says no `http`, and others of `{service}` do", method.value))
            .also(other, "one that does")
            .help("say how it goes over HTTP, or move it into a service of its own")
    }

    /// `status` on an error of a method that does not go over HTTP.
    ///
    /// It says which answer of a service means the error.
    Error "status-without-http" status_without_http(error: &Spanned<String>) {
        at(error.span, format!("`{}` has a `status`, and its method no `http`", error.value))
            .help("remove `status`, or say how the method goes over HTTP")
    }

    /// Errors of one method that stand for one status.
    ///
    /// An answer means one error.
    Error "repeated-status" repeated_status(status: &str, places: Vec<Span>) {
        let message = format!("the status {status} means {} errors of one method", places.len());
        among(given(places), message).help("keep the status of one of them")
    }
}
