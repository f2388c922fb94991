//! Names are unique in the schema and in the generated Rust (G10 to G13). The runtime checks names with prefixes, which are
//! chosen at run time.

use crate::project::{generated, refusals};

#[test]
fn g10_g11_g12_every_conflict_is_reported_with_both_places() {
    let text = "### a.yaml
service: a
toolsets:
  notes: { tools: { get: { description: Get. }, put: { description: Put., aliases: [store] } } }
agents: { b_c: {} }
### b.yaml
service: b
toolsets:
  notes: { tools: { get: { description: Get. } } }
  other: { tools: { store: { description: Store. }, get_1: { description: One. }, get1: { description: One. } } }
### c.yaml
service: a_b
agents: { c: {} }
";
    assert_eq!(
        refusals(text),
        [
            "duplicate-toolset: two toolsets are named `notes` @ a.yaml:notes, b.yaml:notes",
            "duplicate-tool: two tools are named `get` @ a.yaml:get, b.yaml:get",
            "duplicate-tool: two tools are named `store` @ a.yaml:store, b.yaml:store",
            "name-clash: agent `b_c` of `a` and agent `c` of `a_b` both become the crate `a-b-c-agent` @ a.yaml:b_c, c.yaml:c",
            "name-clash: tool `get_1` and tool `get1` both become the item of `specs` `Get1` @ b.yaml:get_1, b.yaml:get1",
        ]
    );
}

#[test]
fn g10_references_to_a_toolset_are_not_duplicates() {
    let text = "### a.yaml
service: a
toolsets: { notes: { tools: { get: { description: Get. } } } }
agents: { one: { toolsets: [notes] }, two: { toolsets: [notes], tools: [get] } }
mcp_servers: { s: { version: '1', toolsets: [notes] } }
";
    generated(text);
}

/// Many YAML parsers would keep only the second one.
#[test]
fn g11_two_tools_of_one_toolset_with_the_same_name_are_an_error() {
    let text = "### a.yaml\nservice: a\ntoolsets:\n  t:\n    tools:\n      get: { description: One. }\n      get: { description: Two. }\n";
    let found = refusals(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("duplicate-key"), "{found:#?}");
}

/// Names that differ in the schema but become the same name in Rust.
#[test]
fn g13_names_that_become_equal_are_rejected_with_both_places() {
    let table = [
        (
            "toolsets: { t: { tools: { x: { description: X., args: { type: object, properties: { get_x: {}, getX: {} } } } } } }",
            "name-clash: property `get_x` of `XArgs` and property `getX` of `XArgs` both become the field `get_x`",
        ),
        (
            "types: { Pick: { oneOf: [{ $ref: A }, { $ref: B }] }, \
             A: { type: object, required: [t], properties: { t: { const: a_b } } }, \
             B: { type: object, required: [t], properties: { t: { const: a-b } } } }",
            "name-clash: value `a_b` of `Pick` and value `a-b` of `Pick` both become the variant `AB`",
        ),
        (
            "toolsets: { t: { tools: { ab: { description: X. }, a_b: { description: X. } } } }",
            "name-clash: tool `ab` and tool `a_b` both become the item of `specs` `AB`",
        ),
        (
            "methods: { get_1: {}, get1: {} }",
            "name-clash: method `get_1` and method `get1` both become the error type `Get1Error`",
        ),
        (
            "methods: { get: { errors: { gone_1: { description: G. }, gone1: { description: G. } } } }",
            "name-clash: error `gone_1` of method `get` and error `gone1` of method `get` both become the variant `Gone1`",
        ),
        (
            "types: { XArgs: { type: object, properties: { y: { type: string, enum: [a] } } }, XArgsY: { type: string } }",
            "name-clash: the `y` of [`XArgs`] and the type `XArgsY` both become the type `XArgsY`",
        ),
        (
            "mcp_servers: { b_c: { version: '1', toolsets: [t] } }\ntoolsets: { t: { tools: { x: { description: X. } } } }\n\
             ### b.yaml\nservice: a_b\nmcp_servers: { c: { version: '1', toolsets: [t] } }",
            "name-clash: MCP server `b_c` of `a` and MCP server `c` of `a_b` both become the crate `a-b-c-mcp`",
        ),
    ];
    for (yaml, expected) in table {
        let found = refusals(&format!("### a.yaml\nservice: a\n{yaml}\n"));
        let is_expected = |found: &String| {
            found.split_once(" @ ").is_some_and(|(message, places)| {
                message == expected && places.matches(".yaml:").count() == 2
            })
        };
        assert!(found.iter().any(is_expected), "{expected}\nin {found:#?}");
    }
}

