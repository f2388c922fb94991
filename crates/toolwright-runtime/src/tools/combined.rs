//! Combines several toolsets into one. Two tools with the same name are an error.

use crate::caught::{Caught, caught};
use crate::debug::debug;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use toolwright::{
    BoxError, BoxFuture, Map, Payload, Scope, ToolCall, ToolFailure, ToolResult, Value, codec,
};

use super::seen::Listings;
use super::{ToolEntry, Toolset, ToolsetError, exit};

/// Several toolsets as one. Each has a name for errors.
#[derive(Default)]
pub struct Combined {
    members: Vec<Member>,
    /// True if all members have the same tools in every run.
    is_fixed: OnceLock<bool>,
    /// The index of the member that has a tool, by tool name.
    routes: Listings<BTreeMap<String, usize>>,
}

/// The scope of the routes if the tools are the same in every run.
static ANY: Scope = Scope {
    run_id: None,
    session_id: None,
    turn_id: None,
    parent_call_id: None,
    labels: BTreeMap::new(),
    depth: 0,
};

struct Member {
    name: String,
    toolset: Arc<dyn Toolset>,
}

debug!(Combined, combined => { toolsets: combined.members.iter().map(|member| &member.name).collect::<Vec<_>>() });

impl Combined {
    /// Creates an empty combination.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a toolset with a name for errors.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, toolset: impl Toolset + 'static) -> Self {
        self.push(name.into(), Arc::new(toolset));
        self
    }

    pub(crate) fn push(&mut self, name: String, toolset: Arc<dyn Toolset>) {
        self.is_fixed.take();
        self.members.push(Member { name, toolset });
    }

    /// Adds the place of a toolset that does not exist in this run, so that the state of others with its name is saved with the
    /// same number as in runs that have it.
    pub(crate) fn push_absent(&mut self, name: String) {
        self.push(name, Arc::new(Self::new()));
    }

    /// Lists all members. Fails if two tools have the same name, or names that are the same for a model provider.
    async fn list(&self, scope: &Scope) -> Result<Vec<ToolEntry>, BoxError> {
        let mut all = Vec::new();
        let mut listed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, member) in self.members.iter().enumerate() {
            for tool in member.tools(scope).await? {
                listed.entry(tool.name().to_owned()).or_default().push(index);
                all.push(tool);
            }
        }
        self.check(&listed)?;
        let bytes = listed.keys().map(String::len).sum();
        let routes =
            listed.into_iter().filter_map(|(name, indexes)| Some((name, *indexes.first()?)));
        self.routes.set(self.scope_of_routes(scope), routes.collect(), bytes);
        Ok(all)
    }

    fn check(&self, listed: &BTreeMap<String, Vec<usize>>) -> Result<(), ToolsetError> {
        let duplicates = listed.iter().filter(|(_, indexes)| indexes.len() > 1);
        let sources = |indexes: &[usize]| {
            indexes.iter().map(|&index| self.members[index].name.clone()).collect()
        };
        let names: BTreeMap<_, _> =
            duplicates.map(|(name, indexes)| (name.clone(), sources(indexes))).collect();
        if !names.is_empty() {
            return Err(ToolsetError::DuplicateNames { names });
        }
        match find_clash(listed.keys().map(String::as_str)) {
            Some((sent, tools)) => Err(ToolsetError::ClashingNames { sent, tools }),
            None => Ok(()),
        }
    }

    fn scope_of_routes<'s>(&self, scope: &'s Scope) -> &'s Scope {
        let is_fixed = || self.members.iter().all(|member| member.known_tools().is_some());
        if *self.is_fixed.get_or_init(is_fixed) { &ANY } else { scope }
    }

    /// Returns the member that has the tool of a call, as of the last listing in its scope.
    fn member_of(&self, call: &ToolCall) -> Option<&Member> {
        let routes = self.routes.find(self.scope_of_routes(call.scope()))?;
        self.members.get(*routes.get(call.tool())?)
    }

    /// Returns the members, each with a unique name: its own, or for a name that a member before it has, one with a number.
    fn keyed(&self) -> impl Iterator<Item = (String, &Member)> {
        let names: BTreeSet<&str> =
            self.members.iter().map(|member| member.name.as_str()).collect();
        let (mut seen, mut numbered) = (BTreeSet::new(), BTreeSet::new());
        self.members.iter().map(move |member| {
            let mut keys = (2_usize..).map(|number| format!("{}#{number}", member.name));
            let mut is_free =
                |key: &String| !names.contains(&**key) && numbered.insert(key.clone());
            let key = if seen.insert(&*member.name) { None } else { keys.find(&mut is_free) };
            (key.unwrap_or_else(|| member.name.clone()), member)
        })
    }

    /// Exits the first `count` members in reverse order, and returns the errors.
    async fn exit_first(&self, count: usize, scope: &Scope) -> Vec<BoxError> {
        let mut errors = Vec::new();
        for member in self.members[..count].iter().rev() {
            if let Err(error) = member.exit(scope).await {
                errors.push(error);
            }
        }
        errors
    }
}

/// Returns the first two names that are the same for a model provider, with the name that the provider gets before them.
pub(crate) fn find_clash<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Option<(String, [String; 2])> {
    let mut sent: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    names.into_iter().find_map(|name| {
        let other = sent.insert(ToolEntry::provider_name(name), name)?;
        Some((ToolEntry::provider_name(name).into_owned(), [other.to_owned(), name.to_owned()]))
    })
}

impl Member {
    /// Awaits a future of the toolset, and turns a panic into an error.
    async fn caught<T>(&self, doing: &str, work: impl Future<Output = T>) -> Result<T, BoxError> {
        let worked = Caught::new(work).await;
        worked.map_err(|_| self.panicked(doing).into())
    }

