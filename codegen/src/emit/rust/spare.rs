//! Room of streams that are gone, for streams to come: most live for a moment, until they are put into another, and there
//! are hundreds of thousands of them. Never about what is in it.

use std::cell::RefCell;

use super::kind::Token;

/// What a stream's text and tokens stand in.
pub(super) type Room = (String, Vec<Token>);

thread_local! {
    static SPARE: RefCell<Vec<Room>> = const { RefCell::new(Vec::new()) };
}

/// Room for this much text is too large to be kept for small streams, which most are.
const LARGE: usize = 8192;

/// Empty room, used before or new.
pub(super) fn take() -> Room {
    let spare = SPARE.with_borrow_mut(Vec::pop);
    spare.unwrap_or_else(|| (String::with_capacity(96), Vec::with_capacity(32)))
}

/// Keeps the room of a stream that is gone.
pub(super) fn keep((mut text, mut tokens): Room) {
    if text.capacity() == 0 || text.capacity() > LARGE {
        return;
    }
    text.clear();
    tokens.clear();
    // At the end of a thread nothing is kept.
    let _ = SPARE.try_with(|spare| spare.borrow_mut().push((text, tokens)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_kept_empty_and_only_where_it_is_small() {
        let other = std::thread::spawn(|| {
            keep(("small".to_owned(), Vec::new()));
            keep((String::with_capacity(LARGE + 1), Vec::new()));
            keep((String::new(), Vec::new()));
            let spare = SPARE.take();
            spare.iter().map(|(text, _)| (text.clone(), text.capacity())).collect::<Vec<_>>()
        });
        assert_eq!(other.join().expect("it ends"), [(String::new(), "small".len())]);
    }
}
