//! Toolsets published under prefixes, per session: what there is (`catalog`), who may use it, and one router for each
//! session. Never runs an agent: a run uses a session's toolset like any other.

mod catalog;
mod router;
mod running;

pub use catalog::{Catalog, CatalogError, Definition};
pub use running::{Session, SessionError};
