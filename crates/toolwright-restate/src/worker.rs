//! The worker: serves the toolsets and agents of a runtime to a Restate server.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use restate_sdk::endpoint::Endpoint;
use restate_sdk::http_server::HttpServer;
use rustix::net::sockopt::set_tcp_nodelay;
use tokio::net::TcpListener;
use toolwright::{BoxError, Scope};
use toolwright_runtime::approval::ApprovalKey;
use toolwright_runtime::{Runtime, RuntimeBuilder};

use crate::control;
use crate::journal::{Replayed, clock};
use crate::names::{agent_workflow, tools_service};
use crate::runs::AgentRuns;
use crate::tools::{Tool, Tools};

/// Serves the toolsets and agents of a runtime to a Restate server.
///
/// - A toolset that all runs share becomes the service `tools.<toolset>`, with a handler for each tool.
/// - A toolset with an instance for each run becomes a virtual object of that name, keyed by the id of the run. Its state is kept
///   by Restate between calls: [`Toolset::save`](toolwright_runtime::Toolset::save).
/// - An agent becomes the workflow `agent.<agent>`, keyed by the id of the run: see [`Runs`](crate::Runs).
///
/// Names with other characters than letters, digits and `_` are [encoded](crate::names). Handlers have the schemas of their tools.
/// Whoever can reach the ingress of the Restate server can call the tools, so keep it inside a private network.
///
/// Calls have the hooks, time limits and attempts of the runtime. A call of a tool that an agent implements has the hooks, but neither
/// a time limit nor further attempts: its run may wait for answers for days.
pub struct Worker {
    runtime: Runtime,
    services: Vec<Tools>,
    identity_keys: Vec<String>,
}

/// A worker cannot serve its runtime.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkerError {
    /// A toolset with an instance for each run has no state that can be saved, or cannot be made.
    NotSaved {
        /// The toolset.
        toolset: String,
        /// The error of the toolset, if it has one.
        error: Option<BoxError>,
    },
    /// An agent uses a toolset with an instance for each run in its own process, whose state would be lost when the run goes on in
    /// another worker.
    NotDurable {
        /// The agent.
        agent: String,
        /// The toolset.
        toolset: String,
    },
    /// Several sources have the name of one toolset, and not all of them are shared by all runs.
    SameName {
        /// The toolset.
        toolset: String,
    },
    /// The tools of a toolset cannot be listed.
    NotListed {
        /// The toolset.
        toolset: String,
        /// The error of the toolset.
        error: BoxError,
    },
    /// An identity key is not one of a Restate server.
    IdentityKey {
        /// The reason.
        reason: String,
    },
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let services: Vec<_> = self.services.iter().map(Tools::name).collect();
        f.debug_struct("Worker").field("services", &services).finish_non_exhaustive()
    }
}

impl Worker {
    /// Builds the runtime of a worker, and lists its toolsets. The runs of its agents are recorded by Restate, so that a journal,
    /// a clock and a store of suspended runs of the builder have no effect.
    ///
    /// # Errors
    ///
    /// A toolset with an instance for each run returns no state from `save`, so that it cannot outlast a call; an agent uses such a
    /// toolset in its own process; several sources have the name of one toolset, and not all of them are shared by all runs; or the
    /// tools of a toolset cannot be listed, or have one name twice.
    pub async fn new(runtime: RuntimeBuilder) -> Result<Self, WorkerError> {
        let journal = Arc::new(Replayed);
        let store = Arc::clone(&journal);
        let runtime =
            runtime.with_journal(journal).with_suspended_runs(store).with_clock(clock).build();
        let mut services: BTreeMap<String, Tools> = BTreeMap::new();
        for (toolset, source) in runtime.registry().toolsets() {
            let other = services.get(&toolset);
            if other.is_some_and(|other| !other.is_shared() || !source.is_shared()) {
                return Err(WorkerError::SameName { toolset });
            }
            let failed = |error| WorkerError::NotListed { toolset: toolset.clone(), error };
            let scope = Scope { run_id: Some("start".to_owned()), ..Scope::default() };
            let made = source.resolve(&toolset, &scope).await;
            let made = made.map_err(|error| failed(error.into()))?;
            let Some(instance) = made else {
                return Err(failed("its factory returns none for a run without labels".into()));
            };
            if !source.is_shared() {
                let not_saved = |error| WorkerError::NotSaved { toolset: toolset.clone(), error };
                match instance.save(&scope).await {
                    Ok(Some(_)) => {}
                    Ok(None) => return Err(not_saved(None)),
                    Err(error) => return Err(not_saved(Some(error))),
                }
            }
            let listed = instance.tools(&scope).await.map_err(failed)?;
            let service = services.entry(toolset.clone()).or_insert_with(|| {
                Tools::new(tools_service(&toolset), source.is_shared(), runtime.clone())
            });
            for entry in listed {
                let name = entry.name().to_owned();
                if !service.push(Tool::new(entry, toolset.clone(), source.clone())) {
                    return Err(failed(format!("it has two tools `{name}`").into()));
                }
            }
        }
        check_agents(&runtime)?;
        Ok(Self { runtime, services: services.into_values().collect(), identity_keys: Vec::new() })
    }

