//! A pool of buffers for token streams. A compilation makes hundreds of thousands of streams, most of which are soon copied
//! into another and dropped, so their buffers are reused.

use std::cell::RefCell;

use super::kind::Token;

/// The buffers for the text and the tokens of a stream.
pub(super) type Buffers = (String, Vec<Token>);

thread_local! {
    static POOL: RefCell<Vec<Buffers>> = const { RefCell::new(Vec::new()) };
}

/// The largest text buffer that is reused, in bytes. Most streams are small and would waste a larger one.
const MAX_CAPACITY: usize = 8192;

/// Takes empty buffers from the pool, or allocates them.
pub(super) fn take() -> Buffers {
    let pooled = POOL.with_borrow_mut(Vec::pop);
    pooled.unwrap_or_else(|| (String::with_capacity(96), Vec::with_capacity(32)))
}

/// Clears the buffers of a dropped stream and puts them back into the pool.
pub(super) fn put_back((mut text, mut tokens): Buffers) {
    if text.capacity() == 0 || text.capacity() > MAX_CAPACITY {
        return;
    }
    text.clear();
    tokens.clear();
    // Fails while the thread ends: the pool is gone then.
    let _ = POOL.try_with(|pool| pool.borrow_mut().push((text, tokens)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_keeps_small_buffers_and_clears_them() {
        let other = std::thread::spawn(|| {
            put_back(("small".to_owned(), Vec::new()));
            put_back((String::with_capacity(MAX_CAPACITY + 1), Vec::new()));
            put_back((String::new(), Vec::new()));
            let pool = POOL.take();
            pool.iter().map(|(text, _)| (text.clone(), text.capacity())).collect::<Vec<_>>()
        });
        let pool = other.join().expect("the thread does not panic");
        assert_eq!(pool, [(String::new(), "small".len())]);
    }
}
