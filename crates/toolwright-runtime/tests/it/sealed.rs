//! Attacks on exported states: they cannot be read, changed or used twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, FailureKind, ToolCall, ToolSpec, Value};
use toolwright_runtime::suspended::{InDirectory, StateError};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Registry, ResumeError, ResumeRequest, RunOutcome,
    RunRequest, Runtime, RuntimeBuilder, SealKey, SuspendedRun, SuspendedRunStore,
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

/// A runtime with an agent that makes these calls of `wipe` (needs an approval) and `free`.
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
    let answers: Vec<_> = run.pending().iter().map(|question| question.approve()).collect();
    runtime.resume(ResumeRequest::new(run, answers)).await
}

/// H8: the same is true for bytes that are removed or added.
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

/// H8: two seals of one state differ.
#[tokio::test]
async fn h8_a_sealed_state_shows_nothing() {
    let runtime = wiper(&Log::default()).with_seal_keys([key()]).build();
    let run = waiting(&runtime).await;
    let text = runtime.export(&run).await.unwrap();
    assert!(text.starts_with("toolwright-run-4.sealed."), "{text}");
    for shown in ["wipe", "worker", run.run_id(), run.pending()[0].id.as_str()] {
        assert!(!text.contains(shown), "{shown}");
    }
    assert_ne!(text, runtime.export(&run).await.unwrap());
    assert_eq!(format!("{:?}", key()), "SealKey(..)");
}

/// H8: an old key still opens, and no longer seals.
#[tokio::test]
async fn h8_keys_can_be_rotated_and_unknown_keys_are_refused() {
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
        "the secret of the seal key has 31 bytes, expected 32 or more; use random bytes"
    );
}

#[tokio::test]
async fn h8_states_of_other_versions_and_forms_are_refused() {
    let runtime = wiper(&Log::default()).with_seal_keys([key()]).build();
    let text = runtime.export(&waiting(&runtime).await).await.unwrap();
    let forged = |from: &str, to: &str| {
        let (runtime, forged) = (runtime.clone(), text.replacen(from, to, 1));
        async move { runtime.restore(&forged).await.unwrap_err().to_string() }
    };
    assert_eq!(
        forged("-4.", "-2.").await,
        "the suspended state has version 2, expected 4; resume it with the release that exported it"
    );
    assert_eq!(
        forged("-run-", "-call-").await,
        "the text is a suspended call, expected a suspended run; restore runs with the runtime and calls with a session"
    );
    assert_eq!(
        forged(".sealed.", ".kept.").await,
        "the text is the id of a stored state, expected a sealed state, since this runtime has a key"
    );
    let malformed = "the text is not a suspended state; expected a text that `export` returned";
    assert_eq!(forged("toolwright-", "").await, malformed);
    assert_eq!(forged(".sealed.", ".").await, malformed);
    assert_eq!(runtime.restore("").await, Err(StateError::Malformed));
}

#[tokio::test]
async fn h8_without_a_key_an_id_is_exported_and_the_state_stays_in_the_store() {
    let log = Log::default();
    let (runtime, other) = (wiper(&log).build(), wiper(&log).build());
    let run = waiting(&runtime).await;
    let text = runtime.export(&run).await.unwrap();
    let id = text.strip_prefix("toolwright-run-4.kept.").expect("an id");
    assert_eq!(id.len(), 22, "128 bits");
    assert_ne!(text, runtime.export(&run).await.unwrap());
    assert_eq!(other.restore(&text).await, Err(StateError::UnknownId));
    let guessed = format!("toolwright-run-4.kept.{}", "A".repeat(22));
    assert_eq!(runtime.restore(&guessed).await, Err(StateError::UnknownId));
    assert_eq!(runtime.restore(&text).await.unwrap(), run);
    approve(&runtime.clone(), &runtime.restore(&text).await.unwrap()).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

/// H7: both share a store.
#[tokio::test]
async fn h7_a_replay_in_a_second_process_is_refused() {
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

/// H7: many threads and stores try at once. Of several questions all are marked or none.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn h7_a_question_in_a_shared_directory_is_answered_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = || InDirectory::open(folder.path()).unwrap();
    for round in 0..20 {
        let id = format!("question/../{round}");
        let takers = (0..8).map(|_| {
            let (store, id) = (store(), id.clone());
            tokio::spawn(async move { store.mark_answered(&[(&id, 10)], 5).await.unwrap() })
        });
        let taken = futures_util::future::join_all(takers).await;
        let taken: Vec<_> = taken.into_iter().map(Result::unwrap).collect();
        assert_eq!(taken.iter().filter(|before| before.is_none()).count(), 1);
        assert!(taken.iter().flatten().all(|before| *before == id));
    }
    assert_eq!(
        store().mark_answered(&[("a", 10), ("question/../0", 10)], 5).await.unwrap().unwrap(),
        "question/../0"
    );
    assert_eq!(store().mark_answered(&[("a", 10)], 5).await.unwrap(), None, "it was left");
}

#[tokio::test]
async fn expired_files_are_removed_from_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let store = InDirectory::open(folder.path()).unwrap();
    std::fs::write(folder.path().join("notes"), "mine").unwrap();
    store.put("old", b"state", 10, 5).await.unwrap();
    store.mark_answered(&[("old", 10)], 5).await.unwrap();
    store.put("new", b"state", u64::MAX, 5).await.unwrap();
    let count = || std::fs::read_dir(folder.path()).unwrap().count();
    let later = 10 + 5 * 60 * 1_000;
    store.mark_answered(&[("b", u64::MAX)], later - 1).await.unwrap();
    store.mark_answered(&[("c", u64::MAX)], later + 1).await.unwrap();
    assert_eq!(count(), 6, "it is looked for once a minute");
    store.mark_answered(&[("d", u64::MAX)], later + 60_000).await.unwrap();
    assert_eq!(count(), 5);
    assert_eq!(store.get("old").await.unwrap(), None);
    assert_eq!(store.get("new").await.unwrap().unwrap(), b"state");
}

