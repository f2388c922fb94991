//! Tests generated code for names and texts that have a meaning in Rust (G13).

use toolwright::spec::Strictness;
use toolwright::{Executor, MethodError, Payload, Tool, ToolCall};

use super::Tested;
use crate::requirement_cases::{impl_tools, move_tools, self_service, self_tools, words_tools};

struct Itself;

impl self_service::service::SelfService for Itself {
    async fn r#match(
        &self,
        payload: self_service::types::MatchPayload,
    ) -> Result<(), MethodError<self_service::errors::MatchError>> {
        match payload.self_.as_deref() {
            Some("gone") => Err(self_service::errors::MatchError::Self_.into()),
            _ => Ok(()),
        }
    }

    async fn self_(
        &self,
        _: self_service::types::SelfPayload,
    ) -> Result<self_service::types::SelfResult, MethodError> {
        Ok(self_service::types::SelfResult("me".to_owned()))
    }

    async fn r#async(&self, _: self_service::types::AsyncPayload) -> Result<(), MethodError> {
        Ok(())
    }
}

/// G13, G20: keywords of Rust can be names, from the call builder to the method.
#[tokio::test]
async fn g13_g20_keywords_are_names_of_tools_methods_errors_and_fields() -> Tested {
    let executor = impl_tools::executor::ImplExecutor::new(Itself);
    let args =
        impl_tools::types::MatchPayload { self_: Some("here".to_owned()), ..Default::default() };
    let done = executor.execute(&impl_tools::calls::r#type(&args)?).await;
    assert_eq!(done.outcome.as_ref(), Ok(&Payload::new("null")));

    let args =
        impl_tools::types::MatchPayload { self_: Some("gone".to_owned()), ..Default::default() };
    let refused = executor.execute(&impl_tools::calls::r#type(&args)?).await;
    assert_eq!(refused.outcome.as_ref().expect_err("it is gone").code.as_deref(), Some("self"));

    let by_alias = executor.execute(&ToolCall::new("super", Payload::new("{}"))).await;
    assert_eq!(by_alias.outcome.as_ref(), Ok(&Payload::new("\"me\"")));
    Ok(())
}

/// G13, G16: a name of one letter has its own static and marker type.
#[test]
fn g13_g16_a_name_of_one_letter_has_its_own_static() {
    assert_eq!(impl_tools::specs::X_SPEC.name(), "x");
    assert_eq!(impl_tools::specs::X::SPEC.name(), "x");
    let names = impl_tools::specs::ALL.iter().map(|spec| spec.name());
    assert_eq!(names.collect::<Vec<_>>(), ["type", "self", "x", "x1", "crate"]);
    let advertised = impl_tools::specs::advertised().map(toolwright::ToolSpec::name);
    assert_eq!(advertised.collect::<Vec<_>>(), ["type", "self", "x", "x1"]);
}

/// G3, G8: a remote tool keeps its name on the server, and the tool of a method joins the toolset of its service.
#[test]
fn g3_g8_a_remote_name_and_an_implicit_toolset_are_in_the_specs() {
    assert_eq!(move_tools::specs::TRY.remote_name(), Some("try-it"));
    assert_eq!(self_tools::specs::ASYNC.toolset(), "self");
}

/// Texts of a schema cannot become code.
#[test]
fn texts_of_a_schema_are_unchanged_in_the_spec() {
    let spec = &words_tools::specs::SAY_WORDS;
    assert_eq!(spec.title(), Some("\u{202e}\""));
    assert_eq!(spec.description(), "{} {{ }} \"# r#\"\n*/\n\n\n```rust\nfn evil() {}\n");
    assert_eq!(spec.tags().collect::<Vec<_>>(), ["\"", "\\"]);
    assert_eq!((spec.strictness(), spec.is_deferred()), (Strictness::Always, true));
    let schema: serde_json::Value =
        serde_json::from_str(spec.args_schema()).expect("a schema is JSON");
    assert_eq!(schema["properties"]["*/"]["const"], "\u{202e}\"#; fn evil() {}");
    assert!(schema["properties"].get("*/\n`").is_none(), "injected, so hidden");
}
