//! A dialect as data: a row of a TOML file, with what it inherits filled in.

mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use regex_lite::Regex;
use serde::Deserialize;
use toml::Table;
use toolwright::issue::suggestion;

use read::read;

/// What one endpoint of a provider, in one mode, accepts as the definition of a tool, as known on a date. In all of them the
/// arguments are an object.
///
/// A table of dialects is compiled in; [`Dialect::from_toml`] reads further rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    pub(crate) id: String,
    #[serde(default)]
    title: String,
    /// `YYYY-MM`.
    asof: String,
    #[serde(default)]
    inherits: Option<String>,
    /// The row of the same endpoint that does not enforce schemas.
    #[serde(default)]
    plain: Option<String>,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    profile_level: Option<String>,
    envelope: String,
    confidence: Confidence,
    evidence: Vec<String>,
    #[serde(default)]
    note: Option<String>,
    /// Words in answers of the provider, by what they mean.
    #[serde(default)]
    errors: BTreeMap<String, Vec<String>>,

    #[serde(default)]
    pub(crate) root_forbid: Vec<String>,
    pub(crate) mode: Mode,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    deny_numbers: Vec<String>,
    #[serde(default)]
    metaschema: Option<String>,
    #[serde(default)]
    pub(crate) formats: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) id_is_uri_reference: bool,

    #[serde(default)]
    pub(crate) items_required: bool,
    #[serde(default)]
    pub(crate) items_typed: bool,
    #[serde(default)]
    pub(crate) nodes_typed: bool,
    #[serde(default = "yes")]
    type_lists: bool,
    /// The types that a list of types may name; all where there is none.
    #[serde(default)]
    type_list_kinds: Option<Vec<String>>,
    #[serde(default = "yes")]
    pub(crate) null_type: bool,
    #[serde(default)]
    pub(crate) enum_strings_only: bool,
    #[serde(default)]
    pub(crate) enum_strings_nonempty: bool,
    #[serde(default)]
    pub(crate) enum_scalars: Option<Vec<String>>,
    /// Numbers of values are doubles on the wire.
    #[serde(default)]
    pub(crate) doubles: bool,
    /// The keywords that may be beside `anyOf`; all where there is no list.
    #[serde(default)]
    pub(crate) any_of_siblings: Option<Vec<String>>,

    #[serde(default)]
    pub(crate) objects_closed: bool,
    #[serde(default)]
    pub(crate) objects_all_required: bool,
    #[serde(default)]
    pub(crate) objects_have_properties: bool,
    #[serde(default)]
    pub(crate) objects_have_properties_root: bool,
    #[serde(default)]
    pub(crate) objects_nonempty: bool,
    #[serde(default)]
    pub(crate) nonempty_root_properties: bool,
    #[serde(default)]
    pub(crate) required_in_properties: bool,
    #[serde(default)]
    pub(crate) min_items_max: Option<u64>,

    #[serde(default, rename = "ref")]
    pub(crate) references: References,
    #[serde(default)]
    pub(crate) ref_siblings: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) recursion: Recursion,

    #[serde(default = "yes")]
    pub(crate) pattern_lookaround: bool,
    #[serde(default = "yes")]
    pub(crate) pattern_references: bool,
    #[serde(default)]
    pub(crate) pattern_anchored: bool,
    #[serde(default)]
    pub(crate) pattern_no_classes: bool,
    #[serde(default = "yes")]
    pub(crate) pattern_with_lengths: bool,
    #[serde(default)]
    pub(crate) repetition_max: Option<u64>,

    pub(crate) name: String,
    #[serde(default)]
    pub(crate) property_key: Option<String>,
    #[serde(default)]
    pub(crate) property_key_scope: KeyScope,
    #[serde(default)]
    pub(crate) call_id: Option<String>,
    #[serde(default)]
    pub(crate) description_nonempty: bool,
    #[serde(default)]
    pub(crate) all_tools_strict_or_none: bool,
    #[serde(default)]
    tool_search: Option<String>,
    #[serde(default)]
    pub(crate) limits: Limits,
    #[serde(default)]
    tokens: Tokens,

    /// The row named by `plain`.
    #[serde(skip)]
    sibling: Option<Box<Dialect>>,
    /// The keys and values of the row.
    #[serde(skip)]
    table: Table,
    #[serde(skip)]
    grammars: OnceLock<Grammars>,
}

