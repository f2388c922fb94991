//! JSON Schemas that are checked as they are: those of tools met at run time, and what no generated type says.
//!
//! Exact where doubles are not: numbers compare as decimals, patterns mean what ECMA-262 says, formats what
//! [`format`](crate::format) says. Checking takes time in proportion to payload × schema, and ends with an issue where
//! that is more than a budget.

mod compile;
mod document;
mod evaluate;
mod explain;
mod keyword;
mod resolve;

use std::collections::BTreeSet;
use std::fmt;

use self::explain::Explanation;
use self::keyword::{Keyword, Node, NodeId, Properties};
use crate::codec::{Kind, from_json};
use crate::issue::{InvalidPayload, Issue, IssueKind};
use crate::value::Value;

pub(crate) use self::document::Document;
pub(crate) use self::evaluate::Evaluation;

/// How many steps checking one payload may take.
const MAX_STEPS: u64 = 20_000_000;

/// A JSON Schema, compiled: of draft 4, 6, 7, 2019-09 or 2020-12, as its `$schema` says; of 2020-12 if it says nothing.
///
/// It never fetches anything.
///
/// ```
/// use toolwright::schema::Schema;
///
/// let schema = Schema::new(r#"{"type": "number", "multipleOf": 0.01}"#)?;
/// assert!(schema.check(b"19.99").is_ok());
/// assert_eq!(
///     schema.check(b"1.005").unwrap_err().to_string(),
///     "the payload: found 1.005, expected a multiple of 0.01"
/// );
/// # Ok::<(), toolwright::schema::SchemaError>(())
/// ```
pub struct Schema {
    nodes: Vec<Node>,
    /// The dynamic anchors of each resource.
    anchors: Vec<Vec<(String, NodeId)>>,
    has_unevaluated: bool,
}

