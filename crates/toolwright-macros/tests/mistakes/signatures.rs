//! Functions that cannot be tools.

use toolwright_runtime::tools::Parameters;
use toolwright_runtime::toolwright::{ToolCall, Value};
use toolwright_runtime::tool;

/// Is generic.
#[tool]
fn generic<T>(value: T) {}

/// Takes anything.
#[tool]
fn anything(value: impl Into<String>) {}

/// Returns anything.
#[tool]
fn returns_anything() -> impl Future<Output = ()> {
    async {}
}

/// Borrows.
#[tool]
fn borrows(value: &str) {}

/// Takes a property without a name.
#[tool]
fn pattern((a, b): (i64, i64)) {}

/// Takes all arguments and another one.
#[tool]
fn all_and_one(Parameters(all): Parameters<Value>, more: String) {}

/// Has two properties of one name.
#[tool]
fn same_names(#[serde(rename = "a")] one: i64, #[serde(alias = "b", rename(deserialize = "a"))] two: i64) {}

/// Has another name in the schema alone, behind a rule.
#[tool]
fn renamed_in_the_schema(a: i64, #[schemars(range(min = 1), title = concat!("A"), rename = "b")] two: i64) {}

/// Has a property on one system.
#[tool]
fn conditional(#[cfg(unix)] one: i64) {}

/// Takes two calls.
#[tool]
fn two_calls(one: ToolCall, two: &ToolCall) {}

/// Describes the call.
#[tool]
fn described_call(
    /// The call.
    call: ToolCall,
) {
}

/// Is unsafe.
#[tool]
unsafe fn is_unsafe() {}

/// Is blocking and async.
#[tool(blocking)]
async fn blocks_and_waits() {}

/// Is not a function.
#[tool]
struct NoFunction;

struct Service;

impl Service {
    /// Is a method of a block without `#[toolset]`.
    #[tool]
    fn method(&self) {}
}

/// Is a block.
#[tool]
impl Service {}

fn main() {}
