//! Every mapping of the language, key by key. Never how one is read: [`super::read`] does that.

use toolwright::http::{Content, Style, Verb};

use super::read::{Read, mapping};
use super::values::{
    Digest, Entries, HttpAnswer, Literal, NonEmpty, Period, RecoveryWord, SchemaText, Several,
    StatusText, Version, Word,
};
use crate::diagnostic::{Report, form};
use crate::options::Integers;
use crate::source::{Span, Spanned};
use crate::yaml::{Node, Value};

/// A string and where it was written.
type Text = Spanned<String>;

mapping! {
    /// One file of a project.
    Document {
        /// The language version: 1.
        toolwright: Version,
        /// The service that owns what this file declares: its name, or its name and description.
        service: Option<ServiceRef>,
        /// What an integer is that neither its limits nor its format bound: an `int64`, or `exact`, of any size; numbers
        /// are then exact too, and `double` otherwise. Left out: what the project says, `int64` unless it does.
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
        /// Its effect, in words.
        description: Option<Text>,
        /// Its payload: a type's name or an inline schema of an object; left out: nothing.
        payload: Option<SchemaText>,
        /// Its result: a type's name or an inline schema; left out: null.
        result: Option<SchemaText>,
        /// The failures it declares, by name.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        errors: Option<Entries<MethodError>>,
        /// Makes it a tool by itself, in its service's implicit toolset.
        tool: Option<MethodTool>,
        /// How it goes over HTTP, for a service whose client is to be generated.
        http: Option<Http>,
    }

    /// How a method goes over HTTP: each property of its payload stands in one place.
    Http {
        /// The request's method.
        method: Word<Verb>,
        /// The path below the service's base address; `{name}` stands for a required property of the payload.
        #[schemars(extend("pattern" = "^/"))]
        path: Text,
        /// Properties in the query.
        query: Option<Vec<HttpQuery>>,
        /// Properties in headers, by the header's name.
        headers: Option<Entries<Text>>,
        /// Properties in cookies, by the cookie's name.
        cookies: Option<Entries<Text>>,
        /// The property that is the body; `*` for an object of all that stand nowhere else.
        body: Option<Text>,
        /// How the body is written; `json` unless given.
        content: Option<Word<Content>>,
        /// The form of a good answer; left out: `json`.
        answer: Option<Word<HttpAnswer>>,
    }

    /// A property in the query, with what is not said by its name alone.
    HttpQueryParameter {
        /// The property of the payload.
        property: Text,
        /// Its name in the query; the property's unless given.
        name: Option<Text>,
        /// How lists and objects are written; `form` unless given.
        style: Option<Word<Style>>,
        /// Whether each item is a parameter of its own; true for `form` and `deep_object` unless given.
        explode: Option<bool>,
    }

    /// A failure a method declares.
    #[cfg_attr(feature = "language-schema", schemars(extend("anyOf" = super::patterns::worded())))]
    MethodError {
        /// Its meaning, in words the model may see.
        description: Option<Text>,
        /// The sentence a caller reads, for which a required property of the payload is named in braces:
        /// `there is no issue {id}`. Left out: the description.
        message: Option<Text>,
        /// Its payload: a type's name or an inline schema of an object.
        payload: Option<SchemaText>,
        /// The advice to the caller; left out: `replan`.
        recovery: Option<RecoveryWord>,
        /// The HTTP status that means it, such as 404, or `4XX` for all such that no other error names.
        status: Option<StatusText>,
    }

    /// A named set of tools.
    Toolset {
        /// Its purpose.
        description: Option<Text>,
        /// Prepended to the tags of every tool.
        tags: Option<Vec<Text>>,
        /// The remote MCP server whose tools these are.
        mcp: Option<McpBacking>,
        /// Its tools, in the order in which they are advertised.
        #[schemars(extend("propertyNames" = super::patterns::name()))]
        tools: NonEmpty<Entries<Tool>>,
    }

    /// The MCP server a toolset stands for.
    McpBacking {
        /// The name by which run-time configuration knows it.
        #[schemars(extend("pattern" = super::patterns::name()["pattern"], "maxLength" = 64))]
        server: Text,
        /// The list of the server when this was written: every tool by its name there, with the digest of its schemas.
        listed: Option<Entries<Digest>>,
        /// The server's own name, version and protocol at that time.
        from: Option<McpProvenance>,
        /// Digests of the parts that an import wrote of each tool, so that the next import can tell edits since.
        written: Option<Entries<McpWritten>>,
        /// The same of the types that these tools need: every word of a schema that an import wrote, as a few digits.
        types: Option<Entries<Text>>,
    }

    /// An MCP server's own name, version and protocol when its tools were written down.
    McpProvenance {
        /// Its name.
        name: Option<Text>,
        /// Its version.
        version: Option<Text>,
        /// The revision of the protocol that was spoken.
        protocol: Option<Text>,
        /// The day.
        date: Option<Text>,
    }

    /// Digests of the parts of a tool that an import wrote.
    McpWritten {
        /// Of its title.
        title: Option<Text>,
        /// Of its description.
        description: Option<Text>,
        /// Of its annotations.
        annotations: Option<Text>,
        /// Of every word of the schema of its arguments.
        args: Option<Text>,
        /// Of every word of the schema of its result.
        result: Option<Text>,
    }

    /// One tool.
    Tool {
        /// What the model sends: a type's name or an inline schema; left out: the bound method's
        /// payload less what is injected.
        args: Option<SchemaText>,
        /// Its result: a type's name or an inline schema; left out: the bound method's result.
        result: Option<SchemaText>,
        /// The method behind it: `method`, or `service.method`.
        bind: Option<Text>,
        /// Its name on the remote MCP server, where that is not a valid name here.
        remote: Option<Text>,
        ..details: ToolDetails,
    }

    /// A tool made of the method it stands in.
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
        /// Its effects on the world, as hints.
        annotations: Option<ToolAnnotations>,
        /// The approval that it needs before it may run.
        approval: Option<Approval>,
        /// How its progress is shown to people.
        hints: Option<Hints>,
        /// Example calls; each is checked against the tool's schemas.
        examples: Option<Vec<Example>>,
        /// How long one call may take.
        timeout: Option<Period>,
        /// How transient failures are tried again.
        retry: Option<Retry>,
        /// Whether it is a barrier among concurrent calls.
        sequential: Option<bool>,
        /// Added to the toolset's tags.
        tags: Option<Vec<Text>>,
        /// Earlier names: still routed, never advertised.
        #[schemars(extend("items" = super::patterns::named()))]
        aliases: Option<Vec<Text>>,
        /// Why it should no longer be used.
        deprecated: Option<Deprecated>,
    }

    /// MCP's hints on what a tool does.
    ToolAnnotations {
        /// It changes nothing.
        read_only: Option<bool>,
        /// It may destroy something.
        destructive: Option<bool>,
        /// A second equal call changes nothing more.
        idempotent: Option<bool>,
        /// It reaches beyond the system it belongs to.
        open_world: Option<bool>,
    }

    /// The words of an approval request: minijinja templates over `args` and `tool`.
    Approval {
        /// The question to the approver.
        prompt: Option<Text>,
        /// The answer to the model when approval is denied.
        denied: Option<Text>,
        /// Whatever else the approver's side needs, such as `risk_level: high`.
        metadata: Option<Entries<Literal>>,
    }

    /// Templates for showing progress; minijinja over `args`, `tool` and `result`.
    Hints {
        /// Shown when a call starts.
        call: Option<Text>,
        /// Shown when its result is there.
        result: Option<Text>,
    }

    /// An example call.
    Example {
        /// The arguments.
        args: Literal,
        /// The result.
        result: Option<Literal>,
    }

    /// How transient failures are tried again.
    Retry {
        /// How many attempts in all.
        attempts: u32,
    }

    /// Why a tool should no longer be used.
    Deprecated {
        /// The version since when.
        since: Option<Text>,
        /// The tool to use instead.
        r#use: Option<Text>,
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
        /// The limits of its runs.
        policy: Option<Policy>,
    }

    /// The limits of an agent's run.
    Policy {
        /// How many tool calls in all.
        max_tool_calls: Option<u32>,
        /// How many failures in a row.
        max_consecutive_failures: Option<u32>,
        /// How long in all.
        time_budget: Option<Period>,
    }

    /// An MCP server.
    McpServer {
        /// The version it reports.
        version: Text,
        /// The toolsets it exposes, by name.
        toolsets: NonEmpty<Vec<Text>>,
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

/// A service as a file names it: by its bare name, or by a mapping.
#[derive(Clone, Debug)]
pub struct ServiceRef {
    /// Its name.
    pub name: Text,
    /// Its purpose, where this file says so.
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

    /// What the file declares belongs to some service, whatever it is called.
    fn recovered(span: Span) -> Option<Self> {
        Some(Self::placeholder(span))
    }
}

/// A property in the query: its bare name, or a mapping.
#[derive(Clone, Debug)]
pub struct HttpQuery {
    /// The property of the payload.
    pub property: Text,
    /// Its name in the query, where that is another.
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
            // Arguments that were forgotten break no schema.
            examples.extend(example.filter(|_| item.get("args").is_some()));
        }
        Some(examples)
    }

    fn placeholder(_: Span) -> Self {
        Vec::new()
    }
}
