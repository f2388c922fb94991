//! Decides the Rust type for each schema node.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::Value;
use toolwright::format::Format;

use super::Plans;
use super::docs;
use super::limits::{
    IntegerLimits, ItemLimits, NumberLimit, NumberLimits, PatternUse, PropertyLimits, StringLimits,
};
use super::properties::{self, KeyRules};
use super::types::{
    AdditionalField, Body, Constructor, Definition, EnumVariant, Field, Import, IntegerVariant,
    Member, MixedVariant, OverlappingVariant, PatternStatic, Presence, SchemaFile, Struct,
    TupleUse, TypeUse, Types, UnionVariant, ValidatorStatic,
};
use crate::json::{Json, Style, quoted};
use crate::naming::{self, Identifier, Scope, TypeName, is_map, pascal, pascal_part, static_with};
use crate::prose::code;
use crate::schema::{
    self, Additional, Assertion, Bound, EnumValue, Node, NodeId, NumberRules, ObjectShape, Operand,
    Property, Schemas, Shape, StringRules, UnionShape, aliased, published_with_rules,
};

/// Makes the prefix for the name of a node's statics. It is a function since few nodes need one.
type NameOf<'a> = &'a dyn Fn() -> String;

/// The most parameters of a constructor; with more of them a struct expression is easier to read.
const MAX_CONSTRUCTOR: usize = 7;

/// The doc line of a choice whose members overlap.
const OVERLAPPING: &str = "Decoding picks the first variant that accepts the value and tries those with more required properties first.";

impl Plans<'_> {
    /// Plans the types of a scope.
    pub(super) fn types(&self, scope: Scope, imports: Vec<Import>) -> Types {
        let mut shapes = Shapes {
            plans: self,
            patterns: Vec::new(),
            validators: Vec::new(),
            checked: BTreeMap::new(),
            statics: BTreeSet::new(),
            numbers: BTreeMap::new(),
            domains: BTreeMap::new(),
            purposes: match scope {
                Scope::Service(service) => self.purposes(service),
                Scope::Toolset(_) => BTreeMap::new(),
            },
        };
        let definitions = self.names.of(scope).map(|name| shapes.definition(name)).collect();
        Types {
            imports,
            reexports: matches!(scope, Scope::Toolset(_)),
            has_domain_types: !shapes.domains.is_empty(),
            definitions,
            patterns: shapes.patterns,
            validators: shapes.validators,
        }
    }
}

struct Shapes<'a> {
    plans: &'a Plans<'a>,
    patterns: Vec<PatternStatic>,
    validators: Vec<ValidatorStatic>,
    /// The positions of the validators, by the nodes that they check.
    checked: BTreeMap<NodeId, usize>,
    /// The names of both.
    statics: BTreeSet<Identifier>,
    /// The last number of each name that needed one.
    numbers: BTreeMap<Identifier, usize>,
    /// The types of the JSON forms of domain types, by the nodes that they replace.
    domains: BTreeMap<NodeId, TypeUse>,
    /// A sentence for each named type that methods of the service use.
    purposes: BTreeMap<NodeId, String>,
}

