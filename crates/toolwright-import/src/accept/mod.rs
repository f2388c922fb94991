//! Changes a document until `check` accepts it: runs `check`, fixes or leaves out the smallest part that each finding is
//! about, and runs it again. Each part that is left out is a warning. The remaining schemas accept every value that they
//! accepted before.
//!
//! `fix` knows how to fix a few findings; for all others, the part is left out.

mod checked;
mod fix;
mod part;
mod place;
mod rename;

use std::collections::{BTreeMap, BTreeSet};

use super::keywords::{Entries, joined, take};
use super::warnings::Warnings;
use super::widen::{Roots, widen};
use checked::Checked;
pub(super) use checked::codes;
use fix::Fault;
use part::{Whole, owner};
use place::{
    Near, Path, schema, schema_root, schema_roots, value_at_mut, value_near, value_near_mut,
};
use rename::Renames;
use toolwright_codegen::Source;
use toolwright_codegen::diagnostic::Diagnostic;
use toolwright_codegen::disk::MAX_FILE_BYTES;
use toolwright_codegen::internal::Json;

/// The number of times that `check` runs before the tools that it still refuses are left out as a whole.
const MAX_ROUNDS: usize = 24;

/// The number of those rounds in which a budget may be exceeded or types be too deep, since each could fix one place only. As many
/// checks that leave out tools may exceed a budget.
const MAX_BUDGET_ROUNDS: usize = 4;

/// The number of tools that were left out whose reasons are in the error, if `check` accepts nothing.
const MAX_REASONS: usize = 3;

/// The number of parts into which a document with too many findings is divided.
const PARTS: usize = 8;

/// Returns whether the part of a document at a path was not imported.
pub(super) type IsForeign = Box<dyn Fn(&[String]) -> bool>;

/// A document to check, and the context of the check.
pub(super) struct Draft<'a> {
    /// Writes the document as YAML.
    pub(super) write: &'a dyn Fn(&Json) -> String,
    /// The other files of the project. Names must be unique among all of them.
    pub(super) other_files: &'a [Source],
    /// Returns, for a document, whether a part of it was not imported. Such parts are not changed, and their mistakes are ignored if
    /// the file had some of the kind before.
    pub(super) is_foreign: &'a dyn Fn(&Json) -> IsForeign,
    /// Returns whether the file had a finding with a code before.
    pub(super) had: &'a dyn Fn(&str) -> bool,
    /// Returns whether the name at a path must not change, because the file had it before.
    pub(super) keeps_name: &'a dyn Fn(&[String]) -> bool,
}

/// Changes a document until `check` accepts it.
///
/// # Errors
///
/// Returns the findings that remain when there is nothing left to change, one line each.
pub(super) fn accept(
    document: Json,
    draft: &Draft<'_>,
    warnings: &mut Warnings,
) -> Result<Json, Vec<String>> {
    let mut accepting = Accepting::new(document, draft, warnings);
    check_size((draft.write)(&accepting.document).len()).map_err(|line| vec![line])?;
    let mut budget_rounds = 0;
    for _ in 0..MAX_ROUNDS {
        let checked = Checked::of(&accepting.document, draft);
        budget_rounds += usize::from(checked.findings.iter().any(is_found_once));
        if checked.findings.is_empty() {
            return Ok(accepting.document);
        }
        if checked.findings.iter().all(|finding| checked.is_about_all(finding)) {
            return Err(refused(&checked.findings));
        }
        let of_owner = checked.of_owner();
        if !of_owner.is_empty() {
            return Err(refused(&of_owner));
        }
        if budget_rounds > MAX_BUDGET_ROUNDS || !accepting.fix(&checked) {
            break;
        }
    }
    let left = accepting.leave_out_tools();
    if left.is_empty() {
        return Ok(accepting.document);
    }
    let reasons = std::mem::take(&mut accepting.reasons);
    Err(refused(&left).into_iter().chain(reasons).collect())
}

/// Checks the names of a document's service and toolsets.
///
/// # Errors
///
/// Returns the findings about them, one line each.
pub(super) fn check_owner(document: &Json, draft: &Draft<'_>) -> Result<(), Vec<String>> {
    let of_owner = Checked::of(document, draft).of_owner();
    if of_owner.is_empty() { Ok(()) } else { Err(refused(&of_owner)) }
}

