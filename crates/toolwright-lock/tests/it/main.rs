//! Tests of the comparison of two versions.

mod cases;
mod remote;
mod rules;
mod rust;
