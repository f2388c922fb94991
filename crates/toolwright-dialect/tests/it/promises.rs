//! Rows, names, requests and hostile schemas.

use std::time::Instant;

use toolwright::spec::Strictness;
use toolwright_dialect::{
    Class, Dialect, Policy, Projections, Subject, Transform, place, project, wire_call_ids,
    wire_name,
};

fn projected(name: &str, args: &str, dialect: &str) -> toolwright_dialect::Projection {
    let subject = Subject { name, description: "", args };
    project(&subject, Dialect::find(dialect).unwrap(), &Policy::default())
}

#[test]
fn every_row_has_a_source_a_date_and_a_plain_form_without_enforcement() {
    assert!(Dialect::all().count() >= 20);
    for row in Dialect::all() {
        assert!(!row.evidence().is_empty(), "{}", row.id());
        assert!(!row.plain().is_strict(), "{}", row.id());
        assert_eq!(Dialect::find(&row.dated_id()).unwrap().id(), row.id());
    }
}

#[test]
fn rows_of_a_user_inherit_and_unknown_keys_are_errors() {
    let text = r#"
        [[dialect]]
        id = "mine"
        asof = "2026-11"
        inherits = "openai-chat-strict"
        deny = ["pattern"]
        confidence = "O"
        evidence = ["O seen by us"]
    "#;
    let rows = Dialect::from_toml(text).unwrap();
    assert_eq!((rows[0].dated_id().as_str(), rows[0].envelope()), ("mine@2026-11", "openai_chat"));
    for (from, to, message) in [
        ("deny", "denny", "unknown field `denny`"),
        ("openai-chat-strict", "openai-chat-strct", "did you mean `openai-chat-strict`?"),
        ("2026-11", "November", "expected a month such as 2026-09"),
        ("2026-11", "2026-13", "expected a month such as 2026-09"),
        ("2026-11", "2026-00", "expected a month such as 2026-09"),
        (
            "deny = [\"pattern\"]",
            "tokens = { high = inf }",
            "0.85, 1 and inf, expected numbers from 0",
        ),
        (
            "deny = [\"pattern\"]",
            "tokens = { low = nan }",
            "NaN, 1 and 1.4, expected numbers from 0",
        ),
        ("deny = [\"pattern\"]", "tokens = { factor = -1.0 }", "0.85, -1 and 1.4, expected"),
        ("[\"O seen by us\"]", "[]", "expected a source"),
    ] {
        let error = Dialect::from_toml(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains("dialect `mine`") && error.contains(message), "{error}");
    }
}

#[test]
fn a_row_of_the_id_and_month_of_another_is_an_error() {
    let row = |id: &str, month: &str| {
        format!(
            "[[dialect]]\nid = \"{id}\"\nasof = \"{month}\"\ninherits = \"openai-chat\"\n\
             confidence = \"O\"\nevidence = [\"O seen by us\"]\n"
        )
    };
    let chat = Dialect::find("openai-chat").unwrap();
    assert!(Dialect::from_toml(&(row("mine", "2026-11") + &row("mine", "2026-12"))).is_ok());
    assert!(Dialect::from_toml(&row(chat.id(), "2031-01")).is_ok());
    for (rows, id, month) in [
        (row("mine", "2026-11") + &row("mine", "2026-11"), "mine", "2026-11"),
        (row(chat.id(), chat.as_of()), chat.id(), chat.as_of()),
    ] {
        let error = Dialect::from_toml(&rows).unwrap_err().to_string();
        let expected =
            format!("dialect `{id}`: there is already a row of {month}; change its `id` or `asof`");
        assert_eq!(error, expected);
    }
}

#[test]
fn names_fit_the_grammar_and_long_ones_end_with_a_digest() {
    let chat = Dialect::find("openai-chat").unwrap();
    assert_eq!(wire_name("find_issues", chat), "find_issues");
    assert_eq!(wire_name("repo.find issues", chat), "repo_find_issues");
    let gemini = Dialect::find("gemini").unwrap();
    assert_eq!(wire_name("9lives", gemini), "t_9lives");
    let long = wire_name(&"long".repeat(30), chat);
    assert_eq!((long.len(), long.starts_with("longlong")), (64, true));
    assert_ne!(long, wire_name(&format!("{}x", "long".repeat(30)), chat));
}

#[test]
fn call_ids_of_a_request_are_one_to_one() {
    let mistral = Dialect::find("mistral").unwrap();
    let ids = ["call_1", "call_2", "call_1", "abcdefghi"];
    let wire = wire_call_ids(ids, mistral);
    assert!(
        wire.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "{wire:?}"
    );
    assert_eq!(wire[0], wire[2]);
    assert_ne!(wire[0], wire[1]);
    assert_eq!(wire[3], "abcdefghi");
}

#[test]
fn a_full_budget_makes_tools_plain_and_a_refused_tool_costs_no_other() {
    let property = |number: usize| format!("\"p{number}\":{{\"type\":\"string\"}}");
    let many: Vec<String> = (0..10).map(property).collect();
    let many = format!(
        "{{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{{{}}}}}",
        many.join(",")
    );
    let names = ["a", "b", "c"];
    let strict: Vec<_> =
        names.iter().map(|name| projected(name, &many, "anthropic-strict")).collect();
    let plain: Vec<_> = names.iter().map(|name| projected(name, &many, "anthropic")).collect();
    let broken = projected("broken", "[]", "anthropic");
    let tools =
        names.iter().zip(strict.iter().zip(&plain)).map(|(name, (strict, plain))| Projections {
            name,
            strict,
            plain,
            strictness: if *name == "c" { Strictness::Always } else { Strictness::Prefer },
            is_deferred: false,
        });
    let refused = Projections {
        name: "broken",
        strict: &broken,
        plain: &broken,
        strictness: Strictness::Prefer,
        is_deferred: false,
    };
    let tools: Vec<_> = tools.chain([refused]).collect();
    let request = place(&tools, Dialect::find("anthropic-strict").unwrap());
    // The limit is 24 optional parameters in total; each tool has ten.
    let sent: Vec<_> = request.tools.iter().map(|tool| (tool.name, tool.is_strict)).collect();
    assert_eq!(sent, [("a", true), ("b", false), ("c", true)]);
    let codes: Vec<_> =
        request.findings.iter().map(|finding| (finding.code, finding.tool.as_str())).collect();
    assert_eq!(codes, [("TWD201", "b"), ("TWD101", "broken")]);
}

