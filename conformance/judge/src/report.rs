//! Formats the results of a run: as text, as case files, and as the section of docs/conformance.md.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde_json::json;

use crate::run::{Finding, Options, Summary};
use crate::verdict::{Fault, Side};

/// The heading of the section in docs/conformance.md.
pub const HEADING: &str = "## Random schemas\n";

impl Finding {
    /// The finding as a case file: the fault, the mode, the schema, and the payload with the oracle's verdict.
    pub fn case(&self) -> String {
        let Self { side, fault, schema, payload, expected, message } = self;
        let mode = match side {
            Side::Direct => "direct",
            Side::Imported | Side::Warned => "import",
            Side::RunTime => "run-time",
        };
        let why = json!(format!("{side}: {fault}: {message}"));
        let payload = payload
            .as_ref()
            .map(|payload| json!({ "raw": payload, "valid_by_spec": expected }).to_string());
        // The schema is written as it is, as a JSON library may not hold its numbers.
        format!(
            "{{\"why\": {why}, \"mode\": \"{mode}\", \"schema\": {schema},\n \"payloads\": [{}]}}",
            payload.unwrap_or_default()
        )
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "codecs",
            Self::Imported => "imported tools",
            Self::Warned => "imported tools with a warning",
            Self::RunTime => "tools known at run time",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WronglyAccepted => "accepted against the schema",
            Self::WronglyRefused => "refused against the schema",
            Self::Unusable => "the schema cannot be used",
            Self::Stuck => "decoded, but cannot be encoded",
            Self::EncodedWrongly => "encoded to a value that the schema refuses",
            Self::Changed => "encoded to another value",
            Self::Hung => "no answer within the limit",
            Self::Slow => "time grows too fast",
            Self::Died => "the process dies",
            Self::Panicked => "panics",
            Self::ImportRefused => "imported to a file that the compiler refuses",
            Self::Refused => "refused by the compiler for no documented reason",
        })
    }
}

impl Summary {
    /// Returns whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.adversaries.is_empty() && self.failures.is_empty()
    }

    /// The counts of a run, one line each.
    pub fn counts(&self, options: Options) -> String {
        let Self { schemas, payloads, valid, undecided, rounded, .. } = self;
        let mut text = format!(
            "seed {}: {schemas} schemas, {payloads} payloads: {valid} valid, {undecided} undecided, {rounded} rounded\n",
            options.seed
        );
        // Writing to a string does not fail.
        for (side, [all, agreed]) in &self.verdicts {
            _ = writeln!(text, "{side}: {all} verdicts, {agreed} right");
        }
        for (code, count) in &self.refused {
            _ = writeln!(text, "refused by the compiler: {count} schemas for {code}");
        }
        text += &self.wrong();
        text
    }

    /// The faults, one line for each kind; empty if there are none.
    pub fn wrong(&self) -> String {
        let mut text = String::new();
        for ((side, fault), [schemas, findings]) in self.kinds() {
            _ = writeln!(text, "wrong: {side}: {fault}: {findings} times, in {schemas} schemas");
        }
        for failure in &self.failures {
            _ = writeln!(text, "the oracle failed: {failure}");
        }
        text
    }

    /// The number of schemas and of findings of each kind of fault.
    fn kinds(&self) -> BTreeMap<(Side, Fault), [usize; 2]> {
        let mut kinds: BTreeMap<_, [usize; 2]> = BTreeMap::new();
        let mut last = BTreeMap::new();
        for finding in self.findings.iter().chain(&self.adversaries) {
            let kind = (finding.side, finding.fault);
            let [schemas, findings] = kinds.entry(kind).or_default();
            *findings += 1;
            // The findings of one schema are next to each other.
            if last.insert(kind, &finding.schema) != Some(&finding.schema) {
                *schemas += 1;
            }
        }
        kinds
    }

    /// The section of docs/conformance.md.
    pub fn section(&self, options: Options, date: &str) -> String {
        let Self { schemas, payloads, valid, undecided, .. } = self;
        let Options { seed, .. } = options;
        let mut text = format!(
            "{HEADING}
As of {date}, by `cargo xtask judge --schemas {schemas} --seed {seed} --write`: {payloads} payloads of {schemas} random schemas,
{valid} of them valid. The oracle is Python's `jsonschema` with exact numbers, ECMA-262 patterns and fixed lists of strings for
formats; it does not decide {undecided} payloads. A verdict is right if the oracle agrees and the decoded value is encoded to a
value that the schema accepts. An imported tool with a warning may accept more values than the schema, but never fewer.

| | Verdicts | Right | Wrong |
|---|--:|--:|--:|
"
        );
        for (side, [all, agreed]) in &self.verdicts {
            _ = writeln!(text, "| {side} | {all} | {agreed} | {} |", all - agreed);
        }
        let refused: usize = self.refused.values().sum();
        let codes = self.refused.iter().map(|(code, count)| format!("{count} `{code}`"));
        _ = writeln!(
            text,
            "\nThe compiler refuses {refused} of the schemas with an error: {}.",
            codes.collect::<Vec<_>>().join(", ")
        );
        text
    }
}

/// Replaces the section of a page, or adds it at the end.
pub fn replaced(page: &str, section: &str) -> String {
    let Some(start) = page.find(HEADING) else {
        return format!("{}\n\n{section}", page.trim_end());
    };
    let rest = &page[start + HEADING.len()..];
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    format!("{}{section}{after}", &page[..start])
}

#[cfg(test)]
mod tests {
    use super::{HEADING, replaced};

    #[test]
    fn the_section_is_replaced_or_added_at_the_end() {
        let section = format!("{HEADING}\nnew\n");
        let added = replaced("# Page\n\nold\n", &section);
        assert_eq!(added, "# Page\n\nold\n\n## Random schemas\n\nnew\n");
        assert_eq!(replaced(&added, &section), added);
    }
}
