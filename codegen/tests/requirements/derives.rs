//! The traits that generated types derive.

use crate::project::generated;

#[test]
fn a_type_derives_the_traits_that_all_its_parts_have_and_default_if_it_is_valid() {
    let all = "Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash";
    let no_default = "Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash";
    let text = "Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash";
    let no_default_text = "Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash";
    let value = "Clone, Debug, Default, PartialEq, Eq, Hash";
    let table = [
        ("{ type: integer, minimum: -1, maximum: 5 }", all),
        ("{ type: integer, minimum: 1, maximum: 5 }", no_default),
        ("{ type: integer, minimum: -5, exclusiveMaximum: 0 }", no_default),
        ("{ type: integer }", all),
        ("{ type: integer, maximum: 1e30 }", no_default_text),
        ("{ type: number }", "Clone, Copy, Debug, Default, PartialEq"),
        ("{ type: number, minimum: 0.5 }", "Clone, Copy, Debug, PartialEq"),
        ("{ type: number, minimum: 1e-400 }", no_default_text),
        ("{ type: number, exclusiveMinimum: -1 }", "Clone, Copy, Debug, Default, PartialEq"),
        ("{ type: string }", text),
        ("{ type: string, minLength: 1 }", no_default_text),
        ("{ type: string, pattern: '^a*$' }", no_default_text),
        ("{ type: string, format: date-time }", no_default_text),
        ("{ type: string, format: ipv4 }", no_default),
        ("{ type: string, format: date }", no_default),
        ("{ type: string, format: uuid }", no_default),
        ("{ type: string, not: { const: '' } }", no_default_text),
        ("{ enum: [a, b] }", no_default),
        ("{ enum: [1, 2] }", no_default),
        ("{ enum: [a, b], default: b }", all),
        ("{ enum: [1, 2], default: 2 }", all),
        ("{ enum: [1, a], default: a }", all),
        ("{ enum: [a, b], default: c }", no_default),
        ("{ const: a }", all),
        ("{ type: [integer, string], maximum: 1, minimum: 0 }", no_default_text),
        ("{ type: [boolean, 'null'] }", all),
        ("{ type: array, items: { type: boolean } }", text),
        ("{ type: array, items: { type: boolean }, minItems: 1 }", no_default_text),
        ("{ type: array, prefixItems: [{ type: boolean }], items: false, minItems: 1 }", all),
        ("{ type: object }", value),
        ("{ type: object, minProperties: 1 }", "Clone, Debug, PartialEq, Eq, Hash"),
        ("{ type: object, additionalProperties: false, properties: { a: { enum: [a] } } }", all),
        (
            "{ type: object, additionalProperties: false, required: [a], properties: { a: { enum: [a, b] } } }",
            no_default,
        ),
        (
            "{ type: object, additionalProperties: false, required: [a], properties: { a: { enum: [a, b], default: a } } }",
            all,
        ),
        (
            "{ type: object, additionalProperties: false, required: [a], properties: { a: { type: boolean } } }",
            all,
        ),
        ("{ type: object, additionalProperties: false, properties: { a: { $ref: X } } }", text),
        (
            "{ type: object, additionalProperties: false, properties: { a: { type: [number, 'null'] } } }",
            "Clone, Copy, Debug, Default, PartialEq",
        ),
    ];
    for (schema, derives) in table {
        let files = generated(&format!("### a.yaml\nservice: a\ntypes: {{ X: {schema} }}\n"));
        let types = files.get("a/service/src/types.rs").expect("generated");
        let item = types.split("#[derive(").find(|item| {
            item.contains("pub struct X ")
                || item.contains("pub struct X(")
                || item.contains("pub struct X;")
                || item.contains("pub enum X ")
        });
        let found = item.and_then(|item| item.split_once(")]")).map(|(found, _)| found);
        assert_eq!(found, Some(derives), "{schema}:\n{types}");
    }
}

#[test]
fn newtypes_have_the_default_of_their_schema() {
    let table = [
        ("{ type: integer, minimum: 1, default: 2 }", Some("Self::DEFAULT")),
        ("{ type: integer, default: 0 }", Some("derived")),
        ("{ type: integer, multipleOf: 2, default: 4 }", Some("Self::DEFAULT")),
        ("{ type: string, minLength: 1, default: a }", Some("Self::DEFAULT.to_owned()")),
        ("{ type: [string, 'null'], default: a }", Some("Some(Self::DEFAULT.to_owned())")),
        ("{ type: array, items: { type: string }, default: [] }", Some("derived")),
        (
            "{ type: array, items: { type: string }, default: [a] }",
            Some("Self::DEFAULT.iter().map(|&text| text.to_owned()).collect()"),
        ),
        // Invalid for the schema, and of a type without constants.
        ("{ type: integer, minimum: 1, default: 0 }", None),
        ("{ type: string, format: date, default: 2026-11-24 }", None),
        ("{ type: integer, minimum: 1 }", None),
    ];
    for (schema, value) in table {
        let files = generated(&format!("### a.yaml\nservice: a\ntypes: {{ X: {schema} }}\n"));
        let types = files.get("a/service/src/types.rs").expect("generated");
        let default = types.split_once("fn default() -> Self {").map(|(_, body)| body);
        let written = default.and_then(|body| body.split_once('}'));
        let written =
            written.and_then(|(body, _)| body.trim().strip_prefix("X(")?.strip_suffix(')'));
        let found = written.or_else(|| types.contains("Default, ").then_some("derived"));
        assert_eq!(found, value, "{schema}:\n{types}");
    }
}
