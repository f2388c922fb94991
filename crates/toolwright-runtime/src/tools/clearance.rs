//! Clearances: a tool that needs an approval runs only calls that carry one, whatever path they came by. Only this module
//! makes and reads them.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use toolwright::call::Clearance;
use toolwright::spec::Approval;
use toolwright::{FailureKind, Recovery, ToolCall, ToolFailure, ToolSpec};

use super::ToolEntry;

/// The digest of an approval: the run, the call, the tool's own name, the words of the question, and the exact arguments.
struct Approved(String);

/// The call, approved for the tool of this spec with the arguments it has.
pub(crate) fn cleared(call: ToolCall, tool: &ToolSpec) -> ToolCall {
    let clearance = Clearance::new(Approved(covered(&call, tool)));
    call.with_clearance(Some(clearance))
}

/// Checks that a call was approved for the tool of this spec, with the arguments it has.
///
/// # Errors
///
/// Nobody approved it, or it was another call or tool, or other words or arguments.
pub(crate) fn check_cleared(call: &ToolCall, tool: &ToolSpec) -> Result<(), ToolFailure> {
    let Some(clearance) = call.clearance() else { return Err(not_approved(tool.name())) };
    let approved = clearance.proof::<Approved>();
    if approved.is_some_and(|approved| approved.0 == covered(call, tool)) {
        return Ok(());
    }
    let message = format!("this call of `{}` is not the one that was approved", tool.name());
    Err(ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(
        "a hook changed its arguments after the approval, or its tool asks in other words now",
    ))
}

/// The failure of a call that needs an approval and carries no clearance.
pub(crate) fn not_approved(tool: &str) -> ToolFailure {
    let message = format!("`{tool}` needs an approval, and this call has none");
    ToolFailure::new(FailureKind::Denied, message, Recovery::Replan).with_detail(
        "only a runtime clears calls, once somebody has approved them; call it through one",
    )
}

impl ToolEntry {
    /// Checks that a call was approved if this tool needs an approval.
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

fn covered(call: &ToolCall, tool: &ToolSpec) -> String {
    let run_id = call.run_id().unwrap_or_default();
    let words = words_digest(tool.approval());
    digest([run_id, call.id(), tool.toolset(), tool.name(), call.args().as_str(), &words])
}

/// The digest of the words in which a tool asks for an approval.
pub(crate) fn words_digest(approval: Option<&Approval>) -> String {
    let words = approval.map(|Approval { prompt, denied, metadata }| [prompt, denied, metadata]);
    // Each with a mark where it is there, so that an empty one is not none.
    let words =
        words.into_iter().flatten().map(|text| text.as_ref().map(|text| format!("={text}")));
    let words: Vec<_> = words.map(Option::unwrap_or_default).collect();
    digest(words.iter().map(String::as_str))
}

/// SHA-256 over parts, in hexadecimal. Every part has its length before it, so that no two lists have one text.
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
