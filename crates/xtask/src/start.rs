//! Chores that start packages of their own, so that generating never builds them. Never links to those packages.

use crate::End;
use crate::command::Invocation;

pub(crate) fn demo(rest: &[String]) -> End {
    run(&Invocation::cargo(&["run", "--quiet", "--package", "toolwright-demo", "--"]).with(rest))
}

pub(crate) fn serve_calc(http: Option<&str>) -> End {
    let rest: Vec<String> = http.map_or_else(Vec::new, |at| vec!["--http".into(), at.into()]);
    run(&Invocation::cargo(&["run", "--quiet", "--package", "toolwright-serve", "--"]).with(&rest))
}

pub(crate) fn conformance(check: bool) -> End {
    let rest = if check { vec!["--check".to_owned()] } else { Vec::new() };
    let package = ["run", "--quiet", "--package", "toolwright-conformance", "--"];
    run(&Invocation::cargo(&package).with(&rest))
}

pub(crate) fn soak(rest: &[String]) -> End {
    let package = ["run", "--quiet", "--release", "--package", "toolwright-soak", "--"];
    run(&Invocation::cargo(&package).with(rest))
}

pub(crate) fn bench(name: Option<&str>, json: bool) -> End {
    let json = json.then_some("--json");
    let rest: Vec<String> = name.into_iter().chain(json).map(str::to_owned).collect();
    let package = ["run", "--quiet", "--release", "--package", "toolwright-bench", "--"];
    run(&Invocation::cargo(&package).with(&rest))
}

fn run(invocation: &Invocation) -> End {
    match invocation.succeeds() {
        Ok(true) => End::Done,
        Ok(false) => End::Failed,
        Err(error) => {
            eprintln!("error: cannot run `{invocation}`: {error}");
            End::Io
        }
    }
}
