//! The class of changes for Rust: without `non_exhaustive`, and with it in both versions.

use std::time::{Duration, Instant};

use toolwright_lock::Change::{self, Major, Minor, None, Patch};
use toolwright_lock::{Lock, Policy, Viewpoint, diff};

use crate::cases::lock;

const OLD: &str = "toolwright: 1
service: shop
types:
  Status: { enum: [a-b, open] }
  Mixed: { enum: [a, 1] }
  Circle: { type: object, required: [kind], properties: { kind: { const: circle } } }
  Square: { type: object, required: [kind], properties: { kind: { const: square }, side: { type: integer } } }
  Shape: { oneOf: [{ $ref: Circle }, { $ref: Square }] }
  Part: { type: object, properties: { size: { type: integer } } }
  Empty: { type: object }
methods:
  place:
    payload:
      type: object
      required: [item, amount]
      properties:
        item: { type: string, maxLength: 80, minLength: 1 }
        amount: { type: integer, default: 3 }
        page: { type: integer, default: 3 }
        status: { $ref: Status }
        mixed: { $ref: Mixed }
        shape: { $ref: Shape }
        single: { $ref: Circle }
        part: { $ref: Part }
        empty: { $ref: Empty }
    result: { type: object, properties: { id: { type: string }, count: { type: integer, default: 1 } } }
    errors: { gone: { message: Gone. } }
  find: { payload: { type: object, properties: { query: { type: string } } } }
toolsets:
  shop: { version: 1.0.0, tools: { place: { description: Places., bind: place }, find: { description: Finds., bind: find } } }
";

/// A change of the schema, with its class without the option and with it.
#[rustfmt::skip]
const CHANGES: &[(&str, &str, Change, Change)] = &[
    ("", "", None, None),
    ("Places.", "Orders.", Patch, Patch),
    ("{ size: ", "{ color: { type: string }, size: ", Major, Minor),
    ("single: {", "gift: { type: boolean }\n        single: {", Major, Minor),
    ("{ id: ", "{ paid: { type: boolean }, id: ", Major, Minor),
    ("{ size: ", "{ additional: { type: string }, size: ", Major, Major),
    ("{ size: ", "{ whole: { $ref: Part }, size: ", Major, Major),
    ("{ size: ", "{ all: { $ref: Wrapped }, size: ", Major, Major),
    ("Empty: { type: object }", "Empty: { type: object, properties: { a: { type: string } } }", Major, Major),
    ("[item, amount]", "[item, amount, page]", Major, Major),
    ("[a-b, open]", "[a-b, open, sent]", Major, Minor),
    ("[a-b, open]", "[a-b, open, a+b]", Major, Major),
    ("[a-b, open]", "[a-b, open, 1]", Major, Major),
    ("[a, 1]", "[a, 1, true]", Major, Major),
    ("[a, 1]", "[a, 1, b]", Major, Minor),
    ("{ $ref: Square }] }", "{ $ref: Square }, { type: object, required: [kind], properties: { kind: { const: dot } } }] }", Major, Minor),
    ("single: { $ref: Circle }", "single: { $ref: Shape }", Major, Major),
    ("gone: {", "full: { message: Full. }, gone: {", Major, Minor),
    ("query: { type: string } } } }", "query: { type: string } } }, errors: { none: { message: Nothing. } } }", Major, Major),
    ("maxLength: 80", "maxLength: 40", Patch, Patch),
    (", minLength: 1", ", minLength: 2", Patch, Patch),
    (", minLength: 1", "", Major, Major),
    ("query: { type: string }", "query: { type: string, pattern: '^a' }", Major, Major),
    ("page: { type: integer, default: 3 }", "page: { type: integer, default: 4 }", Patch, Patch),
    ("page: { type: integer, default: 3 }", "page: { type: integer, default: 0 }", Major, Major),
    ("page: { type: integer, default: 3 }", "page: { type: integer }", Major, Major),
    ("count: { type: integer, default: 1 }", "count: { type: integer }", Major, Major),
    ("place: { description", "again: { description: Places., bind: place }, place: { description", Minor, Minor),
    ("place: { description", "more: { description: Asks. }, place: { description", Major, Major),
    ("methods:\n", "methods:\n  pay: {}\n#", Major, Major),
];

