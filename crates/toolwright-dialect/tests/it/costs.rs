//! Small schemas that are made to cost much.

use std::fmt::Write as _;

use toolwright_dialect::{Class, Dialect, Policy, Subject, project};

/// Definitions in levels, each of which refers to every definition of the next level.
fn levels(levels: usize, width: usize, node: impl Fn(&[String]) -> String) -> String {
    let mut definitions = String::new();
    for level in 0..levels {
        for at in 0..width {
            let next: Vec<_> = (0..width)
                .map(|next| format!(r##"{{"$ref":"#/$defs/T{}_{next}"}}"##, level + 1))
                .collect();
            let _ = write!(definitions, r#""T{level}_{at}":{},"#, node(&next));
        }
    }
    for at in 0..width {
        let _ = write!(
            definitions,
            r#""T{levels}_{at}":{{"type":"object","properties":{{"p{at}":{{"type":"string"}}}}}},"#
        );
    }
    let first = r##"{"$ref":"#/$defs/T0_0"},{"$ref":"#/$defs/T0_1"}"##;
    format!(
        r#"{{"type":"object","properties":{{"a":{{"oneOf":[{first}]}},"b":{{"anyOf":[{first}]}},"c":{{"allOf":[{first}]}}}},"$defs":{{{}}}}}"#,
        definitions.trim_end_matches(',')
    )
}

fn list(keyword: &str, next: &[String]) -> String {
    format!(r#"{{"{keyword}":[{}]}}"#, next.join(","))
}

#[test]
fn references_that_multiply_cost_no_more_than_their_budget() {
    let merged = |next: &[String]| {
        let properties = (0..6).map(|at| format!(r#""p{at}":{}"#, list("allOf", next)));
        let properties: Vec<_> = properties.collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))
    };
    let cases = [
        ("anyOf", levels(20, 4, |next| list("anyOf", next))),
        ("oneOf", levels(20, 4, |next| list("oneOf", next))),
        ("allOf", levels(14, 6, |next| list("allOf", next))),
        ("allOf in properties", levels(14, 2, merged)),
        (
            "enum",
            format!(
                r#"{{"type":"object","properties":{{"a":{{"enum":{:?}}}}}}}"#,
                (0..9000).collect::<Vec<_>>()
            ),
        ),
    ];
    for (name, args) in &cases {
        for dialect in ["openai-chat-strict", "gemini-schema"] {
            let dialect = Dialect::find(dialect).unwrap();
            let subject = Subject { name: "bomb", description: "Bombs.", args };
            let once = project(&subject, dialect, &Policy::default());
            assert!(once.schemas <= 30_000, "{name} in {}: {}", dialect.id(), once.schemas);
            // Each projection of a tool that is read once has the whole budget.
            let read = subject.read();
            for _ in 0..2 {
                let again = read.project(dialect, &Policy::default());
                assert_eq!(
                    (again.class, again.losses),
                    (once.class, once.losses.clone()),
                    "{name}"
                );
                assert_eq!(again.wire_schema, once.wire_schema, "{name}");
            }
        }
    }
}

fn large_object(kind: &str) -> String {
    let properties: Vec<_> =
        (0..2000).map(|at| format!(r#""p{at}":{{"type":"{kind}"}}"#)).collect();
    format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))
}

/// The keys and the values of a large type count each time that a choice reads them.
#[test]
fn a_tool_whose_choices_read_a_large_type_again_and_again_is_refused() {
    let values: Vec<_> = (0..9000).map(|at| format!("v{at}")).collect();
    let cases = [
        (
            r##"{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]}"##,
            format!(r#""A":{},"B":{}"#, large_object("string"), large_object("integer")),
        ),
        (r##"{"$ref":"#/$defs/A","minLength":1}"##, format!(r#""A":{{"enum":{values:?}}}"#)),
    ];
    for (property, definitions) in cases {
        let properties: Vec<_> = (0..500).map(|at| format!(r#""x{at}":{property}"#)).collect();
        let args = format!(
            r#"{{"type":"object","properties":{{{}}},"$defs":{{{definitions}}}}}"#,
            properties.join(",")
        );
        let subject = Subject { name: "large", description: "Large.", args: &args };
        let dialect = Dialect::find("openai-chat-strict").unwrap();
        let found = project(&subject, dialect, &Policy::default());
        assert_eq!(found.class, Class::Refused, "{property}");
        let reason = "has more than 20000 schemas once references are merged";
        assert!(found.losses.iter().any(|loss| loss.now == reason), "{property}");
    }
}

#[test]
fn types_that_are_listed_again_change_nothing() {
    let wire = |types: &str| {
        let args = format!(
            r#"{{"type":"object","properties":{{"a":{{"type":[{types}],"items":{{"type":"string"}}}}}}}}"#
        );
        let subject = Subject { name: "types", description: "Types.", args: &args };
        let dialect = Dialect::find("openai-chat-strict").unwrap();
        project(&subject, dialect, &Policy::default()).wire_schema
    };
    let types = r#""array","boolean","null""#;
    assert_eq!(wire(&vec![types; 3000].join(",")), wire(types));
}

/// A long key would be in the places of all losses below it.
#[test]
fn a_schema_with_long_keys_is_refused() {
    let args = |length: usize| {
        let key = "k".repeat(length);
        format!(r#"{{"type":"object","properties":{{"{key}":{{"type":"string"}}}}}}"#)
    };
    let class = |length| {
        let args = args(length);
        let subject = Subject { name: "key", description: "Keys.", args: &args };
        project(&subject, Dialect::find("openai-chat").unwrap(), &Policy::default()).class
    };
    assert_ne!(class(4000), Class::Refused);
    assert_eq!(class(4100), Class::Refused);
}

#[test]
fn a_chain_of_choices_takes_a_bounded_part_of_the_stack() {
    let length = 3_000;
    let links = (0..length).map(|at| {
        format!(r##""a{at}":{{"anyOf":[{{"$ref":"#/$defs/a{}"}},{{"type":"null"}}]}},"##, at + 1)
    });
    let links: String = links.collect();
    let args = format!(
        r##"{{"type":"object","allOf":[{{"$ref":"#/$defs/a0"}}],"$defs":{{{links}"a{length}":{{"type":"object"}}}}}}"##
    );
    let check = move || {
        for dialect in Dialect::all() {
            let subject = Subject { name: "chain", description: "Chains.", args: &args };
            // Refused or widened, but it comes to an end.
            let _ = project(&subject, dialect, &Policy::default());
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
}

/// The value of each choice is read again to find its alternative.
#[test]
fn all_choices_in_a_value_share_one_budget_when_it_is_encoded() {
    let args = r##"{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"required":["t"],"$defs":{"T":{"anyOf":[
        {"type":"object","properties":{"t":{"$ref":"#/$defs/T"},"n":{"type":"integer"}},"required":["t"],"additionalProperties":false},
        {"type":"string"}]}}}"##;
    let subject = Subject { name: "nested", description: "Nests.", args };
    let found = project(&subject, Dialect::find("openai-chat-strict").unwrap(), &Policy::default());
    let nested = |depth: usize, length: usize| {
        let leaf = "a".repeat(length);
        format!("{}\"{leaf}\"{}", r#"{"t":"#.repeat(depth), "}".repeat(depth))
    };
    let sent = found.encode(&nested(2, 1)).expect("it is small");
    assert_eq!(sent, r#"{"t":{"t":"a","n":null}}"#);
    assert!(found.encode(&nested(50, 10_000)).is_ok());
    let refused = found.encode(&nested(50, 1_000_000)).expect_err("it is read fifty times");
    assert!(refused.to_string().contains("too many steps"), "{refused}");
}

/// Projects a schema of the property `x`, and returns its wire schema and whether the rules beside its values are lost.
fn projected(property: &str, dialect: &str) -> (String, bool) {
    let args = format!(r#"{{"type":"object","properties":{{"x":{property}}},"required":["x"]}}"#);
    let subject = Subject { name: "listed", description: "Lists.", args: &args };
    let found = project(&subject, Dialect::find(dialect).unwrap(), &Policy::default());
    let is_lost = found.losses.iter().any(|loss| loss.keyword == "pattern");
    (found.wire_schema.expect("it is taken"), is_lost)
}

/// Each value once had the steps of a whole payload.
#[test]
fn the_rules_beside_all_listed_values_of_a_tool_share_one_budget() {
    let listed = |repeated: usize| {
        let values: Vec<String> = (0..500).map(|value| format!("{value}")).collect();
        let pattern = format!(r"^(?=\\d)(?:|\\d|){{{repeated}}}0$");
        format!(r#"{{"type":"string","pattern":"{pattern}","enum":{values:?}}}"#)
    };
    for dialect in ["openai-chat-strict", "gemini-schema"] {
        let (wire, is_lost) = projected(&listed(2), dialect);
        assert!(wire.contains("\"490\"") && !wire.contains("\"499\"") && !is_lost, "{wire}");
        let (wire, is_lost) = projected(&listed(60), dialect);
        assert!(wire.contains("\"490\"") && wire.contains("\"499\"") && is_lost, "{wire}");
    }
}

/// Rules that were compiled for each alternative would take more steps than there are.
#[test]
fn the_rules_beside_a_choice_are_compiled_once() {
    let branches: Vec<String> =
        (0..40).map(|branch| format!(r#"{{"enum":["a{branch}","b{branch}"]}}"#)).collect();
    let property = format!(
        r#"{{"type":"string","pattern":"^(?:a[0-9]+|c{{9000}})$","anyOf":[{}]}}"#,
        branches.join(",")
    );
    let (wire, is_lost) = projected(&property, "openai-chat-strict");
    assert!(wire.contains("\"a39\"") && !wire.contains("\"b39\"") && !is_lost, "{wire}");
}

/// The most memory that this process had, in MiB, where the system tells.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kib.unwrap_or_default() >> 10
}

/// A schema within itself, so many times.
fn nested(levels: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

/// Each level once had a copy of all that is below it.
#[test]
fn nested_conditions_are_not_copied_with_each_level() {
    let numbers = "0,".repeat(150_000);
    let end = format!(r#"{{"type":"array","pattern":"^(?=a)","examples":[{numbers}0]}}"#);
    let list = r#"{"type":"array","unevaluatedItems":"#;
    for (open, dialect) in [(r#"{"not":"#, "openai-responses"), (list, "openai-chat")] {
        let property = nested(100, open, &end, "}");
        let args = format!(r#"{{"type":"object","properties":{{"x":{property}}}}}"#);
        let subject = Subject { name: "nested", description: "Nests.", args: &args };
        let found = project(&subject, Dialect::find(dialect).unwrap(), &Policy::default());
        assert_eq!(found.losses.len(), 1, "{:?}", found.losses);
        assert!(peak() < 200, "{} MiB in {dialect}", peak());
    }
}

#[test]
fn nested_choices_share_one_budget_for_copies_of_their_alternatives() {
    let end = format!(r#"{{"type":"string","examples":[{}0]}}"#, "0,".repeat(30_000));
    let definition = nested(40, r#"{"anyOf":[{"type":"null"},"#, &end, "]}");
    let args = format!(
        r##"{{"type":"object","properties":{{"x":{{"allOf":[{{"$ref":"#/$defs/A"}},{{"title":"T"}}]}}}},"$defs":{{"A":{definition}}}}}"##
    );
    let subject = Subject { name: "nested", description: "Nests.", args: &args };
    let found = project(&subject, Dialect::find("gemini").unwrap(), &Policy::default());
    assert_eq!(found.class, Class::Widened);
    assert!(found.losses.iter().any(|loss| loss.now == "JSON text"));
}

#[test]
fn many_conditions_take_time_in_proportion_to_their_number() {
    let properties = (0..20_000).map(|at| format!(r#""p{at}":{{"not":{{"pattern":"(?=a)"}}}}"#));
    let properties: Vec<String> = properties.collect();
    let args = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let subject = Subject { name: "many", description: "Many.", args: &args };
    let start = std::time::Instant::now();
    let dialect = Dialect::find("openai-responses").unwrap();
    let found = project(&subject, dialect, &Policy::default());
    assert_eq!(found.losses.len(), properties.len());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
