//! Merges a new import into an existing file. Schemas come from the server, and everything else stays as in the file. The
//! result is a value, which [`super::patch`] writes into the text. The rules are in docs/importing.md.

use std::collections::{BTreeMap, BTreeSet};

use super::Owner;
use super::accept::IsForeign;
use super::digest;
use super::document::{Import, Tool, with_records};
use super::edits::Record;
use super::equality::{Equality, as_schema, is_same_value, only_type_name};
use super::existing::{Existing, entries, reached};
use super::keywords::{Entries, holds_named, holds_values};
use super::patch::Rename;
use super::provenance;
use super::schema_changes::changes;
use super::type_names::{Pair, Renamed};
use super::update_report::UpdateReport;
use toolwright::remote::Provenance;
use toolwright_codegen::internal::Json;

/// The keys of a tool that an import writes, in their order. Other keys follow them.
const WRITTEN: [&str; 6] = ["remote", "title", "description", "args", "result", "annotations"];

/// The line of the report for a tool that changed, but not in the schemas of the file.
const OTHER_CHANGES: &str = "parts that the file does not show, such as hints, icons, `_meta` or keywords that are not supported";

/// Returns the new document of the file, and the keys to rename.
pub(super) fn merge(
    existing: &Existing,
    import: &Import,
    owner: Owner<'_>,
    report: &mut UpdateReport,
) -> (Json, Vec<Rename>) {
    let merge = Merge::of(existing, import, owner);
    merge.report_changes(report);
    let imported = merge.document(true, false, report);
    let keeps_form = merge.matches_server(&imported);
    let mut second_report = UpdateReport::default();
    let imported =
        if keeps_form { imported } else { merge.document(false, false, &mut second_report) };
    // The first pass reported the texts that were kept, and this one reports the schemas too.
    let document = merge.document(keeps_form, true, &mut second_report);
    let kept = second_report.kept.into_iter().filter(|kept| !report.kept.contains(kept));
    let kept: Vec<String> = kept.collect();
    report.kept.extend(kept);
    let document = with_records(document, &imported, import, owner);
    let renames = merge.renames();
    (document, renames)
}

/// Returns whether the import does not write a place of a document: it is in another toolset, under another key, or in a type that
/// the imported tools do not need and did not need in the file before.
pub(super) fn is_foreign(document: &Json, existing: &Existing, owner: Owner<'_>) -> IsForeign {
    let ours = owner.toolset.to_owned();
    let needed = [document, &existing.document].map(|document| {
        let types = entries(document.get("types"));
        reached(&types, &entries(path(document, owner, "tools")))
    });
    Box::new(move |to| match to.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["toolsets", toolset, "tools", _, rest @ ..] => {
            *toolset != ours || rest.first().is_some_and(|key| !WRITTEN.contains(key))
        }
        ["types", name, ..] => !needed.iter().any(|needed| needed.contains(*name)),
        _ => true,
    })
}

