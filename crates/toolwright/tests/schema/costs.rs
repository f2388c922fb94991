//! Tests of the cost of checks: the steps are linear in the size of the payload and of the schema, and a check that
//! exceeds its budget is refused.

use toolwright::issue::{InvalidPayload, Issue, IssueKind};
use toolwright::schema::Schema;

/// A schema of `levels` types, each a choice that refers to the next one twice.
fn doubling(levels: usize) -> Schema {
    let types = (0..levels).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/T{}"}}"##, level + 1);
        format!(r#""T{level}":{{"anyOf":[{next},{next}]}}"#)
    });
    let last = format!(r#""T{levels}":{{"required":["b"]}}"#);
    let types: Vec<String> = types.chain([last]).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/T0","$defs":{{{}}}}}"##, types.join(","));
    Schema::new(&schema).expect("a schema")
}

/// Returns the number of steps of a check.
fn steps(schema: &Schema, payload: &str) -> u64 {
    let mut left = u64::MAX;
    let _ = schema.check_within(payload.as_bytes(), &mut left);
    u64::MAX - left
}

#[test]
fn twice_the_levels_of_choices_take_about_twice_the_steps() {
    let payload = r#"{"a":"x"}"#;
    let (few, many) = (steps(&doubling(40), payload), steps(&doubling(80), payload));
    assert!(many < few * 3, "{few} and {many} steps");
    assert!(few < 10_000, "{few} steps");
}

