//! A node as the JSON Schema (2020-12) that the model sees: self-contained, in a fixed order, and
//! accepting exactly what the node accepts. Never decides what a schema means.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Additional, Annotations, ArrayShape, Assertion, Bound, DIALECT, EnumValue, Json, NodeId,
    NumberRules, ObjectShape, Operand, Shape, StringRules, UnionShape, kind_of, resolved,
};
use crate::model::{Project, TypeId};

/// The schema of a node by itself: what it refers to stands under its `$defs`.
pub fn published(project: &Project, node: NodeId) -> Json {
    let mut publisher = Publisher {
        project,
        root: node,
        names: BTreeMap::new(),
        taken: BTreeSet::new(),
        anchors: BTreeSet::new(),
        definitions: Vec::new(),
    };
    let mut entries = publisher.root_entries();
    let definitions = publisher.all_definitions();
    if !definitions.is_empty() {
        entries.push(("$defs".to_owned(), Json::Object(definitions)));
    }
    Json::Object(entries)
}

type Entries = Vec<(String, Json)>;

struct Publisher<'a> {
    project: &'a Project,
    root: NodeId,
    /// The definition that stands for a node.
    names: BTreeMap<NodeId, String>,
    taken: BTreeSet<String>,
    /// An anchor names one place of a schema; types of two services may have chosen the same.
    anchors: BTreeSet<String>,
    /// In order of first use.
    definitions: Vec<(String, NodeId)>,
}

