//! Translates the schemas of an OpenAPI document to JSON Schema 2020-12, each with everything it refers to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use toolwright::format::IntegerFormat;
use toolwright::pointer::unescaped;

use super::super::definitions::Definitions;
use super::super::keywords::{Entries, each_part, take};
use super::super::references::{LOCAL, Standalone, without_definitions};
use super::super::warnings::Subject;
use super::super::{repaired, widen};
use super::api::Api;
use super::references::pointer;
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::naming;

/// The place of the named schemas in a document.
const SCHEMAS: &str = "/components/schemas/";

/// Annotations of OpenAPI that JSON Schema does not have.
const ANNOTATIONS: [&str; 2] = ["xml", "externalDocs"];

/// Formats of OpenAPI that do not limit the accepted values.
const EMPTY_FORMATS: [&str; 3] = ["password", "binary", "char"];

/// Formats of OpenAPI whose numbers are doubles.
const DOUBLES: [&str; 2] = ["float", "double"];

/// `$ref` and the annotations that may be beside it.
const BESIDE_REFERENCE: [&str; 5] = ["$ref", "description", "title", "deprecated", "summary"];

/// The maximum number of references in members of `allOf` that are followed from a schema to find its properties.
const MAX_MEMBERS: usize = 500;

/// The maximum number of sets and names of properties that are united for all references of a document.
const MAX_UNITED: usize = 2_000_000;

/// The maximum depth of references that are replaced by copies.
const MAX_DEPTH: usize = 16;

/// The maximum number of steps to a part of a schema. Copies inside copies may lead further than the document does, and a schema file
/// has at most 120 levels.
const MAX_STEPS: usize = 90;

/// The direction in which a value is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the service.
    Request,
    /// From the service.
    Response,
}

impl Direction {
    /// The keyword of properties that are only sent in the other direction.
    fn other(self) -> &'static str {
        match self {
            Self::Request => "readOnly",
            Self::Response => "writeOnly",
        }
    }
}

/// The properties of a schema that are only sent in the other direction.
#[derive(Default)]
struct HiddenProperties<'a> {
    /// Their names.
    names: BTreeSet<String>,
    /// The properties that the schema requires, of any direction.
    required: BTreeSet<String>,
    /// The schemas that it and the members of its `allOf` refer to, which may have more.
    members: Vec<&'a Json>,
}

/// The properties of a schema together with those of the schemas that it and the members of its `allOf` refer to.
#[derive(Default)]
struct United {
    /// The names of those that are only sent in the other direction.
    hidden: BTreeSet<String>,
    /// The properties that are required and not hidden.
    required: BTreeSet<String>,
    /// True if some are missing, as there are too many.
    is_cut: bool,
}

/// Reads schemas with everything that they refer to. A schema that several refer to is read only once.
pub(super) struct Reader<'a> {
    api: &'a Api,
    direction: Direction,
    /// The names of the targets of references, by their places.
    names: BTreeMap<String, String>,
    /// All names in use.
    taken: BTreeSet<String>,
    /// The last number that was tried for each name.
    numbers: BTreeMap<String, u32>,
    /// The places and names of the targets that have not been read yet.
    open: VecDeque<(String, String)>,
    /// The schemas of the document that were searched for hidden properties, by their addresses.
    hidden: BTreeMap<*const Json, Rc<HiddenProperties<'a>>>,
    /// The same with those of the schemas that they refer to, by their addresses.
    united: BTreeMap<*const Json, Rc<United>>,
    /// The number of sets and names that may still be united.
    left: usize,
    /// The definitions that have been read.
    pub(super) definitions: Definitions,
}

impl<'a> Reader<'a> {
    pub(super) fn new(api: &'a Api, direction: Direction) -> Self {
        let definitions = Definitions::default();
        Self {
            api,
            direction,
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            numbers: BTreeMap::new(),
            open: VecDeque::new(),
            hidden: BTreeMap::new(),
            united: BTreeMap::new(),
            left: MAX_UNITED,
            definitions,
        }
    }

