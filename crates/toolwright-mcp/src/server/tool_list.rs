//! Which tools are offered just now, and who is told when that changes. Never runs or describes a tool.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;
use toolwright::RegistrationError;

use super::ServerSpec;

/// Hides tools of a server while it runs, and offers them again; clients are told that the list has changed
/// (`notifications/tools/list_changed`).
///
/// What is hidden is not listed, and calls of it are answered as those of a tool that is not there. Calls that run
/// go on. Cheap to clone; for all clients of the server at once.
#[derive(Clone, Debug)]
pub struct ToolList {
    server: &'static ServerSpec,
    hidden: Arc<watch::Sender<BTreeSet<&'static str>>>,
}

impl ToolList {
    pub(crate) fn new(server: &'static ServerSpec) -> Self {
        Self { server, hidden: Arc::new(watch::Sender::default()) }
    }

    /// Stops offering a tool.
    ///
    /// # Errors
    ///
    /// The server exposes no tool of this name.
    pub fn hide(&self, tool: &str) -> Result<(), RegistrationError> {
        let name = self.server.exposed_name(tool)?;
        self.hidden.send_if_modified(|hidden| hidden.insert(name));
        Ok(())
    }

    /// Offers a tool again.
    ///
    /// # Errors
    ///
    /// The server exposes no tool of this name.
    pub fn offer(&self, tool: &str) -> Result<(), RegistrationError> {
        let name = self.server.exposed_name(tool)?;
        self.hidden.send_if_modified(|hidden| hidden.remove(name));
        Ok(())
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        !self.hidden.borrow().contains(tool)
    }

    /// Tells of changes from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<BTreeSet<&'static str>> {
        self.hidden.subscribe()
    }
}
