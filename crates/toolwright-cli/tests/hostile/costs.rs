//! Tests projects that are short to describe and expensive to process, with the configurations and locks that make them so.

use std::fs;

use crate::child::{Limits, toolwright};

/// The limits of a child process. Beside other load, the costliest of these projects takes five seconds of a release build. The
/// limits of a development build only detect hangs, because it is slower.
const LIMITS: Limits = if cfg!(debug_assertions) {
    Limits { cpu_seconds: 60, megabytes: 1024 }
} else {
    Limits { cpu_seconds: 8, megabytes: 512 }
};

/// A project, a command, and what it prints.
struct Case {
    name: &'static str,
    /// The names and the texts of the project's files.
    files: fn() -> Vec<(&'static str, String)>,
    /// With its arguments.
    command: &'static str,
    code: i32,
    printed: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "a chain of 10,000 references, the last one first",
        files: || {
            vec![(
                "schema/a.yaml",
                format!("{HEAD}types:\n  T0: {{type: number}}\n{}", references()),
            )]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "300 agents with a tool that is described by 900 kB",
        files: || {
            let tool = format!("      f: {{description: '{}'}}\n", "<".repeat(900_000));
            vec![("schema/a.yaml", tools(&tool) + &agents(300))]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
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
        name: "15,000 derives for unknown types, beside 30,000 types",
        files: || {
            let derive = |n| format!("x{n}.derive = [\"a::B\"]\n");
            let rust = "[rust.dependencies]\na = \"1\"\n[rust.types]\n".to_owned();
            let types = |file: &str| {
                format!("{HEAD}types:\n{}", lines(10_000, |n| format!("  T{file}{n}: {{}}\n")))
            };
            vec![
                ("schema/a.yaml", types("A")),
                ("schema/b.yaml", types("B")),
                ("schema/c.yaml", types("C")),
                ("toolwright.toml", rust + &lines(15_000, derive)),
            ]
        },
        command: "check",
        code: 1,
        printed: "13000 more findings are not shown",
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
        printed: "the targets get more than 500000 schemas in total",
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
        printed: "the targets get more than 500000 schemas in total",
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
        printed: "the targets get more than 500000 schemas in total",
    },
    Case {
        name: "100 tools with an object of 300 tuples of 1,500 items, for 4 targets",
        files: || {
            let items = lines(1_500, |_| "{type: integer}, ".to_owned());
            of_one_type(100, 300, &format!("{{type: array, prefixItems: [{items}]}}"))
        },
        command: "check",
        code: 1,
        printed: "the targets get more than 500000 schemas in total",
    },
    Case {
        name: "100 tools with an object of 300 objects whose keys require others, for 4 targets",
        files: || {
            let keys = lines(2_000, |n| format!("k{n}: [z{n}], "));
            of_one_type(100, 300, &format!("{{type: object, dependentRequired: {{{keys}}}}}"))
        },
        command: "check",
        code: 1,
        printed: "the targets get more than 500000 schemas in total",
    },
    Case {
        name: "150 tools with 5,000 listed integers, for 4 targets",
        files: || {
            let values = lines(5_000, |n| format!("{n}, "));
            of_one_type(150, 1, &format!("{{type: integer, enum: [{values}]}}"))
        },
        command: "check",
        code: 1,
        printed: "the targets get more than 500000 schemas in total",
    },
    Case {
        name: "9,000 tools with a value beside a pattern that takes long to compile, for 4 targets",
        files: || {
            let types = value_beside_pattern(20);
            vec![("schema/a.yaml", users(9_000, &types)), ("toolwright.toml", TARGETS.to_owned())]
        },
        command: "check",
        code: 1,
        printed: "the targets get more than 1728064 schemas in total",
    },
    Case {
        name: "2,000 tools with a value beside such a pattern, in all dialects",
        files: || {
            let types = value_beside_pattern(60);
            vec![("schema/a.yaml", users(2_000, &types))]
        },
        command: "dialects report",
        code: 2,
        printed: "the tools have more than 2000000 schemas in these dialects",
    },
    Case {
        name: "60,000 mentions of the last 10,000 of 50,000 aliases",
        files: || {
            let tool = |t: usize| {
                let aliases = lines(10_000, |n| format!("a{t}_{n}, "));
                format!("      f{t}: {{description: d., aliases: [{aliases}]}}\n")
            };
            let mentions = lines(10_000, |n| format!("a4_{n}, "));
            let agent = |n| format!("  g{n}: {{tools: [{mentions}]}}\n");
            let agents = lines(6, agent);
            vec![("schema/a.yaml", format!("{}agents:\n{agents}", tools(&lines(5, tool))))]
        },
        command: "check",
        code: 1,
        printed: "more findings are not shown",
    },
    Case {
        name: "40,000 toolsets without a service, beside 70,000 exports",
        files: || {
            let agent = |a: usize| {
                format!("  g{a}: {{exports: [{}]}}\n", lines(10_000, |n| format!("x{a}_{n}, ")))
            };
            let toolsets = |file: &str| {
                let toolsets = lines(10_000, |n| format!("  t{file}{n}: {{}}\n"));
                format!("toolwright: 1\ntoolsets:\n{toolsets}")
            };
            vec![
                ("schema/a.yaml", format!("{HEAD}agents:\n{}", lines(7, agent))),
                ("schema/b.yaml", toolsets("b")),
                ("schema/c.yaml", toolsets("c")),
                ("schema/d.yaml", toolsets("d")),
                ("schema/e.yaml", toolsets("e")),
            ]
        },
        command: "check",
        code: 1,
        printed: "more findings are not shown",
    },
    Case {
        name: "a trait that is listed 100,000 times",
        files: || {
            let traits = "\"Eq\", ".repeat(100_000);
            let of_type = format!("\"a.T\" = {{ type = \"a::B\", traits = [{traits}] }}");
            let rust = format!("[rust.dependencies]\na = \"1\"\n[rust.types]\n{of_type}\n");
            vec![
                ("schema/a.yaml", format!("{HEAD}types:\n  T: {{type: string}}\n")),
                ("toolwright.toml", rust),
            ]
        },
        command: "check",
        code: 1,
        printed: "`Eq` is already listed; remove it",
    },
    Case {
        name: "250,000 mistakes on one line of the configuration",
        files: || {
            let derive = format!("[rust]\nderive = [{}]\n", "\"1\",".repeat(250_000));
            vec![("schema/a.yaml", HEAD.to_owned()), ("toolwright.toml", derive)]
        },
        command: "check",
        code: 1,
        printed: "more findings are not shown",
    },
    Case {
        name: "vectors of 1,000 tools with three lists in each other, each of at least 16 items",
        files: || {
            let items = |items: &str| format!("{{type: array, minItems: 16, items: {items}}}");
            let lists = |n| items(&items(&items(&format!("{{type: integer, minimum: {n}}}"))));
            let args = |n| format!("{{type: object, properties: {{a: {}}}}}", lists(n));
            let tool = |n| format!("      f{n}: {{description: d., args: {}}}\n", args(n));
            vec![
                ("schema/a.yaml", tools(&lines(1_000, tool))),
                ("toolwright.toml", VECTORS.to_owned()),
            ]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "vectors of 200 tools that share a type of 100 texts that are required",
        files: || {
            let texts = lines(100, |n| format!("s{n}: {{type: string}}, "));
            let names = lines(100, |n| format!("s{n}, "));
            let shared =
                format!("  T: {{type: object, properties: {{{texts}}}, required: [{names}]}}\n");
            vec![("schema/a.yaml", users(200, &shared)), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "a default of 5,000 numbers of the type of 1,900 properties",
        files: || {
            let numbers = "1, ".repeat(5_000);
            let list = "type: array, items: {type: integer}";
            let types = format!("types:\n  T: {{{list}, default: [{numbers}]}}\n");
            vec![("schema/a.yaml", tools(&tool(0, &optional(1_900, "$ref: T"))) + &types)]
        },
        command: "gen",
        code: 1,
        printed: "the defaults that properties have from types take more than 500000 values in total",
    },
    Case {
        name: "a constant of 5,000 numbers that 1,900 properties require, of 4 tools with vectors",
        files: || {
            let types = format!("types:\n  T: {{const: [{}]}}\n", "1, ".repeat(5_000));
            let tool = |n| tool(n, &required(1_900, "$ref: T"));
            let toolsets = tools(&lines(4, tool));
            vec![("schema/a.yaml", toolsets + &types), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "such a constant that 300 properties of a type require, which 100 tools share",
        files: || {
            let types = format!("  C: {{const: [{}]}}\n", "1, ".repeat(5_000));
            let shared = format!("  T: {}\n", required(300, "$ref: C"));
            vec![("schema/a.yaml", users(100, &(shared + &types)))]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "1,900 properties that may be null or of a type of 1,900 properties, with vectors",
        files: || {
            let nullable = "anyOf: [{type: 'null'}, {$ref: T}]";
            let types = format!("types:\n  T: {}\n", optional(1_900, "type: integer"));
            let toolsets = tools(&tool(0, &optional(1_900, nullable)));
            vec![("schema/a.yaml", toolsets + &types), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "a tuple of 1,500 items of a type of 1,900 properties, with vectors",
        files: || {
            let items = "{$ref: T}, ".repeat(1_500);
            let tuple = format!("type: array, prefixItems: [{items}], minItems: 1500");
            let types = format!("types:\n  T: {}\n", optional(1_900, "type: integer"));
            let toolsets = tools(&tool(0, &optional(1, &tuple)));
            vec![("schema/a.yaml", toolsets + &types), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "2,000 tools that share patterns that take long to compile, with vectors",
        files: || {
            let types = format!("  T: {}\n", with_patterns(14));
            vec![("schema/a.yaml", users(2_000, &types)), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "1,900 properties with a default and a rule beside a type with such patterns",
        files: || {
            let property = "allOf: [{$ref: T}], not: {required: [z]}, default: {}";
            let types = format!("types:\n  T: {}\n", with_patterns(14));
            vec![("schema/a.yaml", tools(&tool(0, &optional(1_900, property))) + &types)]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "2,000 tools that share such patterns, in all dialects",
        files: || vec![("schema/a.yaml", users(2_000, &format!("  T: {}\n", with_patterns(14))))],
        command: "dialects report",
        code: 0,
        printed: "openai-chat-strict",
    },
    Case {
        name: "1,900 properties with a default beside one of two types of 1,900 properties",
        files: || {
            let property = |n| format!("p{n}: {{$ref: T{}, default: {{}}}}, ", n % 2);
            let args = format!("{{type: object, properties: {{{}}}}}", lines(1_900, property));
            let ty = |n| format!("  T{n}: {}\n", optional(1_900, "type: integer"));
            vec![("schema/a.yaml", tools(&tool(0, &args)) + "types:\n" + &lines(2, ty))]
        },
        command: "check",
        code: 1,
        printed: "the examples and defaults up to here are too long to be checked",
    },
    Case {
        name: "2,000 tools with an example that takes long to match",
        files: || {
            let (pattern, example) = ("^(?:[a-z]{0,90}){1,90}$", "a".repeat(400));
            let types = format!(
                "  T: {}\n  X: {{type: string, pattern: '{pattern}', examples: [{example}]}}\n",
                required(1, "$ref: X")
            );
            vec![("schema/a.yaml", users(2_000, &types)), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
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
        name: "730 tools that share a type of 1,900 properties inside 45 objects",
        files: || {
            let inner = optional(1_900, "");
            let object = |inner: String, _| format!("{{type: object, properties: {{a: {inner}}}}}");
            let types = format!("  T: {}\n", (0..45).fold(inner, object));
            vec![("schema/a.yaml", users(730, &types))]
        },
        command: "check",
        code: 1,
        printed: "the schemas in generated code have more than 16 MiB in total",
    },
];

const HEAD: &str = "toolwright: 1\nservice: a\n";

/// Four targets, and a policy that allows every loss.
const TARGETS: &str = r#"
[dialects]
targets = ["openai-chat-strict", "anthropic-strict", "gemini-schema", "bedrock-strict"]
[dialects.policy]
narrowed = "allow"
refused = "allow"
"#;

const VECTORS: &str = "[package]\nvectors = true\n";

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn references() -> String {
    lines(9_999, |n| format!("  T{}: {{$ref: T{n}}}\n", n + 1))
}

fn tools(lines: &str) -> String {
    format!("{HEAD}toolsets:\n  t:\n    tools:\n{lines}")
}

fn tool(number: usize, args: &str) -> String {
    format!("      f{number}: {{description: d., args: {args}}}\n")
}

/// An object with some properties of one schema.
fn optional(count: usize, schema: &str) -> String {
    let properties = lines(count, |n| format!("p{n}: {{{schema}}}, "));
    format!("{{type: object, properties: {{{properties}}}}}")
}

/// An object that requires some properties of one schema.
fn required(count: usize, schema: &str) -> String {
    let properties = lines(count, |n| format!("p{n}: {{{schema}}}, "));
    let names = lines(count, |n| format!("p{n}, "));
    format!("{{type: object, properties: {{{properties}}}, required: [{names}]}}")
}

/// An object with texts whose patterns have 18,000 steps each.
fn with_patterns(count: usize) -> String {
    let pattern =
        |n| format!("p{n}: {{type: string, pattern: '^(?:{n}[bc]{{1,100}}){{1,90}}$'}}, ");
    format!("{{type: object, properties: {{{}}}}}", lines(count, pattern))
}

/// Tools with an argument of the type `T`, and their types.
fn users(count: usize, types: &str) -> String {
    let args = "{type: object, properties: {a: {$ref: T}}}";
    let users = lines(count, |n| format!("      f{n}: {{description: d., args: {args}}}\n"));
    format!("{}types:\n{types}", tools(&users))
}

/// Tools with an object whose properties all have one type, for the targets.
fn of_one_type(tools: usize, properties: usize, schema: &str) -> Vec<(&'static str, String)> {
    let named = lines(properties, |n| format!("p{n}: {{$ref: D}}, "));
    let required = lines(properties, |n| format!("p{n}, "));
    let types = format!(
        "  T: {{type: object, properties: {{{named}}}, required: [{required}]}}\n  D: {schema}\n"
    );
    vec![("schema/a.yaml", users(tools, &types)), ("toolwright.toml", TARGETS.to_owned())]
}

/// The type `T` of one value, with a pattern whose parts take long to compile.
fn value_beside_pattern(parts: usize) -> String {
    let pattern = r"(?i:[\p{L}\d]+)".repeat(parts);
    format!("  T: {{type: string, pattern: '^{pattern}$', enum: [a]}}\n")
}

fn agents(count: usize) -> String {
    format!("agents:\n{}", lines(count, |n| format!("  a{n}: {{toolsets: [t]}}\n")))
}

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

/// A dialect of a project.
fn row(id: &str, parent: &str, more: &str) -> String {
    format!(
        "[[dialect]]\nid = \"{id}\"\nasof = \"2026-01\"\ninherits = \"{parent}\"\nconfidence = \"D\"\nevidence = [\"D\"]\n{more}"
    )
}

#[test]
fn every_costly_project_is_processed_or_refused() {
    let mut complaints = Vec::new();
    for Case { name, files, command, code, printed } in CASES {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("schema")).unwrap();
        fs::write(folder.path().join("toolwright.toml"), "").unwrap();
        for (name, text) in files() {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let ended = toolwright(folder.path(), &command.split(' ').collect::<Vec<_>>(), LIMITS);
        if ended.status.code() != Some(*code) || !ended.printed.contains(printed) {
            let found: String = ended.printed.chars().take(300).collect();
            complaints.push(format!("{name}: {}: {found}", ended.how()));
        }
    }
    assert_eq!(complaints, Vec::<String>::new(), "{}", complaints.join("\n\n"));
}
