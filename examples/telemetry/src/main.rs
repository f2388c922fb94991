//! An agent whose traces and metrics are exported over OTLP and whose logs are JSON lines. Its tool runs in this process or in a
//! worker of Restate or NATS:
//!
//! ```text
//! telemetry                    runs the agent and its tool
//! telemetry worker             serves the tool and the agent, prints the address for `POST /deployments`, and ends when its input does
//! telemetry restate INGRESS    runs the agent, whose tool is in workers
//! telemetry start INGRESS      runs the agent in a worker
//! telemetry nats-worker URL    serves the tool, prints a line when it is ready, and ends when its input does
//! telemetry nats URL           runs the agent, whose tool is in workers
//! ```
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` is the address of the collector, by default `http://localhost:4318`, and `OTEL_SERVICE_NAME` the
//! name of the process. `RUST_LOG` selects the logs.

mod agent;
mod export;
mod metrics;

use std::io::{Read, stdin};
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use toolwright::call::fresh_id;
use toolwright::{BoxError, Payload};
use toolwright_nats::{NatsOptions, NatsToolset, async_nats};
use toolwright_restate::{Ingress, RestateToolset, Runs, Start, Worker};
use toolwright_runtime::tools::IntoSource;
use toolwright_runtime::{Background, Registry, RunRequest, Runtime, Source};
use tracing::Instrument;

use crate::export::Telemetry;

fn main() -> Result<(), BoxError> {
    let telemetry = Telemetry::start()?;
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let events = Arc::clone(&telemetry.events);
    let ran = tokio::runtime::Runtime::new()?.block_on(async {
        match args[..] {
            [] => run(agent::add().into_source(), events).await,
            ["restate", ingress] => {
                let spec = agent::add().entry().spec_ref().clone();
                let toolset = RestateToolset::new(&Ingress::new(ingress)?, [spec]);
                run(toolset.into_source(), events).await
            }
            ["start", ingress] => start(ingress).await,
            ["worker"] => serve(events).await,
            ["nats", url] => {
                let nats = async_nats::connect(url).await?;
                let toolset = NatsToolset::connect(&nats, agent::TOOLSET, NatsOptions::new());
                run(toolset.await?.into_source(), events).await
            }
            ["nats-worker", url] => serve_nats(url).await,
            _ => Err("expected no argument, or one of `worker`, `restate INGRESS`, `start INGRESS`, `nats-worker URL` and `nats URL`".into()),
        }
    });
    telemetry.finish()?;
    ran
}

/// Runs the agent, and prints its answer.
async fn run(toolset: Source, events: Arc<Background>) -> Result<(), BoxError> {
    let registry = Registry::new();
    registry.register_toolset(agent::TOOLSET, toolset)?;
    agent::register(&registry)?;
    let runtime = Runtime::builder(registry).with_events(events).build();
    let request = RunRequest::new(agent::AGENT, question());
    let answer = runtime.run(request).await?.result()?;
    println!("{answer}");
    Ok(())
}

/// Starts a run of the agent in a worker, and prints its answer.
async fn start(ingress: &str) -> Result<(), BoxError> {
    let runs = Runs::new(&Ingress::new(ingress)?, agent::AGENT);
    let (id, start) = (fresh_id("run"), Start::new(&question())?);
    runs.start(&id, &start).instrument(tracing::info_span!("start", otel.kind = "client")).await?;
    println!("{}", runs.result(&id).await??);
    Ok(())
}

fn question() -> Payload {
    Payload::new(r#""How much is 2 and 40?""#)
}

/// Serves the tool and the agent to a Restate server.
async fn serve(events: Arc<Background>) -> Result<(), BoxError> {
    let registry = Registry::new();
    registry.register_toolset(agent::TOOLSET, agent::add())?;
    agent::register(&registry)?;
    let worker = Worker::new(Runtime::builder(registry).with_events(events)).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("http://{}", listener.local_addr()?);
    worker.serve_until(listener, end_of_input()).await?;
    Ok(())
}

/// Serves the tool over NATS.
async fn serve_nats(url: &str) -> Result<(), BoxError> {
    let nats = async_nats::connect(url).await?;
    let serving = toolwright_nats::serve(&nats, agent::TOOLSET, agent::add(), NatsOptions::new());
    let worker = serving.await?;
    println!("ready");
    end_of_input().await;
    worker.shutdown().await;
    Ok(())
}

async fn end_of_input() {
    let _ = spawn_blocking(|| stdin().read_to_end(&mut Vec::new())).await;
}
