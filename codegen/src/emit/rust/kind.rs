//! The kind of a token. Spacing and the printer decide by it and do not look at the token's text.

/// Defines a kind for each listed keyword and sign.
macro_rules! kinds {
    (keywords { $($keyword:ident $word:literal,)* } signs { $($sign:ident $text:literal,)* }) => {
        /// The kind of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::emit) enum Kind {
            $($keyword,)*
            $($sign,)*
            /// Any other sign.
            Sign,
            /// A name that begins with a capital letter: a type, a variant, a constant.
            Type,
            /// Any other name, and keywords that are used as names, such as `self` and `Self`.
            Name,
            /// A number or a character literal.
            Number,
            /// A string.
            Text,
            Lifetime,
            /// A doc line.
            Doc,
            /// The end of the stream.
            End,
        }

        impl Kind {
            /// All kinds, in declaration order.
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

            /// Returns the kind of a token by its text.
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

            /// Returns whether it is one of the listed keywords, which a value or a type follows.
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
    /// Returns the kind of an identifier that is not a keyword.
    pub(super) const fn of_name(name: &[u8]) -> Self {
        if matches!(name, [b'A'..=b'Z', ..]) { Self::Type } else { Self::Name }
    }

    /// Returns whether it is `(`, `[` or `{`.
    pub(in crate::emit) fn is_opening(self) -> bool {
        matches!(self, Self::OpenParen | Self::OpenBracket | Self::OpenBrace)
    }

    /// Returns whether braces that follow it hold a body.
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

    /// Returns whether it is `)`, `]` or `}`.
    pub(in crate::emit) fn is_closing(self) -> bool {
        matches!(self, Self::CloseParen | Self::CloseBracket | Self::CloseBrace)
    }
}

/// One token of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emit) struct Token {
    pub(super) kind: Kind,
    /// The length of its text in bytes.
    pub(super) length: usize,
}

impl Token {
    /// Returns the token for a text that is written in an emitter.
    pub(in crate::emit) const fn of(text: &str) -> Self {
        Self { kind: Kind::of(text.as_bytes()), length: text.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_token_decides_its_kind() {
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
