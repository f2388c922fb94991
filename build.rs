//! Compiles `schema/` into `OUT_DIR`, as any user's build script does, and beside it the schemas that only the tests
//! use. Never writes anywhere else.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};

use toolwright_codegen::Build;

fn main() -> Result<(), Box<dyn Error>> {
    toolwright_codegen::build("schema")?;
    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    for (folder, providers_only) in
        [("real", true), ("codecs", true), ("requirements", false), ("http", false)]
    {
        let schema = Path::new("tests").join(folder);
        Build::new(schema)
            .out_dir(out_dir.join(folder))
            .providers_only(providers_only)
            .has_patterns(true)
            .generate()?;
    }
    Ok(())
}
