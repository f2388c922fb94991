//! Mistakes in the `http` of methods.

use super::{among, at, mistakes, repeated, times};
use crate::prose::advice;
use crate::source::{Span, Spanned};

mistakes! {
    /// A path cannot be the path of a request.
    ///
    /// A path begins with `/` and names properties in braces. The rest is sent unchanged: letters, digits and the other
    /// characters that RFC 3986 allows; write the others as in `%20`. The query has a key of its own, so `?` is not allowed.
    /// Segments `.` and `..` would lead to another path.
    Error "http-path" http_path(path: &Spanned<String>, why: &str) {
        at(path.span, format!("the path {why}")).help("write it as in `/pets/{petId}/photos`")
    }

    /// A property in the path is not required by the payload.
    ///
    /// Without its value there is no path.
    Error "http-optional-in-path" http_optional_in_path(path: Span, property: &str, declared: Span) {
        at(path, format!("the path needs `{property}`, which the payload does not require"))
            .also(declared, "declared here")
            .help(format!("add `{property}` to `required` of the payload"))
    }

    /// A request names a property that the payload does not have.
    ///
    /// A request sends properties of the method's payload.
    Error "http-unknown-property" http_unknown_property(property: &Spanned<String>, known: &[&str]) {
        at(property.span, format!("the payload has no property `{}`", property.value))
            .help(advice(&property.value, known.iter().copied(), "properties"))
    }

    /// A property has several places in one request.
    ///
    /// Each property has one place: the path, the query, a header, a cookie or the body.
    Error "http-placed-twice" http_placed_twice(property: &str, places: Vec<Span>) {
        let message = format!("`{property}` is placed {} in one request", times(places.len()));
        among(repeated(places), message).help("keep one of them")
    }

    /// Several values have the same name in one part of a request.
    ///
    /// A service could not tell the values apart.
    Error "http-name-twice" http_name_twice(name: &str, what: &str, places: Vec<Span>) {
        let message = format!("the {what} `{name}` is sent {}", times(places.len()));
        among(repeated(places), message).help("give each a name of its own")
    }

    /// A property of the payload has no place in the request.
    ///
    /// The service would never see it. `body: "*"` puts all other properties into the body.
    Error "http-not-placed" http_not_placed(request: Span, what: &str, declared: Span) {
        at(request, format!("no part of the request sends {what}"))
            .also(declared, "declared here")
            .help("name it under `query`, `headers`, `cookies` or `body`, or write `body: \"*\"`")
    }

    /// A request has a body that its HTTP method does not allow.
    ///
    /// A body of `GET`, `HEAD` or `TRACE` has no meaning to a service (RFC 9110, section 9.3).
    Error "http-no-body" http_no_body(body: Span, verb: &str) {
        at(body, format!("a `{verb}` request has no body"))
            .help("put its properties into `query`, or use another method")
    }

    /// A header or cookie has a name that is not allowed.
    ///
    /// Names are tokens of RFC 9110, section 5.6.2. `Authorization` comes from credentials, which do not belong in a
    /// schema; the client itself sets `Content-Type`, `Host` and others.
    Error "http-bad-name" http_bad_name(name: &Spanned<String>, what: &str, why: &str) {
        at(name.span, format!("the {what} `{}` {why}", name.value))
            .help("use the service's own name for it; credentials are given at run time")
    }

    /// The `content` of a body or response does not match its schema.
    ///
    /// `text` needs a string, `form` an object. `content` says how a body is written, so it needs a body.
    Error "http-content" http_content(span: Span, why: &str) {
        at(span, why.to_owned()).help("change the schema, or use `json`")
    }

    /// A method has no `http`, but others of its service have it.
    ///
    /// The generated client implements the trait of the service, which has all methods.
    Error "http-missing" http_missing(method: &Spanned<String>, service: &str, other: Span) {
        at(method.span, format!("the method `{}` has no `http`, but others of `{service}` have it", method.value))
            .also(other, "one that has it")
            .help("add `http`, or move the method into a service of its own")
    }

    /// An error has a `status`, but its method has no `http`.
    ///
    /// The status is that of the HTTP response that means the error.
    Error "status-without-http" status_without_http(error: &Spanned<String>) {
        at(error.span, format!("`{}` has a `status`, but its method has no `http`", error.value))
            .help("remove `status`, or add `http` to the method")
    }

    /// Several errors of one method have the same status.
    ///
    /// A response means exactly one error.
    Error "repeated-status" repeated_status(status: &str, places: Vec<Span>) {
        let message = format!("the status {status} means {} errors of one method", places.len());
        among(repeated(places), message).help("keep the status of one of them")
    }
}