/// The compiled grammars of names and keys.
#[derive(Debug)]
struct Grammars {
    name: Option<Regex>,
    key: Option<Regex>,
    call_id: Option<Regex>,
}

fn yes() -> bool {
    true
}

/// How well a row is known, by its weakest source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Confidence {
    /// Read in the source of a client or an engine.
    S,
    /// Observed in a recorded answer of the provider.
    O,
    /// Documented by the provider.
    D,
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::S => "source",
            Self::O => "observed",
            Self::D => "documented",
        })
    }
}

/// How a row lists the keywords that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    /// Any JSON Schema.
    Any,
    /// The listed keywords.
    Allow,
    /// All but the denied keywords.
    Deny,
}

/// Which references are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum References {
    None,
    /// To entries of the root's `$defs`.
    Defs,
    /// To any place in the schema.
    #[default]
    Local,
}

/// Which cycles of references are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "RecursionEntry")]
pub(crate) enum Recursion {
    #[default]
    Any,
    /// Through properties that are not required.
    OptionalOnly,
    None,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RecursionEntry {
    Flag(bool),
    Word(OptionalOnly),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OptionalOnly {
    OptionalOnly,
}

impl From<RecursionEntry> for Recursion {
    fn from(entry: RecursionEntry) -> Self {
        match entry {
            RecursionEntry::Flag(true) => Self::Any,
            RecursionEntry::Flag(false) => Self::None,
            RecursionEntry::Word(OptionalOnly::OptionalOnly) => Self::OptionalOnly,
        }
    }
}

/// The objects to whose property names a grammar applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyScope {
    #[default]
    All,
    Root,
}

/// Limits of one definition and of all definitions in a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most tools in a request.
    pub tools: Option<usize>,
    /// The fewest tools in a request that has a list of tools.
    pub tools_min: Option<usize>,
    /// The most properties.
    pub properties: Option<usize>,
    /// The deepest nesting of objects and arrays.
    pub depth: Option<usize>,
    /// The most values of enums in all.
    pub enum_values: Option<usize>,
    /// The number of values from which an enum counts as large.
    pub enum_large_from: Option<usize>,
    /// The most characters in the values of a large enum.
    pub enum_large_chars: Option<usize>,
    /// The most characters in names of properties and definitions, and in values of enums and constants.
    pub string_chars: Option<usize>,
    /// The most strict tools in a request.
    pub strict_tools: Option<usize>,
    /// The most optional parameters of all strict tools in a request.
    pub optional_params: Option<usize>,
    /// The most parameters with unions of all strict tools in a request.
    pub union_params: Option<usize>,
    /// The most bytes of all definitions in a request.
    pub json_bytes: Option<usize>,
}

/// How many tokens a definition takes, compared with OpenAI's vocabulary `o200k_base`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// The least factor.
    pub low: f64,
    /// The most likely factor.
    pub factor: f64,
    /// The greatest factor.
    pub high: f64,
    /// The tokens that a request with tools takes besides their definitions.
    pub per_request: usize,
}

/// The range for an unpublished vocabulary.
impl Default for Tokens {
    fn default() -> Self {
        Self { low: 0.85, factor: 1.0, high: 1.4, per_request: 0 }
    }
}

/// The families of rows, one file each.
const FILES: [&str; 12] = [
    include_str!("../dialects/openai.toml"),
    include_str!("../dialects/anthropic.toml"),
    include_str!("../dialects/google.toml"),
    include_str!("../dialects/bedrock.toml"),
    include_str!("../dialects/mistral.toml"),
    include_str!("../dialects/xai.toml"),
    include_str!("../dialects/moonshot.toml"),
    include_str!("../dialects/deepseek.toml"),
    include_str!("../dialects/cerebras.toml"),
    include_str!("../dialects/engines.toml"),
    include_str!("../dialects/portable.toml"),
    include_str!("../dialects/mcp.toml"),
];

/// The tables of the rows that are compiled in, and the rows.
static BUILT_IN: LazyLock<(Vec<Table>, Vec<Dialect>)> = LazyLock::new(|| {
    let mut tables = Vec::new();
    let mut rows = Vec::new();
    for file in FILES {
        match read(file, &mut tables) {
            Ok(more) => rows.extend(more),
            Err(error) => unreachable!("a test reads every row: {error}"),
        }
    }
    (tables, rows)
});

