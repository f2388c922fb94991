//! Explains by issues why a value does not fit a schema.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::ROOT;
use super::cache::Distance;
use super::document::{Content, Document};
use super::evaluate::{Evaluation, MAX_NESTING};
use super::keyword::{Bound, Contains, Keys, Keyword, NodeId, Properties};
use crate::issue::{Issue, IssueKind, MAX_EXPLANATION_STEPS, MAX_ISSUES, listed_values, nearest};
use crate::json::{BYTES_PER_STEP, describe, quoted, shortened};
use crate::pointer::escaped;
use crate::value::{Kind, repeated_items};

/// The maximum number of issues for a choice.
const MAX_CHOICE_ISSUES: usize = 3;

/// The number of steps for adding an issue, in addition to finding it.
const STEPS_PER_ISSUE: usize = 100;

/// The maximum number of issues that suggest another key, in the issues of a value.
const MAX_SUGGESTIONS: usize = 20;

/// The maximum length, in characters, of the issues for a choice.
const MAX_CHOICE_LENGTH: usize = 160;

impl Evaluation<'_> {
    /// Returns the issues of a value that does not fit the root. Pointers are relative to the value.
    pub(crate) fn explain(&mut self, document: &Document<'_>, item: usize) -> Vec<Issue> {
        let mut issues = self.explained(document, item, |explanation| explanation.node(ROOT, item));
        if issues.is_empty() {
            issues.push(Issue::new("", schema_issue("does not fit its schema".to_owned())));
        }
        issues
    }

    /// Returns the issues of a value by some keywords of the root. `invalid_keys` are the keys of entries that are
    /// known to be invalid.
    pub(crate) fn explain_only(
        &mut self,
        document: &Document<'_>,
        item: usize,
        names: &[&str],
        invalid_keys: &[Cow<'_, str>],
    ) -> Vec<Issue> {
        self.explained(document, item, |explanation| explanation.root(item, names, invalid_keys))
    }

    fn explained(
        &mut self,
        document: &Document<'_>,
        item: usize,
        explain: impl FnOnce(&mut Explanation<'_, '_, '_>),
    ) -> Vec<Issue> {
        if self.is_exhausted() && self.is_too_deep() {
            let message = format!("more than {MAX_NESTING} schemas apply inside each other");
            return vec![Issue::new("", schema_issue(format!("cannot be checked: {message}")))];
        }
        if self.is_exhausted() {
            return vec![Issue::new("", IssueKind::TooCostly { limit: self.limit() })];
        }
        // The value does not fit, which is certain by now. If the explanation takes many steps, it is incomplete.
        let (before, given) = (self.steps(), self.steps().min(MAX_EXPLANATION_STEPS));
        self.set_steps(given);
        let mut explanation = Explanation::new(self, document, item, MAX_ISSUES);
        explain(&mut explanation);
        let mut issues = explanation.into_issues();
        if self.is_exhausted() && issues.is_empty() {
            let message = format!(
                "does not fit its schema, and the explanation takes more than {given} steps"
            );
            issues.push(Issue::new("", schema_issue(message)));
        }
        self.set_steps(before - given + self.steps());
        issues
    }
}

/// Collects issues whose pointers are relative to one value.
pub(super) struct Explanation<'e, 's, 'd> {
    evaluation: &'e mut Evaluation<'s>,
    document: &'e Document<'d>,
    /// The value that pointers are relative to.
    base: usize,
    issues: Vec<Issue>,
    /// The maximum number of issues.
    limit: usize,
    /// The number of issues that may still suggest another key.
    suggestions: usize,
    explained: HashSet<(NodeId, usize)>,
}

impl<'e, 's, 'd> Explanation<'e, 's, 'd> {
    pub(super) fn new(
        evaluation: &'e mut Evaluation<'s>,
        document: &'e Document<'d>,
        base: usize,
        limit: usize,
    ) -> Self {
        evaluation.caches_all = true;
        Self {
            evaluation,
            document,
            base,
            issues: Vec::new(),
            limit,
            suggestions: MAX_SUGGESTIONS.min(limit),
            explained: HashSet::new(),
        }
    }

