//! The tools that every generator gets, and the languages that they are written in.
//!
//! A toolset has ten tools. The payload of a tool has seven properties, one of them an object and one of a type that the
//! toolset shares; the result has three.

mod baml;
mod json_schema;
mod proto;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};
use std::path::Path;
use std::{fs, io};

/// The numbers of tools in the growth curve.
pub const SIZES: [u32; 4] = [10, 100, 1_000, 10_000];

/// The number of tools in a toolset.
pub const TOOLS_PER_TOOLSET: usize = 10;

/// A service and its tools.
#[derive(Debug)]
pub struct Toolset {
    number: usize,
    item: Object,
    tools: Vec<Tool>,
}

/// A tool with its payload and its result.
#[derive(Debug)]
struct Tool {
    number: usize,
    payload: Object,
    result: Object,
}

/// An object type. Languages with inline objects do not use the name.
#[derive(Debug)]
struct Object {
    name: String,
    description: Option<&'static str>,
    is_closed: bool,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    kind: Kind,
    is_required: bool,
    description: Option<&'static str>,
}

#[derive(Debug)]
enum Kind {
    Text {
        limits: Option<(u32, u32)>,
    },
    NullableText,
    DateTime,
    Integer {
        least: u32,
        most: Option<u32>,
    },
    Number {
        least: u32,
        most: Option<u32>,
    },
    Flag,
    Choice(&'static [&'static str]),
    Texts {
        most: u32,
    },
    Object(Object),
    /// The shared type of the toolset.
    Item,
    Items {
        most: u32,
    },
}

/// A language that the tools can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// toolwright's YAML.
    Yaml,
    /// JSON Schema draft 7, with a document for each toolset and a definition for each type.
    JsonSchema,
    /// BAML, with a class for each object and a function for each tool.
    Baml,
    /// proto3, with a message for each object and a service for each toolset.
    Proto,
}

impl Language {
    /// Writes a toolset as text.
    pub fn text(self, toolset: &Toolset) -> String {
        match self {
            Self::Yaml => yaml::text(toolset),
            Self::JsonSchema => json_schema::text(toolset),
            Self::Baml => baml::text(toolset),
            Self::Proto => proto::text(toolset),
        }
    }

    /// Returns the file name for a toolset.
    pub fn file(self, toolset: usize) -> String {
        let extension = match self {
            Self::Yaml => "yaml",
            Self::JsonSchema => "json",
            Self::Baml => "baml",
            Self::Proto => "proto",
        };
        format!("set{toolset:05}.{extension}")
    }

    /// Writes a number of tools into a folder, with one file for each toolset.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn write(self, tools: usize, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for number in 0..toolsets(tools) {
            fs::write(folder.join(self.file(number)), self.text(&toolset(number)))?;
        }
        if self == Self::Baml {
            fs::write(folder.join("main.baml"), baml::MAIN)?;
        }
        Ok(())
    }
}

/// The size of tools in toolwright's YAML.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Those that every generator gets.
    Usual,
    /// As small as useful tools can be.
    Smallest,
}

impl Size {
    /// Both sizes.
    pub const ALL: [Self; 2] = [Self::Usual, Self::Smallest];

    /// Writes a number of tools into a folder, with one file for each toolset.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub fn write(self, tools: usize, folder: &Path) -> io::Result<()> {
        let Self::Smallest = self else { return Language::Yaml.write(tools, folder) };
        for number in 0..toolsets(tools) {
            fs::write(folder.join(Language::Yaml.file(number)), smallest(number))?;
        }
        Ok(())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usual => "tools of 1.4 kB",
            Self::Smallest => "tools of 0.2 kB",
        })
    }
}

fn smallest(toolset: usize) -> String {
    let mut text = format!(
        "toolwright: 1\nservice: {{ name: svc{toolset}, description: Service number {toolset}. }}\n\ntoolsets:\n  set{toolset}:\n    \
         description: Tools of service {toolset}.\n    tools:\n"
    );
    for tool in 0..TOOLS_PER_TOOLSET {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "      tool_{toolset}_{tool}:\n        description: Does thing {tool} with all its options.\n        \
             args: {{ type: object, properties: {{ query: {{ type: string }} }} }}\n        result: {{ type: string }}\n"
        );
    }
    text
}

