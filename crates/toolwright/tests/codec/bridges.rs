//! Tests of the bridges to serde: they preserve values, and refuse the values that the codec refuses.

use std::collections::{BTreeMap, HashMap};

use serde::de::value::{Error as PlainError, MapDeserializer};
use serde::{Deserialize, Serialize};
use toolwright::{Map, Nullable, Value, bridge};

use super::model::{Item, Node, Scores, Shape, Status};

const ITEM: &str =
    r#"{"id":"a","status":"done","size":12345678901234567890,"note":null,"tags":["x"]}"#;

#[derive(Debug, Deserialize, Serialize, PartialEq)]
struct Outer {
    before: u8,
    #[serde(flatten)]
    item: Item,
}

#[derive(Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Shape(Shape),
    Scores(Scores),
}

#[derive(Debug, Deserialize, Serialize, PartialEq)]
#[serde(tag = "type")]
enum Tagged {
    Node(Node),
}

#[test]
fn a_type_is_converted_from_and_to_serde_json() {
    let item: Item = serde_json::from_str(ITEM).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(serde_json::to_string(&item).unwrap(), ITEM);
    let value = serde_json::to_value(Status::Done).unwrap();
    assert_eq!(serde_json::from_value::<Status>(value).unwrap(), Status::Done);
}

#[test]
fn bridges_work_inside_flatten_untagged_and_tagged_types() {
    let json = r#"{"before":1,"id":"a","status":"done","note":null,"tags":["x"]}"#;
    let outer: Outer = serde_json::from_str(json).unwrap();
    assert_eq!(outer.item.note, Some(Nullable::Null));
    assert_eq!(serde_json::to_string(&outer).unwrap(), json);
    let either: Either = serde_json::from_str(r#"{"name":"n","x":3}"#).unwrap();
    assert_eq!(serde_json::to_string(&either).unwrap(), r#"{"name":"n","x":3}"#);
    let tagged: Tagged = serde_json::from_str(r#"{"type":"Node","next":{},"x":[1]}"#).unwrap();
    assert_eq!(serde_json::to_string(&tagged).unwrap(), r#"{"type":"Node","next":{},"x":[1]}"#);
}

#[test]
fn the_error_carries_every_issue() {
    let error = serde_json::from_str::<Item>(r#"{"id":1,"status":"x","tags":["x"],"id":"a"}"#);
    let text = error.unwrap_err().to_string();
    for pointer in ["/id", "/status"] {
        assert!(text.contains(&format!("`{pointer}`: ")), "{text}");
    }
    assert!(text.contains("duplicate key `id`"), "{text}");
}

#[test]
fn an_invalid_value_is_not_serialized() {
    let broken = Scores { name: "n".into(), additional: [("name", 1)].into_iter().collect() };
    assert!(serde_json::to_string(&broken).unwrap_err().to_string().contains("duplicate key"));
}

#[test]
fn values_keep_keys_in_order_and_integers_exact() {
    let json = r#"{"z":-9223372036854775808,"a":18446744073709551615,"m":[null,true,0.1,"é"]}"#;
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!(value.to_string(), json);
    assert_eq!(serde_json::to_string(&value).unwrap(), json);
    let map: Map<Nullable<i64>> = serde_json::from_str(r#"{"b":null,"a":1}"#).unwrap();
    assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"b":null,"a":1}"#);
}

fn from_entry<'de, T>(value: T) -> Result<Value, PlainError>
where
    T: serde::de::IntoDeserializer<'de, PlainError>,
{
    bridge::deserialize(MapDeserializer::new([("key", value)].into_iter()))
}

#[test]
fn values_that_json_cannot_hold_are_errors_and_others_are_converted() {
    assert_eq!(from_entry('c').unwrap().to_string(), r#"{"key":"c"}"#);
    assert_eq!(from_entry(()).unwrap().to_string(), r#"{"key":null}"#);
    assert_eq!(from_entry(u128::MAX).unwrap().to_string(), format!("{{\"key\":{}}}", u128::MAX));
    assert_eq!(from_entry(i128::MIN).unwrap().to_string(), format!("{{\"key\":{}}}", i128::MIN));
    assert_eq!(from_entry(1.5).unwrap().to_string(), r#"{"key":1.5}"#);
    assert!(from_entry(f64::NAN).unwrap_err().to_string().contains("finite"));
    assert!(from_entry(&b"bytes"[..]).unwrap_err().to_string().contains("JSON"));
    let numbers = BTreeMap::from([(1_u8, 2_u8)]);
    let keys = MapDeserializer::<_, PlainError>::new(numbers.into_iter());
    assert!(
        bridge::deserialize::<Value, _>(keys).unwrap_err().to_string().contains("a string as key")
    );
}

#[test]
fn a_number_that_serde_json_passes_as_text_is_a_number() {
    let entry = |text| {
        let entries = [("$serde_json::private::Number", text)].into_iter();
        bridge::deserialize::<Value, _>(MapDeserializer::<_, PlainError>::new(entries))
    };
    assert_eq!(entry("1.50").unwrap().to_string(), "1.50");
    assert_eq!(entry("[1]").unwrap().to_string(), r#"{"$serde_json::private::Number":"[1]"}"#);
}

#[test]
fn other_objects_with_the_key_of_numbers_are_objects() {
    for json in [
        r#"{"$serde_json::private::Number":5}"#,
        r#"{"$serde_json::private::Number":"five"}"#,
        r#"{"$serde_json::private::Number":"5","a":"5"}"#,
        r#"{"a":1,"$serde_json::private::Number":"5"}"#,
        r#"[{"$serde_json::private::Number":{}}]"#,
    ] {
        let value: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(value.to_string(), json);
    }
    let text = r#"{"$serde_json::private::Number":"5"}"#;
    assert_eq!(serde_json::from_str::<Value>(text).unwrap().to_string(), "5");
}

#[test]
fn a_number_beyond_doubles_is_not_serialized_through_serde() {
    for (json, written) in [("1e2", "100.0"), ("1e308", "1e+308"), ("0.5", "0.5")] {
        let value: Value = json.parse().unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), written);
    }
    for json in ["1e400", "[-1e400]", r#"{"a":1e99999999999999999999}"#] {
        let value: Value = json.parse().unwrap();
        let error = serde_json::to_string(&value).unwrap_err().to_string();
        assert!(error.contains("expected one that is not beyond doubles"), "{error}");
    }
}

#[test]
fn a_value_that_is_nested_too_deep_is_refused() {
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    assert!(serde_json::from_str::<Value>(&deep).is_ok());
    let mut nested = serde_json::Value::Null;
    for _ in 0..1000 {
        nested = serde_json::Value::Array(vec![nested]);
    }
    assert!(serde_json::from_value::<Value>(nested).unwrap_err().to_string().contains("too deep"));
}

#[test]
fn standard_containers_of_bridged_types_work() {
    let statuses: HashMap<String, Vec<Status>> = serde_json::from_str(r#"{"a":["done"]}"#).unwrap();
    assert_eq!(serde_json::to_string(&statuses).unwrap(), r#"{"a":["done"]}"#);
}
