//! Compares the schemas of two versions of a tool, part by part.

mod kinds;
mod objects;
mod parts;
mod reading;
mod sets;
mod words;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use toolwright::pointer::escaped;
use toolwright_codegen::internal::Style;
use toolwright_codegen::internal::schema::{Assertion, NodeId, Schemas, Shape, aliased, published};
use toolwright_codegen::internal::values::{Judge, Part, View, values, witness};

use crate::finding::{Finding, Places, Proof};
use crate::order::Shift;
use crate::rules::Rule;
use reading::{json, read};
use sets::{FORMATS, PATTERNS, Sets};
use words::copies;

/// The part of a tool that a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The arguments, which callers send.
    Args,
    /// The result, which callers get.
    Result,
}

/// Limits of the work of all comparisons of schemas.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most bytes of the schemas that differ, and how many are left. A million take up to 300 ms.
    most_bytes: usize,
    bytes: Cell<usize>,
    /// The searches for values that show changes, which take most of the time of a comparison.
    searches: Cell<usize>,
    /// The work of searches, in bytes of schemas and values and in steps of checks. A million take about 20 ms.
    work: Cell<u64>,
    /// The same for checks of constants.
    checks: Cell<u64>,
}

/// The most bytes of all schemas that differ, or so many for each tool.
const MAX_BYTES: usize = 16 << 20;
const BYTES_PER_TOOL: usize = 16 << 10;
const BYTES_OF_VALUE: usize = 4;

impl Default for Budget {
    fn default() -> Self {
        Self::for_tools(0)
    }
}

impl Budget {
    /// For two versions with so many tools together. As many changes are shown by values as somebody reads.
    pub(crate) fn for_tools(count: usize) -> Self {
        let most_bytes = MAX_BYTES.max(count.saturating_mul(BYTES_PER_TOOL));
        Self {
            most_bytes,
            bytes: Cell::new(most_bytes),
            searches: Cell::new(200),
            work: Cell::new(MAX_WORK),
            checks: Cell::new(MAX_WORK),
        }
    }

    /// Counts the bytes of a schema. Each value takes as long as some more bytes.
    fn spend(&self, schema: &str) -> Result<(), String> {
        let commas = schema.bytes().filter(|byte| *byte == b',').count();
        let bytes = schema.len() + BYTES_OF_VALUE * commas;
        let left = self.bytes.get().checked_sub(bytes).ok_or_else(|| {
            let most = self.most_bytes >> 20;
            format!("the schemas that differ have more than {most} MiB up to it, expected fewer; compare fewer tools at once")
        })?;
        self.bytes.set(left);
        Ok(())
    }

    /// Takes one for the schemas of two nodes, if any is left.
    fn take(&self, schemas: &Schemas, nodes: [Option<NodeId>; 2]) -> bool {
        let left = self.searches.get();
        if left == 0 {
            return false;
        }
        let sizes = nodes.into_iter().flatten().map(|node| size(schemas, node));
        let work = self.work.get().saturating_sub(sizes.sum());
        self.work.set(work);
        self.searches.set(if work > 0 { left - 1 } else { 0 });
        work > 0
    }
}

/// The most work of all searches.
const MAX_WORK: u64 = 50_000_000;

/// The most bytes of the schemas in the rules of both versions, which are compared as texts. Each contains all types that it refers to.
const MAX_RULE_BYTES: u64 = 32 << 20;

/// The deepest nesting of comparisons; what is deeper is compared after the rest.
const MAX_DEPTH: usize = 64;

/// The most comparisons of two places, beside eight for each schema: types that refer to each other may have to be compared in as
/// many pairs as there are types in one version times those in the other.
const MAX_COMPARISONS: usize = 200_000;

/// The constants of an enumeration that count as another comparison.
const CONSTANTS: usize = 20;

/// The most changes of the arguments or of the result of a tool.
const MAX_FINDINGS: usize = 100_000;

/// Returns the size of a schema with all types that it refers to.
fn size(schemas: &Schemas, node: NodeId) -> u64 {
    published(schemas, node, Style::Compact).len() as u64
}

