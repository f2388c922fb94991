//! Tests of values, numbers and maps.

use std::collections::HashSet;

use std::hash::{Hash, Hasher};

use toolwright::value::Number;
use toolwright::{Integer, Map, Nullable, Value};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

#[test]
fn numbers_are_compared_by_value_and_keep_their_text() {
    let groups = [
        &["1", "1.0", "10e-1", "0.1e1", "1E0"][..],
        &["0", "-0", "0.000", "0e999999999999", "-0e-5"],
        &["1e999999999", "10e999999998", "0.1e1000000000"],
        &["-1.5", "-15e-1", "-1.50"],
        &["0.1", "1e-1"],
        &["123456789012345678901234567890", "123456789012345678901234567890.0"],
        &["123456789012345678901234567891"],
        &["1e-999999999"],
    ];
    for (place, group) in groups.iter().enumerate() {
        for (other_place, other) in groups.iter().enumerate() {
            for (a, b) in group.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                assert_eq!(number(a) == number(b), place == other_place, "{a} {b}");
            }
        }
        assert_eq!(group.iter().map(|text| number(text)).collect::<HashSet<_>>().len(), 1);
        assert!(group.iter().all(|text| number(text).to_string() == **text));
    }
}

#[test]
fn numbers_and_integers_are_ordered() {
    let sorted = [
        "-1e999999999",
        "-18446744073709551616",
        "-9223372036854775809",
        "-9223372036854775808",
        "-12",
        "-1",
        "0",
        "1",
        "12",
        "99",
        "100",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "1e999999999",
        "2e999999999",
    ];
    for pair in sorted.windows(2) {
        assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        let (low, high): (Integer, Integer) = (pair[0].parse().unwrap(), pair[1].parse().unwrap());
        assert!(low < high, "{pair:?}");
        assert_eq!(low.to_string(), pair[0]);
    }
    assert!(number("1.23") < number("1.3") && number("0.001") < number("0.01"));
}

#[test]
fn numbers_convert_only_when_nothing_is_lost() {
    assert_eq!(number("1e2").as_i64(), Some(100));
    assert_eq!(number("1.5").as_i64(), None);
    assert_eq!(number("-0").as_u64(), Some(0));
    assert_eq!(number("18446744073709551615.0").as_u64(), Some(u64::MAX));
    assert_eq!(number("18446744073709551616").as_u64(), None);
    assert!((number("1e400").as_f64() - f64::MAX).abs() < 1.0);
    assert!(number("1e999999999").is_integer() && !number("1e-1").is_integer());
    assert!(Number::try_from(f64::NAN).is_err());
    assert_eq!(Number::try_from(1e300).unwrap().to_string(), "1e300");
    assert!("1 2".parse::<Number>().is_err() && "x".parse::<Number>().is_err());
}

#[test]
fn integers_convert_both_ways() {
    assert_eq!(Integer::from(5_i32), Integer::from(5_usize));
    assert_eq!(Integer::from(u64::MAX).to_u64(), Some(u64::MAX));
    assert_eq!(Integer::from(u64::MAX).to_i64(), None);
    assert_eq!(Integer::from(i128::MIN).to_i128(), Some(i128::MIN));
    assert_eq!("1e3".parse::<Integer>().unwrap().to_i64(), Some(1000));
    assert!("1.5".parse::<Integer>().is_err());
    assert_eq!(u64::try_from(Integer::from(u64::MAX)), Ok(u64::MAX));
    assert_eq!(i8::try_from(&Integer::from(-128_i8)), Ok(i8::MIN));
    let refused = u8::try_from(&Integer::from(256_u16)).unwrap_err();
    assert_eq!(refused.to_string(), "found 256, expected an integer that `u8` holds");
    assert!(i128::try_from("1e999".parse::<Integer>().unwrap()).is_err());
}

