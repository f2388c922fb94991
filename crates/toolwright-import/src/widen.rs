//! Makes sure that a schema accepts at least the original values after a part of it was left out. The part then accepts any
//! value. Most keywords around it accept more values if their parts do. A keyword that may then refuse more values, such as
//! `not`, is left out too.

use std::collections::{BTreeMap, BTreeSet};

use super::keywords::{Entries, each_part, rebuild, take};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::{expected, is_annotation};

/// The key that marks a schema as wider than the original, because a part of it was left out.
const LEFT_OUT: &str = "\u{0}left out";

/// The places where a schema accepts more values than the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wider {
    /// Nowhere.
    #[default]
    No,
    /// Only in values inside the value, which does not change which properties and items are evaluated.
    Inside,
    /// In the value itself.
    Here,
}

/// Schemas that refer to each other, with their ids. [`target`] returns the id that a reference leads to.
pub(super) type Roots = Vec<(String, Json)>;

/// The id that a reference leads to: `#` and `#/$defs/X` stay in the same schema, any other reference is the name of a type.
fn target(from: &str, reference: &str) -> String {
    let scope = from.split('#').next().unwrap_or_default();
    match reference.strip_prefix('#') {
        Some("") => scope.to_owned(),
        Some(_) => format!("{scope}{reference}"),
        None => reference.rsplit('.').next().unwrap_or(reference).to_owned(),
    }
}

/// A schema that accepts any value, marked as wider than the original.
pub(super) fn anything() -> Json {
    Json::Object(vec![mark()])
}

/// Leaves out a keyword and those beside it that would refuse more values without it. Returns the names of the latter.
pub(super) fn leave_out(entries: &mut Entries, keyword: &str) -> Vec<&'static str> {
    let was_there = take(entries, keyword).is_some();
    if !was_there || expected(keyword).is_none() || is_annotation(keyword) {
        return Vec::new();
    }
    mark_wider(entries);
    let dependent = dependent_keywords(keyword).iter().copied();
    dependent.filter(|other| take(entries, other).is_some()).collect()
}

/// Marks a schema as wider than the original.
pub(super) fn mark_wider(entries: &mut Entries) {
    if !entries.iter().any(|(key, _)| key == LEFT_OUT) {
        entries.push(mark());
    }
}

/// The entry that marks a schema as wider than the original.
pub(super) fn mark() -> (String, Json) {
    (LEFT_OUT.to_owned(), Json::Boolean(true))
}

/// Returns whether a key is this mark and not a keyword.
pub(super) fn is_mark(key: &str) -> bool {
    key == LEFT_OUT
}

/// The keywords that refuse more values, or have no effect, without another one beside them (2020-12 core, 10.2.2, 10.3 and
/// 11).
fn dependent_keywords(keyword: &str) -> &'static [&'static str] {
    match keyword {
        "properties" | "patternProperties" => &["additionalProperties", "unevaluatedProperties"],
        "additionalProperties" => &["unevaluatedProperties"],
        "prefixItems" => &["items", "unevaluatedItems"],
        "items" => &["unevaluatedItems"],
        "contains" => &["minContains", "maxContains", "unevaluatedItems"],
        "minContains" => &["contains", "maxContains", "unevaluatedItems"],
        "if" => &["then", "else", "unevaluatedItems", "unevaluatedProperties"],
        "$ref" | "$dynamicRef" | "$recursiveRef" | "allOf" | "anyOf" | "oneOf" | "then"
        | "else" | "dependentSchemas" => &["unevaluatedItems", "unevaluatedProperties"],
        _ => &[],
    }
}

/// Where a keyword accepts more values if its subschemas do; `None` if it may then refuse more values.
fn widened_by_parts(keyword: &str, has_max_contains: bool) -> Option<Wider> {
    match keyword {
        "allOf" | "anyOf" | "then" | "else" | "dependentSchemas" => Some(Wider::Here),
        "contains" if has_max_contains => None,
        "properties"
        | "patternProperties"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "items"
        | "prefixItems"
        | "unevaluatedItems"
        | "contains" => Some(Wider::Inside),
        _ => None,
    }
}