/// Returns whether the rules of two schemas are small enough to be compared.
fn are_comparable(schemas: &Schemas) -> bool {
    let mut sizes = BTreeMap::new();
    let mut size_of = |node: &NodeId| {
        let target = aliased(schemas, *node).last().unwrap_or(*node);
        *sizes.entry(target).or_insert_with(|| size(schemas, target))
    };
    let assertions = schemas.ids().flat_map(|id| &schemas[id].assertions);
    let mut operands = assertions.flat_map(Assertion::schemas);
    operands.try_fold(MAX_RULE_BYTES, |left, operand| left.checked_sub(size_of(&operand))).is_some()
}

/// Which values two schemas differ in.
#[derive(Clone, Copy)]
enum Shows {
    /// The new schema refuses values of the old one.
    Lost,
    /// The new schema accepts values that the old one refuses.
    Gained,
    /// Either.
    Both,
    /// No value shows the change.
    Nothing,
}

/// A schema in one version, or anything, with its place.
#[derive(Clone)]
struct Place {
    node: Option<NodeId>,
    pointer: String,
}

/// Compares two schemas, given as JSON. Returns an error if one cannot be read.
///
/// The schemas count towards the budget.
pub(crate) fn compare(
    tool: &str,
    side: Side,
    old: &str,
    new: &str,
    budget: &Budget,
) -> Result<Vec<Finding>, String> {
    if old == new {
        return Ok(Vec::new());
    }
    budget.spend(old)?;
    budget.spend(new)?;
    let [was, is] = [json(old)?, json(new)?];
    let (annotated, nodes) = read(&was, &is)?;
    let schemas = annotated.clone().without_annotations();
    if !are_comparable(&schemas) {
        let most = MAX_RULE_BYTES >> 20;
        return Err(format!(
            "its rules have more than {most} MiB with the types that they refer to, expected fewer"
        ));
    }
    let mut comparison = Comparison {
        tool,
        side,
        schemas: &schemas,
        annotated: &annotated,
        compared: BTreeSet::new(),
        budget,
        searched: BTreeMap::new(),
        with_rules: BTreeMap::new(),
        left: MAX_COMPARISONS + 8 * schemas.ids().count(),
        depth: 0,
        later: Vec::new(),
        findings: Vec::new(),
    };
    let root = match side {
        Side::Args => "/args",
        Side::Result => "/result",
    };
    let place = |node| Place { node: Some(node), pointer: root.to_owned() };
    let (old_place, new_place) = (place(nodes[0]), place(nodes[1]));
    comparison.places(&old_place, &new_place);
    while let Some((old, new)) = comparison.later.pop() {
        comparison.places(&old, &new);
    }
    if comparison.is_too_large() {
        return Err("its types differ in too many ways".to_owned());
    }
    comparison.other_words(&was, &is, (&old_place, &new_place));
    // Texts that differ only in layout are the same.
    if comparison.findings.is_empty() && was.to_string() != is.to_string() {
        let (rule, words) = Comparison::spelling(&was, &is);
        comparison.add(rule, &old_place, &new_place, Shows::Nothing, words.to_owned());
    }
    let mut findings = comparison.findings;
    // A recursive type is written twice: as the root, and as the definition that it refers to.
    let in_new = copies(&is);
    let in_both = copies(&was).into_iter().filter(|name| in_new.contains(name));
    let in_both: BTreeSet<String> = in_both.map(|name| escaped(name).into_owned()).collect();
    let at_root = |finding: &Finding| {
        let place = finding.at.new.as_ref().or(finding.at.old.as_ref())?;
        let below = place.strip_prefix(root)?.strip_prefix("/$defs/")?;
        let (name, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
        in_both.contains(name).then(|| format!("{root}{rest}"))
    };
    let known: BTreeSet<(String, String)> = findings
        .iter()
        .filter_map(|finding| {
            let place = finding.at.new.clone().or_else(|| finding.at.old.clone())?;
            Some((place, finding.words.clone()))
        })
        .collect();
    findings.retain(|finding| {
        at_root(finding).is_none_or(|place| !known.contains(&(place, finding.words.clone())))
    });
    Ok(findings)
}

struct Comparison<'a> {
    tool: &'a str,
    side: Side,
    /// The schemas without annotations.
    schemas: &'a Schemas,
    /// The same schemas with annotations; their nodes have the same ids.
    annotated: &'a Schemas,
    budget: &'a Budget,
    /// The values that were found for pairs of nodes: one that is lost, and one that is gained.
    searched: BTreeMap<(Option<NodeId>, Option<NodeId>), [Option<String>; 2]>,
    /// By node: true if it has keywords whose meaning is not compared.
    with_rules: BTreeMap<NodeId, bool>,
    /// Pairs of nodes that are or were compared.
    compared: BTreeSet<(NodeId, NodeId)>,
    /// How many more places may be compared.
    left: usize,
    /// How many comparisons contain the current one.
    depth: usize,
    /// Places that are too deep to be compared at once.
    later: Vec<(Place, Place)>,
    findings: Vec<Finding>,
}

