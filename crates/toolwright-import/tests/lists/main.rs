//! Tests `import mcp` on lists of tools: small ones whose files are kept, and those of real servers, whose meaning must
//! survive. `UPDATE_EXPECT=1 cargo test` writes expectations.

#[path = "../../../../codegen/tests/expect/mod.rs"]
mod expect;
mod json;
mod meaning;
mod mutated;
mod verdicts;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use expect::expect;
use meaning::Comparison;
use toolwright_codegen::diagnostic::Report;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::lower;
use toolwright_codegen::internal::{syntax, yaml};
use toolwright_codegen::options::Integers;
use toolwright_codegen::{Source, Sources};
use toolwright_import::{
    Existing, ImportError, Imported, Owner, Provenance, Request, Selection, mcp, tools_list,
};
use toolwright_prerequisites::{Prerequisite, corpora, has};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lists").join(name)
}

fn lists(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the lists are there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut lists: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    lists.sort();
    assert!(!lists.is_empty());
    lists
}

const OWNER: Owner<'_> = Owner { service: "keeper", toolset: "imported" };

fn import(text: &str) -> Result<Imported, ImportError> {
    tools_list(text, OWNER)
}

/// Imports into an existing file.
fn import_again(list: &str, file: &str) -> Imported {
    let existing = Existing::read("imported.yaml", file, OWNER);
    let existing = existing.unwrap_or_else(|error| panic!("{error:?}\n{file}"));
    let request = Request {
        owner: OWNER,
        selection: Selection::default(),
        from: Provenance::default(),
        other_files: &[],
    };
    mcp(list, &request, Some(&existing)).expect("a list")
}

/// Parses the imported file. Panics if `check` finds an error in it.
fn parsed(imported: &Imported) -> Json {
    let source = Source { path: "imported.yaml".to_owned(), text: imported.text.clone() };
    let sources = Sources::new(vec![source]);
    let mut report = Report::default();
    let nodes: Vec<_> = sources
        .iter()
        .filter_map(|(id, source)| yaml::parse(id, &source.text, &mut report))
        .collect();
    let documents = syntax::parse(&sources, &mut report);
    lower(&documents, Integers::default(), &mut report);
    let is_wrong = report.has_errors();
    assert!(!is_wrong, "{:#?}\n{}", report.into_findings(), imported.text);
    nodes[0].to_json()
}