#[test]
fn twice_the_depth_of_a_recursive_choice_takes_about_twice_the_steps() {
    let schema = Schema::new(
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[
            {"type":"string"},
            {"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"additionalProperties":false},
            {"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["c"]}]}}}"##,
    )
    .expect("a schema");
    let nested = |depth: usize, leaf: &str| {
        format!("{}{leaf}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
    };
    for leaf in ["1", r#""x""#] {
        let [few, many] = [60, 120].map(|depth| steps(&schema, &nested(depth, leaf)));
        assert!(many < few * 3, "{few} and {many} steps for {leaf}");
    }
}

#[test]
fn a_check_without_steps_left_is_an_error() {
    let schema = Schema::new(r#"{"not":{"items":{"type":"string"}}}"#).expect("a schema");
    let payload = "[1,2,3]";
    assert_eq!(schema.check(payload.as_bytes()), Ok(()));
    for given in 0..steps(&schema, payload) {
        let invalid = schema.check_within(payload.as_bytes(), &mut given.clone());
        let invalid = invalid.expect_err("the check has no steps left");
        let [issue] = invalid.issues() else { panic!("{invalid}") };
        assert_eq!(issue.kind(), &IssueKind::TooCostly { limit: given });
    }
}

#[test]
fn the_check_of_an_endless_contradiction_ends() {
    let circle = r##"{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}"##;
    let schema = Schema::new(circle).expect("a schema");
    let invalid = schema.check(b"1").expect_err("the schema contradicts itself");
    assert!(invalid.to_string().contains("inside each other"), "{invalid}");
}

#[test]
fn the_deepest_value_fits_the_stack_of_a_thread() {
    let schema = r##"{"anyOf":[{"type":"integer"},{"items":{"allOf":[{"$ref":"#"}]}}]}"##;
    let schema = Schema::new(schema).expect("a schema");
    let payload = format!("{}1{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(on_a_thread(schema, payload), Ok(()));
    // Each schema is a choice of the next one or null; the issue is explained through all of them.
    let types = (0..300).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, level + 1);
        format!(r#""a{level}":{{"oneOf":[{next},{{"type":"null"}}]}}"#)
    });
    let types: Vec<String> = types.chain([r#""a300":{"required":["b"]}"#.to_owned()]).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/a0","$defs":{{{}}}}}"##, types.join(","));
    let found = on_a_thread(Schema::new(&schema).expect("a schema"), r#"{"a":1}"#.to_owned());
    assert!(found.is_err());
}

/// Checks a payload with the default stack of threads.
fn on_a_thread(schema: Schema, payload: String) -> Result<(), InvalidPayload> {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let checked = thread.spawn(move || schema.check(payload.as_bytes())).expect("a thread");
    checked.join().expect("the stack does not overflow")
}

#[test]
fn endless_and_too_deep_schemas_are_issues() {
    for schema in [
        r##"{"anyOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"oneOf":[{"$ref":"#"},{"type":"string"}]}"##,
        r##"{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}"##,
    ] {
        let issues = Schema::new(schema).expect("a schema").check(b"1").expect_err(schema);
        assert_eq!(
            issues.to_string(),
            "the payload: cannot be checked: more than 640 schemas apply inside each other",
            "{schema}"
        );
    }
}

/// Each schema refers to the next one twice.
#[test]
fn the_distance_from_a_schema_takes_few_more_steps_than_the_check() {
    let types = (0..60).map(|level| {
        let next = format!(r##"{{"$ref":"#/$defs/a{}"}}"##, level + 1);
        format!(r#""a{level}":{{"allOf":[{next},{next}]}}"#)
    });
    let types: Vec<String> = types.chain([r#""a60":{"type":"null"}"#.to_owned()]).collect();
    let schema = format!(
        r##"{{"anyOf":[{{"$ref":"#/$defs/a0"}},{{"type":"string"}}],"$defs":{{{}}}}}"##,
        types.join(",")
    );
    assert!(steps(&Schema::new(&schema).expect("a schema"), "1") < 10_000);
}

#[test]
fn a_long_check_ends_with_an_issue() {
    let list = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let digits = "1".repeat(10_000);
    let text = format!("\"{}\"", "x".repeat(100_000));
    for (schema, payload) in [
        (
            format!(r#"{{"anyOf":[{}]}}"#, list(2_000, &|n| format!(r#"{{"maximum":{n}.5}}"#))),
            &digits,
        ),
        (format!(r#"{{"anyOf":[{}]}}"#, list(5_000, &|n| format!(r#"{{"enum":["{n}"]}}"#))), &text),
        (r#"{"pattern":"(?:[a-z]?[a-y]?){30}!"}"#.to_owned(), &text),
    ] {
        let schema = Schema::new(&schema).expect("a schema");
        let issues = schema.check_within(payload.as_bytes(), &mut 200_000);
        let issues = issues.expect_err("it is refused").to_string();
        assert!(issues.contains("cannot be checked in 200000 steps"), "{issues}");
    }
}

fn listed(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(",")
}

/// Returns a schema or payload of a size.
type OfSize = fn(usize) -> String;

/// Schemas of growing size with a payload: at twice the size, a check takes about twice the steps.
const GROWING_SCHEMAS: &[(&str, OfSize, &str)] = &[
    (
        "anyOf of the next type twice",
        |n| levels(n, |next| format!(r#"{{"anyOf":[{next},{next}]}}"#)),
        r#"{"a":"x"}"#,
    ),
    (
        "oneOf of the next type twice",
        |n| levels(n, |next| format!(r#"{{"oneOf":[{next},{next}]}}"#)),
        r#"{"a":"x"}"#,
    ),
    (
        "not of the next type, twice",
        |n| levels(n, |next| format!(r#"{{"allOf":[{{"not":{next}}},{{"not":{next}}}]}}"#)),
        "1",
    ),
    (
        "if, then and else of the next type",
        |n| levels(n, |next| format!(r#"{{"if":{next},"then":{next},"else":{next}}}"#)),
        "1",
    ),
    (
        "choices side by side at every level",
        |n| {
            levels(n, |next| {
                format!(r#"{{"allOf":[{{"anyOf":[{next},{next}]}},{{"anyOf":[{next},{next}]}}]}}"#)
            })
        },
        "1",
    ),
    (
        "dependentSchemas of the next type",
        |n| levels(n, |next| format!(r#"{{"dependentSchemas":{{"a":{next},"b":{next}}}}}"#)),
        r#"{"a":1,"b":2}"#,
    ),
    (
        "unevaluatedProperties at every level",
        |n| {
            levels(n, |next| {
                format!(r#"{{"anyOf":[{next},{next}],"unevaluatedProperties":false}}"#)
            })
        },
        r#"{"a":1,"b":2}"#,
    ),
    (
        "unevaluatedItems above every level",
        |n| {
            let types = levels(n, |next| {
                format!(r#"{{"anyOf":[{next},{{"prefixItems":[true]}},{next}]}}"#)
            });
            format!(r#"{{"unevaluatedItems":false,{}"#, &types[1..])
        },
        "[1,2,3]",
    ),
    (
        "a dynamic reference at every level",
        |n| {
            let types = levels(n, |next| {
                format!(r##"{{"anyOf":[{next},{next},{{"$dynamicRef":"#leaf"}}]}}"##)
            });
            types.replace(
                r#""$defs":{"#,
                r#""$defs":{"leaf":{"$dynamicAnchor":"leaf","type":"null"},"#,
            )
        },
        "1",
    ),
    (
        "many patterns",
        |n| {
            format!(
                r#"{{"patternProperties":{{{}}}}}"#,
                listed(n, |n| format!(r#""^k{n}x":{{"type":"null"}}"#))
            )
        },
        r#"{"k1x":1,"b":2}"#,
    ),
    (
        "many schemas of which one may fit",
        |n| {
            format!(
                r#"{{"items":{{"oneOf":[{}]}}}}"#,
                listed(n, |n| format!(r#"{{"properties":{{"a":{{"const":{n}}}}}}}"#))
            )
        },
        r#"[{"a":"x"},{"a":"x"}]"#,
    ),
];

/// Returns `count` types, each with a reference to the next one.
fn levels(count: usize, one: fn(&str) -> String) -> String {
    let reference = |level: usize| format!(r##"{{"$ref":"#/$defs/t{level}"}}"##);
    let types = listed(count, |level| format!(r#""t{level}":{}"#, one(&reference(level + 1))));
    format!(r##"{{"$ref":"#/$defs/t0","$defs":{{{types},"t{count}":{{"type":"null"}}}}}}"##)
}

#[test]
fn steps_grow_with_the_size_of_the_schema() {
    for (name, schema, payload) in GROWING_SCHEMAS {
        let [few, many] = [30, 60].map(|size| {
            steps(
                &Schema::new(&schema(size)).unwrap_or_else(|error| panic!("{name}: {error}")),
                payload,
            )
        });
        assert!(many < few * 5 / 2, "{name}: {few} and {many} steps");
        assert!(many < 40_000, "{name}: {many} steps");
    }
}

/// Refused values are not tested, since explanations take further steps.
#[test]
fn a_value_that_fits_takes_no_more_steps_than_twice_the_size_of_its_schema() {
    let mut fit = 0;
    for (name, schema, _) in GROWING_SCHEMAS {
        let schema = Schema::new(&schema(60)).unwrap_or_else(|error| panic!("{name}: {error}"));
        if schema.check(b"null").is_ok() {
            let (steps, size) = (steps(&schema, "null"), schema.size() as u64);
            assert!(steps <= 2 * size, "{name}: {steps} steps, a size of {size}");
            fit += 1;
        }
    }
    assert!(fit > 6, "null fits {fit} of the schemas");
}

/// Schemas with payloads of growing size: at twice the size, a check takes about twice the steps.
const GROWING_PAYLOADS: &[(&str, &str, OfSize)] = &[
    (
        "items that fit two choices",
        r#"{"items":{"anyOf":[{"properties":{"a":{"type":"integer"}},"required":["b"]},{"properties":{"a":{"type":"integer"}}}]}}"#,
        |n| format!("[{}]", listed(n, |n| format!(r#"{{"a":{n}}}"#))),
    ),
    (
        "items that fit no choice",
        r#"{"items":{"oneOf":[{"required":["b"]},{"properties":{"a":{"type":"string"}}}]}}"#,
        |n| format!("[{}]", listed(n.min(900), |n| format!(r#"{{"a":{n}}}"#))),
    ),
    (
        "nested choices around a leaf that is wrong",
        r##"{"anyOf":[{"type":"integer"},{"type":"array","items":{"$ref":"#"}},{"type":"array","contains":{"$ref":"#"}}]}"##,
        |n| format!("{}\"x\"{}", "[".repeat(n / 20), "]".repeat(n / 20)),
    ),
    (
        "choices that lead back to themselves through a property",
        r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["a"]},{"properties":{"a":{"$ref":"#"}}},{"type":"null"}],"not":{"required":["b"]}}"##,
        |n| format!("{}1{}", r#"{"a":"#.repeat(n / 20), "}".repeat(n / 20)),
    ),
    (
        "contains over a long array",
        r#"{"contains":{"anyOf":[{"type":"string"},{"const":-1}]},"maxContains":2}"#,
        |n| format!("[{}]", listed(n, |n| n.to_string())),
    ),
    ("items that have to differ", r#"{"uniqueItems":true}"#, |n| {
        format!("[{}]", listed(n, |n| n.to_string()))
    }),
    (
        "entries that no keyword has looked at",
        r#"{"items":{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}}"#,
        |n| format!("[{}]", listed(n.min(900), |n| format!(r#"{{"a":{n},"b":1,"c":2}}"#))),
    ),
    (
        "names of many properties",
        r#"{"propertyNames":{"anyOf":[{"maxLength":9},{"pattern":"^x"}]}}"#,
        |n| format!("{{{}}}", listed(n, |n| format!(r#""k{n}":1"#))),
    ),
];

#[test]
fn steps_grow_with_the_size_of_the_payload() {
    for (name, schema, payload) in GROWING_PAYLOADS {
        let schema = Schema::new(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [few, many] = [400, 800].map(|size| steps(&schema, &payload(size)));
        assert!(many < few * 5 / 2, "{name}: {few} and {many} steps");
        assert!(many < 200_000, "{name}: {many} steps");
    }
}

#[test]
fn a_hundred_thousand_unique_items_are_checked() {
    let schema =
        Schema::new(r#"{"items":{"type":"integer"},"uniqueItems":true}"#).expect("a schema");
    let all = |last: &str| format!("[{},{last}]", listed(100_000, |n| n.to_string()));
    assert_eq!(schema.check(all("100000").as_bytes()), Ok(()));
    let repeated = schema.check(all("7.0").as_bytes()).expect_err("7 is repeated");
    assert_eq!(
        repeated.to_string(),
        "the payload: the items 7 and 100000 are equal, expected unique items"
    );
}

/// The number is compared with all constants at once.
#[test]
fn a_long_number_in_an_array_takes_steps_once_for_all_constants() {
    let payload = format!("[1.{},1]", "0".repeat(160_000));
    let among = |count| {
        let schema = format!(r#"{{"enum":[{}]}}"#, listed(count, |n| format!("[1,{n}]")));
        let schema = Schema::new(&schema).expect("a schema");
        assert_eq!(schema.check(payload.as_bytes()), Ok(()));
        steps(&schema, &payload)
    };
    let (few, many) = (among(2), among(2_000));
    assert_eq!(few, many);
    assert!((10_000..11_000).contains(&many), "{many} steps");
}

#[test]
fn an_invalid_leaf_is_reported_through_sixty_levels_of_two_choices() {
    for count in [16, 20, 40, 60] {
        let schema = doubling(count);
        assert_eq!(schema.check(br#"{"a":1,"b":1}"#), Ok(()));
        let invalid = schema.check(br#"{"a":"x"}"#).expect_err("`b` is missing").to_string();
        assert!(invalid.contains("fits none of the 2 schemas"), "{invalid}");
    }
}

/// With cached results, the explanation may nest deeper than the evaluation did.
#[test]
fn explaining_with_cached_results_does_not_overflow_the_stack() {
    let chain = |count: usize, one: fn(&str) -> String| {
        let types = levels(count, one);
        let ends = (1..).map(|piece| piece * 300).take_while(|place| *place < count);
        let ends: Vec<String> = ends
            .map(|place| format!(r##"{{"$ref":"#/$defs/t{}"}}"##, count - place))
            .chain([r##"{"$ref":"#/$defs/t0"}"##.to_owned()])
            .collect();
        types.replacen(r##""$ref":"#/$defs/t0""##, &format!(r#""anyOf":[{}]"#, ends.join(",")), 1)
    };
    for one in [
        (|next| next.to_owned()) as fn(&str) -> String,
        |next| format!(r#"{{"allOf":[{next}]}}"#),
        |next| format!(r#"{{"anyOf":[{next},{{"type":"string"}}]}}"#),
        |next| format!(r#"{{"allOf":[{next}],"unevaluatedProperties":false}}"#),
    ] {
        let schema = Schema::new(&chain(20_000, one)).expect("a schema");
        assert!(on_a_thread(schema, r#"{"a":1}"#.to_owned()).is_err());
    }
}

/// The pointer of each schema begins with the key.
#[test]
fn a_long_key_around_many_schemas_is_refused() {
    let around = |key: &str| {
        let properties = listed(5_000, |n| format!(r#""{n}":{{}}"#));
        Schema::new(&format!(r#"{{"properties":{{"{key}":{{"properties":{{{properties}}}}}}}}}"#))
    };
    assert!(around("key").is_ok());
    let error = around(&"k".repeat(100_000)).expect_err("the pointers are long");
    assert!(error.to_string().starts_with("its keys and URIs are too long"), "{error}");
}

/// The URI of each reference begins with that of the schema.
#[test]
fn a_long_uri_of_many_references_is_refused() {
    let under = |path: &str| {
        let references = listed(5_000, |_| r#"{"$ref":"."}"#.to_owned());
        Schema::new(&format!(r#"{{"$id":"http://h/{path}","not":{{"anyOf":[{references}]}}}}"#))
    };
    assert!(under("a/").is_ok());
    let error = under(&"a/".repeat(50_000)).expect_err("the URIs are long");
    assert!(error.to_string().contains("URIs are too long"), "{error}");
}

/// The pointer of each target begins with the key.
#[test]
fn a_long_key_around_the_target_of_many_references_is_refused() {
    let below = |key: &str, reference: &str| {
        let references = listed(5_000, |_| format!(r#"{{"$ref":"{reference}"}}"#));
        let target = r#"{"$id":"x","$anchor":"a","$defs":{"y":{}}}"#;
        Schema::new(&format!(r#"{{"$defs":{{"{key}":{target}}},"allOf":[{references}]}}"#))
    };
    let key = "k".repeat(100_000);
    for reference in ["x", "x#", "x#a"] {
        assert!(below(&key, reference).is_ok(), "{reference}");
    }
    assert!(below("key", "x#/$defs/y").is_ok());
    let error = below(&key, "x#/$defs/y").expect_err("the pointers are long");
    assert!(error.to_string().contains("its keys and URIs are too long"), "{error}");
}

/// Each payload has fewer values than its schema repeats work for.
#[test]
fn work_that_a_keyword_repeats_takes_steps() {
    let keys = |count: usize, letter: &str| listed(count, |n| format!(r#""{letter}{n}":1"#));
    let names = listed(5_000, |n| format!(r#""{n}""#));
    let groups = "()".repeat(1_600);
    let cases = [
        (
            "patterns on an empty key",
            format!(
                r#"{{"items":{{"patternProperties":{{{}}}}}}}"#,
                listed(500, |n| format!(r#""^a{n}$":{{}}"#))
            ),
            format!("[{}]", listed(100, |_| r#"{"":0}"#.to_owned())),
            500 * 100,
        ),
        (
            "registers of a pattern",
            format!(r#"{{"items":{{"pattern":"^(?=x){groups}"}}}}"#),
            format!("[{}]", listed(100, |_| r#""a""#.to_owned())),
            100 * 1_600 / 16,
        ),
        (
            "the text of unique items",
            format!(r#"{{"allOf":[{}]}}"#, listed(100, |_| r#"{"uniqueItems":true}"#.to_owned())),
            format!(r#"["{}"]"#, "a".repeat(16_000)),
            100 * 1_000,
        ),
        (
            "missing keys of a choice",
            format!(r#"{{"items":{{"anyOf":[{{"required":[{names}]}}]}}}}"#),
            r#"[{"a":1},{"a":1}]"#.to_owned(),
            2 * 5_000,
        ),
        (
            "unknown keys beside known ones",
            format!(
                r#"{{"anyOf":[{{"required":["q"],"properties":{{{}}},"additionalProperties":false}}]}}"#,
                listed(5_000, |n| format!(r#""a{n}":{{}}"#))
            ),
            format!("{{{}}}", keys(2, "b")),
            2 * 5_000,
        ),
    ];
    for (name, schema, payload, least) in cases {
        let found = steps(&Schema::new(&schema).expect(name), &payload);
        assert!(found >= least, "{name}: {found} steps, expected at least {least}");
    }
}

#[test]
fn a_large_constant_is_equal_to_its_keys_in_another_order() {
    let object = |keys: &mut dyn Iterator<Item = usize>| {
        let entries: Vec<String> = keys.map(|n| format!(r#""{n}":{n}"#)).collect();
        format!("{{{}}}", entries.join(","))
    };
    let schema = Schema::new(&format!(r#"{{"const":{}}}"#, object(&mut (0..500))));
    let schema = schema.expect("a schema");
    assert_eq!(schema.check(object(&mut (0..500).rev()).as_bytes()), Ok(()));
    assert!(schema.check(object(&mut (1..501).rev()).as_bytes()).is_err());
}

/// Returns layers of two resources with dynamic anchors. Each refers to both of the next layer, so every path is a scope of its own.
fn scopes(layers: usize, leaf: &str) -> Schema {
    let resource = |layer: usize, side: &str| {
        let next = format!(r#"{{"$ref":"a{0}"}},{{"$ref":"b{0}"}}"#, layer + 1);
        let next = if layer == layers { leaf } else { &next };
        format!(
            r#""{side}{layer}":{{"$id":"{side}{layer}","$dynamicAnchor":"n","allOf":[{next}]}}"#
        )
    };
    let all = listed(layers + 1, |n| format!("{},{}", resource(n, "a"), resource(n, "b")));
    Schema::new(&format!(r#"{{"$id":"http://x.example/","$ref":"a0","$defs":{{{all}}}}}"#))
        .expect("a schema")
}

#[test]
fn scopes_without_dynamic_references_take_no_steps() {
    let schema = scopes(24, r#"{"type":"object"}"#);
    assert_eq!(schema.check(b"{}"), Ok(()));
    assert!(steps(&schema, "{}") < 1_000);
}

#[test]
fn a_check_with_millions_of_scopes_ends() {
    let schema = scopes(21, r##"{"properties":{"x":{"$dynamicRef":"#n"}}}"##);
    let invalid = schema.check_within(b"{}", &mut { u64::MAX }).expect_err("it has many scopes");
    assert!(invalid.to_string().contains("cannot be checked in"), "{invalid}");
}

#[test]
fn required_keys_that_are_missing_take_steps() {
    let dependent = listed(500, |n| format!(r#""{n}":["z"]"#));
    let schema = Schema::new(&format!(r#"{{"dependentRequired":{{{dependent}}}}}"#));
    let payload = format!("{{{}}}", listed(500, |n| format!(r#""{n}":1"#)));
    let (schema, mut left) = (schema.expect("a schema"), 100_000);
    let invalid = schema.check_within(payload.as_bytes(), &mut left).expect_err("`z` is missing");
    assert!(invalid.issues().len() < 500 && left == 0, "{left} steps left, {invalid}");
}

/// Each issue may repeat a long text of the schema or a long key of the payload.
#[test]
fn the_issues_of_a_payload_have_few_bytes() {
    let long = "x".repeat(20_000);
    let list = format!("[{}]", listed(1_000, |_| "1".to_owned()));
    let object = format!(r#"{{"{long}":{list}}}"#);
    for (schema, payload) in [
        (format!(r#"{{"items":{{"enum":["{long}"]}}}}"#), &list),
        (format!(r#"{{"items":{{"maximum":-{}}}}}"#, "1".repeat(20_000)), &list),
        (
            format!(r#"{{"items":{{"type":[{}]}}}}"#, listed(2_000, |_| r#""null""#.to_owned())),
            &list,
        ),
        (r#"{"additionalProperties":{"items":{"type":"null"}}}"#.to_owned(), &object),
    ] {
        let schema = Schema::new(&schema).expect("a schema");
        let invalid = schema.check(payload.as_bytes()).expect_err("it is invalid");
        assert!(invalid.to_string().len() < 2 << 20, "{} bytes", invalid.to_string().len());
    }
}

/// The text of each issue is cut in Display and in JSON.
#[test]
fn all_issues_together_are_shown_up_to_a_mebibyte() {
    let message = "x".repeat(100_000);
    let issue = Issue::new("", IssueKind::Schema { message });
    let invalid = InvalidPayload::new(vec![issue; 1_000]);
    let text = invalid.to_string();
    assert!(text.ends_with("\n989 more") && text.len() < 2 << 20, "{} bytes", text.len());
    assert!(invalid.to_value().to_string().len() < 2 << 20);
    assert_eq!(invalid.issues().len(), 1_000);
}

#[test]
fn finding_an_alternative_takes_steps_of_a_shared_budget() {
    let schema = r#"{"anyOf":[{"type":"integer"},{"items":{"type":"string"}}]}"#;
    let (schema, json) = (Schema::new(schema).expect("a schema"), r#"["a","b"]"#);
    let mut left = 1_000;
    assert_eq!(schema.first_alternative(json, 0..2, &mut left), Some(1));
    let taken = 1_000 - left;
    assert!(taken > json.len() as u64, "{taken} steps");
    for given in 0..=taken {
        let mut left = given;
        assert_eq!((schema.first_alternative(json, 0..2, &mut left), left), (None, 0));
    }
}