impl Comparison<'_> {
    /// Returns the rule of this side.
    fn of<T: Copy>(&self, sides: [T; 2]) -> T {
        sides[usize::from(self.side == Side::Result)]
    }

    /// Compares what is accepted at two places, now or later, unless they were compared before.
    fn places(&mut self, old: &Place, new: &Place) {
        if self.is_too_large() {
            return;
        }
        self.left -= 1;
        if self.depth == MAX_DEPTH {
            self.later.push((old.clone(), new.clone()));
            return;
        }
        self.depth += 1;
        self.compare(old, new);
        self.depth -= 1;
    }

    fn is_too_large(&self) -> bool {
        self.left == 0 || self.findings.len() > MAX_FINDINGS
    }

    fn compare(&mut self, old: &Place, new: &Place) {
        let uses = (old, new);
        let (old, new) = (self.resolved(old), self.resolved(new));
        let are_uses = (uses.0.node != old.node, uses.1.node != new.node);
        if are_uses.0 || are_uses.1 {
            self.annotations(uses.0, uses.1, are_uses == (true, true));
        }
        if let (Some(old), Some(new)) = (old.node, new.node)
            && !self.compared.insert((old, new))
        {
            return;
        }
        if are_uses.0 == are_uses.1 {
            self.annotations(&old, &new, false);
        }
        if self.nullable(&old, &new) || self.mixed(&old, &new) {
            return;
        }
        let view = |place: &Place| {
            place.node.map_or_else(View::of_anything, |node| View::of(self.schemas, node))
        };
        let (was, is) = (view(&old), view(&new));
        let constants = was.constants() + is.constants();
        self.left = self.left.saturating_sub(constants / CONSTANTS);
        if self.is_too_large() {
            return;
        }
        self.kinds(&was, &is, &old, &new);
        match (&was.number, &is.number) {
            (Some(Part::Rules(was)), Some(Part::Rules(is))) => self.numbers(was, is, &old, &new),
            (Some(was), Some(is)) => self.constants(was, is, &old, &new),
            _ => {}
        }
        match (&was.string, &is.string) {
            (Some(Part::Rules(was)), Some(Part::Rules(is))) => self.strings(was, is, &old, &new),
            (Some(was), Some(is)) => self.constants(was, is, &old, &new),
            _ => {}
        }
        if let (Some(was), Some(is)) = (&was.boolean, &is.boolean) {
            self.constants(was, is, &old, &new);
        }
        match (&was.array, &is.array) {
            (Some(Part::Rules(was)), Some(Part::Rules(is))) => self.arrays(was, is, &old, &new),
            (Some(was), Some(is)) => self.constants(was, is, &old, &new),
            _ => {}
        }
        match (&was.object, &is.object) {
            (Some(Part::Rules(was)), Some(Part::Rules(is))) => self.objects(was, is, &old, &new),
            (Some(was), Some(is)) => self.constants(was, is, &old, &new),
            _ => {}
        }
        self.rules(&was, &is, &old, &new);
    }

    /// Follows references that have no keywords beside them.
    fn resolved(&self, place: &Place) -> Place {
        let mut place = place.clone();
        while let Some(target) = self.target(&place) {
            place = target;
        }
        place
    }

    /// Returns the target of a reference that has no keywords beside it. References in a circle are refused when they are read.
    fn target(&self, place: &Place) -> Option<Place> {
        let schema = &self.schemas[place.node?];
        let target = match schema.shape {
            Shape::Named(id) => self.schemas[id].schema,
            Shape::Local(target) => target,
            _ => return None,
        };
        schema.assertions.is_empty().then(|| self.at_definition(target))
    }

    /// Returns the place of the target of a reference.
    fn at_definition(&self, target: NodeId) -> Place {
        let root = self.of(["/args", "/result"]);
        let pointer = match &self.schemas[target].definition {
            Some(name) => format!("{root}/$defs/{}", escaped(name)),
            None => root.to_owned(),
        };
        Place { node: Some(target), pointer }
    }

    /// Reports a change of a set of values.
    fn shift(&mut self, sets: Sets, shift: Shift, old: &Place, new: &Place, words: String) {
        let [tightened, loosened, changed] = self.of(sets);
        let (rule, shows) = match shift {
            Shift::Tightened => (tightened, Shows::Lost),
            Shift::Loosened => (loosened, Shows::Gained),
            Shift::Changed => (changed, Shows::Both),
        };
        self.add(rule, old, new, shows, words);
    }

    fn add(&mut self, rule: &'static Rule, old: &Place, new: &Place, shows: Shows, words: String) {
        // What has no schema of its own has no place.
        let at = |place: &Place| place.node.map(|_| place.pointer.clone());
        let places = Places { old: at(old), new: at(new) };
        self.add_at(rule, places, (old, new), shows, words);
    }

    /// Adds a finding, with a value of one of two schemas that shows it.
    fn add_at(
        &mut self,
        rule: &'static Rule,
        at: Places,
        (old, new): (&Place, &Place),
        shows: Shows,
        words: String,
    ) {
        let witness = self.witness(old, new, shows);
        // What these keywords accept is not compared.
        let has_rules = [old, new].map(|place| self.has_rules(place)).contains(&true);
        let is_text_that_changed = [PATTERNS, FORMATS].map(|sets| self.of(sets)[2]).contains(&rule);
        let is_decided = !(is_text_that_changed || has_rules);
        let proof = match (is_decided, &witness) {
            (true, _) => Proof::Proved,
            (false, Some(_)) => Proof::Witness,
            (false, None) => Proof::Assumed,
        };
        self.findings.push(Finding {
            rule,
            tool: self.tool.to_owned(),
            at,
            classes: rule.classes,
            proof,
            witness,
            words,
        });
    }

    /// Returns whether a schema has keywords whose meaning is not compared.
    fn has_rules(&mut self, place: &Place) -> bool {
        let Some(node) = place.node else { return false };
        let has_rules = || !View::of(self.schemas, node).rules.is_empty();
        *self.with_rules.entry(node).or_insert_with(has_rules)
    }

    fn witness(&mut self, old: &Place, new: &Place, shows: Shows) -> Option<String> {
        if matches!(shows, Shows::Nothing) {
            return None;
        }
        let pair = (old.node, new.node);
        if !self.searched.contains_key(&pair) {
            if !self.budget.take(self.schemas, [old.node, new.node]) {
                return None;
            }
            let mut work = self.budget.work.get();
            let values = values(self.schemas, &[old.node, new.node], &mut work);
            let judge = |place: &Place| Judge::of(self.schemas, place.node);
            let (was, is) = (judge(old), judge(new));
            let found = [(&was, &is), (&is, &was)];
            let found = found.map(|(has, lacks)| witness(&values, has, lacks, &mut work));
            self.budget.work.set(work);
            self.searched.insert(pair, found);
        }
        let [lost, gained] = self.searched.get(&pair)?.clone();
        match shows {
            Shows::Lost => lost,
            Shows::Gained => gained,
            Shows::Both => lost.or(gained),
            Shows::Nothing => None,
        }
    }
}

impl Place {
    fn below(&self, part: &str, node: Option<NodeId>) -> Self {
        Self { node, pointer: format!("{}{part}", self.pointer) }
    }
}
