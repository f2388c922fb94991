//! A validator's errors in the words of issues: where, what was found, what would be right. Never
//! decides whether a value is valid.

use std::borrow::Cow;

use jsonschema::error::{TypeKind, ValidationErrorKind as Fault};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value as Json;

use super::limits::repeated;
use crate::format::Format;
use crate::issue::{Issue, IssueKind, describe, quoted, shortened};
use crate::value::Number;

/// How many issues of a choice are told.
const TOLD: usize = 3;

/// The issues that an error is; `schema` is what the validator was made of.
pub(super) fn issues(error: &ValidationError<'_>, schema: &Json) -> Vec<Issue> {
    let place = error.instance_path().to_string();
    let of_key = |key: &str, kind: IssueKind| Issue::new(below(&place, key), kind);
    match error.kind() {
        Fault::Required { property } => {
            let missing = IssueKind::Missing { one_of: Cow::Borrowed(&[]) };
            vec![of_key(property.as_str().unwrap_or_default(), missing)]
        }
        Fault::AdditionalProperties { unexpected }
        | Fault::UnevaluatedProperties { unexpected } => {
            let issue = |key: &String| of_key(key, said(unknown_key(key, error, schema)));
            unexpected.iter().map(issue).collect()
        }
        Fault::PropertyNames { error: refused } => {
            let why = kind(refused, schema);
            let key = refused.instance().as_str().unwrap_or_default();
            vec![of_key(key, said(format!("the key is not allowed: {why}")))]
        }
        _ => vec![Issue::new(place, kind(error, schema))],
    }
}

/// Whether an error says nothing about the parts of a value, so that a mistake in a part is no reason
/// for it.
pub(super) fn is_independent(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        Fault::UniqueItems
            | Fault::MinProperties { .. }
            | Fault::MaxProperties { .. }
            | Fault::MultipleOf { .. }
    )
}

/// Whether an error only counts if a condition holds, which a mistake elsewhere may have decided.
pub(super) fn is_conditional(error: &ValidationError<'_>) -> bool {
    let path = error.schema_path().to_string();
    path.split('/').any(|keyword| matches!(keyword, "then" | "else"))
}

fn kind(error: &ValidationError<'_>, schema: &Json) -> IssueKind {
    let value = error.instance().as_ref();
    limit(error.kind(), value)
        .or_else(|| choice(error.kind(), value, schema))
        .unwrap_or_else(|| said(refusal(error, schema)))
}

/// What is wrong where a value is allowed to be neither this nor anything like it.
fn refusal(error: &ValidationError<'_>, schema: &Json) -> String {
    let found = describe(&error.instance().to_string());
    match error.kind() {
        Fault::Contains => contained(error, schema),
        Fault::Not { schema } if !accepts_anything(schema) => {
            format!("found {found}, expected nothing that fits {}", shortened(&schema.to_string()))
        }
        Fault::FalseSchema
            if error.schema_path().to_string().ends_with("/additionalProperties") =>
        {
            let place = error.instance_path().to_string();
            let key = place.rsplit('/').next().unwrap_or_default();
            unknown_key(&key.replace("~1", "/").replace("~0", "~"), error, schema)
        }
        Fault::Not { .. } | Fault::FalseSchema => {
            format!("found {found}, no value is allowed here")
        }
        Fault::UnevaluatedItems { unexpected } => {
            format!("items that are not allowed here: {}", shortened(&unexpected.join(", ")))
        }
        fault => format!("found {found}, which breaks `{}`", fault.keyword()),
    }
}

fn accepts_anything(schema: &Json) -> bool {
    schema.as_object().map_or(*schema == Json::Bool(true), serde_json::Map::is_empty)
}

/// The issue of a broken limit.
fn limit(fault: &Fault, value: &Json) -> Option<IssueKind> {
    let text = value.as_str().unwrap_or_default();
    let (characters, items) =
        (count(text.chars().count()), count(value.as_array().map_or(0, Vec::len)));
    let keys = value.as_object().map_or(0, serde_json::Map::len);
    let keys = format!("has {keys} {}", if keys == 1 { "key" } else { "keys" });
    let found = || shortened(&value.to_string());
    Some(match fault {
        Fault::MinLength { limit } => IssueKind::TooShort { minimum: *limit, length: characters },
        Fault::MaxLength { limit } => IssueKind::TooLong { maximum: *limit, length: characters },
        Fault::MinItems { limit } => IssueKind::TooFewItems { minimum: *limit, length: items },
        Fault::MaxItems { limit } => IssueKind::TooManyItems { maximum: *limit, length: items },
        Fault::AdditionalItems { limit } => {
            IssueKind::TooManyItems { maximum: count(*limit), length: items }
        }
        Fault::MinProperties { limit } => said(format!("{keys}, at least {limit} required")),
        Fault::MaxProperties { limit } => said(format!("{keys}, at most {limit} allowed")),
        Fault::Minimum { limit } => {
            IssueKind::BelowMinimum { minimum: number(limit), exclusive: false, found: found() }
        }
        Fault::ExclusiveMinimum { limit } => {
            IssueKind::BelowMinimum { minimum: number(limit), exclusive: true, found: found() }
        }
        Fault::Maximum { limit } => {
            IssueKind::AboveMaximum { maximum: number(limit), exclusive: false, found: found() }
        }
        Fault::ExclusiveMaximum { limit } => {
            IssueKind::AboveMaximum { maximum: number(limit), exclusive: true, found: found() }
        }
        Fault::MultipleOf { multiple_of } => {
            said(format!("found {}, expected a multiple of {multiple_of}", found()))
        }
        Fault::UniqueItems => {
            let (first, second) = repeated(&value.to_string())?;
            IssueKind::RepeatedItem { first, second }
        }
        Fault::Pattern { pattern } => {
            said(format!("found {}, expected a match of `{pattern}`", quoted(&shortened(text))))
        }
        Fault::Format { format } => {
            IssueKind::Format { format: Format::from_name(format)?, found: shortened(text) }
        }
        _ => return None,
    })
}

