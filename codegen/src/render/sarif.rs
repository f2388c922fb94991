//! Renders findings as a SARIF 2.1.0 log (OASIS), with only the properties that are required or locate a finding.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Location, further_places};
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::source::{Sources, Span};

pub(super) fn render(findings: &[Diagnostic], sources: &Sources) -> String {
    let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
    let rules: Vec<Value> = codes.iter().map(|code| rule(code)).collect();
    let index = |code| codes.iter().position(|known| *known == code);
    let results: Vec<Value> =
        findings.iter().map(|finding| result(finding, index(finding.code), sources)).collect();
    let driver =
        json!({ "name": "toolwright", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// Describes a kind of finding, with the texts of `toolwright explain`.
fn rule(name: &str) -> Value {
    let Some(code) = Code::named(name) else { return json!({ "id": name }) };
    json!({
        "id": name,
        "shortDescription": { "text": code.summary() },
        "fullDescription": { "text": code.explanation() },
        "help": { "text": format!("toolwright explain {name}") },
        "defaultConfiguration": { "level": code.severity.to_string() },
    })
}

fn result(finding: &Diagnostic, rule: Option<usize>, sources: &Sources) -> Value {
    let located = finding.span.iter().map(|span| location(*span, sources));
    let related = further_places(finding).map(|label| related(label, sources));
    json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity.to_string(),
        "message": { "text": text(finding) },
        "locations": located.collect::<Vec<_>>(),
        "relatedLocations": related.collect::<Vec<_>>(),
    })
}

fn text(finding: &Diagnostic) -> String {
    match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    }
}

fn related(label: &Label, sources: &Sources) -> Value {
    let mut value = location(label.span, sources);
    value["message"] = json!({ "text": label.message });
    value
}

fn location(span: Span, sources: &Sources) -> Value {
    let Location { file, start, end, .. } = Location::of(span, sources);
    let region = json!({
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    });
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region } })
}

/// Returns a path as a URI reference (RFC 3986, section 3.3), with all characters percent-encoded except those that are
/// always allowed in paths. An absolute path becomes a file URI (RFC 8089).
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
