//! Our MCP servers and clients before the official tools: the conformance suite, the Inspector, the SDKs' clients. Judges
//! nothing by itself: what is right, those tools say.

pub mod client;
pub mod examples;
pub mod fixtures;
pub mod peers;
pub mod suite;

/// What the compiler makes of this package's `schema/`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