#[test]
fn a_map_keeps_order_and_unique_keys() {
    let mut map: Map<i64> = Map::from([("b", 1), ("a", 2), ("b", 3)]);
    assert_eq!(map.iter().collect::<Vec<_>>(), [("b", &3), ("a", &2)]);
    assert_eq!(map.insert("a", 4), Some(2));
    assert_eq!(map.insert("c", 5), None);
    assert_eq!(map.remove("b"), Some(3));
    assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert!(map.contains_key("c") && !map.contains_key("b") && map.len() == 2 && !map.is_empty());
    assert_eq!(map, [("c", 5), ("a", 4)].into_iter().collect());
    assert_ne!(map, [("c", 5), ("a", 5)].into_iter().collect());
    assert_ne!(map, [("c", 5)].into_iter().collect());
}

#[test]
fn a_map_of_many_entries_is_extended_like_one_of_few() {
    let entry = |number: u8| (format!("k{number}"), number);
    let mut map: Map<u8> = (0..40).map(entry).collect();
    map.extend([("k3", 50), ("k39", 51), ("new", 52), ("new", 53)]);
    for (_, value) in map.iter_mut() {
        *value += 1;
    }
    assert_eq!(map.len(), 41);
    assert!(map.keys().take(40).eq((0..40).map(|number| entry(number).0)));
    let found = ["k2", "k3", "k39", "new"].map(|key| map.get(key).copied());
    assert_eq!(found, [Some(3), Some(51), Some(52), Some(54)]);
}

#[test]
fn parts_of_a_value_are_found_by_key_and_pointer() {
    let value: Value = r#"{"a/b":[{"~":1}],"":"empty","n":null,"t":true,"f":1.5}"#.parse().unwrap();
    let cases = [
        ("", Some(value.to_string())),
        ("/a~1b/0/~0", Some("1".into())),
        ("/", Some("\"empty\"".into())),
        ("/a~1b/00", None),
        ("/a~1b/-", None),
        ("/a~1b/1", None),
        ("a", None),
        ("/n/x", None),
    ];
    for (pointer, expected) in cases {
        assert_eq!(value.pointer(pointer).map(ToString::to_string), expected, "{pointer}");
    }
    assert_eq!(value.get("").and_then(Value::as_str), Some("empty"));
    assert_eq!(value.get("t").and_then(Value::as_bool), Some(true));
    assert_eq!(value.get("f").and_then(Value::as_f64), Some(1.5));
    assert!(value.get("n").is_some_and(Value::is_null));
}

#[test]
fn rust_values_convert() {
    let list = Value::from(vec![Some(1_u64), None]);
    assert_eq!(list.to_string(), "[1,null]");
    let object = Value::from([("a", "x")].into_iter().collect::<Map<&str>>());
    assert_eq!(object.to_string(), r#"{"a":"x"}"#);
    assert_eq!(Nullable::from(Some(1)).into_option(), Some(1));
    assert_eq!(Nullable::from(None::<i64>), Nullable::default());
    assert_eq!(Value::from(Nullable::Value(2_i64)).as_i64(), Some(2));
}

/// A sum of hashes of the entries would be the same for prepared maps, also if the hasher has a secret key.
#[test]
fn all_entries_of_a_map_are_hashed_by_the_given_hasher() {
    #[derive(Default)]
    struct Written(Vec<u8>);
    impl Hasher for Written {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend(bytes);
        }
        fn finish(&self) -> u64 {
            0
        }
    }
    let written = |json: &str| {
        let mut hasher = Written::default();
        json.parse::<Value>().unwrap().hash(&mut hasher);
        hasher.0
    };
    let map = written(r#"{"first":1,"second":{"x":null,"y":2}}"#);
    assert_eq!(map, written(r#"{"second":{"y":2.0,"x":null},"first":1}"#));
    assert_ne!(map, written(r#"{"first":2,"second":{"x":null,"y":1}}"#));
    assert!(
        ["first", "second"]
            .iter()
            .all(|key| map.windows(key.len()).any(|part| part == key.as_bytes()))
    );
}
