//! Sets up the exporters, the logs, and the trace contexts that travel to other processes.

use std::collections::HashMap;
use std::io::stderr;
use std::sync::Arc;

use opentelemetry::Context;
use opentelemetry::metrics::MeterProvider;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_otlp::{MetricExporter, SpanExporter};
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use toolwright::BoxError;
use toolwright_runtime::Background;
use toolwright_runtime::watch::propagate_traces;
use tracing::{Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry};

use crate::metrics::Metrics;

/// The most events that wait to be counted.
const EVENTS: usize = 10_000;
/// The name of the header, and of the key in a carrier.
const TRACEPARENT: &str = "traceparent";

/// The exporters of this process.
pub(crate) struct Telemetry {
    tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    /// Counts the events of a runtime.
    pub(crate) events: Arc<Background>,
}

impl Telemetry {
    /// Starts the exporters, with the addresses of the environment, and the logs.
    pub(crate) fn start() -> Result<Self, BoxError> {
        let spans = SpanExporter::builder().with_http().build()?;
        let tracers = SdkTracerProvider::builder().with_batch_exporter(spans).build();
        let metrics = MetricExporter::builder().with_http().build()?;
        let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics).build();

        // The spans of libraries say little about agents.
        let ours = Targets::new().with_target("toolwright", Level::INFO);
        let exported = tracing_opentelemetry::layer().with_tracer(tracers.tracer("toolwright"));
        let logged = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
        let logs = tracing_subscriber::fmt::layer().json().with_writer(stderr);
        let subscriber = Registry::default()
            .with(exported.with_filter(ours))
            .with(logs.with_filter(logged.parse::<Targets>()?));
        tracing::subscriber::set_global_default(subscriber)?;
        propagate_traces(traceparent, set_parent);

        let mut metrics = Metrics::new(&meters.meter("toolwright"));
        let events = Background::new(EVENTS, move |event| metrics.count(event));
        Ok(Self { tracers, meters, events })
    }

    /// Exports the rest. The runtimes with its events must have ended.
    pub(crate) fn finish(self) -> Result<(), BoxError> {
        let lost = self.events.lost();
        if lost > 0 {
            tracing::warn!(lost, "events were not counted");
        }
        self.events.finish();
        self.tracers.shutdown()?;
        self.meters.shutdown()?;
        Ok(())
    }
}

/// Returns the `traceparent` of a span, if it is exported.
fn traceparent(span: &Span) -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut carrier);
    carrier.remove(TRACEPARENT)
}

/// Makes a span the child of the one with this `traceparent`.
fn set_parent(span: &Span, traceparent: &str) {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    if parent.span().span_context().is_valid() {
        // It fails if the span is not exported.
        let _ = span.set_parent(parent);
    }
}
