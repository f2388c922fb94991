//! The lock: the tools of a project as they were published.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright::Value;
use toolwright::untrusted::{line, visible_json};
use toolwright_codegen::internal::model::{
    Implementation, InjectionSource, Project, Strictness, Tool, ToolId,
};
use toolwright_codegen::internal::schema::{NodeId, published};
use toolwright_codegen::internal::{Style, parallel_map, with_line_feeds};

use crate::canonical::{digest, object};
use crate::listing::LockedServer;
use crate::lock_error::LockError;
use crate::unique::{present, unique};
use crate::version::numbers;

/// The name of the file, in the folder of `toolwright.toml`.
pub const LOCK_FILE: &str = "toolwright.lock";

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The most bytes of a name or a version in an error.
const MAX_SHOWN: usize = 100;

/// The tools of a project as they were published, with the names that belonged to tools before.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The version of the format: 1.
    lock: u32,
    /// The version of the schema language: 1.
    language: u32,
    /// True if generated structs and enums are `#[non_exhaustive]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub non_exhaustive: bool,
    /// The toolsets, by name.
    #[serde(deserialize_with = "unique")]
    pub toolsets: BTreeMap<String, LockedToolset>,
    /// The tools, by name.
    #[serde(deserialize_with = "unique")]
    pub tools: BTreeMap<String, LockedTool>,
    /// The listings of remote servers, by their names in the project.
    #[serde(default, deserialize_with = "unique", skip_serializing_if = "BTreeMap::is_empty")]
    pub remote: BTreeMap<String, LockedServer>,
    /// Names that were published and belong to no tool any more, neither as its name nor as an alias. No other tool may have one.
    #[serde(deserialize_with = "unique")]
    pub names: BTreeMap<String, PastName>,
}

/// A toolset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedToolset {
    /// The service that owns it.
    pub service: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A name that belonged to a tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PastName {
    /// The name of the tool now, or when it was last published.
    pub was: String,
    /// The first version of the toolset that no longer has the name, if it has versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The digest of what models read of the tool, if the tool is gone: an equal one may have the name again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A tool.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTool {
    /// Its toolset.
    pub toolset: String,
    /// A short name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description that models read.
    pub description: String,
    /// Earlier names, by which it can still be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Its deprecation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<LockedDeprecation>,
    /// The schema of its arguments.
    pub args: Box<RawValue>,
    /// The schema of its result.
    pub result: Box<RawValue>,
    /// The advice of each declared error.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
    /// Hints about its effects.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, bool>,
    /// The approval that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<LockedApproval>,
    /// The keys of its payload that the host fills in, with their sources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inject: BTreeMap<String, String>,
    /// How its calls are run.
    #[serde(default, skip_serializing_if = "LockedLimits::is_default")]
    pub limits: LockedLimits,
    /// Templates for its progress.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hints: BTreeMap<String, String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Example calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<LockedExample>,
    /// The kind of what answers its calls (`method`, `agent`, `mcp` or `external`), with its name.
    pub implementation: BTreeMap<String, String>,
    /// Its digests. Only a lock that was read or written has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digests: Option<Digests>,
}

/// The deprecation of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedDeprecation {
    /// The version that deprecated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The tool to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// The last day on which it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// An approval.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedApproval {
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The message to the model if it is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied: Option<String>,
    /// Further data for the approver, as JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// How the calls of a tool are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LockedLimits {
    /// The time limit of an attempt in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// True if no call runs at the same time as others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sequential: bool,
    /// True if models have to search for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
    /// `always` if a provider must enforce its schema, `never` if it must not, and absent for the default, `prefer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<String>,
}

/// An example call.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LockedExample {
    /// The arguments.
    pub args: Box<RawValue>,
    /// The result, which may be null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
}

/// The digests of a tool, each `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// Of what a model reads: name, title, description, schema of the arguments, examples.
    pub model: String,
    /// Of the schema of the arguments.
    pub args: String,
    /// Of the schema of the result.
    pub result: String,
    /// Of the whole entry.
    pub all: String,
}

/// The names of tools by their names and aliases.
pub(crate) type Routes<'a> = BTreeMap<&'a str, &'a str>;

/// Finds the tools of an old lock in a new one.
pub(crate) struct Successors<'a> {
    new: &'a Lock,
    /// The old tools whose names no tool has any more, with their names now.
    renamed: BTreeMap<&'a str, &'a str>,
}

