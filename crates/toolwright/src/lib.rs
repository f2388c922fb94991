//! The contract between those who provide tools and those who run them: specs, codecs, calls,
//! results, failures. All that generated code needs. Holds no runtime: nothing here routes a call,
//! keeps a session or talks to a model.

#![warn(missing_debug_implementations)]

pub mod bridge;
pub mod call;
pub mod codec;
pub mod described;
pub mod executor;
pub mod format;
pub mod http;
pub mod issue;
mod json;
pub mod method;
pub mod outcome;
pub mod pattern;
pub mod pointer;
pub mod progress;
pub mod registration;
pub mod remote;
pub mod schema;
pub mod service;
pub mod spec;
pub mod value;

pub use call::{Payload, Scope, ToolCall};
pub use described::Described;
pub use executor::{BoxFuture, Executor, Split};
pub use issue::{InvalidPayload, Issue};
pub use method::{DeclaredError, MethodError};
pub use outcome::{BoxError, FailureKind, Outcome, Recovery, ToolFailure, ToolResult};
pub use registration::{ExecutorFactory, Registrar, RegistrationError};
pub use remote::{Origin, Remote, RemoteCall};
pub use serde_core;
pub use spec::{Tool, ToolSpec};
pub use value::{Integer, Map, Nullable, Value};
