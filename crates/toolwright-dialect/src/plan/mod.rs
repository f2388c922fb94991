//! Plans: how values are encoded for the wire and decoded.
//!
//! A plan is a list of steps that refer to each other by number, because schemas may refer to themselves. A step that
//! changes nothing is [`Step::Same`], so the common case is free.

mod canonical;
mod decode;
mod encode;
mod place;

use std::sync::{Arc, OnceLock};

use toolwright::issue::Issue;
use toolwright::pointer::escaped;
use toolwright::schema::Schema;
use toolwright::value::Value;

use crate::guard::Guard;
use crate::listed::Listed;
use crate::wire::Wire;
pub(crate) use canonical::CanonicalSchema;
pub(crate) use place::Chosen;

/// The number of a step.
pub(crate) type StepId = usize;

/// The step that changes nothing; every plan begins with it.
pub(crate) const SAME: StepId = 0;

#[derive(Debug)]
pub(crate) enum Step {
    /// The value stays as it is.
    Same,
    /// The value is under the one key of an object.
    Wrapped {
        key: String,
        inner: StepId,
    },
    /// The value is written as JSON text in a string.
    Text,
    /// A whole number is written as a string of digits.
    Digits,
    /// Values that are listed, and their values on the wire at the same positions.
    Table {
        canonical: Listed,
        wire: Listed,
    },
    Object(ObjectStep),
    Array(StepId),
    /// A tuple is an object with a key for each of its first items.
    Tuple {
        items: Vec<(String, StepId)>,
        rest: Option<(String, StepId)>,
    },
    /// An object is an array of objects with `key` and `value`.
    Pairs(StepId),
    /// Another step; it is filled in later where a schema refers to itself.
    Link(StepId),
    Choice(Vec<Branch>),
}

#[derive(Debug)]
pub(crate) struct ObjectStep {
    pub(crate) properties: Vec<Property>,
    /// The places of the properties in the order of their keys, and of their keys on the wire.
    by_key: Vec<usize>,
    by_wire_key: Vec<usize>,
    pub(crate) rest: Rest,
}

impl ObjectStep {
    pub(crate) fn new(properties: Vec<Property>, rest: Rest) -> Self {
        let by_order_of = |key: fn(&Property) -> &str| {
            let mut places: Vec<usize> = (0..properties.len()).collect();
            places.sort_by_key(|place| key(&properties[*place]));
            places
        };
        let (by_key, by_wire_key) =
            (by_order_of(|property| &property.key), by_order_of(|property| &property.wire_key));
        Self { properties, by_key, by_wire_key, rest }
    }

    /// Returns the place of a property by its key.
    fn place(&self, key: &str) -> Option<usize> {
        let order = |place: &usize| self.properties[*place].key.as_str().cmp(key);
        self.by_key.binary_search_by(order).ok().map(|found| self.by_key[found])
    }

    /// Returns the place of a property by its key on the wire.
    fn place_on_wire(&self, key: &str) -> Option<usize> {
        let order = |place: &usize| self.properties[*place].wire_key.as_str().cmp(key);
        self.by_wire_key.binary_search_by(order).ok().map(|found| self.by_wire_key[found])
    }
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) key: String,
    pub(crate) wire_key: String,
    pub(crate) step: StepId,
    pub(crate) absent: AbsentForm,
}

/// How the absence of a property is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbsentForm {
    /// The property is absent on the wire, too.
    Absent,
    /// As null, which has no other meaning.
    Null,
    /// It cannot be sent.
    NoForm,
    /// As null, which means the same.
    SameAsNull,
    /// As null; each value is in an object under the key `value`.
    Wrapped,
}

/// How keys without a property are sent.
#[derive(Debug)]
pub(crate) enum Rest {
    /// As they are; a step encodes their values.
    Keep(StepId),
    /// They cannot be sent.
    NoForm,
    /// As pairs under one more key.
    Pairs { wire_key: String, step: StepId },
}

