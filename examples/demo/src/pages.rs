//! A hand-written toolset: pages that an agent opens and writes on. Each page is a handle, and the pages that are still open are
//! closed when the run ends. They are saved with a run that waits.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{
    BoxError, BoxFuture, Payload, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec, described,
};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{FunctionTool, Handles, ToolEntry, Toolset};

described! {
    struct Nothing {}

    /// An open page.
    pub(crate) struct Opened {
        /// The handle of the page.
        pub(crate) page: String,
    }

    /// A line for a page.
    pub(crate) struct Line {
        /// The handle of the page.
        pub(crate) page: String,
        /// The text to write.
        pub(crate) line: String,
    }

    struct Written {
        /// The number of lines on the page.
        lines: i64,
    }
}

type Page = Mutex<Vec<String>>;

/// The pages of one run.
pub(crate) struct Pages {
    open: Arc<Handles<Page>>,
    tools: Combined,
}

impl Default for Pages {
    fn default() -> Self {
        let open = Arc::new(Handles::new("page", "page"));
        let tools =
            Combined::new().with("pages", open_page(&open)).with("pages", write_page(&open));
        Self { open, tools }
    }
}

fn spec(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec::new(name).with_description(description).with_toolset("pages").with_service("demo")
}

fn open_page(pages: &Arc<Handles<Page>>) -> FunctionTool {
    let pages = Arc::clone(pages);
    let spec = spec("open_page", "Open a page to write on.");
    FunctionTool::new(spec, move |_: Nothing| {
        let page = pages.open(Page::default());
        async move { Ok::<_, ToolFailure>(Opened { page }) }
    })
}

fn write_page(pages: &Arc<Handles<Page>>) -> FunctionTool {
    let pages = Arc::clone(pages);
    let spec = spec("write_page", "Write a line on a page.");
    FunctionTool::new(spec, move |line: Line| {
        let written = write(&pages, line);
        async move { written }
    })
}

fn write(pages: &Handles<Page>, Line { page, line }: Line) -> Result<Written, ToolFailure> {
    let page = pages.get(&page)?;
    let mut lines = page.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push(line);
    Ok(Written { lines: i64::try_from(lines.len()).unwrap_or(i64::MAX) })
}

impl Toolset for Pages {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.tools.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.tools.call(call)
    }

    /// The lines of each page by its handle.
    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        let lines = |handle: String| {
            let page = self.open.get(&handle).ok()?;
            let lines = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Some((handle, lines))
        };
        let pages: BTreeMap<_, _> = self.open.names().into_iter().filter_map(lines).collect();
        let saved = serde_json::to_string(&pages).map(|json| Some(Payload::new(json)));
        Box::pin(ready(saved.map_err(Into::into)))
    }

    fn restore<'a>(
        &'a self,
        _: &'a Scope,
        saved: &'a Payload,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let pages = serde_json::from_str::<BTreeMap<String, Vec<String>>>(saved.as_str());
        let restored = pages.map(|pages| {
            for (handle, lines) in pages {
                self.open.restore(handle, Mutex::new(lines));
            }
        });
        Box::pin(ready(restored.map_err(Into::into)))
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        drop(self.open.drain());
        Box::pin(ready(Ok(())))
    }
}
