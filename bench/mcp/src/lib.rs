//! The tools that servers are measured with: `schema/load.yaml`.

/// What the compiler makes of `schema/`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