#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) step: StepId,
    /// Tells wire values of the branch from those of the others.
    pub(crate) guard: Guard,
    /// The schema of its canonical values.
    pub(crate) canonical: CanonicalSchema,
}

impl Branch {
    /// The branch of a wire value: the first whose form it has, or else has but for missing keys.
    fn of<'b>(branches: &'b [Self], wire: Wire<'_>) -> Option<&'b Self> {
        let exact = branches.iter().find(|branch| branch.guard.accepts(wire));
        exact.or_else(|| branches.iter().find(|branch| branch.guard.resembles(wire)))
    }
}

/// A place in a value. It is only written out for a mistake.
#[derive(Clone, Copy)]
enum At<'a> {
    Root,
    Key(&'a At<'a>, &'a str),
    Index(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    /// The place as a JSON Pointer (RFC 6901).
    fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Key(outer, key) => format!("{}/{}", outer.pointer(), escaped(key)),
            Self::Index(outer, index) => format!("{}/{index}", outer.pointer()),
        }
    }
}

/// A value that cannot be sent.
#[derive(Debug)]
pub(crate) struct NoForm {
    /// A canonical pointer.
    pub(crate) at: String,
    pub(crate) reason: String,
}

/// A mistake in a wire value.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) wire: String,
    pub(crate) issue: Issue,
}

#[derive(Debug)]
pub(crate) struct Plan {
    steps: Vec<Step>,
    root: StepId,
    /// True if decoding changes nothing. Some values may still have no encoding.
    decodes_as_is: bool,
    /// The whole schema of canonical values.
    canonical: Arc<Value>,
    /// The schemas of all branches, when they are first needed.
    alternatives: OnceLock<Option<Schema>>,
    /// The number of branches before those of each step.
    first_branches: Vec<usize>,
}

impl Plan {
    pub(crate) fn new(mut steps: Vec<Step>, root: StepId, canonical: &Arc<Value>) -> Self {
        let decodes_as_is = unchanging(&steps, true)[root];
        simplify(&mut steps);
        let root = resolved(&steps, root);
        let count = |before: &mut usize, step: &Step| {
            let first = *before;
            *before += step.branches().len();
            Some(first)
        };
        Self {
            first_branches: steps.iter().scan(0, count).collect(),
            steps,
            root,
            decodes_as_is,
            canonical: Arc::clone(canonical),
            alternatives: OnceLock::new(),
        }
    }

    /// The first branch of a choice whose schema a canonical value fits. Subtracts the steps that it takes to find it.
    fn branch_of(&self, choice: StepId, value: &Value, steps: &mut u64) -> Option<&Branch> {
        let all = || self.steps.iter().flat_map(Step::branches).map(|branch| &branch.canonical);
        let compile = || canonical::compiled(&self.canonical, all());
        let compiled = self.alternatives.get_or_init(compile).as_ref()?;
        let (branches, first) = (self.steps[choice].branches(), self.first_branches[choice]);
        let indices = first..first + branches.len();
        let found = compiled.first_alternative(&value.to_string(), indices, steps)?;
        branches.get(found - first)
    }

    pub(crate) fn decodes_as_is(&self) -> bool {
        self.decodes_as_is
    }

    /// Returns whether the arguments are under one key, so that no arguments differ from an empty object.
    pub(crate) fn is_wrapped(&self) -> bool {
        matches!(self.steps[self.root], Step::Wrapped { .. })
    }

    pub(crate) fn is_identity(&self) -> bool {
        self.root == SAME
    }
}

/// Returns which steps change nothing, also where steps refer to each other in a circle. With `decoding`, only decoding counts.
fn unchanging(steps: &[Step], decoding: bool) -> Vec<bool> {
    let mut is_same: Vec<bool> = vec![true; steps.len()];
    // Steps refer to earlier and to later ones, so passes alternate in direction.
    for pass in 0.. {
        let mut changed = false;
        for at in 0..steps.len() {
            let id = if pass % 2 == 0 { at } else { steps.len() - 1 - at };
            if is_same[id] && !changes_nothing(&steps[id], &is_same, decoding) {
                (is_same[id], changed) = (false, true);
            }
        }
        if !changed {
            break;
        }
    }
    is_same
}

