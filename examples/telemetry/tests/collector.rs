//! Runs the example with a collector, in one process and with a worker of Restate or NATS, and checks what it exports.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// A collector on the loopback interface.
struct Collector {
    address: String,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    /// The spans, each with the name of its process.
    spans: Vec<(String, Span)>,
    /// The points of metrics: the process, the name and the attributes, and the count and the sum of each.
    points: BTreeMap<String, (u64, f64)>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Received>>::default();
        let shared = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || receive(stream.unwrap(), &shared));
            }
        });
        Self { address, received }
    }

    /// The command of the example, as a process with this name.
    fn command(&self, service: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright-telemetry-example"));
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &self.address);
        command.env("OTEL_SERVICE_NAME", service).env("NO_PROXY", "127.0.0.1");
        command.env_remove("RUST_LOG").stderr(Stdio::piped());
        command
    }

    /// Returns the spans as a tree, one a line: the process and the name.
    fn tree(&self) -> String {
        let received = self.received.lock().unwrap();
        let mut lines = String::new();
        branch(&received.spans, &[], 0, &mut lines);
        lines
    }

    /// Returns a span by its name.
    fn span(&self, service: &str, name: &str) -> Span {
        let received = self.received.lock().unwrap();
        let found = received.spans.iter().find(|(of, span)| of == service && span.name == name);
        found.unwrap_or_else(|| panic!("no span `{name}` of `{service}`")).1.clone()
    }

    /// Returns the points of a process, one a line: the metric with its attributes, and the count. Durations have no sum.
    fn points(&self, service: &str) -> String {
        let received = self.received.lock().unwrap();
        let points = received.points.iter().filter_map(|(name, (count, sum))| {
            let name = name.strip_prefix(service)?.strip_prefix(' ')?;
            let sum = if name.contains("duration") { String::new() } else { format!(", {sum}") };
            Some(format!("{name}: {count}{sum}\n"))
        });
        points.collect()
    }
}

/// Answers the requests of a connection.
fn receive(stream: TcpStream, received: &Mutex<Received>) {
    let mut input = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut path, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if input.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end();
            if let Some(rest) = line.strip_prefix("POST ") {
                path = rest.split(' ').next().unwrap_or_default().into();
            } else if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body).unwrap();
        match path.as_str() {
            "/v1/traces" => received.lock().unwrap().add_spans(&body),
            "/v1/metrics" => received.lock().unwrap().add_points(&body),
            path => panic!("a request to {path}"),
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        (&stream).write_all(answer).unwrap();
    }
}

impl Received {
    fn add_spans(&mut self, body: &[u8]) {
        for resource in ExportTraceServiceRequest::decode(body).unwrap().resource_spans {
            let service = service(&resource.resource.unwrap().attributes);
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                self.spans.push((service.clone(), span));
            }
        }
    }

    fn add_points(&mut self, body: &[u8]) {
        for resource in ExportMetricsServiceRequest::decode(body).unwrap().resource_metrics {
            let service = service(&resource.resource.unwrap().attributes);
            for metric in resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics) {
                let points: Vec<_> = match metric.data.unwrap() {
                    Data::Histogram(histogram) => {
                        let points = histogram.data_points.into_iter();
                        points
                            .map(|point| (point.attributes, (point.count, point.sum.unwrap())))
                            .collect()
                    }
                    Data::Sum(sum) => sum
                        .data_points
                        .into_iter()
                        .map(|point| {
                            let Some(number_data_point::Value::AsInt(sum)) = point.value else {
                                panic!("expected an integer")
                            };
                            (point.attributes, (1, f64::from(i32::try_from(sum).unwrap())))
                        })
                        .collect(),
                    other => panic!("{other:?}"),
                };
                for (attributes, point) in points {
                    let attributes = fields(&attributes).into_iter().filter_map(|(key, value)| {
                        let is_shown = !key.contains("operation") && !key.contains("provider");
                        is_shown.then_some(format!(" {key}={value}"))
                    });
                    let attributes: String = attributes.collect();
                    let name = format!("{service} {}{attributes}", metric.name);
                    self.points.insert(name, point);
                }
            }
        }
    }
}

fn service(attributes: &[KeyValue]) -> String {
    fields(attributes).remove("service.name").unwrap()
}

fn fields(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |value: Value| match value {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(flag) => flag.to_string(),
        other => format!("{other:?}"),
    };
    let field = |attribute: &KeyValue| {
        let value = attribute.value.clone()?.value?;
        Some((attribute.key.clone(), text(value)))
    };
    attributes.iter().filter_map(field).collect()
}

/// Writes the spans with this parent, in the order of their starts, and those below them.
fn branch(spans: &[(String, Span)], parent: &[u8], depth: usize, lines: &mut String) {
    let mut children: Vec<_> =
        spans.iter().filter(|(_, span)| span.parent_span_id == parent).collect();
    children.sort_by_key(|(_, span)| span.start_time_unix_nano);
    for (service, span) in children {
        writeln!(lines, "{}{service}: {}", "  ".repeat(depth), span.name).unwrap();
        branch(spans, &span.span_id, depth + 1, lines);
    }
}

/// A process whose input is closed and whose end is awaited when the test ends.
struct Serving(Child);

