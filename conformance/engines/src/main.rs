//! `cargo xtask engines [--install]`: installs the servers, and runs both until it is interrupted.

use std::process::ExitCode;

use tokio::signal::ctrl_c;

use toolwright_engines::{install, nats, restate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if let Err(error) = install() {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    if std::env::args().any(|argument| argument == "--install") {
        return ExitCode::SUCCESS;
    }
    let (Some(nats), Some(restate)) = (nats(), restate()) else { return ExitCode::FAILURE };
    println!("NATS             {}", nats.url());
    println!("Restate ingress  {}", restate.ingress());
    println!("Restate admin    {}", restate.admin());
    match ctrl_c().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot wait for an interrupt: {error}");
            ExitCode::FAILURE
        }
    }
}
