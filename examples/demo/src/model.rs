//! The planners of the demo: fixed rules, or a model.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolwright::{BoxError, Payload};
use toolwright_model::{Client, ModelPlanner, Preset};
use toolwright_model_stage::{ReceivedRequest, Reply, Script, Stage};
use toolwright_runtime::Planner;

use crate::pages::Opened;
use crate::planner::RulePlanner;

/// The answers of a model for the default goal, one a line: the calls, each with its name and its arguments.
const RECORDED: &str = include_str!("recorded.jsonl");

/// The options about a model.
#[derive(Default)]
pub(crate) struct Options {
    /// The name of a preset, or `stage`.
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) name: Option<String>,
}

/// A planner, and the stage that its model needs.
pub(crate) struct Chosen {
    pub(crate) planner: Arc<dyn Planner>,
    _stage: Option<Stage>,
}

impl Options {
    /// Chooses the planner.
    pub(crate) async fn planner(self) -> Result<Chosen, BoxError> {
        match self.model.as_deref() {
            None => Ok(Chosen { planner: Arc::new(RulePlanner), _stage: None }),
            Some("stage") => {
                let stage = Stage::start(recorded()?.as_twin_of("openai-chat-strict")?).await?;
                let client =
                    Client::builder(Preset::find("openai")?, "recorded").with_base(stage.base());
                let planner = ModelPlanner::new(client.build()?).into();
                Ok(Chosen { planner, _stage: Some(stage) })
            }
            Some(name) => {
                let preset = Preset::find(name)?;
                let model = self.name.ok_or("give the id of the model with `--name`")?;
                let mut client = Client::builder(preset, model);
                if let Some(base) = self.base_url {
                    client = client.with_base(base);
                }
                if let Some(key) = key(preset)? {
                    client = client.with_key(key);
                }
                Ok(Chosen { planner: ModelPlanner::new(client.build()?).into(), _stage: None })
            }
        }
    }
}

/// Reads the key of a provider from its variable.
fn key(preset: &Preset) -> Result<Option<String>, BoxError> {
    match preset.key_variable {
        "" => Ok(None),
        variable => match std::env::var(variable) {
            Ok(key) => Ok(Some(key)),
            Err(_) => Err(format!("set `{variable}` to the key of {}", preset.name).into()),
        },
    }
}

/// The script of a stage that plays the recorded answers. Handles of pages are random: `$page` is the one of the
/// run.
fn recorded() -> Result<Script, BoxError> {
    let mut script = Script::new();
    for line in RECORDED.lines() {
        let calls: Vec<(String, Box<RawValue>)> = serde_json::from_str(line)?;
        script = script.then(move |received| {
            let page = page(received).unwrap_or_default();
            calls.iter().fold(Reply::nothing(), |reply, (name, args)| {
                reply.and_call(name, args.get().replace("$page", &page))
            })
        });
    }
    Ok(script)
}

/// Returns the handle of the page that was opened.
fn page(received: &ReceivedRequest) -> Option<String> {
    let results = received.body["messages"].as_array()?.iter();
    let mut results = results.filter_map(|message| message["content"].as_str());
    results.find_map(|result| {
        let Opened { page } = Payload::new(result).decode().ok()?;
        Some(page)
    })
}
