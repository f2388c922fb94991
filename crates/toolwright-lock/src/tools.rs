//! Compares two versions of a tool.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use toolwright::Value;
use toolwright::pointer::escaped;

use crate::classes::Classes;
use crate::finding::{Finding, Places, Proof};
use crate::lock::{LockedExample, LockedLimits, LockedTool};
use crate::rules::{self, Rule};
use crate::schemas::{Budget, Side, compare};

/// Compares two versions of a tool. Returns an error if a schema cannot be read.
pub(crate) fn changes(
    name: &str,
    old: &LockedTool,
    new: &LockedTool,
    budget: &Budget,
) -> Result<Vec<Finding>, String> {
    let mut found = Vec::new();
    let entries =
        LazyCell::new(|| [old, new].map(|tool| serde_json::to_value(tool).unwrap_or_default()));
    let mut add = |rule: &'static Rule, key: &str, words: String| {
        let pointer = format!("/{key}");
        let [old, new] = [0, 1]
            .map(|version| entries[version].pointer(&pointer).is_some().then(|| pointer.clone()));
        found.push(finding(rule, name, Places { old, new }, words));
    };
    if old.toolset != new.toolset {
        add(&rules::TOOL_MOVED, "toolset", was(&new.toolset, &old.toolset));
    }
    if old.title != new.title {
        add(&rules::WORDS_CHANGED, "title", options(new.title.as_ref(), old.title.as_ref()));
    }
    if old.description != new.description {
        add(&rules::WORDS_CHANGED, "description", was(&new.description, &old.description));
    }
    match (&old.deprecated, &new.deprecated) {
        (None, Some(_)) => {
            add(&rules::TOOL_DEPRECATED, "deprecated", "it is deprecated now".to_owned());
        }
        (Some(_), None) => {
            add(
                &rules::TOOL_NOT_DEPRECATED,
                "deprecated",
                "it is not deprecated any more".to_owned(),
            );
        }
        (old, new) if old != new => {
            add(
                &rules::WORDS_CHANGED,
                "deprecated",
                "the version, the replacement or the day".to_owned(),
            );
        }
        _ => {}
    }
    errors(&old.errors, &new.errors, &mut add);
    if old.annotations != new.annotations {
        add(
            &rules::ANNOTATION_CHANGED,
            "annotations",
            was(&flags(&new.annotations), &flags(&old.annotations)),
        );
    }
    match (&old.approval, &new.approval) {
        (None, Some(_)) => {
            add(&rules::APPROVAL_ADDED, "approval", "it needs an approval now".to_owned());
        }
        (Some(_), None) => {
            add(&rules::APPROVAL_REMOVED, "approval", "it needs no approval any more".to_owned());
        }
        (old, new) if old != new => {
            add(&rules::APPROVAL_CHANGED, "approval", "the texts or the data".to_owned());
        }
        _ => {}
    }
    limits(&old.limits, &new.limits, &mut add);
    for (property, source) in &old.inject {
        let now = new.inject.get(property);
        if now != Some(source) {
            let words = format!("`{property}`: {}", options(now, Some(source)));
            add(&rules::INJECT_CHANGED, "inject", words);
        }
    }
    if old.hints != new.hints {
        add(&rules::HINTS_CHANGED, "hints", "the templates".to_owned());
    }
    if old.tags != new.tags {
        add(&rules::TAGS_CHANGED, "tags", was(&new.tags.join(", "), &old.tags.join(", ")));
    }
    if texts(&old.examples) != texts(&new.examples) {
        add(&rules::EXAMPLES_CHANGED, "examples", "the examples".to_owned());
    }
    if old.implementation != new.implementation {
        let name = |tool: &LockedTool| {
            let parts = tool.implementation.iter();
            parts.map(|(kind, name)| format!("{kind} {name}")).collect::<Vec<_>>().join(", ")
        };
        add(
            &rules::IMPLEMENTATION_CHANGED,
            "implementation",
            was(&name(new).trim_end(), &name(old).trim_end()),
        );
    }
    found.extend(arguments(name, old, new, budget)?);
    found.extend(compare(name, Side::Result, old.result.get(), new.result.get(), budget)?);
    Ok(found)
}

