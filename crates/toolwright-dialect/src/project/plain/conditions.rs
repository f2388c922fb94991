//! Keywords that accept less if a schema in them accepts more, as `not`, or if a pattern of keys is missing, as `patternProperties`.
//! Where a dialect does not take a rule in such a schema, the whole keyword is left to the codec.

use std::collections::BTreeSet;

use toolwright::value::{Map, Value};

use super::{describe, has_strange_keys, has_strange_pattern};
use crate::canonical::{Part, parts, parts_mut, visit_in};
use crate::loss::LossKind;
use crate::project::Projector;
use crate::sentence::{self, beside};

/// Removes the conditions that would accept less.
pub(super) fn remove(projector: &mut Projector<'_>, schema: &mut Value) {
    let dialect = projector.dialect;
    let Value::Object(schema) = schema else { return };
    let has_strange_keys = |node: &Map<Value>| has_strange_keys(dialect, node);
    let loses = |node: &Map<Value>| {
        has_strange_pattern(dialect, node)
            || (dialect.items_required
                && !node.contains_key("items")
                && node.contains_key("unevaluatedItems"))
    };
    let mut is_lost = false;
    visit_in(schema, &mut |node, _| is_lost |= loses(node) || has_strange_keys(node));
    if !is_lost {
        return;
    }
    // What a reference leads to may lose a rule, too.
    let loses = |node: &Map<Value>| {
        REFERENCES.iter().any(|keyword| node.contains_key(keyword)) || loses(node)
    };
    let mut affected = Affected::of(schema, &has_strange_keys, &loses);
    // What a removed keyword evaluated is unevaluated now.
    let leaves_unevaluated = affected.evaluates();
    if leaves_unevaluated {
        let has_unevaluated =
            |node: &Map<Value>| UNEVALUATED.iter().any(|keyword| node.contains_key(keyword));
        let loses = |node: &Map<Value>| loses(node) || has_unevaluated(node);
        affected = Affected::of(schema, &has_strange_keys, &loses);
    }
    let mut removed = Vec::new();
    affected.remove(schema, "", &mut removed);
    if leaves_unevaluated {
        remove_unevaluated(schema, &mut String::new(), &mut removed);
    }
    let mut gone = None;
    for Removed { at, keyword, was, words } in removed {
        for keyword in std::iter::once(&keyword).chain(beside(keyword)) {
            gone = gone.or_else(|| projector.canonical.referred_in(&format!("{at}/{keyword}")));
        }
        if words.is_empty() {
            projector.lose(LossKind::Widening, &at, keyword, Value::Null, "anyOf", "T7");
        } else {
            projector.lose(LossKind::Enforcement, &at, keyword, was, &words, "T20");
        }
    }
    if let Some(gone) = gone {
        let reason = format!(
            "`#{gone}` is in a condition that the dialect does not take, and has a reference"
        );
        projector.refuse(gone, "T20", reason);
    }
}

/// Keywords with a reference.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The keywords about what no other keyword evaluates.
const UNEVALUATED: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];

/// A keyword that was removed, or an `oneOf` that became `anyOf`, which has no words.
struct Removed {
    at: String,
    keyword: &'static str,
    was: Value,
    words: String,
}

impl Removed {
    /// Removes a keyword of a node and those beside it; a sentence takes their place.
    fn of(node: &mut Map<Value>, at: &str, keyword: &'static str) -> Option<Self> {
        let words = sentence::of(keyword, node.get(keyword)?, node).unwrap_or_default();
        let was = node.remove(keyword)?;
        for keyword in beside(keyword) {
            node.remove(keyword);
        }
        describe(node, words.clone());
        Some(Self { at: at.to_owned(), keyword, was, words })
    }
}

/// The keywords of a schema that are to be removed, apart from those within each other.
struct Affected {
    keywords: BTreeSet<&'static str>,
    /// True if `oneOf` becomes `anyOf`.
    is_any_of: bool,
    /// Those of the schemas in it, by their position among its parts.
    inside: Vec<(usize, Affected)>,
    /// True if the schema accepts more values after the change, or after its own rules are removed.
    accepts_more: bool,
}

impl Affected {
    fn of(
        schema: &Map<Value>,
        has_strange_keys: &impl Fn(&Map<Value>) -> bool,
        loses: &impl Fn(&Map<Value>) -> bool,
    ) -> Self {
        let mut keywords = BTreeSet::new();
        if has_strange_keys(schema) {
            keywords.insert("patternProperties");
        }
        let mut accepts_more = loses(schema);
        let mut inside = Vec::new();
        for (position, part) in parts(schema).into_iter().enumerate() {
            let Value::Object(inner) = part.schema else { continue };
            let inner = Self::of(inner, has_strange_keys, loses);
            let condition = match part.keyword {
                "not" => Some("not"),
                "if" => Some("if"),
                "oneOf" => Some("oneOf"),
                "contains" if schema.contains_key("maxContains") => Some("contains"),
                _ => None,
            };
            match condition {
                Some(condition) if inner.accepts_more => drop(keywords.insert(condition)),
                _ => accepts_more |= inner.accepts_more,
            }
            if inner.changes() {
                inside.push((position, part.keyword, inner));
            }
        }
        accepts_more |= !keywords.is_empty();
        let is_any_of = !schema.contains_key("anyOf") && keywords.remove("oneOf");
        let is_removed = |inner: &str| {
            keywords.iter().any(|keyword| *keyword == inner || beside(keyword).contains(&inner))
        };
        inside.retain(|(_, keyword, _)| !is_removed(keyword));
        let inside = inside.into_iter().map(|(position, _, inner)| (position, inner)).collect();
        Self { keywords, is_any_of, inside, accepts_more }
    }

    fn changes(&self) -> bool {
        self.is_any_of || !self.keywords.is_empty() || !self.inside.is_empty()
    }

    /// Returns whether properties or items may be evaluated by a keyword that is to be removed.
    fn evaluates(&self) -> bool {
        self.keywords.iter().any(|keyword| *keyword != "not")
            || self.inside.iter().any(|(_, inner)| inner.evaluates())
    }

    /// Removes the keywords of this schema, innermost first.
    fn remove(self, schema: &mut Map<Value>, at: &str, removed: &mut Vec<Removed>) {
        let mut inside = self.inside.into_iter().peekable();
        for (position, part) in parts_mut(schema).into_iter().enumerate() {
            let Part { pointer, schema: Value::Object(inner), .. } = part else { continue };
            if let Some((_, affected)) = inside.next_if(|(affected, _)| *affected == position) {
                affected.remove(inner, &format!("{at}{pointer}"), removed);
            }
        }
        if self.is_any_of
            && let Some(alternatives) = schema.remove("oneOf")
        {
            schema.insert("anyOf", alternatives);
            let (at, words) = (at.to_owned(), String::new());
            removed.push(Removed { at, keyword: "oneOf", was: Value::Null, words });
        }
        for keyword in self.keywords {
            removed.extend(Removed::of(schema, at, keyword));
        }
    }
}

/// Removes all keywords about what no other keyword evaluates, with those in them.
fn remove_unevaluated(schema: &mut Map<Value>, at: &mut String, removed: &mut Vec<Removed>) {
    for keyword in UNEVALUATED {
        removed.extend(Removed::of(schema, at, keyword));
    }
    let outer = at.len();
    for part in parts_mut(schema) {
        let Value::Object(inner) = part.schema else { continue };
        at.push_str(&part.pointer);
        remove_unevaluated(inner, at, removed);
        at.truncate(outer);
    }
}
