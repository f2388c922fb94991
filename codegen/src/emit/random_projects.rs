//! Generates random projects from a seed for tests of the printer: names of many lengths, every shape of a schema, and
//! descriptions that contain code.

use std::fmt::Write;

/// How deep schemas may nest.
const MAX_DEPTH: usize = 3;

/// The schema file of a seed: a service with types, methods, tools and an agent. It may hold mistakes.
pub(super) fn project(seed: u64) -> String {
    Maker { random: fastrand::Rng::with_seed(seed), types: Vec::new() }.file()
}

struct Maker {
    random: fastrand::Rng,
    /// Names of the types so far; a schema refers to these alone, so none holds itself.
    types: Vec<String>,
}

impl Maker {
    fn file(&mut self) -> String {
        let service = self.name();
        let mut text = format!("toolwright: 1\nservice: {service}\ntypes:\n");
        for number in 0..self.random.usize(2..8) {
            let name = format!("{}{number}", crate::naming::pascal(&self.name()));
            let schema = self.schema(0);
            let _ = writeln!(text, "  {name}: {schema}");
            self.types.push(name);
        }
        text += "methods:\n";
        let methods: Vec<String> =
            (0..3).map(|number| format!("{}_{number}", self.name())).collect();
        for method in &methods {
            let (words, payload, result) = (self.words(), self.object(1), self.schema(1));
            let _ = writeln!(
                text,
                "  {method}: {{ description: {words}, payload: {payload}, result: {result}, errors: {{ no_such_thing: \
                 {{ description: {words}, recovery: replan }} }} }}"
            );
        }
        let toolset = format!("{}_set", self.name());
        let words = self.words();
        let _ = writeln!(text, "toolsets:\n  {toolset}:\n    description: {words}\n    tools:");
        for (number, method) in methods.iter().enumerate() {
            let (name, words) = (self.name(), self.words());
            let _ =
                writeln!(text, "      {name}_{number}: {{ description: {words}, bind: {method} }}");
        }
        let (args, result) = (self.object(0), self.schema(0));
        let _ = writeln!(
            text,
            "      own_tool: {{ description: {words}, args: {args}, result: {result}, timeout: 3s, tags: [a, b] }}"
        );
        let _ = writeln!(
            text,
            "agents:\n  {}_agent: {{ description: Uses all., toolsets: [{toolset}] }}",
            self.name()
        );
        text
    }

    /// A name of the language: one to five short words.
    fn name(&mut self) -> String {
        let words =
            ["a", "room", "status", "identifier", "x9", "longitudinal", "of", "type", "match"];
        let count = self.random.usize(1..5);
        let chosen: Vec<&str> =
            (0..count).map(|_| words[self.random.usize(..words.len())]).collect();
        chosen.join("_")
    }

    /// A description in quotes; some break lines, quotes or comments.
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

    fn object(&mut self, depth: usize) -> String {
        let mut properties = Vec::new();
        let mut required = Vec::new();
        for number in 0..self.random.usize(1..7) {
            let name = format!("{}_{number}", self.name());
            if self.random.bool() {
                required.push(name.clone());
            }
            properties.push(format!("{name}: {}", self.schema(depth + 1)));
        }
        let open =
            ["", ", additionalProperties: false", ", additionalProperties: { type: string }"];
        format!(
            "{{ type: object, required: [{}], properties: {{ {} }}{} }}",
            required.join(", "),
            properties.join(", "),
            open[self.random.usize(..open.len())]
        )
    }

    fn schema(&mut self, depth: usize) -> String {
        let kinds = if depth < MAX_DEPTH { 14 } else { 9 };
        match self.random.usize(..kinds) {
            0 => "{ type: string, minLength: 1, maxLength: 2000 }".to_owned(),
            1 => "{ type: string, pattern: '^[a-z]{1,20}(-[0-9]+)?$' }".to_owned(),
            2 => "{ type: integer, minimum: 0, maximum: 1000000 }".to_owned(),
            3 => "{ type: [number, \"null\"], exclusiveMinimum: -1.5 }".to_owned(),
            4 => "{ type: boolean }".to_owned(),
            5 => {
                let count = self.random.usize(1..12);
                let values: Vec<String> =
                    (0..count).map(|n| format!("{}_{n}", self.name())).collect();
                format!("{{ type: string, enum: [{}] }}", values.join(", "))
            }
            6 => "{ type: string, format: date-time }".to_owned(),
            7 => "{ multipleOf: 3, type: integer }".to_owned(),
            8 if !self.types.is_empty() => {
                format!("{{ $ref: {} }}", self.types[self.random.usize(..self.types.len())])
            }
            8 => "true".to_owned(),
            9 => format!("{{ type: array, maxItems: 10, items: {} }}", self.schema(depth + 1)),
            10 => {
                let (one, other) = (self.schema(depth + 1), self.schema(depth + 1));
                format!(
                    "{{ type: array, prefixItems: [{one}, {other}], items: false, minItems: 2 }}"
                )
            }
            11 => format!("{{ type: object, additionalProperties: {} }}", self.schema(depth + 1)),
            12 => {
                let (one, other) = (self.schema(depth + 1), self.schema(depth + 1));
                format!(
                    "{{ oneOf: [{{ type: object, required: [kind, value], properties: {{ kind: {{ const: one }}, value: \
                     {one} }} }}, {{ type: object, required: [kind], properties: {{ kind: {{ const: other }}, value: \
                     {other} }} }}] }}"
                )
            }
            _ => self.object(depth),
        }
    }
}
