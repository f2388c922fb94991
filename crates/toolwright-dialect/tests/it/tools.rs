//! The tools of the 42 real servers, from the corpus beside this checkout.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use toolwright_prerequisites::{Prerequisite, corpora, has};

/// A tool of a server.
pub(super) struct Tool {
    pub(super) server: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: String,
    /// Arguments that its schema accepts.
    pub(super) valid: Vec<String>,
}

/// Returns all tools, in the order of their servers.
pub(super) fn tools() -> Vec<Tool> {
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

/// Returns whether this machine has them. Records a missing corpus as a skip.
pub(super) fn has_corpus() -> bool {
    has(&[Prerequisite::Corpora])
}