/// A toolset exports the types of services that it uses, so it cannot use two of the same name.
#[test]
fn g13_a_toolset_cannot_use_types_of_two_services_with_the_same_name() {
    let text = "### a.yaml
service: a
types: { Note: { type: object, properties: { x: { type: string } } } }
### b.yaml
service: b
types: { Note: { type: object, properties: { y: { type: string } } } }
toolsets:
  t: { tools: { x: { description: X., args: a.Note, result: b.Note } } }
";
    assert_eq!(
        refusals(text),
        [
            "name-clash: the type `Note` of the service `a` and the type `Note` of the service `b` both become the type \
          `Note` @ a.yaml:Note, b.yaml:Note"
        ]
    );
}

/// A service imports the types of other services that its own types use.
#[test]
fn g13_a_service_cannot_use_types_with_the_name_of_another() {
    let text = "### a.yaml
service: a
types: { Status: { enum: [open] }, Level: { enum: [low] } }
### b.yaml
service: b
types: { Level: { enum: [high] } }
### c.yaml
service: c
types:
  Status: { enum: [x] }
  Room: { type: object, properties: { status: { $ref: a.Status }, low: { $ref: a.Level }, high: { $ref: b.Level } } }
";
    assert_eq!(
        refusals(text),
        [
            "name-clash: the type `Status` of the service `a` and the type `Status` both become the type `Status` @ \
             a.yaml:Status, c.yaml:Status",
            "name-clash: the type `Level` of the service `a` and the type `Level` of the service `b` both become the type \
             `Level` @ a.yaml:Level, b.yaml:Level",
        ]
    );
    // A type of a signature is not imported.
    let (own, _) = text.split_once("  Room").expect("the last type");
    generated(&format!("{own}methods: {{ get: {{ result: a.Status }} }}\n"));
}

/// The last parts of pointers may be equal.
#[test]
fn g13_definitions_of_one_schema_have_different_names() {
    let text = "### a.yaml
service: a
types:
  T:
    type: object
    $defs: { A: { type: string, minLength: 1 }, a2: { type: string, minLength: 2 } }
    properties:
      x: { type: object, $defs: { A: { type: integer } }, properties: { z: { $ref: '#/properties/x/$defs/A' } } }
      y: { type: array, items: { $ref: '#/$defs/A' } }
      z: { $ref: '#/$defs/a2' }
      more: { type: array, items: { $ref: '#/properties/x/$defs/A' } }
";
    let files = generated(text);
    let (_, types) = files.iter().find(|(path, _)| path.ends_with("types.rs")).unwrap();
    for line in [
        "pub struct TA(pub i64);",
        "pub struct TA2(pub String);",
        "pub struct TA22(pub String);",
        "pub more: Option<Vec<TA>>,",
    ] {
        assert!(types.contains(line), "{line}\nin {types}");
    }
}

/// Most file systems take names of at most 255 bytes.
#[test]
fn g13_no_generated_path_has_a_long_part() {
    let mut inner = "{ type: string, not: { const: b } }".to_owned();
    for _ in 0..18 {
        inner = format!("{{ type: object, properties: {{ set_of_my_id: {inner} }} }}");
    }
    let (key, name) = ("a".repeat(260), "Abc".repeat(90));
    let text = format!(
        "### a.yaml\nservice: a\ntypes:\n  {name}: {{ type: string, not: {{ const: b }} }}\n  T: {{ type: object, properties: {{ \
         {key}: {{ type: string, not: {{ const: b }} }}, inner: {inner} }} }}\n"
    );
    let files = generated(&text);
    let rules: Vec<&str> =
        files.iter().map(|(path, _)| path).filter(|path| path.contains("/rules/")).collect();
    assert_eq!(rules.len(), 3, "{rules:?}");
    for part in files.iter().flat_map(|(path, _)| path.split('/')) {
        assert!(part.len() <= 255, "{part}");
    }
}

/// The parts of a schema without `type` have no names.
#[test]
fn all_heirs_of_an_unnamed_part_share_its_validator() {
    let heir = "{ type: object, allOf: [{ $ref: Part }], required: [a] }";
    let heirs: Vec<String> = (0..50).map(|n| format!("  H{n}: {heir}\n")).collect();
    let part = "{ properties: { a: { type: object, properties: { b: { type: integer } } } } }";
    let files =
        generated(&format!("### a.yaml\nservice: a\ntypes:\n  Part: {part}\n{}", heirs.concat()));
    let shared = files.iter().filter(|(path, _)| path.ends_with("a_rules.json")).count();
    assert_eq!(shared, 1, "{:?}", files.iter().map(|(path, _)| path).collect::<Vec<_>>());
}

