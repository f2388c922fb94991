//! Trace contexts, which travel with calls and runs to other processes as a `traceparent` of
//! [W3C Trace Context](https://www.w3.org/TR/trace-context/#traceparent-header).
//!
//! The runtime opens spans of `tracing`, which have no trace context: the layer that exports them gives them one. So the host says
//! with [`propagate_traces`] how to read and set it, and transports call [`traceparent`] and [`serving_span`].

use std::sync::OnceLock;

use tracing::{Span, field};

/// The length of a `traceparent` of version 00, and the most bytes that are accepted of a later version.
const LENGTH: usize = 55;
const MAX_LENGTH: usize = 256;

struct Hooks {
    read: fn(&Span) -> Option<String>,
    set_parent: fn(&Span, &str),
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

/// Lets traces go on in other processes. `read` returns the `traceparent` of a span; `set_parent` makes a new span the child of the
/// span with a `traceparent`, which another process sent. Like the subscriber, they are those of the whole process: only the first
/// call has an effect. Without one, each process has traces of its own.
///
/// The example `telemetry` does this with `tracing-opentelemetry`.
pub fn propagate_traces(read: fn(&Span) -> Option<String>, set_parent: fn(&Span, &str)) {
    let _ = HOOKS.set(Hooks { read, set_parent });
}

/// Returns the `traceparent` of the current span, for a request to another process.
pub fn traceparent() -> Option<String> {
    (HOOKS.get()?.read)(&Span::current())
}

/// Opens the span of a request of another process, such as `call add`. It is a child of the span with this `traceparent`, if there
/// is one and it may be valid.
pub fn serving_span(name: &str, transport: &'static str, traceparent: Option<&str>) -> Span {
    let span = tracing::info_span!(
        "serve",
        otel.name = name,
        otel.kind = "server",
        toolwright.transport = transport,
        // Recorded by MCP servers.
        mcp.method.name = field::Empty,
        gen_ai.tool.name = field::Empty,
        error.type = field::Empty,
    );
    let is_plausible = |text: &&str| {
        (LENGTH..=MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    if let (Some(hooks), Some(parent)) = (HOOKS.get(), traceparent.filter(is_plausible)) {
        (hooks.set_parent)(&span, parent);
    }
    span
}