    /// Calls a function of the toolset. Logs a panic and returns `None`.
    fn caught_sync<T>(&self, doing: &str, work: impl FnOnce() -> T) -> Option<T> {
        let worked = caught(work);
        worked.inspect_err(|_| tracing::error!("{}", self.panicked(doing))).ok()
    }

    fn panicked(&self, doing: &str) -> String {
        format!("toolset `{}` panicked while it {doing}", self.name)
    }

    /// Returns the text of an error, whose display may panic, too.
    fn failed(&self, what: &str) -> impl Fn(BoxError) -> String {
        move |error| format!("toolset `{}` {what}: {error}", self.name)
    }

    async fn tools(&self, scope: &Scope) -> Result<Vec<ToolEntry>, BoxError> {
        self.caught("listed its tools", async { self.toolset.tools(scope).await }).await?
    }

    async fn enter(&self, scope: &Scope) -> Result<(), BoxError> {
        let entering =
            async { self.toolset.enter(scope).await.map_err(self.failed("did not enter")) };
        Ok(self.caught("entered", entering).await??)
    }

    async fn exit(&self, scope: &Scope) -> Result<(), BoxError> {
        let exiting =
            async { exit(&*self.toolset, scope).await.map_err(self.failed("did not exit")) };
        Ok(self.caught("exited", exiting).await??)
    }

    async fn save(&self, scope: &Scope) -> Result<Option<Payload>, BoxError> {
        self.caught("saved its state", async { self.toolset.save(scope).await }).await?
    }

    async fn restore(&self, scope: &Scope, state: &Payload) -> Result<(), BoxError> {
        let failed = self.failed("was not restored");
        let restoring = async { self.toolset.restore(scope, state).await.map_err(failed) };
        Ok(self.caught("was restored", restoring).await??)
    }

    async fn instructions(&self, scope: &Scope) -> Option<String> {
        let text = async { self.toolset.instructions(scope).await };
        let text = self.caught("returned its instructions", text).await;
        text.inspect_err(|error| tracing::error!(%error, "its instructions are left out")).ok()?
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.caught_sync("returned its known tools", || self.toolset.known_tools())?
    }

    fn is_available(&self, tool: &str) -> bool {
        let available =
            self.caught_sync("checked availability", || self.toolset.is_available(tool));
        available.unwrap_or(false)
    }

    fn open_handles(&self) -> Vec<String> {
        let handles = self.caught_sync("returned its open handles", || self.toolset.open_handles());
        handles.unwrap_or_default()
    }
}

impl Toolset for Combined {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(self.list(scope))
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        let known = self.members.iter().map(Member::known_tools);
        Some(known.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        if let Some(member) = self.member_of(call) {
            return member.toolset.call(call);
        }
        Box::pin(async move {
            // The call may come before the first listing in its scope.
            if let Err(error) = self.list(call.scope()).await {
                return ToolResult::new(call, Err(ToolFailure::internal(&*error)));
            }
            match self.member_of(call) {
                Some(member) => member.toolset.call(call).await,
                None => call.not_found(&[]).await,
            }
        })
    }

    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            for (index, member) in self.members.iter().enumerate() {
                if let Err(error) = member.enter(scope).await {
                    for error in self.exit_first(index, scope).await {
                        tracing::warn!(%error, "after another toolset failed to enter, a toolset failed to exit");
                    }
                    return Err(error);
                }
            }
            Ok(())
        })
    }

    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let errors = self.exit_first(self.members.len(), scope).await;
            let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
            if texts.is_empty() { Ok(()) } else { Err(texts.join("; ").into()) }
        })
    }

    fn limits_exits(&self) -> bool {
        true
    }

    /// Saves an object with the state of each member by its name. If several have the same name, a number is added to all but
    /// the first.
    fn save<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(async move {
            let mut saved = Map::new();
            for (key, member) in self.keyed() {
                if let Some(state) = member.save(scope).await? {
                    let state: Value = state.as_str().parse().map_err(|issues| {
                        format!("toolset `{}` saved invalid JSON: {issues}", member.name)
                    })?;
                    saved.insert(key, state);
                }
            }
            Ok((!saved.is_empty()).then(|| Payload::new(Value::Object(saved).to_string())))
        })
    }

    fn restore<'a>(
        &'a self,
        scope: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let saved: Map<Value> = codec::from_json(saved.as_bytes())?;
            for (key, member) in self.keyed() {
                if let Some(state) = saved.get(&key) {
                    let state = Payload::new(state.to_string());
                    member.restore(scope, &state).await?;
                }
            }
            Ok(())
        })
    }

    fn open_handles(&self) -> Vec<String> {
        self.members.iter().flat_map(Member::open_handles).collect()
    }

    /// Returns the instructions of all members in order, without duplicates: the providers of one toolset may have the same.
    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let mut texts = Vec::new();
            for member in &self.members {
                let text = member.instructions(scope).await;
                let is_new = |text: &String| !text.trim().is_empty() && !texts.contains(text);
                let text = text.filter(is_new);
                texts.extend(text);
            }
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        })
    }

    /// Asks the members that have listed the tool in any scope. Before that, asks those that know it without a listing.
    fn is_available(&self, tool: &str) -> bool {
        let routes = self.routes.all();
        let mut indexes: BTreeSet<_> =
            routes.iter().filter_map(|routes| routes.get(tool)).copied().collect();
        if indexes.is_empty() {
            let knows_it = |member: &Member| {
                let known = member.known_tools().unwrap_or_default();
                ToolEntry::find(&known, tool).is_some()
            };
            indexes.extend((0..self.members.len()).filter(|&index| knows_it(&self.members[index])));
        }
        indexes.is_empty() || indexes.iter().any(|&index| self.members[index].is_available(tool))
    }
}