impl Lock {
    /// Returns the lock of a project that was not locked before.
    pub fn of(project: &Project) -> Self {
        let toolsets = project.toolsets.iter().map(|toolset| {
            let version =
                toolset.version.map(|[major, minor, patch]| format!("{major}.{minor}.{patch}"));
            let service = project[toolset.service].name.value.clone();
            (toolset.name.value.clone(), LockedToolset { service, version })
        });
        let mut ids: Vec<ToolId> = ToolId::first(project.tools.len()).collect();
        // A map is built faster from entries in its order, and these entries are large.
        ids.sort_by_key(|id| project[*id].name.value.as_str());
        let tools = parallel_map(&ids, |id| {
            (project[*id].name.value.clone(), LockedTool::of(project, *id))
        });
        Self {
            lock: FORMAT,
            language: 1,
            non_exhaustive: false,
            toolsets: toolsets.collect(),
            tools: tools.into_iter().collect(),
            remote: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    /// Sets whether generated structs and enums are `#[non_exhaustive]`.
    #[must_use]
    pub fn with_non_exhaustive(mut self, non_exhaustive: bool) -> Self {
        self.non_exhaustive = non_exhaustive;
        self
    }

    /// Adds the listings of remote servers, and the names that an earlier lock has and this one has not.
    ///
    /// # Errors
    ///
    /// If a tool has a name that belonged to another one.
    pub fn after(mut self, old: &Self) -> Result<Self, LockError> {
        let known = self.routes();
        let successors = Successors::of(old, &self, &known);
        let reused = self.reused(&successors, old, &old.routes());
        if let Some((name, was)) = reused.into_iter().next() {
            return Err(LockError(format!(
                "the name `{name}` belonged to the tool `{was}`, so that stored calls and transcripts mean that tool; \
                 choose another name, or remove the name from `names` of {LOCK_FILE}"
            )));
        }
        let mut names = old.names.clone();
        // A tool that was renamed since keeps its earlier names.
        for past in names.values_mut() {
            let was = old.tools.get(&past.was);
            if let Some(now) = was.and_then(|_| successors.get(&past.was)) {
                now.clone_into(&mut past.was);
            }
        }
        for (name, tool) in &old.tools {
            let called = tool.aliases.iter().chain([name]);
            let mut gone = called.filter(|name| !known.contains_key(name.as_str())).peekable();
            if gone.peek().is_none() {
                continue;
            }
            let version =
                self.toolsets.get(&tool.toolset).and_then(|toolset| toolset.version.clone());
            let now = successors.get(name);
            let past = PastName {
                was: now.unwrap_or(name).to_owned(),
                until: version,
                model: now.is_none().then(|| tool.digests(name).model),
            };
            names.extend(gone.map(|gone| (gone.clone(), past.clone())));
        }
        names.retain(|name, _| !known.contains_key(name.as_str()));
        self.names = names;
        self.remote.clone_from(&old.remote);
        Ok(self)
    }

    /// Returns the names that belonged to one tool in an earlier lock and belong to another one here, with the earlier tool.
    pub(crate) fn reused(
        &self,
        successors: &Successors<'_>,
        old: &Self,
        old_routes: &Routes<'_>,
    ) -> Vec<(String, String)> {
        let successor = |name: &str| successors.get(name);
        let mut found = Vec::new();
        for (name, tool) in &self.tools {
            for taken in tool.aliases.iter().chain([name]) {
                let owner = old_routes.get(taken.as_str()).filter(|owner| **owner != name);
                let (was, is_same) = match (owner, old.names.get(taken)) {
                    (Some(owner), _) => (*owner, successor(owner) == Some(name)),
                    (None, Some(past)) => {
                        let is_back = || past.model.as_ref() == Some(&tool.digests(name).model);
                        let is_later = past.model.is_none()
                            && (past.was == *name || successor(&past.was) == Some(name));
                        (past.was.as_str(), is_later || is_back())
                    }
                    (None, None) => continue,
                };
                if !is_same {
                    found.push((taken.clone(), was.to_owned()));
                }
            }
        }
        found
    }

    /// Returns the names of tools by their names and aliases. A name takes precedence over an alias.
    pub(crate) fn routes(&self) -> Routes<'_> {
        let mut routes: Routes<'_> =
            self.tools.keys().map(|name| (name.as_str(), name.as_str())).collect();
        for (name, tool) in &self.tools {
            for alias in &tool.aliases {
                routes.entry(alias).or_insert(name);
            }
        }
        routes
    }

    /// Adds the digests of the tools, and returns the text of the file, in which hidden characters are escaped.
    pub fn to_text(&mut self) -> String {
        let tools: Vec<(&String, &LockedTool)> = self.tools.iter().collect();
        let digests = parallel_map(&tools, |(name, tool)| tool.digests(name));
        for (tool, digests) in self.tools.values_mut().zip(digests) {
            tool.digests = Some(digests);
        }
        // These values have no maps with keys other than strings, so writing them cannot fail.
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        visible_json(&text).into_owned()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If it is not a lock, or one of a later version.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        #[derive(Deserialize)]
        struct Head {
            lock: u32,
        }
        let text = &*with_line_feeds(text);
        let lock: Result<Self, _> = serde_json::from_str(text);
        let format = match &lock {
            Ok(lock) => Ok(lock.lock),
            Err(_) if text.lines().any(|line| line.starts_with("<<<<<<< ")) => {
                let advice = "the lock has marks of a merge conflict; take either side and run `toolwright lock`";
                return Err(LockError(advice.to_owned()));
            }
            Err(_) => serde_json::from_str(text).map(|Head { lock }| lock),
        };
        match format {
            Ok(format) if format != FORMAT => Err(LockError(format!(
                "the lock has the version {format}, expected {FORMAT}; use the version of toolwright that wrote it"
            ))),
            _ => {
                let lock = lock.map_err(|error| LockError(format!("expected a lock: {error}")))?;
                lock.check_versions()?;
                Ok(lock)
            }
        }
    }

    /// Checks the versions of the toolsets: one that is not understood would allow every change.
    fn check_versions(&self) -> Result<(), LockError> {
        for (name, toolset) in &self.toolsets {
            if let Some(version) = &toolset.version
                && numbers(version).is_none()
            {
                let (name, version) = (line(name, MAX_SHOWN), line(version, MAX_SHOWN));
                return Err(LockError(format!(
                    "the toolset `{name}` has the version `{version}` in the lock, expected three numbers such as `1.4.0`; restore \
                     the lock, or delete it and run `toolwright lock`"
                )));
            }
        }
        Ok(())
    }

    /// Checks that the digests of the listings of remote servers are right.
    ///
    /// # Errors
    ///
    /// If one is not, because somebody edited the lock.
    pub fn check(&self) -> Result<(), LockError> {
        self.remote.values().try_for_each(LockedServer::check)
    }
}

impl<'a> Successors<'a> {
    /// `routes` are those of the new lock.
    pub(crate) fn of(old: &'a Lock, new: &'a Lock, routes: &Routes<'a>) -> Self {
        let is_new = |name: &&str| !old.tools.contains_key(*name);
        let mut equal = BTreeMap::new();
        for (name, tool) in new.tools.iter().filter(|(name, _)| is_new(&name.as_str())) {
            equal.entry(parts_but_name(tool)).or_insert(name.as_str());
        }
        let gone = old.tools.iter().filter(|(name, _)| !new.tools.contains_key(*name));
        let renamed = gone.filter_map(|(name, was)| {
            let called = [name].into_iter().chain(&was.aliases);
            let called = called.filter_map(|name| routes.get(name.as_str()).copied()).find(is_new);
            let now = called.or_else(|| equal.get(&parts_but_name(was)).copied());
            Some((name.as_str(), now?))
        });
        let renamed = renamed.collect();
        Self { new, renamed }
    }

