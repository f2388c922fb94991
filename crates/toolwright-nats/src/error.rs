//! Errors of workers and clients.

use std::error::Error;
use std::fmt;

use toolwright::BoxError;
use toolwright::untrusted::line;
use toolwright_runtime::remote::RemoteError;

/// The most bytes of a reason, which may be the words of a worker.
const LONGEST_REASON: usize = 400;

/// A toolset cannot be served, or its workers cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum NatsError {
    /// NATS does not accept a subscription or a message.
    Nats(BoxError),
    /// No worker of the toolset responds.
    NoWorker {
        /// The name of the toolset.
        toolset: String,
    },
    /// The toolset cannot be entered or listed, or a worker refuses this client.
    Toolset {
        /// The name of the toolset.
        toolset: String,
        /// The reason.
        reason: BoxError,
    },
    /// The version for discovery does not follow Semantic Versioning.
    Version {
        /// The version.
        version: String,
        /// The mistake in it.
        reason: String,
    },
}

impl NatsError {
    pub(crate) fn toolset(toolset: &str, reason: impl Into<BoxError>) -> Self {
        Self::Toolset { toolset: toolset.to_owned(), reason: reason.into() }
    }

    /// The error of a toolset that is not shared or that cannot be entered.
    pub(crate) fn refused(toolset: &str, error: RemoteError) -> Self {
        match error {
            RemoteError::Refused { reason } => Self::toolset(toolset, reason),
            error => Self::toolset(toolset, error),
        }
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nats(error) => write!(f, "NATS does not accept a message: {error}"),
            Self::NoWorker { toolset } => {
                write!(f, "no worker of the toolset `{toolset}` responds; start one")
            }
            Self::Toolset { toolset, reason } => {
                let reason = line(&reason.to_string(), LONGEST_REASON);
                write!(f, "the toolset `{toolset}` is not provided: {reason}")
            }
            Self::Version { version, reason } => {
                write!(f, "the version is `{version}`, expected one like `1.2.3`: {reason}")
            }
        }
    }
}

impl Error for NatsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Nats(error) | Self::Toolset { reason: error, .. } => Some(&**error),
            Self::NoWorker { .. } | Self::Version { .. } => None,
        }
    }
}

impl From<async_nats::SubscribeError> for NatsError {
    fn from(error: async_nats::SubscribeError) -> Self {
        Self::Nats(error.into())
    }
}
