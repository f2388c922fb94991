//! A server, and workers that can be killed.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use toolwright::spec::ToolAnnotations;
use toolwright::{Payload, Scope, ToolCall, ToolFailure, ToolSpec, described};
use toolwright_engines::Restate;
use toolwright_restate::{ApprovalKey, Ingress, RestateToolset, Worker};
use toolwright_runtime::tools::IntoSource as _;
use toolwright_runtime::{CallRequest, FunctionTool, Registry, Runtime, RuntimeBuilder};

described! {
    /// The arguments of the tools.
    pub(crate) struct N {
        pub(crate) n: i64,
    }
}

/// A worker on threads of its own. Dropping it is like killing its process: connections break and nothing is finished.
pub(crate) struct Running {
    runtime: Option<tokio::runtime::Runtime>,
    pub(crate) address: SocketAddr,
}

impl Running {
    pub(crate) fn start(
        worker: impl Fn() -> RuntimeBuilder + Send + 'static,
        address: Option<SocketAddr>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let listener = loop {
                match TcpListener::bind(address.unwrap_or(free)).await {
                    Ok(listener) => break listener,
                    // The connections of the killed worker may still be closing.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            };
            let worker = Worker::new(worker()).await.unwrap().with_approval_key(&key());
            sender.send(listener.local_addr().unwrap()).unwrap();
            worker.serve_until(listener, std::future::pending()).await.unwrap();
        });
        let address = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        Self { runtime: Some(runtime), address }
    }

    pub(crate) fn kill(mut self) -> SocketAddr {
        self.end();
        self.address
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// A server with one worker.
pub(crate) struct Lab {
    pub(crate) server: Restate,
    pub(crate) worker: Option<Running>,
    build: Arc<dyn Fn() -> RuntimeBuilder + Send + Sync>,
}

impl Lab {
    /// Starts both; `None` if the server is not installed.
    pub(crate) async fn start(
        build: impl Fn() -> RuntimeBuilder + Send + Sync + 'static,
    ) -> Option<Self> {
        let server = toolwright_engines::restate()?;
        let build: Arc<dyn Fn() -> RuntimeBuilder + Send + Sync> = Arc::new(build);
        let made = Arc::clone(&build);
        let worker = Running::start(move || made(), None);
        server.register(&format!("http://{}", worker.address)).await.unwrap();
        Some(Self { server, worker: Some(worker), build })
    }

    pub(crate) fn ingress(&self) -> Ingress {
        Ingress::new(&self.server.ingress()).unwrap()
    }

    /// Kills the worker and starts another at its address.
    pub(crate) fn replace_worker(&mut self) {
        let address = self.worker.take().map(Running::kill);
        let made = Arc::clone(&self.build);
        self.worker = Some(Running::start(move || made(), address));
    }
}

pub(crate) fn key() -> ApprovalKey {
    ApprovalKey::new([7; 32])
}

/// What tools did, in order.
#[derive(Clone, Default)]
pub(crate) struct Effects(Arc<Mutex<Vec<String>>>);

impl Effects {
    pub(crate) fn push(&self, effect: impl Into<String>) {
        self.0.lock().unwrap().push(effect.into());
    }

    /// Returns them in alphabetic order, as calls of one step may end in any.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut all = self.all();
        all.sort_unstable();
        all
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Returns the spec of a tool of the toolset `lab`, which takes an object with a number `n`.
pub(crate) fn spec(name: &'static str) -> ToolSpec {
    let mut spec = ToolSpec::new(name).with_toolset("lab");
    spec.set_description("A tool of the lab.");
    spec
}

pub(crate) fn idempotent(spec: ToolSpec) -> ToolSpec {
    spec.with_annotations(ToolAnnotations { idempotent: Some(true), ..ToolAnnotations::default() })
}

/// A tool that doubles a number and records it.
pub(crate) fn double(effects: &Effects) -> FunctionTool {
    let effects = effects.clone();
    FunctionTool::new(spec("double"), move |N { n }: N| {
        effects.push(format!("double {n}"));
        std::future::ready(n * 2)
    })
}

/// An idempotent tool that takes some time, and counts its beginnings and ends.
pub(crate) fn slow(
    began: &Arc<AtomicUsize>,
    ended: &Arc<AtomicUsize>,
    time: Duration,
) -> FunctionTool {
    let (began, ended) = (Arc::clone(began), Arc::clone(ended));
    FunctionTool::new(idempotent(spec("slow")), move |N { n }: N| {
        let (began, ended) = (Arc::clone(&began), Arc::clone(&ended));
        async move {
            began.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(time).await;
            ended.fetch_add(1, Ordering::SeqCst);
            n
        }
    })
}

/// A tool that passes its number to a tool of a toolset, in a call on behalf of its own, whose id is always the name of the tool.
pub(crate) fn passing(
    name: &'static str,
    inner: &'static str,
    toolset: &RestateToolset,
) -> FunctionTool {
    let (runtime, source) = (Runtime::new(Registry::new()), toolset.clone().into_source());
    FunctionTool::new(spec(name), move |N { n }: N, own: ToolCall| {
        let (runtime, source) = (runtime.clone(), source.clone());
        async move {
            let request = CallRequest::new(call(inner, inner, n)).on_behalf_of(&own);
            let called = runtime.call_in(("far", &source), None, None, request).await;
            let (result, _) = called.map_err(|error| ToolFailure::internal(&*error))?;
            result.outcome?.decode::<N>().map_err(|issues| ToolFailure::internal(&issues))
        }
    })
}

pub(crate) fn call(tool: &str, id: &str, n: i64) -> ToolCall {
    let scope = Scope { run_id: Some("r1".to_owned()), ..Scope::default() };
    ToolCall::new(tool, Payload::of(&N { n }).unwrap()).with_id(id).with_scope(scope)
}

/// Waits until something is true, for at most twenty seconds.
pub(crate) async fn until<F: Future<Output = bool>>(is_true: impl Fn() -> F, what: &str) {
    for _ in 0..1000 {
        if is_true().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: not within twenty seconds");
}
