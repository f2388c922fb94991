//! Runs random schemas and payloads through generated codecs, imported tools and the validator of tools that are only known at
//! run time, and compares each with an oracle that shares no code with them. The oracle is always taken to be right.

mod adversaries;
mod batch;
mod json;
mod oracle;
mod payloads;
mod peer;
mod pool;
#[path = "../../json-schema/build/projects.rs"]
mod projects;
#[allow(dead_code, unreachable_pub, reason = "it is the module of a library, which has more users")]
#[path = "../../json-schema/src/record.rs"]
mod record;
mod report;
mod run;
mod schemas;
mod shrink;
mod verdict;
#[path = "../../json-schema/build/yaml_text.rs"]
mod yaml_text;

pub use oracle::{Likeness, Oracle};
pub use payloads::payloads;
pub use report::{HEADING, replaced};
pub use run::{Finding, Options, Summary, run};
pub use schemas::arguments;
pub use verdict::{Fault, Side};
