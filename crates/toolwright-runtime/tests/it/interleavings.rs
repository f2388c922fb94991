//! Concurrent answers to an approval: the tool runs at most once, with the approved arguments only. Twelve scenarios, each
//! in fifty interleavings.

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

/// The number of interleavings of each scenario.
const INTERLEAVINGS: u64 = 50;

/// Concurrent answers to one question, and the arguments that the tool may run with. It runs at most once, or exactly once
/// if `must_run`.
struct Scenario {
    name: &'static str,
    answers: fn(&ApprovalRequest) -> Vec<Vec<Answer>>,
    may_run: &'static [&'static str],
    must_run: bool,
    /// True if the question has expired before the answers.
    late: bool,
    /// True if the state is exported and restored.
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

fn edit(question: &ApprovalRequest) -> Answer {
    question.approve_with(Payload::new(EDITED))
}

fn forged(question: &ApprovalRequest) -> Answer {
    Answer { digest: "0".repeat(64), ..question.approve() }
}

fn unknown(question: &ApprovalRequest) -> Answer {
    Answer { id: "approval_0000000000000000".to_owned(), ..question.approve() }
}

const SCENARIOS: [Scenario; 12] = [
    scenario("one approval", |question| vec![vec![question.approve()]], &[SHOWN]),
    scenario("one denial", |question| vec![vec![question.deny()]], &[]),
    scenario("one edit", |question| vec![vec![edit(question)]], &[EDITED]),
    scenario(
        "the same approval eight times",
        |question| vec![vec![question.approve()]; 8],
        &[SHOWN],
    ),
    Scenario {
        must_run: false,
        ..scenario(
            "approval and denial",
            |question| vec![vec![question.approve()], vec![question.deny()]],
            &[SHOWN],
        )
    },
    scenario(
        "approval and edit",
        |question| vec![vec![question.approve()], vec![edit(question)]],
        &[SHOWN, EDITED],
    ),
    scenario(
        "approval and forgery",
        |question| vec![vec![forged(question)], vec![question.approve()]],
        &[SHOWN],
    ),
    scenario("only a forgery", |question| vec![vec![forged(question)]; 3], &[]),
    scenario(
        "an unknown and a known question",
        |question| vec![vec![question.approve(), unknown(question)]],
        &[],
    ),
    scenario(
        "approval and denial in one request",
        |question| vec![vec![question.approve(), question.deny()]; 2],
        &[],
    ),
    Scenario {
        late: true,
        ..scenario("a late approval", |question| vec![vec![question.approve()]; 2], &[])
    },
    Scenario {
        exported: true,
        ..scenario(
            "several copies of an export",
            |question| vec![vec![question.approve()]; 4],
            &[SHOWN],
        )
    },
];

/// A runtime with a tool that needs an approval, yields at points that depend on the seed, and logs its arguments.
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

/// A pseudorandom number for each point of an interleaving (xorshift).
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
