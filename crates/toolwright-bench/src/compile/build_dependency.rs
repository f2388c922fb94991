//! What a build script's dependency costs: a package of nothing else, compiled cold, ours beside what a user of the peer
//! names there. Never what the build script then does.

use super::workspace::{File, Side};

/// The package with `toolwright-codegen` as its one build dependency.
pub(super) fn ours(codegen: &str) -> Side {
    side("build-toolwright", &format!("toolwright-codegen = {{ path = \"{codegen}\" }}\n"))
}

/// The peers, and their names.
pub(super) fn peers() -> [(&'static str, Side); 2] {
    [
        (
            "prost-build and protox",
            side("build-prost", "prost-build = \"0.14\"\nprotox = \"0.10\"\n"),
        ),
        // What typify's documentation asks for to print the types.
        (
            "typify, syn and prettyplease",
            side(
                "build-typify",
                "typify = \"0.8\"\nprettyplease = \"0.2\"\nsyn = \"2\"\nserde_json = \"1\"\n",
            ),
        ),
    ]
}

fn side(name: &'static str, dependencies: &str) -> Side {
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [build-dependencies]\n{dependencies}"
    );
    let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
    let files = vec![
        file("Cargo.toml", &manifest),
        file("build.rs", "fn main() {}\n"),
        file("src/lib.rs", ""),
    ];
    Side { name, library: name, files }
}
