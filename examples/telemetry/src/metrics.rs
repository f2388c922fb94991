//! Metrics from the events of a runtime, with the names of the
//! [conventions for generative AI](https://github.com/open-telemetry/semantic-conventions-genai). Others begin with `toolwright`.

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};
use toolwright::ToolFailure;
use toolwright_runtime::watch::ToolInfo;
use toolwright_runtime::{Event, EventKind, ModelEvent};

/// The boundaries that the conventions recommend, in seconds and in tokens.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The metrics of runs, calls and models.
pub(crate) struct Metrics {
    operations: Histogram<f64>,
    tokens: Histogram<u64>,
    cost: Counter<u64>,
    runs: Histogram<f64>,
    calls: Histogram<f64>,
    retries: Counter<u64>,
    active: UpDownCounter<i64>,
    /// The providers and models that are asked now, by run.
    asked: BTreeMap<String, (String, String)>,
}

impl Metrics {
    /// Creates the metrics.
    pub(crate) fn new(meter: &Meter) -> Self {
        let seconds = |name| {
            let boundaries = SECONDS.to_vec();
            meter.f64_histogram(name).with_unit("s").with_boundaries(boundaries).build()
        };
        Self {
            operations: seconds("gen_ai.client.operation.duration"),
            tokens: meter
                .u64_histogram("gen_ai.client.token.usage")
                .with_unit("{token}")
                .with_boundaries(TOKENS.to_vec())
                .build(),
            // In millionths of the currency of the prices.
            cost: meter.u64_counter("toolwright.model.cost").with_unit("{millionth}").build(),
            runs: seconds("gen_ai.invoke_agent.duration"),
            calls: seconds("gen_ai.execute_tool.duration"),
            retries: meter.u64_counter("toolwright.call.retries").with_unit("{retry}").build(),
            // The calls that wait or run, also those in the queue of an engine.
            active: meter.i64_up_down_counter("toolwright.call.active").with_unit("{call}").build(),
            asked: BTreeMap::new(),
        }
    }

    /// Counts an event.
    pub(crate) fn count(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunFinished { result, duration } => {
                let agent = event.agent.as_deref().unwrap_or_default().to_owned();
                let mut attributes = vec![
                    KeyValue::new("gen_ai.operation.name", "invoke_agent"),
                    KeyValue::new("gen_ai.agent.name", agent),
                ];
                attributes.extend(result.as_ref().err().map(error_type));
                self.runs.record(duration.as_secs_f64(), &attributes);
            }
            EventKind::ToolCallScheduled { tool, .. } => self.active.add(1, &of_tool(tool)),
            EventKind::ToolCallRetried { tool, failure, .. } => {
                let mut attributes = of_tool(tool);
                attributes.push(error_type(failure));
                self.retries.add(1, &attributes);
            }
            EventKind::ToolResultReceived { tool, outcome, duration, .. } => {
                let mut attributes = of_tool(tool);
                self.active.add(-1, &attributes);
                attributes.extend(outcome.as_ref().err().map(error_type));
                self.calls.record(duration.as_secs_f64(), &attributes);
            }
            EventKind::Model(model) => self.count_model(event.run_id(), model),
            _ => {}
        }
    }

    fn count_model(&mut self, run: &str, event: &ModelEvent) {
        match event {
            ModelEvent::Asked { provider, model, .. } => {
                self.asked.insert(run.to_owned(), (provider.clone(), model.clone()));
            }
            ModelEvent::Answered { model, usage, cost, duration, .. } => {
                let mut attributes = self.answered(run, duration, |attributes| {
                    attributes.push(KeyValue::new("gen_ai.response.model", model.clone()));
                });
                self.cost.add(cost.unwrap_or_default(), &attributes);
                for (kind, tokens) in usage
                    .iter()
                    .flat_map(|usage| [("input", usage.total_input), ("output", usage.output)])
                {
                    attributes.push(KeyValue::new("gen_ai.token.type", kind));
                    self.tokens.record(tokens, &attributes);
                    attributes.pop();
                }
            }
            ModelEvent::Failed { kind, duration, .. } => {
                self.answered(run, duration, |attributes| {
                    attributes.push(KeyValue::new("error.type", *kind));
                });
            }
            _ => {}
        }
    }

    /// Records how long a model took, and returns the attributes.
    fn answered(
        &mut self,
        run: &str,
        duration: &Duration,
        add: impl FnOnce(&mut Vec<KeyValue>),
    ) -> Vec<KeyValue> {
        let mut attributes = vec![KeyValue::new("gen_ai.operation.name", "chat")];
        if let Some((provider, model)) = self.asked.remove(run) {
            attributes.push(KeyValue::new("gen_ai.provider.name", provider));
            attributes.push(KeyValue::new("gen_ai.request.model", model));
        }
        add(&mut attributes);
        self.operations.record(duration.as_secs_f64(), &attributes);
        attributes
    }
}

/// The attributes of a tool. A name that no tool has comes from a model, and could be any.
fn of_tool(tool: &ToolInfo) -> Vec<KeyValue> {
    let name = tool.entry().map_or("_OTHER", |entry| entry.name()).to_owned();
    let toolset = tool.toolset().unwrap_or_default().to_owned();
    vec![
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        KeyValue::new("gen_ai.tool.name", name),
        KeyValue::new("toolwright.toolset.name", toolset),
    ]
}

fn error_type(failure: &ToolFailure) -> KeyValue {
    KeyValue::new("error.type", failure.kind.as_str())
}
