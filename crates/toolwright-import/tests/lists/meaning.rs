//! Compares an imported schema with the server's, through their references. They may only differ in what the importer
//! documents. It uses none of the importer's code.

use std::collections::BTreeSet;

use toolwright::untrusted::visible;
use toolwright_codegen::internal::Json;
use toolwright_import::Warning;

/// Keywords that an import drops, as they do not change which values are accepted.
const BOOKKEEPING: [&str; 5] = ["$schema", "$id", "$anchor", "$defs", "definitions"];

const ONE: [&str; 12] = [
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "additionalItems",
];
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// The two schemas of a tool's arguments or result.
pub(crate) struct Comparison<'a> {
    /// True if the order of keys is compared too.
    pub(crate) is_ordered: bool,
    /// The server's schema.
    pub(crate) theirs: &'a Json,
    /// The imported schema.
    pub(crate) ours: &'a Json,
    /// The types of the imported file.
    pub(crate) types: Option<&'a Json>,
    /// The tool and `args` or `result`, as warnings name them.
    pub(crate) place: String,
    /// The warnings of the import.
    pub(crate) warnings: &'a [Warning],
    /// Pairs of schemas whose comparison has begun, by their addresses.
    pub(crate) seen: BTreeSet<(usize, usize)>,
}

impl<'a> Comparison<'a> {
    /// Panics if the schemas differ.
    pub(crate) fn run(mut self) {
        let (theirs, ours) = (self.theirs, self.ours);
        match ours {
            Json::String(name) => self.schemas(theirs, self.type_of(name), ""),
            ours => self.schemas(theirs, ours, ""),
        }
    }

    fn schemas(&mut self, theirs: &'a Json, ours: &'a Json, at: &str) {
        if !self.seen.insert((address(theirs), address(ours))) {
            return;
        }
        let ours_target = ours.get("$ref").map(|to| self.our_target(to));
        let theirs_target = theirs.get("$ref").map(|to| self.their_target(to));
        match (theirs_target, ours_target) {
            (Some(theirs_target), Some(ours_target)) => {
                self.schemas(theirs_target, ours_target, at);
                self.keywords(theirs, ours, at);
            }
            // The import may replace a schema by a reference, or a reference by its target.
            (Some(target), None) => self.schemas(target, ours, at),
            (None, Some(target)) => self.schemas(theirs, target, at),
            (None, None) => self.keywords(theirs, ours, at),
        }
    }

    fn keywords(&mut self, theirs: &'a Json, ours: &'a Json, at: &str) {
        let (Json::Object(theirs), Json::Object(ours)) = (theirs, ours) else {
            assert_eq!(theirs, ours, "{} {at}", self.place);
            return;
        };
        let kept = theirs.iter().filter(|(key, _)| {
            !BOOKKEEPING.contains(&key.as_str()) && key != "$ref" && !self.has_warning(key, ours)
        });
        let kept: Vec<_> = kept.collect();
        let ours: Vec<_> =
            ours.iter().filter(|(key, _)| !["$defs", "$ref"].contains(&key.as_str())).collect();
        let keys = |entries: &[&'a (String, Json)]| {
            entries.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()
        };
        let (kept, ours) = (self.in_order(kept), self.in_order(ours));
        assert_eq!(keys(&kept), keys(&ours), "{} {at}", self.place);
        for ((key, theirs), (_, ours)) in kept.into_iter().zip(ours) {
            self.values(key, theirs, ours, &format!("{at}/{key}"));
        }
    }

    fn values(&mut self, key: &str, theirs: &'a Json, ours: &'a Json, at: &str) {
        match (theirs, ours) {
            (Json::Object(theirs), Json::Object(ours)) if NAMED.contains(&key) => {
                assert_eq!(theirs.len(), ours.len(), "{} {at}", self.place);
                let [theirs, ours] = [theirs, ours].map(|all| self.in_order(all.iter().collect()));
                for ((name, theirs), (our_name, ours)) in theirs.into_iter().zip(ours) {
                    assert_eq!(name, our_name, "{} {at}", self.place);
                    self.schemas(theirs, ours, &format!("{at}/{name}"));
                }
            }
            (Json::Array(theirs), Json::Array(ours)) if LIST.contains(&key) => {
                assert_eq!(theirs.len(), ours.len(), "{} {at}", self.place);
                for (theirs, ours) in theirs.iter().zip(ours) {
                    self.schemas(theirs, ours, at);
                }
            }
            (theirs, ours) if ONE.contains(&key) => self.schemas(theirs, ours, at),
            // The import replaces invisible characters in texts.
            (Json::String(theirs), Json::String(ours))
                if ["description", "title"].contains(&key) =>
            {
                assert_eq!(visible(theirs), *ours, "{} {at}", self.place);
            }
            (theirs, ours) => assert!(same(theirs, ours), "{} {at}: {theirs} {ours}", self.place),
        }
    }

    /// The entries in the order for the comparison.
    fn in_order(&self, mut entries: Vec<&'a (String, Json)>) -> Vec<&'a (String, Json)> {
        if !self.is_ordered {
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        entries
    }

    /// Returns whether a keyword is missing and a warning about this schema names it.
    fn has_warning(&self, key: &str, ours: &[(String, Json)]) -> bool {
        let names_it = |warning: &Warning| {
            warning.message.contains(&format!("`{key}`"))
                || warning.message.contains(&format!("`{key}: "))
        };
        let is_here =
            |warning: &Warning| warning.places.iter().any(|at| at.starts_with(&self.place));
        ours.iter().all(|(kept, _)| kept != key)
            && self.warnings.iter().any(|warning| names_it(warning) && is_here(warning))
    }

    fn their_target(&self, reference: &Json) -> &'a Json {
        follow(self.theirs, text(reference).strip_prefix('#').expect("a local reference"))
    }

    fn our_target(&self, reference: &Json) -> &'a Json {
        match text(reference).strip_prefix('#') {
            Some(pointer) => follow(self.ours, pointer),
            None => self.type_of(text(reference)),
        }
    }

    fn type_of(&self, name: &str) -> &'a Json {
        self.types.and_then(|types| types.get(name)).expect("the type is there")
    }
}

fn follow<'a>(root: &'a Json, pointer: &str) -> &'a Json {
    pointer.split('/').skip(1).fold(root, |value, step| match value {
        Json::Array(items) => &items[step.parse::<usize>().expect("an index")],
        value => value.get(&step.replace("~1", "/").replace("~0", "~")).expect("a target"),
    })
}

fn text(value: &Json) -> &str {
    let Json::String(text) = value else { panic!("{value} is not a text") };
    text
}

fn address(value: &Json) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Returns whether two values are equal. Numbers are compared by value.
fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one.parse::<f64>() == other.parse::<f64>(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let pair = |(one, other): (&(String, Json), &(String, Json))| {
                one.0 == other.0 && same(&one.1, &other.1)
            };
            one.len() == other.len() && one.iter().zip(other).all(pair)
        }
        _ => one == other,
    }
}
