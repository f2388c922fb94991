//! Projects random schemas into every dialect, and checks the laws on the results.

use fastrand::Rng;
use serde_json::json;
use toolwright_dialect::{Dialect, Policy, Subject, project};

use crate::laws::Laws;

/// The number of canonical values that are tried with each schema; about half of them are valid.
const VALUES: usize = 16;

#[test]
fn projections_of_random_schemas_keep_the_laws() {
    let mut rng = Rng::with_seed(19);
    keep_the_laws(|| {
        let schema = toolwright_judge::arguments(&mut rng);
        (schema.to_string(), toolwright_judge::payloads(&schema, VALUES, &mut rng))
    });
}

/// Objects whose keys are evaluated by several keywords, each with all values of four keys.
#[test]
fn projections_of_objects_with_unevaluated_keys_keep_the_laws() {
    let values: Vec<String> = (0..81_usize).map(object_of_four_keys).collect();
    let mut rng = Rng::with_seed(23);
    keep_the_laws(|| {
        let object = evaluating(&mut rng, 2);
        if rng.bool() {
            return (object.to_string(), values.clone());
        }
        let schema = json!({"type": "object", "properties": {"v": object}, "required": ["v"]});
        (schema.to_string(), values.iter().map(|value| format!(r#"{{"v":{value}}}"#)).collect())
    });
}

/// Objects with keys that some dialects rename, beside rules about keys.
#[test]
fn projections_of_objects_with_strange_keys_keep_the_laws() {
    let values: Vec<String> = (0..81_usize).map(object_of_four_keys).map(strange).collect();
    let mut rng = Rng::with_seed(47);
    keep_the_laws(|| {
        let mut object = json!({"type": "object", "additionalProperties": rng.u8(..4) == 0});
        for key in ["a", "b", "c", "d"] {
            if rng.u8(..4) > 0 {
                let schemas = [json!({"type": "string"}), json!({"type": ["string", "integer"]})];
                object["properties"][key] = rng.choice(schemas).expect("there are some");
            }
        }
        let rules = [
            json!({"dependentRequired": {"c": ["a"]}}),
            json!({"dependentRequired": {"a": ["c"], "d": ["a", "b"]}}),
            json!({"minProperties": 1, "maxProperties": 2}),
            json!({"propertyNames": {"maxLength": 5}}),
            json!({"patternProperties": {"a": {"type": "string"}}}),
        ];
        let rule = rng.choice(rules).expect("there are rules");
        let rule = rule.as_object().cloned().unwrap_or_default();
        object.as_object_mut().expect("it is an object").extend(rule);
        if rng.bool() {
            return (strange(object.to_string()), values.clone());
        }
        let schema = json!({"type": "object", "properties": {"v": object}, "required": ["v"]});
        let values = values.iter().map(|value| format!(r#"{{"v":{value}}}"#));
        (strange(schema.to_string()), values.collect())
    });
}

/// Writes the keys `a` and `b` of a schema or a value as others, which some dialects do not take.
fn strange(text: String) -> String {
    text.replace(r#""a""#, r#""a b""#).replace(r#""b""#, r#""9/b""#)
}

/// Values that `enum` and `const` beside each other list, also after a merge of `allOf`.
#[test]
fn projections_of_constants_beside_lists_keep_the_laws() {
    let values = ["1", "1.0", "\"a\"", "\"b\"", "null", "[]"];
    let values: Vec<_> = values.map(|value| format!(r#"{{"v":{value}}}"#)).into();
    let mut rng = Rng::with_seed(53);
    keep_the_laws(|| {
        let constant = rng.choice([json!(1), json!("a"), json!(null), json!([])]);
        let constant = json!({"const": constant.expect("there are some")});
        let lists = [json!(["b", "a"]), json!(["b", null]), json!([1.0, "b"]), json!([[], 2])];
        let mut value = json!({"enum": rng.choice(lists).expect("there are some")});
        if rng.bool() {
            value["allOf"] = json!([constant]);
        } else {
            value["const"] = constant["const"].clone();
        }
        let schema = json!({"type": "object", "properties": {"v": value}, "required": ["v"]});
        (schema.to_string(), values.clone())
    });
}

/// Arrays whose items are evaluated by several keywords, each with all values of at most three items.
#[test]
fn projections_of_arrays_with_unevaluated_items_keep_the_laws() {
    let items = [json!(0), json!(1), json!("x")];
    let mut arrays: Vec<Vec<serde_json::Value>> = vec![Vec::new()];
    for length in 0..3 {
        let longest = arrays.clone().into_iter().filter(|array| array.len() == length);
        let longer = |array: Vec<_>| items.clone().map(|item| [&array[..], &[item]].concat());
        arrays.extend(longest.flat_map(longer));
    }
    let values: Vec<_> = arrays.into_iter().map(|array| json!({"v": array}).to_string()).collect();
    let mut rng = Rng::with_seed(29);
    keep_the_laws(|| {
        let array = listing(&mut rng, 2);
        let schema = json!({"type": "object", "properties": {"v": array}, "required": ["v"]});
        (schema.to_string(), values.clone())
    });
}

/// Texts with patterns that some dialects do not take, also below keywords that then accept less.
#[test]
fn projections_of_texts_with_strange_patterns_keep_the_laws() {
    let values: Vec<_> =
        ["", "a", "b", "ab", "ba", "aa"].map(|v| json!({"v": v}).to_string()).into();
    let mut rng = Rng::with_seed(31);
    keep_the_laws(|| {
        let text = matching(&mut rng, 3);
        let schema = json!({"type": "object", "properties": {"v": text}, "required": ["v"]});
        (schema.to_string(), values.clone())
    });
}

/// Objects and arrays with keywords that are newer than the draft of their schema.
#[test]
fn projections_of_schemas_of_older_drafts_keep_the_laws() {
    let drafts = ["draft-04", "draft-06", "draft-07", "draft/2019-09"];
    let mut values: Vec<_> =
        (0..81).map(|n| format!(r#"{{"v":{}}}"#, object_of_four_keys(n))).collect();
    let arrays = ["[]", "[1]", r#"["x"]"#, r#"[1,"x"]"#, r#"["x",1]"#, "[1,1]", r#"["x",1,0]"#];
    values.extend(arrays.map(|array| format!(r#"{{"v":{array}}}"#)));
    let mut rng = Rng::with_seed(37);
    keep_the_laws(|| {
        let draft = format!("http://json-schema.org/{}/schema", rng.choice(drafts).unwrap());
        let value = if rng.bool() { evaluating(&mut rng, 2) } else { listing(&mut rng, 2) };
        let mut schema = json!({"$schema": draft, "type": "object", "required": ["v"]});
        schema["properties"] = json!({"v": value});
        (schema.to_string(), values.clone())
    });
}

/// Objects with references of all kinds, among them some into schemas that are moved or have an id.
#[test]
fn projections_of_schemas_with_references_keep_the_laws() {
    let parts = ["1", "\"x\"", "null", "{}", "{\"x\":1}", "{\"x\":\"x\"}", "{\"y\":null}"];
    let mut values = parts.map(str::to_owned).to_vec();
    for part in parts {
        values.extend([format!(r#"{{"x":{part}}}"#), format!(r#"{{"y":{part}}}"#)]);
        values.extend(parts.map(|other| format!(r#"{{"x":{part},"y":{other}}}"#)));
    }
    let mut rng = Rng::with_seed(41);
    keep_the_laws(|| (referring(&mut rng).to_string(), values.clone()));
}

/// Objects with keys that may be null, and whose default is null, beside rules that tell null from a missing key.
#[test]
fn projections_of_objects_with_keys_that_may_be_null_keep_the_laws() {
    let of = |key: &str| [String::new(), format!(r#""{key}":null,"#), format!(r#""{key}":"x","#)];
    let keys = of("a").map(|a: String| of("b").map(|b| a.clone() + &b)).concat();
    let objects: Vec<_> =
        keys.iter().map(|keys| format!("{{{}}}", keys.trim_end_matches(','))).collect();
    let pairs = objects.iter().flat_map(|a| objects.iter().map(move |b| format!("[{a},{b}]")));
    let values = objects.iter().cloned().chain(pairs);
    let values: Vec<String> = values.map(|value| format!(r#"{{"v":{value}}}"#)).collect();
    let mut rng = Rng::with_seed(43);
    keep_the_laws(|| {
        let value = match rng.u8(..5) {
            0 => json!({"anyOf": [may_be_null(&mut rng), may_be_null(&mut rng)]}),
            1 => json!({"type": "array", "uniqueItems": true, "items": may_be_null(&mut rng)}),
            2 => {
                let contains = json!({"required": ["a"]});
                json!({"type": "array", "maxContains": 1, "contains": contains, "items": may_be_null(&mut rng)})
            }
            _ => may_be_null(&mut rng),
        };
        let schema = json!({"type": "object", "properties": {"v": value}, "required": ["v"]});
        (schema.to_string(), values.clone())
    });
}

/// Maps with rules for the names of keys, and keys that a provider does not take, each with all values of some keys.
#[test]
fn projections_of_objects_with_rules_for_names_of_keys_keep_the_laws() {
    let of = |key: &str| [String::new(), format!(r#""{key}":"x","#), format!(r#""{key}":null,"#)];
    let keys = ["a", "b", "c d", "c_d"].into_iter().fold(vec![String::new()], |all, key| {
        all.iter().flat_map(|before| of(key).map(|key| before.clone() + &key)).collect()
    });
    let objects = keys.iter().map(|keys| format!("{{{}}}", keys.trim_end_matches(',')));
    let values: Vec<String> =
        objects.flat_map(|value| [format!(r#"{{"v":{value}}}"#), value]).collect();
    let mut rng = Rng::with_seed(53);
    keep_the_laws(|| {
        let mut schema = named(&mut rng);
        if rng.bool() {
            schema = json!({"type": "object", "properties": {"v": schema}, "required": ["v"]});
        }
        schema["$defs"] = json!({"Name": {"enum": ["a", "c d"]}});
        (schema.to_string(), values.clone())
    });
}

/// An object with some rules for the names of its keys.
fn named(rng: &mut Rng) -> serde_json::Value {
    let mut object = json!({"type": "object"});
    let text = json!({"type": "string"});
    let names = [
        json!(false),
        json!({"enum": ["a", "b"]}),
        json!({"const": "a"}),
        json!({"$ref": "#/$defs/Name"}),
        json!({"pattern": "^(?=a)"}),
        json!({"type": ["string", "null"], "maxLength": 1}),
        json!({"anyOf": [{"const": "a"}, {"pattern": "^c"}]}),
    ];
    let patterns = ["^a", "^(?=c)", "d$"];
    let mut add =
        |keyword: &str, share: u8, value: &mut dyn FnMut(&mut Rng) -> serde_json::Value| {
            if rng.u8(..share) == 0 {
                object[keyword] = value(rng);
            }
        };
    add("propertyNames", 2, &mut |rng| rng.choice(&names).unwrap().clone());
    add("additionalProperties", 2, &mut |rng| if rng.bool() { json!(false) } else { text.clone() });
    add("patternProperties", 2, &mut |rng| {
        let all = (0..rng.usize(1..3)).map(|_| (*rng.choice(&patterns).unwrap(), text.clone()));
        all.map(|(pattern, schema)| (pattern.to_owned(), schema))
            .collect::<serde_json::Map<_, _>>()
            .into()
    });
    add("properties", 2, &mut |rng| {
        if rng.bool() { json!({"c d": text}) } else { json!({"b": false}) }
    });
    add("required", 3, &mut |_| json!(["c_d"]));
    add("nullable", 3, &mut |_| json!(true));
    object
}

fn may_be_null(rng: &mut Rng) -> serde_json::Value {
    let key = json!({"type": ["string", "null"], "default": null});
    let mut object = json!({"type": "object", "additionalProperties": false});
    object["properties"] =
        json!({"a": key, "b": if rng.bool() { key.clone() } else { json!({"type": "string"}) }});
    let has_a = json!({"required": ["a"]});
    let is_text = json!({"properties": {"a": {"type": "string"}}});
    let rules = [
        json!({}),
        json!({}),
        json!({"required": ["b"]}),
        json!({"minProperties": 1}),
        json!({"maxProperties": 1}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
        json!({"not": has_a}),
        json!({"if": has_a, "then": {"required": ["b"]}}),
        json!({"oneOf": [has_a, {"required": ["b"]}]}),
        json!({"anyOf": [is_text, has_a]}),
        json!({"allOf": [is_text]}),
        json!({"patternProperties": {"a": {"type": "string"}}}),
        json!({"propertyNames": {"const": "b"}}),
        json!({"enum": [{}, {"a": "x"}]}),
        json!({"unevaluatedProperties": false, "additionalProperties": true}),
    ];
    for _ in 0..2 {
        let rule = rng.choice(&rules).expect("there are rules");
        object
            .as_object_mut()
            .expect("it is an object")
            .extend(rule.as_object().cloned().unwrap_or_default());
    }
    object
}

/// Checks the laws on random schemas and on those of their values that are valid.
fn keep_the_laws(mut random: impl FnMut() -> (String, Vec<String>)) {
    // A thousand take minutes.
    let count = std::env::var("TOOLWRIGHT_RANDOM_SCHEMAS");
    let count = count.map_or(60, |count| count.parse().unwrap());
    let policy = Policy::default();
    let mut tried = 0;
    let mut broken = Vec::new();
    while tried < count {
        let (text, mut valid) = random();
        let Ok(laws) = Laws::of(&text) else { continue };
        tried += 1;
        valid.retain(|value| laws.accepts(value));
        let subject = Subject { name: "tool", description: "", args: &text };
        for dialect in Dialect::all() {
            let found = project(&subject, dialect, &policy);
            let faults = laws.broken(dialect, &found, &valid).into_iter();
            broken.extend(faults.take(2).map(|fault| (text.clone(), dialect.id(), fault)));
        }
    }
    let total = broken.len();
    broken.sort_by_key(|(schema, ..)| schema.len());
    for (schema, dialect, fault) in broken.into_iter().take(40) {
        eprintln!("{dialect}: {schema}\n    {fault}");
    }
    assert_eq!(total, 0);
}

/// Of each key, it says whether it is missing, a string or a number.
fn object_of_four_keys(mut number: usize) -> String {
    let mut object = serde_json::Map::new();
    for key in ["a", "b", "c", "d"] {
        match number % 3 {
            0 => {}
            1 => drop(object.insert(key.to_owned(), "x".into())),
            _ => drop(object.insert(key.to_owned(), 1.into())),
        }
        number /= 3;
    }
    serde_json::Value::Object(object).to_string()
}

/// An object with some of the keywords that evaluate keys.
fn evaluating(rng: &mut Rng, depth: usize) -> serde_json::Value {
    let mut object = json!({"type": "object"});
    let keys = ["a", "b", "c", "d"];
    let mut properties = serde_json::Map::new();
    for key in keys {
        if rng.u8(..3) == 0 {
            let schemas = [
                json!({"type": "string"}),
                json!({"type": ["string", "integer"]}),
                json!({"type": "string", "pattern": "^(?=x)"}),
            ];
            properties.insert(key.to_owned(), rng.choice(schemas).unwrap());
        }
    }
    let required: Vec<&String> = properties.keys().filter(|_| rng.bool()).collect();
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !properties.is_empty() {
        object["properties"] = properties.into();
    }
    for keyword in ["anyOf", "oneOf", "allOf", "if", "dependentSchemas"] {
        if depth == 0 || rng.u8(..4) > 0 {
            continue;
        }
        let mut inner = || evaluating(rng, depth - 1);
        match keyword {
            "if" => {
                object["then"] = inner();
                object["if"] = inner();
            }
            "dependentSchemas" => object[keyword] = json!({"a": inner()}),
            _ => object[keyword] = json!([inner(), inner()]),
        }
    }
    let others = ["unevaluatedProperties", "additionalProperties"];
    if rng.u8(..3) > 0 {
        let values = [json!(false), json!(false), json!(true), json!({"type": "string"})];
        let keyword = others[usize::from(rng.u8(..4) == 0)];
        object[keyword] = rng.choice(values).unwrap();
    }
    object
}

/// An array with some of the keywords that evaluate items.
fn listing(rng: &mut Rng, depth: usize) -> serde_json::Value {
    let mut array = json!({"type": "array"});
    let item = |rng: &mut Rng| {
        let schemas = [json!({"type": "integer"}), json!({"type": "string"}), json!({"const": 1})];
        rng.choice(schemas).unwrap()
    };
    for keyword in ["items", "prefixItems", "contains", "unevaluatedItems"] {
        if rng.u8(..3) > 0 {
            continue;
        }
        array[keyword] = match keyword {
            "prefixItems" => (0..rng.usize(1..3)).map(|_| item(rng)).collect(),
            "unevaluatedItems" if rng.bool() => json!(false),
            _ => item(rng),
        };
    }
    for keyword in ["anyOf", "oneOf", "allOf", "if"] {
        if depth == 0 || rng.u8(..4) > 0 {
            continue;
        }
        let mut inner = || listing(rng, depth - 1);
        if keyword == "if" {
            array["then"] = inner();
            array["if"] = inner();
        } else {
            array[keyword] = json!([inner(), inner()]);
        }
    }
    array
}

/// A text with some of the keywords that have schemas.
fn matching(rng: &mut Rng, depth: usize) -> serde_json::Value {
    let mut text = json!({"type": "string"});
    if rng.bool() {
        text["pattern"] = rng.choice(["^(?=a)", "(?!b)a", "^a", "(a)\\1", "b$"]).unwrap().into();
    }
    if rng.u8(..4) == 0 {
        text["maxLength"] = rng.u8(..2).into();
    }
    for keyword in ["anyOf", "oneOf", "allOf", "if", "not"] {
        if depth == 0 || rng.u8(..4) > 0 {
            continue;
        }
        let mut inner = || matching(rng, depth - 1);
        match keyword {
            "not" => text[keyword] = inner(),
            "if" => {
                text["then"] = inner();
                text["if"] = inner();
            }
            _ => text[keyword] = json!([inner(), inner()]),
        }
    }
    text
}

/// An object with references.
fn referring(rng: &mut Rng) -> serde_json::Value {
    fn value(rng: &mut Rng, targets: &[&str]) -> serde_json::Value {
        match rng.u8(..8) {
            0 => json!({"type": "integer"}),
            1 => json!({"type": ["integer", "null"]}),
            2 => json!({"type": "string"}),
            3 => json!({"$dynamicRef": "#"}),
            4 => json!({"enum": [1, null, {"x": 1}], "properties": object(rng)["properties"]}),
            _ => json!({"$ref": rng.choice(targets).unwrap()}),
        }
    }
    fn object(rng: &mut Rng) -> serde_json::Value {
        let targets = [
            "#/properties/x",
            "#/allOf/0/properties/x",
            "#",
            "#/$defs/A",
            "#/%24defs/A",
            "https://e/x",
            "x#/$defs/A",
            "https://e/in#/$defs/A",
            "#/$defs/in",
            "#here",
        ];
        // The first two would lead back from `x` to itself.
        let (x, y) = (value(rng, &targets[2..]), value(rng, &targets));
        json!({"type": "object", "properties": {"x": x, "y": y}})
    }
    let mut root = object(rng);
    let mut inner = if rng.bool() { object(rng) } else { json!({"$ref": "#/$defs/A"}) };
    inner["$id"] = json!("https://e/in");
    inner["$defs"] = json!({"A": {"type": "string"}});
    let mut definition = if rng.bool() { object(rng) } else { json!({"type": "integer"}) };
    if rng.bool() {
        definition["$anchor"] = json!("here");
    }
    root["$defs"] = json!({"A": definition});
    if rng.bool() {
        root["$defs"]["in"] = inner;
    }
    if rng.bool() {
        root["$id"] = json!("https://e/x");
    }
    match rng.u8(..5) {
        0 => root["allOf"] = json!([object(rng)]),
        1 => root["anyOf"] = json!([object(rng), {"type": "integer"}]),
        2 => root["$ref"] = json!("#/$defs/A"),
        3 => drop(root.as_object_mut().unwrap().remove("type")),
        _ => {}
    }
    root
}
