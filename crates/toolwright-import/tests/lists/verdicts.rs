//! Tests that an imported schema accepts the payloads that the server's schema accepts, and that differences are warned of.
//! `verdicts/` has schemas with payloads. The verdict `null` is for payloads whose verdict depends on a missing part of the
//! server's schema; they must be accepted.

use std::fs;

use toolwright_codegen::diagnostic::Report;
use toolwright_codegen::internal::lower;
use toolwright_codegen::internal::schema::published;
use toolwright_codegen::internal::syntax;
use toolwright_codegen::internal::{Json, Style};
use toolwright_codegen::options::Integers;
use toolwright_codegen::{Source, Sources};
use toolwright_import::Imported;

use super::{folder, import, json, lists, parsed};

/// Returns whether the arguments of the only tool of a file accept a payload.
fn accepts(imported: &Imported, payload: &Json) -> bool {
    let source = Source { path: "imported.yaml".to_owned(), text: imported.text.clone() };
    let sources = Sources::new(vec![source]);
    let mut report = Report::default();
    let documents = syntax::parse(&sources, &mut report);
    let lowered = lower(&documents, Integers::default(), &mut report);
    let [tool] = lowered.project.tools.as_slice() else { panic!("{}", imported.text) };
    let schema = published(&lowered.project.schemas, tool.args, Style::Compact);
    let schema = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    validator.is_valid(&serde_json::from_str(&payload.to_string()).expect("JSON"))
}

#[test]
fn imported_schemas_accept_what_the_servers_schemas_accept() {
    let mut wrong = Vec::new();
    for path in lists(&folder("verdicts")) {
        let case = json::read(&fs::read_to_string(&path).expect("readable"));
        let schema = case.get("schema").expect("a schema");
        let list = format!(
            "{{\"tools\":[{{\"name\":\"tool\",\"description\":\"A tool.\",\"inputSchema\":{schema}}}]}}"
        );
        let imported = import(&list).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        parsed(&imported);
        let warnings: Vec<String> =
            imported.warnings.iter().map(|warning| format!("{warning}\n")).collect();
        let warns = case.get("warns").is_none_or(|warns| *warns == Json::Boolean(true));
        if warns == warnings.is_empty() {
            wrong.push(format!("{}: warnings: {warnings:?}", path.display()));
        }
        let Some(Json::Array(payloads)) = case.get("payloads") else { panic!("no payloads") };
        for row in payloads {
            let payload = row.get("payload").expect("a payload");
            let expected = row.get("valid") != Some(&Json::Boolean(false));
            if accepts(&imported, payload) != expected {
                let name = path.display();
                wrong.push(format!("{name}: {payload}\n{}{}", imported.text, warnings.concat()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
