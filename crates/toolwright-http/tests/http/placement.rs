//! The place of each property of a payload in the request, in every style. The server returns its request.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolwright::FailureKind;
use toolwright_http::operation::{
    Body, Content, Operation, Parameter, Part, QueryParameter, Style, Verb,
};
use toolwright_http::{Client, Credentials};

use crate::server::{echo, value};
use crate::{call, client, failure_of};

const fn query(
    name: &'static str,
    property: &'static str,
    style: Style,
    explode: bool,
) -> QueryParameter {
    QueryParameter { name, property, style, explode }
}

static EVERYWHERE: Operation = Operation {
    query: &[
        query("limit", "limit", Style::Form, true),
        query("tag[]", "tags", Style::Form, true),
        query("ids", "ids", Style::Form, false),
        query("near", "near", Style::SpaceDelimited, false),
        query("any", "any", Style::PipeDelimited, false),
        query("filter", "filter", Style::DeepObject, true),
    ],
    headers: &[Parameter { name: "X-Trace", property: "trace" }],
    cookies: &[Parameter { name: "session", property: "session" }],
    body: Body::Property("pet", Content::Json),
    ..Operation::new(
        "everywhere",
        Verb::Put,
        &[Part::Text("/pets/"), Part::Property("id"), Part::Text("/photos")],
    )
};

#[tokio::test]
async fn each_property_is_sent_and_encoded_as_the_operation_defines() {
    let base = echo().await + "/v1";
    let payload = r#"{
        "id": "a/b ?#%é", "limit": 12345678901234567890, "tags": ["x&y", "z"], "ids": [1, 2.50],
        "near": ["a,b", "c"], "any": ["p q", "r"], "filter": {"kind": "dog", "age": {"min": 2}},
        "trace": "t1", "session": "s;1", "pet": {"name": "Rex", "weight": 1.50, "note": null}
    }"#;
    let request = value(&call(&client(&base), &EVERYWHERE, payload).await.expect("an answer"));
    let expected = json!({
        "method": "PUT",
        "path": "/v1/pets/a%2Fb%20%3F%23%25%C3%A9/photos",
        "query": "limit=12345678901234567890&tag%5B%5D=x%26y&tag%5B%5D=z&ids=1,2.50&near=a%2Cb%20c&any=p%20q%7Cr\
                  &filter%5Bkind%5D=dog&filter%5Bage%5D%5Bmin%5D=2",
        "body": r#"{"name":"Rex","weight":1.50,"note":null}"#,
        "type": "application/json",
        "trace": "t1",
        "cookie": "session=s%3B1",
        "authorization": null,
        "key": null,
    });
    assert_eq!(request, expected);
}

#[tokio::test]
async fn absent_and_null_properties_are_not_sent() {
    let base = echo().await;
    let payload = r#"{"id": 7, "limit": null, "tags": []}"#;
    let request = value(&call(&client(&base), &EVERYWHERE, payload).await.expect("an answer"));
    assert_eq!(request["path"], "/pets/7/photos");
    for part in ["query", "trace", "cookie", "type"] {
        assert_eq!(request[part], Value::Null, "{part}");
    }
    assert_eq!(request["body"], "");
}

#[tokio::test]
async fn a_value_in_a_path_stays_in_its_segment() {
    let base = echo().await;
    for id in ["..", ".", ""] {
        let payload = json!({ "id": id }).to_string();
        let (kind, message, _) = failure_of(call(&client(&base), &EVERYWHERE, &payload).await);
        assert_eq!(kind, FailureKind::InvalidCall, "{id:?}");
        assert!(
            message.starts_with("the arguments of `everywhere` are not valid: `id` must"),
            "{message}"
        );
    }
    for id in [
        "../admin",
        "..%2fadmin",
        "%2e%2e",
        "..\\admin",
        "a\u{0}b",
        "...",
        "@evil.test",
        "//evil.test",
    ] {
        let payload = json!({ "id": id }).to_string();
        let request = value(&call(&client(&base), &EVERYWHERE, &payload).await.expect(id));
        let path = request["path"].as_str().expect("a path");
        let inside = path.strip_prefix("/pets/").and_then(|rest| rest.strip_suffix("/photos"));
        assert!(inside.is_some_and(|inside| !inside.contains(['/', '\\'])), "{id:?}: {path}");
    }
}

