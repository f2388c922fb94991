//! Tests of comparing codecs with rows.

use toolwright::ToolSpec;
use toolwright::codec::DomainType;
use toolwright::vectors::{check, disagreements};

/// The codec of the arguments accepts any integer, that of the result any text.
static COUNT: ToolSpec = ToolSpec::of::<Count>("count")
    .with_args_schema(r#"{"type":"integer","maximum":9}"#)
    .with_result_schema(r#"{"type":"string"}"#);
toolwright::tool!(Count(i64) -> String = COUNT);

const RIGHT: &str = r#"{"of":"args","payload":1.0,"valid":true,"reason":"whole","at":""}
{"of":"args","payload":"1","valid":false,"reason":"a text","at":""}
{"of":"args","text":"01","valid":false,"reason":"no number of JSON","at":""}
{"of":"args","text":" 1 ","valid":true,"reason":"blanks","at":""}
{"of":"result","payload":"","valid":true,"reason":"empty","at":""}
{"of":"result","payload":null,"valid":false,"reason":"null","at":""}
"#;

#[test]
fn codecs_agree_with_the_rows_of_their_schemas() {
    check::<Count>(RIGHT);
    check::<Count>(&RIGHT.replace('\n', "\r\n"));
}

#[test]
fn a_row_with_the_other_verdict_is_a_disagreement() {
    for (index, line) in RIGHT.lines().enumerate() {
        let other = if line.contains("true") {
            line.replace("true", "false")
        } else {
            line.replace("false", "true")
        };
        let wrong = disagreements::<Count>(&RIGHT.replace(line, &other));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(wrong[0].ends_with(&other), "{index}: {wrong:?}");
    }
}

#[test]
fn wrong_codecs_and_wrong_rows_are_disagreements() {
    for (line, reason) in [
        (
            r#"{"of":"args","payload":10,"valid":false,"reason":"above the maximum","at":""}"#,
            "accepted: ",
        ),
        (
            r#"{"of":"args","payload":10,"valid":true,"reason":"","at":""}"#,
            "encoded as 10, the payload: found 10, expected at most 9: ",
        ),
        (
            r#"{"of":"args","payload":0.5,"valid":true,"reason":"","at":""}"#,
            "refused, the payload: found the number 0.5, expected an integer: ",
        ),
        (r#"{"of":"args","valid":true}"#, "expected either `payload` or `text`: "),
        (r#"{"of":"args","payload":1,"text":"1","valid":true}"#, "expected either "),
        (r#"{"of":"args","payload":1}"#, "expected `valid`: "),
        (r#"{"of":"error","payload":1,"valid":true}"#, "expected `of` to be "),
        ("{", "not a row, "),
        ("", "not a row, "),
    ] {
        let wrong = disagreements::<Count>(&format!("{line}\n"));
        assert!(matches!(&wrong[..], [only] if only.starts_with(reason)), "{line}: {wrong:?}");
    }
}

#[test]
#[should_panic(expected = "the codecs of `count` disagree with rows:\naccepted: {")]
fn a_disagreement_panics() {
    check::<Count>(r#"{"of":"args","payload":1,"valid":false}"#);
}

#[test]
#[should_panic(expected = "expected rows for `count`, found none")]
fn no_rows_panic() {
    check::<Count>("");
}

/// A type of a user.
#[derive(Debug)]
pub struct Digit(i64);

impl DomainType for Digit {
    type Json = i64;

    fn from_json(json: i64) -> Result<Self, String> {
        if (0..10).contains(&json) { Ok(Self(json)) } else { Err("is no digit".to_owned()) }
    }

    fn to_json(&self) -> i64 {
        self.0
    }
}

/// An object with a type of a user.
#[derive(Debug)]
pub struct Digits {
    digit: Digit,
}

toolwright::object!(Digits { required "digit" => digit: converted(integer(toolwright::codec::Range::ANY)) });

static SHOW: ToolSpec = ToolSpec::of::<Show>("show").with_args_schema("{}");
toolwright::tool!(Show(Digits) -> () = SHOW);

#[test]
fn a_domain_type_may_refuse_a_valid_payload() {
    let row = |digit: i64, is_valid| {
        format!(r#"{{"of":"args","payload":{{"digit":{digit}}},"valid":{is_valid}}}"#)
    };
    check::<Show>(&row(10, true));
    check::<Show>(&row(1, true));
    assert_eq!(disagreements::<Show>(&row(1, false)).len(), 1);
}
