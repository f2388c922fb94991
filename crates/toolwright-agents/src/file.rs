//! Parses an agent file, with the positions of the names in it.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use saphyr_parser::{Event, Parser};
use serde::{Deserialize, Deserializer, de};
use serde_saphyr::{DefaultMessageFormatter, Location, MessageFormatter};
use toolwright::RegistrationError;
use toolwright::issue::nearest;
use toolwright::spec::{parse_amount, parse_period};
use toolwright_runtime::{Agent, Policy};

use crate::error::{Mistake, Source, shown};
use crate::hints::{Hints, IS_SECRET, is_secret};

/// An agent from a file, and the positions of the names in the file.
pub(crate) struct AgentFile {
    pub(crate) agent: Agent,
    source: Arc<Source>,
    name: Range<usize>,
    tools: Vec<Name>,
    toolsets: Vec<Name>,
    approvals: Vec<Name>,
}

/// A name and its byte range.
type Name = (String, Range<usize>);

/// The keys of a file. `N` is a name with its position, whose type depends on the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "N: Deserialize<'de>")]
struct Keys<N> {
    name: Option<N>,
    #[serde(default)]
    service: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    instructions: String,
    #[serde(default)]
    model: Hints,
    #[serde(default = "Vec::new")]
    tools: Vec<N>,
    #[serde(default = "Vec::new")]
    toolsets: Vec<N>,
    #[serde(default = "Vec::new")]
    approvals: Vec<N>,
    #[serde(default)]
    policy: Limits,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    max_tool_calls: Option<u32>,
    max_consecutive_failures: Option<u32>,
    time_budget: Option<Period>,
    max_model_calls: Option<u32>,
    max_output_tokens: Option<u64>,
    max_cost: Option<Amount>,
}

/// A duration, as written in schema files.
struct Period(Duration);

/// An amount of money in millionths, as written in schema files.
struct Amount(u64);

impl AgentFile {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub(crate) fn parse(source: Arc<Source>) -> Result<Self, Mistake> {
        let text = source.text.as_str();
        if text.trim().is_empty() {
            return Err(Mistake::at(&source, 0..0, "found an empty file, expected an agent"));
        }
        if source.path.extension().is_some_and(|ending| ending == "toml") {
            let keys = toml::from_str(text).map_err(|error| from_toml_error(&source, &error))?;
            Self::new(&source, keys, |name: toml::Spanned<String>| (name.span(), name.into_inner()))
        } else {
            let options = serde_saphyr::options! {
                with_snippet: false,
                ignore_binary_tag_for_string: true,
            };
            let keys = serde_saphyr::from_str_with_options(text, options)
                .map_err(|error| from_yaml_error(&source, &error))?;
            if let Some(span) = tag(text) {
                let message =
                    "found a YAML tag, expected a value without one; put a string in quotes";
                return Err(Mistake::at(&source, span, message));
            }
            Self::new(&source, keys, |name: serde_saphyr::Spanned<String>| {
                (bytes(text, name.referenced), name.value)
            })
        }
    }

    fn new<N>(
        source: &Arc<Source>,
        keys: Keys<N>,
        span: impl Fn(N) -> (Range<usize>, String),
    ) -> Result<Self, Mistake> {
        let file_name = || {
            let name = source.path.file_stem().unwrap_or_default();
            (0..0, name.to_string_lossy().into_owned())
        };
        let (at, name) = keys.name.map_or_else(file_name, &span);
        if name.trim().is_empty() {
            return Err(Mistake::at(
                source,
                at,
                "found an empty name, expected the name of the agent; write one, or remove the key",
            ));
        }
        if let Some(hidden) = hidden_in(&name) {
            let message = format!(
                "found the character {hidden:?} in the name of the agent, expected visible ones"
            );
            return Err(Mistake::at(source, at, &message));
        }
        let named = |names: Vec<N>| -> Vec<Name> {
            names.into_iter().map(&span).map(|(at, name)| (name, at)).collect()
        };
        let (tools, toolsets) = (named(keys.tools), named(keys.toolsets));
        let approvals = named(keys.approvals);
        let of = |names: &[Name]| names.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let mut agent = Agent::new(name, keys.service)
            .with_instructions(keys.instructions)
            .with_model(keys.model.0)
            .with_tools(of(&tools))
            .with_toolsets(of(&toolsets))
            .with_approval_of(of(&approvals))
            .with_policy(Policy {
                max_tool_calls: keys.policy.max_tool_calls,
                max_consecutive_failures: keys.policy.max_consecutive_failures,
                time_budget: keys.policy.time_budget.map(|Period(time)| time),
                max_model_calls: keys.policy.max_model_calls,
                max_output_tokens: keys.policy.max_output_tokens,
                max_cost: keys.policy.max_cost.map(|Amount(millionths)| millionths),
            });
        agent.description = keys.description;
        Ok(Self { agent, source: Arc::clone(source), name: at, tools, toolsets, approvals })
    }

    /// Returns the mistake that an earlier file has an agent of the same name.
    pub(crate) fn same_name(&self, earlier: &Self) -> Mistake {
        let (name, path) = (&self.agent.name, shown(&earlier.source.path));
        let message = format!("agent `{name}` is also described in `{path}`; rename one of them");
        Mistake::at(&self.source, self.name.clone(), message)
    }

