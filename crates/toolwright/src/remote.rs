//! Tools that live on a server elsewhere: what was known of it when they were written down, and how a call gets there.
//! Never connects to anything: who reaches a server implements [`Remote`].

use std::sync::Arc;

use crate::call::{Payload, ToolCall};
use crate::executor::BoxFuture;
use crate::outcome::{ToolFailure, ToolResult};
use crate::spec::ToolSpec;

/// Calls tools on the server they live on: a connection, or something that makes one when it is needed.
pub trait Remote: Send + Sync {
    /// Calls one tool and gives its result as JSON text, which the caller judges. Dropping the future gives the call up.
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>>;
}

/// One call on its way to a server. The arguments are valid under the tool's schema.
#[derive(Clone, Copy, Debug)]
pub struct RemoteCall<'a> {
    /// The server.
    pub origin: &'static Origin,
    /// The spec of the tool.
    pub spec: &'static ToolSpec,
    /// The call as it was made: under our name of the tool, with the arguments as they were written.
    pub call: &'a ToolCall,
}

/// A server on which the tools of a toolset live: one that the toolset stands for, as its schema file tells of it, or one
/// that [exposes](Self::exposing) it.
#[derive(Debug)]
pub struct Origin {
    /// The name by which run-time configuration knows the server.
    pub server: &'static str,
    /// Every tool of the toolset.
    pub tools: &'static [&'static ToolSpec],
    /// Every tool that the server listed when the file was written, also those that were left out, by its name there: the
    /// digest of its schemas. Empty where the file does not say.
    pub listed: &'static [(&'static str, &'static str)],
    /// The server's own name, version and protocol at that time.
    pub from: Provenance,
}

/// A server's own name, version and protocol when its tools were written down; `None` says nothing. `S` is the type of texts:
/// `&'static str` in generated code, `String` in the compiler and the importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provenance<S = &'static str> {
    /// The name it gave itself.
    pub name: Option<S>,
    /// Its version.
    pub version: Option<S>,
    /// The revision of MCP that was spoken, such as `2025-11-25`.
    pub protocol: Option<S>,
    /// The day on which it was asked, as `YYYY-MM-DD`.
    pub date: Option<S>,
}

impl<S> Provenance<S> {
    /// Nothing said.
    pub const UNKNOWN: Self = Self { name: None, version: None, protocol: None, date: None };

    /// This, and what another knows where this knows nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            version: self.version.or(other.version),
            protocol: self.protocol.or(other.protocol),
            date: self.date.or(other.date),
        }
    }
}

impl<S> Default for Provenance<S> {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Origin {
    /// A server that exposes a toolset as it is, as generated ones do: by the names and with the schemas of its tools. It
    /// is known by the name of the toolset.
    pub const fn exposing(toolset: &'static str, tools: &'static [&'static ToolSpec]) -> Self {
        Self { server: toolset, tools, listed: &[], from: Provenance::UNKNOWN }
    }

    /// The tool of a name of ours.
    pub fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tools.iter().copied().find(|spec| spec.is_called(name))
    }

    /// The digest of the schemas that a tool of the server had, by its name there.
    pub fn digest(&self, remote_name: &str) -> Option<&'static str> {
        self.listed.iter().find(|(name, _)| *name == remote_name).map(|(_, digest)| *digest)
    }
}

impl<'a> RemoteCall<'a> {
    /// The tool's name on the server.
    pub fn remote_name(&self) -> &'static str {
        self.spec.remote_name().unwrap_or_else(|| self.spec.name())
    }

    /// The arguments, as they were written.
    pub fn args(&self) -> &'a Payload {
        self.call.args()
    }
}

impl<R: Remote + ?Sized> Remote for Arc<R> {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        (**self).call(call)
    }
}

/// Writes what runs tools on the server they live on, reached through a [`Remote`](crate::Remote): the name of the struct,
/// and in parentheses the server, an [`Origin`](crate::Origin).
///
/// ```
/// use toolwright::{Origin, Remote, ToolSpec};
///
/// static WIPE: ToolSpec = ToolSpec::of::<Wipe>("wipe");
/// toolwright::tool!(Wipe(toolwright::Value) -> toolwright::Value = WIPE);
///
/// toolwright::remote_executor! {
///     /// Runs the tools on an MCP server that exposes them.
///     pub struct DisksMcpExecutor(Origin::exposing("disks", &[&WIPE]));
/// }
///
/// fn over(remote: impl Remote) -> impl toolwright::Executor {
///     DisksMcpExecutor::new(remote)
/// }
/// ```
#[macro_export]
macro_rules! remote_executor {
    ($(#[$about:meta])* pub struct $name:ident($origin:expr $(,)?);) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name<R> {
            remote: R,
        }

        impl<R: $crate::Remote> $name<R> {
            /// Reaches the server through this.
            pub fn new(remote: R) -> Self {
                Self { remote }
            }
        }

        impl<R: $crate::Remote> $crate::Executor for $name<R> {
            fn execute<'a>(
                &'a self,
                call: &'a $crate::ToolCall,
            ) -> $crate::BoxFuture<'a, $crate::ToolResult> {
                static ORIGIN: &$crate::Origin = &$origin;
                call.run_remote(ORIGIN, &self.remote)
            }
        }
    };
}

impl ToolCall {
    /// Runs this call on the server where the tool lives: the tool's codecs judge what goes there and what comes back,
    /// and both go as they were written.
    pub fn run_remote<'a>(
        &'a self,
        origin: &'static Origin,
        remote: &'a dyn Remote,
    ) -> BoxFuture<'a, ToolResult> {
        let Some(spec) = origin.tool(self.tool()) else { return self.not_found(origin.tools) };
        Box::pin(async move {
            ToolResult::new(
                self,
                self.answer_of(RemoteCall { origin, spec, call: self }, remote).await,
            )
        })
    }

    async fn answer_of(
        &self,
        call: RemoteCall<'_>,
        remote: &dyn Remote,
    ) -> Result<Payload, ToolFailure> {
        let spec = call.spec;
        spec.check_args(self.args().as_bytes())
            .map_err(|issues| ToolFailure::invalid_call(spec, self, issues))?;
        let payload = remote.call(call).await?;
        spec.check_result(payload.as_bytes())
            .map_err(|issues| ToolFailure::malformed_result(spec, &issues))?;
        Ok(payload)
    }
}