impl Serving {
    /// Starts a worker, and returns its first line.
    fn start(collector: &Collector, args: &[&str]) -> (Self, String) {
        let mut command = collector.command("worker");
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut worker = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(worker.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (Self(worker), line)
    }

    fn stop(mut self) {
        drop(self.0.stdin.take());
        let ended = self.0.wait().unwrap();
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// Runs the agent, and returns its logs.
fn run(collector: &Collector, args: &[&str]) -> String {
    let output = collector.command("agent").args(args).output().unwrap();
    let logs = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{logs}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "\"It is 42.\"\n");
    logs
}

#[test]
fn a_run_is_one_trace_with_the_names_and_attributes_of_the_conventions() {
    let collector = Collector::start();
    run(&collector, &[]);
    let expected = "agent: invoke_agent adder
  agent: chat script-1
  agent: execute_tool add
  agent: chat script-1
";
    assert_eq!(collector.tree(), expected);
    for (name, expected) in [
        (
            "invoke_agent adder",
            &[("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "adder")][..],
        ),
        (
            "chat script-1",
            &[
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.provider.name", "script"),
                ("gen_ai.request.model", "script-1"),
                ("gen_ai.response.model", "script-1.1"),
                ("gen_ai.usage.input_tokens", "100"),
                ("gen_ai.usage.output_tokens", "10"),
            ],
        ),
        (
            "execute_tool add",
            &[
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "add"),
                ("gen_ai.tool.type", "function"),
                ("gen_ai.tool.description", "Add two numbers."),
                ("toolwright.toolset.name", "sums"),
            ],
        ),
    ] {
        let attributes = fields(&collector.span("agent", name).attributes);
        for (key, value) in expected {
            assert_eq!(attributes.get(*key).map(String::as_str), Some(*value), "{name}: {key}");
        }
        assert!(!attributes.contains_key("gen_ai.tool.call.arguments"), "{name}");
    }
}

#[test]
fn calls_tokens_and_cost_are_metrics() {
    let collector = Collector::start();
    run(&collector, &[]);
    let expected = "gen_ai.client.operation.duration gen_ai.request.model=script-1 gen_ai.response.model=script-1.1: 2
gen_ai.client.token.usage gen_ai.request.model=script-1 gen_ai.response.model=script-1.1 gen_ai.token.type=input: 2, 200
gen_ai.client.token.usage gen_ai.request.model=script-1 gen_ai.response.model=script-1.1 gen_ai.token.type=output: 2, 20
gen_ai.execute_tool.duration gen_ai.tool.name=add toolwright.toolset.name=sums: 1
gen_ai.invoke_agent.duration gen_ai.agent.name=adder: 1
toolwright.call.active gen_ai.tool.name=add toolwright.toolset.name=sums: 1, 0
toolwright.model.cost gen_ai.request.model=script-1 gen_ai.response.model=script-1.1: 1, 900
";
    assert_eq!(collector.points("agent"), expected);
}

#[test]
fn a_log_is_a_line_of_json_with_the_spans_around_it() {
    let logs = run(&Collector::start(), &[]);
    let lines: Vec<serde_json::Value> =
        logs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [line] = lines.as_slice() else { panic!("{logs}") };
    assert_eq!(line["fields"]["message"], "numbers are added");
    assert_eq!((&line["fields"]["a"], &line["fields"]["b"]), (&2.into(), &40.into()));
    let names = line["spans"].as_array().unwrap().iter().map(|span| &span["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["invoke_agent", "execute_tool"]);
    assert!(line["span"]["toolwright.run.id"].is_string(), "{line}");
}

#[test]
fn a_call_in_a_worker_of_restate_is_in_the_trace_of_its_caller() {
    let Some(server) = toolwright_engines::restate() else { return };
    let collector = Collector::start();
    let (worker, address) = Serving::start(&collector, &["worker"]);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(server.register(address.trim())).unwrap();
    run(&collector, &["restate", &server.ingress()]);
    worker.stop();
    let expected = "agent: invoke_agent adder
  agent: chat script-1
  agent: execute_tool add
    worker: call add
      worker: execute_tool add
  agent: chat script-1
";
    assert_eq!(collector.tree(), expected);
    let caller = collector.span("agent", "invoke_agent adder").trace_id;
    assert_eq!(collector.span("worker", "execute_tool add").trace_id, caller);
    let expected =
        "gen_ai.execute_tool.duration gen_ai.tool.name=add toolwright.toolset.name=sums: 1
toolwright.call.active gen_ai.tool.name=add toolwright.toolset.name=sums: 1, 0
";
    assert_eq!(collector.points("worker"), expected);
}

#[test]
fn a_call_in_a_worker_of_nats_is_in_the_trace_of_its_caller() {
    let Some(server) = toolwright_engines::nats() else { return };
    let collector = Collector::start();
    let (worker, _) = Serving::start(&collector, &["nats-worker", &server.url()]);
    run(&collector, &["nats", &server.url()]);
    worker.stop();
    let expected = "agent: invoke_agent adder
  agent: chat script-1
  agent: execute_tool add
    worker: call add
  agent: chat script-1
";
    assert_eq!(collector.tree(), expected);
}

#[test]
fn a_run_in_a_worker_of_restate_is_in_the_trace_of_its_start() {
    let Some(server) = toolwright_engines::restate() else { return };
    let collector = Collector::start();
    let (worker, address) = Serving::start(&collector, &["worker"]);
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(server.register(address.trim())).unwrap();
    run(&collector, &["start", &server.ingress()]);
    worker.stop();
    let expected = "agent: start
  worker: run adder
    worker: invoke_agent adder
      worker: chat script-1
      worker: execute_tool add
      worker: chat script-1
";
    assert_eq!(collector.tree(), expected);
}
