//! Inputs that are short to describe and expensive to process, with the expected results.

/// An input and the function that creates it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) text: fn() -> String,
    /// The code of the expected error, or an empty text for a valid schema.
    pub(crate) expected: &'static str,
}

pub(crate) const fn accepted(name: &'static str, text: fn() -> String) -> Case {
    Case { name, text, expected: "" }
}

pub(crate) const fn refused(
    name: &'static str,
    expected: &'static str,
    text: fn() -> String,
) -> Case {
    Case { name, text, expected }
}

pub(crate) const CASES: &[Case] = &[
    // The inputs of issue 4.
    refused("aliases of aliases, 9^19 values", "yaml-budget", || types(&alias_bomb())),
    refused("aliases of aliases in an example", "yaml-budget", example_bomb),
    refused("an anchor at each of 100 levels", "yaml-budget", nested_anchors),
    refused("100,000 brackets", "yaml-syntax", || default_of(&nested("[", "", "]", 100_000))),
    refused("100,000 brackets left open", "yaml-syntax", || "[".repeat(100_000)),
    refused("100,000 braces left open", "yaml-syntax", || "{a: ".repeat(100_000)),
    refused("100,000 dashes", "yaml-budget", || "- ".repeat(100_000)),
    refused("3,000 levels of indentation", "yaml-budget", indents),
    refused("a scalar of 50 MB", "too-large", || described(&"x".repeat(50_000_000))),
    refused("a block scalar of 50 MB", "too-large", || block_scalar(7_000_000)),
    refused("a comment of 50 MB", "too-large", || {
        types(&format!("# {}\n", "x".repeat(50_000_000)))
    }),
    accepted("a scalar of 4 MB", || described(&"x".repeat(4_000_000))),
    accepted("a block scalar of 4 MB", || block_scalar(510_000)),
    accepted("a scalar of 600,000 lines", || described(&"x\n\n    ".repeat(590_000))),
    refused("200,000 keys of one object", "too-large", || object(&keys(200_000, "{type: string}"))),
    refused("200,000 keys at the top", "yaml-budget", || lines(200_000, |n| format!("k{n}: 1"))),
    refused("200,000 times the same key", "yaml-budget", || same_keys(200_000)),
    refused("200,000 types", "too-large", || {
        types(&lines(200_000, |n| format!("  K{n}: {{type: string}}")))
    }),
    refused("2,000 aliases of a text of 600 kB", "yaml-budget", || {
        format!("x: &a {}\ny: [{}]", "A".repeat(600_000), "*a, ".repeat(2_000))
    }),
    refused("200,000 anchors", "yaml-budget", || {
        default_of(&list(200_000, |n| format!("&a{n} x")))
    }),
    refused("200,000 tags of YAML", "yaml-tag", || {
        default_of(&list(200_000, |_| "!a x".to_owned()))
    }),
    refused("10,000 keys of one object", "too-many-properties", || {
        object(&keys(10_000, "{type: string}"))
    }),
    accepted("10,000 types", || types(&lines(10_000, |n| format!("  K{n}: {{type: string}}")))),
    accepted("10,000 tools", || {
        tools(10_000, "description: D., args: {type: object, properties: {a: {type: string}}}")
    }),
    refused("1,000 types in a circle", "endless-reference", || {
        chain(1000, "T0", |to| format!("{{$ref: {to}}}"))
    }),
    refused("1,000 objects in a circle", "too-many-levels", || {
        chain(1000, "T0", |to| format!("{{type: object, properties: {{a: {{$ref: {to}}}}}}}"))
    }),
    accepted("a chain of 1,000 references", || chain(1000, "End", |to| format!("{{$ref: {to}}}"))),
    refused("a chain of 5,000 lists", "too-many-levels", || {
        chain(5000, "End", |to| format!("{{type: array, items: {{$ref: {to}}}}}"))
    }),
    accepted("a chain of 5,000 choices of null", || {
        chain(5000, "End", |to| format!("{{anyOf: [{{$ref: {to}}}, {{type: 'null'}}]}}"))
    }),
    refused("a chain of 5,000 negations", "over-budget", || {
        chain(5000, "End", |to| format!("{{not: {{$ref: {to}}}}}"))
    }),
    refused("a chain of 5,000 local references", "too-many-levels", local_chain),
    refused("a pattern of 1 MB", "bad-pattern", || pattern(&"a".repeat(1_000_000))),
    accepted("a class of 1 MB in a pattern", || pattern(&format!("[{}]", "a-z".repeat(333_000)))),
    refused("a pattern of 100,000 groups", "bad-pattern", || {
        pattern(&nested("(", "a", ")", 100_000))
    }),
    refused("a pattern of 300,000 alternatives", "bad-pattern", || pattern(&"a|".repeat(300_000))),
    refused("a pattern of 500,000 open groups", "bad-pattern", || pattern(&"(".repeat(500_000))),
    accepted("the pattern (a+)+$ and a text it fails on", || pattern("(a+)+$")),
    refused("a pattern that repeats repeats", "bad-pattern", || {
        pattern("(((a{1000}){1000}){1000}){1000}")
    }),
    refused("a pattern that repeats 100 million times", "bad-pattern", || pattern("a{100000000}")),
    accepted("an enum of 10,000 strings", || enumeration("string", 10_000, |n| format!("v{n}"))),
    accepted("an enum of 10,000 integers", || enumeration("integer", 10_000, |n| n.to_string())),
    accepted("an enum of 10,000 lists", || enumeration("array", 10_000, |n| format!("[{n}]"))),
    accepted("an enum of 2,000 strings that look alike", || {
        enumeration("string", 2000, |n| format!("'{}'", "-".repeat(n + 1)))
    }),
    // Other inputs that once took long.
    refused("5,000 tools, an error each, with advice", "unknown-type", || {
        tools(5000, "description: D., args: Toool") + "types: {Tool: {type: object}}\n"
    }),
    refused("4,000 toolsets with a tool of one name", "duplicate-tool", || {
        let one =
            |n| format!("  t{n}:\n    description: x\n    tools:\n      f: {{description: d}}\n");
        (0..4000)
            .fold("toolwright: 1\nservice: s\ntoolsets:\n".to_owned(), |text, n| text + &one(n))
    }),
    refused("10,000 tools with an unknown method beside 10,000 methods", "unknown-method", || {
        let method = |n| format!("  m{n}: {{}}\n");
        let methods: String = (0..10_000).map(method).collect();
        let tool = |n| format!("      t{n}: {{description: x, bind: z}}\n");
        let tools: String = (0..10_000).map(tool).collect();
        format!(
            "toolwright: 1\nservice: s\nmethods:\n{methods}toolsets:\n  t:\n    description: x\n    tools:\n{tools}"
        )
    }),
    refused(
        "2,000 tools with 2,000 properties that their method refuses",
        "not-in-payload",
        || {
            let property = |n| format!("p{n}: {{}}, ");
            let properties: String = (0..2000).map(property).collect();
            let tool = |n| format!("      t{n}: {{description: x, bind: m, args: A}}\n");
            let tools: String = (0..2000).map(tool).collect();
            format!(
                "toolwright: 1\nservice: s\ntypes:\n  A: {{type: object, properties: {{{properties}}}}}\n\
             methods:\n  m: {{payload: {{type: object, additionalProperties: false}}}}\n\
             toolsets:\n  t:\n    description: x\n    tools:\n{tools}"
            )
        },
    ),
    refused("1,000 results of another enum than that of their method", "over-budget", || {
        let values = list(10_000, |n| format!("v{n}"));
        format!(
            "{HEAD}types:\n  A: {{enum: &e {values}}}\n  B: {{enum: *e}}\nmethods: {{m: {{result: A}}}}\n{}",
            tools_of(1_000, "description: D., bind: m, result: B")
        )
    }),
    refused("300 unknown fields in a hint of 1,500 tools", "template-field", || {
        let property = |n| format!("p{n}: {{}}, ");
        let properties: String = (100..600).map(property).collect();
        let field = |n| format!("{{{{args.q{n}}}}}");
        let hint: String = (100..400).map(field).collect();
        format!(
            "{HEAD}types:\n  A: {{type: object, additionalProperties: false, properties: {{{properties}}}}}\n\
             toolsets:\n  t:\n    tools:\n      f: {{description: D., args: A, hints: {{call: &h '{hint}'}}}}\n{}",
            tool_lines(1_500, "description: D., args: A, hints: {call: *h}")
        )
    }),
    refused("a hint through 30 choices that refer to each other", "template-field", || {
        let one = |name: &str| {
            format!(
                "  {name}: {{type: object, additionalProperties: false, required: [k], \
                 properties: {{k: {{const: {name}}}, a: {{$ref: U}}}}}}\n"
            )
        };
        format!(
            "toolwright: 1\nservice: s\ntypes:\n{}{}  U: {{oneOf: [{{$ref: A}}, {{$ref: B}}]}}\n\
             toolsets:\n  t:\n    description: x\n    tools:\n      f:\n        description: d\n        \
             args: {{type: object, properties: {{a: {{$ref: U}}}}}}\n        hints: {{call: '{{{{ args.{}zz }}}}'}}\n",
            one("A"),
            one("B"),
            "a.".repeat(30)
        )
    }),
    refused("2,000 choices between two types of 1,900 properties", "over-budget", || {
        let object = |kind: &str| {
            let property = |n| format!("p{n}: {{type: {kind}}}, ");
            let properties: String = (0..1900).map(property).collect();
            format!("{{type: object, properties: {{{properties}}}}}")
        };
        let choice = |n| format!("p{n}: {{anyOf: [{{$ref: A}}, {{$ref: B}}]}}, ");
        let choices: String = (0..2000).map(choice).collect();
        types(&format!(
            "  A: {}\n  B: {}\n  C: {{type: object, properties: {{{choices}}}}}\n",
            object("string"),
            object("integer")
        ))
    }),
    refused("10,000 types with an error each", "unknown-type", || {
        types(&lines(10_000, |n| format!("  Kind{n}: {{$ref: Kinds{n}}}")))
    }),
    refused("9,000 mistakes on one line", "yaml-tag", || {
        default_of(&list(9000, |_| "!a x".to_owned()))
    }),
    refused("10,000 tools, and agents that use 20,000 others", "unknown-toolset", unknown_uses),
    refused("patterns that take long to compile", "bad-pattern", || {
        types(&lines(10_000, |n| {
            format!("  K{n}: {{type: string, pattern: '(a{{1,100}}b){{1,90}}{n}'}}")
        }))
    }),
    refused("an example that is long to match", "over-budget", slow_match),
    accepted("10,000 defaults in an enum of 10,000", || {
        format!(
            "{}  A: {{type: array, items: {{$ref: E}}, default: {}}}\n",
            enum_type(),
            list(10_000, |n| format!("v{}", 9999 - n))
        )
    }),
    accepted("10,000 defaults that are not in an enum of 10,000", || {
        format!(
            "{}  A: {{type: array, items: {{$ref: E}}, default: {}}}\n",
            enum_type(),
            list(10_000, |n| format!("x{n}"))
        )
    }),
    refused("10,000 properties, all required, all given", "too-many-properties", required),
    accepted("40 unions of 2,000 types", unions),
    refused("a choice of 3,000 objects that nothing tells apart", "too-many-properties", no_union),
    refused("types that use each other twice, 99 deep", "too-many-levels", doubling),
    accepted("lists of at least 16 lists, 20 deep", || {
        types(&format!(
            "  A: {}\n",
            nested("{type: array, minItems: 16, items: ", "{type: string}", "}", 20)
        )) + "toolsets: {t: {tools: {x: {description: X., args: {type: object, required: [a], properties: {a: {$ref: A}}}}}}}\n"
    }),
    refused("long keys, one in the other", "over-budget", long_keys),
    refused("a key of 1 MB", "yaml-key", || {
        object(&format!("{}: {{type: string}}", "a".repeat(1_000_000)))
    }),
    refused("a name of 3 kB", "bad-name", || {
        format!("{HEAD}toolsets: {{{}: {{tools: {{x: {{description: X.}}}}}}}}\n", "a".repeat(3000))
    }),
    refused("a reference to a name of 1 MB", "unknown-type", || {
        types(&format!("  A: {{$ref: {}}}\n", "A".repeat(1_000_000)))
    }),
    accepted("a number of 1,000,000 digits", || {
        types(&format!("  A: {{type: integer, maximum: {}}}\n", "9".repeat(1_000_000)))
    }),
    refused("tags that 1,000 tools share", "over-budget", || {
        format!(
            "{HEAD}toolsets:\n  t:\n    tags: {}\n    tools:\n{}",
            list(10_000, |n| format!("t{n}")),
            tool_lines(1000, "description: D.")
        )
    }),
    refused("a payload of 5,000 properties for 9,000 tools", "over-budget", bound),
    refused("a description of 1 MB for 9,000 tools", "over-budget", || {
        types(&format!("  P: {{type: object, description: '{}'}}\n", "x".repeat(1_000_000)))
            + &tools_of(9000, "description: D., args: P")
    }),
    refused("2,000 types that 3,000 toolsets share", "over-budget", shared_types),
    refused("5,000 agents that use 5,000 tools", "over-budget", || {
        tools(5000, "description: D.")
            + "agents:\n"
            + &lines(5000, |n| format!("  a_{n}: {{toolsets: [t]}}"))
    }),
    refused("a template of 200,000 sums", "bad-template", || {
        template(&format!("{{{{ 1{} }}}}", "+1".repeat(200_000)))
    }),
    refused("a template of 200,000 fields", "bad-template", || {
        template(&format!("{{{{ args{} }}}}", ".a".repeat(200_000)))
    }),
    refused("a template of 5,000 conditions", "bad-template", || {
        template(&format!("{}{}", "{% if args.a %}".repeat(5000), "{% endif %}".repeat(5000)))
    }),
    refused("a template of 4 kB, all sums", "bad-template", || {
        template(&format!("{{{{ 1{} }}}}", "+1".repeat(2040)))
    }),
    refused("a template of 4 kB, all filters", "bad-template", || {
        template(&format!("{{{{ args{} }}}}", "|d".repeat(2030)))
    }),
    refused("a template of 4 kB, all fields", "bad-template", || {
        template(&format!("{{{{ args{} }}}}", ".a".repeat(2040)))
    }),
    accepted("a template of 4 kB, all tags", || template(&"{{ args.a }}".repeat(340))),
    // Text that is barely YAML.
    refused("1.3 million empty lists", "yaml-budget", || format!("[{}]", "[],".repeat(1_300_000))),
    refused("4 MB of commas", "yaml-budget", || format!("[{}]", ",".repeat(3_900_000))),
    refused("4 MB of colons", "yaml-syntax", || ":".repeat(4_000_000)),
    refused("4 MB of colons and spaces", "yaml-budget", || ": ".repeat(2_000_000)),
    refused("4 MB of question marks", "yaml-key", || "? ".repeat(2_000_000)),
    refused("4 MB of quotes", "wrong-kind", || "''".repeat(2_000_000)),
    refused("4 MB of escapes in a string", "wrong-kind", || {
        format!("\"{}\"", "\\x41".repeat(1_000_000))
    }),
    refused("4 MB of anchors", "yaml-syntax", || "&a ".repeat(1_300_000)),
    refused("4 MB of directives", "yaml-syntax", || "%a\n".repeat(1_300_000)),
    refused("4 MB of NUL", "yaml-syntax", || "\0".repeat(4_000_000)),
    refused("4 MB of byte order marks", "empty-file", || "\u{feff}".repeat(1_390_000)),
    refused("1,000,000 documents", "yaml-documents", || "---\n".repeat(1_000_000)),
    accepted("4 MB of line breaks", || format!("{HEAD}{}", "\n".repeat(4_000_000))),
];

