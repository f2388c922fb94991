//! Tools that providers refused, as their answers were reported in public issues. Each breaks a rule of its row; its
//! projection breaks none, or is refused. `UPDATE_EXPECT=1` writes the broken rules.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use expect_test::expect_file;
use serde::Deserialize;
use serde_json::Value;
use toolwright_dialect::{Class, Dialect, Policy, Projection, Subject, project};

use crate::rules;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    /// The repository and the number of the issue or pull request.
    source: String,
    /// The date of the report, if it is known.
    date: Option<String>,
    dialect: String,
    #[serde(default = "tool")]
    name: String,
    #[serde(default = "tool")]
    description: String,
    /// The smallest schema that is refused.
    #[serde(default = "nothing")]
    schema: String,
    /// The words of the answer, or of the report.
    error: String,
}

fn tool() -> String {
    "tool".to_owned()
}

fn nothing() -> String {
    r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#.to_owned()
}

#[test]
fn what_a_provider_refused_breaks_a_rule_and_is_never_sent_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut paths: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    paths.sort();
    let mut count = 0;
    let mut faults = Vec::new();
    for path in &paths {
        let file: File = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        count += file.refused.len();
        let mut text = String::new();
        for case in &file.refused {
            outcome(case, &mut text, &mut faults);
        }
        expect_file![path.with_extension("txt")].assert_eq(&text);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 100, "{count} cases");
}

fn outcome(case: &Refused, text: &mut String, faults: &mut Vec<String>) {
    let row = Dialect::find(&case.dialect).unwrap();
    let policy = Policy::default();
    let subject = Subject { name: &case.name, description: &case.description, args: &case.schema };
    let schema: Value = serde_json::from_str(&case.schema).unwrap();
    let mut broken = rules::broken(row, &schema);
    broken.extend(rules::broken_words(row, &case.name, &case.description));
    let found = project(&subject, row, &policy);
    let source = format!("{} {}", case.source, case.date.as_deref().unwrap_or("undated"));
    assert!(case.date.as_deref().is_none_or(|date| date <= "2026-11" && date.len() == 10));
    if broken.is_empty() {
        faults.push(format!("{source}: breaks no rule of {}: {}", case.dialect, case.error));
    }
    faults.extend(still_broken(row, &found).into_iter().map(|rule| format!("{source}: {rule}")));
    let is_as_it_was = found.wire_schema.as_ref() == Some(&case.schema)
        && found.wire_name == case.name
        && found.description == case.description;
    if is_as_it_was {
        faults.push(format!("{source}: is sent as it was"));
    }
    writeln!(text, "{source}, {}\n  {}", case.dialect, case.error.trim()).unwrap();
    for rule in broken {
        writeln!(text, "  - {}", rule.trim_start_matches(": ")).unwrap();
    }
    let losses = found.losses.iter().map(|loss| format!(", {} {}", loss.by, loss.kind));
    writeln!(text, "  {}{}", found.class, losses.collect::<String>()).unwrap();
}

fn still_broken(row: &Dialect, found: &Projection) -> Vec<String> {
    if found.class == Class::Refused {
        return Vec::new();
    }
    let mut broken = rules::broken_words(row, &found.wire_name, &found.description);
    if let Some(text) = &found.wire_schema {
        broken.extend(rules::broken(row, &serde_json::from_str(text).unwrap()));
    }
    broken
}
