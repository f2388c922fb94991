//! Calls language models. A [`Question`] holds a conversation and tools, in the form that the provider accepts
//! ([`toolwright_dialect::place`]); a [`Wire`] writes it as the provider's API describes and reads the [`Answer`]. The *canonical* name of
//! a tool is the published one; some providers get another name.
//!
//! The feature `client` has a `Client`, which sends questions and tries again where that helps. The feature `planner` has a
//! `ModelPlanner`, which decides the steps of an agent.
//!
//! Wires are pure functions: they do no IO, so tests need no server. The arguments of a call stay the text that the model
//! wrote: duplicate keys and large numbers reach the tool's codec, and a call whose arguments are not JSON does not affect
//! its siblings.
//!
//! ```
//! use toolwright_dialect::{Dialect, Request};
//! use toolwright_model::{Message, ModelFacts, Question, Wire};
//!
//! let wire = Wire::Anthropic;
//! let facts = ModelFacts {
//!     provider: "anthropic".to_owned(),
//!     model: "claude-sonnet-4-5".to_owned(),
//!     dialect: Dialect::find("anthropic")?,
//! };
//! let messages = [Message::User("Say yes.".to_owned())];
//! let tools = Request { tools: Vec::new(), findings: Vec::new() };
//! let question = Question::new(&messages, &tools);
//!
//! let request = wire.request(&facts, &question, true)?;
//! assert_eq!(request.path, "/v1/messages");
//!
//! let mut reader = wire.reader(&facts, &question);
//! for line in [
//!     r#"{"type":"message_start","message":{"model":"claude-sonnet-4-5","usage":{"input_tokens":9,"output_tokens":1}}}"#,
//!     r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
//!     r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Yes."}}"#,
//!     r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}"#,
//!     r#"{"type":"message_stop"}"#,
//! ] {
//!     reader.feed(format!("data: {line}\n\n").as_bytes());
//! }
//! assert_eq!(reader.end()?.text(), "Yes.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_debug_implementations)]
// Wires share their parts, and without some of the wires a part may have no user.
#![cfg_attr(
    not(all(
        feature = "openai-chat",
        feature = "openai-responses",
        feature = "anthropic",
        feature = "gemini",
        feature = "bedrock"
    )),
    allow(dead_code, unused_imports, unused_mut, unused_variables, unreachable_code)
)]

#[cfg(feature = "client")]
mod client;
mod draft;
mod error;
mod model;
#[cfg(feature = "planner")]
mod planner;
mod wire;

#[cfg(feature = "sigv4")]
pub use client::AwsCredentials;
#[cfg(feature = "client")]
pub use client::{BuildError, Client, ClientBuilder, KeyHeader, Preset, RateLimit};
pub use draft::{CallPlace, Draft};
pub use error::ModelError;
pub use model::{
    Answer, CallAnswer, Choice, Content, Delta, Effort, Message, Model, ModelCall, ModelFacts,
    Opaque, Question, Settings, Stop, Usage,
};
#[cfg(feature = "planner")]
pub use planner::{Compactor, FinalOutput, LeaveOutResults, ModelPlanner, Prices, ToolSearch};
#[cfg(feature = "planner")]
pub use toolwright::index::ToolIndex;
#[cfg(feature = "openai-chat")]
pub use wire::ChatOptions;
pub use wire::{HttpRequest, Names, Reader, Wire};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
