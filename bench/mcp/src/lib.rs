//! The tools that servers are measured with: `schema/load.yaml`.

/// The modules that are generated from `schema/`.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}
