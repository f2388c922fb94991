//! Why a value does not fit a schema, in the words of issues. Asked only when that is certain.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::ROOT;
use super::document::{Content, Document};
use super::evaluate::{Evaluation, MAX_NESTING};
use super::keyword::{Bound, Contains, Keys, Keyword, NodeId, Properties};
use super::remembered::Distance;
use crate::issue::{Issue, IssueKind, nearest};
use crate::json::{describe, quoted, shortened};
use crate::pointer::escaped;
use crate::value::{Kind, repeated};

/// How many issues of a choice are told.
const TOLD: usize = 3;

/// How many issues of one value are told.
const MAX_ISSUES: usize = 1_000;

/// How many constants of an `enum` are told.
const CONSTANTS: usize = 20;

/// How many steps it may take to tell why a value does not fit.
const EXPLAINING: u64 = 1_000_000;

/// How many steps it takes to put an issue into words, besides finding it.
const TELLING: usize = 100;

/// How many issues come with a key that may have been meant.
const MEANT: usize = 20;

/// How many characters of what is wrong with the nearest of several schemas are told.
const LONGEST: usize = 160;

impl Evaluation<'_> {
    /// Why a value does not fit the root. Pointers begin at the value.
    pub(crate) fn explain(&mut self, document: &Document<'_>, item: usize) -> Vec<Issue> {
        let mut issues = self.explained(document, item, |explanation| explanation.node(ROOT, item));
        if issues.is_empty() {
            issues.push(Issue::new("", said("does not fit its schema".to_owned())));
        }
        issues
    }

    /// Which of some keywords of the root a value does not fit, where something is known to be wrong under these keys.
    pub(crate) fn explain_only(
        &mut self,
        document: &Document<'_>,
        item: usize,
        names: &[&str],
        doubtful: &[Cow<'_, str>],
    ) -> Vec<Issue> {
        self.explained(document, item, |explanation| explanation.root(item, names, doubtful))
    }

    fn explained(
        &mut self,
        document: &Document<'_>,
        item: usize,
        tell: impl FnOnce(&mut Explanation<'_, '_, '_>),
    ) -> Vec<Issue> {
        if self.is_exhausted() && self.is_too_deep() {
            let message = format!("more than {MAX_NESTING} schemas apply inside each other");
            return vec![Issue::new("", said(format!("cannot be checked: {message}")))];
        }
        if self.is_exhausted() {
            return vec![Issue::new("", IssueKind::TooCostly { limit: self.limit() })];
        }
        // That the value does not fit is certain by now: where telling why takes long, less is told.
        let (before, given) = (self.steps(), self.steps().min(EXPLAINING));
        self.go_on_within(given);
        let mut explanation = Explanation::new(self, document, item, MAX_ISSUES);
        tell(&mut explanation);
        let mut issues = explanation.into_issues();
        if self.is_exhausted() && issues.is_empty() {
            let message =
                format!("does not fit its schema, and to tell why takes more than {given} steps");
            issues.push(Issue::new("", said(message)));
        }
        self.go_on_within(before - given + self.steps());
        issues
    }
}

/// Collects issues whose pointers begin at one value.
pub(super) struct Explanation<'e, 's, 'd> {
    evaluation: &'e mut Evaluation<'s>,
    document: &'e Document<'d>,
    /// The value at which pointers begin.
    below: usize,
    issues: Vec<Issue>,
    /// How many issues are told at most.
    limit: usize,
    told: HashSet<(NodeId, usize)>,
}

impl<'e, 's, 'd> Explanation<'e, 's, 'd> {
    pub(super) fn new(
        evaluation: &'e mut Evaluation<'s>,
        document: &'e Document<'d>,
        below: usize,
        limit: usize,
    ) -> Self {
        evaluation.remembers_all = true;
        Self { evaluation, document, below, issues: Vec::new(), limit, told: HashSet::new() }
    }

    pub(super) fn into_issues(self) -> Vec<Issue> {
        self.issues
    }

