//! Tests of both directions: rig's tools in a registry, and tools of a registry in rig.

#[path = "../../../toolwright-model-stage/tests/adapters/mod.rs"]
mod adapters;
mod dynamic;
mod tools;
