//! Property tests with generated input, compared with serde_json.

use proptest::prelude::*;
use toolwright::Value;
use toolwright::codec::{check, from_json, to_json};

use super::model::{Item, Node, Shape};

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..8)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Text that is similar to JSON: pieces of JSON in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"kind\"",
        "\"next\"",
        "\"id\"",
        "\"circle\"",
        "null",
        "true",
        "false",
        "1",
        "-",
        "0",
        ".5",
        "e3",
        "E-2",
        " ",
        "\n",
        "\\",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\n",
        "\u{1}",
        "é",
        "\u{feff}",
        "{\"a\":1}",
        "[1,2]",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

/// A valid text with one byte changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    (any_json(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(json, place, byte)| {
        let mut bytes = json.to_string().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        bytes
    })
}

/// Returns an error if the results differ, except for intended differences: repeated keys are refused here, and numbers
/// beyond `f64` are refused by serde_json.
fn same_result(bytes: &[u8]) -> Result<(), String> {
    let ours = from_json::<Value>(bytes);
    let theirs = serde_json::from_slice::<serde_json::Value>(bytes);
    let is_intended = match (&ours, &theirs) {
        (Ok(_), Err(error)) => error.to_string().contains("out of range"),
        (Err(invalid), Ok(_)) => {
            invalid.issues().iter().all(|issue| issue.code() == "duplicate_key")
        }
        _ => true,
    };
    if is_intended { Ok(()) } else { Err(format!("{ours:?} but {theirs:?}")) }
}

proptest! {
    #[test]
    fn texts_of_serde_json_survive_a_round_trip(json in any_json()) {
        for text in [json.to_string(), serde_json::to_string_pretty(&json).unwrap()] {
            let value: Value = text.parse().unwrap();
            prop_assert_eq!(&to_json(&value).unwrap(), &json.to_string());
            prop_assert_eq!(serde_json::to_value(&value).unwrap(), json.clone());
            // An `f64` can have two shortest texts, so the values are compared and not the texts.
            let converted: Value = serde_json::from_value(json.clone()).unwrap();
            prop_assert_eq!(serde_json::to_value(&converted).unwrap(), json.clone());
        }
    }

    #[test]
    fn arbitrary_bytes_have_the_same_result_as_in_serde_json(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(same_result(&bytes), Ok(()));
    }

    #[test]
    fn similar_text_has_the_same_result_as_in_serde_json(bytes in pieces()) {
        prop_assert_eq!(same_result(&bytes), Ok(()));
    }

    #[test]
    fn damaged_json_has_the_same_result_as_in_serde_json(bytes in damaged()) {
        prop_assert_eq!(same_result(&bytes), Ok(()));
    }

    #[test]
    fn typed_decoders_report_malformed_text(bytes in pieces()) {
        let malformed = |issues: &[toolwright::Issue]| issues.iter().any(|issue| issue.code() == "malformed");
        let any = check::<Value>(&bytes).is_err_and(|invalid| malformed(invalid.issues()));
        for typed in [check::<Item>(&bytes), check::<Node>(&bytes), check::<Shape>(&bytes)] {
            let issues = typed.err().map(|invalid| invalid.issues().to_vec()).unwrap_or_default();
            prop_assert_eq!(malformed(&issues), any);
            prop_assert!(!any || issues.len() == 1);
        }
    }

    #[test]
    fn doubles_survive_a_round_trip(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let read: f64 = from_json(to_json(&value).unwrap().as_bytes()).unwrap();
        prop_assert_eq!(read.to_bits(), value.to_bits());
    }

    #[test]
    fn strings_survive_a_round_trip(text in any::<String>()) {
        let json = to_json(&text).unwrap();
        prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &text);
        prop_assert_eq!(from_json::<String>(json.as_bytes()).unwrap(), text);
    }
}