    /// Reads a schema with the definitions that no earlier schema has reached.
    pub(super) fn read(&mut self, schema: Json, subject: &mut Subject<'_>) -> Standalone {
        let root = match self.repaired(schema, "", subject) {
            Json::Boolean(true) => Json::Object(Entries::new()),
            root => root,
        };
        let mut definitions = Entries::new();
        while let Some((place, name)) = self.open.pop_front() {
            let body = self.api.root.at(&place).cloned().unwrap_or(Json::Boolean(true));
            let body = self.repaired(body, &format!("/$defs/{name}"), subject);
            definitions.push((name, body));
        }
        self.definitions.add(Standalone { root, definitions }, subject)
    }

    fn repaired(&mut self, schema: Json, place: &str, subject: &mut Subject<'_>) -> Json {
        let dialect = self.api.dialect.of(&schema, subject);
        let schema = self.translated(schema, place, subject);
        repaired(schema, place, dialect, subject)
    }

    /// Translates a schema to JSON Schema from the top down, so that parts that are dropped are not read.
    fn translated(&mut self, schema: Json, at: &str, subject: &mut Subject<'_>) -> Json {
        if at.matches('/').count() > MAX_STEPS {
            let message = format!(
                "any value is accepted: the schema with the copies that it needs is more than {MAX_STEPS} steps deep"
            );
            subject.warn(at, message);
            return widen::anything();
        }
        let entries = match without_definitions(schema) {
            Json::Object(entries) => entries,
            other => return other,
        };
        let mut schema = Json::Object(self.translated_keywords(entries, at, subject));
        // The payload itself is made of parameters and a body, which are all sent.
        if self.direction == Direction::Response || !at.is_empty() {
            self.drop_other_direction(&mut schema, at, subject);
        }
        let Json::Object(entries) = schema else { return schema };
        let entries = entries.into_iter().map(|(keyword, value)| {
            if keyword == "$ref" {
                return self.reference(value, at, subject);
            }
            let mut part = |part: Json, at: &str| self.translated(part, at, subject);
            let value = each_part(&keyword, value, at, &mut part);
            (keyword, value)
        });
        let entries = entries.collect();
        if self.api.is_3_0 { nullable(entries) } else { Json::Object(entries) }
    }

    fn translated_keywords(
        &self,
        mut entries: Entries,
        at: &str,
        subject: &mut Subject<'_>,
    ) -> Entries {
        if take(&mut entries, "discriminator").is_some() {
            let message = "`discriminator` was left out: the values show which schema applies";
            subject.warn(at, message);
        }
        if self.api.is_3_0 && entries.iter().any(|(key, _)| key == "$ref") {
            // OpenAPI 3.0.3, "Reference Object": additional properties are ignored.
            entries.retain(|(key, _)| BESIDE_REFERENCE.contains(&key.as_str()));
        }
        entries.retain(|(key, _)| !key.starts_with("x-") && !ANNOTATIONS.contains(&key.as_str()));
        if let Some(example) = take(&mut entries, "example")
            && !entries.iter().any(|(key, _)| key == "examples")
        {
            entries.push(("examples".to_owned(), Json::Array(vec![example])));
        }
        format(&mut entries);
        entries
    }

    /// Makes properties that are only sent in the other direction optional, also in the members of `allOf` (OpenAPI 3.1,
    /// "Schema Object"). Requests lose them; responses may still have them.
    fn drop_other_direction(&mut self, schema: &mut Json, at: &str, subject: &mut Subject<'_>) {
        let mut own = HiddenProperties::default();
        self.add_hidden(schema, &mut own);
        let gone = self.united(own);
        let mut warn = |why: &str| {
            subject.warn(at, format!("properties of the other direction may be required: {why}"));
        };
        if gone.is_cut {
            warn("too many schemas apply to the same values");
        }
        if gone.hidden.is_empty() {
            return;
        }
        let word = self.direction.other();
        if let Json::Object(entries) = &mut *schema {
            let mut is_wider = false;
            for (key, value) in &mut *entries {
                match value {
                    Json::Object(properties)
                        if key == "properties" && self.direction == Direction::Request =>
                    {
                        let count = properties.len();
                        properties.retain(|(_, property)| !self.api.sets(property, word));
                        is_wider |= properties.len() < count;
                    }
                    _ => {}
                }
            }
            if is_wider {
                widen::mark_wider(entries);
            }
        }
        let mut left = MAX_MEMBERS;
        if let Err(why) = self.stop_requiring(schema, &gone.hidden, &mut left, 0) {
            warn(&why);
        }
    }

