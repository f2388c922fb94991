//! Writes the keywords of a shape besides its type.

use toolwright::format::{Format, IntegerFormat};
use toolwright::value::Kind;

use super::Publisher;
use crate::json::Json;
use crate::schema::{
    Additional, ArrayShape, Assertion, DOUBLE, EnumValue, Keyword, Node, NumberRules, ObjectShape,
    Property, Shape, StringRules, TupleRest, TupleShape, parts,
};

impl Publisher<'_> {
    pub(super) fn limits(&mut self, Node { shape, assertions, .. }: &Node) {
        let is_properties = |rule: &Assertion| rule.keyword == Keyword::Properties;
        match shape {
            Shape::String(rules) => self.string(rules),
            Shape::Integer(rules) | Shape::Number(rules) => self.numbers(rules, format(shape)),
            Shape::Const(value) => self.value("const", value),
            Shape::Enum(values) => self.enumeration(values, |value| Json::string(value)),
            Shape::IntegerEnum(values) => {
                self.keyword("enum");
                self.out.inline_array(values, |out, value| out.number(&value.value.to_string()));
            }
            Shape::Constants(values) => self.enumeration(values, Json::clone),
            Shape::Array(array) => self.array(array),
            Shape::Tuple(tuple) => self.tuple(tuple),
            Shape::Object(object) => {
                self.object_shape(object, assertions.iter().any(is_properties));
            }
            Shape::Nullable(inner) => {
                self.keyword("anyOf");
                self.out.open('[');
                self.out.item();
                self.schema(*inner);
                self.out.item();
                self.object(|publisher| publisher.text("type", Some(Kind::Null.as_str())));
                self.out.close(']');
            }
            Shape::Union(union) => {
                self.keyword("oneOf");
                self.schemas(union.variants.iter().map(|variant| variant.schema));
            }
            Shape::Mixed(variants) => {
                self.keyword("anyOf");
                self.schemas(variants.iter().map(|variant| variant.schema));
            }
            Shape::Any
            | Shape::Null
            | Shape::Boolean
            | Shape::Overlapping(_)
            | Shape::Named(_)
            | Shape::Local(_) => {}
        }
    }

    fn array(&mut self, array: &ArrayShape) {
        if array.is_described {
            self.keyword("items");
            self.schema(array.items);
        }
        self.count("minItems", array.min_items);
        self.count("maxItems", array.max_items);
        self.flag("uniqueItems", array.unique);
    }

    fn tuple(&mut self, tuple: &TupleShape) {
        self.keyword("prefixItems");
        self.schemas(tuple.places.iter().copied());
        match &tuple.rest {
            Some(TupleRest { items, is_described: true }) => {
                self.keyword("items");
                self.schema(*items);
            }
            Some(_) => {}
            None => {
                self.keyword("items");
                self.out.boolean(false);
            }
        }
        self.count("minItems", tuple.min_items);
        self.count("maxItems", tuple.max_items.filter(|_| tuple.rest.is_some()));
    }

    /// Writes an object; `has_properties` is true if its properties are an assertion.
    fn object_shape(&mut self, object: &ObjectShape, has_properties: bool) {
        let properties = object.properties.iter();
        let mut described = properties.clone().filter(|property| property.is_described).peekable();
        // Some clients require `properties` on every object.
        if described.peek().is_some() || !has_properties {
            self.keyword("properties");
            self.object(|publisher| {
                for property in described {
                    publisher.out.key(&property.name.value);
                    publisher.property(property);
                }
            });
        }
        let mut required = properties.filter(|property| property.required).peekable();
        if required.peek().is_some() {
            self.keyword("required");
            self.out.inline_array(required, |out, property| out.string(&property.name.value));
        }
        match object.additional {
            Additional::Open => {}
            Additional::Declared | Additional::Closed => {
                self.keyword("additionalProperties");
                self.out.boolean(matches!(object.additional, Additional::Declared));
            }
            Additional::Typed(node) => {
                self.keyword("additionalProperties");
                self.schema(node);
            }
        }
    }

    /// Writes the schema of a property. Objects share the properties that members of an `allOf` gave to them, and such an object
    /// may be one of its own properties, so inside such a property others are references.
    fn property(&mut self, property: &Property) {
        if property.owner.is_none() {
            return self.schema(property.schema);
        }
        let is_in_member = self.is_in_member;
        let Node { shape, assertions, .. } = &self.schemas[property.schema];
        let is_reference = matches!(shape, Shape::Named(_) | Shape::Local(_));
        let is_plain = is_reference || parts(self.schemas, property.schema).is_empty();
        let is_plain = is_plain && assertions.iter().all(|rule| rule.schemas().is_empty());
        if is_in_member && !is_plain {
            let name = Some(property.name.value.as_str()).filter(|name| !name.is_empty());
            return self.object(|publisher| {
                publisher.reference_to_node(property.schema, name.unwrap_or("Root"));
            });
        }
        self.is_in_member = true;
        self.schema(property.schema);
        self.is_in_member = is_in_member;
    }

    /// Writes an `enum`, or a choice of constants if some values have annotations.
    fn enumeration<T>(&mut self, values: &[EnumValue<T>], json: fn(&T) -> Json) {
        if values.iter().all(|value| value.annotations.is_empty()) {
            self.keyword("enum");
            self.out.inline_array(values, |out, value| out.value(&json(&value.value.value)));
            return;
        }
        self.keyword("oneOf");
        self.out.open('[');
        for EnumValue { value, annotations } in values {
            self.out.item();
            self.object(|publisher| {
                publisher.value("const", &json(&value.value));
                publisher.annotations_before(annotations);
                publisher.unchecked_format(annotations);
                publisher.annotations_after(annotations);
            });
        }
        self.out.close(']');
    }

    fn string(&mut self, rules: &StringRules) {
        self.count("minLength", rules.min_length);
        self.count("maxLength", rules.max_length);
        self.text("format", rules.format.map(Format::name));
        self.text("pattern", rules.pattern.as_ref().map(|pattern| pattern.ecma.as_str()));
    }

    fn numbers(&mut self, rules: &NumberRules, format: Option<&str>) {
        self.text("format", format);
        let lower = ["minimum", "exclusiveMinimum"];
        let upper = ["maximum", "exclusiveMaximum"];
        for (bound, [inclusive, exclusive]) in [(&rules.lower, lower), (&rules.upper, upper)] {
            if let Some(bound) = bound {
                self.keyword(if bound.exclusive { exclusive } else { inclusive });
                self.out.number(&bound.number);
            }
        }
    }
}

/// Returns the format that a shape checks.
pub(super) fn format(shape: &Shape) -> Option<&'static str> {
    match shape {
        Shape::String(rules) => rules.format.map(Format::name),
        Shape::Integer(rules) | Shape::Number(rules) => {
            let double = rules.is_double.then_some(DOUBLE);
            rules.format.map(IntegerFormat::name).or(double)
        }
        _ => None,
    }
}
