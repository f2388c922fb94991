//! From the text of a JSON Schema to nodes without open questions: of the draft it names, 2020-12 if it names none.
//!
//! Nothing is fetched: a reference to what is outside of the text is an error.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ptr::from_ref;

use super::SchemaError;
use super::keyword::{Bound, Constants, Contains, Keys, Keyword, Node, NodeId, Properties, Shown};
use super::resolve::{Draft, Resources, Target};
use crate::format::{Format, IntegerFormat};
use crate::json::shortened;
use crate::pattern::Pattern;
use crate::pointer::escaped;
use crate::value::{Decimal, Kind, Map, Number, Value};

/// Reads every schema that the root leads to; the root is the first node.
pub(super) fn nodes(root: &Value) -> Result<(Vec<Node>, Vec<Vec<(String, NodeId)>>), SchemaError> {
    let mut compiler = Compiler {
        resources: Resources::of(root)?,
        nodes: Vec::new(),
        known: HashMap::new(),
        waiting: VecDeque::new(),
    };
    compiler.node(root, "");
    let anchors = compiler.dynamic_anchors();
    while let Some((id, schema, pointer)) = compiler.waiting.pop_front() {
        compiler.nodes[id].keywords = compiler.keywords(schema, &pointer)?;
    }
    Ok((compiler.nodes, anchors))
}

struct Compiler<'v> {
    resources: Resources<'v>,
    nodes: Vec<Node>,
    known: HashMap<*const Value, NodeId>,
    /// Schemas that have a place and no keywords yet. A queue, because a chain of references may be long.
    waiting: VecDeque<(NodeId, &'v Value, String)>,
}

/// The schema whose keywords are being read.
struct Place<'v, 'p> {
    schema: &'v Map<Value>,
    pointer: &'p str,
    draft: Draft,
}

impl<'v> Place<'v, '_> {
    /// Returns the value of a keyword that the draft has.
    fn get(&self, keyword: &str, since: Draft) -> Option<&'v Value> {
        self.schema.get(keyword).filter(|_| self.draft >= since)
    }

    fn at(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.pointer)
    }

    fn wrong(&self, keyword: &str, expected: &str) -> SchemaError {
        let found = self.schema.get(keyword).map(ToString::to_string).unwrap_or_default();
        let message = format!("found {}, expected {expected}", shortened(&found));
        SchemaError::new(self.at(keyword), message)
    }

    fn count(&self, keyword: &str, since: Draft) -> Result<Option<&'v Number>, SchemaError> {
        let Some(value) = self.get(keyword, since) else { return Ok(None) };
        let is_count =
            |number: &&Number| number.is_integer() && !Decimal::of(number.as_str()).is_negative();
        value.as_number().filter(is_count).map(Some).ok_or_else(|| self.wrong(keyword, "a count"))
    }

    /// A least count. Nothing has more than 64 bits can say, so that a greater one would refuse everything.
    fn least(&self, keyword: &str, since: Draft) -> Result<Option<u64>, SchemaError> {
        let Some(count) = self.count(keyword, since)? else { return Ok(None) };
        let expected = "a count of at most 18446744073709551615, for nothing has more";
        count.as_u64().map(Some).ok_or_else(|| self.wrong(keyword, expected))
    }

    /// A greatest count. One that is more than 64 bits can say limits nothing.
    fn most(&self, keyword: &str, since: Draft) -> Result<Option<u64>, SchemaError> {
        Ok(self.count(keyword, since)?.and_then(Number::as_u64))
    }

    fn number(&self, keyword: &str) -> Result<Option<&'v Number>, SchemaError> {
        let Some(value) = self.schema.get(keyword) else { return Ok(None) };
        value.as_number().map(Some).ok_or_else(|| self.wrong(keyword, "a number"))
    }

    fn map(&self, keyword: &str, since: Draft) -> Result<Option<&'v Map<Value>>, SchemaError> {
        let Some(value) = self.get(keyword, since) else { return Ok(None) };
        value.as_object().map(Some).ok_or_else(|| self.wrong(keyword, "an object"))
    }
}

