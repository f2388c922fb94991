//! Digests of listed tools, compared with those that Python computed.

use toolwright::digests::{listed, model};
use toolwright::{ToolSpec, Value};

#[test]
fn digests_are_those_of_the_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/digests/cases.json");
    let text = std::fs::read_to_string(path).expect("there are cases");
    let cases: Value = text.parse().expect("they are JSON");
    let cases = cases.as_array().expect("they are a list");
    assert!(!cases.is_empty());
    for case in cases {
        let text = |key| case.get(key).and_then(Value::as_str);
        let found = listed(case.get("tool").expect("a tool"));
        let (all, capabilities) = (Some(&*found.all), Some(&*found.capabilities));
        assert_eq!((all, capabilities), (text("all"), text("capabilities")), "{case}");
    }
}

#[test]
fn the_digest_of_an_example_without_a_result_is_not_that_of_null() {
    let of = |result| {
        let mut spec = ToolSpec::new("todos.add");
        spec.set_examples([("{}", result)]);
        model(&spec)
    };
    let [none, null, one] = [None, Some("null"), Some("1")].map(of);
    assert!(none != null && null != one && one != none);
}
