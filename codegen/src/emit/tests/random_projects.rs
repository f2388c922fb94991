//! Generates random projects from a seed for tests of the printer: every part of the language, names of many lengths,
//! and descriptions that contain code.

use std::fmt::Write;

use crate::options::{DomainType, Integers, Options, RustPath, TypeOptions};
use crate::source::{Source, Sources};

/// The maximal nesting of schemas.
const MAX_DEPTH: usize = 3;

/// A project of two services, each in its own file, and the options to compile it with.
pub(super) struct RandomProject {
    pub(super) sources: Sources,
    pub(super) options: Options,
}

/// Generates the project of a seed.
pub(super) fn project(seed: u64) -> RandomProject {
    let mut generator = ProjectGenerator {
        random: fastrand::Rng::with_seed(seed),
        names: 0,
        types: Vec::new(),
        toolsets: Vec::new(),
    };
    let (service, consumer) = (generator.unique(), generator.unique());
    let texts = [
        ("a.yaml", generator.provider(&service)),
        ("b.yaml", generator.consumer(&service, &consumer)),
    ];
    let files = texts.map(|(path, text)| Source { path: path.to_owned(), text });
    let mut options = Options::default();
    if generator.random.bool() {
        options.integers = Integers::Exact;
        options.derive.push(RustPath::of_derive("storage::Row").expect("it is a path"));
        let path = RustPath::of_type("::measures::Length").expect("it is a path");
        options.types.push(TypeOptions {
            name: format!("{service}.Measure"),
            span: None,
            derive: Vec::new(),
            domain: Some(DomainType { path, traits: Vec::new() }),
        });
    }
    options.non_exhaustive = generator.random.bool();
    RandomProject { sources: Sources::new(files.into()), options }
}

/// A schema as YAML, and a value that it accepts.
#[derive(Clone)]
struct Schema {
    text: String,
    value: String,
}

/// Schemas without subschemas, each with a value that it accepts.
const SCALARS: &[(&str, &str)] = &[
    ("type: string, minLength: 1, maxLength: 2000", "word"),
    ("type: string, pattern: '^[a-z]{1,20}(-[0-9]+)?$'", "ab-12"),
    ("type: string, pattern: '^a', minLength: 2, maxLength: 3", "ab"),
    ("type: string, contentEncoding: base64", "QQ=="),
    ("type: string, format: date-time", "\"2026-11-21T10:00:00Z\""),
    ("type: string, format: date", "\"2026-11-21\""),
    ("type: string, format: uuid", "123e4567-e89b-42d3-a456-426614174000"),
    ("type: string, format: uri, maxLength: 200", "\"https://example.com/page\""),
    ("type: string, format: email", "name@example.com"),
    ("type: string, format: ipv6", "\"2001:db8::1\""),
    ("type: integer", "7"),
    ("type: integer, minimum: 0, maximum: 1000000", "12345"),
    ("type: integer, format: uint8, minimum: 3", "200"),
    ("type: integer, format: int32", "-70000"),
    ("type: integer, minimum: -9223372036854775808", "-9223372036854775808"),
    ("type: integer, multipleOf: 3", "9"),
    ("type: number", "3.14"),
    ("type: number, minimum: 2.718, exclusiveMaximum: 1.0e+21", "12345.678"),
    ("type: [number, \"null\"], exclusiveMinimum: -1.5", "null"),
    ("type: [string, \"null\"], maxLength: 9", "word"),
    ("type: [string, integer, \"null\"]", "word"),
    ("type: boolean", "true"),
    ("type: \"null\"", "null"),
    ("title: Anything", "[1, { a: b }]"),
    ("const: fixed", "fixed"),
    ("const: { b: [1, null], a: x }", "{ b: [1, null], a: x }"),
    ("enum: [1, two, null]", "two"),
    ("enum: [only]", "only"),
    ("type: [string, \"null\"], enum: [one, two, null]", "two"),
    ("type: string, allOf: [{ maxLength: 99 }, { minLength: 1 }]", "word"),
    ("not: { type: string }", "1"),
    ("if: { type: string }, then: { minLength: 2 }, else: { type: integer }", "4"),
    ("anyOf: [{ type: string, minLength: 4 }, { type: integer, minimum: 3 }]", "4"),
];

