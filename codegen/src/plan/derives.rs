//! Decides which traits a type derives besides `Clone`, `Debug` and `PartialEq`: those that all its parts have. `Default` is
//! derived only if the schema accepts the value. Types to which a later version may add a part derive no trait that the part may
//! lack.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use toolwright::format::Format;

use super::defaults::Defaults;
use super::domain::TypeOptionsMap;
use super::types::Derives;
use crate::boxes::Boxes;
use crate::naming::{self, TypeNames};
use crate::options::{DomainType, StdTrait};
use crate::schema::{
    Additional, Bound, Node, NodeId, NumberRules, ObjectShape, Schemas, Shape, StringRules,
};

impl Derives {
    const ALL: Self = Self { copy: true, eq: true, ord: true, default: true };

    /// Returns the traits that the options list for a domain type.
    fn of_domain(domain: &DomainType) -> Self {
        let has = |wanted| domain.traits.contains(&wanted);
        let eq = has(StdTrait::Eq) && has(StdTrait::Hash);
        Self {
            copy: has(StdTrait::Copy),
            eq,
            ord: eq && has(StdTrait::Ord),
            default: has(StdTrait::Default),
        }
    }

    /// Returns the traits that a type keeps whatever part it gets.
    fn without_those_of_parts(self) -> Self {
        Self { copy: false, eq: false, ord: false, ..self }
    }

    /// Returns the traits that are in both sets.
    fn and(self, other: Self) -> Self {
        Self {
            copy: self.copy && other.copy,
            eq: self.eq && other.eq,
            ord: self.ord && other.ord,
            default: self.default && other.default,
        }
    }
}

/// The traits that each type of a project derives.
#[derive(Debug)]
pub(super) struct DerivesMap(BTreeMap<NodeId, Derives>);

impl DerivesMap {
    /// Finds the largest set of traits for each type that all its parts have. With `may_grow`, types get parts later. `payloads` are the payloads of errors, which
    /// need not be named types.
    pub(super) fn types(
        schemas: &Schemas,
        names: &TypeNames,
        boxes: &Boxes,
        exact: impl Fn(NodeId) -> bool,
        defaults: &Defaults,
        options: &TypeOptionsMap<'_>,
        may_grow: bool,
        payloads: impl Iterator<Item = NodeId>,
    ) -> Self {
        let types: Vec<NodeId> = names.all().map(|name| name.node).collect();
        let known = types.iter().map(|&node| (node, Derives::ALL)).collect();
        let users = BTreeMap::new();
        let mut search =
            Search { schemas, boxes, exact, defaults, options, may_grow, known, users };
        // Each type alone, as if its parts had all traits.
        let alone: BTreeMap<_, _> =
            types.into_iter().map(|node| (node, search.of(node, node, true))).collect();
        let mut open: Vec<NodeId> = alone.keys().copied().collect();
        search.known = alone;
        while let Some(part) = open.pop() {
            open.extend(search.take_from_users(part));
        }
        let payloads: Vec<_> = payloads.map(|node| (node, search.used(node, node, true))).collect();
        search.known.extend(payloads);
        Self(search.known)
    }

    /// Returns the traits of the type of a node: a named type, or the payload of an error.
    pub(super) fn get(&self, node: NodeId) -> Derives {
        self.0[&node]
    }
}

struct Search<'a, E> {
    schemas: &'a Schemas,
    boxes: &'a Boxes,
    exact: E,
    defaults: &'a Defaults,
    options: &'a TypeOptionsMap<'a>,
    may_grow: bool,
    known: BTreeMap<NodeId, Derives>,
    /// The types that use each type, and whether they derive `Default` only if it does.
    users: BTreeMap<NodeId, Vec<(NodeId, bool)>>,
}

