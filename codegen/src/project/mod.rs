//! Checks a project on disk and generates its output folder, for commands and build scripts.

mod generation;
#[cfg(feature = "project")]
mod open;
mod outcome;

#[cfg(feature = "project")]
pub use crate::config::{CONFIG_FILE, Config, normalize_lexically};
pub(crate) use generation::Generation;
#[cfg(feature = "project")]
pub use open::{Mode, Project};
pub use outcome::{Change, Checked, Failure, Generated, PublishedTool, Size, count, tally};