impl Publisher<'_> {
    /// The root carries its own `type`, which MCP asks for, even where it is a mere reference.
    fn root_entries(&mut self) -> Entries {
        let body = resolved(self.project, self.root);
        let own = &self.project.schemas[self.root].annotations;
        let inner = &self.project.schemas[body].annotations;
        let annotations = if body == self.root { own.clone() } else { own.over(inner) };
        let mut entries = self.entries(body, &annotations);
        if annotations.dialect {
            entries.insert(0, entry("$schema", Json::string(DIALECT)));
        }
        let mut node = self.root;
        while node != body {
            for assertion in &self.project.schemas[node].assertions {
                entries.push(self.assertion(assertion, &entries));
            }
            node = match self.project.schemas[node].shape {
                Shape::Named(name) => self.project[name].schema,
                Shape::Local(target) => target,
                _ => body,
            };
        }
        entries
    }

    /// Every definition that is used; writing one may call for more. One after the other, not one
    /// inside the other: a chain of types may be long.
    fn all_definitions(&mut self) -> Entries {
        let mut written = Entries::new();
        while let Some((name, target)) = self.definitions.get(written.len()).cloned() {
            let body = self.schema(target);
            written.push((name, body));
        }
        written
    }

    fn schema(&mut self, node: NodeId) -> Json {
        if self.is_nothing(node) {
            return Json::Boolean(false);
        }
        let annotations = self.project.schemas[node].annotations.clone();
        Json::Object(self.entries(node, &annotations))
    }

    /// Whether a node is what `false` was read to.
    fn is_nothing(&self, node: NodeId) -> bool {
        let schemas = &self.project.schemas;
        let says_nothing = |node: NodeId| {
            matches!(schemas[node].shape, Shape::Any)
                && schemas[node].annotations == Annotations::default()
        };
        match schemas[node].assertions.as_slice() {
            [Assertion { keyword: "not", operand: Operand::Schema(refused) }] => {
                says_nothing(node)
                    && says_nothing(*refused)
                    && schemas[*refused].assertions.is_empty()
            }
            _ => false,
        }
    }

    fn entries(&mut self, node: NodeId, annotations: &Annotations) -> Entries {
        let project = self.project;
        let (head, mut tail) = match &project.schemas[node].shape {
            Shape::Any => (Vec::new(), Vec::new()),
            // The assertion says the rest, but some clients want a `type` on what is an object.
            Shape::Overlapping(_) => {
                let kind = kind_of(project, node);
                (kind.map(|kind| of_type(kind.word())).unwrap_or_default(), Vec::new())
            }
            Shape::Null => (of_type("null"), Vec::new()),
            Shape::Boolean => (of_type("boolean"), Vec::new()),
            Shape::String(rules) => (of_type("string"), string(rules)),
            Shape::Integer(rules) => (of_type("integer"), numbers(rules)),
            Shape::Number(rules) => (of_type("number"), numbers(rules)),
            Shape::Const(value) => constant(value),
            Shape::Enum(values) => (of_type("string"), vec![enumeration(values)]),
            Shape::IntegerEnum(values) => {
                let values =
                    values.iter().map(|value| Json::Number(value.value.to_string())).collect();
                (of_type("integer"), vec![entry("enum", Json::Array(values))])
            }
            Shape::Array(array) => (of_type("array"), self.array(array)),
            Shape::Tuple(items) => (of_type("array"), self.tuple(items)),
            Shape::Object(object) => (of_type("object"), self.object(object)),
            Shape::Nullable(inner) => {
                let choice = vec![self.schema(*inner), Json::Object(of_type("null"))];
                (Vec::new(), vec![entry("anyOf", Json::Array(choice))])
            }
            Shape::Union(union) => (of_type("object"), self.union(union)),
            Shape::Mixed(variants) => {
                let variants = variants.iter().map(|variant| self.schema(variant.schema)).collect();
                (Vec::new(), vec![entry("anyOf", Json::Array(variants))])
            }
            Shape::Named(name) => (vec![self.reference_to_type(*name)], Vec::new()),
            Shape::Local(target) => (vec![self.reference_to_node(*target)], Vec::new()),
        };
        for assertion in &project.schemas[node].assertions {
            tail.push(self.assertion(assertion, &tail));
        }
        let mut entries = arranged(head, annotations, tail);
        let anchor = annotations.anchor.as_ref();
        if let Some(anchor) = anchor.filter(|anchor| self.anchors.insert((*anchor).clone())) {
            entries.insert(0, entry("$anchor", Json::string(anchor)));
        }
        entries
    }

    /// A keyword that no type says. One that the shape has used already goes into an `allOf` of its own.
    fn assertion(&mut self, assertion: &Assertion, beside: &[(String, Json)]) -> (String, Json) {
        let value = match &assertion.operand {
            Operand::Plain(value) => value.clone(),
            Operand::Schema(node) => self.schema(*node),
            Operand::Schemas(nodes) => {
                Json::Array(nodes.iter().map(|node| self.schema(*node)).collect())
            }
            Operand::Named(nodes) => Json::Object(
                nodes.iter().map(|(name, node)| (name.clone(), self.schema(*node))).collect(),
            ),
        };
        if beside.iter().any(|(key, _)| key == assertion.keyword) {
            return entry(
                "allOf",
                Json::Array(vec![Json::Object(vec![entry(assertion.keyword, value)])]),
            );
        }
        entry(assertion.keyword, value)
    }

    fn array(&mut self, array: &ArrayShape) -> Entries {
        let items = self.schema(array.items);
        let mut entries = Vec::new();
        if items != Json::Object(Vec::new()) {
            entries.push(entry("items", items));
        }
        entries.extend(count("minItems", array.min_items));
        entries.extend(count("maxItems", array.max_items));
        entries.extend(array.unique.then(|| entry("uniqueItems", Json::Boolean(true))));
        entries
    }

    fn tuple(&mut self, items: &[NodeId]) -> Entries {
        let count = Json::Number(items.len().to_string());
        let items = items.iter().map(|&item| self.schema(item)).collect();
        vec![
            entry("prefixItems", Json::Array(items)),
            entry("items", Json::Boolean(false)),
            entry("minItems", count),
        ]
    }

    fn object(&mut self, object: &ObjectShape) -> Entries {
        let mut entries = Vec::new();
        let properties: Entries = object
            .properties
            .iter()
            .filter(|property| property.is_described)
            .map(|property| (property.name.value.clone(), self.schema(property.schema)))
            .collect();
        let required = object.properties.iter().filter(|property| property.required);
        let required: Vec<Json> =
            required.map(|property| Json::string(&property.name.value)).collect();
        // Some clients want `properties` on every object.
        entries.push(entry("properties", Json::Object(properties)));
        if !required.is_empty() {
            entries.push(entry("required", Json::Array(required)));
        }
        match object.additional {
            Additional::Open => {}
            Additional::Declared => {
                entries.push(entry("additionalProperties", Json::Boolean(true)));
            }
            Additional::Closed => entries.push(entry("additionalProperties", Json::Boolean(false))),
            Additional::Typed(node) => {
                entries.push(entry("additionalProperties", self.schema(node)));
            }
        }
        entries
    }

    fn union(&mut self, union: &UnionShape) -> Entries {
        let variants = union.variants.iter().map(|variant| self.schema(variant.schema)).collect();
        vec![entry("oneOf", Json::Array(variants))]
    }

    fn reference_to_type(&mut self, id: TypeId) -> (String, Json) {
        let definition = &self.project[id];
        let service = &self.project[definition.service].name.value;
        let bare = definition.name.value.clone();
        let full = format!("{service}.{bare}");
        self.reference(definition.schema, &[bare, full])
    }

    fn reference_to_node(&mut self, target: NodeId) -> (String, Json) {
        if target == self.root {
            return entry("$ref", Json::string("#"));
        }
        let owner =
            TypeId::first(self.project.types.len()).find(|&id| self.project[id].schema == target);
        if let Some(owner) = owner {
            return self.reference_to_type(owner);
        }
        let name = self.project.schemas[target].definition.as_deref().unwrap_or("Root");
        // Written into a pointer in a URI, so without anything that needs an escape there.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let name = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        self.reference(target, &[name])
    }

    /// A reference to a definition, which at its first use gets the first free name.
    fn reference(&mut self, target: NodeId, names: &[String]) -> (String, Json) {
        if !self.names.contains_key(&target) {
            let last = names.last().cloned().unwrap_or_default();
            let numbered = (2..).map(|number| format!("{last}{number}"));
            let mut candidates = names.iter().cloned().chain(numbered);
            let name = candidates.find(|name| !self.taken.contains(name)).unwrap_or_default();
            self.taken.insert(name.clone());
            self.names.insert(target, name.clone());
            self.definitions.push((name, target));
        }
        entry("$ref", Json::string(format!("#/$defs/{}", self.names[&target])))
    }
}

