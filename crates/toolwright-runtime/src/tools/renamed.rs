//! A toolset some of whose tools are renamed.

use std::collections::{BTreeMap, BTreeSet};

use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult};

use super::seen::SeenTools;
use super::{ToolEntry, Toolset, ToolsetError, forward};

/// A toolset some of whose tools are renamed. Two tools may swap their names. Calls of a renamed tool must use its new name: another
/// wrapper, which selects it by that name, does not know its aliases.
pub(crate) struct Renamed<T> {
    inner: T,
    /// Old names by new name.
    old: BTreeMap<String, String>,
    /// New names by old name.
    new: BTreeMap<String, String>,
    /// The tools with their old names.
    seen: SeenTools,
}

impl<T: Toolset> Renamed<T> {
    /// Renames tools, by pairs of an old and a new name.
    ///
    /// # Errors
    ///
    /// A tool is renamed twice, or two tools are renamed to the same name. Collisions with tools that are not renamed are
    /// errors when the tools are listed.
    pub(super) fn new(
        inner: T,
        names: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ToolsetError> {
        let (old, new, seen) = (BTreeMap::new(), BTreeMap::new(), SeenTools::default());
        let mut renamed = Self { inner, old, new, seen };
        for (old, new) in names {
            if renamed.old.insert(new.clone(), old.clone()).is_some() {
                return Err(ToolsetError::Collision { name: new });
            }
            if renamed.new.insert(old.clone(), new).is_some() {
                return Err(ToolsetError::RenamedTwice { tool: old });
            }
        }
        Ok(renamed)
    }

    /// Returns the old name of a tool; `None` if the tool with this name was renamed.
    fn inner_name<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        match self.old.get(name) {
            Some(old) => Some(old),
            None if self.new.contains_key(name) => None,
            None => Some(name),
        }
    }

    /// Returns the old name of the tool that a call means; `None` if the call uses another name of a renamed tool than the new one.
    async fn called<'c>(&'c self, call: &'c ToolCall) -> Result<Option<&'c str>, ToolFailure> {
        let (name, scope) = (call.tool(), call.scope());
        let Some(inner) = self.inner_name(name) else { return Ok(None) };
        if self.old.contains_key(name) {
            return Ok(Some(inner));
        }
        let (known, listing) = (|| self.inner.known_tools(), self.seen.list(&self.inner, scope));
        let tool = self.seen.find_or_list((name, scope), known, listing).await?;
        let is_renamed = tool.is_some_and(|tool| self.new.contains_key(tool.name()));
        Ok((!is_renamed).then_some(inner))
    }

    fn rename(&self, tools: Vec<ToolEntry>) -> Result<Vec<ToolEntry>, ToolsetError> {
        let known: BTreeSet<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
        if let Some(tool) = self.new.keys().find(|old| !known.contains(*old)) {
            let available = known.into_iter().collect();
            return Err(ToolsetError::UnknownTool { tool: tool.clone(), available });
        }
        let mut used = BTreeSet::new();
        let mut renamed = Vec::with_capacity(tools.len());
        for tool in tools {
            let name = self.new.get(tool.name()).cloned().unwrap_or_else(|| tool.name().to_owned());
            if !used.insert(name.clone()) {
                return Err(ToolsetError::Collision { name });
            }
            renamed.push(tool.published_as(name));
        }
        Ok(renamed)
    }
}

impl<T: Toolset> Toolset for Renamed<T> {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move { Ok(self.rename(self.seen.list(&self.inner, scope).await?)?) })
    }

    fn known_tools(&self) -> Option<Vec<ToolEntry>> {
        self.rename(self.inner.known_tools()?).ok()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.called(call).await {
                Ok(Some(name)) => self.inner.call(&call.clone().with_tool(name)).await,
                Ok(None) => call.not_found(&[]).await,
                Err(failure) => ToolResult::new(call, Err(failure)),
            }
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        self.inner_name(tool).is_some_and(|name| self.inner.is_available(name))
    }

    forward!(inner: lifecycle, instructions);
}
