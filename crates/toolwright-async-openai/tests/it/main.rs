//! Tests with async-openai's own client and the stage as the provider.

#[path = "../../../toolwright-model-stage/tests/adapters/mod.rs"]
mod adapters;
mod chat;
mod responses;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use toolwright_dialect::{Dialect, Policy, ProjectedTools};
use toolwright_model_stage::Stage;
use toolwright_runtime::Registry;

fn client(stage: &Stage) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new().with_api_base(stage.base()).with_api_key("none");
    Client::with_config(config)
}

fn tools(registry: &Registry, dialect: &str) -> ProjectedTools {
    let dialect = Dialect::find(dialect).unwrap();
    ProjectedTools::of(registry.specs(), dialect, &Policy::default())
}
