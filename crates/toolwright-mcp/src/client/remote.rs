//! Calls tools on a server, with a timeout and the drift policy. The caller has validated the arguments.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use toolwright::spec::ToolSpec;
use toolwright::untrusted::excerpt;
use toolwright::{
    BoxFuture, FailureKind, Origin, Payload, Recovery, Remote, RemoteCall, ToolCall, ToolFailure,
};

use super::connection::Connection;
use super::drift::Drift;
use super::error::{ClientError, MAX_SERVER_TEXT};
use super::failure::{failure, failure_before_call};
use super::options::DriftPolicy;
use super::{Client, answer};

/// A call of a server's tool.
pub(super) struct ServerCall<'a> {
    pub(super) spec: &'a ToolSpec,
    pub(super) call: &'a ToolCall,
    /// The name of the tool on the server.
    pub(super) tool: &'a str,
    pub(super) checked: Checked,
}

/// How it is known that the tool is the expected one.
pub(super) enum Checked {
    /// It is to be compared with the tools that a generated toolset was written for.
    Against(&'static Origin),
    /// It was compared on this connection. In another one, it may be another tool.
    On(Arc<Connection>),
}

impl Remote for Client {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        let server_call = ServerCall {
            spec: call.spec,
            call: call.call,
            tool: call.remote_name(),
            checked: Checked::Against(call.origin),
        };
        Box::pin(self.run(server_call))
    }
}

impl Client {
    /// Sends a call and converts its result.
    pub(super) async fn run(&self, call: ServerCall<'_>) -> Result<Payload, ToolFailure> {
        let default = self.connector().options().call_timeout;
        let result = self.send(&call, call.spec.limits().timeout.unwrap_or(default)).await?;
        let accepts = |json: &[u8]| call.spec.check_result(json).is_ok();
        answer::payload(&result, call.call, call.spec.annotations(), accepts)
    }

    async fn send(
        &self,
        call: &ServerCall<'_>,
        timeout: Duration,
    ) -> Result<Box<RawValue>, ToolFailure> {
        let to_failure = |error: ClientError| failure(&error, call.spec, call.call);
        let arguments = RawValue::from_string(call.call.args().to_string())
            .map_err(|error| ToolFailure::internal(&error))?;
        let sending = async {
            let connection = match &call.checked {
                Checked::On(connection) => connection.clone(),
                Checked::Against(origin) => {
                    let connection = self.connector().connection().await.map_err(to_failure)?;
                    if self.compares_tools() {
                        let limit = self.connector().options().connect_timeout;
                        let drift = self.tool_cache().drift(&connection, origin);
                        let drift = tokio::time::timeout(limit, drift).await;
                        let drift = drift.unwrap_or(Err(ClientError::Timeout(limit)));
                        let drift = drift
                            .map_err(|error| failure_before_call(&error, call.spec, call.call))?;
                        self.check_drift(&drift, call)?;
                    }
                    connection
                }
            };
            connection.call(call.tool, &arguments).await.map_err(to_failure)
        };
        match tokio::time::timeout(timeout, sending).await {
            Ok(result) => result,
            Err(_) => Err(to_failure(ClientError::Timeout(timeout))),
        }
    }

    fn compares_tools(&self) -> bool {
        self.connector().options().drift != DriftPolicy::Ignore
    }

    /// Fails if the tool has changed or is missing and the policy refuses such calls.
    fn check_drift(&self, drift: &Drift, call: &ServerCall<'_>) -> Result<(), ToolFailure> {
        let blocks_texts = match self.connector().options().drift {
            DriftPolicy::AcceptText => false,
            DriftPolicy::Block => true,
            DriftPolicy::Warn | DriftPolicy::Ignore => return Ok(()),
        };
        let (ours, theirs) = (call.call.tool(), call.tool);
        let (kind, message) = if drift.missing.contains(theirs) {
            (FailureKind::NotFound, format!("the server of `{ours}` no longer has this tool"))
        } else if let Some(how) = drift.changed.get(theirs) {
            let message = format!("`{ours}` has changed on its server: {how}");
            (FailureKind::Denied, excerpt(&message, MAX_SERVER_TEXT))
        } else if blocks_texts && drift.reworded.contains(theirs) {
            let message = format!("`{ours}` has changed on its server: its texts differ");
            (FailureKind::Denied, message)
        } else {
            return Ok(());
        };
        let detail = format!(
            "the tools of MCP server {} drifted: {drift}; review them with `toolwright import mcp`",
            self.connector().address()
        );
        Err(ToolFailure::new(kind, message, Recovery::Replan).with_detail(detail))
    }

    /// Compares the tools of the server with those that a generated toolset was written for, whatever the policy. For
    /// example: `client.drift(&github_tools::specs::REMOTE)`.
    ///
    /// # Errors
    ///
    /// Fails like [`Client::list_tools_raw`].
    pub async fn drift(&self, origin: &'static Origin) -> Result<Arc<Drift>, ClientError> {
        let limit = self.connector().options().connect_timeout;
        let compare = async {
            let connection = self.connector().connection().await?;
            self.tool_cache().drift(&connection, origin).await
        };
        tokio::time::timeout(limit, compare).await.unwrap_or(Err(ClientError::Timeout(limit)))
    }
}
