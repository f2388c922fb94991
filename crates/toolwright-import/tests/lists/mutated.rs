//! Tests lists in which one tool was changed at random: the import writes a file that `check` accepts, with all other tools.
//! `TOOLWRIGHT_LISTS` and `TOOLWRIGHT_SCHEMAS` name folders with more lists and with schemas that become tools;
//! `TOOLWRIGHT_MUTANTS` is the number of lists. `cargo xtask corpus` sets them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use toolwright_codegen::diagnostic::Severity;
use toolwright_codegen::internal::Json;
use toolwright_codegen::{Source, Sources, check};
use toolwright_import::ImportError;

use super::{folder, import, json, lists};

/// The default number of lists.
const MUTANTS: usize = 40;

/// The maximum number of tools in a list.
const TOOLS: usize = 4;

/// A pseudorandom generator with a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count.max(1)).expect("small")).expect("small")
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Keywords that are added to a schema of a tool.
const ODD: &str = r##"[
    {"pattern": "^(?!x).*$"}, {"pattern": "(?i)abc"}, {"pattern": "\\p{L}+"}, {"pattern": "(a)\\1"}, {"pattern": "["},
    {"pattern": 5}, {"patternProperties": {"(?<=a)b": false}}, {"patternProperties": {"^x-": 3}},
    {"properties": {"fooBar": {"type": "string"}, "foo_bar": {}, "foo-bar": {"type": "object", "properties": {}}}},
    {"properties": {"": {}, "type": {}, "self": {}, "Self": {}, "日本": {}, "\u202e": {}, "a b": {}, "a_b": {}}},
    {"required": ["fooBar", "foo_bar"], "additionalProperties": false}, {"required": [1, "a", "a"]}, {"required": "a"},
    {"type": "integer", "maximum": 18446744073709551615}, {"maximum": "@huge"}, {"type": "number", "minimum": "@huge"},
    {"type": "integer", "minimum": 5, "maximum": 1}, {"type": "string", "minLength": 5, "maxLength": 1},
    {"minItems": 2, "maxItems": 1, "type": "array"}, {"minLength": -1}, {"maxLength": 1.5}, {"multipleOf": 0},
    {"enum": []}, {"type": "string", "enum": [1]}, {"enum": [1, 1.0, "a", null]}, {"enum": "a"}, {"type": "object", "const": 1},
    {"enum": ["a b", "a_b", "A-B", ""]}, {"const": "@huge"}, {"default": "@huge", "type": "integer"}, {"examples": 3},
    {"type": "file"}, {"type": []}, {"type": ["string", "string"]}, {"type": null}, {"type": ["object", "any"]},
    {"anyOf": []}, {"oneOf": {}}, {"allOf": [1]}, {"not": 1}, {"if": {"$ref": "x.json"}, "then": false},
    {"oneOf": [{"type": "object", "properties": {"k": {"const": "a-b"}}, "required": ["k"]},
               {"type": "object", "properties": {"k": {"const": "a_b"}}, "required": ["k"]}]},
    {"anyOf": [{"title": "Option"}, {"title": "Vec"}]}, {"$ref": "#"}, {"$ref": "#/$defs/None"}, {"$ref": 3}, {"$ref": "http://x/y"},
    {"$ref": "#/properties"}, {"$id": "http://q/s", "$ref": "#/$defs/I"}, {"$dynamicRef": "#x"}, {"$defs": {"A": {"$ref": "#/$defs/A"}}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}, {"$defs": 3}, {"$anchor": 5},
    {"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true}, {"$schema": 5},
    {"dependencies": {"a": ["b"], "c": {"required": [1]}}}, {"dependentRequired": {"a": [1]}}, {"dependentSchemas": {"a": 1}},
    {"items": [{"type": "string"}, 3], "additionalItems": "x"}, {"items": "string"}, {"contains": 3}, {"uniqueItems": "yes"},
    {"prefixItems": [], "unevaluatedItems": {"$ref": "gone"}}, {"unevaluatedProperties": 5}, {"propertyNames": {"pattern": "(?=a)"}},
    {"format": 3}, {"format": "made-up"}, {"title": ""}, {"title": 3}, {"description": ""}, {"nullable": true}, {"x-odd": {}},
    {"type": "object", "properties": {"a_b": {"type": "object", "properties": {"c": {"type": "object", "properties": {"d": {}}}}},
     "a": {"type": "object", "properties": {"b_c": {"type": "object", "properties": {"d": {}}}, "bC": {"type": "object", "properties": {"e": {}}}}}}}
]"##;

