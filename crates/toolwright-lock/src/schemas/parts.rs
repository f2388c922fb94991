//! Compares numbers, strings, constants and arrays.

use std::collections::HashSet;

use toolwright::Value;
use toolwright::value::Number;
use toolwright_codegen::internal::values::{Arrays, End, Judge, Numbers, Part, Rest, Strings};

use super::sets::{BOUNDS, FORMATS, ITEMS, LENGTHS, PATTERNS, TYPES, UNIQUE};
use super::{Comparison, Place, Shows, size};
use crate::order::{Shift, counts, ranges};
use crate::rules;

impl Comparison<'_> {
    pub(super) fn numbers(&mut self, was: &Numbers, is: &Numbers, old: &Place, new: &Place) {
        let ends = |numbers: &Numbers| {
            let [least, most] = &numbers.ends;
            let end = |end: &Option<End>, [at, beyond]: [&str; 2]| {
                let is_limit = |number: &Number| {
                    [i64::MIN, i64::MAX]
                        .iter()
                        .any(|limit| *number == Number::from(i128::from(*limit)))
                };
                let end = end.as_ref().filter(|(number, _)| !is_limit(number));
                end.map(|(number, is_excluded)| {
                    format!("{} {}", if *is_excluded { beyond } else { at }, number.as_str())
                })
            };
            let parts = [end(least, ["at least", "above"]), end(most, ["at most", "below"])];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            if parts.is_empty() { "any".to_owned() } else { parts.join(" and ") }
        };
        // Between integers and other numbers, the range of doubles counts, and what follows from the type is no news.
        let is_same_type = was.is_integer == is.is_integer;
        let (before, after) = (was.limits(!is_same_type), is.limits(!is_same_type));
        let shift = ranges(
            [before[0].as_ref(), before[1].as_ref()],
            [after[0].as_ref(), after[1].as_ref()],
        );
        let is_known = !is_same_type
            && shift == Some(if is.is_integer { Shift::Tightened } else { Shift::Loosened });
        if let Some(shift) = shift.filter(|_| !is_known) {
            self.shift(BOUNDS, shift, old, new, format!("{}, was {}", ends(is), ends(was)));
        }
        if !is_same_type {
            return;
        }
        if let Some(shift) =
            Shift::of(is.is_double && !was.is_double, was.is_double && !is.is_double)
        {
            let words = if is.is_double { "a double" } else { "a number of any size" };
            self.shift(FORMATS, shift, old, new, words.to_owned());
        }
    }

    pub(super) fn strings(&mut self, was: &Strings, is: &Strings, old: &Place, new: &Place) {
        if let Some(shift) = counts(was.lengths, is.lengths) {
            let words = format!("{}, was {}", limits(is.lengths), limits(was.lengths));
            self.shift(LENGTHS, shift, old, new, words);
        }
        let shift = |was: Option<&str>, is: Option<&str>| {
            Shift::of(was != is && is.is_some(), was != is && was.is_some())
        };
        let words = |was: Option<&str>, is: Option<&str>| {
            let text = |text: Option<&str>| {
                text.map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
            };
            format!("{}, was {}", text(is), text(was))
        };
        let patterns = (was.pattern.as_deref(), is.pattern.as_deref());
        if let Some(shift) = shift(patterns.0, patterns.1) {
            self.shift(PATTERNS, shift, old, new, words(patterns.0, patterns.1));
        }
        if let Some(shift) = shift(was.format, is.format) {
            self.shift(FORMATS, shift, old, new, words(was.format, is.format));
        }
    }

    /// Compares constants with constants, or constants with a rule.
    pub(super) fn constants<T>(&mut self, was: &Part<T>, is: &Part<T>, old: &Place, new: &Place) {
        let added = self.of([&rules::ARG_ENUM_VALUE_ADDED, &rules::RESULT_ENUM_VALUE_ADDED]);
        let removed = self.of([&rules::ARG_ENUM_VALUE_REMOVED, &rules::RESULT_ENUM_VALUE_REMOVED]);
        match (was, is) {
            (Part::Values(was), Part::Values(is)) => {
                let only = |values: &[Value], others: &[Value]| -> Vec<Value> {
                    let others: HashSet<&Value> = others.iter().collect();
                    values.iter().filter(|value| !others.contains(value)).cloned().collect()
                };
                let (new_values, gone) = (only(is, was), only(was, is));
                let verb = |values: &[Value]| if values.len() == 1 { "is" } else { "are" };
                if !new_values.is_empty() {
                    let words = format!("{} {} new", list(&new_values), verb(&new_values));
                    self.add(added, old, new, Shows::Gained, words);
                }
                if !gone.is_empty() {
                    let words = format!("{} {} gone", list(&gone), verb(&gone));
                    self.add(removed, old, new, Shows::Lost, words);
                }
            }
            (Part::Rules(_), Part::Values(is)) => {
                let rule = if self.accepts_all(old, is) {
                    self.of([&rules::ARG_NOW_ENUM, &rules::RESULT_NOW_ENUM])
                } else {
                    self.of(TYPES)[2]
                };
                self.add(rule, old, new, Shows::Both, format!("only {}", list(is)));
            }
            (Part::Values(was), Part::Rules(_)) => {
                let rule = if self.accepts_all(new, was) { added } else { self.of(TYPES)[2] };
                self.add(rule, old, new, Shows::Both, format!("not only {} any more", list(was)));
            }
            (Part::Rules(_), Part::Rules(_)) => {}
        }
    }

    /// Returns whether a schema certainly accepts all of some values: it is not known if many large schemas were checked.
    pub(super) fn accepts_all(&self, place: &Place, values: &[Value]) -> bool {
        let mut work = self.budget.checks.get();
        work = work.saturating_sub(place.node.map_or(0, |node| size(self.schemas, node)));
        let accepts_all = work > 0 && {
            let judge = Judge::of(self.schemas, place.node);
            values.iter().all(|value| judge.accepts(&value.to_string(), &mut work) == Some(true))
        };
        self.budget.checks.set(work);
        accepts_all
    }

    pub(super) fn arrays(&mut self, was: &Arrays, is: &Arrays, old: &Place, new: &Place) {
        if was.places.len() != is.places.len()
            || (was.rest == Rest::Closed) != (is.rest == Rest::Closed)
        {
            let rule = self.of([&rules::TUPLE_LENGTH_CHANGED, &rules::RESULT_TUPLE_LENGTH_CHANGED]);
            let words = format!("{} items have schemas, was {}", is.places.len(), was.places.len());
            self.add(rule, old, new, Shows::Both, words);
            return;
        }
        if let Some(shift) = counts(was.counts, is.counts) {
            let words = format!("{}, was {}", limits(is.counts), limits(was.counts));
            self.shift(ITEMS, shift, old, new, words);
        }
        if let Some(shift) =
            Shift::of(is.is_unique && !was.is_unique, was.is_unique && !is.is_unique)
        {
            let words = if is.is_unique { "items have to differ" } else { "items may be equal" };
            self.shift(UNIQUE, shift, old, new, words.to_owned());
        }
        for (index, (was, is)) in was.places.iter().zip(&is.places).enumerate() {
            let part = format!("/prefixItems/{index}");
            self.places(&old.below(&part, Some(*was)), &new.below(&part, Some(*is)));
        }
        if was.rest != is.rest {
            self.places(
                &old.below("/items", was.rest.node()),
                &new.below("/items", is.rest.node()),
            );
        }
    }
}

fn limits([least, most]: [Option<u64>; 2]) -> String {
    match (least, most) {
        (None, None) => "any".to_owned(),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
    }
}

/// The most constants that a text names.
const MAX_LISTED: usize = 5;

fn list(values: &[Value]) -> String {
    let shown = values.iter().take(MAX_LISTED).map(Value::to_string).collect::<Vec<_>>();
    match values.len().saturating_sub(MAX_LISTED) {
        0 => shown.join(", "),
        further => format!("{} and {further} more", shown.join(", ")),
    }
}
