//! Tests of schemas at run time, with cases in the form of the official suite. `cases/` has further cases, also for
//! other drafts. The suite itself is used if it is next to the checkout.

mod costs;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use toolwright::Value;
use toolwright::schema::Schema;
use toolwright_prerequisites::{Prerequisite, corpora, has};

/// Files of the suite that are skipped: other documents, custom vocabularies, and formats that assert nothing.
const SKIPPED_FILES: [&str; 3] = ["refRemote.json", "vocabulary.json", "format.json"];

#[test]
fn payloads_are_checked_as_in_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema/cases");
    let results = check_folder(&folder);
    assert!(results.right > 50, "{} results", results.right);
    assert_eq!(results.wrong, "");
    assert_eq!(results.unusable, "");
}

#[test]
fn payloads_are_checked_as_in_the_official_suite() {
    if !has(&[Prerequisite::Corpora]) {
        return;
    }
    let results = check_folder(&corpora().join("json-schema-test-suite/tests/draft2020-12"));
    assert!(results.right > 1_000, "{} results", results.right);
    assert_eq!(results.wrong, "");
    for line in results.unusable.lines() {
        assert!(line.contains("is not in this schema") || line.contains("tables"), "{line}");
    }
}

struct Results {
    right: usize,
    wrong: String,
    unusable: String,
}

/// Checks the payloads of all files of a folder and compares the results.
fn check_folder(folder: &Path) -> Results {
    let mut results = Results { right: 0, wrong: String::new(), unusable: String::new() };
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .filter(|path| !SKIPPED_FILES.iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of cases");
        let groups: Value = text.parse().expect("cases are JSON");
        for group in groups.as_array().unwrap_or_default() {
            results.group(&file, group);
        }
    }
    results
}

impl Results {
    fn group(&mut self, file: &Path, group: &Value) {
        let name = format!("{}: {}", file.display(), part(group, "description"));
        let schema = match Schema::new(&part(group, "schema").to_string()) {
            Ok(schema) => schema,
            Err(error) => return writeln!(self.unusable, "{name}: {error}").expect("a string"),
        };
        for test in part(group, "tests").as_array().unwrap_or_default() {
            let data = part(test, "data").to_string();
            let found = schema.check(data.as_bytes());
            // A refused payload must have an issue.
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

#[test]
fn odd_keywords_of_real_servers_have_no_effect() {
    for schema in [
        r#"{"properties":{"a":{"required":true}},"required":null}"#,
        r##"{"$id":"#/a","properties":{"a":{"$id":"#/properties/a"},"b":{"$id":"","type":"null"}}}"##,
        r#"{"anyOf":[{"$id":"/a","type":"null"},{"$id":"/a","type":"null"},true]}"#,
    ] {
        assert_eq!(Schema::new(schema).expect(schema).check(b"{}"), Ok(()), "{schema}");
    }
}

fn part<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or_else(|| panic!("a case has `{key}`: {value}"))
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
fn a_mistake_in_a_schema_is_reported_with_its_place() {
    let cases = [
        (r#"{"type":"text"}"#, "`/type`: found \"text\", expected a type, or a list of types"),
        (
            r#"{"properties":{"a":1}}"#,
            "`/properties/a`: found 1, expected a schema: an object or a boolean",
        ),
        (r#"{"items":{"minLength":-1}}"#, "`/items/minLength`: found -1, expected a count"),
        (
            r#"{"contains":true,"minContains":18446744073709551616}"#,
            "`/minContains`: found 18446744073709551616, expected a count of at most 18446744073709551615",
        ),
        (
            r#"{"minLength":1e99}"#,
            "`/minLength`: found 1e99, expected a count of at most 18446744073709551615",
        ),
        (r#"{"maxItems":-1e99}"#, "`/maxItems`: found -1e99, expected a count"),
        (r#"{"anyOf":[]}"#, "`/anyOf`: found [], expected an array of at least one schema"),
        (
            r#"{"items":[{}]}"#,
            "`/items`: found [{}], expected a schema; use `prefixItems` for a list of schemas, or set `$schema` to an \
             older draft",
        ),
        (
            r#"{"exclusiveMinimum":true}"#,
            "`/exclusiveMinimum`: found true, expected a number; a boolean is only allowed in draft-04, which `$schema` must name",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMaximum":1}"#,
            "`/exclusiveMaximum`: found 1, expected a boolean; a number is only allowed since draft-06, which `$schema` must name",
        ),
        (r#"{"required":"a"}"#, "`/required`: found \"a\", expected an array of strings"),
        (
            r#"{"dependentRequired":{"a":{}}}"#,
            "`/dependentRequired`: found {\"a\":{}}, expected an array of strings",
        ),
        (r#"{"uniqueItems":"true"}"#, "`/uniqueItems`: found \"true\", expected `true` or `false`"),
        (
            r#"{"$id":"http://x.example/a","$defs":{"b":{"$id":"a","type":"null"}}}"#,
            "`/$defs/b`: has the `$id` `http://x.example/a` of the schema at ``, expected one of its own; change one of them",
        ),
        (
            r##"{"$ref":"#/x/b","x":{"b":{"$id":"/c"}},"$defs":{"a":{"$id":"/c","type":"null"}}}"##,
            "`/x/b`: has the `$id` `/c` of the schema at `/$defs/a`, expected one of its own; change one of them",
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
