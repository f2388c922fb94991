//! Separates properties of one object whose Rust fields would have the same name, such as `+1` and `-1`. The first keeps its
//! field; the others stay untyped but are checked all the same, so the schema accepts the same values.

use std::collections::BTreeSet;

use super::keywords::Entries;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// What has a meaning in a regular expression (ECMA-262, "SyntaxCharacter").
const SYNTAX: &str = r"^$\.*+?()[]{}|/";

/// Moves such properties out of `properties`, and out of `required`, which makes fields too; whether there were any.
pub(super) fn separate(entries: &mut Entries) -> bool {
    let mut fields = BTreeSet::new();
    let mut has_field = |name: &str| fields.insert(naming::identifier(name));
    let (mut known, mut apart) = (Entries::new(), Entries::new());
    if let Some((_, Json::Object(properties))) =
        entries.iter_mut().find(|(key, _)| key == "properties")
    {
        (known, apart) =
            std::mem::take(properties).into_iter().partition(|(name, _)| has_field(name));
        properties.clone_from(&known);
    }
    let is_known = |name: &str| known.iter().any(|(known, _)| known == name);
    let mut demanded = Vec::new();
    if let Some((_, Json::Array(required))) = entries.iter_mut().find(|(key, _)| key == "required")
    {
        required.retain(|name| {
            let Json::String(text) = name else { return true };
            let stays = is_known(text) || has_field(text);
            demanded.extend((!stays).then(|| name.clone()));
            stays
        });
    }
    let is_any = !apart.is_empty() || !demanded.is_empty();
    if !apart.is_empty() {
        let patterns = apart.into_iter().map(|(name, schema)| (exactly(&name), schema)).collect();
        merge(entries, "patternProperties", patterns);
    }
    if !demanded.is_empty() {
        // Behind a condition that always holds: a part of an `allOf` would make fields too.
        let demand = Json::Object(vec![("required".to_owned(), Json::Array(demanded))]);
        let demand = vec![("if".to_owned(), Json::Boolean(true)), ("then".to_owned(), demand)];
        let has_condition = entries.iter().any(|(key, _)| key == "if");
        match entries.iter_mut().find(|(key, _)| key == "allOf") {
            _ if !has_condition => entries.extend(demand),
            Some((_, Json::Array(all))) => all.push(Json::Object(demand)),
            _ => entries.push(("allOf".to_owned(), Json::Array(vec![Json::Object(demand)]))),
        }
    }
    is_any
}

fn merge(entries: &mut Entries, key: &str, more: Entries) {
    match entries.iter_mut().find(|(known, _)| known == key) {
        Some((_, Json::Object(known))) => known.extend(more),
        _ => entries.push((key.to_owned(), Json::Object(more))),
    }
}

/// A pattern that one name matches.
fn exactly(name: &str) -> String {
    let escaped = name.chars().flat_map(|c| {
        let escape = SYNTAX.contains(c).then_some('\\');
        escape.into_iter().chain([c])
    });
    format!("^{}$", escaped.collect::<String>())
}
