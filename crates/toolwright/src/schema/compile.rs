//! Compiles a JSON Schema to nodes, by the draft of its `$schema`, or 2020-12 without one.
//!
//! A reference to another document is an error: nothing is fetched.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ptr::from_ref;
use std::rc::Rc;

use super::keyword::{
    Bound, Constants, Contains, Divisor, Excerpt, Keys, Keyword, Node, NodeId, Properties,
};
use super::resolve::{Resources, Target};
use super::{Anchors, Draft, SchemaError};
use crate::format::{Format, IntegerFormat};
use crate::json::shortened;
use crate::pattern::{Pattern, PatternError, translate};
use crate::pointer::escaped;
use crate::value::{Decimal, Kind, Map, Number, Value};

/// Compiles all schemas that can be reached from the root. The root is the first node. The JSON Pointers of the schemas may take
/// some bytes together. The steps of the patterns are subtracted from those that are left.
pub(super) fn nodes(
    root: &Value,
    most_pointer_bytes: usize,
    pattern_steps: &mut u64,
) -> Result<(Vec<Node>, Vec<Anchors>), SchemaError> {
    let left = Rc::new(Cell::new(*pattern_steps));
    let mut compiler = Compiler {
        pattern_steps: Rc::clone(&left),
        resources: Resources::of(root, most_pointer_bytes)?,
        nodes: Vec::new(),
        known: HashMap::new(),
        pending: VecDeque::new(),
    };
    compiler.node(root, "");
    let anchors = compiler.dynamic_anchors();
    while let Some((id, schema, pointer)) = compiler.pending.pop_front() {
        compiler.nodes[id].keywords = compiler.keywords(schema, &pointer)?;
    }
    compiler.resources.check()?;
    *pattern_steps = left.get();
    Ok((compiler.nodes, anchors))
}

struct Compiler<'v> {
    resources: Resources<'v>,
    /// The steps of patterns that are left.
    pattern_steps: Rc<Cell<u64>>,
    nodes: Vec<Node>,
    known: HashMap<*const Value, NodeId>,
    /// Schemas that have a node without keywords yet. A queue, since recursion would be deep for a long chain of
    /// references.
    pending: VecDeque<(NodeId, &'v Value, String)>,
}

/// Reads the keywords of one schema.
struct KeywordReader<'v, 'p> {
    schema: &'v Map<Value>,
    pointer: &'p str,
    draft: Draft,
    pattern_steps: Rc<Cell<u64>>,
}

impl<'v> KeywordReader<'v, '_> {
    /// Returns the value of a keyword, if the draft has it.
    fn get(&self, keyword: &str) -> Option<&'v Value> {
        self.schema.get(keyword).filter(|_| self.draft.has(keyword))
    }

    fn at(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.pointer)
    }

    fn error(&self, keyword: &str, expected: &str) -> SchemaError {
        let found = self.schema.get(keyword).map(ToString::to_string).unwrap_or_default();
        let message = format!("found {}, expected {expected}", shortened(&found));
        SchemaError::new(self.at(keyword), message)
    }

    fn count(&self, keyword: &str) -> Result<Option<&'v Number>, SchemaError> {
        let Some(value) = self.get(keyword) else { return Ok(None) };
        let is_count =
            |number: &&Number| number.is_integer() && !Decimal::of(number.as_str()).is_negative();
        value.as_number().filter(is_count).map(Some).ok_or_else(|| self.error(keyword, "a count"))
    }

    /// Reads a minimum count. One that exceeds 64 bits is an error, since it would refuse everything.
    fn minimum(&self, keyword: &str) -> Result<Option<u64>, SchemaError> {
        let Some(count) = self.count(keyword)? else { return Ok(None) };
        let expected = "a count of at most 18446744073709551615";
        count.as_u64().map(Some).ok_or_else(|| self.error(keyword, expected))
    }

    /// Reads a maximum count. One that exceeds 64 bits is no limit.
    fn maximum(&self, keyword: &str) -> Result<Option<u64>, SchemaError> {
        Ok(self.count(keyword)?.and_then(Number::as_u64))
    }

    /// Reads a boolean, which is false if it is not there.
    fn flag(&self, keyword: &str, expected: &str) -> Result<bool, SchemaError> {
        let Some(value) = self.schema.get(keyword) else { return Ok(false) };
        value.as_bool().ok_or_else(|| self.error(keyword, expected))
    }

    fn number(&self, keyword: &str) -> Result<Option<&'v Number>, SchemaError> {
        let Some(value) = self.schema.get(keyword) else { return Ok(None) };
        value.as_number().map(Some).ok_or_else(|| self.error(keyword, "a number"))
    }

    fn map(&self, keyword: &str) -> Result<Option<&'v Map<Value>>, SchemaError> {
        let Some(value) = self.get(keyword) else { return Ok(None) };
        value.as_object().map(Some).ok_or_else(|| self.error(keyword, "an object"))
    }
}

