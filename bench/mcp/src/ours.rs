//! The generated server of toolwright.

use std::error::Error;
use std::thread;
use std::time::Duration;

use tokio::net::TcpListener;
use toolwright::MethodError;
use toolwright_mcp::{HttpOptions, Limits};
use toolwright_mcp_bench::generated::load_mcp;
use toolwright_mcp_bench::generated::load_service::service::LoadService;
use toolwright_mcp_bench::generated::load_service::types::{
    AddPayload, AddResult, BlockPayload, BlockResult, FillPayload, FillResult, PanicPayload,
    PanicResult,
};

/// The service of `schema/load.yaml`.
struct Load;

impl LoadService for Load {
    async fn add(&self, payload: AddPayload) -> Result<AddResult, MethodError> {
        Ok(AddResult { sum: payload.a + payload.b })
    }

    async fn panic(&self, _: PanicPayload) -> Result<PanicResult, MethodError> {
        panic!("as intended")
    }

    async fn block(&self, payload: BlockPayload) -> Result<BlockResult, MethodError> {
        thread::sleep(Duration::from_millis(payload.milliseconds.into()));
        Ok(BlockResult {})
    }

    async fn fill(&self, payload: FillPayload) -> Result<FillResult, MethodError> {
        Ok(FillResult { text: "x".repeat(payload.bytes as usize) })
    }
}

/// Serves stdio, or the given listener.
pub(crate) async fn serve(listener: Option<TcpListener>) -> Result<(), Box<dyn Error>> {
    // Enough for a thousand well-behaved clients and those that misbehave.
    let limits = Limits {
        connections: 2_000,
        client_connections: 2_000,
        client_sessions: 2_000,
        ..Limits::default()
    };
    let server = load_mcp::server(Load)?.with_limits(limits);
    match listener {
        None => server.serve_stdio().await?,
        Some(listener) => server.serve_listener(listener, HttpOptions::new()).await?,
    }
    Ok(())
}
