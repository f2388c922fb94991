//! What the build script tells the crate: what was compiled, what came of it, and the rows to judge it by. Both
//! include this file. Holds no judgement.

use serde::{Deserialize, Serialize};

/// Everything the build script found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// Whether the corpora beside the checkout were there.
    pub has_corpora: bool,
    /// One for each file of schemas.
    pub sources: Vec<Source>,
}

/// A file of schemas, compiled into one module.
#[derive(Debug, Serialize, Deserialize)]
pub struct Source {
    /// Which body of evidence it belongs to.
    pub area: Area,
    /// The file as a person would name it, without its extension.
    pub name: String,
    /// The module that holds the generated code of all accepted cases.
    pub module: String,
    /// Why the accepted cases could not be compiled together, if they could not.
    pub together: Option<String>,
    /// The cases in written order.
    pub cases: Vec<Case>,
}

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Area {
    /// The official JSON Schema suite.
    Suite,
    /// The tools of real MCP servers.
    Servers,
    /// The cases kept in this package, which need nothing beside the checkout.
    Kept,
}

/// One group of the suite, or one tool of a server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    /// What the file calls it.
    pub title: String,
    /// Its name in the generated code, or on the server it comes from.
    pub tool: String,
    /// The schema or the tool, as JSON text.
    pub schema: String,
    /// What the compiler made of it, alone.
    pub outcome: Outcome,
    /// The instances.
    pub rows: Vec<Row>,
}

/// What the compiler made of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Code was generated.
    Accepted,
    /// An error said why not.
    Refused {
        /// The code of the first error.
        code: String,
        /// Its message.
        message: String,
    },
    /// The compiler failed: never right.
    Panicked {
        /// What it said.
        message: String,
    },
}

/// An instance and whether its schema accepts it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    /// What the file says about it.
    pub title: String,
    /// Which codec it is for.
    pub side: Side,
    /// The exact text.
    pub json: String,
    /// Whether it has to be accepted.
    pub valid: bool,
    /// Whether this is a stated difference: the file says the opposite, and the schema language decides otherwise.
    pub decided: bool,
}

/// Which codec judges a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The arguments.
    Args,
    /// The result.
    Result,
    /// The result as it is, and the arguments as the property `value`: both have to say the same.
    Both,
}
