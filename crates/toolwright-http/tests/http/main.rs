//! Tests the client against servers of its own. The tests of the root package cover generated code.

mod faults;
mod placement;
mod server;
mod statuses;

use toolwright::{FailureKind, ToolFailure, Value};
use toolwright_http::{Client, Credentials, Operation};

/// Creates a client without credentials.
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

/// Returns the kind, the message and the detail of a failure.
fn failure_of(result: Result<Value, ToolFailure>) -> (FailureKind, String, String) {
    let failure = result.expect_err("a failure");
    (failure.kind, failure.message, failure.detail.unwrap_or_default())
}

#[test]
fn an_invalid_base_address_is_refused() {
    let table = [
        ("shelter", "is not an address"),
        ("ftp://shelter.test", "is `ftp`"),
        ("http://shelter.test/v1?a=b", "has a query"),
        ("http://user:secret@shelter.test", "has a user name"),
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
