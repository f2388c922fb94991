//! The oracle: a Python program that uses the `jsonschema` package, in a virtual environment in the target folder.

use std::io;
use std::path::Path;
use std::time::Duration;

use toolwright_prerequisites::{NotInstalled, PyPi};

use crate::peer::{Answer, Peer};

/// The folder of its script and requirements.
const PINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers");

/// The time limit for one payload. After that the payload is undecided.
const LIMIT: Duration = Duration::from_secs(10);

/// The running oracle.
pub struct Oracle {
    peer: Peer,
    /// Its errors: mistakes of the oracle, or invalid schemas.
    pub(crate) failures: Vec<String>,
}

/// The result of comparing a payload with its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same value.
    Same,
    /// The same value, except that numbers that no double holds were rounded to the nearest one.
    Rounded,
    /// Another value.
    Other,
}

impl Oracle {
    /// Installs the requirements of the oracle below a folder, if they are not there yet, and prepares it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no Python or pip cannot install the requirements.
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

    /// Returns whether a schema accepts a payload; `None` if that is not certain.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be run.
    pub fn accepts(&mut self, schema: &str, payload: &str) -> io::Result<Option<bool>> {
        Ok(self.accepts_each(schema, &[payload.to_owned()])?.first().copied().flatten())
    }

    /// Returns whether a schema accepts each payload; `None` if that is not certain.
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

    /// Returns whether a text is a valid schema of 2020-12.
    pub(crate) fn is_schema(&mut self, schema: &str) -> io::Result<bool> {
        Ok(self.peer.ask(&format!("schema\t{schema}"))? == Answer::Line("+".to_owned()))
    }

    /// Compares two JSON texts. The second may also have the defaults of the schema.
    ///
    /// # Errors
    ///
    /// Returns an error if the process cannot be run.
    pub fn compare(&mut self, one: &str, other: &str, schema: &str) -> io::Result<Likeness> {
        let pair = (one.to_owned(), other.to_owned());
        Ok(self.compare_each(&[pair], schema)?.first().copied().unwrap_or(Likeness::Other))
    }

    /// Compares the JSON texts of each pair. The second may also have the defaults of the schema.
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
