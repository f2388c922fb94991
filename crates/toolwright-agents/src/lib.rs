//! Agents from files. Each YAML or TOML file of a folder describes one agent: its instructions, the names of the
//! registered tools and toolsets that it uses, its limits, and hints on its model. The host sets its planner in code.
//!
//! ```
//! use toolwright::{Payload, ToolCall};
//! use toolwright_agents::AgentsFrom;
//! use toolwright_runtime::{Registry, RunRequest, Runtime, Script};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let agents = folder.path();
//! let greeter = "
//! instructions: Greet the user.
//! model: { family: small, effort: low }
//! tools: [greet]
//! policy: { max_tool_calls: 3 }
//! ";
//! std::fs::write(agents.join("greeter.yaml"), greeter)?;
//!
//! let registry = Registry::new();
//! registry.tool("greet", "Say hello.", async || "hello".to_owned())?;
//! let names = registry.agents_from(agents, |_| {
//!     let greet = ToolCall::new("greet", Payload::new("{}"));
//!     Script::new().call([greet]).finish(Payload::new(r#""done""#)).into()
//! })?;
//! assert_eq!(names, ["greeter"]);
//!
//! let outcome = Runtime::new(registry).run(RunRequest::new("greeter", Payload::new("{}"))).await?;
//! let greeting = outcome.calls().next().unwrap().result.outcome.clone()?;
//! assert_eq!(greeting.as_str(), r#""hello""#);
//! # Ok(())
//! # }
//! ```
//!
//! # The keys of a file
//!
//! | key | content |
//! |---|---|
//! | `name` | the agent's name; by default that of the file without its extension |
//! | `service` | its service |
//! | `description` | its description |
//! | `instructions` | the instructions for its planner |
//! | `model` | hints for its planner, any object: [`Agent::model`]. API keys and other secrets are refused |
//! | `tools`, `toolsets` | the names of registered tools and toolsets that it may use |
//! | `approvals` | the tools whose calls require an approval: [`Agent::approval_list`] |
//! | `policy` | `max_tool_calls`, `max_consecutive_failures`, `max_model_calls`, `max_output_tokens`, `max_cost` such as `0.25`, and `time_budget` such as `500ms`, `5s`, `2m` or `1h` |
//!
//! Unknown and duplicate keys are errors, with their position.

#![warn(missing_debug_implementations)]

mod error;
mod file;
mod folder;
mod hints;

use std::path::Path;
use std::sync::Arc;

use toolwright::RegistrationError;
use toolwright_runtime::{Agent, Planner, Registry};

pub use error::{AgentFilesError, Mistake};

use file::AgentFile;

/// Registers agents from files.
pub trait AgentsFrom {
    /// Reads one file, or every file of a folder whose name ends in `.yaml`, `.yml` or `.toml` and does not begin with `.`, and
    /// registers an agent for each, with the planner that `planner_of` returns. Returns the names of the agents, in the order of
    /// the files' names. A file is read as YAML unless its name ends in `.toml`. A link is followed only inside its folder.
    ///
    /// The tools and toolsets of the agents must be registered before. This method can be called at any time, also
    /// during a run: runs that start later can use the agents.
    ///
    /// # Errors
    ///
    /// All mistakes of all files, with their positions. Then no agent is registered.
    fn agents_from(
        &self,
        path: impl AsRef<Path>,
        planner_of: impl Fn(&Agent) -> Arc<dyn Planner>,
    ) -> Result<Vec<String>, AgentFilesError>;
}

impl AgentsFrom for Registry {
    fn agents_from(
        &self,
        path: impl AsRef<Path>,
        planner_of: impl Fn(&Agent) -> Arc<dyn Planner>,
    ) -> Result<Vec<String>, AgentFilesError> {
        let (mut files, mut mistakes) = (Vec::<AgentFile>::new(), Vec::new());
        for source in folder::read(path.as_ref())? {
            match source.and_then(AgentFile::parse) {
                Ok(file) => {
                    let earlier = files.iter().find(|other| other.agent.name == file.agent.name);
                    mistakes.extend(earlier.map(|earlier| file.same_name(earlier)));
                    files.push(file);
                }
                Err(mistake) => mistakes.push(mistake),
            }
        }
        let registered = self.agents();
        for file in &files {
            if registered.iter().any(|agent| agent.name == file.agent.name) {
                let agent = file.agent.name.clone();
                mistakes.push(file.locate(&RegistrationError::DuplicateAgent { agent }));
            }
            if let Err(error) = self.preflight(&file.agent) {
                mistakes.extend(error.each().iter().map(|error| file.locate(error)));
            }
        }
        if !mistakes.is_empty() {
            return Err(AgentFilesError::new(mistakes));
        }
        let agents = files.iter().map(|file| (file.agent.clone(), planner_of(&file.agent)));
        // Another thread may have registered the same name since.
        self.register_agents(agents).map_err(|error| {
            AgentFilesError::new(vec![Mistake::without_position(path.as_ref(), &error)])
        })?;
        Ok(files.into_iter().map(|file| file.agent.name).collect())
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