impl Shapes<'_> {
    fn definition(&mut self, name: &TypeName) -> Definition {
        let schema = &self.plans.project.schemas[name.node];
        let purpose = name.origin.clone().or_else(|| self.purposes.get(&name.node).cloned());
        if let Some(domain) = self.plans.type_options.domain(name.node) {
            return Definition {
                name: name.name.clone(),
                extra_derives: Vec::new(),
                derives: self.plans.derives.get(name.node),
                docs: docs::described(&schema.annotations, purpose, Vec::new()),
                body: Body::Domain(domain.path.clone()),
                default: None,
                validator: None,
                is_non_exhaustive: false,
            };
        }
        let body = match &schema.shape {
            Shape::Object(object) if !is_named_map(object, name) => {
                Body::Struct(self.object(object, name))
            }
            Shape::Enum(values) => Body::Enum(string_variants(values)),
            Shape::IntegerEnum(values) => Body::IntegerEnum(integer_variants(
                values.iter().map(|value| value.value),
                &schema.annotations.enum_names,
            )),
            Shape::Constants(values) => Body::Constants(constant_variants(values)),
            Shape::Mixed(variants) => self.mixed(variants, name),
            Shape::Overlapping(choice) => self.overlapping(&choice.members, schema, name),
            Shape::Const(json) => Body::Constant(json.to_string()),
            Shape::Union(union) => self.union(union, name),
            Shape::Named(_) | Shape::Local(_) if schema.assertions.is_empty() => {
                Body::Alias(self.unnamed_type_of(name.node, None, &|| name.name.to_string()))
            }
            _ => Body::Newtype(
                self.unnamed_type_of(name.node, Some(name.node), &|| name.name.to_string()),
            ),
        };
        let validator = self.validator(name.node, false, &|| name.name.to_string());
        let mut facts = match &body {
            Body::Newtype(ty) => docs::facts(&schema.annotations, ty).collect(),
            Body::Struct(plan) => docs::property_limits(&plan.limits).into_iter().collect(),
            Body::Overlapping { .. } => vec![OVERLAPPING.to_owned()],
            _ => Vec::new(),
        };
        facts.extend(self.also_checked(name.node));
        // An alias derives nothing.
        let extra_derives = match &body {
            Body::Alias(_) => Vec::new(),
            _ => self.plans.extra_derives(name.node),
        };
        Definition {
            name: name.name.clone(),
            extra_derives,
            derives: self.plans.derives.get(name.node),
            docs: docs::described(&schema.annotations, purpose, facts),
            is_non_exhaustive: self.plans.options.non_exhaustive && body.may_grow(),
            body,
            default: self.plans.defaults.of_type(name.node).cloned(),
            validator,
        }
    }

    /// Returns a doc line with the keywords that the validator of a node checks.
    fn also_checked(&self, node: NodeId) -> Option<String> {
        let validator = &self.validators[*self.checked.get(&node)?];
        let rules: Vec<String> = validator.rules.iter().map(|rule| code(rule)).collect();
        (!rules.is_empty()).then(|| format!("Also checked: {}.", rules.join(", ")))
    }

    /// Plans the validator for the assertions of a node, or for all of it if its type checks nothing; returns the name of its
    /// static. All uses of an unnamed node have the same.
    fn validator(
        &mut self,
        node: NodeId,
        is_unchecked: bool,
        name_of: NameOf<'_>,
    ) -> Option<Identifier> {
        let project = self.plans.project;
        let has_rules = !project.schemas[node].assertions.is_empty()
            && properties::key_rules(&project.schemas, node).is_none();
        if !has_rules && !is_unchecked {
            return None;
        }
        if let Some(&known) = self.checked.get(&node) {
            return Some(self.validators[known].name.clone());
        }
        self.checked.insert(node, self.validators.len());
        let name = self.free_static(&static_with(&name_of(), "_RULES"));
        let file = format!("rules/{}.json", name.to_lowercase());
        let (text, rules) = published_with_rules(&project.schemas, node, Style::Pretty);
        let needs_tables = project.schemas.needs_tables.is_some()
            && text.parse().is_ok_and(|schema| needs_tables(&project.schemas, &schema));
        let schema = SchemaFile { name: file, text };
        self.validators.push(ValidatorStatic { name: name.clone(), schema, rules, needs_tables });
        Some(name)
    }

    fn mixed(&mut self, variants: &[schema::MixedVariant], owner: &TypeName) -> Body {
        let variants = variants.iter().map(|variant| {
            let name = pascal(variant.kind.as_str());
            let name_of = || format!("{}{name}", owner.name);
            let ty = self.type_of(variant.schema, Some(owner.node), &name_of);
            let docs = docs::of_kind(variant.kind.as_str());
            MixedVariant { name, docs, ty }
        });
        Body::Mixed(variants.collect())
    }

    fn overlapping(&mut self, members: &[NodeId], node: &Node, owner: &TypeName) -> Body {
        let is_choice = |assertion: &&Assertion| match &assertion.operand {
            Operand::Schemas(schemas) => schemas == members,
            _ => false,
        };
        let choice = node.assertions.iter().find(is_choice);
        let keyword =
            choice.expect("a choice of overlapping members has an assertion").keyword.word();
        let project = self.plans.project;
        let labels = naming::labels(&project.schemas, members);
        let variants = members.iter().zip(labels).map(|(&member, name)| {
            let kind = schema::kind_of(&project.schemas, member).expect("each member has a kind");
            OverlappingVariant {
                docs: docs::of_kind(kind.as_str()),
                ty: self.type_of(member, Some(owner.node), &|| format!("{}{name}", owner.name)),
                required_properties: required_properties(&project.schemas, member),
                name,
            }
        });
        Body::Overlapping { keyword, variants: variants.collect() }
    }

    fn object(&mut self, object: &ObjectShape, name: &TypeName) -> Struct {
        let additional = self.additional(object, name);
        let members: Vec<Member> =
            object.properties.iter().map(|property| self.member(property, name)).collect();
        let is_required = |field: &&Field| field.presence == Presence::Required;
        let required = members.iter().filter_map(Member::field).filter(is_required).count();
        let fields = members.iter().filter_map(Member::field).count();
        let has_setters = self.plans.options.non_exhaustive;
        let is_usual = (1..=MAX_CONSTRUCTOR).contains(&required);
        let constructor = if has_setters {
            let is_default = required == 0 && self.plans.derives.get(name.node).default;
            let is_quiet = is_usual || is_default;
            Some(if is_quiet { Constructor::Function } else { Constructor::Macro })
        } else {
            let leaves_out = required < fields || additional.is_some();
            (is_usual && leaves_out).then_some(Constructor::Function)
        };
        let limits = self.properties(name.node, &|| name.name.to_string());
        let bytes_of_defaults = self.plans.defaults.bytes(&self.plans.project.schemas, name.node);
        Struct { members, additional, limits, constructor, has_setters, bytes_of_defaults }
    }

    fn member(&mut self, property: &Property, owner: &TypeName) -> Member {
        let schemas = &self.plans.project.schemas;
        let (key, schema) = (property.name.value.clone(), &schemas[property.schema]);
        let name = naming::identifier(&key);
        if property.is_fixed(schemas)
            && let Shape::Const(json) = &schema.shape
        {
            return Member::Fixed { key, json: json.to_string() };
        }
        let setter = naming::setter(&name);
        let ty = self.type_of(property.schema, Some(owner.node), &|| {
            format!("{}{}", owner.name, pascal_part(&key))
        });
        let presence = match self.plans.defaults.get(owner.node, property) {
            _ if property.required => Presence::Required,
            Some(default) => Presence::Default(default.clone()),
            None => Presence::Optional,
        };
        let renamed = (*name != *key).then(|| in_json(&key));
        let default = docs::default(&schema.annotations, &presence);
        let checked = match &ty {
            TypeUse::Checked(..) => self.also_checked(property.schema),
            _ => None,
        };
        let facts = docs::facts(&schema.annotations, &ty);
        let facts = facts.chain(checked).chain(default).chain(renamed).collect();
        let named = match &schema.shape {
            Shape::Named(id) => self.plans.names.get(schemas[*id].schema),
            _ => None,
        };
        let named = named.map(|named| format!("See {}.", naming::type_link(&named.name)));
        let docs = docs::described(&schema.annotations, named, facts);
        Member::Field(Field { key, name, setter, docs, ty, presence })
    }

    fn additional(&mut self, object: &ObjectShape, owner: &TypeName) -> Option<AdditionalField> {
        let ty = match object.additional {
            Additional::Closed => return None,
            Additional::Open | Additional::Declared => TypeUse::Value,
            Additional::Typed(node) => self.type_of(node, None, &|| format!("{}Value", owner.name)),
        };
        let keys = object.properties.iter().map(|property| property.name.value.as_str());
        let name = naming::additional_field(keys);
        Some(AdditionalField { setter: naming::setter(&name), name, ty })
    }

    fn union(&mut self, union: &UnionShape, owner: &TypeName) -> Body {
        let variants = union.variants.iter().map(|variant| UnionVariant {
            name: pascal(&variant.tag.value),
            docs: format!("{} is {}.", code(&union.tag), code(&quoted(&variant.tag.value))),
            tag: variant.tag.value.clone(),
            ty: self.type_of(variant.schema, Some(owner.node), &|| owner.name.to_string()),
        });
        Body::Union { tag: union.tag.clone(), variants: variants.collect() }
    }

    /// Returns the type of a node where it is used; `within` is the type that contains it by value.
    fn type_of(&mut self, node: NodeId, within: Option<NodeId>, name_of: NameOf<'_>) -> TypeUse {
        if let Some(converted) = self.converted(node) {
            return converted;
        }
        let Some(name) = self.plans.names.get(node) else {
            let ty = self.unnamed_type_of(node, within, name_of);
            let Plans { project, names, .. } = self.plans;
            let is_unchecked = naming::is_unchecked(&project.schemas, names, node);
            return match self.validator(node, is_unchecked, name_of) {
                Some(validator) => TypeUse::Checked(Box::new(ty), validator),
                None => ty,
            };
        };
        if within.is_some_and(|within| self.plans.boxes.contain(within, node)) {
            TypeUse::Boxed(name.name.clone())
        } else if matches!(self.plans.project.schemas[node].shape, Shape::Const(_)) {
            TypeUse::Constant(name.name.clone())
        } else {
            TypeUse::Named(name.name.clone())
        }
    }

    /// Returns the domain type of a node, if the node refers to one.
    fn converted(&mut self, node: NodeId) -> Option<TypeUse> {
        let Plans { project, names, type_options, .. } = self.plans;
        let behind = type_options.behind(&project.schemas, node)?;
        let name = aliased(&project.schemas, node).find_map(|node| names.get(node))?;
        if !self.domains.contains_key(&behind) {
            let name_of =
                || names.get(behind).map_or_else(String::new, |name| name.name.to_string());
            let mut json = self.unnamed_type_of(behind, None, &name_of);
            if let Some(validator) = self.validator(behind, false, &name_of) {
                json = TypeUse::Checked(Box::new(json), validator);
            }
            self.domains.insert(behind, json);
        }
        let json = self.domains[&behind].clone();
        Some(TypeUse::Converted(name.name.clone(), Box::new(json)))
    }

    /// Returns the type of a node, ignoring its name and its assertions.
    fn unnamed_type_of(
        &mut self,
        node: NodeId,
        within: Option<NodeId>,
        name_of: NameOf<'_>,
    ) -> TypeUse {
        let project = self.plans.project;
        match &project.schemas[node].shape {
            Shape::Null => TypeUse::Null,
            Shape::Boolean => TypeUse::Boolean,
            Shape::String(rules) => self.text(rules, name_of),
            Shape::Integer(rules) => integer(rules),
            Shape::Number(rules) if self.plans.exact.contains(&node) => {
                TypeUse::ExactNumber(NumberLimits { is_double: rules.is_double, ..number(rules) })
            }
            Shape::Number(rules) => TypeUse::Number(number(rules)),
            Shape::Array(array) => {
                let item = self.type_of(array.items, None, &|| format!("{}Item", name_of()));
                TypeUse::List(
                    Box::new(item),
                    ItemLimits { min: array.min_items, max: array.max_items, unique: array.unique },
                )
            }
            Shape::Tuple(tuple) => {
                let item = |(number, &item): (usize, &NodeId)| {
                    self.type_of(item, within, &|| format!("{}Item{number}", name_of()))
                };
                let mut required: Vec<_> = (1..).zip(&tuple.places).map(item).collect();
                let optional = required.split_off(tuple.required());
                let rest = tuple.rest.as_ref().map(|rest| {
                    Box::new(self.type_of(rest.items, None, &|| format!("{}Item", name_of())))
                });
                let places = tuple.places.len() as u64;
                let count = ItemLimits {
                    min: tuple.min_items,
                    max: if rest.is_some() { tuple.max_items } else { Some(places) },
                    unique: false,
                };
                TypeUse::Tuple(TupleUse { required, optional, rest, count })
            }
            Shape::Object(object) => {
                let value = match object.additional {
                    Additional::Typed(value) if is_map(object) => {
                        self.type_of(value, None, &|| format!("{}Value", name_of()))
                    }
                    _ => TypeUse::Value,
                };
                TypeUse::Map(Box::new(value), self.properties(node, name_of))
            }
            Shape::Nullable(inner) => {
                TypeUse::Nullable(Box::new(self.type_of(*inner, within, name_of)))
            }
            Shape::Named(id) => self.type_of(project.schemas[*id].schema, within, name_of),
            Shape::Local(target) if self.plans.names.get(*target).is_some() => {
                self.type_of(*target, within, name_of)
            }
            // Without names, references could lead in a circle.
            Shape::Local(_)
            | Shape::Any
            | Shape::Const(_)
            | Shape::Enum(_)
            | Shape::IntegerEnum(_)
            | Shape::Constants(_)
            | Shape::Union(_)
            | Shape::Mixed(_)
            | Shape::Overlapping(_) => TypeUse::Value,
        }
    }

    /// Returns the limits of an object's keys, or no limits if a validator checks them.
    fn properties(&mut self, node: NodeId, name_of: NameOf<'_>) -> PropertyLimits {
        match properties::key_rules(&self.plans.project.schemas, node) {
            Some(KeyRules { min, max, names, dependent }) => {
                let names = self.string(&names, &|| format!("{}Key", name_of()));
                PropertyLimits { min, max, names, dependent }
            }
            None => PropertyLimits::default(),
        }
    }

    fn text(&mut self, rules: &StringRules, name_of: NameOf<'_>) -> TypeUse {
        let limits = self.string(rules, name_of);
        match (type_of_text(rules), rules.format) {
            (Some(name), _) => TypeUse::Contract(name, limits),
            (None, Some(format)) => TypeUse::Formatted(pascal(format.name()), limits),
            (None, None) => TypeUse::String(limits),
        }
    }

    fn string(&mut self, rules: &StringRules, name_of: NameOf<'_>) -> StringLimits {
        let pattern = rules.pattern.as_ref().map(|pattern| {
            let name = self.free_static(&static_with(&name_of(), "_PATTERN"));
            let (ecma, translated) = (pattern.ecma.clone(), pattern.translated.clone());
            let used = PatternUse { name: name.clone(), ecma: ecma.clone() };
            self.patterns.push(PatternStatic { name, ecma, translated });
            used
        });
        StringLimits { min: rules.min_length, max: rules.max_length, pattern }
    }

    /// Returns a name that no other static of the module has, with a number if needed: the statics are private.
    fn free_static(&mut self, wanted: &Identifier) -> Identifier {
        let mut name = wanted.clone();
        while !self.statics.insert(name.clone()) {
            let number = self.numbers.entry(wanted.clone()).or_insert(1);
            *number += 1;
            name = wanted.followed_by(&format!("_{number}"));
        }
        name
    }
}

