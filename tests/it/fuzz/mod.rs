//! What must hold for any input whatever: of the compiler, of names, of generated codecs. Each target is a test that
//! searches for two seconds; `cargo xtask fuzz` searches for longer.

mod search;
mod targets;
