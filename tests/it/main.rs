//! Tests generated code: as crates, and as modules that the build script compiles into `OUT_DIR`. The packages of the compiler
//! and the runtime have their own tests.

mod api;
mod codecs;
mod costs;
mod crates;
mod described;
mod drift;
mod fuzz;
mod http;
mod judge;
mod oracle;
mod out_dir;
mod peers;
mod real;
mod remote;
mod requirements;
mod sample;
mod sentences;
mod shapes;

/// `schema/`, compiled by the build script.
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/toolwright/mod.rs"));
}

/// `tests/real/`, compiled by the build script.
#[allow(missing_docs, reason = "most properties of its schemas have no descriptions")]
pub mod real_servers {
    include!(concat!(env!("OUT_DIR"), "/real/mod.rs"));
}

/// `tests/codecs/`, compiled by the build script.
#[allow(missing_docs, reason = "most properties of its schemas have no descriptions")]
pub mod codec_cases {
    include!(concat!(env!("OUT_DIR"), "/codecs/mod.rs"));
}

/// `tests/requirements/`, compiled by the build script.
#[allow(missing_docs, reason = "most properties of its schemas have no descriptions")]
pub mod requirement_cases {
    include!(concat!(env!("OUT_DIR"), "/requirements/mod.rs"));
}

/// `tests/http/`, compiled by the build script.
#[allow(missing_docs, reason = "most properties of its schemas have no descriptions")]
pub mod http_cases {
    include!(concat!(env!("OUT_DIR"), "/http/mod.rs"));
}
