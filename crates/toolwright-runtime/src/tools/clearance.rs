//! Clearances, which show that a call was approved. A tool that needs an approval runs only calls with a clearance. Only this
//! module creates and checks them.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use toolwright::call::Clearance;
use toolwright::spec::{Approval, ToolAnnotations};
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure, ToolSpec};

use super::ToolEntry;

/// The digest of an approved call: its run, id, arguments, and the definition of its tool.
struct CallDigest(String);

/// Gives a call a clearance for a tool, with its current arguments.
pub(crate) fn cleared(call: ToolCall, tool: &ToolSpec) -> ToolCall {
    let clearance = Clearance::new(CallDigest(call_digest(&call, tool)));
    call.with_clearance(Some(clearance))
}

/// Checks that a call has a clearance for a tool, with its current arguments.
///
/// # Errors
///
/// The call has no clearance, or its clearance is for another call, other arguments or another definition of the tool.
pub(crate) fn check_cleared(call: &ToolCall, tool: &ToolSpec) -> Result<(), ToolFailure> {
    let Some(clearance) = call.clearance() else { return Err(not_approved(tool.name())) };
    let approved = clearance.proof::<CallDigest>();
    if approved.is_some_and(|approved| approved.0 == call_digest(call, tool)) {
        return Ok(());
    }
    let message = format!("this call of `{}` is not the one that was approved", tool.name());
    Err(ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(
        "a hook changed its arguments after the approval, or the definition of its tool has changed",
    ))
}

/// The failure of a call that needs an approval and has no clearance.
pub(crate) fn not_approved(tool: &str) -> ToolFailure {
    let message = format!("`{tool}` needs an approval, and this call has none");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan)
        .with_detail("only a runtime can have calls approved; make the call through a runtime")
}

impl ToolEntry {
    /// Returns the SHA-256 of the tool as its spec defines it, in hexadecimal: its toolset, name, title, description, schemas,
    /// annotations and approval. Two processes have the same definition if the digests are equal.
    pub fn definition_digest(&self) -> String {
        tool_digest(self.spec(), self.spec().approval())
    }

    /// Checks that a call was approved, if this tool needs an approval.
    ///
    /// # Errors
    ///
    /// Those of [`check_cleared`].
    pub(crate) fn check_approval(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        match self.approval() {
            Some(_) => check_cleared(call, self.spec()),
            None => Ok(()),
        }
    }
}

fn call_digest(call: &ToolCall, tool: &ToolSpec) -> String {
    let run_id = call.run_id().unwrap_or_default();
    let tool = tool_digest(tool, tool.approval());
    digest([run_id, call.id(), call.args().as_str(), &tool])
}

/// Returns the digest of a tool's names, title, description, schemas, annotations and approval.
pub(crate) fn tool_digest(tool: &ToolSpec, approval: Option<&Approval>) -> String {
    let approval = approval.map(|Approval { prompt, denied, metadata }| [prompt, denied, metadata]);
    // The `=` distinguishes an empty text from a missing one.
    let approval =
        approval.into_iter().flatten().map(|text| text.as_ref().map(|text| format!("={text}")));
    let approval: Vec<_> = approval.map(Option::unwrap_or_default).collect();
    let ToolAnnotations { read_only, destructive, idempotent, open_world } = tool.annotations();
    let annotations = [read_only, destructive, idempotent, open_world].map(|is_set| match is_set {
        None => "",
        Some(false) => "no",
        Some(true) => "yes",
    });
    let parts = [
        tool.toolset(),
        tool.name(),
        tool.title().unwrap_or_default(),
        tool.description(),
        tool.args_schema(),
        tool.result_schema(),
    ];
    digest(parts.into_iter().chain(annotations).chain(approval.iter().map(String::as_str)))
}

/// Returns the SHA-256 of several parts, in hexadecimal. The length of each part is hashed, too, so that different lists have
/// different digests.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
