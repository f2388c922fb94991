//! Serves a calculator on stdio until the client disconnects, or over HTTP until SIGTERM. On SIGTERM, running calls may
//! finish.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolwright::RegistrationError;
use toolwright_mcp::{HttpOptions, McpServer};

/// The number of threads that run tools, also on a machine with one processor: a tool that blocks must not stop the others.
const WORKERS: usize = 4;

/// Runs the server that the arguments select. Returns the exit code.
pub(crate) fn run(server: Result<McpServer, RegistrationError>) -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let address = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--http", address] => Some(address),
        _ => {
            eprintln!("error: unknown arguments; expected `--http ADDRESS`, or none for stdio");
            return ExitCode::from(2);
        }
    };
    let ended = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|tokio| {
            let ended = tokio.block_on(serve(server?, address));
            // A tool that still blocks its thread does not keep the process alive.
            tokio.shutdown_background();
            ended
        });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error),
    }
}

/// Serves on stdio or HTTP. Messages go to standard error, as standard output is for the protocol.
async fn serve(server: McpServer, address: Option<&str>) -> Result<(), Box<dyn Error>> {
    let Some(address) = address else { return Ok(server.serve_stdio().await?) };
    let listener = TcpListener::bind(address).await?;
    eprintln!("serving calc at http://{}/mcp", listener.local_addr()?);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let mut terminated = terminated()?;
    tokio::spawn(async move {
        terminated.recv().await;
        stopping.cancel();
    });
    Ok(server.serve_listener(listener, HttpOptions::new().with_shutdown(stop)).await?)
}

/// The signal that ends the process.
#[cfg(unix)]
fn terminated() -> io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
}

/// The signal that ends the process.
#[cfg(windows)]
fn terminated() -> io::Result<tokio::signal::windows::CtrlShutdown> {
    tokio::signal::windows::ctrl_shutdown()
}

fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    if let Some(cause) = error.source() {
        eprintln!("cause: {cause}");
    }
    ExitCode::FAILURE
}
