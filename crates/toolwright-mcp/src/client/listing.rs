//! The tools of a server as it lists them, to the letter. Never decides what to make of them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::connection::{Connection, ServerInfo};
use super::error::ClientError;

/// How many pages a list may have, and how many bytes in all: a server must not list forever.
const MOST_PAGES: usize = 1_000;
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// The tools of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listing {
    /// What the server says of itself.
    pub server: ServerInfo,
    /// The whole list as one `tools/list` result, `{"tools":[…]}`: every page, each tool as the server wrote it.
    pub json: String,
}

/// A page.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
}

/// Asks for every page.
pub(super) async fn list(connection: &Connection) -> Result<Listing, ClientError> {
    let mut json = String::from(r#"{"tools":["#);
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let text = connection.tools_page(cursor.clone()).await?;
        let page: Page<'_> = serde_json::from_str(text.get())
            .map_err(|error| ClientError::Unusable(format!("no list of tools: {error}")))?;
        for tool in page.tools {
            if !json.ends_with('[') {
                json.push(',');
            }
            json.push_str(tool.get());
        }
        if json.len() > MOST_BYTES {
            return Err(endless(&format!("more than {MOST_BYTES} bytes")));
        }
        if page.next.is_none() {
            json.push_str("]}");
            return Ok(Listing { server: connection.server(), json });
        }
        if page.next == cursor {
            return Err(endless("the same page twice"));
        }
        cursor = page.next;
    }
    Err(endless(&format!("more than {MOST_PAGES} pages")))
}

fn endless(what: &str) -> ClientError {
    ClientError::Unusable(format!("the list of tools has {what}"))
}