impl Annotations {
    /// These, and the others' where these say nothing.
    fn over(&self, others: &Self) -> Self {
        Self {
            title: self.title.clone().or_else(|| others.title.clone()),
            description: self.description.clone().or_else(|| others.description.clone()),
            default: self.default.clone().or_else(|| others.default.clone()),
            examples: if self.examples.is_empty() { &others.examples } else { &self.examples }
                .clone(),
            deprecated: self.deprecated || others.deprecated,
            read_only: self.read_only || others.read_only,
            write_only: self.write_only || others.write_only,
            format: self.format.clone().or_else(|| others.format.clone()),
            content: if self.content.is_empty() { &others.content } else { &self.content }.clone(),
            dialect: self.dialect || others.dialect,
            anchor: self.anchor.clone().or_else(|| others.anchor.clone()),
        }
    }
}

/// Type first, then words for people, then limits, then what only informs.
fn arranged(mut head: Entries, annotations: &Annotations, tail: Entries) -> Entries {
    let text =
        |key: &str, text: &Option<String>| text.as_ref().map(|text| entry(key, Json::string(text)));
    let flag = |key: &str, set: bool| set.then(|| entry(key, Json::Boolean(true)));
    head.extend(text("title", &annotations.title));
    head.extend(text("description", &annotations.description));
    head.extend(text("format", &annotations.format));
    head.extend(annotations.content.iter().cloned());
    head.extend(tail);
    head.extend(annotations.default.clone().map(|value| entry("default", value)));
    if !annotations.examples.is_empty() {
        head.push(entry("examples", Json::Array(annotations.examples.clone())));
    }
    head.extend(flag("deprecated", annotations.deprecated));
    head.extend(flag("readOnly", annotations.read_only));
    head.extend(flag("writeOnly", annotations.write_only));
    head
}

fn entry(key: &str, value: Json) -> (String, Json) {
    (key.to_owned(), value)
}

fn of_type(word: &str) -> Entries {
    vec![entry("type", Json::string(word))]
}

fn constant(value: &Json) -> (Entries, Entries) {
    let head = if matches!(value, Json::String(_)) { of_type("string") } else { Vec::new() };
    (head, vec![entry("const", value.clone())])
}

/// Strings that say something about themselves are a choice of constants.
fn enumeration(values: &[EnumValue]) -> (String, Json) {
    if values.iter().all(|value| value.annotations == Annotations::default()) {
        let values = values.iter().map(|value| Json::string(&value.value.value));
        return entry("enum", Json::Array(values.collect()));
    }
    let constant = |value: &EnumValue| {
        let head = vec![entry("const", Json::string(&value.value.value))];
        Json::Object(arranged(head, &value.annotations, Vec::new()))
    };
    entry("oneOf", Json::Array(values.iter().map(constant).collect()))
}

fn count(key: &str, value: Option<u64>) -> Option<(String, Json)> {
    value.map(|value| entry(key, Json::Number(value.to_string())))
}

fn string(rules: &StringRules) -> Entries {
    let pattern = rules.pattern.as_ref();
    let mut entries: Entries = count("minLength", rules.min_length).into_iter().collect();
    entries.extend(count("maxLength", rules.max_length));
    entries.extend(rules.format.map(|format| entry("format", Json::string(format.name))));
    entries.extend(pattern.map(|pattern| entry("pattern", Json::string(&pattern.ecma))));
    entries
}

fn numbers(rules: &NumberRules) -> Entries {
    let bound = |bound: &Option<Bound>, inclusive: &str, exclusive: &str| {
        let key = |bound: &Bound| if bound.exclusive { exclusive } else { inclusive }.to_owned();
        bound.as_ref().map(|bound| (key(bound), Json::Number(bound.number.clone())))
    };
    let lower = bound(&rules.lower, "minimum", "exclusiveMinimum");
    let upper = bound(&rules.upper, "maximum", "exclusiveMaximum");
    lower.into_iter().chain(upper).collect()
}
