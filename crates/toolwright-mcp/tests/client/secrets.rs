//! Credentials of the client that a server repeats are removed from everything that can be read.

use std::sync::{Arc, Mutex};

use toolwright::{FailureKind, Scope};
use toolwright_mcp::client::{Client, ClientError, McpToolset, ServerCommand, ServerUrl, Stderr};
use toolwright_runtime::Toolset;

use crate::http::{Peer, call};
use crate::peer::{can_run, command, short_timeouts};

const TOKEN: &str = "open+sesame/\"0123";
const KEY: &str = "x-key-of-the-host";
const PASSWORD: &str = "ann:pass-word-77";

/// Returns all texts of a server that people or models can read.
async fn read(client: &Client) -> Result<String, ClientError> {
    let mut texts = vec![format!("{:?}", client.connect().await?)];
    let called = call(client, "echo", r#"{"text":""}"#).await;
    texts.push(match called {
        Ok(result) => result.as_str().to_owned(),
        Err(failure) => format!("{failure} {failure:?}"),
    });
    texts.push(client.list_tools_raw().await?.json);
    let toolset = McpToolset::connect("peer", client).await?;
    for tool in toolset.tools(&Scope::default()).await.expect("they are listed") {
        let spec = tool.spec();
        texts.push(format!("{:?} {} {}", spec.title(), spec.description(), spec.args_schema()));
    }
    Ok(texts.join("\n"))
}

/// The server repeats them as plain text, percent-encoded, escaped as in JSON, in base64, and inside other values.
#[tokio::test]
async fn credentials_that_a_server_repeats_are_redacted() {
    if !can_run() {
        return;
    }
    let peer = Peer::start();
    for how in [
        "",
        "sse",
        "failure",
        "error",
        "list",
        "status",
        "challenge",
        "kind",
        "redirect",
        "refusal",
        "session",
    ] {
        let url = peer.url(&format!("telltale/{how}?key=query-key-of-ours&key-without-value"));
        let url = url.with_bearer(TOKEN).with_header("X-Key", KEY);
        let url = url.with_header("X-Basic", format!("Basic {PASSWORD}"));
        let url = url.with_header("Cookie", "session=cookie-of-ours");
        let client = Client::with_options(url, short_timeouts());
        let text = match read(&client).await {
            Ok(text) => text,
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(
            text.contains('…') || matches!(how, "status" | "refusal" | "session"),
            "{how}: {text}"
        );
        let names_session = text.contains("the session id repeats a credential of the client");
        assert_eq!(names_session, how == "session", "{text}");
        for secret in [
            TOKEN,
            "open+sesame",
            "open%2Bsesame",
            "\\u006f\\u0070\\u0065\\u006e",
            // Parts of base64 of the token after its scheme, and of the password.
            "ZW4rc2VzYW1l",
            KEY,
            PASSWORD,
            "OnBhc3Mtd29y",
            "query-key-of-ours",
            "key-without-value",
            "cookie-of-ours",
        ] {
            assert!(!text.contains(secret), "{how}: {secret} is in {text}");
        }
        client.close().await;
    }
}

#[tokio::test]
async fn secret_variables_that_a_started_server_repeats_are_redacted() {
    if !can_run() {
        return;
    }
    let lines = Arc::new(Mutex::new(Vec::<String>::new()));
    let sink = lines.clone();
    let stderr = Stderr::Sink(Arc::new(move |line: &str| {
        sink.lock().expect("nobody panics").push(line.to_owned());
    }));
    let command = command(&["chatty"]).stderr(stderr).secret_env("TOKEN", TOKEN);
    assert!(!format!("{command:?}").contains(TOKEN));
    let client = Client::with_options(command, short_timeouts());
    let payload = call(&client, "echo", "{}").await.expect("it works");
    assert_eq!(payload.as_str(), r#""{}…""#);
    client.close().await;
    assert_eq!(*lines.lock().expect("nobody panics"), ["it says things…"]);
}

/// The number is replaced by something that is not JSON.
#[tokio::test]
async fn a_result_with_a_number_that_is_a_credential_fails_at_once() {
    if !can_run() {
        return;
    }
    let command = command(&["chatty"]).secret_env("TOKEN", "1234567890123456");
    let client = Client::with_options(command, short_timeouts());
    let failure =
        crate::calls::call(&client, "numbers", r#"{"text":""}"#).await.expect_err("it is secret");
    assert_eq!(failure.kind, FailureKind::MalformedResult, "{failure:?}");
    let detail = failure.detail.expect("it says why");
    assert!(detail.contains("it has a number that is a credential of the client"), "{detail}");
    client.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_started_server_gets_no_variable_that_may_be_a_secret() {
    let lines_of = async |command: ServerCommand| {
        let (sender, mut lines) = tokio::sync::mpsc::unbounded_channel();
        let sink = Arc::new(move |line: &str| sender.send(line.to_owned()).expect("it is read"));
        let command = command.args(["-c", "env >&2"]).stderr(Stderr::Sink(sink));
        let client = Client::with_options(command, short_timeouts());
        client.connect().await.expect_err("it is no server");
        drop(client);
        let mut found = Vec::new();
        while let Some(line) = lines.recv().await {
            found.push(line);
        }
        found
    };
    // Cargo sets it for every test.
    let has = |lines: &[String], name: &str| lines.iter().any(|line| line.starts_with(name));
    let plain = lines_of(ServerCommand::new("/bin/sh").env("OWN", "1")).await;
    assert!(has(&plain, "PATH=") && has(&plain, "OWN=1"), "{plain:?}");
    assert!(!has(&plain, "CARGO_MANIFEST_DIR="), "{plain:?}");
    let all = lines_of(ServerCommand::new("/bin/sh").inherit_env()).await;
    assert!(has(&all, "PATH=") && has(&all, "CARGO_MANIFEST_DIR="), "{all:?}");
    let none = lines_of(ServerCommand::new("/bin/sh").env_clear()).await;
    assert!(!has(&none, "HOME="), "{none:?}");
}

#[tokio::test]
async fn a_client_with_two_authorizations_does_not_connect() {
    let url = ServerUrl::new("http://127.0.0.1:1/mcp");
    let url = url.with_bearer(TOKEN).with_header("authorization", "Basic abc");
    let error =
        Client::with_options(url, short_timeouts()).connect().await.expect_err("which of them?");
    let expected = "found a bearer token and a header `Authorization`, expected one of them";
    assert!(error.to_string().contains(expected), "{error}");
}