#[tokio::test]
async fn a_state_that_is_cut_off_or_no_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = InDirectory::open(folder.path()).unwrap();
    store.put("a", b"state", u64::MAX, 5).await.unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, []).unwrap();
    let error = store.get("a").await.unwrap_err().to_string();
    assert!(error.ends_with("` is cut off"), "{error}");
    std::fs::remove_file(&file).unwrap();
    #[cfg(unix)]
    assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    #[cfg(not(unix))]
    std::fs::create_dir(&file).unwrap();
    let error = store.get("a").await.unwrap_err().to_string();
    assert!(error.ends_with("` is not a file"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn h8_only_the_owner_can_read_a_directory_of_states() {
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
    assert!(error.starts_with("other users may write to `"), "{error}");
}

#[cfg(unix)]
#[test]
fn h8_a_directory_that_others_may_replace_is_refused() {
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
        assert!(error.starts_with("other users may replace `"), "{error}");
    }
    // The folder of a link counts, too, wherever it leads.
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::os::unix::fs::symlink("../own", parent.join("link")).unwrap();
    std::os::unix::fs::symlink("parent/link", folder.path().join("link")).unwrap();
    for link in [parent.join("link"), folder.path().join("link")] {
        let error = InDirectory::open(link).unwrap_err().to_string();
        assert!(error.starts_with("other users may replace `"), "{error}");
    }
    parent_mode(0o1777);
    InDirectory::open(parent.join("link")).unwrap();
    InDirectory::open(&path).unwrap();
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn h8_a_directory_of_another_user_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("parent");
    let path = parent.join("runs");
    std::fs::create_dir(&parent).unwrap();
    InDirectory::open(&path).unwrap();
    // Only root can change the owner of a directory; for other users, `/` belongs to another user.
    if std::os::unix::fs::chown(&path, Some(65534), None).is_err() {
        InDirectory::open("/").unwrap_err();
        return;
    }
    let error = InDirectory::open(&path).unwrap_err().to_string();
    assert!(error.starts_with("user 65534 owns `"), "{error}");
    std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    InDirectory::open(&path).unwrap();
    std::os::unix::fs::chown(&parent, Some(65534), None).unwrap();
    let error = InDirectory::open(&path).unwrap_err().to_string();
    assert!(error.starts_with("user 65534 may replace `"), "{error}");
    std::os::unix::fs::chown(&parent, Some(0), None).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    InDirectory::open(&link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
    let error = InDirectory::open(&link).unwrap_err().to_string();
    assert!(error.starts_with("user 65534 may replace `"), "{error}");
}

#[tokio::test]
async fn h7_if_two_processes_answer_the_same_questions_at_once_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let store = InDirectory::open(folder.path()).unwrap();
    for race in 0..100 {
        let (a, b) = (format!("a{race}"), format!("b{race}"));
        let (a, b) = ((a.as_str(), u64::MAX), (b.as_str(), u64::MAX));
        let (one, other) = ([a, b], [b, a]);
        // Both run at once on their own threads.
        let (one, other) =
            tokio::join!(store.mark_answered(&one, 0), store.mark_answered(&other, 0));
        let took = [one.unwrap(), other.unwrap()].iter().filter(|taken| taken.is_none()).count();
        assert_eq!(took, 1, "race {race}");
    }
}

#[tokio::test]
async fn h7_nothing_runs_if_the_store_fails() {
    struct Broken;

    impl SuspendedRunStore for Broken {
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

        fn mark_answered<'a>(
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

/// A change of a question.
type Forgery = fn(&mut ApprovalRequest);

/// H7: an answer to a changed question is refused.
#[tokio::test]
async fn h7_an_answer_is_bound_to_every_part_of_its_question() {
    let forgeries: [(&str, Forgery); 12] = [
        ("id", |question| question.id.push('0')),
        ("expects_result", |question| question.expects_result = true),
        ("run", |question| question.run_id = "other".to_owned()),
        ("agent", |question| question.agent = None),
        ("call", |question| question.call_id = "b".to_owned()),
        ("tool", |question| question.tool = "free".to_owned()),
        ("toolset", |question| question.toolset = "toys".to_owned()),
        ("arguments", |question| question.args = payload(0)),
        ("prompt", |question| question.prompt = Some("Read the weather?".to_owned())),
        ("denial", |question| question.denied = None),
        ("metadata", |question| {
            drop(question.metadata.insert("risk_level".to_owned(), Value::Null));
        }),
        ("expiry", |question| question.expires_at += 1),
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
    // The question is sent as JSON, as to a web page.
    let shown = serde_json::to_string(run.pending()[0]).unwrap();
    let shown: ApprovalRequest = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown.agent.as_deref(), Some("worker"));
    runtime.resume(ResumeRequest::new(&run, [shown.approve()])).await.unwrap();
    assert_eq!(log.lines(), [r#"wiped {"n":3}"#]);
}

#[tokio::test]
async fn h7_an_approval_does_not_answer_the_same_question_of_another_run() {
    let log = Log::default();
    let runtime = wiper(&log).build();
    let (first, second) = (waiting(&runtime).await, waiting(&runtime).await);
    let mut answer = first.pending()[0].approve();
    answer.id.clone_from(&second.pending()[0].id);
    let error = runtime.resume(ResumeRequest::new(&second, [answer])).await.unwrap_err();
    assert!(matches!(error, ResumeError::OtherQuestion { .. }), "{error}");
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn h7_an_approval_of_a_tool_that_has_changed_runs_nothing() {
    let log = Log::default();
    let saying = |prompt: &'static str, description: &'static str| {
        let ran = log.clone();
        let words = Approval { prompt: Some(prompt.into()), ..Approval::default() };
        let spec = ToolSpec::new("act").with_approval(words).with_description(description);
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
    let before = saying("Read the weather?", "Reads.");
    let text = before.export(&waiting(&before).await).await.unwrap();
    for (prompt, description) in [("Wipe the disk?", "Reads."), ("Read the weather?", "Wipes.")] {
        let after = saying(prompt, description);
        let outcome = approve(&after, &after.restore(&text).await.unwrap()).await.unwrap();
        let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied);
        assert_eq!(failure.message, "the approval request of `act` has changed since it was shown");
        assert!(log.lines().is_empty());
    }
    let again = saying("Read the weather?", "Reads.");
    approve(&again, &again.restore(&text).await.unwrap()).await.unwrap();
    assert_eq!(log.lines(), ["acted"]);
}

/// H6: also for suspended child runs.
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

#[tokio::test]
async fn h6_an_unapproved_child_run_is_not_resumed_once_its_call_needs_an_approval() {
    let log = Log::default();
    let runtime = Runtime::new(nested(&log));
    let outcome = runtime.run(RunRequest::new("parent", payload(0))).await.unwrap();
    let run = outcome.suspended().unwrap();
    let answers: Vec<_> = run.pending().iter().map(|question| question.approve()).collect();
    let request = ResumeRequest::new(run, answers).with_approval_of(["delegate"]);
    let outcome = runtime.resume(request).await.unwrap();
    let failure = outcome.calls().next().unwrap().result.outcome.clone().unwrap_err();
    assert_eq!(failure.message, "`delegate` needs an approval, and this call has none");
    assert!(log.lines().is_empty());
}

/// H6, H8: also in another process.
#[tokio::test]
async fn h6_h8_an_approved_call_of_an_agent_stays_approved_when_it_is_resumed() {
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

#[tokio::test]
async fn h7_an_approved_call_of_an_agent_is_not_resumed_if_its_prompt_has_changed() {
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

/// H7: by the clock of that process.
#[tokio::test]
async fn h7_an_expired_question_stays_expired_in_another_process() {
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