    /// Returns the name of an old tool in the new lock: its own, or one under which the old name or an alias is routed, or that
    /// of a tool that is new and equal but for its name.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let same = self.new.tools.get_key_value(name).map(|(name, _)| name.as_str());
        same.or_else(|| self.renamed.get(name).copied())
    }
}

/// Returns the toolset, the description, and the schemas of a tool.
fn parts_but_name(tool: &LockedTool) -> [&str; 4] {
    [&tool.toolset, &tool.description, tool.args.get(), tool.result.get()]
}

impl LockedTool {
    fn of(project: &Project, id: ToolId) -> Self {
        let tool = &project[id];
        let method = tool.binding.as_ref().map(|binding| &project[binding.method]);
        let errors = method.iter().flat_map(|method| &method.errors);
        let binding = tool.binding.iter().flat_map(|binding| &binding.inject);
        Self {
            toolset: project[tool.toolset].name.value.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            aliases: tool.aliases.iter().map(|alias| alias.value.clone()).collect(),
            deprecated: tool.deprecated.as_ref().map(|deprecation| LockedDeprecation {
                since: deprecation.since.clone(),
                replacement: deprecation.replacement.map(|tool| project[tool].name.value.clone()),
                until: deprecation.until.clone(),
            }),
            errors: errors
                .map(|error| (error.name.value.clone(), error.recovery.as_str().to_owned()))
                .collect(),
            annotations: annotations(tool),
            approval: tool.approval.as_ref().map(|approval| {
                let text =
                    |text: &Option<toolwright::spec::Text>| text.as_deref().map(str::to_owned);
                LockedApproval {
                    prompt: text(&approval.prompt),
                    denied: text(&approval.denied),
                    metadata: text(&approval.metadata),
                }
            }),
            inject: binding
                .map(|injection| (injection.property.value.clone(), source(&injection.source)))
                .collect(),
            limits: LockedLimits {
                timeout_ms: tool
                    .limits
                    .timeout
                    .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
                attempts: tool.limits.attempts,
                sequential: tool.limits.sequential,
                deferred: tool.is_deferred,
                strict: strictness(tool),
            },
            hints: [("call", &tool.hints.call), ("result", &tool.hints.result)]
                .into_iter()
                .filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?.to_owned())))
                .collect(),
            tags: tool.tags.clone(),
            examples: tool
                .examples
                .iter()
                .map(|example| LockedExample {
                    args: raw(&example.args),
                    result: example.result.as_deref().map(raw),
                })
                .collect(),
            implementation: implementation(project, id),
            digests: None,
            args: schema(project, tool.args),
            result: schema(project, tool.result),
        }
    }

    fn digests(&self, name: &str) -> Digests {
        // Neither can fail: there are no maps with keys other than strings, and a tool of a project has at most 120 levels.
        let entry = serde_json::to_string(self).unwrap_or_default().parse().unwrap_or_default();
        let Value::Object(entry) = entry else { return Digests::default() };
        let members = entry.iter().filter(|(key, _)| *key != "digests");
        let mut whole: BTreeMap<_, _> =
            members.map(|(key, value)| (key, value.to_canonical())).collect();
        whole.insert("name", Value::from(name).to_canonical());
        let examples = entry.get("examples").and_then(Value::as_array).unwrap_or_default();
        let examples: Vec<String> = examples
            .iter()
            .map(|example| {
                let parts = ["args", "result"].into_iter().filter_map(|key| example.get(key));
                format!("[{}]", parts.map(Value::to_canonical).collect::<Vec<_>>().join(","))
            })
            .collect();
        let examples = ("examples", format!("[{}]", examples.join(",")));
        let member = |key| whole.get(key).cloned().unwrap_or_else(|| "null".to_owned());
        let model = ["name", "title", "description", "args"].map(|key| (key, member(key)));
        Digests {
            model: digest("model", &object(model.into_iter().chain([examples]))),
            args: digest("args", &member("args")),
            result: digest("result", &member("result")),
            all: digest("all", &object(whole)),
        }
    }
}

