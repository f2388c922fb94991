//! Merges a new import into an existing file: schemas are taken from the server, everything else stays as people left it.
//! It works on values, which [`super::patch`] writes into the text. The rules are in docs/importing.md.

use std::collections::{BTreeMap, BTreeSet};

use super::Owner;
use super::digest;
use super::document::{Import, Tool, remembering};
use super::edits::Written;
use super::equality::{Equality, as_schema, is_same_value, only_type_name, type_body};
use super::existing::{Existing, entries, reached};
use super::keywords::Entries;
use super::patch::Rename;
use super::provenance;
use super::schema_changes::changes;
use super::type_names::{Pair, Renamed};
use super::update_report::UpdateReport;
use toolwright::remote::Provenance;
use toolwright_codegen::internal::Json;

/// The order in which an import writes what a tool has; what it never writes stands behind.
const WRITTEN: [&str; 6] = ["remote", "title", "description", "args", "result", "annotations"];

/// What the file is to say, with all that changed and nothing else, and which of its keys get other names.
pub(super) fn merge(
    existing: &Existing,
    import: &Import,
    owner: Owner<'_>,
    report: &mut UpdateReport,
) -> (Json, Vec<Rename>) {
    let merge = Merge::of(existing, import, owner);
    merge.tell_changes(report);
    let said = merge.document(true, false, report);
    let keeps = merge.is_true(&said);
    let mut quiet = UpdateReport::default();
    let said = if keeps { said } else { merge.document(false, false, &mut quiet) };
    // Told are the texts by the first pass, the schemas by this one.
    let document = merge.document(keeps, true, &mut quiet);
    report.kept.extend(
        quiet.kept.into_iter().filter(|kept| !report.kept.contains(kept)).collect::<Vec<_>>(),
    );
    let document = remembering(document, &said, import, owner);
    let renames = merge.renames();
    (document, renames)
}

/// Whether a place of a file is none that an import writes: it is in another toolset, or in a type that the import's
/// tools do not need.
pub(super) fn is_foreign(document: &Json, owner: Owner<'_>, to: &[String]) -> bool {
    match to.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["toolsets", toolset, "tools", _, rest @ ..] => {
            *toolset != owner.toolset || rest.first().is_some_and(|key| !WRITTEN.contains(key))
        }
        ["types", name, ..] => {
            let types = entries(document.get("types"));
            !reached(&types, &entries(path(document, owner, "tools"))).contains(*name)
        }
        _ => true,
    }
}

struct Merge<'a> {
    existing: &'a Existing,
    import: &'a Import,
    owner: Owner<'a>,
    /// The tools of the file by their names on the server.
    old_tools: BTreeMap<&'a str, &'a Json>,
    /// What the last import remembers of each tool, by the same names.
    records: BTreeMap<&'a str, &'a Json>,
    old_types: Entries,
    /// What the imported types are called in the file.
    renamed: Renamed,
    /// The types of the file that its imported tools refer to.
    reached: BTreeSet<String>,
}

impl<'a> Merge<'a> {
    fn of(existing: &'a Existing, import: &'a Import, owner: Owner<'a>) -> Self {
        let old_types = existing.types();
        let in_file = by_name(path(&existing.document, owner, "tools"));
        let old_tools =
            existing.tools().filter_map(|(remote, local)| Some((remote, *in_file.get(local)?)));
        let old_tools: BTreeMap<&str, &Json> = old_tools.collect();
        let records =
            by_name(path(&existing.document, owner, "mcp").and_then(|mcp| mcp.get("written")));
        let tools = import
            .tools
            .iter()
            .filter_map(|tool| Some((tool, *old_tools.get(tool.listed.name.as_str())?)));
        let pairs = tools.flat_map(|(tool, old)| {
            let sides = [("args", &tool.args), ("result", &tool.result)];
            sides
                .into_iter()
                .filter_map(move |(side, new)| Some((as_schema(old.get(side)?), new.clone()?)))
        });
        let pairs: Vec<Pair> = pairs.collect();
        let reached = reached(&old_types, &entries(path(&existing.document, owner, "tools")));
        let is_replaced = |name: &str| reached.contains(name);
        let renamed = Renamed::of(&old_types, &import.types, &pairs, &is_replaced);
        Self { existing, import, owner, old_tools, records, old_types, renamed, reached }
    }

