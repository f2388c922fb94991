//! The other libraries. Each decodes the arguments with serde into the same type and encodes it again. One validates the
//! arguments first.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use rig_core::tool::{ErasedTool, Tool as RigTool, ToolContext};
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, JsonObject, NumberOrString, Tool,
};
use rmcp::service::{Peer, RequestContext, RunningService, serve_directly};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::{ARGS, Candidate, NAME};
use crate::codecs::derived::SearchIncidents;

/// An rmcp server with only the default methods.
#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {}

/// rmcp's router, called directly without a transport.
pub(super) struct Rmcp {
    router: ToolRouter<Bare>,
    peer: Peer<RoleServer>,
    arguments: JsonObject,
    /// The service that `peer` belongs to. Its transport is not used.
    _running: RunningService<RoleServer, Bare>,
}

impl Rmcp {
    pub(super) fn new() -> Self {
        let (_, stream) = tokio::io::duplex(64);
        let running = serve_directly(Bare, tokio::io::split(stream), None);
        let tool = Tool::new_with_raw(NAME, None, Arc::new(JsonObject::new()));
        let route = ToolRoute::new_dyn(tool, |context: ToolCallContext<'_, Bare>| {
            Box::pin(async move { echo(context.arguments) })
        });
        let mut router = ToolRouter::new();
        router.add_route(route);
        let arguments = serde_json::from_str(ARGS).expect("the payload is an object");
        Self { router, peer: running.peer().clone(), arguments, _running: running }
    }
}

fn echo(arguments: Option<JsonObject>) -> Result<CallToolResponse, ErrorData> {
    let invalid = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
    let value = serde_json::Value::Object(arguments.unwrap_or_default());
    let args: SearchIncidents = serde_json::from_value(value).map_err(invalid)?;
    let value = serde_json::to_value(&args).map_err(invalid)?;
    Ok(CallToolResult::structured(value).into())
}

impl Candidate for Rmcp {
    fn call<'a>(&'a self) -> Pin<Box<dyn Future<Output = String> + 'a>> {
        Box::pin(async {
            let request = CallToolRequestParams::new(NAME).with_arguments(self.arguments.clone());
            let context = RequestContext::new(NumberOrString::Number(1), self.peer.clone());
            let context = ToolCallContext::new(&Bare, request, context);
            match self.router.call(context).await {
                Ok(CallToolResponse::Complete(result)) => {
                    result.structured_content.map(|value| value.to_string()).unwrap_or_default()
                }
                _ => String::new(),
            }
        })
    }
}

struct Echo;

impl RigTool for Echo {
    const NAME: &'static str = NAME;
    type Args = SearchIncidents;
    type Output = SearchIncidents;
    type Error = Infallible;

    fn description(&self) -> String {
        String::new()
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    async fn call(
        &self,
        _: &mut ToolContext,
        args: SearchIncidents,
    ) -> Result<SearchIncidents, Infallible> {
        Ok(args)
    }
}

/// The same, with the arguments validated against the schema that schemars derives, as a user would do to check them.
struct ValidatedEcho {
    schema: serde_json::Value,
    validator: jsonschema::Validator,
}

impl ValidatedEcho {
    fn new() -> Self {
        let schema = schemars::schema_for!(SearchIncidents).to_value();
        let validator = jsonschema::validator_for(&schema).expect("schemars derives schemas");
        Self { schema, validator }
    }
}

impl RigTool for ValidatedEcho {
    const NAME: &'static str = NAME;
    type Args = serde_json::Value;
    type Output = SearchIncidents;
    type Error = serde_json::Error;

    fn description(&self) -> String {
        String::new()
    }

    fn parameters(&self) -> serde_json::Value {
        self.schema.clone()
    }

    async fn call(
        &self,
        _: &mut ToolContext,
        args: serde_json::Value,
    ) -> Result<SearchIncidents, serde_json::Error> {
        if !self.validator.is_valid(&args) {
            return Err(serde::de::Error::custom("the arguments are not valid"));
        }
        serde_json::from_value(args)
    }
}

/// rig's tools by name. The core crate has no toolset since 0.44, so this is the simplest replacement.
pub(super) struct Rig(BTreeMap<&'static str, Box<dyn ErasedTool>>);

impl Rig {
    pub(super) fn new() -> Self {
        Self::of(Echo)
    }

    /// Validates the arguments of calls.
    pub(super) fn validating() -> Self {
        Self::of(ValidatedEcho::new())
    }

    fn of(tool: impl ErasedTool + 'static) -> Self {
        let tool: Box<dyn ErasedTool> = Box::new(tool);
        Self(BTreeMap::from([(NAME, tool)]))
    }
}

impl Candidate for Rig {
    fn call<'a>(&'a self) -> Pin<Box<dyn Future<Output = String> + 'a>> {
        Box::pin(async {
            let Some(tool) = self.0.get(NAME) else { return String::new() };
            let mut context = ToolContext::new();
            let result = tool.execute(ARGS.to_owned(), &mut context).await;
            match result.into_result() {
                Ok(output) => output.as_json().map(ToString::to_string).unwrap_or_default(),
                Err(_) => String::new(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The comparison is fair only if both reject the same arguments.
    #[test]
    fn the_derived_schema_rejects_the_same_arguments_as_the_generated_codec() {
        use crate::generated::tracker_tools::specs::SEARCH_INCIDENTS;
        let validator = ValidatedEcho::new().validator;
        let args = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
        assert!(validator.is_valid(&args(ARGS)));
        for (key, value) in [
            ("query", "\"\""),
            ("severities", r#"["urgent"]"#),
            ("regions", r#"["eu_west","eu_west","eu_west","eu_west","eu_west","eu_west"]"#),
            ("opened_by", r#"{"id":0,"name":"a"}"#),
            ("opened_by", r#"{"id":1,"name":""}"#),
            ("opened_by", r#"{"id":1,"name":"a","age":1}"#),
            ("min_share", "100.5"),
            ("limit", "0"),
            ("limit", "201"),
            ("cursor", "1"),
            ("closed", "true"),
        ] {
            let mut wrong = args(ARGS);
            wrong[key] = args(value);
            let is_checked = SEARCH_INCIDENTS.check_args(wrong.to_string().as_bytes()).is_err();
            assert!(is_checked && !validator.is_valid(&wrong), "{key}: {value}");
        }
    }
}
