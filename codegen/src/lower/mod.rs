//! Documents to a [`Project`]: names resolved, owners found, every rule of the language checked. Never
//! makes a Rust name; it only asks [`crate::naming`] whether two of them would clash.
//!
//! Ids first and bodies second, so that everything may refer to everything.

mod binding;
mod budget;
mod consumers;
mod examples;
mod methods;
mod owners;
mod services;
mod templates;
mod tools;
mod toolsets;
mod types;

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Report};
use crate::model::{MethodId, Project, ServiceId, ToolId, ToolsetId};
use crate::naming;
use crate::nearest;
use crate::schema::read::{Pending, SchemaReader, TypeNames};
use crate::schema::{Effort, NodeId};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Document};
use crate::yaml;
use toolsets::DeclaredToolset;

/// Gives documents their meaning. The project is fit for use only if nothing is an error.
pub fn lower(documents: &[Document], report: &mut Report) -> Project {
    let mut lowering = Lowering::new(documents, report);
    lowering.services();
    lowering.types();
    lowering.methods();
    lowering.agents();
    lowering.toolsets();
    lowering.tools();
    lowering.consumers();
    lowering.finish()
}

/// What is known so far.
struct Lowering<'a> {
    documents: &'a [Document],
    report: &'a mut Report,
    project: Project,
    /// The service of each document.
    homes: Vec<Option<ServiceId>>,
    names: TypeNames,
    pending: Pending,
    /// What checking examples may still ask for.
    effort: Effort,
    /// How many properties bound tools have taken over.
    bound_properties: usize,
    methods: BTreeMap<(ServiceId, String), MethodId>,
    method_texts: Vec<&'a syntax::Method>,
    agents: Vec<DeclaredAgent<'a>>,
    toolsets: Vec<DeclaredToolset<'a>>,
    toolset_names: Names<ToolsetId>,
    tool_names: Names<ToolId>,
}

struct DeclaredAgent<'a> {
    service: ServiceId,
    name: &'a Spanned<String>,
    text: &'a syntax::Agent,
}

/// Global names: where each was first given, and what it names. A name whose bearer could not be
/// lowered is known all the same, so that one mistake is not reported again at every use.
struct Names<Id> {
    known: BTreeMap<String, (Span, Option<Id>)>,
}

impl<Id> Default for Names<Id> {
    fn default() -> Self {
        Self { known: BTreeMap::new() }
    }
}

impl<Id: Copy> Names<Id> {
    /// Gives a name; the place where it is taken, if it is.
    fn give(&mut self, name: &Spanned<String>, id: Option<Id>) -> Option<Span> {
        if let Some((first, _)) = self.known.get(&name.value) {
            return Some(*first);
        }
        self.known.insert(name.value.clone(), (name.span, id));
        None
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }
}

impl<'a> Lowering<'a> {
    fn new(documents: &'a [Document], report: &'a mut Report) -> Self {
        Self {
            documents,
            report,
            project: Project::default(),
            homes: Vec::new(),
            names: TypeNames::default(),
            pending: Pending::default(),
            effort: Effort::default(),
            bound_properties: 0,
            methods: BTreeMap::new(),
            method_texts: Vec::new(),
            agents: Vec::new(),
            toolsets: Vec::new(),
            toolset_names: Names::default(),
            tool_names: Names::default(),
        }
    }

    /// What can be checked when all is known.
    fn finish(mut self) -> Project {
        std::mem::take(&mut self.pending).settle(&mut self.project, self.report);
        if !self.report.has_errors() {
            self.examples();
            self.defaults();
            self.templates();
        }
        // Names given twice leave all else in order, and one run is to show every conflict.
        if self.report.has_only(|error| error.code.starts_with("duplicate-")) {
            naming::check(&self.project, self.report);
        }
        if !self.report.has_errors() {
            self.output();
        }
        self.project
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report.add(Diagnostic::error(code, span, message));
    }

    /// Reports a name that breaks the grammar of names.
    fn check_name(&mut self, what: &str, name: &Spanned<String>) {
        // An empty string has been reported as such.
        if !naming::is_name(&name.value) {
            let message = format!("`{}` is not a name for {what}", name.value);
            let finding = Diagnostic::error("bad-name", name.span, message)
                .help("lower-case letters, digits and single underscores, at most 64: `get_todos`");
            self.report.add(finding);
        }
    }

    fn duplicate(&mut self, code: &'static str, what: &str, name: &Spanned<String>, first: Span) {
        let finding =
            Diagnostic::error(code, name.span, format!("two {what} are named `{}`", name.value))
                .labelled("again here")
                .also(first, "first here")
                .help("rename one of them");
        self.report.add(finding);
    }

    fn unknown<'n>(
        &mut self,
        code: &'static str,
        what: &str,
        name: &Spanned<String>,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        if !self.report.is_full() {
            self.report.add(unknown(code, what, name, known));
        }
    }

    /// Reads a type's name or an inline schema, as a service would mean it.
    fn schema(&mut self, service: ServiceId, text: &yaml::Node) -> NodeId {
        self.reader(service).schema_or_name(text)
    }

    fn reader(&mut self, service: ServiceId) -> SchemaReader<'_> {
        SchemaReader {
            project: &mut self.project,
            names: &self.names,
            service,
            pending: &mut self.pending,
            report: self.report,
        }
    }
}

fn unknown<'n>(
    code: &'static str,
    what: &str,
    name: &Spanned<String>,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("no {what} is named `{}`", name.value);
    let advice = nearest::advice(&name.value, known, "known here");
    Diagnostic::error(code, name.span, message).help(advice)
}

fn owned(text: Option<&Spanned<String>>) -> Option<String> {
    text.map(|text| text.value.clone())
}