    fn old_tool(&self, tool: &Tool) -> Option<&'a Json> {
        self.old_tools.get(tool.listed.name.as_str()).copied()
    }

    /// Names of tools in the file that are to change, each with its new one.
    fn renames(&self) -> Vec<Rename> {
        let changed = self.import.tools.iter().filter_map(|tool| {
            let old =
                self.existing.local_name(&tool.listed.name).filter(|old| *old != tool.name)?;
            let path = ["toolsets", self.owner.toolset, "tools", old].map(str::to_owned);
            Some((path.to_vec(), tool.name.clone()))
        });
        changed.collect()
    }

    /// What changed in the schemas of tools that the server lists otherwise than before.
    fn tell_changes(&self, report: &mut UpdateReport) {
        let tools = self.imported();
        for (name, digest) in &self.import.listed {
            let before = self.existing.listed.get(name);
            let is_changed = before.is_some_and(|before| Json::string(before) != *digest);
            if is_changed {
                let tool = tools.get(name.as_str());
                let lines = tool.map_or_else(Vec::new, |tool| self.changes(tool));
                report.changed.push((name.clone(), lines));
            }
        }
    }

    fn changes(&self, tool: &Tool) -> Vec<String> {
        let Some(old) = self.old_tool(tool) else { return Vec::new() };
        let sides = [("args", &tool.args), ("result", &tool.result)];
        let lines = sides.into_iter().flat_map(|(side, new)| {
            let types = Equality { old: &self.old_types, new: &self.import.types };
            let old = old.get(side).map(as_schema);
            let old = old.filter(|_| new.is_some() || !self.is_own_result(tool));
            changes(types, side, old.as_ref(), new.as_ref())
        });
        lines.collect()
    }

    /// The file as it is to be. `keeps` what says the same in other words; without it the file says it as the import
    /// does. With `edits` it has the words that people changed, and without them the server's.
    fn document(&self, keeps: bool, edits: bool, report: &mut UpdateReport) -> Json {
        let tools = self.tools(keeps, edits, report);
        let mut document = entries(Some(&self.existing.document));
        let toolsets = set_in(
            &entries(self.existing.document.get("toolsets")),
            self.owner.toolset,
            Json::Object(self.toolset(tools)),
        );
        set(&mut document, "toolsets", Json::Object(toolsets));
        let types = self.types(keeps, edits, &document, report);
        document.retain(|(key, _)| key != "types");
        if !types.is_empty() {
            let before = document.iter().position(|(key, _)| {
                !["toolwright", "service", "integers"].contains(&key.as_str())
            });
            let before = before.unwrap_or(document.len());
            document.insert(before, ("types".to_owned(), Json::Object(types)));
        }
        Json::Object(document)
    }

    fn toolset(&self, tools: Entries) -> Entries {
        let mut toolset = entries(toolset(&self.existing.document, self.owner));
        let old = entries(path(&self.existing.document, self.owner, "mcp"));
        let server = old.iter().find(|(key, _)| key == "server").map(|(_, value)| value.clone());
        let server = server.unwrap_or_else(|| Json::string(self.owner.toolset));
        let written = old.iter().find(|(key, _)| key == "from").map(|(_, from)| from);
        let from = self.from(provenance::written(written));
        set(&mut toolset, "mcp", Json::Object(self.import.backing(server, from)));
        set(&mut toolset, "tools", Json::Object(tools));
        toolset
    }

    /// What is not known now holds on while the server lists the same; its name does in any case.
    fn from(&self, written: Provenance<String>) -> Provenance<String> {
        let is_same_list = self.existing.listed.len() == self.import.listed.len()
            && self.import.listed.iter().all(|(name, digest)| {
                self.existing.listed.get(name).is_some_and(|known| Json::string(known) == *digest)
            });
        let still = if is_same_list {
            written
        } else {
            Provenance { name: written.name, ..Provenance::default() }
        };
        self.import.from.clone().or(still)
    }

    /// The tools in the file's order; new ones behind the one that they follow on the server.
    fn tools(&self, keeps: bool, edits: bool, report: &mut UpdateReport) -> Entries {
        let old = entries(path(&self.existing.document, self.owner, "tools"));
        let remote = |name: &str, tool: &Json| match tool.get("remote") {
            Some(Json::String(remote)) => remote.clone(),
            _ => name.to_owned(),
        };
        let tools = self.imported();
        let old: Vec<String> = old.iter().map(|(name, tool)| remote(name, tool)).collect();
        let old: Vec<&str> =
            old.iter().map(String::as_str).filter(|name| tools.contains_key(name)).collect();
        let is_old: BTreeSet<&str> = old.iter().copied().collect();
        // New tools by the one that each follows; those before all others follow none.
        let mut new: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
        let mut before = None;
        for tool in &self.import.tools {
            let name = tool.listed.name.as_str();
            if is_old.contains(name) {
                before = Some(name);
            } else {
                new.entry(before).or_default().push(name);
            }
        }
        let order = std::iter::once(None).chain(old.into_iter().map(Some));
        let order =
            order.flat_map(|name| name.into_iter().chain(new.remove(&name).unwrap_or_default()));
        let order: Vec<&str> = order.collect();
        let tools = order.into_iter().filter_map(|name| tools.get(name));
        tools
            .map(|tool| (tool.name.clone(), Json::Object(self.tool(tool, keeps, edits, report))))
            .collect()
    }

    /// The imported tools by their names on the server.
    fn imported(&self) -> BTreeMap<&'a str, &'a Tool> {
        self.import.tools.iter().map(|tool| (tool.listed.name.as_str(), tool)).collect()
    }

    fn tool(&self, tool: &Tool, keeps: bool, edits: bool, report: &mut UpdateReport) -> Entries {
        let mut new: Entries = tool.entries();
        for (key, value) in &mut new {
            if key == "args" || key == "result" {
                *value = self.schema(tool, key, value, keeps);
                if edits {
                    *value = self.edited(tool, key, value, report);
                }
            }
        }
        let Some(old) = self.old_tool(tool) else { return new };
        for key in ["title", "description", "annotations"] {
            self.settle(tool, old, key, &mut new, report);
        }
        if let Some(result) = old.get("result")
            && tool.result.is_none()
            && self.is_own_result(tool)
        {
            new.push(("result".to_owned(), result.clone()));
        }
        new.sort_by_key(|(key, _)| WRITTEN.iter().position(|known| known == key));
        let rest = entries(Some(old)).into_iter();
        new.extend(rest.filter(|(key, _)| !WRITTEN.contains(&key.as_str())));
        new
    }

    /// What the server says, unless the file was edited there.
    fn settle(
        &self,
        tool: &Tool,
        old: &Json,
        key: &str,
        new: &mut Entries,
        report: &mut UpdateReport,
    ) {
        let digest_of = |value: &Json| Json::String(digest::value(value));
        let record = self.record(tool);
        let before = record.and_then(|record| record.get(key));
        let (found, says) = (old.get(key), new.iter().position(|(known, _)| known == key));
        let is_edited = match record {
            Some(_) => found.map(digest_of).as_ref() != before,
            None => found.is_some(),
        };
        let said = says.map(|at| new[at].1.clone());
        let is_equal = match (found, &said) {
            (Some(found), Some(said)) => is_same_value(found, said),
            (found, said) => found.is_none() && said.is_none(),
        };
        if !is_edited || is_equal {
            return;
        }
        if said.as_ref().map(digest_of).as_ref() != before {
            report.kept.push(format!("{} {key}", tool.listed.name));
        }
        new.retain(|(known, _)| known != key);
        new.extend(found.map(|found| (key.to_owned(), found.clone())));
    }

    /// What the last import remembers of a tool.
    fn record(&self, tool: &Tool) -> Option<&'a Json> {
        self.records.get(tool.listed.name.as_str()).copied()
    }

    /// Whether a result that the file has was added by hand: the last import had none to write.
    fn is_own_result(&self, tool: &Tool) -> bool {
        self.record(tool).is_none_or(|record| record.get("result").is_none())
    }

    /// A schema of the server in the file's words.
    fn schema(&self, tool: &Tool, side: &str, new: &Json, keeps: bool) -> Json {
        let new = self.renamed.schema(new);
        let old = self.old_tool(tool).and_then(|old| old.get(side));
        let schema = match old {
            Some(old) if keeps => {
                let merged = self.in_old_words(&as_schema(old), &new);
                if is_same_value(&merged, &as_schema(old)) {
                    return old.clone();
                }
                merged
            }
            _ => new,
        };
        match only_type_name(&schema) {
            Some(name) => Json::string(name),
            None => schema,
        }
    }

    /// A schema with the words that people changed since it was written.
    fn edited(&self, tool: &Tool, side: &str, said: &Json, report: &mut UpdateReport) -> Json {
        let old = self.old_tool(tool).and_then(|old| old.get(side));
        let written = Written::read(self.record(tool).and_then(|record| record.get(side)));
        let (Some(old), Some(written)) = (old, written) else { return said.clone() };
        let mut is_new = false;
        let kept = written.keep(&as_schema(old), &as_schema(said), &mut is_new);
        report.kept.extend(is_new.then(|| format!("{} {side}", tool.listed.name)));
        if is_same_value(&kept, &as_schema(old)) {
            return old.clone();
        }
        match only_type_name(&kept) {
            Some(name) => Json::string(name),
            None => kept,
        }
    }

    /// The same for a type of the file.
    fn edited_type(&self, name: &str, old: &Json, said: Json, report: &mut UpdateReport) -> Json {
        let backing = path(&self.existing.document, self.owner, "mcp");
        let types = backing.and_then(|backing| backing.get("types"));
        let Some(written) = Written::read(types.and_then(|types| types.get(name))) else {
            return said;
        };
        let mut is_new = false;
        let kept = written.keep(old, &said, &mut is_new);
        report.kept.extend(is_new.then(|| format!("type {name}")));
        kept
    }

    /// A schema as the file writes it wherever that says the same.
    fn in_old_words(&self, old: &Json, new: &Json) -> Json {
        let equality = Equality { old: &self.old_types, new: &self.renamed.types };
        if equality.holds(old, new) {
            return old.clone();
        }
        match (old, new) {
            (Json::Object(_), Json::Object(entries)) => {
                let merged = entries.iter().map(|(key, new)| {
                    let merged = old.get(key).map(|old| self.in_old_words(old, new));
                    (key.clone(), merged.unwrap_or_else(|| new.clone()))
                });
                Json::Object(merged.collect())
            }
            (Json::Array(old), Json::Array(new)) if old.len() == new.len() => Json::Array(
                old.iter().zip(new).map(|(old, new)| self.in_old_words(old, new)).collect(),
            ),
            _ => new.clone(),
        }
    }

    /// The file's types as the server has them now, then new ones; what only the tools of earlier lists needed goes.
    fn types(
        &self,
        keeps: bool,
        edits: bool,
        document: &Entries,
        report: &mut UpdateReport,
    ) -> Entries {
        let mut types: Entries = Vec::new();
        for (name, old) in &self.old_types {
            let body = match type_body(&self.renamed.types, name) {
                Some(new) if keeps => self.in_old_words(old, new),
                Some(new) => new.clone(),
                None => old.clone(),
            };
            let body = if edits && self.reached.contains(name) {
                self.edited_type(name, old, body, report)
            } else {
                body
            };
            types.push((name.clone(), body));
        }
        let is_declared = |name: &str| type_body(&self.old_types, name).is_some();
        let new = self.renamed.types.iter().filter(|(name, _)| !is_declared(name));
        types.extend(new.cloned());
        let is_own = |name: &str| is_declared(name) && !self.reached.contains(name);
        let rest = document.iter().filter(|(key, _)| key != "types").cloned();
        let own = types.iter().filter(|(name, _)| is_own(name)).cloned();
        let needed = reached(&types, &rest.chain(own).collect());
        types.retain(|(name, _)| is_own(name) || needed.contains(name));
        types
    }

    /// Whether every schema of a file says what the server says.
    fn is_true(&self, document: &Json) -> bool {
        let types = entries(document.get("types"));
        let tools = by_name(path(document, self.owner, "tools"));
        self.import.tools.iter().all(|tool| {
            let written = tools.get(tool.name.as_str());
            let sides = [("args", &tool.args), ("result", &tool.result)];
            sides.into_iter().all(|(side, new)| {
                let Some(new) = new else { return true };
                let written = written.and_then(|tool| tool.get(side)).map(as_schema);
                let equality = Equality { old: &types, new: &self.import.types };
                written.is_some_and(|written| equality.holds(&written, &as_schema(new)))
            })
        })
    }
}

fn toolset<'a>(document: &'a Json, owner: Owner<'_>) -> Option<&'a Json> {
    document.get("toolsets")?.get(owner.toolset)
}

fn path<'a>(document: &'a Json, owner: Owner<'_>, key: &str) -> Option<&'a Json> {
    toolset(document, owner)?.get(key)
}

/// The entries of an object; none where it is not there.
fn by_name(value: Option<&Json>) -> BTreeMap<&str, &Json> {
    match value {
        Some(Json::Object(entries)) => {
            entries.iter().map(|(name, value)| (name.as_str(), value)).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Puts a value in the place of an entry, or behind the others.
fn set(entries: &mut Entries, key: &str, value: Json) {
    match entries.iter_mut().find(|(known, _)| known == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key.to_owned(), value)),
    }
}

fn set_in(entries: &Entries, key: &str, value: Json) -> Entries {
    let mut entries = entries.clone();
    set(&mut entries, key, value);
    entries
}
