//! Plans of crates, in which every identifier, type, path, literal and file name is decided. They hold no text of a schema as
//! code.

mod consumers;
mod defaults;
mod derives;
mod docs;
mod domain;
mod exact;
mod http;
mod limits;
mod properties;
mod roots;
mod service;
mod shapes;
mod tool;
mod toolset;
mod transform;
mod types;
mod validated;

#[cfg(feature = "project")]
pub(crate) use docs::summary;

pub use consumers::{AgentCrate, Provider, ServerCrate, ServiceParameter, ToolPath};
pub use http::{HttpCrate, HttpMethod};
pub use limits::{
    DependentKeys, IntegerLimits, ItemLimits, NumberLimit, NumberLimits, PropertyLimits,
    StringLimits,
};
pub use roots::{LocatedType, RootType};
pub use service::{
    ErrorArgument, ErrorContent, ErrorEnum, ErrorVariant, ServiceCrate, TraitMethod,
};
pub use tool::{DeprecatedCall, ToolPlan};
pub use toolset::{Arm, ExecutorPlan, ToolsetCrate};
pub use transform::{AdditionalMove, Getter, InjectedValue, Move, Transform, TransformBody};
pub use types::{
    AdditionalField, Body, Constant, Constructor, DefaultValue, Definition, Derives, Field, Import,
    Member, PatternStatic, Presence, SchemaDefault, SchemaFile, Struct, TupleUse, TypeUse, Types,
    UnionVariant, ValidatorStatic, Wrapper,
};

use std::collections::{BTreeMap, BTreeSet};

use crate::boxes::Boxes;
use crate::model::{AgentId, Project, ServerId, ServiceId, Tool, ToolsetId};
use crate::naming::{TypeNames, library};
use crate::options::{Dependency, Layout, Options, RustPath, TypeOptions};
use crate::schema::NodeId;

/// A generated crate, or a module with the same files in the module layout.
#[derive(Debug)]
pub struct Crate<'a> {
    /// Its folder under the output folder, with `/` between its parts.
    pub dir: String,
    /// The package's name.
    pub package: String,
    /// Its description in one line.
    pub about: String,
    /// Its description in the schema file, as doc lines.
    pub docs: Vec<String>,
    /// Its dependencies in alphabetical order.
    pub dependencies: Vec<CrateDependency>,
    /// The options of the project, for its manifest.
    pub options: &'a Options,
    /// The tools that it declares or uses, for its README.
    pub tools: Vec<&'a Tool>,
    /// The code.
    pub contents: Contents<'a>,
}

/// A dependency of a crate.
#[derive(Debug)]
pub struct CrateDependency {
    /// The package's name.
    pub package: String,
    /// The place where cargo finds it.
    pub source: Dependency,
}

/// A generated crate that another one depends on.
struct Generated {
    /// The package's name.
    package: String,
    /// Its folder under the output folder.
    dir: String,
}

