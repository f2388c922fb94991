//! Tests the client against scripted servers that run as processes of their own.

mod calls;
mod drift;
mod effects;
mod faults;
mod http;
mod listing;
mod peer;
mod router;
mod secrets;
mod specs;
mod toolset;
