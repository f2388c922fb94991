//! What happens, told to those who watch: events, where they go, and spans. Never decides anything.

mod event;
mod sink;
pub(crate) mod telemetry;

pub use event::{Event, EventKind, ToolInfo};
pub(crate) use sink::Publisher;
pub use sink::{Background, Collector, EventSender, EventSink};
