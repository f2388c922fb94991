//! The client side of MCP, against peers that run as processes of their own: one whose faults are scripted, and real
//! servers.

mod calls;
mod drift;
mod faults;
mod http;
mod listing;
mod peer;
mod router;
mod secrets;
mod specs;
mod toolset;