    /// Tells every keyword of a node that a value breaks.
    pub(super) fn node(&mut self, node: NodeId, item: usize) {
        let is_new = self.told.insert((node, item)) && self.issues.len() < self.limit;
        let body = &self.evaluation.schema.nodes[node];
        let is_too_deep = self.evaluation.told.nesting == MAX_NESTING;
        if is_new && !is_too_deep && self.evaluation.spend(body.keywords.len()) {
            self.evaluation.told.nesting += 1;
            let around = self.evaluation.enter(body.resource);
            for keyword in &body.keywords {
                if self.issues.len() < self.limit {
                    self.unless_it_holds(keyword, node, item);
                }
            }
            self.evaluation.leave(around);
            self.evaluation.told.nesting -= 1;
        }
    }

    /// Tells which of some keywords of the root a value breaks. What a condition decides that looks at a part which is
    /// wrong already is not told: `doubtful` are the keys of those parts.
    pub(super) fn root(&mut self, item: usize, names: &[&str], doubtful: &[Cow<'_, str>]) {
        let schema = self.evaluation.schema;
        for keyword in &schema.nodes[ROOT].keywords {
            match keyword {
                Keyword::Properties(properties) => self.entries(properties, item, Some(names)),
                Keyword::If { condition, .. }
                    if doubtful.iter().any(|key| schema.mentions(*condition, key)) => {}
                keyword if names.contains(&keyword.name()) => {
                    self.unless_it_holds(keyword, ROOT, item);
                }
                _ => {}
            }
        }
    }

    fn unless_it_holds(&mut self, keyword: &Keyword, node: NodeId, item: usize) {
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
                    if let Some(names) = names.get(document.key(entry)) {
                        self.missing(names, item);
                    }
                }
            }
            Keyword::DependentSchemas(schemas) => {
                for entry in document.children(item) {
                    if let Some(schema) = schemas.get(document.key(entry)) {
                        self.unless_it_fits(*schema, item);
                    }
                }
            }
            Keyword::Properties(properties) => self.entries(properties, item, None),
            Keyword::PropertyNames(schema) => self.names(*schema, item),
            Keyword::PrefixItems(schemas) => {
                for (schema, item) in schemas.iter().zip(document.children(item)) {
                    self.unless_it_fits(*schema, item);
                }
            }
            Keyword::Items(from, schema) if self.evaluation.schema.is_never(*schema) => {
                let (maximum, length) = (*from as u64, document.children(item).count() as u64);
                self.add(item, IssueKind::TooManyItems { maximum, length });
            }
            Keyword::Items(from, schema) => {
                for item in document.children(item).skip(*from) {
                    self.unless_it_fits(*schema, item);
                }
            }
            Keyword::AllOf(schemas) => {
                for schema in schemas {
                    self.unless_it_fits(*schema, item);
                }
            }
            Keyword::Ref(schema) => self.unless_it_fits(*schema, item),
            Keyword::DynamicRef(schema, anchor) => {
                let schema = self.evaluation.dynamic(anchor).unwrap_or(*schema);
                self.unless_it_fits(schema, item);
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

    /// A keyword that is about the value by itself.
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
                let expected = match constants.shown.as_slice() {
                    [only] => only.clone(),
                    several if several.len() <= CONSTANTS => {
                        format!("one of {}", several.join(", "))
                    }
                    several => format!(
                        "one of {} and {} more",
                        several[..CONSTANTS].join(", "),
                        several.len() - CONSTANTS
                    ),
                };
                IssueKind::Constant { expected: Cow::Owned(expected), found: found() }
            }
            Keyword::Const(constant) => {
                let expected = Cow::Owned(shortened(&constant.to_string()));
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
            Keyword::MultipleOf(divisor) => {
                said(format!("found {}, expected a multiple of {divisor}", found()))
            }
            Keyword::MinLength(least) => {
                IssueKind::TooShort { minimum: *least, length: characters() }
            }
            Keyword::MaxLength(most) => IssueKind::TooLong { maximum: *most, length: characters() },
            Keyword::Pattern(_, ecma) => {
                let found = quoted(&shortened(text));
                said(format!("found {found}, expected a match of `{ecma}`"))
            }
            Keyword::Format(format) => {
                IssueKind::Format { format: *format, found: shortened(text) }
            }
            Keyword::MinItems(least) => IssueKind::TooFewItems { minimum: *least, length: items },
            Keyword::MaxItems(most) => IssueKind::TooManyItems { maximum: *most, length: items },
            Keyword::UniqueItems => match repeated(document.json(item)) {
                Some((first, second)) => IssueKind::RepeatedItem { first, second },
                None => return,
            },
            Keyword::MinProperties(least) => said(format!("{keys}, at least {least} required")),
            Keyword::MaxProperties(most) => said(format!("{keys}, at most {most} allowed")),
            Keyword::Contains(Contains { least, most, shown, .. }) => {
                let most = most.map(|most| format!(" and at most {most}")).unwrap_or_default();
                said(format!("at least {least}{most} items have to fit {shown}"))
            }
            Keyword::Not(_, shown) if !shown.is_anything => {
                said(format!("found {}, expected nothing that fits {}", describe(json), shown.text))
            }
            _ => said(format!("found {}, no value is allowed here", describe(json))),
        };
        self.add(item, kind);
    }

    fn missing(&mut self, keys: &Keys, object: usize) {
        for name in keys.missing(self.document, object) {
            self.add_under(object, name, IssueKind::Missing { one_of: Cow::Borrowed(&[]) });
        }
    }

    /// Tells what is wrong with the entries of an object; by some of the three keywords, if they are given.
    fn entries(&mut self, properties: &Properties, object: usize, only: Option<&[&str]>) {
        let (document, schema) = (self.document, self.evaluation.schema);
        let tells = |keyword: &str| only.is_none_or(|only| only.contains(&keyword));
        for entry in document.children(object) {
            let key = document.key(entry);
            let (named, additional) = (properties.named(key), properties.additional);
            for judge in self.evaluation.schemas_of(properties, key) {
                let is_additional = Some(judge) == additional;
                let keyword = match () {
                    () if Some(judge) == named => "properties",
                    () if is_additional => "additionalProperties",
                    () => "patternProperties",
                };
                if !tells(keyword) {
                    continue;
                }
                if is_additional && schema.is_never(judge) {
                    let known: Vec<&str> = properties.keys().collect();
                    self.unknown_key(entry, &known);
                } else {
                    self.unless_it_fits(judge, entry);
                }
            }
        }
    }

    fn names(&mut self, schema: NodeId, object: usize) {
        for entry in self.document.children(object) {
            if self.issues.len() == self.limit {
                return;
            }
            if self.evaluation.key_fits(self.document, schema, entry) {
                continue;
            }
            let key = quoted(self.document.key(entry));
            let Some(key) = Document::read(&key, 0) else { continue };
            let mut evaluation =
                Evaluation::within(self.evaluation.schema, self.evaluation.steps());
            let mut explanation = Explanation::new(&mut evaluation, &key, 0, TOLD);
            explanation.node(schema, 0);
            let why: Vec<String> = explanation.issues.iter().map(Issue::message).collect();
            self.evaluation.go_on_within(evaluation.steps());
            self.add(entry, said(format!("the key is not allowed: {}", why.join("; "))));
        }
    }

    /// What the schemas that the value breaks would have looked at is passed over: it is their mistakes that count.
    fn unevaluated(&mut self, keyword: &Keyword, schema: NodeId, node: NodeId, item: usize) {
        let mut rest = self.evaluation.unevaluated(self.document, keyword, node, item, true);
        if rest.is_empty() {
            rest = self.evaluation.unevaluated(self.document, keyword, node, item, false);
        }
        if !self.evaluation.schema.is_never(schema) {
            for child in rest {
                self.unless_it_fits(schema, child);
            }
            return;
        }
        let (document, body) = (self.document, self.evaluation.schema);
        if let Keyword::UnevaluatedItems(_) = keyword {
            let texts: Vec<&str> = rest.iter().map(|child| document.json(*child)).collect();
            let message =
                format!("items that are not allowed here: {}", shortened(&texts.join(", ")));
            return self.add(item, said(message));
        }
        let known: Vec<&str> = body.keys(node).collect();
        for child in rest {
            self.unknown_key(child, &known);
        }
    }

    fn unless_it_fits(&mut self, node: NodeId, item: usize) {
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
        said(format!("fits the schemas {} of `oneOf`, expected exactly one", fitting.join(" and ")))
    }

    /// Which of several schemas the value misses by least, and how.
    fn none_of(&mut self, keyword: &str, schemas: &[NodeId], item: usize) -> IssueKind {
        if let Some(kinds) = self.other_kinds(schemas, item) {
            let found = describe(self.document.json(item));
            return IssueKind::Type { expected: Cow::Owned(Kind::nouns(&kinds)), found };
        }
        let head = format!("fits none of the {} schemas of `{keyword}`", schemas.len());
        let distances: Vec<_> =
            schemas.iter().map(|schema| self.distance(*schema, item, 2)).collect();
        let nearest = (0..schemas.len()).min_by_key(|index| distances[*index]);
        let Some(index) = nearest else { return said(head) };
        let told = self.told_of(schemas[index], item);
        said(format!("{head}, number {} is nearest: {told}", index + 1))
    }

    /// What is wrong with a value by one of several schemas: the first few issues. It depends on the schema, the value and
    /// the scope alone, and is told in the same words to all that ask.
    fn told_of(&mut self, node: NodeId, item: usize) -> Arc<str> {
        let key = self.evaluation.key(node, item);
        if let Some(told) = self.evaluation.told.nearest.get(&key) {
            return Arc::clone(told);
        }
        let mut explanation = Explanation::new(self.evaluation, self.document, item, TOLD);
        explanation.node(node, item);
        let told = explanation.issues.iter().map(|issue| match issue.pointer() {
            "" => issue.message(),
            _ => issue.to_string(),
        });
        let told = told.collect::<Vec<_>>().join("; ");
        let told: Arc<str> = match told.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &told[..end]).into(),
            None => told.into(),
        };
        if !self.evaluation.is_exhausted() {
            self.evaluation.told.nearest.insert(key, Arc::clone(&told));
        }
        told
    }

    /// The kinds that several schemas want, if the value is of none of them.
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

    /// How far a value is from a schema: one of another kind, or with another constant, is further away than one with
    /// other mistakes. Looks at so many levels of values.
    fn distance(&mut self, node: NodeId, item: usize, levels: usize) -> Distance {
        let (document, schema) = (self.document, self.evaluation.schema);
        let is_over = levels == 0
            || self.evaluation.is_exhausted()
            || self.evaluation.told.nesting == MAX_NESTING;
        if is_over || self.evaluation.fits(document, node, item) {
            return (false, usize::from(is_over));
        }
        let key = (self.evaluation.key(node, item), levels);
        if let Some(known) = self.evaluation.told.distances.get(&key) {
            return *known;
        }
        self.evaluation.spend(schema.nodes[node].keywords.len());
        // What leads back here adds nothing.
        self.evaluation.told.distances.insert(key, (false, 0));
        self.evaluation.told.nesting += 1;
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
                Keyword::Required(names) => add((false, names.missing(document, item).count())),
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
        self.evaluation.told.nesting -= 1;
        if self.evaluation.is_exhausted() {
            self.evaluation.told.distances.remove(&key);
        } else {
            self.evaluation.told.distances.insert(key, sum);
        }
        sum
    }

    /// Tells that the key of an entry is unknown, and which was meant; that only a few times, as it compares all keys.
    fn unknown_key(&mut self, entry: usize, known: &[&str]) {
        let key = self.document.key(entry);
        let meant =
            if self.issues.len() < MEANT { nearest(key, known.iter().copied()) } else { None };
        let message = match meant {
            Some(meant) => format!("unknown key `{key}`, did you mean `{meant}`?"),
            None => format!("unknown key `{key}`"),
        };
        self.add(entry, said(message));
    }

    fn add(&mut self, item: usize, kind: IssueKind) {
        // Without steps nothing is certain.
        if self.issues.len() < self.limit && self.evaluation.spend(TELLING) {
            let pointer = self.document.pointer(item, self.below);
            self.issues.push(Issue::new(pointer, kind));
        }
    }

    fn add_under(&mut self, object: usize, key: &str, kind: IssueKind) {
        if self.issues.len() < self.limit && self.evaluation.spend(TELLING) {
            let pointer = self.document.pointer(object, self.below);
            self.issues.push(Issue::new(format!("{pointer}/{}", escaped(key)), kind));
        }
    }
}

fn said(message: String) -> IssueKind {
    IssueKind::Schema { message }
}
