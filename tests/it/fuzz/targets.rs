//! The promises that `search` tries to break.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toolwright::Value;
use toolwright_codegen::internal::naming;
use toolwright_codegen::render::{Format, render};
use toolwright_codegen::{Options, Source, Sources, check, compile};

use super::search::Target;
use crate::codecs::{meaning, sides};
use crate::judge::Side;

const YAML: &[&str] = &[
    "\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "!t ",
    "|",
    ">",
    "'",
    "\"",
    "#",
    "? ",
    "<<: ",
    "---\n",
    "null",
    "true",
    "-0",
    "1e400",
    "0x1f",
    ".inf",
    "\u{feff}",
    "\u{202e}",
    "\0",
    "é",
    "type: ",
    "object",
    "string",
    "integer",
    "array",
    "$ref: ",
    "'#/$defs/A'",
    "'#'",
    "$defs: ",
    "allOf: ",
    "anyOf: ",
    "oneOf: ",
    "not: ",
    "enum: ",
    "const: ",
    "default: ",
    "examples: ",
    "pattern: ",
    "'(a+)+$'",
    "properties: ",
    "required: ",
    "items: ",
    "additionalProperties: ",
    "false",
    "minimum: ",
    "maxLength: ",
    "format: ",
    "date-time",
    "types:\n",
    "toolsets:\n",
    "tools: ",
    "methods:\n",
    "agents:\n",
    "mcp_servers:\n",
    "service: ",
    "bind: ",
    "inject: ",
    "run_id",
    "args: ",
    "result: ",
    "description: ",
    "aliases: ",
    "deprecated: ",
    "approval: ",
    "prompt: ",
    "'{{ args.a }}'",
];

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\u0000",
    "\\ud800",
    "\\",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1.0",
    "1e400",
    "-1",
    "9223372036854775808",
    "0.1",
    " ",
    "\n",
    "\u{feff}",
    "\u{7f}",
    "\u{e9}",
    "{\"a\":",
    "[[[[",
    "\"\"",
];

/// Schema files of the repository.
fn schemas() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "schema",
        "tests/codecs",
        "tests/requirements",
        "codegen/tests/cases/ok",
        "codegen/tests/cases/fail",
    ];
    let entries =
        folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).expect("a folder"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "yaml"));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

/// Any text has errors with valid spans, or compiles to the same valid files each time.
fn compiles(input: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(input).into_owned();
    let sources = Sources::new(vec![Source { path: "a.yaml".to_owned(), text: text.clone() }]);
    let compiled = compile(&sources, &Options::default());
    let findings = match (&compiled, check(&sources)) {
        (Ok(compiled), Ok(warnings)) => {
            assert_eq!(compiled.warnings.len(), warnings.len());
            warnings
        }
        (Err(findings), Err(errors)) => {
            assert_eq!(findings.len(), errors.len());
            assert!(!errors.is_empty());
            errors
        }
        _ => panic!("`check` and `compile` judge differently"),
    };
    for finding in &findings {
        for span in finding.span.iter().chain(finding.labels.iter().map(|label| &label.span)) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{finding:?}");
        }
    }
    for format in [Format::Human { color: false }, Format::Json, Format::Sarif, Format::Github] {
        render(&findings, &sources, format);
    }
    if let Ok(compiled) = &compiled {
        let again = compile(&sources, &Options::default()).expect("it compiled");
        assert!(compiled.files.iter().eq(again.files.iter()));
        for (path, _) in compiled.files.iter() {
            assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path}");
        }
    }
    findings
        .iter()
        .map(|finding| finding.code.to_owned())
        .chain(compiled.is_ok().then(|| "ok".to_owned()))
        .collect()
}

/// Any text becomes an ASCII identifier, and different values become different variants.
fn becomes_names(input: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(input);
    let lines: BTreeSet<&str> = text.lines().collect();
    for line in &lines {
        for part in [naming::screaming(line).into(), naming::snake(line)] {
            assert!(is_word(&part), "{line:?}: {part:?}");
        }
        for name in [naming::identifier(line), naming::pascal(line)] {
            assert!(is_identifier(&name), "{line:?}: {name:?}");
        }
        let package = naming::toolset_package(line);
        assert!(
            !toolwright_codegen::is_name(line)
                || package.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
            "{package}"
        );
    }
    let variants = naming::variants(lines.iter().copied());
    assert_eq!(variants.len(), lines.len());
    assert_eq!(
        variants.iter().collect::<BTreeSet<_>>().len(),
        lines.len(),
        "{lines:?} {variants:?}"
    );
    assert!(variants.iter().all(|name| is_identifier(name)), "{variants:?}");
    // The outcome is the kind of the first and last character, and the magnitude of the length.
    let kind = |c: Option<char>| c.map_or('-', |c| if c.is_ascii_digit() { '1' } else { 'a' });
    let shape = |name: &naming::Identifier| {
        let (mut letters, length) = (name.chars(), name.len().ilog2());
        format!("{} {} {length}", kind(letters.next()), kind(letters.next_back()))
    };
    variants.iter().map(shape).collect()
}

