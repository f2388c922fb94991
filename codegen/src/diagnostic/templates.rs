//! Mistakes in templates and examples.

use super::{at, mistakes};
use crate::source::Span;

mistakes! {
    /// A template cannot be used.
    ///
    /// `prompt`, `denied` and the hints are minijinja templates. They are rendered at run time, when it is too late to correct
    /// them. Schemas may come from strangers, so loops, `set`, products, slices, maps and calls are not allowed, a tag has at most 256
    /// words and signs, and filters may make values at most 2,048 times as large, together. The `message` of an error has properties of its
    /// payload in braces, as in `there is no issue {id}`; write `{{` and `}}` for braces themselves.
    Error "bad-template" bad_template(span: Span, reason: &str) {
        at(span, format!("this template cannot be used: {reason}"))
    }

    /// A template uses a field that the tool's schemas do not have.
    ///
    /// Templates can use `args`, `tool` (name, title, description, toolset, service) and, only in `hints.result`, `result`. If
    /// an object allows any property, they can use any field of it. The `message` of an error can use the required properties
    /// of its payload that are strings, numbers, booleans or enums.
    Error "template-field" template_field(span: Span, path: &str, reason: &str, advice: String) {
        at(span, format!("the template uses `{path}`: {reason}")).help(advice)
    }

    /// A template uses an unknown filter or test.
    ///
    /// Only the filters and tests of minijinja exist.
    Error "template-filter" template_filter(span: Span, what: &str, name: &str) {
        at(span, format!("the template uses the {what} `{name}`, which does not exist"))
            .help("use one of minijinja, such as `length`, `default`, `join` or `upper`")
    }

    /// An example does not match the tool's own schemas.
    ///
    /// Examples are shown to models after a wrong call. Models would learn from a wrong example.
    Error "example-breaks-schema" example_breaks_schema(span: Span, what: &str, place: &str, reason: &str) {
        at(span, format!("this example breaks the schema of {what}{place}: {reason}"))
    }
}