    pub(super) fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    /// Adds the issues of a value by all keywords of a node.
    pub(super) fn node(&mut self, node: NodeId, item: usize) {
        let is_new = self.explained.insert((node, item)) && self.issues.len() < self.limit;
        let body = &self.evaluation.schema.nodes[node];
        let is_too_deep = self.evaluation.explanations.nesting == MAX_NESTING;
        if is_new && !is_too_deep && self.evaluation.spend(body.keywords.len()) {
            self.evaluation.explanations.nesting += 1;
            let outer = self.evaluation.enter(body.resource);
            for keyword in &body.keywords {
                if self.issues.len() < self.limit {
                    self.check_keyword(keyword, node, item);
                }
            }
            self.evaluation.leave(outer);
            self.evaluation.explanations.nesting -= 1;
        }
    }

    /// Adds the issues of a value by some keywords of the root. Skips an `if` whose condition depends on one of the
    /// `invalid_keys`.
    pub(super) fn root(&mut self, item: usize, names: &[&str], invalid_keys: &[Cow<'_, str>]) {
        let schema = self.evaluation.schema;
        for keyword in &schema.nodes[ROOT].keywords {
            match keyword {
                Keyword::Properties(properties) => self.entries(properties, item, Some(names)),
                Keyword::If { condition, .. }
                    if invalid_keys.iter().any(|key| schema.mentions(*condition, key)) => {}
                keyword if names.contains(&keyword.name()) => {
                    self.check_keyword(keyword, ROOT, item);
                }
                _ => {}
            }
        }
    }

    fn check_keyword(&mut self, keyword: &Keyword, node: NodeId, item: usize) {
        if !self.evaluation.holds(self.document, keyword, node, item) {
            self.keyword(keyword, node, item);
        }
    }

    fn keyword(&mut self, keyword: &Keyword, node: NodeId, item: usize) {
        let document = self.document;
        match keyword {
            Keyword::Required(names) => self.missing(names, item),
            Keyword::DependentRequired(names) => {
                for entry in document.children(item) {
                    let names = names.get(document.key(entry));
                    if let Some(names) =
                        names.filter(|_| self.evaluation.spend(document.size(item)))
                    {
                        self.missing(names, item);
                    }
                }
            }
            Keyword::DependentSchemas(schemas) => {
                for entry in document.children(item) {
                    if let Some(schema) = schemas.get(document.key(entry)) {
                        self.check_node(*schema, item);
                    }
                }
            }
            Keyword::Properties(properties) => self.entries(properties, item, None),
            Keyword::PropertyNames(schema) => self.names(*schema, item),
            Keyword::PrefixItems(schemas) => {
                for (schema, item) in schemas.iter().zip(document.children(item)) {
                    self.check_node(*schema, item);
                }
            }
            Keyword::Items(from, schema) if self.evaluation.schema.is_never(*schema) => {
                let (maximum, length) = (*from as u64, document.children(item).count() as u64);
                self.add(item, IssueKind::TooManyItems { maximum, length });
            }
            Keyword::Items(from, schema) => {
                for item in document.children(item).skip(*from) {
                    self.check_node(*schema, item);
                }
            }
            Keyword::AllOf(schemas) => {
                for schema in schemas {
                    self.check_node(*schema, item);
                }
            }
            Keyword::Ref(schema) => self.check_node(*schema, item),
            Keyword::DynamicRef(schema, anchor) => {
                let schema = self.evaluation.dynamic(anchor).unwrap_or(*schema);
                self.check_node(schema, item);
            }
            Keyword::If { condition, then, otherwise } => {
                let fits = self.evaluation.fits(document, *condition, item);
                if let Some(branch) = if fits { then } else { otherwise } {
                    self.node(*branch, item);
                }
            }
            Keyword::UnevaluatedProperties(schema) | Keyword::UnevaluatedItems(schema) => {
                self.unevaluated(keyword, *schema, node, item);
            }
            Keyword::AnyOf(schemas) => {
                let issue = self.none_of("anyOf", schemas, item);
                self.add(item, issue);
            }
            Keyword::OneOf(schemas) => {
                let issue = self.not_one_of(schemas, item);
                self.add(item, issue);
            }
            keyword => self.value(keyword, item),
        }
    }

    /// Adds the issue by a keyword without subschemas.
    fn value(&mut self, keyword: &Keyword, item: usize) {
        let document = self.document;
        let json = document.json(item);
        let found = || shortened(json);
        let text = match document.content(item) {
            Content::String(text) => text,
            _ => "",
        };
        let (items, keys) = match document.content(item) {
            Content::Array(count) => (*count as u64, 0),
            Content::Object(count) => (0, *count),
            _ => (0, 0),
        };
        let characters = || text.chars().count() as u64;
        let keys = format!("has {keys} {}", if keys == 1 { "key" } else { "keys" });
        let kind = match keyword {
            Keyword::Type(kinds) => {
                IssueKind::Type { expected: Cow::Owned(Kind::nouns(kinds)), found: describe(json) }
            }
            Keyword::Enum(constants) => {
                let expected = listed_values(constants.texts.iter().cloned());
                IssueKind::Constant { expected: Cow::Owned(expected), found: found() }
            }
            Keyword::Const(constant) => {
                let expected = Cow::Owned(shortened(&constant.texts.concat()));
                IssueKind::Constant { expected, found: found() }
            }
            Keyword::Minimum(Bound { number, exclusive, .. }) => IssueKind::BelowMinimum {
                minimum: number.clone(),
                exclusive: *exclusive,
                found: found(),
            },
            Keyword::Maximum(Bound { number, exclusive, .. }) => IssueKind::AboveMaximum {
                maximum: number.clone(),
                exclusive: *exclusive,
                found: found(),
            },
            Keyword::MultipleOf(divisor) => schema_issue(format!(
                "found {}, expected a multiple of {}",
                found(),
                divisor.number
            )),
            Keyword::MinLength(least) => {
                IssueKind::TooShort { minimum: *least, length: characters() }
            }
            Keyword::MaxLength(most) => IssueKind::TooLong { maximum: *most, length: characters() },
            Keyword::Pattern(_, ecma) => {
                let found = quoted(&shortened(text));
                schema_issue(format!("found {found}, expected a match of `{ecma}`"))
            }
            Keyword::Format(format) => {
                IssueKind::Format { format: *format, found: shortened(text) }
            }
            Keyword::MinItems(least) => IssueKind::TooFewItems { minimum: *least, length: items },
            Keyword::MaxItems(most) => IssueKind::TooManyItems { maximum: *most, length: items },
            // The evaluation took the steps.
            Keyword::UniqueItems => match repeated_items(json, |_| true) {
                Some((first, second)) => IssueKind::RepeatedItem { first, second },
                None => return,
            },
            Keyword::MinProperties(least) => {
                schema_issue(format!("{keys}, at least {least} required"))
            }
            Keyword::MaxProperties(most) => schema_issue(format!("{keys}, at most {most} allowed")),
            Keyword::Contains(Contains { minimum, maximum, excerpt, .. }) => {
                let maximum =
                    maximum.map(|maximum| format!(" and at most {maximum}")).unwrap_or_default();
                schema_issue(format!("at least {minimum}{maximum} items have to fit {excerpt}"))
            }
            Keyword::Not(_, excerpt) if !excerpt.is_anything => schema_issue(format!(
                "found {}, expected nothing that fits {}",
                describe(json),
                excerpt.text
            )),
            _ => schema_issue(format!("found {}, no value is allowed here", describe(json))),
        };
        self.add(item, kind);
    }

    fn missing(&mut self, keys: &Keys, object: usize) {
        self.evaluation.spend(keys.declared.len());
        for name in keys.missing(self.document, object) {
            if self.is_full() {
                return;
            }
            self.add_under(object, name, IssueKind::Missing { one_of: Cow::Borrowed(&[]) });
        }
    }

    /// Adds the issues of an object's entries by the three keywords, or only by those in `only`.
    fn entries(&mut self, properties: &Properties, object: usize, only: Option<&[&str]>) {
        let (document, schema) = (self.document, self.evaluation.schema);
        let includes = |keyword: &str| only.is_none_or(|only| only.contains(&keyword));
        let known: Vec<&str> = properties.keys().collect();
        for entry in document.children(object) {
            let key = document.key(entry);
            let (named, additional) = (properties.named(key), properties.additional);
            if self.is_full() {
                return;
            }
            for node in self.evaluation.schemas_of(properties, key) {
                let is_additional = Some(node) == additional;
                let keyword = match () {
                    () if Some(node) == named => "properties",
                    () if is_additional => "additionalProperties",
                    () => "patternProperties",
                };
                if !includes(keyword) {
                    continue;
                }
                if is_additional && schema.is_never(node) {
                    self.unknown_key(entry, &known);
                } else {
                    self.check_node(node, entry);
                }
            }
        }
    }

    fn names(&mut self, schema: NodeId, object: usize) {
        for entry in self.document.children(object) {
            if self.is_full() {
                return;
            }
            if self.evaluation.key_fits(self.document, schema, entry) {
                continue;
            }
            let key = quoted(self.document.key(entry));
            let Some(key) = Document::read(&key, 0) else { continue };
            let mut evaluation =
                Evaluation::within(self.evaluation.schema, self.evaluation.steps());
            let mut explanation = Explanation::new(&mut evaluation, &key, 0, MAX_CHOICE_ISSUES);
            explanation.node(schema, 0);
            let why: Vec<String> = explanation.issues.iter().map(Issue::message).collect();
            self.evaluation.set_steps(evaluation.steps());
            self.add(entry, schema_issue(format!("the key is not allowed: {}", why.join("; "))));
        }
    }

    /// Adds the issues of unevaluated children. Children that are evaluated by schemas which the value breaks are
    /// skipped, since these schemas report their own issues.
    fn unevaluated(&mut self, keyword: &Keyword, schema: NodeId, node: NodeId, item: usize) {
        let mut rest = self.evaluation.unevaluated(self.document, keyword, node, item, true);
        if rest.is_empty() {
            rest = self.evaluation.unevaluated(self.document, keyword, node, item, false);
        }
        if !self.evaluation.schema.is_never(schema) {
            for child in rest {
                self.check_node(schema, child);
            }
            return;
        }
        let (document, body) = (self.document, self.evaluation.schema);
        if let Keyword::UnevaluatedItems(_) = keyword {
            let texts: Vec<&str> = rest.iter().map(|child| document.json(*child)).collect();
            let message =
                format!("items that are not allowed here: {}", shortened(&texts.join(", ")));
            return self.add(item, schema_issue(message));
        }
        let known: Vec<&str> = body.keys(node).collect();
        for child in rest {
            if self.is_full() {
                return;
            }
            self.unknown_key(child, &known);
        }
    }

    fn check_node(&mut self, node: NodeId, item: usize) {
        if !self.evaluation.fits(self.document, node, item) {
            self.node(node, item);
        }
    }

    fn not_one_of(&mut self, schemas: &[NodeId], item: usize) -> IssueKind {
        let fits =
            |(_, schema): &(usize, &NodeId)| self.evaluation.fits(self.document, **schema, item);
        let fitting = (1..).zip(schemas).filter(fits).map(|(number, _)| number.to_string());
        let fitting: Vec<String> = fitting.collect();
        if fitting.is_empty() {
            return self.none_of("oneOf", schemas, item);
        }
        schema_issue(format!(
            "fits the schemas {} of `oneOf`, expected exactly one",
            fitting.join(" and ")
        ))
    }

    /// Returns the issue of a value that fits none of several schemas, with the closest schema and its issues.
    fn none_of(&mut self, keyword: &str, schemas: &[NodeId], item: usize) -> IssueKind {
        if let Some(kinds) = self.other_kinds(schemas, item) {
            let found = describe(self.document.json(item));
            return IssueKind::Type { expected: Cow::Owned(Kind::nouns(&kinds)), found };
        }
        let head = format!("fits none of the {} schemas of `{keyword}`", schemas.len());
        let distances: Vec<_> =
            schemas.iter().map(|schema| self.distance(*schema, item, 2)).collect();
        let nearest = (0..schemas.len()).min_by_key(|index| distances[*index]);
        let Some(index) = nearest else { return schema_issue(head) };
        let text = self.explain_choice(schemas[index], item);
        schema_issue(format!("{head}, number {} is nearest: {text}", index + 1))
    }

    /// Returns the first few issues of a value by one of several schemas, as text. They only depend on the schema, the
    /// value and the scope, so they are cached.
    fn explain_choice(&mut self, node: NodeId, item: usize) -> Arc<str> {
        let key = self.evaluation.key(node, item);
        if let Some(text) = self.evaluation.explanations.nearest.get(&key) {
            return Arc::clone(text);
        }
        let mut explanation =
            Explanation::new(self.evaluation, self.document, item, MAX_CHOICE_ISSUES);
        explanation.node(node, item);
        let text = explanation.issues.iter().map(|issue| match issue.pointer() {
            "" => issue.message(),
            _ => issue.to_string(),
        });
        let text = text.collect::<Vec<_>>().join("; ");
        let text: Arc<str> = match text.char_indices().nth(MAX_CHOICE_LENGTH) {
            Some((end, _)) => format!("{}…", &text[..end]).into(),
            None => text.into(),
        };
        if !self.evaluation.is_exhausted() {
            self.evaluation.explanations.nearest.insert(key, Arc::clone(&text));
        }
        text
    }

    /// Returns the kinds that several schemas expect, if the value is of none of them.
    fn other_kinds(&self, schemas: &[NodeId], item: usize) -> Option<Vec<Kind>> {
        let mut wanted = Vec::new();
        for schema in schemas {
            let kinds = self.evaluation.schema.kinds(*schema)?;
            if kinds.iter().any(|kind| self.document.is(item, *kind)) {
                return None;
            }
            wanted.extend(
                kinds.iter().filter(|kind| !wanted.contains(*kind)).copied().collect::<Vec<_>>(),
            );
        }
        Some(wanted)
    }

    /// Returns the distance of a value from a schema. A wrong kind or constant counts more than all other issues. Only
    /// visits `levels` levels of values.
    fn distance(&mut self, node: NodeId, item: usize, levels: usize) -> Distance {
        let (document, schema) = (self.document, self.evaluation.schema);
        let is_limited = levels == 0
            || self.evaluation.is_exhausted()
            || self.evaluation.explanations.nesting == MAX_NESTING;
        if is_limited || self.evaluation.fits(document, node, item) {
            return (false, usize::from(is_limited));
        }
        let key = (self.evaluation.key(node, item), levels);
        if let Some(known) = self.evaluation.explanations.distances.get(&key) {
            return *known;
        }
        self.evaluation.spend(schema.nodes[node].keywords.len());
        // A reference back to this schema adds nothing.
        self.evaluation.explanations.distances.insert(key, (false, 0));
        self.evaluation.explanations.nesting += 1;
        let mut sum: Distance = (false, 0);
        let mut add = |(is_other, count): Distance| {
            sum = (sum.0 || is_other, sum.1.saturating_add(count));
        };
        for keyword in &schema.nodes[node].keywords {
            if self.evaluation.holds(document, keyword, node, item) {
                continue;
            }
            match keyword {
                Keyword::Type(_) | Keyword::Const(_) | Keyword::Enum(_) => add((true, 1)),
                Keyword::Required(names) => {
                    self.evaluation.spend(names.declared.len());
                    add((false, names.missing(document, item).count()));
                }
                Keyword::Properties(properties) => {
                    for entry in document.children(item) {
                        for schema in self.evaluation.schemas_of(properties, document.key(entry)) {
                            if !self.evaluation.fits(document, schema, entry) {
                                add(self.distance(schema, entry, levels - 1));
                            }
                        }
                    }
                }
                Keyword::Ref(schema) => add(self.distance(*schema, item, levels)),
                Keyword::AllOf(schemas) => {
                    for schema in schemas {
                        add(self.distance(*schema, item, levels));
                    }
                }
                _ => add((false, 1)),
            }
        }
        self.evaluation.explanations.nesting -= 1;
        if self.evaluation.is_exhausted() {
            self.evaluation.explanations.distances.remove(&key);
        } else {
            self.evaluation.explanations.distances.insert(key, sum);
        }
        sum
    }

    /// Adds the issue of an unknown key, with a suggestion. Each compares all keys, so they take steps and are few.
    fn unknown_key(&mut self, entry: usize, known: &[&str]) {
        let key = self.document.key(entry);
        let meant = if self.suggestions > 0 && self.evaluation.spend(known.len()) {
            self.suggestions -= 1;
            nearest(key, known.iter().copied())
        } else {
            None
        };
        let message = match meant {
            Some(meant) => format!("unknown key `{key}`, did you mean `{meant}`?"),
            None => format!("unknown key `{key}`"),
        };
        self.add(entry, schema_issue(message));
    }

    /// Returns true if no issue can be added.
    fn is_full(&self) -> bool {
        self.issues.len() >= self.limit || self.evaluation.is_exhausted()
    }

    fn add(&mut self, item: usize, kind: IssueKind) {
        self.push(self.document.pointer(item, self.base), kind);
    }

    fn add_under(&mut self, object: usize, key: &str, kind: IssueKind) {
        let pointer = self.document.pointer(object, self.base);
        self.push(format!("{pointer}/{}", escaped(key)), kind);
    }

    /// Adds an issue, whose text takes steps too: a schema or a key may be long, and be in every issue.
    fn push(&mut self, pointer: String, kind: IssueKind) {
        let issue = Issue::new(pointer, kind);
        let steps = STEPS_PER_ISSUE + issue.size() / BYTES_PER_STEP;
        // Without steps left, results are not reliable.
        if self.issues.len() < self.limit && self.evaluation.spend(steps) {
            self.issues.push(issue);
        }
    }
}

fn schema_issue(message: String) -> IssueKind {
    IssueKind::Schema { message }
}
