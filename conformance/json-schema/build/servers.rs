//! Imports tool lists of MCP servers as a user does, compiles them, and reads the payloads for their tools.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright_codegen::Files;
use toolwright_import::Owner;

use crate::files;
use crate::projects::{self, Projects};
use crate::record::{Area, Case, Outcome, Row, Side, Source};

#[derive(Deserialize)]
struct ToolList {
    tools: Vec<Box<RawValue>>,
}

/// The part of a tool that is needed here.
#[derive(Deserialize)]
struct Tool {
    name: String,
}

/// A row of a vector file.
#[derive(Deserialize)]
struct Vector {
    tool: String,
    side: String,
    valid: bool,
    why: String,
    raw: String,
}

/// Compiles every server of a folder: all tools together and, if that is refused, its tools one by one.
pub(crate) fn compile(
    folder: &Path,
    area: Area,
    projects: &mut Projects,
) -> Result<Vec<Source>, Box<dyn Error>> {
    let lists = folder.join("mcp-tools");
    let mut sources = Vec::new();
    for path in files(&lists, "json")? {
        let name = path.with_extension("").file_name().unwrap_or_default().display().to_string();
        let list: ToolList = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let vectors = vectors(&folder.join("vectors").join(format!("{name}.jsonl")))?;
        sources.push(source(area, name, &list.tools, vectors, projects)?);
    }
    Ok(sources)
}

fn vectors(path: &Path) -> Result<Vec<Vector>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn source(
    area: Area,
    name: String,
    tools: &[Box<RawValue>],
    vectors: Vec<Vector>,
    projects: &mut Projects,
) -> Result<Source, Box<dyn Error>> {
    eprintln!("{name}");
    let toolset = name.replace('-', "_");
    let module = format!("{}_{toolset}", if area == Area::Kept { "kept" } else { "server" });
    let mut cases = Vec::new();
    let mut generated = generate(&toolset, tools.iter());
    let whole = generated.is_ok();
    for tool in tools {
        let alone =
            if whole { Outcome::Accepted } else { projects::outcome(generate(&toolset, [tool])) };
        cases.push(case(tool, alone)?);
    }
    let accepted = || cases.iter().filter(|case| case.outcome == Outcome::Accepted).count();
    let mut together = None;
    if !whole && accepted() > 0 {
        let members =
            tools.iter().zip(&cases).filter(|(_, case)| case.outcome == Outcome::Accepted);
        generated = generate(&toolset, members.map(|(tool, _)| tool));
    }
    match generated {
        Ok(files) => projects.add(&module, &toolset, &files)?,
        Err(outcome) if accepted() > 0 => together = Some(outcome.to_string()),
        Err(_) => {}
    }
    distribute(vectors, &mut cases);
    Ok(Source { area, name, module, together, cases })
}

fn case(tool: &RawValue, outcome: Outcome) -> Result<Case, serde_json::Error> {
    let Tool { name, .. } = serde_json::from_str(tool.get())?;
    let schema = tool.get().to_owned();
    Ok(Case { title: name.clone(), tool: name, schema, outcome, rows: Vec::new() })
}

/// Adds the vectors to the cases of their tools.
fn distribute(vectors: Vec<Vector>, cases: &mut [Case]) {
    for Vector { tool, side, valid, why, raw } in vectors {
        let side = if side == "result" { Side::Result } else { Side::Args };
        let row = Row { title: why, side, json: raw, valid, decided: false };
        if let Some(case) = cases.iter_mut().find(|case| case.tool == tool) {
            case.rows.push(row);
        }
    }
}

/// Imports and compiles a list of tools, as the server would send it.
fn generate<'a>(
    toolset: &str,
    tools: impl IntoIterator<Item = &'a Box<RawValue>>,
) -> Result<Files, Outcome> {
    let tools: Vec<_> = tools.into_iter().map(|tool| tool.get()).collect();
    let list = format!("{{\"tools\":[{}]}}", tools.join(","));
    let owner = Owner { service: "conformance", toolset };
    let imported = projects::guarded(|| toolwright_import::tools_list(&list, owner))?;
    let imported = imported.map_err(|error| Outcome::Refused {
        code: "no-tool-list".to_owned(),
        message: error.to_string(),
    })?;
    projects::generate(&format!("{toolset}.yaml"), imported.text)
}
