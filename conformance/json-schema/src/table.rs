//! Formats the results as the page `docs/conformance.md`.

use std::fmt::Write as _;

use crate::judge::{Judged, judge};
use crate::record::{Area, Record};

/// The beginning of the line with the date on which the figures last changed.
pub const DATED: &str = "As of ";

/// The whole page, with this date.
pub fn page(record: &Record, date: &str) -> String {
    let suite = judge(record, Area::Suite);
    let servers = judge(record, Area::Servers);
    format!(
        "# Conformance

{DATED}{date}, by `cargo xtask conformance`, which compiles every schema below, builds the generated code and runs every
instance through its codecs. `cargo xtask conformance --check` fails when this page is out of date or a codec disagrees.

- *Agreed*: the generated codec accepts the instance if and only if the file says that it is valid, and an accepted
  instance, decoded and encoded again, is the same JSON value.
- *Rounded*, counted among the agreed: a `number` is an `f64` in Rust, and the instance has a number that no `f64` holds. It is
  encoded as the nearest `f64`.
- *Decided*: the file and the schema language contradict each other, and the codec follows the language. Twelve formats
  are checked, though they are annotations in `format.json`; every other format is an annotation, though it is checked in
  `optional/format`.
- *Refused*: the compiler reports a located error, as it does not support the schema, and generates nothing. The errors
  are listed below.

## The JSON Schema suite, draft 2020-12

Each group's schema is compiled twice, as a property of arguments and as a whole result; both codecs must agree.

{suite_table}
### Refused groups

{suite_refusals}
## Tools of real MCP servers

{server_table}
### Refused tools

{server_refusals}",
        suite_table = table(["File", "Groups", "Tests"], &suite),
        suite_refusals = refusals("Group", &suite),
        server_table = table(["Server", "Tools", "Instances"], &servers),
        server_refusals = refusals("Tool", &servers),
    )
}

/// A row for each source, and their sum.
fn table(heads: [&str; 3], judged: &[Judged<'_>]) -> String {
    let [name, cases, rows] = heads;
    let mut text = format!(
        "| {name} | {cases} | {rows} | Agreed | Rounded | Decided | Disagreed | Refused |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
    );
    let mut total = [0; 7];
    for source in judged {
        let counts = counts(source);
        line(&mut text, &cell(&source.source.name), counts);
        total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    line(&mut text, "**all**", total);
    text
}

fn counts(judged: &Judged<'_>) -> [usize; 7] {
    let cases = judged.source.cases.len();
    let Judged { agreed, rounded, decided, disagreed, .. } = judged;
    [cases, judged.rows(), *agreed, *rounded, *decided, disagreed.len(), judged.refused_rows()]
}

/// Adds a row. Most zeros are left blank, so that the others stand out.
fn line(
    text: &mut String,
    name: &str,
    [cases, rows, agreed, rounded, decided, disagreed, refused]: [usize; 7],
) {
    let shown = |count: usize| if count == 0 { String::new() } else { count.to_string() };
    // Writing to a string does not fail.
    _ = writeln!(
        text,
        "| {name} | {cases} | {rows} | {} | {} | {} | {disagreed} | {} |",
        shown(agreed),
        shown(rounded),
        shown(decided),
        shown(refused)
    );
}

/// Every refusal with the code and the message of its first error.
fn refusals(head: &str, judged: &[Judged<'_>]) -> String {
    if judged.iter().all(|source| source.refused.is_empty()) {
        return "None.\n".to_owned();
    }
    let mut text = format!("| File | {head} | Error | |\n|---|---|---|---|\n");
    for source in judged {
        for refusal in &source.refused {
            let [file, title] = [&source.source.name, &refusal.case.title].map(|text| cell(text));
            // Messages keep their markup, as they quote schemas in backticks.
            let message = refusal.message.replace('|', "\\|");
            _ = writeln!(text, "| {file} | {title} | `{}` | {message} |", refusal.code);
        }
    }
    text
}

/// A text from a corpus as one cell: on one line, with its markup escaped.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(character, '|' | '<' | '>' | '*' | '_' | '[' | ']' | '\\') {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}
