//! Generates the modules of `schema/` whenever it changes.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
