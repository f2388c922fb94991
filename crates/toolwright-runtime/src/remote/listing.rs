//! The tools that a server listed, as its client knows them, and the results of their calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolwright::untrusted::{MAX_TOOL_NAME_BYTES, MAX_TOOLS, hidden, line, visible};
use toolwright::{BoxError, Outcome, ToolCall, ToolFailure};

use super::ApprovalKey;
use super::error::RemoteError;
use super::protocol::WireTool;
use super::signed::SignedCall;
use crate::tools::{ToolEntry, check_cleared};
use crate::wire::{WireCall, WireOutcome, WireScope};

/// The most names of tools, including aliases.
const MAX_NAMES: usize = 4 * MAX_TOOLS;

/// The tools of the last listing.
#[derive(Default)]
pub(super) struct Listing(Mutex<Tools>);

#[derive(Default)]
struct Tools {
    /// By name.
    listed: BTreeMap<String, Listed>,
    /// The name of a tool by an alias; `None` if several tools have the alias.
    names: BTreeMap<String, Option<String>>,
}

/// A tool that the server listed.
struct Listed {
    tool: ToolEntry,
    is_available: bool,
    /// The digest of the tool, for approval codes.
    digest: [u8; 32],
}

impl Tools {
    /// Returns the tool that calls with a name mean.
    fn get(&self, name: &str) -> Option<&Listed> {
        self.listed.get(name).or_else(|| self.listed.get(self.names.get(name)?.as_ref()?))
    }
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
        let mut entries = Vec::with_capacity(tools.len());
        let mut tools_by_name = Tools::default();
        let mut sent = BTreeSet::new();
        for wire in tools {
            let (is_available, digest, tool) =
                (wire.is_available(), wire.digest(), wire.name().to_owned());
            let tool = match wire.into_entry() {
                Ok(tool) => tool,
                Err(why) => {
                    tracing::warn!(tool, why, "a tool of a remote toolset is left out");
                    continue;
                }
            };
            // One peer must not make the tools of others unusable.
            if !sent.insert(ToolEntry::provider_name(tool.name()).into_owned()) {
                let tool = tool.name();
                tracing::warn!(tool, "a remote toolset lists a name twice; the second is left out");
                continue;
            }
            entries.push(tool.clone());
            let name = tool.name().to_owned();
            for alias in tool.spec().aliases() {
                let named = tools_by_name.names.entry(alias.to_owned());
                named.and_modify(|name| *name = None).or_insert_with(|| Some(name.clone()));
            }
            tools_by_name.listed.insert(name, Listed { tool, is_available, digest });
        }
        *self.lock() = tools_by_name;
        Ok(entries)
    }

    /// Returns a listed tool.
    pub(super) fn tool(&self, name: &str) -> Option<ToolEntry> {
        Some(self.lock().get(name)?.tool.clone())
    }

    /// Returns whether the server said that a tool is available, which it also is if it was not listed.
    pub(super) fn is_available(&self, tool: &str) -> bool {
        self.lock().get(tool).is_none_or(|listed| listed.is_available)
    }

    fn lock(&self) -> MutexGuard<'_, Tools> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let tools = self.lock();
        let Listed { tool, digest, .. } = tools.get(call.tool())?;
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

/// Returns the mistake in a list of tools, if there is one: too many tools or names, or a name, toolset or service that people and
/// models cannot read.
fn mistake_in(tools: &[WireTool]) -> Option<String> {
    if tools.len() > MAX_TOOLS {
        return Some(format!("{} tools are listed, expected at most {MAX_TOOLS}", tools.len()));
    }
    let is_wrong = |name: &&str| name.len() > MAX_TOOL_NAME_BYTES || hidden(name).next().is_some();
    let names = || tools.iter().flat_map(WireTool::names);
    if names().nth(MAX_NAMES).is_some() {
        return Some(format!("more than {MAX_NAMES} names and aliases are listed"));
    }
    if let Some(name) = names().find(is_wrong) {
        return Some(format!(
            "the tool `{}` is listed, expected a name of at most {MAX_TOOL_NAME_BYTES} bytes without hidden characters",
            line(name, MAX_TOOL_NAME_BYTES)
        ));
    }
    let is_long = |name: &str| name.len() > MAX_TOOL_NAME_BYTES;
    let tool = tools.iter().find(|tool| tool.origin().into_iter().any(is_long))?;
    Some(format!(
        "the toolset or the service of the tool `{}` has a name of more than {MAX_TOOL_NAME_BYTES} bytes",
        tool.name()
    ))
}
