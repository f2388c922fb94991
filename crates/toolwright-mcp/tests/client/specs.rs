//! Hand-written specs of the scripted server's tools. They accept any arguments and results.

use toolwright::remote::{ListedTool, Provenance};
use toolwright::spec::{CallLimits, Implementation, ToolAnnotations, text};
use toolwright::{Origin, Tool, ToolSpec, Value};

/// The argument schema of all tools but one.
const ARGS: &str =
    r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;

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

const fn origin(listed: &'static [ListedTool]) -> Origin {
    Origin { server: "peer", tools: ALL, listed, from: Provenance::UNKNOWN }
}

macro_rules! listed {
    ($($name:literal $all:literal $capabilities:literal)*) => {
        &[$(ListedTool { name: $name, all: $all, capabilities: $capabilities }),*]
    };
}

/// The server, with the record of all tools that it listed. The digests were computed with Python.
pub(crate) static LISTED: Origin = origin(listed! {
    "echo"
        "df79479395604c8efc81626cd69f815256dee79daf7e351014b2caf1992869a9"
        "e3deedc0ed97f3ea39af96187ed4945cc3f5f6555637ee399eca4675f949bb04"
    "fail"
        "d4db54fbdaf84fe06f642f04df8c08bc333cc40b9d09cd574c349d1d7488452c"
        "1cf81521c0434438ac002e61b455370fe0d41ffa262444a7e171b9a508d70a05"
    "shout"
        "fc26c8b5c0263ba17b7977fe2c704114efebe2763f41e38b506becf3dad5e4b2"
        "c31bf3506bf59d2a90ed83f0c68564db40243ce17b4eb882f779c4848af2f379"
    "numbers"
        "f5749bcca5d9743412559ded0b6909eec890a0e2ba4e31ad36c27a2f96259ae0"
        "85046e0fd668e0d6fd4b15f72b543a842b38f2eb677472336b391a8c226a3c67"
    "progress"
        "fb45ca625e0e823874af7607224e614c50393f61b06eaf53f057dfc6a752b22d"
        "a0897dca979e53079cb5b88ac100669dda39989f545a52daa268e5952e123d2b"
    "slow"
        "30acfde0a81ab30a64f7785de0bb10b1316851beb08ed5ed0ac2bb560ac34092"
        "3de205a979bcbba0af2ca28b9c8c415f57a2587e848ad74cb113e6d9319a5c90"
    "big"
        "d5b789917b0b9d0e0444bb1e2be3fdb0c1a4c384cba5594978ba1c4773807ddc"
        "d66afe13707ad036a321ab5a2474784c15f80019713b27f13249e4b385bd6e16"
    "die"
        "d2b7d06562ff89a33811719481e86ec9a076c0857747cb1cf929e6f26ac20c84"
        "a741b1988a984f488031d441644787ff2ad33cb65806d9a06dbec73e75ef7c28"
    "half"
        "9d790f3708e70615207ddc07b91274d983c9fae20dbc62ae07e3444d42fcba91"
        "8f5bce2fdb74566d1415aa2a51da39e232f2cdd7ed4f96e6ba9084cc710d9464"
    "wrong_id"
        "57b9c17d872d10a985b5acf300c43482028e5bb0491a50bd72a1d04eeafda343"
        "e6ef100626187b181f414cb701a8886372c74724c3b7fb328c870558719b01f0"
    "structured"
        "475a483a2c25e337d306b995d8b61f11b729f65c682fbe48b1569b041281c604"
        "0b3baf93b51feb9280df745955b2b9fa687097fa85d92326b6022c963eb99994"
    "mixed"
        "e4e19cf0c74950b5d3685807bedae2d386541ba4a251bc04e0155dbedbd45b16"
        "d221914ec6be1335e7f256e84c57bc8bc7cbb8fa852bed2b88532517c86201f7"
    "liar"
        "6c49b93747130d891bc962a33b34538ebf97226f2a00687de9b635121e7652d0"
        "47ff6426300b10514f1e49e75fd9fcf0dc1c40ab331bb6be45e501fd83e29d70"
    "code"
        "2517466d013dc357421dc937b325d0dd3a2e5c8ee392ecc79ef93dfd87091b04"
        "ec1004d73a7cedcc08dc878e7c01f588725248891ac22dc64c816bc61469d877"
    "exact"
        "6f40722133995f224646a3a0c78ceec58cc97d272a513ef3912f9567e1e0dcc5"
        "dccb1daae9bde4d0528a2007a9a26f23ca7094f5cc7e23636340f940a1b3c1a7"
});

/// The server, without the record of its list.
pub(crate) static UNLISTED: Origin = origin(&[]);
