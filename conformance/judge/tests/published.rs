//! Compares published schemas with the random schemas from which they were read. This is fast, as no codecs are generated.

use fastrand::Rng;
use toolwright::schema::Schema;
use toolwright_codegen::internal::Style;
use toolwright_codegen::internal::schema::{published, read_values};
use toolwright_judge::{arguments, payloads};

#[test]
fn a_published_schema_accepts_exactly_what_its_source_accepts() {
    let (mut compared, mut verdicts) = (0, [0, 0]);
    for seed in 0..1_000 {
        let mut rng = Rng::with_seed(seed);
        let source = arguments(&mut rng);
        let Ok((schemas, nodes)) = read_values(std::slice::from_ref(&source)) else { continue };
        let text = published(&schemas, nodes[0], Style::Compact);
        let [Ok(before), Ok(after)] =
            [source.to_string(), text.clone()].map(|text| Schema::new(&text))
        else {
            continue;
        };
        compared += 1;
        for payload in payloads(&source, 30, &mut rng) {
            let accepted = before.check(payload.as_bytes()).is_ok();
            verdicts[usize::from(accepted)] += 1;
            assert_eq!(
                after.check(payload.as_bytes()).is_ok(),
                accepted,
                "{seed}: {payload}\n{source}\n{text}"
            );
        }
    }
    assert!(compared > 800, "{compared} schemas");
    assert!(verdicts.iter().all(|count| *count > 5_000), "{verdicts:?} verdicts");
}

#[test]
fn a_merged_all_of_refuses_what_its_source_refuses() {
    let cases = [
        // Own properties with similar names.
        (
            r#"{"properties":{"+1":{"type":"integer"},"-1":{"type":"integer"}},"allOf":[{"type":"object"}]}"#,
            r#"{"-1":"a"}"#,
        ),
        // A choice after the `allOf` that looks at it.
        (
            r##"{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],"$defs":{
                "A":{"type":"object","properties":{"p":{"type":"string"}}},
                "B":{"type":"object","properties":{"p":{"anyOf":[{"const":"a"},{"type":"integer"}]}}}}}"##,
            r#"{"p":"b"}"#,
        ),
        // A choice that leads back to the `allOf`.
        (
            r##"{"allOf":[{"type":"object","properties":{"p":{"type":"object"}}},
                {"type":"object","properties":{"n":{"type":"integer"},"p":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}]}"##,
            r#"{"p":{"n":"a"}}"#,
        ),
    ];
    for (source, payload) in cases {
        let value = source.parse().expect("it is JSON");
        let (schemas, nodes) = read_values(&[value]).expect("it is a schema");
        for text in [source, &published(&schemas, nodes[0], Style::Compact)] {
            let schema = Schema::new(text).expect("it can be compiled");
            assert!(schema.check(payload.as_bytes()).is_err(), "{payload}: {text}");
        }
    }
}

#[test]
fn a_published_schema_keeps_recursion_formats_and_properties() {
    let cases = [
        // An object that an `allOf` makes one of its own properties.
        (
            r##"{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"name":{"type":"string"},
                "next":{"allOf":[{"$ref":"#/$defs/N"},{"required":["name"]}]}}}}}"##,
            r#"{"next":{"name":"a","next":{"name":"b","next":{"name":"c"}}}}"#,
            r#"{"next":{"name":"a","next":{"name":"b","next":{"name":1}}}}"#,
        ),
        // The same through a schema without `type`.
        (
            r##"{"type":"object","properties":{"a":{"properties":{"c":{"allOf":[{"$ref":"#"},{}]}}}}}"##,
            r#"{"a":{"c":{"a":{"c":{}}}}}"#,
            r#"{"a":{"c":{"a":{"c":1}}}}"#,
        ),
        // A format beside a reference to another one.
        (
            r##"{"$ref":"#/$defs/M","format":"date","$defs":{"M":{"type":"string","format":"money"}}}"##,
            r#""2026-11-29""#,
            r#""soon""#,
        ),
        // A choice with one member beside properties.
        (
            r#"{"oneOf":[{"type":"object"}],"properties":{"x":{"type":"integer"}},"additionalProperties":false}"#,
            r#"{"x":1}"#,
            r#"{"y":1}"#,
        ),
    ];
    for (source, accepted, refused) in cases {
        let value = source.parse().expect("it is JSON");
        let (schemas, nodes) = read_values(&[value]).expect("it is a schema");
        for text in [source, &published(&schemas, nodes[0], Style::Compact)] {
            let schema = Schema::new(text).expect("it can be compiled");
            assert!(schema.check(accepted.as_bytes()).is_ok(), "{accepted}: {text}");
            assert!(schema.check(refused.as_bytes()).is_err(), "{refused}: {text}");
        }
    }
}
