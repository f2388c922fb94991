//! Tests of encoding: the text that is written, and values that are refused as in decoding.

use toolwright::codec::to_json;
use toolwright::{Integer, Map, Nullable, Value};

use super::model::{
    Circle, Group, Item, Node, One, Scores, Shape, Status, encoding_issues, round_trip,
};

fn item() -> Item {
    Item {
        id: "a".into(),
        status: Status::Done,
        count: None,
        size: None,
        ratio: None,
        done: None,
        note: None,
        sha: None,
        version: None,
        tags: vec!["\"\n".into()],
    }
}

#[test]
fn fields_come_in_schema_order_and_absent_ones_are_left_out() {
    assert_eq!(to_json(&item()).unwrap(), r#"{"id":"a","status":"done","tags":["\"\n"]}"#);
    let full = Item {
        count: Some(-0),
        size: Some(Integer::from(u64::MAX)),
        ratio: Some(0.1),
        done: Some(false),
        note: Some(Nullable::Null),
        sha: Some("beef".into()),
        version: Some(One),
        ..item()
    };
    let expected = r#"{"id":"a","status":"done","count":0,"size":18446744073709551615,"ratio":0.1,"done":false,"note":null,"sha":"beef","version":1,"tags":["\"\n"]}"#;
    assert_eq!(to_json(&full).unwrap(), expected);
    assert_eq!(round_trip::<Item>(expected).unwrap(), expected);
}

#[test]
fn values_that_decoding_refuses_are_not_written() {
    let broken = Item {
        id: String::new(),
        count: Some(101),
        size: Some(Integer::from(9)),
        ratio: Some(f64::NAN),
        sha: Some("x".into()),
        tags: Vec::new(),
        ..item()
    };
    let expected = [
        "`/id`: has 0 characters, at least 1 required",
        "`/count`: found 101, expected at most 100",
        "`/size`: found 9, expected at least 10",
        "`/ratio`: found NaN or an infinity, expected a finite number",
        "`/sha`: found \"x\", expected a match of `^[a-f0-9]{4}$`",
        "`/tags`: has 0 items, at least 1 required",
    ];
    assert_eq!(encoding_issues(&broken), expected);
}

#[test]
fn issues_in_arrays_maps_and_unions_have_pointers() {
    let circle = |radius| Shape::Circle(Circle { radius });
    let shapes = [("a", circle(1.0)), ("b/", circle(f64::INFINITY))].into_iter().collect();
    let found = encoding_issues(&vec![circle(0.5), Shape::Group(Group { shapes })]);
    assert_eq!(
        found,
        ["`/1/shapes/b~1/radius`: found NaN or an infinity, expected a finite number"]
    );
}

#[test]
fn an_additional_key_that_is_declared_is_refused() {
    let additional = [("name", 1), ("x", 2)].into_iter().collect();
    let found = encoding_issues(&Scores { name: "n".into(), additional });
    assert_eq!(found, ["`/name`: duplicate key `name`, each key is allowed once"]);
}

#[test]
fn a_value_nested_too_deep_is_refused() {
    let node = |next| Node { next, children: None, additional: Map::new() };
    let nested = |levels| (1..levels).fold(node(None), |inner, _| node(Some(Box::new(inner))));
    assert!(encoding_issues(&nested(128)).is_empty());
    let found = encoding_issues(&nested(129));
    assert_eq!(
        found,
        [format!("`{}`: nested too deep, at most 128 levels allowed", "/next".repeat(128))]
    );
    let list = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    assert_eq!(encoding_issues(&list).len(), 1);
    assert_eq!(list.to_string().len(), 404);
}

#[test]
fn doubles_survive_a_round_trip() {
    for value in [0.0, -0.0, 1.0, 1e300, 5e-324, f64::MAX, 0.1 + 0.2, 123_456_789.125] {
        let json = to_json(&value).unwrap();
        assert_eq!(json.parse::<f64>().unwrap().to_bits(), f64::to_bits(value), "{json}");
        assert!(serde_json::from_str::<f64>(&json).is_ok(), "{json}");
    }
}
