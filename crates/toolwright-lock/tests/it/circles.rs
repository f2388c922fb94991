//! Compares types that refer to each other in circles.

use serde_json::{Value, json};
use toolwright_lock::{Lock, diff};

/// Returns the lock of a tool whose arguments are a circle of this many types, each with a value of a kind.
fn circle(types: usize, kind: &str) -> Lock {
    let definition = |at: usize| {
        let next = format!("#/$defs/D{}", (at + 1) % types);
        let body = json!({ "type": "object", "properties": { "value": { "type": kind }, "next": { "$ref": next } } });
        (format!("D{at}"), body)
    };
    let definitions: serde_json::Map<String, Value> = (0..types).map(definition).collect();
    let args = json!({ "type": "object", "properties": { "first": { "$ref": "#/$defs/D0" } }, "$defs": definitions });
    let tool = json!({
        "toolset": "t", "description": "Finds.", "args": args, "result": {}, "implementation": { "external": "" },
    });
    let toolsets = json!({ "t": { "service": "a" } });
    let lock = json!({
        "lock": 1, "language": 1, "toolsets": toolsets, "tools": { "find": tool }, "names": {},
    });
    Lock::parse(&lock.to_string()).unwrap()
}

#[test]
fn long_circles_of_types_are_compared() {
    let found = diff(&circle(3_000, "string"), &circle(3_000, "integer")).unwrap();
    assert_eq!(found.findings.len(), 3_000);
}

/// Each type of one may have to be compared with each of the other.
#[test]
fn circles_of_different_lengths_are_compared_if_they_are_small() {
    let found = diff(&circle(20, "string"), &circle(19, "integer")).unwrap();
    assert_eq!(found.findings.len(), 20 * 19);
    let refused = diff(&circle(1_000, "string"), &circle(999, "integer")).unwrap_err();
    assert!(refused.to_string().contains("differ in too many ways"), "{refused}");
}
