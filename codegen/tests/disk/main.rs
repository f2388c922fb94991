//! Everything around the compiler that touches the disk or draws what it found, tried on folders of its own.

mod builder;
mod config;
mod derives;
mod domain_types;
mod drift;
mod folder;
mod incremental;
mod merge;
mod record;
mod render;
mod sources;
mod write;
