//! Events, event sinks, tracing spans and their trace contexts.

mod event;
mod sink;
pub(crate) mod telemetry;
mod trace_context;

pub use event::{Event, EventKind, ToolInfo};
pub(crate) use sink::Publisher;
pub use sink::{Background, Collector, EventSender, EventSink};
pub use trace_context::{propagate_traces, serving_span, traceparent};