/// A person who approved one item would see the service read two.
#[tokio::test]
async fn a_value_that_the_service_would_read_as_another_is_refused() {
    static EXPLODED: Operation = Operation {
        query: &[
            query("limit", "limit", Style::Form, true),
            query("filter", "filter", Style::Form, true),
        ],
        ..Operation::new("exploded", Verb::Get, &[Part::Text("/pets")])
    };
    static DEEP: Operation = Operation {
        body: Body::Rest(Content::DeepForm),
        ..Operation::new("deep", Verb::Post, &[Part::Text("/")])
    };
    let base = echo().await;
    let table = [
        (&DEEP, r#"{"a": {"b": 1}, "a[b]": 2}"#, "a[b]"),
        (&DEEP, r#"{"a[b]": 1, "a.": 1, "a[b]c": 1, "a[b][c]": 2}"#, "a[b][c]"),
        (&DEEP, r#"{"a": 1, "a[b][c]": 2, "a[b": 3}"#, "a[b"),
        (&EVERYWHERE, r#"{"id": 1, "near": ["a b"]}"#, "near"),
        (&EVERYWHERE, r#"{"id": 1, "filter": {"a][b": 1}}"#, "filter"),
        (&EVERYWHERE, r#"{"id": 1, "trace": ["a,b", "c"]}"#, "trace"),
        (&EVERYWHERE, r#"{"id": 1, "session": ["a", "b,c"]}"#, "session"),
        (&EVERYWHERE, r#"{"id": 1, "trace": " a"}"#, "trace"),
        (&EVERYWHERE, r#"{"id": 1, "trace": "a\t"}"#, "trace"),
        (&EXPLODED, r#"{"limit": 1, "filter": {"limit": 1000}}"#, "filter"),
    ];
    for (operation, payload, property) in table {
        let (kind, message, _) = failure_of(call(&client(&base), operation, payload).await);
        assert_eq!(kind, FailureKind::InvalidCall, "{payload}");
        assert!(message.contains(&format!("not valid: `{property}` ")), "{message}");
    }
    let apart = r#"{"a": null, "b": [], "a[b]": 1, "a[c]": 2, "b[0]": 3}"#;
    let request = value(&call(&client(&base), &DEEP, apart).await.expect("an answer"));
    assert_eq!(request["body"], json!("a%5Bb%5D=1&a%5Bc%5D=2&b%5B0%5D=3"));
    let text = r#"{"id": 1, "trace": "a,b", "session": "c,d"}"#;
    let request = value(&call(&client(&base), &EVERYWHERE, text).await.expect("an answer"));
    assert_eq!((&request["trace"], &request["cookie"]), (&json!("a,b"), &json!("session=c%2Cd")));
}

/// Comparing each key with all others would take minutes.
#[tokio::test]
async fn a_form_with_many_nested_keys_is_sent_at_once() {
    static DEEP: Operation = Operation {
        body: Body::Rest(Content::DeepForm),
        ..Operation::new("deep", Verb::Post, &[Part::Text("/")])
    };
    let keys: Vec<String> = (0..200_000).map(|key| format!(r#""{key}[":1"#)).collect();
    let payload = format!("{{{}}}", keys.join(","));
    let base = echo().await;
    let started = Instant::now();
    // The server of the tests may refuse so much, but only after it was sent.
    let _ = call(&client(&base), &DEEP, &payload).await;
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_key_of_an_object_is_no_part_of_another_parameter() {
    static SEARCH: Operation = Operation {
        query: &[
            query("extra", "extra", Style::Form, true),
            query("filter", "filter", Style::DeepObject, true),
            query("page[size]", "size", Style::Form, true),
            query("filter[kind]", "kind", Style::Form, true),
            query("a[b]", "deep", Style::DeepObject, true),
            query("a[c]", "deeper", Style::DeepObject, true),
        ],
        ..Operation::new("search", Verb::Get, &[Part::Text("/pets")])
    };
    let base = echo().await;
    for (payload, property) in [
        (r#"{"extra": {"filter[admin]": "1"}, "filter": {"owner": "me"}}"#, "extra"),
        (r#"{"extra": {"filter[admin]": "1"}}"#, "extra"),
        (r#"{"extra": {"filter[": "1"}}"#, "extra"),
        (r#"{"extra": {"page[size]": "1"}}"#, "extra"),
        (r#"{"extra": {"page[number]": "1"}}"#, "extra"),
        (r#"{"extra": {"a[b][x]": "1"}}"#, "extra"),
        (r#"{"filter": {"kind": "dog"}}"#, "filter"),
    ] {
        let (kind, message, _) = failure_of(call(&client(&base), &SEARCH, payload).await);
        assert_eq!(kind, FailureKind::InvalidCall, "{payload}");
        assert!(message.contains(&format!("`{property}` has a key that belongs to")), "{message}");
    }
    let payload = r#"{"extra": {"x[b]": 1, "x[c]": 2}, "filter": {"age": 3}, "size": 4, "kind": 5,
        "deep": {"y": 6}, "deeper": {"y": 7}}"#;
    let request = value(&call(&client(&base), &SEARCH, payload).await.expect("an answer"));
    let expected = "x%5Bb%5D=1&x%5Bc%5D=2&filter%5Bage%5D=3&page%5Bsize%5D=4&filter%5Bkind%5D=5\
                    &a%5Bb%5D%5By%5D=6&a%5Bc%5D%5By%5D=7";
    assert_eq!(request["query"], expected);
}

#[tokio::test]
async fn a_line_break_in_a_header_is_refused() {
    let base = echo().await;
    let payload = r#"{"id": 1, "trace": "a\r\nX-Key: stolen"}"#;
    let (kind, message, _) = failure_of(call(&client(&base), &EVERYWHERE, payload).await);
    assert_eq!(kind, FailureKind::InvalidCall);
    assert!(message.contains("`trace`") && !message.contains("stolen"), "{message}");
}

#[tokio::test]
async fn bodies_are_json_forms_or_text() {
    static REST: Operation = Operation {
        body: Body::Rest(Content::Json),
        ..Operation::new("rest", Verb::Post, &[Part::Text("/"), Part::Property("id")])
    };
    static FORM: Operation = Operation {
        body: Body::Property("body", Content::Form),
        ..Operation::new("form", Verb::Post, &[Part::Text("/")])
    };
    static DEEP: Operation = Operation {
        body: Body::Property("body", Content::DeepForm),
        ..Operation::new("deep", Verb::Post, &[Part::Text("/")])
    };
    static TEXT: Operation = Operation {
        body: Body::Property("body", Content::Text),
        ..Operation::new("text", Verb::Post, &[Part::Text("/")])
    };
    let form = r#"{"body": {"name": "a b&c", "tags": ["x", "y"], "size": {"w": 1}}}"#;
    let urlencoded = "application/x-www-form-urlencoded";
    let table = [
        (
            &REST,
            r#"{"id": 1, "name": "Rex", "tags": []}"#,
            r#"{"name":"Rex","tags":[]}"#,
            "application/json",
        ),
        (&FORM, form, "name=a%20b%26c&tags=x&tags=y&size=%7B%22w%22%3A1%7D", urlencoded),
        (&DEEP, form, "name=a%20b%26c&tags%5B0%5D=x&tags%5B1%5D=y&size%5Bw%5D=1", urlencoded),
        (&TEXT, r#"{"body": "two\nlines"}"#, "two\nlines", "text/plain; charset=utf-8"),
    ];
    let base = echo().await;
    for (operation, payload, body, content) in table {
        let request = value(&call(&client(&base), operation, payload).await.expect("an answer"));
        assert_eq!(
            (&request["body"], &request["type"]),
            (&json!(body), &json!(content)),
            "{}",
            operation.name
        );
    }
}

/// They are short, so they stay in the result.
#[tokio::test]
async fn each_kind_of_credentials_is_sent() {
    let base = echo().await;
    let table = [
        (Credentials::bearer("t0ken"), "authorization", json!("Bearer t0ken")),
        (Credentials::basic("a", "b:c"), "authorization", json!("Basic YTpiOmM=")),
        (Credentials::header("X-Key", "k1"), "key", json!("k1")),
        (Credentials::query("api key", "k/2"), "query", json!("limit=3&api%20key=k%2F2")),
        (Credentials::cookie("sid", "k3"), "cookie", json!("session=s; sid=k3")),
        (Credentials::cookie("sid!", "k/4"), "cookie", json!("session=s; sid!=k%2F4")),
    ];
    for (credentials, part, expected) in table {
        let client =
            Client::builder(&base).with_credentials(credentials).build().expect("a client");
        let payload = r#"{"id": 1, "limit": 3, "session": "s"}"#;
        let request = value(&call(&client, &EVERYWHERE, payload).await.expect("an answer"));
        assert_eq!(request[part], expected, "{part}");
    }
}

#[tokio::test]
async fn arguments_that_would_be_a_second_credential_are_refused() {
    let base = echo().await;
    let table = [
        (Credentials::query("Limit", "k"), r#"{"id": 1, "limit": 3}"#),
        (Credentials::query("filter[key]", "k"), r#"{"id": 1, "filter": {"key": "evil"}}"#),
        (Credentials::query("filter", "k"), r#"{"id": 1, "filter": {"key": "evil"}}"#),
        (Credentials::query("tag", "k"), r#"{"id": 1, "tags": ["evil"]}"#),
        (Credentials::header("x-trace", "k"), r#"{"id": 1, "trace": "evil"}"#),
        (Credentials::cookie("session", "k"), r#"{"id": 1, "session": "evil"}"#),
        (Credentials::header("cookie", "theme=dark; session=k"), r#"{"id": 1, "session": "evil"}"#),
    ];
    for (credentials, payload) in table {
        let client =
            Client::builder(&base).with_credentials(credentials).build().expect("a client");
        let (kind, message, _) = failure_of(call(&client, &EVERYWHERE, payload).await);
        assert_eq!(kind, FailureKind::InvalidCall, "{payload}");
        let advice = "` is a credential, which only the client sends; leave it out";
        assert!(message.ends_with(advice), "{message}");
        call(&client, &EVERYWHERE, r#"{"id": 1}"#).await.expect("an answer");
    }
}

#[tokio::test]
async fn a_cookie_with_a_sign_in_its_name_is_no_second_credential() {
    static SIGNED: Operation = Operation {
        cookies: &[Parameter { name: "key!", property: "key" }],
        ..Operation::new("signed", Verb::Get, &[Part::Text("/")])
    };
    let base = echo().await;
    let credentials = Credentials::cookie("key!", "k");
    let client = Client::builder(&base).with_credentials(credentials).build().expect("a client");
    let (kind, message, _) = failure_of(call(&client, &SIGNED, r#"{"key": "evil"}"#).await);
    assert_eq!(kind, FailureKind::InvalidCall);
    assert!(message.contains("`key!` is a credential"), "{message}");
}

#[test]
fn credentials_in_a_cookie_have_a_valid_name() {
    let built = |name: &str| {
        Client::builder("http://shelter.test")
            .with_credentials(Credentials::cookie(name, "k"))
            .build()
    };
    built("key!").expect("a client");
    for name in ["", "a b", "a=b", "a;b", "é"] {
        let error = built(name).expect_err(name).to_string();
        assert!(error.contains("is not a valid name of a cookie"), "{error}");
    }
}

#[tokio::test]
async fn an_unknown_property_is_refused() {
    let base = echo().await;
    let (kind, message, _) =
        failure_of(call(&client(&base), &EVERYWHERE, r#"{"id": 1, "limits": 3}"#).await);
    assert_eq!(kind, FailureKind::InvalidCall);
    assert!(message.ends_with("`limits` is not a parameter of this method"), "{message}");
}
