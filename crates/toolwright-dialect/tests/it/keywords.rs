//! Keywords that a dialect does not take, or takes in another meaning: none disappears without a loss.

use serde_json::{Value, json};
use toolwright_dialect::{Class, Dialect, Loss, LossKind, Policy, Projection, Subject, project};

use crate::rules;

fn projected(args: &Value, dialect: &str) -> Projection {
    let args = args.to_string();
    let subject = Subject { name: "tool", description: "A tool.", args: &args };
    project(&subject, Dialect::find(dialect).unwrap(), &Policy::default())
}

/// The arguments with one property `x`.
fn args(property: &Value) -> Value {
    json!({
        "type": "object", "properties": {"x": property}, "required": ["x"], "additionalProperties": false,
        "$defs": {"Name": {"enum": ["a", "b"]}}
    })
}

/// The wire schema of a property, and the losses.
fn wire(property: &Value, dialect: &str) -> (Value, Vec<Loss>) {
    let found = projected(&args(property), dialect);
    let wire: Value = serde_json::from_str(&found.wire_schema.expect("it is taken")).unwrap();
    assert_eq!(rules::broken(Dialect::find(dialect).unwrap(), &wire), [""; 0], "{wire}");
    (wire["properties"]["x"].clone(), found.losses)
}

fn keywords(losses: &[Loss]) -> Vec<(&str, LossKind)> {
    losses.iter().map(|loss| (loss.keyword.as_str(), loss.kind)).collect()
}

#[test]
fn null_beside_another_alternative_is_nullable() {
    for dialect in ["gemini-schema", "gemini-live"] {
        let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
        let (x, losses) = wire(&optional, dialect);
        assert_eq!(x, json!({"type": "string", "nullable": true}));
        assert_eq!(keywords(&losses), [("additionalProperties", LossKind::Enforcement)]);
        let found = projected(&args(&optional), dialect);
        for value in [r#"{"x":null}"#, r#"{"x":"null"}"#] {
            assert_eq!(found.encode(value).unwrap(), value);
            assert_eq!(found.decode(value).unwrap().canonical.as_str(), value);
        }
    }
}

#[test]
fn nothing_is_beside_a_choice_in_a_choice() {
    let inner = json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]});
    let outer =
        json!({"description": "D", "anyOf": [inner, {"type": "integer"}, {"type": "null"}]});
    let (x, _) = wire(&outer, "gemini-schema");
    let alternatives = [
        json!({"type": "string", "nullable": true, "description": "D"}),
        json!({"type": "boolean"}),
        json!({"type": "integer"}),
    ];
    assert_eq!(x, json!({"anyOf": alternatives}));
}

#[test]
fn names_of_keys_keep_their_values_and_references_in_pairs() {
    let map = |names: Value| json!({"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": names});
    for names in [json!({"enum": ["a", "b"]}), json!({"$ref": "#/$defs/Name", "minLength": 1})] {
        let (x, _) = wire(&map(names), "openai-chat-strict");
        let key = json!({"type": "string", "enum": ["a", "b"]});
        assert_eq!(x["items"]["properties"]["key"], key);
    }
    let (x, _) = wire(&map(json!({"const": "a"})), "openai-chat-strict");
    assert_eq!(x["items"]["properties"]["key"]["const"], "a");
}