/// The issue of a value that is none of those allowed.
fn choice(fault: &Fault, value: &Json, schema: &Json) -> Option<IssueKind> {
    let found = || shortened(&value.to_string());
    Some(match fault {
        Fault::Type { kind } => IssueKind::Type {
            expected: Cow::Owned(nouns(kind)),
            found: describe(&value.to_string()),
        },
        Fault::Constant { expected_value } => IssueKind::Constant {
            expected: Cow::Owned(shortened(&expected_value.to_string())),
            found: found(),
        },
        Fault::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let options: Vec<String> = options.iter().map(ToString::to_string).collect();
            let expected = Cow::Owned(format!("one of {}", options.join(", ")));
            IssueKind::Constant { expected, found: found() }
        }
        Fault::AnyOf { context } | Fault::OneOfNotValid { context } => {
            said(none_of(fault.keyword(), context, schema))
        }
        Fault::OneOfMultipleValid { context } => said(too_many_of(context)),
        _ => return None,
    })
}

/// Which of several schemas the value misses by least, and how.
fn none_of(keyword: &str, choices: &[Vec<ValidationError<'static>>], schema: &Json) -> String {
    let head = format!("fits none of the {} schemas of `{keyword}`", choices.len());
    let nearest = choices.iter().enumerate().min_by_key(|(_, errors)| distance(errors));
    let Some((index, errors)) = nearest else { return head };
    let told = errors.iter().flat_map(|error| issues(error, schema)).take(TOLD);
    let told: Vec<String> = told
        .map(|issue| match issue.pointer() {
            "" => issue.message(),
            _ => issue.to_string(),
        })
        .collect();
    format!("{head}, number {} is nearest: {}", index + 1, told.join("; "))
}

/// A value of the wrong kind is further away than one with mistakes inside.
fn distance(errors: &[ValidationError<'static>]) -> (bool, usize) {
    let is_other = |error: &ValidationError<'static>| {
        matches!(error.kind(), Fault::Type { .. } | Fault::Constant { .. } | Fault::Enum { .. })
    };
    (errors.iter().any(is_other), errors.len())
}

fn too_many_of(choices: &[Vec<ValidationError<'static>>]) -> String {
    let fitting = choices.iter().enumerate().filter(|(_, errors)| errors.is_empty());
    let numbers: Vec<String> = fitting.map(|(index, _)| (index + 1).to_string()).collect();
    format!("fits the schemas {} of `oneOf`, expected exactly one", numbers.join(" and "))
}

/// Whether an error is only one of doubles: the library takes large numbers that differ in their last digits for equal.
pub(super) fn is_rounded(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Fault::UniqueItems) && repeated(&error.instance().to_string()).is_none()
}

fn contained(error: &ValidationError<'_>, schema: &Json) -> String {
    let beside = |keyword: &str| parent(error, schema).and_then(|parent| parent.get(keyword));
    let least = beside("minContains").and_then(Json::as_u64).unwrap_or(1);
    let most = beside("maxContains").map(|most| format!(" and at most {most}"));
    let wanted = beside("contains").map(ToString::to_string).unwrap_or_default();
    format!("at least {least}{} items have to fit {}", most.unwrap_or_default(), shortened(&wanted))
}

fn unknown_key(key: &str, error: &ValidationError<'_>, schema: &Json) -> String {
    let properties = parent(error, schema).and_then(|parent| parent.get("properties"));
    let known: Vec<&str> = properties
        .and_then(Json::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    match crate::issue::nearest(key, &known) {
        Some(near) => format!("unknown key `{key}`, did you mean `{near}`?"),
        None => format!("unknown key `{key}`"),
    }
}

/// The schema that the broken keyword stands in.
fn parent<'s>(error: &ValidationError<'_>, schema: &'s Json) -> Option<&'s Json> {
    let path = error.schema_path().to_string();
    schema.pointer(path.rsplit_once('/')?.0)
}

fn said(message: String) -> IssueKind {
    IssueKind::Schema { message }
}

fn number(limit: &Json) -> Number {
    limit.to_string().parse().unwrap_or_default()
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn nouns(kind: &TypeKind) -> String {
    let noun = |kind: JsonType| match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::String => "a string",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    };
    match kind {
        TypeKind::Single(kind) => noun(*kind).to_owned(),
        TypeKind::Multiple(kinds) => kinds.iter().map(noun).collect::<Vec<_>>().join(" or "),
    }
}

/// The pointer of an entry (RFC 6901, section 3).
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
