//! `quote!`: tokens as they stand in an emitter, with values in the places of `#name`.
//!
//! | written | becomes |
//! |---|---|
//! | `#name` | the tokens of the variable `name`: see `Append` |
//! | `#(… #name …)*` | the same for every item of `name`, an iterator, a list or a slice; each name stands there once |
//! | `#(… #name …),*` | the same with `,` between any two; any token may stand there |
//! | `/// text` | a doc line |
//! | anything else | itself |
//!
//! Tokens between two values are one text in the program and a list of their kinds, made by the compiler: to emit them is
//! to copy both.

/// The tokens that follow.
macro_rules! quote {
    () => { $crate::emit::rust::TokenStream::new() };
    ($($token:tt)+) => {{
        let mut stream = $crate::emit::rust::TokenStream::new();
        $crate::emit::rust::tokens!(stream [] $($token)+);
        stream
    }};
}

/// Adds the tokens that follow to a stream.
macro_rules! push {
    ($out:ident, $($token:tt)+) => {{ $crate::emit::rust::tokens!($out [] $($token)+); }};
}

/// Statements that add tokens to the stream `$out`. Between `[` and `]` stand the tokens that wait for a value, each as
/// what gives its text, in brackets: up to there they are one text.
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
    // The end of a group that was opened below.
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

/// Adds the body for every item of the variables named in it, which are found first.
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
        #[allow(unused_imports, reason = "which of them is needed depends on the variables")]
        use $crate::emit::rust::{EachItem as _, EachOnce as _, Turns as _};
        $(let mut $name = $name.each();)*
        assert!([$($name.ends()),*].contains(&true), "a repetition needs something to count");
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