#[test]
fn rules_of_keys_that_do_not_fit_into_pairs_are_listed() {
    let text = json!({"type": "string"});
    for (object, keyword, words) in [
        (json!({"additionalProperties": text, "propertyNames": false}), "propertyNames", ":false}"),
        (
            json!({"additionalProperties": text, "propertyNames": {"type": "integer"}}),
            "propertyNames",
            "\"integer\"}",
        ),
        (
            json!({"additionalProperties": false, "patternProperties": {"^a": text}, "propertyNames": {"pattern": "z$"}}),
            "propertyNames",
            "{\"pattern\":\"z$\"}",
        ),
        (
            json!({"additionalProperties": text, "patternProperties": {"^a": text, "^b": {}}}),
            "additionalProperties",
            "\"additionalProperties\":{",
        ),
        (json!({"additionalProperties": text, "properties": {"no": false}}), "", ""),
    ] {
        let mut object = object;
        object["type"] = json!("object");
        let (x, losses) = wire(&object, "openai-chat-strict");
        assert!(
            keywords(&losses).contains(&(keyword, LossKind::Enforcement)),
            "{object}: {losses:?}"
        );
        assert!(x.to_string().replace('\\', "").contains(words), "{object}: {x}");
    }
}

/// In a dialect with `nullable`, an unknown keyword of JSON Schema would let null be a value.
#[test]
fn unknown_keywords_never_become_rules_of_the_wire() {
    let object = json!({
        "type": "object", "nullable": true, "propertyOrdering": ["a b"], "properties": {"a b": {"type": "string"}}
    });
    for dialect in ["gemini-schema", "gemini-live", "gemini"] {
        let (x, losses) = wire(&object, dialect);
        for keyword in ["nullable", "propertyOrdering"] {
            assert!(keywords(&losses).contains(&(keyword, LossKind::Annotation)), "{dialect}");
            assert!(x.get(keyword).is_none(), "{dialect}");
        }
    }
}

#[test]
fn examples_are_kept_only_where_values_keep_their_form() {
    let (kept, _) = wire(&json!({"type": "string", "example": "a"}), "gemini-schema");
    assert_eq!(kept["example"], "a");
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}, "example": {"a": "b"}});
    let (changed, losses) = wire(&map, "gemini-schema");
    assert!(changed.get("example").is_none(), "{changed}");
    assert!(keywords(&losses).contains(&("example", LossKind::Annotation)));
}

#[test]
fn notes_of_a_choice_and_beside_a_reference_are_kept_or_listed() {
    let choice = json!({"title": "T", "anyOf": [{"type": "string"}, {"type": "integer"}]});
    let reference = json!({"title": "T", "examples": ["a"], "$ref": "#/$defs/Name"});
    for (property, expected) in [(choice, vec!["title"]), (reference, vec!["title", "examples"])] {
        let (_, losses) = wire(&property, "openai-chat-strict");
        for keyword in expected {
            assert!(keywords(&losses).contains(&(keyword, LossKind::Annotation)), "{property}");
        }
    }
}

#[test]
fn a_pattern_of_keys_that_is_not_taken_is_a_sentence_with_what_stands_beside_it() {
    let object = json!({
        "type": "object", "patternProperties": {"^(?=a)": {"type": "string"}}, "additionalProperties": false
    });
    let (x, losses) = wire(&object, "openai-responses");
    let words = r#"Follows `{"patternProperties":{"^(?=a)":{"type":"string"}},"additionalProperties":false}`."#;
    assert_eq!(x, json!({"type": "object", "description": words}));
    assert_eq!(keywords(&losses), [("patternProperties", LossKind::Enforcement)]);
    // What the pattern evaluated would not be allowed.
    let around =
        json!({"allOf": [{"patternProperties": {"^(?=a)": true}}], "unevaluatedProperties": false});
    let (x, losses) = wire(&around, "openai-responses");
    assert!(x.get("unevaluatedProperties").is_none(), "{x}");
    assert_eq!(losses.len(), 2, "{losses:?}");
}

#[test]
fn a_condition_is_removed_with_all_that_is_in_it() {
    let lookaround = json!({"pattern": "^(?=a)"});
    let nested = json!({"not": {"if": {"not": lookaround}, "then": {"oneOf": [lookaround]}}});
    let (x, losses) = wire(&nested, "openai-responses");
    assert_eq!(keywords(&losses), [("not", LossKind::Enforcement)]);
    assert_eq!(x, json!({"description": format!("Follows `{nested}`.")}));
    let referred = json!({"anyOf": [{"not": {"not": lookaround}}, {"$ref": "#/properties/x/anyOf/0/not/not"}]});
    assert_eq!(projected(&args(&referred), "openai-responses").class, Class::Refused);
}

