//! Which two tokens have a space between them when they stand in one line. Knows nothing of lines, and of meaning only
//! what decides a space: whether a sign stands before its operand or between two.

use super::kind::Kind;

/// What a token is to the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Nothing came before.
    Start,
    /// `(` or `[`: no space after it.
    Open,
    /// `{` of anything but a list of imports.
    Brace,
    /// What clings to what follows: `&` of a reference, `::`, `.`, `<`.
    Prefix,
    /// What ends a value or a type, so that a sign after it stands between two.
    Operand,
    /// A keyword after which a value or a type begins.
    Keyword,
    /// A keyword that generics follow at once.
    Introduction,
    /// A lifetime: what follows begins anew.
    Lifetime,
    /// A sign with a space after it.
    Sign,
}

impl Side {
    /// Each of them, in their order.
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

    /// Whether nothing of its own stands between it and a token that has no opinion.
    const fn clings(self) -> bool {
        matches!(self, Self::Start | Self::Open | Self::Prefix)
    }
}

/// Whether brackets that open here are of a call or a function: a comma at their end says nothing.
pub(super) fn is_called(before: Side, last: Kind) -> bool {
    before == Side::Operand || matches!(last, Kind::Exclamation | Kind::Fn)
}

/// Whether a space stands before a token that is no bracket, and what it is to the next.
pub(super) fn of(kind: Kind, before: Side) -> (bool, Side) {
    RULES[before as usize][kind as usize]
}

/// What `rule` says of every token behind any other: most of what is printed is looked up here.
static RULES: [[(bool, Side); Kind::ALL.len()]; Side::ALL.len()] = {
    let mut rules = [[(false, Side::Start); Kind::ALL.len()]; Side::ALL.len()];
    let mut side = 0;
    while side < Side::ALL.len() {
        let mut kind = 0;
        while kind < Kind::ALL.len() {
            rules[side][kind] = rule(Side::ALL[side], Kind::ALL[kind]);
            kind += 1;
        }
        side += 1;
    }
    rules
};

const fn rule(before: Side, kind: Kind) -> (bool, Side) {
    let free = !before.clings();
    let ends_operand = matches!(before, Side::Operand);
    match kind {
        Kind::Name | Kind::Type | Kind::Number | Kind::Text => (free, Side::Operand),
        Kind::Comma | Kind::Semicolon | Kind::Colon => (false, Side::Sign),
        Kind::Dot => (false, Side::Prefix),
        Kind::TwoColons | Kind::TwoDots | Kind::TwoDotsEquals => {
            (free && !ends_operand, Side::Prefix)
        }
        Kind::Question if ends_operand => (false, Side::Operand),
        Kind::Less => {
            (free && !ends_operand && !matches!(before, Side::Introduction), Side::Prefix)
        }
        Kind::Greater | Kind::TwoGreater => (false, Side::Operand),
        Kind::Exclamation if ends_operand => (false, Side::Prefix),
        Kind::Ampersand | Kind::TwoAmpersands | Kind::Star | Kind::Minus if ends_operand => {
            (true, Side::Sign)
        }
        Kind::Bar if ends_operand => (free, Side::Sign),
        Kind::Ampersand
        | Kind::TwoAmpersands
        | Kind::Star
        | Kind::Minus
        | Kind::Exclamation
        | Kind::Question
        | Kind::Hash
        | Kind::Dollar
        | Kind::Bar => (free, Side::Prefix),
        Kind::Lifetime => (free, Side::Lifetime),
        Kind::Doc => (false, Side::Start),
        Kind::Impl | Kind::Fn | Kind::For | Kind::Dyn => (free, Side::Introduction),
        keyword if keyword.is_keyword() => (free, Side::Keyword),
        _ => (free, Side::Sign),
    }
}

/// Whether a bracket that opens has a space before it.
pub(super) fn before_bracket(bracket: Kind, before: Side, last: Kind) -> bool {
    // Keywords that brackets follow at once.
    let takes_brackets = before == Side::Operand || matches!(last, Kind::Pub | Kind::Fn);
    let clings = takes_brackets && bracket != Kind::OpenBrace;
    let is_macro = bracket == Kind::OpenBrace && last == Kind::Exclamation;
    is_macro || (!clings && !before.clings())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_place_for_each_side_and_kind() {
        for (place, &side) in Side::ALL.iter().enumerate() {
            assert_eq!(side as usize, place);
        }
        for (place, &kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
        assert_eq!(Kind::ALL.last(), Some(&Kind::End));
        assert_eq!(Side::ALL.last(), Some(&Side::Sign));
    }
}
