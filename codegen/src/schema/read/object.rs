//! Reads objects and arrays.

use std::collections::{BTreeMap, BTreeSet};

use super::places::Root;
use super::schema_form::{is_closed_tuple, only_pattern};
use super::{Place, SchemaReader};
use crate::diagnostic::{form, schemas};
use crate::schema::{
    self, Additional, ArrayShape, Assertion, Keyword, ObjectShape, Operand, Property, Shape,
    StringRules, TupleRest, TupleShape,
};
use crate::source::{Span, Spanned};
use crate::yaml::{Entry, Node, Value};

impl SchemaReader<'_> {
    /// Reads an object (2020-12 core, 10.3.2; validation, 6.5).
    pub(super) fn object(&mut self, place: Place<'_>, root: &mut Root) -> ObjectShape {
        let (least, most) = (place.text.get("minProperties"), place.text.get("maxProperties"));
        if let (Some(_), Some(_)) = (least, most) {
            let least = self.count(place.text, "minProperties");
            let most = self.count(place.text, "maxProperties");
            self.check_counts(place.text, "maxProperties", least, most);
        }
        let required = place.text.get("required");
        let required = required.map(|node| self.required(node)).unwrap_or_default();
        let mut properties = self.properties(place, &required, root);
        let additional = self.additional(place, root);
        let described: BTreeSet<String> =
            properties.iter().map(|property| property.name.value.clone()).collect();
        for name in required.iter().filter(|name| !described.contains(&name.value)) {
            properties.extend(self.undescribed(name, additional));
        }
        ObjectShape { properties, additional }
    }

    fn properties(
        &mut self,
        place: Place<'_>,
        required: &[Spanned<String>],
        root: &mut Root,
    ) -> Vec<Property> {
        let Some(node) = place.text.get("properties") else { return Vec::new() };
        let Some(entries) = node.entries() else {
            self.expected("a mapping from names to schemas", node);
            return Vec::new();
        };
        let required: BTreeSet<&str> = required.iter().map(|name| name.value.as_str()).collect();
        let mut properties = Vec::new();
        for entry in entries {
            properties.push(Property {
                name: entry.key.clone(),
                schema: self.subschema(
                    &entry.value,
                    place,
                    Keyword::Properties,
                    Some(&entry.key.value),
                    root,
                ),
                required: required.contains(entry.key.value.as_str()),
                is_described: true,
                owner: None,
            });
        }
        properties
    }

    /// Reads the value of `required`.
    pub(super) fn required(&mut self, node: &Node) -> Vec<Spanned<String>> {
        if matches!(node.value, Value::Boolean(_)) {
            self.report.add(schemas::required_flag(node.span));
            return Vec::new();
        }
        self.names(node)
    }

    /// Reads a list of different names.
    pub(super) fn names(&mut self, node: &Node) -> Vec<Spanned<String>> {
        let Value::Sequence(items) = &node.value else {
            self.expected("a list of property names", node);
            return Vec::new();
        };
        let mut names: Vec<Spanned<String>> = Vec::new();
        let mut places: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for item in items.iter() {
            let Some(name) = item.as_str() else {
                self.expected("a property name", item);
                continue;
            };
            let known = places.entry(name).or_default();
            known.push(item.span);
            if known.len() == 1 {
                names.push(Spanned::new(name.to_owned(), item.span));
            }
        }
        for (name, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
            self.report.add(form::repeated_item(name, places));
        }
        names
    }

    /// Creates a required property that `properties` does not describe.
    fn undescribed(&mut self, name: &Spanned<String>, rest: Additional) -> Option<Property> {
        let schema = match rest {
            Additional::Open | Additional::Declared => self.schemas.reserve(name.span),
            Additional::Typed(node) => node,
            Additional::Closed => {
                self.report.add(schemas::impossible_property(name));
                return None;
            }
        };
        let (name, required, is_described, owner) = (name.clone(), true, false, None);
        Some(Property { name, schema, required, is_described, owner })
    }

    /// Reads the rule for additional properties. With several `patternProperties` no type can express it.
    fn additional(&mut self, place: Place<'_>, root: &mut Root) -> Additional {
        if let Some(Entry { key, value }) = only_pattern(place.text) {
            let pattern = Some(key.value.as_str());
            let node = self.subschema(value, place, Keyword::PatternProperties, pattern, root);
            return Additional::Typed(node);
        }
        let Some(node) = place.text.get("additionalProperties") else { return Additional::Open };
        if place.text.get("patternProperties").is_some() {
            return Additional::Open;
        }
        match &node.value {
            Value::Boolean(false) => Additional::Closed,
            Value::Boolean(true) => Additional::Declared,
            Value::Mapping(entries) if entries.is_empty() => Additional::Declared,
            _ => Additional::Typed(self.subschema(
                node,
                place,
                Keyword::AdditionalProperties,
                None,
                root,
            )),
        }
    }

    /// Returns the assertion that the keys of a map match its only pattern.
    pub(super) fn pattern_of_names(&mut self, text: &Node) -> Option<Assertion> {
        let Entry { key, .. } = only_pattern(text)?;
        let rules = StringRules {
            pattern: self.translated(&key.value, key.span).map(Box::new),
            ..StringRules::default()
        };
        let names = self.schemas.add(schema::Node::new(key.span, Shape::String(rules)));
        Some(Assertion { keyword: Keyword::PropertyNames, operand: Operand::Schema(names) })
    }

    /// Reads an array (2020-12 core, 10.3.1; validation, 6.4).
    pub(super) fn array(&mut self, place: Place<'_>, root: &mut Root) -> ArrayShape {
        let text = place.text;
        let min_items = self.count(text, "minItems");
        let max_items = self.count(text, "maxItems");
        self.check_counts(text, "maxItems", min_items, max_items);
        // With `prefixItems` no type can express `items`.
        let items = text.get("items").filter(|_| text.get("prefixItems").is_none());
        let is_described = items.is_some();
        let items = match items {
            Some(items) => self.subschema(items, place, Keyword::Items, None, root),
            None => self.schemas.reserve(text.span),
        };
        let unique = self.flag(text, "uniqueItems");
        ArrayShape { items, is_described, min_items, max_items, unique }
    }

    fn flag(&mut self, text: &Node, keyword: &str) -> bool {
        match text.get(keyword).map(|node| (node, &node.value)) {
            None => false,
            Some((_, Value::Boolean(flag))) => *flag,
            Some((node, _)) => {
                self.expected("`true` or `false`", node);
                false
            }
        }
    }

    /// Reads an array with schemas for its first items (2020-12 core, 10.3.1.1).
    pub(super) fn tuple(&mut self, place: Place<'_>, root: &mut Root) -> Shape {
        let text = place.text;
        let places = text.get("prefixItems");
        let places =
            places.and_then(|places| self.schemas(Keyword::PrefixItems, places, place, root));
        let places = places.unwrap_or_default();
        let (min_items, max_items) = (self.count(text, "minItems"), self.count(text, "maxItems"));
        self.check_counts(text, "maxItems", min_items, max_items);
        if is_closed_tuple(text) {
            self.check_counts(text, "minItems", min_items, Some(places.len() as u64));
        }
        // No items come after the places of a closed tuple, but references may lead to their schema.
        let items =
            text.get("items").map(|items| self.subschema(items, place, Keyword::Items, None, root));
        let rest = (!is_closed_tuple(text)).then(|| TupleRest {
            items: items.unwrap_or_else(|| self.schemas.reserve(text.span)),
            is_described: items.is_some(),
        });
        Shape::Tuple(TupleShape { places, rest, min_items, max_items })
    }
}
