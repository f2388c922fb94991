//! Our MCP servers and clients before the official tools: the conformance suite, the Inspector, the SDKs' clients. Judges
//! nothing by itself: what is right, those tools say.

pub mod client;
pub mod examples;
pub mod fixtures;
pub mod suite;

/// Where the pins of the official tools and the scripts that use them stand.
pub const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// What the compiler makes of this package's `schema/`.
#[allow(missing_docs, reason = "its schemas describe only what their words are about")]
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
