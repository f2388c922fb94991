//! The kinds of changes, with what each means to whom.

use crate::classes::{Change, Classes, Trust};

/// A kind of change. Several rules may share an id, where the meaning of a change depends on the schema around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable id.
    pub id: &'static str,
    /// The change, in words.
    pub summary: &'static str,
    /// Its class for each viewpoint. That for Rust is the class at worst.
    pub classes: Classes,
    /// Its class for Rust at best. It has that class with `non_exhaustive` in both versions or, for rules on limits and defaults, if
    /// only the value changed.
    pub rust_at_best: Option<Change>,
}

macro_rules! rules {
    ($(
        $(#[$group:meta])?
        $name:ident = $id:literal, $summary:literal,
        $caller:ident $model:ident $reader:ident $implementer:ident $trust:ident $rust:ident $(or $best:ident)?;
    )+) => {
        $(
            pub(crate) static $name: Rule = Rule {
                id: $id,
                summary: $summary,
                classes: Classes {
                    caller: Change::$caller,
                    model: Change::$model,
                    reader: Change::$reader,
                    implementer: Change::$implementer,
                    trust: Trust::$trust,
                    rust: Change::$rust,
                },
                rust_at_best: rules!(@best $($best)?),
            };
        )+

        static ALL: &[&Rule] = &[$(&$name),+];
    };
    (@best) => { None };
    (@best $best:ident) => { Some(Change::$best) };
}

impl Rule {
    /// Returns all rules. Those with one id follow each other.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().copied()
    }

    /// Returns its class for Rust in words, with that at best if it has one: `major or minor`.
    pub fn rust(&self) -> String {
        let best = self.rust_at_best.map(|best| format!(" or {best}")).unwrap_or_default();
        format!("{}{best}", self.classes.rust)
    }

    /// Returns the rules with an id.
    pub fn named(id: &str) -> impl Iterator<Item = &'static Self> {
        Self::all().filter(move |rule| rule.id == id)
    }
}

