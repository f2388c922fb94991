//! Tests of the grammar of RFC 8259: text that is not JSON is a single issue with its offset.

use toolwright::Value;
use toolwright::codec::{check, from_json};

use super::model::{Item, Node, Shape, issues};

#[test]
fn malformed_text_is_one_issue_with_its_offset() {
    let cases = [
        ("", "0, found the end, expected a value"),
        ("  ", "2, found the end, expected a value"),
        ("\u{feff}{}", "0, found '\\u{feff}', expected a value"),
        ("{} x", "3, found 'x', expected the end"),
        ("[1,]", "3, found ']', expected a value"),
        ("[1 2]", "3, found '2', expected `,` or `]`"),
        ("[,1]", "1, found ',', expected a value"),
        ("[", "1, found the end, expected `,` or `]`"),
        ("{", "1, found the end, expected a key in double quotes or `}`"),
        ("{,}", "1, found ',', expected a key in double quotes or `}`"),
        (r#"{"a":1,}"#, "7, found '}', expected a key in double quotes"),
        (r#"{"a" 1}"#, "5, found '1', expected `:`"),
        ("{'a':1}", "1, found '\\'', expected a key in double quotes or `}`"),
        (r#"{"a":1 "b":2}"#, "7, found '\"', expected `,` or `}`"),
        ("01", "1, found '1', expected the end"),
        ("-", "1, found the end, expected a digit"),
        ("+1", "0, found '+', expected a value"),
        (".5", "0, found '.', expected a value"),
        ("1.", "2, found the end, expected a digit after the point"),
        ("1e", "2, found the end, expected a digit of the exponent"),
        ("1e+", "3, found the end, expected a digit of the exponent"),
        ("NaN", "0, found 'N', expected a value"),
        ("-Infinity", "1, found 'I', expected a digit"),
        ("nul", "0, found 'n', expected `null`"),
        ("True", "0, found 'T', expected a value"),
        ("\"a", "2, found the end, expected `\"` at the end of a string"),
        ("\"\t\"", "1, found '\\t', expected an escape, since control characters must be escaped"),
        ("\"\\x\"", "2, found 'x', expected an escape of JSON"),
        ("\"\\u12g4\"", "3, found '1', expected four hexadecimal digits"),
        ("\"\\u+123\"", "3, found '+', expected four hexadecimal digits"),
        (
            "\"\\ud800\"",
            "1, found '\\\\', expected a surrogate pair or a character that is not a surrogate",
        ),
        (
            "\"\\ud800\\n\"",
            "1, found '\\\\', expected a surrogate pair or a character that is not a surrogate",
        ),
        (
            "\"\\ud800\\ud800\"",
            "1, found '\\\\', expected a surrogate pair or a character that is not a surrogate",
        ),
        (
            "\"x\\udc00\"",
            "2, found '\\\\', expected a surrogate pair or a character that is not a surrogate",
        ),
        ("// c\n1", "0, found '/', expected a value"),
        ("[1]]", "3, found ']', expected the end"),
        ("\u{a0}1", "0, found '\\u{a0}', expected a value"),
    ];
    for (json, expected) in cases {
        let expected = format!("the payload: malformed JSON at byte {expected}");
        assert_eq!(issues::<Value>(json), [expected], "{json}");
    }
}

#[test]
fn malformed_text_is_found_by_every_decoder_and_in_skipped_values() {
    let texts = [
        r#"{"id":1,"colour":[tru],"#,
        r#"{"colour":"\ud800"}"#,
        r#"{"colour":{"a":01}}"#,
        r#"{"kind":"circle","x":"\u00"}"#,
        r#"{"id":[}"#,
        r#"{"next":{"next":{"next":{]"#,
        r#"{"status":1"#,
        "{} {}",
    ];
    for json in texts {
        for found in [issues::<Item>(json), issues::<Node>(json), issues::<Shape>(json)] {
            assert_eq!(found.len(), 1, "{json} {found:?}");
            assert!(found[0].starts_with("the payload: malformed JSON"), "{json} {found:?}");
        }
    }
}

#[test]
fn invalid_utf8_is_refused_anywhere() {
    for bytes in
        [&b"\"\xff\""[..], b"{\"colour\":\"\xc3\"}", b"{\"\xed\xa0\x80\":1}", b"\xff", b"1\xc0\x80"]
    {
        let invalid = from_json::<Item>(bytes).unwrap_err();
        let offset = bytes.iter().position(|byte| *byte > 0x7f).unwrap();
        let byte = bytes[offset];
        let expected = format!(
            "the payload: malformed JSON at byte {offset}, found the byte 0x{byte:02x}, expected UTF-8"
        );
        assert_eq!(invalid.to_string(), expected);
    }
}

#[test]
fn unusual_but_valid_texts_are_accepted() {
    let texts = [
        "\t\r\n 1 \n",
        "-0",
        "-0.0E-0",
        "1E+2",
        r#""\u0000\/\b\f\n\r\t\"\\""#,
        "\"\u{7f}\u{2028}\u{ffff}\u{10ffff}\"",
        r#"{"":{}}"#,
        "[[],{},\"\"]",
    ];
    for json in texts {
        assert!(check::<Value>(json.as_bytes()).is_ok(), "{json:?}");
        assert!(serde_json::from_str::<serde_json::Value>(json).is_ok(), "{json:?}");
    }
}
