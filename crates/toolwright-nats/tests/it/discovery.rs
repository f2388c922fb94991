//! Workers as services of NATS: the answers are read by the types of `async-nats`.

use std::time::Duration;

use futures_util::StreamExt;
use serde_json::Value;
use toolwright::Scope;
use toolwright_engines::nats;
use toolwright_nats::async_nats::Client;
use toolwright_nats::async_nats::service::{Info, PingResponse, Stats};
use toolwright_nats::{NatsOptions, serve};
use toolwright_runtime::Toolset;

use crate::{Log, call, client, connect, tools, worker};

/// All answers on a subject.
async fn answers(client: &Client, subject: &str) -> Vec<Value> {
    let inbox = client.new_inbox();
    let mut replies = client.subscribe(inbox.clone()).await.unwrap();
    client.publish_with_reply(subject.to_owned(), inbox, "".into()).await.unwrap();
    let mut found = Vec::new();
    let wait = Duration::from_millis(300);
    while let Ok(Some(reply)) = tokio::time::timeout(wait, replies.next()).await {
        found.extend(serde_json::from_slice::<Value>(&reply.payload));
    }
    found
}

#[tokio::test]
async fn workers_are_services_with_the_digest_of_their_tools() {
    let Some(server) = nats() else { return };
    let (client, log) = (client(&server).await, Log::default());
    let options = NatsOptions::new().with_version("1.2.3").with_description("Sleeps.");
    let first = worker(&server, "far.away", &log, options.clone()).await;
    let _second = worker(&server, "far.away", &log, options.clone()).await;
    let other = toolwright_runtime::FunctionTool::new(toolwright::ToolSpec::new("x"), async || 1);
    let _other = serve(&client, "other", other, NatsOptions::new()).await.unwrap();

    assert_eq!(answers(&client, "$SRV.PING").await.len(), 3);
    let infos = answers(&client, "$SRV.INFO.toolwright-far-2Eaway").await;
    let infos: Vec<Info> =
        infos.into_iter().map(|info| serde_json::from_value(info).unwrap()).collect();
    assert_eq!(infos.len(), 2);
    for info in &infos {
        assert_eq!((info.version.as_str(), info.description.as_str()), ("1.2.3", "Sleeps."));
        assert_eq!(info.metadata["toolset"], "far.away");
        assert_eq!(info.metadata["tools.sha256"].len(), 64);
        assert_eq!(info.metadata, infos[0].metadata);
        assert_eq!(info.endpoints[0].subject, "toolwright.far-2Eaway");
    }
    let ping = answers(&client, "$SRV.PING.toolwright-other").await;
    let ping: PingResponse = serde_json::from_value(ping[0].clone()).unwrap();
    assert_ne!(ping.metadata["tools.sha256"], infos[0].metadata["tools.sha256"]);

    let toolset = connect(&server, "far.away").await;
    for n in 0..10 {
        toolset.call(&call("sleep", n)).await.outcome.unwrap();
    }
    let stats = answers(&client, "$SRV.STATS.toolwright-far-2Eaway").await;
    let stats = stats.into_iter().map(|stats| serde_json::from_value::<Stats>(stats).unwrap());
    assert_eq!(stats.map(|stats| stats.endpoints[0].requests).sum::<usize>(), 10);

    let one = format!("$SRV.PING.toolwright-far-2Eaway.{}", first.id());
    assert_eq!(answers(&client, &one).await.len(), 1);
    first.shutdown().await;
    assert_eq!(answers(&client, &one).await.len(), 0);
}

#[tokio::test]
async fn names_that_differ_only_in_separators_are_different_toolsets() {
    let Some(server) = nats() else { return };
    let client = client(&server).await;
    let names = ["a.b", "a-b", "a b", "a_b", "a*", "a>", "A.B", "a-2Eb"];
    let mut workers = Vec::new();
    for name in names {
        let tool = toolwright::ToolSpec::new("name");
        let tool = toolwright_runtime::FunctionTool::new(tool, async move || name.to_owned());
        workers.push(serve(&client, name, tool, NatsOptions::new()).await.unwrap());
    }
    for name in names {
        let toolset = connect(&server, name).await;
        let call = toolwright::ToolCall::new("name", toolwright::Payload::new("{}"));
        let said = toolset.call(&call).await.outcome.unwrap();
        assert_eq!(said.as_str(), format!("{name:?}"));
        assert_eq!(toolset.tools(&Scope::default()).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_toolset_that_is_not_shared_and_a_wrong_version_are_refused() {
    let Some(server) = nats() else { return };
    let client = client(&server).await;
    let factory = |_: Scope| tools(&Log::default());
    let error = serve(&client, "mine", factory, NatsOptions::new()).await.unwrap_err();
    let expected = "the toolset `mine` is not provided: it has an instance for each run, expected one that runs share";
    assert_eq!(error.to_string(), expected);
    let options = NatsOptions::new().with_version("latest");
    let error = serve(&client, "mine", tools(&Log::default()), options).await.unwrap_err();
    assert!(error.to_string().starts_with("the version is `latest`, expected one like"), "{error}");
    let absent = toolwright_nats::NatsToolset::connect(&client, "mine", NatsOptions::new()).await;
    let expected = "no worker of the toolset `mine` responds; start one";
    assert_eq!(absent.unwrap_err().to_string(), expected);
}
