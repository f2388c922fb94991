//! Which two tokens have a space between them when they stand in one line. Knows nothing of lines, and of meaning only
//! what decides a space: whether a sign stands before its operand or between two.

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
    /// A name or a keyword: the two differ for few signs, which look closer.
    Word,
    /// A lifetime: what follows begins anew.
    Lifetime,
    /// A sign with a space after it.
    Sign,
}

impl Side {
    /// Whether nothing of its own stands between it and a token that has no opinion.
    fn clings(self) -> bool {
        matches!(self, Self::Start | Self::Open | Self::Prefix)
    }
}

/// What is around a token: enough to tell a reference from a conjunction.
pub(super) struct Around<'a> {
    /// The token before.
    pub(super) before: Side,
    /// The line up to here, and where that token begins in it.
    pub(super) line: &'a str,
    pub(super) last: usize,
    /// Whether the parameters of a closure have begun and not ended here.
    pub(super) in_parameters: bool,
}

impl<'a> Around<'a> {
    /// The text of the token before.
    pub(super) fn word(&self) -> &'a str {
        &self.line[self.last.min(self.line.len())..]
    }

    /// Whether brackets that open here are of a call or a function: a comma at their end says nothing.
    pub(super) fn is_called(&self) -> bool {
        self.ends_operand() || matches!(self.word(), "!" | "fn")
    }

    /// Whether a value or a type ended here.
    fn ends_operand(&self) -> bool {
        self.before == Side::Operand || (self.before == Side::Word && !is_keyword(self.word()))
    }
}

/// Whether a space stands before a token that is no bracket, and what it is to the next.
pub(super) fn of(token: &str, around: &Around<'_>) -> (bool, Side) {
    let free = !around.before.clings();
    match token.as_bytes() {
        [b',' | b';' | b':'] => (false, Side::Sign),
        [b'.'] => (false, Side::Prefix),
        [b':', b':'] | [b'.', b'.', ..] => (free && !around.ends_operand(), Side::Prefix),
        [b'?'] if around.ends_operand() => (false, Side::Operand),
        [b'<'] => {
            (free && !around.ends_operand() && !introduces_generics(around.word()), Side::Prefix)
        }
        [b'>'] | [b'>', b'>'] => (false, Side::Operand),
        [b'!'] if around.ends_operand() => (false, Side::Prefix),
        [b'&' | b'*' | b'-'] | [b'&', b'&'] if around.ends_operand() => (true, Side::Sign),
        [b'&' | b'*' | b'-' | b'!' | b'?' | b'#' | b'$'] | [b'&', b'&'] => (free, Side::Prefix),
        [b'|'] if around.in_parameters => (false, Side::Sign),
        [b'|'] if !around.ends_operand() => (free, Side::Prefix),
        [b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.., ..] => (free, Side::Word),
        [b'0'..=b'9' | b'"', ..] | [b'\'', .., b'\''] => (free, Side::Operand),
        [b'\'', ..] => (free, Side::Lifetime),
        _ => (free, Side::Sign),
    }
}

/// Whether a bracket that opens has a space before it.
pub(super) fn before_bracket(bracket: u8, around: &Around<'_>) -> bool {
    let clings = match bracket {
        b'{' => false,
        _ => around.ends_operand() || takes_brackets(around.word()),
    };
    !clings && !around.before.clings()
}

fn introduces_generics(word: &str) -> bool {
    matches!(word, "impl" | "fn" | "for" | "dyn")
}

/// Keywords that brackets follow at once.
fn takes_brackets(word: &str) -> bool {
    matches!(word, "pub" | "fn")
}

/// Keywords after which a value or a type begins; those that are one, such as `self`, are none of them.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "async"
            | "break"
            | "const"
            | "continue"
            | "dyn"
            | "else"
            | "enum"
            | "fn"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "pub"
            | "ref"
            | "return"
            | "static"
            | "struct"
            | "trait"
            | "type"
            | "unsafe"
            | "use"
            | "where"
            | "while"
    )
}
