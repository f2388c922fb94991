//! Compares listings of remote MCP servers.

use std::collections::BTreeSet;

use toolwright::Value;
use toolwright::pointer::escaped;
use toolwright::untrusted::without_texts;
use toolwright::value::Kind;

use crate::classes::Trust;
use crate::drafts::is_as_in_2020;
use crate::finding::{Finding, Places};
use crate::listing::LockedServer;
use crate::rules;
use crate::schemas::{Budget, Side, compare};
use crate::tools::finding;

/// Compares two listings of a server, which has this name in the project.
pub(crate) fn changes(
    name: &str,
    old: &LockedServer,
    new: &LockedServer,
    budget: &Budget,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tools: BTreeSet<&String> = old.listed.keys().chain(new.listed.keys()).collect();
    for tool in tools {
        let shown = format!("{name}/{tool}");
        match (old.listed.get(tool), new.listed.get(tool)) {
            (Some(was), Some(is)) => {
                findings.extend(changed(&shown, &was.value(), &is.value(), budget));
            }
            (Some(_), None) => {
                let at = Places { old: Some(String::new()), new: None };
                findings.push(finding(
                    &rules::TOOL_REMOVED,
                    &shown,
                    at,
                    "it is not listed".to_owned(),
                ));
            }
            (None, Some(_)) => {
                let at = Places { old: None, new: Some(String::new()) };
                findings.push(finding(&rules::TOOL_ADDED, &shown, at, "it is listed".to_owned()));
            }
            (None, None) => {}
        }
    }
    findings
}

/// Compares the objects of a tool member by member. What is not known counts as a capability.
fn changed(tool: &str, was: &Value, is: &Value, budget: &Budget) -> Vec<Finding> {
    let (Some(was), Some(is)) = (was.as_object(), is.as_object()) else { return Vec::new() };
    let members: BTreeSet<&str> = was.keys().chain(is.keys()).collect();
    let mut found = Vec::new();
    for member in members {
        let (before, after) = (was.get(member), is.get(member));
        if before == after {
            continue;
        }
        let at = || {
            let place = format!("/{}", escaped(member));
            Places { old: before.map(|_| place.clone()), new: after.map(|_| place) }
        };
        let text =
            |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), Value::to_string);
        let words = format!("{}, was {}", text(after), text(before));
        let side = match member {
            "inputSchema" => Some((Side::Args, "/args")),
            "outputSchema" => Some((Side::Result, "/result")),
            _ => None,
        };
        match (member, side, before, after) {
            ("title" | "description", ..) => {
                found.push(finding(&rules::WORDS_CHANGED, tool, at(), words));
            }
            ("annotations", ..) => {
                found.push(finding(&rules::ANNOTATION_CHANGED, tool, at(), words));
            }
            (_, Some((side, root)), Some(before), Some(after)) => {
                let compared = if is_as_in_2020(before) && is_as_in_2020(after) {
                    let [old, new] = [before, after].map(without_dialect);
                    compare(tool, side, &old.to_string(), &new.to_string(), budget)
                } else {
                    Err("its draft of JSON Schema gives keywords another meaning".to_owned())
                };
                match compared {
                    // What the comparison does not see may be anything, such as a comment.
                    Ok(changes) if changes.iter().all(is_unseen) => {
                        found.push(finding(&rules::REMOTE_CHANGED, tool, at(), words));
                    }
                    Ok(changes) => {
                        let is_reviewed =
                            changes.iter().any(|change| change.classes.trust > Trust::Same);
                        let [old, new] = [before, after].map(strings);
                        // A text that is new and was not compared.
                        if !is_reviewed && !new.is_subset(&old) {
                            found.push(finding(&rules::REMOTE_CHANGED, tool, at(), words));
                        }
                        found.extend(changes.into_iter().map(|mut change| {
                            for place in
                                [&mut change.at.old, &mut change.at.new].into_iter().flatten()
                            {
                                *place = place.replacen(root, &format!("/{member}"), 1);
                            }
                            change
                        }));
                    }
                    Err(_) if without_texts(before) == without_texts(after) => {
                        found.push(finding(&rules::WORDS_CHANGED, tool, at(), words));
                    }
                    Err(reason) => {
                        let words = format!("{reason}; {words}");
                        found.push(finding(&rules::REMOTE_SCHEMA_CHANGED, tool, at(), words));
                    }
                }
            }
            (_, Some(_), ..) => {
                found.push(finding(&rules::REMOTE_SCHEMA_CHANGED, tool, at(), words));
            }
            _ => found.push(finding(&rules::REMOTE_CHANGED, tool, at(), words)),
        }
    }
    found
}

/// Returns whether a finding says that the same values are accepted.
fn is_unseen(finding: &Finding) -> bool {
    [rules::SAME_SET.id, rules::ORDER_CHANGED.id].contains(&finding.rule.id)
}

/// Returns a schema without the name of its draft, which many servers write.
fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(entries) = &mut schema {
        entries.remove("$schema");
    }
    schema
}

/// Returns all texts and keys of a schema.
fn strings(schema: &Value) -> BTreeSet<String> {
    match schema {
        Value::String(text) => BTreeSet::from([text.clone()]),
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(entries) => {
            let entry = |(key, value): (&str, &Value)| {
                // The names of types are compared. A property may have that name, too.
                let is_kind =
                    |value: &Value| value.as_str().is_some_and(|it| Kind::from_name(it).is_some());
                let is_name = is_kind(value)
                    || value.as_array().is_some_and(|names| names.iter().all(is_kind));
                let mut found =
                    if key == "type" && is_name { BTreeSet::new() } else { strings(value) };
                found.insert(key.to_owned());
                found
            };
            entries.iter().flat_map(entry).collect()
        }
        _ => BTreeSet::new(),
    }
}