struct Merge<'a> {
    existing: &'a Existing,
    import: &'a Import,
    owner: Owner<'a>,
    /// The tools of the file by their names on the server.
    old_tools: BTreeMap<&'a str, &'a Json>,
    /// The records that the last import wrote of each tool, by the same names.
    records: BTreeMap<&'a str, &'a Json>,
    old_types: Entries,
    /// The imported types under their names in the file.
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

    /// The tools whose names change in the file, with their new names.
    fn renames(&self) -> Vec<Rename> {
        let changed = self.import.tools.iter().filter_map(|tool| {
            let old =
                self.existing.local_name(&tool.listed.name).filter(|old| *old != tool.name)?;
            let path = ["toolsets", self.owner.toolset, "tools", old].map(str::to_owned);
            Some((path.to_vec(), tool.name.clone()))
        });
        changed.collect()
    }

    /// Reports the tools that the server lists differently than at the last import.
    fn report_changes(&self, report: &mut UpdateReport) {
        let tools = self.imported();
        let types = Equality::of(&self.old_types, &self.import.types);
        for (name, digests) in &self.import.listed {
            let Some(before) = self.existing.listed.get(name).filter(|before| *before != digests)
            else {
                continue;
            };
            let tool = tools.get(name.as_str());
            let mut lines = tool.map_or_else(Vec::new, |tool| self.changes(&types, tool));
            if lines.is_empty() {
                let can_the_same = before.get("capabilities") == digests.get("capabilities");
                let line = if can_the_same { "only texts" } else { OTHER_CHANGES };
                lines.push(line.to_owned());
            }
            report.changed.push((name.clone(), lines));
        }
    }

    fn changes(&self, types: &Equality<'_>, tool: &Tool) -> Vec<String> {
        let Some(old) = self.old_tool(tool) else { return Vec::new() };
        let sides = [("args", &tool.args), ("result", &tool.result)];
        let lines = sides.into_iter().flat_map(|(side, new)| {
            let old = old.get(side).map(as_schema);
            let old = old.filter(|_| new.is_some() || !self.has_own_result(tool));
            changes(types, side, old.as_ref(), new.as_ref())
        });
        lines.collect()
    }

    /// The new document of the file. With `keeps_form`, a schema that is equal to the server's keeps the form that it has in
    /// the file, such as the name of a type; otherwise it gets the form of a new import. With `edits`, schemas keep the edits
    /// of people.
    fn document(&self, keeps_form: bool, edits: bool, report: &mut UpdateReport) -> Json {
        let equality = Equality::of(&self.old_types, &self.renamed.types);
        let form = keeps_form.then_some(&equality);
        let tools = self.tools(form, edits, report);
        let mut document = entries(Some(&self.existing.document));
        let toolsets = set_in(
            &entries(self.existing.document.get("toolsets")),
            self.owner.toolset,
            Json::Object(self.toolset(tools)),
        );
        set(&mut document, "toolsets", Json::Object(toolsets));
        let types = self.types(form, edits, &document, report);
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
        let from = self.provenance(provenance::written(written));
        set(&mut toolset, "mcp", Json::Object(self.import.server_entries(server, from)));
        set(&mut toolset, "tools", Json::Object(tools));
        toolset
    }

    /// The provenance of this import. What it does not know stays as in the file if the server lists the same tools; the
    /// server's name always stays.
    fn provenance(&self, written: Provenance<String>) -> Provenance<String> {
        let is_same_list = self.existing.listed.len() == self.import.listed.len()
            && self
                .import
                .listed
                .iter()
                .all(|(name, digests)| self.existing.listed.get(name) == Some(digests));
        let earlier = if is_same_list {
            written
        } else {
            Provenance { name: written.name, ..Provenance::default() }
        };
        self.import.from.clone().or(earlier)
    }

    /// The tools in the file's order. A new tool follows the same tool as on the server.
    fn tools(
        &self,
        form: Option<&Equality<'_>>,
        edits: bool,
        report: &mut UpdateReport,
    ) -> Entries {
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
        // The new tools by the old tool that they follow; `None` for those before all old tools.
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
            .map(|tool| (tool.name.clone(), Json::Object(self.tool(tool, form, edits, report))))
            .collect()
    }

    /// The imported tools by their names on the server.
    fn imported(&self) -> BTreeMap<&'a str, &'a Tool> {
        self.import.tools.iter().map(|tool| (tool.listed.name.as_str(), tool)).collect()
    }

    fn tool(
        &self,
        tool: &Tool,
        form: Option<&Equality<'_>>,
        edits: bool,
        report: &mut UpdateReport,
    ) -> Entries {
        let mut new: Entries = tool.entries();
        for (key, value) in &mut new {
            if key == "args" || key == "result" {
                *value = self.schema(tool, key, value, form);
                if edits {
                    *value = self.edited(tool, key, value, report);
                }
            }
        }
        let Some(old) = self.old_tool(tool) else { return new };
        for key in ["title", "description", "annotations"] {
            self.keep_edited_text(tool, old, key, &mut new, report);
        }
        if let Some(result) = old.get("result")
            && tool.result.is_none()
            && self.has_own_result(tool)
        {
            new.push(("result".to_owned(), result.clone()));
        }
        new.sort_by_key(|(key, _)| WRITTEN.iter().position(|known| known == key));
        let rest = entries(Some(old)).into_iter();
        new.extend(rest.filter(|(key, _)| !WRITTEN.contains(&key.as_str())));
        new
    }

    /// Replaces the server's value of a key by the file's if that was edited.
    fn keep_edited_text(
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
        let found = old.get(key);
        let is_edited = match record {
            Some(_) => found.map(digest_of).as_ref() != before,
            None => found.is_some(),
        };
        let server = new.iter().find(|(known, _)| known == key).map(|(_, value)| value);
        let is_equal = match (found, server) {
            (Some(found), Some(server)) => is_same_value(found, server),
            (found, server) => found.is_none() && server.is_none(),
        };
        if !is_edited || is_equal {
            return;
        }
        if server.map(digest_of).as_ref() != before {
            report.kept.push(format!("{} {key}", tool.listed.name));
        }
        new.retain(|(known, _)| known != key);
        new.extend(found.map(|found| (key.to_owned(), found.clone())));
    }

    /// The record that the last import wrote of a tool.
    fn record(&self, tool: &Tool) -> Option<&'a Json> {
        self.records.get(tool.listed.name.as_str()).copied()
    }

    /// Returns whether the result schema in the file was added by hand, as the last import wrote none.
    fn has_own_result(&self, tool: &Tool) -> bool {
        self.record(tool).is_none_or(|record| record.get("result").is_none())
    }

    /// The schema of the server with the file's names of types and, with `form`, in the file's form.
    fn schema(&self, tool: &Tool, side: &str, new: &Json, form: Option<&Equality<'_>>) -> Json {
        let new = self.renamed.schema(new);
        let old = self.old_tool(tool).and_then(|old| old.get(side));
        let schema = match (old, form) {
            (Some(old), Some(equality)) => {
                let merged = in_old_form(equality, &as_schema(old), &new);
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

    /// A schema of the server with the edits of people.
    fn edited(&self, tool: &Tool, side: &str, server: &Json, report: &mut UpdateReport) -> Json {
        let old = self.old_tool(tool).and_then(|old| old.get(side));
        let record = Record::read(self.record(tool).and_then(|record| record.get(side)));
        let (Some(old), Some(record)) = (old, record) else { return server.clone() };
        let mut is_conflict = false;
        let kept = record.merge(&as_schema(old), &as_schema(server), &mut is_conflict);
        report.kept.extend(is_conflict.then(|| format!("{} {side}", tool.listed.name)));
        if is_same_value(&kept, &as_schema(old)) {
            return old.clone();
        }
        match only_type_name(&kept) {
            Some(name) => Json::string(name),
            None => kept,
        }
    }

    /// A type of the server with the edits of people.
    fn edited_type(&self, name: &str, old: &Json, server: Json, report: &mut UpdateReport) -> Json {
        let mcp = path(&self.existing.document, self.owner, "mcp");
        let types = mcp.and_then(|mcp| mcp.get("types"));
        let Some(record) = Record::read(types.and_then(|types| types.get(name))) else {
            return server;
        };
        let mut is_conflict = false;
        let kept = record.merge(old, &server, &mut is_conflict);
        report.kept.extend(is_conflict.then(|| format!("type {name}")));
        kept
    }

    /// The types of the file, updated from the server, then the new types. Types that only earlier tools needed are removed.
    fn types(
        &self,
        form: Option<&Equality<'_>>,
        edits: bool,
        document: &Entries,
        report: &mut UpdateReport,
    ) -> Entries {
        let mut types: Entries = Vec::new();
        let (old_types, new_types) = (bodies(&self.old_types), bodies(&self.renamed.types));
        for (name, old) in &self.old_types {
            let body = match (new_types.get(name.as_str()), form) {
                (Some(new), Some(equality)) => in_old_form(equality, old, new),
                (Some(new), None) => (*new).clone(),
                (None, _) => old.clone(),
            };
            let body = if edits && self.reached.contains(name) {
                self.edited_type(name, old, body, report)
            } else {
                body
            };
            types.push((name.clone(), body));
        }
        let is_declared = |name: &str| old_types.contains_key(name);
        let new = self.renamed.types.iter().filter(|(name, _)| !is_declared(name));
        types.extend(new.cloned());
        let is_own = |name: &str| is_declared(name) && !self.reached.contains(name);
        let rest = document.iter().filter(|(key, _)| key != "types").cloned();
        let own = types.iter().filter(|(name, _)| is_own(name)).cloned();
        let needed = reached(&types, &rest.chain(own).collect());
        types.retain(|(name, _)| is_own(name) || needed.contains(name));
        types
    }

    /// Returns whether every schema of a document is equal to the server's.
    fn matches_server(&self, document: &Json) -> bool {
        let types = entries(document.get("types"));
        let tools = by_name(path(document, self.owner, "tools"));
        let equality = Equality::of(&types, &self.import.types);
        self.import.tools.iter().all(|tool| {
            let written = tools.get(tool.name.as_str());
            let sides = [("args", &tool.args), ("result", &tool.result)];
            sides.into_iter().all(|(side, new)| {
                let Some(new) = new else { return true };
                let written = written.and_then(|tool| tool.get(side)).map(as_schema);
                written.is_some_and(|written| equality.holds(&written, &as_schema(new)))
            })
        })
    }
}

/// The new schema, with each part that is equal to the old one in the old form.
fn in_old_form(equality: &Equality<'_>, old: &Json, new: &Json) -> Json {
    if equality.holds(old, new) {
        return old.clone();
    }
    match (old, new) {
        (Json::Object(_), Json::Object(entries)) => {
            let merged = entries.iter().map(|(key, new)| {
                let merged = match old.get(key) {
                    Some(old) if holds_values(key) => {
                        (if is_same_value(old, new) { old } else { new }).clone()
                    }
                    Some(old) if holds_named(key, old) => named_in_old_form(equality, old, new),
                    Some(old) => in_old_form(equality, old, new),
                    None => new.clone(),
                };
                (key.clone(), merged)
            });
            Json::Object(merged.collect())
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => Json::Array(
            old.iter().zip(new).map(|(old, new)| in_old_form(equality, old, new)).collect(),
        ),
        _ => new.clone(),
    }
}

/// The same for schemas by names.
fn named_in_old_form(equality: &Equality<'_>, old: &Json, new: &Json) -> Json {
    let Json::Object(entries) = new else { return new.clone() };
    let merged = entries.iter().map(|(name, new)| {
        let merged = old.get(name).map(|old| in_old_form(equality, old, new));
        (name.clone(), merged.unwrap_or_else(|| new.clone()))
    });
    Json::Object(merged.collect())
}

/// The types by their names.
fn bodies(types: &Entries) -> BTreeMap<&str, &Json> {
    types.iter().map(|(name, body)| (name.as_str(), body)).collect()
}

fn toolset<'a>(document: &'a Json, owner: Owner<'_>) -> Option<&'a Json> {
    document.get("toolsets")?.get(owner.toolset)
}

fn path<'a>(document: &'a Json, owner: Owner<'_>, key: &str) -> Option<&'a Json> {
    toolset(document, owner)?.get(key)
}

/// The entries of an object by name; none if the value is missing or no object.
fn by_name(value: Option<&Json>) -> BTreeMap<&str, &Json> {
    match value {
        Some(Json::Object(entries)) => {
            entries.iter().map(|(name, value)| (name.as_str(), value)).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Replaces the value of an entry, or appends an entry.
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