/// Compares the declared errors, each with its advice.
fn errors(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    add: &mut impl FnMut(&'static Rule, &str, String),
) {
    for (error, advice) in old {
        match new.get(error) {
            None => add(&rules::ERROR_REMOVED, "errors", format!("`{error}` is gone")),
            Some(now) if now != advice => {
                add(&rules::RECOVERY_CHANGED, "errors", format!("`{error}`: {}", was(now, advice)));
            }
            Some(_) => {}
        }
    }
    for error in new.keys().filter(|error| !old.contains_key(*error)) {
        add(&rules::ERROR_ADDED, "errors", format!("`{error}` is new"));
    }
}

/// Compares how the calls of a tool are run.
fn limits(
    old: &LockedLimits,
    new: &LockedLimits,
    add: &mut impl FnMut(&'static Rule, &str, String),
) {
    if old.timeout_ms != new.timeout_ms {
        let milliseconds = |limit: Option<u64>| limit.map(|limit| format!("{limit} ms"));
        let times = [new.timeout_ms, old.timeout_ms].map(milliseconds);
        let words = options(times[0].as_ref(), times[1].as_ref());
        add(&rules::TIMEOUT_CHANGED, "limits/timeout_ms", words);
    }
    if old.attempts != new.attempts {
        let words = options(new.attempts.as_ref(), old.attempts.as_ref());
        add(&rules::ATTEMPTS_CHANGED, "limits/attempts", words);
    }
    if old.sequential != new.sequential {
        add(&rules::SEQUENTIAL_CHANGED, "limits/sequential", was(&new.sequential, &old.sequential));
    }
    if old.deferred != new.deferred {
        add(&rules::DEFER_CHANGED, "limits/deferred", was(&new.deferred, &old.deferred));
    }
    if old.strict != new.strict {
        let words = options(new.strict.as_ref(), old.strict.as_ref());
        add(&rules::STRICT_CHANGED, "limits/strict", words);
    }
}

/// Returns true if a schema declares keys beside its properties, of which an injected one may have been one.
fn has_other_keys(schema: &Value) -> bool {
    let others = ["additionalProperties", "unevaluatedProperties"];
    let mut others = others.iter().filter_map(|keyword| schema.get(keyword));
    schema.get("patternProperties").is_some()
        || others.any(|others| *others != Value::Boolean(false))
}

/// Compares the arguments. The host fills in those that are injected, so they are not gone.
fn arguments(
    name: &str,
    old: &LockedTool,
    new: &LockedTool,
    budget: &Budget,
) -> Result<Vec<Finding>, String> {
    let mut args = compare(name, Side::Args, old.args.get(), new.args.get(), budget)?;
    let old_args = LazyCell::new(|| old.args.get().parse::<Value>().unwrap_or_default());
    for (property, source) in new.inject.iter().filter(|(key, _)| !old.inject.contains_key(*key)) {
        let pointer = format!("/properties/{}", escaped(property));
        if old_args.pointer(&pointer).is_none() && !has_other_keys(&old_args) {
            let at = Places { old: None, new: Some("/inject".to_owned()) };
            let words = format!("`{property}` is new, and filled in from {source}");
            args.push(finding(&rules::INJECT_ADDED, name, at, words));
            continue;
        }
        let place = format!("/args{pointer}");
        let is_gone = |finding: &Finding| {
            finding.rule.id == rules::ARG_REMOVED.id && finding.at.old.as_ref() == Some(&place)
        };
        let removed = args.iter().position(is_gone).map(|index| args.remove(index));
        let was_required = removed.is_some_and(|gone| *gone.rule == rules::ARG_REMOVED_REQUIRED);
        let rule = if was_required { &rules::ARG_INJECTED_REQUIRED } else { &rules::ARG_INJECTED };
        let at = Places { old: Some(place), new: Some("/inject".to_owned()) };
        args.push(finding(rule, name, at, format!("`{property}` is filled in from {source}")));
    }
    Ok(args)
}

/// Returns a finding that needs no witness.
pub(crate) fn finding(rule: &'static Rule, tool: &str, at: Places, words: String) -> Finding {
    Finding {
        rule,
        tool: tool.to_owned(),
        at,
        classes: rule.classes,
        proof: Proof::Proved,
        witness: None,
        words,
    }
}

/// Returns the highest class of each viewpoint.
pub(crate) fn highest<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Classes {
    findings.into_iter().fold(Classes::default(), |highest, finding| highest.max(finding.classes))
}

/// Returns a text of a change: what it is, and what it was.
fn was(is: &dyn std::fmt::Display, was: &dyn std::fmt::Display) -> String {
    format!("{is}, was {was}")
}

fn options<T: std::fmt::Display>(is: Option<&T>, before: Option<&T>) -> String {
    let text = |value: Option<&T>| value.map_or_else(|| "none".to_owned(), T::to_string);
    was(&text(is), &text(before))
}

fn flags(annotations: &BTreeMap<String, bool>) -> String {
    let flags = annotations.iter().map(|(key, value)| format!("{key}: {value}"));
    let text = flags.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".to_owned() } else { text }
}

fn texts(examples: &[LockedExample]) -> Vec<[&str; 2]> {
    examples
        .iter()
        .map(|example| {
            [example.args.get(), example.result.as_ref().map_or("", |result| result.get())]
        })
        .collect()
}
