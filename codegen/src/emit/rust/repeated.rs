//! What stands in a repetition of `quote!`: variables with an item for every turn, and others that are the same each time.
//! Never about what is emitted.

use super::stream::Append;

/// What a variable gives, turn after turn.
pub(in crate::emit) trait Turns {
    /// What stands in one turn.
    type Item;

    /// What stands in the next turn; none after the last.
    fn next(&mut self) -> Option<Self::Item>;

    /// Whether there is a last turn.
    fn ends(&self) -> bool;
}

/// An item for every turn.
pub(in crate::emit) struct Each<I>(I);

impl<I: Iterator> Turns for Each<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn ends(&self) -> bool {
        true
    }
}

/// The same each time.
pub(in crate::emit) struct Constant<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Turns for Constant<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        Some(self.0)
    }

    fn ends(&self) -> bool {
        false
    }
}

/// What is used up by a repetition: iterators.
pub(in crate::emit) trait EachItem {
    /// What gives the items.
    type Items;

    fn each(self) -> Each<Self::Items>;
}

impl<I: Iterator> EachItem for I {
    type Items = I;

    fn each(self) -> Each<I> {
        Each(self)
    }
}

/// What a repetition only reads: lists, and whatever is part of a stream by itself.
pub(in crate::emit) trait EachOnce {
    /// What gives the items.
    type Turns<'a>
    where
        Self: 'a;

    fn each(&self) -> Self::Turns<'_>;
}

impl<T> EachOnce for [T] {
    type Turns<'a>
        = Each<std::slice::Iter<'a, T>>
    where
        T: 'a;

    fn each(&self) -> Self::Turns<'_> {
        Each(self.iter())
    }
}

impl<T> EachOnce for Vec<T> {
    type Turns<'a>
        = Each<std::slice::Iter<'a, T>>
    where
        T: 'a;

    fn each(&self) -> Self::Turns<'_> {
        Each(self.iter())
    }
}

impl<T: Append + ?Sized> EachOnce for T {
    type Turns<'a>
        = Constant<'a, T>
    where
        T: 'a;

    fn each(&self) -> Self::Turns<'_> {
        Constant(self)
    }
}
