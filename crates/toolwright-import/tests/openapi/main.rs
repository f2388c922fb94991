//! Tests `import openapi` on small documents with expected files: every place of a parameter, schemas of 3.0, and operations
//! that are left out. Every written file compiles. `UPDATE_EXPECT=1 cargo test` updates the expected files.

#[path = "../../../../codegen/tests/expect/mod.rs"]
mod expect;

use std::fs;
use std::path::{Path, PathBuf};

use expect::expect;
use toolwright_codegen::diagnostic::Severity;
use toolwright_codegen::{Options, Source, Sources, compile};
use toolwright_import::openapi::{ApiImport, ImportedApi, OpenApiError, openapi};
use toolwright_import::{Owner, Selection};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi/cases");
    let entries = fs::read_dir(folder).expect("the cases are there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let is_case = |path: &PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy();
        !name.contains(".imported.") && !name.ends_with(".warnings")
    };
    let mut cases: Vec<PathBuf> = paths.filter(is_case).collect();
    cases.sort();
    assert!(cases.len() >= 3, "{cases:?}");
    cases
}

fn import(
    text: &str,
    tags: &[&str],
    by_tag: bool,
    selection: Selection,
) -> Result<ImportedApi, OpenApiError> {
    let owner = Owner { service: "hotel", toolset: "hotel" };
    openapi(
        text,
        "api.yaml",
        &ApiImport { owner, by_tag, tags: names(tags), selection, other_files: &[] },
    )
}

fn all(text: &str) -> Result<ImportedApi, OpenApiError> {
    import(text, &[], false, Selection::default())
}

/// Panics if the imported file does not compile.
fn check(imported: &ImportedApi) {
    let source = Source { path: "imported.yaml".to_owned(), text: imported.text.clone() };
    if let Err(findings) = compile(&Sources::new(vec![source]), &Options::default()) {
        let errors: Vec<_> =
            findings.iter().filter(|one| one.severity == Severity::Error).collect();
        panic!("{errors:#?}\n{}", imported.text);
    }
}

