//! Reads a file that an earlier import wrote and people may have edited since.

use std::collections::{BTreeMap, BTreeSet};

use super::Owner;
use super::keywords::Entries;
use toolwright_codegen::diagnostic::{Report, Severity, Span};
use toolwright_codegen::internal::Json;
use toolwright_codegen::internal::advice;
use toolwright_codegen::internal::syntax;
use toolwright_codegen::internal::yaml::{self, Node};
use toolwright_codegen::{Source, Sources, render};

/// An existing file that has the imported toolset.
#[derive(Clone, Debug)]
pub struct Existing {
    /// Its text.
    pub(super) text: String,
    /// The text as a tree with positions.
    pub(super) root: Node,
    /// The tree without positions.
    pub(super) document: Json,
    /// The names of its tools by their names on the server.
    names: BTreeMap<String, String>,
    /// The digests of all tools that the server listed at the last import, by their names there.
    pub(super) listed: BTreeMap<String, Json>,
}

/// A file is not an import of the toolset. Each line is a mistake with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingError(pub Vec<String>);

impl Existing {
    /// Reads a file. The path is only used in messages.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a schema file, or has no such toolset of an MCP server.
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
        let document = root.to_json();
        let path = ["toolsets", owner.toolset, "mcp", "listed"];
        let listed = path.iter().try_fold(&document, |value, key| value.get(key));
        let listed = entries(listed).into_iter().collect();
        Ok(Self { text: text.to_owned(), root, document, names, listed })
    }

    /// The name that the file has for a tool of the server, if it has the tool.
    pub(super) fn local_name(&self, remote: &str) -> Option<&str> {
        self.names.get(remote).map(String::as_str)
    }

    /// All tools of the file: the name on the server and the name in the file.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(remote, local)| (remote.as_str(), local.as_str()))
    }

    /// Returns whether the server listed the tool at the last import.
    pub(super) fn knows(&self, remote: &str) -> bool {
        self.listed.contains_key(remote) || self.names.contains_key(remote)
    }

    /// Returns whether the file has something at a path.
    pub(super) fn has(&self, path: &[String]) -> bool {
        path.iter().try_fold(&self.document, |value, step| value.get(step)).is_some()
    }

    /// The types that the file declares.
    pub(super) fn types(&self) -> Entries {
        entries(self.document.get("types"))
    }
}

/// The entries of an object; none if the value is missing or no object.
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
            format!("the toolset `{}` is not an import: it has no `mcp`", owner.toolset),
        )),
    }
}

/// An empty span at the start of another.
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

/// Collects the names of the types that a value refers to.
pub(super) fn references(value: &Json, found: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        Json::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Json::String(name) if key == "$ref" => {
                        found.insert(name.rsplit('.').next().unwrap_or(name).to_owned());
                    }
                    // The name of a type may replace a schema here.
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

/// The types that some values reach through references.
pub(super) fn reached(types: &Entries, roots: &Entries) -> BTreeSet<String> {
    let bodies: BTreeMap<&str, &Json> =
        types.iter().map(|(name, body)| (name.as_str(), body)).collect();
    let mut found = BTreeSet::new();
    for (_, root) in roots {
        references(root, &mut found);
    }
    let mut open: Vec<String> = found.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let mut further = BTreeSet::new();
        if let Some(body) = bodies.get(name.as_str()) {
            references(body, &mut further);
        }
        open.extend(further.into_iter().filter(|name| found.insert(name.clone())));
    }
    found
}
