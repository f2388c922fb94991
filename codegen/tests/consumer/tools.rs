//! Tests tools, and code that uses a service, as users do: without a runtime or a model, and with JSON only for wrong calls.

use std::collections::HashSet;
use std::sync::Arc;

use issues_tools::specs::GetIssue;
use statistics_tools::specs::CountIssues;
use toolwright::testing::{self, Tools};
use toolwright::{DeclaredError, MethodError, Recovery};
use tracker_service::errors::GetIssueError;
use tracker_service::service::{FakeTrackerService, TrackerService};
use tracker_service::types::{
    CountIssuesResult, GetIssuePayload, Issue, IssueId, NoIssue, Page, Priority, Title,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// Knows one issue.
struct Tracker;

impl TrackerService for Tracker {
    async fn get_issue(
        &self,
        GetIssuePayload { id }: GetIssuePayload,
    ) -> Result<Issue, MethodError<GetIssueError>> {
        match *id {
            1 => Ok(Issue::new("Milk".parse()?, id, Priority::default())),
            2 => Err(GetIssueError::Busy)?,
            _ => Err(GetIssueError::NotFound(NoIssue { id }))?,
        }
    }

    async fn count_issues(&self, page: Page) -> Result<CountIssuesResult, MethodError> {
        Ok(CountIssuesResult { count: page.number })
    }
}

/// The tools of both toolsets, on one service.
fn tools(tracker: impl TrackerService + 'static) -> Tools {
    let tracker = Arc::new(tracker);
    testing::tools(|registrar| {
        issues_tools::register(registrar, Arc::clone(&tracker))?;
        statistics_tools::register(registrar, tracker)
    })
}

fn issue(id: u64) -> GetIssuePayload {
    GetIssuePayload { id: IssueId(id) }
}

#[tokio::test]
async fn toolsets_share_a_service_and_fail_with_declared_errors() -> Tested {
    let tools = tools(Tracker);
    let counted = tools.run(CountIssues, &Page::default()).await?;
    assert_eq!(counted.count, Page::DEFAULT_NUMBER);
    assert_eq!(tools.run(GetIssue, &issue(1)).await?.priority, Priority::Medium);

    let failure = tools.run(GetIssue, &issue(9)).await.unwrap_err();
    assert_eq!(failure.message, "there is no issue 9");
    assert_eq!(failure.recovery, Recovery::Replan);
    let error = GetIssueError::from_failure(failure)?;
    assert_eq!(error, GetIssueError::NotFound(NoIssue { id: IssueId(9) }));
    assert!(HashSet::from([error, GetIssueError::Busy]).contains(&GetIssueError::Busy));
    let busy = tools.run(GetIssue, &issue(2)).await.unwrap_err();
    assert_eq!((busy.code.as_deref(), busy.recovery), (Some("busy"), Recovery::Retry));
    Ok(())
}

#[tokio::test]
async fn a_wrong_call_fails_in_the_words_that_a_model_reads() {
    let tools = tools(Tracker);
    let failure = tools.run(GetIssue, &issue(0)).await.unwrap_err();
    let words = "the arguments of `get_issue` are not valid: `/id`: found 0, expected at least 1";
    assert_eq!(failure.message, words);
    let failure = tools.call("get_issue", r#"{"id": 0}"#).await.unwrap_err();
    assert_eq!(failure.message, words);
    let failure = tools.call("getissue", "{}").await.unwrap_err();
    assert_eq!(failure.message, "there is no tool `getissue`, did you mean `get_issue`?");
}

#[tokio::test]
async fn a_fake_stands_behind_tools_and_records_what_they_ask() -> Tested {
    let tracker = Arc::new(FakeTrackerService::default());
    let milk = Issue::new(Title::try_from("Milk")?, IssueId(1), Priority::High);
    tracker.get_issue.returning(Ok(milk.clone()));
    let tools = tools(Arc::clone(&tracker));
    assert_eq!(tools.run(GetIssue, &issue(1)).await?, milk);
    assert_eq!(tools.run(GetIssue, &issue(4)).await?, milk);
    assert_eq!(tracker.get_issue.calls(), [issue(1), issue(4)]);
    assert_eq!(tracker.count_issues.calls(), []);

    let failure = tools.run(CountIssues, &Page::default()).await.unwrap_err();
    assert_eq!(
        failure.message,
        "the fake has no answer for `count_issues`; give it one with `count_issues.returning(…)`"
    );
    Ok(())
}

/// Code of a user, which works with any provider of the service.
async fn find(tracker: &impl TrackerService, id: u64) -> String {
    for _ in 0..3 {
        match tracker.get_issue(issue(id)).await {
            Ok(issue) => return issue.title.to_string(),
            Err(MethodError::Declared(GetIssueError::Busy)) => {}
            Err(error) => return error.to_string(),
        }
    }
    "busy".to_owned()
}

#[tokio::test]
async fn a_fake_gives_answers_once_in_their_order_and_then_the_last() -> Tested {
    let tracker = FakeTrackerService::default();
    tracker.get_issue.return_next(Err(GetIssueError::Busy));
    tracker.get_issue.return_next(Ok(Issue::new("Milk".parse()?, IssueId(1), Priority::Low)));
    tracker.get_issue.returning(Err(GetIssueError::NotFound(NoIssue { id: IssueId(1) })));
    assert_eq!(find(&tracker, 1).await, "Milk");
    assert_eq!(find(&tracker, 1).await, "there is no issue 1");
    tracker.get_issue.returning(Err(GetIssueError::Busy));
    assert_eq!(find(&tracker, 1).await, "busy");
    assert_eq!(tracker.get_issue.calls().len(), 6);

    tracker.get_issue.answering(|GetIssuePayload { id }| {
        Err(MethodError::internal(format!("the disk of issue {id} is full")))
    });
    assert_eq!(find(&tracker, 5).await, "internal: the disk of issue 5 is full");
    Ok(())
}