impl Dialect {
    /// Returns a row that is compiled in: the newest one of an id, or with `id@YYYY-MM` the one of that date.
    ///
    /// ```
    /// use toolwright_dialect::Dialect;
    ///
    /// let strict = Dialect::named("openai-chat-strict").unwrap();
    /// assert_eq!(strict.plain().id(), "openai-chat");
    /// assert!(strict.is_strict());
    /// ```
    pub fn named(id: &str) -> Option<&'static Self> {
        Self::newest(Self::all(), id)
    }

    /// Returns the newest of these rows with an id, or with `id@YYYY-MM` the one of that month.
    pub fn newest<'a>(rows: impl IntoIterator<Item = &'a Self>, id: &str) -> Option<&'a Self> {
        let (id, month) = id.split_once('@').map_or((id, None), |(id, month)| (id, Some(month)));
        let rows = rows.into_iter().filter(|row| row.id == id);
        rows.filter(|row| month.is_none_or(|month| row.asof == month)).max_by_key(|row| &row.asof)
    }

    /// Returns a row that is compiled in.
    ///
    /// # Errors
    ///
    /// If no row has the id; the error names a similar one.
    pub fn find(id: &str) -> Result<&'static Self, DialectError> {
        Self::named(id).ok_or_else(|| {
            let mut listed = BTreeSet::new();
            let known = Self::all().map(|row| row.id.as_str()).filter(|id| listed.insert(*id));
            let of_other_months =
                Self::all().filter(|row| id.split('@').next() == Some(row.id.as_str()));
            let dated: Vec<String> =
                of_other_months.map(|row| format!("`{}`", row.dated_id())).collect();
            if !dated.is_empty() {
                let dated = dated.join(", ");
                return DialectError(format!("there is no dialect `{id}`; there is {dated}"));
            }
            DialectError(format!(
                "there is no dialect `{id}`; {}",
                suggestion(id, known, "there is")
            ))
        })
    }

    /// Iterates over all rows that are compiled in, in the order of their files.
    pub fn all() -> std::slice::Iter<'static, Self> {
        BUILT_IN.1.iter()
    }

    /// Reads rows from TOML. They may inherit from each other and from the rows that are compiled in.
    ///
    /// # Errors
    ///
    /// If the text is not TOML, a row has an unknown key or lacks one, inherits from a row that is not above it, or has the
    /// id and month of another row.
    pub fn from_toml(text: &str) -> Result<Vec<Self>, DialectError> {
        read(text, &mut BUILT_IN.0.clone())
    }

    /// Returns the row as TOML, with what it inherits.
    pub fn to_toml(&self) -> String {
        self.table.to_string()
    }

    /// The rules of the row, with those that it inherits: their keys, and their values as TOML.
    pub fn rules(&self) -> impl Iterator<Item = (&str, String)> {
        let rules = self.table.iter().filter(|(key, _)| !NO_RULES.contains(&key.as_str()));
        rules.map(|(key, value)| (key.as_str(), value.to_string()))
    }

    /// Returns the rules that differ between two rows, with their values as TOML. Of lists and tables, what both have is left out.
    pub fn differences(before: &Self, after: &Self) -> Vec<(String, [Option<String>; 2])> {
        let keys = before.rules().chain(after.rules()).map(|(key, _)| key);
        let keys: BTreeSet<&str> = keys.collect();
        let values = keys.into_iter().map(|key| {
            let [before, after] = [before, after].map(|row| row.table.get(key));
            let values = [without(before, after), without(after, before)];
            (before != after).then(|| (key.to_owned(), values))
        });
        values.flatten().collect()
    }

    /// The id, without a date: `openai-chat-strict`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id with the date of the newest evidence: `openai-chat-strict@2026-09`.
    pub fn dated_id(&self) -> String {
        format!("{}@{}", self.id, self.asof)
    }

    /// The id of the row that this one adds to.
    pub fn inherits(&self) -> Option<&str> {
        self.inherits.as_deref()
    }

    /// The month of the newest evidence, as `YYYY-MM`.
    pub fn as_of(&self) -> &str {
        &self.asof
    }

    /// The endpoint and mode in words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The form of a tool's definition in a request, such as `openai_chat`.
    pub fn envelope(&self) -> &str {
        &self.envelope
    }

    /// How well the row is known.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// The sources of the row, one line each.
    pub fn evidence(&self) -> &[String] {
        &self.evidence
    }

    /// A remark on the row.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The type of the tool with which the provider itself searches tools that are deferred, if it has one.
    pub fn tool_search(&self) -> Option<&str> {
        self.tool_search.as_deref()
    }

    /// The limits of a definition and of a request.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns how many tokens definitions take.
    pub fn tokens(&self) -> Tokens {
        self.tokens
    }

    /// Words in the provider's answers, by the kind of error they mean, such as `strict_refused`.
    pub fn errors(&self) -> &BTreeMap<String, Vec<String>> {
        &self.errors
    }

    /// The profile of the project jsonschemaprofiles that describes the endpoint, such as `openai_202602`, and the severity of its
    /// findings from which the row agrees with it, such as `info`, if that is not all of them.
    pub fn profile(&self) -> Option<(&str, Option<&str>)> {
        Some((self.profile.as_deref()?, self.profile_level.as_deref()))
    }

    /// Returns whether the endpoint enforces schemas in this mode.
    pub fn is_strict(&self) -> bool {
        self.plain.is_some()
    }

    /// The row of the same endpoint without enforcement; the row itself where it is that one.
    pub fn plain(&self) -> &Self {
        self.sibling.as_deref().unwrap_or(self)
    }

    /// Returns whether a keyword is taken.
    pub(crate) fn takes(&self, keyword: &str) -> bool {
        let within = |list: &[String]| list.iter().any(|listed| listed == keyword);
        match self.mode {
            Mode::Any => true,
            Mode::Allow => within(&self.keywords) && !within(&self.deny),
            Mode::Deny => !within(&self.deny) && !within(&self.deny_numbers),
        }
    }

    /// Returns whether `type` may be a list of these types.
    pub(crate) fn takes_type_list<'a>(&self, kinds: impl IntoIterator<Item = &'a str>) -> bool {
        let listed = |kind: &str| {
            self.type_list_kinds.as_ref().is_none_or(|all| all.iter().any(|known| known == kind))
        };
        self.type_lists && kinds.into_iter().all(listed)
    }

    /// Returns whether schemas have to be valid in the 2020-12 dialect of JSON Schema.
    pub(crate) fn needs_2020_12(&self) -> bool {
        self.metaschema.is_some()
    }

    pub(crate) fn takes_name(&self, name: &str) -> bool {
        self.grammars().name.as_ref().is_none_or(|grammar| grammar.is_match(name))
    }

    pub(crate) fn takes_call_id(&self, id: &str) -> bool {
        self.grammars().call_id.as_ref().is_none_or(|grammar| grammar.is_match(id))
    }

    pub(crate) fn takes_key(&self, key: &str, is_root: bool) -> bool {
        let applies = is_root || self.property_key_scope == KeyScope::All;
        !applies || self.grammars().key.as_ref().is_none_or(|grammar| grammar.is_match(key))
    }

    fn grammars(&self) -> &Grammars {
        // Rows with another grammar are refused when they are read.
        let grammar = |text: &str| Regex::new(text).ok();
        self.grammars.get_or_init(|| Grammars {
            name: grammar(&self.name),
            key: self.property_key.as_deref().and_then(grammar),
            call_id: self.call_id.as_deref().and_then(grammar),
        })
    }
}

/// Returns a value as TOML, without the members of a list and the entries of a table that another value has, too.
fn without(value: Option<&toml::Value>, other: Option<&toml::Value>) -> Option<String> {
    let mut value = value?.clone();
    match (&mut value, other) {
        (toml::Value::Array(members), Some(toml::Value::Array(others))) => {
            members.retain(|member| !others.contains(member));
        }
        (toml::Value::Table(entries), Some(toml::Value::Table(others))) => {
            entries.retain(|key, entry| others.get(key) != Some(entry));
        }
        _ => {}
    }
    Some(value.to_string())
}

/// A row that cannot be used. It displays as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectError(String);

impl fmt::Display for DialectError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for DialectError {}

/// Keys that describe a row and are not rules.
const NO_RULES: [&str; 8] =
    ["id", "title", "asof", "inherits", "plain", "confidence", "evidence", "note"];
