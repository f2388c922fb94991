//! How a node becomes a value of the language, with every mistake reported. Never knows a key: the
//! declarations in [`super::document`] do.

use std::collections::BTreeSet;

use super::Document;
use crate::diagnostic::{Diagnostic, Report};
use crate::nearest;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// A value of the language.
pub(super) trait Read: Sized {
    /// Whether its key has to be there.
    const REQUIRED: bool = true;

    /// Reads it; `None` after reporting what is wrong.
    fn read(node: &Node, report: &mut Report) -> Option<Self>;

    /// What stands in for a value that is missing or wrong, so that reading can go on. It never
    /// reaches a generated file: its absence has been reported.
    fn placeholder(span: Span) -> Self;
}

/// A mapping with known keys.
pub(super) trait Fields: Sized {
    /// Its keys in declared order.
    fn keys() -> Vec<&'static str>;

    /// Reads the values of its keys, whatever other keys there are.
    fn take(node: &Node, report: &mut Report) -> Self;
}

/// Declares a mapping of the language: its type, its reader and its part of the editors' schema.
macro_rules! mapping {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        $(..$part:ident: $part_type:ty,)?
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, schemars::JsonSchema)]
        pub struct $name {
            /// Where it was written.
            #[schemars(skip)]
            pub span: $crate::source::Span,
            $($(#[$field_doc])* pub $field: $type,)*
            $(
                /// What it shares with its like.
                #[schemars(flatten)]
                pub $part: $part_type,
            )?
        }

        impl $crate::syntax::read::Fields for $name {
            fn keys() -> Vec<&'static str> {
                let keys = vec![$($crate::syntax::read::key(stringify!($field))),*];
                $(let keys = [keys, <$part_type as $crate::syntax::read::Fields>::keys()].concat();)?
                keys
            }

            fn take(node: &$crate::yaml::Node, report: &mut $crate::diagnostic::Report) -> Self {
                Self {
                    span: node.span,
                    $($field: $crate::syntax::read::field(
                        node,
                        $crate::syntax::read::key(stringify!($field)),
                        report,
                    ),)*
                    $($part: <$part_type as $crate::syntax::read::Fields>::take(node, report),)?
                }
            }
        }

        impl $crate::syntax::read::Read for $name {
            fn read(
                node: &$crate::yaml::Node,
                report: &mut $crate::diagnostic::Report,
            ) -> Option<Self> {
                $crate::syntax::read::known_fields(node, report)
            }

            fn placeholder(span: $crate::source::Span) -> Self {
                let nothing =
                    $crate::yaml::Node { span, value: $crate::yaml::Value::Mapping(Vec::new()) };
                let mut unseen = $crate::diagnostic::Report::default();
                $crate::syntax::read::Fields::take(&nothing, &mut unseen)
            }
        }
    )*};
}
pub(super) use mapping;

/// A key as the language writes it: `use` is a word of Rust, and so is written `r#use` there.
pub(super) fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Reads a whole file.
pub(super) fn document(node: &Node, report: &mut Report) -> Option<Document> {
    if matches!(node.value, Value::Null) {
        let finding = Diagnostic::error("empty-file", node.span, "this file says nothing")
            .help("begin with `toolwright: 1`, or remove the file");
        report.add(finding);
        return None;
    }
    Document::read(node, report)
}

/// Reads a mapping: its values, and every key it should not have.
pub(super) fn known_fields<T: Fields>(node: &Node, report: &mut Report) -> Option<T> {
    let Some(entries) = node.entries() else {
        wrong_kind(node, "a mapping", report);
        return None;
    };
    let keys = T::keys();
    for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.value.as_str())) {
        report.add(unknown_key(&entry.key, &keys));
    }
    Some(T::take(node, report))
}

/// Reads the value of one key.
pub(super) fn field<T: Read>(node: &Node, key: &'static str, report: &mut Report) -> T {
    let value = node.get(key);
    if value.is_none() && T::REQUIRED {
        report.add(missing_key(node.span, key));
    }
    value.and_then(|value| T::read(value, report)).unwrap_or_else(|| T::placeholder(node.span))
}

fn unknown_key(key: &Spanned<String>, known: &[&str]) -> Diagnostic {
    let message = format!("unknown key `{}`", key.value);
    let advice = nearest::advice(&key.value, known.iter().copied(), "keys that may stand here");
    Diagnostic::error("unknown-key", key.span, message).help(advice)
}

fn missing_key(span: Span, key: &str) -> Diagnostic {
    let start = Span { end: span.start.saturating_add(1).min(span.end), ..span };
    Diagnostic::error("missing-key", start, format!("`{key}` is missing"))
        .labelled("in what begins here")
}

/// Reports a value of the wrong kind.
pub(super) fn wrong_kind(node: &Node, expected: &str, report: &mut Report) {
    let message = format!("expected {expected}, found {}", node.kind());
    let finding = match &node.value {
        Value::Null => Diagnostic::error("empty-value", node.span, message)
            .help("give the key a value, or leave the key out"),
        Value::Number(_) | Value::Boolean(_) if expected.contains("string") => {
            Diagnostic::error("wrong-kind", node.span, message).help("put it in quotes")
        }
        _ => Diagnostic::error("wrong-kind", node.span, message),
    };
    report.add(finding);
}

impl<T: Read> Read for Option<T> {
    const REQUIRED: bool = false;

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        T::read(node, report).map(Some)
    }

    fn placeholder(_: Span) -> Self {
        None
    }
}

impl Read for Spanned<String> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match node.as_str() {
            Some(text) if text.trim().is_empty() => {
                let finding = Diagnostic::error("empty-value", node.span, "an empty string")
                    .help("give the key a value, or leave the key out");
                report.add(finding);
                None
            }
            Some(text) => Some(Self::new(text.to_owned(), node.span)),
            None => {
                wrong_kind(node, "a string", report);
                None
            }
        }
    }

    fn placeholder(span: Span) -> Self {
        Self::new(String::new(), span)
    }
}

impl Read for bool {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Boolean(value) = node.value else {
            wrong_kind(node, "`true` or `false`", report);
            return None;
        };
        Some(value)
    }

    fn placeholder(_: Span) -> Self {
        false
    }
}

impl Read for u32 {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let number = match &node.value {
            Value::Number(text) => text.parse().ok().filter(|&number| number > 0),
            _ => None,
        };
        if number.is_none() {
            wrong_kind(node, "a whole number from 1 to 4294967295", report);
        }
        number
    }

    fn placeholder(_: Span) -> Self {
        1
    }
}

/// A list without repeats is the only kind the language has.
impl Read for Vec<Spanned<String>> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Sequence(items) = &node.value else {
            wrong_kind(node, "a list of strings", report);
            return None;
        };
        let read: Vec<_> =
            items.iter().filter_map(|item| Spanned::<String>::read(item, report)).collect();
        let mut seen = BTreeSet::new();
        for item in &read {
            if !seen.insert(&item.value) {
                let message = format!("`{}` stands in this list twice", item.value);
                report.add(Diagnostic::error("repeated-item", item.span, message));
            }
        }
        Some(read)
    }

    fn placeholder(_: Span) -> Self {
        Vec::new()
    }
}
