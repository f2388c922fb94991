//! The record that the build script writes and the crate reads: the compiled cases, their outcomes and their instances. Both
//! include this file.

use serde::{Deserialize, Serialize};

/// The record of the build script.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// True if there were corpora beside the checkout.
    pub has_corpora: bool,
    /// The files of schemas.
    pub sources: Vec<Source>,
}

/// A file of schemas, compiled into one module.
#[derive(Debug, Serialize, Deserialize)]
pub struct Source {
    /// The corpus that it belongs to.
    pub area: Area,
    /// The path of the file in its corpus, without its extension.
    pub name: String,
    /// The module with the generated code of all accepted cases.
    pub module: String,
    /// The error of compiling the accepted cases together, if there was one.
    pub together: Option<String>,
    /// The cases in written order.
    pub cases: Vec<Case>,
}

/// The corpus of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Area {
    /// The official JSON Schema suite.
    Suite,
    /// The tools of real MCP servers.
    Servers,
    /// The cases in this package, which need only the checkout.
    Kept,
}

/// One group of the suite, or one tool of a server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    /// Its title in the file.
    pub title: String,
    /// Its name in the generated code or, for a tool of a server, on that server.
    pub tool: String,
    /// The schema or the tool, as JSON text.
    pub schema: String,
    /// The outcome of compiling the case alone.
    pub outcome: Outcome,
    /// The instances.
    pub rows: Vec<Row>,
}

/// The outcome of compiling a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Code was generated.
    Accepted,
    /// The compiler reported an error.
    Refused {
        /// The code of the first error.
        code: String,
        /// Its message.
        message: String,
    },
    /// The compiler panicked, which is always a fault.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

/// An instance and whether its schema accepts it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// The description in the file.
    pub title: String,
    /// The codec that it is for.
    pub side: Side,
    /// The exact JSON text.
    pub json: String,
    /// True if the codec must accept it.
    pub valid: bool,
    /// True if `valid` is the opposite of the file's verdict, by a decision of the schema language.
    pub decided: bool,
}

/// The codec that judges a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The codec of the arguments.
    Args,
    /// The codec of the result.
    Result,
    /// Both: the instance is the whole result, and the property `value` of the arguments.
    Both,
}
