//! Writes a node as the JSON Schema (2020-12) that the model sees: self-contained, in a fixed order, and accepting exactly the
//! values that the node accepts.

mod limits;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use toolwright::value::Kind;

use super::{
    Annotations, Assertion, DIALECT, Keyword, Node, NodeId, Operand, Schemas, Shape, TypeId,
    aliased, kind_of, resolved,
};
use crate::json::Json;
use crate::json::{JsonWriter, Style};

/// Returns the JSON text of a node's schema, with all definitions that it refers to under `$defs`.
pub fn published(schemas: &Schemas, node: NodeId, style: Style) -> String {
    publish(schemas, node, style, usize::MAX).0.out.finish()
}

/// Like [`published`], but stops after `most` bytes: a longer text is not complete, and still longer than that.
pub fn published_within(schemas: &Schemas, node: NodeId, style: Style, most: usize) -> String {
    publish(schemas, node, style, most).0.out.finish()
}

/// Like [`published`], but also returns the keywords of the root that the node's type does not express.
pub fn published_with_rules(
    schemas: &Schemas,
    node: NodeId,
    style: Style,
) -> (String, Vec<&'static str>) {
    let (publisher, rules) = publish(schemas, node, style, usize::MAX);
    (publisher.out.finish(), rules)
}

/// Returns the definitions of a published schema, each with its key under `$defs`.
#[cfg(feature = "project")]
pub fn definitions(schemas: &Schemas, node: NodeId) -> Vec<(String, NodeId)> {
    publish(schemas, node, Style::Compact, usize::MAX).0.definitions
}

/// Writes a schema, up to `most` bytes, and returns the keywords of the root that the node's type does not express.
fn publish(
    schemas: &Schemas,
    node: NodeId,
    style: Style,
    most: usize,
) -> (Publisher<'_>, Vec<&'static str>) {
    let mut rules = Vec::new();
    let mut publisher = Publisher {
        schemas,
        root: node,
        places: BTreeMap::new(),
        taken: BTreeSet::new(),
        numbers: BTreeMap::new(),
        anchors: BTreeSet::new(),
        definitions: Vec::new(),
        is_in_member: false,
        most,
        out: JsonWriter::new(style),
        keywords: Vec::new(),
        first: 0,
    };
    publisher.object(|publisher| {
        rules = publisher.root();
        if publisher.definitions.is_empty() {
            return;
        }
        // Writing a definition may add further ones. A loop instead of recursion, because chains of types may be long.
        publisher.keyword("$defs");
        publisher.object(|publisher| {
            let mut written = 0;
            while let Some((name, target)) = publisher.definitions.get(written) {
                publisher.out.key(name);
                publisher.schema(*target);
                written += 1;
            }
        });
    });
    (publisher, rules)
}

struct Publisher<'a> {
    schemas: &'a Schemas,
    root: NodeId,
    /// The position of a node's definition.
    places: BTreeMap<NodeId, usize>,
    /// The names of definitions.
    taken: BTreeSet<String>,
    /// The last number of each name that needed one.
    numbers: BTreeMap<String, usize>,
    /// The anchors written so far. Types of different services may have the same anchor, which is only written once.
    anchors: BTreeSet<&'a str>,
    /// The definitions, in the order of their first use.
    definitions: Vec<(String, NodeId)>,
    /// True inside a property that a member of an `allOf` gave to an object.
    is_in_member: bool,
    /// The number of bytes after which the text is of no use.
    most: usize,
    out: JsonWriter,
    /// The keywords of all open objects; those of the innermost object begin at `first`.
    keywords: Vec<&'static str>,
    first: usize,
}

