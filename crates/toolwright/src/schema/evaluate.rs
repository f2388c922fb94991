//! Whether a value fits a schema: yes or no, in time that grows with payload × schema and no faster.
//!
//! A schema that is reached on several ways would be held against the same value once a way, which doubles with every
//! level of a recursive choice. Its verdicts are remembered by schema and value.

mod unevaluated;

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{Content, Document};
use super::keyword::{Contains, Keyword, NodeId, Properties};
use super::remembered::{Key, MAX_REMEMBERED, Remembered, Told};
use super::{ROOT, Schema};
use crate::json::quoted;
use crate::pattern::Pattern;
use crate::value::{Decimal, repeated};

/// The deepest nesting of schemas in each other on one value, as they are applied.
pub(super) const MAX_NESTING: usize = 640;

/// How many bytes of a string are looked at in one step. Of a number, it is one.
const BYTES_PER_STEP: usize = 16;

/// Verdicts on the values of one document.
pub(crate) struct Evaluation<'s> {
    pub(super) schema: &'s Schema,
    verdicts: Remembered<bool>,
    /// The children of values that nodes have evaluated.
    evaluated: Remembered<Arc<[bool]>>,
    /// The findings of explanations so far.
    pub(super) told: Told,
    /// Whether every verdict is remembered, not only those that are surely asked for again.
    pub(super) remembers_all: bool,
    /// Steps that are left; at zero, no verdict counts.
    steps: u64,
    /// How many there were.
    limit: u64,
    nesting: usize,
    /// Whether schemas were nested too deep in each other for a verdict.
    is_too_deep: bool,
    /// The resources on the way here that have dynamic anchors, outermost first. Each once: only the first counts.
    scope: Vec<usize>,
    /// The number of each scope so far, by the number of the scope around it and the last resource; that of the empty one
    /// is zero.
    scopes: HashMap<(usize, usize), usize>,
    scope_number: usize,
}

impl<'s> Evaluation<'s> {
    /// Verdicts that take no more than so many steps.
    pub(crate) fn within(schema: &'s Schema, steps: u64) -> Self {
        Self {
            schema,
            verdicts: HashMap::default(),
            evaluated: HashMap::default(),
            told: Told::default(),
            remembers_all: schema.has_unevaluated,
            steps,
            limit: steps,
            nesting: 0,
            is_too_deep: false,
            scope: Vec::new(),
            scopes: HashMap::new(),
            scope_number: 0,
        }
    }

    /// Whether the verdicts so far are worth nothing, because they took too many steps.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps == 0
    }

    /// How many steps are left.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes on with the steps that are left of a budget which others take from, too.
    pub(crate) fn go_on_within(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// How many steps there were.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether that is because schemas were nested too deep in each other.
    pub(super) fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// Takes steps of the budget.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps as u64);
        self.steps > 0
    }

    /// The key of what is remembered about a node and a value.
    pub(super) fn key(&self, node: NodeId, item: usize) -> Key {
        let part = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (part(node), part(item), part(self.scope_number))
    }

    /// Whether a value fits a node.
    pub(crate) fn fits(&mut self, document: &Document<'_>, node: NodeId, item: usize) -> bool {
        let schema = self.schema;
        let body = &schema.nodes[node];
        let has_steps = self.spend(1);
        if !has_steps || body.keywords.is_empty() {
            return has_steps;
        }
        let around = self.enter(body.resource);
        let key = self.key(node, item);
        let remembers = self.remembers_all || body.uses > 1;
        let verdict = match if remembers { self.verdicts.get(&key).copied() } else { None } {
            Some(verdict) => verdict,
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
                if remembers && self.steps > 0 && self.verdicts.len() < MAX_REMEMBERED {
                    self.verdicts.insert(key, fits);
                }
                fits
            }
        };
        self.leave(around);
        verdict
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

    /// Enters a resource, if it is one whose anchors may be looked for and that was not entered already. Returns the scope
    /// to go back to.
    pub(super) fn enter(&mut self, resource: usize) -> usize {
        let around = self.scope_number;
        let matters = self.schema.anchors.get(resource).is_some_and(|anchors| !anchors.is_empty());
        if matters && !self.scope.contains(&resource) {
            self.scope.push(resource);
            let next = self.scopes.len() + 1;
            self.scope_number = *self.scopes.entry((around, resource)).or_insert(next);
        }
        around
    }

    pub(super) fn leave(&mut self, around: usize) {
        if self.scope_number != around {
            self.scope.pop();
            self.scope_number = around;
        }
    }

    /// Whether a value fits a keyword of a node.
    pub(super) fn holds(
        &mut self,
        document: &Document<'_>,
        keyword: &Keyword,
        node: NodeId,
        item: usize,
    ) -> bool {
        match (keyword, document.content(item)) {
            // Looking at each entry or item takes a step, whatever is asked of it.
            (keyword, Content::Array(count) | Content::Object(count))
                if keyword.looks_at_parts() && !self.spend(*count) =>
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

    /// Whether a value fits a keyword that holds no schema.
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
            (Keyword::Enum(constants), _) => {
                self.spend(constants.cost(document, item)) && constants.has(document, item)
            }
            (Keyword::Const(constant), _) => {
                self.spend(document.size(item)) && document.equals(item, constant)
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
                let divisor = Decimal::of(divisor.as_str());
                self.spend(divisor.division_steps(number.len()))
                    && Decimal::of(number).is_multiple_of(&divisor)
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
                self.spend(document.size(item)) && repeated(document.json(item)).is_none()
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
        fitting >= contains.least && contains.most.is_none_or(|most| fitting <= most)
    }

    /// Whether the key of an entry fits a schema.
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
        // A key is no value of the document: what is known of it is remembered by itself.
        let key = quoted(key);
        let (verdicts, evaluated) =
            (std::mem::take(&mut self.verdicts), std::mem::take(&mut self.evaluated));
        let fits = Document::read(&key, 0).is_some_and(|key| self.fits(&key, schema, 0));
        (self.verdicts, self.evaluated) = (verdicts, evaluated);
        fits
    }

    /// Whether the value of an entry fits the schemas for its key.
    pub(super) fn entry_fits(
        &mut self,
        document: &Document<'_>,
        properties: &Properties,
        entry: usize,
    ) -> bool {
        let schemas = self.schemas_of(properties, document.key(entry));
        schemas.into_iter().all(|schema| self.fits(document, schema, entry))
    }

    /// The schemas that judge the value under a key.
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

    /// Finds the schema of a dynamic anchor: that of the outermost resource that has it (2020-12 core, 8.2.3.2).
    pub(super) fn dynamic(&self, anchor: &str) -> Option<NodeId> {
        let anchors = self.scope.iter().flat_map(|resource| &self.schema.anchors[*resource]);
        anchors.into_iter().find(|(known, _)| known == anchor).map(|(_, node)| *node)
    }
}
