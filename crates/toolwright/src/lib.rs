//! The contract between code that provides tools and code that runs them: specs, codecs, calls, results, failures.
//! Generated crates of services and toolsets need no other library. This crate holds no runtime: nothing here routes a
//! call, keeps a session or talks to a model.
//!
//! The arguments and the result of a tool are types, each with a codec and a schema. A [`ToolSpec`] holds both and can
//! check a payload without decoding it. Each issue it finds reads as a sentence for the model that wrote the payload.
//!
//! ```
//! use toolwright::{Payload, ToolCall, ToolFailure, ToolSpec, codec, described};
//!
//! described! {
//!     struct Numbers {
//!         a: i64,
//!         b: i64,
//!     }
//!
//!     struct Sum {
//!         sum: i64,
//!     }
//! }
//!
//! let numbers: Numbers = codec::from_json(br#"{"a":2,"b":4e1}"#)?;
//! let sum = Payload::of(&Sum { sum: numbers.a + numbers.b })?;
//! assert_eq!(sum.as_str(), r#"{"sum":42}"#);
//!
//! let add = ToolSpec::new("add").with_types::<Numbers, Sum>();
//! let call = ToolCall::new(add.name(), Payload::new(r#"{"a":2}"#));
//! let issues = add.check_args(call.args().as_bytes()).unwrap_err();
//! let failure = ToolFailure::invalid_call(&add, &call, issues);
//! assert_eq!(failure.message, "the arguments of `add` are not valid: `/b`: is missing");
//! # Ok::<(), toolwright::InvalidPayload>(())
//! ```

#![warn(missing_debug_implementations)]

pub mod bridge;
pub mod call;
pub mod codec;
pub mod described;
#[cfg(feature = "digests")]
pub mod digests;
pub mod executor;
pub mod format;
pub mod http;
#[cfg(feature = "index")]
pub mod index;
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
#[cfg(feature = "testing")]
pub mod testing;
mod unicode;
pub mod untrusted;
pub mod value;
pub mod vectors;

pub use call::{Payload, Scope, ToolCall};
pub use described::Described;
pub use executor::{BoxFuture, Executor, SplitExecutor};
pub use issue::{InvalidPayload, Issue};
pub use method::{DeclaredError, MethodError};
pub use outcome::{BoxError, FailureKind, Outcome, Recovery, ToolFailure, ToolResult};
pub use registration::{ExecutorFactory, Registrar, RegistrationError};
pub use remote::{Origin, Remote, RemoteCall};
pub use serde_core;
pub use spec::{Tool, ToolSpec};
pub use value::{Integer, Map, Nullable, Value};

/// The oldest Rust that compiles this crate, and the generated crates that need nothing else.
#[doc(hidden)]
pub const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
