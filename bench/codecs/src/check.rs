//! Area `check`: the CPU time of `toolwright check` for a thousand mistakes, from reading the file to rendering the findings,
//! compared with a budget of one second.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use rustix::time::{ClockId, clock_gettime};
use toolwright_codegen::project::{Failure, Project};
use toolwright_codegen::render::Format;

use crate::report::Comparison;

/// The number of tools in the schema. Each has one mistake.
pub const TOOLS: usize = 1_000;

/// The number of runs, of which the fastest counts: other programs only make a run slower.
const RUNS: usize = 5;

/// The budget in milliseconds of CPU time.
const BUDGET: f64 = 1_000.0;

/// Measures every format.
///
/// # Errors
///
/// Returns an error if the schema cannot be written, or if `check` finds another number of mistakes.
pub fn run() -> io::Result<Vec<Comparison>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("notes.yaml"), schema())?;
    let formats = [
        ("human", Format::Human { color: true }),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
        ("github", Format::Github),
    ];
    formats.into_iter().map(|(name, format)| best(name, folder.path(), format)).collect()
}

fn best(name: &str, folder: &Path, format: Format) -> io::Result<Comparison> {
    let mut ours = f64::INFINITY;
    for _ in 0..RUNS {
        let start = cpu_milliseconds();
        check(folder, format)?;
        ours = ours.min(cpu_milliseconds() - start);
    }
    Ok(Comparison {
        name: format!("check {TOOLS} mistakes, {name}"),
        ours,
        peer: BUDGET,
        peer_name: "the budget",
        unit: "ms of CPU",
        ratio: ours / BUDGET,
        target: Some(1.0),
    })
}

fn check(folder: &Path, format: Format) -> io::Result<()> {
    let project = Project::open(folder).map_err(io::Error::other)?;
    match project.with_schema(vec![folder.to_owned()]).check() {
        Err(failure @ Failure::Rejected { .. }) => {
            let text = failure.render(format);
            let found = failure.to_string();
            let is_whole = !text.is_empty() && found == format!("{TOOLS} errors");
            is_whole.then_some(()).ok_or_else(|| io::Error::other(found))
        }
        Err(failure) => Err(io::Error::other(failure)),
        Ok(_) => Err(io::Error::other("no mistake was found")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a run takes no years")]
fn cpu_milliseconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns a schema of tools that each have a mistake of one of ten kinds.
pub fn schema() -> String {
    let mut text = "toolwright: 1\nservice: notes\ntypes:\n".to_owned();
    let mut line =
        |line: String| writeln!(text, "{line}").expect("writing to a string does not fail");
    for number in 0..300 {
        line(format!("  Args{number}: {{ type: object }}"));
    }
    line("methods:".to_owned());
    for number in 0..300 {
        line(format!("  method_{number}: {{}}"));
    }
    line("toolsets:\n  notes:\n    tools:".to_owned());
    for number in 0..TOOLS {
        line(tool(number));
    }
    text
}

fn tool(number: usize) -> String {
    let args = "{ type: object, required: [text], additionalProperties: false, \
                properties: { text: { type: string, minLength: 1 }, count: { type: integer } } }";
    let sound = format!(
        "tool_{number}:\n        description: Does {number}.\n        args: {args}\n        "
    );
    let tool = match number % 10 {
        0 => sound.replace("description", "descripton"),
        1 => sound.replace("minLength", "minlength"),
        2 => sound.replace(args, &format!("Argz{number}")),
        3 => sound + "hints: { call: \"Doing {{ args.txt }}\" }",
        4 => sound + "examples: [{ args: { text: 5 } }]",
        5 => sound + &format!("bind: no_such_method_{number}"),
        6 => sound.replace("tool_", "tool-"),
        7 => sound + &format!("aliases: [tool_{}]", number - 6),
        8 => sound + &format!("deprecated: {{ use: tool_x{number} }}"),
        _ => sound + "timeout: 5",
    };
    format!("      {}", tool.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_one_mistake() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.yaml"), schema()).unwrap();
        check(folder.path(), Format::Json).unwrap();
    }
}
