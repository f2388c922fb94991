//! What is found out about schemas and values, so that it is found once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// How many verdicts are remembered, so that a table of them takes less than 64 MiB. Others are found anew when they are
/// asked for again, which takes steps.
pub(super) const MAX_REMEMBERED: usize = 1_800_000;

/// What was found out about a node and a value, by the number of the scope too: what a dynamic reference means depends on it.
pub(super) type Remembered<T> = HashMap<Key, T, BuildHasherDefault<KeyHasher>>;

/// A node, a value and a scope. A text with more than 2^32 values takes more steps than there are.
pub(super) type Key = (u32, u32, u32);

/// Keys are places in lists, which nobody can choose so that they collide for a long time.
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

/// The findings of explanations so far, which the next one reads.
#[derive(Default)]
pub(super) struct Told {
    /// What is wrong with values by the nearest of several schemas: the first few issues.
    pub(super) nearest: Remembered<Arc<str>>,
    /// How far values are from schemas, by the levels that were looked at.
    pub(super) distances: HashMap<(Key, usize), Distance>,
    /// How many nodes are being told inside each other. Verdicts that are known may lead further than finding them did.
    pub(super) nesting: usize,
}

/// Whether a value is of another kind or has another constant, and how many mistakes there are.
pub(super) type Distance = (bool, usize);
