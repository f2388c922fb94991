//! What leaves a runtime while a run waits, in the hands of people who mean harm: it cannot be read, changed or used twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, FailureKind, ToolCall, ToolSpec, Value};
use toolwright_runtime::suspended::{InDirectory, StateError};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Registry, ResumeError, ResumeRequest, RunOutcome,
    RunRequest, Runtime, RuntimeBuilder, SealKey, SuspendedRun, SuspendedRuns,
};

use crate::approvals::{guarded, nested, nested_behind};
use crate::planners::{briefs, steps};
use crate::tools::{Log, call, payload};
use crate::toys::tool;

pub(crate) fn key() -> SealKey {
    key_of(7)
}

fn key_of(byte: u8) -> SealKey {
    SealKey::new([byte; 32]).unwrap()
}

/// A worker that makes these calls of `wipe` (guarded) and `free`.
fn worker(calls: Vec<ToolCall>, log: &Log) -> RuntimeBuilder {
    let registry = Registry::new();
    registry.register_tool(guarded(log)).unwrap();
    let free = log.clone();
    let free = tool("free", move |n| {
        free.push(format!("free {n}"));
        n
    });
    registry.register_tool(free).unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "free"]);
    registry.register_agent(agent, steps(vec![calls])).unwrap();
    Runtime::builder(registry)
}

fn wiper(log: &Log) -> RuntimeBuilder {
    worker(vec![call("wipe", "a", 3)], log)
}

async fn waiting(runtime: &Runtime) -> SuspendedRun {
    let outcome = runtime.run(RunRequest::new("worker", payload(0))).await.unwrap();
    outcome.suspended().expect("it waits").clone()
}

async fn approve(runtime: &Runtime, run: &SuspendedRun) -> Result<RunOutcome, ResumeError> {
    let answers: Vec<_> = run.pending().iter().map(|asked| asked.approve()).collect();
    runtime.resume(ResumeRequest::new(run, answers)).await
}

