//! Evaluates whether a value fits a schema, in time proportional to payload × schema.
//!
//! A schema that is referenced several times would be evaluated several times for the same value, which doubles at
//! every level of a recursive choice. So results are cached by schema and value.

mod unevaluated;

use std::collections::HashMap;
use std::sync::Arc;

use super::cache::{Cache, ExplanationCache, Key, MAX_CACHED};
use super::document::{Content, Document};
use super::keyword::{Contains, Keyword, NodeId, Properties};
use super::{ROOT, Schema};
use crate::json::{BYTES_PER_STEP, quoted};
use crate::pattern::Pattern;
use crate::value::{Decimal, repeated_items};

/// The maximum nesting of schemas that are evaluated inside each other.
pub(super) const MAX_NESTING: usize = 640;

/// The evaluation of a schema for the values of one document.
pub(crate) struct Evaluation<'s> {
    pub(super) schema: &'s Schema,
    results: Cache<bool>,
    /// For each node and value, the children that the node evaluates.
    evaluated: Cache<Arc<[bool]>>,
    /// The cache of explanations.
    pub(super) explanations: ExplanationCache,
    /// True if every result is cached, not only those of schemas with several uses.
    pub(super) caches_all: bool,
    /// The steps that are left; at zero, results are not reliable.
    steps: u64,
    /// The initial number of steps.
    limit: u64,
    nesting: usize,
    /// True if schemas were nested too deep to be evaluated.
    is_too_deep: bool,
    /// The entered resources that have dynamic anchors, outermost first, each once.
    scope: Vec<usize>,
    /// The number of each scope so far, by the number of the outer scope and the last resource. The empty scope is
    /// zero.
    scopes: HashMap<(usize, usize), usize>,
    scope_number: usize,
}

impl<'s> Evaluation<'s> {
    /// Creates an evaluation with a limit of steps.
    pub(crate) fn within(schema: &'s Schema, steps: u64) -> Self {
        Self {
            schema,
            results: HashMap::default(),
            evaluated: HashMap::default(),
            explanations: ExplanationCache::default(),
            caches_all: schema.has_unevaluated,
            steps,
            limit: steps,
            nesting: 0,
            is_too_deep: false,
            scope: Vec::new(),
            scopes: HashMap::new(),
            scope_number: 0,
        }
    }

