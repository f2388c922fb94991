//! Where a session's calls go: by the prefix of the published name. Never knows what kind of toolset stands behind it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolwright::{
    BoxError, BoxFuture, FailureKind, Recovery, Scope, ToolCall, ToolFailure, ToolResult,
};

use super::catalog::{Definition, SEPARATOR};
use crate::toolset::{ToolEntry, Toolset};

/// The toolsets of one session by prefix. What the session made is entered and exited with it; shared instances are
/// their owner's, so a session does neither to them.
#[derive(Default)]
pub(super) struct Router(BTreeMap<String, Route>);

struct Route {
    definition: Definition,
    toolset: Arc<dyn Toolset>,
}

impl Router {
    pub(super) fn add(&mut self, definition: Definition, toolset: Arc<dyn Toolset>) {
        self.0.insert(definition.prefix().to_owned(), Route { definition, toolset });
    }

    /// The toolset of a published name, and the bare name of the tool.
    fn route<'n>(&self, name: &'n str) -> Option<(&Route, &'n str)> {
        let (prefix, bare) = name.split_once(SEPARATOR)?;
        let route = self.0.get(prefix).filter(|_| !bare.is_empty())?;
        Some((route, bare))
    }

    /// The routes that live and end with the session.
    fn own(&self) -> impl DoubleEndedIterator<Item = &Route> {
        self.0.values().filter(|route| !route.definition.source().is_shared())
    }
}

/// Says of a name that no toolset stands behind it.
pub(super) fn toolset_not_found(name: &str) -> ToolFailure {
    let message = format!("toolset not found: `{name}`");
    ToolFailure::new(FailureKind::NotFound, message, Recovery::Replan)
}

impl Toolset for Router {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for (prefix, route) in &self.0 {
                for tool in route.toolset.tools(scope).await? {
                    if route.definition.publishes(tool.name()) {
                        let name = format!("{prefix}{SEPARATOR}{}", tool.name());
                        all.push(tool.published_as(name));
                    }
                }
            }
            Ok(all)
        })
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match self.route(call.tool()) {
                Some((route, bare)) if route.definition.publishes(bare) => {
                    route.toolset.call(&call.clone().with_tool(bare)).await
                }
                _ => ToolResult::new(call, Err(toolset_not_found(call.tool()))),
            }
        })
    }

    fn enter<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            for (place, route) in self.own().enumerate() {
                if let Err(error) = route.toolset.enter(scope).await {
                    for entered in self.own().take(place).collect::<Vec<_>>().into_iter().rev() {
                        log(entered.toolset.exit(scope).await);
                    }
                    return Err(error);
                }
            }
            Ok(())
        })
    }

    fn exit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            for route in self.own().rev() {
                log(route.toolset.exit(scope).await);
            }
            Ok(())
        })
    }

    fn instructions<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let mut texts = Vec::new();
            for route in self.0.values() {
                let text = route.toolset.instructions(scope).await;
                texts.extend(text.filter(|text| !text.trim().is_empty()));
            }
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        })
    }

    fn is_available(&self, tool: &str) -> bool {
        self.route(tool).is_some_and(|(route, bare)| route.toolset.is_available(bare))
    }
}

fn log(exited: Result<(), BoxError>) {
    if let Err(error) = exited {
        tracing::warn!(%error, "a toolset did not exit cleanly");
    }
}
