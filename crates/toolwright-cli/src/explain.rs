//! `toolwright explain`: what a kind of mistake is, in words. Never looks at a schema.

use clap::error::ErrorKind;
use toolwright_codegen::diagnostic::{Code, Group, groups};

use crate::end::End;
use crate::print;

pub(crate) fn run(name: Option<&str>) -> End {
    let text = match name {
        None => list(),
        Some(name) => section(Code::named(name).unwrap_or_else(|| unknown(name))),
    };
    print::out(&text);
    End::Done
}

fn section(code: Code) -> String {
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

fn unknown(name: &str) -> ! {
    let near = Code::nearest(name).map(|code| format!("; did you mean `{}`?", code.name));
    let advice = near.unwrap_or_else(|| "; `toolwright explain` lists all codes".to_owned());
    clap::Error::raw(ErrorKind::InvalidValue, format!("no mistake has the code `{name}`{advice}\n"))
        .exit()
}
