//! Tests a server of hand-written tools over every transport.

mod backpressure;
mod clients;
mod giving_up;
mod http;
mod lab;
mod limits;
mod lines;
mod pages;
mod process;
mod sessions;
mod traces;
mod transcripts;
mod wire;
