//! Reports of changes for people and programs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ptr;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolwright::untrusted::{line, visible_json};

use crate::classes::{Change, Classes, Trust, Viewpoint};
use crate::diff::Difference;
use crate::finding::{Finding, Places, Proof};
use crate::policy::Breaking;
use crate::rules::Rule;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for people: for each viewpoint the changes, the worst first, at most 2,000.
    Human,
    /// A JSON object on each line: the findings, then the highest classes.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Commands of GitHub's workflows.
    Github,
    /// A table for a comment on a pull request, the changes that are not allowed first. It ends before the 65,536 characters
    /// that GitHub allows.
    Markdown,
}

/// The most bytes of words and of a witness that are shown to people.
const EXCERPT: usize = 120;

/// The most places of a change that are shown to people.
const MAX_PLACES: usize = 5;

/// The most changes that are shown to people for a viewpoint.
const MAX_LINES: usize = 2_000;

/// The most bytes of rows in a comment. What follows them has a few hundred.
const MAX_ROWS: usize = 64_000;

/// Returns a report. `breaking` are the changes that are not allowed, if that was asked.
pub fn render(
    difference: &Difference,
    breaking: Option<&[Breaking<'_>]>,
    format: Format,
) -> String {
    let broken =
        breaking.unwrap_or_default().iter().map(|breaking| ptr::from_ref(breaking.finding));
    let broken: BTreeSet<*const Finding> = broken.collect();
    // A change that is not allowed; without a policy, a major one.
    let is_error = |finding: &Finding| match breaking {
        Some(_) => broken.contains(&ptr::from_ref(finding)),
        None => worst(finding.classes) == Change::Major,
    };
    match format {
        Format::Human => human(difference, breaking),
        Format::Json => lines(difference),
        Format::Sarif => sarif(difference, is_error),
        Format::Github => github(difference, is_error),
        Format::Markdown => markdown(difference, is_error),
    }
}

/// Returns the highest class of any viewpoint but that of Rust.
fn worst(classes: Classes) -> Change {
    let viewpoints = Viewpoint::ALL.into_iter().filter(|viewpoint| *viewpoint != Viewpoint::Rust);
    viewpoints.map(|viewpoint| classes.of(viewpoint)).max().unwrap_or_default()
}

/// Returns the classes above none, and the trust if it has to be renewed.
fn hurt(classes: Classes) -> String {
    let mut parts: Vec<String> = Viewpoint::ALL
        .into_iter()
        .filter(|viewpoint| classes.of(*viewpoint) > Change::None)
        .map(|viewpoint| format!("{} {}", viewpoint.as_str(), classes.of(viewpoint)))
        .collect();
    if classes.trust > Trust::Same {
        parts.push(format!("trust {}", classes.trust));
    }
    if parts.is_empty() { "nobody".to_owned() } else { parts.join(", ") }
}

fn place(at: &Places) -> &str {
    at.new.as_deref().or(at.old.as_deref()).unwrap_or_default()
}

/// Lists the changes for each viewpoint, the worst first. A change of a type that several tools use is one line.
fn human(difference: &Difference, breaking: Option<&[Breaking<'_>]>) -> String {
    if difference.findings.is_empty() {
        return "no changes\n".to_owned();
    }
    let mut text = String::new();
    for viewpoint in Viewpoint::ALL {
        let findings: Vec<&Finding> = match breaking {
            None => difference.findings.iter().collect(),
            Some(breaking) => breaking
                .iter()
                .filter(|breaking| breaking.viewpoints.contains(&viewpoint))
                .map(|breaking| breaking.finding)
                .collect(),
        };
        let class = |finding: &Finding| finding.classes.of(viewpoint);
        let findings = findings.into_iter().filter(|finding| class(finding) > Change::None);
        let lines = grouped(findings.map(|finding| (Reverse(class(finding)), finding)));
        let lines = lines.iter().map(|(Reverse(class), line)| format!("{class}: {line}"));
        write_lines(&mut text, viewpoint.as_str(), lines);
    }
    if let Some(breaking) = breaking {
        let broken = count(breaking.len());
        let _ = writeln!(
            text,
            "{broken} of {} above what the versions announce",
            difference.findings.len()
        );
        return text;
    }
    let trust = difference.findings.iter().filter(|finding| finding.classes.trust > Trust::Same);
    let lines = grouped(trust.map(|finding| (Reverse(finding.classes.trust), finding)));
    let lines = lines.iter().map(|(Reverse(trust), line)| format!("{trust}: {line}"));
    write_lines(&mut text, "trust", lines);
    let unseen = difference.findings.iter().filter(|finding| {
        worst(finding.classes) == Change::None
            && finding.classes.rust == Change::None
            && finding.classes.trust == Trust::Same
    });
    let lines = grouped(unseen.map(|finding| ((), finding)));
    write_lines(&mut text, "nobody", lines.into_iter().map(|((), line)| line));
    let _ = writeln!(text, "{}: {}", count(difference.findings.len()), hurt(difference.classes));
    text
}

/// Writes the first lines below a heading, if there are any.
fn write_lines(text: &mut String, heading: &str, lines: impl ExactSizeIterator<Item = String>) {
    let further = lines.len().saturating_sub(MAX_LINES);
    if lines.len() > 0 {
        let _ = writeln!(text, "{heading}:");
    }
    for line in lines.take(MAX_LINES) {
        let _ = writeln!(text, "  {line}");
    }
    if further > 0 {
        let _ = writeln!(text, "  and {further} more, which `--format json` shows");
    }
}

/// Returns a line for each change, with its places in all tools, in the order of the keys.
fn grouped<'a, K: Ord>(findings: impl Iterator<Item = (K, &'a Finding)>) -> Vec<(K, String)> {
    let mut groups: BTreeMap<(K, &str, &str, Option<&str>, bool), Vec<String>> = BTreeMap::new();
    for (key, finding) in findings {
        let Finding { rule, words, witness, proof, .. } = finding;
        let group = (key, rule.id, words.as_str(), witness.as_deref(), *proof == Proof::Assumed);
        let place = line(&format!("{}{}", finding.tool, place(&finding.at)), EXCERPT);
        groups.entry(group).or_default().push(place);
    }
    let shown = |((key, rule, words, witness, is_assumed), places): (
        (K, &str, &str, _, bool),
        Vec<String>,
    )| {
        let further = places.len().saturating_sub(MAX_PLACES);
        let mut text = format!("{rule} {}", line(words, EXCERPT));
        let _ = write!(
            text,
            ", at {}",
            places.into_iter().take(MAX_PLACES).collect::<Vec<_>>().join(", ")
        );
        if further > 0 {
            let _ = write!(text, " and {further} more");
        }
        if let Some(witness) = witness {
            let _ = write!(text, ", shown by {}", line(witness, EXCERPT));
        } else if is_assumed {
            text.push_str(", assumed, as no value was found that shows it");
        }
        (key, text)
    };
    groups.into_iter().map(shown).collect()
}

