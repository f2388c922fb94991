//! Checks payloads by JSON Schemas at run time: for tools that are discovered at run time, and for rules that generated
//! types cannot express.
//!
//! Numbers are compared exactly, as decimals. Patterns have the meaning of ECMA-262, formats that of
//! [`format`](crate::format). A check takes time proportional to payload × schema, and ends with an issue if it exceeds
//! a budget.

mod cache;
mod compile;
mod document;
mod draft;
mod evaluate;
mod explain;
mod keyword;
mod resolve;

use std::collections::HashMap;
use std::fmt;

use self::keyword::{Keyword, Node, NodeId};
use crate::issue::{InvalidPayload, Issue, MAX_STEPS};
use crate::json::utf8;
use crate::value::Value;

pub use self::draft::Draft;
pub use self::resolve::{LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS, resolve};

pub(crate) use self::document::Document;
pub(crate) use self::evaluate::Evaluation;

/// A compiled JSON Schema of the draft that its `$schema` names (4, 6, 7, 2019-09 or 2020-12), or 2020-12 without one.
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
    /// The dynamic anchors of each resource; empty if no reference is dynamic.
    anchors: Vec<Anchors>,
    has_unevaluated: bool,
}

impl Schema {
    /// Compiles the text of a schema.
    ///
    /// # Errors
    ///
    /// The first mistake of the schema. A reference to another document is a mistake, and so are patterns with more than 300,000
    /// steps together, and keys so long that the JSON Pointers of all schemas have more bytes than a mebibyte plus 64 times the length of the text.
    pub fn new(json: &str) -> Result<Self, SchemaError> {
        let mut steps = MAX_PATTERN_STEPS;
        Self::within(json, &mut steps)
    }

    /// Compiles the text of one of several schemas that share a limit: the steps of its patterns are subtracted from
    /// `pattern_steps`. A compiled step takes about a hundred bytes.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), with this limit of steps if it is lower.
    pub fn within(json: &str, pattern_steps: &mut u64) -> Result<Self, SchemaError> {
        let root: Value = json
            .parse()
            .map_err(|invalid: InvalidPayload| SchemaError::new("", invalid.to_string()))?;
        let given = (*pattern_steps).min(MAX_PATTERN_STEPS);
        let mut left = given;
        let (nodes, mut anchors) = compile::nodes(&root, most_pointer_bytes(json), &mut left)?;
        *pattern_steps -= given - left;
        let is_unevaluated = |keyword: &Keyword| {
            matches!(keyword, Keyword::UnevaluatedItems(_) | Keyword::UnevaluatedProperties(_))
        };
        let has_unevaluated = nodes.iter().any(|node| node.keywords.iter().any(is_unevaluated));
        let is_dynamic = |keyword: &Keyword| matches!(keyword, Keyword::DynamicRef(..));
        if !nodes.iter().any(|node| node.keywords.iter().any(is_dynamic)) {
            // Results are cached for each scope, and there may be many of them.
            anchors.clear();
        }
        Ok(Self { nodes, anchors, has_unevaluated })
    }

    /// The number of its schemas, keywords and key patterns. The check of a single valid value takes at most about
    /// twice as many steps, without those for comparing and matching texts.
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
    /// Every issue, or the place where the text stops being JSON.
    pub fn check(&self, json: &[u8]) -> Result<(), InvalidPayload> {
        let mut steps = MAX_STEPS;
        self.check_within(json, &mut steps)
    }

    /// Returns which of some alternatives of the root's `anyOf` is the first that a JSON text fits. They are given by their indices.
    /// None is found if the text is not JSON. Subtracts the steps from those that are left; if it takes all of them, none is found.
    /// Each byte of the text takes one, too, since a value may be read once for each choice around it.
    pub fn first_alternative(
        &self,
        json: &str,
        indices: impl IntoIterator<Item = usize>,
        steps: &mut u64,
    ) -> Option<usize> {
        let mut evaluation = Evaluation::within(self, *steps);
        let found = if evaluation.spend(json.len()) {
            let document = Document::read(json, 0)?;
            evaluation.choice(&document, 0, "anyOf", indices)
        } else {
            None
        };
        *steps = evaluation.steps();
        found.filter(|_| *steps > 0)
    }

    /// Checks a JSON text within a limit of steps, and subtracts the steps that were taken. A step is a keyword that is
    /// applied to a value, an item that is compared, or a byte of a string that is matched.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), and [`IssueKind::TooCostly`](crate::issue::IssueKind::TooCostly) if the limit is
    /// exceeded.
    pub fn check_within(&self, json: &[u8], steps: &mut u64) -> Result<(), InvalidPayload> {
        let text =
            utf8(json).map_err(|error| InvalidPayload::new(vec![Issue::new("", error.into())]))?;
        // Parsing also refuses duplicate keys, which are not the concern of schemas.
        text.parse::<Value>()?;
        let Some(document) = Document::read(text, 0) else { return Ok(()) };
        let mut evaluation = Evaluation::within(self, *steps);
        let fits = evaluation.fits(&document, ROOT, 0) && !evaluation.is_exhausted();
        let issues = if fits { Vec::new() } else { evaluation.explain(&document, 0) };
        *steps = evaluation.steps();
        if fits { Ok(()) } else { Err(InvalidPayload::new(issues)) }
    }
}

/// The most bytes that the JSON Pointers of a text's schemas may take together. The pointer of each schema begins with that of the
/// schema around it, so a long key around many schemas would be copied for each of them.
fn most_pointer_bytes(json: &str) -> usize {
    (1 << 20) + 64 * json.len()
}

/// The most steps of the patterns of a schema together, as in the schema files of a project.
const MAX_PATTERN_STEPS: u64 = 300_000;

/// The nodes of the dynamic anchors of a resource, by name.
type Anchors = HashMap<String, NodeId>;

/// The node of a whole schema.
pub(crate) const ROOT: NodeId = 0;

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("schemas", &self.nodes.len()).finish_non_exhaustive()
    }
}

/// A mistake in a schema. It displays as one short sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    pointer: String,
    message: String,
}

impl SchemaError {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }

    /// The place in the schema: a JSON Pointer (RFC 6901).
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The message, without the place.
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
