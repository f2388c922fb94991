//! Tests with genai's own client and the stage as the provider.

#[path = "../../../toolwright-model-stage/tests/adapters/mod.rs"]
mod adapters;
mod losses;
mod model;
mod provider;
