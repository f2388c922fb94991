//! Tokens and their kinds: what spacing and the printer have to know of one, without a look at its text. Never about what is
//! around it.

/// Names each keyword and sign that has a kind of its own, and finds it by its text.
macro_rules! kinds {
    (keywords { $($keyword:ident $word:literal,)* } signs { $($sign:ident $text:literal,)* }) => {
        /// What a token is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::emit) enum Kind {
            $($keyword,)*
            $($sign,)*
            /// Any other sign.
            Sign,
            /// A name that begins with a capital: of a type, a variant, a constant.
            Type,
            /// Any other name, and those keywords that stand for something, such as `self` and `Self`.
            Name,
            /// A number, or a character.
            Number,
            /// A string.
            Text,
            Lifetime,
            /// A doc line.
            Doc,
            /// What stands behind the last token: nothing.
            End,
        }

        impl Kind {
            /// Each of them, in their order.
            pub(super) const ALL: &[Self] = &[
                $(Self::$keyword,)*
                $(Self::$sign,)*
                Self::Sign,
                Self::Type,
                Self::Name,
                Self::Number,
                Self::Text,
                Self::Lifetime,
                Self::Doc,
                Self::End,
            ];

            /// The kind of a token that stands written out in an emitter.
            pub(super) const fn of(token: &[u8]) -> Self {
                match token {
                    $($word => Self::$keyword,)*
                    $($text => Self::$sign,)*
                    [b'/', b'/', ..] => Self::Doc,
                    [b'"', ..] => Self::Text,
                    [b'0'..=b'9', ..] | [b'\'', .., b'\''] => Self::Number,
                    [b'\'', ..] => Self::Lifetime,
                    b"Self" => Self::Name,
                    [b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.., ..] => Self::of_name(token),
                    _ => Self::Sign,
                }
            }

            /// Whether a value or a type begins after it.
            pub(super) const fn is_keyword(self) -> bool {
                matches!(self, $(Self::$keyword)|*)
            }
        }
    };
}

kinds! {
    keywords {
        As b"as",
        Async b"async",
        Break b"break",
        Const b"const",
        Continue b"continue",
        Dyn b"dyn",
        Else b"else",
        Enum b"enum",
        Fn b"fn",
        For b"for",
        If b"if",
        Impl b"impl",
        In b"in",
        Let b"let",
        Loop b"loop",
        Match b"match",
        Mod b"mod",
        Move b"move",
        Mut b"mut",
        Pub b"pub",
        Ref b"ref",
        Return b"return",
        Static b"static",
        Struct b"struct",
        Trait b"trait",
        TypeAlias b"type",
        Unsafe b"unsafe",
        Use b"use",
        Where b"where",
        While b"while",
    }
    signs {
        OpenParen b"(",
        OpenBracket b"[",
        OpenBrace b"{",
        CloseParen b")",
        CloseBracket b"]",
        CloseBrace b"}",
        Comma b",",
        Semicolon b";",
        Colon b":",
        TwoColons b"::",
        Dot b".",
        TwoDots b"..",
        TwoDotsEquals b"..=",
        Equals b"=",
        Arrow b"=>",
        ResultArrow b"->",
        Question b"?",
        Exclamation b"!",
        Less b"<",
        Greater b">",
        TwoGreater b">>",
        Ampersand b"&",
        TwoAmpersands b"&&",
        Star b"*",
        Minus b"-",
        Hash b"#",
        Dollar b"$",
        Bar b"|",
        TwoBars b"||",
    }
}

impl Kind {
    /// The kind of an identifier that is no keyword.
    pub(super) const fn of_name(name: &[u8]) -> Self {
        if matches!(name, [b'A'..=b'Z', ..]) { Self::Type } else { Self::Name }
    }

    /// `(`, `[` or `{`.
    pub(in crate::emit) fn is_opening(self) -> bool {
        matches!(self, Self::OpenParen | Self::OpenBracket | Self::OpenBrace)
    }

    /// Whether braces that follow hold a body.
    pub(super) fn begins_body(self) -> bool {
        matches!(
            self,
            Self::Struct
                | Self::Enum
                | Self::Trait
                | Self::Impl
                | Self::Fn
                | Self::Mod
                | Self::If
                | Self::Else
                | Self::Match
                | Self::While
                | Self::For
                | Self::Loop
                | Self::Unsafe
                | Self::ResultArrow
        )
    }

    /// `)`, `]` or `}`.
    pub(in crate::emit) fn is_closing(self) -> bool {
        matches!(self, Self::CloseParen | Self::CloseBracket | Self::CloseBrace)
    }
}

/// One token of a stream: what it is, and how many bytes of the stream's text are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct Token {
    pub(super) kind: Kind,
    pub(super) length: usize,
}

impl Token {
    /// A token that stands written out in an emitter.
    pub(in crate::emit) const fn of(text: &str) -> Self {
        Self { kind: Kind::of(text.as_bytes()), length: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_text() {
        let table = [
            ("let", Kind::Let),
            ("letter", Kind::Name),
            ("type", Kind::TypeAlias),
            ("self", Kind::Name),
            ("Self", Kind::Name),
            ("Option", Kind::Type),
            ("_", Kind::Name),
            ("{", Kind::OpenBrace),
            (")", Kind::CloseParen),
            ("=>", Kind::Arrow),
            ("=", Kind::Equals),
            ("==", Kind::Sign),
            ("..=", Kind::TwoDotsEquals),
            ("12_000.5", Kind::Number),
            ("'x'", Kind::Number),
            ("'static", Kind::Lifetime),
            ("\"'\"", Kind::Text),
            ("/// let", Kind::Doc),
        ];
        for (text, kind) in table {
            assert_eq!(Kind::of(text.as_bytes()), kind, "{text}");
        }
    }
}
