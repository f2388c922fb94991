//! Reads a file that an earlier import wrote and people may have edited since.

use std::collections::{BTreeMap, BTreeSet};

use super::Owner;
use super::equality::type_body;
use super::keywords::Entries;
use toolwright_codegen::diagnostic::{Report, Severity, Span};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::advice;
use toolwright_codegen::internal::syntax;
use toolwright_codegen::internal::yaml::{self, Node};
use toolwright_codegen::{Source, Sources, render};

/// A file that is there, and has the toolset.
#[derive(Clone, Debug)]
pub struct Existing {
    /// Its text.
    pub(super) text: String,
    /// The text as a tree.
    pub(super) root: Node,
    /// The same without places.
    pub(super) document: Json,
    /// The names of its tools by their names on the server.
    names: BTreeMap<String, String>,
    /// Every tool that the server listed then.
    pub(super) listed: BTreeMap<String, String>,
}

/// Why a file is not an import of a toolset: each mistake on a line, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingError(pub Vec<String>);

impl Existing {
    /// Reads a file, whose path is for messages alone.
    ///
    /// # Errors
    ///
    /// When it is no schema file, or has no such toolset of a remote server.
    pub fn read(path: &str, text: &str, owner: Owner<'_>) -> Result<Self, ExistingError> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        let sources = Sources::new(vec![source]);
        let root = parsed(&sources)?;
        let located = |span: Span, message: String| {
            let place = sources.line_column(span);
            ExistingError(vec![format!("{path}:{}:{}: {message}", place.line, place.column)])
        };
        let toolset = toolset(&root, owner).map_err(|(span, message)| located(span, message))?;
        let names = names(toolset).map_err(|(span, message)| located(span, message))?;
        let listed = texts(toolset.get("mcp").and_then(|mcp| mcp.get("listed")));
        let document = root.to_json();
        Ok(Self { text: text.to_owned(), root, document, names, listed })
    }

    /// What a tool of the server is called in the file, if it is there.
    pub(super) fn local_name(&self, remote: &str) -> Option<&str> {
        self.names.get(remote).map(String::as_str)
    }

    /// Every tool of the file: its name on the server and its name.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(remote, local)| (remote.as_str(), local.as_str()))
    }

    /// Whether the server had the tool when the file was written.
    pub(super) fn knows(&self, remote: &str) -> bool {
        self.listed.contains_key(remote) || self.names.contains_key(remote)
    }

    /// Whether the file has something at a path.
    pub(super) fn has(&self, path: &[String]) -> bool {
        path.iter().try_fold(&self.document, |value, step| value.get(step)).is_some()
    }

    /// The types that the file declares.
    pub(super) fn types(&self) -> Entries {
        entries(self.document.get("types"))
    }
}

/// The entries of an object; none where it is not there.
pub(super) fn entries(value: Option<&Json>) -> Entries {
    match value {
        Some(Json::Object(entries)) => entries.clone(),
        _ => Vec::new(),
    }
}

fn parsed(sources: &Sources) -> Result<Node, ExistingError> {
    let mut report = Report::default();
    syntax::parse(sources, &mut report);
    let findings = report.into_findings();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let lines: Vec<String> = errors.map(|finding| render::one_line(finding, sources)).collect();
    let mut seen = Report::default();
    let (id, source) = sources.iter().next().ok_or_else(|| ExistingError(Vec::new()))?;
    match yaml::parse(id, &source.text, &mut seen) {
        Some(root) if lines.is_empty() => Ok(root),
        _ => Err(ExistingError(lines)),
    }
}

type Located<T> = Result<T, (Span, String)>;

fn toolset<'a>(root: &'a Node, owner: Owner<'_>) -> Located<&'a Node> {
    let service = root.get("service");
    let name = service.and_then(|service| service.get("name").or(Some(service)));
    match name.and_then(Node::as_str) {
        Some(found) if found == owner.service => {}
        Some(found) => {
            let span = name.map_or(root.span, |name| name.span);
            let message = format!("expected the service `{}`, found `{found}`", owner.service);
            return Err((span, message));
        }
        None => {
            let message = format!("expected `service: {}`, found no service", owner.service);
            return Err((start(root.span), message));
        }
    }
    let toolsets = root.get("toolsets");
    let Some(toolset) = toolsets.and_then(|all| all.get(owner.toolset)) else {
        let known = toolsets.and_then(Node::entries).unwrap_or_default();
        let known = known.iter().map(|entry| entry.key.value.as_str());
        let advice = advice(owner.toolset, known, "it has");
        let span = start(toolsets.map_or(root.span, |all| all.span));
        return Err((span, format!("this file has no toolset `{}`; {advice}", owner.toolset)));
    };
    match toolset.get("mcp") {
        Some(_) => Ok(toolset),
        None => Err((
            start(toolset.span),
            format!("the toolset `{}` is no import: it has no `mcp`", owner.toolset),
        )),
    }
}

/// The first byte of a place.
fn start(span: Span) -> Span {
    Span { end: span.start, ..span }
}

fn names(toolset: &Node) -> Located<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    for tool in toolset.get("tools").and_then(Node::entries).unwrap_or_default() {
        let local = &tool.key.value;
        let remote = tool.value.get("remote").and_then(Node::as_str).unwrap_or(local);
        if let Some(other) = names.insert(remote.to_owned(), local.clone()) {
            let message = format!(
                "`{other}` and `{local}` are both `{remote}` on the server; keep one of them"
            );
            return Err((tool.key.span, message));
        }
    }
    Ok(names)
}

fn texts(node: Option<&Node>) -> BTreeMap<String, String> {
    let entries = node.and_then(Node::entries).unwrap_or_default();
    let texts = entries
        .iter()
        .filter_map(|entry| Some((entry.key.value.clone(), entry.value.as_str()?.to_owned())));
    texts.collect()
}

/// What a schema refers to by name: types, as this file may write them.
pub(super) fn references(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        Json::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Json::String(name) if key == "$ref" => {
                        found.insert(name.rsplit('.').next().unwrap_or(name).to_owned());
                    }
                    // Where a schema may stand, a type's name may.
                    Json::String(name) if ["args", "result", "payload"].contains(&key.as_str()) => {
                        found.insert(name.clone());
                    }
                    value => references(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The types that some values refer to, and those that these refer to.
pub(super) fn reached(types: &Entries, roots: &Entries) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    references(&Json::Object(roots.clone()), &mut found);
    let mut open: Vec<String> = found.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let mut further = BTreeSet::new();
        if let Some(body) = type_body(types, &name) {
            references(body, &mut further);
        }
        open.extend(further.into_iter().filter(|name| found.insert(name.clone())));
    }
    found
}