#[test]
fn lists_become_the_expected_files_and_warnings() {
    let mut wrong = Vec::new();
    for path in lists(&folder("cases")) {
        let imported = import(&fs::read_to_string(&path).expect("readable")).expect("a list");
        parsed(&imported);
        let warnings = imported.warnings.iter().map(|warning| format!("{warning}\n"));
        expect(&path.with_extension("yaml"), &imported.text, &mut wrong);
        expect(&path.with_extension("warnings"), &warnings.collect::<String>(), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value is no schema, so the order of its lists and the names in it count, and numbers are not rounded.
#[test]
fn a_second_import_takes_over_new_values() {
    let list = |one: &str, most: &str| {
        let properties = format!(
            "{{\"a\":{{\"const\":{one}}},\"b\":{{\"type\":\"number\",\"maximum\":{most}}}}}"
        );
        let schema = format!("{{\"type\":\"object\",\"properties\":{properties}}}");
        format!(
            "{{\"tools\":[{{\"name\":\"t\",\"description\":\"T.\",\"inputSchema\":{schema}}}]}}"
        )
    };
    let first = import(&list(r#"{"type":["a","b"]}"#, "0.1")).expect("a list");
    let list = list(r#"{"type":["b","a"]}"#, "0.10000000000000000001");
    let (again, second) = (import_again(&list, &first.text), import(&list).expect("a list"));
    assert_eq!(again.text, second.text);
}

#[test]
fn a_text_that_is_not_a_list_of_tools_is_refused_with_a_reason() {
    let cases = [
        ("{", "this is not JSON at 1:2: expected a key in quotes"),
        ("7", "expected a list of tools, found 7"),
        ("{}", "expected a list under `tools`, as `tools/list` returns it"),
        ("{\"result\": []}", "expected `tools` in `result`, found []"),
        (
            "{\"id\": 1, \"error\": {\"code\": -32601}}",
            "the server answered with an error: {\"code\":-32601}",
        ),
        ("[1]", "no tool can be imported: tool 1 was left out: expected an object, found 1"),
        (
            "[{\"description\": \"x\"}]",
            "no tool can be imported: tool 1 was left out: it has no `name`, by which it is called",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(import(text).expect_err(text).to_string(), expected, "{text}");
    }
}

#[test]
fn a_tool_that_cannot_be_read_does_not_affect_the_others() {
    let deep = format!("{}{}", "[".repeat(90), "]".repeat(90));
    let list = format!(
        r#"[1, {{"title": "x"}}, {{"name": "a", "inputSchema": {{"const": {deep}}}}},
            {{"name": "b", "inputSchema": {{"const": [{deep}]}}}}, {{"name": "c"}}]"#
    );
    let imported = import(&list).expect("a list");
    assert_eq!(imported.tools, 2, "{:?}", imported.warnings);
    let left_out = imported.warnings.iter().map(ToString::to_string);
    let left_out: Vec<String> = left_out.filter(|one| one.contains("was left out")).collect();
    let expected = [
        "tool 1 was left out: expected an object, found 1",
        "tool 2 was left out: it has no `name`, by which it is called",
        "tool 4 was left out: its values nest more than 92 deep",
    ];
    assert_eq!(left_out, expected);
}

#[test]
fn a_definition_is_not_used_because_one_with_a_longer_name_is() {
    let list = r##"[{"name": "find", "description": "Finds.", "inputSchema": {"type": "object",
        "properties": {"ab": {"$ref": "#/$defs/AB"}, "c": {"$ref": "#/$defs/C/items"}},
        "$defs": {"A": {"type": "string"}, "AB": {"type": "string"}, "C": {"type": "array", "items": {"type": "string"}}}}}]"##;
    let warnings = import(list).expect("a list").warnings;
    let places = warnings.iter().filter(|one| one.message.contains("nothing refers to"));
    let places: Vec<&String> = places.flat_map(|one| &one.places).collect();
    assert_eq!(places, ["find args /$defs/A"]);
}

#[test]
fn an_import_depends_on_its_input_alone() {
    for path in lists(&folder("cases")) {
        let text = fs::read_to_string(path).expect("readable");
        assert_eq!(import(&text).expect("a list").text, import(&text).expect("a list").text);
    }
}

#[test]
fn no_part_of_a_list_panics() {
    for path in lists(&folder("cases")) {
        let text = fs::read_to_string(path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            let _ = import(&[&lines[..at], &lines[at + 1..]].concat().join("\n"));
        }
        for (at, _) in text.char_indices().step_by(11) {
            let _ = import(&text[..at]);
            let _ = import(&format!("{}null{}", &text[..at], &text[at..]));
        }
    }
}

#[test]
fn lists_of_real_servers_keep_every_tool_and_its_meaning() {
    check_all(&folder("real"));
}

#[test]
fn lists_of_the_whole_corpus_keep_every_tool_and_its_meaning() {
    if has(&[Prerequisite::Corpora]) {
        check_all(&corpora().join("mcp-tools"));
    }
}

fn check_all(folder: &Path) {
    for path in lists(folder) {
        let text = fs::read_to_string(&path).expect("readable");
        let imported = import(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(&json::read(&text), &imported, true);
        check_again(&text, &imported.text);
    }
}

/// Checks that a second import changes nothing, and that an import of another list takes its schemas. Keys keep the file's
/// order.
fn check_again(list: &str, file: &str) {
    let again = import_again(list, file);
    assert_eq!(again.text, file);
    assert_eq!(again.report.to_string(), "");
    let other = rotated(json::read(list)).to_string();
    let changed = import_again(&other, file);
    assert!(!changed.report.is_rewritten, "{file}");
    check(&json::read(&other), &changed, false);
    let back = import_again(list, &changed.text);
    check(&json::read(list), &back, false);
    assert_eq!(import_again(list, &back.text).text, back.text);
}

/// A list in which each tool has the schemas of the next one.
fn rotated(list: Json) -> Json {
    let Some(Json::Array(mut tools)) = list.get("tools").cloned() else { panic!("no list") };
    let is_schema = |key: &String| key.ends_with("Schema");
    let entries = |tool: &Json| match tool {
        Json::Object(entries) => entries.clone(),
        _ => panic!("no tool"),
    };
    let mut schemas: Vec<Vec<(String, Json)>> = tools
        .iter()
        .map(|tool| entries(tool).into_iter().filter(|(key, _)| is_schema(key)).collect())
        .collect();
    schemas.rotate_left(1);
    for (tool, schemas) in tools.iter_mut().zip(schemas) {
        let mut entries = entries(tool);
        entries.retain(|(key, _)| !is_schema(key));
        entries.extend(schemas);
        *tool = Json::Object(entries);
    }
    Json::Object(vec![("tools".to_owned(), Json::Array(tools))])
}

/// Each type refers to one of the others; the second list has them in another order.
#[test]
fn check_accepts_a_changed_circle_of_as_many_types_as_may_be_nested() {
    let list = |first: usize, step: usize| {
        let definition = |n: usize| {
            let next = (n + step) % 34;
            format!(
                r##""d{n}":{{"type":"object","properties":{{"x":{{"$ref":"#/$defs/d{next}"}}}}}}"##
            )
        };
        let definitions = (0..34).map(definition).collect::<Vec<_>>().join(",");
        format!(
            r##"{{"tools":[{{"name":"t","description":"x","inputSchema":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{first}"}}}},"$defs":{{{definitions}}}}}}}]}}"##
        )
    };
    let first = import(&list(0, 1)).expect("a list");
    let changed = import_again(&list(1, 2), &first.text);
    check(&json::read(&list(1, 2)), &changed, false);
}

#[test]
fn edits_of_schemas_stay_when_the_server_changes_other_parts() {
    let list = |more: &str| {
        format!(
            r##"[{{"name": "find", "description": "Finds.", "inputSchema": {{"type": "object", "properties": {{
            "word": {{"type": "string", "maxLength": 10, "pattern": "^a"}}, "count": {{"type": "integer"}},
            "zone": {{"$ref": "#/$defs/Zone"}} {more}}}, "$defs": {{"Zone": {{"type": "string", "minLength": 2}}}}}}}}]"##
        )
    };
    let first = import(&list("")).expect("a list").text;
    let edits = [
        ("maxLength: 10", "maxLength: 20"),
        (", pattern: ^a", ""),
        ("count: { type: integer }", "count: { type: integer, minimum: 1 }"),
        ("minLength: 2", "minLength: 3"),
    ];
    let edited = edits.iter().fold(first, |text, (from, to)| {
        assert!(text.contains(from), "{from}\n{text}");
        text.replace(from, to)
    });
    assert_eq!(import_again(&list(""), &edited).text, edited);
    let changed =
        list(r#", "new": {"type": "boolean"}"#).replace("\"maxLength\": 10", "\"maxLength\": 12");
    let again = import_again(&changed, &edited);
    for (_, kept) in edits {
        assert!(again.text.contains(kept), "{kept}\n{}", again.text);
    }
    assert!(!again.text.contains("pattern"), "{}", again.text);
    assert!(again.text.contains("new: { type: boolean }"), "{}", again.text);
    assert_eq!(again.report.kept, ["find args"]);
    assert_eq!(import_again(&changed, &again.text).text, again.text);
    let gone = changed.replace("\"count\": {\"type\": \"integer\"},", "");
    assert!(gone.len() < changed.len());
    let without = import_again(&gone, &import(&changed).expect("a list").text);
    assert!(!without.text.contains("count"), "{}", without.text);
}