/// Returns the type that a string becomes if it is not a `String`: one of `toolwright::format` or `Ipv4Addr`.
pub(super) fn type_of_text(rules: &StringRules) -> Option<&'static str> {
    match rules.format? {
        Format::DateTime => Some("DateTime"),
        Format::Date => Some("Date"),
        Format::Uuid => Some("Uuid"),
        Format::Ipv4 => Some("Ipv4Addr"),
        Format::Ipv6 => Some("Ipv6"),
        _ => None,
    }
}

/// Returns whether a named type becomes a newtype of a map. Types whose names the compiler makes up stay structs.
fn is_named_map(object: &ObjectShape, name: &TypeName) -> bool {
    name.origin.is_none() && is_map(object) && matches!(object.additional, Additional::Typed(_))
}

/// Returns the number of required properties of an object schema, 0 for other schemas.
fn required_properties(schemas: &Schemas, node: NodeId) -> usize {
    schema::as_object(schemas, node)
        .map_or(0, |object| object.properties.iter().filter(|property| property.required).count())
}

/// Returns the doc line of a field or variant whose name in Rust differs from the JSON.
fn in_json(json: &str) -> String {
    format!("{} in JSON.", code(json))
}

/// Returns the variants of an enum of strings, in the order of its values.
pub(super) fn string_variants(values: &[EnumValue<String>]) -> Vec<EnumVariant> {
    let names = naming::variants(values.iter().map(|value| value.value.value.as_str()));
    let variant =
        |(name, EnumValue { value, annotations }): (Identifier, &EnumValue<String>)| EnumVariant {
            name,
            docs: docs::described(annotations, Some(in_json(&quoted(&value.value))), Vec::new()),
            value: value.value.clone(),
        };
    names.into_iter().zip(values).map(variant).collect()
}

