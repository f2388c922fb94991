//! Compiles the schema of the benchmarks.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
