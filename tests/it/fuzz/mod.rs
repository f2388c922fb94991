//! Fuzz tests of the compiler, of names and of generated codecs. Each target is a test that searches for two seconds;
//! `cargo xtask fuzz` searches longer.

mod search;
mod targets;
