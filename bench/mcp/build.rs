//! Compiles the schema of the tools.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
