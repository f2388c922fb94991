//! A database as a hand-written toolset. Transactions are handles, and those that are still open are rolled back when the run
//! ends.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use toolwright::{
    BoxError, BoxFuture, Described, FailureKind, Recovery, Scope, ToolCall, ToolFailure,
    ToolResult, ToolSpec, described,
};
use toolwright_runtime::tools::Combined;
use toolwright_runtime::{FunctionTool, Handles, ToolEntry, Toolset};

/// A pool of idle connections, which all runs share.
pub struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

/// The transactions of one run. Register it with a factory: `move |_| Database::new(&pool)`.
pub struct Database {
    pool: Arc<Pool>,
    open: Arc<Handles<Mutex<Connection>>>,
    tools: Combined,
}

impl Pool {
    /// Creates a pool of connections to a database file.
    pub fn new(path: impl Into<PathBuf>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), idle: Mutex::default() })
    }

    /// The number of idle connections.
    pub fn idle(&self) -> usize {
        lock(&self.idle).len()
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| Connection::open(&self.path), Ok)
    }

    /// Ends a transaction by `COMMIT` or `ROLLBACK`, and returns its connection to the pool.
    fn end(&self, connection: Arc<Mutex<Connection>>, statement: &str) -> rusqlite::Result<()> {
        lock(&connection).execute_batch(statement)?;
        let connection = Arc::into_inner(connection).map(Mutex::into_inner);
        lock(&self.idle).extend(connection.and_then(Result::ok));
        Ok(())
    }
}

impl Database {
    /// Creates the toolset of a run, without transactions.
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
        /// The handle of the transaction.
        txn: String,
    }

    struct Statement {
        /// The handle of the transaction.
        txn: String,
        /// One statement of SQL.
        sql: String,
    }

    struct Executed {
        /// The number of changed rows.
        changed: i64,
    }

    struct Commit {
        /// The handle of the transaction.
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
    tool("commit", "Commit a transaction.", move |Commit { txn }: Commit| {
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

/// Shows the error of the database to the model, which wrote the statement.
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

    fn open_handles(&self) -> Vec<String> {
        self.open.names()
    }

    /// Rolls back the open transactions, and returns their connections to the pool.
    fn exit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<(), BoxError>> {
        let ended = self.open.drain().into_iter().map(|(_, open)| self.pool.end(open, "ROLLBACK"));
        // All transactions are rolled back before the first error is returned.
        let ended: Vec<_> = ended.collect();
        Box::pin(std::future::ready(
            ended.into_iter().collect::<Result<_, _>>().map_err(Into::into),
        ))
    }
}