impl<'v> Compiler<'v> {
    /// The node of a schema, whose keywords are read later if it is met for the first time.
    fn node(&mut self, schema: &'v Value, pointer: &str) -> NodeId {
        if let Some(&id) = self.known.get(&from_ref(schema)) {
            self.nodes[id].uses += 1;
            return id;
        }
        let id = self.nodes.len();
        let resource = self.resources.of_schema(schema);
        self.nodes.push(Node { keywords: Vec::new(), resource, uses: 1 });
        self.known.insert(from_ref(schema), id);
        self.waiting.push_back((id, schema, pointer.to_owned()));
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
        let place = Place { schema, pointer, draft };
        let mut keywords = Vec::new();
        let references_only = draft < Draft::D2019 && schema.contains_key("$ref");
        if references_only {
            self.references(&place, resource, &mut keywords)?;
            return Ok(keywords);
        }
        any_value(&place, &mut keywords)?;
        numbers(&place, &mut keywords)?;
        strings(&place, &mut keywords)?;
        self.arrays(&place, &mut keywords)?;
        self.objects(&place, &mut keywords)?;
        self.references(&place, resource, &mut keywords)?;
        self.choices(&place, &mut keywords)?;
        for (keyword, wrap) in UNEVALUATED {
            if let Some(schema) = place.get(keyword, Draft::D2019) {
                keywords.push(wrap(self.node(schema, &place.at(keyword))));
            }
        }
        Ok(keywords)
    }

    fn list(
        &mut self,
        place: &Place<'v, '_>,
        keyword: &str,
        since: Draft,
    ) -> Result<Option<Vec<NodeId>>, SchemaError> {
        let Some(value) = place.get(keyword, since) else { return Ok(None) };
        let schemas =
            value.as_array().ok_or_else(|| place.wrong(keyword, "an array of schemas"))?;
        if schemas.is_empty() && keyword != "items" {
            return Err(place.wrong(keyword, "an array of at least one schema"));
        }
        let pointer = place.at(keyword);
        let nodes = schemas.iter().enumerate();
        Ok(Some(
            nodes.map(|(index, schema)| self.node(schema, &format!("{pointer}/{index}"))).collect(),
        ))
    }

    fn arrays(
        &mut self,
        place: &Place<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(place.least("minItems", Draft::D4)?.map(Keyword::MinItems));
        keywords.extend(place.most("maxItems", Draft::D4)?.map(Keyword::MaxItems));
        if place.schema.get("uniqueItems") == Some(&Value::Boolean(true)) {
            keywords.push(Keyword::UniqueItems);
        }
        // Before 2020-12, `items` was either of the two keywords that there are now.
        let is_list = matches!(place.schema.get("items"), Some(Value::Array(_)));
        let (prefix, rest) = match place.draft {
            Draft::D2020 => ("prefixItems", "items"),
            _ if is_list => ("items", "additionalItems"),
            _ => ("", "items"),
        };
        let prefix = self.list(place, prefix, Draft::D4)?;
        let from = prefix.as_ref().map_or(0, Vec::len);
        keywords.extend(prefix.map(Keyword::PrefixItems));
        if let Some(schema) = place.schema.get(rest) {
            if is_list && rest == "items" {
                let advice = "a schema; a schema for each item stands under `prefixItems`, or say the draft under `$schema`";
                return Err(place.wrong("items", advice));
            }
            keywords.push(Keyword::Items(from, self.node(schema, &place.at(rest))));
        }
        if let Some(schema) = place.get("contains", Draft::D6) {
            let least = place.least("minContains", Draft::D2019)?.unwrap_or(1);
            let most = place.most("maxContains", Draft::D2019)?;
            keywords.push(Keyword::Contains(Contains {
                schema: self.node(schema, &place.at("contains")),
                least,
                most,
                evaluates: place.draft >= Draft::D2020,
                shown: shortened(&schema.to_string()),
            }));
        }
        Ok(())
    }

    fn objects(
        &mut self,
        place: &Place<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(place.least("minProperties", Draft::D4)?.map(Keyword::MinProperties));
        keywords.extend(place.most("maxProperties", Draft::D4)?.map(Keyword::MaxProperties));
        if let Some(names) = place.schema.get("required") {
            // Draft 3 had a boolean here, which many schemas still write: it says nothing since.
            if let Value::Array(_) = names {
                keywords.push(Keyword::Required(keys(place, "required", names)?));
            }
        }
        let mut properties = Properties::default();
        for (key, schema) in place.map("properties", Draft::D4)?.into_iter().flatten() {
            let node = self.node(schema, &below(place, "properties", key));
            properties.named.push((key.to_owned(), node));
        }
        properties.named.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (key, schema) in place.map("patternProperties", Draft::D4)?.into_iter().flatten() {
            let pointer = below(place, "patternProperties", key);
            let node = self.node(schema, &pointer);
            properties.patterns.push((pattern(key, pointer)?, node));
        }
        if let Some(schema) = place.schema.get("additionalProperties") {
            properties.additional = Some(self.node(schema, &place.at("additionalProperties")));
        }
        if !properties.named.is_empty()
            || !properties.patterns.is_empty()
            || properties.additional.is_some()
        {
            keywords.push(Keyword::Properties(properties));
        }
        if let Some(schema) = place.get("propertyNames", Draft::D6) {
            keywords.push(Keyword::PropertyNames(self.node(schema, &place.at("propertyNames"))));
        }
        self.dependencies(place, keywords)
    }

