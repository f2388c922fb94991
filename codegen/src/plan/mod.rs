//! What will be printed: every identifier, type, path, literal and file name decided. Never holds an
//! open choice, nor raw schema text as code.

mod consumers;
mod defaults;
mod derives;
mod docs;
mod domain;
mod exact;
mod http;
mod judged;
mod properties;
mod recursion;
mod roots;
mod service;
mod shapes;
mod tool;
mod toolset;
mod transform;
mod types;

pub use consumers::{AgentCrate, Provider, ServerCrate, ServiceParameter, ToolPath};
pub use http::{HttpCrate, HttpMethod};
pub use roots::{LocatedType, RootType};
pub use service::{
    ErrorArgument, ErrorContent, ErrorEnum, ErrorVariant, ServiceCrate, TraitMethod,
};
pub use tool::ToolPlan;
pub use toolset::{Arm, ExecutorPlan, ToolsetCrate};
pub use transform::{AdditionalMove, Getter, InjectedValue, Move, Transform, TransformBody};
pub use types::{
    AdditionalField, Body, Constant, DefaultValue, Definition, DependentKeys, Derives, Field,
    Import, IntegerLimits, ItemLimits, Member, NumberLimit, NumberLimits, PatternStatic, Presence,
    PropertyLimits, SchemaDefault, SchemaFile, StringLimits, Struct, TupleUse, TypeUse, Types,
    UnionVariant, ValidatorStatic, Wrapper,
};

use std::collections::BTreeSet;

use crate::model::{AgentId, Project, ServerId, ServiceId, Tool, ToolsetId};
use crate::naming::{TypeNames, library};
use crate::options::{Dependency, Layout, Options, RustPath, TypeOptions};
use crate::schema::NodeId;

/// One generated crate, or, in the module layout, one module with the same files.
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
    /// Its dependencies, in alphabetical order.
    pub dependencies: Vec<CrateDependency>,
    /// The options, which its manifest repeats for every package.
    pub options: &'a Options,
    /// The tools it is about, for the README.
    pub tools: Vec<&'a Tool>,
    /// The code.
    pub contents: Contents<'a>,
}

/// A dependency of a crate.
#[derive(Debug)]
pub struct CrateDependency {
    /// The package's name.
    pub package: String,
    /// Where cargo finds it.
    pub source: Dependency,
}

/// A generated crate, as others depend on it.
struct Generated {
    /// The package's name.
    package: String,
    /// Its folder under the output folder.
    dir: String,
}

/// The code of one crate.
#[derive(Debug)]
pub enum Contents<'a> {
    /// Named types, the trait, the errors.
    Service(ServiceCrate<'a>),
    /// Types, codecs, specs, calls; executor and transforms where methods back the tools.
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

/// The crates of a project, providers first. Each is planned when it is asked for: thousands of plans take more room than
/// what is made of them.
pub struct Plans<'a> {
    project: &'a Project,
    options: &'a Options,
    names: &'a TypeNames,
    recursion: recursion::Recursion,
    exact: BTreeSet<NodeId>,
    defaults: defaults::Defaults,
    derives: derives::DerivesOf,
    type_options: domain::OptionsOf<'a>,
    subjects: Vec<Subject>,
}

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
    /// Finds out what crates there may be, and nothing about them yet.
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
        let recursion = recursion::Recursion::of(&project.schemas, names);
        let exact = exact::nodes(&project.schemas, names);
        let is_exact = |node| exact.contains(&node);
        // A name that is unknown has been refused, or is of a part of the schema that is not looked at.
        let type_of = |options: &'a TypeOptions| {
            let id = project.named_type(&options.name)?;
            Some((project.schemas[id].schema, options))
        };
        let type_options = options.types.iter().filter_map(type_of).collect();
        let type_options = domain::OptionsOf(type_options);
        let schemas = &project.schemas;
        let defaults = defaults::Defaults::of(schemas, names, &recursion, &exact, &type_options);
        let derives = derives::DerivesOf::types(
            schemas,
            names,
            &recursion,
            is_exact,
            &defaults,
            &type_options,
            project
                .methods
                .iter()
                .flat_map(|method| &method.errors)
                .filter_map(|error| error.payload),
        );
        Self {
            project,
            options,
            names,
            recursion,
            exact,
            defaults,
            derives,
            type_options,
            subjects,
        }
    }

    /// The subjects for which there may be a crate.
    pub fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    /// The crate of a subject; none for a service that has nothing of the kind.
    pub fn plan(&self, subject: Subject) -> Option<Crate<'_>> {
        let Self {
            project, options, names, recursion, exact, defaults, derives, type_options, ..
        } = self;
        let planner =
            Planner { project, options, names, recursion, exact, defaults, derives, type_options };
        match subject {
            Subject::Service(id) => planner.service(id),
            Subject::Toolset(id) => Some(planner.toolset(id)),
            Subject::Agent(id) => Some(planner.agent(id)),
            Subject::Server(id) => Some(planner.server(id)),
            Subject::Http(id) => planner.http(id),
        }
    }
}