/// Replaces steps that change nothing by [`Step::Same`].
fn simplify(steps: &mut [Step]) {
    let is_same = unchanging(steps, false);
    for (step, same) in steps.iter_mut().zip(&is_same) {
        if *same {
            *step = Step::Same;
        }
    }
    let targets: Vec<StepId> = (0..steps.len()).map(|id| resolved(steps, id)).collect();
    for step in steps {
        step.redirect(&targets);
    }
}

fn changes_nothing(step: &Step, is_same: &[bool], decoding: bool) -> bool {
    match step {
        Step::Same => true,
        Step::Link(id) | Step::Array(id) => is_same[*id],
        Step::Table { canonical, wire } => canonical.values() == wire.values(),
        Step::Choice(branches) => branches.iter().all(|branch| is_same[branch.step]),
        Step::Object(object) => {
            let properties = object.properties.iter().all(|property| {
                property.key == property.wire_key
                    && (property.absent == AbsentForm::Absent
                        || (decoding && property.absent == AbsentForm::NoForm))
                    && is_same[property.step]
            });
            // Keys without a form are left to the codec when they come back.
            let rest = match object.rest {
                Rest::Keep(step) => is_same[step],
                Rest::NoForm => decoding,
                Rest::Pairs { .. } => false,
            };
            properties && rest
        }
        Step::Wrapped { .. } | Step::Text | Step::Digits | Step::Tuple { .. } | Step::Pairs(_) => {
            false
        }
    }
}

/// Follows links, and replaces each step that changes nothing by the first step.
fn resolved(steps: &[Step], mut id: StepId) -> StepId {
    loop {
        match steps[id] {
            Step::Same => return SAME,
            Step::Link(next) => id = next,
            _ => return id,
        }
    }
}

impl Step {
    /// Returns whether all values of this step are null, which is a string on the wire.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Table { canonical, .. } if canonical.values() == [Value::Null])
    }

    /// The branches of a choice; other steps have none.
    fn branches(&self) -> &[Branch] {
        match self {
            Self::Choice(branches) => branches,
            _ => &[],
        }
    }

    fn redirect(&mut self, targets: &[StepId]) {
        let to = |id: &mut StepId| *id = targets[*id];
        match self {
            Self::Same | Self::Text | Self::Digits | Self::Table { .. } => {}
            Self::Wrapped { inner: id, .. }
            | Self::Array(id)
            | Self::Pairs(id)
            | Self::Link(id) => to(id),
            Self::Object(object) => {
                object.properties.iter_mut().for_each(|property| to(&mut property.step));
                match &mut object.rest {
                    Rest::Keep(step) | Rest::Pairs { step, .. } => to(step),
                    Rest::NoForm => {}
                }
            }
            Self::Tuple { items, rest } => {
                items.iter_mut().chain(rest).for_each(|(_, step)| to(step));
            }
            Self::Choice(branches) => branches.iter_mut().for_each(|branch| to(&mut branch.step)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_found_by_both_of_its_keys_in_any_order() {
        let property = |place: usize| Property {
            key: format!("k{place}"),
            wire_key: format!("w{}", 999 - place),
            step: SAME,
            absent: AbsentForm::Absent,
        };
        let object = ObjectStep::new((0..1_000).map(property).collect(), Rest::NoForm);
        for place in [0, 7, 500, 999] {
            assert_eq!(object.place(&format!("k{place}")), Some(place));
            assert_eq!(object.place_on_wire(&format!("w{}", 999 - place)), Some(place));
            assert_eq!(object.place(&format!("w{place}")), None);
        }
    }
}