impl<'v> Compiler<'v> {
    /// Returns the node of a schema. The keywords of a new node are read later.
    fn node(&mut self, schema: &'v Value, pointer: &str) -> NodeId {
        if let Some(&id) = self.known.get(&from_ref(schema)) {
            self.nodes[id].uses += 1;
            return id;
        }
        let id = self.nodes.len();
        let resource = self.resources.of_schema(schema);
        self.nodes.push(Node { keywords: Vec::new(), resource, uses: 1 });
        self.known.insert(from_ref(schema), id);
        self.pending.push_back((id, schema, pointer.to_owned()));
        id
    }

    fn keywords(&mut self, schema: &'v Value, pointer: &str) -> Result<Vec<Keyword>, SchemaError> {
        let resource = self.resources.of_schema(schema);
        let schema = match schema {
            Value::Boolean(true) => return Ok(Vec::new()),
            Value::Boolean(false) => return Ok(vec![Keyword::Never]),
            Value::Object(schema) => schema,
            other => {
                let found = shortened(&other.to_string());
                let message = format!("found {found}, expected a schema: an object or a boolean");
                return Err(SchemaError::new(pointer, message));
            }
        };
        let draft = self.resources.draft(resource);
        let pattern_steps = Rc::clone(&self.pattern_steps);
        let reader = KeywordReader { schema, pointer, draft, pattern_steps };
        let mut keywords = Vec::new();
        let references_only = draft < Draft::D2019 && schema.contains_key("$ref");
        if references_only {
            self.references(&reader, resource, &mut keywords)?;
            return Ok(keywords);
        }
        any_value(&reader, &mut keywords)?;
        numbers(&reader, &mut keywords)?;
        strings(&reader, &mut keywords)?;
        self.arrays(&reader, &mut keywords)?;
        self.objects(&reader, &mut keywords)?;
        self.references(&reader, resource, &mut keywords)?;
        self.choices(&reader, &mut keywords)?;
        for (keyword, wrap) in UNEVALUATED {
            if let Some(schema) = reader.get(keyword) {
                keywords.push(wrap(self.node(schema, &reader.at(keyword))));
            }
        }
        Ok(keywords)
    }

    fn list(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        keyword: &str,
    ) -> Result<Option<Vec<NodeId>>, SchemaError> {
        let Some(value) = reader.get(keyword) else { return Ok(None) };
        let schemas =
            value.as_array().ok_or_else(|| reader.error(keyword, "an array of schemas"))?;
        if schemas.is_empty() && keyword != "items" {
            return Err(reader.error(keyword, "an array of at least one schema"));
        }
        let pointer = reader.at(keyword);
        let nodes = schemas.iter().enumerate();
        Ok(Some(
            nodes.map(|(index, schema)| self.node(schema, &format!("{pointer}/{index}"))).collect(),
        ))
    }

