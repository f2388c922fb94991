//! Caches for results about schemas and values.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// The maximum number of cached results, so that the table takes less than 64 MiB. Other results are computed again
/// when needed.
pub(super) const MAX_CACHED: usize = 1_800_000;

/// Results by node, value and scope. The target of a dynamic reference depends on the scope.
pub(super) type Cache<T> = HashMap<Key, T, BuildHasherDefault<KeyHasher>>;

/// A node, a value and a scope. A text with more than 2^32 values would exceed the steps.
pub(super) type Key = (u32, u32, u32);

/// A fast hasher. Keys are indices, so an attacker cannot choose them to collide.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        // The multiplier is 2^64 divided by the golden ratio (Knuth, volume 3, 6.4).
        self.0 = (self.0.rotate_left(26) ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Results of explanations.
#[derive(Default)]
pub(super) struct ExplanationCache {
    /// The first few issues of values by the closest of several schemas, as text.
    pub(super) nearest: Cache<Arc<str>>,
    /// The distances of values from schemas, by the number of visited levels.
    pub(super) distances: HashMap<(Key, usize), Distance>,
    /// The nesting of nodes that are being explained. It may exceed the nesting of the evaluation, which used cached
    /// results.
    pub(super) nesting: usize,
}

/// True if a value has a wrong kind or constant, and the number of issues.
pub(super) type Distance = (bool, usize);
