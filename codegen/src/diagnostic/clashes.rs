//! Mistakes that only appear in Rust: different names that become the same identifier or crate.

use super::{among, at, mistakes};
use crate::source::{Span, Spanned};

mistakes! {
    /// Different names become the same name in Rust.
    ///
    /// `get_x` and `getX` become one field, `a_b` and `a-b` one crate, `Note` of two services one type of a toolset or a
    /// service that uses both. The message shows the name in Rust.
    Error "name-clash" name_clash(what: &str, rust: &str, written: Vec<(Span, String)>) {
        let words: Vec<&str> = written.iter().map(|(_, word)| word.as_str()).collect();
        let both = if written.len() == 2 { "both" } else { "all" };
        let message = format!("{} {both} become the {what} `{rust}`", words.join(" and "));
        let rest = if written.len() == 2 { "one" } else { "all but one" };
        among(written, message).help(format!("rename {rest} of them"))
    }

    /// A name becomes one that generated code needs for itself.
    ///
    /// A type `Option` would hide Rust's own `Option` in its module; a tool `all` would clash with the list of specs; a crate cannot
    /// have the name of one that generated crates depend on.
    Error "reserved-name" reserved_name(span: Span, written: &str, what: &str, rust: &str) {
        at(span, format!("{written} becomes the {what} `{rust}`, which generated code needs for itself"))
            .help("choose another name")
    }

    /// Two services use each other's types.
    ///
    /// Each service is a crate, and cargo does not allow crates to depend on each other in a circle.
    Error "crate-circle" crate_circle(a: &Spanned<String>, b: &Spanned<String>, used: Span) {
        let message = format!(
            "the types of the services `{}` and `{}` use each other, so neither crate can be built first",
            a.value, b.value
        );
        at(a.span, message)
            .also(b.span, "the other service")
            .also(used, "a type that the first one uses")
            .help("declare the types that both need in one of them, or in a third service")
    }
}
