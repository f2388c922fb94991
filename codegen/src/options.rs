//! The options of a compilation.

use crate::naming;
use crate::source::Span;

/// How generated code is laid out and what it may depend on.
#[derive(Clone, Debug)]
pub struct Options {
    /// Crates in a workspace, or modules in one crate.
    pub layout: Layout,
    /// Leave out agents, MCP servers and HTTP clients: all code then needs `toolwright` alone.
    pub providers_only: bool,
    /// True if the package of the generated code turns on the feature `patterns` of `toolwright` where it needs it, as
    /// generated manifests do; if not, a pattern that needs it is a warning.
    pub has_patterns: bool,
    /// Generate the vectors of each toolset, and a test that runs them; only for crates.
    pub vectors: bool,
    /// Write `[lints] workspace = true` into generated manifests.
    pub workspace_lints: bool,
    /// Structs and enums are `#[non_exhaustive]`, and structs have setters.
    pub non_exhaustive: bool,
    /// The type of unbounded integers, for files without the key `integers`.
    pub integers: Integers,
    /// Macros that every generated struct and enum derives besides the traits that toolwright derives.
    pub derive: Vec<RustPath>,
    /// The options of individual types.
    pub types: Vec<TypeOptions>,
    /// The crates of these macros and of users' types: the names of packages, and how generated manifests depend on them.
    pub dependencies: Vec<(String, Dependency)>,
    /// The `[package]` table of generated manifests.
    pub package: Package,
    /// The dialects for which the definitions of tools are generated, too.
    #[cfg(feature = "project")]
    pub dialects: Option<std::sync::Arc<crate::dialects::Dialects>>,
    /// How generated manifests depend on `toolwright`.
    pub toolwright: Dependency,
    /// How generated manifests depend on `toolwright-runtime`.
    pub runtime: Dependency,
    /// How generated manifests depend on `toolwright-mcp`.
    pub mcp: Dependency,
    /// How generated manifests depend on `toolwright-http`.
    pub http: Dependency,
}

/// Whether generated units are crates or modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// A crate with a manifest of its own, for a committed `gen/`.
    #[cfg(feature = "project")]
    Crates,
    /// A module of the crate that includes the index `mod.rs`, for `OUT_DIR`.
    Modules,
}

/// The type of numbers, and of integers without limits or a format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "project", derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Integers {
    /// Integers have 64 bits and are published with `format: int64`. Numbers are doubles, published with `format: double`.
    #[default]
    Int64,
    /// Integers and numbers have any size and precision.
    Exact,
}

/// The options of one type of a service.
#[derive(Clone, Debug)]
pub struct TypeOptions {
    /// The type, as `service.Type`.
    pub name: String,
    /// Where `toolwright.toml` names it, if it does.
    pub span: Option<Span>,
    /// Macros that it derives besides those that all types derive.
    pub derive: Vec<RustPath>,
    /// The user's type that replaces it, if any.
    pub domain: Option<DomainType>,
}

/// A user's type, which implements `toolwright::codec::DomainType`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainType {
    /// Its path.
    pub path: RustPath,
    /// The traits that it implements besides `Clone`, `Debug` and `PartialEq`.
    pub traits: Vec<StdTrait>,
}

/// A trait that a generated type derives if everything in it has the trait.
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

/// The `[package]` table of generated manifests.
#[derive(Clone, Debug)]
pub struct Package {
    /// The prefix of their names.
    pub prefix: String,
    /// The version, if the packages are published: they then require this version of each other.
    pub published: Option<String>,
    /// The keys besides name and description, with their values as TOML.
    pub keys: Vec<(&'static str, String)>,
}

/// Where cargo finds a crate, by the keys of a manifest:
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
    /// The registry of that version, if not the default one.
    pub registry: Option<String>,
    /// The URL of a Git repository.
    pub git: Option<String>,
    /// The branch there.
    pub branch: Option<String>,
    /// The tag there.
    pub tag: Option<String>,
    /// The commit there.
    pub rev: Option<String>,
    /// True if it is inherited from the workspace.
    pub workspace: bool,
    /// The features to enable.
    pub features: Vec<String>,
    /// Whether to enable its default features; `None` leaves that to cargo.
    pub default_features: Option<bool>,
}

impl Options {
    /// Returns the defaults: all kinds of crates, with toolwright's own crates from a registry.
    pub fn of(layout: Layout) -> Self {
        let version =
            concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
        let version = || Dependency::of_version(version);
        Self {
            layout,
            providers_only: false,
            has_patterns: layout != Layout::Modules,
            vectors: false,
            workspace_lints: false,
            non_exhaustive: false,
            integers: Integers::Int64,
            derive: Vec::new(),
            types: Vec::new(),
            dependencies: Vec::new(),
            package: Package::default(),
            #[cfg(feature = "project")]
            dialects: None,
            toolwright: version(),
            runtime: version(),
            mcp: version(),
            http: version(),
        }
    }
}

impl RustPath {
    /// Parses the path of a derive macro, such as `sqlx::FromRow`. It may begin with `::` or `crate::`.
    ///
    /// # Errors
    ///
    /// If the text is not a path, or if it is the path of a trait that generated types derive anyway.
    pub fn of_derive(text: &str) -> Result<Self, String> {
        let path = Self::new(text, "a derive macro", "sqlx::FromRow")?;
        match path.segments()[..] {
            [name] | ["std" | "core", .., name] if naming::DERIVED.contains(&name) => Err(format!(
                "`{name}` is derived by every generated type that can have it; leave it out"
            )),
            ["serde", .., name @ ("Serialize" | "Deserialize")] => {
                Err(format!("generated types implement `{name}` by their codecs; leave it out"))
            }
            _ => Ok(path),
        }
    }

    /// Parses the path of a type, such as `money::Money`. It may begin with `::` or `crate::`.
    ///
    /// # Errors
    ///
    /// If the text is not a path.
    pub fn of_type(text: &str) -> Result<Self, String> {
        Self::new(text, "a type", "money::Money")
    }

    fn new(text: &str, what: &str, example: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("::").or_else(|| text.strip_prefix("crate::"));
        if rest.unwrap_or(text).split("::").all(naming::is_identifier) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("`{text}` is not the path of {what}; expected one such as `{example}`"))
    }

    /// Returns the path as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the names in the path.
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
    /// Returns the crate at a path relative to the output folder, with `/` between its parts, or at an absolute one.
    pub fn at(path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Returns a crate from the default registry that meets a version requirement.
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
