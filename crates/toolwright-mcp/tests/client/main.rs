//! The client side of MCP, against peers that run as processes of their own: one whose faults are scripted, and real
//! servers.

mod listing;
mod peer;