/// Refuses a file that is larger than `check` reads.
pub(super) fn check_size(bytes: usize) -> Result<(), String> {
    if bytes as u64 <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(format!(
        "the tools take {bytes} bytes, and a schema file has at most {MAX_FILE_BYTES}; import fewer, with `--only` or, from an \
         API, `--tag`, into several files"
    ))
}

/// The lines of an error, one for each finding.
fn refused(findings: &[Diagnostic]) -> Vec<String> {
    let lines = findings.iter().map(|finding| {
        let help = finding.help.as_ref().map(|help| format!(" ({help})"));
        format!("`check` refuses it: {}{}", finding.message, help.unwrap_or_default())
    });
    lines.collect()
}

struct Accepting<'a> {
    document: Json,
    near: Near,
    draft: &'a Draft<'a>,
    /// The number of tries to fix each kind of finding, by the path of the schema.
    tries: BTreeMap<(Path, &'static str), usize>,
    /// The tools and methods that are about to be left out, by path, with the reasons. They are removed together, since each
    /// removal looks at the whole document.
    left_out: BTreeMap<Path, String>,
    /// The first tools and methods that were left out, each with the reason.
    reasons: Vec<String>,
    /// The objects whose fields were separated in this round.
    separated: BTreeSet<Path>,
    /// The new names of this round.
    renames: Renames,
    warnings: &'a mut Warnings,
}

impl<'a> Accepting<'a> {
    fn new(document: Json, draft: &'a Draft<'a>, warnings: &'a mut Warnings) -> Self {
        Self {
            document,
            near: Near::default(),
            draft,
            tries: BTreeMap::new(),
            left_out: BTreeMap::new(),
            reasons: Vec::new(),
            separated: BTreeSet::new(),
            renames: Renames::new(),
            warnings,
        }
    }
}

