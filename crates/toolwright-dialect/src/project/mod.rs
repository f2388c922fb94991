//! Projects one tool to one dialect: creates the wire schema, the plan for its values, and the list of losses.
//!
//! A projection never fails. A construct that a dialect cannot express becomes a sentence, a string of JSON text, or a refusal
//! with a reason.

mod array;
mod choice;
mod constants;
mod free_names;
mod leaf;
mod node;
mod object;
mod plain;
mod root;
mod text;
mod without_plan;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use toolwright::issue::{Issue, IssueKind};
use toolwright::value::{Kind, Map, Value};
use toolwright::{InvalidPayload, Payload};

use crate::canonical::Canonical;
use crate::loss::{Class, Loss, LossKind};
use crate::numbers::Numbers;
use crate::plan::{CanonicalSchema, Chosen, Plan, SAME, Step, StepId};
use crate::policy::Policy;
use crate::row::{Dialect, Mode};
use crate::wire::Document;
use free_names::FreeNames;
use without_plan::refused;

/// A tool as it is published.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The canonical name.
    pub name: &'a str,
    /// The description for models.
    pub description: &'a str,
    /// The JSON Schema of the arguments: self-contained, of draft 2020-12 or of the one that `$schema` names.
    pub args: &'a str,
}

/// A tool in a dialect.
#[derive(Debug)]
pub struct Projection {
    /// The name on the wire. Names of several tools may clash: [`place`](crate::place()) reports that.
    pub wire_name: String,
    /// The description on the wire.
    pub description: String,
    /// The schema on the wire; `None` if the tool is sent without one or refused.
    pub wire_schema: Option<String>,
    /// The worst of the losses.
    pub class: Class,
    /// All losses, in the order of the canonical schema.
    pub losses: Vec<Loss>,
    /// The sizes of the wire schema.
    pub numbers: Numbers,
    /// The schemas that were projected, each as often as references led to it. Comparing and copying values and keys, merging schemas,
    /// and checking listed values count as the schemas that take as long, and so does reading the text.
    pub schemas: usize,
    plan: Plan,
}

/// A decoded value, with the way back to the wire for issues that a codec finds.
#[derive(Debug)]
pub struct Decoded<'a> {
    /// The canonical value. The tool's codec checks it.
    pub canonical: Payload,
    plan: &'a Plan,
    /// The text of the wire value, unless its places are those of the canonical value.
    wire: Option<String>,
}

impl Decoded<'_> {
    /// Converts a canonical JSON Pointer to the JSON Pointer on the wire. If the place does not exist there, returns that of the
    /// nearest value around it.
    pub fn wire_pointer(&self, canonical: &str) -> String {
        self.place(canonical, self.document().as_ref(), &mut Chosen::new())
    }

    /// Returns issues of a codec with their places on the wire.
    pub fn wire_issues(&self, invalid: &InvalidPayload) -> WireIssues {
        let (document, mut chosen) = (self.document(), Chosen::new());
        let issue = |issue: &Issue| WireIssue {
            wire: self.place(issue.pointer(), document.as_ref(), &mut chosen),
            issue: issue.clone(),
        };
        WireIssues { issues: invalid.shown().map(issue).collect() }
    }

    /// Parses the wire value again: places are only needed for mistakes.
    fn document(&self) -> Option<Document<'_>> {
        self.wire.as_ref().and_then(|text| Document::of(text).ok())
    }

    fn place(&self, canonical: &str, wire: Option<&Document<'_>>, chosen: &mut Chosen) -> String {
        match wire {
            Some(wire) => self.plan.wire_pointer(canonical, wire.root(), chosen),
            None => canonical.to_owned(),
        }
    }
}

/// An issue with its place on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireIssue {
    /// The JSON Pointer in what the model sent.
    pub wire: String,
    /// The issue, with its canonical JSON Pointer.
    pub issue: Issue,
}

/// All issues of a value from the wire. Displays as one sentence on each line, with the places on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireIssues {
    /// The issues, in order.
    pub issues: Vec<WireIssue>,
}

