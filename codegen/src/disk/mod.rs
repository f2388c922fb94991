//! The one place that touches the disk: schema files in, generated trees out. Never knows what the files mean.

mod exchange;
mod failure;
mod listing;
mod lock;
mod output;
mod ownership;
mod place;
mod record;
#[cfg(feature = "project")]
mod single;
mod sources;
mod start;
mod state;
mod tree;
mod update;

pub use failure::{IoError, OutputError, named};
pub(crate) use output::write_recorded;
pub use output::{Drift, SetAside, Written, drift, write};
pub(crate) use ownership::MARKER;
pub(crate) use record::{LastRun, read_record};
#[cfg(feature = "project")]
pub use single::{read_writable, write_text};
pub(crate) use sources::shown;
pub use sources::{ReadSources, read_sources, read_text};
#[cfg(feature = "project")]
pub(crate) use sources::{absolute, leads_out, read_regular};
pub use start::{checkout, start_project};
pub(crate) use state::{OutputState, built};
pub(crate) use update::update;
