//! Translates schemas of older drafts to 2020-12. The result accepts the same values as the original does in its own draft.

use std::fmt;

use super::keywords::{Entries, take};
use super::warnings::Subject;
use super::widen::{is_mark, leave_out};
use toolwright::schema::Draft;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::is_annotation;

/// The draft that a schema is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Draft-07 or an earlier one, with its number. Keywords beside `$ref` have no effect.
    Old(u8),
    /// 2019-09, where `contains` evaluates no items. True if the schema may have that key anywhere.
    Draft2019(bool),
    /// 2020-12. MCP reads a schema without `$schema` as 2020-12.
    New,
}

impl Dialect {
    /// The dialect of a whole schema: the one that `$schema` names, otherwise this one.
    pub(super) fn of(self, schema: &Json, subject: &mut Subject<'_>) -> Self {
        match self.inside(schema, "", subject) {
            Self::Draft2019(_) => Self::Draft2019(has_key(schema, "contains")),
            dialect => dialect,
        }
    }

    /// The dialect of a schema inside one of this dialect, which may name another one.
    pub(super) fn inside(self, schema: &Json, pointer: &str, subject: &mut Subject<'_>) -> Self {
        let Some(Json::String(uri)) = schema.get("$schema") else { return self };
        let named = Self::named(uri).unwrap_or_else(|| {
            subject.warn(
                pointer,
                format!("`$schema: {uri}` is not known, so the schema is read as 2020-12"),
            );
            Self::New
        });
        match (self, named) {
            // It is known already of the whole schema whether it has `contains`.
            (Self::Draft2019(_), Self::Draft2019(_)) => self,
            _ => named,
        }
    }

    /// The dialect that the value of `$schema` names, if it is known.
    pub(super) fn named(uri: &str) -> Option<Self> {
        let draft = (3..=7).find(|draft| uri.contains(&format!("draft-0{draft}")));
        draft.map(Self::Old).or_else(|| {
            let known = [("2019-09", Self::Draft2019(true)), ("2020-12", Self::New)];
            known.into_iter().find(|(name, _)| uri.contains(name)).map(|(_, dialect)| dialect)
        })
    }

    /// Returns true if keywords beside `$ref` have no effect.
    pub(super) fn hides_beside_reference(self) -> bool {
        matches!(self, Self::Old(_))
    }

    /// The keyword for the URI of a schema.
    pub(super) fn id(self) -> &'static str {
        if matches!(self, Self::Old(..=4)) { "id" } else { "$id" }
    }

    /// Returns true for a keyword that is newer than the draft, which has no effect.
    fn is_before(self, keyword: &str) -> bool {
        let known = match self {
            Self::Old(..6) => Draft::D4,
            Self::Old(6) => Draft::D6,
            Self::Old(_) => Draft::D7,
            Self::Draft2019(_) => Draft::D2019,
            Self::New => return false,
        };
        // `contentSchema` says nothing about values, but is new in 2019-09, too. A keyword that 2019-09 has no longer is translated.
        let is_old = known < Draft::D2019;
        (!known.has(keyword) && (is_old || Draft::D2020.has(keyword)))
            || (is_old && keyword == "contentSchema")
    }

    /// Translates one schema whose subschemas have been translated.
    pub(super) fn translate(self, schema: Json, pointer: &str, subject: &mut Subject<'_>) -> Json {
        let Json::Object(mut entries) = schema else { return schema };
        for word in ["$schema", "$id", "id", "$anchor"] {
            // References have been resolved, so nothing needs these keywords. A value that is not a string is the
            // schema of a property of that name.
            if matches!(entries.iter().find(|(key, _)| key == word), Some((_, Json::String(_)))) {
                take(&mut entries, word);
            }
        }
        if self.hides_beside_reference() {
            ignored_beside_reference(&mut entries, pointer, subject);
        }
        not_yet_known(&mut entries, self, pointer, subject);
        if matches!(self, Self::Old(_)) {
            dependencies(&mut entries);
        }
        if self == Self::Draft2019(true) {
            evaluated_by_contains(&mut entries, pointer, subject);
        }
        tuple(&mut entries, pointer, subject);
        exclusive(&mut entries, "minimum", "exclusiveMinimum");
        exclusive(&mut entries, "maximum", "exclusiveMaximum");
        Json::Object(entries)
    }
}

