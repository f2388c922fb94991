//! Hand-written specs of the scripted server's tools. They accept any arguments and results.

use toolwright::remote::Provenance;
use toolwright::spec::{CallLimits, Implementation, ToolAnnotations, text};
use toolwright::{Origin, Tool, ToolSpec, Value};

/// The argument schema of all tools but one.
const ARGS: &str =
    r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;

/// The digest of a tool with this schema, computed with Python.
const DIGEST: &str = "83aa6e0548248891b0aeb69c6dfaed4a39fd6b730c61c939294408498002fd42";

macro_rules! tools {
    ($($marker:ident $constant:ident $name:literal $remote:literal $annotations:expr, $limits:expr;)*) => {$(
        static $constant: ToolSpec = ToolSpec::of::<$marker>($name)
            .with_toolset("peer")
            .with_service("peers")
            .with_implementation(Implementation::Mcp { server: text("peer") })
            .with_remote_name($remote)
            .with_annotations($annotations)
            .with_limits($limits)
            .with_args_schema(ARGS);

        #[derive(Clone, Copy)]
        struct $marker;

        impl Tool for $marker {
            type Args = Value;
            type Result = Value;
            const SPEC: &'static ToolSpec = &$constant;
        }
    )*

        /// All tools.
        static ALL: &[&ToolSpec] = &[$(&$constant),*];
    };
}

const UNKNOWN: ToolAnnotations = ToolAnnotations::UNKNOWN;
const READS: ToolAnnotations = ToolAnnotations { read_only: Some(true), ..UNKNOWN };
const FREE: CallLimits = CallLimits::UNLIMITED;
const BRIEF: CallLimits =
    CallLimits { timeout: Some(std::time::Duration::from_millis(300)), ..CallLimits::UNLIMITED };

tools! {
    Echo ECHO "echo" "echo" UNKNOWN, FREE;
    Fail FAIL "fail" "fail" UNKNOWN, FREE;
    Shout SHOUT "shout" "shout" UNKNOWN, FREE;
    Numbers NUMBERS "numbers" "numbers" UNKNOWN, FREE;
    Advance ADVANCE "advance" "progress" UNKNOWN, FREE;
    Slow SLOW "slow" "slow" UNKNOWN, BRIEF;
    Big BIG "big" "big" UNKNOWN, FREE;
    Die DIE "die" "die" UNKNOWN, FREE;
    DieReading DIE_READING "die_reading" "die" READS, FREE;
    Half HALF "half" "half" UNKNOWN, BRIEF;
    WrongId WRONG_ID "wrong_id" "wrong_id" UNKNOWN, BRIEF;
    Structured STRUCTURED "structured" "structured" UNKNOWN, FREE;
    Mixed MIXED "mixed" "mixed" UNKNOWN, FREE;
    Liar LIAR "liar" "liar" UNKNOWN, FREE;
    Code CODE "code" "code" UNKNOWN, FREE;
}

const fn origin(listed: &'static [(&'static str, &'static str)]) -> Origin {
    Origin { server: "peer", tools: ALL, listed, from: Provenance::UNKNOWN }
}

/// The server, with the record of all tools that it listed.
pub(crate) static LISTED: Origin = origin(&[
    ("echo", DIGEST),
    ("fail", DIGEST),
    ("shout", DIGEST),
    ("numbers", DIGEST),
    ("progress", DIGEST),
    ("slow", DIGEST),
    ("big", DIGEST),
    ("die", DIGEST),
    ("half", DIGEST),
    ("wrong_id", DIGEST),
    ("structured", DIGEST),
    ("mixed", DIGEST),
    ("liar", DIGEST),
    ("code", DIGEST),
    ("exact", "407de61809429e89de1949a31f4d82ca56ce1d6e277bcaf419d833dd95c8a119"),
]);

/// The server, without the record of its list.
pub(crate) static UNLISTED: Origin = origin(&[]);
