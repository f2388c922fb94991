//! Reads schema files and writes generated trees. No other module accesses the file system, and this one does not interpret
//! the files.

mod exchange;
mod failure;
mod listing;
mod lock;
mod old;
mod open;
mod output;
mod ownership;
mod paths;
mod record;
#[cfg(feature = "project")]
mod single;
mod sources;
mod start;
mod state;
mod tree;
mod update;

pub use failure::{IoError, OutputError, printable_path};
pub use old::SetAside;
pub(crate) use output::write_recorded;
pub use output::{Drift, Written, drift, write};
pub(crate) use ownership::MARKER;
pub(crate) use record::{LastRun, read_record};
#[cfg(feature = "project")]
pub use single::{read_writable, write_text};
pub(crate) use sources::slash_path;
pub use sources::{
    MAX_FILE_BYTES, MAX_TEXT_MIB, ReadSources, read_own, read_regular, read_sources, read_text,
};
#[cfg(feature = "project")]
pub(crate) use sources::{ProjectText, absolute, read_inside};
pub use start::{checkout, start_project};
pub(crate) use state::{OutputState, build_time};
#[cfg(feature = "project")]
pub(crate) use tree::{real, symlink_below};
pub(crate) use update::update;
