//! Bindings of tools to methods (G8, G9), typed calls (G20), injected fields (G21).

use crate::project::{below, differing, generated, rust};

const UNBOUND: &str = "### a.yaml
service: a
types:
  Put: { type: object, required: [text], additionalProperties: false, properties: { text: { type: string } } }
  Stored: { type: object, required: [id], additionalProperties: false, properties: { id: { type: string } } }
methods: { put: { payload: Put, result: Stored } }
toolsets: { t: { tools: { put_note: { description: Put., args: Put, result: Stored } } } }
";

/// With and without `bind`, types and schemas are the same byte for byte, and the specs differ only in the implementation.
#[test]
fn g8_g9_binding_changes_only_the_provenance() {
    let bound = UNBOUND.replace("result: Stored } } } }\n", "result: Stored, bind: put } } } }\n");
    assert_ne!(bound, UNBOUND);
    let (unbound, bound) = (generated(UNBOUND), generated(&bound));
    let (unbound, bound) = (below(&unbound, "a/tools/t/"), below(&bound, "a/tools/t/"));
    assert_eq!(
        differing(unbound["src/specs.rs"], bound["src/specs.rs"]),
        [r#".with_method("a", "put")"#]
    );
    let same = [
        "schema/put_note.args.json",
        "schema/put_note.result.json",
        "src/types.rs",
        "src/calls.rs",
    ];
    for path in same {
        assert_eq!(unbound[path], bound[path], "{path}");
    }
}

#[test]
fn g9_a_tool_without_schemas_has_those_of_its_method() {
    let declared =
        UNBOUND.replace("result: Stored } } } }\n", "result: Stored, bind: put } } } }\n");
    let derived = declared.replace("args: Put, result: Stored, bind", "bind");
    assert_ne!(declared, derived);
    let (declared, derived) = (generated(&declared), generated(&derived));
    assert_eq!(below(&declared, "a/tools/t/"), below(&derived, "a/tools/t/"));
}

/// Tools of all implementations.
#[test]
fn g20_every_tool_has_a_call_builder_that_returns_a_result() {
    let text = "### a.yaml
service: a
methods: { get: {}, own: { tool: { description: Own. } } }
agents: { helper: { exports: [by_agent] } }
toolsets:
  by_method: { tools: { one: { description: One., bind: get } } }
  by_agent: { tools: { two: { description: Two. } } }
  by_server: { mcp: { server: far }, tools: { three: { description: Three. } } }
  by_host: { tools: { four: { description: Four. } } }
";
    let files = generated(text);
    let table = [
        ("by_method", "one"),
        ("by_agent", "two"),
        ("by_server", "three"),
        ("by_host", "four"),
        ("a", "own"),
    ];
    for (toolset, tool) in table {
        let calls = files.get(&format!("a/tools/{toolset}/src/calls.rs")).expect("generated");
        assert!(calls.contains(&format!("toolwright::calls!({tool}(types::")), "{calls}");
    }
}

#[test]
fn g20_no_generated_code_panics() {
    let text = "### a.yaml
service: a
types:
  Tree: { type: object, required: [run_id], properties: { run_id: { type: string }, next: { $ref: Tree } } }
methods: { get: { payload: Tree, result: Tree, errors: { gone: { description: Gone. } } } }
agents: { helper: { exports: [other], toolsets: [t] } }
mcp_servers: { s: { version: '1', toolsets: [t, other] } }
toolsets:
  t: { tools: { get_tree: { description: Get., bind: get, inject: { run_id: run_id } } } }
  other: { tools: { plan: { description: Plan., args: Tree, result: Tree } } }
";
    for (path, text) in rust(&generated(text)) {
        for word in ["unwrap(", "expect(", "panic!", "unreachable!", "todo!", "#[allow", "unsafe {"]
        {
            assert!(!text.contains(word), "{word} in {path}");
        }
    }
}

const INJECTED: &str = "### a.yaml
service: a
types:
  Put:
    type: object
    required: [run_id, text]
    properties: { run_id: { type: string }, text: { type: string }, caller: { type: string } }
methods: { put: { payload: Put } }
toolsets:
  t: { tools: { put_note: { description: Put., bind: put, inject: { run_id: run_id, caller: 'label:caller' } } } }
";

/// An injected field is in the method's payload, and in none of the modules that models and callers use.
#[test]
fn g21_injected_fields_are_hidden_from_the_model() {
    let files = generated(INJECTED);
    let shown = ["schema/put_note.args.json", "src/types.rs", "src/codecs.rs", "src/specs.rs"];
    for path in shown {
        let text = files.get(&format!("a/tools/t/{path}")).expect("generated");
        assert!(!text.contains("run_id") && !text.contains("caller"), "{path}: {text}");
    }
    let payload = files.get("a/service/src/types.rs").expect("generated");
    assert!(
        payload.contains("pub run_id: String") && payload.contains("pub caller: Option<String>")
    );
}

/// The payload accepts additional keys.
#[test]
fn g21_an_injected_key_is_not_taken_from_the_model() {
    let files = generated(INJECTED);
    let transforms = files.get("a/tools/t/src/transforms.rs").expect("generated");
    for key in ["run_id", "caller"] {
        assert!(transforms.contains(&format!("additional.remove(\"{key}\");")), "{transforms}");
    }
}

#[test]
fn g21_an_injected_field_cannot_be_an_argument() {
    let text = INJECTED.replace("bind: put,", "bind: put, args: Put,");
    let found = crate::project::refusals(&text);
    assert_eq!(
        found,
        [
            "injected-and-declared: `run_id` is injected, so it cannot be in `args`, too @ a.yaml:run_id, a.yaml:run_id",
            "inject-optional: the payload of `put` does not require `caller`, so a call may lack it @ a.yaml:caller, a.yaml:caller",
            "injected-and-declared: `caller` is injected, so it cannot be in `args`, too @ a.yaml:caller, a.yaml:caller",
        ]
    );
}

/// The payload refers to an object through two types, of which the first has a rule.
#[test]
fn g21_arguments_are_not_derived_past_the_rules_of_a_reference() {
    let text = INJECTED
        .replace(
            "methods:",
            "  Kept: { $ref: Put, minProperties: 2 }\n  Same: { $ref: Kept }\nmethods:",
        )
        .replace("payload: Put", "payload: Same");
    let found = crate::project::refusals(&text);
    assert!(found.iter().any(|found| found.starts_with("args-not-derivable: ")), "{found:?}");
}

/// The same text has another type in a file with another setting for integers.
#[test]
fn arguments_with_the_text_of_the_payload_have_the_integers_of_their_file() {
    let args = |integers: &str| {
        let text = format!(
            "### a.yaml
service: a
methods: {{ put: {{ payload: {{ type: object, required: [n], properties: {{ n: {{ type: integer }} }} }} }} }}
### b.yaml
service: a
integers: {integers}
toolsets:
  t: {{ tools: {{ put_note: {{ description: Put., bind: put, args: {{ type: object, required: [n], properties: {{ n: {{ type: integer }} }} }} }} }} }}
"
        );
        below(&generated(&text), "a/tools/t/")["schema/put_note.args.json"].to_owned()
    };
    assert!(args("int64").contains("int64"));
    assert!(!args("exact").contains("int64"));
}