#[test]
fn two_tools_with_one_wire_name_are_an_error_that_names_both() {
    let args = r#"{"type":"object"}"#;
    let (one, other) =
        (projected("a.b", args, "openai-chat"), projected("a b", args, "openai-chat"));
    let tools = [("a.b", &one), ("a b", &other)].map(|(name, projection)| Projections {
        name,
        strict: projection,
        plain: projection,
        strictness: Strictness::Never,
        is_deferred: false,
    });
    let request = place(&tools, Dialect::find("openai-chat").unwrap());
    let finding = request.findings.iter().find(|finding| finding.is_error).unwrap();
    assert_eq!(finding.code, "TWD301");
    assert!(finding.message.contains("`a.b`") && finding.message.contains("`a b`"), "{finding}");
}

/// The number of definitions of a large schema. Release builds take ten times as many in a second:
/// `cargo xtask bench dialects`.
const DEFINITIONS: usize = 1_000;

#[test]
fn hostile_schemas_are_projected_or_refused_without_a_panic() {
    let deep = format!("{}{}{}", "{\"properties\":{\"a\":".repeat(500), "{}", "}}".repeat(500));
    let definitions: Vec<String> = (0..DEFINITIONS)
        .map(|number| format!("\"D{number}\":{{\"type\":\"object\",\"properties\":{{\"next\":{{\"$ref\":\"#/$defs/D{}\"}}}}}}", (number + 1) % DEFINITIONS))
        .collect();
    let circle = format!(
        "{{\"type\":\"object\",\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/D0\"}}}},\"$defs\":{{{}}}}}",
        definitions.join(",")
    );
    let keys = r#"{"type":"object","properties":{"__proto__":{"type":"string"},"more":{},"input":{},"item_1":{},"😀":{"type":"string"},"":{}},"additionalProperties":{"type":"integer"}}"#;
    let nothing = r##"{"type":"object","properties":{"a":{"$ref":"#/properties/b"},"b":{"$ref":"#/properties/a"},"c":{"allOf":[{"$ref":"#/properties/c"}]}}}"##;
    for schema in [
        deep.as_str(),
        &circle,
        keys,
        nothing,
        "false",
        "true",
        "7",
        "",
        "{\"type\":7,\"enum\":[],\"anyOf\":{}}",
    ] {
        for dialect in Dialect::all() {
            let start = Instant::now();
            let found = projected("tool", schema, dialect.id());
            assert!(start.elapsed().as_secs() < 20, "{} took {:?}", dialect.id(), start.elapsed());
            let _ = found.decode("{\"a\":{\"next\":{}}}");
            let _ = found.encode("{}");
        }
    }
    assert_eq!(projected("tool", &deep, "openai-chat").class, Class::Refused);
}

#[test]
fn the_guide_lists_every_transform() {
    let guide = include_str!("../../../../docs/guide/dialects.md");
    for Transform { name, from, to } in Transform::ALL {
        assert!(guide.contains(&format!("\n| {name} | {from} | {to} |\n")), "{name}");
        assert_eq!(Transform::named(name).unwrap().name, *name);
    }
}

#[test]
fn integers_beyond_doubles_are_texts_also_in_lists_of_values_and_of_types() {
    const BIG: &str = "9007199254740993";
    let unsigned = r#"{"type":["integer","null"],"minimum":0,"maximum":18446744073709551615}"#;
    for (schema, sent) in [
        (r#"{"type":"integer","enum":[1,9007199254740993]}"#, &[(BIG, true), ("1", true)][..]),
        (r#"{"type":"integer","enum":[1,9007199254740992]}"#, &[("1", false)]),
        (r#"{"const":9007199254740993}"#, &[(BIG, true)]),
        (r#"{"enum":[9007199254740993,null]}"#, &[(BIG, true), ("null", false)]),
        (unsigned, &[(BIG, true), ("7", true), ("null", false)]),
        (r#"{"type":["integer","null"],"maximum":9}"#, &[("7", false), ("null", false)]),
        (
            r#"{"type":["integer","boolean"],"minimum":-9007199254740993}"#,
            &[(BIG, true), ("true", false)],
        ),
    ] {
        let args = format!(
            r#"{{"type":"object","additionalProperties":false,"required":["v"],"properties":{{"v":{schema}}}}}"#
        );
        let found = projected("tool", &args, "gemini@2026-08");
        for (value, is_text) in sent {
            let wire = if *is_text { format!("\"{value}\"") } else { (*value).to_owned() };
            let [value, wire] = [*value, &wire].map(|value| format!(r#"{{"v":{value}}}"#));
            assert_eq!(found.encode(&value).as_ref(), Ok(&wire), "{schema}");
            assert_eq!(found.decode(&wire).unwrap().canonical.as_str(), value, "{schema}");
        }
    }
}