impl fmt::Display for Dialect {
    /// Writes its name, which is also one for [`Dialect::named`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Old(draft) => write!(f, "draft-0{draft}"),
            Self::Draft2019(_) => f.write_str("2019-09"),
            Self::New => f.write_str("2020-12"),
        }
    }
}

fn has_key(value: &Json, name: &str) -> bool {
    match value {
        Json::Array(items) => items.iter().any(|item| has_key(item, name)),
        Json::Object(entries) => {
            entries.iter().any(|(key, value)| key == name || has_key(value, name))
        }
        _ => false,
    }
}

/// 2020-12 core, 10.3.1.3: the items that `contains` matches are evaluated. They are not in 2019-09, so `unevaluatedItems` beside or
/// around it means something else.
fn evaluated_by_contains(entries: &mut Entries, pointer: &str, subject: &mut Subject<'_>) {
    if entries.iter().any(|(key, _)| key == "unevaluatedItems") {
        leave_out(entries, "unevaluatedItems");
        let why = "it means something else beside `contains` in 2020-12";
        subject.warn(pointer, format!("`unevaluatedItems` was left out: {why} than in 2019-09"));
    }
}

/// Draft-07 core, 8.3: all other properties in a `$ref` object must be ignored.
fn ignored_beside_reference(entries: &mut Entries, pointer: &str, subject: &mut Subject<'_>) {
    // A mark has replaced a reference without a target.
    let is_reference = |key: &str| key == "$ref" || is_mark(key);
    if !entries.iter().any(|(key, _)| is_reference(key)) {
        return;
    }
    entries.retain(|(key, _)| {
        let stays = is_reference(key) || is_annotation(key);
        if !stays {
            subject.warn(
                pointer,
                format!("`{key}` beside `$ref` means nothing in draft-07 and was left out"),
            );
        }
        stays
    });
}

fn not_yet_known(
    entries: &mut Entries,
    dialect: Dialect,
    pointer: &str,
    subject: &mut Subject<'_>,
) {
    entries.retain(|(key, _)| {
        let is_new = dialect.is_before(key);
        if is_new {
            subject.warn(pointer, format!("`{key}` means nothing in {dialect} and was left out"));
        }
        !is_new
    });
}

/// Splits `dependencies` into `dependentRequired` and `dependentSchemas`.
fn dependencies(entries: &mut Entries) {
    let Some(index) = entries.iter().position(|(key, _)| key == "dependencies") else { return };
    let Json::Object(dependencies) = &entries[index].1 else { return };
    let is_names = |value: &Json| matches!(value, Json::Array(_));
    let (names, schemas): (Entries, Entries) =
        dependencies.iter().cloned().partition(|(_, value)| is_names(value));
    let parts = [("dependentRequired", names), ("dependentSchemas", schemas)];
    let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
    let parts = parts.map(|(keyword, part)| (keyword.to_owned(), Json::Object(part)));
    entries.splice(index..=index, parts.collect::<Entries>());
}

/// Renames `items` with a list to `prefixItems`, and `additionalItems` to `items`.
fn tuple(entries: &mut Entries, pointer: &str, subject: &mut Subject<'_>) {
    let additional = entries.iter().position(|(key, _)| key == "additionalItems");
    let items =
        entries.iter().position(|(key, value)| key == "items" && matches!(value, Json::Array(_)));
    if items.is_some() && entries.iter().any(|(key, _)| key == "prefixItems") {
        leave_out(entries, "items");
        subject.warn(pointer, "a list under `items` was left out: it means nothing in 2020-12");
    } else if let Some(items) = items {
        "prefixItems".clone_into(&mut entries[items].0);
        if let Some(additional) = additional {
            "items".clone_into(&mut entries[additional].0);
        }
    }
}

/// Translates the flags of draft-04 that make the bound beside them exclusive.
fn exclusive(entries: &mut Entries, inclusive: &str, exclusive: &str) {
    let flag = entries.iter().position(|(key, _)| key == exclusive);
    let Some(flag) = flag else { return };
    let Json::Boolean(is_exclusive) = entries[flag].1 else { return };
    entries.remove(flag);
    if let Some((key, _)) = entries.iter_mut().find(|(key, _)| is_exclusive && key == inclusive) {
        exclusive.clone_into(key);
    }
}