/// If names had to be adapted for a model provider, two could become the same. The strictest grammar is that of Bedrock,
/// `[a-zA-Z][a-zA-Z0-9_]*` with at most 64 characters.
#[test]
fn g13_all_model_providers_accept_the_names_of_tools() {
    let is_accepted = |name: &str| {
        name.len() <= 64
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let longest = "a".repeat(64);
    for name in ["add", "get_1", "x2", &longest] {
        let text = format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ {name}: {{ description: X. }} }} }} }}\n"
        );
        assert!(is_accepted(name) && refusals(&format!("### a.yaml\n{text}")).is_empty(), "{name}");
    }
    for name in ["a.b", "a-b", "a:b", "a/b", "_a", "2x", "é", "A", &format!("{longest}a")] {
        let text = format!(
            "service: a\ntoolsets: {{ t: {{ tools: {{ \"{name}\": {{ description: X. }} }} }} }}\n"
        );
        let found = refusals(&format!("### a.yaml\n{text}"));
        assert_eq!(found.len(), 1, "{name}: {found:?}");
    }
}

/// Names that generated code uses itself.
#[test]
fn g13_reserved_names_are_rejected() {
    let tools = ["all", "duration", "iterator", "none", "some", "tool_spec", "toolset"]
        .map(|name| format!("toolsets: {{ t: {{ tools: {{ {name}: {{ description: X. }} }} }} }}"));
    let types = [
        "Box", "Integer", "Into", "Map", "Nullable", "Option", "Result", "Self", "String", "Value",
        "Vec",
    ]
    .map(|name| format!("types: {{ {name}: {{ type: object }} }}"));
    let methods = ["box", "into", "try_into"].map(|name| format!("methods: {{ {name}: {{}} }}"));
    for yaml in tools.iter().chain(&types).chain(&methods) {
        let found = refusals(&format!("### a.yaml\nservice: a\n{yaml}\n"));
        assert_eq!(found.len(), 1, "{yaml}: {found:#?}");
        assert!(found[0].starts_with("reserved-name"), "{found:#?}");
    }
}

/// Their crates would depend on each other.
#[test]
fn g13_services_whose_types_use_each_other_are_rejected() {
    let text = "### a.yaml
service: users
types:
  User: { type: object, properties: { name: { type: string } } }
  Basket: { type: object, properties: { first: { $ref: shop.Order } } }
### b.yaml
service: shop
types:
  Order: { type: object, properties: { by: { $ref: users.User } } }
";
    let found = refusals(text);
    assert!(found.iter().any(|found| found.starts_with("crate-circle")), "{found:#?}");
}

#[test]
fn g12_an_empty_name_is_rejected() {
    for yaml in [
        "toolsets: { t: { tools: { '': { description: X. } } } }",
        "toolsets: { '': { tools: { x: { description: X. } } } }",
        "methods: { '': {} }",
        "methods: { m: { errors: { '': { description: X. } } } }",
        "agents: { '': {} }",
    ] {
        let found = refusals(&format!("### a.yaml\nservice: a\n{yaml}\n"));
        assert!(!found.is_empty(), "{yaml}");
    }
}

/// Windows treats names such as `con` as devices, with any extension, so such files and folders get another name.
#[test]
fn g13_no_generated_path_is_a_windows_device() {
    let text = "### a.yaml
service: con
types: { Note: { type: string, not: { const: x } } }
methods:
  nul: { description: Nothing., payload: { type: object }, http: { method: GET, path: /nul } }
toolsets:
  aux: { tools: { lpt9: { description: Print. }, com1: { description: Send. }, com: { description: Send. } } }
agents: { prn: { toolsets: [aux] } }
mcp_servers: { com0: { version: '1', toolsets: [aux] } }
";
    let files = generated(text);
    let devices = ["con", "prn", "aux", "nul"].map(str::to_owned).into_iter();
    let numbered = (0..10).flat_map(|number| [format!("com{number}"), format!("lpt{number}")]);
    let devices: Vec<String> = devices.chain(numbered).collect();
    let mut mapped = 0;
    for (path, _) in files.iter() {
        for part in path.split('/') {
            let (name, _) = part.split_once('.').unwrap_or((part, ""));
            assert!(!devices.iter().any(|device| device == name), "{path}");
            assert!(!part.ends_with(['.', ' ']), "{path}");
            assert_eq!(
                part.to_lowercase().replace("cargo.toml", "Cargo.toml").replace("readme", "README"),
                part
            );
            mapped += usize::from(name.ends_with('_'));
        }
    }
    assert!(mapped > 10, "only {mapped} parts of paths got another name");
    for path in ["con_/tools/aux_/schema/lpt9_.args.json", "con_/tools/aux_/schema/com.args.json"] {
        assert!(files.iter().any(|(known, _)| known == path), "{path}");
    }
}
