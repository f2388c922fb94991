//! Asks at a terminal for the parts of a new project if the command line names none.

use std::io::{self, BufRead, IsTerminal as _};

use super::Parts;
use crate::print;

const MENU: &str = "\
A project has schema/issues.yaml, src/service.rs and tests/tools.rs. Optional parts:
  m  an MCP server    src/main.rs for `cargo run -- mcp`; a server in the schema
  a  an agent         src/main.rs for `cargo run -- chat triager`; agents/triager.yaml
  r  for Restate      src/main.rs for `cargo run -- worker ADDRESS`, which serves the tools and agents to a Restate server
  b  a build script   build.rs, which generates the code; no gen folder
";

const QUESTION: &str = "Type the letters of the parts, such as `ma`, or nothing: ";

/// Returns the parts from the command line, or asks for them if there are none and a terminal is connected. Returns `None`
/// if the input ends without an answer.
pub(super) fn choose(parts: Parts) -> Option<Parts> {
    let is_interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
    if parts != Parts::default() || !is_interactive {
        return Some(parts);
    }
    print::err(MENU);
    ask(&mut io::stdin().lock())
}

/// Asks until the answer is valid.
fn ask(answers: &mut impl BufRead) -> Option<Parts> {
    loop {
        print::err(QUESTION);
        let mut line = String::new();
        if answers.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut parts = Parts::default();
        let mut letters = line.trim().chars();
        let unknown = letters.find(|letter| {
            let part = match letter {
                'm' => &mut parts.mcp,
                'a' => &mut parts.agent,
                'r' => &mut parts.restate,
                'b' => &mut parts.build_rs,
                _ => return true,
            };
            *part = true;
            false
        });
        match unknown {
            None => return Some(parts),
            Some(_) => print::err("expected letters out of `m`, `a`, `r` and `b`\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Parts, ask};

    #[test]
    fn an_answer_has_letters_in_any_order() {
        let (mcp, agent, restate, build_rs) = (true, true, true, true);
        for (answers, expected) in [
            ("\n", Some(Parts::default())),
            ("m\n", Some(Parts { mcp, ..Parts::default() })),
            ("brma\n", Some(Parts { mcp, agent, restate, build_rs })),
            ("mcp\n  a \n", Some(Parts { agent, ..Parts::default() })),
            ("x\n", None),
        ] {
            assert_eq!(ask(&mut answers.as_bytes()), expected, "{answers:?}");
        }
    }
}
