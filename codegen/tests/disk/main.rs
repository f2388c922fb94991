//! Tests of reading, writing, configuration and rendering, on temporary folders.

mod builder;
mod config;
mod derives;
mod dialects;
mod domain_types;
mod drift;
#[path = "../expect/mod.rs"]
mod expect;
mod folder;
mod incremental;
mod merge;
mod record;
mod render;
mod sources;
mod vectors;
mod write;
