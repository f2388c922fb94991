//! The oracle: a Python program on the `jsonschema` package, in an environment that is made under the target folder.

use std::io;
use std::path::Path;
use std::time::Duration;

use toolwright_prerequisites::{NotInstalled, PyPi};

use crate::peer::{Answer, Peer};

/// Where its script and what that needs are.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

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
        let python =
            PyPi::install(Path::new(PINS), &folder.join("python")).map_err(
                |error| match error {
                    NotInstalled::Missing(why) => io::Error::other(why),
                    NotInstalled::Failed(error) => error,
                },
            )?;
        Ok(Self { peer: Peer::new(python.script("oracle.py"), LIMIT), failures: Vec::new() })
    }

    /// Whether a schema accepts a payload; nothing where that is not certain.
    ///
    /// # Errors
    ///
    /// When the process cannot be run.
    pub fn accepts(&mut self, schema: &str, payload: &str) -> io::Result<Option<bool>> {
        Ok(self.accepts_each(schema, &[payload.to_owned()])?.first().copied().flatten())
    }

    /// Whether a schema accepts each of some payloads.
    pub(crate) fn accepts_each(
        &mut self,
        schema: &str,
        payloads: &[String],
    ) -> io::Result<Vec<Option<bool>>> {
        let question = |payload: &String| format!("judge\t{schema}\t{payload}");
        let answers = self.peer.ask_all(&payloads.iter().map(question).collect::<Vec<_>>())?;
        let mut verdicts = Vec::new();
        for (answer, payload) in answers.iter().zip(payloads) {
            let failure = match answer {
                Answer::Line(line) => line.strip_prefix("!\t"),
                Answer::Died => Some("it died"),
                Answer::Hung => None,
            };
            self.failures.extend(failure.map(|why| format!("{why}: {schema}: {payload}")));
            verdicts.push(match answer {
                Answer::Line(line) if line == "+" => Some(true),
                Answer::Line(line) if line == "-" => Some(false),
                _ => None,
            });
        }
        verdicts.resize(payloads.len(), None);
        Ok(verdicts)
    }

    /// Whether a text is a schema of 2020-12.
    pub(crate) fn is_schema(&mut self, schema: &str) -> io::Result<bool> {
        Ok(self.peer.ask(&format!("schema\t{schema}"))? == Answer::Line("+".to_owned()))
    }

    /// How two JSON texts compare.
    ///
    /// # Errors
    ///
    /// When the process cannot be run.
    pub fn compare(&mut self, one: &str, other: &str, schema: &str) -> io::Result<Likeness> {
        let pair = (one.to_owned(), other.to_owned());
        Ok(self.compare_each(&[pair], schema)?.first().copied().unwrap_or(Likeness::Other))
    }

    /// How the JSON texts of each pair compare. The second may have more keys than the first, each with a default of the schema.
    pub(crate) fn compare_each(
        &mut self,
        pairs: &[(String, String)],
        schema: &str,
    ) -> io::Result<Vec<Likeness>> {
        let question = |(one, other): &(String, String)| format!("equal\t{one}\t{other}\t{schema}");
        let answers = self.peer.ask_all(&pairs.iter().map(question).collect::<Vec<_>>())?;
        let mut found: Vec<Likeness> = answers
            .into_iter()
            .map(|answer| match answer {
                Answer::Line(line) if line == "same" => Likeness::Same,
                Answer::Line(line) if line == "rounded" => Likeness::Rounded,
                _ => Likeness::Other,
            })
            .collect();
        found.resize(pairs.len(), Likeness::Other);
        Ok(found)
    }
}
