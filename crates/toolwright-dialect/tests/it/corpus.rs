//! Projects every tool of the 42 real servers into every dialect, and checks the results with the rules of each row and
//! with an independent validator.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;
use toolwright_dialect::{Class, Dialect, LossKind, Policy, Subject, project};

use crate::laws::Laws;
use crate::tools::{Tool, has_corpus, tools};

#[test]
fn no_projection_of_a_real_tool_breaks_a_rule_or_a_law() {
    if !has_corpus() {
        return;
    }
    // All tools take minutes: `TOOLWRIGHT_EVERY_TOOL=1` tries them, and `TOOLWRIGHT_SAMPLES=400` so many more random values
    // of each, of which about half are valid.
    let setting = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (every, samples) = (setting("TOOLWRIGHT_EVERY_TOOL", 8), setting("TOOLWRIGHT_SAMPLES", 0));
    let tools: Vec<Tool> = tools().into_iter().step_by(every).collect();
    let policy = Policy::default();
    let (mut broken, mut tried) = (Vec::new(), 0);
    let mut table: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for tool in &tools {
        let laws = Laws::of(&tool.schema).unwrap();
        let schema = tool.schema.parse().unwrap();
        let mut valid = toolwright_judge::payloads(&schema, samples, &mut Rng::with_seed(19));
        valid.retain(|value| laws.accepts(value));
        valid.extend_from_slice(&tool.valid);
        tried += valid.len();
        for dialect in Dialect::all() {
            let subject =
                Subject { name: &tool.name, description: &tool.description, args: &tool.schema };
            let found = project(&subject, dialect, &policy);
            table.entry(dialect.id()).or_default()[found.class as usize] += 1;
            let at = format!("{} {}/{} ({})", dialect.id(), tool.server, tool.name, found.class);
            broken.extend(
                laws.broken(dialect, &found, &valid)
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
    eprintln!("{tried} values of {} tools in each dialect", tools.len());
    let total = broken.len();
    for line in broken.iter().take(60) {
        eprintln!("{}", line.chars().take(600).collect::<String>());
    }
    assert_eq!(total, 0);
}

/// The text of the page above its tables.
const PAGE: &str = "# Tools of real servers in provider dialects

The classes of the tools of 42 real MCP servers in each built-in dialect ([what the classes mean](guide/dialects.md#classes)), in
percent, as `cargo xtask dialects` counts them. In the lossless class, descriptions may have changed. Each row has the month of its
newest source; none was tried on a live provider. [Another page](dialects-peers.md) compares them with the transforms of other clients.

";

/// The page has the classes of all tools; `UPDATE_EXPECT=1` writes it.
#[test]
fn the_page_has_the_classes_of_all_tools_and_the_servers_over_a_limit() {
    if !has_corpus() {
        return;
    }
    let tools = tools();
    let mut page = format!(
        "{PAGE}| dialect | lossless | widened | narrowed | refused |\n|---|--:|--:|--:|--:|\n"
    );
    let mut limits = String::new();
    for dialect in Dialect::all() {
        let mut classes = [0; 4];
        let mut sums: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        for tool in &tools {
            let subject =
                Subject { name: &tool.name, description: &tool.description, args: &tool.schema };
            let found = project(&subject, dialect, &Policy::default());
            classes[found.class as usize] += 1;
            let sum = sums.entry(&tool.server).or_default();
            sum[0] += 1;
            sum[1] += found.numbers.optional;
            sum[2] += found.numbers.unions;
            if dialect.id().starts_with("openai") && dialect.is_strict() {
                let narrows = |loss: &&toolwright_dialect::Loss| loss.kind == LossKind::Narrowing;
                let mut narrowing = found.losses.iter().filter(narrows);
                let by_policy = ["unnamed_keys", "absent"];
                assert!(
                    narrowing.all(|loss| by_policy.contains(&loss.keyword.as_str())),
                    "{}",
                    tool.name
                );
            }
        }
        let share = |count: usize| {
            let tenths = (count * 1000 + tools.len() / 2) / tools.len();
            format!("{}.{}", tenths / 10, tenths % 10)
        };
        let row = classes.map(share).join(" | ");
        writeln!(page, "| {} | {row} |", dialect.dated_id()).unwrap();
        assert!(dialect.id() != "gemini" || classes[0] * 100 >= tools.len() * 80, "{classes:?}");
        let most = dialect.limits();
        let most = [most.strict_tools, most.optional_params, most.union_params];
        if most.iter().any(Option::is_some) {
            let over = |at: usize| {
                let most = most[at]?;
                let servers = sums.values().filter(|sum| sum[at] > most).count();
                Some(format!("{servers} (more than {most})"))
            };
            let row = [0, 1, 2].map(|at| over(at).unwrap_or_default()).join(" | ");
            writeln!(limits, "| {} | {row} |", dialect.dated_id()).unwrap();
        }
    }
    page.push_str("\n## Limits of a request\n\nThe number of these servers whose tools are over a limit of a request if all of them are strict. `place` then sends some of them\nplain.\n\n| dialect | tools | optional parameters | parameters with unions |\n|---|---|---|---|\n");
    page.push_str(&limits);
    expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dialects.md")]
        .assert_eq(&page);
}
