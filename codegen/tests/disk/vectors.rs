//! Tests of vectors: their rows, and when their files are written and removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toolwright::Value;
use toolwright_codegen::options::{Layout, Options};
use toolwright_codegen::project::{Mode, Project};
use toolwright_codegen::{Build, Source, Sources, compile};

use crate::expect::expect;
use crate::folder::Folder;

/// Returns the paths and texts of the vectors for a schema.
fn vectors(schema: &str) -> Vec<(String, String)> {
    let source = Source { path: "a.yaml".to_owned(), text: schema.to_owned() };
    let options = Options { vectors: true, ..Options::of(Layout::Crates) };
    let compiled = compile(&Sources::new(vec![source]), &options).expect("a schema");
    let rows = compiled.files.iter().filter(|(path, _)| path.contains("/vectors/"));
    rows.map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

#[test]
fn rows_are_those_of_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/vectors");
    let mut wrong = Vec::new();
    for case in ["parts", "scalars"].map(|name| folder.join(name)) {
        let schema = fs::read_to_string(case.with_extension("yaml")).unwrap();
        let [(_, rows)] = &vectors(&schema)[..] else { panic!("expected a tool") };
        expect(&case.with_extension("jsonl"), rows, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lists the payloads of a side in which the text is.
fn rows<'r>(text: &'r str, side: &str) -> Vec<&'r str> {
    text.lines().filter(|row| row.starts_with(&format!("{{\"of\":\"{side}\","))).collect()
}

#[test]
fn each_side_has_20_to_200_short_rows_and_none_twice() {
    let property = |index: usize| {
        format!(
            "p{index}: {{ type: string, maxLength: 3000, pattern: '^x', description: A text. }}"
        )
    };
    let properties: Vec<String> = (0..400).map(property).collect();
    let wide = format!("{{ type: object, properties: {{ {} }} }}", properties.join(", "));
    let nested = (0..12).fold("{}".to_owned(), |inner, _| {
        format!("{{ type: object, required: [a, b], properties: {{ a: {inner}, b: {{}} }} }}")
    });
    let lists =
        "{ type: array, minItems: 1000, maxItems: 1000, items: { type: string, minLength: 20 } }";
    let tight = "{ type: string, minLength: 6000, maxLength: 6000 }";
    let never = "{ type: string, pattern: '(?=a)b' }";
    // Its values would take gigabytes if they were made before they are found to be too long.
    let many = |key: char, count: usize, schema: &str| {
        let keys: Vec<_> = (0..count).map(|index| format!("{key}{index}: {schema}")).collect();
        format!("{{ type: object, properties: {{ {} }} }}", keys.join(", "))
    };
    let large = many('a', 20, &many('b', 20, "{ type: string, minLength: 4000 }"));
    let schemas =
        ["{}", "{ type: 'null' }", "{ const: 1 }", &wide, &nested, lists, tight, never, &large];
    for schema in schemas {
        let args = format!("{{ type: object, properties: {{ a: {schema} }} }}");
        let text = format!(
            "toolwright: 1\nservice: a\ntoolsets:\n  a:\n    tools:\n      a: {{ description: A., args: {args}, result: {schema} }}\n"
        );
        let [(path, text)] = &vectors(&text)[..] else { panic!("expected a tool") };
        assert_eq!(path, "a/tools/a/vectors/a.jsonl");
        for side in ["args", "result"] {
            let rows = rows(text, side);
            assert!((20..=200).contains(&rows.len()), "{} rows: {schema}", rows.len());
            let bytes: usize = rows.iter().map(|row| row.len()).sum();
            assert!(bytes < 150_000, "{bytes} bytes: {schema}");
            let values: Vec<Value> = rows.iter().map(|row| row.parse().expect(row)).collect();
            let payloads: BTreeSet<String> = values
                .iter()
                .map(|row| {
                    let text = row.get("text").and_then(Value::as_str).map(str::to_owned);
                    text.or_else(|| Some(row.get("payload")?.to_string())).expect("a payload")
                })
                .collect();
            assert_eq!(payloads.len(), rows.len(), "{schema}");
            let is_valid = |row: &Value| row.get("valid").and_then(Value::as_bool) == Some(true);
            // No text is found for a pattern that looks ahead, and one of 6000 characters is too long.
            let has_valid = side == "args" || ![never, tight].contains(&schema);
            assert_eq!(values.iter().any(is_valid), has_valid, "{schema}");
        }
    }
}

const SCHEMA: &str = "toolwright: 1
service: notes
toolsets:
  notes: { tools: { nul: { description: Nothing. }, put_note: { description: Puts., args: { type: object, properties: { text: { type: string } } } } } }
";

const TEST: &str = "gen/notes/tools/notes/tests/vectors.rs";

const ROWS: &str = "gen/notes/tools/notes/vectors/put_note.jsonl";

/// A project with vectors that were generated.
fn generated() -> (Folder, Project) {
    let folder = Folder::new(&[
        ("schema/notes.yaml", SCHEMA),
        ("toolwright.toml", "[package]\nvectors = true\n"),
    ]);
    let project = Project::open(&folder.path("")).unwrap();
    project.generate(Mode::Write).unwrap();
    (folder, project)
}

#[test]
fn vectors_are_compared_and_written_again_as_other_files() {
    let (folder, project) = generated();
    let test = folder.read(TEST);
    for (call, file) in
        [("::check::<specs::PutNote>(", "put_note.jsonl"), ("::check::<specs::Nul>(", "nul_.jsonl")]
    {
        assert!(
            test.contains(call) && test.contains(&format!("(\"../vectors/{file}\")")),
            "{test}"
        );
    }
    let manifest = folder.read("gen/notes/tools/notes/Cargo.toml");
    assert!(manifest.contains("\nexclude = [\"/tests/vectors.rs\", \"/vectors\"]\n"), "{manifest}");
    let rows = folder.read(ROWS);
    for edited in [rows.replacen("true", "false", 1), String::new()] {
        folder.put(ROWS, &edited);
        assert!(!project.generate(Mode::Check).unwrap().is_up_to_date());
        project.generate(Mode::Write).unwrap();
        assert_eq!(folder.read(ROWS), rows);
    }
    fs::remove_file(folder.path(ROWS)).unwrap();
    project.generate(Mode::Write).unwrap();
    assert!(project.generate(Mode::Check).unwrap().is_up_to_date());
    folder.put("schema/notes.yaml", SCHEMA.replace("type: string", "type: string, maxLength: 9"));
    project.generate(Mode::Write).unwrap();
    assert!(folder.read(ROWS).contains("at the maximum length"));
}

#[test]
fn without_the_option_vectors_are_removed_and_files_of_others_are_kept() {
    let (folder, _) = generated();
    let mine = ["gen/notes/tools/notes/tests/mine.rs", "gen/notes/tools/notes/vectors/mine.jsonl"];
    for path in mine {
        folder.put(path, "// mine\n");
    }
    folder.put("toolwright.toml", "");
    let project = Project::open(&folder.path("")).unwrap();
    project.generate(Mode::Write).unwrap();
    let left: Vec<String> =
        folder.list().into_iter().filter(|path| path.starts_with("gen/")).collect();
    assert!(mine.iter().all(|path| left.iter().any(|left| left == path)), "{left:?}");
    assert!(![TEST, ROWS].iter().any(|path| left.iter().any(|left| left == path)), "{left:?}");
}

/// An incremental run compiles only the files that changed, and a tool whose payloads take much work has as many rows as before.
#[test]
fn vectors_do_not_depend_on_files_that_did_not_change() {
    let costly = (0..3).fold("{ type: integer }".to_owned(), |items, _| {
        format!("{{ type: array, minItems: 16, items: {items} }}")
    });
    let tool = |name: &str, schema: &str| {
        format!(
            "      {name}: {{ description: A., args: {{ type: object, properties: {{ a: {schema} }} }} }}\n"
        )
    };
    let file = |name: &str, tools: &str| {
        let text =
            format!("toolwright: 1\nservice: {name}\ntoolsets:\n  {name}:\n    tools:\n{tools}");
        (format!("schema/{name}.yaml"), text)
    };
    let many: String = (0..50).map(|at| tool(&format!("t{at}"), "{}")).collect();
    let files =
        [file("costly", &tool("c", &costly)), file("many", &many), file("one", &tool("o", "{}"))];
    let folder = Folder::new(&[("toolwright.toml", "[package]\nvectors = true\n")]);
    let project = Project::open(&folder.path("")).unwrap();
    let put = |(path, text): &(String, String)| folder.put(path, text);
    let comment =
        |(path, _): &(String, String)| folder.put(path, folder.read(path) + "# A comment.\n");
    let remove = |(path, _): &(String, String)| fs::remove_file(folder.path(path)).unwrap();
    let [costly, many, one] = &files;
    let steps: [&dyn Fn(); 5] = [
        &|| files.iter().for_each(put),
        &|| comment(costly),
        &|| remove(many),
        &|| comment(one),
        &|| put(many),
    ];
    for step in steps {
        step();
        project.generate(Mode::Write).unwrap();
        let compared = project.generate(Mode::Check).unwrap();
        assert!(compared.is_up_to_date(), "{}", compared.report("gen"));
    }
}

#[test]
fn modules_have_no_vectors() {
    let (folder, _) = generated();
    Build::new(folder.path("schema")).out_dir(folder.path("modules")).generate().unwrap();
    assert!(
        !folder.list().iter().any(|path| path.starts_with("modules/") && path.contains("vectors"))
    );
}
