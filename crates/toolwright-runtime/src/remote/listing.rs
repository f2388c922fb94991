//! The tools that a server listed, as its client knows them, and the results of their calls.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolwright::untrusted::{MAX_TOOL_NAME_BYTES, MAX_TOOLS, hidden, line, visible};
use toolwright::{BoxError, Outcome, ToolCall, ToolFailure};

use super::ApprovalKey;
use super::error::RemoteError;
use super::protocol::WireTool;
use super::signed::SignedCall;
use crate::tools::{ToolEntry, check_cleared};
use crate::wire::{WireCall, WireOutcome, WireScope};

/// The tools of the last listing, by name.
#[derive(Default)]
pub(super) struct Listing(Mutex<BTreeMap<String, Listed>>);

/// A tool that the server listed.
struct Listed {
    tool: ToolEntry,
    is_available: bool,
    /// The digest of the tool, for approval codes.
    digest: [u8; 32],
}

impl Listing {
    /// Replaces the tools by those of a reply.
    pub(super) fn replace(
        &self,
        reply: Result<Vec<WireTool>, String>,
    ) -> Result<Vec<ToolEntry>, BoxError> {
        let tools = reply.map_err(|error| visible(&error).into_owned())?;
        if let Some(mistake) = mistake_in(&tools) {
            return Err(RemoteError::Protocol(mistake).into());
        }
        let mut entries = Vec::new();
        let listed = tools.into_iter().map(|wire| {
            let (is_available, digest) = (wire.is_available(), wire.digest());
            let tool = wire.into_entry();
            entries.push(tool.clone());
            (tool.name().to_owned(), Listed { tool, is_available, digest })
        });
        let listed = listed.collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(entries)
    }

    /// Returns a listed tool.
    pub(super) fn tool(&self, name: &str) -> Option<ToolEntry> {
        let listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(listed.get(name)?.tool.clone())
    }

    /// Returns whether the server said that a tool is available, which it also is if it was not listed.
    pub(super) fn is_available(&self, tool: &str) -> bool {
        let listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listed.get(tool).is_none_or(|listed| listed.is_available)
    }

    /// Returns the approval code of a call, if the runtime of this process had it approved. `connection` is the nonce of the
    /// connection and the scope that was sent to open it.
    pub(super) fn approval_code(
        &self,
        key: Option<&ApprovalKey>,
        connection: (&str, &WireScope),
        request: u64,
        call: &ToolCall,
        sent: &WireCall,
    ) -> Option<[u8; 32]> {
        let listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Listed { tool, digest, .. } = listed.get(call.tool())?;
        check_cleared(call, tool.spec()).ok()?;
        let (nonce, connection_scope) = connection;
        let signed = SignedCall { nonce, connection_scope, request, call: sent, tool: digest };
        Some(key?.sign(signed.parts()))
    }
}

/// Returns the outcome of a reply. [Hidden](toolwright::untrusted) characters of a failure become visible.
pub(super) fn outcome(wire: WireOutcome) -> Outcome {
    Outcome::from(wire).map_err(ToolFailure::visible)
}

/// Returns the mistake in a list of tools, if there is one: too many, or a name that people and models cannot read.
fn mistake_in(tools: &[WireTool]) -> Option<String> {
    if tools.len() > MAX_TOOLS {
        return Some(format!("{} tools are listed, expected at most {MAX_TOOLS}", tools.len()));
    }
    let is_wrong = |name: &&str| name.len() > MAX_TOOL_NAME_BYTES || hidden(name).next().is_some();
    let name = tools.iter().map(WireTool::name).find(is_wrong)?;
    Some(format!(
        "the tool `{}` is listed, expected a name of at most {MAX_TOOL_NAME_BYTES} bytes without hidden characters",
        line(name, MAX_TOOL_NAME_BYTES)
    ))
}
