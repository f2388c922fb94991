//! Combinators of toolsets.

use std::future::ready;
use std::sync::{Arc, Mutex, Weak};

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Scope, ToolCall, ToolResult, ToolSpec};
use toolwright_runtime::tools::{Combined, ToolsetError};
use toolwright_runtime::{FunctionTool, ToolEntry, Toolset};

use crate::planners::brief;
use crate::tools::{Log, N, payload};
use crate::toys::{Toy, spec, tool};

fn two() -> Combined {
    Combined::new().with("left", tool("a", |n| n + 1)).with("right", tool("b", |n| n * 10))
}

async fn names(toolset: &impl Toolset) -> Vec<String> {
    let tools = toolset.tools(&Scope::default()).await.unwrap();
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

async fn ask(toolset: &impl Toolset, name: &str) -> String {
    brief(&toolset.call(&ToolCall::new(name, payload(4))).await)
}

#[tokio::test]
async fn a_combination_routes_by_name_even_before_it_was_listed() {
    let both = two();
    assert_eq!(ask(&both, "b").await, r#"{"n":40}"#);
    assert_eq!(names(&both).await, ["a", "b"]);
    assert_eq!(ask(&both, "c").await, "not_found");
}

#[tokio::test]
async fn r9_a_combination_with_duplicates_names_every_source() {
    let three = two().with("third", tool("a", |n| n)).with("fourth", tool("b", |n| n));
    let error = three.tools(&Scope::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `a` is listed by `left` and by `third`; tool `b` is listed by `right` and by `fourth`; \
         prefix, rename or filter one of them"
    );
    let error = error.downcast::<ToolsetError>().unwrap();
    assert!(matches!(*error, ToolsetError::DuplicateNames { names } if names.len() == 2));
}

#[tokio::test]
async fn g13_published_names_that_a_provider_cannot_tell_apart_are_refused() {
    let clash = Combined::new()
        .with("published", tool("add", |n| n).prefixed("sums"))
        .with("plain", tool("sums_add", |n| n));
    let error = clash.tools(&Scope::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools `sums.add` and `sums_add` are both called `sums_add` for a model provider; prefix, rename or filter one of them"
    );
    let apart = Combined::new()
        .with("published", tool("add", |n| n).prefixed("sums"))
        .with("plain", tool("sums-add", |n| n));
    assert_eq!(names(&apart).await, ["sums.add", "sums-add"]);
}

#[tokio::test]
async fn h4_h5_combinators_add_availability_and_instructions() {
    let closed =
        tool("a", |n| n).with_availability(|| false).with_instructions(|_| Some("One.".into()));
    let set = Combined::new().with("closed", closed).with("open", tool("b", |n| n));
    let set = set.available_while(|name| name != "b").instructed(|_| Some(" ".into()));
    let set = set.instructed(|_| Some("Two.".into()));
    assert_eq!(names(&set).await, ["a", "b"]);
    assert_eq!((set.is_available("a"), set.is_available("b")), (false, false));
    assert_eq!(set.instructions(&Scope::default()).await.as_deref(), Some("One.\n\nTwo."));
    let silent = two().available_while(|name| name == "a").instructed(|_| None);
    assert_eq!((silent.is_available("a"), silent.is_available("b")), (true, false));
    assert_eq!(silent.instructions(&Scope::default()).await, None);
}

#[tokio::test]
async fn i5_a_combination_returns_the_exit_errors_of_all_members() {
    let log = Log::default();
    let toy = |name, exit_fails| Toy { exit_fails, ..Toy::new(name, &log) };
    let all = Combined::new().with("one", toy("one", true));
    let all = all.with("two", toy("two", false)).with("three", toy("three", true));
    assert_eq!(
        all.exit(&Scope::default()).await.unwrap_err().to_string(),
        "toolset `three` did not exit: the door is stuck; toolset `one` did not exit: the door is stuck"
    );
    Combined::new().with("two", toy("two", false)).exit(&Scope::default()).await.unwrap();
}

#[tokio::test]
async fn a_prefix_is_separated_by_a_dot() {
    let prefixed = two().prefixed("x");
    assert_eq!(names(&prefixed).await, ["x.a", "x.b"]);
    assert_eq!(ask(&prefixed, "x.a").await, r#"{"n":5}"#);
    for unknown in ["a", "x", "x.", ".a", "y.a", "xx.a"] {
        assert_eq!(ask(&prefixed, unknown).await, "not_found", "{unknown}");
    }
}

#[tokio::test]
async fn two_tools_can_swap_their_names() {
    let swapped = two().renamed([("a", "b"), ("b", "a")]).unwrap();
    assert_eq!(names(&swapped).await, ["b", "a"]);
    assert_eq!(ask(&swapped, "a").await, r#"{"n":40}"#);
    assert_eq!(ask(&swapped, "b").await, r#"{"n":5}"#);
}

#[tokio::test]
async fn the_old_name_of_a_renamed_tool_is_unknown() {
    let renamed = two().renamed([("a", "first")]).unwrap();
    assert_eq!(ask(&renamed, "first").await, r#"{"n":5}"#);
    assert_eq!(ask(&renamed, "a").await, "not_found");
}

#[tokio::test]
async fn a_renaming_that_collides_is_an_error() {
    let collision = two().renamed([("a", "c"), ("b", "c")]).err();
    assert!(matches!(collision, Some(ToolsetError::Collision { name }) if name == "c"));
    let twice = two().renamed([("a", "c"), ("a", "d")]).err();
    assert!(matches!(twice, Some(ToolsetError::RenamedTwice { tool }) if tool == "a"));
    for (old, expected) in [
        ("a", "two tools would be called `b`; give one of them another name"),
        ("z", "there is no tool `z` to rename, there is `a`, `b`"),
    ] {
        let renamed = two().renamed([(old, "b")]).unwrap();
        let error = renamed.tools(&Scope::default()).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn filtered_tools_are_not_listed_and_not_run() {
    let filtered = two().filtered(|name| name == "a");
    assert_eq!(names(&filtered).await, ["a"]);
    assert_eq!(ask(&filtered, "b").await, "not_found");
    assert!(!filtered.is_available("b"));
}

#[tokio::test]
async fn a_prepare_function_may_remove_and_may_not_add_or_rename_tools() {
    let fewer = two().prepared(|_, mut tools| {
        tools.truncate(1);
        tools
    });
    assert_eq!(names(&fewer).await, ["a"]);
    let renaming = |_: &Scope, tools: Vec<ToolEntry>| {
        tools.into_iter().map(|tool| tool.published_as("other")).collect()
    };
    let doubling = |_: &Scope, tools: Vec<ToolEntry>| [tools.clone(), tools].concat();
    let renamed = two().prepared(renaming).tools(&Scope::default()).await.unwrap_err();
    assert!(
        renamed.to_string().starts_with("the function of the prepared toolset listed `other`"),
        "{renamed}"
    );
    assert!(two().prepared(doubling).tools(&Scope::default()).await.is_err());
}

/// R10: only the listed entry is marked, and the wrapped toolset is not changed.
#[tokio::test]
async fn r10_a_tool_wrapped_twice_requires_one_approval() {
    let words = Approval { prompt: Some("Sure?".into()), ..Approval::default() };
    let once = two().requiring_approval(words.clone(), |name| name == "a");
    let twice = once.requiring_approval(Approval::default(), |_| true);
    let tools = twice.tools(&Scope::default()).await.unwrap();
    assert_eq!(tools[0].approval(), Some(&words), "the first words stay");
    assert_eq!(tools[1].approval(), Some(&Approval::default()));
    let inner = two().tools(&Scope::default()).await.unwrap();
    assert!(inner.iter().all(|tool| tool.approval().is_none()));
}

/// A scope with the label `side`.
fn side(name: &str) -> Scope {
    let labels = [("side".to_owned(), name.to_owned())].into();
    Scope { run_id: Some(name.to_owned()), labels, ..Scope::default() }
}

/// Two members have a tool of the same name, each in other scopes.
#[tokio::test]
async fn a_shared_combination_routes_each_call_by_the_listing_of_its_scope() {
    let of = |name: &'static str| {
        move |scope: &Scope, tools| {
            if scope.labels == side(name).labels { tools } else { Vec::new() }
        }
    };
    let both = Combined::new()
        .with("left", tool("a", |n| n + 1).prepared(of("left")))
        .with("right", tool("a", |n| n * 10).with_availability(|| false).prepared(of("right")));
    let call = |name: &str| {
        let parent_call_id = Some("parent".to_owned());
        ToolCall::new("a", payload(4)).with_scope(Scope { parent_call_id, ..side(name) })
    };
    for name in ["left", "right"] {
        both.tools(&side(name)).await.unwrap();
    }
    assert_eq!(brief(&both.call(&call("left")).await), r#"{"n":5}"#);
    assert_eq!(brief(&both.call(&call("right")).await), r#"{"n":40}"#);
    assert!(both.is_available("a"), "on the left");
    for number in 0..100 {
        both.tools(&side(&number.to_string())).await.unwrap();
    }
    assert_eq!(brief(&both.call(&call("left")).await), r#"{"n":5}"#);
    assert_eq!(brief(&both.call(&call("neither")).await), "not_found");
}

/// The tools of the wrapped toolset are not known without a listing.
#[tokio::test]
async fn a_call_by_an_alias_before_the_first_listing_is_one_of_the_tool() {
    let free = || {
        let spec = spec("free").with_aliases(&["old"]);
        FunctionTool::new(spec, async |args: N| args).prepared(|_, tools| tools)
    };
    let guarded = free().requiring_approval(Approval::default(), |name| name == "free");
    assert_eq!(ask(&guarded, "old").await, "denied");
    assert_eq!(ask(&free().filtered(|name| name != "free"), "old").await, "not_found");
    assert_eq!(ask(&free().filtered(|name| name == "free"), "old").await, r#"{"n":4}"#);
}

/// The approval depends on the scope.
#[tokio::test]
async fn a_prepared_tool_that_requires_an_approval_does_not_run_without_one() {
    let prepared = two().prepared(|scope, tools| {
        if *scope != side("strict") {
            return tools;
        }
        tools.into_iter().map(|tool| tool.requiring_approval(Approval::default())).collect()
    });
    let call = |name: &str| ToolCall::new("a", payload(4)).with_scope(side(name));
    assert_eq!(brief(&prepared.call(&call("strict")).await), "denied");
    prepared.tools(&side("free")).await.unwrap();
    assert_eq!(brief(&prepared.call(&call("strict")).await), "denied");
    assert_eq!(brief(&prepared.call(&call("free")).await), r#"{"n":5}"#);
}

/// Lists another tool in each scope, whose alias is `old`; without a turn, another one each time.
#[derive(Default)]
struct Changing {
    listed: Mutex<Vec<Weak<ToolSpec>>>,
    description: &'static str,
}

impl Changing {
    /// Returns how many of the listed specs are kept.
    fn kept(&self) -> usize {
        let listed = self.listed.lock().unwrap();
        listed.iter().filter(|spec| spec.upgrade().is_some()).count()
    }
}

impl Toolset for Changing {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        let number = self.listed.lock().unwrap().len();
        let name = scope.turn_id.clone().unwrap_or_else(|| format!("tool_{number}"));
        let spec = ToolSpec::new(name).with_description(self.description);
        let spec = Arc::new(spec.with_aliases(&["old"]));
        self.listed.lock().unwrap().push(Arc::downgrade(&spec));
        Box::pin(ready(Ok(vec![ToolEntry::new(spec)])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(ready(ToolResult::new(call, Ok(call.args().clone()))))
    }
}

fn of_turn(turn: &str) -> Scope {
    Scope { turn_id: Some(turn.to_owned()), ..Scope::default() }
}

#[tokio::test]
async fn an_alias_means_the_tool_that_was_listed_in_the_scope_of_the_call() {
    let filtered = Changing::default().filtered(|name| name == "kept");
    let guarded = Changing::default().requiring_approval(Approval::default(), |name| name == "b");
    let call = |turn| ToolCall::new("old", payload(4)).with_scope(of_turn(turn));
    for turn in ["kept", "other", "b"] {
        filtered.tools(&of_turn(turn)).await.unwrap();
        guarded.tools(&of_turn(turn)).await.unwrap();
    }
    assert_eq!(brief(&filtered.call(&call("kept")).await), r#"{"n":4}"#);
    assert_eq!(brief(&filtered.call(&call("other")).await), "not_found");
    assert_eq!(brief(&guarded.call(&call("kept")).await), r#"{"n":4}"#);
    assert_eq!(brief(&guarded.call(&call("b")).await), "denied");
}

#[tokio::test]
async fn tools_that_are_no_longer_listed_are_not_kept() {
    let changing = Arc::new(Changing::default());
    let shared = Arc::clone(&changing);
    let wrapped = shared.filtered(|_| true).requiring_approval(Approval::default(), |_| true);
    for _ in 0..100 {
        wrapped.tools(&Scope::default()).await.unwrap();
    }
    assert_eq!(changing.kept(), 1);
}

#[tokio::test]
async fn listings_of_other_runs_are_kept_up_to_64_mib() {
    let description = String::leak("x".repeat(3 << 20));
    let changing = Arc::new(Changing { description, ..Changing::default() });
    let filtered = Arc::clone(&changing).filtered(|_| true);
    for turn in 0..30 {
        filtered.tools(&of_turn(&turn.to_string())).await.unwrap();
    }
    assert_eq!(changing.kept(), 21);
}
