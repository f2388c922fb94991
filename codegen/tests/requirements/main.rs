//! Tests of the compiler's requirements (G1 to G25, see docs/requirements.md), with their ids in the names. The root package
//! tests generated code at run time.

mod binding;
mod damage;
mod derives;
mod determinism;
mod hostile;
mod layout;
mod names;
mod ownership;
mod project;
