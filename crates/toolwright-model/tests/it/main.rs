//! Wires: questions as requests, streams and answers as they are read, the errors of providers, and the
//! client with a server that follows a script.

mod answers;
mod cases;
mod client;
mod conversations;
mod frames;
mod index;
mod planner;
mod recorded;
mod repairs;
mod requests;
mod search;
mod server;
mod spending;
mod statuses;
mod strangers;
