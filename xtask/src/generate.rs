//! `cargo xtask gen`: does what `toolwright gen` does, for this repository.

use std::io::IsTerminal as _;
use std::path::Path;

use toolwright_codegen::project::{Mode, Project};
use toolwright_codegen::render::Format;

use crate::End;

pub(crate) fn run(check: bool) -> End {
    let mode = if check { Mode::Check } else { Mode::Write };
    let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let generated = Project::open(Path::new("")).and_then(|project| project.generate(mode));
    match generated {
        Ok(generated) => {
            eprint!("{}", generated.render_warnings(Format::Human { color }));
            print!("{}", generated.report("cargo xtask gen"));
            if generated.is_up_to_date() { End::Done } else { End::Failed }
        }
        Err(failure) => {
            eprint!("{}", failure.render(Format::Human { color }));
            eprintln!("gen: {failure}; nothing was written");
            if failure.is_rejection() { End::Failed } else { End::Io }
        }
    }
}
