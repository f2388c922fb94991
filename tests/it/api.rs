//! Tests rules for the public types of all crates: errors are boxable, and the types that hosts keep are `Send` and `Sync`.

use std::error::Error;

use toolwright_runtime as runtime;

fn crosses_threads<T: Send + Sync + 'static>() {}

fn is_an_error<T: Error + Send + Sync + 'static>() {}

#[test]
fn errors_can_be_sent_and_shared_and_boxed() {
    is_an_error::<toolwright::InvalidPayload>();
    is_an_error::<toolwright::RegistrationError>();
    is_an_error::<toolwright::ToolFailure>();
    is_an_error::<toolwright::format::FormatError>();
    is_an_error::<toolwright::pattern::PatternError>();
    is_an_error::<toolwright::schema::SchemaError>();
    is_an_error::<runtime::RunError>();
    is_an_error::<runtime::ResumeError>();
    is_an_error::<runtime::ToolsetError>();
    is_an_error::<toolwright_http::BuildError>();
    is_an_error::<toolwright_mcp::client::ClientError>();
    is_an_error::<toolwright_mcp::ServeError>();
}

#[test]
fn types_that_a_host_keeps_cross_threads() {
    crosses_threads::<toolwright::ToolCall>();
    crosses_threads::<toolwright::ToolResult>();
    crosses_threads::<toolwright::ToolSpec>();
    crosses_threads::<runtime::Registry>();
    crosses_threads::<runtime::Runtime>();
    crosses_threads::<runtime::Session>();
    crosses_threads::<runtime::RunRequest>();
    crosses_threads::<runtime::ResumeRequest>();
    crosses_threads::<runtime::RunOutcome>();
    crosses_threads::<runtime::SuspendedRun>();
    crosses_threads::<runtime::Event>();
    crosses_threads::<toolwright_http::Client>();
    crosses_threads::<toolwright_mcp::client::Client>();
    crosses_threads::<toolwright_mcp::McpServer>();
}