    /// Makes properties optional in a schema and in the members of its `allOf`. A reference to a schema that requires one becomes a
    /// copy of the schema, of which other uses stay as they are. `left` is the number of references that may be followed, `depth`
    /// that of the copies that the schema is in.
    fn stop_requiring(
        &mut self,
        schema: &mut Json,
        gone: &BTreeSet<String>,
        left: &mut usize,
        mut depth: usize,
    ) -> Result<(), String> {
        if let Some(target) = self.api.root.targets(schema).last() {
            *left = left.checked_sub(1).ok_or("it has too many references")?;
            if have_common(&self.united_at(target).required, gone) {
                if depth == MAX_DEPTH {
                    return Err(format!(
                        "its references lead through more than {MAX_DEPTH} schemas"
                    ));
                }
                self.api.count_copied(target)?;
                replace_reference(schema, target.clone(), self.hides_beside_reference());
                depth += 1;
            }
        }
        let Json::Object(entries) = schema else { return Ok(()) };
        stop_requiring(entries, gone);
        for (_, parts) in entries.iter_mut().filter(|(key, _)| key == "allOf") {
            let Json::Array(parts) = parts else { continue };
            for part in parts {
                self.stop_requiring(part, gone, left, depth)?;
            }
        }
        Ok(())
    }

    fn hides_beside_reference(&self) -> bool {
        self.api.is_3_0 || self.api.dialect.hides_beside_reference()
    }

    /// Returns the properties of a schema of the document together with those of the schemas that it refers to. They are united once.
    fn united_at(&mut self, schema: &'a Json) -> Rc<United> {
        if let Some(united) = self.united.get(&std::ptr::from_ref(schema)) {
            return Rc::clone(united);
        }
        let mut seen = BTreeSet::from([std::ptr::from_ref(schema)]);
        let mut all = vec![self.hidden_at(schema)];
        let (mut united, mut next) = (United::default(), 0);
        while let Some(one) = all.get(next).cloned() {
            next += 1;
            if !self.unite(&mut united.hidden, &one.names)
                || !self.unite(&mut united.required, &one.required)
            {
                united.is_cut = true;
                break;
            }
            for &target in &one.members {
                if all.len() > MAX_MEMBERS {
                    united.is_cut = true;
                    break;
                }
                if seen.insert(target) {
                    all.push(self.hidden_at(target));
                }
            }
        }
        let United { hidden, required, .. } = &mut united;
        required.retain(|name| !hidden.contains(name));
        let united = Rc::new(united);
        self.united.insert(schema, Rc::clone(&united));
        united
    }

    /// Returns the hidden properties of a schema that is not one of the document together with those of the schemas that it refers to.
    fn united(&mut self, own: HiddenProperties<'a>) -> United {
        let mut united = United { hidden: own.names, ..United::default() };
        for target in own.members {
            let of_target = self.united_at(target);
            united.is_cut |= of_target.is_cut;
            if !self.unite(&mut united.hidden, &of_target.hidden) {
                united.is_cut = true;
                break;
            }
        }
        united
    }

    /// Adds names to others. Returns false if too many have been added to any.
    fn unite(&mut self, all: &mut BTreeSet<String>, names: &BTreeSet<String>) -> bool {
        let Some(left) = self.left.checked_sub(1 + names.len()) else { return false };
        self.left = left;
        for name in names {
            if !all.contains(name) {
                all.insert(name.clone());
            }
        }
        true
    }

