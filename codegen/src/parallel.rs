//! Applies a function to many items on as many threads as there are processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

/// The number of items that a thread takes at a time. Starting a thread takes about as long as working on this many.
const CHUNK: usize = 16;

/// The stack size of a thread in bytes: the usual size of a main thread, so that nested schemas need no other limit here.
const STACK: usize = 8 << 20;

/// Applies `work` to each item; returns the results in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(items, || (), |(), item| work(item))
}

/// Does the same with a state for each thread, made by `begin`. The result for an item must not depend on the items before it.
pub(crate) fn map_with<S, T: Sync, R: Send>(
    items: &[T],
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let chunks: Vec<&[T]> = items.chunks(CHUNK).collect();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut state = begin();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(at) else { return done };
            done.push((at, chunk.iter().map(|item| work(&mut state, item)).collect::<Vec<R>>()));
        }
    };
    let mut done = thread::scope(|scope| {
        // If the system refuses another thread, the others do the work.
        let another = || thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take).ok();
        let others: Vec<_> = (1..processors.min(chunks.len())).filter_map(|_| another()).collect();
        let mut done = take();
        let theirs = others.into_iter().map(ScopedJoinHandle::join);
        done.extend(theirs.flat_map(|theirs| theirs.unwrap_or_else(|panic| resume_unwind(panic))));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, chunk)| chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, map};

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for count in [0, 1, CHUNK, CHUNK + 1, 50 * CHUNK - 1] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(&items, |item| item * 2), expected, "{count}");
        }
    }
}
