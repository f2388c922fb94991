//! The place on the wire of a canonical place, for issues that a codec finds.

use std::collections::HashMap;

use toolwright::pointer::{escaped, unescaped};
use toolwright::value::Kind;

use super::{AbsentForm, Branch, ObjectStep, Plan, Rest, SAME, Step, StepId};
use crate::wire::Wire;

impl Plan {
    /// Returns the place on the wire of a canonical place: a pointer, or that of the nearest value around it.
    pub(crate) fn wire_pointer(
        &self,
        canonical: &str,
        wire: Wire<'_>,
        chosen: &mut Chosen,
    ) -> String {
        let mut place = Place { plan: self, wire: String::new(), value: Some(wire), chosen };
        let mut step = self.root;
        for segment in canonical.split('/').skip(1) {
            match place.enter(step, &unescaped(segment)) {
                Some(next) => step = next,
                None => break,
            }
        }
        place.wire
    }
}

/// The steps that choices have taken for values of one document, by the choice and the address of the value. The alternatives are
/// costly to tell apart, and many places may be within one value.
pub(crate) type Chosen = HashMap<(StepId, usize), Option<StepId>>;

/// A place on the wire while the canonical place is followed down.
struct Place<'a, 'c> {
    plan: &'a Plan,
    wire: String,
    value: Option<Wire<'a>>,
    chosen: &'c mut Chosen,
}

impl Place<'_, '_> {
    /// Goes to the member or item `segment` of the canonical value that a step makes, and returns the step there.
    fn enter(&mut self, id: StepId, segment: &str) -> Option<StepId> {
        match &self.plan.steps[id] {
            Step::Same => {
                self.down(segment);
                Some(SAME)
            }
            Step::Link(id) => self.enter(*id, segment),
            Step::Wrapped { key, inner } => {
                self.down(key);
                self.enter(*inner, segment)
            }
            Step::Text | Step::Digits | Step::Table { .. } => None,
            Step::Array(step) => {
                self.down(segment);
                Some(*step)
            }
            Step::Object(object) => self.enter_object(object, segment),
            Step::Pairs(step) => self.enter_pair(*step, segment),
            Step::Tuple { items, rest } => {
                let index: usize = segment.parse().ok()?;
                if let Some((key, step)) = items.get(index) {
                    self.down(key);
                    return Some(*step);
                }
                let (key, step) = rest.as_ref()?;
                self.down(key);
                self.down(&(index - items.len()).to_string());
                Some(*step)
            }
            Step::Choice(branches) => {
                let value = self.value?;
                let choose = || Some(Branch::of(branches, value)?.step);
                let step = *self.chosen.entry((id, value.address())).or_insert_with(choose);
                self.enter(step?, segment)
            }
        }
    }

    fn enter_object(&mut self, object: &ObjectStep, segment: &str) -> Option<StepId> {
        if let Some(place) = object.place(segment) {
            let property = &object.properties[place];
            self.down(&property.wire_key);
            if property.absent == AbsentForm::Wrapped {
                self.down("value");
            }
            return Some(property.step);
        }
        match &object.rest {
            Rest::Keep(step) => {
                self.down(segment);
                Some(*step)
            }
            Rest::NoForm => {
                self.down(segment);
                Some(SAME)
            }
            Rest::Pairs { wire_key, step } => {
                self.down(wire_key);
                self.enter_pair(*step, segment)
            }
        }
    }

    fn enter_pair(&mut self, step: StepId, key: &str) -> Option<StepId> {
        let pairs = self.value.filter(|value| value.kind() == Kind::Array)?;
        let has_key =
            |pair: Wire<'_>| pair.get("key").and_then(Wire::as_str).is_some_and(|own| own == key);
        let index = pairs.items().position(has_key)?;
        self.down(&index.to_string());
        self.down("value");
        Some(step)
    }

    fn down(&mut self, segment: &str) {
        self.wire.push('/');
        self.wire.push_str(&escaped(segment));
        self.value = self.value.and_then(|value| match value.kind() {
            Kind::Array => value.items().nth(segment.parse().ok()?),
            _ => value.get(segment),
        });
    }
}