impl std::fmt::Display for WireIssues {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, WireIssue { wire, issue }) in self.issues.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            match wire.as_str() {
                "" => write!(out, "{separator}the payload: {}", issue.kind())?,
                _ => write!(out, "{separator}`{wire}`: {}", issue.kind())?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for WireIssues {}

/// A canonical value that cannot be sent in a dialect. Displays as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CannotSay {
    /// The canonical JSON Pointer of the value.
    pub at: String,
    reason: String,
}

impl std::fmt::Display for CannotSay {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place =
            if self.at.is_empty() { "the payload".to_owned() } else { format!("`{}`", self.at) };
        write!(out, "{place} cannot be sent in this dialect: it {}", self.reason)
    }
}

impl std::error::Error for CannotSay {}

impl Projection {
    /// Encodes canonical arguments, such as those of calls in a history.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or the value cannot be sent in the dialect.
    pub fn encode(&self, canonical: &str) -> Result<String, CannotSay> {
        if self.class == Class::Refused {
            return Err(CannotSay {
                at: String::new(),
                reason: "belongs to a tool that is refused".to_owned(),
            });
        }
        let value: Value = canonical.parse().map_err(|invalid: InvalidPayload| CannotSay {
            at: String::new(),
            reason: format!("is not JSON text: {invalid}"),
        })?;
        let wire = self.plan.encode(value);
        wire.map(|wire| wire.to_string())
            .map_err(|no_form| CannotSay { at: no_form.at, reason: no_form.reason })
    }

    /// Decodes arguments as a provider sent them: an object, a string that contains the JSON text of one, or nothing. The codec
    /// of the tool must check the result; [`Decoded::wire_issues`] converts the places in its issues.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, has a duplicate key, or does not match the plan: all issues, with their places on the wire. If the plan
    /// changes no arguments, the text is not read, and the codec finds them.
    pub fn decode<'a>(&'a self, wire: &str) -> Result<Decoded<'a>, WireIssues> {
        let whole = |kind| WireIssues {
            issues: vec![WireIssue { wire: String::new(), issue: Issue::new("", kind) }],
        };
        if self.class == Class::Refused {
            return Err(whole(IssueKind::Schema {
                message: "the tool is refused in this dialect".to_owned(),
            }));
        }
        let wire = if matches!(wire.trim(), "" | "null" | "\"\"") && !self.plan.is_wrapped() {
            "{}"
        } else {
            wire
        };
        if self.plan.decodes_as_is() && !wire.trim_start().starts_with('"') {
            return Ok(Decoded { canonical: Payload::new(wire), plan: &self.plan, wire: None });
        }
        let whole = Document::of(wire).map_err(|invalid| WireIssues {
            issues: invalid
                .issues()
                .iter()
                .map(|issue| WireIssue { wire: issue.pointer().to_owned(), issue: issue.clone() })
                .collect(),
        })?;
        // Some providers send the arguments as a string that holds their text.
        let text = whole.root().as_str();
        let inner = text.as_ref().and_then(|text| Some((text.as_ref(), Document::of(text).ok()?)));
        let inner = inner.filter(|(_, inner)| inner.root().kind() == Kind::Object);
        let (text, document) =
            inner.as_ref().map_or((wire, &whole), |(text, inner)| (*text, inner));
        let mut wrong = Vec::new();
        let canonical = self.plan.decode(document.root(), text.len(), &mut wrong);
        if !wrong.is_empty() {
            let issue =
                |wrong: crate::plan::Wrong| WireIssue { wire: wrong.wire, issue: wrong.issue };
            return Err(WireIssues { issues: wrong.into_iter().map(issue).collect() });
        }
        Ok(Decoded {
            canonical: Payload::new(canonical),
            plan: &self.plan,
            wire: Some(text.to_owned()),
        })
    }

    /// Returns whether encoding and decoding change nothing.
    pub fn is_identity(&self) -> bool {
        self.plan.is_identity()
    }
}

