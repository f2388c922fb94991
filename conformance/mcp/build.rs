//! Compiles the fixtures' schema, as a user's build script does.

fn main() -> Result<(), toolwright_codegen::BuildError> {
    toolwright_codegen::build("schema")
}
