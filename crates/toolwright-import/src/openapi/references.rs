//! Follows references inside an OpenAPI document. Other documents are not fetched.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use toolwright::pointer::from_fragment;

use super::super::references::SortedKeys;
use super::is_set;
use toolwright_codegen::internal::Json;

/// The maximum number of references that are followed from one place, as they may form a cycle.
const MAX_STEPS: usize = 16;

/// The maximum number of schemas that are read to find the kinds of a value.
const MAX_APPLIED: usize = 500;

/// The types of JSON Schema whose values have parts.
const ARRAY: &str = "array";
pub(super) const OBJECT: &str = "object";

/// The value of a whole document.
pub(super) struct Root {
    value: Json,
    keys: SortedKeys,
    /// The references that were followed to look for a key, by key: true if the schema at the end sets it to `true`.
    setting: RefCell<BTreeMap<&'static str, BTreeMap<String, bool>>>,
    /// Of the schemas that references lead to, by address: whether they may be an [`ARRAY`] or an [`OBJECT`].
    kinds: RefCell<BTreeMap<usize, BTreeSet<&'static str>>>,
}

impl Root {
    pub(super) fn new(value: Json) -> Self {
        Self {
            value,
            keys: SortedKeys::default(),
            setting: RefCell::default(),
            kinds: RefCell::default(),
        }
    }

    /// The value under a key of the document.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.value.get(key)
    }

    /// The entries of the object under a key; none if there is no object.
    pub(super) fn entries(&self, key: &str) -> &[(String, Json)] {
        super::entries(&self.value, key)
    }

    /// The value that a JSON Pointer leads to (RFC 6901).
    pub(super) fn at(&self, pointer: &str) -> Option<&Json> {
        self.keys.at(&self.value, pointer)
    }

    /// Returns whether a schema of the document, or one that it refers to, sets a key to `true`.
    pub(super) fn sets(&self, schema: &Json, key: &'static str) -> bool {
        if is_set(schema, key) {
            return true;
        }
        let Some(Json::String(reference)) = schema.get("$ref") else { return false };
        let mut setting = self.setting.borrow_mut();
        let of_key = setting.entry(key).or_default();
        if let Some(is_set) = of_key.get(reference) {
            return *is_set;
        }
        let is_set = self.targets(schema).any(|target| is_set(target, key));
        of_key.insert(reference.clone(), is_set);
        is_set
    }

    /// The schemas at the ends of a schema's references, one after the other.
    pub(super) fn targets<'a>(&'a self, schema: &Json) -> impl Iterator<Item = &'a Json> + use<'a> {
        let next = |schema: &Json| {
            let Some(Json::String(reference)) = schema.get("$ref") else { return None };
            self.at(&pointer(reference).ok()?)
        };
        std::iter::successors(next(schema), move |schema| next(schema)).take(MAX_STEPS - 1)
    }

    /// Returns a schema with those that it refers to or has in `allOf`, `anyOf` and `oneOf`, and whether there are more than
    /// [`MAX_APPLIED`], which are left out.
    pub(super) fn applied<'a>(&'a self, schema: &'a Json) -> (Vec<&'a Json>, bool) {
        let mut seen = BTreeSet::from([std::ptr::from_ref(schema)]);
        let mut found = vec![schema];
        let mut next = 0;
        while let Some(&schema) = found.get(next) {
            next += 1;
            for one in self.targets(schema).take(1).chain(members(schema)) {
                if found.len() == MAX_APPLIED {
                    return (found, true);
                }
                if seen.insert(std::ptr::from_ref(one)) {
                    found.push(one);
                }
            }
        }
        (found, false)
    }

    /// Returns the kinds, [`ARRAY`] and [`OBJECT`], that a schema, or one that applies to the same values, says that they may be of;
    /// both if there are too many schemas to tell.
    pub(super) fn kinds(&self, schema: &Json) -> BTreeSet<&'static str> {
        let mut known = self.kinds.borrow_mut();
        let mut open = vec![schema];
        let mut kinds = BTreeSet::new();
        while let Some(schema) = open.pop().filter(|_| kinds.len() < 2) {
            kinds.extend(said_kinds(schema));
            if let Some(target) = self.targets(schema).next() {
                let of_target = known
                    .entry(std::ptr::from_ref(target).addr())
                    .or_insert_with(|| self.kinds_of(target));
                kinds.extend(of_target.iter());
            }
            open.extend(members(schema));
        }
        kinds
    }

    fn kinds_of(&self, schema: &Json) -> BTreeSet<&'static str> {
        match self.applied(schema) {
            (_, true) => BTreeSet::from([ARRAY, OBJECT]),
            (applied, false) => applied.into_iter().flat_map(said_kinds).collect(),
        }
    }

    /// Follows the references of a value, if it is one. Returns a message if they lead nowhere.
    pub(super) fn follow<'a>(&'a self, value: &'a Json) -> Result<&'a Json, String> {
        let mut value = value;
        for _ in 0..MAX_STEPS {
            let Some(Json::String(reference)) = value.get("$ref") else { return Ok(value) };
            let pointer = pointer(reference)?;
            value = self
                .at(&pointer)
                .ok_or_else(|| format!("the reference {reference} leads to nothing"))?;
        }
        Err("its references lead in a circle".to_owned())
    }
}

/// The members of a schema that apply to the same values.
fn members(schema: &Json) -> impl Iterator<Item = &Json> {
    let members = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| match schema.get(key) {
        Some(Json::Array(members)) => Some(members),
        _ => None,
    });
    members.flatten()
}

/// The kinds, [`ARRAY`] and [`OBJECT`], that a schema itself says its values may have.
fn said_kinds(schema: &Json) -> impl Iterator<Item = &'static str> {
    let says = |(kind, keyword): &(&str, &str)| {
        let is_kind = |word: &Json| matches!(word, Json::String(word) if word == kind);
        let of_type = match schema.get("type") {
            Some(Json::Array(words)) => words.iter().any(is_kind),
            word => word.is_some_and(is_kind),
        };
        of_type || schema.get(keyword).is_some()
    };
    [(ARRAY, "items"), (OBJECT, "properties")].into_iter().filter(says).map(|(kind, _)| kind)
}

/// The JSON Pointer of a reference inside the document. Returns a message for any other reference.
pub(super) fn pointer(reference: &str) -> Result<String, String> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Err(format!(
            "it refers to another document, {reference}; put both into one file first"
        ));
    };
    let pointer = from_fragment(fragment).filter(|pointer| pointer.starts_with('/'));
    pointer.ok_or_else(|| {
        format!("{reference} is not a reference to a place; expected one such as #/components/schemas/Pet")
    })
}
