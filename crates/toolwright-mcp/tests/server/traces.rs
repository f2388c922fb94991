//! Tests that a trace goes on from a client to a server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use toolwright::{Payload, Scope, ToolCall};
use toolwright_mcp::HttpOptions;
use toolwright_mcp::client::{Client, McpToolset, ServerUrl};
use toolwright_runtime::Toolset;
use toolwright_runtime::watch::propagate_traces;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Instrument, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

use crate::wire::served;

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// The parents that spans were given.
static PARENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The fields of the spans of served requests.
#[derive(Clone, Default)]
struct Served(Arc<Mutex<BTreeMap<String, String>>>);

impl Visit for Served {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Served {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        if attributes.metadata().name() == "serve" {
            attributes.record(&mut self.clone());
        }
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        values.record(&mut self.clone());
    }
}

/// Trace contexts are set for the whole process, so this test is the only one about them.
#[test]
fn a_server_serves_a_call_in_a_span_below_that_of_its_client() {
    propagate_traces(
        |span| (span.metadata()?.name() == "caller").then(|| CALLER.to_owned()),
        |_, parent| PARENTS.lock().unwrap().push(parent.to_owned()),
    );
    let calling = async {
        let address = served(HttpOptions::new()).await;
        let client = Client::new(ServerUrl::new(format!("http://{address}/mcp")));
        let toolset = McpToolset::connect("lab", &client).await.unwrap();
        toolset.tools(&Scope::default()).await.unwrap();
        let call = ToolCall::new("echo", Payload::new(r#"{"a":1}"#));
        toolset.call(&call).await.outcome.unwrap();
        assert_eq!(*PARENTS.lock().unwrap(), [] as [&str; 0]);
        let caller = tracing::info_span!("caller");
        toolset.call(&call).instrument(caller).await.outcome.unwrap();
    };
    let served = Served::default();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    with_default(Registry::default().with(served.clone()), || tokio.block_on(calling));
    assert_eq!(*PARENTS.lock().unwrap(), [CALLER]);
    let fields = served.0.lock().unwrap();
    for (name, expected) in [
        ("otel.name", "\"tools/call echo\""),
        ("otel.kind", "\"server\""),
        ("mcp.method.name", "\"tools/call\""),
        ("gen_ai.tool.name", "\"echo\""),
    ] {
        assert_eq!(fields.get(name).map(String::as_str), Some(expected), "{name}");
    }
}
