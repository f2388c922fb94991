//! Reads values of the language from YAML nodes and reports every mistake. [`super::document`] declares the keys.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::{Report, form};
use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Node, Value};
use toolwright::issue::nearest;

/// A value of the language.
pub(super) trait Read: Sized {
    /// Whether its key is required.
    const REQUIRED: bool = true;

    /// Reads the value; returns `None` after reporting a mistake.
    fn read(node: &Node, report: &mut Report) -> Option<Self>;

    /// Returns a substitute for a value that is missing or wrong, so that reading can continue. The mistake is reported, so
    /// nothing is generated from it.
    fn placeholder(span: Span) -> Self;

    /// Returns a substitute for an optional value that is present but wrong; `None` if it then counts as missing.
    fn recovered(_: Span) -> Option<Self> {
        None
    }
}

/// A mapping with known keys.
pub(super) trait Fields: Sized {
    /// Its keys in declared order.
    fn keys() -> Vec<&'static str>;

    /// Reads the values of its keys and ignores all other keys.
    fn take(node: &Node, report: &mut Report) -> Self;
}

/// Keys of the mappings that declare names: a file and a toolset.
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
            /// The span of the mapping.
            #[cfg_attr(feature = "language-schema", schemars(skip))]
            #[allow(dead_code, reason = "not every mapping is reported as a whole")]
            pub span: $crate::source::Span,
            $(
                $(#[doc = $field_doc])*
                $(#[cfg_attr(feature = "language-schema", schemars($($in_schema)*))])?
                pub $field: $type,
            )*
            $(
                /// The keys that it shares with similar mappings.
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
                let mut ignored = $crate::diagnostic::Report::default();
                $crate::syntax::read::Fields::take(&nothing, &mut ignored)
            }
        }
    )*};
}
pub(super) use mapping;

/// Returns the key of a field, without the `r#` of fields that are keywords of Rust.
pub(super) fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Reads a mapping and reports its unknown keys.
pub(super) fn known_fields<T: Fields>(node: &Node, report: &mut Report) -> Option<T> {
    let Some(entries) = node.entries() else {
        let may_be_empty = || {
            let mut missing = Report::default();
            let nothing = Node { span: node.span, value: Value::Mapping([].into()) };
            T::take(&nothing, &mut missing);
            !missing.has_errors()
        };
        report.add(match node.value {
            Value::Boolean(true) if may_be_empty() => form::empty_mapping(node.span),
            _ => node.unexpected("a mapping"),
        });
        return None;
    };
    let corrected = correct_keys(entries, &T::keys(), report);
    let node = match corrected {
        Cow::Borrowed(_) => Cow::Borrowed(node),
        Cow::Owned(entries) => {
            Cow::Owned(Node { span: node.span, value: Value::Mapping(entries.into()) })
        }
    };
    Some(T::take(&node, report))
}

/// Reports unknown keys. Replaces each by a similar known key, if there is one, so that the value is still checked and the
/// known key is not reported as missing.
fn correct_keys<'n>(
    entries: &'n [Entry],
    keys: &[&'static str],
    report: &mut Report,
) -> Cow<'n, [Entry]> {
    let declares = DECLARING.iter().any(|key| keys.contains(key));
    let is_there = |key: &&str| entries.iter().any(|entry| entry.key.value == **key);
    let mut free: Vec<&str> = keys.iter().copied().filter(|key| !is_there(key)).collect();
    let mut corrected = Cow::Borrowed(entries);
    for (position, entry) in entries.iter().enumerate() {
        if keys.contains(&entry.key.value.as_str()) {
            continue;
        }
        let taken =
            nearest(&entry.key.value, keys.iter().copied()).filter(|near| !free.contains(near));
        if let Some(near) = taken {
            report.add(form::misspelling_beside(&entry.key, near));
            continue;
        }
        report.add(form::unknown_key(&entry.key, &free));
        match nearest(&entry.key.value, free.iter().copied()) {
            Some(key) => {
                key.clone_into(&mut corrected.to_mut()[position].key.value);
                free.retain(|other| *other != key);
            }
            // Its value may contain definitions.
            None if declares && entry.value.entries().is_some() => report.note_unread_definitions(),
            None => {}
        }
    }
    corrected
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

/// An empty text is the substitute for a wrong one, which has been reported.
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

/// All lists of strings in the language are sets, so repeated items are reported.
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