impl Accepting<'_> {
    /// Fixes each finding. Returns whether anything changed.
    fn fix(&mut self, checked: &Checked) -> bool {
        self.separated.clear();
        let mut faults: Vec<Fault<'_>> = Vec::new();
        for finding in &checked.findings {
            let places = self.faulty_places(checked, finding);
            let mut of_finding: Vec<_> = places
                .into_iter()
                .map(|(start, place)| Fault {
                    start,
                    place,
                    code: finding.code,
                    message: &finding.message,
                })
                .collect();
            // One fault is enough for all fields of an object that have the same name.
            let mut objects = BTreeSet::new();
            of_finding.retain(|fault| match schema(&self.document, &fault.place, &self.near) {
                Some(at) if fault.is_about_fields(at) => {
                    objects.insert(fault.place.path[..at].to_vec())
                }
                _ => true,
            });
            faults.append(&mut of_finding);
        }
        // From the end of the text to its beginning, as a change does not move the text above it.
        faults.sort_by(|a, b| b.start.cmp(&a.start).then_with(|| a.place.cmp(&b.place)));
        faults.dedup_by(|a, b| a.place == b.place && a.code == b.code);
        let schemas = faults.iter().filter_map(|fault| {
            let at = schema(&self.document, &fault.place, &self.near)?;
            Some((fault.place.path[..at].to_vec(), fault.code))
        });
        let schemas: BTreeSet<(Path, &'static str)> = schemas.collect();
        for schema in schemas {
            *self.tries.entry(schema).or_default() += 1;
        }
        let mut is_done = false;
        let is_foreign = (self.draft.is_foreign)(&self.document);
        for fault in faults {
            if fault.place.path.first().is_some_and(|kind| kind == "types") {
                // Types of tools that were left out may be gone.
                self.remove_left_out();
            }
            if !is_foreign(&fault.place.path) {
                is_done |= self.fix_one(&fault);
            }
        }
        self.remove_left_out();
        rename::rename(&mut self.document, std::mem::take(&mut self.renames));
        if is_done {
            self.leave_out_unused_types();
            self.widen();
        }
        is_done
    }

    /// Returns the places to change because of a finding, each with its offset in the text.
    fn faulty_places(&self, checked: &Checked, finding: &Diagnostic) -> Vec<(u32, place::Place)> {
        let mut places = checked.places(finding);
        if finding.code.starts_with("repeated-") || is_about_names(finding.code) {
            self.keep_one(finding, &mut places);
        } else {
            places.truncate(1);
        }
        places
    }

    /// Removes one place of a finding about several, as that one may stay as it is: one that keeps its name, otherwise the
    /// first, which may be in another file.
    fn keep_one(&self, finding: &Diagnostic, places: &mut Vec<(u32, place::Place)>) {
        let kept = places.iter().position(|(_, place)| (self.draft.keeps_name)(&place.path));
        let is_reserved = finding.code == "reserved-name";
        if places.len() == finding.labels.len() + 1 && !is_reserved {
            places.remove(kept.unwrap_or_default());
        } else if let Some(kept) = kept {
            places.remove(kept);
        }
    }

    fn fix_one(&mut self, fault: &Fault<'_>) -> bool {
        let path = &fault.place.path;
        if owner(path).is_some_and(|owner| self.left_out.contains_key(owner)) {
            return true;
        }
        match schema(&self.document, &fault.place, &self.near) {
            Some(at) => {
                let tries = self.tries.get(&(path[..at].to_vec(), fault.code)).copied();
                let tries = tries.unwrap_or(1);
                let is_separation = tries == 1 && fault.is_about_fields(at);
                if is_separation && !self.separated.insert(path[..at].to_vec()) {
                    let label = label(&self.document, &path[..at], &self.near);
                    self.warnings.at(label, fix::separated(fault.message));
                    return true;
                }
                self.fix_schema(at, fault, tries) || self.leave_out(path, fault.message)
            }
            None if self.rename(fault) => true,
            None => self.leave_out(path, fault.message),
        }
    }

    fn fix_schema(&mut self, at: usize, fault: &Fault<'_>, tries: usize) -> bool {
        let (to, rest) = fault.place.path.split_at(at);
        let is_root = schema_root(to) == Some(at)
            && matches!(to.last(), Some(side) if side == "args" || side == "payload");
        let label = label(&self.document, to, &self.near);
        let Some(schema) = value_near_mut(&mut self.document, to, &self.near) else { return true };
        match fix::fix(schema, rest, fault, tries, is_root) {
            Some(message) => {
                self.warnings.at(label, message);
                true
            }
            None => false,
        }
    }

    /// Marks the tool or method that a path leads into as one to be left out. Returns whether there is one.
    fn leave_out(&mut self, path: &[String], why: &str) -> bool {
        let Some(owner) =
            owner(path).filter(|owner| value_near(&self.document, owner, &self.near).is_some())
        else {
            return false;
        };
        self.left_out.entry(owner.to_vec()).or_insert_with(|| why.to_owned());
        true
    }

    /// Removes the tools and methods that are to be left out, with the types that only they use.
    fn remove_left_out(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out.is_empty() {
            return;
        }
        for (path, why) in &left_out {
            let label = label(&self.document, path, &self.near);
            if self.reasons.len() < MAX_REASONS {
                self.reasons.push(format!("{label} was left out: {why}"));
            }
            self.warnings.at(label, format!("it was left out: {why}"));
        }
        remove(&mut self.document, &left_out);
        self.leave_out_unused_types();
    }

    /// Leaves out the types that nothing refers to any more.
    fn leave_out_unused_types(&mut self) {
        let Json::Object(document) = &self.document else { return };
        let types = super::existing::entries(self.document.get("types"));
        let rest: Entries = document.iter().filter(|(key, _)| key != "types").cloned().collect();
        let needed = super::existing::reached(&types, &rest);
        let keeps_name =
            |name: &str| (self.draft.keeps_name)(&["types".to_owned(), name.to_owned()]);
        let kept: Entries = types
            .into_iter()
            .filter(|(name, _)| needed.contains(name) || keeps_name(name))
            .collect();
        let Json::Object(document) = &mut self.document else { return };
        match document.iter_mut().find(|(key, _)| key == "types") {
            Some((_, types)) if !kept.is_empty() => *types = Json::Object(kept),
            Some(_) => drop(take(document, "types")),
            None => {}
        }
    }

    /// Chooses another name for a tool, method or type.
    fn rename(&mut self, fault: &Fault<'_>) -> bool {
        let path = &fault.place.path;
        let Some((name, owner)) = path.split_last() else { return false };
        let is_named = matches!(owner, [kind] if kind == "types" || kind == "methods")
            || matches!(owner, [sets, _, tools] if sets == "toolsets" && tools == "tools");
        if !fault.place.is_key
            || !is_named
            || !is_about_names(fault.code)
            || (self.draft.keeps_name)(path)
        {
            return false;
        }
        let label = label(&self.document, path, &self.near);
        let new = rename::choose(&mut self.renames, &self.document, owner, name);
        let Some(new) = new else { return false };
        let message = format!("{}, so this is `{new}`; give it a better name", fault.message);
        self.warnings.at(label, message);
        true
    }

    /// Leaves out the keywords that would refuse more values now that parts are missing.
    fn widen(&mut self) {
        let paths = schema_roots(&self.document);
        let mut roots = Roots::new();
        for path in &paths {
            let Some(Json::Object(entries)) = value_near_mut(&mut self.document, path, &self.near)
            else {
                continue;
            };
            let id = root_id(path);
            if let Some((_, Json::Object(definitions))) =
                entries.iter_mut().find(|(key, _)| key == "$defs")
            {
                roots.extend(definitions.iter_mut().map(|(name, body)| {
                    (format!("{id}#/$defs/{name}"), std::mem::replace(body, Json::Null))
                }));
            }
            roots.push((id, Json::Object(std::mem::take(entries))));
        }
        let labels: BTreeMap<String, String> = paths
            .iter()
            .map(|path| (root_id(path), label(&self.document, path, &self.near)))
            .collect();
        let warnings = &mut *self.warnings;
        widen(&mut roots, &mut BTreeMap::new(), &mut |id, at, message| {
            let (scope, inside) = id.split_once('#').unwrap_or((id, ""));
            let label = labels.get(scope).map_or(scope, String::as_str);
            warnings.at(format!("{label} {inside}{at}").trim_end(), message);
        });
        let mut widened: BTreeMap<String, Json> = roots.into_iter().collect();
        for path in &paths {
            let id = root_id(path);
            let (Some(mut schema), Some(place)) =
                (widened.remove(&id), value_near_mut(&mut self.document, path, &self.near))
            else {
                continue;
            };
            if let Json::Object(entries) = &mut schema
                && let Some((_, Json::Object(definitions))) =
                    entries.iter_mut().find(|(key, _)| key == "$defs")
            {
                for (name, body) in definitions {
                    *body = widened
                        .remove(&format!("{id}#/$defs/{name}"))
                        .unwrap_or(Json::Boolean(true));
                }
            }
            *place = schema;
        }
    }

    /// Leaves out the tools and methods that `check` still refuses, as a whole. Returns the findings that remain.
    fn leave_out_tools(&mut self) -> Vec<Diagnostic> {
        let document = self.document.clone();
        let whole = Whole::of(&document);
        let mut parts = vec![whole.order.clone()];
        let mut accepted = None;
        let mut budget_rounds = 0;
        while let Some(mut part) = parts.pop() {
            let of_part = whole.part(&part);
            let checked = Checked::of(&of_part, self.draft);
            budget_rounds += usize::from(checked.findings.iter().any(is_over_budget));
            if budget_rounds > MAX_BUDGET_ROUNDS {
                // Each check would find one more tool.
                self.remove_left_out();
                return checked.findings;
            }
            let refused = self.refused(&checked, &whole, &part);
            // A long list of findings is cut, and those of a text that is not YAML are about no tool. So fewer tools
            // are checked at a time.
            let is_unclear = refused.is_empty() && !checked.findings.is_empty();
            if part.len() > 1 && (checked.is_cut_off || is_unclear) {
                parts.extend(part.chunks(part.len().div_ceil(PARTS)).map(<[Path]>::to_vec));
                continue;
            }
            let count = part.len();
            part.retain(|path| !refused.contains_key(path));
            self.left_out.extend(refused);
            if part.len() < count && !part.is_empty() {
                parts.push(part);
            } else if checked.findings.is_empty() {
                accepted = Some(of_part);
            }
        }
        self.remove_left_out();
        // What is left was often checked last.
        if accepted.as_ref() == Some(&self.document) {
            return Vec::new();
        }
        Checked::of(&self.document, self.draft).findings
    }

    /// Returns the tools and methods of a part of the document that findings are about, with the messages.
    fn refused(
        &self,
        checked: &Checked,
        whole: &Whole<'_>,
        part: &[Path],
    ) -> BTreeMap<Path, String> {
        let (mut refused, mut of_types) = (BTreeMap::new(), BTreeMap::new());
        for finding in &checked.findings {
            for (_, place) in self.faulty_places(checked, finding) {
                let path = owner(&place.path).map(|path| whole.owner_of(path));
                if let Some(path) = path {
                    refused.entry(path).or_insert_with(|| finding.message.clone());
                } else if let [kind, name, ..] = place.path.as_slice()
                    && kind == "types"
                {
                    of_types.entry(name.clone()).or_insert_with(|| finding.message.clone());
                }
            }
        }
        for (path, why) in whole.users(part, of_types) {
            refused.entry(path).or_insert(why);
        }
        if let ([only], [finding, ..]) = (part, &checked.findings[..]) {
            refused.entry(only.clone()).or_insert_with(|| finding.message.clone());
        }
        let is_foreign = (self.draft.is_foreign)(&self.document);
        refused.retain(|path, _| !is_foreign(path));
        refused
    }
}

