//! The layout of generated crates, their imports, and the independence of providers from consumers (G15 to G19, G25).

use toolwright_codegen::Files;

use crate::project::{below, generated, paths};

const PROVIDERS: &str = "### todos.yaml
service: todos
types:
  Item: { type: object, required: [title], properties: { title: { type: string } } }
  Put: { type: object, required: [run_id, item], properties: { run_id: { type: string }, item: { $ref: Item } } }
methods: { put: { payload: Put, result: Item }, list: { result: { type: array, items: { $ref: Item } } } }
toolsets:
  todos:
    tools:
      put_todo: { description: Put., bind: put, inject: { run_id: run_id } }
      old_todos: { description: List., bind: list, deprecated: { since: '2', use: list_todos, until: 2027-01-31 } }
  reading: { tools: { list_todos: { description: List., bind: list } } }
";

const CONSUMERS: &str = "### users.yaml
service: users
agents:
  writer: { description: Writes., toolsets: [todos], tools: [list_todos] }
  idler: { description: Does nothing. }
mcp_servers: { desk: { version: 1.0.0, toolsets: [reading, todos] } }
";

fn with_consumers() -> Files {
    generated(&[PROVIDERS, CONSUMERS].concat())
}

/// The crate is at `<service>/tools/<toolset>`; it has `transforms` only if a tool's type differs from its method's.
#[test]
fn g15_a_toolset_has_one_crate_with_the_modules_it_needs() {
    let files = generated(PROVIDERS);
    let modules = |toolset: &str| paths(&files, &format!("todos/tools/{toolset}/src/")).join(" ");
    assert_eq!(
        modules("todos"),
        "calls.rs codecs.rs executor.rs lib.rs specs.rs transforms.rs types.rs"
    );
    assert!(!modules("reading").contains("transforms"), "{}", modules("reading"));
    let packages = ["todos/tools/todos", "todos/tools/reading"].map(|folder| {
        let manifest = files.get(&format!("{folder}/Cargo.toml")).expect("generated");
        manifest.lines().find(|line| line.starts_with("name")).map(str::to_owned)
    });
    let expected = ["name = \"todos-tools\"", "name = \"reading-tools\""];
    assert_eq!(packages, expected.map(|line| Some(line.to_owned())));
}

/// The spec of each tool is a static, and the toolset lists all of them in declared order.
#[test]
fn g16_specs_offer_each_tool_all_tools_and_the_advertised_ones() {
    let files = generated(PROVIDERS);
    let specs = files.get("todos/tools/todos/src/specs.rs").expect("generated");
    for line in [
        "pub static PUT_TODO: ToolSpec = ",
        "pub static OLD_TODOS: ToolSpec = ",
        "toolwright::toolset!(",
        "tools: [PUT_TODO, OLD_TODOS]",
        ".deprecated_since(\"2\")",
        ".replaced_by(\"list_todos\")",
        ".deprecated_until(\"2027-01-31\")",
    ] {
        assert!(specs.contains(line), "{line} in {specs}");
    }
}

/// Rust code that calls a deprecated tool gets a warning, and generated code none.
#[test]
fn calls_of_deprecated_tools_are_deprecated() {
    let files = with_consumers();
    let calls = files.get("todos/tools/todos/src/calls.rs").expect("generated");
    let note = "since 2; use `list_todos` instead; it may be gone after 2027-01-31";
    assert!(calls.contains(&format!("#[deprecated(note = \"{note}\")]")), "{calls}");
    assert_eq!(calls.matches("#[deprecated").count(), 1, "{calls}");
    let calls = files.get("users/agents/writer/src/calls.rs").expect("generated");
    assert!(
        calls.contains("#[allow(deprecated)]\npub use todos_tools::calls::old_todos;"),
        "{calls}"
    );
    assert!(calls.contains("\npub use todos_tools::calls::put_todo;"), "{calls}");
}

/// The crates of consumers have no types, codecs or schemas.
#[test]
fn g17_consumers_define_nothing() {
    let files = with_consumers();
    let consumers = below(&files, "users/");
    assert!(!consumers.is_empty());
    for (path, text) in consumers {
        assert!(!path.contains("schema"), "{path}");
        for word in ["struct ", "enum ", "trait ", "impl ", "include_str!", "args_schema"] {
            let is_type = word == "impl " && text.contains("impl Iterator")
                || text.contains("impl todos_service");
            assert!(
                !text.contains(word) || is_type && word == "impl ",
                "{word} in {path}:\n{text}"
            );
        }
    }
}

#[test]
fn g18_an_agents_crate_lists_specs_and_reexports_call_builders() {
    let files = with_consumers();
    let crate_of = "users/agents/writer/";
    assert_eq!(
        paths(&files, crate_of),
        ["Cargo.toml", "README.md", "src/calls.rs", "src/lib.rs", "src/specs.rs"]
    );
    let calls = below(&files, crate_of)["src/calls.rs"];
    let lines: Vec<&str> =
        calls.lines().filter(|line| !line.starts_with("//") && !line.is_empty()).collect();
    assert_eq!(
        lines,
        [
            "pub use reading_tools::calls::list_todos;",
            "pub use todos_tools::calls::put_todo;",
            "#[allow(deprecated)]",
            "pub use todos_tools::calls::old_todos;"
        ]
    );
    let specs = below(&files, crate_of)["src/specs.rs"];
    for used in [
        "&todos_tools::specs::PUT_TODO",
        "&todos_tools::specs::OLD_TODOS",
        "&reading_tools::specs::LIST_TODOS",
    ] {
        assert_eq!(specs.matches(used).count(), 1, "{used} in {specs}");
    }
}

#[test]
fn g18_an_agent_without_tools_has_a_crate() {
    let files = with_consumers();
    assert_eq!(paths(&files, "users/agents/idler/src/"), ["lib.rs", "specs.rs"]);
}

#[test]
fn g19_a_consumer_changes_no_byte_of_a_provider() {
    let (without, with) = (generated(PROVIDERS), with_consumers());
    assert_eq!(below(&without, "todos/"), below(&with, "todos/"));
    assert_eq!(below(&with, "todos/").len() + below(&with, "users/").len(), with.len());
}

/// The crate of a server refers to specs of the toolset; the toolset of a method that is a tool uses the types of its service.
#[test]
fn g25_a_server_and_a_method_that_is_a_tool_define_nothing_twice() {
    let text = "### c.yaml
service: calc
methods:
  add:
    payload: { type: object, required: [a], properties: { a: { type: number } } }
    result: { type: number }
    tool: { description: Add. }
mcp_servers: { desk: { version: 1.0.0, toolsets: [calc] } }
";
    let files = generated(text);
    let types = files.get("calc/tools/calc/src/types.rs").expect("the implicit toolset");
    assert!(types.contains("pub use calc_service::types::{AddPayload, AddResult};"), "{types}");
    let codecs = files.get("calc/tools/calc/src/codecs.rs").expect("generated");
    assert!(codecs.lines().all(|line| line.starts_with("//")), "{codecs}");
    let server = files.get("calc/mcp/desk/src/lib.rs").expect("generated");
    assert!(server.contains("toolsets: &[calc_tools::specs::ALL]"), "{server}");
}
