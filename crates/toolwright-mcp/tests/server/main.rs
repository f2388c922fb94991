//! A server of tools written by hand, over every transport.

mod clients;
mod giving_up;
mod http;
mod lab;
mod lines;
mod pages;
mod transcripts;
mod wire;
