//! Pages to write on, as a toolset by hand: each page is a handle, and what is left open is closed when the run ends.
//! Never keeps a page from one run to another.

use std::sync::{Arc, Mutex, PoisonError};

use toolwright::{
    BoxError, BoxFuture, Scope, ToolCall, ToolFailure, ToolResult, ToolSpec, described,
};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{FunctionTool, Handles, ToolEntry, Toolset};

described! {
    struct Nothing {}

    /// A page that is open.
    pub(crate) struct Opened {
        /// The page, for those who write on it.
        pub(crate) page: String,
    }

    /// A line for a page.
    pub(crate) struct Line {
        /// The page that was opened.
        pub(crate) page: String,
        /// What to write.
        pub(crate) line: String,
    }

    struct Written {
        /// How many lines are on the page now.
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

    fn open_handles(&self) -> Vec<String> {
        self.open.names()
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        drop(self.open.drain());
        Box::pin(std::future::ready(Ok(())))
    }
}
