//! Digests of listed tools, compared with those that Python computed.

use toolwright::Value;
use toolwright::digests::listed;

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
