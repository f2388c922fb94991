//! Schemas that are checked as they are, on cases written in the form of the official suite: of other drafts, on what the
//! suite does not try, and the suite itself where it stands beside the checkout.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use toolwright::Value;
use toolwright::issue::IssueKind;
use toolwright::schema::Schema;
use toolwright_prerequisites::{Prerequisite, corpora, has};

/// Files of the suite about what no schema here can say: schemas that lie elsewhere, custom vocabularies, formats that
/// assert nothing, and what is optional.
const LEFT_OUT: [&str; 3] = ["refRemote.json", "vocabulary.json", "format.json"];

#[test]
fn payloads_are_judged_as_the_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema/cases");
    let judged = judge(&folder);
    assert!(judged.right > 50, "{} verdicts", judged.right);
    assert_eq!(judged.wrong, "");
    assert_eq!(judged.unusable, "");
}

#[test]
fn payloads_are_judged_as_the_official_suite_says() {
    if !has(&[Prerequisite::Corpora]) {
        return;
    }
    let judged = judge(&corpora().join("json-schema-test-suite/tests/draft2020-12"));
    assert!(judged.right > 1_000, "{} verdicts", judged.right);
    assert_eq!(judged.wrong, "");
    for line in judged.unusable.lines() {
        assert!(line.contains("is not in this schema") || line.contains("feature"), "{line}");
    }
}

struct Judged {
    right: usize,
    wrong: String,
    unusable: String,
}

/// Holds every file of a folder against the verdicts in it.
fn judge(folder: &Path) -> Judged {
    let mut judged = Judged { right: 0, wrong: String::new(), unusable: String::new() };
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .filter(|path| !LEFT_OUT.iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of cases");
        let groups: Value = text.parse().expect("cases are JSON");
        for group in groups.as_array().unwrap_or_default() {
            judged.group(&file, group);
        }
    }
    judged
}

impl Judged {
    fn group(&mut self, file: &Path, group: &Value) {
        let name = format!("{}: {}", file.display(), part(group, "description"));
        let schema = match Schema::new(&part(group, "schema").to_string()) {
            Ok(schema) => schema,
            Err(error) => return writeln!(self.unusable, "{name}: {error}").expect("a string"),
        };
        for test in part(group, "tests").as_array().unwrap_or_default() {
            let data = part(test, "data").to_string();
            let found = schema.check(data.as_bytes());
            // Whatever is refused is refused with a reason.
            let found = found.map_err(|invalid| invalid.issues().len());
            assert_ne!(found, Err(0), "{name}: {data}");
            if found.is_ok() == (*part(test, "valid") == Value::Boolean(true)) {
                self.right += 1;
            } else {
                writeln!(self.wrong, "{name}: {data}: {found:?}").expect("a string");
            }
        }
    }
}

fn part<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or_else(|| panic!("a case has `{key}`: {value}"))
}

/// A schema of so many types, each a choice of the next one twice.
fn doubling(levels: usize) -> Schema {
    let types = (0..levels).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/T{}"}}"##, level + 1);
        format!(r#""T{level}":{{"anyOf":[{next},{next}]}}"#)
    });
    let last = format!(r#""T{levels}":{{"required":["b"]}}"#);
    let types: Vec<String> = types.chain([last]).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/T0","$defs":{{{}}}}}"##, types.join(","));
    Schema::new(&schema).expect("a schema")
}

/// How many steps a check takes.
fn steps(schema: &Schema, payload: &str) -> u64 {
    let mut left = u64::MAX;
    let _ = schema.check_within(payload.as_bytes(), &mut left);
    u64::MAX - left
}

#[test]
fn twice_the_levels_of_choices_take_about_twice_the_steps() {
    let payload = r#"{"a":"x"}"#;
    let (few, many) = (steps(&doubling(40), payload), steps(&doubling(80), payload));
    assert!(many < few * 3, "{few} and {many} steps");
    assert!(few < 2_000, "{few} steps");
}

#[test]
fn twice_the_depth_of_a_recursive_choice_takes_about_twice_the_steps() {
    let schema = Schema::new(
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[
            {"type":"string"},
            {"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"additionalProperties":false},
            {"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["c"]}]}}}"##,
    )
    .expect("a schema");
    let nested = |depth: usize, leaf: &str| {
        format!("{}{leaf}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
    };
    for leaf in ["1", r#""x""#] {
        let [few, many] = [60, 120].map(|depth| steps(&schema, &nested(depth, leaf)));
        assert!(many < few * 3, "{few} and {many} steps for {leaf}");
    }
}

#[test]
fn a_check_without_steps_left_says_so_and_never_that_the_payload_is_right() {
    let schema = Schema::new(r#"{"not":{"items":{"type":"string"}}}"#).expect("a schema");
    let payload = "[1,2,3]";
    assert_eq!(schema.check(payload.as_bytes()), Ok(()));
    for given in 0..steps(&schema, payload) {
        let invalid = schema.check_within(payload.as_bytes(), &mut given.clone());
        let invalid = invalid.expect_err("nobody knows");
        let [issue] = invalid.issues() else { panic!("{invalid}") };
        assert_eq!(issue.kind(), &IssueKind::TooCostly { limit: given });
    }
}

#[test]
fn a_schema_that_never_ends_is_too_costly_and_ends() {
    let circle = r##"{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##;
    let schema = Schema::new(circle).expect("a schema");
    let invalid = schema.check(b"1").expect_err("nobody knows");
    assert_eq!(invalid.issues()[0].code(), "too_costly");
}

#[test]
fn the_deepest_value_is_checked_on_the_stack_of_a_thread() {
    let schema = r##"{"anyOf":[{"type":"integer"},{"items":{"allOf":[{"$ref":"#"}]}}]}"##;
    let schema = Schema::new(schema).expect("a schema");
    let payload = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    let checked = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || schema.check(payload.as_bytes()))
        .expect("a thread");
    assert_eq!(checked.join().expect("it does not overflow"), Ok(()));
}

#[test]
fn a_mistake_in_a_schema_is_told_with_its_place() {
    let cases = [
        (r#"{"type":"text"}"#, "`/type`: found \"text\", expected a type, or a list of types"),
        (
            r#"{"properties":{"a":1}}"#,
            "`/properties/a`: found 1, expected a schema: an object or a boolean",
        ),
        (r#"{"items":{"minLength":-1}}"#, "`/items/minLength`: found -1, expected a count"),
        (r#"{"multipleOf":0}"#, "`/multipleOf`: found 0, expected a number above 0"),
        (r##"{"$ref":"#/$defs/x"}"##, "`/$ref`: refers to `#/$defs/x`, where there is nothing"),
        (
            r#"{"$ref":"https://example.org/x"}"#,
            "`/$ref`: refers to `https://example.org/x`, which is not in this schema and is not fetched",
        ),
        (
            r#"{"$schema":"https://example.org/x"}"#,
            "`/$schema`: found \"https://example.org/x\", expected the URI of a draft from 4 to 2020-12",
        ),
        (
            "{",
            "the payload: malformed JSON at byte 1, found the end, expected a key in double quotes or `}`",
        ),
    ];
    for (schema, expected) in cases {
        let error = Schema::new(schema).expect_err(schema);
        assert_eq!(error.to_string(), expected);
    }
}
