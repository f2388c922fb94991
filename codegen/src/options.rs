//! What a compilation can be told besides the schema.

use crate::naming;
use crate::source::Span;

/// How generated code is laid out and what it may depend on.
#[derive(Clone, Debug)]
pub struct Options {
    /// Crates in a workspace, or modules in one crate.
    pub layout: Layout,
    /// Leave out agents, MCP servers and HTTP clients: all code then needs `toolwright` alone.
    pub providers_only: bool,
    /// Whether the package of the generated code turns on the feature `patterns` of `toolwright` where it needs it, as
    /// generated manifests do; if not, a pattern that needs it is a warning.
    pub has_patterns: bool,
    /// Write `[lints] workspace = true` into generated manifests.
    pub workspace_lints: bool,
    /// What integers are where nothing bounds them, in files that do not say it.
    pub integers: Integers,
    /// Macros that every generated struct and enum derives beside the traits that toolwright derives.
    pub derive: Vec<RustPath>,
    /// The options of single types.
    pub types: Vec<TypeOptions>,
    /// The crates those macros are of: the names of packages, and how generated manifests find them.
    pub dependencies: Vec<(String, Dependency)>,
    /// What generated manifests say of their packages.
    pub package: Package,
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
#[non_exhaustive]
pub enum Layout {
    /// A crate with a manifest of its own, for a committed `gen/`.
    #[cfg(feature = "project")]
    Crates,
    /// A module of the crate that includes the index `mod.rs`, for `OUT_DIR`.
    Modules,
}

/// What an integer is that neither its limits nor its format bound, and with it a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "project", derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Integers {
    /// One of 64 bits, published with `format: int64`. A number is a double, published with `format: double`.
    #[default]
    Int64,
    /// One of any size.
    Exact,
}

/// What holds for one type of a service.
#[derive(Clone, Debug)]
pub struct TypeOptions {
    /// The type, as `service.Type`.
    pub name: String,
    /// Where `toolwright.toml` names it, if it does.
    pub span: Option<Span>,
    /// Macros that it derives beside those that all types derive.
    pub derive: Vec<RustPath>,
    /// The user's type that stands in its place, if one does.
    pub domain: Option<DomainType>,
}

/// A type of the user's that implements `toolwright::codec::DomainType`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainType {
    /// Its path.
    pub path: RustPath,
    /// What it implements beside `Clone`, `Debug` and `PartialEq`.
    pub traits: Vec<StdTrait>,
}

/// A trait that generated types derive where all they hold has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdTrait {
    /// `Copy`
    Copy,
    /// `Eq`
    Eq,
    /// `Hash`
    Hash,
    /// `Ord`, and so `PartialOrd`
    Ord,
    /// `Default`
    Default,
}

/// The path of an item in Rust, such as `sqlx::FromRow`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustPath(String);

/// What generated manifests say of their packages.
#[derive(Clone, Debug)]
pub struct Package {
    /// What their names begin with.
    pub prefix: String,
    /// The version of each, where they are published: those that depend on it name it.
    pub published: Option<String>,
    /// Keys of `[package]` beside name and description, with their values as TOML.
    pub keys: Vec<(&'static str, String)>,
}

/// Where cargo finds a crate, in the words of a manifest:
/// <https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html>.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "project", derive(serde::Deserialize))]
#[cfg_attr(
    feature = "project",
    serde(remote = "Self", deny_unknown_fields, rename_all = "kebab-case", default)
)]
pub struct Dependency {
    /// A path relative to the output folder, with `/` between its parts, or an absolute one.
    pub path: Option<String>,
    /// A version requirement, such as `0.1`.
    pub version: Option<String>,
    /// The registry of that version, where it is not the usual one.
    pub registry: Option<String>,
    /// The address of a repository.
    pub git: Option<String>,
    /// The branch there.
    pub branch: Option<String>,
    /// The tag there.
    pub tag: Option<String>,
    /// The commit there.
    pub rev: Option<String>,
    /// Whether the manifest of the workspace says it.
    pub workspace: bool,
    /// The features that are asked of it.
    pub features: Vec<String>,
    /// Whether it has its default features; cargo decides where nothing is said.
    pub default_features: Option<bool>,
}

impl Options {
    /// What holds where nothing else is said: all kinds of crates, and ours from a registry.
    pub fn of(layout: Layout) -> Self {
        let version =
            concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
        let version = || Dependency::of_version(version);
        Self {
            layout,
            providers_only: false,
            has_patterns: layout != Layout::Modules,
            workspace_lints: false,
            integers: Integers::Int64,
            derive: Vec::new(),
            types: Vec::new(),
            dependencies: Vec::new(),
            package: Package::default(),
            toolwright: version(),
            runtime: version(),
            mcp: version(),
            http: version(),
        }
    }
}

/// The traits that types derive where all they hold has them.
const DERIVED: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

impl RustPath {
    /// The path of a derive macro, such as `sqlx::FromRow`. It may begin with `::` or `crate::`.
    ///
    /// # Errors
    ///
    /// When the text is no path, or that of a trait that generated types derive anyway.
    pub fn of_derive(text: &str) -> Result<Self, String> {
        let path = Self::new(text, "a derive macro", "sqlx::FromRow")?;
        match path.segments()[..] {
            [name] | ["std" | "core", .., name] if DERIVED.contains(&name) => Err(format!(
                "`{name}` is derived by every generated type that can have it; leave it out"
            )),
            ["serde", .., name @ ("Serialize" | "Deserialize")] => {
                Err(format!("generated types implement `{name}` by their codecs; leave it out"))
            }
            _ => Ok(path),
        }
    }

    /// The path of a type, such as `money::Money`. It may begin with `::` or `crate::`.
    ///
    /// # Errors
    ///
    /// When the text is no path.
    pub fn of_type(text: &str) -> Result<Self, String> {
        Self::new(text, "a type", "money::Money")
    }

    fn new(text: &str, what: &str, example: &str) -> Result<Self, String> {
        let below_start = text.strip_prefix("::").or_else(|| text.strip_prefix("crate::"));
        if below_start.unwrap_or(text).split("::").all(naming::is_identifier) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("`{text}` is not the path of {what}; expected one such as `{example}`"))
    }

    /// The path as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names in the path.
    pub fn segments(&self) -> Vec<&str> {
        self.0.strip_prefix("::").unwrap_or(&self.0).split("::").collect()
    }
}

impl StdTrait {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Copy, Self::Eq, Self::Hash, Self::Ord, Self::Default];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "Copy",
            Self::Eq => "Eq",
            Self::Hash => "Hash",
            Self::Ord => "Ord",
            Self::Default => "Default",
        }
    }
}

impl Dependency {
    /// A crate at a path relative to the output folder, with `/` between its parts, or at an absolute one.
    pub fn at(path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// A crate of a registry that meets a version requirement.
    pub fn of_version(requirement: impl Into<String>) -> Self {
        Self { version: Some(requirement.into()), ..Self::default() }
    }
}

/// Packages that are not published.
impl Default for Package {
    fn default() -> Self {
        let keys = [("version", "\"0.0.0\""), ("edition", "\"2024\""), ("publish", "false")];
        let keys = keys.map(|(key, value)| (key, value.to_owned())).into();
        Self { prefix: String::new(), published: None, keys }
    }
}

#[cfg(feature = "project")]
impl Default for Options {
    fn default() -> Self {
        Self::of(Layout::Crates)
    }
}