/// H8: of a sealed state no byte can be changed, taken away or added: neither history, budget, input, approval list nor the
/// place of a child run in it.
#[tokio::test]
async fn h8_a_sealed_state_with_any_byte_changed_is_refused() {
    let log = Log::default();
    let runtime = wiper(&log).with_seal_keys([key()]).build();
    let text = runtime.export(&waiting(&runtime).await).await.unwrap();
    for place in 0..text.len() {
        for bit in [1, 2, 4, 8, 16, 32, 64] {
            let mut forged = text.clone().into_bytes();
            forged[place] ^= bit;
            let Ok(forged) = String::from_utf8(forged) else { continue };
            assert!(runtime.restore(&forged).await.is_err(), "bit {bit} of byte {place}");
        }
        assert!(runtime.restore(&text[..place]).await.is_err(), "cut off after {place} bytes");
    }
    for forged in [format!("{text}A"), format!("{text}AAAA"), text.replacen('.', "..", 1)] {
        assert!(runtime.restore(&forged).await.is_err(), "{forged}");
    }
    assert_eq!(
        briefs(&approve(&runtime, &runtime.restore(&text).await.unwrap()).await.unwrap()),
        [r#"{"n":3}"#]
    );
}

/// H8: whoever keeps a sealed state does not see what is in it, and two seals of one state are not alike.
#[tokio::test]
async fn h8_a_sealed_state_shows_nothing() {
    let runtime = wiper(&Log::default()).with_seal_keys([key()]).build();
    let run = waiting(&runtime).await;
    let text = runtime.export(&run).await.unwrap();
    assert!(text.starts_with("toolwright-run-2.sealed."), "{text}");
    for shown in ["wipe", "worker", run.run_id(), run.pending()[0].id.as_str()] {
        assert!(!text.contains(shown), "{shown}");
    }
    assert_ne!(text, runtime.export(&run).await.unwrap());
    assert_eq!(format!("{:?}", key()), "SealKey(..)");
}

/// H8: another key opens nothing; one of before does, and seals nothing any more.
#[tokio::test]
async fn h8_keys_are_changed_and_strange_keys_refused() {
    let log = Log::default();
    let with = |keys: &[u8]| wiper(&log).with_seal_keys(keys.iter().copied().map(key_of)).build();
    let (old, both, new, keyless) = (with(&[1]), with(&[2, 1]), with(&[2]), with(&[]));
    let text = old.export(&waiting(&old).await).await.unwrap();
    assert_eq!(new.restore(&text).await, Err(StateError::BrokenSeal));
    assert_eq!(keyless.restore(&text).await, Err(StateError::NoKey));
    let restored = both.restore(&text).await.unwrap();
    let text = both.export(&restored).await.unwrap();
    assert_eq!(old.restore(&text).await, Err(StateError::BrokenSeal), "the new key sealed it");
    approve(&new, &new.restore(&text).await.unwrap()).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
    let error = SealKey::new([0; 31]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the secret of the seal key has 31 bytes, expected 32 or more; take random ones"
    );
}

/// H8: a state of another version or form is refused in words that say so.
#[tokio::test]
async fn h8_states_of_other_versions_and_forms_are_refused() {
    let runtime = wiper(&Log::default()).with_seal_keys([key()]).build();
    let text = runtime.export(&waiting(&runtime).await).await.unwrap();
    let forged = |from: &str, to: &str| {
        let (runtime, forged) = (runtime.clone(), text.replacen(from, to, 1));
        async move { runtime.restore(&forged).await.unwrap_err().to_string() }
    };
    assert_eq!(
        forged("-2.", "-1.").await,
        "the suspended state is of version 1, expected 2; resume it with the release that wrote it"
    );
    assert_eq!(
        forged("-run-", "-call-").await,
        "the text is a suspended call, expected a suspended run; a runtime restores runs, a session calls"
    );
    assert_eq!(
        forged(".sealed.", ".kept.").await,
        "the text is the id of a kept state, expected a sealed one; this runtime has a key and takes nothing else"
    );
    let malformed = "the text is no suspended state; expected what the export of one returned";
    assert_eq!(forged("toolwright-", "").await, malformed);
    assert_eq!(forged(".sealed.", ".").await, malformed);
    assert_eq!(runtime.restore("").await, Err(StateError::Malformed));
}

/// H8: without a key the state stays in the runtime, and what leaves is an id that nobody guesses.
#[tokio::test]
async fn h8_without_a_key_the_state_stays_and_an_id_leaves() {
    let log = Log::default();
    let (runtime, other) = (wiper(&log).build(), wiper(&log).build());
    let run = waiting(&runtime).await;
    let text = runtime.export(&run).await.unwrap();
    let id = text.strip_prefix("toolwright-run-2.kept.").expect("an id");
    assert_eq!(id.len(), 22, "128 bits");
    assert_ne!(text, runtime.export(&run).await.unwrap());
    assert_eq!(other.restore(&text).await, Err(StateError::UnknownId));
    let guessed = format!("toolwright-run-2.kept.{}", "A".repeat(22));
    assert_eq!(runtime.restore(&guessed).await, Err(StateError::UnknownId));
    assert_eq!(runtime.restore(&text).await.unwrap(), run);
    approve(&runtime.clone(), &runtime.restore(&text).await.unwrap()).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

/// H7: a state that went on in one process is found taken in a second one that shares the store.
#[tokio::test]
async fn h7_a_replay_in_a_second_process_finds_the_question_taken() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::default();
    let process = || {
        let store = InDirectory::open(folder.path().join("runs")).unwrap();
        wiper(&log).with_seal_keys([key()]).with_suspended_runs(Arc::new(store)).build()
    };
    let (first, second) = (process(), process());
    let text = first.export(&waiting(&first).await).await.unwrap();
    let there = second.restore(&text).await.unwrap();
    approve(&first, &first.restore(&text).await.unwrap()).await.unwrap();
    let error = approve(&second, &there).await.unwrap_err();
    assert!(matches!(error, ResumeError::AnsweredBefore { .. }), "{error}");
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

/// H7: of many threads and stores that race for one question in a directory, one takes it; and of several questions all are
/// taken or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h7_a_directory_gives_a_question_to_one_taker_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = || InDirectory::open(folder.path()).unwrap();
    for round in 0..20 {
        let id = format!("question/../{round}");
        let takers = (0..8).map(|_| {
            let (store, id) = (store(), id.clone());
            tokio::spawn(async move { store.take(&[(&id, 10)], 5).await.unwrap() })
        });
        let taken = futures_util::future::join_all(takers).await;
        let taken: Vec<_> = taken.into_iter().map(Result::unwrap).collect();
        assert_eq!(taken.iter().filter(|before| before.is_none()).count(), 1);
        assert!(taken.iter().flatten().all(|before| *before == id));
    }
    assert_eq!(
        store().take(&[("a", 10), ("question/../0", 10)], 5).await.unwrap().unwrap(),
        "question/../0"
    );
    assert_eq!(store().take(&[("a", 10)], 5).await.unwrap(), None, "it was left");
}

/// What has expired on every clock leaves the directory, and nothing else does.
#[tokio::test]
async fn a_directory_is_swept_of_what_has_expired() {
    let folder = tempfile::tempdir().unwrap();
    let store = InDirectory::open(folder.path()).unwrap();
    std::fs::write(folder.path().join("notes"), "mine").unwrap();
    store.put("old", b"state", 10, 5).await.unwrap();
    store.take(&[("old", 10)], 5).await.unwrap();
    store.put("new", b"state", u64::MAX, 5).await.unwrap();
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    let later = 10 + 5 * 60 * 1_000;
    store.take(&[("b", u64::MAX)], later - 1).await.unwrap();
    store.take(&[("c", u64::MAX)], later + 1).await.unwrap();
    assert_eq!(count(), 6, "it is looked for once a minute");
    store.take(&[("d", u64::MAX)], later + 60_000).await.unwrap();
    assert_eq!(count(), 5);
    assert_eq!(store.get("old").await.unwrap(), None);
    assert_eq!(store.get("new").await.unwrap().unwrap(), b"state");
}

/// H8: nobody but their owner reads the states in a directory.
#[cfg(unix)]
#[tokio::test]
async fn h8_a_directory_of_states_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs");
    let store = Arc::new(InDirectory::open(&path).unwrap());
    let runtime = wiper(&Log::default()).with_suspended_runs(store.clone()).build();
    let text = runtime.export(&waiting(&runtime).await).await.unwrap();
    let again = wiper(&Log::default()).with_suspended_runs(store).build();
    approve(&again, &again.restore(&text).await.unwrap()).await.unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    let files: Vec<_> =
        std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "a state and a question");
    assert!(files.iter().all(|file| mode(file) == 0o600));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o770)).unwrap();
    let error = InDirectory::open(&path).unwrap_err().to_string();
    assert!(error.starts_with("others may write to `"), "{error}");
}