impl LockedLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns a schema as it is written in the file, six columns in.
fn schema(project: &Project, node: NodeId) -> Box<RawValue> {
    let text = published(&project.schemas, node, Style::Pretty);
    raw(&text.trim_end().replace('\n', "\n      "))
}

fn raw(text: &str) -> Box<RawValue> {
    // The compiler writes valid JSON.
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn annotations(tool: &Tool) -> BTreeMap<String, bool> {
    let found = &tool.annotations;
    let all = [
        ("destructive", found.destructive),
        ("idempotent", found.idempotent),
        ("open_world", found.open_world),
        ("read_only", found.read_only),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn strictness(tool: &Tool) -> Option<String> {
    match tool.strictness {
        Strictness::Always => Some("always".to_owned()),
        Strictness::Prefer => None,
        Strictness::Never => Some("never".to_owned()),
    }
}

fn source(source: &InjectionSource) -> String {
    match source {
        InjectionSource::RunId => "run_id".to_owned(),
        InjectionSource::SessionId => "session_id".to_owned(),
        InjectionSource::TurnId => "turn_id".to_owned(),
        InjectionSource::CallId => "call_id".to_owned(),
        InjectionSource::ParentCallId => "parent_call_id".to_owned(),
        InjectionSource::Label(key) => format!("label:{key}"),
    }
}

fn implementation(project: &Project, id: ToolId) -> BTreeMap<String, String> {
    let (kind, name) = match project.implementation(id) {
        Implementation::Method(method) => {
            let method = &project[method];
            let service = &project[method.service].name.value;
            ("method", format!("{service}.{}", method.name.value))
        }
        Implementation::Agent(agent) => ("agent", project[agent].name.value.clone()),
        Implementation::Mcp(server) => {
            let tool = &project[id];
            let name = tool.remote.as_deref().unwrap_or(&tool.name.value);
            ("mcp", format!("{server}/{name}"))
        }
        Implementation::External => ("external", String::new()),
    };
    BTreeMap::from([(kind.to_owned(), name)])
}