const HEAD: &str = "toolwright: 1\nservice: a\n";

fn types(text: &str) -> String {
    format!("{HEAD}types:\n{text}")
}

fn described(text: &str) -> String {
    types(&format!("  A: {{type: string, description: '{text}'}}\n"))
}

fn default_of(value: &str) -> String {
    types(&format!("  A: {{default: {value}}}\n"))
}

fn object(properties: &str) -> String {
    types(&format!("  A: {{type: object, properties: {{{properties}}}}}\n"))
}

fn pattern(text: &str) -> String {
    let default = "a".repeat(40) + "!";
    object(&format!("p: {{type: string, pattern: \"{text}\", default: \"{default}\"}}"))
}

fn enumeration(kind: &str, count: usize, value: fn(usize) -> String) -> String {
    types(&format!("  A: {{type: {kind}, enum: {}}}\n", list(count, value)))
        + "toolsets: {t: {tools: {x: {description: X., result: A}}}}\n"
}

fn enum_type() -> String {
    types(&format!("  E: {{type: string, enum: {}}}\n", list(10_000, |n| format!("v{n}"))))
}

fn tools(count: usize, details: &str) -> String {
    HEAD.to_owned() + &tools_of(count, details)
}

fn tools_of(count: usize, details: &str) -> String {
    format!("toolsets:\n  t:\n    tools:\n{}", tool_lines(count, details))
}

