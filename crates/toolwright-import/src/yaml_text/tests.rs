//! Tests that written YAML reads back as the same value, and that its layout is as expected.

use expect_test::expect;
use proptest::prelude::*;

use super::document;
use crate::json_text;
use toolwright_codegen::diagnostic::Report;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::yaml;
use toolwright_codegen::{Source, Sources};

fn read_back(text: &str) -> Json {
    let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text: text.to_owned() }]);
    let mut report = Report::default();
    let node = sources.iter().find_map(|(id, source)| yaml::parse(id, &source.text, &mut report));
    let findings = report.into_findings();
    assert!(findings.is_empty(), "{findings:?}\n{text}");
    node.expect("a document").to_json()
}

fn written(json: &str) -> String {
    let Json::Object(entries) = json_text::read(json).expect(json) else { panic!("an object") };
    document(&entries)
}

/// Pieces with a meaning in YAML, and characters that are easily lost.
const PIECES: [&str; 72] = [
    " ",
    "  ",
    "\n",
    "\n\n",
    "\n ",
    " \n",
    "\t",
    "\r",
    "\r\n",
    ": ",
    ":",
    " #",
    "#",
    "- ",
    "-",
    "---",
    "...",
    "? ",
    "?",
    "|",
    ">",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    "`",
    "'",
    "''",
    "\"",
    "\\",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "<<",
    "=",
    "~",
    "null",
    "True",
    "no",
    "on",
    "0",
    "1.5",
    "0x1F",
    "1e3",
    ".inf",
    "+1",
    "2020-01-01",
    "12:30",
    "a",
    "word",
    "ä",
    "日本",
    "🦀",
    "👩\u{200d}👩\u{200d}👧",
    "\0",
    "\u{7}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "\u{200b}",
    "\u{202e}",
    "\u{2028}",
    "\u{2067}",
    "\u{feff}",
    "\u{ffff}",
    "\u{10ffff}",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..8)
        .prop_map(|pieces| pieces.concat());
    let prose =
        prop::collection::vec("[a-zA-Z,.:#'-]{1,12}", 8..40).prop_map(|words| words.join(" "));
    let lines = prop::collection::vec("[ a-z#:-]{0,12}", 1..6).prop_map(|lines| lines.join("\n"));
    prop_oneof![4 => pieces, 1 => prose, 2 => lines, 1 => any::<String>(), 1 => "[ a-z]{500,1500}"]
}

fn short() -> impl Strategy<Value = Json> {
    prop_oneof![
        prop::sample::select(PIECES.to_vec()).prop_map(Json::string),
        "[a-zA-Z0-9 #:-]{0,20}".prop_map(Json::String),
        number().prop_map(Json::Number),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof!["-?(0|[1-9][0-9]{0,30})", "-?(0|[1-9][0-9]{0,3})\\.[0-9]{1,4}(e[+-]?[0-9]{1,3})?"]
}

fn value() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Boolean),
        number().prop_map(Json::Number),
        text().prop_map(Json::String),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec(short(), 5..60).prop_map(Json::Array),
            entries(inner).prop_map(Json::Object),
        ]
    })
}

fn entries(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Vec<(String, Json)>> {
    prop::collection::vec((text(), value), 1..6).prop_map(|mut entries| {
        let mut seen = std::collections::BTreeSet::new();
        entries.retain(|(key, _)| seen.insert(key.clone()));
        entries
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_reads_back(entries in entries(value())) {
        let text = document(&entries);
        prop_assert_eq!(read_back(&text), Json::Object(entries), "{}", text);
    }
}

#[test]
fn every_piece_reads_back_alone_as_key_and_value_in_block_and_flow() {
    for piece in PIECES {
        for text in
            [piece.to_owned(), format!("{piece}x"), format!("x{piece}"), format!("x{piece}y\nz")]
        {
            let leaf = Json::Object(vec![(text.clone(), Json::String(text.clone()))]);
            let long = Json::string(format!("{text}{}", " word".repeat(40)));
            let list = Json::Array(vec![long.clone(), Json::string(text.clone()), leaf.clone()]);
            let entries =
                vec![(text.clone(), leaf), ("first".to_owned(), long), ("second".to_owned(), list)];
            let written = document(&entries);
            assert_eq!(read_back(&written), Json::Object(entries), "{written}");
        }
    }
}

#[test]
fn a_document_has_the_expected_layout() {
    let json = r##"{"toolwright": 1, "service": "git", "types": {"Size": {"type": "string", "enum": ["no", "1", "big one"]}},
        "toolsets": {"git": {"description": "Tools: of git.", "tools": {"diff": {
            "description": "Shows differences.\n\nArgs:\n    target: a commit, or #1\n",
            "title": "A long title that does not fit on one line, since it goes on and on until there is no room left for it",
            "args": {"type": "object", "required": ["a"], "properties": {
                "a": {"type": ["string", "null"], "pattern": "^\\d+$", "default": null},
                "b": {"anyOf": [{"type": "string"}, {"type": "null"}], "items": {"$ref": "#"}},
                "c": {"type": "string", "enum": ["a value of some length", "another value of some length", "and a third one of them", "x"]},
                "d": {"type": "object", "properties": {"deep": {"type": "object", "properties": {}}}, "oneOf": [{"required": ["x"], "not": {"type": "null"}}]}
            }}}}}}}"##;
    expect![[r##"
        toolwright: 1
        service: git

        types:
          Size: { type: string, enum: ["no", "1", big one] }

        toolsets:
          git:
            description: "Tools: of git."
            tools:
              diff:
                description: |
                  Shows differences.

                  Args:
                      target: a commit, or #1
                title: >-
                  A long title that does not fit on one line, since it goes on and on until there is no room
                  left for it
                args:
                  type: object
                  required: [a]
                  properties:
                    a: { type: [string, "null"], pattern: ^\d+$, default: null }
                    b: { anyOf: [{ type: string }, { type: "null" }], items: { $ref: "#" } }
                    c:
                      type: string
                      enum:
                        - a value of some length
                        - another value of some length
                        - and a third one of them
                        - x
                    d:
                      type: object
                      properties: { deep: { type: object, properties: {} } }
                      oneOf: [{ required: [x], not: { type: "null" } }]
    "##]]
    .assert_eq(&written(json));
}
