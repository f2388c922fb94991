//! Which named schemas are another thing in a request than in an answer: those that reach a property which goes one way
//! only. Never takes one apart.

use std::collections::{BTreeMap, BTreeSet};

use super::super::keywords::rebuild;
use super::api::says;
use super::entries;
use crate::schema::Json;

/// The names of such schemas.
pub(super) fn names(root: &Json) -> BTreeSet<String> {
    let schemas = root.get("components").map_or(&[][..], |all| entries(all, "schemas"));
    let mut found = BTreeSet::new();
    let mut uses: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, schema) in schemas {
        let (is_one_way, others) = looked_at(root, schema);
        found.extend(is_one_way.then(|| name.clone()));
        uses.insert(name, others);
    }
    loop {
        let reaches = |(name, used): (&&str, &Vec<String>)| {
            let is_new = !found.contains(*name) && used.iter().any(|other| found.contains(other));
            is_new.then(|| (*name).to_owned())
        };
        let more: Vec<String> = uses.iter().filter_map(reaches).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Whether a schema has such a property by itself, and the named schemas it refers to.
fn looked_at(root: &Json, schema: &Json) -> (bool, Vec<String>) {
    let (mut is_one_way, mut used) = (false, Vec::new());
    rebuild(schema.clone(), "", &mut |part, _| {
        let mut properties = entries(&part, "properties").iter();
        is_one_way |=
            properties.any(|(_, one)| says(root, one, "readOnly") || says(root, one, "writeOnly"));
        if let Some(Json::String(reference)) = part.get("$ref") {
            used.extend(reference.strip_prefix("#/components/schemas/").map(str::to_owned));
        }
        part
    });
    (is_one_way, used)
}