/// Property names with characters that no other name may have.
const ODD_NAMES: [&str; 4] = ["x-\\\"quoted\\\"", "$ref", "é 日本", "*/ fn evil() {} /*"];

struct ProjectGenerator {
    random: fastrand::Rng,
    /// The number of names so far.
    names: usize,
    /// The types so far as `service.Type`, each with a value. Schemas refer only to these, so no type is recursive.
    types: Vec<(String, String)>,
    /// The toolsets so far.
    toolsets: Vec<String>,
}

impl ProjectGenerator {
    /// Generates a service with types, methods and toolsets, half of the time with HTTP routes.
    fn provider(&mut self, service: &str) -> String {
        let words = self.words();
        let mut text =
            format!("toolwright: 1\nservice: {{ name: {service}, description: {words} }}\n");
        if self.random.bool() {
            text += "integers: exact\n";
        }
        text += "types:\n  Measure: { type: number, minimum: 0 }\n  Mark: { type: string, minLength: 1 }\n  \
                 Label: { $ref: Mark, maxLength: 9 }\n  MaybeMark: { anyOf: [{ $ref: Mark }, { type: \"null\" }] }\n";
        for (name, value) in
            [("Measure", "1.5"), ("Mark", "word"), ("Label", "word"), ("MaybeMark", "word")]
        {
            self.types.push((format!("{service}.{name}"), value.to_owned()));
        }
        let (one, other) = (self.schema(1).text, self.schema(1).text);
        let _ = writeln!(
            text,
            "  Twins: {{ type: object, properties: {{ one: {{ type: array, items: {one} }}, other: {{ type: array, items: \
             {other} }}, first: {{ $ref: \"#/properties/one/items\" }}, last: {{ $ref: \"#/properties/other/items\" }} }} }}"
        );
        for _ in 0..self.random.usize(1..5) {
            let (name, schema) = (crate::naming::pascal(&self.unique()), self.schema(0));
            let _ = writeln!(text, "  {name}: {}", schema.text);
            self.types.push((format!("{service}.{name}"), schema.value));
        }
        text += "methods:\n";
        let is_http = self.random.bool();
        let mut bound = String::new();
        for _ in 0..self.random.usize(1..4) {
            let (method, tool) = (self.unique(), self.unique());
            let payload = if is_http { self.http_payload() } else { self.payload() };
            let (words, errors) = (self.words(), self.errors(is_http));
            let result = self.schema(1);
            let as_tool =
                if self.random.bool() { self.details(&payload.args) } else { String::new() };
            let as_tool =
                if as_tool.is_empty() { as_tool } else { format!(", tool: {{ {as_tool} }}") };
            let Payload { schema, http, args } = payload;
            let _ = writeln!(
                text,
                "  {method}: {{ description: {words}, payload: {schema}, result: {}, errors: {{ {errors} }}{http}{as_tool} }}",
                result.text
            );
            let details = self.details(&args);
            let _ = writeln!(bound, "      {tool}: {{ bind: {method}, {details} }}");
        }
        let digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let far = format!(
            "mcp: {{ server: {}, listed: {{ far-away: {{ all: \"{digest}\", capabilities: \"{digest}\" }} }}, from: {{ name: Hub, version: \"1.2\" }} }}",
            self.name()
        );
        text += "toolsets:\n";
        text += &self.toolset("", &bound);
        let free = self.free_tools("");
        text += &self.toolset("", &free);
        let remote = self.free_tools("remote: far-away, ");
        text + &self.toolset(&far, &remote)
    }