fn tool_lines(count: usize, details: &str) -> String {
    lines(count, |n| format!("      tool_{n}: {{{details}}}"))
}

fn template(text: &str) -> String {
    format!(
        "{HEAD}toolsets:\n  t:\n    tools:\n      x: {{description: X., args: {{type: object, properties: {{a: {{}}}}}}, \
         approval: {{prompt: '{text}'}}}}\n"
    )
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|n| line(n) + "\n").collect()
}

pub(crate) fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(", "))
}

fn keys(count: usize, value: &str) -> String {
    let entries: Vec<String> = (0..count).map(|n| format!("k{n}: {value}")).collect();
    entries.join(", ")
}

pub(crate) fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + inner + &close.repeat(depth)
}

/// A chain of types, each of which refers to the next, and the last one to `end`.
fn chain(count: usize, end: &str, shape: fn(&str) -> String) -> String {
    let link = |n: usize| {
        let to = if n + 1 == count { end.to_owned() } else { format!("T{}", n + 1) };
        format!("  T{n}: {}", shape(&to))
    };
    types(&lines(count, link))
        + "  End: {type: string}\ntoolsets: {t: {tools: {x: {description: X., result: T0}}}}\n"
}

fn local_chain() -> String {
    let link = |n: usize| {
        format!("      D{n}: {{type: object, properties: {{a: {{$ref: '#/$defs/D{}'}}}}}}", n + 1)
    };
    types(&format!(
        "  A:\n    $ref: '#/$defs/D0'\n    $defs:\n{}      D5000: {{type: string}}\n",
        lines(5000, link)
    )) + "toolsets: {t: {tools: {x: {description: X., result: A}}}}\n"
}

