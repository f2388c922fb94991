//! Finds the named schemas that differ between requests and responses: those that reach a `readOnly` or `writeOnly`
//! property.

use std::collections::{BTreeMap, BTreeSet};

use super::super::keywords::rebuild;
use super::entries;
use super::references::Root;
use toolwright_codegen::internal::Json;

/// Returns the names of these schemas.
pub(super) fn names(root: &Root) -> BTreeSet<String> {
    let schemas = root.get("components").map_or(&[][..], |all| entries(all, "schemas"));
    let mut open = Vec::new();
    let mut users: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, schema) in schemas {
        let (has_one, used) = inspect(root, schema);
        open.extend(has_one.then_some(name.as_str()));
        for other in used {
            users.entry(other).or_default().push(name);
        }
    }
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if found.insert(name.to_owned()) {
            open.extend(users.get(name).into_iter().flatten());
        }
    }
    found
}

/// Returns whether a schema has such a property itself, and the named schemas that it refers to.
fn inspect(root: &Root, schema: &Json) -> (bool, Vec<String>) {
    let (mut has_one, mut used) = (false, Vec::new());
    rebuild(schema.clone(), "", &mut |part, _| {
        let mut properties = entries(&part, "properties").iter();
        has_one |=
            properties.any(|(_, one)| root.sets(one, "readOnly") || root.sets(one, "writeOnly"));
        if let Some(Json::String(reference)) = part.get("$ref") {
            used.extend(reference.strip_prefix("#/components/schemas/").map(str::to_owned));
        }
        part
    });
    (has_one, used)
}
