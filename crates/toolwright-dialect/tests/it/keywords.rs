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
