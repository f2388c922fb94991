//! Approvals under every order of things that can meet: at most one effect, and never other bytes than those approved.
//! Twelve scenarios, each in fifty interleavings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use toolwright::spec::Approval;
use toolwright::{Payload, ToolCall, ToolFailure, ToolSpec};
use toolwright_runtime::{
    Agent, Answer, ApprovalRequest, FunctionTool, Registry, ResumeError, ResumeRequest, RunOutcome,
    RunRequest, Runtime, SuspendedRun,
};

use crate::planners::steps;
use crate::tools::{Log, N, call, payload};

/// How many interleavings of each scenario are tried.
const INTERLEAVINGS: u64 = 50;

/// What those who answer one question do, side by side, and which bytes may then have run: at most once, and once for
/// sure where `must_run`.
struct Scenario {
    name: &'static str,
    answers: fn(&ApprovalRequest) -> Vec<Vec<Answer>>,
    may_run: &'static [&'static str],
    must_run: bool,
    /// Whether the question has expired when the answers come.
    late: bool,
    /// Whether the state goes through text on the way.
    exported: bool,
}

const SHOWN: &str = r#"{"n":3}"#;
const EDITED: &str = r#"{"n":1}"#;

const fn scenario(
    name: &'static str,
    answers: fn(&ApprovalRequest) -> Vec<Vec<Answer>>,
    may_run: &'static [&'static str],
) -> Scenario {
    Scenario { name, answers, may_run, must_run: !may_run.is_empty(), late: false, exported: false }
}

fn edit(asked: &ApprovalRequest) -> Answer {
    asked.approve_with(Payload::new(EDITED))
}

fn forged(asked: &ApprovalRequest) -> Answer {
    Answer { digest: "0".repeat(64), ..asked.approve() }
}

fn unknown(asked: &ApprovalRequest) -> Answer {
    Answer { id: "approval_0000000000000000".to_owned(), ..asked.approve() }
}

const SCENARIOS: [Scenario; 12] = [
    scenario("one yes", |asked| vec![vec![asked.approve()]], &[SHOWN]),
    scenario("one no", |asked| vec![vec![asked.deny()]], &[]),
    scenario("one edit", |asked| vec![vec![edit(asked)]], &[EDITED]),
    scenario("the same yes eight times", |asked| vec![vec![asked.approve()]; 8], &[SHOWN]),
    Scenario {
        must_run: false,
        ..scenario(
            "yes against no",
            |asked| vec![vec![asked.approve()], vec![asked.deny()]],
            &[SHOWN],
        )
    },
    scenario(
        "yes against edit",
        |asked| vec![vec![asked.approve()], vec![edit(asked)]],
        &[SHOWN, EDITED],
    ),
    scenario(
        "yes against a forgery",
        |asked| vec![vec![forged(asked)], vec![asked.approve()]],
        &[SHOWN],
    ),
    scenario("a forgery alone", |asked| vec![vec![forged(asked)]; 3], &[]),
    scenario(
        "an unknown question beside the known",
        |asked| vec![vec![asked.approve(), unknown(asked)]],
        &[],
    ),
    scenario("yes and no in one breath", |asked| vec![vec![asked.approve(), asked.deny()]; 2], &[]),
    Scenario { late: true, ..scenario("a late yes", |asked| vec![vec![asked.approve()]; 2], &[]) },
    Scenario {
        exported: true,
        ..scenario("copies of one export", |asked| vec![vec![asked.approve()]; 4], &[SHOWN])
    },
];

/// A runtime whose one guarded tool waits here and there, and logs the bytes it was run with.
fn runtime(log: &Log, clock: &Arc<AtomicU64>, seed: u64) -> Runtime {
    let spec = ToolSpec::new("wipe").with_toolset("disks").with_approval(Approval::default());
    let (effects, clock) = (log.clone(), Arc::clone(clock));
    let tool = FunctionTool::new(spec, move |args: N, call: ToolCall| {
        let effects = effects.clone();
        async move {
            pause(seed % 3).await;
            effects.push(call.args().to_string());
            pause(seed % 2).await;
            Ok::<_, ToolFailure>(args)
        }
    });
    let registry = Registry::new();
    registry.register_tool(tool).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe"]);
    registry.register_agent(agent, steps(vec![vec![call("wipe", "a", 3)]])).unwrap();
    Runtime::builder(registry)
        .with_approvals_lasting(Duration::from_secs(10))
        .with_clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)))
        .build()
}

async fn pause(times: u64) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// A number for each place of an interleaving, by xorshift.
fn shuffled(seed: u64, place: usize) -> u64 {
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (place as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    state ^= state << 13;
    state ^= state >> 7;
    (state ^ (state << 17)) % 7
}

type Ended = Result<RunOutcome, ResumeError>;

async fn interleave(scenario: &Scenario, seed: u64) -> (Vec<String>, Vec<Ended>) {
    let (log, clock) = (Log::default(), Arc::new(AtomicU64::new(100)));
    let runtime = runtime(&log, &clock, seed);
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap().clone();
    let answers = (scenario.answers)(run.pending()[0]);
    if scenario.late {
        clock.store(110, Ordering::SeqCst);
    }
    let resuming = answers.into_iter().enumerate().map(|(place, answers)| {
        let (runtime, run, exported) = (runtime.clone(), run.clone(), scenario.exported);
        tokio::spawn(async move {
            pause(shuffled(seed, place)).await;
            let run = copy(&runtime, &run, exported).await;
            runtime.resume(ResumeRequest::new(&run, answers)).await
        })
    });
    let ended = futures_util::future::join_all(resuming).await;
    (log.lines(), ended.into_iter().map(Result::unwrap).collect())
}

async fn copy(runtime: &Runtime, run: &SuspendedRun, exported: bool) -> SuspendedRun {
    if !exported {
        return run.clone();
    }
    runtime.restore(&runtime.export(run).await.unwrap()).await.unwrap()
}

/// H7: at most one effect, never unapproved bytes, whoever comes first.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h7_twelve_scenarios_have_at_most_one_effect_in_fifty_interleavings() {
    for scenario in &SCENARIOS {
        for seed in 0..INTERLEAVINGS {
            let (effects, ended) = interleave(scenario, seed).await;
            let what = format!("{} in interleaving {seed}: {effects:?}", scenario.name);
            assert!(effects.len() <= 1, "{what}");
            assert!(
                effects.iter().all(|bytes| scenario.may_run.contains(&bytes.as_str())),
                "{what}"
            );
            assert!(!scenario.must_run || effects.len() == 1, "{what}");
            let accepted = ended.iter().filter(|ended| ended.is_ok()).count();
            assert!(accepted <= 1, "{what}: {accepted} answers were accepted");
            assert!(effects.is_empty() || accepted == 1, "{what}");
        }
    }
}
