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
mod remembered;
mod resolve;

use std::fmt;

use self::keyword::{Keyword, Node, NodeId};
use crate::issue::{InvalidPayload, Issue, MAX_STEPS};
use crate::json::text_of;
use crate::value::Value;

pub(crate) use self::document::Document;
pub(crate) use self::evaluate::Evaluation;

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

    /// Returns the number of its schemas, keywords and key patterns. A single valid value takes at most about twice as many
    /// steps, not counting comparisons and matching of texts.
    pub fn size(&self) -> usize {
        let patterns = |keyword: &Keyword| match keyword {
            Keyword::Properties(properties) => properties.patterns.len(),
            _ => 0,
        };
        let of_node = |node: &Node| {
            1 + node.keywords.iter().map(|keyword| 1 + patterns(keyword)).sum::<usize>()
        };
        self.nodes.iter().map(of_node).sum()
    }

    /// Checks a JSON text.
    ///
    /// # Errors
    ///
    /// Every issue, or the one place where the text stops being JSON.
    pub fn check(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        let mut steps = MAX_STEPS;
        self.check_within(json, &mut steps)
    }

    /// Checks a JSON text in so many steps, and takes off those that were needed. One is a keyword on a value, an item that
    /// is compared, or a byte of a string that is matched.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), and [`IssueKind::TooCostly`](crate::issue::IssueKind::TooCostly) where the steps do not suffice.
    pub fn check_within(&self, json: &[u8], steps: &mut u64) -> Result<(), InvalidPayload> {
        let text =
            text_of(json).map_err(|stop| InvalidPayload::new(vec![Issue::new("", stop.into())]))?;
        // Also refuses keys that stand twice, which a schema knows nothing of.
        text.parse::<Value>()?;
        let Some(document) = Document::read(text, 0) else { return Ok(()) };
        let mut evaluation = Evaluation::within(self, *steps);
        let fits = evaluation.fits(&document, ROOT, 0) && !evaluation.is_exhausted();
        let issues = if fits { Vec::new() } else { evaluation.explain(&document, 0) };
        *steps = evaluation.steps();
        if fits { Ok(()) } else { Err(InvalidPayload::new(issues)) }
    }
}

/// The node of a whole schema.
pub(crate) const ROOT: NodeId = 0;

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("schemas", &self.nodes.len()).finish_non_exhaustive()
    }
}

/// An error in a schema. It displays as one short sentence.
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

    /// The message, without its place.
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
