//! Calls the tool as a model would: `convert '{"length": 26.2, "from": "mile", "to": "meter"}'`.

use std::process::ExitCode;

use toolwright::{BoxError, Payload, ToolCall};
use toolwright_build_script_example::{Converter, units_tools};
use toolwright_runtime::{Registry, Runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = std::env::args().nth(1).unwrap_or_default();
    match convert(args).await {
        Ok(converted) => {
            println!("{converted}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn convert(args: String) -> Result<Payload, BoxError> {
    let mut registry = Registry::new();
    units_tools::register(&mut registry, Converter)?;
    let call = ToolCall::new("convert", Payload::new(args));
    Ok(Runtime::new(registry).call(call).await.outcome?)
}