    /// Converts an error about a name in the file to a mistake at its position.
    pub(crate) fn locate(&self, error: &RegistrationError) -> Mistake {
        let find = |names: &[Name], name: &str| {
            names.iter().find(|(listed, _)| listed == name).map(|(_, span)| span.clone())
        };
        let in_list = |kind: &str, name: &str| {
            find(if kind == "toolset" { &self.toolsets } else { &self.tools }, name)
        };
        let span = match error {
            RegistrationError::Unknown { entry, expected, .. }
            | RegistrationError::WrongKind { entry, expected, .. } => in_list(expected, entry),
            RegistrationError::UnlistedApproval { tool, .. } => find(&self.approvals, tool),
            RegistrationError::AmbiguousTool { tool, sources, .. } => {
                let of_source = || sources.iter().find_map(|source| find(&self.toolsets, source));
                find(&self.tools, tool).or_else(of_source)
            }
            RegistrationError::ClashingTools { tools: [one, other], .. } => {
                find(&self.tools, one).or_else(|| find(&self.tools, other))
            }
            _ => None,
        };
        let span = span.unwrap_or_else(|| self.name.clone());
        Mistake::at(&self.source, span, error.to_string())
    }
}

/// Converts an error of the YAML parser.
fn from_yaml_error(source: &Arc<Source>, error: &serde_saphyr::Error) -> Mistake {
    let error = error.without_snippet();
    let span = error.location().map_or(0..0, |location| bytes(&source.text, location));
    match error {
        serde_saphyr::Error::SerdeUnknownField { field, expected, .. } => {
            unknown_key(source, span, field, expected)
        }
        serde_saphyr::Error::DuplicateMappingKey { .. } => duplicate_key(source, span),
        serde_saphyr::Error::Unexpected { expected, .. } => {
            let expected = expected.trim_end_matches(" start");
            Mistake::at(source, span, format!("found something else, expected a {expected}"))
        }
        serde_saphyr::Error::MultipleDocuments { .. } => Mistake::at(
            source,
            span,
            "found a second document, expected one agent in a file".to_owned(),
        ),
        error => invalid(source, span, &DefaultMessageFormatter.format_message(error)),
    }
}

/// Converts an error of the TOML parser. For an unknown key the error has only serde's message, which quotes the names.
fn from_toml_error(source: &Arc<Source>, error: &toml::de::Error) -> Mistake {
    let (span, message) = (error.span().unwrap_or(0..0), error.message());
    if message == "duplicate key" {
        return duplicate_key(source, span);
    }
    let Some(rest) = message.strip_prefix("unknown field ") else {
        return invalid(source, span, message);
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let key = quoted.next().unwrap_or_default();
    unknown_key(source, span, key, &quoted.collect::<Vec<_>>())
}

/// Returns the byte range of the first value with a tag, such as `!!binary`. Schema files have none, either.
fn tag(text: &str) -> Option<Range<usize>> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let mut tagged =
        events.take_while(|(event, _)| *event != Event::StreamEnd).filter(|(event, _)| {
            matches!(
                event,
                Event::Scalar(.., Some(_))
                    | Event::SequenceStart(_, Some(_))
                    | Event::MappingStart(_, Some(_))
            )
        });
    let (_, span) = tagged.next()?;
    let byte =
        |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    Some(byte(span.start.index())..byte(span.end.index()))
}

/// Creates a mistake with the message of the parser. The line of a secret is hidden, since it holds the secret's value.
fn invalid(source: &Arc<Source>, span: Range<usize>, message: &str) -> Mistake {
    let mistake = Mistake::at(source, span, message);
    if message.ends_with(IS_SECRET) { mistake.with_hidden_line() } else { mistake }
}

fn unknown_key(source: &Arc<Source>, span: Range<usize>, key: &str, known: &[&str]) -> Mistake {
    let message = format!("unknown key `{key}`; the keys here are `{}`", known.join("`, `"));
    let near = nearest(key, known.iter().copied());
    let mistake = Mistake::at(source, span, message)
        .with_help(near.map(|near| format!("did you mean `{near}`?")));
    if is_secret(key) { mistake.with_hidden_line() } else { mistake }
}

fn duplicate_key(source: &Arc<Source>, span: Range<usize>) -> Mistake {
    let key = source.text.get(span.clone()).unwrap_or_default();
    Mistake::at(source, span, format!("duplicate key `{key}`; remove one"))
}

/// Returns the byte range of a node.
fn bytes(text: &str, location: Location) -> Range<usize> {
    let span = location.span();
    let of_chars = |chars: u64| {
        let chars = usize::try_from(chars).unwrap_or(usize::MAX);
        text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
    };
    match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(length)) => {
            let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            index(start)..index(start.saturating_add(length))
        }
        _ => of_chars(span.offset())..of_chars(span.offset().saturating_add(span.len())),
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_period(&text)
            .map(Self)
            .map_err(|error| de::Error::custom(format!("found `{text}`, {error}")))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?.to_string();
        parse_amount(&number)
            .map(Self)
            .map_err(|error| de::Error::custom(format!("found {number}, {error}")))
    }
}

/// Returns the first hidden character of a name, or a line end.
fn hidden_in(name: &str) -> Option<char> {
    toolwright::untrusted::hidden(name).chain(name.chars().filter(|char| char.is_control())).next()
}
