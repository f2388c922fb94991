//! Preflight checks of agents.

use toolwright::spec::Approval;
use toolwright::{RegistrationError, Scope};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{Agent, FunctionTool, Registry, Source, Toolset};

use crate::planners::steps;
use crate::tools::Log;
use crate::toys::{Toy, spec, tool};

fn agent() -> Agent {
    Agent::new("worker", "lab")
}

fn ambiguous(tool: &str, sources: &[&str]) -> RegistrationError {
    RegistrationError::AmbiguousTool {
        tool: tool.into(),
        sources: sources.iter().map(|&source| source.into()).collect(),
        needed_by: "agent `worker`".into(),
    }
}

/// R9: the error has the sources of each duplicate.
#[test]
fn r9_an_agent_with_two_tools_of_one_name_is_not_registered() {
    let registry = Registry::new();
    registry.register_tool(tool("saw", |n| n)).unwrap();
    registry
        .register_tool(FunctionTool::new(toolwright::ToolSpec::new("nail"), async || true))
        .unwrap();
    registry.register_toolset("box", tool("saw", |n| n)).unwrap();
    let shed = Combined::new().with("saws", tool("saw", |n| n)).with("nails", tool("nail", |n| n));
    registry.register_toolset("shed", shed).unwrap();
    let listing = agent().with_tools(["saw", "nail"]).with_toolsets(["box", "shed"]);
    let error = registry.register_agent(listing.clone(), steps(vec![])).unwrap_err();
    let expected =
        [ambiguous("nail", &["shed", "nail"]), ambiguous("saw", &["box", "shed", "toys"])];
    assert_eq!(error.each(), expected);
    assert_eq!(registry.preflight(&listing), Err(error));
    assert_eq!(registry.agents().len(), 0, "nothing is registered");
}