impl Schema {
    /// Compiles the text of a schema.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong with it; also a reference to what is outside of it.
    pub fn new(json: &str) -> Result<Self, SchemaError> {
        let root: Value = json
            .parse()
            .map_err(|invalid: InvalidPayload| SchemaError::new("", invalid.to_string()))?;
        let (nodes, anchors) = compile::nodes(&root)?;
        let is_unevaluated = |keyword: &Keyword| {
            matches!(keyword, Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_))
        };
        let has_unevaluated = nodes.iter().any(|node| node.keywords.iter().any(is_unevaluated));
        Ok(Self { nodes, anchors, has_unevaluated })
    }

    /// Checks a JSON text.
    ///
    /// # Errors
    ///
    /// Every issue, or the one place where the text stops being JSON.
    pub fn check(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        self.check_within(json, &mut MAX_STEPS.clone())
    }

    /// Checks a JSON text in so many steps, and takes off those that were needed. One is a keyword on a value, an item that
    /// is compared, or a byte of a string that is matched.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), and [`IssueKind::TooCostly`] where the steps do not suffice.
    pub fn check_within(&self, json: &[u8], steps: &mut u64) -> Result<(), InvalidPayload> {
        // Also refuses keys that stand twice, which a schema knows nothing of.
        from_json::<Value>(json)?;
        let text = str::from_utf8(json).unwrap_or_default();
        let Some(document) = Document::read(text, 0) else { return Ok(()) };
        let mut evaluation = Evaluation::within(self, *steps);
        let fits = evaluation.fits(&document, ROOT, 0) && !evaluation.is_exhausted();
        let issues = if fits { Vec::new() } else { evaluation.explain(&document, 0) };
        *steps = evaluation.steps();
        if fits { Ok(()) } else { Err(InvalidPayload::new(issues)) }
    }

    /// The keys that a node names.
    fn keys(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let properties = self.nodes[node].keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Properties(properties) => Some(properties),
            _ => None,
        });
        properties.flat_map(Properties::keys)
    }

    /// The kinds that the `type` of a node names, or that of the schema it refers to.
    fn kinds(&self, node: NodeId) -> Option<&[Kind]> {
        let mut node = node;
        // A circle of references has no kind.
        for _ in 0..self.nodes.len() {
            let keywords = &self.nodes[node].keywords;
            let kinds = keywords.iter().find_map(|keyword| match keyword {
                Keyword::Type(kinds) => Some(kinds.as_slice()),
                _ => None,
            });
            let target = keywords.iter().find_map(|keyword| match keyword {
                Keyword::Ref(target) => Some(*target),
                _ => None,
            });
            match (kinds, target) {
                (None, Some(target)) => node = target,
                (kinds, _) => return kinds,
            }
        }
        None
    }

    /// Whether a node looks at an entry of the object that it judges.
    fn mentions(&self, node: NodeId, key: &str) -> bool {
        let (mut waiting, mut seen) = (vec![node], BTreeSet::new());
        while let Some(node) = waiting.pop() {
            if !seen.insert(node) {
                continue;
            }
            for keyword in &self.nodes[node].keywords {
                match keyword {
                    Keyword::Properties(properties) if properties.named(key).is_some() => {
                        return true;
                    }
                    Keyword::Required(keys) if keys.declared.iter().any(|known| known == key) => {
                        return true;
                    }
                    Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                        waiting.extend(nodes);
                    }
                    Keyword::Not(node, _) | Keyword::Ref(node) => waiting.push(*node),
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether a node is `false`.
    fn is_never(&self, node: NodeId) -> bool {
        matches!(self.nodes[node].keywords.as_slice(), [Keyword::Never])
    }
}

/// The node of a whole schema.
pub(crate) const ROOT: NodeId = 0;

impl Evaluation<'_> {
    /// Why a value does not fit the root. Pointers begin at the value.
    pub(crate) fn explain(&mut self, document: &Document<'_>, item: usize) -> Vec<Issue> {
        self.explained(document, item, |explanation| explanation.node(ROOT, item))
    }

    /// Which of some keywords of the root a value does not fit, where something is known to be wrong under these keys.
    pub(crate) fn explain_only(
        &mut self,
        document: &Document<'_>,
        item: usize,
        names: &[&str],
        doubtful: &[&str],
    ) -> Vec<Issue> {
        self.explained(document, item, |explanation| explanation.root(item, names, doubtful))
    }

    fn explained(
        &mut self,
        document: &Document<'_>,
        item: usize,
        tell: impl FnOnce(&mut Explanation<'_, '_, '_>),
    ) -> Vec<Issue> {
        let mut explanation = Explanation::new(self, document, item);
        tell(&mut explanation);
        let issues = explanation.into_issues();
        if self.is_exhausted() {
            return vec![Issue::new("", IssueKind::TooCostly { limit: self.limit() })];
        }
        issues
    }

    /// The first of the root's choices under a keyword (`anyOf` or `oneOf`), in the order asked for, that a value fits.
    pub(crate) fn choice(
        &mut self,
        document: &Document<'_>,
        item: usize,
        keyword: &str,
        order: impl IntoIterator<Item = usize>,
    ) -> Option<usize> {
        let schema = self.schema;
        let choices = schema.nodes[ROOT].keywords.iter().find_map(|known| match known {
            Keyword::AnyOf(choices) | Keyword::OneOf(choices) if known.name() == keyword => {
                Some(choices)
            }
            _ => None,
        })?;
        order.into_iter().find(|index| {
            choices.get(*index).is_some_and(|choice| self.fits(document, *choice, item))
        })
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("schemas", &self.nodes.len()).finish_non_exhaustive()
    }
}

/// What is wrong with a schema. It displays as one short sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    pointer: String,
    message: String,
}

impl SchemaError {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// Where in the schema: a JSON Pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is wrong there.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => out.write_str(&self.message),
            pointer => write!(out, "`{pointer}`: {}", self.message),
        }
    }
}

impl std::error::Error for SchemaError {}

/// The drafts of JSON Schema, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// The draft of a meta-schema.
    fn of_uri(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#');
        let (_, name) = uri.split_once("://")?;
        Some(match name {
            "json-schema.org/draft-04/schema" => Self::D4,
            "json-schema.org/draft-06/schema" => Self::D6,
            "json-schema.org/draft-07/schema" => Self::D7,
            "json-schema.org/draft/2019-09/schema" => Self::D2019,
            "json-schema.org/draft/2020-12/schema" => Self::D2020,
            _ => return None,
        })
    }
}
