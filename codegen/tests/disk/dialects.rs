//! Tests of `[dialects]` in `toolwright.toml`: findings, exceptions, and definitions for providers.

use std::fmt::Write as _;

use expect_test::expect_file;
use toolwright_codegen::project::{Change, Failure, Mode, Project};
use toolwright_codegen::render::Format;

use crate::folder::Folder;

const SHOP: &str = "toolwright: 1
service: shop
types:
  Part:
    type: object
    additionalProperties: false
    required: [name]
    properties:
      name: { type: string, maxLength: 40 }
      parts: { type: array, items: { $ref: Part } }
methods:
  plan:
    description: Plan a part.
    payload: { type: object, additionalProperties: false, required: [part], properties: { part: { $ref: Part } } }
  find:
    description: Find a part.
    payload:
      type: object
      additionalProperties: false
      properties:
        text: { type: string }
        limit: { type: [integer, \"null\"] }
  tag:
    description: Tag a part.
    payload: { type: object, properties: { tag: { type: string } } }
toolsets:
  shop:
    tools:
      plan: { description: Plan a part., bind: plan }
      find: { description: Find a part., bind: find }
      tag: { description: Tag a part., bind: tag, strict: STRICT }
agents:
  clerk: { toolsets: [shop] }
";

/// A dialect of the project's own: two tools per request, one of them strict, and names of four letters.
const OWN: &str = r#"
[[dialect]]
id = "house"
asof = "2026-11"
envelope = "openai_chat"
mode = "any"
name = "^[a-z]{1,64}$"
limits = { tools = 2 }
confidence = "D"
evidence = ["D our gateway"]

[[dialect]]
id = "house-strict"
plain = "house"
asof = "2026-11"
inherits = "house"
mode = "deny"
deny = ["maxLength"]
limits = { tools = 2, strict_tools = 1 }
confidence = "D"
evidence = ["D our gateway"]
"#;

fn project(config: &str, strict: &str) -> Folder {
    Folder::new(&[
        ("schema/shop.yaml", &SHOP.replace("STRICT", strict)),
        ("dialects/house.toml", OWN),
        ("toolwright.toml", config),
    ])
}

fn check(folder: &Folder) -> String {
    let findings = match Project::open(&folder.path("")).and_then(|project| project.check()) {
        Ok(checked) => toolwright_codegen::render::render(
            &checked.warnings,
            &checked.sources,
            Format::Human { color: false },
        ),
        Err(failure) => failure.render(Format::Human { color: false }),
    };
    findings.replace(&folder.path("").display().to_string(), "")
}

/// Each case is a name, the table `[dialects]`, and the `strict` of one tool.
const CASES: [(&str, &str, &str); 10] = [
    ("no targets", "", "prefer"),
    (
        "plain targets",
        "targets = [\"openai-responses\", \"anthropic\"]\nstrict = \"never\"",
        "prefer",
    ),
    ("strict where it loses little", "targets = [\"openai-responses\"]", "prefer"),
    ("strict always", "targets = [\"anthropic\"]\nstrict = \"require\"", "prefer"),
    ("a strict row", "targets = [\"openai-responses-strict\"]", "never"),
    (
        "one tool is always strict",
        "targets = [\"bedrock\"]\npolicy.unnamed_keys = \"deny\"\npolicy.recursion = \"unroll:2\"",
        "always",
    ),
    (
        "a subset of JSON Schema",
        "targets = [\"gemini-schema\"]\npolicy = { widened = \"warn\" }",
        "prefer",
    ),
    (
        "an exception",
        "targets = [\"gemini-schema\"]\ntools.plan = { refused = \"warn\", because = \"it is not for Gemini\" }",
        "prefer",
    ),
    (
        "limits of an agent",
        "targets = [\"house\"]\nfiles = [\"dialects/house.toml\"]\nstrict = \"require\"",
        "prefer",
    ),
    (
        "an unknown tool",
        "targets = [\"anthropic\"]\ntools.plam = { refused = \"warn\", because = \"it was renamed\" }",
        "prefer",
    ),
];

#[test]
fn tools_are_held_to_the_targets_of_the_project_by_its_policy() {
    let mut shown = String::new();
    for (name, table, strict) in CASES {
        let folder = project(&format!("[dialects]\n{table}\n"), strict);
        writeln!(shown, "# {name}\n\n{table}\n\n{}", check(&folder)).unwrap();
    }
    expect_file!["dialects.txt"].assert_eq(&shown);
}

/// The beginning of a schema with a type that has a rule.
const PART: &str = "toolwright: 1
service: shop
types:
  Part:
    type: object
    additionalProperties: false
    properties:
      weight: { type: integer, multipleOf: 5 }
      parts: { type: array, items: { $ref: Part } }
";

/// Rules in a type, in alternatives of each form, in a tuple and in a map.
const NESTED: &str = "  Even: { type: integer, multipleOf: 2 }
toolsets:
  shop:
    tools:
      in_a_type:
        description: Find a part.
        args: { type: object, properties: { part: { $ref: Part } } }
      in_a_type_without_properties:
        description: Find a part.
        args: { type: object, properties: { a: { $ref: Even }, b: { $ref: Even } } }
      in_what_may_be_null:
        description: Find a part.
        args: { type: object, properties: { a: { anyOf: [{ type: object, properties: { b: { type: integer, multipleOf: 5 } } }, { type: \"null\" }] } } }
      in_kinds:
        description: Find a part.
        args: { type: object, properties: { a: { anyOf: [{ type: string }, { type: object, properties: { c: { type: integer, multipleOf: 5 } } }] } } }
      in_a_choice:
        description: Find a part.
        args: { type: object, properties: { a: { anyOf: [{ type: object, properties: { d: { type: integer, multipleOf: 5 } } }, { type: object, properties: { e: { type: string } } }] } } }
      in_a_tuple:
        description: Find a part.
        args: { type: object, properties: { a: { type: array, prefixItems: [{ type: object, properties: { f: { type: integer, multipleOf: 5 } } }] } } }
      in_a_map:
        description: Find a part.
        args: { type: object, properties: { a: { type: object, additionalProperties: { type: object, properties: { g: { type: integer, multipleOf: 5 } } } } } }
";

#[test]
fn a_loss_within_a_definition_or_an_alternative_is_shown_at_its_property() {
    let config = "[dialects]\ntargets = [\"gemini\"]\npolicy = { widened = \"warn\" }\n";
    let folder = Folder::new(&[
        ("schema/shop.yaml", &format!("{PART}{NESTED}")),
        ("toolwright.toml", config),
    ]);
    expect_file!["dialect_places.txt"].assert_eq(&check(&folder));
}

/// A tool that an agent implements, and one whose result no provider gets.
const ANSWERED: &str = "toolsets:
  shop:
    tools:
      find: { description: Find a part., result: Part }
  work:
    tools:
      assemble: { description: Assemble parts., result: Part }
agents:
  clerk: { toolsets: [shop], exports: [work] }
";

#[test]
fn the_result_of_a_tool_that_an_agent_implements_is_held_to_the_targets() {
    let mut shown = String::new();
    for targets in ["\"openai-responses\", \"gemini\"", "\"bedrock-strict\""] {
        let config =
            format!("[dialects]\ntargets = [{targets}]\npolicy = {{ widened = \"warn\" }}\n");
        let folder = Folder::new(&[
            ("schema/shop.yaml", &format!("{PART}{ANSWERED}")),
            ("toolwright.toml", &config),
        ]);
        writeln!(shown, "# {targets}\n\n{}", check(&folder)).unwrap();
    }
    expect_file!["dialect_results.txt"].assert_eq(&shown);
}

#[test]
fn mistakes_in_targets_and_files_are_shown_where_they_are() {
    let mut shown = String::new();
    for table in [
        "targets = [\"opnai-responses\", \"anthropic\", \"anthropic\"]",
        "targets = [\"house\"]\nfiles = [\"none.toml\"]",
        "targets = [\"house\"]\nfiles = [\"schema/shop.yaml\"]",
        "targets = [\"house\"]\nfiles = [\"dialects/house.toml\", \"./dialects/house.toml\"]",
        "tools.plan = { refused = \"warn\", because = \"…\" }",
    ] {
        let folder = project(&format!("[dialects]\n{table}\n"), "prefer");
        writeln!(shown, "{table}\n\n{}", check(&folder)).unwrap();
    }
    expect_file!["dialect_mistakes.txt"].assert_eq(&shown);
}

#[test]
fn definitions_for_providers_are_generated_on_request_and_removed_without_it() {
    let emit = "[dialects]\ntargets = [\"openai-responses\", \"gemini-schema\"]\nemit = true\npolicy = { refused = \"warn\" }\n";
    let folder = project(emit, "never");
    let generate = || {
        let project = Project::open(&folder.path("")).unwrap();
        project.generate(Mode::Write).unwrap_or_else(|failure: Failure| panic!("{failure}"))
    };
    generate();
    let schema = "gen/shop/tools/shop/schema";
    let definition: serde_json::Value =
        serde_json::from_str(&folder.read(&format!("{schema}/find.openai-responses-strict.json")))
            .unwrap();
    assert_eq!(definition["name"], "find");
    assert_eq!(definition["parameters"]["required"], serde_json::json!(["text", "limit"]));
    let plain = folder.read(&format!("{schema}/tag.openai-responses.json"));
    assert!(plain.starts_with("{ \"$comment\": \"@generated by toolwright"), "{plain}");
    let refused: serde_json::Value =
        serde_json::from_str(&folder.read(&format!("{schema}/plan.gemini-schema.json"))).unwrap();
    assert!(refused["refused"].is_string(), "{refused}");

    folder.put("toolwright.toml", emit.replace("true", "false"));
    let Change::Written(written) = generate().change else { panic!("nothing was compared") };
    assert_eq!(written.removed.len(), 6, "{written:?}");
    assert!(written.foreign.is_empty() && written.set_aside.is_none(), "{written:?}");
}