#[cfg(unix)]
#[test]
fn h8_a_directory_that_others_may_replace_keeps_no_states() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("parent");
    let path = parent.join("below").join("runs");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let parent_mode =
        |mode| std::fs::set_permissions(&parent, std::fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o777, 0o770] {
        parent_mode(mode);
        let error = InDirectory::open(&path).unwrap_err().to_string();
        assert!(error.starts_with("others may replace `"), "{error}");
    }
    parent_mode(0o1777);
    InDirectory::open(&path).unwrap();
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn h8_a_directory_of_another_user_keeps_no_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs");
    InDirectory::open(&path).unwrap();
    // Only root can give a directory away; to anybody else, `/` is another user's.
    if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
        let error = InDirectory::open(&path).unwrap_err().to_string();
        assert!(error.starts_with("user 65534 owns `"), "{error}");
    } else {
        InDirectory::open("/").unwrap_err();
    }
}

#[tokio::test]
async fn h7_of_two_who_take_the_same_questions_at_once_one_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = InDirectory::open(folder.path()).unwrap();
    for race in 0..100 {
        let (a, b) = (format!("a{race}"), format!("b{race}"));
        let (a, b) = ((a.as_str(), u64::MAX), (b.as_str(), u64::MAX));
        let (one, other) = ([a, b], [b, a]);
        // Both run at once, each on a thread of its own.
        let (one, other) = tokio::join!(store.take(&one, 0), store.take(&other, 0));
        let took = [one.unwrap(), other.unwrap()].iter().filter(|taken| taken.is_none()).count();
        assert_eq!(took, 1, "race {race}");
    }
}

/// H7: where the store cannot say whether a question was taken, nothing runs.
#[tokio::test]
async fn h7_a_store_that_fails_lets_nothing_run() {
    struct Broken;

    impl SuspendedRuns for Broken {
        fn put<'a>(
            &'a self,
            _: &'a str,
            _: &'a [u8],
            _: u64,
            _: u64,
        ) -> BoxFuture<'a, Result<(), BoxError>> {
            Box::pin(std::future::ready(Err("the disk is full".into())))
        }

        fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, BoxError>> {
            Box::pin(std::future::ready(Err("the disk is gone".into())))
        }

        fn take<'a>(
            &'a self,
            _: &'a [(&'a str, u64)],
            _: u64,
        ) -> BoxFuture<'a, Result<Option<String>, BoxError>> {
            Box::pin(std::future::ready(Err("the disk is gone".into())))
        }
    }

    let log = Log::default();
    let runtime = wiper(&log).with_suspended_runs(Arc::new(Broken)).build();
    let run = waiting(&runtime).await;
    let error = runtime.export(&run).await.unwrap_err().to_string();
    assert_eq!(error, "the store of suspended states failed: the disk is full");
    let error = approve(&runtime, &run).await.unwrap_err().to_string();
    assert_eq!(error, "the store of suspended runs failed, and nothing was run: the disk is gone");
    assert!(log.lines().is_empty());
}

