//! Tests of the comparison of two versions.

mod cases;
mod circles;
mod page;
mod pairs;
mod peers;
mod policy;
mod remote;
mod rules;
mod rust;
mod second_opinion;
