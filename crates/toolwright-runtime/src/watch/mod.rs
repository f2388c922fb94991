//! Events, event sinks and tracing spans.

mod event;
mod sink;
pub(crate) mod telemetry;

pub use event::{Event, EventKind, ToolInfo};
pub(crate) use sink::Publisher;
pub use sink::{Background, Collector, EventSender, EventSink};