    /// Serves only the agents, and the tools that they implement. Necessary if tools of the runtime are
    /// [`RestateToolset`](crate::RestateToolset)s: otherwise this worker would serve the same names and receive their calls.
    #[must_use]
    pub fn without_toolsets(mut self) -> Self {
        self.services.retain_mut(Tools::keep_those_of_agents);
        self
    }

    /// Sets the key for approval codes, which the callers have, too. Without it, calls of tools that need an approval are denied,
    /// except in the runs of this worker's own agents.
    #[must_use]
    pub fn with_approval_key(mut self, key: &ApprovalKey) -> Self {
        for service in &mut self.services {
            service.set_approval_key(key.clone());
        }
        self
    }

    /// Accepts requests of Restate servers with this identity key only, such as `publickeyv1_…`. May be called more than once. Needs
    /// the feature `identity`.
    #[cfg(feature = "identity")]
    #[must_use]
    pub fn with_identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Returns the endpoint, to serve it with another server than [`serve`](Self::serve).
    ///
    /// # Errors
    ///
    /// An identity key is not one of a Restate server.
    pub fn endpoint(self) -> Result<Endpoint, WorkerError> {
        let mut builder = Endpoint::builder();
        for key in &self.identity_keys {
            builder = builder
                .identity_key(key)
                .map_err(|error| WorkerError::IdentityKey { reason: error.to_string() })?;
        }
        for service in self.services {
            builder = builder.bind(service.definition());
        }
        for agent in self.runtime.agents() {
            let runs = AgentRuns::new(self.runtime.clone(), &agent.name);
            builder = builder.bind(runs.definition(agent_workflow(&agent.name)));
        }
        Ok(builder.bind(control::control()).bind(control::codes()).build())
    }

    /// Serves the Restate server until ctrl-c. Its admin API must know the address of the listener: `POST /deployments` with
    /// `{"uri": "http://…"}`. A worker that serves other tools must be announced at another address, since a run that has begun
    /// stays on the address it began on.
    ///
    /// # Errors
    ///
    /// An identity key is not one of a Restate server.
    pub async fn serve(self, listener: TcpListener) -> Result<(), WorkerError> {
        let stopped = async {
            // Without a handler of the signal it ends the process.
            let _ = tokio::signal::ctrl_c().await;
        };
        self.serve_until(listener, stopped).await
    }

    /// Serves the Restate server until a future ends, and then waits up to ten seconds for calls to end.
    ///
    /// # Errors
    ///
    /// Those of [`serve`](Self::serve).
    pub async fn serve_until(
        self,
        listener: TcpListener,
        stopped: impl Future<Output = ()>,
    ) -> Result<(), WorkerError> {
        // Accepted sockets inherit it. Without it, the second part of a reply waits until the server has confirmed the first.
        if let Err(error) = set_tcp_nodelay(&listener, true) {
            tracing::warn!(%error, "replies of this worker may be late");
        }
        HttpServer::new(self.endpoint()?).serve_with_cancel(listener, stopped).await;
        Ok(())
    }
}

/// Checks that no agent has state in its own process.
fn check_agents(runtime: &Runtime) -> Result<(), WorkerError> {
    let toolsets = runtime.registry().toolsets();
    let own: Vec<_> = toolsets.into_iter().filter(|(_, source)| !source.is_shared()).collect();
    for agent in runtime.agents() {
        if let Some((toolset, _)) = own.iter().find(|(name, _)| agent.toolsets.contains(name)) {
            let (agent, toolset) = (agent.name.clone(), toolset.clone());
            return Err(WorkerError::NotDurable { agent, toolset });
        }
    }
    Ok(())
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSaved { toolset, error: None } => write!(
                f,
                "toolset `{toolset}` has an instance for each run, and `save` returns no state, so that it cannot outlast a call; \
                 save its state as data or share one instance"
            ),
            Self::NotSaved { toolset, error: Some(error) } => {
                write!(f, "the state of toolset `{toolset}` cannot be saved: {error}")
            }
            Self::NotDurable { agent, toolset } => write!(
                f,
                "agent `{agent}` uses toolset `{toolset}`, which has an instance for each run in the process of the agent; serve the \
                 toolset in a worker without the agent, and register `RestateToolset::per_run` here"
            ),
            Self::SameName { toolset } => write!(
                f,
                "several sources have the name of toolset `{toolset}`, and one of them has an instance for each run; give it a name of \
                 its own"
            ),
            Self::NotListed { toolset, error } => {
                write!(f, "toolset `{toolset}` cannot be listed: {error}")
            }
            Self::IdentityKey { reason } => {
                write!(f, "the identity key is not one of a Restate server: {reason}")
            }
        }
    }
}

impl Error for WorkerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotSaved { error: Some(error), .. } | Self::NotListed { error, .. } => {
                Some(&**error)
            }
            _ => None,
        }
    }
}
