//! How a node becomes a value of the language, with every mistake reported. Never knows a key: the
//! declarations in [`super::document`] do.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::{Report, form};
use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Node, Value};
use toolwright::issue::nearest;

/// A value of the language.
pub(super) trait Read: Sized {
    /// Whether its key has to be there.
    const REQUIRED: bool = true;

    /// Reads it; `None` after reporting what is wrong.
    fn read(node: &Node, report: &mut Report) -> Option<Self>;

    /// What stands in for a value that is missing or wrong, so that reading can go on. It never
    /// reaches a generated file: its absence has been reported.
    fn placeholder(span: Span) -> Self;

    /// What stands in for a value that may be left out, but is there and wrong.
    fn recovered(_: Span) -> Option<Self> {
        None
    }
}

/// A mapping with known keys.
pub(super) trait Fields: Sized {
    /// Its keys in declared order.
    fn keys() -> Vec<&'static str>;

    /// Reads the values of its keys, whatever other keys there are.
    fn take(node: &Node, report: &mut Report) -> Self;
}

/// Keys by which to know the mappings that declare names: a file and a toolset.
const DECLARING: [&str; 2] = ["methods", "mcp"];

/// Declares a mapping of the language: its type, its reader and its part of the editors' schema.
macro_rules! mapping {
    ($($(#[$doc:meta])* $name:ident {
        $(
            $(#[doc = $field_doc:literal])*
            $(#[schemars($($in_schema:tt)*)])?
            $field:ident: $type:ty,
        )*
        $(..$part:ident: $part_type:ty,)?
    })*) => {$(
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "language-schema", derive(schemars::JsonSchema))]
        $(#[$doc])*
        pub struct $name {
            /// Where it was written.
            #[cfg_attr(feature = "language-schema", schemars(skip))]
            #[allow(dead_code, reason = "not every mapping is reported as a whole")]
            pub span: $crate::source::Span,
            $(
                $(#[doc = $field_doc])*
                $(#[cfg_attr(feature = "language-schema", schemars($($in_schema)*))])?
                pub $field: $type,
            )*
            $(
                /// The keys that it shares with its like.
                #[cfg_attr(feature = "language-schema", schemars(flatten))]
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
                    $crate::yaml::Node { span, value: $crate::yaml::Value::Mapping([].into()) };
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

/// Reads a mapping: its values, and every key it should not have.
pub(super) fn known_fields<T: Fields>(node: &Node, report: &mut Report) -> Option<T> {
    let Some(entries) = node.entries() else {
        // With each key left out, it is whole.
        let is_right_empty = || {
            let mut missing = Report::default();
            let nothing = Node { span: node.span, value: Value::Mapping([].into()) };
            T::take(&nothing, &mut missing);
            !missing.has_errors()
        };
        report.add(match node.value {
            Value::Boolean(true) if is_right_empty() => form::empty_mapping(node.span),
            _ => node.unexpected("a mapping"),
        });
        return None;
    };
    let meant = as_meant(entries, &T::keys(), report);
    let node = match meant {
        Cow::Borrowed(_) => Cow::Borrowed(node),
        Cow::Owned(entries) => {
            Cow::Owned(Node { span: node.span, value: Value::Mapping(entries.into()) })
        }
    };
    Some(T::take(&node, report))
}

/// Reports every key that does not exist here. What stands behind one is read on under the key that was meant, so
/// that one slip hides no mistake and makes no other.
fn as_meant<'n>(
    entries: &'n [Entry],
    keys: &[&'static str],
    report: &mut Report,
) -> Cow<'n, [Entry]> {
    let declares = DECLARING.iter().any(|key| keys.contains(key));
    let mut meant = Cow::Borrowed(entries);
    for (position, entry) in entries.iter().enumerate() {
        if keys.contains(&entry.key.value.as_str()) {
            continue;
        }
        let is_free = |key: &&str| !meant.iter().any(|entry| entry.key.value == **key);
        let free: Vec<&str> = keys.iter().copied().filter(is_free).collect();
        let taken =
            nearest(&entry.key.value, keys.iter().copied()).filter(|near| !free.contains(near));
        if let Some(near) = taken {
            report.add(form::misspelling_beside(&entry.key, near));
            continue;
        }
        report.add(form::unknown_key(&entry.key, &free));
        match nearest(&entry.key.value, free) {
            Some(key) => key.clone_into(&mut meant.to_mut()[position].key.value),
            // What is behind it may have been meant to declare names.
            None if declares && entry.value.entries().is_some() => report.note_unread_definitions(),
            None => {}
        }
    }
    meant
}

/// Reads the value of one key.
pub(super) fn field<T: Read>(node: &Node, key: &'static str, report: &mut Report) -> T {
    let value = node.get(key);
    if value.is_none() && T::REQUIRED {
        report.add(form::missing_key(node.span, key));
    }
    value.and_then(|value| T::read(value, report)).unwrap_or_else(|| T::placeholder(node.span))
}

impl<T: Read> Read for Option<T> {
    const REQUIRED: bool = false;

    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        Some(T::read(node, report).or_else(|| T::recovered(node.span)))
    }

    fn placeholder(_: Span) -> Self {
        None
    }
}

/// A text that is empty once it is read stands in for one that was wrong, which has been reported.
impl Read for Spanned<String> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        match node.as_str() {
            Some(text) if text.trim().is_empty() => {
                report.add(form::empty_value(node.span, "an empty string".to_owned()));
                None
            }
            Some(text) => Some(Self::new(text.to_owned(), node.span)),
            None => {
                report.add(node.unexpected("a string"));
                None
            }
        }
    }

    fn placeholder(span: Span) -> Self {
        Self::new(String::new(), span)
    }

    fn recovered(span: Span) -> Option<Self> {
        Some(Self::placeholder(span))
    }
}

impl Read for bool {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Boolean(value) = node.value else {
            report.add(node.unexpected("`true` or `false`"));
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
            report.add(node.unexpected("a whole number from 1 to 4294967295"));
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
            report.add(node.unexpected("a list of strings"));
            return None;
        };
        let read = items.iter().filter_map(|item| Spanned::<String>::read(item, report));
        let mut places: BTreeMap<String, Vec<Span>> = BTreeMap::new();
        let mut once = Vec::new();
        for item in read.collect::<Vec<_>>() {
            let known = places.entry(item.value.clone()).or_default();
            known.push(item.span);
            if known.len() == 1 {
                once.push(item);
            }
        }
        for (item, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
            report.add(form::repeated_item(&item, places));
        }
        Some(once)
    }

    fn placeholder(_: Span) -> Self {
        Vec::new()
    }
}