    /// Returns true if no steps are left, so that results are not reliable.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps == 0
    }

    /// The number of steps that are left.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Sets the number of steps that are left, for a budget that is shared with others.
    pub(crate) fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// The initial number of steps.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns true if the evaluation ended because schemas were nested too deep.
    pub(super) fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// Subtracts steps from the budget, and returns true if some are left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps as u64);
        self.steps > 0
    }

    /// The cache key of a node and a value in the current scope.
    pub(super) fn key(&self, node: NodeId, item: usize) -> Key {
        let part = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (part(node), part(item), part(self.scope_number))
    }

    /// Returns true if a value fits a node.
    pub(crate) fn fits(&mut self, document: &Document<'_>, node: NodeId, item: usize) -> bool {
        let schema = self.schema;
        let body = &schema.nodes[node];
        let has_steps = self.spend(1);
        if !has_steps || body.keywords.is_empty() {
            return has_steps;
        }
        let outer = self.enter(body.resource);
        let key = self.key(node, item);
        let is_cached = self.caches_all || body.uses > 1;
        let result = match if is_cached { self.results.get(&key).copied() } else { None } {
            Some(result) => result,
            None if !self.spend(body.keywords.len()) || self.nesting == MAX_NESTING => {
                self.is_too_deep |= self.nesting == MAX_NESTING;
                self.steps = 0;
                false
            }
            None => {
                self.nesting += 1;
                let fits =
                    body.keywords.iter().all(|keyword| self.holds(document, keyword, node, item));
                self.nesting -= 1;
                if is_cached && self.steps > 0 && self.results.len() < MAX_CACHED {
                    self.results.insert(key, fits);
                }
                fits
            }
        };
        self.leave(outer);
        result
    }

    /// Returns the first choice of the root's `anyOf` or `oneOf` that a value fits, in the given order.
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

    /// Enters a resource, if it has dynamic anchors and was not entered already. Returns the outer scope, for
    /// [`leave`](Self::leave). Beyond a number of scopes no steps are left.
    pub(super) fn enter(&mut self, resource: usize) -> usize {
        let outer = self.scope_number;
        let matters = self.schema.anchors.get(resource).is_some_and(|anchors| !anchors.is_empty());
        if matters && !self.scope.contains(&resource) {
            self.scope.push(resource);
            let next = self.scopes.len() + 1;
            self.scope_number = *self.scopes.entry((outer, resource)).or_insert(next);
            if self.scopes.len() > MAX_CACHED {
                self.steps = 0;
            }
        }
        outer
    }

    pub(super) fn leave(&mut self, outer: usize) {
        if self.scope_number != outer {
            self.scope.pop();
            self.scope_number = outer;
        }
    }

    /// Returns true if a value fits a keyword of a node.
    pub(super) fn holds(
        &mut self,
        document: &Document<'_>,
        keyword: &Keyword,
        node: NodeId,
        item: usize,
    ) -> bool {
        match (keyword, document.content(item)) {
            // Visiting an entry or item takes a step.
            (keyword, Content::Array(count) | Content::Object(count))
                if keyword.visits_children() && !self.spend(*count) =>
            {
                false
            }
            (Keyword::AllOf(schemas), _) => {
                schemas.iter().all(|schema| self.fits(document, *schema, item))
            }
            (Keyword::AnyOf(schemas), _) => {
                schemas.iter().any(|schema| self.fits(document, *schema, item))
            }
            (Keyword::OneOf(schemas), _) => {
                schemas.iter().filter(|schema| self.fits(document, **schema, item)).count() == 1
            }
            (Keyword::Not(schema, _), _) => !self.fits(document, *schema, item),
            (Keyword::If { condition, then, otherwise }, _) => {
                let branch = if self.fits(document, *condition, item) { then } else { otherwise };
                branch.is_none_or(|branch| self.fits(document, branch, item))
            }
            (Keyword::Ref(schema), _) => self.fits(document, *schema, item),
            (Keyword::DynamicRef(schema, anchor), _) => {
                self.spend(self.scope.len());
                let schema = self.dynamic(anchor).unwrap_or(*schema);
                self.fits(document, schema, item)
            }
            (Keyword::PrefixItems(schemas), Content::Array(_)) => schemas
                .iter()
                .zip(document.children(item))
                .all(|(schema, item)| self.fits(document, *schema, item)),
            (Keyword::Items(from, schema), Content::Array(_)) => {
                document.children(item).skip(*from).all(|item| self.fits(document, *schema, item))
            }
            (Keyword::Contains(contains), Content::Array(_)) => {
                self.contains(document, contains, item)
            }
            (Keyword::Properties(properties), Content::Object(_)) => {
                document.children(item).all(|entry| self.entry_fits(document, properties, entry))
            }
            (Keyword::PropertyNames(schema), Content::Object(_)) => {
                document.children(item).all(|entry| self.key_fits(document, *schema, entry))
            }
            (Keyword::DependentSchemas(schemas), Content::Object(_)) => {
                document.children(item).all(|entry| match schemas.get(document.key(entry)) {
                    Some(schema) => self.fits(document, *schema, item),
                    None => true,
                })
            }
            (Keyword::UnevaluatedItems(schema) | Keyword::UnevaluatedProperties(schema), _) => {
                let rest = self.unevaluated(document, keyword, node, item, false);
                rest.into_iter().all(|child| self.fits(document, *schema, child))
            }
            _ => self.asserts(document, keyword, item),
        }
    }

    /// Returns true if a value fits a keyword without subschemas.
    fn asserts(&mut self, document: &Document<'_>, keyword: &Keyword, item: usize) -> bool {
        let content = document.content(item);
        let bytes = match content {
            Content::Number(number) => number.len(),
            Content::String(text) => text.len() / BYTES_PER_STEP,
            _ => 0,
        };
        if !self.spend(bytes) {
            return false;
        }
        match (keyword, content) {
            (Keyword::Never, _) => false,
            (Keyword::Type(kinds), _) => kinds.iter().any(|kind| document.is(item, *kind)),
            (Keyword::Enum(constants) | Keyword::Const(constants), _) => {
                self.spend(constants.cost(document, item)) && constants.has(document, item)
            }
            (Keyword::Minimum(bound), Content::Number(number)) => {
                let order = bound.compare(number);
                order.is_gt() || (order.is_eq() && !bound.exclusive)
            }
            (Keyword::Maximum(bound), Content::Number(number)) => {
                let order = bound.compare(number);
                order.is_lt() || (order.is_eq() && !bound.exclusive)
            }
            (Keyword::MultipleOf(divisor), Content::Number(number)) => {
                self.spend(divisor.exact.division_steps(number.len()))
                    && Decimal::of(number).is_multiple_of(&divisor.exact)
            }
            (Keyword::MinLength(least), Content::String(text)) => {
                text.chars().count() as u64 >= *least
            }
            (Keyword::MaxLength(most), Content::String(text)) => {
                text.chars().count() as u64 <= *most
            }
            (Keyword::Pattern(pattern, _), Content::String(text)) => self.matches(pattern, text),
            (Keyword::Format(format), Content::String(text)) => {
                self.spend(text.len()) && format.is_valid(text)
            }
            (Keyword::MinItems(least), Content::Array(count))
            | (Keyword::MinProperties(least), Content::Object(count)) => *count as u64 >= *least,
            (Keyword::MaxItems(most), Content::Array(count))
            | (Keyword::MaxProperties(most), Content::Object(count)) => *count as u64 <= *most,
            (Keyword::UniqueItems, Content::Array(_)) => {
                let repeated = repeated_items(document.json(item), |steps| self.spend(steps));
                repeated.is_none() && !self.is_exhausted()
            }
            (Keyword::Required(names), Content::Object(count)) => {
                self.spend(*count) && names.are_in(document, item)
            }
            (Keyword::DependentRequired(names), Content::Object(count)) => {
                self.spend(*count);
                document.children(item).all(|entry| match names.get(document.key(entry)) {
                    Some(names) => self.spend(*count) && names.are_in(document, item),
                    None => true,
                })
            }
            _ => true,
        }
    }

    pub(super) fn matches(&mut self, pattern: &Pattern, text: &str) -> bool {
        pattern.is_match_within(text, &mut self.steps).unwrap_or_else(|_| {
            self.steps = 0;
            false
        })
    }

    fn contains(&mut self, document: &Document<'_>, contains: &Contains, array: usize) -> bool {
        let fitting = document
            .children(array)
            .filter(|item| self.fits(document, contains.schema, *item))
            .count() as u64;
        fitting >= contains.minimum && contains.maximum.is_none_or(|most| fitting <= most)
    }

    /// Returns true if the key of an entry fits a schema.
    pub(super) fn key_fits(
        &mut self,
        document: &Document<'_>,
        schema: NodeId,
        entry: usize,
    ) -> bool {
        let key = document.key(entry);
        if !self.spend(key.len() / BYTES_PER_STEP) {
            return false;
        }
        // A key is not a value of the document, so it needs caches of its own.
        let key = quoted(key);
        let (results, evaluated) =
            (std::mem::take(&mut self.results), std::mem::take(&mut self.evaluated));
        let fits = Document::read(&key, 0).is_some_and(|key| self.fits(&key, schema, 0));
        (self.results, self.evaluated) = (results, evaluated);
        fits
    }

    /// Returns true if the value of an entry fits the schemas for its key.
    pub(super) fn entry_fits(
        &mut self,
        document: &Document<'_>,
        properties: &Properties,
        entry: usize,
    ) -> bool {
        let schemas = self.schemas_of(properties, document.key(entry));
        schemas.into_iter().all(|schema| self.fits(document, schema, entry))
    }

    /// Returns the schemas for the value under a key.
    pub(super) fn schemas_of(&mut self, properties: &Properties, key: &str) -> Vec<NodeId> {
        let mut schemas: Vec<NodeId> = properties.named(key).into_iter().collect();
        for (pattern, schema) in &properties.patterns {
            if self.matches(pattern, key) {
                schemas.push(*schema);
            }
        }
        if schemas.is_empty() {
            schemas.extend(properties.additional);
        }
        schemas
    }

    /// Finds the schema of a dynamic anchor in the outermost resource that has it (2020-12 core, section 8.2.3.2).
    pub(super) fn dynamic(&mut self, anchor: &str) -> Option<NodeId> {
        self.spend(self.scope.len());
        self.scope.iter().find_map(|resource| self.schema.anchors[*resource].get(anchor)).copied()
    }
}
