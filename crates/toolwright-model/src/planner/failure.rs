//! Results of calls as texts for models.

use std::fmt::Write as _;

use toolwright::{FailureKind, Outcome, Recovery, ToolFailure};
use toolwright_dialect::{Projection, WireIssues};

/// The most issues that a model reads at once.
const MOST_ISSUES: usize = 12;

/// The calls of one tool that failed in a row, up to a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Repeated {
    /// Their number, the call included.
    pub(super) invalid: u32,
    /// True if the call has the arguments of the one before.
    pub(super) is_same: bool,
}

/// Returns the text of an outcome for the model, and whether it is a failure. `sent` is the projection of the tool, with the
/// arguments as the model wrote them.
pub(super) fn text(
    outcome: &Outcome,
    tool: &str,
    sent: Option<(&Projection, &str)>,
    repeated: Repeated,
    max_corrections: u32,
) -> (String, bool) {
    let failure = match outcome {
        Ok(payload) => return (payload.as_str().to_owned(), false),
        Err(failure) => failure,
    };
    let mut text = reason(failure, tool, sent);
    if failure.kind == FailureKind::InvalidCall {
        if repeated.invalid > max_corrections {
            let _ = write!(text, "\nDo not call `{tool}` again; try another way.");
        } else if repeated.is_same {
            text.push_str("\nThese are the arguments of the call before; change them.");
        }
    }
    let advice = match failure.recovery {
        Recovery::Retry => "\nThe same call may succeed later.",
        Recovery::Finish if !text.contains("finish with what is known") => {
            "\nCall no more tools; finish with what is known."
        }
        Recovery::CorrectCall(_) | Recovery::Replan | Recovery::Finish => "",
    };
    text.push_str(advice);
    (text, true)
}

fn reason(failure: &ToolFailure, tool: &str, sent: Option<(&Projection, &str)>) -> String {
    let mut text = failure.for_model();
    let Recovery::CorrectCall(correction) = &failure.recovery else { return text };
    if let Some(issues) = &correction.issues {
        let wire = sent.map(|(projection, args)| match projection.decode(args) {
            Ok(decoded) => decoded.wire_issues(issues),
            Err(wire) => wire,
        });
        text = format!("the arguments of `{tool}` are not valid:");
        match wire {
            Some(wire) => list(&mut text, &wire),
            None => {
                let _ = write!(text, " {issues}");
            }
        }
    }
    if let Some(example) = &correction.example {
        let encoded = sent.and_then(|(projection, _)| projection.encode(example.as_str()).ok());
        let example = encoded.as_deref().unwrap_or(example.as_str());
        let _ = write!(text, "\nAn example of valid arguments: {example}");
    }
    text
}

fn list(text: &mut String, issues: &WireIssues) {
    let (shown, left) = issues.issues.split_at(issues.issues.len().min(MOST_ISSUES));
    let shown = WireIssues { issues: shown.to_vec() };
    let _ = write!(text, "\n{shown}");
    if !left.is_empty() {
        let _ = write!(text, "\nand {} more", left.len());
    }
}