/// Returns whether a name has only ASCII letters, digits and underscores, and does not begin with a digit.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name != "_"
}

/// Returns whether a name is an identifier of Rust, which may be raw. Only common keywords are checked.
fn is_identifier(name: &str) -> bool {
    const KEYWORDS: [&str; 8] = ["self", "super", "crate", "Self", "type", "fn", "match", "gen"];
    match name.strip_prefix("r#") {
        Some(bare) => is_word(bare) && !KEYWORDS[..4].contains(&bare),
        None => is_word(name) && !KEYWORDS.contains(&name),
    }
}

/// The payloads of all rows, each with the number of its codec as the first byte.
fn payloads() -> Vec<Vec<u8>> {
    let (mut numbers, mut seeds) = (0_u8.., Vec::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codecs");
    for (tool, _) in sides() {
        let number = numbers.next().expect("fewer codecs than a byte counts");
        let rows =
            fs::read_dir(&root).expect("a folder").map(|entry| entry.expect("an entry").path());
        let rows = rows.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        for line in rows.flat_map(|path| {
            fs::read_to_string(path).expect("rows").lines().map(str::to_owned).collect::<Vec<_>>()
        }) {
            let row: serde_json::Value = serde_json::from_str(&line).expect("a row");
            if row["tool"] == tool.spec.name() {
                let payload = row["payload"].as_str().expect("a payload");
                seeds.push([&[number], payload.as_bytes()].concat());
            }
        }
    }
    seeds
}

/// Any payload has issues, or is encoded with the same meaning and can be decoded again.
fn decodes(input: &[u8]) -> BTreeSet<String> {
    let Some((&number, payload)) = input.split_first() else { return BTreeSet::new() };
    let (tool, side) = {
        let all: Vec<_> = sides().collect();
        all[usize::from(number) % all.len()]
    };
    let name = tool.spec.name();
    let checked = match side {
        Side::Args => tool.spec.check_args(payload),
        Side::Result => tool.spec.check_result(payload),
    };
    let Ok(text) = std::str::from_utf8(payload) else {
        assert!(checked.is_err(), "{name}: accepted bytes that are not UTF-8");
        return BTreeSet::from([format!("{number} bytes")]);
    };
    match (&checked, tool.reencode(side, text)) {
        (Ok(()), Ok(encoded)) => {
            let again = tool.reencode(side, &encoded).expect("the encoding can be decoded");
            assert_eq!(meaning(&again), meaning(&encoded), "{name}");
            text.parse::<Value>().expect("an accepted payload is JSON");
            BTreeSet::from([format!("{number} ok")])
        }
        // A number too large for a double is decoded, but cannot be encoded.
        (Ok(()), Err(_)) => BTreeSet::from([format!("{number} not written")]),
        (Err(invalid), Err(_)) => {
            assert!(!invalid.issues().is_empty(), "{name}");
            invalid.issues().iter().map(|issue| format!("{number} {}", issue.code())).collect()
        }
        (Err(invalid), Ok(_)) => panic!("{name}: refused and decoded: {invalid}"),
    }
}

#[test]
fn any_text_compiles_or_is_refused_at_its_place() {
    Target { name: "compile", seeds: schemas, words: YAML, try_on: compiles }.search();
}

#[test]
fn any_text_becomes_a_name_of_its_own() {
    let seeds = || {
        ["get_x\ngetX\nGET-X", "self\nSelf\nSELF", "1\n-1\n", "日本\ne\u{301}\n\u{e9}"]
            .map(Into::into)
            .to_vec()
    };
    let words = &[
        "_", "-", " ", "\n", "self", "type", "A", "a", "1", "é", "日", "\u{301}", "\u{202e}", "\0",
        "+", "r#", "🦀", "ß", "İ",
    ];
    Target { name: "names", seeds, words, try_on: becomes_names }.search();
}

#[test]
fn any_payload_is_refused_or_keeps_its_meaning() {
    Target { name: "decode", seeds: payloads, words: JSON, try_on: decodes }.search();
}
