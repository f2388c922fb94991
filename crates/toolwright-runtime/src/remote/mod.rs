//! A toolset in another process: a server that offers one over any byte stream, and the toolset that stands for it.
//! Never routes: to everybody else a remote toolset is a toolset.
//!
//! One connection is one entering: the server makes, enters and lists its toolset when a client has said whose run it
//! is, and exits it when the client leaves, however it leaves.

mod client;
mod protocol;
mod server;

pub use client::{RemoteError, RemoteToolset};
