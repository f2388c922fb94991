//! Replies of an ingress that is not to be trusted, and requests of clients that are not.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use toolwright::spec::Approval;
use toolwright::{BoxError, BoxFuture, Payload, Scope, ToolCall, ToolResult};
use toolwright_restate::{Ingress, RestateToolset, Runs, RunsError};
use toolwright_runtime::{
    Agent, ApprovalRequest, FunctionTool, Registry, RunRequest, Runtime, Script, ToolEntry,
    Toolset, Verdict,
};

use crate::lab::{Effects, Lab, N, call, key, passing, spec};

const TOKEN: &str = "a-token-of-20-bytes!";

/// Listens once, returns the request, and replies.
fn once(reply: Vec<u8>) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
        // The body is short JSON after the head.
        while !request.ends_with(b"}") && !request.ends_with(b"\r\n\r\n") {
            let length = stream.read(&mut buffer).unwrap();
            assert_ne!(length, 0, "the request ends");
            request.extend_from_slice(&buffer[..length]);
        }
        stream.write_all(&reply).unwrap();
        String::from_utf8(request).unwrap()
    });
    (address, heard)
}

/// Replies a number to all requests, and lists their idempotency keys.
fn ingress_of_keys() -> (String, Effects) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let keys = Effects::default();
    let log = keys.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request, mut buffer) = (stream.unwrap(), Vec::new(), [0; 4096]);
            // The body is short JSON after the head.
            while !request.ends_with(b"}") {
                let length = stream.read(&mut buffer).unwrap();
                assert_ne!(length, 0, "the request ends");
                request.extend_from_slice(&buffer[..length]);
            }
            let request = String::from_utf8(request).unwrap();
            let (_, key) = request.split_once("\r\nidempotency-key: ").unwrap();
            log.push(key.split_once("\r\n").unwrap().0);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let reply = format!("{head}\r\ncontent-length: 7\r\n\r\n{{\"n\":1}}");
            stream.write_all(reply.as_bytes()).unwrap();
        }
    });
    (address, keys)
}

/// The id of the nested calls is also that of a call of the run.
#[tokio::test]
async fn nested_calls_with_one_id_are_one_call_only_if_they_are_of_one_call() {
    let (address, keys) = ingress_of_keys();
    let charge = spec("charge").with_types::<N, N>();
    let far = RestateToolset::new(&Ingress::new(&address).unwrap(), [charge]);
    let registry = Registry::new();
    registry.register_tool(passing("pay", "charge", &far)).unwrap();
    let runtime = Runtime::new(registry);
    for id in ["c1", "c2"] {
        runtime.call(call("pay", id, 1)).await.outcome.unwrap();
    }
    far.call(&call("charge", "charge", 1)).await.outcome.unwrap();
    assert_eq!(keys.all(), ["r1.c1-charge", "r1.c2-charge", "r1.charge"]);
}

#[tokio::test]
async fn the_result_of_a_run_is_json_or_an_error() {
    for body in ["", "[[["] {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        let reply = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let (address, _) = once(reply.into_bytes());
        let result = Runs::new(&Ingress::new(&address).unwrap(), "a").result("r1").await;
        assert!(matches!(result, Err(RunsError::Malformed(_))), "{result:?}");
    }
}

