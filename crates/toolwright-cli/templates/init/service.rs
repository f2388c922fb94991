//! Implements the service. The tools call its methods.
{% if parts.build_rs %}
// The generated code: one module for each crate, such as `issues_service`.
include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
{% endif %}
use issues_service::errors::CloseIssueError;
use issues_service::service::IssuesService;
use issues_service::types::{
    CloseIssue, CloseIssueNotFound, CreateIssue, FindIssues, Issue, Issues, Status,
};
use tokio::sync::Mutex;
use toolwright::MethodError;

/// Keeps issues in memory, ordered by id. The first id is 1.
#[derive(Debug, Default)]
pub struct Tracker {
    issues: Mutex<Vec<Issue>>,
}

impl Tracker {
    /// Creates a tracker with an open issue for each title.
    pub fn with_issues(titles: &[&str]) -> Self {
        let issue = |(id, title): (_, &&str)| Issue::new(id, *title, Status::Open);
        let issues = Mutex::new((1..).zip(titles).map(issue).collect());
        Self { issues }
    }
}

impl IssuesService for Tracker {
    async fn create_issue(&self, call: CreateIssue) -> Result<Issue, MethodError> {
        let mut issues = self.issues.lock().await;
        let mut issue = Issue::new(i64::try_from(issues.len())? + 1, call.title, Status::Open);
        issue.due = call.due;
        issues.push(issue.clone());
        Ok(issue)
    }

    async fn find_issues(&self, call: FindIssues) -> Result<Issues, MethodError> {
        let mut issues = self.issues.lock().await.clone();
        issues.retain(|issue| issue.status == call.status);
        Ok(Issues { issues })
    }

    async fn close_issue(&self, call: CloseIssue) -> Result<Issue, MethodError<CloseIssueError>> {
        let mut issues = self.issues.lock().await;
        let issue = issues.iter_mut().find(|issue| issue.id == call.id);
        let unknown = CloseIssueNotFound { id: call.id };
        let issue = issue.ok_or(CloseIssueError::NotFound(unknown))?;
        issue.status = Status::Closed;
        Ok(issue.clone())
    }
}
