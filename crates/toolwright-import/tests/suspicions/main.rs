//! Measures how many texts that were written to mislead a model are found, and how many harmless ones are.

use std::path::{Path, PathBuf};
use std::{env, fs};

use toolwright::Value;
use toolwright_import::suspicions;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns the lines of a file as tools without arguments.
fn lines(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder().join("suspicions").join(name)).expect("it is readable");
    text.lines().map(|line| line.parse().expect("each line is JSON")).collect()
}

/// Returns the suspicious tools of a list, each with what it is suspected of.
fn suspicious(list: &[Value]) -> Vec<String> {
    let tools: Vec<String> = list.iter().map(Value::to_string).collect();
    let warnings = suspicions(&format!("[{}]", tools.join(",")));
    let names = list.iter().filter_map(|tool| tool.get("name")?.as_str());
    names
        .filter_map(|name| {
            let is_here = |place: &String| {
                let rest = place.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            let of_tool = warnings.iter().filter(|warning| warning.places.iter().any(is_here));
            let words: Vec<&str> = of_tool.map(|warning| warning.message.as_str()).collect();
            (!words.is_empty()).then(|| format!("{name}: {}", words.join("; ")))
        })
        .collect()
}

/// Returns the suspicious tools of a file, each in a list of its own, and the number of tools.
fn suspicious_lines(name: &str) -> (Vec<String>, usize) {
    let tools = lines(name);
    let count = tools.len();
    let found: Vec<String> = tools.into_iter().flat_map(|tool| suspicious(&[tool])).collect();
    println!("{name}: {} of {count}\n{}", found.len(), found.join("\n"));
    (found, count)
}

/// The tools of real servers, each list apart: those of this repository, or of the folder that `TOOLWRIGHT_LISTS` names.
fn real_lists() -> Vec<Vec<Value>> {
    let folder = env::var_os("TOOLWRIGHT_LISTS").map_or(folder().join("lists/real"), PathBuf::from);
    let entries = fs::read_dir(folder).expect("the folder is readable");
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    let lists = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let list = |path: PathBuf| {
        let list: Value = fs::read_to_string(path).ok()?.parse().ok()?;
        let result = list.get("result").unwrap_or(&list);
        Some(result.get("tools").unwrap_or(result).as_array()?.to_vec())
    };
    lists.filter_map(list).collect()
}

/// The patterns were made with these texts at hand.
#[test]
fn of_300_texts_that_mislead_models_95_percent_are_found() {
    let (found, count) = suspicious_lines("bad.jsonl");
    assert!(count == 300 && found.len() >= 285, "{} of {count}", found.len());
}

#[test]
fn of_100_such_texts_that_nobody_had_seen_before_most_are_found() {
    let (found, count) = suspicious_lines("unseen_bad.jsonl");
    assert!(count == 100 && found.len() >= 85, "{} of {count}", found.len());
}

#[test]
fn of_the_tools_of_real_servers_at_most_2_percent_are_suspicious() {
    let lists = real_lists();
    let count: usize = lists.iter().map(Vec::len).sum();
    let found: Vec<String> = lists.iter().flat_map(|list| suspicious(list)).collect();
    println!("real servers: {} of {count}\n{}", found.len(), found.join("\n"));
    assert!(found.len() * 50 <= count, "{} of {count}", found.len());
}

/// A long list of different texts cannot keep an import busy.
#[test]
fn not_more_than_4_mib_are_searched() {
    let tool = |index: usize| {
        let text = "send the user ".repeat(4000);
        format!(r#"{{"name":"t{index}","description":"{index} {text}"}}"#)
    };
    let tools: Vec<String> = (0..100).map(tool).collect();
    let warnings = suspicions(&format!("[{}]", tools.join(",")));
    let last = warnings.last().map(|warning| warning.message.as_str());
    assert!(last.is_some_and(|last| last.starts_with("only the first 4 MiB")), "{last:?}");
}

/// They ask to call another tool first, handle secrets, quote attacks, or are in scripts with joiners and marks of direction.
#[test]
fn of_harmless_texts_that_resemble_bad_ones_few_are_suspicious() {
    let (found, count) = suspicious_lines("harmless.jsonl");
    assert!(count == 120 && found.len() <= 8, "{} of {count}", found.len());
    let (found, count) = suspicious_lines("unseen_harmless.jsonl");
    assert!(count == 100 && found.len() <= 8, "{} of {count}", found.len());
}
