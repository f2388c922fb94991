//! Wires: questions as requests, streams and answers as they are read, and the errors of providers.

mod answers;
mod cases;
mod frames;
mod requests;
mod statuses;
