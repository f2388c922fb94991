//! The rules for the ways in which a set of values can change.

use crate::rules::{self, Rule};

/// The rules for the ways in which a set of values can change, for arguments and for results.
pub(super) type Sets = [[&'static Rule; 3]; 2];

pub(super) const LENGTHS: Sets = [
    [&rules::ARG_LENGTH_TIGHTENED, &rules::ARG_LENGTH_LOOSENED, &rules::ARG_LENGTH_CHANGED],
    [
        &rules::RESULT_LENGTH_TIGHTENED,
        &rules::RESULT_LENGTH_LOOSENED,
        &rules::RESULT_LENGTH_CHANGED,
    ],
];
pub(super) const BOUNDS: Sets = [
    [&rules::ARG_BOUND_TIGHTENED, &rules::ARG_BOUND_LOOSENED, &rules::ARG_BOUND_CHANGED],
    [&rules::RESULT_BOUND_TIGHTENED, &rules::RESULT_BOUND_LOOSENED, &rules::RESULT_BOUND_CHANGED],
];
pub(super) const ITEMS: Sets = [
    [&rules::ARG_ITEMS_TIGHTENED, &rules::ARG_ITEMS_LOOSENED, &rules::ARG_ITEMS_CHANGED],
    [&rules::RESULT_ITEMS_TIGHTENED, &rules::RESULT_ITEMS_LOOSENED, &rules::RESULT_ITEMS_CHANGED],
];
pub(super) const PATTERNS: Sets = [
    [&rules::ARG_PATTERN_ADDED, &rules::ARG_PATTERN_REMOVED, &rules::ARG_PATTERN_CHANGED],
    [&rules::RESULT_PATTERN_ADDED, &rules::RESULT_PATTERN_REMOVED, &rules::RESULT_PATTERN_CHANGED],
];
pub(super) const FORMATS: Sets = [
    [&rules::ARG_FORMAT_ADDED, &rules::ARG_FORMAT_REMOVED, &rules::ARG_FORMAT_CHANGED],
    [&rules::RESULT_FORMAT_ADDED, &rules::RESULT_FORMAT_REMOVED, &rules::RESULT_FORMAT_CHANGED],
];
pub(super) const UNIQUE: Sets = [
    [&rules::ARG_UNIQUE_ADDED, &rules::ARG_UNIQUE_REMOVED, &rules::ARG_UNIQUE_ADDED],
    [&rules::RESULT_UNIQUE_ADDED, &rules::RESULT_UNIQUE_REMOVED, &rules::RESULT_UNIQUE_ADDED],
];
pub(super) const RULES: Sets = [
    [&rules::ARG_RULE_TIGHTENED, &rules::ARG_RULE_LOOSENED, &rules::ARG_RULE_CHANGED],
    [&rules::RESULT_RULE_TIGHTENED, &rules::RESULT_RULE_LOOSENED, &rules::RESULT_RULE_CHANGED],
];
pub(super) const TYPES: Sets = [
    [&rules::ARG_TYPE_NARROWED, &rules::ARG_TYPE_WIDENED, &rules::ARG_TYPE_CHANGED],
    [&rules::RESULT_TYPE_NARROWED, &rules::RESULT_TYPE_WIDENED, &rules::RESULT_TYPE_CHANGED],
];
