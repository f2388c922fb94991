//! The end of a run: finished, failed or suspended. A suspended run is resumed with verdicts. Never runs one.

use std::sync::Arc;

use toolwright::{Outcome, Payload, ToolFailure};

use super::state::RunState;
use crate::approval::Verdicts;

/// How a run ends, for now or for good.
pub(crate) enum End {
    Finished(Payload),
    Failed(ToolFailure),
    Suspended(Box<RunState>),
}

/// A suspended run and the verdicts it goes on with.
pub(crate) struct Resumption {
    pub(crate) state: Box<RunState>,
    pub(crate) verdicts: Arc<Verdicts>,
}

impl End {
    /// What came of the run.
    ///
    /// # Errors
    ///
    /// Nothing has yet: its state.
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