/// Errors quote an ingress as a short visible line without the token.
#[tokio::test]
async fn errors_of_an_ingress_show_no_token_and_no_hidden_characters() {
    let message = format!(r#"{{"message":"no {TOKEN}\u202e\n{}"}}"#, "x".repeat(100_000));
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close";
    let reply = format!("{head}\r\ncontent-length: {}\r\n\r\n{message}", message.len());
    let check = |text: &str| {
        assert!(!text.contains(TOKEN) && text.contains("no …"), "{text}");
        assert!(text.len() < 1000 && !text.contains(['\u{202e}', '\n']), "{text}");
    };
    let ingress = |reply: &str| {
        let (address, _) = once(reply.as_bytes().to_vec());
        Ingress::new(&address).unwrap().with_token(TOKEN).unwrap()
    };
    let error = Runs::new(&ingress(&reply), "a").state("r1").await.unwrap_err();
    check(&error.to_string());
    let toolset = RestateToolset::new(&ingress(&reply), [spec("double")]);
    let failure = toolset.call(&call("double", "a", 1)).await.outcome.unwrap_err();
    check(&failure.detail.unwrap());

    // Also if it claims success.
    let message = format!(r#""no {TOKEN}\u202e\n{}""#, "x".repeat(100_000));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    let reply = format!("{head}\r\ncontent-length: {}\r\n\r\n{message}", message.len());
    let error = Runs::new(&ingress(&reply), "a").state("r1").await.unwrap_err();
    check(&error.to_string());
    let empty = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let toolset = RestateToolset::new(&ingress(empty), [spec("double")]);
    let failure = toolset.call(&call("double", "a", 1)).await.outcome.unwrap_err();
    assert_eq!(failure.message, "the result of `double` is not JSON");
}

/// A toolset of each run, whose tool needs an approval.
struct Disks {
    run: String,
    effects: Effects,
}

fn wipe() -> FunctionTool {
    let spec = spec("wipe").with_approval(Approval::default());
    FunctionTool::new(spec, async |N { n }: N| n)
}

impl Toolset for Disks {
    fn tools<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        Box::pin(std::future::ready(Ok(vec![wipe().entry().clone()])))
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.effects.push(&self.run);
        Box::pin(std::future::ready(ToolResult::new(call, Ok(Payload::new("1")))))
    }

    fn save<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Option<Payload>, BoxError>> {
        Box::pin(std::future::ready(Ok(Some(Payload::new("0")))))
    }

    fn restore<'a>(&'a self, _: &'a Scope, _: &'a Payload) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Somebody who gets an approval code before it is used cannot use it for the state of another run.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_code_of_one_run_is_worth_nothing_for_the_state_of_another() {
    let effects = Effects::default();
    let made = effects.clone();
    let lab = Lab::start(move || {
        let registry = Registry::new();
        let effects = made.clone();
        let disks = move |scope: Scope| Disks {
            run: scope.run_id.unwrap_or_default(),
            effects: effects.clone(),
        };
        registry.register_toolset("lab", disks).unwrap();
        Runtime::builder(registry)
    });
    let Some(lab) = lab.await else { return };
    let lost = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let (address, heard) = once(lost.into());
    let spec = wipe().entry().spec_ref().clone();
    let toolset = RestateToolset::per_run(&Ingress::new(&address).unwrap(), [spec]);
    let registry = Registry::new();
    registry.register_toolset("far", toolset.with_approval_key(&key())).unwrap();
    let calls = [ToolCall::new("wipe", Payload::new(r#"{"n":1}"#)).with_id("a")];
    let planner = Script::new().call(calls).finish(Payload::new("0"));
    registry
        .register_agent(Agent::new("caller", "lab").with_toolsets(["far"]), planner.into())
        .unwrap();
    let yes = Arc::new(|_: &ApprovalRequest| Verdict::Approve);
    let runtime = Runtime::builder(registry).with_approver(yes).build();
    let request = RunRequest::new("caller", Payload::new("{}"));
    runtime.run(request.with_run_id("alice")).await.unwrap();

    let heard = heard.join().unwrap();
    assert!(heard.starts_with("POST /"), "{heard}");
    let address = lab.server.ingress().replace("http://", "");
    let send = |request: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    };
    let other = heard.replace("/alice/", "/bob/").replace("alice.a", "bob.a");
    let reply = send(&other);
    assert!(reply.contains("it is of another run than the state"), "{reply}");
    assert!(effects.all().is_empty());
    let reply = send(&heard);
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert_eq!(effects.all(), ["alice"]);
}