/// Returns the lock of the schema after a change.
fn changed(from: &str, to: &str) -> Lock {
    assert!(OLD.contains(from), "{from}");
    let mut new = OLD.replacen(from, to, 1);
    if to.contains("Wrapped") {
        new = new.replacen(
            "  Empty:",
            "  Wrapped: { type: object, properties: { part: { $ref: Part } } }\n  Empty:",
            1,
        );
    }
    if to.contains("pay:") {
        new = OLD.replacen(from, "methods:\n  pay: {}\n", 1);
        new = new.replacen("tools: {", "tools: { pay: { description: Pays., bind: pay },", 1);
    }
    lock(&new)
}

#[test]
fn each_change_has_a_class_without_the_option_and_one_with_it() {
    let old = lock(OLD);
    let mut wrong = Vec::new();
    for (from, to, without, with) in CHANGES {
        let new = changed(from, to);
        for (option, expected) in [(false, *without), (true, *with)] {
            let locks = [&old, &new].map(|lock| lock.clone().with_non_exhaustive(option));
            let found = diff(&locks[0], &locks[1]).expect("the schemas can be read");
            if found.classes.rust != expected {
                wrong.push(format!("{from:?} {to:?} {option}: found {found:?}"));
            }
        }
        if !to.is_empty() {
            let mixed =
                diff(&old, &new.with_non_exhaustive(true)).expect("the schemas can be read");
            assert_eq!(mixed.classes.rust, Major, "{to}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_option_is_in_the_lock_only_if_it_is_on() {
    let off = lock(OLD);
    let text = off.clone().to_text();
    assert!(!text.contains("non_exhaustive"));
    let on = off.clone().with_non_exhaustive(true).to_text();
    assert!(
        on.starts_with("{\n  \"lock\": 1,\n  \"language\": 1,\n  \"non_exhaustive\": true,\n"),
        "{on}"
    );
    assert_eq!(Lock::parse(&on).map(|mut lock| lock.to_text()), Ok(on.clone()));
    assert!(Lock::parse(&on.replacen("true", "\"yes\"", 1)).is_err());
}

#[test]
fn turning_the_option_on_or_off_needs_a_major_version() {
    let off = lock(OLD);
    let versions = [("1.0.1", 1), ("1.1.0", 1), ("2.0.0", 0)];
    for (version, broken) in versions {
        let next = lock(&OLD.replacen("1.0.0", version, 1));
        let pairs = [
            (off.clone(), next.clone().with_non_exhaustive(true), "it was turned on"),
            (off.clone().with_non_exhaustive(true), next, "it was turned off"),
        ];
        for (old, new, words) in pairs {
            let found = diff(&old, &new).expect("the schemas can be read");
            let lines: Vec<_> = found
                .findings
                .iter()
                .map(|finding| (finding.rule.id, finding.tool.as_str(), finding.words.as_str()))
                .collect();
            assert_eq!(lines, [("NON_EXHAUSTIVE_CHANGED", "shop", words)]);
            let policy = Policy { viewpoints: vec![Viewpoint::Rust], ..Policy::default() };
            assert_eq!(policy.breaking(&found, &old, &new).len(), broken, "{version}");
            assert!(Policy::default().breaking(&found, &old, &new).is_empty());
        }
    }
}

#[test]
fn many_new_variants_take_about_as_long_with_the_option_as_without() {
    let shapes = |count: usize| {
        let shape = |n| {
            format!(
                "{{ type: object, required: [kind], properties: {{ kind: {{ const: k{n} }} }} }}"
            )
        };
        let shapes: Vec<String> = (0..count).map(shape).collect();
        let text = format!(
            "toolwright: 1
service: shop
toolsets:
  shop: {{ tools: {{ draw: {{ description: Draws., args: {{ type: object, properties: {{ shape: {{ oneOf: [{}] }} }} }} }} }} }}
",
            shapes.join(", ")
        );
        lock(&text)
    };
    let (old, new) = (shapes(2), shapes(2_000));
    let took = |option: bool| {
        let locks = [&old, &new].map(|lock| lock.clone().with_non_exhaustive(option));
        let start = Instant::now();
        let found = diff(&locks[0], &locks[1]).expect("the schemas can be read");
        assert_eq!(found.findings.len(), 1_998);
        start.elapsed()
    };
    let (without, with) = (took(false), took(true));
    assert!(with < without * 3 + Duration::from_secs(1), "{with:?}, and {without:?} without");
}
