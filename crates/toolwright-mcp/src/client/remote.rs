//! Calls of tools on a server: a deadline, the drift policy, the call, and what becomes of its result. Never judges
//! arguments: whoever calls has.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use toolwright::spec::ToolSpec;
use toolwright::untrusted::excerpt;
use toolwright::{
    BoxFuture, FailureKind, Origin, Payload, Recovery, Remote, RemoteCall, ToolCall, ToolFailure,
};

use super::drift::Drift;
use super::error::{ClientError, LONGEST};
use super::failure::failure;
use super::options::DriftPolicy;
use super::{Client, answer};

/// A call under way.
pub(super) struct Asked<'a> {
    pub(super) spec: &'a ToolSpec,
    pub(super) call: &'a ToolCall,
    /// The tool's name on the server.
    pub(super) tool: &'a str,
    /// What the toolset was written for, where it was written.
    pub(super) origin: Option<&'static Origin>,
}

impl Remote for Client {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        let asked = Asked {
            spec: call.spec,
            call: call.call,
            tool: call.remote_name(),
            origin: Some(call.origin),
        };
        Box::pin(self.run(asked))
    }
}

impl Client {
    /// Runs one call to its end.
    pub(super) async fn run(&self, asked: Asked<'_>) -> Result<Payload, ToolFailure> {
        let limit = asked.spec.limits().timeout.unwrap_or(self.link().options().call_timeout);
        let result = self.result_of(&asked, limit).await?;
        let accepts = |json: &[u8]| asked.spec.check_result(json).is_ok();
        answer::payload(&result, asked.call, accepts)
    }

    async fn result_of(
        &self,
        asked: &Asked<'_>,
        limit: Duration,
    ) -> Result<Box<RawValue>, ToolFailure> {
        let failed = |error: ClientError| failure(&error, asked.spec, asked.call);
        let arguments = RawValue::from_string(asked.call.args().to_string())
            .map_err(|error| ToolFailure::internal(&error))?;
        let exchange = async {
            let connection = self.link().connection().await.map_err(failed)?;
            if let Some(origin) = asked.origin.filter(|_| self.minds_drift()) {
                let drift = self.watch().drift(&connection, origin).await.map_err(failed)?;
                self.refuse(&drift, asked)?;
            }
            connection.call(asked.tool, &arguments).await.map_err(failed)
        };
        match tokio::time::timeout(limit, exchange).await {
            Ok(result) => result,
            Err(_) => Err(failed(ClientError::Timeout(limit))),
        }
    }

    fn minds_drift(&self) -> bool {
        self.link().options().drift != DriftPolicy::Ignore
    }

    /// The failure of a call whose tool is not what it was, where the policy says so.
    fn refuse(&self, drift: &Drift, asked: &Asked<'_>) -> Result<(), ToolFailure> {
        if self.link().options().drift != DriftPolicy::Refuse {
            return Ok(());
        }
        let (ours, theirs) = (asked.call.tool(), asked.tool);
        let (kind, message) = if drift.missing.contains(theirs) {
            (FailureKind::NotFound, format!("the server of `{ours}` has this tool no longer"))
        } else if let Some(how) = drift.changed.get(theirs) {
            let message = format!("`{ours}` is not the tool that it was on its server: {how}");
            (FailureKind::Denied, excerpt(&message, LONGEST))
        } else {
            return Ok(());
        };
        let detail = format!("the tools of MCP server {} drifted: {drift}", self.link().address());
        Err(ToolFailure::new(kind, message, Recovery::Replan).with_detail(detail))
    }

    /// What is between the tools the server has now and those a toolset was written for, whatever the policy:
    /// `client.drift(&github_tools::specs::REMOTE)`.
    ///
    /// # Errors
    ///
    /// Those of [`Client::list_tools_raw`].
    pub async fn drift(&self, origin: &'static Origin) -> Result<Arc<Drift>, ClientError> {
        let limit = self.link().options().connect_timeout;
        let compare = async {
            let connection = self.link().connection().await?;
            self.watch().drift(&connection, origin).await
        };
        tokio::time::timeout(limit, compare).await.unwrap_or(Err(ClientError::Timeout(limit)))
    }
}
