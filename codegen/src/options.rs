//! What a compilation can be told besides the schema.

/// How generated code is laid out and what it may depend on.
#[derive(Clone, Debug)]
pub struct Options {
    /// Crates in a workspace, or modules in one crate.
    pub layout: Layout,
    /// Leave out agents, MCP servers and HTTP clients: all code then needs `toolwright` alone.
    pub providers_only: bool,
    /// Write `[lints] workspace = true` into generated manifests.
    pub workspace_lints: bool,
    /// What integers are where nothing bounds them, in files that do not say it.
    pub integers: Integers,
    /// How generated manifests find `toolwright`.
    pub toolwright: Dependency,
    /// How generated manifests find `toolwright-runtime`.
    pub runtime: Dependency,
    /// How generated manifests find `toolwright-mcp`.
    pub mcp: Dependency,
    /// How generated manifests find `toolwright-http`.
    pub http: Dependency,
}

/// What a generated unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A crate with a manifest of its own, for a committed `gen/`.
    #[cfg(feature = "project")]
    Crates,
    /// A module of the crate that includes the index `mod.rs`, for `OUT_DIR`.
    Modules,
}

/// What an integer is that neither its limits nor its format bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "project", derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Integers {
    /// One of 64 bits, published with `format: int64`.
    #[default]
    Int64,
    /// One of any size.
    Exact,
}

/// Where cargo finds a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// A path relative to the output folder, with `/` between its parts, or an absolute one.
    Path(String),
    /// A version requirement, such as `0.1`.
    Version(String),
}

impl Options {
    /// What holds where nothing else is said: all kinds of crates, and ours from a registry.
    pub fn of(layout: Layout) -> Self {
        let version = || {
            Dependency::Version(
                concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"))
                    .to_owned(),
            )
        };
        Self {
            layout,
            providers_only: false,
            workspace_lints: false,
            integers: Integers::Int64,
            toolwright: version(),
            runtime: version(),
            mcp: version(),
            http: version(),
        }
    }
}

#[cfg(feature = "project")]
impl Default for Options {
    fn default() -> Self {
        Self::of(Layout::Crates)
    }
}