    fn arrays(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(reader.minimum("minItems")?.map(Keyword::MinItems));
        keywords.extend(reader.maximum("maxItems")?.map(Keyword::MaxItems));
        if reader.flag("uniqueItems", "`true` or `false`")? {
            keywords.push(Keyword::UniqueItems);
        }
        // Before 2020-12, `items` had the role of both `prefixItems` and `items`.
        let is_list = matches!(reader.schema.get("items"), Some(Value::Array(_)));
        let (prefix, rest) = match reader.draft {
            Draft::D2020 => (Some("prefixItems"), "items"),
            _ if is_list => (Some("items"), "additionalItems"),
            _ => (None, "items"),
        };
        let prefix = match prefix {
            Some(keyword) => self.list(reader, keyword)?,
            None => None,
        };
        let from = prefix.as_ref().map_or(0, Vec::len);
        keywords.extend(prefix.map(Keyword::PrefixItems));
        if let Some(schema) = reader.schema.get(rest) {
            if is_list && rest == "items" {
                let advice = "a schema; use `prefixItems` for a list of schemas, or set `$schema` to an older draft";
                return Err(reader.error("items", advice));
            }
            keywords.push(Keyword::Items(from, self.node(schema, &reader.at(rest))));
        }
        if let Some(schema) = reader.get("contains") {
            let minimum = reader.minimum("minContains")?.unwrap_or(1);
            let maximum = reader.maximum("maxContains")?;
            keywords.push(Keyword::Contains(Contains {
                schema: self.node(schema, &reader.at("contains")),
                minimum,
                maximum,
                evaluates: reader.draft >= Draft::D2020,
                excerpt: shortened(&schema.to_string()),
            }));
        }
        Ok(())
    }

    fn objects(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(reader.minimum("minProperties")?.map(Keyword::MinProperties));
        keywords.extend(reader.maximum("maxProperties")?.map(Keyword::MaxProperties));
        if let Some(names) = reader.schema.get("required") {
            // Draft 3 had a boolean here, which many schemas still have, and programs in Go write an empty list as null; both are
            // ignored.
            if !matches!(names, Value::Boolean(_) | Value::Null) {
                keywords.push(Keyword::Required(keys(reader, "required", names)?));
            }
        }
        let mut properties = Properties::default();
        for (key, schema) in reader.map("properties")?.into_iter().flatten() {
            let node = self.node(schema, &entry_pointer(reader, "properties", key));
            properties.named.push((key.to_owned(), node));
        }
        properties.named.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (key, schema) in reader.map("patternProperties")?.into_iter().flatten() {
            let pointer = entry_pointer(reader, "patternProperties", key);
            let node = self.node(schema, &pointer);
            properties.patterns.push((pattern(key, pointer, &self.pattern_steps)?, node));
        }
        if let Some(schema) = reader.schema.get("additionalProperties") {
            properties.additional = Some(self.node(schema, &reader.at("additionalProperties")));
        }
        if !properties.named.is_empty()
            || !properties.patterns.is_empty()
            || properties.additional.is_some()
        {
            keywords.push(Keyword::Properties(properties));
        }
        if let Some(schema) = reader.get("propertyNames") {
            keywords.push(Keyword::PropertyNames(self.node(schema, &reader.at("propertyNames"))));
        }
        self.dependencies(reader, keywords)
    }

