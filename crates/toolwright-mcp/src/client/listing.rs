//! Requests the whole tool list of a server, exactly as the server writes it.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolwright::untrusted::{MAX_TOOLS, line};

use super::connection::{Connection, ServerInfo};
use super::error::{ClientError, MAX_SERVER_TEXT};

/// The maximum number of pages of a list, because a server could send pages forever.
const MAX_PAGES: usize = 1_000;

/// The maximum number of bytes of a list.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// The tool list of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listing {
    /// The server's description of itself.
    pub server: ServerInfo,
    /// All pages as one `tools/list` result, `{"tools":[…]}`, with each tool as the server wrote it.
    pub json: String,
}

/// A page of the list.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
}

/// Requests all pages.
pub(super) async fn list(connection: &Connection) -> Result<Listing, ClientError> {
    let mut json = String::from(r#"{"tools":["#);
    let mut cursor: Option<String> = None;
    let mut tools = 0;
    for _ in 0..MAX_PAGES {
        let text = connection.tools_page(cursor.clone()).await?;
        let page: Page<'_> = serde_json::from_str(text.get()).map_err(|error| {
            let reason = line(&error.to_string(), MAX_SERVER_TEXT);
            ClientError::InvalidResponse(format!("not a list of tools: {reason}"))
        })?;
        tools += page.tools.len();
        if tools > MAX_TOOLS {
            return Err(invalid_list(&format!("more than {MAX_TOOLS} tools")));
        }
        for tool in page.tools {
            if !json.ends_with('[') {
                json.push(',');
            }
            json.push_str(tool.get());
        }
        if json.len() > MAX_BYTES {
            return Err(invalid_list(&format!("more than {MAX_BYTES} bytes")));
        }
        if page.next.is_none() {
            json.push_str("]}");
            return Ok(Listing { server: connection.server(), json });
        }
        if page.next == cursor {
            return Err(invalid_list("the same page twice"));
        }
        cursor = page.next;
    }
    Err(invalid_list(&format!("more than {MAX_PAGES} pages")))
}

fn invalid_list(found: &str) -> ClientError {
    ClientError::InvalidResponse(format!("the list of tools has {found}"))
}