fn count(findings: usize) -> String {
    match findings {
        1 => "1 change".to_owned(),
        many => format!("{many} changes"),
    }
}

/// A finding as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    rule: &'a str,
    tool: &'a str,
    at: &'a Places,
    classes: &'a Classes,
    proof: Proof,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a RawValue>,
    words: &'a str,
}

fn lines(difference: &Difference) -> String {
    let mut text = String::new();
    for finding in &difference.findings {
        let witness = finding.witness.as_deref();
        let line = Line {
            rule: finding.rule.id,
            tool: &finding.tool,
            at: &finding.at,
            classes: &finding.classes,
            proof: finding.proof,
            witness: witness.and_then(|witness| serde_json::from_str(witness).ok()),
            words: &finding.words,
        };
        text.push_str(&serde_json::to_string(&line).unwrap_or_default());
        text.push('\n');
    }
    let classes = &difference.classes;
    let last = json!({ "classes": classes, "rust": classes.rust });
    visible_json(&(text + &last.to_string() + "\n")).into_owned()
}

fn sarif(difference: &Difference, is_error: impl Fn(&Finding) -> bool) -> String {
    let mut known: Vec<&Rule> = Rule::all().collect();
    known.dedup_by_key(|rule| rule.id);
    let rules: Vec<Value> = known
        .iter()
        .map(|rule| json!({ "id": rule.id, "shortDescription": { "text": rule.summary } }))
        .collect();
    let result = |finding: &Finding| {
        let level = if is_error(finding) { "error" } else { "note" };
        let text =
            format!("{}: {} ({})", finding.rule.summary, finding.words, hurt(finding.classes));
        let name = format!("{}{}", finding.tool, place(&finding.at));
        json!({
            "ruleId": finding.rule.id,
            "level": level,
            "message": { "text": text },
            "locations": [{
                "physicalLocation": { "artifactLocation": { "uri": crate::LOCK_FILE } },
                "logicalLocations": [{ "fullyQualifiedName": name }],
            }],
        })
    };
    let results: Vec<Value> = difference.findings.iter().map(result).collect();
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "toolwright", "rules": rules } },
            "results": results,
        }],
    });
    visible_json(&format!("{report:#}\n")).into_owned()
}

