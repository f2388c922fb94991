//! Tests of issues as sentences and as data.

use toolwright::codec::from_json;
use toolwright::issue::{Issue, IssueKind, Names};
use toolwright::{InvalidPayload, Value};

use super::model::{Item, Status, issues};

#[test]
fn each_issue_displays_on_its_own_line() {
    let invalid = from_json::<Item>(br#"{"id":"a","status":"don","tags":[1]}"#).unwrap_err();
    let expected = "`/status`: found \"don\", expected one of \"pending\", \"in_progress\", \"done\", did you mean \"done\"?\n\
        `/tags/0`: found the number 1, expected a string";
    assert_eq!(invalid.to_string(), expected);
}

#[test]
fn issues_convert_to_json() {
    let invalid = from_json::<Item>(br#"{"id":"123456789","status":"done"}"#).unwrap_err();
    let expected = r#"[
        {"pointer":"/id","code":"too_long","message":"has 9 characters, at most 8 allowed","found":9,"limit":8},
        {"pointer":"/tags","code":"missing","message":"is missing"}
    ]"#;
    assert_eq!(invalid.to_value(), expected.parse::<Value>().unwrap());
    let invalid = from_json::<Status>(b"\"x\"").unwrap_err();
    assert_eq!(
        invalid.to_value().pointer("/0/expected").map(ToString::to_string).as_deref(),
        Some(r#"["pending","in_progress","done"]"#)
    );
}

#[test]
fn a_long_value_is_truncated() {
    let long = "é".repeat(1000);
    let found = issues::<i64>(&format!("\"{long}\""));
    let expected =
        format!("the payload: found the string \"{}…, expected an integer", "é".repeat(58));
    assert_eq!(found, [expected]);
    assert!(issues::<i64>(&format!("{}.5", "1".repeat(10_000)))[0].len() < 150);
    assert!(issues::<i64>(&"9".repeat(100_000))[0].len() < 150);
}

#[test]
fn an_object_without_known_keys_has_a_message_of_its_own() {
    let kind = IssueKind::UnknownKey { key: "x".into(), known: Names::default() };
    let issue = Issue::new("/x", kind);
    assert_eq!(issue.to_string(), "`/x`: unknown key `x`, no key is allowed here");
    assert_eq!((issue.pointer(), issue.code()), ("/x", "unknown_key"));
    assert_eq!(InvalidPayload::new(vec![issue.clone()]).issues(), [issue]);
}
