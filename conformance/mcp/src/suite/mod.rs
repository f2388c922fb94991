//! The official conformance suite: how it is run, what it found, and whether that was expected. Never decides what is
//! right.

mod expected;
mod outcome;
mod page;
mod report;
mod run;

pub use page::DATED;
pub use report::{Report, all};

use expected::Expected;

/// The revisions of the protocol that are asked for: the newest of each era.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
