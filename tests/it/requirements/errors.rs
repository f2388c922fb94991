//! Tests the failures of declared errors: their message, data and recovery.

use std::sync::Arc;

use tokio::net::TcpListener;
use toolwright::spec::ToolAnnotations;
use toolwright::{
    DeclaredError, Executor, FailureKind, MethodError, Payload, Recovery, ToolFailure,
};
use toolwright_mcp::HttpOptions;
use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
use toolwright_runtime::Toolset as _;

use crate::requirement_cases::library_mcp;
use crate::requirement_cases::library_service::errors::LendError;
use crate::requirement_cases::library_service::service::LibraryService;
use crate::requirement_cases::library_service::types::{
    Isbn, LendLimit, LendPayload, Missing, Mood, ShelvePayload,
};
use crate::requirement_cases::library_tools::calls;
use crate::requirement_cases::library_tools::executor::LibraryExecutor;

/// A library that fails in different ways, by the ISBN of the book.
struct Library;

fn missing() -> Missing {
    Missing {
        isbn: Isbn("0001".to_owned()),
        shelf: Isbn("0002".to_owned()),
        days: 1.5,
        mood: Mood::Mild,
        is_lent: true,
        others: None,
    }
}

impl LibraryService for Library {
    async fn lend(&self, payload: LendPayload) -> Result<(), MethodError<LendError>> {
        match payload.isbn.0.as_str() {
            "0001" => Err(LendError::Missing(missing()).into()),
            "0002" => Err(LendError::Limit(LendLimit::new(3)))?,
            // More than the schema of the error allows.
            "0003" => Err(LendError::Limit(LendLimit::new(10)))?,
            "0004" => Err(LendError::Closed)?,
            "0005" => Err(LendError::Iso)?,
            isbn => {
                isbn.parse::<u8>()?;
                Ok(())
            }
        }
    }

    async fn shelve(&self, _: ShelvePayload) -> Result<(), MethodError> {
        Ok(())
    }
}

async fn failure(isbn: &str) -> ToolFailure {
    let args = LendPayload::new(Isbn(isbn.to_owned()));
    let call = calls::lend(&args).expect("a number of four digits");
    let result = LibraryExecutor::new(Library).execute(&call).await;
    result.outcome.as_ref().expect_err("there is no such book").clone()
}

/// The runtime may repeat a declared error.
#[test]
fn a_failure_that_may_have_had_an_effect_is_no_declared_error() {
    let closed = || ToolFailure::declared("closed", "Closed.", Recovery::Retry);
    assert_eq!(LendError::from_failure(closed()).unwrap(), LendError::Closed);
    let lost = closed().with_possible_effect(ToolAnnotations::UNKNOWN);
    let MethodError::Internal(cause) = MethodError::<LendError>::from(lost) else {
        panic!("no declared error")
    };
    assert!(cause.to_string().contains("may have taken effect"), "{cause}");
}

#[tokio::test]
async fn declared_errors_carry_their_message_data_and_recovery() {
    let closed = "the library is closed. Come back tomorrow.";
    let table = [
        (
            "0001",
            "missing",
            "0001 is not on 0002 since 1.5 days: {mild}, true",
            Some(r#"{"isbn":"0001","shelf":"0002","days":1.5,"mood":"mild","is_lent":true}"#),
            Recovery::Replan,
        ),
        ("0002", "limit", "nobody gets more than 3 books", Some(r#"{"most":3}"#), Recovery::Finish),
        ("0004", "closed", closed, None, Recovery::Retry),
        ("0005", "iso", "ISBNs are missing", None, Recovery::Replan),
    ];
    for (isbn, code, sentence, data, recovery) in table {
        let failure = failure(isbn).await;
        assert_eq!(failure.code.as_deref(), Some(code));
        assert_eq!(failure.message, sentence);
        assert_eq!(failure.data.as_ref().map(Payload::as_str), data);
        assert_eq!(failure.recovery, recovery);
    }
}

/// G24: `_meta` of the answer carries the code and data of a failure, from which the client makes the same failure and error.
#[tokio::test]
async fn g24_a_client_of_an_mcp_server_gets_the_code_and_the_data_of_a_declared_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let server = library_mcp::server(Arc::new(Library)).expect("all is there");
    let serving = tokio::spawn(server.serve_listener(listener, HttpOptions::new()));
    let client = Client::new(ServerUrl::new(format!("http://{address}/mcp")));
    let remote = McpToolset::connect("library", &client).await.expect("it lists its tools");

    for (isbn, error) in [("0001", LendError::Missing(missing())), ("0004", LendError::Closed)] {
        let call = calls::lend(&LendPayload::new(Isbn(isbn.to_owned()))).expect("four digits");
        let remote = remote.call(&call).await.outcome.expect_err("there is no such book");
        let local = failure(isbn).await;
        assert_eq!((remote.kind, &remote.recovery), (local.kind, &local.recovery));
        assert_eq!((&remote.message, &remote.code), (&local.message, &local.code));
        assert_eq!(LendError::from_failure(remote), Ok(error));
    }
    client.close().await;
    serving.abort();
}

/// G25: a service of two toolsets is passed once, and the caller keeps its own reference.
#[tokio::test]
async fn a_server_takes_a_service_once_and_shares_it() {
    let library = Arc::new(Library);
    let server = library_mcp::server(Arc::clone(&library)).expect("all is there");
    assert_eq!(Arc::strong_count(&library), 2);
    drop(server);
    let borrowed = (&&library).lend(LendPayload::new(Isbn("0004".to_owned()))).await;
    assert!(matches!(borrowed, Err(MethodError::Declared(LendError::Closed))));
}

#[tokio::test]
async fn an_error_with_data_that_its_schema_refuses_is_an_internal_failure() {
    let failure = failure("0003").await;
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!((failure.code, failure.data), (None, None));
}

#[tokio::test]
async fn internal_errors_are_hidden_from_the_model() {
    let failure = failure("9999").await;
    assert_eq!(failure.kind, FailureKind::Internal);
    assert_eq!(failure.message, "the tool failed internally");
    assert!(failure.detail.expect("operators are told").contains("number too large"));
}
