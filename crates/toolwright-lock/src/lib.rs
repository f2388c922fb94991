//! Locks the tools of a project as they are published, and says whom a later change breaks.
//!
//! A [`Lock`] holds the tools of a project as they were published. [`diff`] compares two of them: each [`Finding`] says what
//! changed, how much it matters for five viewpoints ([`Viewpoint`]), and whether somebody must review the tool again ([`Trust`]). `toolwright lock`, `toolwright diff` and
//! `toolwright breaking` are this crate at the command line.

#![warn(missing_debug_implementations)]

mod canonical;
mod classes;
mod diff;
mod drafts;
mod finding;
mod listing;
mod lock;
mod lock_error;
mod order;
mod policy;
mod remote;
mod report;
mod rules;
mod rust;
mod schemas;
#[cfg(test)]
mod soundness;
mod tools;
mod unique;
mod version;

pub use classes::{Change, Classes, Trust, Viewpoint};
pub use diff::{DiffError, Difference, diff, diff_listings};
pub use finding::{Finding, Places, Proof};
pub use listing::{ListedTool, LockedServer};
pub use lock::{LOCK_FILE, Lock, LockedTool, LockedToolset, PastName};
pub use lock_error::LockError;
pub use policy::{Breaking, Exception, Policy};
pub use report::{Format, render};
pub use rules::Rule;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
