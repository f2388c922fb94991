//! Tests of decoding: accepted payloads, and the issues of refused ones.

use toolwright::codec::{check, from_json};
use toolwright::value::Number;
use toolwright::{Integer, Map, Nullable, Value};

use super::model::{Group, Item, Node, Scores, Shape, Status, issues, round_trip};

const MINIMAL: &str = r#"{"id":"a","status":"done","tags":["x"]}"#;

fn item(entry: &str) -> String {
    MINIMAL.replace('}', &format!(",{entry}}}"))
}

#[test]
fn every_field_is_decoded() {
    let json = r#" {"tags" : ["é","\u00e9\ud83d\ude00"], "status":"in_progress","id":"abcdefgh",
        "count":1e2, "size":18446744073709551616, "ratio":1, "done":true, "note":null, "sha":"00ff", "version":1.0} "#;
    let item: Item = from_json(json.as_bytes()).unwrap();
    let expected = Item {
        id: "abcdefgh".into(),
        status: Status::InProgress,
        count: Some(100),
        size: Some(Integer::from(u128::from(u64::MAX) + 1)),
        ratio: Some(1.0),
        done: Some(true),
        note: Some(Nullable::Null),
        sha: Some("00ff".into()),
        version: Some(super::model::One),
        tags: vec!["é".into(), "é😀".into()],
    };
    assert_eq!(item, expected);
}

