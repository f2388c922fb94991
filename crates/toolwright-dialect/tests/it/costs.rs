//! Small schemas that are made to cost much.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use toolwright_dialect::{Dialect, Policy, Subject, project};

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
            let start = Instant::now();
            let subject = Subject { name: "bomb", description: "Bombs.", args };
            let once = project(&subject, dialect, &Policy::default());
            let elapsed = start.elapsed();
            assert!(elapsed < Duration::from_secs(20), "{name} in {}: {elapsed:?}", dialect.id());
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

/// Each name was once compared with all before it, for each number that was tried.
#[test]
fn property_names_that_become_equal_cost_no_more_than_their_number() {
    for dialect in ["anthropic-strict", "gemini-schema"] {
        let dialect = Dialect::find(dialect).unwrap();
        let times = [500, 2000].map(|count| {
            let letters = (0..count).filter_map(|at| char::from_u32(0x4e00 + at));
            let properties: Vec<_> =
                letters.map(|letter| format!(r#""{letter}":{{"type":"string"}}"#)).collect();
            let args = format!(
                r#"{{"type":"object","properties":{{{}}},"additionalProperties":false}}"#,
                properties.join(",")
            );
            let subject = Subject { name: "clash", description: "Clashes.", args: &args };
            let start = Instant::now();
            project(&subject, dialect, &Policy::default());
            start.elapsed()
        });
        assert!(times[1] < times[0] * 12, "{}: {times:?}", dialect.id());
    }
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
