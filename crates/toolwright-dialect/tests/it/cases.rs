//! Small schemas, one for each transform: the wire schema, the losses, and values there and back. `UPDATE_EXPECT=1` writes
//! expectations.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;
use toolwright::schema::Schema;
use toolwright_dialect::{Dialect, Policy, Subject, project};

#[test]
fn each_transform_says_what_it_changes_and_brings_values_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    paths.sort();
    assert!(paths.len() > 20);
    for path in paths {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        expect_file![path.with_extension("txt")].assert_eq(&outcome(&case));
    }
}

fn outcome(case: &Value) -> String {
    let args = case["schema"].to_string();
    let subject = Subject { name: "tool", description: "A tool.", args: &args };
    let policy: Policy = case
        .get("policy")
        .map_or_else(Policy::default, |policy| serde_json::from_value(policy.clone()).unwrap());
    let found =
        project(&subject, Dialect::find(case["dialect"].as_str().unwrap()).unwrap(), &policy);
    let mut text = format!("{}\n", found.class);
    match &found.wire_schema {
        Some(schema) => {
            let schema: Value = serde_json::from_str(schema).unwrap();
            writeln!(text, "{schema:#}").unwrap();
        }
        None => text += "no schema\n",
    }
    for loss in &found.losses {
        writeln!(text, "{} {} at `{}`: {}", loss.by, loss.kind, loss.at, loss.now).unwrap();
    }
    let canonical = Schema::new(&args).ok();
    let values = case["values"].as_array().unwrap().iter().map(Value::to_string);
    for value in values {
        match found.encode(&value) {
            Ok(wire) => {
                writeln!(text, "{value} -> {wire}").unwrap();
                let back = found.decode(&wire).unwrap().canonical;
                if back.as_str() != value {
                    writeln!(text, "    comes back as {}", back.as_str()).unwrap();
                }
            }
            Err(error) => writeln!(text, "{value}: {error}").unwrap(),
        }
    }
    for wire in case["wire"].as_array().unwrap() {
        let wire = wire.as_str().unwrap();
        match found.decode(wire) {
            Ok(decoded) => {
                let judged =
                    canonical.as_ref().map(|schema| schema.check(decoded.canonical.as_bytes()));
                match judged {
                    Some(Err(invalid)) => {
                        writeln!(text, "{wire}: {}", decoded.wire_issues(&invalid)).unwrap();
                    }
                    _ => writeln!(text, "{} <- {wire}", decoded.canonical.as_str()).unwrap(),
                }
            }
            Err(issues) => writeln!(text, "{wire}: {issues}").unwrap(),
        }
    }
    text
}
