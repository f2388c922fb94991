//! Compares generating with other generators on the same tools: `cargo xtask bench generation`. Never part of what users
//! install; a package of its own, so that no other benchmark compiles the generators it compares with.

pub mod bench;
pub mod generators;
pub mod measure;
pub mod page;
pub mod plot;
pub mod report;
pub mod tools;
pub mod verdicts;
