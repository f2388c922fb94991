//! Tasks that run a package of the workspace as a child process, so that `cargo xtask gen` does not have to build it.

use crate::End;
use crate::command::Invocation;

pub(crate) fn demo(rest: &[String]) -> End {
    /// The models that are reached without TLS, whose build takes long.
    const LOCAL: [&str; 4] = ["stage", "ollama", "llamacpp", "vllm"];
    let has_model = rest.iter().any(|word| word == "--model");
    let is_local =
        rest.iter().any(|word| LOCAL.contains(&word.as_str()) || word.starts_with("http://"));
    let mut package = vec!["run", "--quiet", "--package", "toolwright-demo"];
    if has_model && !is_local {
        package.extend(["--features", "tls"]);
    }
    package.push("--");
    Invocation::cargo(&package).with(rest).run()
}

pub(crate) fn serve_calc(http: Option<&str>) -> End {
    let rest: Vec<String> = http.map_or_else(Vec::new, |at| vec!["--http".into(), at.into()]);
    Invocation::cargo(&["run", "--quiet", "--package", "toolwright-serve", "--"]).with(&rest).run()
}

pub(crate) fn conformance(check: bool) -> End {
    let rest = if check { vec!["--check".to_owned()] } else { Vec::new() };
    let package = ["run", "--quiet", "--package", "toolwright-conformance", "--"];
    Invocation::cargo(&package).with(&rest).run()
}

pub(crate) fn mcp_conformance(check: bool) -> End {
    let rest: Vec<String> = check.then(|| "--check".to_owned()).into_iter().collect();
    let package = ["run", "--quiet", "--package", "toolwright-mcp-conformance", "--", "page"];
    Invocation::cargo(&package).with(&rest).run()
}

/// Installs the servers in `conformance/engines`, and runs them unless `install` is set.
pub(crate) fn engines(install: bool) -> Invocation {
    let rest: Vec<String> = install.then(|| "--install".to_owned()).into_iter().collect();
    Invocation::cargo(&["run", "--quiet", "--package", "toolwright-engines", "--"]).with(&rest)
}

pub(crate) fn judge(rest: &[String]) -> End {
    Invocation::cargo(&["run", "--quiet", "--package", "toolwright-judge", "--"]).with(rest).run()
}

pub(crate) fn typify() -> End {
    let package = ["run", "--quiet", "--package", "toolwright-generation-bench", "--", "typify"];
    Invocation::cargo(&package).run()
}

pub(crate) fn soak(rest: &[String]) -> End {
    let package = ["run", "--quiet", "--release", "--package", "toolwright-soak", "--"];
    Invocation::cargo(&package).with(rest).run()
}

pub(crate) fn load(rest: &[String]) -> End {
    let package =
        ["run", "--quiet", "--release", "--package", "toolwright-mcp-bench", "--", "load"];
    Invocation::cargo(&package).with(rest).run()
}

pub(crate) fn torture_engines(rest: &[String]) -> End {
    of_engines("torture", rest)
}

/// Runs a subcommand of the package for engines, with the servers that it needs.
fn of_engines(what: &str, rest: &[String]) -> End {
    match engines(true).run() {
        End::Done => engine_bench(what, rest),
        end => end,
    }
}

fn engine_bench(what: &str, rest: &[String]) -> End {
    let package =
        ["run", "--quiet", "--release", "--package", "toolwright-engine-bench", "--", what];
    Invocation::cargo(&package).with(rest).run()
}

/// The areas with their own packages, as their dependencies would slow down the build of the others.
const AREAS_APART: [(&str, &str); 4] = [
    ("dialects", "toolwright-dialect-bench"),
    ("generation", "toolwright-generation-bench"),
    ("mcp", "toolwright-mcp-bench"),
    ("models", "toolwright-model-bench"),
];

pub(crate) fn bench(name: Option<&str>, json: bool, write: bool) -> End {
    let flags = [("--json", json), ("--write", write)];
    let mut rest: Vec<String> = flags
        .iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(flag, _)| (*flag).to_owned())
        .collect();
    match name {
        Some("engines") => return of_engines("bench", &[]),
        Some("scale") => return engine_bench("simulate", &[]),
        _ => {}
    }
    if let Some((_, package)) = AREAS_APART.iter().find(|(area, _)| name == Some(*area)) {
        return bench_of(package, &rest);
    }
    rest.extend(name.map(str::to_owned));
    let mut end = bench_of("toolwright-bench", &rest);
    for (_, package) in AREAS_APART.iter().filter(|_| name.is_none()) {
        if matches!(end, End::Done) {
            end = bench_of(package, &rest);
        }
    }
    end
}

fn bench_of(package: &str, rest: &[String]) -> End {
    let package = ["run", "--quiet", "--release", "--package", package, "--"];
    Invocation::cargo(&package).with(rest).run()
}
