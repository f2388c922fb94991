//! Compares toolwright with other generators on the same tools: `cargo xtask bench generation`. This is a separate package, so
//! that other benchmarks do not compile those generators.

pub mod bench;
pub mod generators;
pub mod measure;
pub mod page;
pub mod plot;
pub mod report;
pub mod tools;
pub mod verdicts;
