//! The requirements of the compiler (G1 to G21), each proved by a test that carries its id. Never runs
//! generated code: the root package's tests do.

mod binding;
mod damage;
mod derives;
mod determinism;
mod hostile;
mod layout;
mod names;
mod ownership;
mod project;
