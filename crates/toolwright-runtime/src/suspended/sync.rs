//! The lock of the store in memory. The model checker's tests put another one in its place. Never more than names.

pub(super) use std::sync::{Mutex, PoisonError};
