//! Tests a generated HTTP client against a server in the test, through the executor of its toolset and by direct calls. The
//! tests of `toolwright-http` cover how requests are written.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use toolwright::{
    BoxError, Executor as _, FailureKind, MethodError, Payload, Recovery, ToolCall, ToolFailure,
    ToolResult,
};
use toolwright_http::{Client, Credentials};
use toolwright_runtime::{Registry, Runtime};

use crate::http_cases::shelter_http::client::ShelterHttp;
use crate::http_cases::shelter_service::errors::{AdmitAnimalError, GetAnimalError};
use crate::http_cases::shelter_service::service::ShelterService as _;
use crate::http_cases::shelter_service::types::{
    AdmitAnimalPayload, Animal, Full, GetAnimalPayload,
};
use crate::http_cases::shelter_tools::{self, executor::ShelterExecutor};

/// A shelter with the animal 9007199254740993, which no double can hold, and room for a light one.
async fn shelter() -> ShelterHttp {
    let router = Router::new()
        .route("/v1/animals", post(admit))
        .route("/v1/animals/{id}", get(find).delete(release))
        .route(
            "/v1/animals/{id}/story",
            get(|Path(id): Path<String>| async move { format!("{id} came \"by night\"\n") }),
        );
    let base = serve(router).await;
    ShelterHttp::new(Client::builder(base).build().expect("an address of this machine"))
}

/// Serves a router. Returns the base address of its version 1.
async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}/v1/", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

/// A runtime with the tools of the shelter at an address.
fn host(base: &str, token: &str) -> Result<Runtime, BoxError> {
    let mut registry = Registry::new();
    let client = Client::builder(base).with_credentials(Credentials::bearer(token)).build()?;
    shelter_tools::register(&mut registry, ShelterHttp::new(client))?;
    Ok(Runtime::new(registry))
}

