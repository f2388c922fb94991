//! Tests of the comparison of two versions.

mod cases;
mod rules;