/// Values that replace whole schemas.
const INSTEAD: &str = r##"[null, true, false, 3, "string", [], {}, {"type": "string"}, {"anyOf": [{"type": "object"}, {"type": "object"}]},
    {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}]}, {"enum": [{"a": 1}]}, {"const": {}},
    {"type": ["object", "null"]}, {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"type": "object"}]}}}, {"$ref": "#"},
    {"type": "object", "properties": {"arguments": {"$ref": "#"}}, "anyOf": [{"required": ["arguments"]}, {"required": ["b"]}]}]"##;

/// Names of tools.
const NAMES: &str = r#"["", " ", "all", "remote", "ALL", "type", "Some", "x/y", "日本", "a--b", "a__b", "1", "get_1", "get1", "\u0000", "self",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]"#;

fn items(text: &str) -> Vec<Json> {
    match json::read(text) {
        Json::Array(items) => items,
        other => panic!("{other}"),
    }
}

/// Replaces an entry or appends it.
fn set(value: &mut Json, key: &str, new: Json) {
    if let Json::Object(entries) = value {
        entries.retain(|(known, _)| known != key);
        entries.push((key.to_owned(), new));
    }
}

/// Changes one object somewhere inside a value.
fn change(value: &mut Json, random: &mut Random, odd: &[Json]) {
    let inner: Vec<&mut Json> = match value {
        Json::Object(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
        Json::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    let inner: Vec<&mut Json> = inner
        .into_iter()
        .filter(|value| matches!(value, Json::Object(_) | Json::Array(_)))
        .collect();
    let at = random.below(inner.len() + 1);
    if let Some(inner) = inner.into_iter().nth(at) {
        return change(inner, random, odd);
    }
    match (value, random.pick(odd)) {
        (value @ Json::Object(_), Json::Object(new)) => {
            for (key, new) in new {
                set(value, key, new.clone());
            }
        }
        (Json::Array(items), new) => items.push(new.clone()),
        _ => {}
    }
}

/// A list with a changed tool, and the index of that tool.
fn mutated(tools: &[Json], random: &mut Random) -> (Vec<Json>, usize) {
    let start = random.below(tools.len());
    let mut tools: Vec<Json> =
        tools.iter().cycle().skip(start).take(TOOLS.min(tools.len())).cloned().collect();
    let at = random.below(tools.len());
    let (odd, instead, names) = (items(ODD), items(INSTEAD), items(NAMES));
    for _ in 0..=random.below(3) {
        let tool = &mut tools[at];
        let side = *random.pick(&["inputSchema", "inputSchema", "outputSchema"]);
        match random.below(10) {
            0 => set(tool, side, random.pick(&instead).clone()),
            1 => set(tool, "name", random.pick(&names).clone()),
            2 => {
                let key = *random.pick(&["description", "title", "annotations"]);
                set(tool, key, random.pick(&instead).clone());
            }
            _ => {
                if let Json::Object(entries) = tool
                    && let Some((_, schema)) = entries.iter_mut().find(|(key, _)| key == side)
                {
                    change(schema, random, &odd);
                }
            }
        }
    }
    (tools, at)
}

fn tools(path: &Path) -> Vec<Json> {
    let list = json::read(&fs::read_to_string(path).expect("readable"));
    match list.get("tools").or_else(|| list.get("result")?.get("tools")) {
        Some(Json::Array(tools)) => tools.clone(),
        _ => panic!("{} is not a list", path.display()),
    }
}

fn list_of(tools: Vec<Json>) -> String {
    let list = Json::Object(vec![("tools".to_owned(), Json::Array(tools))]).to_string();
    // The tests' reader of JSON cannot hold this number, as it is larger than any double.
    list.replace("\"@huge\"", "1e400")
}

fn name(tool: &Json) -> String {
    match tool.get("name") {
        Some(Json::String(name)) => name.clone(),
        _ => String::new(),
    }
}

/// Imports a list, and returns a message if `check` refuses the file or if a tool other than `odd` is missing.
fn wrong(list: &[Json], odd: Option<usize>) -> Option<String> {
    let text = list_of(list.to_vec());
    let imported = match import(&text) {
        Ok(imported) => imported,
        // The changed tool was the only one.
        Err(ImportError::Check(_)) if list.len() == 1 => return None,
        Err(error) => return Some(format!("{error}\n{text}")),
    };
    let source = Source { path: "imported.yaml".to_owned(), text: imported.text.clone() };
    let sources = Sources::new(vec![source]);
    if let Err(findings) = check(&sources) {
        let errors = findings.into_iter().filter(|one| one.severity == Severity::Error);
        let errors: Vec<String> =
            errors.map(|one| format!("{}: {}", one.code, one.message)).collect();
        return Some(format!("{errors:?}\n{text}\n{}", imported.text));
    }
    let file = super::parsed(&imported);
    let toolset = file.get("toolsets").and_then(|sets| sets.get("imported"));
    let Some(Json::Object(written)) = toolset.and_then(|set| set.get("tools")) else {
        return Some(format!("no tools\n{}", imported.text));
    };
    let remote = |(key, tool): &(String, Json)| match tool.get("remote") {
        Some(Json::String(remote)) => remote.clone(),
        _ => key.clone(),
    };
    let written: Vec<String> = written.iter().map(remote).collect();
    let others = list.iter().enumerate().filter(|(index, _)| Some(*index) != odd);
    let mut missing = others.map(|(_, tool)| name(tool)).filter(|name| !written.contains(name));
    missing.next().map(|name| format!("`{name}` is missing\n{text}\n{}", imported.text))
}

fn folders() -> Vec<PathBuf> {
    let named = env::var_os("TOOLWRIGHT_LISTS").map(PathBuf::from);
    named.into_iter().chain([folder("real")]).collect()
}

#[test]
fn a_changed_tool_does_not_affect_the_others_and_no_file_is_refused() {
    let paths: Vec<PathBuf> = folders().iter().flat_map(|folder| lists(folder)).collect();
    let all: Vec<Vec<Json>> = paths.iter().map(|path| tools(path)).collect();
    let count = env::var("TOOLWRIGHT_MUTANTS").ok().and_then(|count| count.parse().ok());
    let seed = env::var("TOOLWRIGHT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut found = Vec::new();
    for mutant in 0..count.unwrap_or(MUTANTS) {
        let mut random = Random(seed * 1_000_003 + u64::try_from(mutant).expect("small"));
        let (list, odd) = mutated(&all[mutant % all.len()], &mut random);
        found.extend(wrong(&list, Some(odd)).map(|wrong| format!("{mutant}: {wrong}")));
    }
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n\n"));
}

/// Takes each schema of the official suite as the arguments of a tool, as a property of them, and as a result.
#[test]
fn schemas_of_a_suite_become_tools_that_check_accepts() {
    let Some(suite) = env::var_os("TOOLWRIGHT_SCHEMAS") else {
        eprintln!("notice: `cargo xtask corpus` tries the schemas of the official suite");
        return;
    };
    let mut found = Vec::new();
    for path in lists(&PathBuf::from(suite)) {
        let Json::Array(groups) = json::read(&fs::read_to_string(&path).expect("readable")) else {
            continue;
        };
        for group in &groups {
            let schema = group.get("schema").expect("a schema");
            let list = format!(
                r#"[{{"name": "root", "description": "d", "inputSchema": {schema}}},
                    {{"name": "part", "description": "d", "inputSchema": {{"type": "object", "properties": {{"v": {schema}}}}}}},
                    {{"name": "result", "description": "d", "inputSchema": {{}}, "outputSchema": {schema}}},
                    {{"name": "good", "description": "d", "inputSchema": {{"type": "object"}}}}]"#
            );
            found.extend(
                wrong(&items(&list), None).map(|wrong| format!("{}: {wrong}", path.display())),
            );
        }
    }
    assert!(found.is_empty(), "{} of them:\n{}", found.len(), found.join("\n\n"));
}
