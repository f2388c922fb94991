//! What a schema loses where a part of it is left out, so that the rest never accepts less than the whole did. "Anything"
//! in the place of a part accepts more where the keywords around it accept more the more the part does; the outermost
//! keyword that does not, such as `not`, is left out too.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::keywords::{Entries, each_part, rebuild, take};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::keyword::{expected, is_annotation};

/// The key that marks a schema as wider than the original, because a part of it was left out.
const LEFT_OUT: &str = "\u{0}left out";

/// How much more a schema accepts than it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wider {
    /// It is as it was.
    #[default]
    No,
    /// In a value further in, which changes nothing about which properties and items are evaluated.
    Further,
    /// In the value itself.
    Here,
}

/// Schemas that refer to each other, by what references call them: [`target`] makes one of the other.
pub(super) type Roots = Vec<(String, Json)>;

/// What a reference in one of such schemas calls another: `#` and `#/$defs/X` stay in their schema, any other is a type.
fn target(from: &str, reference: &str) -> String {
    let scope = from.split('#').next().unwrap_or_default();
    match reference.strip_prefix('#') {
        Some("") => scope.to_owned(),
        Some(_) => format!("{scope}{reference}"),
        None => reference.rsplit('.').next().unwrap_or(reference).to_owned(),
    }
}

/// A schema of which nothing is known.
pub(super) fn anything() -> Json {
    Json::Object(vec![mark()])
}

/// Leaves a keyword out, and those beside it that would accept less without it. The names of these are returned.
pub(super) fn leave_out(entries: &mut Entries, keyword: &str) -> Vec<&'static str> {
    let was_there = take(entries, keyword).is_some();
    if !was_there || expected(keyword).is_none() || is_annotation(keyword) {
        return Vec::new();
    }
    mark_wider(entries);
    let leaning = leaning_on(keyword).iter().copied();
    leaning.filter(|other| take(entries, other).is_some()).collect()
}

/// Marks a schema as wider than the original.
pub(super) fn mark_wider(entries: &mut Entries) {
    if !entries.iter().any(|(key, _)| key == LEFT_OUT) {
        entries.push(mark());
    }
}

/// Stands where a part was left out.
pub(super) fn mark() -> (String, Json) {
    (LEFT_OUT.to_owned(), Json::Boolean(true))
}

/// Whether an entry is no keyword but the mark of a part that was left out.
pub(super) fn is_mark(key: &str) -> bool {
    key == LEFT_OUT
}

/// The keywords that accept less, or mean nothing, where another is not beside them (2020-12 core, 10.2.2, 10.3 and 11).
fn leaning_on(keyword: &str) -> &'static [&'static str] {
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

/// Whether a keyword accepts more the more its schemas do, and whether these are about the same value.
fn grows(keyword: &str, has_max_contains: bool) -> Option<Wider> {
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
        | "contains" => Some(Wider::Further),
        _ => None,
    }
}

/// Leaves out what would accept less because of a part that was left out elsewhere. `known` are the schemas that accept
/// more than they did, earlier ones too. `told` gets the schema, the place in it, and what happened there.
pub(super) fn widen(
    roots: &mut Roots,
    known: &mut BTreeMap<String, Wider>,
    told: &mut dyn FnMut(&str, &str, String),
) {
    let users = users(roots);
    let mut open: VecDeque<usize> = (0..roots.len()).collect();
    let mut is_open = vec![true; roots.len()];
    while let Some(index) = open.pop_front() {
        is_open[index] = false;
        let (id, schema) = &mut roots[index];
        let mut pass = Pass { id, known, told: &mut *told };
        let (widened, wider) = pass.schema(std::mem::replace(schema, Json::Null), "");
        *schema = widened;
        if wider > known.get(id).copied().unwrap_or_default() {
            known.insert(id.clone(), wider);
            let users = users.get(id).into_iter().flatten().copied();
            open.extend(users.filter(|user| !std::mem::replace(&mut is_open[*user], true)));
        }
    }
    for (_, schema) in roots.iter_mut() {
        *schema = unmarked(std::mem::replace(schema, Json::Null));
    }
}

/// Returns, by reference target, the indices of the schemas that refer to it.
fn users(roots: &mut Roots) -> BTreeMap<String, BTreeSet<usize>> {
    let mut users: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (index, (id, schema)) in roots.iter_mut().enumerate() {
        *schema = rebuild(std::mem::replace(schema, Json::Null), "", &mut |part, _| {
            if let Some(Json::String(reference)) = part.get("$ref") {
                users.entry(target(id, reference)).or_default().insert(index);
            }
            part
        });
    }
    users
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
    told: &'a mut dyn FnMut(&str, &str, String),
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
                match grows(&keyword, has_max_contains) {
                    Some(reach) => wider = wider.max(of_parts.min(reach)),
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
                    self.tell(
                        at,
                        format!("`{keyword}` was left out, as what it is beside was in part"),
                    );
                }
            }
        }
        (Json::Object(kept), wider)
    }

    /// Leaves out a keyword whose parts accept more than they did.
    fn leave_out(&mut self, entries: &mut Entries, keyword: &str, at: &str) {
        let has_any_of = entries.iter().any(|(key, _)| key == "anyOf");
        match keyword {
            // What fits one of several fits any of them.
            "oneOf" if !has_any_of => {
                for (key, _) in entries.iter_mut().filter(|(key, _)| key == "oneOf") {
                    "anyOf".clone_into(key);
                }
                mark_wider(entries);
                self.tell(at, "`oneOf` became `anyOf`, as a part of it was left out".to_owned());
            }
            // Any number of items may fit what more items fit.
            "contains" => {
                leave_out(entries, "maxContains");
                self.tell(at, "`maxContains` was left out, as a part of `contains` was".to_owned());
            }
            keyword => {
                leave_out(entries, keyword);
                let message = format!(
                    "`{keyword}` was left out, as a part of it was and the rest would accept less"
                );
                self.tell(at, message);
            }
        }
    }

    fn tell(&mut self, at: &str, message: String) {
        (self.told)(self.id, at, message);
    }
}
