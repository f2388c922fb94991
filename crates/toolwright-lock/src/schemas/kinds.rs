//! Compares types, and the keywords that belong to no type.

use std::collections::BTreeMap;

use toolwright::Value;
use toolwright_codegen::internal::schema::{Node, Shape};
use toolwright_codegen::internal::values::{Part, View};

use super::sets::{RULES, TYPES};
use super::{Comparison, Place, Shows};
use crate::order::Shift;
use crate::rules;

impl Comparison<'_> {
    /// Compares what is not null at two places of which one may be null. Returns whether it did.
    pub(super) fn nullable(&mut self, old: &Place, new: &Place) -> bool {
        let inner = |place: &Place| match place.node.map(|node| &self.schemas[node]) {
            Some(Node { shape: Shape::Nullable(inner), assertions, .. })
                if assertions.is_empty() =>
            {
                Some(place.below("/anyOf/0", Some(*inner)))
            }
            _ => None,
        };
        // A side that accepts null in another way is compared as a whole.
        let is_never_null =
            |place: &Place| place.node.is_some_and(|node| !View::of(self.schemas, node).null);
        let (was, is) = match (inner(old), inner(new)) {
            (Some(was), Some(is)) => (was, is),
            (Some(was), None) if is_never_null(new) => {
                let rule = self.of([&rules::ARG_NULL_REMOVED, &rules::RESULT_NULL_REMOVED]);
                self.add(rule, old, new, Shows::Lost, "may not be null".to_owned());
                (was, new.clone())
            }
            (None, Some(is)) if is_never_null(old) => {
                let rule = self.of([&rules::ARG_NULL_ADDED, &rules::RESULT_NULL_ADDED]);
                self.add(rule, old, new, Shows::Gained, "may be null".to_owned());
                (old.clone(), is)
            }
            _ => return false,
        };
        self.places(&was, &is);
        true
    }

    /// Compares choices between schemas for values of different types. Returns whether it did.
    pub(super) fn mixed(&mut self, old: &Place, new: &Place) -> bool {
        let variants = |place: &Place| match place.node.map(|node| &self.schemas[node]) {
            Some(Node { shape: Shape::Mixed(variants), assertions, .. })
                if assertions.is_empty() =>
            {
                let places = variants.iter().enumerate().map(|(index, variant)| {
                    let place = place.below(&format!("/anyOf/{index}"), Some(variant.schema));
                    (variant.kind.as_str(), place)
                });
                Some(places.collect::<BTreeMap<_, _>>())
            }
            _ => None,
        };
        let (Some(was), Some(is)) = (variants(old), variants(new)) else { return false };
        // An integer in one version and any number in the other are compared as a whole.
        if was.keys().ne(is.keys()) {
            return false;
        }
        for (kind, was) in &was {
            self.places(was, &is[kind]);
        }
        true
    }

    /// Compares the keywords that belong to no part.
    pub(super) fn rules(&mut self, was: &View, is: &View, old: &Place, new: &Place) {
        let only = |view: &View, other: &View| -> Vec<String> {
            let rules = view.rules.iter().filter(|rule| !other.rules.contains(*rule));
            rules.cloned().collect()
        };
        let (gone, added) = (only(was, is), only(is, was));
        // A limit of one number that became another one.
        let limit = match (gone.as_slice(), added.as_slice()) {
            ([before], [after]) => limit(before, after),
            _ => None,
        };
        let (mut has_lost, mut has_gained) = match limit {
            Some(shift) => (shift != Shift::Loosened, shift != Shift::Tightened),
            None => (!added.is_empty(), !gone.is_empty()),
        };
        // These depend on each other, and on the properties and items that have schemas, but not on limits.
        let depends = |rule: &String| DEPENDING.contains(&word(rule));
        let is_about_the_rest = was.rules.iter().chain(&is.rules).any(depends);
        let is_other_rule = limit.is_none() && (has_lost || has_gained);
        if is_about_the_rest && (is_other_rule || was.has_other_parts(is, self.schemas)) {
            (has_lost, has_gained) = (true, true);
        }
        // A rule that is gone may have been all that kept values out.
        if let Some(shift) = Shift::of(has_lost, has_gained) {
            let mut words: Vec<&str> = gone.iter().chain(&added).map(|rule| word(rule)).collect();
            words.sort_unstable();
            words.dedup();
            let text = match words.as_slice() {
                [] => "the keys or items that other keywords are about".to_owned(),
                words => format!("`{}`", words.join("`, `")),
            };
            self.shift(RULES, shift, old, new, text);
        }
    }

    /// Compares which kinds of values are accepted.
    pub(super) fn kinds(&mut self, was: &View, is: &View, old: &Place, new: &Place) {
        let (before, after) = (was.kinds(), is.kinds());
        let covers = |kinds: &[&str], kind: &str| {
            kinds.contains(&kind) || kind == "integer" && kinds.contains(&"number")
        };
        // Null counts as a type where there is no other.
        let is_null_alone = before.is_empty() || after.is_empty();
        let lost = before.iter().any(|kind| !covers(&after, kind))
            || is_null_alone && was.null && !is.null;
        let gained = after.iter().any(|kind| !covers(&before, kind))
            || is_null_alone && is.null && !was.null;
        // Where only constants are accepted, their values say more.
        let is_number_of_constants = matches!(
            (&was.number, &is.number),
            (Some(Part::Values(_)), Some(_)) | (Some(_), Some(Part::Values(_)))
        );
        let is_about_integers = before.iter().chain(&after).all(|kind| {
            ["integer", "number"].contains(kind) || covers(&before, kind) && covers(&after, kind)
        });
        if let Some(shift) = Shift::of(lost, gained)
            && !(is_number_of_constants && is_about_integers)
        {
            let text = |kinds: &[&str]| match kinds {
                [] => "null".to_owned(),
                kinds => kinds.join(" or "),
            };
            self.shift(TYPES, shift, old, new, format!("{}, was {}", text(&after), text(&before)));
        }
        if was.null != is.null && !is_null_alone {
            let sides = [
                [&rules::ARG_NULL_REMOVED, &rules::ARG_NULL_ADDED],
                [&rules::RESULT_NULL_REMOVED, &rules::RESULT_NULL_ADDED],
            ];
            let (rule, shows, words) = if is.null {
                (self.of(sides)[1], Shows::Gained, "may be null")
            } else {
                (self.of(sides)[0], Shows::Lost, "may not be null")
            };
            self.add(rule, old, new, shows, words.to_owned());
        }
    }
}

