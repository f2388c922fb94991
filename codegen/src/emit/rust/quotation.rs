//! `quote!` makes a stream of the tokens written in it and replaces each `#name` with the tokens of a variable, as the
//! `quote` crate does.
//!
//! | written | becomes |
//! |---|---|
//! | `#name` | the tokens of the variable `name`: see `ToTokens` |
//! | `#(… #name …)*` | the tokens in the brackets for every item of `name`, which is an iterator, a list or a slice; a repetition may use each name once |
//! | `#(… #name …),*` | the same, separated by `,`; any token can be the separator |
//! | `/// text` | a doc line |
//! | anything else | itself |
//!
//! The Rust compiler turns the tokens between two variables into one string constant and a list of token kinds; emitting them
//! copies both.

/// Makes a stream of tokens.
macro_rules! quote {
    () => { $crate::emit::rust::TokenStream::new() };
    ($($token:tt)+) => {{
        let mut stream = $crate::emit::rust::TokenStream::new();
        $crate::emit::rust::tokens!(stream [] $($token)+);
        stream
    }};
}

/// Adds tokens to a stream.
macro_rules! push {
    ($out:ident, $($token:tt)+) => {{ $crate::emit::rust::tokens!($out [] $($token)+); }};
}

/// Expands to statements that add tokens to the stream `$out`. `[…]` collects the tokens up to the next variable, each as an
/// expression for its text in parentheses; they become one string constant.
macro_rules! tokens {
    ($out:ident []) => {};
    ($out:ident [$(($($text:tt)+))+]) => {{
        const TOKENS: &[$crate::emit::rust::Token] =
            &[$($crate::emit::rust::Token::of($($text)+)),+];
        $out.push_static(concat!($($($text)+),+), TOKENS);
    }};
    ($out:ident [$($run:tt)*] # [doc = $line:literal] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* (concat!("///", $line))] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # ($($body:tt)*) * $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $crate::emit::rust::repeat!($out [] [$($body)*] [] $($body)*);
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # ($($body:tt)*) $separator:tt * $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $crate::emit::rust::repeat!($out [(stringify!($separator))] [$($body)*] [] $($body)*);
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # $name:ident $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $out.push(&$name);
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    // The end of a group that a rule below has opened.
    ($out:ident [$($run:tt)*] [@ $close:literal] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* ($close)] $($rest)*);
    };
    ($out:ident [$($run:tt)*] ($($inner:tt)*) $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* ("(")] $($inner)* [@ ")"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] [$($inner:tt)*] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* ("[")] $($inner)* [@ "]"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] {$($inner:tt)*} $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* ("{")] $($inner)* [@ "}"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] $token:tt $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* (stringify!($token))] $($rest)*);
    };
}

/// Collects the names of the variables in the body, then adds the body once for each of their items.
macro_rules! repeat {
    ($out:ident $separator:tt $body:tt [$($found:ident)*] # $name:ident $($rest:tt)*) => {
        $crate::emit::rust::repeat!($out $separator $body [$($found)* $name] $($rest)*);
    };
    ($out:ident $separator:tt $body:tt $found:tt ($($inner:tt)*) $($rest:tt)*) => {
        $crate::emit::rust::repeat!($out $separator $body $found $($inner)* $($rest)*);
    };
    ($out:ident $separator:tt $body:tt $found:tt [$($inner:tt)*] $($rest:tt)*) => {
        $crate::emit::rust::repeat!($out $separator $body $found $($inner)* $($rest)*);
    };
    ($out:ident $separator:tt $body:tt $found:tt {$($inner:tt)*} $($rest:tt)*) => {
        $crate::emit::rust::repeat!($out $separator $body $found $($inner)* $($rest)*);
    };
    ($out:ident $separator:tt $body:tt $found:tt $token:tt $($rest:tt)*) => {
        $crate::emit::rust::repeat!($out $separator $body $found $($rest)*);
    };
    ($out:ident $separator:tt [$($body:tt)*] [$($name:ident)*]) => {{
        #[allow(unused_imports, reason = "the variables decide which traits are used")]
        use $crate::emit::rust::{RepeatIterator as _, RepeatValue as _, Repeated as _};
        $(let mut $name = $name.each();)*
        assert!([$($name.is_finite()),*].contains(&true), "a repetition needs a list or an iterator");
        let mut is_first = true;
        loop {
            $(let Some($name) = $name.next() else { break };)*
            if !std::mem::take(&mut is_first) {
                $crate::emit::rust::tokens!($out $separator);
            }
            $crate::emit::rust::tokens!($out [] $($body)*);
        }
    }};
}

pub(in crate::emit) use {push, quote, repeat, tokens};
