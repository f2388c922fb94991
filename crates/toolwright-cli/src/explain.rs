//! `toolwright explain`: prints the explanation of a kind of mistake or a reference, or lists all kinds.

use clap::error::ErrorKind;
use toolwright_codegen::diagnostic::{Code, Group, groups};

use crate::exit::Exit;
use crate::print;

pub(crate) fn run(name: Option<&str>) -> Exit {
    let text = match name {
        None => list(),
        Some("configuration") => toolwright_codegen::CONFIGURATION.to_owned(),
        Some("language") => toolwright_codegen::LANGUAGE.to_owned(),
        Some(name) => explanation(Code::named(name).unwrap_or_else(|| exit_unknown(name))),
    };
    print::out(&text);
    Exit::Success
}

fn explanation(code: Code) -> String {
    format!("{} ({})\n\n{}", code.name, code.severity, code.explanation())
}

fn list() -> String {
    let width = Code::all().map(|code| code.name.len()).max().unwrap_or_default();
    let line = |code: &Code| format!("  {:width$}  {}\n", code.name, code.summary());
    let block = |group: &Group| {
        format!("{}:\n{}", group.title, group.codes.iter().map(line).collect::<String>())
    };
    groups().iter().map(block).collect::<Vec<_>>().join("\n")
}

fn exit_unknown(name: &str) -> ! {
    let nearest = Code::nearest(name).map(|code| format!("; did you mean `{}`?", code.name));
    let advice = nearest.unwrap_or_else(|| "; `toolwright explain` lists all codes".to_owned());
    clap::Error::raw(ErrorKind::InvalidValue, format!("unknown code `{name}`{advice}\n")).exit()
}
