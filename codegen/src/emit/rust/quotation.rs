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
//! Tokens between two values are one text in the program, made by the compiler: to emit them is to copy it.

/// The tokens that follow.
macro_rules! quote {
    () => { $crate::emit::rust::TokenStream::new() };
    ($($token:tt)+) => {{
        let mut stream = $crate::emit::rust::TokenStream::new();
        $crate::emit::rust::tokens!(stream [] $($token)+);
        stream
    }};
}

/// Statements that add tokens to the stream `$out`. Between `[` and `]` stand the parts of the text that waits for its
/// end: it ends where a value stands.
macro_rules! tokens {
    ($out:ident []) => {};
    ($out:ident [$($run:tt)+]) => {
        $out.push_static(concat!($($run)+));
    };
    ($out:ident [$($run:tt)*] # [doc = $line:literal] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}///", $line,] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # ($($body:tt)*) * $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $crate::emit::rust::repeat!($out "" [$($body)*] [] $($body)*);
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # ($($body:tt)*) $separator:tt * $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $crate::emit::rust::repeat!(
            $out (concat!("\u{1}", stringify!($separator))) [$($body)*] [] $($body)*
        );
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    ($out:ident [$($run:tt)*] # $name:ident $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)*]);
        $out.push(&$name);
        $crate::emit::rust::tokens!($out [] $($rest)*);
    };
    // The end of a group that was opened below.
    ($out:ident [$($run:tt)*] [@ $close:literal] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}", $close,] $($rest)*);
    };
    ($out:ident [$($run:tt)*] ($($inner:tt)*) $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}(",] $($inner)* [@ ")"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] [$($inner:tt)*] $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}[",] $($inner)* [@ "]"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] {$($inner:tt)*} $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}{",] $($inner)* [@ "}"] $($rest)*);
    };
    ($out:ident [$($run:tt)*] $token:tt $($rest:tt)*) => {
        $crate::emit::rust::tokens!($out [$($run)* "\u{1}", stringify!($token),] $($rest)*);
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
        let mut between = "";
        loop {
            $(let Some($name) = $name.next() else { break };)*
            $out.push_static(between);
            between = $separator;
            $crate::emit::rust::tokens!($out [] $($body)*);
        }
    }};
}

pub(in crate::emit) use {quote, repeat, tokens};
