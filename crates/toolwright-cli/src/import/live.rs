//! Asks a running MCP server, or one that it starts, for its tools. Never prints, and keeps nothing running.

use std::collections::VecDeque;
use std::env;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolwright::http::RedactedUrl;
use toolwright_import::Provenance;
use toolwright_mcp::client::{
    Client, ClientError, ClientOptions, Listing, ServerAddress, ServerCommand, ServerUrl, Stderr,
};

use super::flags::{Asking, List};
use super::{Failure, Listed};
use crate::end::End;

/// How many lines of a server's standard error are shown when it fails.
const LAST_LINES: usize = 10;

/// What a server said on its standard error last.
#[derive(Clone, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

/// How long a server may think about the newer protocol.
const PROBE: Duration = Duration::from_secs(5);

/// Asks for every page of the list.
pub(super) fn ask(list: &List, asking: &Asking) -> Result<Listed, Failure> {
    let words = LastWords::default();
    let (address, source) = address(list, asking, &words)?;
    let options = ClientOptions::default()
        .with_connect_timeout(asking.timeout)
        .with_call_timeout(asking.timeout)
        .with_probe_timeout(PROBE.min(asking.timeout / 2));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| (End::Io, format!("cannot start: {error}")))?;
    let listing = runtime.block_on(listing(&Client::with_options(address, options)));
    match listing {
        Ok(listing) => Ok(listed(listing, source)),
        Err(error) => Err((End::Io, format!("{}{}", cut(&error.to_string()), words.shown()))),
    }
}

async fn listing(client: &Client) -> Result<Listing, ClientError> {
    let listing = client.list_tools_raw().await;
    client.close().await;
    listing
}

fn listed(listing: Listing, source: String) -> Listed {
    let from = Provenance {
        name: listing.server.name,
        version: listing.server.version,
        protocol: listing.server.protocol,
        date: None,
    };
    Listed { json: listing.json, from, source }
}

fn address(
    list: &List,
    asking: &Asking,
    words: &LastWords,
) -> Result<(ServerAddress, String), Failure> {
    if let Some(url) = &list.url {
        return Ok((self::url(url, asking)?.into(), RedactedUrl::new(url).to_string()));
    }
    let Some((program, arguments)) = list.command.split_first() else {
        return Err((End::Rejected, "no command was given".to_owned()));
    };
    let command = ServerCommand::new(program).args(arguments).stderr(words.sink());
    Ok((command.into(), program.display().to_string()))
}

fn url(url: &str, asking: &Asking) -> Result<ServerUrl, Failure> {
    if url.starts_with("https:") && !cfg!(feature = "tls") {
        let message = "this program was built without TLS, whose build needs a C compiler, so it cannot reach an \
                       https address; install it with `cargo install toolwright-cli --features tls`";
        return Err((End::Io, message.to_owned()));
    }
    let mut server = ServerUrl::new(url);
    for (name, value) in &asking.header {
        server = server.with_header(name, value);
    }
    let Some(variable) = &asking.bearer_env else { return Ok(server) };
    match env::var(variable) {
        Ok(token) if !token.is_empty() => Ok(server.with_bearer(token)),
        _ => Err((
            End::Rejected,
            format!(
                "the environment variable `{variable}` holds no token, though --bearer-env names it"
            ),
        )),
    }
}

/// A server's words in an error can be of any length.
fn cut(message: &str) -> String {
    const LONGEST: usize = 2000;
    let shown: String = message.chars().take(LONGEST).collect();
    if shown.len() < message.len() { shown + "…" } else { shown }
}

impl LastWords {
    fn sink(&self) -> Stderr {
        let words = self.clone();
        Stderr::Sink(Arc::new(move |line| {
            let mut lines = words.0.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push_back(line.chars().take(500).collect());
            if lines.len() > LAST_LINES {
                lines.pop_front();
            }
        }))
    }

    fn shown(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("  {line}")).collect();
        format!("\nits last words on standard error:\n{}", lines.join("\n"))
    }
}