    /// Reads `dependencies`, which 2019-09 split in two.
    fn dependencies(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        let (mut names, mut schemas) = (BTreeMap::new(), BTreeMap::new());
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for (key, value) in reader.map(keyword)?.into_iter().flatten() {
                let is_list = matches!(value, Value::Array(_)) && keyword == "dependencies";
                if is_list || keyword == "dependentRequired" {
                    names.insert(key.to_owned(), keys(reader, keyword, value)?);
                } else {
                    let node = self.node(value, &entry_pointer(reader, keyword, key));
                    schemas.insert(key.to_owned(), node);
                }
            }
        }
        if !names.is_empty() {
            keywords.push(Keyword::DependentRequired(names));
        }
        if !schemas.is_empty() {
            keywords.push(Keyword::DependentSchemas(schemas));
        }
        Ok(())
    }

    fn choices(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(self.list(reader, "allOf")?.map(Keyword::AllOf));
        keywords.extend(self.list(reader, "anyOf")?.map(Keyword::AnyOf));
        keywords.extend(self.list(reader, "oneOf")?.map(Keyword::OneOf));
        if let Some(schema) = reader.schema.get("not") {
            let is_anything = match schema {
                Value::Object(schema) => schema.is_empty(),
                other => *other == Value::Boolean(true),
            };
            let excerpt = Excerpt { text: shortened(&schema.to_string()), is_anything };
            keywords.push(Keyword::Not(self.node(schema, &reader.at("not")), excerpt));
        }
        if let Some(condition) = reader.get("if") {
            let condition = self.node(condition, &reader.at("if"));
            let mut branch = |keyword: &str| {
                let schema = reader.schema.get(keyword)?;
                Some(self.node(schema, &reader.at(keyword)))
            };
            let (then, otherwise) = (branch("then"), branch("else"));
            keywords.push(Keyword::If { condition, then, otherwise });
        }
        Ok(())
    }

    fn references(
        &mut self,
        reader: &KeywordReader<'v, '_>,
        resource: usize,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(value) = reader.get(keyword) else { continue };
            let reference = value.as_str().ok_or_else(|| reader.error(keyword, "a reference"))?;
            let Target { schema, pointer, dynamic } = self
                .resources
                .find(resource, reference)
                .map_err(|message| SchemaError::new(reader.at(keyword), message))?;
            let node = self.node(schema, &pointer);
            keywords.push(match dynamic {
                // `$recursiveAnchor` has no name.
                Some(anchor) if keyword == "$dynamicRef" && !anchor.is_empty() => {
                    Keyword::DynamicRef(node, anchor)
                }
                Some(anchor) if keyword == "$recursiveRef" && anchor.is_empty() => {
                    Keyword::DynamicRef(node, anchor)
                }
                _ => Keyword::Ref(node),
            });
        }
        Ok(())
    }

    /// Returns the nodes of the dynamic anchors of each resource.
    fn dynamic_anchors(&mut self) -> Vec<Anchors> {
        let anchors = self.resources.dynamic_anchors();
        let mut node = |(anchor, schema)| (str::to_owned(anchor), self.node(schema, ""));
        // Of two anchors with one name, the first counts.
        let anchors = anchors.into_iter();
        anchors.map(|anchors| anchors.into_iter().rev().map(&mut node).collect()).collect()
    }
}

type Wrap = fn(NodeId) -> Keyword;

const UNEVALUATED: [(&str, Wrap); 2] = [
    ("unevaluatedItems", Keyword::UnevaluatedItems),
    ("unevaluatedProperties", Keyword::UnevaluatedProperties),
];

fn any_value(
    reader: &KeywordReader<'_, '_>,
    keywords: &mut Vec<Keyword>,
) -> Result<(), SchemaError> {
    if let Some(types) = reader.schema.get("type") {
        let names = match types {
            Value::Array(names) => names.iter().map(Value::as_str).collect(),
            name => vec![name.as_str()],
        };
        let kinds = names.into_iter().map(|name| Kind::from_name(name?));
        let kinds = kinds.collect::<Option<Vec<Kind>>>();
        let mut kinds = kinds.filter(|kinds| !kinds.is_empty());
        if let Some(kinds) = &mut kinds {
            let mut seen = Vec::new();
            kinds.retain(|kind| {
                !seen.contains(kind) && {
                    seen.push(*kind);
                    true
                }
            });
        }
        keywords.push(Keyword::Type(
            kinds.ok_or_else(|| reader.error("type", "a type, or a list of types"))?,
        ));
    }
    if let Some(values) = reader.schema.get("enum") {
        let values = values.as_array().ok_or_else(|| reader.error("enum", "an array"))?;
        keywords.push(Keyword::Enum(Constants::new(values)));
    }
    let constant = reader.get("const");
    keywords
        .extend(constant.map(|value| Keyword::Const(Constants::new(std::slice::from_ref(value)))));
    Ok(())
}

