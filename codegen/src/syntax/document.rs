//! Declares every mapping of the language with its keys. [`super::read`] reads them.

use toolwright::http::{Content, Style, Verb};

use super::read::{Read, mapping};
use toolwright::spec::{Effort, Strictness};

use super::values::{
    Amount, Day, Digest, Disclosure, Entries, HttpAnswer, Literal, NonEmpty, Period, RecoveryWord,
    Release, SchemaText, Several, StatusText, Version, Word,
};
use crate::diagnostic::{Report, form};
use crate::options::Integers;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// A string with its span.
type Text = Spanned<String>;

mapping! {
    /// One file of a project.
    Document {
        /// The language version: 1.
        toolwright: Version,
        /// The service that owns what this file declares: its name, or its name and description.
        service: Option<ServiceRef>,
        /// The type of integers without limits or a format: `int64`, or `exact` for any size. With `exact`, numbers
        /// are exact, too; otherwise they are doubles. Default: that of the project, or else `int64`.
        integers: Option<Word<Integers>>,
        /// JSON Schemas (2020-12) by name.
        #[schemars(
            with = "Option<Entries<super::vocabulary::Vocabulary>>",
            extend("propertyNames" = super::patterns::type_name())
        )]
        types: Option<Entries<SchemaText>>,
        /// Operations of the service; they become a Rust trait.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        methods: Option<Entries<Method>>,
        /// Named sets of tools.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        toolsets: Option<Entries<Toolset>>,
        /// Agents of the service: they use tools and may implement toolsets.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        agents: Option<Entries<Agent>>,
        /// MCP servers that expose existing toolsets.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        mcp_servers: Option<Entries<McpServer>>,
    }

    /// A service.
    Service {
        /// Its name.
        #[schemars(extend("pattern" = super::patterns::name()["pattern"], "maxLength" = 64))]
        name: Text,
        /// Its purpose.
        description: Option<Text>,
    }

    /// An operation of a service.
    Method {
        /// Its effect.
        description: Option<Text>,
        /// Its payload: the name of a type, or a schema of an object. Default: no payload.
        payload: Option<SchemaText>,
        /// Its result: the name of a type, or a schema. Default: null.
        result: Option<SchemaText>,
        /// Its declared errors, by name.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        errors: Option<Entries<MethodError>>,
        /// Makes the method a tool, in a toolset that is named after the service.
        tool: Option<MethodTool>,
        /// Its HTTP request, for the generated client of the service.
        http: Option<Http>,
    }

    /// The HTTP request of a method. Each property of the payload has one place in it.
    Http {
        /// The HTTP method.
        method: Word<Verb>,
        /// The path below the service's base address; `{name}` is replaced by a required property of the payload.
        #[schemars(extend("pattern" = "^/"))]
        path: Text,
        /// Properties in the query.
        query: Option<Vec<HttpQuery>>,
        /// Properties in headers, by the header's name.
        headers: Option<Entries<Text>>,
        /// Properties in cookies, by the cookie's name.
        cookies: Option<Entries<Text>>,
        /// The property that is the body; `*` for an object of all properties without another place.
        body: Option<Text>,
        /// The format of the body: JSON, a form with lists as repeated parameters and objects as JSON (`form`), a form with both as
        /// `a[b]=1` (`deep_form`), or text. Default: `json`.
        content: Option<Word<Content>>,
        /// The format of a successful response. Default: `json`.
        answer: Option<Word<HttpAnswer>>,
    }

    /// A property in the query, with options.
    HttpQueryParameter {
        /// The property of the payload.
        property: Text,
        /// Its name in the query. Default: the name of the property.
        name: Option<Text>,
        /// How lists and objects are written. Default: `form`.
        style: Option<Word<Style>>,
        /// Whether each item is a parameter of its own. Default: true for `form` and `deep_object`.
        explode: Option<bool>,
    }

    /// A declared error of a method.
    #[cfg_attr(feature = "language-schema", schemars(extend("anyOf" = super::patterns::description_or_message())))]
    MethodError {
        /// Its meaning. The model may see this text.
        description: Option<Text>,
        /// The message to the caller, with required properties of the payload in braces: `there is no issue {id}`.
        /// Default: the description.
        message: Option<Text>,
        /// Its payload: the name of a type, or a schema of an object.
        payload: Option<SchemaText>,
        /// The advice to the caller. Default: `replan`. Over HTTP, a POST or PATCH is called again after `retry` only if it was not redirected and its status is 503, or 4XX but 408; after others, it may have taken effect.
        recovery: Option<RecoveryWord>,
        /// The HTTP status that means this error, such as 404, or `4XX` for all from 400 to 499 without an error of their own.
        status: Option<StatusText>,
    }

    /// A named set of tools.
    Toolset {
        /// Its purpose.
        description: Option<Text>,
        /// Its version, such as `1.3.0`. `toolwright breaking` allows the changes that a new version announces.
        version: Option<Release>,
        /// Tags of all its tools, before the tools' own tags.
        tags: Option<Vec<Text>>,
        /// The remote MCP server that has these tools.
        mcp: Option<McpBacking>,
        /// Its tools, in the order in which they are advertised.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        tools: NonEmpty<Entries<Tool>>,
    }

    /// The remote MCP server of a toolset.
    McpBacking {
        /// A name for the server, by which the host finds its connection and logs name it.
        #[schemars(extend("pattern" = super::patterns::name()["pattern"], "maxLength" = 64))]
        server: Text,
        /// The tools of the server at the time of the import, by their names there.
        listed: Option<Entries<McpListed>>,
        /// The server's own name, version and protocol at the time of the import.
        from: Option<McpProvenance>,
        /// Digests of the parts of each tool that an import wrote, so that the next import can detect edits.
        written: Option<Entries<McpWritten>>,
        /// Short digests of all keywords that an import wrote for the types that these tools need.
        types: Option<Entries<Text>>,
    }

    /// The digests of a tool as its server listed it: SHA-256 over canonical JSON.
    McpListed {
        /// The digest of the whole object.
        all: Digest,
        /// The digest of the object without its texts.
        capabilities: Digest,
    }

    /// An MCP server's own name, version and protocol at the time of the import.
    McpProvenance {
        /// Its name.
        name: Option<Text>,
        /// Its version.
        version: Option<Text>,
        /// The revision of the protocol.
        protocol: Option<Text>,
        /// The date of the import.
        date: Option<Text>,
    }

    /// Digests of the parts of a tool that an import wrote.
    McpWritten {
        /// The digest of its title.
        title: Option<Text>,
        /// The digest of its description.
        description: Option<Text>,
        /// The digest of its annotations.
        annotations: Option<Text>,
        /// Digests of all keywords in the schema of its arguments.
        args: Option<Text>,
        /// Digests of all keywords in the schema of its result.
        result: Option<Text>,
    }

    /// One tool.
    Tool {
        /// Its arguments: the name of a type, or a schema. Default: the payload of the bound method without the injected
        /// properties.
        args: Option<SchemaText>,
        /// Its result: the name of a type, or a schema. Default: the result of the bound method.
        result: Option<SchemaText>,
        /// The method that it calls: `method`, or `service.method`.
        bind: Option<Text>,
        /// Its name on the remote MCP server, if that is not a valid name here.
        remote: Option<Text>,
        ..details: ToolDetails,
    }

    /// A tool that calls the method in which it is declared.
    MethodTool {
        ..details: ToolDetails,
    }

    /// The keys that every tool has.
    ToolDetails {
        /// A short name for people.
        title: Option<Text>,
        /// The description that the model reads.
        description: Text,
        /// Payload fields filled from the call's metadata and hidden from the model:
        /// run_id, session_id, turn_id, call_id, parent_call_id or label:KEY.
        inject: Option<Entries<Text>>,
        /// Hints about its effects.
        annotations: Option<ToolAnnotations>,
        /// The approval that it needs before it may run.
        approval: Option<Approval>,
        /// How its progress is shown to people.
        hints: Option<Hints>,
        /// Example calls; each is checked against the tool's schemas.
        examples: Option<Vec<Example>>,
        /// How long one attempt of a call may take.
        timeout: Option<Period>,
        /// How transient failures are retried.
        retry: Option<Retry>,
        /// Set to true if its calls must not run at the same time as other calls of the same step.
        sequential: Option<bool>,
        /// Enforcement of the schema of its arguments by model providers, which some offer only for a few tools. Default: prefer.
        strict: Option<Word<Strictness>>,
        /// Hides it from models until they search for it.
        defer: Option<bool>,
        /// Its tags, after those of the toolset.
        tags: Option<Vec<Text>>,
        /// Earlier names, by which it can still be called; they are not listed.
        #[schemars(extend("items" = super::patterns::named()))]
        aliases: Option<Vec<Text>>,
        /// Marks it as deprecated.
        deprecated: Option<Deprecated>,
    }

    /// MCP's hints on what a tool does.
    ToolAnnotations {
        /// It changes nothing.
        read_only: Option<bool>,
        /// It may destroy something.
        destructive: Option<bool>,
        /// Repeating a call changes nothing more.
        idempotent: Option<bool>,
        /// It reaches beyond the system it belongs to.
        open_world: Option<bool>,
    }

    /// The texts of an approval request: minijinja templates over `args` and `tool`.
    Approval {
        /// The question to the approver.
        prompt: Option<Text>,
        /// The answer to the model when approval is denied.
        denied: Option<Text>,
        /// Further data for the approver, such as `risk_level: high`.
        metadata: Option<Entries<Literal>>,
    }

    /// Templates for showing progress; minijinja over `args`, `tool` and `result`.
    Hints {
        /// Shown when a call starts.
        call: Option<Text>,
        /// Shown when the call has a result.
        result: Option<Text>,
    }

    /// An example call.
    Example {
        /// The arguments.
        args: Literal,
        /// The result.
        result: Option<Literal>,
    }

    /// How transient failures are retried.
    Retry {
        /// The number of attempts in total. An attempt that took too long is repeated only if the tool is read-only or
        /// idempotent.
        attempts: u32,
    }

    /// The deprecation of a tool.
    Deprecated {
        /// The version that deprecated it.
        since: Option<Text>,
        /// The tool to use instead.
        r#use: Option<Text>,
        /// The last day on which it is there, such as `2027-01-31`. Calls of it in Rust get a warning with the day.
        until: Option<Day>,
    }

    /// An agent.
    Agent {
        /// Its purpose.
        description: Option<Text>,
        /// Its instructions.
        instructions: Option<Text>,
        /// Whole toolsets it uses, by name.
        toolsets: Option<Vec<Text>>,
        /// Single tools it uses, by name.
        tools: Option<Vec<Text>>,
        /// Toolsets it implements.
        exports: Option<Vec<Text>>,
        /// Hints for hosts about the model to use.
        model: Option<ModelHints>,
        /// The limits of its runs.
        policy: Option<Policy>,
    }

    /// Hints about the model of an agent. Hosts decide.
    ModelHints {
        /// The family of models, such as `claude`.
        family: Option<Text>,
        /// The amount of reasoning: `low`, `medium` or `high`.
        effort: Option<Word<Effort>>,
    }

    /// The limits of an agent's run.
    Policy {
        /// The most tool calls in total.
        max_tool_calls: Option<u32>,
        /// The number of failures in a row that ends the run.
        max_consecutive_failures: Option<u32>,
        /// The most time in total.
        time_budget: Option<Period>,
        /// The number of questions to a model after which it gets one last question, for its final answer.
        max_model_calls: Option<u32>,
        /// The most tokens of a model's answers.
        max_output_tokens: Option<u32>,
        /// The most that its model may cost, in the currency of the host's prices: `0.25`.
        max_cost: Option<Amount>,
    }

    /// An MCP server.
    McpServer {
        /// The version it reports.
        version: Text,
        /// The toolsets it exposes, by name.
        toolsets: NonEmpty<Vec<Text>>,
        /// How clients learn of its tools: with `list`, all are listed; with `search`, only `search_tools` and `call_tool` are.
        /// Default: `list`.
        disclosure: Option<Word<Disclosure>>,
    }
}

