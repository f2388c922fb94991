//! Lists of tools and OpenAPI documents that are short to describe and expensive to import, with the expected results.

use crate::inputs::{Case, accepted, list, nested, refused};

/// Tool lists of servers, with a part of the expected error or summary.
pub(crate) const LISTS: &[Case] = &[
    refused("100,000 brackets", "256 deep", || "[".repeat(100_000)),
    refused("100,000 objects", "256 deep", || "{\"a\":".repeat(100_000)),
    refused("a description of 50 MB", "16 MiB", || listed(1, |_| "x".repeat(50_000_000), "{}")),
    refused("200,000 properties", "10000 entries", || {
        listed(
            1,
            |_| "D".to_owned(),
            &format!("{{\"properties\":{{{}}}}}", json_keys(200_000, "{}")),
        )
    }),
    refused("an enum of 100,000 values", "10000 entries", || {
        listed(
            1,
            |_| "D".to_owned(),
            &format!(
                "{{\"properties\":{{\"a\":{{\"enum\":{}}}}}}}",
                list(100_000, |n| n.to_string())
            ),
        )
    }),
    accepted("an enum of 10,000 values", || {
        listed(
            1,
            |_| "D".to_owned(),
            &format!(
                "{{\"properties\":{{\"a\":{{\"enum\":{}}}}}}}",
                list(10_000, |n| n.to_string())
            ),
        )
    }),
    accepted("10,000 tools", || listed(10_000, |n| format!("D{n}"), "{\"properties\":{\"a\":{}}}")),
    accepted("10,000 tools of one name", || {
        listed(10_000, |_| "D".to_owned(), "{}").replace("tool_", "tool\",\"x\":\"")
    }),
    accepted("a chain of 5,000 definitions", || {
        listed(1, |_| "D".to_owned(), &definitions(5000, 5001))
    }),
    accepted("a circle of 1,000 definitions", || {
        listed(1, |_| "D".to_owned(), &definitions(1000, 1000))
    }),
    refused("100 definitions that refer to each other", "more than 16 MiB in total", dense),
    accepted("a definition that is merged into its own property", || {
        listed(1, |_| "D".to_owned(), &merged(1, 0))
    }),
    accepted("60 definitions, each of which has the properties of the next one twice", || {
        listed(1, |_| "D".to_owned(), &merged(60, 1))
    }),
    accepted("25,500 references, 85 deep, and references to each level", deep_references),
];

fn listed(count: usize, description: impl Fn(usize) -> String, schema: &str) -> String {
    let tool = |n: usize| {
        format!(
            "{{\"name\":\"tool_{n}\",\"description\":\"{}\",\"inputSchema\":{schema}}}",
            description(n)
        )
    };
    format!("{{\"tools\":{}}}", list(count, tool))
}

fn json_keys(count: usize, value: &str) -> String {
    let entries: Vec<String> = (0..count).map(|n| format!("\"k{n}\":{value}")).collect();
    entries.join(",")
}

/// Definitions, each of which refers to all of them.
fn dense() -> String {
    let all = |_| {
        let one = |n: usize| format!("\"p{n}\":{{\"$ref\":\"#/$defs/d{n}\"}}");
        let properties: Vec<String> = (0..100).map(one).collect();
        format!("{{\"properties\":{{{}}}}}", properties.join(","))
    };
    let one = |n: usize| format!("\"d{n}\":{}", all(n));
    let definitions: Vec<String> = (0..100).map(one).collect();
    let schema = format!(
        "{{\"$defs\":{{{}}},\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/d0\"}}}}}}",
        definitions.join(",")
    );
    listed(1, |_| "D".to_owned(), &schema)
}

/// Schemas inside schemas, each of which is a target, around references to the last of many definitions.
fn deep_references() -> String {
    let last = list(8500, |_| "{\"$ref\":\"#/$defs/k9999\"}".to_owned());
    let inside = format!("{{\"anyOf\":{last},\"allOf\":{last},\"oneOf\":{last}}}");
    let level = |n: usize| format!("\"p{n}\":{{\"$ref\":\"#{}\"}}", "/not".repeat(n + 1));
    let levels: Vec<String> = (0..85).map(level).collect();
    let definitions: Vec<String> = (0..10_000).map(|n| format!("\"k{n:04}\":1")).collect();
    let schema = format!(
        "{{\"properties\":{{{}}},\"$defs\":{{{}}},\"not\":{}}}",
        levels.join(","),
        definitions.join(","),
        nested("{\"not\":", &inside, "}", 84)
    );
    listed(1, |_| "D".to_owned(), &schema)
}

/// A chain of definitions, each of which refers to the next one modulo `around`.
fn definitions(count: usize, around: usize) -> String {
    let one = |n: usize| format!("\"d{n}\":{{\"$ref\":\"#/$defs/d{}\"}}", (n + 1) % around);
    let all: Vec<String> = (0..count).map(one).collect();
    format!(
        "{{\"$defs\":{{{}}},\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/d0\"}}}}}}",
        all.join(",")
    )
}