    /// Returns the hidden properties of a schema of the document. Each is searched once.
    fn hidden_at(&mut self, schema: &'a Json) -> Rc<HiddenProperties<'a>> {
        if let Some(hidden) = self.hidden.get(&std::ptr::from_ref(schema)) {
            return Rc::clone(hidden);
        }
        let mut hidden = HiddenProperties::default();
        self.add_hidden(schema, &mut hidden);
        let hidden = Rc::new(hidden);
        self.hidden.insert(schema, Rc::clone(&hidden));
        hidden
    }

    /// Adds the hidden properties of a schema and of the members of its `allOf`, except those of the schemas that they refer to.
    fn add_hidden(&self, schema: &Json, hidden: &mut HiddenProperties<'a>) {
        if let Some(target) = self.api.root.targets(schema).last() {
            hidden.members.push(target);
            if self.hides_beside_reference() {
                return;
            }
        }
        let Json::Object(entries) = schema else { return };
        hidden.required.extend(required(entries).map(str::to_owned));
        for (key, value) in entries {
            match value {
                Json::Object(properties) if key == "properties" => {
                    let word = self.direction.other();
                    let found = properties.iter().filter(|(_, one)| self.api.sets(one, word));
                    hidden.names.extend(found.map(|(name, _)| name.clone()));
                }
                Json::Array(parts) if key == "allOf" => {
                    for part in parts {
                        self.add_hidden(part, hidden);
                    }
                }
                _ => {}
            }
        }
    }

    /// Translates a reference to one to a definition.
    fn reference(&mut self, value: Json, at: &str, subject: &mut Subject<'_>) -> (String, Json) {
        let place = match &value {
            Json::String(reference) => pointer(reference),
            _ => Ok(String::new()),
        };
        match place.and_then(|place| self.target(&place, &value)) {
            Ok(name) => ("$ref".to_owned(), Json::String(format!("{LOCAL}{name}"))),
            Err(why) => {
                subject.warn(at, format!("any value is accepted: {why}"));
                widen::mark()
            }
        }
    }

    /// The name of the definition at a place that a reference leads to.
    fn target(&mut self, place: &str, reference: &Json) -> Result<String, String> {
        let target = self.api.root.at(place).filter(|_| !place.is_empty());
        let target = target
            .ok_or_else(|| format!("the reference {reference} leads to nothing in its document"))?;
        if own_name(place).is_none() && !self.names.contains_key(place) {
            self.api.count_copied(target)?;
        }
        Ok(self.name(place))
    }

    /// The name of the schema at a place: its own if it is a named schema, otherwise made of the last two steps of its path.
    fn name(&mut self, place: &str) -> String {
        if let Some(name) = self.names.get(place) {
            return name.clone();
        }
        let own = own_name(place);
        let last = || place.rsplit('/').take(2).collect::<Vec<_>>();
        let made = || {
            last().iter().rev().map(|step| String::from(naming::pascal(step))).collect::<String>()
        };
        let wanted = own.map_or_else(made, |name| unescaped(name).into_owned());
        let is_plain = !wanted.contains(['/', '~', '%']);
        let wanted = if is_plain { wanted } else { naming::pascal(&wanted).into() };
        let is_split =
            self.direction == Direction::Request && self.api.read_write_only.contains(&wanted);
        let wanted = if is_split { wanted + "Input" } else { wanted };
        let first = self.numbers.get(&wanted).copied().unwrap_or(1);
        let mut candidates = (first..).map(|number| match number {
            1 => (1, wanted.clone()),
            number => (number, format!("{wanted}{number}")),
        });
        let is_free = |(_, name): &(u32, String)| self.taken.insert(name.clone());
        let (number, name) = candidates.find(is_free).unwrap_or_default();
        self.numbers.insert(wanted, number);
        self.names.insert(place.to_owned(), name.clone());
        self.open.push_back((place.to_owned(), name.clone()));
        name
    }
}

/// The name of the named schema at a place; `None` for a schema inside another or elsewhere.
fn own_name(place: &str) -> Option<&str> {
    place.strip_prefix(SCHEMAS).filter(|rest| !rest.contains('/'))
}

/// The names in `required` and `dependentRequired` of a schema.
fn required(entries: &Entries) -> impl Iterator<Item = &str> {
    let lists = entries.iter().flat_map(|(key, value)| match value {
        Json::Array(_) if key == "required" => vec![value],
        Json::Object(lists) if key == "dependentRequired" => {
            lists.iter().map(|(_, names)| names).collect()
        }
        _ => Vec::new(),
    });
    let names = lists.filter_map(|list| match list {
        Json::Array(names) => Some(names),
        _ => None,
    });
    names.flatten().filter_map(|name| match name {
        Json::String(name) => Some(name.as_str()),
        _ => None,
    })
}

fn have_common(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    few.iter().any(|name| many.contains(name))
}

/// Replaces the reference of a schema by its target.
fn replace_reference(schema: &mut Json, target: Json, hides_others: bool) {
    match schema {
        Json::Object(entries) if entries.len() > 1 && !hides_others => {
            take(entries, "$ref");
            match entries.iter_mut().find(|(key, _)| key == "allOf") {
                Some((_, Json::Array(parts))) => parts.push(target),
                _ => entries.push(("allOf".to_owned(), Json::Array(vec![target]))),
            }
        }
        schema => *schema = target,
    }
}

/// Makes properties of a schema optional. `minProperties` is dropped, as it counts them.
fn stop_requiring(entries: &mut Entries, gone: &BTreeSet<String>) {
    let mut is_wider = take(entries, "minProperties").is_some();
    let is_gone = |name: &str| gone.contains(name);
    let mut retain = |names: &mut Vec<Json>| {
        let count = names.len();
        names.retain(|name| !matches!(name, Json::String(name) if is_gone(name)));
        is_wider |= names.len() < count;
    };
    for (key, value) in &mut *entries {
        match value {
            Json::Array(names) if key == "required" => retain(names),
            Json::Object(lists) if key == "dependentRequired" => {
                for (_, names) in lists {
                    if let Json::Array(names) = names {
                        retain(names);
                    }
                }
            }
            _ => {}
        }
    }
    if is_wider {
        widen::mark_wider(entries);
    }
}

/// Translates the formats of OpenAPI to those of the language or to `contentEncoding`.
fn format(entries: &mut Entries) {
    let Some(Json::String(format)) =
        entries.iter().find(|(key, _)| key == "format").map(|(_, value)| value.clone())
    else {
        return;
    };
    if IntegerFormat::from_name(&format).is_some() {
        if !has_type(entries, "integer") {
            take(entries, "format");
        }
    } else if DOUBLES.contains(&format.as_str()) {
        take(entries, "format");
        if has_type(entries, "number") {
            entries.push(("format".to_owned(), Json::string("double")));
        }
    } else if EMPTY_FORMATS.contains(&format.as_str()) {
        take(entries, "format");
    } else if format == "byte" {
        take(entries, "format");
        entries.push(("contentEncoding".to_owned(), Json::string("base64")));
    }
}

fn has_type(entries: &Entries, name: &str) -> bool {
    let is = |word: &Json| *word == Json::string(name);
    entries.iter().any(|(key, value)| {
        key == "type" && (is(value) || matches!(value, Json::Array(words) if words.iter().any(is)))
    })
}

/// Translates `nullable` of OpenAPI 3.0. By 3.0.3, "Schema Object", it has no effect without `type`, or if an `enum` does not
/// list null. Authors who write it so mean null all the same, so the result then accepts null and is marked as wider.
fn nullable(mut entries: Entries) -> Json {
    if take(&mut entries, "nullable") != Some(Json::Boolean(true)) {
        return Json::Object(entries);
    }
    let null = || Json::string("null");
    let only_null = Json::Object(vec![("type".to_owned(), null())]);
    let mut is_wider = false;
    let kind = entries.iter().position(|(key, _)| key == "type");
    let listed = entries.iter_mut().find(|(key, _)| key == "enum");
    match (kind, listed) {
        (Some(kind), listed) => {
            if let Some((_, Json::Array(values))) = listed
                && !values.contains(&Json::Null)
            {
                values.push(Json::Null);
                is_wider = true;
            }
            if let Json::String(word) = entries[kind].1.clone() {
                entries[kind].1 = Json::Array(vec![Json::String(word), null()]);
            }
            if is_wider {
                widen::mark_wider(&mut entries);
            }
            Json::Object(entries)
        }
        (None, _)
            if entries.iter().all(|(key, _)| {
                ["description", "title", "default", "examples"].contains(&key.as_str())
            }) =>
        {
            Json::Object(entries)
        }
        (None, _) => {
            let outside =
                |key: &str| ["description", "title", "default", "deprecated"].contains(&key);
            let (mut words, rest): (Entries, Entries) =
                entries.into_iter().partition(|(key, _)| outside(key));
            words.push(("anyOf".to_owned(), Json::Array(vec![Json::Object(rest), only_null])));
            widen::mark_wider(&mut words);
            Json::Object(words)
        }
    }
}