/// Projects a tool to a dialect. Never fails: a tool that the dialect cannot express has the class [`Class::Refused`], and the
/// place and the reason are among its losses. For several dialects, [`Subject::read`] reads the tool once.
///
/// ```
/// use toolwright_dialect::{Class, Dialect, Policy, Subject, project};
///
/// let subject = Subject {
///     name: "find_issues",
///     description: "Find issues.",
///     args: r#"{"type": "object", "additionalProperties": false, "properties": {"limit": {"type": "integer", "minimum": 1}}}"#,
/// };
/// let found = project(&subject, Dialect::named("openai-chat-strict").unwrap(), &Policy::default());
/// assert_eq!(found.class, Class::Lossless);
/// assert_eq!(found.encode("{}")?, r#"{"limit":null}"#);
/// assert_eq!(found.decode(r#"{"limit":null}"#)?.canonical.as_str(), "{}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn project(subject: &Subject<'_>, dialect: &Dialect, policy: &Policy) -> Projection {
    subject.read().project(dialect, policy)
}

/// A tool whose schema is read, to project it into several dialects: what they have in common is computed once.
#[derive(Debug)]
pub struct ReadSubject<'a> {
    name: &'a str,
    description: &'a str,
    /// The schema as it is written, or why there is none.
    schema: Result<Value, String>,
    /// The bytes of its text.
    bytes: usize,
    canonical: OnceCell<Canonical>,
    modern: OnceCell<Modern>,
}

/// A schema in the form of draft 2020-12, with the keywords of its own draft that are left.
#[derive(Debug)]
struct Modern {
    schema: Value,
    /// The place and the reason if it is not a schema of that draft.
    mistake: Option<(String, String)>,
}

impl<'a> Subject<'a> {
    /// Returns the tool by which a model gives the final answer of a run: its arguments are the result, of this schema.
    pub fn final_answer(result: &'a str) -> Self {
        let description = "Gives the final answer. Call it alone, once the work is done.";
        Self { name: "final_answer", description, args: result }
    }

    /// Reads the schema of the arguments.
    pub fn read(&self) -> ReadSubject<'a> {
        let schema: Result<Value, InvalidPayload> = self.args.parse();
        let schema = match schema {
            Ok(schema) if !has_short_keys(&schema, MOST_KEY_BYTES) => {
                Err(format!("has keys of more than {MOST_KEY_BYTES} bytes around a value"))
            }
            Ok(schema @ (Value::Object(_) | Value::Boolean(_))) => Ok(schema),
            Ok(other) => {
                let found: String = other.to_string().chars().take(MOST_SHOWN).collect();
                Err(format!("is {found}, expected a JSON Schema"))
            }
            Err(invalid) => Err(format!("is not JSON text: {invalid}")),
        };
        let Self { name, description, .. } = *self;
        ReadSubject {
            name,
            description,
            schema,
            bytes: self.args.len(),
            canonical: OnceCell::new(),
            modern: OnceCell::new(),
        }
    }
}

/// The values in keywords that are copied in about the time that a schema takes.
const VALUES_OF_SCHEMA: usize = 4;

/// The bytes of a text that take about as long as one of its schemas.
const BYTES_OF_SCHEMA: usize = 32;

/// The most bytes of the keys around a value of a schema: the places of losses begin with them.
const MOST_KEY_BYTES: usize = 4096;

/// Returns whether the keys around each value have at most some bytes together.
fn has_short_keys(value: &Value, bytes: usize) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| has_short_keys(item, bytes)),
        Value::Object(entries) => entries.iter().all(|(key, value)| {
            bytes.checked_sub(key.len()).is_some_and(|left| has_short_keys(value, left))
        }),
        _ => true,
    }
}