/// Reads a whole file.
pub(super) fn read(node: &Node, report: &mut Report) -> Option<Document> {
    if matches!(node.value, Value::Null) {
        report.add(form::empty_file(node.span));
        return None;
    }
    if node.entries().is_none() {
        report.note_unread_definitions();
    }
    Document::read(node, report)
}

/// The service of a file: only its name, or a mapping with its description.
#[derive(Clone, Debug)]
pub struct ServiceRef {
    /// Its name.
    pub name: Text,
    /// Its purpose, if the file gives it.
    pub description: Option<Text>,
}

impl Read for ServiceRef {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        if matches!(node.value, Value::Mapping(_)) {
            let Service { name, description, .. } = Service::read(node, report)?;
            return Some(Self { name, description });
        }
        let name = Text::read(node, report)?;
        Some(Self { name, description: None })
    }

    fn placeholder(span: Span) -> Self {
        Self { name: Text::placeholder(span), description: None }
    }

    /// The service is wrong, but the file has one.
    fn recovered(span: Span) -> Option<Self> {
        Some(Self::placeholder(span))
    }
}

/// A property in the query: only its name, or a mapping with options.
#[derive(Clone, Debug)]
pub struct HttpQuery {
    /// The property of the payload.
    pub property: Text,
    /// Its name in the query, if it differs.
    pub name: Option<Text>,
    /// How lists and objects are written.
    pub style: Option<Style>,
    /// Whether each item is a parameter of its own.
    pub explode: Option<bool>,
}

