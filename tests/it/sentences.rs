//! Tests the texts of a validator's issues: short sentences with the place, what was found and what was expected. The
//! contract's own tests do the same for the issues of codecs.

use crate::codecs;
use crate::judge::Side;

/// A tool, its arguments, and the sentences of their issues.
const TABLE: &[(&str, &str, &[&str])] = &[
    (
        "collect",
        r#"{"tags":["a","b","a"]}"#,
        &["`/tags`: the items 0 and 2 are equal, expected unique items"],
    ),
    ("collect", r#"{"points":[[1,2,3]]}"#, &["`/points/0`: has 3 items, at most 2 allowed"]),
    (
        "collect",
        r#"{"pair":["a","b"]}"#,
        &["`/pair/1`: found the string \"b\", expected an integer"],
    ),
    (
        "collect",
        r#"{"two_integers":[1,2,3]}"#,
        &[
            "`/two_integers`: at least 2 and at most 2 items have to fit {\"type\":\"integer\",\"format\":\"int64\"}",
        ],
    ),
    (
        "unlock",
        r#"{"card":{"number":"1"}}"#,
        &["`/card/holder`: is missing", "`/card/address`: is missing"],
    ),
    ("unlock", r#"{"some":{}}"#, &["`/some`: has 0 keys, at least 1 required"]),
    ("unlock", r#"{"some":{"a":1,"b":2,"c":3}}"#, &["`/some`: has 3 keys, at most 2 allowed"]),
    (
        "unlock",
        r#"{"snake":{"A":1}}"#,
        &["`/snake/A`: the key is not allowed: found \"A\", expected a match of `^[a-z_]+$`"],
    ),
    (
        "unlock",
        r#"{"headers":{"name":"a","x-a":"1","made_at":"2023-02-29"}}"#,
        &[
            "`/headers/x-a`: found the string \"1\", expected an integer",
            "`/headers/made_at`: found \"2023-02-29\", expected a date such as 2026-11-21",
        ],
    ),
    (
        "unlock",
        r#"{"only_headers":{"y-a":1}}"#,
        &["`/only_headers/y-a`: the key is not allowed: found \"y-a\", expected a match of `^x-`"],
    ),
    ("look", r#"{"own":{"a":1,"aa":1}}"#, &["`/own/aa`: unknown key `aa`, did you mean `a`?"]),
    (
        "look",
        r#"{"items":["a","b"]}"#,
        &["`/items/1`: found the string \"b\", expected an integer"],
    ),
    ("pass", r#"{"cents":1.005}"#, &["`/cents`: found 1.005, expected a multiple of 0.01"]),
    ("pass", r#"{"several":1}"#, &["`/several`: found 1, expected at least 2"]),
    ("pass", r#"{"short":"abc"}"#, &["`/short`: has 3 characters, at most 2 allowed"]),
    (
        "combine",
        r#"{"never_empty":""}"#,
        &[
            "`/never_empty`: found the string \"\", expected nothing that fits {\"enum\":[\"\",[],{}]}",
        ],
    ),
    ("combine", r#"{"delivery":{"method":"post"}}"#, &["`/delivery/street`: is missing"]),
    (
        "react",
        r#"{"any_values":"two"}"#,
        &[
            "`/any_values`: found \"two\", expected one of 1, \"one\", true, null, [1], {\"a\":1.0}, 1.5",
        ],
    ),
    (
        "meet",
        r#"{"party":{"age":1}}"#,
        &[
            "`/party`: fits none of the 2 schemas of `anyOf`, number 1 is nearest: `/name`: is missing",
        ],
    ),
    (
        "meet",
        r#"{"party":{"name":"a"},"exactly":{"name":"a","seat":"b"}}"#,
        &["`/exactly`: fits the schemas 1 and 2 of `oneOf`, expected exactly one"],
    ),
    (
        "meet",
        r#"{"party":{"name":"a"},"by_role":{"x/y":{"nam":"a"}}}"#,
        &[
            "`/by_role/x~1y`: fits none of the 2 schemas of `oneOf`, number 1 is nearest: `/name`: is missing",
        ],
    ),
];

#[test]
fn issues_of_a_validator_are_short_and_exact() {
    for (tool, payload, sentences) in TABLE {
        let spec = codecs::tools().find(|pair| pair.spec.name() == *tool).expect("a tool").spec;
        let found = Side::Args.check(spec, payload).expect_err("a wrong payload").to_string();
        let found: Vec<&str> = found.lines().collect();
        assert_eq!(found, *sentences, "{tool}: {payload}");
    }
}

/// A mistake that the type's codec reports is not reported again by the validator.
#[test]
fn a_validator_adds_only_what_the_type_does_not_say() {
    let table: [(&str, &str, &[&str]); 4] = [
        ("meet", r#"{"party":{"name":1}}"#, &["/party schema"]),
        ("collect", r#"{"tags":["a",1,"a"]}"#, &["/tags/1 type", "/tags repeated_item"]),
        ("unlock", r#"{"some_fields":{"a":"x"}}"#, &["/some_fields/a type", "/some_fields schema"]),
        ("combine", r#"{"delivery":{"method":"fax"}}"#, &["/delivery/method variant"]),
    ];
    for (tool, payload, issues) in table {
        let spec = codecs::tools().find(|pair| pair.spec.name() == tool).expect("a tool").spec;
        let found = Side::Args.check(spec, payload).expect_err("a wrong payload");
        let line = |issue: &toolwright::Issue| format!("{} {}", issue.pointer(), issue.code());
        assert_eq!(found.issues().iter().map(line).collect::<Vec<_>>(), issues, "{payload}");
    }
}

/// Long values are only quoted in part.
#[test]
fn a_sentence_of_a_validator_stays_short() {
    let long = "x".repeat(100_000);
    let keys: Vec<String> = (0..1_000).map(|number| format!("\"{long:.9}{number}\":1")).collect();
    let table = [
        ("pass", format!(r#"{{"nothing":"{long}"}}"#)),
        ("pass", format!(r#"{{"matching":"{long}"}}"#)),
        ("collect", format!(r#"{{"tags":["{long}","{long}"]}}"#)),
        ("meet", format!(r#"{{"party":{{{}}}}}"#, keys.join(","))),
    ];
    for (tool, payload) in table {
        let spec = codecs::tools().find(|pair| pair.spec.name() == tool).expect("a tool").spec;
        let found = Side::Args.check(spec, &payload).expect_err("a wrong payload").to_string();
        assert!(found.len() < 250, "{found}");
    }
}
