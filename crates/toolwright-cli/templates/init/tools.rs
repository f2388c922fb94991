//! Tests the tools as a model calls them: by name, with JSON arguments. With their types, a test needs no JSON.

use issues_tools::specs;
use issues_tools::types::{CloseIssue, CreateIssue, FindIssues, Status};
use toolwright::ToolFailure;
use toolwright::testing::{self, Tools};

use {{ package }}::{% if parts.build_rs %}{Tracker, issues_tools}{% else %}Tracker{% endif %};

fn tools(tracker: Tracker) -> Tools {
    testing::tools(|registrar| issues_tools::register(registrar, tracker))
}

#[tokio::test]
async fn a_closed_issue_is_no_longer_open() -> Result<(), ToolFailure> {
    let tools = tools(Tracker::default()).approving();
    let issue = CreateIssue::new("Oil the door");
    let issue = tools.run(specs::CreateIssue, &issue).await?;
    let done = CloseIssue { id: issue.id };
    let closed = tools.run(specs::CloseIssue, &done).await?;
    assert_eq!(closed.status, Status::Closed);
    let open = tools.run(specs::FindIssues, &FindIssues::default()).await?;
    assert_eq!(open.issues, []);
    Ok(())
}

#[tokio::test]
async fn closing_an_unknown_issue_returns_its_id() {
    let tools = tools(Tracker::default()).approving();
    let failure = tools.call("close_issue", r#"{"id": 7}"#).await.unwrap_err();
    assert_eq!(failure.message, "there is no issue 7");
}

#[tokio::test]
async fn an_invalid_call_names_the_mistake() {
    let tools = tools(Tracker::default());
    let failure = tools.call("create_issue", "{}").await.unwrap_err();
    assert!(failure.message.contains("`/title`"));
}

#[tokio::test]
async fn an_issue_stays_open_without_an_approval() -> Result<(), ToolFailure> {
    let tools = tools(Tracker::with_issues(&["Oil the door"])).denying();
    assert!(tools.call("close_issue", r#"{"id": 1}"#).await.is_err());
    let open = tools.run(specs::FindIssues, &FindIssues::default()).await?;
    assert_eq!(open.issues[0].title, "Oil the door");
    Ok(())
}
