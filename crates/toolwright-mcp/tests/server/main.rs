//! A server of tools written by hand, over every transport.

mod clients;
mod http;
mod lab;
mod lines;
mod transcripts;
mod wire;
