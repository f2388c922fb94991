//! Schemas that are checked as they are, on cases written in the form of the official suite: of other drafts, on what the
//! suite does not try, and the suite itself where it stands beside the checkout.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use toolwright::Value;
use toolwright::issue::{InvalidPayload, IssueKind};
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
        assert!(line.contains("is not in this schema") || line.contains("tables"), "{line}");
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
    assert!(few < 10_000, "{few} steps");
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
fn a_schema_that_contradicts_itself_without_end_ends() {
    let circle = r##"{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##;
    let schema = Schema::new(circle).expect("a schema");
    let invalid = schema.check(b"1").expect_err("nobody knows");
    assert!(invalid.to_string().contains("inside each other"), "{invalid}");
}

#[test]
fn the_deepest_value_is_checked_on_the_stack_of_a_thread() {
    let schema = r##"{"anyOf":[{"type":"integer"},{"items":{"allOf":[{"$ref":"#"}]}}]}"##;
    let schema = Schema::new(schema).expect("a schema");
    let payload = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(on_a_thread(schema, payload), Ok(()));
    // Each schema is a choice of the next one or null; what is wrong is told through all of them.
    let types = (0..300).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, level + 1);
        format!(r#""a{level}":{{"oneOf":[{next},{{"type":"null"}}]}}"#)
    });
    let types: Vec<String> = types.chain([r#""a300":{"required":["b"]}"#.to_owned()]).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{}}}}}"##, types.join(","));
    let found = on_a_thread(Schema::new(&schema).expect("a schema"), r#"{"a":1}"#.to_owned());
    assert!(found.is_err());
}

/// Checks with the stack that threads have.
fn on_a_thread(schema: Schema, payload: String) -> Result<(), InvalidPayload> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let checked = thread.spawn(move || schema.check(payload.as_bytes())).expect("a thread");
    checked.join().expect("it does not overflow")
}

#[test]
fn what_never_ends_or_nests_too_deep_is_an_issue() {
    for schema in [
        r##"{"anyOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"oneOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}"##,
    ] {
        let issues = Schema::new(schema).expect("a schema").check(b"1").expect_err(schema);
        assert_eq!(
            issues.to_string(),
            "the payload: cannot be checked: more than 640 schemas apply inside each other",
            "{schema}"
        );
    }
}

/// Each schema refers to the next one twice.
#[test]
fn telling_how_far_a_value_is_from_a_schema_takes_little_more_than_finding_out() {
    let types = (0..60).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, level + 1);
        format!(r#""a{level}":{{"allOf":[{next},{next}]}}"#)
    });
    let types: Vec<String> = types.chain([r#""a60":{"type":"null"}"#.to_owned()]).collect();
    let schema = format!(
        r##"{{"anyOf":[{{"$ref":"#/$defs/a0"}},{{"type":"string"}}],"$defs":{{{}}}}}"##,
        types.join(",")
    );
    assert!(steps(&Schema::new(&schema).expect("a schema"), "1") < 10_000);
}

#[test]
fn what_takes_long_ends_with_an_issue() {
    let list = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let digits = "1".repeat(10_000);
    let text = format!("\"{}\"", "x".repeat(100_000));
    for (schema, payload) in [
        (
            format!(r#"{{"anyOf":[{}]}}"#, list(2_000, &|n| format!(r#"{{"maximum":{n}.5}}"#))),
            &digits,
        ),
        (format!(r#"{{"anyOf":[{}]}}"#, list(5_000, &|n| format!(r#"{{"enum":["{n}"]}}"#))), &text),
        (r#"{"pattern":"(?:[a-z]?[a-y]?){30}!"}"#.to_owned(), &text),
    ] {
        let schema = Schema::new(&schema).expect("a schema");
        let issues = schema.check_within(payload.as_bytes(), &mut 200_000);
        let issues = issues.expect_err("it is refused").to_string();
        assert!(issues.contains("cannot be checked in 200000 steps"), "{issues}");
    }
}

#[test]
fn issues_are_limited_in_number_and_length() {
    let schema = r#"{"propertyNames":{"maxLength":1},"items":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]}}"#;
    let schema = Schema::new(schema).expect("a schema");
    let keys: Vec<String> = (0..2_000).map(|n| format!(r#""k{n}":1"#)).collect();
    let issues = schema.check(format!("{{{}}}", keys.join(",")).as_bytes()).expect_err("long keys");
    assert_eq!(issues.issues().len(), 1_000);
    let issues = schema.check(b"[0]").expect_err("no constant").to_string();
    assert!(issues.ends_with("18, 19, 20 and 2 more"), "{issues}");
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
        (r#"{"anyOf":[]}"#, "`/anyOf`: found [], expected an array of at least one schema"),
        (
            r#"{"items":[{}]}"#,
            "`/items`: found [{}], expected a schema; a schema for each item stands under `prefixItems`, or say the draft \
             under `$schema`",
        ),
        (
            r#"{"exclusiveMinimum":true}"#,
            "`/exclusiveMinimum`: found true, expected a number; it is a flag in draft-04 alone, which `$schema` has to say",
        ),
        (r#"{"type":[]}"#, "`/type`: found [], expected a type, or a list of types"),
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