fn check(list: &Json, imported: &Imported, is_ordered: bool) {
    let file = parsed(imported);
    let toolset = file.get("toolsets").and_then(|sets| sets.get("imported")).expect("the toolset");
    let Some(Json::Object(ours)) = toolset.get("tools") else { panic!("no tools") };
    let Some(Json::Array(theirs)) = list.get("tools") else { panic!("no list") };
    assert_eq!((ours.len(), imported.tools), (theirs.len(), theirs.len()));
    for (theirs, (name, ours)) in theirs.iter().zip(ours) {
        let remote = theirs.get("name").expect("a name");
        assert_eq!(ours.get("remote").unwrap_or(&Json::string(name)), remote);
        assert_eq!(ours.get("description"), theirs.get("description"));
        check_hints(theirs, ours);
        for (their_side, side) in [("inputSchema", "args"), ("outputSchema", "result")] {
            let schemas = theirs.get(their_side).filter(|schema| **schema != Json::Null);
            assert_eq!(schemas.is_some(), ours.get(side).is_some());
            let (Some(theirs), Some(ours)) = (schemas, ours.get(side)) else { continue };
            let Json::String(remote) = remote else { panic!("a name") };
            Comparison {
                is_ordered,
                theirs,
                ours,
                types: file.get("types"),
                place: format!("{remote} {side}"),
                warnings: &imported.warnings,
                seen: BTreeSet::new(),
            }
            .run();
        }
    }
}

fn check_hints(theirs: &Json, ours: &Json) {
    let words = [
        ("readOnlyHint", "read_only"),
        ("destructiveHint", "destructive"),
        ("idempotentHint", "idempotent"),
        ("openWorldHint", "open_world"),
    ];
    for (hint, word) in words {
        let of =
            |tool: &Json, key: &str| tool.get("annotations").and_then(|all| all.get(key)).cloned();
        let hint = of(theirs, hint).filter(|value| *value != Json::Null);
        assert_eq!(hint, of(ours, word));
    }
}