async fn find(Path(id): Path<u64>) -> (StatusCode, &'static str) {
    match id {
        9_007_199_254_740_993 => {
            (StatusCode::OK, r#"{"id":9007199254740993,"name":"Rex","chip":"new"}"#)
        }
        1 => (StatusCode::OK, r#"{"id":"one","name":""}"#),
        2 => (StatusCode::SERVICE_UNAVAILABLE, "closed"),
        _ => (StatusCode::NOT_FOUND, "no row in table animals"),
    }
}

async fn admit(uri: Uri, body: String) -> (StatusCode, String) {
    if body.contains("\"weight\":900") {
        return (StatusCode::UNPROCESSABLE_ENTITY, "weight: at most 80".to_owned());
    }
    match uri.query() {
        Some("dryRun=true") => (StatusCode::OK, body),
        Some("dryRun=false") => (StatusCode::CONFLICT, "<html>".to_owned()),
        _ => (StatusCode::CONFLICT, r#"{"room": 12}"#.to_owned()),
    }
}

async fn release(headers: HeaderMap) -> (StatusCode, String) {
    let reason = headers.get("x-reason").and_then(|value| value.to_str().ok()).unwrap_or_default();
    match reason {
        "adopted" => (StatusCode::NO_CONTENT, String::new()),
        _ => (StatusCode::FORBIDDEN, reason.to_owned()),
    }
}

async fn run(tool: &str, args: &str) -> ToolResult {
    let call = ToolCall::new(tool, Payload::new(args));
    ShelterExecutor::new(shelter().await).execute(&call).await
}

async fn failure(tool: &str, args: &str) -> ToolFailure {
    run(tool, args).await.outcome.as_ref().expect_err("a failure").clone()
}

#[tokio::test]
async fn tools_over_http_return_the_exact_results_of_the_service() {
    let table = [
        (
            "get_animal",
            r#"{"id": 9007199254740993}"#,
            r#"{"id":9007199254740993,"name":"Rex","chip":"new"}"#,
        ),
        (
            "admit_animal",
            r#"{"animal": {"id": 3, "name": "Ada"}, "dry_run": true}"#,
            r#"{"id":3,"name":"Ada"}"#,
        ),
        ("release_animal", r#"{"id": 3, "reason": "adopted"}"#, "null"),
        ("tell_story", r#"{"id": "a/b"}"#, r#""a/b came \"by night\"\n""#),
    ];
    for (tool, args, expected) in table {
        let result = run(tool, args).await;
        assert_eq!(result.outcome.as_ref().map(Payload::as_str), Ok(expected), "{tool}");
    }
}

#[tokio::test]
async fn a_client_is_registered_as_any_implementation_of_the_service() {
    let known = get(async |headers: HeaderMap| match headers.get("authorization") {
        Some(token) if token == "Bearer open sesame" => {
            (StatusCode::OK, r#"{"id":7,"name":"Rex","chip":"new"}"#)
        }
        _ => (StatusCode::UNAUTHORIZED, "who are you?"),
    });
    let base = serve(Router::new().route("/v1/animals/{id}", known)).await;
    for (token, is_known) in [("open sesame", true), ("hello", false)] {
        let call = ToolCall::new("get_animal", Payload::new(r#"{"id":7}"#));
        let result = host(&base, token).expect("it is complete").call(call).await;
        assert_eq!(result.outcome.is_ok(), is_known, "{token}: {:?}", result.outcome);
    }
}

#[tokio::test]
async fn a_declared_error_has_the_text_of_the_schema_and_operators_see_the_response() {
    let failure = failure("get_animal", r#"{"id": 77}"#).await;
    assert_eq!(failure.kind, FailureKind::DomainRejection);
    assert_eq!(failure.code.as_deref(), Some("no_animal"));
    assert_eq!(failure.message, "there is no such animal");
    assert_eq!(failure.detail.as_deref(), Some("no row in table animals"));
}

#[tokio::test]
async fn the_message_of_an_error_without_its_data_has_no_names_of_properties() {
    let args = r#"{"animal": {"id": 3, "name": "Ada"}, "dry_run": false}"#;
    let failure = failure("admit_animal", args).await;
    assert_eq!(failure.code.as_deref(), Some("full"));
    assert_eq!(failure.message, "there is room for … kg");
}

#[tokio::test]
async fn what_the_service_said_reaches_the_model_where_it_can_correct_its_call() {
    let heavy = r#"{"animal": {"id": 3, "name": "Ada", "weight": 900}}"#;
    let failure = failure("admit_animal", heavy).await;
    assert_eq!(failure.code.as_deref(), Some("refused"));
    assert_eq!(
        failure.message,
        "the animal cannot be taken in; the service says: weight: at most 80"
    );
    assert!(matches!(failure.recovery, Recovery::CorrectCall(_)), "{:?}", failure.recovery);
}

#[tokio::test]
async fn other_failures_keep_their_kind_through_the_service_trait() {
    let table = [
        ("get_animal", r#"{"id": 2}"#, FailureKind::Unavailable),
        ("get_animal", r#"{"id": 1}"#, FailureKind::MalformedResult),
        ("release_animal", r#"{"id": 2, "reason": "tired of it"}"#, FailureKind::Denied),
        ("release_animal", r#"{"id": 2, "reason": "a\nb"}"#, FailureKind::InvalidCall),
        ("tell_story", r#"{"id": ".."}"#, FailureKind::InvalidCall),
    ];
    for (tool, args, kind) in table {
        let failure = failure(tool, args).await;
        assert_eq!(failure.kind, kind, "{tool} {args}: {failure:?}");
        assert!(!failure.message.contains("tired"), "{failure:?}");
        let is_correctable = matches!(failure.recovery, Recovery::CorrectCall(_));
        assert_eq!(is_correctable, kind == FailureKind::InvalidCall, "{failure:?}");
    }
}

#[tokio::test]
async fn typed_callers_match_on_declared_errors() {
    let shelter = shelter().await;
    let missing = shelter.get_animal(GetAnimalPayload { id: 5 }).await;
    assert!(
        matches!(missing, Err(MethodError::Declared(GetAnimalError::NoAnimal(Some(text)))) if text.contains("no row"))
    );
    let animal = Animal::new(3, "Ada");
    let full = shelter.admit_animal(AdmitAnimalPayload { animal, dry_run: None }).await;
    let Err(MethodError::Declared(full)) = full else { panic!("{full:?}") };
    assert_eq!(full, AdmitAnimalError::Full(Full::new(12)));
    assert_eq!(full.to_string(), "there is room for 12 kg");
    let closed = shelter.get_animal(GetAnimalPayload { id: 2 }).await.expect_err("it is closed");
    assert_eq!(
        closed.to_string(),
        "internal: unavailable: the service behind `get_animal` cannot answer now (status 503)"
    );
}