    /// `dependencies` was split in two in 2019-09, and is still read by most.
    fn dependencies(
        &mut self,
        place: &Place<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        let (mut names, mut schemas) = (BTreeMap::new(), BTreeMap::new());
        let of_draft = [
            ("dependencies", Draft::D4),
            ("dependentRequired", Draft::D2019),
            ("dependentSchemas", Draft::D2019),
        ];
        for (keyword, since) in of_draft {
            if keyword == "dependencies" && place.draft >= Draft::D2019 {
                continue;
            }
            for (key, value) in place.map(keyword, since)?.into_iter().flatten() {
                if keyword != "dependentSchemas" && matches!(value, Value::Array(_)) {
                    names.insert(key.to_owned(), keys(place, keyword, value)?);
                } else {
                    let node = self.node(value, &below(place, keyword, key));
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
        place: &Place<'v, '_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        keywords.extend(self.list(place, "allOf", Draft::D4)?.map(Keyword::AllOf));
        keywords.extend(self.list(place, "anyOf", Draft::D4)?.map(Keyword::AnyOf));
        keywords.extend(self.list(place, "oneOf", Draft::D4)?.map(Keyword::OneOf));
        if let Some(schema) = place.schema.get("not") {
            let is_anything = match schema {
                Value::Object(schema) => schema.is_empty(),
                other => *other == Value::Boolean(true),
            };
            let shown = Shown { text: shortened(&schema.to_string()), is_anything };
            keywords.push(Keyword::Not(self.node(schema, &place.at("not")), shown));
        }
        if let Some(condition) = place.get("if", Draft::D7) {
            let condition = self.node(condition, &place.at("if"));
            let mut branch = |keyword: &str| {
                let schema = place.schema.get(keyword)?;
                Some(self.node(schema, &place.at(keyword)))
            };
            let (then, otherwise) = (branch("then"), branch("else"));
            keywords.push(Keyword::If { condition, then, otherwise });
        }
        Ok(())
    }

    fn references(
        &mut self,
        place: &Place<'v, '_>,
        resource: usize,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let since = match keyword {
                "$ref" => Draft::D4,
                "$dynamicRef" => Draft::D2020,
                _ => Draft::D2019,
            };
            let Some(value) = place.get(keyword, since) else { continue };
            if keyword == "$recursiveRef" && place.draft > Draft::D2019 {
                continue;
            }
            let reference = value.as_str().ok_or_else(|| place.wrong(keyword, "a reference"))?;
            let Target { schema, pointer, dynamic } = self
                .resources
                .find(resource, reference)
                .map_err(|message| SchemaError::new(place.at(keyword), message))?;
            let node = self.node(schema, &pointer);
            keywords.push(match dynamic {
                Some(anchor) if keyword != "$ref" => Keyword::DynamicRef(node, anchor),
                _ => Keyword::Ref(node),
            });
        }
        Ok(())
    }

    /// The nodes under the dynamic anchors of each resource.
    fn dynamic_anchors(&mut self) -> Vec<Vec<(String, NodeId)>> {
        let anchors = self.resources.dynamic_anchors();
        let mut node = |(anchor, schema)| (str::to_owned(anchor), self.node(schema, ""));
        anchors.into_iter().map(|anchors| anchors.into_iter().map(&mut node).collect()).collect()
    }
}

type Wrap = fn(NodeId) -> Keyword;

const UNEVALUATED: [(&str, Wrap); 2] = [
    ("unevaluatedItems", Keyword::UnevaluatedItems),
    ("unevaluatedProperties", Keyword::UnevaluatedProperties),
];

fn any_value(place: &Place<'_, '_>, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
    if let Some(types) = place.schema.get("type") {
        let names = match types {
            Value::Array(names) => names.iter().map(Value::as_str).collect(),
            name => vec![name.as_str()],
        };
        let kinds = names.into_iter().map(|name| Kind::from_name(name?));
        let kinds = kinds.collect::<Option<Vec<Kind>>>();
        let kinds = kinds.filter(|kinds| !kinds.is_empty());
        keywords.push(Keyword::Type(
            kinds.ok_or_else(|| place.wrong("type", "a type, or a list of types"))?,
        ));
    }
    if let Some(values) = place.schema.get("enum") {
        let values = values.as_array().ok_or_else(|| place.wrong("enum", "an array"))?;
        keywords.push(Keyword::Enum(Constants::new(values)));
    }
    keywords.extend(place.get("const", Draft::D6).cloned().map(Keyword::Const));
    Ok(())
}

fn numbers(place: &Place<'_, '_>, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
    let ends: [(&str, &str, fn(Bound) -> Keyword); 2] = [
        ("minimum", "exclusiveMinimum", Keyword::Minimum),
        ("maximum", "exclusiveMaximum", Keyword::Maximum),
    ];
    for (inclusive, exclusive, wrap) in ends {
        let is_flag = place.draft == Draft::D4;
        let excludes = is_flag && place.schema.get(exclusive) == Some(&Value::Boolean(true));
        keywords.extend(place.number(inclusive)?.map(|number| wrap(Bound::new(number, excludes))));
        if !is_flag {
            if let Some(Value::Boolean(_)) = place.schema.get(exclusive) {
                let advice = "a number; it is a flag in draft-04 alone, which `$schema` has to say";
                return Err(place.wrong(exclusive, advice));
            }
            keywords.extend(place.number(exclusive)?.map(|number| wrap(Bound::new(number, true))));
        }
    }
    let format = place.schema.get("format").and_then(Value::as_str);
    if let Some(format) = format.and_then(IntegerFormat::from_name) {
        let bound = |end: i128| Bound::new(&Number::from(end), false);
        let is_number = |kind: &Value| kind.as_str() == Some("number");
        let takes_fractions = match place.schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(is_number),
            kind => kind.is_none_or(is_number),
        };
        if takes_fractions {
            keywords.push(Keyword::MultipleOf(Number::from(1)));
        }
        keywords.push(Keyword::Minimum(bound(format.least())));
        keywords.push(Keyword::Maximum(bound(format.greatest())));
    }
    if format == Some("double") {
        for (end, wrap) in
            [(f64::MIN, Keyword::Minimum as fn(Bound) -> Keyword), (f64::MAX, Keyword::Maximum)]
        {
            keywords.extend(Number::try_from(end).ok().map(|end| wrap(Bound::new(&end, false))));
        }
    }
    if let Some(number) = place.number("multipleOf")? {
        let divisor = Decimal::of(number.as_str());
        if divisor.is_zero() || divisor.is_negative() {
            return Err(place.wrong("multipleOf", "a number above 0"));
        }
        keywords.push(Keyword::MultipleOf(number.clone()));
    }
    Ok(())
}

fn strings(place: &Place<'_, '_>, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
    keywords.extend(place.least("minLength", Draft::D4)?.map(Keyword::MinLength));
    keywords.extend(place.most("maxLength", Draft::D4)?.map(Keyword::MaxLength));
    if let Some(value) = place.schema.get("pattern") {
        let ecma = value.as_str().ok_or_else(|| place.wrong("pattern", "a regular expression"))?;
        keywords.push(Keyword::Pattern(pattern(ecma, place.at("pattern"))?, ecma.to_owned()));
    }
    let format = place.schema.get("format").and_then(Value::as_str);
    keywords.extend(format.and_then(Format::from_name).map(Keyword::Format));
    Ok(())
}

fn pattern(ecma: &str, pointer: String) -> Result<Pattern, SchemaError> {
    Pattern::new(ecma).map_err(|error| SchemaError::new(pointer, error.to_string()))
}

/// The pointer of an entry.
fn below(place: &Place<'_, '_>, keyword: &str, key: &str) -> String {
    format!("{}/{}", place.at(keyword), escaped(key))
}

/// A list of keys.
fn keys(place: &Place<'_, '_>, keyword: &str, value: &Value) -> Result<Keys, SchemaError> {
    let keys = value.as_array().into_iter().flatten().map(|name| name.as_str().map(str::to_owned));
    let keys = keys.collect::<Option<Vec<String>>>();
    keys.map(Keys::new).ok_or_else(|| place.wrong(keyword, "an array of strings"))
}
