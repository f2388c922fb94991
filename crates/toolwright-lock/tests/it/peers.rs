//! Compares what toolwright and other tools say about the same changes. `cargo xtask contract-peers` writes the table to
//! docs/contract.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use toolwright_lock::{Change, Difference, LockedServer, Trust, diff, diff_listings};
use toolwright_prerequisites::{Npm, PyPi};

use crate::cases::lock;
use crate::page;

/// The columns, by the names of compare.py.
const TOOLS: [&str; 7] = [
    "buf breaking",
    "oasdiff",
    "jsoncompat",
    "toolprobe",
    "mcp-tool-pin-check",
    "digest of name and description",
    "digest of the listed object",
];

/// Tools whose words are in changes.json, because they are not run.
const FROM_DOCUMENTATION: &str = "cargo-semver-checks";

#[test]
fn other_tools_say_of_the_same_changes_what_the_page_says() {
    // Installing the tools takes long.
    if std::env::var_os("TOOLWRIGHT_PEERS").is_none() {
        return;
    }
    let changes: Vec<BTreeMap<String, Value>> =
        serde_json::from_str(include_str!("../peers/changes.json")).expect("changes");
    let answers = answers();
    assert_eq!(changes.len(), answers.len());
    let columns = [&TOOLS[..], &[FROM_DOCUMENTATION]].concat();
    let mut table = format!("| change | toolwright | {} |\n", columns.join(" | "));
    writeln!(table, "|---|---|{}", "---|".repeat(columns.len())).expect("text");
    for (change, answer) in changes.iter().zip(&answers) {
        let name = change["change"].as_str().expect("text");
        assert_eq!(answer["change"], name);
        let said = TOOLS.iter().map(|tool| &answer[*tool]);
        let documented = change.get(FROM_DOCUMENTATION).unwrap_or(&Value::Null);
        let cells: Vec<String> = said.chain([documented]).map(cell).collect();
        writeln!(table, "| {name} | {} | {} |", ours(change), cells.join(" | ")).expect("text");
    }
    page::check("peers", &table);
}

/// Installs the other tools and asks them.
fn answers() -> Vec<Value> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (pins, target) = (crates.join("tests/peers"), crates.join("../../target"));
    let npm = target.join("contract-peers-npm");
    Npm::install(&pins, &npm).expect("npm installs the tools");
    let python = PyPi::install(&pins, &target.join("contract-peers-python")).expect("pip does");
    let output = python.script("compare.py").arg(npm).output().expect("the script runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Our rules, and the classes of a change.
fn ours(change: &BTreeMap<String, Value>) -> String {
    let (tools, listing) =
        (include_str!("../peers/tools.yaml"), include_str!("../peers/listing.json"));
    let Difference { findings, classes, .. } = if let Some(edit) = change.get("tools.yaml") {
        diff(&lock(tools), &lock(&edited(tools, edit))).expect("the schemas can be read")
    } else {
        let server = |text: &str| LockedServer::of(text, None).expect("a list");
        let new = edited(listing, &change["listing.json"]);
        diff_listings("issues", &server(listing), &server(&new))
    };
    let mut rules: Vec<String> =
        findings.iter().map(|finding| format!("`{}`", finding.rule.id)).collect();
    rules.sort();
    rules.dedup();
    let viewpoints = [
        ("caller", classes.caller),
        ("model", classes.model),
        ("reader", classes.reader),
        ("implementer", classes.implementer),
    ];
    let mut words = Vec::new();
    for class in [Change::Major, Change::Minor, Change::Patch] {
        let hurt = viewpoints.iter().filter(|(_, found)| *found == class);
        let hurt: Vec<&str> = hurt.map(|(name, _)| *name).collect();
        if !hurt.is_empty() {
            words.push(format!("{class} for {}", hurt.join(", ")));
        }
    }
    if classes.trust != Trust::Same {
        words.push(classes.trust.to_string());
    }
    format!("{}: {}", rules.join(", "), words.join("; "))
}

fn edited(text: &str, edit: &Value) -> String {
    let [from, to] = [&edit[0], &edit[1]].map(|part| part.as_str().expect("text"));
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

/// The words of another tool. It has none if it cannot express the change.
fn cell(words: &Value) -> String {
    words.as_str().unwrap_or("–").to_owned()
}
