//! Projects every tool of the 42 real servers into every dialect, and holds the results against the rules of each row and
//! against an independent validator.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use toolwright_dialect::{Class, Dialect, LossKind, Policy, Subject, project};
use toolwright_prerequisites::{Prerequisite, corpora, has};

use crate::laws::Laws;

struct Tool {
    server: String,
    name: String,
    description: String,
    schema: String,
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
                schema: tool["inputSchema"].to_string(),
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
    for tool in &tools {
        let laws = Laws::of(&tool.schema).unwrap();
        for dialect in Dialect::all() {
            let subject =
                Subject { name: &tool.name, description: &tool.description, args: &tool.schema };
            let found = project(&subject, dialect, &policy);
            table.entry(dialect.id()).or_default()[found.class as usize] += 1;
            let at = format!("{} {}/{} ({})", dialect.id(), tool.server, tool.name, found.class);
            broken.extend(
                laws.broken(dialect, &found, &tool.valid)
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
