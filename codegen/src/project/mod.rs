//! From schema files to an output folder, for commands and for build scripts. Never parses command lines, never prints.

mod generation;
#[cfg(feature = "project")]
mod open;
mod outcome;

#[cfg(feature = "project")]
pub use crate::config::{CONFIG_FILE, Config, plain};
pub(crate) use generation::Generation;
#[cfg(feature = "project")]
use generation::type_mistakes;
#[cfg(feature = "project")]
pub use open::{Mode, Project};
pub use outcome::{Change, Checked, Failure, Generated, Size, count, tally};
