//! Projects every tool of the 42 real servers into every dialect, and holds the results against the rules of each row and
//! against an independent validator.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use toolwright_dialect::{Class, Dialect, LossKind, Policy, Projection, Subject, project};
use toolwright_prerequisites::{Prerequisite, corpora, has};

use crate::{rules, samples};

struct Tool {
    server: String,
    name: String,
    description: String,
    schema: Value,
    /// Arguments that its schema accepts.
    valid: Vec<String>,
}

fn tools() -> Vec<Tool> {
    let mut all = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(corpora().join("mcp-tools"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
        let server = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let list: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut valid: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let vectors = corpora().join("vectors").join(format!("{server}.jsonl"));
        for line in fs::read_to_string(vectors).unwrap_or_default().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            if row["side"] == "args" && row["valid"] == true {
                let tool = row["tool"].as_str().unwrap().to_owned();
                valid.entry(tool).or_default().push(row["raw"].as_str().unwrap().to_owned());
            }
        }
        for tool in list["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap().to_owned();
            all.push(Tool {
                server: server.clone(),
                description: tool["description"].as_str().unwrap_or_default().to_owned(),
                schema: tool["inputSchema"].clone(),
                valid: valid
                    .remove(&name)
                    .unwrap_or_default()
                    .into_iter()
                    .step_by(3)
                    .take(5)
                    .collect(),
                name,
            });
        }
    }
    all
}

fn has_corpus() -> bool {
    has(&[Prerequisite::Corpora])
}

fn without_nulls(value: &toolwright::Value) -> toolwright::Value {
    use toolwright::Value;
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|(_, value)| !value.is_null());
            Value::Object(entries.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

/// Everything that a projection does not keep of its promises.
fn faults(tool: &Tool, dialect: &Dialect, found: &Projection) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(text) = &found.wire_schema else {
        if found.class != Class::Refused {
            for value in &tool.valid {
                match found.encode(value) {
                    Ok(wire) if found.decode(&wire).is_ok() => {}
                    Ok(wire) => {
                        faults.push(format!("{value} became {wire}, which does not come back"));
                    }
                    Err(_) if found.class == Class::Narrowed => {}
                    Err(error) => faults.push(format!("{value}: {error}")),
                }
            }
        }
        return faults;
    };
    let wire: Value = serde_json::from_str(text).unwrap();
    faults.extend(rules::broken(dialect, &wire));
    let Ok(validator) = jsonschema::validator_for(&rules::without_nullable(&wire)) else {
        faults.push(format!("is no schema: {text}"));
        return faults;
    };
    let canonical = toolwright::schema::Schema::new(&tool.schema.to_string());
    for value in &tool.valid {
        let encoded = match found.encode(value) {
            Ok(encoded) => encoded,
            Err(error) => {
                if found.class < Class::Narrowed {
                    faults.push(format!("{} cannot encode {value}: {error}", found.class));
                }
                continue;
            }
        };
        let sent: Value = serde_json::from_str(&encoded).unwrap();
        if let Err(error) = validator.validate(&sent) {
            faults.push(format!("{value} became {encoded}, which is not on the wire: {error}"));
        }
        match found.decode(&encoded) {
            Ok(decoded) => {
                let back: toolwright::Value = decoded.canonical.as_str().parse().unwrap();
                let mut sent: toolwright::Value = value.parse().unwrap();
                let mut back = back;
                // Where absence means null, either may come back.
                if found
                    .losses
                    .iter()
                    .any(|loss| loss.keyword == "absent" && loss.kind == LossKind::Annotation)
                {
                    (sent, back) = (without_nulls(&sent), without_nulls(&back));
                }
                if back != sent {
                    faults.push(format!("{value} became {encoded}, which came back as {back}"));
                }
            }
            Err(issues) => {
                faults
                    .push(format!("{value} became {encoded}, which does not come back: {issues}"));
            }
        }
    }
    if found.class == Class::Lossless
        && let Ok(canonical) = &canonical
    {
        for sample in samples::of(&wire, 8) {
            if validator.validate(&sample).is_err() {
                continue;
            }
            let sample = sample.to_string();
            match found.decode(&sample) {
                Ok(decoded) => {
                    if let Err(issues) = canonical.check(decoded.canonical.as_bytes()) {
                        faults.push(format!("lossless, and {sample} is not valid: {issues}"));
                    }
                }
                Err(issues) => {
                    faults.push(format!("lossless, and {sample} does not decode: {issues}"));
                }
            }
        }
    }
    faults
}

#[test]
fn no_projection_of_a_real_tool_breaks_a_rule_or_a_law() {
    if !has_corpus() {
        return;
    }
    // All tools take minutes: `TOOLWRIGHT_EVERY_TOOL=1` tries them.
    let every = std::env::var("TOOLWRIGHT_EVERY_TOOL").map_or(8, |every| every.parse().unwrap());
    let tools: Vec<Tool> = tools().into_iter().step_by(every).collect();
    let policy = Policy::default();
    let mut broken = Vec::new();
    let mut table: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for dialect in Dialect::all() {
        for tool in &tools {
            let schema = tool.schema.to_string();
            let subject =
                Subject { name: &tool.name, description: &tool.description, args: &schema };
            let found = project(&subject, dialect, &policy);
            table.entry(dialect.id()).or_default()[found.class as usize] += 1;
            let at = format!("{} {}/{} ({})", dialect.id(), tool.server, tool.name, found.class);
            broken.extend(
                faults(tool, dialect, &found)
                    .into_iter()
                    .take(3)
                    .map(|fault| format!("{at}: {fault}")),
            );
            if found.class == Class::Refused {
                let why = found.losses.iter().find(|loss| loss.kind == LossKind::Refused).unwrap();
                eprintln!("{at}: `{}` {}", why.at, why.now);
            }
        }
    }
    for (dialect, row) in &table {
        eprintln!("{dialect:30} {row:?}");
        let all: usize = row.iter().sum();
        assert!(row[3] * 200 <= all, "{dialect} refuses {} of {all}", row[3]);
    }
    let total = broken.len();
    for line in broken.iter().take(60) {
        eprintln!("{}", line.chars().take(600).collect::<String>());
    }
    assert_eq!(total, 0);
}