/// The keywords that apply to what others leave over.
const DEPENDING: [&str; 10] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "patternProperties",
    "prefixItems",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns the keyword of a rule.
fn word(rule: &str) -> &str {
    let before = rule.split_once(": ").map_or(rule, |(before, _)| before);
    before.rsplit(' ').next().unwrap_or_default()
}

/// Compares a keyword with a number to the same keyword with another one. Each is written as `kind keyword: number`.
fn limit(old: &str, new: &str) -> Option<Shift> {
    let (word, was) = old.rsplit_once(": ")?;
    let (other, is) = new.rsplit_once(": ")?;
    let number = |text: &str| text.parse::<Value>().ok()?.as_number().cloned();
    let (was, is) = (number(was)?, number(is)?);
    if word != other {
        return None;
    }
    let grows = Shift::of(is < was, is > was);
    Some(match word.rsplit(' ').next()? {
        "maxProperties" | "maxContains" => grows?,
        "minProperties" | "minContains" => Shift::of(is > was, is < was)?,
        "multipleOf" => {
            let (was, is) = (was.to_integer()?.to_i128()?, is.to_integer()?.to_i128()?);
            Shift::of(is.checked_rem(was)? == 0, was.checked_rem(is)? == 0).filter(|_| was != is)?
        }
        _ => return None,
    })
}
