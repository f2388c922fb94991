//! Parses the table `[breaking]`: whose breakage counts, and which changes are allowed anyway.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toolwright::format::Format;
use toolwright::issue::suggestion;

/// The changes that `toolwright breaking` allows.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Breaking {
    /// The viewpoints that count; none for the default ones.
    pub r#for: Vec<Spanned<String>>,
    /// The changes that are allowed for some time.
    pub ignore: Vec<Ignored>,
}

/// A change that is allowed for some time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// The id of the rule.
    pub rule: Spanned<String>,
    /// The tool; all tools if there is none.
    pub tool: Option<String>,
    /// The last day, as `YYYY-MM-DD`.
    pub until: Spanned<String>,
    /// The reason.
    pub because: Spanned<String>,
}

impl Breaking {
    /// Returns the mistakes, each with its span.
    pub(super) fn mistakes(&self) -> Vec<(Range<usize>, String)> {
        let mut mistakes = Vec::new();
        for Ignored { until, because, .. } in &self.ignore {
            if !Format::Date.is_valid(until.as_ref()) {
                let message =
                    format!("expected a date such as 2027-01-31, found `{}`", until.as_ref());
                mistakes.push((until.span(), message));
            }
            if because.as_ref().trim().is_empty() {
                mistakes.push((because.span(), "an exception needs a reason".to_owned()));
            }
        }
        mistakes
    }

    /// Returns the words that are unknown, each with its span.
    pub(crate) fn unknown(
        &self,
        viewpoints: &[&str],
        rules: &[&str],
    ) -> Vec<(Range<usize>, String)> {
        let viewpoint_words = self.r#for.iter().map(|word| (word, "viewpoint", viewpoints));
        let rule_words = self.ignore.iter().map(|ignored| (&ignored.rule, "rule", rules));
        let unknown = viewpoint_words.chain(rule_words).filter_map(|(word, what, known)| {
            let found = word.as_ref().as_str();
            let advice = || suggestion(found, known.iter().copied(), "there is");
            (!known.contains(&found))
                .then(|| (word.span(), format!("unknown {what} `{found}`, {}", advice())))
        });
        unknown.collect()
    }
}