/// The input of every part of planning.
#[derive(Clone, Copy)]
struct Planner<'a> {
    project: &'a Project,
    options: &'a Options,
    names: &'a TypeNames,
    recursion: &'a recursion::Recursion,
    exact: &'a BTreeSet<NodeId>,
    defaults: &'a defaults::Defaults,
    derives: &'a derives::DerivesOf,
    type_options: &'a domain::OptionsOf<'a>,
}

impl<'a> Planner<'a> {
    /// The whole name of a package.
    fn package(self, name: String) -> String {
        let prefix = &self.options.package.prefix;
        if prefix.is_empty() { name } else { format!("{prefix}{name}") }
    }

    /// How a module of a generated crate names the crate of another package.
    fn path(self, package: &str) -> String {
        match self.options.layout {
            #[cfg(feature = "project")]
            Layout::Crates => library(package),
            Layout::Modules => format!("super::super::{}", library(package)),
        }
    }

    /// How the root of a generated crate names the crate of another package.
    fn root_path(self, package: &str) -> String {
        match self.options.layout {
            #[cfg(feature = "project")]
            Layout::Crates => library(package),
            Layout::Modules => format!("super::{}", library(package)),
        }
    }

    /// The macros that the options let a type derive.
    fn extra_derives(self, node: NodeId) -> Vec<RustPath> {
        let own = self.type_options.derive(node);
        self.options.derive.iter().chain(own).cloned().collect()
    }

    /// The dependencies of a crate in a folder: ours, generated ones by folder, and those of the options that are among the
    /// `extra` ones.
    fn dependencies(
        self,
        dir: &str,
        ours: &[&str],
        generated: Vec<Generated>,
        extra: &BTreeSet<&str>,
    ) -> Vec<CrateDependency> {
        let up = "../".repeat(dir.split('/').count());
        let ours = ours.iter().map(|&package| CrateDependency {
            package: package.to_owned(),
            source: self.our_crate(package).seen_from(&up),
        });
        let generated = generated.into_iter().map(|Generated { package, dir }| CrateDependency {
            package,
            source: Dependency {
                version: self.options.package.published.clone(),
                ..Dependency::at(dir).seen_from(&up)
            },
        });
        let is_extra = |(package, _): &&(String, Dependency)| extra.contains(&*library(package));
        let extra = self.options.dependencies.iter().filter(is_extra).map(|(package, source)| {
            CrateDependency { package: package.clone(), source: source.seen_from(&up) }
        });
        let mut all: Vec<_> = ours.chain(generated).chain(extra).collect();
        all.sort_by(|a, b| a.package.cmp(&b.package));
        all.dedup_by(|a, b| a.package == b.package);
        all
    }

    fn our_crate(self, package: &str) -> &'a Dependency {
        match package {
            "toolwright-runtime" => &self.options.runtime,
            "toolwright-mcp" => &self.options.mcp,
            "toolwright-http" => &self.options.http,
            _ => &self.options.toolwright,
        }
    }
}

impl Dependency {
    /// The same dependency, seen from a folder below the output folder.
    fn seen_from(&self, up: &str) -> Self {
        let seen = |path: &String| {
            if path.starts_with('/') { path.clone() } else { format!("{up}{path}") }
        };
        Self { path: self.path.as_ref().map(seen), ..self.clone() }
    }
}