#[test]
fn documents_become_the_expected_files_and_warnings() {
    let mut wrong = Vec::new();
    for path in cases() {
        let imported = all(&fs::read_to_string(&path).expect("readable")).expect("operations");
        check(&imported);
        let warnings = imported.warnings.iter().map(|warning| format!("{warning}\n"));
        let counts = format!("{} taken, {} left out\n", imported.operations, imported.left_out);
        expect(&path.with_extension("imported.yaml"), &imported.text, &mut wrong);
        let warnings = warnings.collect::<String>() + &counts;
        expect(&path.with_extension("warnings"), &warnings, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Its only operation has a cookie with a name that cannot be sent.
const UNUSABLE: &str = "openapi: 3.0.0
info: { title: x, version: '1' }
paths:
  /a:
    get:
      operationId: look
      parameters: [{ name: x y, in: cookie, required: true, schema: { type: string } }]
      responses: { '200': { description: Found. } }
";

#[test]
fn a_text_that_is_not_an_openapi_document_is_refused_with_a_reason() {
    let empty = "openapi: 3.0.0\ninfo: { title: x, version: '1' }\npaths: {}\n";
    let cases = [
        ("{", "this is not JSON at 1:2"),
        ("[1, 2", "this is not valid YAML: api.yaml:1:"),
        ("a: 1\na: 2", "`a`"),
        ("swagger: '2.0'", "this is Swagger 2"),
        ("openapi: 3.2.0", "this is OpenAPI 3.2.0"),
        ("openapi: 4", "this is OpenAPI 4"),
        ("{}", "this is not an OpenAPI document"),
        ("", "this is not an OpenAPI document"),
        (empty, "no operation is selected"),
        (UNUSABLE, "none of 1 operations can be imported: it was left out: the cookie `x y` has"),
    ];
    for (text, expected) in cases {
        let error = all(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

fn places() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi/cases/places.yaml");
    fs::read_to_string(path).expect("readable")
}

fn names(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn operations_are_selected_and_renamed_and_each_tag_may_be_a_toolset() {
    let text = places();
    let only = Selection { only: names(&["wish", "listRooms"]), ..Selection::default() };
    let imported = import(&text, &[], false, only).expect("two operations");
    check(&imported);
    assert_eq!(imported.operations, 2);
    let tagged = Selection {
        except: names(&["putGuest"]),
        renames: vec![("listRooms".to_owned(), "rooms".to_owned())],
        ..Selection::default()
    };
    let imported = import(&text, &["rooms"], true, tagged).expect("one operation");
    check(&imported);
    assert!(imported.text.contains("\n  hotel_rooms:\n    description: Where guests stay.\n"));
    assert!(
        imported.text.contains("\n  rooms:\n    description: List rooms\n"),
        "{}",
        imported.text
    );
}

/// Otherwise a small document would become a large one.
#[test]
fn operations_are_left_out_once_references_have_copied_too_much() {
    let properties: Vec<String> =
        (0..1000).map(|at| format!(r#""p{at}":{{"type":"string"}}"#)).collect();
    let body = format!(
        r#"{{"content":{{"application/json":{{"schema":{{"type":"object","properties":{{{}}}}}}}}}}}"#,
        properties.join(",")
    );
    let path = |at: usize| {
        format!(
            r##""/p{at}":{{"post":{{"operationId":"post{at}","requestBody":{{"$ref":"#/components/requestBodies/b"}},"responses":{{"204":{{"description":"Done."}}}}}}}}"##
        )
    };
    let paths: Vec<String> = (0..100).map(path).collect();
    let text = format!(
        r#"{{"openapi":"3.1.0","info":{{"title":"A","version":"1"}},"paths":{{{}}},"components":{{"requestBodies":{{"b":{body}}}}}}}"#,
        paths.join(",")
    );
    let imported = all(&text).unwrap();
    assert_eq!((imported.operations, imported.left_out), (49, 51));
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    let expected = "the references of the document copy more than 100000 values";
    assert!(warnings.iter().any(|warning| warning.contains(expected)), "{warnings:?}");
}

/// A schema file has at most 4 MiB, so operations that share a long text are not all written.
#[test]
fn an_api_that_would_become_a_larger_file_than_check_reads_is_refused() {
    let long = "long ".repeat(10_000);
    let path = |at: usize| {
        format!(
            r##""/p{at}":{{"get":{{"operationId":"get{at}","parameters":[{{"$ref":"#/components/parameters/p"}}],"responses":{{"204":{{"description":"Done."}}}}}}}}"##
        )
    };
    let text = |operations: usize| {
        let paths: Vec<String> = (0..operations).map(path).collect();
        format!(
            r#"{{"openapi":"3.1.0","info":{{"title":"A","version":"1"}},"paths":{{{}}},"components":{{"parameters":{{"p":{{"name":"q","in":"query","description":"{long}","schema":{{"type":"string"}}}}}}}}}}"#,
            paths.join(",")
        )
    };
    assert_eq!(all(&text(50)).unwrap().operations, 50);
    let error = all(&text(100)).unwrap_err().to_string();
    assert!(error.contains("a schema file has at most 4194304; import fewer"), "{error}");
}

#[test]
fn a_selection_that_names_nothing_is_refused() {
    let only = |name: &str| Selection { only: names(&[name]), ..Selection::default() };
    let except = Selection { except: names(&["*"]), ..Selection::default() };
    let table: [(&[&str], Selection, &str); 4] = [
        (&[], only("listRoom"), "matches no operation of the document; did you mean `listRooms`?"),
        (&["guests"], only("wish"), "`--only wish` matches no operation"),
        (&[], except, "no operation is selected"),
        (&["room"], Selection::default(), "did you mean `rooms`?"),
    ];
    for (tags, selection, expected) in table {
        let error = import(&places(), tags, false, selection).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_import_depends_on_its_input_alone_and_no_part_of_it_panics() {
    for path in cases() {
        let text = fs::read_to_string(&path).expect("readable");
        assert_eq!(all(&text).expect("operations").text, all(&text).expect("operations").text);
        let lines: Vec<&str> = text.lines().collect();
        for at in 0..lines.len() {
            let less = [&lines[..at], &lines[at + 1..]].concat().join("\n");
            if let Ok(imported) = all(&less) {
                check(&imported);
            }
        }
        for (at, _) in text.char_indices().step_by(97) {
            let _ = all(&text[..at]);
        }
    }
}

/// Each of 10,000 keys that begin with 2 was once one more success, and all were compared with each other.
#[test]
fn only_statuses_are_successful_responses() {
    let of_type = |kind: &str| {
        format!("{{description: x, content: {{application/json: {{schema: {{type: {kind}}}}}}}}}")
    };
    let (integer, string) = (of_type("integer"), of_type("string"));
    let responses = |statuses: &[&str], rest: &[&str]| {
        let known = statuses.iter().map(|status| format!("'{status}': {integer}"));
        let rest = rest.iter().map(|status| format!("'{status}': {string}"));
        let every: Vec<String> = known.chain(rest).collect();
        let operation = format!("{{operationId: a, responses: {{{}}}}}", every.join(", "));
        all(&format!("openapi: 3.1.0\npaths: {{/a: {{get: {operation}}}}}\n"))
            .expect("an operation")
    };
    let imported = responses(&["200", "2XX", "2xx"], &["2", "20", "2000", "2ab", "2é", "2XX "]);
    assert!(!imported.text.contains("type: string"), "{}", imported.text);
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    let expected = "a response whose key is not a status";
    assert!(warnings.iter().any(|one| one.contains(expected)), "{warnings:?}");
}

/// Returns the file made of a document with an operation and another one, and the warnings. `rest` are more keys of the document.
fn beside_another(operation: &str, rest: &str) -> (String, String) {
    let text = format!(
        "openapi: 3.1.0
paths:
  /other: {{ get: {{ operationId: other, responses: {{}} }} }}
  '/x/{{p}}': {{ post: {{ operationId: tried, {operation} }} }}
components:
  schemas:
    Text: {{ type: string }}
    Object: {{ type: object, properties: {{ a: {{ type: string }} }} }}
    Nested: {{ allOf: [{{ $ref: '#/components/schemas/Object' }}] }}
    Hidden: {{ type: [object, 'null'], readOnly: true }}
{rest}"
    );
    let imported = all(&text).expect("an operation");
    check(&imported);
    let warnings: Vec<String> = imported.warnings.iter().map(ToString::to_string).collect();
    (imported.text, warnings.join("\n"))
}

/// Checks that an operation is left out for a reason, or is not if there is none.
fn is_left_out(operation: &str, reason: Option<&str>) {
    let (text, warnings) = beside_another(operation, "");
    let expected = reason.map(|reason| format!("an operation was left out: {reason}"));
    assert_eq!(text.contains("tried:"), expected.is_none(), "{operation}\n{text}{warnings}");
    assert!(warnings.contains(&expected.unwrap_or_default()), "{operation}\n{warnings}");
}

#[test]
fn a_body_is_only_sent_as_the_media_type_that_it_has() {
    let content = |kinds: &[(&str, &str)]| {
        let kinds = kinds.iter();
        let kinds = kinds.map(|(kind, of)| format!("{kind}: {{ schema: {{ type: {of} }} }}"));
        format!("requestBody: {{ content: {{ {} }} }}", kinds.collect::<Vec<_>>().join(", "))
    };
    let patch = ("application/json-patch+json", "boolean");
    for (kind, sent) in [
        ("application/json", "{ type: integer }"),
        ("application/json; charset=utf-8", "{ type: integer }"),
        ("'*/*'", "{ type: integer }"),
        ("text/plain", "content: text"),
    ] {
        let of = if kind == "text/plain" { "string" } else { "integer" };
        let (text, warnings) = beside_another(&content(&[patch, (kind, of)]), "");
        assert!(text.contains(sent) && !text.contains("boolean"), "{kind}\n{text}{warnings}");
    }
    let both = content(&[("'*/*'", "boolean"), ("application/json", "integer")]);
    assert!(beside_another(&both, "").0.contains("type: integer"));
    for kind in ["application/merge-patch+json", "application/vnd.api+json", "text/csv"] {
        is_left_out(&content(&[(kind, "string")]), Some(&format!("its body is `{kind}`; only")));
    }
    let answer = "{ description: x, content: { application/vnd.api+json: { schema: {} } } }";
    is_left_out(&format!("responses: {{ 200: {answer} }}"), None);
}

#[test]
fn an_exploded_object_is_found_behind_references_and_choices() {
    let named = |name: &str| format!("{{ $ref: '#/components/schemas/{name}' }}");
    for (schema, is_object) in [
        (named("Text"), false),
        ("{ type: [array, 'null'], items: { type: object } }".to_owned(), false),
        ("{ type: object }".to_owned(), true),
        ("{ type: [object, 'null'] }".to_owned(), true),
        (named("Object"), true),
        (named("Nested"), true),
        (format!("{{ anyOf: [{}, {{ type: string }}] }}", named("Nested")), true),
    ] {
        for (place, name) in [("path", "p"), ("header", "X-P")] {
            let parameter = |explode| {
                format!(
                    "parameters: [{{ name: {name}, in: {place}, required: true, explode: {explode}, schema: {schema} }}]"
                )
            };
            let reason = format!("an object in its {place} is exploded");
            is_left_out(&parameter(true), is_object.then_some(&reason));
            is_left_out(&parameter(false), None);
        }
    }
}

#[test]
fn a_form_whose_fields_have_encodings_that_are_not_sent_is_left_out() {
    let form = |encoding: &str| {
        let fields = ["list: { type: array }", "text: { $ref: '#/components/schemas/Text' }"];
        let more = [
            "object: { $ref: '#/components/schemas/Nested' }",
            "hidden: { $ref: '#/components/schemas/Hidden' }",
        ];
        let fields = [fields, more].concat().join(", ");
        format!(
            "requestBody: {{ content: {{ application/x-www-form-urlencoded: {{ schema: {{ type: object, properties: {{ {fields} }} }}, encoding: {{ {encoding} }} }} }} }}"
        )
    };
    for (encoding, reason) in [
        ("", None),
        ("text: { style: form, explode: true, allowReserved: true }, list: { style: form }", None),
        ("text: { contentType: text/plain }, object: { contentType: application/json }", None),
        ("list: { style: deepObject }, object: { style: deepObject, explode: true }", None),
        (
            "list: { style: pipeDelimited }",
            Some("the field `list` of its form has an `encoding` of its own"),
        ),
        (
            "list: { explode: false }",
            Some("the field `list` of its form has an `encoding` of its own"),
        ),
        ("list: { contentType: application/json }", Some("the field `list` of its form has an")),
        ("object: { style: form }", Some("the field `object` of its form has an `encoding`")),
        ("text: { contentType: text/csv }", Some("the field `text` of its form has an `encoding`")),
        (
            "object: { style: deepObject }",
            Some("the field `list` of its form does not have the style"),
        ),
    ] {
        is_left_out(&form(encoding), reason);
    }
    let (text, warnings) = beside_another(
        &form("list: { style: deepObject, allowReserved: true }, object: { style: deepObject }"),
        "",
    );
    assert!(text.contains("content: deep_form"), "{text}");
    assert!(warnings.contains("a field of a form with `allowReserved` is"), "{warnings}");
}

/// A form of 501 schemas, the last of which has the field with an encoding.
#[test]
fn a_form_with_an_encoding_and_too_many_schemas_is_left_out() {
    let members = |count: usize| {
        let members = "{ type: object }, ".repeat(count);
        format!("allOf: [{members}{{ properties: {{ last: {{ type: object }} }} }}]")
    };
    let form = |count| {
        format!(
            "requestBody: {{ content: {{ application/x-www-form-urlencoded: {{ schema: {{ {} }}, encoding: {{ last: {{ style: form }} }} }} }} }}",
            members(count)
        )
    };
    is_left_out(&form(400), Some("the field `last` of its form has an `encoding` of its own"));
    is_left_out(&form(500), Some("its form has an `encoding` and too many schemas that apply"));
}

/// A body of which a copy without a required property would hold a copy of itself.
#[test]
fn a_schema_that_would_be_copied_into_itself_without_end_is_cut() {
    const BODY: &str = "requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } }";
    const ANSWER: &str = "responses: { 200: { description: x, content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } } }";
    let x = |word: &str| {
        format!(
            "{{ properties: {{ id: {{ {word}: true }} }}, allOf: [{{ $ref: '#/components/schemas/C' }}] }}"
        )
    };
    for (operation, word) in [(BODY, "readOnly"), (ANSWER, "writeOnly")] {
        let hidden = format!("properties: {{ id: {{ {word}: true }} }}");
        let nested = x(word);
        for (c, warning) in [
            (format!("allOf: [{{ $ref: '#/components/schemas/C', {hidden} }}]"), ""),
            (format!("properties: {{ c: {nested} }}"), "more than 90 steps deep"),
        ] {
            let schemas = format!("    X: {nested}\n    C: {{ required: [id], {c} }}");
            let (text, warnings) = beside_another(operation, &schemas);
            assert!(text.contains("tried:"), "{text}{warnings}");
            assert!(warnings.contains(warning), "{c}\n{text}{warnings}");
            assert!(text.len() < 20_000 && warnings.len() < 2_000, "{text}{warnings}");
        }
    }
}

/// The schemas beside the operation, whose body is `X`, and whether one of them keeps what it requires.
#[test]
fn a_property_that_requests_lose_is_required_nowhere() {
    const BODY: &str = "requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/X' } } } }";
    let reference = |name: &str| format!("$ref: '#/components/schemas/{name}'");
    let hidden = "properties: { id: { type: integer, readOnly: true } }";
    let chain = |count: usize| {
        let link = |at: usize| {
            let next = reference(&format!("C{}", at + 1));
            format!("\n    C{at}: {{ required: [id], allOf: [{{ {next} }}] }}")
        };
        let links: String = (0..count).map(link).collect();
        let first = reference("C0");
        format!("{{ {hidden}, allOf: [{{ {first} }}] }}{links}\n    C{count}: {{ required: [id] }}")
    };
    let text = reference("Plain");
    for (schemas, is_required) in [
        (format!("{{ required: [id], allOf: [{{ {text}, {hidden} }}] }}"), false),
        (format!("{{ required: [id], {text}, {hidden} }}"), false),
        (format!("{{ {}, {hidden} }}\n    R: {{ required: [id] }}", reference("R")), false),
        (format!("{{ required: [id], {} }}\n    H: {{ {hidden} }}", reference("H")), false),
        (chain(15), false),
        (chain(16), true),
    ] {
        let schemas = format!("    Plain: {{ type: object }}\n    X: {schemas}");
        let (text, warnings) = beside_another(BODY, &schemas);
        assert!(text.contains("tried:"), "{text}{warnings}");
        assert_eq!(text.contains("required: [id]"), is_required, "{schemas}\n{text}{warnings}");
        let warning = "properties of the other direction may be required";
        assert_eq!(warnings.contains(warning), is_required, "{schemas}\n{text}{warnings}");
    }
}

#[test]
fn schemas_are_read_in_the_dialect_of_their_document() {
    let operation =
        "parameters: [{ name: q, in: query, schema: { $ref: '#/components/schemas/Short' } }]";
    let read = |dialect: &str| {
        let short = "    Short: { $ref: '#/components/schemas/Text', maxLength: 4 }";
        beside_another(operation, &format!("{short}\njsonSchemaDialect: '{dialect}'"))
    };
    for (dialect, has_length, warning) in [
        (
            "http://json-schema.org/draft-07/schema#",
            false,
            "`maxLength` beside `$ref` means nothing in draft-07",
        ),
        ("https://json-schema.org/draft/2020-12/schema", true, ""),
        ("https://spec.openapis.org/oas/3.1/dialect/base", true, ""),
        (
            "https://else.test/dialect",
            true,
            "`jsonSchemaDialect: https://else.test/dialect` is not known",
        ),
    ] {
        let (text, warnings) = read(dialect);
        assert_eq!(text.contains("maxLength"), has_length, "{dialect}\n{text}");
        assert!(warnings.contains(warning), "{dialect}\n{warnings}");
        assert_eq!(warnings.contains("not known"), warning.contains("not known"), "{warnings}");
    }
}
