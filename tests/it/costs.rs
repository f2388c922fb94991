//! Tests that the work of generated codecs and validators grows with the size of the payload and of the schema, and no
//! faster.

use std::collections::BTreeMap;
use std::future::Future as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use toolwright::Tool;
use toolwright::codec::{Decode, from_json, from_json_within, to_json};
use toolwright::issue::IssueKind;
use toolwright::schema::Schema;

use crate::codec_cases::choices_tools::specs::Choose;
use crate::codec_cases::choices_tools::types::{C0, C20, C40, C44, Nest};
use crate::requirement_cases::deep_service::types::{List0, Map0, Object0, Option0};
use crate::requirement_cases::doubling_service::types::{
    Distinct, Filled0, Lengthy, Many, Query, Step0, Step10, Strings, Tagged, Wide,
};
use crate::requirement_cases::doubling_tools::specs::ALL;

/// The number of steps of decoding a payload, and whether it was accepted.
fn steps<T: Decode>(payload: &str) -> (u64, bool) {
    let mut left = u64::MAX;
    let is_accepted = from_json_within::<T>(payload.as_bytes(), &mut left).is_ok();
    (u64::MAX - left, is_accepted)
}

/// The schema of each type contains all types below it, so the text of all schemas grows with the square of their number.
#[test]
fn the_steps_of_choices_with_sixty_levels_grow_with_the_text_of_their_schemas() {
    for (payload, fits) in [(r#"{"b":"x"}"#, true), (r#"{"a":"x"}"#, false), (r#"{"b":1}"#, false)]
    {
        let found = [
            steps::<C44>(payload),
            steps::<C40>(payload),
            steps::<C20>(payload),
            steps::<C0>(payload),
        ];
        assert!(found.iter().all(|(_, accepted)| *accepted == fits), "{payload}: {found:?}");
        let [sixteen, twenty, forty, sixty] = found.map(|(steps, _)| steps);
        assert!(sixteen < twenty && twenty < forty, "{payload}: {found:?}");
        assert!(forty < 5 * twenty && sixty < 3 * forty, "{payload}: {found:?}");
        assert!(sixty < 200_000, "{payload}: {found:?}");
    }
}

#[test]
fn the_steps_of_nested_choices_grow_with_the_length_of_the_payload() {
    let nested = |depth: usize, leaf: &str| {
        format!("{}{leaf}{}", r#"{"c":1,"a":"#.repeat(depth), "}".repeat(depth))
    };
    for leaf in [r#"{"b":1}"#, r#"{"b":"x"}"#, r#"{"d":1}"#] {
        let [(few, _), (many, _)] = [50, 100].map(|depth| steps::<Nest>(&nested(depth, leaf)));
        assert!(many < few * 5 / 2, "{leaf}: {few} and {many} steps");
    }
    let listed = |count: usize| {
        format!(r#"{{"nests":[{}]}}"#, vec![r#"{"c":1,"a":{"c":2}}"#; count].join(","))
    };
    let [few, many] = [500, 1_000].map(|count| {
        let mut left = u64::MAX;
        from_json_within::<<Choose as Tool>::Args>(listed(count).as_bytes(), &mut left)
            .expect("they fit");
        u64::MAX - left
    });
    assert!(many < few * 5 / 2, "{few} and {many} steps");
}

#[test]
fn all_parts_of_a_payload_share_one_budget_of_steps() {
    let payload = format!(r#"{{"nests":[{}]}}"#, vec![r#"{"c":1}"#; 1_000].join(","));
    let limit = 1_000;
    let mut left = limit;
    let found = from_json_within::<<Choose as Tool>::Args>(payload.as_bytes(), &mut left);
    let invalid = found.expect_err("all items together take more steps than the limit");
    let kinds: Vec<&IssueKind> = invalid.issues().iter().map(toolwright::Issue::kind).collect();
    assert_eq!((kinds.as_slice(), left), (&[&IssueKind::TooCostly { limit }][..], 0));
}

#[test]
fn a_validator_checks_choices_with_sixty_levels_in_few_steps() {
    let schema = Schema::new(<Choose as Tool>::SPEC.args_schema()).expect("a schema");
    for payload in [r#"{"first":{"b":"x"}}"#, r#"{"first":{"b":1}}"#] {
        let mut left = u64::MAX;
        let _ = schema.check_within(payload.as_bytes(), &mut left);
        assert!(u64::MAX - left < 40_000, "{payload}: {} steps", u64::MAX - left);
    }
}

/// A value lies on the stack while it is read.
#[test]
fn a_type_that_holds_many_others_is_small() {
    let sizes = [size_of::<Step0>(), size_of::<Step10>(), size_of::<Wide>()];
    assert!(sizes.iter().all(|size| *size < 4096), "{sizes:?}");
    let check = || {
        let nested = format!("{}{}", r#"{"v":"#, "{\"left\":".repeat(16) + "{" + &"}".repeat(18));
        for spec in ALL {
            for payload in ["{}", r#"{"v":{}}"#, "x", &nested] {
                let _ = spec.check_args(payload.as_bytes());
            }
        }
        assert_eq!(ALL[0].check_args(nested.as_bytes()), Ok(()));
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(check).unwrap().join().unwrap();
}

/// To see that, the compiler has to follow all levels of the types, and those of what a program holds them in.
#[test]
fn types_as_deep_as_they_may_be_are_sent_to_another_thread() {
    type Held<T> = Arc<Mutex<BTreeMap<String, Vec<Option<Box<T>>>>>>;
    fn sent<T: Send + 'static>() {
        let value = Held::<T>::default();
        let work = async move { value.lock().unwrap().len() };
        let length =
            std::thread::spawn(|| pin!(work).poll(&mut Context::from_waker(Waker::noop())));
        assert_eq!(length.join().unwrap(), Poll::Ready(0));
    }
    sent::<Object0>();
    sent::<Option0>();
    sent::<List0>();
    sent::<Map0>();
}

/// A place for a whole value for each field would need more of the stack than a thread has.
#[test]
fn a_type_that_contains_itself_sixty_times_is_read_as_deep_as_payloads_may_be() {
    let nested = |depth: usize| "{\"q0\":".repeat(depth) + "{}" + &"}".repeat(depth);
    let read = move || {
        let query: Query = from_json(nested(127).as_bytes()).unwrap();
        assert_eq!(to_json(&query).unwrap(), nested(127));
        let refused = from_json::<Query>(nested(128).as_bytes()).unwrap_err();
        assert_eq!(refused.issues()[0].kind(), &IssueKind::TooDeep { limit: 128 });
        assert!(from_json::<Many>(br#"{"m0":{}}"#).is_ok());
    };
    // The size of the threads of tokio.
    std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap();
}

#[test]
fn items_may_take_memory_in_proportion_to_the_payload() {
    let items = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
    assert!(from_json::<Vec<Strings>>(items(5_000).as_bytes()).is_ok());
    let refused = from_json::<Vec<Strings>>(items(50_000).as_bytes()).unwrap_err();
    let kinds: Vec<&IssueKind> = refused.issues().iter().map(toolwright::Issue::kind).collect();
    assert_eq!(kinds, [&IssueKind::TooLarge { limit: (64 << 20) + 64 * 150_001 }]);
    // A default is copied into each object without it.
    assert!(from_json::<Vec<Tagged>>(items(5_000).as_bytes()).is_ok());
    let refused = from_json::<Vec<Tagged>>(items(50_000).as_bytes()).unwrap_err();
    assert_eq!(refused.issues()[0].kind().code(), "too_large");
}

#[test]
fn defaults_that_double_at_each_step_do_not_multiply_a_payload() {
    let filled: Filled0 = from_json(b"{}").unwrap();
    assert!(to_json(&filled).unwrap().len() < 200, "{filled:?}");
}

/// Large patterns and unique items take time that grows faster than the payload.
#[test]
fn a_codec_takes_the_steps_of_the_validator_for_patterns_and_unique_items() {
    let schema = |types: &str| Schema::new(types).expect("a schema");
    let text = format!("\"{}\"", "a".repeat(2_000));
    let (codec, _) = steps::<Lengthy>(&text);
    let mut left = u64::MAX;
    let _ = schema(r#"{"pattern":"[a-z]{2000}!"}"#).check_within(text.as_bytes(), &mut left);
    assert!(codec >= 2_000 * 500 && codec <= u64::MAX - left, "{codec} steps");
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let nested = format!("{}{}{}", "[".repeat(10), numbers.join(","), "]".repeat(10));
    let (codec, is_accepted) = steps::<Distinct>(&nested);
    assert!(is_accepted && codec >= 10 * 4 * 1_000, "{codec} steps");
}
