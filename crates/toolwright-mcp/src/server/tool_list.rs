//! The set of hidden tools, which can change while the server runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;
use toolwright::RegistrationError;

use super::ServerSpec;

/// Hides tools of a running server and offers them again, for all clients. Each change sends
/// `notifications/tools/list_changed`.
///
/// A hidden tool is not listed, and calls of it fail as calls of an unknown tool do. Calls in flight go on. A client that
/// connects while all tools of a toolset are hidden does not get the toolset's description. Clones share the list.
#[derive(Clone, Debug)]
pub struct ToolList {
    server: &'static ServerSpec,
    hidden: Arc<watch::Sender<BTreeSet<&'static str>>>,
}

/// Waits for changes of a list.
pub(crate) type Changes = watch::Receiver<BTreeSet<&'static str>>;

impl ToolList {
    pub(crate) fn new(server: &'static ServerSpec) -> Self {
        Self { server, hidden: Arc::new(watch::Sender::default()) }
    }

    /// Stops offering a tool.
    ///
    /// # Errors
    ///
    /// Fails if the server exposes no tool of this name.
    pub fn hide(&self, tool: &str) -> Result<(), RegistrationError> {
        let name = self.server.exposed_name(tool)?;
        self.hidden.send_if_modified(|hidden| hidden.insert(name));
        Ok(())
    }

    /// Offers a tool again.
    ///
    /// # Errors
    ///
    /// Fails if the server exposes no tool of this name.
    pub fn offer(&self, tool: &str) -> Result<(), RegistrationError> {
        let name = self.server.exposed_name(tool)?;
        self.hidden.send_if_modified(|hidden| hidden.remove(name));
        Ok(())
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        !self.hidden.borrow().contains(tool)
    }

    /// Subscribes to changes from now on.
    pub(crate) fn changes(&self) -> Changes {
        self.hidden.subscribe()
    }
}