fn numbers(reader: &KeywordReader<'_, '_>, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
    let ends: [(&str, &str, fn(Bound) -> Keyword); 2] = [
        ("minimum", "exclusiveMinimum", Keyword::Minimum),
        ("maximum", "exclusiveMaximum", Keyword::Maximum),
    ];
    for (inclusive, exclusive, wrap) in ends {
        let is_flag = reader.draft == Draft::D4;
        let advice =
            "a boolean; a number is only allowed since draft-06, which `$schema` must name";
        let excludes = is_flag && reader.flag(exclusive, advice)?;
        keywords.extend(reader.number(inclusive)?.map(|number| wrap(Bound::new(number, excludes))));
        if !is_flag {
            if let Some(Value::Boolean(_)) = reader.schema.get(exclusive) {
                let advice =
                    "a number; a boolean is only allowed in draft-04, which `$schema` must name";
                return Err(reader.error(exclusive, advice));
            }
            keywords.extend(reader.number(exclusive)?.map(|number| wrap(Bound::new(number, true))));
        }
    }
    let format = reader.schema.get("format").and_then(Value::as_str);
    if let Some(format) = format.and_then(IntegerFormat::from_name) {
        let bound = |end: i128| Bound::new(&Number::from(end), false);
        let is_number = |kind: &Value| kind.as_str() == Some("number");
        let takes_fractions = match reader.schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(is_number),
            kind => kind.is_none_or(is_number),
        };
        if takes_fractions {
            keywords.push(divisible(Number::from(1)));
        }
        keywords.push(Keyword::Minimum(bound(format.min_value())));
        keywords.push(Keyword::Maximum(bound(format.max_value())));
    }
    if format == Some("double") {
        for (end, wrap) in
            [(f64::MIN, Keyword::Minimum as fn(Bound) -> Keyword), (f64::MAX, Keyword::Maximum)]
        {
            keywords.extend(Number::try_from(end).ok().map(|end| wrap(Bound::new(&end, false))));
        }
    }
    if let Some(number) = reader.number("multipleOf")? {
        let divisor = Decimal::of(number.as_str());
        if divisor.is_zero() || divisor.is_negative() {
            return Err(reader.error("multipleOf", "a number above 0"));
        }
        keywords.push(divisible(number.clone()));
    }
    Ok(())
}

fn divisible(number: Number) -> Keyword {
    let exact = Decimal::of(number.as_str()).into_owned();
    Keyword::MultipleOf(Divisor { number, exact })
}

fn strings(reader: &KeywordReader<'_, '_>, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
    keywords.extend(reader.minimum("minLength")?.map(Keyword::MinLength));
    keywords.extend(reader.maximum("maxLength")?.map(Keyword::MaxLength));
    if let Some(value) = reader.schema.get("pattern") {
        let ecma = value.as_str().ok_or_else(|| reader.error("pattern", "a regular expression"))?;
        let pattern = pattern(ecma, reader.at("pattern"), &reader.pattern_steps)?;
        keywords.push(Keyword::Pattern(pattern, ecma.to_owned()));
    }
    let format = reader.schema.get("format").and_then(Value::as_str);
    keywords.extend(format.and_then(Format::from_name).map(Keyword::Format));
    Ok(())
}

fn pattern(ecma: &str, pointer: String, steps: &Cell<u64>) -> Result<Pattern, SchemaError> {
    let error = |error: PatternError| SchemaError::new(&*pointer, error.to_string());
    let translated = translate(ecma).map_err(error)?;
    let Some(left) = steps.get().checked_sub(Pattern::steps(&translated)) else {
        let message = "the patterns have too many steps together, expected fewer or shorter ones";
        return Err(SchemaError::new(&*pointer, message));
    };
    steps.set(left);
    Pattern::from_translated(&translated).map_err(error)
}

/// Returns the pointer of an entry.
fn entry_pointer(reader: &KeywordReader<'_, '_>, keyword: &str, key: &str) -> String {
    format!("{}/{}", reader.at(keyword), escaped(key))
}

/// Reads a list of keys.
fn keys(reader: &KeywordReader<'_, '_>, keyword: &str, value: &Value) -> Result<Keys, SchemaError> {
    let keys = value.as_array().and_then(|names| {
        names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    });
    keys.map(Keys::new).ok_or_else(|| reader.error(keyword, "an array of strings"))
}
