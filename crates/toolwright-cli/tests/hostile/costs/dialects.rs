//! Costly projects for the dialects of providers.

use super::{Case, HEAD, agents, lines, optional, required, tool, tools, users, with_patterns};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "470 dialects that inherit a list of 75,000 words",
        files: || {
            let kinds = format!("type_list_kinds = [{}]\n", "\"a\",".repeat(75_000));
            let large = row("large", "openai-chat-strict", &kinds);
            let rows = lines(470, |n| row(&format!("r{n}"), "large", ""));
            let dialects = "[dialects]\nfiles = [\"rows.toml\"]\n".to_owned();
            vec![
                ("schema/a.yaml", HEAD.to_owned()),
                ("rows.toml", large + &rows),
                ("toolwright.toml", dialects),
            ]
        },
        command: "check",
        code: 1,
        printed: "dialect `large`: it has more than 64 KiB with what it inherits",
    },
    Case {
        name: "a policy with a reason of 900 kB for 2,000 tools",
        files: || {
            let tool = |n| format!("      f{n}: {{description: d.}}\n");
            let dialects = format!(
                "[dialects]\ntargets = [\"openai-chat-strict\"]\n[dialects.policy]\nbecause = \"{}\"\n",
                "x".repeat(900_000)
            );
            vec![("schema/a.yaml", tools(&lines(2_000, tool))), ("toolwright.toml", dialects)]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "20 agents with 10,000 tools that must be strict",
        files: || {
            let tool = |n| format!("      f{n:05}: {{description: d.}}\n");
            let rows =
                lines(5, |n| row(&format!("r{n}"), "anthropic-strict", "plain = \"anthropic\"\n"));
            let targets = "targets = [\"r0\", \"r1\", \"r2\", \"r3\", \"r4\"]\n";
            vec![
                ("schema/a.yaml", tools(&lines(10_000, tool)) + &agents(20)),
                ("rows.toml", rows),
                ("toolwright.toml", format!("[dialects]\nfiles = [\"rows.toml\"]\n{targets}")),
            ]
        },
        command: "check",
        code: 1,
        printed: "check: 2000 errors",
    },
    Case {
        name: "a description of 900 kB for 470 dialects",
        files: || {
            let tool = format!("      f: {{description: '{}'}}\n", "x".repeat(900_000));
            let rows = lines(470, |n| row(&format!("r{n}"), "openai-chat-strict", ""));
            let targets = lines(470, |n| format!("\"r{n}\", "));
            let dialects = format!(
                "[dialects]\nemit = true\nfiles = [\"rows.toml\"]\ntargets = [{targets}]\n"
            );
            vec![
                ("schema/a.yaml", tools(&tool)),
                ("rows.toml", rows),
                ("toolwright.toml", dialects),
            ]
        },
        command: "gen",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "300 tools with a type that merges 40 types of 20 properties, for 4 targets",
        files: || {
            let properties = |n| lines(20, |m| format!("k{n}_{m}: {{type: string}}, "));
            let part = |n| format!("  T{n}: {{type: object, properties: {{{}}}}}\n", properties(n));
            let parts = lines(40, |n| format!("{{$ref: T{n}}}, "));
            let types = format!("  T: {{allOf: [{parts}]}}\n") + &lines(40, part);
            vec![("schema/a.yaml", users(300, &types)), ("toolwright.toml", TARGETS.to_owned())]
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "2,000 names of properties that become equal, for 4 targets",
        files: || {
            let letters: Vec<char> = ('\u{4e00}'..).take(2_000).collect();
            let properties = lines(2_000, |n| format!("{}: {{type: string}}, ", letters[n]));
            let args = format!("{{type: object, properties: {{{properties}}}}}");
            let tool = format!("      f: {{description: d., args: {args}}}\n");
            vec![("schema/a.yaml", tools(&tool)), ("toolwright.toml", TARGETS.to_owned())]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "600 tools with 300 listed objects, for 4 targets",
        files: || {
            let zeros = "0, ".repeat(8);
            let values = lines(300, |n| format!("{{a: {n}, b: [{zeros}]}}, "));
            let types = format!("  T: {{enum: [{values}]}}\n");
            vec![("schema/a.yaml", users(600, &types)), ("toolwright.toml", TARGETS.to_owned())]
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "100 tools with an object of 300 tuples of 1,500 items, for 4 targets",
        files: || {
            let items = lines(1_500, |_| "{type: integer}, ".to_owned());
            of_one_type(100, 300, &format!("{{type: array, prefixItems: [{items}]}}"))
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "100 tools with an object of 300 objects whose keys require others, for 4 targets",
        files: || {
            let keys = lines(2_000, |n| format!("k{n}: [z{n}], "));
            of_one_type(100, 300, &format!("{{type: object, dependentRequired: {{{keys}}}}}"))
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "150 tools with 5,000 listed integers, for 4 targets",
        files: || {
            let values = lines(5_000, |n| format!("{n}, "));
            of_one_type(150, 1, &format!("{{type: integer, enum: [{values}]}}"))
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1000000 schemas",
    },
    Case {
        name: "9,000 tools with a value beside a pattern that takes long to compile, for 4 targets",
        files: || {
            let types = value_beside_pattern(20);
            vec![("schema/a.yaml", users(9_000, &types)), ("toolwright.toml", TARGETS.to_owned())]
        },
        command: "check",
        code: 1,
        printed: "projecting the tools for the targets costs more than 1728064 schemas",
    },
    Case {
        name: "2,000 tools with a value beside such a pattern, in all dialects",
        files: || {
            let types = value_beside_pattern(60);
            vec![("schema/a.yaml", users(2_000, &types))]
        },
        command: "dialects report",
        code: 2,
        printed: "projecting the tools for these dialects costs more than 2000000 schemas",
    },
    Case {
        name: "2,000 tools that share such patterns, in all dialects",
        files: || vec![("schema/a.yaml", users(2_000, &format!("  T: {}\n", with_patterns(14))))],
        command: "dialects report",
        code: 0,
        printed: "openai-chat-strict",
    },
    Case {
        name: "1,900 properties that are null or one list of 5,000 numbers, in all dialects",
        files: || {
            let types = format!("types:\n  T: {{const: [{}1]}}\n", "1, ".repeat(5_000));
            let args = optional(1_900, "oneOf: [{type: 'null'}, {$ref: T}]");
            vec![("schema/a.yaml", tools(&tool(0, &args)) + &types)]
        },
        command: "dialects report",
        code: 2,
        printed: "projecting the tools for these dialects costs more than 2000000 schemas",
    },
];

/// Four targets, and a policy that allows every loss.
const TARGETS: &str = r#"
[dialects]
targets = ["openai-chat-strict", "anthropic-strict", "gemini-schema", "bedrock-strict"]
[dialects.policy]
narrowed = "allow"
refused = "allow"
"#;

/// Tools with an object whose properties all have one type, for the targets.
fn of_one_type(tools: usize, properties: usize, schema: &str) -> Vec<(&'static str, String)> {
    let types = format!("  T: {}\n  D: {schema}\n", required(properties, "$ref: D"));
    vec![("schema/a.yaml", users(tools, &types)), ("toolwright.toml", TARGETS.to_owned())]
}

/// The type `T` of one value, with a pattern whose parts take long to compile.
fn value_beside_pattern(parts: usize) -> String {
    let pattern = r"(?i:[\p{L}\d]+)".repeat(parts);
    format!("  T: {{type: string, pattern: '^{pattern}$', enum: [a]}}\n")
}

/// A dialect of a project.
fn row(id: &str, parent: &str, more: &str) -> String {
    format!(
        "[[dialect]]\nid = \"{id}\"\nasof = \"2026-01\"\ninherits = \"{parent}\"\nconfidence = \"D\"\nevidence = [\"D\"]\n{more}"
    )
}
