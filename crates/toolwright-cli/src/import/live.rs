//! Requests the tool list of a running MCP server, or of a server that is started for it.

use std::collections::VecDeque;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolwright::http::RedactedUrl;
use toolwright_import::Provenance;
use toolwright_mcp::client::{
    Client, ClientError, ClientOptions, Listing, ServerAddress, ServerCommand, ServerUrl, Stderr,
};

use super::flags::{ConnectionArgs, ListArgs};
use super::{Failure, ToolList};
use crate::exit::Exit;

/// The number of last lines of a server's standard error that are shown when it fails.
const MAX_LINES: usize = 10;

/// The last lines of a server's standard error.
#[derive(Clone, Default)]
struct StderrTail(Arc<Mutex<VecDeque<String>>>);

/// The timeout of the probe for the newer era of the protocol.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests all pages of the list.
pub(super) fn request(list: &ListArgs, connection: &ConnectionArgs) -> Result<ToolList, Failure> {
    let stderr = StderrTail::default();
    let (address, source) = address(list, connection, &stderr)?;
    let options = ClientOptions::default()
        .with_connect_timeout(connection.timeout)
        .with_call_timeout(connection.timeout)
        .with_probe_timeout(PROBE_TIMEOUT.min(connection.timeout / 2));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| (Exit::Io, format!("cannot start the async runtime: {error}")))?;
    let listing = runtime.block_on(list_tools(&Client::with_options(address, options)));
    match listing {
        Ok(listing) => Ok(tool_list(listing, source)),
        Err(error) => {
            Err((Exit::Io, format!("{}{}", shortened(&error.to_string()), stderr.note())))
        }
    }
}

async fn list_tools(client: &Client) -> Result<Listing, ClientError> {
    let listing = client.list_tools_raw().await;
    client.close().await;
    listing
}

fn tool_list(listing: Listing, source: String) -> ToolList {
    let from = Provenance {
        name: listing.server.name,
        version: listing.server.version,
        protocol: listing.server.protocol,
        date: None,
    };
    ToolList { json: listing.json, from, source }
}

fn address(
    list: &ListArgs,
    connection: &ConnectionArgs,
    stderr: &StderrTail,
) -> Result<(ServerAddress, String), Failure> {
    if let Some(url) = &list.url {
        return Ok((server_url(url, connection)?.into(), RedactedUrl::new(url).to_string()));
    }
    let Some((program, arguments)) = list.command.split_first() else {
        return Err((Exit::Rejected, "no command was given".to_owned()));
    };
    let mut command = ServerCommand::new(program).args(arguments).stderr(stderr.sink());
    for (index, variable) in connection.env.iter().enumerate() {
        let value = env::var(variable).map_err(|_| {
            // Somebody may have given the value, too.
            let message = format!(
                "no environment variable has the name of --env number {}; set it, and give its name without a value",
                index + 1
            );
            (Exit::Rejected, message)
        })?;
        command = command.secret_env(variable, value);
    }
    Ok((command.into(), program.display().to_string()))
}

fn server_url(url: &str, connection: &ConnectionArgs) -> Result<ServerUrl, Failure> {
    if url.starts_with("https:") && !cfg!(feature = "tls") {
        let message = "this program was built without TLS, whose build needs a C compiler, so it cannot connect to an \
                       https URL; install it with `cargo install toolwright-cli --features tls`";
        return Err((Exit::Io, message.to_owned()));
    }
    let mut server = ServerUrl::new(url);
    for (name, value) in &connection.header {
        server = server.with_header(name, value);
    }
    let Some(variable) = &connection.bearer_env else { return Ok(server) };
    match env::var(variable) {
        Ok(token) if !token.is_empty() => Ok(server.with_bearer(token)),
        // Somebody may have given the token itself.
        _ => Err((
            Exit::Rejected,
            "the environment variable of --bearer-env is empty or not set; set it to the token, and give its name"
                .to_owned(),
        )),
    }
}

/// Shortens a message, because the text of a server in it can have any length.
fn shortened(message: &str) -> String {
    const MAX_CHARS: usize = 2000;
    let shown: String = message.chars().take(MAX_CHARS).collect();
    if shown.len() < message.len() { shown + "…" } else { shown }
}

impl StderrTail {
    fn sink(&self) -> Stderr {
        let tail = self.clone();
        Stderr::Sink(Arc::new(move |line| {
            let mut lines = tail.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push_back(line.chars().take(500).collect());
            if lines.len() > MAX_LINES {
                lines.pop_front();
            }
        }))
    }

    /// Returns a note with the lines for an error message, or an empty text if there are none.
    fn note(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
        format!("\nlast lines of its standard error:\n{}", lines.join("\n"))
    }
}
