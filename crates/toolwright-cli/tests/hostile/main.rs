//! Input of people who mean harm: names, words and sizes. Whatever it is, `toolwright` refuses it at its place or makes
//! something sound of it. Never about mistakes of people who mean well.

#![cfg(unix)]

mod child;
mod inputs;
mod killed;
mod lines;
mod links;
mod names;
mod places;
mod project;
mod same;
mod size;
mod words;
