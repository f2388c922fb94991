//! `toolwright explain`: prints the explanation of a kind of mistake or a reference, or lists all kinds.

use clap::error::ErrorKind;
use toolwright_codegen::diagnostic::{Code, Group, groups};
use toolwright_lock::{Classes, Rule};

use crate::exit::Exit;
use crate::print;
use crate::usage_error;

pub(crate) fn run(name: Option<&str>) -> Exit {
    let text = match name {
        None => list(),
        Some("configuration") => toolwright_codegen::CONFIGURATION.to_owned(),
        Some("language") => toolwright_codegen::LANGUAGE.to_owned(),
        Some(name) => match rule(name) {
            Some(text) => text,
            None => explanation(Code::named(name).unwrap_or_else(|| exit_unknown(name))),
        },
    };
    print::out(&text);
    Exit::Success
}

fn explanation(code: Code) -> String {
    format!("{} ({})\n\n{}", code.name, code.severity, code.explanation())
}

/// Explains a kind of change that `toolwright diff` reports.
fn rule(id: &str) -> Option<String> {
    let meaning = |rule: &Rule| {
        let Classes { caller, model, reader, implementer, trust, .. } = rule.classes;
        let (summary, rust) = (rule.summary, rule.rust());
        format!(
            "{id}: {summary}\n\n  caller {caller}, model {model}, reader {reader}, implementer {implementer}, \
             trust {trust}, rust {rust}\n\n"
        )
    };
    let text: String = Rule::named(id).map(meaning).collect();
    (!text.is_empty()).then(|| text + EXPLANATION)
}

/// The meaning of the classes.
const EXPLANATION: &str = "\
`major`: what worked can fail. `minor`: it still works, and something is new. `patch`: only words changed.
caller: code with the old arguments; model: prompts with the old words; reader: code that reads results with the old
types; implementer: code that answers calls; trust: whether the tool has to be allowed anew; rust: the generated API.
`major or minor`: minor if generated types are `non_exhaustive`; `or patch`: if only a value of a limit or default changed.
";

fn list() -> String {
    let width = Code::all().map(|code| code.name.len()).max().unwrap_or_default();
    let line = |code: &Code| format!("  {:width$}  {}\n", code.name, code.summary());
    let block = |group: &Group| {
        format!("{}:\n{}", group.title, group.codes.iter().map(line).collect::<String>())
    };
    let mut rules: Vec<&Rule> = Rule::all().collect();
    rules.dedup_by_key(|rule| rule.id);
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let changes = rules.iter().map(|rule| format!("  {:width$}  {}\n", rule.id, rule.summary));
    let changes = format!("Changes (`toolwright diff`):\n{}", changes.collect::<String>());
    groups().iter().map(block).chain([changes]).collect::<Vec<_>>().join("\n")
}

fn exit_unknown(name: &str) -> ! {
    let nearest = Code::nearest(name).map(|code| format!("; did you mean `{}`?", code.name));
    let advice = nearest.unwrap_or_else(|| "; `toolwright explain` lists all codes".to_owned());
    usage_error::exit(ErrorKind::InvalidValue, &format!("unknown code `{name}`{advice}"))
}