/// A change of what is shown.
type Forgery = fn(&mut ApprovalRequest);

/// H7: a yes is to everything that was shown. Shown otherwise, in any part, it is a yes to something else.
#[tokio::test]
async fn h7_an_answer_covers_words_tool_arguments_agent_run_id_and_expiry() {
    let forgeries: [(&str, Forgery); 12] = [
        ("id", |asked| asked.id.push('0')),
        ("deferred", |asked| asked.deferred = true),
        ("run", |asked| asked.run_id = "other".to_owned()),
        ("agent", |asked| asked.agent = None),
        ("call", |asked| asked.call_id = "b".to_owned()),
        ("tool", |asked| asked.tool = "free".to_owned()),
        ("toolset", |asked| asked.toolset = "toys".to_owned()),
        ("arguments", |asked| asked.args = payload(0)),
        ("prompt", |asked| asked.prompt = Some("Read the weather?".to_owned())),
        ("denial", |asked| asked.denied = None),
        ("metadata", |asked| drop(asked.metadata.insert("risk_level".to_owned(), Value::Null))),
        ("expiry", |asked| asked.expires_at += 1),
    ];
    let log = Log::default();
    let runtime = wiper(&log).build();
    let run = waiting(&runtime).await;
    for (what, forge) in forgeries {
        let mut shown = run.pending()[0].clone();
        forge(&mut shown);
        let mut answer = shown.approve();
        answer.id.clone_from(&run.pending()[0].id);
        let error = runtime.resume(ResumeRequest::new(&run, [answer])).await.unwrap_err();
        assert!(matches!(error, ResumeError::OtherQuestion { .. }), "{what}: {error}");
    }
    assert!(log.lines().is_empty());
    // As a page that asks would have it: through JSON.
    let shown = serde_json::to_string(run.pending()[0]).unwrap();
    let shown: ApprovalRequest = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown.agent.as_deref(), Some("worker"));
    runtime.resume(ResumeRequest::new(&run, [shown.approve()])).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

/// H7: an approval cannot be spent again under another id of the question.
#[tokio::test]
async fn h7_an_approval_is_no_answer_to_the_same_question_of_another_run() {
    let log = Log::default();
    let runtime = wiper(&log).build();
    let (first, second) = (waiting(&runtime).await, waiting(&runtime).await);
    let mut answer = first.pending()[0].approve();
    answer.id.clone_from(&second.pending()[0].id);
    let error = runtime.resume(ResumeRequest::new(&second, [answer])).await.unwrap_err();
    assert!(matches!(error, ResumeError::OtherQuestion { .. }), "{error}");
    assert!(log.lines().is_empty());
}

/// H7: the words are made anew when the answer comes. Where the tool says something else by then, the yes is not to it.
#[tokio::test]
async fn h7_a_yes_to_words_that_the_tool_no_longer_says_runs_nothing() {
    let log = Log::default();
    let saying = |prompt: &'static str| {
        let ran = log.clone();
        let words = Approval { prompt: Some(prompt.into()), ..Approval::default() };
        let spec = ToolSpec::new("act").with_approval(words);
        let registry = Registry::new();
        let act = FunctionTool::new(spec, move || {
            ran.push("acted");
            std::future::ready(true)
        });
        registry.register_tool(act).unwrap();
        let agent = Agent::new("worker", "lab").with_tools(["act"]);
        let calls = vec![ToolCall::new("act", toolwright::Payload::new("{}"))];
        registry.register_agent(agent, steps(vec![calls])).unwrap();
        Runtime::builder(registry).with_seal_keys([key()]).build()
    };
    let (before, after) = (saying("Read the weather?"), saying("Wipe the disk?"));
    let text = before.export(&waiting(&before).await).await.unwrap();
    let outcome = approve(&after, &after.restore(&text).await.unwrap()).await.unwrap();
    let failure = outcome.exchanges().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Denied);
    assert_eq!(failure.message, "`act` asks for its approval in other words now");
    assert!(log.lines().is_empty());
    let again = saying("Read the weather?");
    approve(&again, &again.restore(&text).await.unwrap()).await.unwrap();
    assert_eq!(log.lines(), ["acted"]);
}

