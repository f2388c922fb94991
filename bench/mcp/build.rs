//! Compiles the schema of the tools under load, as a user's build script does.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