/// Returns whether a finding says that the budget of a whole project is used up.
fn is_over_budget(finding: &Diagnostic) -> bool {
    finding.code == "over-budget"
}

/// Returns whether `check` reports such a finding once, for the place where it went too far.
fn is_found_once(finding: &Diagnostic) -> bool {
    is_over_budget(finding) || finding.code == "too-many-levels"
}

/// Returns whether a finding says that names are taken, reserved or wrong.
fn is_about_names(code: &str) -> bool {
    code.starts_with("duplicate-") || ["name-clash", "reserved-name", "bad-name"].contains(&code)
}

/// The id of a schema for [`widen`]: its name if it is a type, as references have it.
fn root_id(path: &[String]) -> String {
    match path {
        [kind, name] if kind == "types" => name.clone(),
        path => path.iter().fold(String::new(), |id, step| joined(&id, step)),
    }
}

/// The name of a place in warnings.
fn label(document: &Json, path: &[String], near: &Near) -> String {
    let steps: Vec<&str> = path.iter().map(String::as_str).collect();
    let (name, rest) = match steps.as_slice() {
        ["types", name, rest @ ..] => (format!("type {name}"), rest),
        ["methods", name, side, rest @ ..] => (format!("{name} {side}"), rest),
        ["toolsets", _, "tools", name, rest @ ..] => {
            let name =
                match value_near(document, &path[..4], near).and_then(|tool| tool.get("remote")) {
                    Some(Json::String(remote)) => remote,
                    _ => *name,
                };
            match rest {
                [side, rest @ ..] => (format!("{name} {side}"), rest),
                [] => (name.to_owned(), rest),
            }
        }
        steps => (String::new(), steps),
    };
    let pointer = rest.iter().fold(String::new(), |pointer, step| joined(&pointer, step));
    format!("{name} {pointer}").trim().to_owned()
}

