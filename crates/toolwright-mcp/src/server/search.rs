//! Two tools in place of a long list: one that finds tools by their words, and one that calls them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright::codec::from_json;
use toolwright::index::ToolIndex;
use toolwright::schema::Schema;
use toolwright::spec::ToolAnnotations;
use toolwright::{FailureKind, Outcome, Payload, Recovery, ToolCall, ToolFailure, ToolSpec};

use super::error::ServeError;
use super::exposed::ExposedTool;

/// The tools that a search finds if the client does not say how many.
const FOUND: usize = 5;

const SEARCH_ARGS: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words."},"limit":{"type":"integer","description":"The most tools to find. Default: 5.","minimum":1,"maximum":10}},"required":["query"],"additionalProperties":false}"#;

const SEARCH_RESULT: &str = r#"{"type":"object","properties":{"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"args_schema":{"type":"object","description":"The JSON Schema of the arguments."}},"required":["name","description","args_schema"],"additionalProperties":false}}},"required":["tools"],"additionalProperties":false}"#;

const CALL_ARGS: &str = r#"{"type":"object","properties":{"name":{"type":"string","description":"The name of the tool."},"arguments":{"type":"object","description":"Its arguments, which match its `args_schema`."}},"required":["name"],"additionalProperties":false}"#;

static SEARCH: LazyLock<ToolSpec> = LazyLock::new(|| {
    ToolSpec::new("search_tools")
        .with_description("Finds tools of this server by what they do. `call_tool` calls them.")
        .with_args_schema(SEARCH_ARGS)
        .with_result_schema(SEARCH_RESULT)
        .with_annotations(ToolAnnotations {
            read_only: Some(true),
            open_world: Some(false),
            ..ToolAnnotations::UNKNOWN
        })
});

static CALL: LazyLock<ToolSpec> = LazyLock::new(|| {
    ToolSpec::new("call_tool")
        .with_description("Calls a tool that `search_tools` found.")
        .with_args_schema(CALL_ARGS)
});

/// The two tools of a server, with the index of the others.
pub(crate) struct Search {
    index: ToolIndex,
    pub(crate) search: ExposedTool,
    pub(crate) call: ExposedTool,
    search_args: Schema,
    call_args: Schema,
}

#[derive(Deserialize)]
struct SearchArgs<'a> {
    query: String,
    #[serde(borrow)]
    limit: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallArgs<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Found<'a> {
    tools: Vec<FoundTool<'a>>,
}

#[derive(Serialize)]
struct FoundTool<'a> {
    name: &'a str,
    description: &'a str,
    args_schema: &'a RawValue,
}

impl Search {
    /// Creates the two tools of a server with these tools.
    ///
    /// # Errors
    ///
    /// If a tool has the name of one of the two.
    pub(crate) fn of(tools: &[ExposedTool]) -> Result<Self, ServeError> {
        let names = tools.iter().flat_map(|tool| tool.spec.aliases().chain([tool.spec.name()]));
        let is_ours = |name: &&str| [SEARCH.name(), CALL.name()].contains(name);
        if let Some(name) = names.into_iter().find(is_ours) {
            return Err(ServeError::Reserved { tool: name.to_owned() });
        }
        let listed = tools.iter().filter(|tool| tool.spec.is_advertised());
        let checks = |spec: &ToolSpec| {
            Schema::new(spec.args_schema())
                .map_err(|_| ServeError::Schema { tool: spec.name().to_owned(), cause: None })
        };
        Ok(Self {
            index: ToolIndex::new(listed.map(|tool| (tool.spec.name(), tool.spec))),
            search: ExposedTool::new(&SEARCH)?,
            call: ExposedTool::new(&CALL)?,
            search_args: checks(&SEARCH)?,
            call_args: checks(&CALL)?,
        })
    }

    /// Runs `search_tools`. `offered` returns the spec of a tool unless it is hidden.
    pub(crate) fn found(
        &self,
        offered: impl Fn(&str) -> Option<&'static ToolSpec>,
        args: &Payload,
    ) -> Outcome {
        let SearchArgs { query, limit } = read(&SEARCH, &self.search_args, args)?;
        // The codec reads `5.0` as the integer that it is.
        let limit = limit.and_then(|limit| from_json::<i64>(limit.get().as_bytes()).ok());
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(FOUND);
        let names = self.index.search(&query, usize::MAX);
        let tools = names.into_iter().filter_map(offered).take(limit).filter_map(|spec| {
            Some(FoundTool {
                name: spec.name(),
                description: spec.description(),
                args_schema: serde_json::from_str(spec.args_schema()).ok()?,
            })
        });
        let found = serde_json::to_string(&Found { tools: tools.collect() });
        found.map(Payload::new).map_err(|error| ToolFailure::internal(&error))
    }

    /// Returns the name and the arguments of the tool that a call of `call_tool` is for. The arguments are as they were sent.
    ///
    /// # Errors
    ///
    /// Returns the failure of the call if it is not valid.
    pub(crate) fn target(&self, args: &Payload) -> Result<(String, Payload), ToolFailure> {
        let CallArgs { name, arguments } = read(&CALL, &self.call_args, args)?;
        Ok((name, Payload::new(arguments.map_or("{}", RawValue::get))))
    }
}

/// Returns whether this is the name of the tool that searches.
pub(crate) fn is_search(name: &str) -> bool {
    name == SEARCH.name()
}

/// Returns whether this is the name of the tool that calls others.
pub(crate) fn is_call(name: &str) -> bool {
    name == CALL.name()
}

fn read<'a, T: Deserialize<'a>>(
    spec: &ToolSpec,
    schema: &Schema,
    args: &'a Payload,
) -> Result<T, ToolFailure> {
    let call = || ToolCall::new(spec.name().to_owned(), args.clone());
    schema
        .check(args.as_str().as_bytes())
        .map_err(|issues| ToolFailure::invalid_call(spec, &call(), issues))?;
    serde_json::from_str(args.as_str()).map_err(|error| {
        let message = format!("the arguments of `{}` cannot be read: {error}", spec.name());
        ToolFailure::new(FailureKind::InvalidCall, message, Recovery::correct(&call()))
    })
}