impl Read for HttpQuery {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        if matches!(node.value, Value::Mapping(_)) {
            let HttpQueryParameter { property, name, style, explode, .. } =
                HttpQueryParameter::read(node, report)?;
            return Some(Self { property, name, style: style.map(|word| word.0), explode });
        }
        let property = Text::read(node, report)?;
        Some(Self { property, name: None, style: None, explode: None })
    }

    fn placeholder(span: Span) -> Self {
        Self { property: Text::placeholder(span), name: None, style: None, explode: None }
    }
}

impl Several for Entries<Tool> {
    const ONE: &'static str = "tool";

    fn is_empty(node: &Node) -> bool {
        matches!(&node.value, Value::Mapping(entries) if entries.is_empty())
    }
}

impl Read for Vec<HttpQuery> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Sequence(items) = &node.value else {
            report.add(node.unexpected("a list of properties"));
            return None;
        };
        Some(items.iter().filter_map(|item| HttpQuery::read(item, report)).collect())
    }

    fn placeholder(_: Span) -> Self {
        Vec::new()
    }
}

impl Read for Vec<Example> {
    fn read(node: &Node, report: &mut Report) -> Option<Self> {
        let Value::Sequence(items) = &node.value else {
            report.add(node.unexpected("a list of examples"));
            return None;
        };
        let mut examples = Vec::new();
        for item in items.iter() {
            let example = Example::read(item, report);
            // Missing `args` are already reported and must not be checked against the schema.
            examples.extend(example.filter(|_| item.get("args").is_some()));
        }
        Some(examples)
    }

    fn placeholder(_: Span) -> Self {
        Vec::new()
    }
}