/// Removes tools and methods, the tools that call such a method, and then toolsets without tools.
fn remove(document: &mut Json, paths: &BTreeMap<Path, String>) {
    let is_removed = |path: &[&str]| {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        paths.contains_key(&path)
    };
    if let Some(Json::Object(methods)) = value_at_mut(document, &["methods".to_owned()]) {
        methods.retain(|(name, _)| !is_removed(&["methods", name]));
    }
    let Some(Json::Object(toolsets)) = value_at_mut(document, &["toolsets".to_owned()]) else {
        return;
    };
    for (toolset, body) in toolsets.iter_mut() {
        let Some(Json::Object(tools)) = value_at_mut(body, &["tools".to_owned()]) else { continue };
        tools.retain(|(name, tool)| {
            let is_bound = matches!(tool.get("bind"), Some(Json::String(method)) if is_removed(&["methods", method]));
            !is_bound && !is_removed(&["toolsets", toolset, "tools", name])
        });
    }
    // A toolset of methods that were left out may be empty now.
    if paths.keys().any(|path| path.len() == 2) {
        let is_empty =
            |set: &Json| matches!(set.get("tools"), Some(Json::Object(tools)) if tools.is_empty());
        toolsets.retain(|(_, set)| !is_empty(set));
    }
}

fn each_toolset(document: &mut Json, visit: &mut dyn FnMut(&mut Entries)) {
    let Some(Json::Object(toolsets)) = value_at_mut(document, &["toolsets".to_owned()]) else {
        return;
    };
    for (_, toolset) in toolsets {
        if let Some(Json::Object(tools)) = value_at_mut(toolset, &["tools".to_owned()]) {
            visit(tools);
        }
    }
}

#[cfg(test)]
mod tests;
