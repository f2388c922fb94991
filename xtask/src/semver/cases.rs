//! The changes that `cargo xtask semver` tries.

/// The schema before each change.
pub(super) const SHOP: &str = include_str!("../../semver/shop.yaml");

/// A change of the schema.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    /// A text of the schema, and that in its place.
    edit: (&'static str, &'static str),
    /// Why the prediction may be stricter.
    pub(super) stricter: Option<&'static str>,
}

const TYPES: &str = "cargo-semver-checks does not compare types";
const DEFAULTS: &str =
    "a type may lose `Default` or conversions, and cargo-semver-checks misses a lost `Default`";

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    Case::new("nothing changed", "", ""),
    Case::new("description changed", "description: Places an order., bind", "description: Orders an item., bind"),
    Case::new("limit halved", "maxLength: 80", "maxLength: 40"),
    Case::new("limit added", "query: { type: string }", "query: { type: string, minLength: 1 }").stricter(DEFAULTS),
    Case::new("pattern added", "id: { type: string }", "id: { type: string, pattern: '^[a-z]+$' }").stricter(DEFAULTS),
    Case::new("default added", "comment: { type: string }", "comment: { type: string, default: none }").stricter(TYPES),
    Case::new("optional argument added", "# arguments", "gift: { type: boolean }"),
    Case::new("optional number added", "# arguments", "weight: { type: number }"),
    Case::new("optional argument of its own type added", "# arguments", "box: { type: object, properties: { color: { type: string } } }"),
    Case::new("optional key of a type in a type added", "properties: { width: { type: integer } }", "properties: { width: { type: integer }, depth: { type: string } }"),
    Case::new("optional key of a type that contains itself added", "{ width: { type: integer } }", "{ width: { type: integer }, outer: { $ref: Size } }").stricter(TYPES),
    Case::new("required argument added", "required: [item, amount]\n      properties:", "required: [item, amount, gift]\n      properties:\n        gift: { type: boolean }"),
    Case::new("argument removed", "        comment: { type: string }\n", ""),
    Case::new("argument required", "required: [item, amount]", "required: [item, amount, comment]"),
    Case::new("type changed", "amount: { type: integer }", "amount: { type: number }").stricter(TYPES),
    Case::new("type of an optional argument changed", "comment: { type: string }", "comment: { type: integer }").stricter(TYPES),
    Case::new("enum value added", "on-hold]", "on-hold, sent]"),
    Case::new("enum value removed", "[open, closed, ", "[open, "),
    Case::new("enum value added that gives another one a longer name", "on-hold]", "on-hold, on+hold]"),
    Case::new("variant added", "{ $ref: Square }] }", "{ $ref: Square }, { type: object, required: [kind], properties: { kind: { const: dot } } }] }"),
    Case::new("variant removed", ", { $ref: Square }] }", "] }"),
    Case::new("result key added", "size: { $ref: Size }", "size: { $ref: Size }\n      paid: { type: boolean }"),
    Case::new("required result key added", "required: [id, status]\n    properties:", "required: [id, status, paid]\n    properties:\n      paid: { type: boolean }"),
    Case::new("error added", "# errors", "too_many: { description: The amount is too large. }"),
    Case::new("error renamed", "      sold_out: { description: Nothing is left. }\n      # errors\n", "      gone: { description: Nothing is left. }\n"),
    Case::new("tool of a new method added", "toolsets:\n  shop:\n    tools:", "  cancel: {}\ntoolsets:\n  shop:\n    tools:\n      cancel: { description: Cancels all orders., bind: cancel }"),
    Case::new("tool of a known method added", "# tools", "order: { description: Places an order., bind: place }"),
    Case::new("tool without a method added", "# tools", "ask: { description: Asks somebody. }"),
    Case::new("toolset added", "# tools", "\n  more: { tools: { order: { description: Places an order., bind: place } } }"),
    Case::new("tool removed", "      find: { description: Finds orders., bind: find }\n", ""),
    Case::new("tool renamed", "      find: { description", "      search: { description"),
];

impl Case {
    const fn new(name: &'static str, from: &'static str, to: &'static str) -> Self {
        Self { name, edit: (from, to), stricter: None }
    }

    const fn stricter(self, reason: &'static str) -> Self {
        Self { stricter: Some(reason), ..self }
    }

    /// Returns the schema after the change.
    pub(super) fn after(&self) -> String {
        let (from, to) = self.edit;
        assert!(SHOP.contains(from), "{}: the schema has no `{from}`", self.name);
        SHOP.replacen(from, to, 1)
    }

    /// Returns whether types are `#[non_exhaustive]` before and after the change: each pair that is tried.
    pub(super) fn options(&self) -> &'static [(bool, bool)] {
        let (from, _) = self.edit;
        if from.is_empty() {
            &[(false, true), (true, false), (true, true)]
        } else {
            &[(false, false), (true, true)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CASES;

    #[test]
    fn every_change_changes_the_schema_once() {
        for case in CASES.iter().filter(|case| !case.edit.0.is_empty()) {
            assert_eq!(super::SHOP.matches(case.edit.0).count(), 1, "{}", case.name);
        }
    }
}
