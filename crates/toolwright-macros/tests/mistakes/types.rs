//! Types without a schema.

use toolwright_runtime::tools::Parameters;
use toolwright_runtime::tool;

struct Unknown;

/// Takes arguments of a type that has no schema.
#[tool]
fn all(Parameters(_): Parameters<Unknown>) {}

/// Returns a type that has no schema.
#[tool]
async fn result() -> Unknown {
    Unknown
}

/// Returns a type that is not an error.
#[tool]
fn error() -> Result<String, Unknown> {
    Err(Unknown)
}

fn main() {}
