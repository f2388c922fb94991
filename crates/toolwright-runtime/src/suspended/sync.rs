//! The mutex of the store in memory. The tests with the model checker replace it.

pub(super) use std::sync::{Mutex, PoisonError};