#[test]
fn absent_and_null_are_distinguished() {
    let note = |json: &str| from_json::<Item>(json.as_bytes()).unwrap().note;
    assert_eq!(note(MINIMAL), None);
    assert_eq!(note(&item(r#""note":null"#)), Some(Nullable::Null));
    assert_eq!(note(&item(r#""note":"n""#)), Some(Nullable::Value("n".into())));
}

#[test]
fn an_issue_names_the_place_the_limit_and_the_value_found() {
    let cases = [
        (r#""count":-1"#, "`/count`: found -1, expected at least 0"),
        (r#""count":101"#, "`/count`: found 101, expected at most 100"),
        (r#""count":1e999999999"#, "`/count`: found 1e999999999, expected at most 100"),
        (
            r#""count":-9223372036854775809"#,
            "`/count`: found -9223372036854775809, expected at least 0",
        ),
        (r#""count":1.5"#, "`/count`: found the number 1.5, expected an integer"),
        (r#""count":"1""#, "`/count`: found the string \"1\", expected an integer"),
        (r#""count":null"#, "`/count`: found null, expected an integer"),
        (r#""size":9"#, "`/size`: found 9, expected at least 10"),
        (r#""size":-1e400"#, "`/size`: found -1e400, expected at least 10"),
        (r#""ratio":0"#, "`/ratio`: found 0, expected more than 0"),
        (r#""ratio":1.50"#, "`/ratio`: found 1.50, expected less than 1.5"),
        (r#""ratio":[1]"#, "`/ratio`: found the array [1], expected a number"),
        (r#""done":0"#, "`/done`: found the number 0, expected a boolean"),
        (r#""note":5"#, "`/note`: found the number 5, expected a string or null"),
        (r#""sha":"00f""#, "`/sha`: found \"00f\", expected a match of `^[a-f0-9]{4}$`"),
        (r#""version":2"#, "`/version`: found 2, expected 1"),
        (r#""version":"1""#, "`/version`: found \"1\", expected 1"),
    ];
    for (entry, expected) in cases {
        assert_eq!(issues::<Item>(&item(entry)), [expected], "{entry}");
    }
}

#[test]
fn lengths_count_code_points_and_items() {
    let cases = [
        (
            r#"{"id":"","status":"done","tags":["x"]}"#,
            "`/id`: has 0 characters, at least 1 required",
        ),
        (
            r#"{"id":"123456789","status":"done","tags":["x"]}"#,
            "`/id`: has 9 characters, at most 8 allowed",
        ),
        (r#"{"id":"a","status":"done","tags":[]}"#, "`/tags`: has 0 items, at least 1 required"),
        (
            r#"{"id":"a","status":"done","tags":["","","",""]}"#,
            "`/tags`: has 4 items, at most 3 allowed",
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(issues::<Item>(json), [expected], "{json}");
    }
    for id in ["😀😀😀😀😀😀😀😀", r"\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00"]
    {
        assert!(issues::<Item>(&MINIMAL.replace("\"a\"", &format!("\"{id}\""))).is_empty(), "{id}");
    }
}

#[test]
fn all_issues_of_a_payload_are_found_in_one_pass() {
    let json = r#"[{"id":7,"status":"doing","tags":["a",{},3],"colour":{"a":[1]},"conut":1},
        {"status":true,"id":"a","id":"b"}, 5]"#;
    let expected = [
        "`/0/id`: found the number 7, expected a string",
        "`/0/status`: found \"doing\", expected one of \"pending\", \"in_progress\", \"done\"",
        "`/0/tags/1`: found the object {}, expected a string",
        "`/0/tags/2`: found the number 3, expected a string",
        "`/0/colour`: unknown key `colour`, expected only `id`, `status`, `count`, `size`, `ratio`, `done`, `note`, `sha`, `version`, `tags`",
        "`/0/conut`: unknown key `conut`, did you mean `count`?",
        "`/1/status`: found the boolean true, expected one of \"pending\", \"in_progress\", \"done\"",
        "`/1/id`: duplicate key `id`, each key is allowed once",
        "`/1/tags`: is missing",
        "`/2`: found the number 5, expected an object",
    ];
    assert_eq!(issues::<Vec<Item>>(json), expected);
}

#[test]
fn pointers_are_escaped_and_keys_unescaped() {
    let json = r#"{"a/b~c":{"":"x","\u006e":[false]}}"#;
    let expected = [
        "`/a~1b~0c/`: found the string \"x\", expected an array",
        "`/a~1b~0c/n/0`: found the boolean false, expected an integer",
    ];
    assert_eq!(issues::<Map<Map<Vec<i64>>>>(json), expected);
}

#[test]
fn a_repeated_key_is_refused_in_every_spelling() {
    let duplicate = |pointer: &str, key: &str| {
        vec![format!("`{pointer}`: duplicate key `{key}`, each key is allowed once")]
    };
    assert_eq!(issues::<Value>(r#"{"a":1,"\u0061":[]}"#), duplicate("/a", "a"));
    assert_eq!(issues::<Map<i64>>(r#"{"é":1,"b":2,"\u00e9":3}"#), duplicate("/é", "é"));
    assert_eq!(
        issues::<Value>(r#"[{"x":{"a":{"a":1}}},{"a":{"b":1,"b":1},"b":2}]"#),
        duplicate("/1/a/b", "b")
    );
    assert_eq!(issues::<Scores>(r#"{"x":1,"name":"n","x":2}"#), duplicate("/x", "x"));
}

#[test]
fn repeated_keys_are_found_in_a_huge_object_without_quadratic_time() {
    let mut entries: Vec<String> =
        (0..200_000).map(|index| format!("\"k{index}\":{index}")).collect();
    let object = |entries: &[String]| format!("{{{}}}", entries.join(","));
    assert_eq!(from_json::<Map<i64>>(object(&entries).as_bytes()).unwrap().len(), 200_000);
    entries.push("\"k31\":0,\"k32\":0,\"k199999\":0".into());
    let found = issues::<Value>(&object(&entries));
    let pointers: Vec<_> = found.iter().filter_map(|issue| issue.split(':').next()).collect();
    assert_eq!(pointers, ["`/k31`", "`/k32`", "`/k199999`"]);
}

#[test]
fn keys_of_earlier_values_do_not_count_as_seen() {
    let json =
        r#"{"children":[{"a":{"b":1}},{"a":{"b":1}}],"a":{"next":1},"next":{"children":[]},"b":1}"#;
    assert_eq!(
        round_trip::<Node>(json).unwrap().parse::<Value>().unwrap(),
        json.parse::<Value>().unwrap()
    );
    // A key whose value is of the wrong kind is not missing.
    assert_eq!(
        issues::<Scores>(r#"{"name":1}"#),
        ["`/name`: found the number 1, expected a string"]
    );
    assert_eq!(issues::<Scores>(r#"{"x":{"name":1}}"#).len(), 2);
}

#[test]
fn undeclared_keys_are_kept_in_order_where_the_schema_allows_them() {
    let scores: Scores = from_json(br#"{"z":1,"name":"n","a":2}"#).unwrap();
    assert_eq!(scores.additional.iter().collect::<Vec<_>>(), [("z", &1), ("a", &2)]);
    assert_eq!(
        issues::<Scores>(r#"{"name":"n","a":101}"#),
        ["`/a`: found 101, expected at most 100"]
    );
}

#[test]
fn the_tag_of_a_union_may_be_any_entry() {
    let accepted = [
        r#"{"kind":"circle","radius":1}"#,
        r#"{"radius":1,"kind":"circle"}"#,
        r#"{"radius":1,"\u006bind":"c\u0069rcle"}"#,
        r#"{"shapes":{"a":{"radius":1,"kind":"circle"},"b":{"shapes":{},"kind":"group"}},"kind":"group"}"#,
    ];
    for json in accepted {
        assert!(check::<Shape>(json.as_bytes()).is_ok(), "{json}");
    }
    let tags = "expected one of \"circle\", \"group\"";
    let refused = [
        (r#"{"kind":"square","radius":"x"}"#, format!("`/kind`: found \"square\", {tags}")),
        (
            r#"{"kind":"circel"}"#,
            format!("`/kind`: found \"circel\", {tags}, did you mean \"circle\"?"),
        ),
        (r#"{"radius":1}"#, format!("`/kind`: is missing, {tags}")),
        (
            r#"{"kind":{"kind":"circle"}}"#,
            format!("`/kind`: found the object {{\"kind\":\"circle\"}}, {tags}"),
        ),
        ("[1]", "the payload: found the array [1], expected an object".into()),
        (r#"{"kind":"circle"}"#, "`/radius`: is missing".into()),
        (
            r#"{"kind":"circle","radius":1,"kind":"group"}"#,
            "`/kind`: duplicate key `kind`, each key is allowed once".into(),
        ),
        (
            r#"{"kind":"group","shapes":{"x":{"kind":1}}}"#,
            format!("`/shapes/x/kind`: found the number 1, {tags}"),
        ),
    ];
    for (json, expected) in refused {
        assert_eq!(issues::<Shape>(json), [expected], "{json}");
    }
}

#[test]
fn malformed_text_inside_a_union_is_one_issue() {
    for json in
        [r#"{"kind":"circle","radius":1"#, r#"{"x":[1,],"kind":"circle"}"#, r#"{"kind":circle}"#]
    {
        let invalid = from_json::<Shape>(json.as_bytes()).unwrap_err();
        assert_eq!(invalid.issues().len(), 1, "{json}");
        assert_eq!(invalid.issues()[0].code(), "malformed", "{json}");
    }
}

#[test]
fn nested_unions_with_their_tags_last_are_read_in_reasonable_time() {
    let deep = (0..60).fold(r#"{"radius":1,"kind":"circle"}"#.to_owned(), |inner, _| {
        format!(r#"{{"shapes":{{"x":{inner}}},"kind":"group"}}"#)
    });
    let shape: Group = match from_json(deep.as_bytes()) {
        Ok(Shape::Group(group)) => group,
        other => panic!("expected a group, found {other:?}"),
    };
    assert_eq!(shape.shapes.len(), 1);
}

#[test]
fn values_are_read_up_to_the_depth_limit() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(check::<Value>(nested(128).as_bytes()).is_ok());
    let expected = ["the payload: nested too deep, at most 128 levels allowed"];
    assert_eq!(issues::<Value>(&nested(129)), expected);
    assert_eq!(issues::<Item>(&format!(r#"{{"colour":{}}}"#, nested(128))), expected);
    assert_eq!(issues::<Value>(&"[".repeat(1_000_000)), expected);
    assert_eq!(issues::<Value>(&"{\"a\":".repeat(1_000_000)), expected);
    let node = |levels: usize| format!("{}{{}}{}", "{\"next\":".repeat(levels), "}".repeat(levels));
    assert!(check::<Node>(node(127).as_bytes()).is_ok());
    assert_eq!(issues::<Node>(&node(128)), expected);
}

#[test]
fn a_number_beyond_f64_is_refused_if_it_is_read_as_an_f64() {
    assert_eq!(
        issues::<f64>("1e999"),
        ["the payload: found 1e999, expected at most 1.7976931348623157e308"]
    );
    assert_eq!(
        issues::<f64>("-1e400"),
        ["the payload: found -1e400, expected at least -1.7976931348623157e308"]
    );
    for (json, expected) in [
        ("1.7976931348623157e308", Some(f64::MAX)),
        ("17976931348623157e292", Some(f64::MAX)),
        ("1.79769313486231570001e308", None),
        ("1e-400", Some(0.0)),
    ] {
        assert_eq!(from_json::<f64>(json.as_bytes()).ok(), expected, "{json}");
    }
    let exact: Number = from_json(b"1e999").expect("a number of any size");
    assert_eq!(exact.as_str(), "1e999");
}

#[test]
fn exponents_are_compared_exactly_or_refused() {
    let largest = "9".repeat(38);
    let (one, other) = (format!("1e{largest}"), format!("10e{largest}"));
    let [one, other]: [Number; 2] = [one, other].map(|json| json.parse().expect("a number"));
    assert_ne!(one, other);
    assert!(one < other);
    assert!(from_json::<Number>(format!("1e-000{largest}").as_bytes()).is_ok());
    for sign in ["", "+", "-"] {
        let json = format!("[1e{sign}1{largest}]");
        let refused = from_json::<Vec<Number>>(json.as_bytes()).expect_err("39 digits");
        let expected = "found 39 digits, expected an exponent of at most 38 digits";
        assert!(refused.to_string().ends_with(expected), "{refused}");
        let unread = from_json::<Value>(json.as_bytes()).expect_err("39 digits");
        assert_eq!(unread.to_string(), refused.to_string());
    }
}

#[test]
fn integers_are_whole_numbers_in_every_notation() {
    let cases = [
        ("1.0", Some(1)),
        ("1e2", Some(100)),
        ("100e-2", Some(1)),
        ("-0", Some(0)),
        ("-0.0e5", Some(0)),
        ("0e-99999999999999999999999999999999999999", Some(0)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808.0", Some(i64::MIN)),
        ("9.223372036854775807e18", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("1e-1", None),
        ("1e99999999999999999999999999999999999999", None),
    ];
    for (json, expected) in cases {
        assert_eq!(from_json::<i64>(json.as_bytes()).ok(), expected, "{json}");
    }
}

#[test]
fn constants_compare_by_meaning() {
    use toolwright::codec::{Decode, Reader};
    struct Fixed;
    impl Decode for Fixed {
        fn decode(input: &mut Reader<'_>) -> Option<Self> {
            input.constant(r#"{"a":[1,"\u00e9"],"b":null}"#).map(|()| Self)
        }
    }
    for json in [r#"{"b":null,"a":[1.0,"é"]}"#, r#"{"a":[10e-1,"\u00E9"],"b":null}"#] {
        assert!(issues::<Fixed>(json).is_empty(), "{json}");
    }
    for json in [r#"{"a":[1,"é"]}"#, "[]", "{}", r#"{"a":["é",1],"b":null}"#] {
        assert_eq!(issues::<Fixed>(json).len(), 1, "{json}");
    }
}