fn alias_bomb() -> String {
    let level = |n: usize| {
        let inner = list(9, |_| format!("*a{n}"));
        format!("  B{n}: &a{} {{type: array, items: {inner}}}", n + 1)
    };
    format!("  A: &a0 {{type: string}}\n{}", lines(19, level))
}

fn example_bomb() -> String {
    let level = |n: usize| {
        if n == 0 {
            "&a0 [x, x]".to_owned()
        } else {
            format!("&a{n} {}", list(9, |_| format!("*a{}", n - 1)))
        }
    };
    types(&format!("  A: {{type: string, examples: {}}}\n", list(20, level)))
}

fn nested_anchors() -> String {
    let open = list(100, |n| format!("&a{n}")).replace(['[', ']'], "").replace(',', " [") + " [";
    default_of(&format!("{open}{}{}", "x,".repeat(9000), "]".repeat(100)))
}

fn indents() -> String {
    lines(1500, |n| format!("{}a:", " ".repeat(n)))
}

fn block_scalar(count: usize) -> String {
    types(&format!("  A:\n    type: string\n    description: |\n{}", "      x\n".repeat(count)))
}

fn same_keys(count: usize) -> String {
    types(&format!("  A:\n    default:\n{}", "      k: 1\n".repeat(count)))
}

