//! Mistakes in templates and examples. Never about schemas themselves.

use super::{at, mistakes};
use crate::source::Span;

mistakes! {
    /// A template that cannot be read.
    ///
    /// `prompt`, `denied` and the hints are minijinja templates. They are filled in at run time, when nobody could mend
    /// them. The `message` of an error names properties of its payload in braces, as in `there is no issue {id}`; two
    /// braces stand for one.
    Error "bad-template" bad_template(span: Span, reason: &str) {
        at(span, format!("this template cannot be read: {reason}"))
    }

    /// A template that uses a field which the tool's schemas do not have.
    ///
    /// Templates see `args`, `tool` (name, title, description, toolset, service) and, in `hints.result` alone, `result`. Of
    /// an object that is open to any property every field may be asked. The `message` of an error sees the required
    /// properties of its payload that are texts, numbers, booleans or enums.
    Error "template-field" template_field(span: Span, path: &str, reason: &str, advice: String) {
        at(span, format!("the template uses `{path}`: {reason}")).help(advice)
    }

    /// A template that uses a filter or a test which does not exist.
    ///
    /// Known are the filters and tests of minijinja; none is added.
    Error "template-filter" template_filter(span: Span, what: &str, name: &str) {
        at(span, format!("the template uses the {what} `{name}`, which does not exist"))
            .help("minijinja's own are there, such as `length`, `default`, `join`, `upper`")
    }

    /// An example that the tool's own schemas refuse.
    ///
    /// Examples are shown to models that have called a tool wrongly. A wrong one would be learnt from.
    Error "example-breaks-schema" example_breaks_schema(span: Span, what: &str, place: &str, reason: &str) {
        at(span, format!("this example breaks the schema of {what}{place}: {reason}"))
    }
}