/// Returns the number of toolsets for a number of tools.
pub const fn toolsets(tools: usize) -> usize {
    tools.div_ceil(TOOLS_PER_TOOLSET)
}

/// Returns a toolset by its number. Toolsets differ only in names.
pub fn toolset(number: usize) -> Toolset {
    let tools = (0..TOOLS_PER_TOOLSET).map(|tool| Tool {
        number: tool,
        payload: payload(number, tool),
        result: result(number, tool),
    });
    Toolset { number, item: item(number), tools: tools.collect() }
}

fn item(toolset: usize) -> Object {
    Object {
        name: format!("Item{toolset}"),
        description: Some("An item of the service."),
        is_closed: true,
        fields: vec![
            required("id", Kind::Text { limits: Some((1, 64)) }).about("Its id."),
            required("title", Kind::Text { limits: Some((1, 200)) }),
            required("status", Kind::Choice(&["open", "in_progress", "done"]))
                .about("How far it is."),
            optional("labels", Kind::Texts { most: 20 }),
            optional("weight", Kind::Number { least: 0, most: None }),
        ],
    }
}

fn payload(toolset: usize, tool: usize) -> Object {
    Object {
        name: format!("Do{toolset}N{tool}Payload"),
        description: None,
        is_closed: false,
        fields: vec![
            required("query", Kind::Text { limits: Some((1, 500)) }).about("What to look for."),
            required("limit", Kind::Integer { least: 1, most: Some(100) })
                .about("How many at most."),
            optional("mode", Kind::Choice(&["fast", "exact", "fuzzy"])).about("How to look."),
            optional("since", Kind::DateTime),
            optional("include_archived", Kind::Flag),
            optional("filter", Kind::Object(filter(toolset, tool))),
            optional("item", Kind::Item),
        ],
    }
}

fn filter(toolset: usize, tool: usize) -> Object {
    Object {
        name: format!("Do{toolset}N{tool}Filter"),
        description: Some("Narrows it down."),
        is_closed: true,
        fields: vec![
            required("field", Kind::Text { limits: None }),
            optional("values", Kind::Texts { most: 50 }),
            optional("threshold", Kind::Number { least: 0, most: Some(1) }),
        ],
    }
}

fn result(toolset: usize, tool: usize) -> Object {
    Object {
        name: format!("Do{toolset}N{tool}Result"),
        description: None,
        is_closed: false,
        fields: vec![
            required("items", Kind::Items { most: 100 }),
            required("total", Kind::Integer { least: 0, most: None }),
            optional("next", Kind::NullableText).about("The next page."),
        ],
    }
}

fn required(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true, description: None }
}

fn optional(name: &'static str, kind: Kind) -> Field {
    Field { is_required: false, ..required(name, kind) }
}

impl Field {
    fn about(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }
}

impl Object {
    /// Returns the objects inside this one, then the object itself.
    fn with_inner(&self) -> Vec<&Object> {
        let inner = self.fields.iter().filter_map(|field| match &field.kind {
            Kind::Object(object) => Some(object),
            _ => None,
        });
        inner.flat_map(Object::with_inner).chain([self]).collect()
    }
}

impl Toolset {
    /// Returns all objects, for languages without inline objects.
    fn objects(&self) -> Vec<&Object> {
        let of_tools = self.tools.iter().flat_map(|tool| [&tool.payload, &tool.result]);
        [&self.item].into_iter().chain(of_tools).flat_map(Object::with_inner).collect()
    }

    /// Returns the description of a tool.
    fn purpose(&self, tool: &Tool) -> String {
        let Self { number, .. } = self;
        format!("Does thing {} of service {number}, with all its options.", tool.number)
    }
}

/// Converts `in_progress` to `InProgress`.
fn pascal(name: &str) -> String {
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    name.split('_').map(capitalized).collect()
}
