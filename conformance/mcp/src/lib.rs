//! Tests our MCP servers and clients with the official tools: the conformance suite, the Inspector, and the clients of the
//! SDKs.

pub mod client;
pub mod examples;
pub mod fixtures;
pub mod suite;

/// The folder with the versions of the official tools and the scripts that use them.
pub const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// The generated code of this package's `schema/`.
#[allow(missing_docs, reason = "most properties of its schemas have no descriptions")]
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