    /// Generates a service with an agent, an MCP server and a type that holds types of the provider.
    fn consumer(&mut self, provider: &str, service: &str) -> String {
        let (holder, held) = (self.unique(), self.types.len() - 1);
        let held = &self.types[held].0;
        let mut text = format!(
            "toolwright: 1\nservice: {service}\ntypes:\n  {}: {{ type: object, properties: {{ held: {{ $ref: {held} }}, \
             measure: {{ $ref: {provider}.Measure }} }} }}\n",
            crate::naming::pascal(&holder)
        );
        let free = self.free_tools("");
        text += "toolsets:\n";
        let used = self.toolsets.join(", ");
        text += &self.toolset("", &free);
        let exported = self.toolsets.last().expect("one was made");
        let (agent, server) = (format!("{holder}_agent"), format!("{holder}_server"));
        let policy = "max_tool_calls: 20000, max_consecutive_failures: 3, time_budget: 2m, max_output_tokens: 9000, max_cost: 0.25";
        let policy =
            if self.random.bool() { format!(", policy: {{ {policy} }}") } else { String::new() };
        let disclosure = if self.random.bool() { ", disclosure: search" } else { "" };
        let _ = writeln!(
            text,
            "agents:\n  {agent}: {{ description: Uses all., toolsets: [{used}], exports: [{exported}]{policy} }}\n\
             mcp_servers:\n  {server}: {{ version: 1.0.0, toolsets: [{used}, {exported}]{disclosure} }}"
        );
        text
    }

    /// Generates a toolset with the given lines of tools, and the line of its `mcp` key or nothing.
    fn toolset(&mut self, backing: &str, tools: &str) -> String {
        let (name, words) = (self.unique(), self.words());
        let backing = if backing.is_empty() { String::new() } else { format!("    {backing}\n") };
        let text = format!(
            "  {name}:\n    description: {words}\n    tags: [t]\n{backing}    tools:\n{tools}"
        );
        self.toolsets.push(name);
        text
    }

    /// Generates tools without a method, one per line.
    fn free_tools(&mut self, before: &str) -> String {
        // Only one tool can name the same tool of a remote server.
        let count = if before.is_empty() { self.random.usize(1..3) } else { 1 };
        let mut text = String::new();
        for _ in 0..count {
            let (name, args, result) = (self.unique(), self.object(0), self.schema(0));
            let details = self.details(&args.value);
            let _ = writeln!(
                text,
                "      {name}: {{ {before}args: {}, result: {}, {details} }}",
                args.text, result.text
            );
        }
        text
    }

    /// Picks some of the keys that every tool can have; `args` are arguments that the tool accepts.
    fn details(&mut self, args: &str) -> String {
        let mut text = format!("description: {}", self.words());
        let alias = self.unique();
        for key in [
            format!("title: {}", self.words()),
            "annotations: { read_only: false, idempotent: true }".to_owned(),
            "annotations: { read_only: true, destructive: false, idempotent: true, open_world: false }"
                .to_owned(),
            "approval: { prompt: \"Run {{ tool.name }} now?\", denied: No., metadata: { risk_level: low } }"
                .to_owned(),
            "hints: { call: \"Running {{ tool.name }}\" }".to_owned(),
            format!("examples: [{{ args: {args} }}]"),
            "timeout: 1500ms".to_owned(),
            "retry: { attempts: 3 }".to_owned(),
            "sequential: true".to_owned(),
            format!("tags: [some, {}]", self.name()),
            format!("aliases: [{alias}]"),
            "deprecated: { since: \"1.2\" }".to_owned(),
        ] {
            let word = key.split(':').next().unwrap_or_default();
            if self.random.u8(..3) == 0 && !text.contains(&format!(" {word}:")) {
                let _ = write!(text, ", {key}");
            }
        }
        text
    }

    /// Generates errors of a method: one without a payload, one with a field of its payload in the message.
    fn errors(&mut self, is_http: bool) -> String {
        let (words, field) = (self.words(), self.name());
        let [exact, class] = if is_http { [", status: 404", ", status: 5XX"] } else { ["", ""] };
        format!(
            "gone: {{ description: {words}, recovery: replan{exact} }}, \
             full_of_{field}: {{ message: \"no room in {{{field}}} for more\", recovery: retry{class}, payload: {{ type: \
             object, required: [{field}], properties: {{ {field}: {{ type: string }} }} }} }}"
        )
    }

