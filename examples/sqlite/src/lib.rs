//! A database as a toolset by hand: transactions are handles, and one that a run forgets is rolled back when the run
//! ends. Never keeps a transaction from one run to another.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use toolwright::{
    BoxError, BoxFuture, Described, FailureKind, Recovery, Scope, ToolCall, ToolFailure,
    ToolResult, ToolSpec, described,
};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{FunctionTool, Handles, ToolEntry, Toolset};

/// Connections that nobody uses; all runs share them.
pub struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// The transactions of one run. Register a factory that makes it: `move |_| Database::new(&pool)`.
pub struct Database {
    pool: Arc<Pool>,
    open: Arc<Handles<Mutex<Connection>>>,
    tools: Combined,
}

impl Pool {
    /// A pool of connections to a file.
    pub fn new(path: impl Into<PathBuf>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), idle: Mutex::default() })
    }

    /// How many connections wait to be used.
    pub fn idle(&self) -> usize {
        lock(&self.idle).len()
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| Connection::open(&self.path), Ok)
    }

    /// Ends a transaction, one way or the other, and keeps its connection if that went well.
    fn end(&self, connection: Arc<Mutex<Connection>>, how: &str) -> rusqlite::Result<()> {
        lock(&connection).execute_batch(how)?;
        let connection = Arc::into_inner(connection).map(Mutex::into_inner);
        lock(&self.idle).extend(connection.and_then(Result::ok));
        Ok(())
    }
}

impl Database {
    /// No transaction yet.
    pub fn new(pool: &Arc<Pool>) -> Self {
        let open = Arc::new(Handles::new("txn", "transaction"));
        let tools = Combined::new()
            .with("begin", begin(pool, &open))
            .with("execute", execute(&open))
            .with("commit", commit(pool, &open));
        Self { pool: Arc::clone(pool), open, tools }
    }
}

type Open = Arc<Handles<Mutex<Connection>>>;

described! {
    struct Nothing {}

    struct Begun {
        /// The transaction, for the statements in it.
        txn: String,
    }

    struct Statement {
        /// The transaction that was begun.
        txn: String,
        /// One statement of SQL.
        sql: String,
    }

    struct Executed {
        /// How many rows changed.
        changed: i64,
    }

    struct Commit {
        /// The transaction to keep.
        txn: String,
    }
}

fn begin(pool: &Arc<Pool>, open: &Open) -> FunctionTool {
    let (pool, open) = (Arc::clone(pool), Arc::clone(open));
    tool("begin", "Begin a transaction.", move |_: Nothing| {
        let connection = pool.take().map_err(refused)?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(refused)?;
        Ok(Begun { txn: open.open(Mutex::new(connection)) })
    })
}

fn execute(open: &Open) -> FunctionTool {
    let open = Arc::clone(open);
    tool(
        "execute",
        "Run a statement in a transaction.",
        move |Statement { txn, sql }: Statement| {
            let connection = open.get(&txn)?;
            let changed = lock(&connection).execute(&sql, []).map_err(refused)?;
            Ok(Executed { changed: i64::try_from(changed).unwrap_or(i64::MAX) })
        },
    )
}

fn commit(pool: &Arc<Pool>, open: &Open) -> FunctionTool {
    let (pool, open) = (Arc::clone(pool), Arc::clone(open));
    tool("commit", "Keep what a transaction did, and end it.", move |Commit { txn }: Commit| {
        pool.end(open.close(&txn)?, "COMMIT").map_err(refused)?;
        Ok(Nothing {})
    })
}

fn tool<A, R>(
    name: &'static str,
    about: &'static str,
    body: impl Fn(A) -> Result<R, ToolFailure> + Send + Sync + 'static,
) -> FunctionTool
where
    A: Described + Send + 'static,
    R: Described + Send + 'static,
{
    let spec = ToolSpec::new(name).with_description(about).with_toolset("db").with_service("db");
    FunctionTool::new(spec, move |args: A| std::future::ready(body(args)))
}

/// What the database says about a statement is for whoever wrote it: the model.
fn refused(error: rusqlite::Error) -> ToolFailure {
    ToolFailure::new(FailureKind::DomainRejection, error.to_string(), Recovery::Replan)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Toolset for Database {
    fn tools<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Vec<ToolEntry>, BoxError>> {
        self.tools.tools(scope)
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.tools.call(call)
    }

    /// Rolls back what was forgotten, and gives its connections back.
    fn open_handles(&self) -> Vec<String> {
        self.open.names()
    }

    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let ended = self.open.drain().into_iter().map(|(_, open)| self.pool.end(open, "ROLLBACK"));
        // All of them first, then the first that failed.
        let ended: Vec<_> = ended.collect();
        Box::pin(std::future::ready(
            ended.into_iter().collect::<Result<_, _>>().map_err(Into::into),
        ))
    }
}