fn unknown_uses() -> String {
    let used = |stem: &'static str| list(10_000, move |n| format!("{stem}{n}"));
    tools(10_000, "description: D.")
        + &format!("agents:\n  a: {{toolsets: {}, tools: {}}}\n", used("tool"), used("tol_"))
}

fn slow_match() -> String {
    let long = "a".repeat(300);
    types("  P: {type: string, pattern: '^(a|aa|[ab]{1,30}){1,90}$'}\n")
        + &format!(
            "  A: {{type: array, items: {{$ref: P}}, default: {}}}\n",
            list(9000, |_| long.clone())
        )
}

fn required() -> String {
    let names = list(10_000, |n| format!("k{n}"));
    let (schemas, values) = (keys(10_000, "{type: string}"), keys(10_000, "x"));
    types(&format!(
        "  A: {{type: object, required: {names}, properties: {{{schemas}}}, default: {{{values}}}}}\n"
    ))
}

fn unions() -> String {
    let variant = |n: usize| {
        format!(
            "  V{n}: {{type: object, required: [k], properties: {{k: {{const: v{n}}}, x: {{type: string}}}}}}"
        )
    };
    let union =
        |n: usize| format!("  U{n}: {{oneOf: {}}}", list(2000, |n| format!("{{$ref: V{n}}}")));
    types(&(lines(2000, variant) + &lines(40, union)))
}