    /// Generates the payload of a method without an HTTP route.
    fn payload(&mut self) -> Payload {
        let object = self.object(1);
        Payload { schema: object.text, http: String::new(), args: object.value }
    }

    /// Generates a payload whose properties go into all parts of an HTTP request.
    fn http_payload(&mut self) -> Payload {
        let [path, query, list, header, cookie] = std::array::from_fn(|_| self.unique());
        let verbs = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
        let verb = verbs[self.random.usize(..verbs.len())];
        let style = ["form", "space_delimited", "pipe_delimited"][self.random.usize(..3)];
        let body = self.schema(1);
        let (property, http) = if ["GET", "HEAD", "TRACE"].contains(&verb) {
            (String::new(), String::new())
        } else if self.random.bool() {
            (format!(", content: {}", body.text), ", body: content".to_owned())
        } else {
            (format!(", content: {}", body.text), ", body: '*', content: json".to_owned())
        };
        Payload {
            schema: format!(
                "{{ type: object, required: [{path}], additionalProperties: false, properties: {{ {path}: {{ type: string \
                 }}, {query}: {{ type: integer }}, {list}: {{ type: array, items: {{ type: string }} }}, {header}: {{ \
                 type: string }}, {cookie}: {{ type: boolean }}{property} }} }}"
            ),
            http: format!(
                ", http: {{ method: {verb}, path: \"/rooms/{{{path}}}/all\", query: [{query}, {{ property: {list}, name: \
                 list, style: {style} }}], headers: {{ X-Header: {header} }}, cookies: {{ crumb: {cookie} }}{http} }}"
            ),
            args: format!("{{ {path}: a }}"),
        }
    }

    /// Generates a valid name of one to four words.
    fn name(&mut self) -> String {
        let words =
            ["a", "room", "status", "identifier", "x9", "longitudinal", "of", "type", "match"];
        let count = self.random.usize(1..5);
        let chosen: Vec<&str> =
            (0..count).map(|_| words[self.random.usize(..words.len())]).collect();
        chosen.join("_")
    }

    /// Generates a unique name.
    fn unique(&mut self) -> String {
        self.names += 1;
        format!("{}_{}", self.name(), self.names)
    }

    /// Picks a quoted description. Some would break out of a line, a string or a comment if they were not escaped.
    fn words(&mut self) -> String {
        let texts = [
            "Does it.",
            "*/ fn evil() {} /*",
            "Line one.\\nLine two `code` \\\"quoted\\\" {braces} #[attribute].",
            "A rather long sentence that goes on for more than any line of a source file may, so that it has to be \
             broken somewhere, or not.",
            "é 日本 \\u202e 🦀",
        ];
        format!("\"{}\"", texts[self.random.usize(..texts.len())])
    }

