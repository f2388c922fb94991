//! The index over the tools of real servers, with queries by people who did not write the index. Of 200, a third has words of the
//! tool, a third some of them, and a third says it in other words. Another 200 are the searches of a model that knew the requests
//! of users, but no tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolwright::ToolSpec;
use toolwright_model::ToolIndex;
use toolwright_prerequisites::{Prerequisite, corpora, has};

/// The tools of the corpus: `server/tool`, and the spec.
fn tools() -> Vec<(String, ToolSpec)> {
    let folder = corpora().join("mcp-tools");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut tools = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
        let list: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for tool in list["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let mut spec = ToolSpec::new(name.to_owned());
            spec.set_description(tool["description"].as_str().unwrap_or_default().to_owned());
            spec.set_args_schema(tool["inputSchema"].to_string());
            tools.push((format!("{}/{name}", path.file_stem().unwrap().to_str().unwrap()), spec));
        }
    }
    tools
}

#[test]
fn most_queries_with_words_of_a_tool_find_it_among_the_first_five() {
    if !has(&[Prerequisite::Corpora]) {
        return;
    }
    let tools = tools();
    let index = ToolIndex::new(tools.iter().map(|(name, spec)| (name.as_str(), spec)));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries.jsonl");
    // By kind of query: how many there are, and those that do not find their tool.
    let mut kinds: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for line in fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let query = case["query"].as_str().unwrap();
        let found = index.search(query, 5);
        let wanted: Vec<_> =
            case["tools"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let (asked, missed) = kinds.entry(case["kind"].as_str().unwrap().to_owned()).or_default();
        *asked += 1;
        if !wanted.iter().any(|name| found.contains(name)) {
            missed.push(format!("{query}: {wanted:?}, found {found:?}"));
        }
    }
    for (kind, least) in [("keyword", 95), ("mix", 75), ("paraphrase", 25), ("model", 90)] {
        let (asked, missed) = &kinds[kind];
        let share = 100 * (asked - missed.len()) / asked;
        assert!(share >= least, "{kind}: {share} % of {asked}\n{}", missed.join("\n"));
    }
}
