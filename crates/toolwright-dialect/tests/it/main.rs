//! Projections: small cases, real tools, schemas that providers refused, the transforms of other clients, and promises about
//! rows, names and requests.

mod answers;
mod cases;
mod corpus;
mod costs;
mod keywords;
mod laws;
mod peers;
mod promises;
mod random;
mod refused;
mod rules;
mod tools;
