//! Losses of tools in the provider dialects that are targets of a project. Their severity depends on the policy of the project.

use toolwright_dialect::LossKind;

use super::{among, at, mistakes};
use crate::source::{Span, Spanned};

mistakes! {
    /// A provider cannot express the schema of a tool's arguments, or of the result that an agent's model answers with.
    ///
    /// `[dialects] targets` in `toolwright.toml` lists the providers that the project must work with. A tool that one of them
    /// refuses would be left out of its requests. Change the schema, or let `recursion = "unroll:3"` write out a schema that refers
    /// to itself; `refused = "warn"` allows it for all tools, or under `[dialects.tools.NAME]` for one.
    Error "TWD101" refused(span: Span, what: &str, dialect: &str, pointer: &str, reason: &str) {
        at(span, format!("{what} cannot be sent in {dialect}: {} of its schema {reason}", place(pointer)))
    }

    /// The absence of a property that is optional and nullable cannot be sent by a provider's model.
    ///
    /// Strict dialects require every property, and null stands for absence. A property that may be null, too, can then no longer
    /// be absent. Make it required, or not nullable, or say by `default: null` that both mean the same. `absent = "wrap"` sends
    /// the value in an object of its own, and `absent = "allow"` accepts the loss.
    Warning "TWD102" absent(span: Span, what: &str, dialect: &str, pointer: &str) {
        at(span, format!("in {dialect}, {} of {what} cannot be absent, because null is a value of its own", place(pointer)))
    }

    /// Keys that the schema does not name cannot be sent by a provider's model.
    ///
    /// Strict dialects close every object. An object whose schema does not mention other keys accepts them. Write
    /// `additionalProperties: false` if the tool ignores them. This is allowed, and not reported, unless `unnamed_keys` of
    /// `[dialects.policy]` is `warn` or `deny`.
    Warning "TWD103" unnamed_keys(span: Span, what: &str, dialect: &str, pointer: &str) {
        at(span, format!("in {dialect}, {} of {what} has only the keys that its schema names", place(pointer)))
    }

    /// A provider does not enforce a rule of the schema.
    ///
    /// The description tells the model the rule in words, and the codec refuses arguments that break it. This is allowed, and not
    /// reported, unless `widened` of `[dialects.policy]` is `warn` or `deny`.
    Warning "TWD104" widened(span: Span, what: &str, dialect: &str, pointer: &str, keyword: &str, kind: LossKind) {
        let loss = match (kind, keyword) {
            (LossKind::Enforcement, keyword) if !keyword.is_empty() => format!("does not enforce `{keyword}`"),
            _ => "accepts more than the schema".to_owned(),
        };
        at(span, format!("{dialect} {loss} at {} of {what}", place(pointer)))
    }

    /// An agent has more strict tools than a provider takes.
    ///
    /// Providers bound the number of strict tools in a request, and of their optional parameters and unions. Tools over the
    /// bound are sent plain unless `strict = "require"`, a strict target or the tool's own `strict: always` forbids it.
    Error "TWD201" strict_budget(span: Span, message: String) {
        at(span, message).help("give the tool `strict: prefer` or `never`, or the agent fewer tools")
    }

    /// An agent has more tools than a provider takes in one request.
    ///
    /// Tools with `defer: true` do not count, because models find them by searching.
    Error "TWD202" too_many_tools(span: Span, message: String) {
        at(span, message)
    }

    /// The definitions of an agent's tools are larger than a provider takes in one request.
    ///
    /// Tools with `defer: true` do not count, because models find them by searching.
    Error "TWD203" too_many_bytes(span: Span, message: String) {
        at(span, message)
    }

    /// Two tools have the same name in a provider's requests.
    ///
    /// Providers restrict the characters and the length of names; other characters become `_`, and long names are cut and end
    /// with a digest. Two tools must not become one.
    Error "TWD301" equal_names(tools: [&Spanned<String>; 2], wire_name: &str, dialect: &str) {
        let [one, other] = tools.map(|tool| &tool.value);
        let places = tools.map(|tool| (tool.span, format!("`{wire_name}` in {dialect}"))).to_vec();
        among(places, format!("`{one}` and `{other}` are both `{wire_name}` in {dialect}"))
            .help("rename one of them")
    }

    /// `[dialects.tools]` names a tool that the project does not have.
    ///
    /// An exception that applies to nothing hides that the tool was renamed.
    Error "TWD302" unknown_tool(span: Span, tool: &str) {
        at(span, format!("there is no tool `{tool}`"))
    }
}

/// Names a place in a schema.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { format!("`{pointer}`") }
}