/// Leaves out the keywords that would refuse more values because a part was left out elsewhere. `known` has the ids of the
/// schemas that are wider than the original, also from earlier calls. `warn` gets the id of the schema, the JSON Pointer in it
/// and the message.
pub(super) fn widen(
    roots: &mut Roots,
    known: &mut BTreeMap<String, Wider>,
    warn: &mut dyn FnMut(&str, &str, String),
) {
    let (users, sizes) = users(roots);
    // Small schemas come before those of twice their size, and those of one size take turns: a schema that refers to many others
    // is then read a few times, and not once for each of them.
    let mut turn = 0;
    let mut next = |index: usize| {
        turn += 1;
        ((sizes[index].ilog2(), turn), index)
    };
    let mut open: BTreeMap<(u32, usize), usize> = (0..roots.len()).map(&mut next).collect();
    let mut is_open = vec![true; roots.len()];
    while let Some((_, index)) = open.pop_first() {
        is_open[index] = false;
        let (id, schema) = &mut roots[index];
        let mut pass = Pass { id, known, warn: &mut *warn };
        let (widened, wider) = pass.schema(std::mem::replace(schema, Json::Null), "");
        *schema = widened;
        if wider > known.get(id).copied().unwrap_or_default() {
            known.insert(id.clone(), wider);
            let users = users.get(id).into_iter().flatten().copied();
            let users = users.filter(|user| !std::mem::replace(&mut is_open[*user], true));
            open.extend(users.map(&mut next));
        }
    }
    for (_, schema) in roots.iter_mut() {
        *schema = unmarked(std::mem::replace(schema, Json::Null));
    }
}

/// Returns, by reference target, the indices of the schemas that refer to it, and the number of subschemas of each schema.
fn users(roots: &mut Roots) -> (BTreeMap<String, BTreeSet<usize>>, Vec<usize>) {
    let mut users: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let mut sizes = vec![0; roots.len()];
    for (index, (id, schema)) in roots.iter_mut().enumerate() {
        *schema = rebuild(std::mem::replace(schema, Json::Null), "", &mut |part, _| {
            sizes[index] += 1;
            if let Some(Json::String(reference)) = part.get("$ref") {
                users.entry(target(id, reference)).or_default().insert(index);
            }
            part
        });
    }
    (users, sizes)
}

fn unmarked(schema: Json) -> Json {
    rebuild(schema, "", &mut |part, _| match part {
        Json::Object(mut entries) => {
            entries.retain(|(key, _)| !is_mark(key));
            Json::Object(entries)
        }
        other => other,
    })
}

struct Pass<'a> {
    id: &'a str,
    known: &'a BTreeMap<String, Wider>,
    warn: &'a mut dyn FnMut(&str, &str, String),
}

impl Pass<'_> {
    fn schema(&mut self, schema: Json, at: &str) -> (Json, Wider) {
        let Json::Object(entries) = schema else { return (schema, Wider::No) };
        let has_max_contains = entries.iter().any(|(key, _)| key == "maxContains");
        let mut wider = Wider::No;
        let mut narrowing = Vec::new();
        let mut kept = Entries::new();
        for (keyword, value) in entries {
            let mut of_parts = Wider::No;
            let value = each_part(&keyword, value, at, &mut |part, at| {
                let (part, wider) = self.schema(part, at);
                of_parts = of_parts.max(wider);
                part
            });
            if let ("$ref", Json::String(reference)) = (keyword.as_str(), &value) {
                let known = self.known.get(&target(self.id, reference));
                wider = wider.max(known.copied().unwrap_or_default());
            } else if is_mark(&keyword) {
                wider = Wider::Here;
            } else if of_parts > Wider::No
                && expected(&keyword).is_some()
                && !["$defs", "contentSchema"].contains(&keyword.as_str())
            {
                match widened_by_parts(&keyword, has_max_contains) {
                    Some(most) => wider = wider.max(of_parts.min(most)),
                    None => narrowing.push(keyword.clone()),
                }
            }
            kept.push((keyword, value));
        }
        for keyword in narrowing {
            self.leave_out(&mut kept, &keyword, at);
            wider = Wider::Here;
        }
        if wider == Wider::Here {
            for keyword in ["unevaluatedItems", "unevaluatedProperties"] {
                if take(&mut kept, keyword).is_some() {
                    let message =
                        format!("`{keyword}` was left out, as a part of the schema was left out");
                    self.warn(at, message);
                }
            }
        }
        (Json::Object(kept), wider)
    }

    /// Leaves out or relaxes a keyword whose subschemas accept more values than before.
    fn leave_out(&mut self, entries: &mut Entries, keyword: &str, at: &str) {
        let has_any_of = entries.iter().any(|(key, _)| key == "anyOf");
        match keyword {
            // A value that matches exactly one schema also matches at least one.
            "oneOf" if !has_any_of => {
                for (key, _) in entries.iter_mut().filter(|(key, _)| key == "oneOf") {
                    "anyOf".clone_into(key);
                }
                mark_wider(entries);
                self.warn(at, "`oneOf` became `anyOf`, as a part of it was left out".to_owned());
            }
            // More items than before may match, so there can be no maximum.
            "contains" => {
                leave_out(entries, "maxContains");
                self.warn(at, "`maxContains` was left out, as a part of `contains` was".to_owned());
            }
            keyword => {
                leave_out(entries, keyword);
                let message = format!(
                    "`{keyword}` was left out, as a part of it was left out and the rest would refuse more values"
                );
                self.warn(at, message);
            }
        }
    }

    fn warn(&mut self, at: &str, message: String) {
        (self.warn)(self.id, at, message);
    }
}
