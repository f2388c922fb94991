//! Tests the codecs of two real MCP servers, whose tools are declared in `tests/real/*.yaml`, on payloads labeled by the
//! servers' own schemas. No server is started.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolwright::ToolSpec;
use toolwright::spec::{Implementation, text};
use toolwright_prerequisites::{Prerequisite, corpora, has};

use crate::judge::{Published, Side};
use crate::real_servers::{git_tools, memory_tools};

/// One labeled payload. `raw` is JSON text inside a JSON string, so that `1.0` and escapes stay as written.
#[derive(Deserialize)]
struct Row {
    tool: String,
    side: Side,
    valid: bool,
    why: String,
    raw: String,
}

const SERVERS: [(&str, &[&ToolSpec]); 2] =
    [("git", git_tools::specs::ALL), ("memory", memory_tools::specs::ALL)];

/// G14: the tools of a remote server have the same specs as all others; G8: their server is provenance.
#[test]
fn remote_tools_keep_their_names_and_carry_their_server() {
    let counts = SERVERS.map(|(server, specs)| {
        for spec in specs {
            assert_eq!(spec.service(), server, "{}", spec.name());
            let implementation = Implementation::Mcp { server: text(server) };
            assert_eq!(spec.implementation(), &implementation, "{}", spec.name());
            assert_eq!(spec.remote_name(), Some(spec.name()));
        }
        specs.len()
    });
    assert_eq!(counts, [12, 9]);
}

/// G23: the generated codecs check the arguments and results of a remote tool.
#[test]
fn codecs_agree_with_the_labels_of_every_payload_of_the_real_servers() {
    assert_judged_right(&repository().join("tests/real"));
}

#[test]
fn codecs_agree_with_the_labels_of_every_payload_of_the_corpus() {
    if has(&[Prerequisite::Corpora]) {
        assert_judged_right(&corpora().join("vectors"));
    }
}

#[test]
fn codecs_of_the_real_servers_accept_exactly_what_their_schemas_accept() {
    for (server, specs) in SERVERS {
        let published = Published::of(specs.iter().copied());
        for row in rows(&repository().join("tests/real"), server) {
            let spec = spec(specs, &row.tool);
            let accepted = row.side.check(spec, &row.raw).is_ok();
            let verdict = published.accepts(spec, row.side, &row.raw);
            assert_eq!(verdict, Some(accepted), "{} {}: {}", row.tool, row.side, row.raw);
        }
    }
}

fn assert_judged_right(folder: &Path) {
    let mut wrong = Vec::new();
    for (server, specs) in SERVERS {
        let rows = rows(folder, server);
        assert!(rows.len() > specs.len(), "{server} has rows for its tools");
        wrong.extend(rows.iter().filter_map(|row| row.judged_wrong(specs)));
    }
    assert!(wrong.is_empty(), "{} rows are judged wrong:\n{}", wrong.len(), wrong.join("\n"));
}

impl Row {
    /// A message if the codec does not agree with the label.
    fn judged_wrong(&self, specs: &[&ToolSpec]) -> Option<String> {
        let Self { tool, side, why, raw, .. } = self;
        let verdict = side.check(spec(specs, tool), raw);
        let found = match (self.valid, verdict) {
            (true, Err(issues)) => format!("refused: {issues}"),
            (false, Ok(())) => "accepted".to_owned(),
            _ => return None,
        };
        Some(format!("{tool} {side} ({why}): {raw}\n    {found}"))
    }
}

fn rows(folder: &Path, server: &str) -> Vec<Row> {
    let path = folder.join(server).with_extension("jsonl");
    let text = std::fs::read_to_string(&path).expect("the rows can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// The spec of the tool with this name on the server.
fn spec<'a>(specs: &[&'a ToolSpec], tool: &str) -> &'a ToolSpec {
    specs.iter().find(|spec| spec.remote_name() == Some(tool)).expect("a tool of the server")
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