/// Definitions with two properties, each of which has the properties of the definition `step` places further, modulo `count`.
fn merged(count: usize, step: usize) -> String {
    let property = |n: usize| {
        format!(
            "{{\"type\":\"object\",\"allOf\":[{{\"$ref\":\"#/$defs/d{n}\"}}],\"properties\":{{\"note\":{{\"type\":\"string\"}}}}}}"
        )
    };
    let one = |n: usize| {
        let next = property((n + step) % count);
        format!("\"d{n}\":{{\"type\":\"object\",\"properties\":{{\"a\":{next},\"b\":{next}}}}}")
    };
    let all: Vec<String> = (0..count).map(one).collect();
    format!(
        "{{\"$defs\":{{{}}},\"properties\":{{\"a\":{{\"$ref\":\"#/$defs/d0\"}}}}}}",
        all.join(",")
    )
}

/// OpenAPI documents, with a part of the expected error or summary.
pub(crate) const APIS: &[Case] = &[
    accepted("5,000 times the same `allOf` of 5,000 references", || {
        let body = "{\"allOf\":[{\"$ref\":\"#/components/schemas/A\"}]}".to_owned();
        let body = format!("{{\"anyOf\":{}}}", list(5000, |_| body.clone()));
        let body = format!("{{\"application/json\":{{\"schema\":{body}}}}}");
        let post = format!("{{\"post\":{{\"requestBody\":{{\"content\":{body}}}}}}}");
        let properties = json_keys(5000, "{\"$ref\":\"#/x0\"}");
        let links: Vec<String> =
            (0..14).map(|n| format!("\"x{n}\":{{\"$ref\":\"#/x{}\"}}", n + 1)).collect();
        let schema = format!("\"A\":{{\"properties\":{{{properties}}}}}");
        api(&format!(
            "\"paths\":{{\"/a\":{post}}},\"components\":{{\"schemas\":{{{schema}}}}},{}",
            links.join(",")
        ))
    }),
    accepted("200 uses of 498 schemas that require and hide the same 20 names", || {
        let required = list(20, |n| format!("\"k{n}\""));
        let properties = json_keys(20, "{\"readOnly\":true}");
        let one = |n: usize| {
            format!("\"A{n}\":{{\"required\":{required},\"properties\":{{{properties}}}}}")
        };
        let members = list(498, |n| format!("{{\"$ref\":\"#/components/schemas/A{n}\"}}"));
        let schemas: Vec<String> = (0..498).map(one).collect();
        let uses = json_keys(200, "{\"allOf\":[{\"$ref\":\"#/components/schemas/A\"}]}");
        let body = format!("{{\"application/json\":{{\"schema\":{{\"properties\":{{{uses}}}}}}}}}");
        let post = format!("{{\"post\":{{\"requestBody\":{{\"content\":{body}}}}}}}");
        api(&format!(
            "\"paths\":{{\"/a\":{post}}},\"components\":{{\"schemas\":{{\"A\":{{\"allOf\":{members}}},{}}}}}",
            schemas.join(",")
        ))
    }),
    accepted("a choice of 490 schemas for 30 cookies of 800 operations that are left out", || {
        let parameter = |place: &str, n: usize| {
            let schema = "{\"$ref\":\"#/components/schemas/A\"}";
            format!("{{\"name\":\"x{n}\",\"in\":\"{place}\",\"explode\":true,\"schema\":{schema}}}")
        };
        let parameters = list(30, |n| parameter("cookie", n)).replace(']', ",");
        let parameters = format!("\"parameters\":{parameters}{}]", parameter("header", 30));
        let item = |n: usize| format!("\"/a{n}\":{{{parameters},{}}}", verbs("{}"));
        let paths: Vec<String> = (0..100).map(item).collect();
        let members = list(490, |n| format!("{{\"properties\":{{\"p{n}\":{{}}}}}}"));
        let choice = format!("\"components\":{{\"schemas\":{{\"A\":{{\"anyOf\":{members}}}}}}}");
        api(&format!("\"paths\":{{\"/b\":{{\"get\":{{}}}},{}}},{choice}", paths.join(",")))
    }),
    accepted("a title of 500,000 blanks for 8,000 operations", || {
        let blanks = " ".repeat(500_000);
        api(&format!("\"info\":{{\"title\":\"{blanks}x\"}},{}", operations("{}")))
    }),
    accepted("tags of 800,000 blanks for 8,000 operations", || {
        let tag = |n: usize| format!("{{\"name\":\"{}t{n}\"}}", " ".repeat(100_000));
        api(&format!("\"tags\":{},{}", list(8, tag), operations("{\"tags\":[\"t9\"]}")))
    }),
    accepted("a summary of 500,000 blanks for 2,000 references", || {
        let path = |n: usize| format!("\"/a{n}\":{{\"$ref\":\"#/paths/~1a\"}}");
        let paths: Vec<String> = (0..2000).map(path).collect();
        let blanks = " ".repeat(500_000);
        let item = format!("{{\"summary\":\"{blanks}x\",{}}}", verbs("{}"));
        api(&format!("\"paths\":{{\"/a\":{item},{}}}", paths.join(",")))
    }),
];

fn api(members: &str) -> String {
    format!("{{\"openapi\":\"3.1.0\",{members}}}")
}

/// 1,000 paths with an operation for each method.
fn operations(operation: &str) -> String {
    let item = |n: usize| format!("\"/a{n}\":{{{}}}", verbs(operation));
    let paths: Vec<String> = (0..1000).map(item).collect();
    format!("\"paths\":{{{}}}", paths.join(","))
}

fn verbs(operation: &str) -> String {
    let verbs = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];
    verbs.map(|verb| format!("\"{verb}\":{operation}")).join(",")
}
