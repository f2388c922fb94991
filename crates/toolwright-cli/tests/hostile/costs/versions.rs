//! Projects whose locks or versions are costly to compare.

use super::{Case, HEAD, lines, optional, tool, tools, users};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a method with 10,000 errors that 10,000 tools call",
        files: || {
            let error = |n| format!("      e{n}: {{description: d., recovery: retry}}\n");
            let methods = format!("methods:\n  m:\n    errors:\n{}", lines(10_000, error));
            let tools =
                tools(&lines(10_000, |n| format!("      f{n}: {{description: d., bind: m}}\n")));
            vec![("schema/a.yaml", tools + &methods)]
        },
        command: "lock",
        code: 1,
        printed: "more than 500000 properties of payloads and errors in total",
    },
    Case {
        name: "a lock of 5,000 tools that are gone, beside 20,000 new ones",
        files: || {
            let gone = |n| format!("\"g{n}\":{},", locked("Gone.", "{}"));
            let past = |n| format!("\"p{n}\":{{\"was\":\"g0\"}},");
            let toolset = |t: usize| {
                let tools = lines(5_000, |n| format!("      f{t}_{n}: {{description: d.}}\n"));
                format!("  t{t}:\n    tools:\n{tools}")
            };
            vec![
                ("schema/a.yaml", format!("{HEAD}toolsets:\n{}", lines(4, toolset))),
                ("toolwright.lock", lock(&lines(5_000, gone), &lines(10_000, past))),
            ]
        },
        command: "lock",
        code: 0,
        printed: "lock: ",
    },
    Case {
        name: "10,000 aliases that belong to another tool now",
        files: || {
            let aliases = lines(10_000, |n| format!("\"a{n}\","));
            let aliases = format!("\"aliases\":[{}],", aliases.trim_end_matches(','));
            let old = |members: &str| locked("d.", "{}").replacen('{', &format!("{{{members}"), 1);
            let old = format!("\"f0\":{},\"f1\":{},", old(&aliases), old(""));
            let aliases = lines(10_000, |n| format!("a{n}, "));
            let new = format!(
                "      f0: {{description: d.}}\n      f1: {{description: d., aliases: [{aliases}]}}\n"
            );
            vec![("schema/a.yaml", tools(&new)), ("toolwright.lock", lock(&old, ""))]
        },
        command: "breaking",
        code: 1,
        printed: "`a0` belonged to `f0`",
    },
    Case {
        name: "a lock with a tuple of 1,500 items of a type of 1,900 properties",
        files: || {
            let items = r##"{"$ref":"#/$defs/T"},"##.repeat(1_500);
            let items = items.trim_end_matches(',');
            let properties = lines(1_900, |n| format!(r#","p{n}":{{"type":"integer"}}"#));
            let args = format!(
                r#"{{"type":"object","properties":{{"p0":{{"type":"array","prefixItems":[{items}],"minItems":1500}}}},"$defs":{{"T":{{"type":"object","properties":{{{}}}}}}}}}"#,
                &properties[1..]
            );
            let tuple = format!(
                "type: array, prefixItems: [{}], minItems: 1499",
                "{$ref: T}, ".repeat(1_500)
            );
            let types = format!("types:\n  T: {}\n", optional(1_900, "type: integer"));
            let locked = format!("\"f0\":{},", locked("d.", &args));
            vec![
                ("schema/a.yaml", tools(&tool(0, &optional(1, &tuple))) + &types),
                ("toolwright.lock", lock(&locked, "")),
            ]
        },
        command: "breaking",
        code: 1,
        printed: "its rules have more than 32 MiB with the types that they refer to",
    },
    Case {
        name: "350 tools that share a type of 1,900 properties, all of which have other names now",
        files: || {
            let version = |letter: &str| {
                let properties = lines(1_900, |n| format!("{letter}{n}: {{}}, "));
                let types = format!("  T: {{type: object, properties: {{{properties}}}}}\n");
                users(350, &types)
            };
            vec![("schema/a.yaml", version("p")), ("new.yaml", version("q"))]
        },
        command: "diff schema/a.yaml new.yaml",
        code: 1,
        printed: "take more than 32 MiB, expected fewer",
    },
    Case {
        name: "600 tools that share a list of 5,000 numbers, of which one is another now",
        files: || {
            let version = |last: usize| {
                let named = |n| format!("{{type: object, properties: {{p{n}: {{$ref: T}}}}}}");
                let tool = |n| format!("      f{n}: {{description: d., result: {}}}\n", named(n));
                let types = format!("types:\n  T: {{const: [{}{last}]}}\n", "1, ".repeat(5_000));
                tools(&lines(600, tool)) + &types
            };
            vec![("schema/a.yaml", version(2)), ("new.yaml", version(3))]
        },
        command: "diff schema/a.yaml new.yaml",
        code: 1,
        printed: "the schemas that differ have more than 18 MiB up to it",
    },
    Case {
        name: "a tuple of 1,500 lists of 5,000 numbers, one of which may be missing now",
        files: || {
            let version = |least: usize| {
                let items = "{$ref: T}, ".repeat(1_500);
                let tuple = format!("type: array, prefixItems: [{items}], minItems: {least}");
                let types = format!("types:\n  T: {{const: [{}1]}}\n", "1, ".repeat(5_000));
                tools(&tool(0, &optional(1, &tuple))) + &types
            };
            vec![("schema/a.yaml", version(1_500)), ("new.yaml", version(1_499))]
        },
        command: "diff schema/a.yaml new.yaml",
        code: 0,
        printed: "1 change: ",
    },
];

/// A tool in a lock.
fn locked(description: &str, args: &str) -> String {
    format!(
        "{{\"toolset\":\"t\",\"description\":\"{description}\",\"args\":{args},\"result\":{{}},\"implementation\":{{\"external\":\"\"}}}}"
    )
}

/// A lock of tools and earlier names, each with a comma after it.
fn lock(tools: &str, names: &str) -> String {
    let [tools, names] = [tools, names].map(|text| text.trim_end_matches(','));
    format!(
        "{{\"lock\":1,\"language\":1,\"toolsets\":{{\"t\":{{\"service\":\"a\"}}}},\"tools\":{{{tools}}},\"names\":{{{names}}}}}"
    )
}
