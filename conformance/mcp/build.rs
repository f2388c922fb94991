//! Compiles the schema of the fixtures, as a user's build script does.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
