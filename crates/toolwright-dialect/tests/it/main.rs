//! Projections: small cases, real tools, schemas that providers refused, and promises about rows, names and requests.

mod cases;
mod corpus;
mod costs;
mod laws;
mod promises;
mod random;
mod refused;
mod rules;
