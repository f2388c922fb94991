//! Settings of a host for single registered tools: availability and instructions.

use std::sync::Arc;

use toolwright::{RegistrationError, Scope};

use super::{Entries, Provider, Registered, Registry, TOOL};
use crate::tools::{Available, Instructed, Toolset};

impl Registry {
    /// Sets a function that tells whether a registered tool is available. While it is not, calls fail as unavailable, and a
    /// runtime that [skips unavailable tools](crate::RuntimeBuilder::skipping_unavailable) hides it from planners. If this is
    /// called several times, all functions must return `true`. Tools of schema files can be set, too.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use toolwright::{FailureKind, Payload, ToolCall};
    /// use toolwright_runtime::{Registry, Runtime};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// registry.tool("print", "Print a page.", async || true)?; // or a generated `register`
    /// let online = Arc::new(AtomicBool::new(false));
    /// let printer = Arc::clone(&online);
    /// registry.set_availability("print", move || printer.load(Ordering::Relaxed))?;
    ///
    /// let runtime = Runtime::new(registry);
    /// let print = || ToolCall::new("print", Payload::new("{}"));
    /// assert_eq!(runtime.call(print()).await.outcome.unwrap_err().kind, FailureKind::Unavailable);
    /// online.store(true, Ordering::Relaxed);
    /// assert!(runtime.call(print()).await.outcome.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// No tool with this name is registered.
    pub fn set_availability(
        &self,
        tool: &str,
        available: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<(), RegistrationError> {
        let available = Arc::new(available);
        self.wrap(tool, "availability", move |name, toolset| {
            let available = Arc::clone(&available);
            Arc::new(Available::new(toolset, move |tool: &str| tool != name || available()))
        })
    }

    /// Sets instructions for planners about a registered tool, in addition to its description. The function is called before each
    /// step. Planners of agents that use other tools of the same toolset get the instructions, too.
    ///
    /// ```
    /// use toolwright_runtime::Registry;
    ///
    /// let registry = Registry::new();
    /// registry.tool("print", "Print a page.", async || true)?; // or a generated `register`
    /// registry.set_instructions("print", |_| Some("Print on both sides.".to_owned()))?;
    /// # Ok::<(), toolwright::RegistrationError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// No tool with this name is registered.
    pub fn set_instructions(
        &self,
        tool: &str,
        instructions: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
    ) -> Result<(), RegistrationError> {
        let instructions = Arc::new(instructions);
        self.wrap(tool, "instructions", move |_, toolset| {
            let instructions = Arc::clone(&instructions);
            Arc::new(Instructed::new(toolset, move |scope: &Scope| instructions(scope)))
        })
    }

    /// Wraps the toolset that provides a tool. The wrapper gets the name of the tool.
    fn wrap(
        &self,
        tool: &str,
        needed_by: &str,
        wrap: impl Fn(String, Arc<dyn Toolset>) -> Arc<dyn Toolset> + Send + Sync + 'static,
    ) -> Result<(), RegistrationError> {
        let mut entries = self.write();
        let Some(Registered { entry, provider: old }) = entries.tools.get(tool).cloned() else {
            return Err(entries.unresolved(tool, TOOL, needed_by));
        };
        let name = entry.name().to_owned();
        let source = old.source.clone().wrapped(move |toolset| wrap(name.clone(), toolset));
        let (name, is_listed) = (old.name.clone(), old.is_listed);
        let new = Arc::new(Provider { name, source, is_listed });
        let Entries { toolsets, tools, .. } = &mut *entries;
        let providers = toolsets.values_mut().flatten();
        for provider in providers.chain(tools.values_mut().map(|tool| &mut tool.provider)) {
            if Arc::ptr_eq(provider, &old) {
                *provider = Arc::clone(&new);
            }
        }
        Ok(())
    }
}