    fn object(&mut self, depth: usize) -> Schema {
        let (mut properties, mut required, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..self.random.usize(1..6) {
            let name = match self.random.usize(..40) {
                odd if odd < ODD_NAMES.len() => format!("\"{}{number}\"", ODD_NAMES[odd]),
                _ => format!("{}_{number}", self.name()),
            };
            let schema = self.schema(depth + 1);
            let mut text = schema.text;
            let is_required = self.random.bool();
            let has_default = !is_required && self.random.bool();
            if is_required {
                values.push(format!("{name}: {}", schema.value));
                required.push(name.clone());
            } else if has_default {
                text = with_key(&text, &format!("default: {}", schema.value));
            }
            if self.random.u8(..4) == 0 {
                text = with_key(&text, &format!("description: {}", self.words()));
            }
            properties.push(format!("{name}: {text}"));
        }
        let more = [
            "",
            "additionalProperties: false",
            "additionalProperties: { type: string }",
            "maxProperties: 9",
            "patternProperties: { \"^x_\": { type: integer } }",
            "dependentRequired: { left: [right] }",
        ];
        let text = format!(
            "{{ type: object, required: [{}], properties: {{ {} }} }}",
            required.join(", "),
            properties.join(", "),
        );
        Schema {
            text: with_key(&text, more[self.random.usize(..more.len())]),
            value: format!("{{ {} }}", values.join(", ")),
        }
    }

    fn schema(&mut self, depth: usize) -> Schema {
        // The deepest schemas have no subschemas.
        let kinds = if depth < MAX_DEPTH { 20 } else { 10 };
        let (text, value) = match self.random.usize(..kinds) {
            0..8 => {
                let (keys, value) = SCALARS[self.random.usize(..SCALARS.len())];
                (format!("{{ {keys} }}"), value.to_owned())
            }
            8 => {
                let values: Vec<String> =
                    (0..self.random.usize(1..12)).map(|n| format!("{}_{n}", self.name())).collect();
                let text = format!("{{ type: string, enum: [{}] }}", values.join(", "));
                (text, values[0].clone())
            }
            9 => {
                let (name, value) = self.types[self.random.usize(..self.types.len())].clone();
                (format!("{{ $ref: {name} }}"), value)
            }
            10..13 => return self.object(depth),
            13..16 => self.with_one_part(depth),
            _ => self.with_two_parts(depth),
        };
        Schema { text, value }
    }

    /// Generates a list, a map or a nullable schema, with a value.
    fn with_one_part(&mut self, depth: usize) -> (String, String) {
        let Schema { text: part, value } = self.schema(depth + 1);
        match self.random.usize(..7) {
            0 => {
                let text = format!(
                    "{{ anyOf: [{{ type: array, items: {part} }}, {{ type: \"null\" }}] }}"
                );
                (text, "null".to_owned())
            }
            one_of @ 1..4 => {
                let more = ["maxItems: 10", "uniqueItems: true", "minItems: 1, maxItems: 3"];
                let more = more[one_of - 1];
                (format!("{{ type: array, {more}, items: {part} }}"), format!("[{value}]"))
            }
            one_of => {
                let more = ["", "propertyNames: { maxLength: 5 }", "minProperties: 1"];
                let text = format!("{{ type: object, additionalProperties: {part} }}");
                (with_key(&text, more[one_of - 4]), format!("{{ key: {value} }}"))
            }
        }
    }

    /// Generates a tuple, a union, a choice of overlapping objects or an `allOf` of objects, with a value.
    fn with_two_parts(&mut self, depth: usize) -> (String, String) {
        let (one, other) = (self.schema(depth + 1), self.schema(depth + 1));
        match self.random.usize(..4) {
            0 => {
                let (one_text, other_text) = (one.text, other.text);
                let text = format!(
                    "{{ type: array, prefixItems: [{one_text}, {other_text}], items: false, minItems: 2 }}"
                );
                (text, format!("[{}, {}]", one.value, other.value))
            }
            1 => {
                let variant = |kind: &str, Schema { text, .. }: &Schema| {
                    format!(
                        "{{ type: object, required: [kind, value], properties: {{ kind: {{ const: {kind} }}, value: \
                         {text} }} }}"
                    )
                };
                let (first, second) = (variant("one", &one), variant("other", &other));
                let value = format!("{{ kind: one, value: {} }}", one.value);
                (format!("{{ oneOf: [{first}, {second}] }}"), value)
            }
            2 => {
                let (one, other) = (self.object(depth).text, self.object(depth).text);
                let text = format!("{{ anyOf: [{one}, {other}, {{ type: string }}] }}");
                (text, "word".to_owned())
            }
            _ => {
                let (name, other) = (self.name(), other.text);
                let text = format!(
                    "{{ allOf: [{{ type: object, required: [own], properties: {{ own: {{ type: integer }} }} }}, {{ \
                     type: object, properties: {{ {name}: {other} }} }}] }}"
                );
                (text, "{ own: 1 }".to_owned())
            }
        }
    }
}

/// The payload of a method: its schema, the method's `http` key, and arguments that the schema accepts.
struct Payload {
    schema: String,
    http: String,
    args: String,
}

/// Adds a key to a mapping, unless the key is empty.
fn with_key(mapping: &str, key: &str) -> String {
    match mapping.strip_suffix(" }") {
        Some(rest) if !key.is_empty() => format!("{rest}, {key} }}"),
        _ => mapping.to_owned(),
    }
}
