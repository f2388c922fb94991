//! The oracle: a Python program on the `jsonschema` package, in an environment that is made under the target folder.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::peer::{Answer, Peer};
use crate::peers::{PEERS, PyPi};

/// How long it may think about one payload before that counts as undecided.
const LIMIT: Duration = Duration::from_secs(10);

/// The oracle at work.
pub struct Oracle {
    peer: Peer,
    /// What went wrong inside of it: a mistake of the oracle, or a schema that is none.
    pub(crate) failures: Vec<String>,
}

/// How a value that was decoded and encoded relates to what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It is the same value.
    Same,
    /// The same but for numbers that no double holds, which came out as the nearest one.
    Rounded,
    /// It is another value.
    Other,
}

impl Oracle {
    /// Installs what the oracle needs below a folder, once.
    ///
    /// # Errors
    ///
    /// When Python is not there or pip cannot install.
    pub fn install(folder: &Path) -> io::Result<Self> {
        let python = PyPi::install(Path::new(PEERS), &folder.join("python"))?;
        Ok(Self { peer: Peer::new(python.script("oracle.py"), LIMIT), failures: Vec::new() })
    }

    /// Whether a schema accepts a payload; nothing where that is not certain.
    ///
    /// # Errors
    ///
    /// When the process cannot be run.
    pub fn accepts(&mut self, schema: &str, payload: &str) -> io::Result<Option<bool>> {
        Ok(match self.peer.ask(&["judge", schema, payload])? {
            Answer::Line(line) => match line.as_str() {
                "+" => Some(true),
                "-" => Some(false),
                _ => {
                    if let Some(failure) = line.strip_prefix("!\t") {
                        self.failures.push(format!("{failure}: {schema}: {payload}"));
                    }
                    None
                }
            },
            Answer::Hung => None,
            Answer::Died => {
                return Err(io::Error::other(format!("the oracle died of {schema} and {payload}")));
            }
        })
    }

    /// Whether a text is a schema of 2020-12.
    pub(crate) fn is_schema(&mut self, schema: &str) -> io::Result<bool> {
        Ok(self.peer.ask(&["schema", schema])? == Answer::Line("+".to_owned()))
    }

    /// How two JSON texts compare.
    ///
    /// # Errors
    ///
    /// When the process cannot be run.
    pub fn compare(&mut self, one: &str, other: &str) -> io::Result<Likeness> {
        Ok(match self.peer.ask(&["equal", one, other])? {
            Answer::Line(line) if line == "same" => Likeness::Same,
            Answer::Line(line) if line == "rounded" => Likeness::Rounded,
            _ => Likeness::Other,
        })
    }
}