fn github(difference: &Difference, is_error: impl Fn(&Finding) -> bool) -> String {
    let mut text = String::new();
    for finding in &difference.findings {
        let level = if is_error(finding) { "error" } else { "notice" };
        let words = format!(
            "{}{}: {}: {} ({})",
            finding.tool,
            place(&finding.at),
            finding.rule.summary,
            finding.words,
            hurt(finding.classes)
        );
        let _ = writeln!(text, "::{level} title={}::{}", finding.rule.id, escaped(&words));
    }
    text
}

/// Escapes the text of a command (docs.github.com, workflow commands).
fn escaped(text: &str) -> String {
    line(text, usize::MAX).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn markdown(difference: &Difference, is_error: impl Fn(&Finding) -> bool) -> String {
    let mut text = String::new();
    if difference.findings.is_empty() {
        return "No tool changed.\n".to_owned();
    }
    let head = ["caller", "model", "reader", "implementer", "trust", "rust"];
    let _ = writeln!(text, "| tool | change | {} | shown by |", head.join(" | "));
    let _ = writeln!(text, "|---|---|{}---|", "---|".repeat(head.len()));
    let (broken, allowed): (Vec<_>, Vec<_>) =
        difference.findings.iter().partition(|finding| is_error(finding));
    let broken = broken.into_iter().map(|finding| row(finding, " ❌"));
    let mut rows = broken.chain(allowed.into_iter().map(|finding| row(finding, "")));
    while let Some(row) = rows.next() {
        if text.len() + row.len() > MAX_ROWS {
            let _ = writeln!(text, "\nAnd {} more, which `--format json` shows.", 1 + rows.count());
            break;
        }
        text.push_str(&row);
    }
    let _ = writeln!(text, "\nTogether: {}.", hurt(difference.classes));
    text
}

/// Returns a row of the table.
fn row(finding: &Finding, mark: &str) -> String {
    let Classes { caller, model, reader, implementer, trust, rust } = finding.classes;
    let witness = finding.witness.as_deref().map(|witness| code(&line(witness, EXCERPT)));
    format!(
        "| {}{mark} | {} at {}: {} | {caller} | {model} | {reader} | {implementer} | {trust} | {rust} | {} |\n",
        code(&line(&finding.tool, EXCERPT)),
        finding.rule.id,
        code(&line(place(&finding.at), EXCERPT)),
        code(&line(&finding.words, EXCERPT)),
        witness.unwrap_or_default()
    )
}

/// Returns a text as code in a cell of a table.
fn code(text: &str) -> String {
    if text.is_empty() {
        return "the tool".to_owned();
    }
    let ticks = "`".repeat(1 + text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0));
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
}