#[test]
fn contains_keeps_its_counts_in_words() {
    let list = json!({"type": "array", "items": {"type": "string"}, "contains": {"const": "a"}, "maxContains": 1});
    let (x, _) = wire(&list, "openai-chat-strict");
    let words = r#"Follows `{"contains":{"const":"a"},"maxContains":1}`."#;
    assert_eq!(x["description"], words);
}

#[test]
fn a_fitted_name_is_never_that_of_another_required_key() {
    let args = json!({
        "type": "object", "properties": {"a b": {"type": "string"}}, "required": ["a_b"], "additionalProperties": {}
    });
    let found = projected(&args, "anthropic");
    let value = r#"{"a b":"x","a_b":1}"#;
    let wire = found.encode(value).unwrap();
    assert_eq!(found.decode(&wire).unwrap().canonical.as_str(), value);
}

#[test]
fn a_schema_that_accepts_nothing_is_widened_where_any_value_is_sent() {
    for dialect in ["openai-chat", "openai-chat-strict"] {
        assert_eq!(projected(&json!(false), dialect).class, Class::Widened, "{dialect}");
    }
}

/// The rows that `portable` names in its title.
#[test]
fn portable_schemas_follow_the_rules_of_all_rows_that_take_them() {
    let property = json!({"type": "object", "additionalProperties": false, "properties": {
        "maybe": {"enum": ["a", null]}, "flag": {"enum": [true]}, "mixed": {"enum": [1, "a", true]},
        "big": {"type": "integer", "maximum": 9_007_199_254_740_993_u64}
    }});
    let mut schemas = vec![args(&property).to_string()];
    let mut rng = fastrand::Rng::with_seed(47);
    schemas.extend((0..200).map(|_| toolwright_judge::arguments(&mut rng).to_string()));
    let portable = Dialect::find("portable").unwrap();
    for args in &schemas {
        let subject = Subject { name: "tool", description: "A tool.", args };
        let found = project(&subject, portable, &Policy::default());
        let Some(wire) = &found.wire_schema else { continue };
        let wire = serde_json::from_str(wire).unwrap();
        for row in ["openai-chat-strict", "anthropic-strict", "gemini", "bedrock-strict"] {
            let broken = rules::broken(Dialect::find(row).unwrap(), &wire);
            assert_eq!(broken, [""; 0], "{row}: {args}\n{wire}");
        }
    }
}

#[test]
fn the_rows_of_one_id_are_listed_once() {
    let error = Dialect::find("nothing-like-it").unwrap_err().to_string();
    assert!(error.matches("`bedrock-strict`").count() <= 1, "{error}");
}

#[test]
fn levels_that_a_transform_adds_are_counted() {
    let depth = Dialect::find("openai-chat-strict").unwrap().limits().depth.unwrap();
    let maybe = json!({"anyOf": [{"type": "integer"}, {"type": "null"}]});
    for (innermost, policy) in [
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "{}"),
        (
            json!({"type": "object", "additionalProperties": false, "properties": {"a": maybe}}),
            r#"{"absent": "wrap"}"#,
        ),
    ] {
        let policy: Policy = serde_json::from_str(policy).unwrap();
        for lists in depth - 4..depth {
            let list = (0..lists)
                .fold(innermost.clone(), |items, _| json!({"type": "array", "items": items}));
            let args = args(&list).to_string();
            let subject = Subject { name: "tool", description: "A tool.", args: &args };
            let found = project(&subject, Dialect::find("openai-chat-strict").unwrap(), &policy);
            assert_ne!(found.class, Class::Refused, "{lists}: {innermost}");
        }
    }
}
