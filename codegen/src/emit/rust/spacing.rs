//! Decides where tokens on one line have a space between them. The only syntax it knows is whether a sign such as `&` or `-`
//! is a prefix of its operand or an operator between two.

use super::kind::Kind;

/// The spacing context that a token leaves for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// At the start of the line.
    Start,
    /// After `(` or `[`: no space follows.
    Open,
    /// After `{`, but not in a list of imports.
    Brace,
    /// After a token that takes no space behind it: the `&` of a reference, `::`, `.`, `<`.
    Prefix,
    /// After the end of a value or a type: a sign that follows is a binary operator.
    Operand,
    /// After a keyword that a value or a type follows.
    Keyword,
    /// After a keyword that generics can follow without a space, such as `impl`.
    Introduction,
    /// After a lifetime: a value or a type follows.
    Lifetime,
    /// After a sign that takes a space behind it.
    Sign,
}

impl Context {
    /// All contexts, in declaration order.
    const ALL: [Self; 9] = [
        Self::Start,
        Self::Open,
        Self::Brace,
        Self::Prefix,
        Self::Operand,
        Self::Keyword,
        Self::Introduction,
        Self::Lifetime,
        Self::Sign,
    ];

    /// Returns whether a name that follows has no space before it.
    const fn has_no_space(self) -> bool {
        matches!(self, Self::Start | Self::Open | Self::Prefix)
    }
}

/// Returns whether parentheses that open here belong to a call or a function, where a trailing comma has no meaning.
pub(super) fn is_called(before: Context, last: Kind) -> bool {
    before == Context::Operand || matches!(last, Kind::Exclamation | Kind::Fn)
}

/// For a token that is not a bracket, returns whether a space precedes it and the context that it leaves.
pub(super) fn of(kind: Kind, before: Context) -> (bool, Context) {
    RULES[before as usize][kind as usize]
}

/// The result of `rule` for every context and kind. Most tokens are looked up here.
static RULES: [[(bool, Context); Kind::ALL.len()]; Context::ALL.len()] = {
    let mut rules = [[(false, Context::Start); Kind::ALL.len()]; Context::ALL.len()];
    let mut side = 0;
    while side < Context::ALL.len() {
        let mut kind = 0;
        while kind < Kind::ALL.len() {
            rules[side][kind] = rule(Context::ALL[side], Kind::ALL[kind]);
            kind += 1;
        }
        side += 1;
    }
    rules
};

const fn rule(before: Context, kind: Kind) -> (bool, Context) {
    let space = !before.has_no_space();
    let ends_operand = matches!(before, Context::Operand);
    match kind {
        Kind::Name | Kind::Type | Kind::Number | Kind::Text => (space, Context::Operand),
        Kind::Comma | Kind::Semicolon | Kind::Colon => (false, Context::Sign),
        Kind::Dot => (false, Context::Prefix),
        Kind::TwoColons | Kind::TwoDots | Kind::TwoDotsEquals => {
            (space && !ends_operand, Context::Prefix)
        }
        Kind::Question if ends_operand => (false, Context::Operand),
        Kind::Less => {
            (space && !ends_operand && !matches!(before, Context::Introduction), Context::Prefix)
        }
        Kind::Greater | Kind::TwoGreater => (false, Context::Operand),
        Kind::Exclamation if ends_operand => (false, Context::Prefix),
        Kind::Ampersand | Kind::TwoAmpersands | Kind::Star | Kind::Minus if ends_operand => {
            (true, Context::Sign)
        }
        Kind::Bar if ends_operand => (space, Context::Sign),
        Kind::Ampersand
        | Kind::TwoAmpersands
        | Kind::Star
        | Kind::Minus
        | Kind::Exclamation
        | Kind::Question
        | Kind::Hash
        | Kind::Dollar
        | Kind::Bar => (space, Context::Prefix),
        Kind::Lifetime => (space, Context::Lifetime),
        Kind::Doc => (false, Context::Start),
        Kind::Impl | Kind::Fn | Kind::For | Kind::Dyn => (space, Context::Introduction),
        keyword if keyword.is_keyword() => (space, Context::Keyword),
        _ => (space, Context::Sign),
    }
}

/// Returns whether an opening bracket has a space before it.
pub(super) fn before_bracket(bracket: Kind, before: Context, last: Kind) -> bool {
    // `pub(crate)` and `fn()` have no space before the bracket.
    let takes_brackets = before == Context::Operand || matches!(last, Kind::Pub | Kind::Fn);
    let is_attached = takes_brackets && bracket != Kind::OpenBrace;
    let is_macro = bracket == Kind::OpenBrace && last == Kind::Exclamation;
    is_macro || (!is_attached && !before.has_no_space())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_context_and_a_column_for_each_kind() {
        for (place, &context) in Context::ALL.iter().enumerate() {
            assert_eq!(context as usize, place);
        }
        for (place, &kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
        assert_eq!(Kind::ALL.last(), Some(&Kind::End));
        assert_eq!(Context::ALL.last(), Some(&Context::Sign));
    }
}
