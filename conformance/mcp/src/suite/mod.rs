//! Runs the official conformance suite and compares its results with the expected failures.

mod expected;
mod outcome;
mod page;
mod report;
mod run;

pub use page::DATED;
pub use report::{Report, all};

use expected::Expected;

/// The tested revisions of the protocol: the newest with sessions, and the newest without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