/// H6: the host that goes on with a run adds to its approval list, also for the runs of agents that wait in it.
#[tokio::test]
async fn h6_a_host_that_resumes_a_run_adds_to_its_approval_list() {
    let log = Log::default();
    let registry = Registry::new();
    registry.register_tool(guarded(&log)).unwrap();
    let free = log.clone();
    registry
        .register_tool(tool("free", move |n| {
            free.push(format!("free {n}"));
            n
        }))
        .unwrap();
    let agent = Agent::new("worker", "lab").with_tools(["wipe", "free"]);
    let calls = vec![vec![call("wipe", "a", 3)], vec![call("free", "b", 1)]];
    registry.register_agent(agent, steps(calls)).unwrap();
    let runtime = Runtime::new(registry);
    let run = waiting(&runtime).await;
    let request = ResumeRequest::new(&run, [run.pending()[0].approve()]);
    let outcome = runtime.resume(request.with_approval_of(["free"])).await.unwrap();
    let run = outcome.suspended().expect("`free` waits now");
    assert_eq!(run.pending()[0].tool, "free");
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
    let outcome = approve(&runtime, run).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#, r#"{"n":1}"#]);
}

/// H6: a call that an agent answers and that nobody approved does not go on where it needs an approval by then.
#[tokio::test]
async fn h6_a_nested_run_that_nobody_approved_does_not_go_on_once_it_needs_an_approval() {
    let log = Log::default();
    let runtime = Runtime::new(nested(&log));
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers: Vec<_> = run.pending().iter().map(|asked| asked.approve()).collect();
    let request = ResumeRequest::new(run, answers).with_approval_of(["delegate"]);
    let outcome = runtime.resume(request).await.unwrap();
    let failure = outcome.exchanges().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.message, "`delegate` needs an approval, and this call has none");
    assert!(log.lines().is_empty());
}

/// H6, H8: a call that was approved and that an agent answers is still approved when its run goes on elsewhere.
#[tokio::test]
async fn h6_h8_an_approved_call_of_an_agent_goes_on_where_it_waited_again() {
    let log = Log::default();
    let process = || Runtime::builder(nested(&log)).with_seal_keys([key()]).build();
    let (first, second) = (process(), process());
    let request = RunRequest::new("parent", payload(0)).with_approval_of(["delegate"]);
    let outcome = first.run(request).await.unwrap();
    let outcome = approve(&first, outcome.suspended().unwrap()).await.unwrap();
    let text = first.export(outcome.suspended().expect("the child asks")).await.unwrap();
    let run = second.restore(&text).await.unwrap();
    assert_eq!(run.pending()[0].tool, "wipe");
    let outcome = approve(&second, &run).await.unwrap();
    assert_eq!(briefs(&outcome), [r#"{"n":3}"#]);
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

/// H7: the yes to a call that an agent answers is a yes to the words that were shown, for as long as its run waits.
#[tokio::test]
async fn h7_a_yes_to_words_that_the_tool_of_an_agent_no_longer_says_does_not_go_on() {
    for (later, expected) in [("Delegate?", r#"{"n":3}"#), ("Delegate it all?", "denied")] {
        let log = Log::default();
        let process = |prompt: &'static str| {
            let words = Approval { prompt: Some(prompt.into()), ..Approval::default() };
            let registry = nested_behind(&log, ToolSpec::new("delegate").with_approval(words));
            Runtime::builder(registry).with_seal_keys([key()]).build()
        };
        let (first, second) = (process("Delegate?"), process(later));
        let outcome = first.run(RunRequest::new("parent", payload(0))).await.unwrap();
        let outcome = approve(&first, outcome.suspended().unwrap()).await.unwrap();
        let text = first.export(outcome.suspended().expect("the child asks")).await.unwrap();
        let run = second.restore(&text).await.unwrap();
        assert_eq!(run.pending()[0].tool, "wipe");
        let outcome = approve(&second, &run).await.unwrap();
        assert_eq!(briefs(&outcome), [expected], "{later}");
        assert_eq!(log.lines().is_empty(), expected == "denied", "{later}");
    }
}

/// H7: a question that has expired stays so in another process: its clock counts, and the state cannot say otherwise.
#[tokio::test]
async fn h7_a_state_does_not_outlive_its_questions() {
    let (log, clock) = (Log::default(), Arc::new(AtomicU64::new(100)));
    let process = || {
        let clock = Arc::clone(&clock);
        wiper(&log)
            .with_seal_keys([key()])
            .with_approvals_lasting(Duration::from_secs(10))
            .with_clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)))
            .build()
    };
    let first = process();
    let text = first.export(&waiting(&first).await).await.unwrap();
    clock.store(110, Ordering::SeqCst);
    let second = process();
    let error = approve(&second, &second.restore(&text).await.unwrap()).await.unwrap_err();
    assert!(matches!(error, ResumeError::Expired { .. }), "{error}");
    assert!(log.lines().is_empty());
}