/// Returns the variants of an enum of values of several kinds, in the order of its values.
pub(super) fn constant_variants(values: &[EnumValue<Json>]) -> Vec<EnumVariant> {
    let word = |value: &EnumValue<Json>| match &value.value.value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let words: Vec<String> = values.iter().map(word).collect();
    let names = naming::variants(words.iter().map(String::as_str));
    let variant = |(name, EnumValue { value, annotations }): (Identifier, &EnumValue<Json>)| {
        let value = value.value.to_string();
        let docs = docs::described(annotations, Some(in_json(&value)), Vec::new());
        EnumVariant { name, docs, value }
    };
    names.into_iter().zip(values).map(variant).collect()
}

/// Returns the variants of an enum of integers, in the order of its values. Without `names`, the integers are the names.
pub(super) fn integer_variants(
    values: impl Iterator<Item = i64>,
    names: &[String],
) -> Vec<IntegerVariant> {
    let (values, texts): (Vec<i64>, Vec<String>) =
        values.map(|value| (value, value.to_string())).unzip();
    let words = if names.is_empty() { &texts } else { names };
    let variant = |((name, text), value): ((Identifier, &String), i64)| IntegerVariant {
        name,
        docs: in_json(text),
        value,
    };
    let names = naming::variants(words.iter().map(String::as_str));
    names.into_iter().zip(&texts).zip(values).map(variant).collect()
}