/// The code of one crate.
#[derive(Debug)]
pub enum Contents<'a> {
    /// The types, the trait and the errors of a service.
    Service(ServiceCrate<'a>),
    /// The types, codecs, specs, calls and executors of a toolset.
    Toolset(ToolsetCrate<'a>),
    /// The crate of an agent.
    Agent(AgentCrate<'a>),
    /// The crate of an MCP server.
    Server(ServerCrate<'a>),
    /// The HTTP client of a service.
    Http(HttpCrate<'a>),
}

impl Contents<'_> {
    /// Returns whether codecs need the feature `patterns` of `toolwright`.
    pub fn needs_patterns(&self) -> bool {
        match self {
            Self::Service(service) => service.types.needs_tables(),
            Self::Toolset(toolset) => toolset.types.needs_tables(),
            Self::Agent(_) | Self::Server(_) | Self::Http(_) => false,
        }
    }
}

/// The crates of a project, providers first. A crate is planned on request, since thousands of plans would take more memory
/// than the generated files.
pub struct Plans<'a> {
    project: &'a Project,
    options: &'a Options,
    names: &'a TypeNames,
    boxes: Boxes,
    exact: BTreeSet<NodeId>,
    defaults: defaults::Defaults,
    derives: derives::DerivesMap,
    type_options: domain::TypeOptionsMap<'a>,
    dependencies: DependencyMap<'a>,
    subjects: Vec<Subject>,
}

/// The dependencies of the options, by the names of their libraries.
type DependencyMap<'a> = BTreeMap<String, Vec<&'a (String, Dependency)>>;

/// The subject of a crate.
#[derive(Clone, Copy, Debug)]
pub enum Subject {
    /// A service's types and trait.
    Service(ServiceId),
    /// A toolset.
    Toolset(ToolsetId),
    /// An agent.
    Agent(AgentId),
    /// An MCP server.
    Server(ServerId),
    /// The HTTP client of a service.
    Http(ServiceId),
}

impl<'a> Plans<'a> {
    /// Collects the subjects and all decisions that concern more than one crate.
    pub fn new(project: &'a Project, names: &'a TypeNames, options: &'a Options) -> Self {
        let services = || ServiceId::first(project.services.len());
        let toolsets = ToolsetId::first(project.toolsets.len());
        let mut subjects: Vec<Subject> = services().map(Subject::Service).collect();
        subjects.extend(toolsets.map(Subject::Toolset));
        if !options.providers_only {
            subjects.extend(AgentId::first(project.agents.len()).map(Subject::Agent));
            subjects.extend(ServerId::first(project.servers.len()).map(Subject::Server));
            subjects.extend(services().map(Subject::Http));
        }
        let boxes = Boxes::of(&project.schemas, names);
        let exact = exact::nodes(&project.schemas, names);
        let is_exact = |node| exact.contains(&node);
        // An unknown name was reported already, or it belongs to a file that is not compiled in this run.
        let known = if options.types.is_empty() { BTreeMap::new() } else { project.named_types() };
        let type_of = |options: &'a TypeOptions| {
            let id = *known.get(&options.name)?;
            Some((project.schemas[id].schema, options))
        };
        let type_options = options.types.iter().filter_map(type_of).collect();
        let type_options = domain::TypeOptionsMap(type_options);
        let schemas = &project.schemas;
        let defaults = defaults::Defaults::of(schemas, names, &boxes, &exact, &type_options);
        let derives = derives::DerivesMap::types(
            schemas,
            names,
            &boxes,
            is_exact,
            &defaults,
            &type_options,
            options.non_exhaustive,
            project
                .methods
                .iter()
                .flat_map(|method| &method.errors)
                .filter_map(|error| error.payload),
        );
        let mut dependencies = DependencyMap::new();
        for dependency in &options.dependencies {
            dependencies.entry(library(&dependency.0)).or_default().push(dependency);
        }
        Self {
            project,
            options,
            names,
            boxes,
            exact,
            defaults,
            derives,
            type_options,
            dependencies,
            subjects,
        }
    }

    /// Returns the subjects that may have a crate.
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// Plans the crate of a subject. Returns `None` for a service without types and methods, or without HTTP routes.
    pub fn plan(&self, subject: Subject) -> Option<Crate<'_>> {
        match subject {
            Subject::Service(id) => self.service(id),
            Subject::Toolset(id) => Some(self.toolset(id)),
            Subject::Agent(id) => Some(self.agent(id)),
            Subject::Server(id) => Some(self.server(id)),
            Subject::Http(id) => self.http(id),
        }
    }

    /// Adds the prefix of the options to the name of a package.
    fn package(&self, name: String) -> String {
        let prefix = &self.options.package.prefix;
        if prefix.is_empty() { name } else { format!("{prefix}{name}") }
    }

    /// Returns the path of another package's crate, for a module of a generated crate.
    fn path(&self, package: &str) -> String {
        match self.options.layout {
            #[cfg(feature = "project")]
            Layout::Crates => library(package),
            Layout::Modules => format!("super::super::{}", library(package)),
        }
    }

    /// Returns the path of another package's crate, for the root of a generated crate.
    fn root_path(&self, package: &str) -> String {
        match self.options.layout {
            #[cfg(feature = "project")]
            Layout::Crates => library(package),
            Layout::Modules => format!("super::{}", library(package)),
        }
    }

    /// Returns the macros that the options let a type derive.
    fn extra_derives(&self, node: NodeId) -> Vec<RustPath> {
        let own = self.type_options.derive(node);
        self.options.derive.iter().chain(own).cloned().collect()
    }

    /// Returns the dependencies of a crate in a folder: crates of toolwright, generated crates, and those of the options whose
    /// library names are in `extra`.
    fn dependencies(
        &self,
        dir: &str,
        toolwright: &[&str],
        generated: Vec<Generated>,
        extra: &BTreeSet<&str>,
    ) -> Vec<CrateDependency> {
        let up = "../".repeat(dir.split('/').count());
        let toolwright = toolwright.iter().map(|&package| CrateDependency {
            package: package.to_owned(),
            source: self.toolwright_crate(package).relative_to(&up),
        });
        let generated = generated.into_iter().map(|Generated { package, dir }| CrateDependency {
            package,
            source: Dependency {
                version: self.options.package.published.clone(),
                ..Dependency::at(dir).relative_to(&up)
            },
        });
        let extra = extra.iter().filter_map(|library| self.dependencies.get(*library)).flatten();
        let extra = extra.map(|(package, source)| CrateDependency {
            package: package.clone(),
            source: source.relative_to(&up),
        });
        let mut all: Vec<_> = toolwright.chain(generated).chain(extra).collect();
        all.sort_by(|a, b| a.package.cmp(&b.package));
        all.dedup_by(|a, b| a.package == b.package);
        all
    }

    fn toolwright_crate(&self, package: &str) -> &'a Dependency {
        match package {
            "toolwright-runtime" => &self.options.runtime,
            "toolwright-mcp" => &self.options.mcp,
            "toolwright-http" => &self.options.http,
            _ => &self.options.toolwright,
        }
    }
}

impl Dependency {
    /// Returns the dependency with a path that is valid in a folder below the output folder; `up` leads to the latter.
    fn relative_to(&self, up: &str) -> Self {
        let seen = |path: &String| {
            if path.starts_with('/') { path.clone() } else { format!("{up}{path}") }
        };
        Self { path: self.path.as_ref().map(seen), ..self.clone() }
    }
}
