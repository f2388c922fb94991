//! Tests of the YAML reader.

use std::fmt::Write as _;

use super::{Node, Value, parse};
use crate::diagnostic::Report;
use crate::source::{Source, Sources};

fn read(text: &str) -> (Option<Node>, Vec<String>) {
    let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text: text.to_owned() }]);
    let mut report = Report::default();
    let node = sources.iter().find_map(|(id, source)| parse(id, &source.text, &mut report));
    let show = |finding: crate::diagnostic::Diagnostic| {
        let place = sources.line_column(finding.span.expect("placed"));
        format!("{}:{} {}", place.line, place.column, finding.code)
    };
    (node, report.into_findings().into_iter().map(show).collect())
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    let cases = [
        ("no", "\"no\""),
        ("yes", "\"yes\""),
        ("true", "true"),
        ("null", "null"),
        ("~", "null"),
        ("12", "12"),
        ("+012", "12"),
        ("0x1F", "31"),
        ("0o17", "15"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-1.50", "-1.50"),
        ("1e3", "1e3"),
        ("1.0.0", "\"1.0.0\""),
        ("'12'", "\"12\""),
        ("0xZZ", "\"0xZZ\""),
        ("1_000", "\"1_000\""),
        ("e3", "\"e3\""),
        ("-", "[null]"),
    ];
    for (yaml, json) in cases {
        assert_eq!(read(yaml).0.expect(yaml).to_json().to_string(), json, "{yaml}");
    }
}

#[test]
fn a_span_covers_the_bytes_of_its_value() {
    let text =
        "\u{feff}ä: {ö: [é, \"ü x\"]}\r\nb: |\r\n  œuvre\r\nc:\r\n- d: €\r\n  e: 1\r\nf: last";
    let node = read(text).0.expect("valid");
    let text_of = |node: &Node| text[node.span.start as usize..node.span.end as usize].to_owned();
    let list = node.get("ä").and_then(|node| node.get("ö")).expect("there");
    assert_eq!(text_of(list), "[é, \"ü x\"]");
    let Value::Sequence(items) = &list.value else { panic!("a list") };
    assert_eq!(text_of(&items[0]), "é");
    assert_eq!(text_of(&items[1]), "\"ü x\"");
    assert_eq!(text_of(node.get("c").expect("there")), "d: €\r\n  e: 1");
    assert_eq!(text_of(node.get("f").expect("there")), "last");
    let key = &node.entries().expect("mapping")[3].key;
    assert_eq!(&text[key.span.start as usize..key.span.end as usize], "f");
}

#[test]
fn broken_input_is_a_located_error() {
    let cases = [
        ("ä: 1\na: [1", "2:6 yaml-syntax"),
        ("ü: 1\nü: 2", "1:1 duplicate-key"),
        ("a: &x 1\nb: {<<: *x}", "2:5 yaml-merge-key"),
        ("a: 1\n---\nb: 2", "2:1 yaml-documents"),
        ("a: .inf", "1:4 yaml-number"),
        ("a: 1e-100000000000000000000000000000000000000", "1:4 yaml-number"),
        ("a: !!str 1", "1:4 yaml-tag"),
        ("1: a", "1:1 yaml-key"),
        ("[a]: b", "1:1 yaml-key"),
        ("a: &x [*x]", "1:8 yaml-alias"),
        ("a: *x", "1:4 yaml-syntax"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text).1, [expected], "{text}");
    }
}

#[test]
fn bombs_are_refused_quickly() {
    let mut laughs = "a0: &a0 [x, x]\n".to_owned();
    for level in 1..40 {
        let _ = writeln!(laughs, "a{level}: &a{level} [*a{0}, *a{0}]", level - 1);
    }
    for text in [laughs, "[".repeat(100_000), "{a: ".repeat(100_000), "- ".repeat(100_000)] {
        let (node, findings) = read(&text);
        assert!(node.is_none());
        // The parser has a limit of its own on open brackets.
        assert!(findings[0].contains(" yaml-"), "{findings:?}");
    }
}