// caller model reader implementer trust rust, or rust at best
rules! {
    TOOL_ADDED = "TOOL_ADDED", "a tool is new", Minor Minor None Major Capability Major or Minor;
    TOOL_REMOVED = "TOOL_REMOVED", "a tool is gone", Major Major None Major Same Major;
    TOOL_RENAMED = "TOOL_RENAMED", "a tool has another name, and the old one is not an alias", Major Major None None Capability Major;
    TOOL_RENAMED_WITH_ALIAS = "TOOL_RENAMED_WITH_ALIAS", "a tool has another name, and the old one is an alias", Minor Minor None None Capability Major;
    ALIAS_ADDED = "ALIAS_ADDED", "a tool can also be called by another name", Minor None None None Same None;
    ALIAS_REMOVED = "ALIAS_REMOVED", "a tool cannot be called by an earlier name any more", Major None None None Same None;
    NAME_REUSED = "NAME_REUSED", "a tool has a name that belonged to another tool", Major Major Major None Capability None;
    TOOL_DEPRECATED = "TOOL_DEPRECATED", "a tool is deprecated, so models do not see it", Minor Major None None Same Minor;
    TOOL_NOT_DEPRECATED = "TOOL_NOT_DEPRECATED", "a tool is not deprecated any more, so models see it", Minor Minor None None Capability Minor;
    TOOL_MOVED = "TOOL_MOVED", "a tool is in another toolset", None Patch None None Same Major;
    WORDS_CHANGED = "WORDS_CHANGED", "a title or description of a tool or its arguments changed", Patch Patch None Patch Text Patch;
    WORDS_CHANGED_IN_RESULT = "WORDS_CHANGED", "a title or description in a result changed", None Patch Patch Patch Text Patch;
    DEFAULT_CHANGED_IN_RESULT = "WORDS_CHANGED", "a default in a result changed", None Patch Patch Patch Text Major or Patch;
    EXAMPLES_CHANGED = "EXAMPLES_CHANGED", "examples of a tool or its arguments changed", Patch Patch None Patch Text Patch;
    EXAMPLES_CHANGED_IN_RESULT = "EXAMPLES_CHANGED", "examples in a result changed", None Patch Patch Patch Text Patch;
    ORDER_CHANGED = "ORDER_CHANGED", "properties or values are in another order", None Patch None None Same Major or Patch;
    SAME_SET = "SAME_SET", "a schema is written differently and accepts the same values", None Patch None None Same Major;
    ANNOTATION_CHANGED = "ANNOTATION_CHANGED", "`read_only`, `destructive`, `idempotent` or `open_world` changed", Minor Patch None None Capability None;
    APPROVAL_ADDED = "APPROVAL_ADDED", "a tool needs an approval now", Major None None None Same None;
    APPROVAL_REMOVED = "APPROVAL_REMOVED", "a tool needs no approval any more", Minor None None None Capability None;
    APPROVAL_CHANGED = "APPROVAL_CHANGED", "the texts or the data of an approval changed", None None None None Text None;
    ARG_INJECTED = "ARG_INJECTED", "the host fills in an optional argument now", Major Major None Minor Same Major;
    ARG_INJECTED_REQUIRED = "ARG_INJECTED", "the host fills in a required argument now", Major Major None Minor Capability Major;
    INJECT_ADDED = "INJECT_CHANGED", "the host fills in an argument that is new", None None None Minor Same Major;
    INJECT_CHANGED = "INJECT_CHANGED", "the host fills in an argument from another source, or not any more", None None None Minor Same None;
    ARG_REQUIRED_ADDED = "ARG_REQUIRED_ADDED", "a required argument is new", Major Major None Minor Capability Major;
    ARG_OPTIONAL_ADDED = "ARG_OPTIONAL_ADDED", "an optional argument is new", Minor Minor None Minor Capability Major or Minor;
    ARG_KEY_CLAIMED = "ARG_KEY_CLAIMED", "an optional argument is new, where any key was declared to be allowed", Major Major None Minor Capability Major or Minor;
    ARG_KEY_CLAIMED_TYPED = "ARG_KEY_CLAIMED", "an optional argument is new, where keys with values of a type were declared to be allowed", Major Major None Major Capability Major or Minor;
    ARG_REMOVED = "ARG_REMOVED", "an optional argument is gone", Major Major None Minor Same Major;
    ARG_REMOVED_REQUIRED = "ARG_REMOVED", "a required argument is gone, so that calls without it are new", Major Major None Major Capability Major;
    ARG_REMOVED_DECLARED = "ARG_REMOVED", "an argument is gone, and its key may have other values now", Major Major None Major Capability Major;
    ARG_NOW_REQUIRED = "ARG_NOW_REQUIRED", "an optional argument is required now", Major Major None Minor Same Major;
    ARG_NOW_OPTIONAL = "ARG_NOW_OPTIONAL", "a required argument is optional now", Minor Minor None Major Capability Major;
    ARG_TYPE_CHANGED = "ARG_TYPE_CHANGED", "an argument has values of another type", Major Major None Major Capability Major;
    ARG_TYPE_WIDENED = "ARG_TYPE_WIDENED", "an argument may have values of more types", Minor Minor None Major Capability Major;
    ARG_TYPE_NARROWED = "ARG_TYPE_NARROWED", "an argument may have values of fewer types", Major Major None Minor Same Major;
    ARG_NULL_ADDED = "ARG_NULL_ADDED", "an argument may be null now", Minor Minor None Major Capability Major;
    ARG_NULL_REMOVED = "ARG_NULL_REMOVED", "an argument may not be null any more", Major Major None Minor Same Major;
    ARG_ENUM_VALUE_ADDED = "ARG_ENUM_VALUE_ADDED", "an argument may have another constant value", Minor Minor None Major Capability Major or Minor;
    ARG_ENUM_VALUE_REMOVED = "ARG_ENUM_VALUE_REMOVED", "an argument may not have a constant value any more", Major Major None Minor Same Major;
    ARG_NOW_ENUM = "ARG_NOW_ENUM", "only some values of an argument are allowed now", Major Major None Minor Same Major;
    ARG_LENGTH_TIGHTENED = "ARG_LENGTH_TIGHTENED", "the lengths of a text are a part of those before", Major Major None Minor Same Major or Patch;
    ARG_LENGTH_LOOSENED = "ARG_LENGTH_LOOSENED", "more lengths of a text are allowed", Minor Minor None Major Capability Major or Patch;
    ARG_LENGTH_CHANGED = "ARG_LENGTH_CHANGED", "other lengths of a text are allowed", Major Major None Major Capability Major or Patch;
    ARG_BOUND_TIGHTENED = "ARG_BOUND_TIGHTENED", "the range of a number is a part of that before", Major Major None Minor Same Major;
    ARG_BOUND_LOOSENED = "ARG_BOUND_LOOSENED", "the range of a number is larger", Minor Minor None Major Capability Major;
    ARG_BOUND_CHANGED = "ARG_BOUND_CHANGED", "the range of a number is another one", Major Major None Major Capability Major;
    ARG_ITEMS_TIGHTENED = "ARG_ITEMS_TIGHTENED", "the counts of items are a part of those before", Major Major None Minor Same Major or Patch;
    ARG_ITEMS_LOOSENED = "ARG_ITEMS_LOOSENED", "more counts of items are allowed", Minor Minor None Major Capability Major or Patch;
    ARG_ITEMS_CHANGED = "ARG_ITEMS_CHANGED", "other counts of items are allowed", Major Major None Major Capability Major or Patch;
    ARG_PATTERN_ADDED = "ARG_PATTERN_ADDED", "a text has a pattern now", Major Major None Minor Same Major;
    ARG_PATTERN_REMOVED = "ARG_PATTERN_REMOVED", "a text has no pattern any more", Minor Minor None Major Capability Major;
    ARG_PATTERN_CHANGED = "ARG_PATTERN_CHANGED", "a text has another pattern", Major Major None Major Capability Patch;
    ARG_FORMAT_ADDED = "ARG_FORMAT_ADDED", "a value has a format now, which is checked", Major Major None Minor Same Major;
    ARG_FORMAT_REMOVED = "ARG_FORMAT_REMOVED", "a value has no format any more", Minor Minor None Major Capability Major;
    ARG_FORMAT_CHANGED = "ARG_FORMAT_CHANGED", "a value has another format", Major Major None Major Capability Major;
    ARG_FORMAT_UNKNOWN_ADDED = "ARG_FORMAT_UNKNOWN_ADDED", "a value has a format now, which is not checked", None Patch None None Same Patch;
    ARG_UNIQUE_ADDED = "ARG_UNIQUE_ADDED", "no two items may be equal now", Major Major None Minor Same Major;
    ARG_UNIQUE_REMOVED = "ARG_UNIQUE_REMOVED", "items may be equal now", Minor Minor None Major Capability Major;
    ARG_RULE_TIGHTENED = "ARG_RULE_TIGHTENED", "other keywords refuse more values of an argument", Major Major None Minor Same Major;
    ARG_RULE_LOOSENED = "ARG_RULE_LOOSENED", "other keywords refuse fewer values of an argument", Minor Minor None Major Capability Major;
    ARG_RULE_CHANGED = "ARG_RULE_CHANGED", "other keywords refuse other values of an argument", Major Major None Major Capability Major;
    OBJECT_CLOSED = "OBJECT_CLOSED", "keys without a description were declared to be allowed, and are not any more", Major Major None Minor Same Major;
    OBJECT_CLOSED_IN_RESULT = "OBJECT_CLOSED", "a result that declared further keys has none any more", None Minor Minor Major Same Major;
    OBJECT_OPENED = "OBJECT_OPENED", "keys without a description are declared to be allowed now", Minor Minor None Minor Capability Major;
    OBJECT_OPENED_IN_RESULT = "OBJECT_OPENED", "a result may have further keys now, which its schema refused", None Minor Major Minor Same Major;
    OBJECT_OPENED_IN_SILENT_RESULT = "OBJECT_OPENED", "a result declares further keys now, about which its schema said nothing", None Minor Minor Minor Same Major;
    OBJECT_CLOSED_SILENT = "OBJECT_CLOSED_SILENT", "keys without a meaning were accepted, and are refused now", Minor Patch None None Same Major;
    OBJECT_CLOSED_SILENT_IN_RESULT = "OBJECT_CLOSED_SILENT", "a result has no keys about which nothing was said any more", None Patch None None Same Major;
    OBJECT_OPENED_SILENT = "OBJECT_OPENED_SILENT", "keys without a meaning were refused, and are not any more", None Patch None None Same Major;
    OBJECT_OPENED_SILENT_IN_RESULT = "OBJECT_OPENED_SILENT", "a result may have keys without a meaning, which its schema refused", None Patch Minor None Same Major;
    OBJECT_SILENT = "OBJECT_SILENT", "nothing is said any more about further keys, which were declared to be allowed", Minor Major None None Same Major;
    OBJECT_SILENT_IN_RESULT = "OBJECT_SILENT", "a result says nothing any more about further keys, which it declared", None Minor Minor Minor Same Major;
    UNION_VARIANT_ADDED = "UNION_VARIANT_ADDED", "a choice has another variant", Minor Minor None Major Capability Major or Minor;
    UNION_VARIANT_REMOVED = "UNION_VARIANT_REMOVED", "a choice has lost a variant", Major Major None Minor Same Major;
    TUPLE_LENGTH_CHANGED = "TUPLE_LENGTH_CHANGED", "another number of items has a schema of its own", Major Major None Major Capability Major;
    DEFAULT_CHANGED = "DEFAULT_CHANGED", "an argument has another default", Minor Minor None Minor Capability Major or Patch;
    RESULT_OPTIONAL_ADDED_CLOSED = "RESULT_OPTIONAL_ADDED", "a result that refused further keys has a new optional one", None Minor Major Minor Same Major or Minor;
    RESULT_OPTIONAL_ADDED_SILENT = "RESULT_OPTIONAL_ADDED", "a result that said nothing about further keys has a new optional one", None Minor Minor Minor Same Major or Minor;
    RESULT_OPTIONAL_ADDED_DECLARED = "RESULT_OPTIONAL_ADDED", "a result that declared further keys describes one of them", None Minor Minor Major Same Major or Minor;
    RESULT_OPTIONAL_ADDED_TYPED = "RESULT_OPTIONAL_ADDED", "a result that declared further keys with values of a type describes one of them", None Minor Major Major Same Major or Minor;
    RESULT_REQUIRED_ADDED_TYPED = "RESULT_REQUIRED_ADDED", "a result that declared further keys with values of a type requires one of them", None Minor Major Major Same Major;
    RESULT_REQUIRED_ADDED_CLOSED = "RESULT_REQUIRED_ADDED", "a result that refused further keys has a new required one", None Minor Major Major Same Major;
    RESULT_REQUIRED_ADDED = "RESULT_REQUIRED_ADDED", "a result has a new required key", None Minor Minor Major Same Major;
    RESULT_REMOVED_REQUIRED = "RESULT_REMOVED", "a required key of a result is gone, and its schema accepts it still", None Minor Major Minor Same Major;
    RESULT_REMOVED_REQUIRED_CLOSED = "RESULT_REMOVED", "a required key of a result is gone, and its schema refuses it", None Minor Major Major Same Major;
    RESULT_REMOVED_OPTIONAL = "RESULT_REMOVED", "an optional key of a result is gone, and its schema accepts it still", None Minor Minor Minor Same Major;
    RESULT_REMOVED_OPTIONAL_CLOSED = "RESULT_REMOVED", "an optional key of a result is gone, and its schema refuses it", None Minor Minor Major Same Major;
    RESULT_REMOVED_DECLARED = "RESULT_REMOVED", "a key of a result is gone, and may have any value now", None Minor Major Minor Same Major;
    RESULT_REMOVED_TYPED = "RESULT_REMOVED", "a key of a result is gone, and may have values of another type now", None Minor Major Major Same Major;
    RESULT_NOW_OPTIONAL = "RESULT_NOW_OPTIONAL", "a required key of a result is optional now", None Minor Major Minor Same Major;
    RESULT_NOW_REQUIRED = "RESULT_NOW_REQUIRED", "an optional key of a result is required now", None Minor Minor Major Same Major;
    RESULT_TYPE_CHANGED = "RESULT_TYPE_CHANGED", "a result has values of another type", None Minor Major Major Same Major;
    RESULT_TYPE_WIDENED = "RESULT_TYPE_WIDENED", "a result may have values of more types", None Minor Major Minor Same Major;
    RESULT_TYPE_NARROWED = "RESULT_TYPE_NARROWED", "a result has values of fewer types", None Minor Minor Major Same Major;
    RESULT_NULL_ADDED = "RESULT_NULL_ADDED", "a result may be null now", None Minor Major Minor Same Major;
    RESULT_NULL_REMOVED = "RESULT_NULL_REMOVED", "a result is never null any more", None Minor Minor Major Same Major;
    RESULT_ENUM_VALUE_ADDED = "RESULT_ENUM_VALUE_ADDED", "a result may have another constant value", None Minor Major Minor Same Major or Minor;
    RESULT_ENUM_VALUE_REMOVED = "RESULT_ENUM_VALUE_REMOVED", "a result never has a constant value any more", None Minor Minor Major Same Major;
    RESULT_NOW_ENUM = "RESULT_NOW_ENUM", "a result has only some values now", None Minor Minor Major Same Major;
    RESULT_LENGTH_TIGHTENED = "RESULT_LENGTH_TIGHTENED", "the lengths of a text are a part of those before", None Minor Minor Major Same Major or Patch;
    RESULT_LENGTH_LOOSENED = "RESULT_LENGTH_LOOSENED", "a text may have more lengths", None Minor Major Minor Same Major or Patch;
    RESULT_LENGTH_CHANGED = "RESULT_LENGTH_CHANGED", "a text has other lengths", None Minor Major Major Same Major or Patch;
    RESULT_BOUND_TIGHTENED = "RESULT_BOUND_TIGHTENED", "the range of a number is a part of that before", None Minor Minor Major Same Major;
    RESULT_BOUND_LOOSENED = "RESULT_BOUND_LOOSENED", "the range of a number is larger", None Minor Major Minor Same Major;
    RESULT_BOUND_CHANGED = "RESULT_BOUND_CHANGED", "the range of a number is another one", None Minor Major Major Same Major;
    RESULT_ITEMS_TIGHTENED = "RESULT_ITEMS_TIGHTENED", "the counts of items are a part of those before", None Minor Minor Major Same Major or Patch;
    RESULT_ITEMS_LOOSENED = "RESULT_ITEMS_LOOSENED", "a list may have more counts of items", None Minor Major Minor Same Major or Patch;
    RESULT_ITEMS_CHANGED = "RESULT_ITEMS_CHANGED", "a list has other counts of items", None Minor Major Major Same Major or Patch;
    RESULT_PATTERN_ADDED = "RESULT_PATTERN_ADDED", "a text has a pattern now", None Minor Minor Major Same Major;
    RESULT_PATTERN_REMOVED = "RESULT_PATTERN_REMOVED", "a text has no pattern any more", None Minor Major Minor Same Major;
    RESULT_PATTERN_CHANGED = "RESULT_PATTERN_CHANGED", "a text has another pattern", None Minor Major Major Same Patch;
    RESULT_FORMAT_ADDED = "RESULT_FORMAT_ADDED", "a value has a format now, which is checked", None Minor Minor Major Same Major;
    RESULT_FORMAT_REMOVED = "RESULT_FORMAT_REMOVED", "a value has no format any more", None Minor Major Minor Same Major;
    RESULT_FORMAT_CHANGED = "RESULT_FORMAT_CHANGED", "a value has another format", None Minor Major Major Same Major;
    RESULT_FORMAT_UNKNOWN_ADDED = "RESULT_FORMAT_UNKNOWN_ADDED", "a value has a format now, which is not checked", None Patch None None Same Patch;
    RESULT_UNIQUE_ADDED = "RESULT_UNIQUE_ADDED", "no two items are equal any more", None Minor Minor Major Same Major;
    RESULT_UNIQUE_REMOVED = "RESULT_UNIQUE_REMOVED", "items may be equal now", None Minor Major Minor Same Major;
    RESULT_RULE_TIGHTENED = "RESULT_RULE_TIGHTENED", "other keywords refuse more values of a result", None Minor Minor Major Same Major;
    RESULT_RULE_LOOSENED = "RESULT_RULE_LOOSENED", "other keywords refuse fewer values of a result", None Minor Major Minor Same Major;
    RESULT_RULE_CHANGED = "RESULT_RULE_CHANGED", "other keywords refuse other values of a result", None Minor Major Major Same Major;
    RESULT_VARIANT_ADDED = "RESULT_VARIANT_ADDED", "a choice has another variant", None Minor Major Minor Same Major or Minor;
    RESULT_VARIANT_REMOVED = "RESULT_VARIANT_REMOVED", "a choice has lost a variant", None Minor Minor Major Same Major;
    RESULT_TUPLE_LENGTH_CHANGED = "RESULT_TUPLE_LENGTH_CHANGED", "another number of items has a schema of its own", None Minor Major Major Same Major;
    REMOTE_CHANGED = "REMOTE_CHANGED", "a part of a listed tool changed that is not known", None None None None Capability None;
    REMOTE_SCHEMA_CHANGED = "REMOTE_CHANGED", "a schema of a listed tool changed and cannot be compared", Major Major Major Major Capability None;
    ERROR_ADDED = "ERROR_ADDED", "a declared error is new", Minor None Minor Minor Same Major or Minor;
    ERROR_REMOVED = "ERROR_REMOVED", "a declared error is gone", None None None Major Same Major;
    RECOVERY_CHANGED = "RECOVERY_CHANGED", "the advice of a declared error changed", Minor None Minor Minor Same Patch;
    TIMEOUT_CHANGED = "TIMEOUT_CHANGED", "the time limit of a call changed", Minor None None Minor Same Patch;
    ATTEMPTS_CHANGED = "ATTEMPTS_CHANGED", "the number of attempts changed", Minor None None Minor Same Patch;
    SEQUENTIAL_CHANGED = "SEQUENTIAL_CHANGED", "whether calls run at the same time as others changed", Minor None None Minor Same Patch;
    STRICT_CHANGED = "STRICT_CHANGED", "how much a tool needs providers to enforce its schema changed", None Patch None None Same Patch;
    DEFER_CHANGED = "DEFER_CHANGED", "whether models have to search for a tool changed", None Minor None None Same Patch;
    TAGS_CHANGED = "TAGS_CHANGED", "tags changed", None None None None Same None;
    HINTS_CHANGED = "HINTS_CHANGED", "the templates that show progress changed", None None None None Same None;
    IMPLEMENTATION_CHANGED = "IMPLEMENTATION_CHANGED", "something else answers the calls of a tool", None None None Major Capability Major;
    NON_EXHAUSTIVE_CHANGED = "NON_EXHAUSTIVE_CHANGED", "the option `non_exhaustive` of generated crates was turned on or off", None None None None Same Major;
}
