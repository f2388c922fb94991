//! Compares objects.

use std::collections::BTreeMap;

use toolwright::Value;
use toolwright::pointer::escaped;
use toolwright_codegen::internal::schema::NodeId;
use toolwright_codegen::internal::values::{Object, Objects, Part, Rest, View};

use super::sets::TYPES;
use super::{Comparison, Place, Shows, Side};
use crate::finding::Places;
use crate::rules;

impl Comparison<'_> {
    pub(super) fn objects(&mut self, was: &Objects, is: &Objects, old: &Place, new: &Place) {
        match (was, is) {
            (Objects::Object(was), Objects::Object(is)) => self.object(was, is, old, new),
            (Objects::Union(tag, was), Objects::Union(other, is)) if tag == other => {
                let [was_by_value, is_by_value] = [was, is].map(|variants| {
                    let places = variants.iter().enumerate();
                    places
                        .map(|(index, (value, node))| (value.as_str(), (index, *node)))
                        .collect::<BTreeMap<_, _>>()
                });
                let added = self.of([&rules::UNION_VARIANT_ADDED, &rules::RESULT_VARIANT_ADDED]);
                let removed =
                    self.of([&rules::UNION_VARIANT_REMOVED, &rules::RESULT_VARIANT_REMOVED]);
                for (index, (value, node)) in is.iter().enumerate() {
                    let new_place = new.below(&format!("/oneOf/{index}"), Some(*node));
                    match was_by_value.get(value.as_str()).copied() {
                        Some((index, node)) => {
                            let old_place = old.below(&format!("/oneOf/{index}"), Some(node));
                            self.places(&old_place, &new_place);
                        }
                        None => {
                            self.add(added, old, new, Shows::Gained, format!("`{value}` is new"));
                        }
                    }
                }
                for (value, _) in was {
                    if is_by_value.contains_key(value.as_str()) {
                        continue;
                    }
                    self.add(removed, old, new, Shows::Lost, format!("`{value}` is gone"));
                }
            }
            (Objects::Union(tag, _), Objects::Object(is))
                if self.variant(tag, is, new).is_some() =>
            {
                let one = self.variant(tag, is, new).unwrap_or_default();
                self.objects(was, &Objects::Union(tag.clone(), one), old, new);
            }
            (Objects::Object(was), Objects::Union(tag, _))
                if self.variant(tag, was, old).is_some() =>
            {
                let one = self.variant(tag, was, old).unwrap_or_default();
                self.objects(&Objects::Union(tag.clone(), one), is, old, new);
            }
            _ => {
                let words = "the objects are told apart in another way".to_owned();
                self.add(self.of(TYPES)[2], old, new, Shows::Both, words);
            }
        }
    }

    /// Returns an object as the only variant of a choice, if its tag is constant.
    fn variant(&self, tag: &str, object: &Object, place: &Place) -> Option<Vec<(String, NodeId)>> {
        let is_tag = |(name, _, is_required): &&(String, NodeId, bool)| name == tag && *is_required;
        let (_, node, _) = object.properties.iter().find(is_tag)?;
        match View::of(self.schemas, *node).string? {
            Part::Values(values) => match values.as_slice() {
                [Value::String(value)] => Some(vec![(value.clone(), place.node?)]),
                _ => None,
            },
            Part::Rules(_) => None,
        }
    }

    pub(super) fn object(&mut self, was: &Object, is: &Object, old: &Place, new: &Place) {
        let [was_by_name, is_by_name] = [was, is].map(|object| {
            let properties = object.properties.iter();
            properties
                .map(|(name, node, required)| (name.as_str(), (*node, *required)))
                .collect::<BTreeMap<_, _>>()
        });
        let at = |name: &str| format!("/properties/{}", escaped(name));
        for (name, node, required) in &is.properties {
            let new_place = new.below(&at(name), Some(*node));
            match was_by_name.get(name.as_str()).copied() {
                Some((old_node, was_required)) => {
                    if was_required != *required {
                        let words = format!("`{name}`");
                        let sides = [
                            [&rules::ARG_NOW_REQUIRED, &rules::ARG_NOW_OPTIONAL],
                            [&rules::RESULT_NOW_REQUIRED, &rules::RESULT_NOW_OPTIONAL],
                        ];
                        let [now_required, now_optional] = self.of(sides);
                        let (rule, shows) = if *required {
                            (now_required, Shows::Lost)
                        } else {
                            (now_optional, Shows::Gained)
                        };
                        self.add(rule, old, new, shows, words);
                    }
                    self.places(&old.below(&at(name), Some(old_node)), &new_place);
                }
                None => self.added(name, *required, was, (old, new), &new_place),
            }
        }
        for (name, node, required) in &was.properties {
            if !is_by_name.contains_key(name.as_str()) {
                let place = old.below(&at(name), Some(*node));
                self.removed(name, *required, is, (old, new), &place);
            }
        }
        self.rest(was.rest, is.rest, old, new);
    }

    /// Reports a new property.
    pub(super) fn added(
        &mut self,
        name: &str,
        required: bool,
        was: &Object,
        (old, new): (&Place, &Place),
        place: &Place,
    ) {
        let (rule, shows) = match (self.side, required) {
            (Side::Args, true) => (&rules::ARG_REQUIRED_ADDED, Shows::Lost),
            (Side::Args, false) => match was.rest {
                Rest::Closed => (&rules::ARG_OPTIONAL_ADDED, Shows::Gained),
                Rest::Silent => (&rules::ARG_OPTIONAL_ADDED, Shows::Nothing),
                Rest::Declared => (&rules::ARG_KEY_CLAIMED, Shows::Lost),
                Rest::Typed(_) => (&rules::ARG_KEY_CLAIMED_TYPED, Shows::Both),
            },
            (Side::Result, true) if was.rest == Rest::Closed => {
                (&rules::RESULT_REQUIRED_ADDED_CLOSED, Shows::Both)
            }
            (Side::Result, true) if matches!(was.rest, Rest::Typed(_)) => {
                (&rules::RESULT_REQUIRED_ADDED_TYPED, Shows::Both)
            }
            (Side::Result, true) => (&rules::RESULT_REQUIRED_ADDED, Shows::Lost),
            (Side::Result, false) => match was.rest {
                Rest::Closed => (&rules::RESULT_OPTIONAL_ADDED_CLOSED, Shows::Gained),
                Rest::Silent => (&rules::RESULT_OPTIONAL_ADDED_SILENT, Shows::Nothing),
                Rest::Declared => (&rules::RESULT_OPTIONAL_ADDED_DECLARED, Shows::Lost),
                Rest::Typed(_) => (&rules::RESULT_OPTIONAL_ADDED_TYPED, Shows::Both),
            },
        };
        let places = Places { old: None, new: Some(place.pointer.clone()) };
        self.add_at(rule, places, (old, new), shows, format!("`{name}` is new"));
    }

    /// Reports a property that is gone.
    pub(super) fn removed(
        &mut self,
        name: &str,
        required: bool,
        is: &Object,
        (old, new): (&Place, &Place),
        place: &Place,
    ) {
        let (rule, shows) = match (self.side, required, is.rest == Rest::Closed) {
            (Side::Args, _, false) if is.rest != Rest::Silent => {
                (&rules::ARG_REMOVED_DECLARED, Shows::Gained)
            }
            (Side::Args, true, _) => (&rules::ARG_REMOVED_REQUIRED, Shows::Gained),
            (Side::Args, false, true) => (&rules::ARG_REMOVED, Shows::Lost),
            (Side::Args, false, false) => (&rules::ARG_REMOVED, Shows::Nothing),
            (Side::Result, ..) if is.rest == Rest::Declared => {
                (&rules::RESULT_REMOVED_DECLARED, Shows::Gained)
            }
            (Side::Result, ..) if matches!(is.rest, Rest::Typed(_)) => {
                (&rules::RESULT_REMOVED_TYPED, Shows::Both)
            }
            (Side::Result, true, true) => (&rules::RESULT_REMOVED_REQUIRED_CLOSED, Shows::Both),
            (Side::Result, true, false) => (&rules::RESULT_REMOVED_REQUIRED, Shows::Gained),
            (Side::Result, false, true) => (&rules::RESULT_REMOVED_OPTIONAL_CLOSED, Shows::Lost),
            (Side::Result, false, false) => (&rules::RESULT_REMOVED_OPTIONAL, Shows::Nothing),
        };
        let places = Places { old: Some(place.pointer.clone()), new: None };
        self.add_at(rule, places, (old, new), shows, format!("`{name}` is gone"));
    }

    /// Compares the rules for keys without a description.
    pub(super) fn rest(&mut self, was: Rest, is: Rest, old: &Place, new: &Place) {
        let closed = self.of([&rules::OBJECT_CLOSED, &rules::OBJECT_CLOSED_IN_RESULT]);
        let opened = match was {
            Rest::Silent => {
                self.of([&rules::OBJECT_OPENED, &rules::OBJECT_OPENED_IN_SILENT_RESULT])
            }
            _ => self.of([&rules::OBJECT_OPENED, &rules::OBJECT_OPENED_IN_RESULT]),
        };
        let closed_silent =
            self.of([&rules::OBJECT_CLOSED_SILENT, &rules::OBJECT_CLOSED_SILENT_IN_RESULT]);
        let silent = self.of([&rules::OBJECT_SILENT, &rules::OBJECT_SILENT_IN_RESULT]);
        let (rule, shows, words) = match (was, is) {
            (Rest::Closed, Rest::Closed)
            | (Rest::Silent, Rest::Silent)
            | (Rest::Declared, Rest::Declared) => return,
            (Rest::Silent, Rest::Closed) => {
                (closed_silent, Shows::Nothing, "further keys are refused")
            }
            (Rest::Declared | Rest::Typed(_), Rest::Closed) => {
                (closed, Shows::Lost, "further keys are refused")
            }
            (Rest::Closed, Rest::Silent) => {
                let rules = [&rules::OBJECT_OPENED_SILENT, &rules::OBJECT_OPENED_SILENT_IN_RESULT];
                (self.of(rules), Shows::Gained, "further keys are not refused any more")
            }
            (Rest::Closed | Rest::Silent, Rest::Declared | Rest::Typed(_)) => {
                let shows = if was == Rest::Closed { Shows::Gained } else { Shows::Nothing };
                (opened, shows, "further keys are declared to be allowed")
            }
            (Rest::Declared | Rest::Typed(_), Rest::Silent) => {
                (silent, Shows::Nothing, "nothing is said about further keys")
            }
            _ => {
                let part = "/additionalProperties";
                self.places(&old.below(part, was.node()), &new.below(part, is.node()));
                return;
            }
        };
        self.add(rule, old, new, shows, words.to_owned());
    }
}
