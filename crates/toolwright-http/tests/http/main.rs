//! The client against a server of the test's own: where each part of a payload goes, what each answer means, and what
//! happens when there is none. Never generated code: the tests of the root package have that.

mod faults;
mod placement;
mod server;
mod statuses;

use toolwright::{FailureKind, ToolFailure, Value};
use toolwright_http::{Client, Credentials, Operation};

/// A client of the test's own server.
fn client(base: &str) -> Client {
    Client::builder(base).build().expect("an address of this machine")
}

async fn call(
    client: &Client,
    operation: &'static Operation,
    payload: &str,
) -> Result<Value, ToolFailure> {
    let payload: Value = payload.parse().expect(payload);
    client.call(operation, &payload).await
}

/// The kind of a failure, and both of its texts.
fn words(result: Result<Value, ToolFailure>) -> (FailureKind, String, String) {
    let failure = result.expect_err("a failure");
    (failure.kind, failure.message, failure.detail.unwrap_or_default())
}

#[test]
fn an_address_that_is_no_base_is_refused() {
    let table = [
        ("shelter", "is no address"),
        ("ftp://shelter.test", "is `ftp`"),
        ("http://shelter.test/v1?a=b", "has a query"),
        ("http://user:secret@shelter.test", "has a user in it"),
    ];
    for (base, expected) in table {
        let error = Client::builder(base).build().expect_err(base).to_string();
        assert!(error.contains(expected) && !error.contains("secret"), "{base}: {error}");
    }
    let tls = Client::builder("https://shelter.test").build();
    assert_eq!(tls.is_ok(), cfg!(feature = "tls"));
}

#[test]
fn credentials_that_cannot_be_sent_are_refused_and_never_printed() {
    let secret = "s3cr\net";
    for credentials in [Credentials::bearer(secret), Credentials::header("X-Key", secret)] {
        let shown = format!("{credentials:?}");
        let error = Client::builder("http://shelter.test").with_credentials(credentials).build();
        let error = error.expect_err("a line break").to_string();
        assert!(!shown.contains("s3cr") && !error.contains("s3cr"), "{shown} {error}");
    }
    let good =
        Client::builder("http://shelter.test").with_credentials(Credentials::query("k", "s3cret"));
    assert!(!format!("{good:?}").contains("s3cret"));
    assert!(!format!("{:?}", good.build().expect("it is plain")).contains("s3cret"));
}
