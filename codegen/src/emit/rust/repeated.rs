//! Variables in a repetition of `quote!`: lists and iterators have another value in each iteration, other variables have the
//! same value in all of them.

use super::stream::ToTokens;

/// The values of a variable in the iterations of a repetition.
pub(in crate::emit) trait Repeated {
    /// The value in one iteration.
    type Item;

    /// Returns the value in the next iteration, or `None` after the last one.
    fn next(&mut self) -> Option<Self::Item>;

    /// Returns whether there is a last iteration.
    fn is_finite(&self) -> bool;
}

/// Another item in each iteration.
pub(in crate::emit) struct Each<I>(I);

impl<I: Iterator> Repeated for Each<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn is_finite(&self) -> bool {
        true
    }
}

/// The same value in each iteration.
pub(in crate::emit) struct Constant<'a, T: ?Sized>(&'a T);

impl<'a, T: ?Sized> Repeated for Constant<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        Some(self.0)
    }

    fn is_finite(&self) -> bool {
        false
    }
}

/// Variables that a repetition consumes: iterators.
pub(in crate::emit) trait RepeatIterator {
    /// The iterator.
    type Items;

    fn each(self) -> Each<Self::Items>;
}

impl<I: Iterator> RepeatIterator for I {
    type Items = I;

    fn each(self) -> Each<I> {
        Each(self)
    }
}

/// Variables that a repetition borrows: lists, and values that implement [`ToTokens`].
pub(in crate::emit) trait RepeatValue {
    /// The values in the iterations.
    type Repeated<'a>
    where
        Self: 'a;

    fn each(&self) -> Self::Repeated<'_>;
}

impl<T> RepeatValue for [T] {
    type Repeated<'a>
        = Each<std::slice::Iter<'a, T>>
    where
        T: 'a;

    fn each(&self) -> Self::Repeated<'_> {
        Each(self.iter())
    }
}

impl<T> RepeatValue for Vec<T> {
    type Repeated<'a>
        = Each<std::slice::Iter<'a, T>>
    where
        T: 'a;

    fn each(&self) -> Self::Repeated<'_> {
        Each(self.iter())
    }
}

impl<T: ToTokens + ?Sized> RepeatValue for T {
    type Repeated<'a>
        = Constant<'a, T>
    where
        T: 'a;

    fn each(&self) -> Self::Repeated<'_> {
        Constant(self)
    }
}