impl<E: Fn(NodeId) -> bool> Search<'_, E> {
    /// Takes the traits that a type lacks from the types that use it. Returns those that have fewer traits now.
    fn take_from_users(&mut self, part: NodeId) -> Vec<NodeId> {
        let left = self.known[&part];
        let mut changed = Vec::new();
        for &(user, needs_default) in self.users.get(&part).into_iter().flatten() {
            let left = Derives { default: left.default || !needs_default, ..left };
            if let Some(known) = self.known.get_mut(&user)
                && known.and(left) != *known
            {
                *known = known.and(left);
                changed.push(user);
            }
        }
        changed
    }

    /// Returns the traits of a node where it is used inside the type `within`, which with `needs_default` derives `Default` only if
    /// the node does.
    fn used(&mut self, node: NodeId, within: NodeId, needs_default: bool) -> Derives {
        match self.known.get(&node) {
            Some(&derives) => {
                self.users.entry(node).or_default().push((within, needs_default));
                let is_boxed = self.boxes.contain(within, node);
                Derives { copy: derives.copy && !is_boxed, ..derives }
            }
            None => self.of(node, within, needs_default),
        }
    }

    /// Returns the traits of a node, which is the type `within` itself or a part of it.
    fn of(&mut self, node: NodeId, within: NodeId, needs_default: bool) -> Derives {
        if let Some(domain) = self.options.domain(node) {
            return Derives::of_domain(domain);
        }
        let schemas = self.schemas;
        let Node { shape, assertions, .. } = &schemas[node];
        let has_default = self.defaults.of_type(node).is_some();
        let mut derives = self.of_shape(node, shape, within, needs_default && !has_default);
        let has_parts = match shape {
            Shape::Object(_) => self.known.contains_key(&node),
            Shape::Union(_) | Shape::Mixed(_) | Shape::Overlapping(_) => true,
            _ => false,
        };
        if self.may_grow && has_parts {
            derives = derives.without_those_of_parts();
        }
        let zero = derives.default && assertions.is_empty();
        Derives { default: zero || has_default, ..derives }
    }

    fn of_shape(
        &mut self,
        node: NodeId,
        shape: &Shape,
        within: NodeId,
        needs_default: bool,
    ) -> Derives {
        // What a reference without a named target leads to is any value.
        let shape = match shape {
            Shape::Local(target) if !self.known.contains_key(target) => &Shape::Any,
            other => other,
        };
        let mut all_of = |nodes: &mut dyn Iterator<Item = NodeId>, needs_default| {
            nodes.fold(Derives::ALL, |all, node| all.and(self.used(node, within, needs_default)))
        };
        match shape {
            Shape::Any => Derives { copy: false, ord: false, ..Derives::ALL },
            Shape::Null | Shape::Boolean | Shape::Const(_) => Derives::ALL,
            Shape::Enum(_) | Shape::IntegerEnum(_) | Shape::Constants(_) => {
                Derives { default: false, ..Derives::ALL }
            }
            Shape::String(rules) => text(rules),
            Shape::Integer(rules) => Derives {
                copy: rules.standard().is_some(),
                default: allows_zero(rules),
                ..Derives::ALL
            },
            Shape::Number(rules) => {
                let is_exact = (self.exact)(node);
                Derives {
                    copy: !is_exact,
                    eq: is_exact,
                    ord: is_exact,
                    default: allows_zero(rules),
                }
            }
            Shape::Array(array) => {
                let default = array.min_items.is_none_or(|least| least == 0);
                Derives { copy: false, default, ..self.used(array.items, within, false) }
            }
            Shape::Tuple(tuple) => {
                let (required, optional) = tuple.places.split_at(tuple.required());
                let required = all_of(&mut required.iter().copied(), needs_default);
                let optional = all_of(&mut optional.iter().copied(), false);
                let optional = Derives { default: true, ..optional };
                let rest = tuple.rest.as_ref().map_or(Derives::ALL, |rest| {
                    let default =
                        tuple.min_items.is_none_or(|min| min <= tuple.places.len() as u64);
                    Derives { copy: false, default, ..self.used(rest.items, within, false) }
                });
                required.and(optional).and(rest)
            }
            Shape::Object(object) => self.object(object, node, within, needs_default),
            Shape::Nullable(inner) => Derives { default: true, ..self.used(*inner, within, false) },
            Shape::Union(union) => {
                let variants =
                    all_of(&mut union.variants.iter().map(|variant| variant.schema), false);
                Derives { default: false, ..variants }
            }
            Shape::Mixed(variants) => {
                let variants = all_of(&mut variants.iter().map(|variant| variant.schema), false);
                Derives { default: false, ..variants }
            }
            Shape::Overlapping(choice) => {
                Derives { default: false, ..all_of(&mut choice.members.iter().copied(), false) }
            }
            Shape::Named(id) => self.used(self.schemas[*id].schema, within, needs_default),
            Shape::Local(target) => self.used(*target, within, needs_default),
        }
    }

    /// Returns the traits of a struct, or of a map if the node is not a named type.
    fn object(
        &mut self,
        object: &ObjectShape,
        node: NodeId,
        within: NodeId,
        needs_default: bool,
    ) -> Derives {
        let is_struct = self.known.contains_key(&node);
        let mut derives = Derives::ALL;
        for property in object.properties.iter().filter(|_| is_struct) {
            if property.is_fixed(self.schemas) {
                continue;
            }
            let used = self.used(property.schema, within, needs_default && property.required);
            derives = derives.and(Derives { default: used.default || !property.required, ..used });
        }
        let map = match object.additional {
            Additional::Closed if is_struct => return derives,
            Additional::Typed(value) => self.used(value, within, false),
            Additional::Closed | Additional::Open | Additional::Declared => Derives::ALL,
        };
        let default = is_struct || naming::is_map(object);
        derives.and(Derives { copy: false, eq: map.eq, ord: false, default })
    }
}

fn text(rules: &StringRules) -> Derives {
    let is_free = rules.format.is_none()
        && rules.pattern.is_none()
        && rules.min_length.is_none_or(|least| least == 0);
    let copy = matches!(rules.format, Some(Format::Date | Format::Ipv4 | Format::Uuid));
    Derives { copy, default: is_free, ..Derives::ALL }
}

fn allows_zero(rules: &NumberRules) -> bool {
    let allows = |bound: &Option<Bound>, side: Ordering| {
        bound.as_ref().is_none_or(|bound| match sign(&bound.number) {
            Ordering::Equal => !bound.exclusive,
            sign => sign == side,
        })
    };
    allows(&rules.lower, Ordering::Less) && allows(&rules.upper, Ordering::Greater)
}

/// Compares a number with zero. Its double would be wrong for very small numbers, which round to zero.
fn sign(number: &str) -> Ordering {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    match (number.starts_with('-'), digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))) {
        (_, false) => Ordering::Equal,
        (true, true) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}
