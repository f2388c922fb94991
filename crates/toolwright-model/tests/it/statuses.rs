//! Error responses of providers: the kind of error, and the time to wait.

use std::time::Duration;

use toolwright_dialect::Dialect;
use toolwright_model::ModelError;

/// A row with the words of errors, which no built-in row has so far.
const ROW: &str = r#"
[[dialect]]
id = "bedrock-errors"
asof = "2026-09"
inherits = "bedrock"
confidence = "O"
evidence = ["a test"]
errors = { strict_refused = ["strict: Extra inputs are not permitted"], grammar_too_large = ["compiled grammar is too large"] }
"#;

#[test]
fn statuses_and_bodies_have_the_errors_of_the_table() {
    let row: &'static Dialect = Box::leak(Box::new(Dialect::from_toml(ROW).unwrap().remove(0)));
    let nginx = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n";
    let nested = format!("{}{{}}{}", r#"{"error":"#.repeat(20_000), "}".repeat(20_000));
    let cut = format!("status 500: {}…", &nested[..300]);
    let long = format!(r#"{{"message":"{}"}}"#, "a".repeat(10_000));
    for (code, body, expected) in [
        (
            400,
            r#"{"error":{"message":"Invalid schema.","type":"invalid_request_error"}}"#,
            "status 400: Invalid schema.",
        ),
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            "status 401: invalid x-api-key",
        ),
        (403, r#"{"Message":"User is not authorized"}"#, "status 403: User is not authorized"),
        (
            429,
            r#"[{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED"}}]"#,
            "status 429: Quota exceeded.",
        ),
        (500, r#"{"error":"model is loading"}"#, "status 500: model is loading"),
        (502, nginx, "status 502: <html>"),
        (503, "", "status 503: nothing"),
        (529, "\n \nOver\u{202e}loaded\nsorry", "status 529: Over\u{fffd}loaded"),
        (500, r#"{"error":{"message":null}}"#, r#"status 500: {"error":{"message":null}}"#),
        (500, &nested, &cut),
        (500, r#"{"error":{"message":7}}"#, r#"status 500: {"error":{"message":7}}"#),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
            "too long: This model's maximum context length is 8192 tokens.",
        ),
        (
            400,
            r#"{"error":{"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}"#,
            "too long: The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (
            400,
            r#"{"message":"tools.0.toolSpec.strict: Extra inputs are not permitted"}"#,
            "no strict tools: tools.0.toolSpec.strict: Extra inputs are not permitted",
        ),
        (
            400,
            r#"{"message":"The compiled grammar is too large."}"#,
            "too large together: The compiled grammar is too large.",
        ),
        (
            500,
            r#"{"message":"The compiled grammar is too large."}"#,
            "status 500: The compiled grammar is too large.",
        ),
        (500, long.as_str(), "aaa…"),
    ] {
        let error = ModelError::of_status(code, |_| None, body.as_bytes(), row);
        assert!(error.to_string().ends_with(expected), "{error}");
        assert!(error.to_string().len() < 400, "{error}");
    }
    let error = ModelError::of_status(500, |_| None, b"\xff\xfe", row);
    assert_eq!(error.to_string(), "the provider answered with status 500: \u{fffd}\u{fffd}");
}

#[test]
fn waits_have_the_lengths_of_the_table() {
    let dialect = Dialect::find("openai-chat").unwrap();
    let now = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    for (headers, expected) in [
        (vec![], None),
        (vec![("retry-after", "7")], Some(7000)),
        (vec![("retry-after", " 1.5 ")], Some(1500)),
        (vec![("retry-after", "7"), ("retry-after-ms", "250")], Some(250)),
        (vec![("retry-after", "-1")], None),
        (vec![("retry-after", "1e400")], None),
        (vec![("retry-after", "NaN")], None),
        (vec![("retry-after", "soon")], None),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), now], Some(30_000)),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:27:30 GMT"), now], Some(0)),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], None),
    ] {
        let header =
            |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let error = ModelError::of_status(429, header, b"", dialect);
        let ModelError::Status { retry_after, should_retry, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(retry_after, expected.map(Duration::from_millis), "{headers:?}");
        assert_eq!(should_retry, None);
    }
    for digits in [20, 400] {
        let digits = "9".repeat(digits);
        let header = |name: &str| (name == "retry-after").then_some(digits.as_str());
        let error = ModelError::of_status(429, header, b"", dialect);
        let ModelError::Status { retry_after, .. } = error else { panic!("{error}") };
        assert_eq!(retry_after, Some(Duration::MAX), "{digits}");
    }
    for (value, expected) in [("true", Some(true)), ("false", Some(false)), ("maybe", None)] {
        let header = |name: &str| (name == "x-should-retry").then_some(value);
        let error = ModelError::of_status(500, header, b"", dialect);
        assert!(
            matches!(error, ModelError::Status { should_retry, .. } if should_retry == expected)
        );
    }
}
