//! Workers and callers of a real Restate server. They are skipped by name if it is not installed.

mod children;
mod connections;
mod hooks;
mod ingress;
mod lab;
mod runs;
mod sizes;
mod toolsets;
