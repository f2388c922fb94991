//! Work on many things at once, on as many threads as there are processors. Never knows what the work is.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

/// How many things a thread takes at a time; less than twice as many are done before another thread has begun.
const SHARE: usize = 16;

/// As large as a main thread's usually is: what can be done there can be done here, however deep a schema nests.
const STACK: usize = 8 << 20;

/// What comes of each thing, in their order.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(things, || (), |(), thing| work(thing))
}

/// The same, with something that each thread has for itself and uses for one thing after another. What comes of a thing
/// must not depend on what was done with it before.
pub(crate) fn map_with<S, T: Sync, R: Send>(
    things: &[T],
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let shares: Vec<&[T]> = things.chunks(SHARE).collect();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut own = begin();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = shares.get(at) else { return done };
            done.push((at, share.iter().map(|thing| work(&mut own, thing)).collect::<Vec<R>>()));
        }
    };
    let mut done = thread::scope(|scope| {
        // Where the system gives no more threads, this one does all.
        let another = || thread::Builder::new().stack_size(STACK).spawn_scoped(scope, take).ok();
        let others: Vec<_> = (1..processors.min(shares.len())).filter_map(|_| another()).collect();
        let mut done = take();
        let theirs = others.into_iter().map(ScopedJoinHandle::join);
        done.extend(theirs.flat_map(|theirs| theirs.unwrap_or_else(|panic| resume_unwind(panic))));
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, share)| share).collect()
}

#[cfg(test)]
mod tests {
    use super::{SHARE, map};

    #[test]
    fn what_comes_of_things_stands_in_their_order() {
        for count in [0, 1, SHARE, SHARE + 1, 50 * SHARE - 1] {
            let things: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = things.iter().map(|thing| thing * 2).collect();
            assert_eq!(map(&things, |thing| thing * 2), expected, "{count}");
        }
    }
}
