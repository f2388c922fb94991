//! Texts of a schema never become code.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use toolwright::untrusted::hidden;
use toolwright_codegen::Files;

use crate::project::{generated_from, rust};
use toolwright_codegen::Source;

/// Texts that would break out of a comment, a literal, a template or a table.
const TEXTS: &[&str] = &[
    "*/ pub fn evil() {} /*",
    "```\nfn evil() {}\n```",
    "    fn evil() {}",
    "\"#; pub fn evil() {}",
    "\\\"; pub fn evil() {} //",
    "\\",
    "line\npub fn evil() {}",
    "line\n*/ pub fn evil() {} /*",
    "line\r\npub fn evil() {}",
    "line\u{2028}pub fn evil() {}\u{85}pub fn evil() {}",
    "#[doc = include_str!(\"/etc/passwd\")]",
    "#![allow(warnings)]",
    "$(evil) ${evil} {evil} {{ krate.package }}",
    "{% raw %}evil{% endraw %}",
    "\u{202e}live\u{2066}",
    "--> evil <!--",
    "| evil | `evil` |",
    "\u{0}\u{7}",
    "é 日本 🦀",
    "'a",
    "r###\"evil\"###",
];

/// Generates a project with the text in every place of the language that takes free text.
fn project(text: &str) -> Files {
    let quoted = serde_json::to_string(text).expect("a string");
    let yaml = r"
toolwright: 1
service: { name: notes, description: TEXT }
types:
  Note:
    title: TEXT
    description: TEXT
    type: object
    required: [KEYED, kind, run_id]
    properties:
      run_id: { type: string }
      open: { type: array, items: { type: object, properties: { KEYED: { type: boolean } } } }
      KEYED: { type: string, description: TEXT, default: TEXT, examples: [TEXT] }
      kind: { const: TEXT }
      mode: { type: string, enum: [TEXT, other] }
  Choice:
    oneOf:
      - { type: object, required: [tag], properties: { tag: { const: TEXT } } }
      - { type: object, required: [tag], properties: { tag: { const: other } } }
methods:
  get:
    description: TEXT
    payload: Note
    result: Choice
    errors: { gone: { description: TEXT } }
toolsets:
  notes:
    description: TEXT
    tags: [TEXT]
    tools:
      get_note:
        title: TEXT
        description: TEXT
        bind: get
        inject: { run_id: run_id, KEYED: LABELLED }
        approval: { prompt: PLAIN }
        tags: [also]
        deprecated: { since: TEXT }
  far:
    mcp: { server: far }
    tools:
      far_note: { description: TEXT, remote: TEXT }
agents:
  helper: { description: TEXT, instructions: TEXT, toolsets: [notes] }
mcp_servers:
  desk: { version: TEXT, toolsets: [notes] }
";
    let plain = serde_json::to_string(&text.replace(['{', '}', '#', '%'], "")).expect("a string");
    let key = serde_json::to_string(&format!("key {text}")).expect("a string");
    let label = quoted.replacen('"', "\"label:", 1);
    let text = [("TEXT", &quoted), ("PLAIN", &plain), ("KEYED", &key), ("LABELLED", &label)]
        .iter()
        .fold(yaml.to_owned(), |yaml, (place, text)| yaml.replace(place, text));
    generated_from(vec![Source { path: "a.yaml".to_owned(), text }])
}

/// Returns every identifier outside literals; doc comments count as literals.
fn identifiers(tokens: TokenStream) -> Vec<String> {
    let found = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => identifiers(group.stream()),
        TokenTree::Ident(ident) => vec![ident.to_string()],
        TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
    });
    found.flatten().collect()
}

/// Descriptions, titles, values and keys occur only in literals, docs and checked identifiers.
#[test]
fn texts_of_a_schema_never_become_code() {
    for text in TEXTS {
        for (path, code) in rust(&project(text)) {
            let file =
                syn::parse_file(code).unwrap_or_else(|error| panic!("{text:?}: {path}: {error}"));
            let found = identifiers(file.into_token_stream());
            assert!(!found.iter().any(|name| name == "evil"), "{text:?}: {path}\n{code}");
        }
    }
}

/// No comment contains characters that hide or reorder text, or a code block that rustdoc would run.
#[test]
fn docs_contain_no_hidden_characters_and_no_code_blocks() {
    let cases = include_str!("../../../crates/toolwright/tests/untrusted.json");
    let cases: serde_json::Value = serde_json::from_str(cases).expect("the cases are JSON");
    let hiding = cases.as_array().expect("cases are a list").iter();
    let hiding = hiding.map(|case| case["text"].as_str().expect("a text"));
    for text in TEXTS.iter().copied().chain(hiding) {
        for (path, code) in rust(&project(text)) {
            for line in code.lines().filter(|line| line.trim_start().starts_with("//")) {
                let is_control = |c: char| c.is_control();
                assert_eq!(hidden(line).next(), None, "{text:?}: {path}: {line:?}");
                assert!(
                    !line.contains(is_control)
                        && !line.contains("```")
                        && !line.contains("///     "),
                    "{text:?}: {path}: {line:?}"
                );
            }
        }
    }
}

/// Manifests contain names of a schema, and no texts.
#[test]
fn manifests_do_not_depend_on_texts() {
    let expected = project("calm");
    for text in TEXTS {
        let found = project(text);
        for (path, manifest) in expected.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
            assert_eq!(found.get(path), Some(manifest), "{text:?}");
        }
    }
}

#[test]
fn published_schemas_keep_texts_unchanged() {
    for text in TEXTS {
        let files = project(text);
        let schema = files.get("notes/tools/notes/schema/get_note.args.json").expect("generated");
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        assert_eq!(schema["properties"]["kind"]["const"], *text, "{schema:#}");
        assert_eq!(schema["$defs"].get("Mode"), None, "only types that the arguments use");
    }
}