impl<'a> Publisher<'a> {
    /// Writes the root. MCP requires a `type` on it, so a reference is replaced by its target. A reference with keywords beside
    /// it stays a reference, because some keywords would have another meaning beside those of the target.
    fn root(&mut self) -> Vec<&'static str> {
        let schemas = self.schemas;
        let body = resolved(schemas, self.root);
        let (own, inner) = (&schemas[self.root].annotations, &schemas[body].annotations);
        // Whether no reference on the path has keywords beside it.
        let is_bare = aliased(schemas, self.root).any(|node| node == body);
        let shown = if is_bare { body } else { self.root };
        let assertions = &schemas[shown].assertions;
        let mut merged = (body != self.root).then(|| own.completed_by(inner));
        if let Some(merged) = &mut merged
            && assertions.iter().any(|rule| rule.keyword == Keyword::Format)
        {
            merged.format.clone_from(&own.format);
        }
        let annotations = merged.as_ref().unwrap_or(own);
        self.text("$schema", annotations.dialect.then_some(DIALECT));
        self.anchor(own.anchor.as_ref().or(inner.anchor.as_ref()));
        if !is_bare {
            self.text("type", kind_of(schemas, body).map(Kind::as_str));
        }
        self.entries(shown, annotations, assertions)
    }

    fn schema(&mut self, id: NodeId) {
        if self.out.len() > self.most {
            return self.out.boolean(true);
        }
        let node = &self.schemas[id];
        let is_unlimited =
            |node: &Node| matches!(node.shape, Shape::Any) && node.annotations.is_empty();
        // The schema `false` was read as `not` with the schema `true`.
        if let [Assertion { keyword: Keyword::Not, operand: Operand::Schema(refused) }] =
            node.assertions.as_slice()
            && is_unlimited(node)
            && is_unlimited(&self.schemas[*refused])
            && self.schemas[*refused].assertions.is_empty()
        {
            self.out.boolean(false);
            return;
        }
        self.object(|publisher| {
            publisher.anchor(node.annotations.anchor.as_ref());
            publisher.entries(id, &node.annotations, &node.assertions);
        });
    }

    fn schemas(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.out.open('[');
        for node in nodes {
            self.out.item();
            self.schema(node);
        }
        self.out.close(']');
    }

    /// Writes the entries of a schema: first the type, then texts for people, then limits, then other annotations.
    fn entries<'b>(
        &mut self,
        id: NodeId,
        annotations: &Annotations,
        assertions: impl IntoIterator<Item = &'b Assertion>,
    ) -> Vec<&'static str> {
        self.head(id);
        self.annotations_before(annotations);
        self.limits(&self.schemas[id]);
        self.unchecked_format(annotations);
        let formats = [annotations.format.as_deref(), limits::format(&self.schemas[id].shape)];
        let rules = self.assertions(assertions, formats);
        self.annotations_after(annotations);
        rules
    }

    /// Writes the type of the value, or the reference to it.
    fn head(&mut self, id: NodeId) {
        match &self.schemas[id].shape {
            Shape::Named(name) => self.reference_to_type(*name),
            Shape::Local(target) => self.reference_to_node(*target, "Root"),
            Shape::Const(value) if !matches!(value, Json::String(_)) => {}
            // Beside the type of null, other values of an `enum` would be mistakes.
            Shape::Null
                if self.schemas[id].assertions.iter().any(|rule| rule.keyword == Keyword::Enum) =>
            {
                self.value("const", &Json::Null);
            }
            // For an overlapping choice `type` is redundant, but some clients require it on objects.
            _ => self.text("type", kind_of(self.schemas, id).map(Kind::as_str)),
        }
    }

    /// Writes the assertions and returns their keywords. If a keyword is already present, the assertion goes into an `allOf`,
    /// because an object cannot have the same key twice. An assertion of one of the `formats` is already expressed.
    fn assertions<'b>(
        &mut self,
        assertions: impl IntoIterator<Item = &'b Assertion>,
        formats: [Option<&str>; 2],
    ) -> Vec<&'static str> {
        let (mut own, mut nested): (Vec<&Assertion>, Vec<&Assertion>) = (Vec::new(), Vec::new());
        for assertion in assertions {
            let keyword = assertion.keyword.word();
            let is_written = self.keywords[self.first..].contains(&keyword);
            if let (Keyword::Format, Operand::Plain(Json::String(format))) =
                (assertion.keyword, &assertion.operand)
                && formats.contains(&Some(format))
            {
                continue;
            }
            let is_present =
                is_written || own.iter().any(|other| other.keyword == assertion.keyword);
            if is_present { &mut nested } else { &mut own }.push(assertion);
        }
        if !nested.is_empty() {
            nested.extend(own.extract_if(.., |assertion| assertion.keyword == Keyword::AllOf));
        }
        let mut rules: Vec<_> = own.iter().map(|assertion| assertion.keyword.word()).collect();
        for assertion in own {
            self.assertion(assertion);
        }
        if nested.is_empty() {
            return rules;
        }
        rules.push("allOf");
        self.keyword("allOf");
        self.out.open('[');
        for assertion in nested {
            self.out.item();
            self.object(|publisher| publisher.assertion(assertion));
        }
        self.out.close(']');
        rules
    }

    fn assertion(&mut self, assertion: &Assertion) {
        if let (Operand::Schema(node), Keyword::Ref) = (&assertion.operand, assertion.keyword) {
            return self.head(*node);
        }
        self.keyword(assertion.keyword.word());
        match &assertion.operand {
            Operand::Plain(value) => self.out.value(value),
            Operand::Schema(node) => self.schema(*node),
            Operand::Schemas(nodes) => self.schemas(nodes.iter().copied()),
            Operand::Named(nodes) => {
                self.named(nodes.iter().map(|(name, node)| (name.as_str(), *node)));
            }
        }
    }

    fn named<'b>(&mut self, nodes: impl IntoIterator<Item = (&'b str, NodeId)>) {
        self.object(|publisher| {
            for (name, node) in nodes {
                publisher.out.key(name);
                publisher.schema(node);
            }
        });
    }

    fn reference_to_type(&mut self, id: TypeId) {
        let definition = &self.schemas[id];
        let bare = &definition.name.value;
        self.reference(definition.schema, bare, || format!("{}.{bare}", definition.service));
    }

    /// Writes a reference to a node; `name` is that of its definition if it has no other.
    fn reference_to_node(&mut self, target: NodeId, name: &str) {
        if target == self.root {
            self.text("$ref", Some("#"));
            return;
        }
        if let Some(owner) = self.schemas.type_of(target) {
            self.reference_to_type(owner);
            return;
        }
        let name = self.schemas[target].definition.as_deref().unwrap_or(name);
        // The name is part of a pointer in a URI, so it must not need escapes.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        self.reference(target, &name, || name.clone());
    }

    /// Writes a reference to a definition. At its first use the definition gets a free name: `name`, the longer name, or the
    /// longer name with a number.
    fn reference(&mut self, target: NodeId, name: &str, longer: impl Fn() -> String) {
        let place = self.places.get(&target).copied().unwrap_or_else(|| {
            let is_free = self.taken.insert(name.to_owned());
            let name = if is_free { name.to_owned() } else { self.numbered(longer()) };
            self.places.insert(target, self.definitions.len());
            self.definitions.push((name, target));
            self.definitions.len() - 1
        });
        let reference = format!("#/$defs/{}", self.definitions[place].0);
        self.text("$ref", Some(&reference));
    }

    /// Takes a name for a definition, with a number if another one has it.
    fn numbered(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(wanted.clone()).or_insert(1);
            *number += 1;
            name = format!("{wanted}{number}");
        }
        name
    }

    fn anchor(&mut self, anchor: Option<&'a String>) {
        let anchor = anchor.filter(|anchor| self.anchors.insert(anchor));
        self.text("$anchor", anchor.map(String::as_str));
    }

    /// Writes the annotations that come before the limits.
    fn annotations_before(&mut self, annotations: &Annotations) {
        self.text("title", annotations.title.as_deref());
        self.text("description", annotations.description.as_deref());
        for (key, value) in &annotations.content {
            self.out.key(key);
            self.out.value(value);
        }
    }

    /// Writes a format that is not checked, unless the limits have one: an integer without another limit is an `int64`.
    fn unchecked_format(&mut self, annotations: &Annotations) {
        if !self.keywords[self.first..].contains(&"format") {
            self.text("format", annotations.format.as_deref());
        }
    }

    /// Writes the annotations that come after the limits.
    fn annotations_after(&mut self, annotations: &Annotations) {
        if let Some(value) = &annotations.default {
            self.value("default", value);
        }
        if !annotations.examples.is_empty() {
            self.keyword("examples");
            self.out.array(&annotations.examples);
        }
        self.flag("deprecated", annotations.deprecated);
        self.flag("readOnly", annotations.read_only);
        self.flag("writeOnly", annotations.write_only);
    }

    fn text(&mut self, keyword: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.keyword(keyword);
            self.out.string(text);
        }
    }

    fn count(&mut self, keyword: &'static str, count: Option<u64>) {
        if let Some(count) = count {
            self.keyword(keyword);
            self.out.number(&count.to_string());
        }
    }

    fn flag(&mut self, keyword: &'static str, is_set: bool) {
        if is_set {
            self.keyword(keyword);
            self.out.boolean(true);
        }
    }

    fn value(&mut self, keyword: &'static str, value: &Json) {
        self.keyword(keyword);
        self.out.value(value);
    }

    fn keyword(&mut self, keyword: &'static str) {
        self.keywords.push(keyword);
        self.out.keyword(keyword);
    }

    /// Writes an object; `entries` writes its entries.
    fn object<T>(&mut self, entries: impl FnOnce(&mut Self) -> T) {
        let outer = mem::replace(&mut self.first, self.keywords.len());
        self.out.open('{');
        entries(self);
        self.out.close('}');
        self.keywords.truncate(self.first);
        self.first = outer;
    }
}
