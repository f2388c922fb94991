//! Tools of remote servers: a description of the server, and an executor that forwards calls to it. Nothing here opens
//! a connection; that is for implementations of [`Remote`].

use std::sync::Arc;

use crate::call::{Payload, ToolCall};
use crate::executor::BoxFuture;
use crate::outcome::{ToolFailure, ToolResult};
use crate::spec::ToolSpec;

/// Calls tools on a remote server: a connection, or a client that connects when needed.
pub trait Remote: Send + Sync {
    /// Calls one tool and returns its result as JSON text, which the caller checks. Dropping the future cancels the
    /// call.
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>>;
}

/// A call to a remote server. The arguments are valid under the tool's schema.
#[derive(Clone, Copy, Debug)]
pub struct RemoteCall<'a> {
    /// The server.
    pub origin: &'static Origin,
    /// The spec of the tool.
    pub spec: &'static ToolSpec,
    /// The original call, with the local name of the tool and the arguments as written.
    pub call: &'a ToolCall,
}

/// The server that runs the tools of a toolset: the remote server from which the toolset was imported, or a generated
/// server that [exposes](Self::exposing) the toolset.
#[derive(Debug)]
pub struct Origin {
    /// A name for the server, by which the host finds its connection and logs name it.
    pub server: &'static str,
    /// The tools of the toolset.
    pub tools: &'static [&'static ToolSpec],
    /// Each tool that the server listed when the schema file was written, including tools that the file leaves out. Empty
    /// if the file does not record them.
    pub listed: &'static [ListedTool],
    /// The server's name, version and protocol when its tools were imported.
    pub from: Provenance,
}

/// A tool as a server listed it, by its digests: SHA-256 in hexadecimal. The feature `digests` computes them. `S` is the type of
/// texts, as in [`Provenance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedTool<S = &'static str> {
    /// Its name on the server.
    pub name: S,
    /// The digest of the whole object.
    pub all: S,
    /// The digest of the object without texts: the titles and descriptions of the tool and of its schemas.
    pub capabilities: S,
}

/// A server's name, version and protocol when its tools were imported; `None` is unknown. `S` is the type of texts:
/// `&'static str` in generated code, `String` in the compiler and the importer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provenance<S = &'static str> {
    /// The name that the server reported.
    pub name: Option<S>,
    /// The version that the server reported.
    pub version: Option<S>,
    /// The version of MCP, such as `2025-11-25`.
    pub protocol: Option<S>,
    /// The day of the import, as `YYYY-MM-DD`.
    pub date: Option<S>,
}

impl<S> Provenance<S> {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { name: None, version: None, protocol: None, date: None };

    /// Fills unknown fields from `other`.
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
    /// A server that exposes a toolset with the same tool names and schemas, as generated servers do. Its name is the
    /// toolset's.
    pub const fn exposing(toolset: &'static str, tools: &'static [&'static ToolSpec]) -> Self {
        Self { server: toolset, tools, listed: &[], from: Provenance::UNKNOWN }
    }

    /// Returns the tool that has this local name or alias.
    pub fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tools.iter().copied().find(|spec| spec.is_called(name))
    }

    /// Returns the tool that the server listed by this name when the schema file was written.
    pub fn listed(&self, remote_name: &str) -> Option<&'static ListedTool> {
        self.listed.iter().find(|tool| tool.name == remote_name)
    }
}

impl<'a> RemoteCall<'a> {
    /// The tool's name on the server.
    pub fn remote_name(&self) -> &'static str {
        self.spec.remote_name().unwrap_or_else(|| self.spec.name())
    }

    /// The arguments as written.
    pub fn args(&self) -> &'a Payload {
        self.call.args()
    }
}

impl<R: Remote + ?Sized> Remote for Arc<R> {
    fn call<'a>(&'a self, call: RemoteCall<'a>) -> BoxFuture<'a, Result<Payload, ToolFailure>> {
        (**self).call(call)
    }
}

/// Declares an executor that forwards calls to a server through a [`Remote`](crate::Remote): the name of the struct
/// and, in parentheses, the server's [`Origin`](crate::Origin).
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
            /// Forwards calls through this remote.
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
    /// Runs this call on the server of the tool. The tool's codecs check the arguments and the result; both are passed
    /// on as written.
    pub fn run_remote<'a>(
        &'a self,
        origin: &'static Origin,
        remote: &'a dyn Remote,
    ) -> BoxFuture<'a, ToolResult> {
        let Some(spec) = origin.tool(self.tool()) else { return self.not_found(origin.tools) };
        Box::pin(async move {
            ToolResult::new(
                self,
                self.remote_outcome(RemoteCall { origin, spec, call: self }, remote).await,
            )
        })
    }

    async fn remote_outcome(
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
