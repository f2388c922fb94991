//! Separates properties of one object whose Rust fields would have the same name, such as `+1` and `-1`. The first keeps its
//! field. The others move to `patternProperties`: they get no field, and the schema accepts the same values.

use std::collections::BTreeSet;

use super::keywords::Entries;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// The characters that have a meaning in a regular expression (ECMA-262, "SyntaxCharacter").
const SYNTAX: &str = r"^$\.*+?()[]{}|/";

/// Moves such properties out of `properties`, and out of `required`, which makes fields too. Returns whether there were any.
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
    let known: BTreeSet<&str> = known.iter().map(|(known, _)| known.as_str()).collect();
    let mut moved = Vec::new();
    if let Some((_, Json::Array(required))) = entries.iter_mut().find(|(key, _)| key == "required")
    {
        required.retain(|name| {
            let Json::String(text) = name else { return true };
            let stays = known.contains(text.as_str()) || has_field(text);
            moved.extend((!stays).then(|| name.clone()));
            stays
        });
    }
    let is_any = !apart.is_empty() || !moved.is_empty();
    if !apart.is_empty() {
        let patterns = apart.into_iter().map(|(name, schema)| (exactly(&name), schema)).collect();
        merge(entries, "patternProperties", patterns);
    }
    if !moved.is_empty() {
        // In `then` beside `if: true`, as a member of `allOf` would make fields too.
        let required = Json::Object(vec![("required".to_owned(), Json::Array(moved))]);
        let always = vec![("if".to_owned(), Json::Boolean(true)), ("then".to_owned(), required)];
        let has_condition = entries.iter().any(|(key, _)| key == "if");
        match entries.iter_mut().find(|(key, _)| key == "allOf") {
            _ if !has_condition => entries.extend(always),
            Some((_, Json::Array(all))) => all.push(Json::Object(always)),
            _ => entries.push(("allOf".to_owned(), Json::Array(vec![Json::Object(always)]))),
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

/// A pattern that only one name matches.
fn exactly(name: &str) -> String {
    let escaped = name.chars().flat_map(|c| {
        let escape = SYNTAX.contains(c).then_some('\\');
        escape.into_iter().chain([c])
    });
    format!("^{}$", escaped.collect::<String>())
}