fn no_union() -> String {
    let (names, constants) = (list(3000, |n| format!("k{n}")), keys(3000, "{const: v}"));
    types(&format!("  V: {{type: object, required: {names}, properties: {{{constants}}}}}\n"))
        + &format!("  U: {{oneOf: {}}}\n", list(3000, |_| "{$ref: V}".to_owned()))
}

fn doubling() -> String {
    let link = |to: &str| {
        format!(
            "{{type: object, required: [a, b], properties: {{a: {{$ref: {to}}}, b: {{$ref: {to}}}}}}}"
        )
    };
    let types_of = lines(99, |n| {
        format!("  T{n}: {}", link(&if n == 98 { "End".to_owned() } else { format!("T{}", n + 1) }))
    });
    types(&types_of)
        + "  End: {type: string}\ntoolsets: {t: {tools: {x: {description: X., args: T0, result: T0}}}}\n"
}

fn long_keys() -> String {
    let key = "k".repeat(1000);
    let inner = format!("{{type: object, properties: {{{}}}}}", keys(9000, "{type: string}"));
    let open = format!("{{type: object, properties: {{{key}: ");
    types(&format!("  A: {}\n", nested(&open, &inner, "}}", 50)))
}

fn bound() -> String {
    types(&format!(
        "  P: {{type: object, required: [run_id], properties: {{run_id: {{type: string}}, {}}}}}\n",
        keys(5000, "{type: string}")
    )) + "methods: {m: {payload: P}}\n"
        + &tools_of(9000, "description: D., bind: m, inject: {run_id: run_id}")
}

fn shared_types() -> String {
    types(&lines(2000, |n| {
        format!("  T{n}: {{type: object, properties: {{a: {{type: string}}}}}}")
    })) + &format!(
        "  All: {{type: object, properties: {{{}}}}}\n",
        list(2000, |n| format!("k{n}: {{$ref: T{n}}}")).trim_matches(['[', ']'])
    ) + "toolsets:\n"
        + &lines(3000, |n| format!("  t_{n}: {{tools: {{x_{n}: {{description: X., args: All}}}}}}"))
}