fn integer(rules: &NumberRules) -> TypeUse {
    let limits = IntegerLimits { min: rules.min_integer(), max: rules.max_integer() };
    match rules.standard() {
        None => TypeUse::BigInteger(limits),
        Some(standard) => {
            let min = limits.min.filter(|min| *min != standard.min_value());
            let max = limits.max.filter(|max| *max != standard.max_value());
            TypeUse::Integer(standard, IntegerLimits { min, max })
        }
    }
}

fn number(rules: &NumberRules) -> NumberLimits {
    let limit = |bound: &Option<Bound>| {
        let bound = bound.as_ref()?;
        Some(NumberLimit { value: bound.as_f64(), is_exclusive: bound.exclusive })
    };
    NumberLimits { lower: limit(&rules.lower), upper: limit(&rules.upper), is_double: false }
}

/// Returns whether a pattern in a schema needs the Unicode tables. Values under other keywords that are the same texts count
/// too.
fn needs_tables(schemas: &Schemas, schema: &Value) -> bool {
    let does_pattern =
        |ecma: &str| schemas.pattern(ecma).is_some_and(|known| known.translated.needs_tables);
    match schema {
        Value::Array(items) => items.iter().any(|item| needs_tables(schemas, item)),
        Value::Object(entries) => entries.iter().any(|(key, value)| {
            let here = match (key, value) {
                ("pattern", Value::String(ecma)) => does_pattern(ecma),
                ("patternProperties", Value::Object(named)) => {
                    named.iter().any(|(ecma, _)| does_pattern(ecma))
                }
                _ => false,
            };
            here || needs_tables(schemas, value)
        }),
        _ => false,
    }
}