#[test]
fn r9_an_agent_is_checked_against_the_tools_that_combinators_list() {
    let two = || Combined::new().with("saws", tool("saw", |n| n)).with("axes", tool("axe", |n| n));
    let cases: [(&str, &dyn Fn(&Registry) -> Result<(), RegistrationError>, Option<&str>); 6] = [
        ("as it is", &|registry| registry.register_toolset("shed", two()), Some("saw")),
        (
            "less",
            &|registry| registry.register_toolset("shed", two().filtered(|name| name == "axe")),
            None,
        ),
        ("prefixed", &|registry| registry.register_toolset("shed", two().prefixed("shed")), None),
        (
            "renamed",
            &|registry| {
                registry.register_toolset(
                    "shed",
                    two().renamed([("axe", "nail"), ("saw", "blade")]).unwrap(),
                )
            },
            Some("nail"),
        ),
        (
            "guarded",
            &|registry| {
                registry.register_toolset(
                    "shed",
                    two().requiring_approval(Approval::default(), |_| true),
                )
            },
            Some("saw"),
        ),
        (
            "run by the host",
            &|registry| registry.register_toolset("shed", Source::run_by_host([spec("saw")])),
            Some("saw"),
        ),
    ];
    for (case, register, twice) in cases {
        let registry = Registry::new();
        let one =
            Combined::new().with("saws", tool("saw", |n| n)).with("nails", tool("nail", |n| n));
        registry.register_toolset("box", one).unwrap();
        register(&registry).unwrap();
        let found = registry.preflight(&agent().with_toolsets(["box", "shed"]));
        let expected = twice.map_or(Ok(()), |twice| Err(ambiguous(twice, &["box", "shed"])));
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn r9_g13_an_agent_with_names_that_are_the_same_for_a_provider_is_refused() {
    let registry = Registry::new();
    registry.register_toolset("sums", tool("add", |n| n).prefixed("sums")).unwrap();
    registry.register_toolset("plain", tool("sums_add", |n| n)).unwrap();
    let error = registry
        .register_agent(agent().with_toolsets(["sums", "plain"]), steps(vec![]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `worker` has tools `sums.add` and `sums_add`, both `sums_add` to a model provider; filter, prefix or rename one"
    );
}

/// R9: it cannot use another tool with the same name.
#[test]
fn r9_a_tool_that_an_agent_implements_is_one_of_its_tools() {
    let registry = Registry::new();
    registry.register_toolset("box", tool("saw", |n| n)).unwrap();
    let own = agent().with_implements(spec("saw")).with_tools(["saw"]).with_toolsets(["box"]);
    let error = registry.register_agent(own, steps(vec![])).unwrap_err();
    assert_eq!(error, ambiguous("saw", &["toys", "box"]));
}

/// R7, R9: toolsets are created, entered, listed and exited, and all errors are reported.
#[tokio::test]
async fn r7_r9_preflight_with_listing_finds_the_errors_of_a_run() {
    let (registry, log) = (Registry::new(), Log::default());
    registry.register_tool(tool("saw", |n| n).with_availability(|| false)).unwrap();
    registry.register_toolset("box", |_| tool("saw", |n| n)).unwrap();
    let failing = async |_: Scope| Err::<FunctionTool, _>("no more wood");
    registry.register_toolset("shed", failing).unwrap();
    registry.register_toolset("stuck", Toy { stuck: true, ..Toy::new("door", &log) }).unwrap();
    registry.register_toolset("toy", Toy::new("ball", &log)).unwrap();
    let listing =
        agent().with_tools(["saw", "box"]).with_toolsets(["box", "shed", "stuck", "toy", "attic"]);
    let error = registry.preflight_listing(&listing).await.unwrap_err();
    let expected = [
        "agent `worker` lists `box` as a tool, but it is a toolset; list it under toolsets",
        "agent `worker` lists toolset `attic`, which is unknown; there is `box`, `shed`, `stuck`, `toy`",
        "agent `worker` needs toolset `shed`, which cannot be used now: the factory of toolset `shed` failed: no more wood",
        "agent `worker` needs toolset `stuck`, which cannot be used now: the door is locked",
        "agent `worker` needs tool `saw`, which cannot be used now: its toolset says so",
        "agent `worker` has several tools called `saw`, from `box` and `toys`; filter, prefix or rename all but one",
    ];
    assert_eq!(error.to_string().lines().collect::<Vec<_>>(), expected);
    assert_eq!(log.lines(), ["enter ball", "exit ball"]);
    let unavailable =
        |error: &&RegistrationError| matches!(error, RegistrationError::Unavailable { .. });
    assert_eq!(error.each().iter().filter(unavailable).count(), 3);
    registry.preflight_listing(&agent().with_toolsets(["toy"])).await.unwrap();
}

/// A typo would leave a call without approval. Names of a catalog are not known here, nor are tools that are listed only
/// during a run.
#[tokio::test]
async fn an_unknown_name_in_the_approval_list_of_an_agent_is_an_error() {
    let registry = Registry::new();
    registry.register_tool(tool("wipe", |n| n)).unwrap();
    registry.register_toolset("late", |_| tool("burn", |n| n)).unwrap();
    let listing = agent().with_tools(["wipe"]).with_approval_of(["wipe", "wype", "disks.wipe"]);
    let error = registry.register_agent(listing, steps(vec![])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "agent `worker` requires approvals of `wype`, but has no such tool; did you mean `wipe`?"
    );
    for name in [".wipe", "wipe."] {
        let misspelled = agent().with_tools(["wipe"]).with_approval_of([name]);
        assert!(registry.preflight(&misspelled).is_err(), "{name}");
    }
    let late = agent().with_toolsets(["late"]).with_approval_of(["wype", "burn"]);
    registry.preflight(&late).unwrap();
    let error = registry.preflight_listing(&late).await.unwrap_err();
    assert!(matches!(error, RegistrationError::UnlistedApproval { tool, .. } if tool == "wype"));
}

#[test]
fn an_approval_list_may_name_tools_that_are_listed_only_during_a_run() {
    let registry = Registry::new();
    registry.register_toolset("toy", Toy::new("ball", &Log::default())).unwrap();
    registry.preflight(&agent().with_toolsets(["toy"]).with_approval_of(["ball"])).unwrap();
}