impl ReadSubject<'_> {
    /// Projects the tool as [`project`] does.
    pub fn project(&self, dialect: &Dialect, policy: &Policy) -> Projection {
        let wire_name = crate::names::wire_name(self.name, dialect);
        let mut description = self.description.to_owned();
        if dialect.description_nonempty && description.trim().is_empty() {
            description.clone_from(&wire_name);
        }
        let schema = match &self.schema {
            Ok(schema) => schema,
            Err(reason) => return refused(wire_name, description, reason.clone()),
        };
        let canonical = self.canonical.get_or_init(|| Canonical::new(schema));
        canonical.begin();
        let mut projector = Projector::new(canonical, dialect, policy);
        let (wire, root) = if dialect.mode == Mode::Any {
            let modern = || self.modern.get_or_init(|| Modern::of(schema));
            plain::project(&mut projector, schema, modern)
        } else {
            root::project(&mut projector)
        };
        let wire = wire.map(|schema| projector.with_definitions(schema));
        let wire_schema = wire.as_ref().map(Value::to_string);
        let sizes = wire.iter().zip(&wire_schema);
        let numbers = sizes.map(|(wire, text)| Numbers::of(wire, text.len())).next();
        let numbers = numbers.unwrap_or_default();
        if let Some(reason) = numbers.over(&dialect.limits) {
            projector.refuse("", "T0", reason);
        }
        let copied = projector.copied_values / VALUES_OF_SCHEMA;
        let Projector { mut losses, losses_of_definitions, steps, nodes, rules, .. } = projector;
        losses.extend(losses_of_definitions);
        let class = Class::of(&losses);
        let wire_schema = wire_schema.filter(|_| class != Class::Refused);
        let plan = Plan::new(steps, root, &canonical.root);
        Projection {
            wire_name,
            description,
            wire_schema,
            class,
            losses,
            numbers,
            schemas: (nodes + rules.schemas() + canonical.merged_schemas() + copied)
                .max(self.bytes / BYTES_OF_SCHEMA),
            plan,
        }
    }
}

/// A node on the wire, and the step for its values.
struct Node {
    wire: Map<Value>,
    step: StepId,
}

impl Node {
    fn same(wire: Map<Value>) -> Self {
        Self { wire, step: SAME }
    }
}

/// A definition of the wire schema.
struct Definition {
    name: String,
    step: StepId,
    wire: Option<Value>,
    is_being_made: bool,
}

/// The state of a projection.
struct Projector<'a> {
    canonical: &'a Canonical,
    dialect: &'a Dialect,
    policy: &'a Policy,
    losses: Vec<Loss>,
    /// The indices of the losses at each place, by a hash of the place. Some may no longer exist or belong to another loss.
    losses_at: HashMap<u64, Vec<usize>>,
    /// The losses of the definitions that are made. They stay even if the node that needed the definition is dropped.
    losses_of_definitions: Vec<Loss>,
    steps: Vec<Step>,
    /// By the pointer of their target.
    definitions: BTreeMap<String, Definition>,
    /// The pointer of the target of each name.
    names: BTreeMap<String, String>,
    free_names: FreeNames,
    /// Targets whose definitions are still to be made.
    pending: Vec<String>,
    /// How many definitions are being made within each other.
    making: usize,
    /// The targets of references that are being written out.
    inlined: Vec<String>,
    copies: usize,
    nodes: usize,
    /// The values in keywords that are not projected as schemas, each as often as it was copied.
    copied_values: usize,
    /// The schemas around the one that is being projected.
    nesting: usize,
    is_refused: bool,
    rules: constants::Rules,
}

/// Where a node is on the wire.
#[derive(Clone, Copy)]
struct Depth(usize);

impl<'a> Projector<'a> {
    fn new(canonical: &'a Canonical, dialect: &'a Dialect, policy: &'a Policy) -> Self {
        Self {
            canonical,
            dialect,
            policy,
            losses: Vec::new(),
            losses_at: HashMap::new(),
            losses_of_definitions: Vec::new(),
            steps: vec![Step::Same],
            definitions: BTreeMap::new(),
            names: BTreeMap::new(),
            free_names: FreeNames::default(),
            pending: Vec::new(),
            making: 0,
            inlined: Vec::new(),
            copies: 0,
            nodes: 0,
            copied_values: 0,
            nesting: 0,
            is_refused: false,
            rules: constants::Rules::default(),
        }
    }

