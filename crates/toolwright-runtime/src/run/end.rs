//! The end of a run (finished, failed or suspended), and the data to resume a suspended run.

use std::sync::Arc;

use toolwright::{Outcome, Payload, ToolFailure};

use super::state::RunState;
use crate::approval::Verdicts;

/// The end of a run.
pub(crate) enum End {
    Finished(Payload),
    Failed(ToolFailure),
    Suspended(Box<RunState>),
}

/// A suspended run and the verdicts to resume it with.
pub(crate) struct Resumption {
    pub(crate) state: Box<RunState>,
    pub(crate) verdicts: Arc<Verdicts>,
}

impl End {
    /// Returns the outcome of the run.
    ///
    /// # Errors
    ///
    /// The state of the run, if it is suspended.
    pub(super) fn into_outcome(self) -> Result<Outcome, Box<RunState>> {
        match self {
            Self::Finished(payload) => Ok(Ok(payload)),
            Self::Failed(failure) => Ok(Err(failure)),
            Self::Suspended(state) => Err(state),
        }
    }
}

impl From<Outcome> for End {
    fn from(outcome: Outcome) -> Self {
        outcome.map_or_else(Self::Failed, Self::Finished)
    }
}

impl From<ToolFailure> for End {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(failure)
    }
}
