//! Tests projects that are short to describe and expensive to process, with the configurations and locks that make them so.

mod choices;
mod dialects;
mod versions;

use std::fs;

use crate::child::{Limits, toolwright};

/// The limits of a child process. Beside other load, the costliest of these projects takes five seconds of a release build. The
/// limits of a development build only detect hangs, because it is up to twenty times slower.
const LIMITS: Limits = if cfg!(debug_assertions) {
    Limits { cpu_seconds: 300, megabytes: 1024 }
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
                format!("{HEAD}types:\n  T0: {{type: number}}\n{}", references(9_999)),
            )]
        },
        command: "check",
        code: 1,
        printed: "this reference is followed by 1000 others in a chain",
    },
    Case {
        name: "2 choices of 10,000 times a chain of 900 references",
        files: || {
            let choice = |n| format!("  C{n}: {{anyOf: [{}]}}\n", "{$ref: T900}, ".repeat(10_000));
            let types = format!("types:\n  T0: {{type: object}}\n{}", references(900));
            vec![("schema/a.yaml", format!("{HEAD}{types}{}", lines(2, choice)))]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "10,000 definitions of one name",
        files: || {
            let member = |n| format!("{{$ref: '#/$defs/a{n}/items'}}, ");
            let definition = |n| format!("a{n}: {{items: {{}}}}, ");
            let choice = lines(10_000, member);
            let ty = format!("{{anyOf: [{choice}], $defs: {{{}}}}}", lines(10_000, definition));
            vec![("schema/a.yaml", users(20, &format!("  T: {ty}\n")))]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "20 times 100 services, each of which uses the types of 20 of the next 100",
        files: || {
            let service = |n: usize| {
                let used = |step| (n / 100 + 1) * 100 + (n + step) % 100;
                let property = |step| format!("p{step}: {{$ref: s{0}.T{0}}}, ", used(step));
                let properties = if n < 1_900 { lines(20, property) } else { String::new() };
                format!(
                    "toolwright: 1\nservice: s{n}\ntypes:\n  T{n}: {{type: object, properties: {{{properties}}}}}\n"
                )
            };
            each_in_a_file(2_000, service)
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "40,000 tools of a method that 1,000 services have",
        files: || {
            let service =
                |n| format!("toolwright: 1\nservice: s{n}\nmethods: {{m: {{description: d.}}}}\n");
            let tools = |t| {
                let tool = |n| format!("      f{t}_{n}: {{bind: m, description: d.}}\n");
                format!("  t{t}:\n    tools:\n{}", lines(10_000, tool))
            };
            let mut files = each_in_a_file(1_000, service);
            files.push((
                "schema/tools.yaml",
                format!("toolwright: 1\ntoolsets:\n{}", lines(4, tools)),
            ));
            files
        },
        command: "check",
        code: 1,
        printed: "ambiguous-owner",
    },
    Case {
        name: "30 doubling tuples and a list of itself in a schema without a type that an object refers to",
        files: || {
            let tuple = |n| {
                let next = format!("{{$ref: '#/$defs/T{}'}}", n + 1);
                format!("T{n}: {{type: array, minItems: 2, prefixItems: [{next}, {next}]}}, ")
            };
            let list = "L: {type: array, items: {$ref: '#/$defs/L'}}";
            let defs = format!("{}T30: {{type: string}}, {list}", lines(30, tuple));
            let properties = "t: {$ref: '#/$defs/T0'}, l: {$ref: '#/$defs/L'}";
            vec![(
                "schema/a.yaml",
                format!(
                    "{HEAD}types:\n  U: {{properties: {{{properties}}}, $defs: {{{defs}}}}}\n  \
                     X: {{type: object, properties: {{n: {{type: integer}}}}, allOf: [{{$ref: U}}]}}\n"
                ),
            )]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "15 tools with 10,000 unknown keys each",
        files: || {
            let keys = lines(10_000, |n| format!("k{n}: 0, "));
            let tool = |n| format!("      f{n}: {{description: d., {keys}}}\n");
            vec![("schema/a.yaml", tools(&lines(15, tool)))]
        },
        command: "check",
        code: 1,
        printed: "more findings are not shown",
    },
    Case {
        name: "a method and a tool whose arguments have 10,000 properties below 470 keys of 4,000 bytes",
        files: || {
            let chain = |name: &str| {
                let key = "k".repeat(4000);
                let link = |n| {
                    let next = n + 1;
                    format!(
                        "  {name}{n}: {{type: object, properties: {{{key}: {{$ref: {name}{next}}}}}}}\n"
                    )
                };
                let last = lines(10_000, |n| format!("p{n}: {{}}, "));
                lines(470, link)
                    + &format!("  {name}470: {{type: object, properties: {{{last}}}}}\n")
            };
            let method = "methods:\n  m: {description: d., payload: B0}\n";
            let tool =
                "toolsets:\n  t:\n    tools:\n      f: {description: d., bind: m, args: A0}\n";
            let types = chain("A") + &chain("B");
            vec![("schema/a.yaml", format!("{HEAD}types:\n{types}{method}{tool}"))]
        },
        command: "check",
        code: 1,
        printed: "98 levels deep, expected at most 96",
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
        name: "100 tools that share the last of 30,000 types, with 1,900 references to itself",
        files: || {
            let types = |file: &str| {
                format!("{HEAD}types:\n{}", lines(10_000, |n| format!("  T{file}{n}: {{}}\n")))
            };
            let shared = format!("  T: {}\n", optional(1_900, "$ref: '#'"));
            vec![
                ("schema/a.yaml", types("A")),
                ("schema/b.yaml", types("B")),
                ("schema/c.yaml", types("C")),
                ("schema/d.yaml", users(100, &shared)),
            ]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "30,000 types with a reference to an anchor of their own",
        files: || {
            let ty = "{$anchor: a, type: object, properties: {p: {$ref: '#a'}}}";
            let types = |file: &str| {
                format!("{HEAD}types:\n{}", lines(10_000, |n| format!("  T{file}{n}: {ty}\n")))
            };
            vec![
                ("schema/a.yaml", types("A")),
                ("schema/b.yaml", types("B")),
                ("schema/c.yaml", types("C")),
            ]
        },
        command: "check",
        code: 0,
        printed: "check: ",
    },
    Case {
        name: "900 allOf with a type that requires 9,000 names",
        files: || {
            let names = lines(9_000, |n| format!("n{n}, "));
            let types = format!("types:\n  T: {{required: [{names}]}}\n");
            let properties = optional(900, "allOf: [{$ref: T}, {type: object}]");
            vec![("schema/a.yaml", tools(&tool(0, &properties)) + &types)]
        },
        command: "check",
        code: 1,
        printed: "the schemas in generated code have more than 16 MiB in total",
    },
    Case {
        name: "types that are merged into their own properties, with vectors",
        files: || {
            let child = "description: Next, allOf: [{$ref: Node}, {required: [p0]}]";
            let guarded = "not: {required: [x]}, allOf: [{$ref: Guarded}, {}]";
            let untyped = "properties: {c: {allOf: [{$ref: Untyped}, {}]}}";
            let types = format!(
                "  T: {{type: object, properties: {{n: {{$ref: Node}}, g: {{$ref: Guarded}}, u: {{$ref: Untyped}}}}}}\n  \
                 Node: {}\n  Guarded: {}\n  Untyped: {}\n",
                optional(20, child),
                optional(20, guarded),
                optional(1, untyped)
            );
            vec![("schema/a.yaml", users(1, &types)), ("toolwright.toml", VECTORS.to_owned())]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "30 types, each of which has the properties of the one before twice",
        files: || {
            vec![("schema/a.yaml", users(1, &format!("  T: {{$ref: T29}}\n{}", doubling(30))))]
        },
        command: "gen",
        code: 0,
        printed: "gen: ",
    },
    Case {
        name: "10 types, each of which has the properties of the one before 200 times",
        files: || {
            let merged = |n| optional(199, &format!("allOf: [{{$ref: T{n}}}, {{type: object}}]"));
            let types = lines(9, |n| format!("  T{}: {}\n", n + 1, merged(n)));
            let first = format!("  T: {{$ref: T9}}\n  T0: {}\n", optional(199, "type: string"));
            vec![("schema/a.yaml", users(1, &(first + &types)))]
        },
        command: "check",
        code: 1,
        printed: "the schemas in generated code have more than 16 MiB in total",
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

const VECTORS: &str = "[package]\nvectors = true\n";

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

fn references(count: usize) -> String {
    lines(count, |n| format!("  T{}: {{$ref: T{n}}}\n", n + 1))
}

fn each_in_a_file(count: usize, text: impl Fn(usize) -> String) -> Vec<(&'static str, String)> {
    let path = |n| &*String::leak(format!("schema/s{n}.yaml"));
    (0..count).map(|n| (path(n), text(n))).collect()
}

/// Types, each of which has two properties with the properties of the one before.
fn doubling(count: usize) -> String {
    let merged = |n| optional(2, &format!("allOf: [{{$ref: T{n}}}, {{type: object}}]"));
    let types = lines(count - 1, |n| format!("  T{}: {}\n", n + 1, merged(n)));
    format!("  T0: {}\n{types}", optional(1, "type: string"))
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

fn agents(count: usize) -> String {
    format!("agents:\n{}", lines(count, |n| format!("  a{n}: {{toolsets: [t]}}\n")))
}

#[test]
fn every_costly_project_is_processed_or_refused() {
    let mut complaints = Vec::new();
    // Kept to the end: in ext4, files take longer to create for some seconds after others were removed.
    let mut folders = Vec::new();
    for Case { name, files, command, code, printed } in
        CASES.iter().chain(choices::CASES).chain(dialects::CASES).chain(versions::CASES)
    {
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
        folders.push(folder);
    }
    assert_eq!(complaints, Vec::<String>::new(), "{}", complaints.join("\n\n"));
}