    fn step(&mut self, step: Step) -> StepId {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn lose(
        &mut self,
        kind: LossKind,
        at: &str,
        keyword: &str,
        was: Value,
        now: &str,
        by: &'static str,
    ) {
        let at = if keyword.is_empty() || POLICY_WORDS.contains(&keyword) {
            at.to_owned()
        } else {
            format!("{at}/{keyword}")
        };
        let now = now.to_owned();
        let loss = Loss { kind, at, keyword: keyword.to_owned(), was, now, by };
        let mut hasher = DefaultHasher::new();
        loss.at.hash(&mut hasher);
        let here = self.losses_at.entry(hasher.finish()).or_default();
        // A target that is written out several times loses the same each time.
        let is_known = |index: &usize| self.losses.get(*index) == Some(&loss);
        if self.inlined.is_empty() || !here.iter().any(is_known) {
            here.push(self.losses.len());
            self.losses.push(loss);
        }
    }

    fn refuse(&mut self, at: &str, by: &'static str, reason: String) {
        self.is_refused = true;
        self.lose(LossKind::Refused, at, "", Value::Null, &reason, by);
    }

    /// Drops the losses after the first `kept` ones, because their nodes are not used.
    fn take_back(&mut self, kept: usize) {
        self.losses.truncate(kept);
        let mut losses = self.losses.iter().chain(&self.losses_of_definitions);
        self.is_refused = losses.any(|loss| loss.kind == LossKind::Refused);
    }

    /// Returns the schema of canonical values: that at a pointer, or a copy of one that was merged from several. `None` if too much was
    /// copied before.
    fn canonical(&self, schema: &Value, at: &str) -> Option<CanonicalSchema> {
        if self.canonical.root.pointer(at) == Some(schema) {
            return Some(CanonicalSchema::At(at.to_owned()));
        }
        let fits = self.canonical.take(std::iter::once(schema));
        fits.then(|| CanonicalSchema::Own(schema.clone()))
    }

    /// Makes the definitions that are referred to, and puts them beside the root.
    fn with_definitions(&mut self, mut root: Map<Value>) -> Value {
        while let Some(pointer) = self.pending.pop() {
            self.make(&pointer);
        }
        let mut all: Vec<(String, Value)> = Vec::new();
        for definition in self.definitions.values() {
            if let Some(wire) = &definition.wire {
                all.push((definition.name.clone(), wire.clone()));
            }
        }
        if !all.is_empty() {
            all.sort_by(|one, other| one.0.cmp(&other.0));
            root.insert("$defs", Value::Object(all.into_iter().collect()));
        }
        Value::Object(root)
    }

    /// Makes the definition of a target, unless it is made.
    fn make(&mut self, pointer: &str) {
        let canonical = self.canonical;
        let Some(target) = canonical.at(pointer) else { return };
        match self.definitions.get_mut(pointer) {
            Some(definition) if definition.wire.is_none() && !definition.is_being_made => {
                definition.is_being_made = true;
            }
            _ => return,
        }
        if self.is_refused {
            return;
        }
        self.making += 1;
        let outer = std::mem::take(&mut self.losses);
        let node = self.node(target, pointer, Depth(1));
        self.losses_of_definitions.append(&mut self.losses);
        self.losses = outer;
        self.making -= 1;
        if let Some(definition) = self.definitions.get_mut(pointer) {
            definition.is_being_made = false;
            definition.wire = Some(Value::Object(node.wire));
            let step = definition.step;
            self.steps[step] = Step::Link(node.step);
        }
    }
}

/// The maximum nesting of definitions that are projected on first use; deeper ones are projected later, when their
/// outermost form is no longer needed.
const MOST_MAKING: usize = 16;

/// Keys of policies that are used as the keyword of a loss.
const POLICY_WORDS: [&str; 2] = ["unnamed_keys", "absent"];

/// Keywords that only contain text for people and models.
const WORDS: [&str; 7] =
    ["title", "description", "$comment", "examples", "$schema", "$id", "default"];

/// The most characters that are shown of a value that is not a schema.
const MOST_SHOWN: usize = 40;
