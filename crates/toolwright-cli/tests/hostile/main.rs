//! Tests malicious input: names, texts, sizes, links. `toolwright` refuses it at its position or generates correct code.

#![cfg(unix)]

mod child;
mod costs;
mod imports;
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
