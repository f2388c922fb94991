//! Reports the changes since the last import, on the server and in the file.

use std::fmt;

use toolwright::untrusted::line;

/// The changes since the last import of a file. Tools have their names on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// Tools that are new on the server and were added to the file.
    pub added: Vec<String>,
    /// Tools that are new on the server and were left out.
    pub left_out: Vec<String>,
    /// Tools that were left out before and were added now.
    pub taken_again: Vec<String>,
    /// Tools that the server no longer lists and that were removed from the file.
    pub gone: Vec<String>,
    /// Tools that the server no longer lists and that the file had left out.
    pub gone_left_out: Vec<String>,
    /// Tools that `--except` removed from the file.
    pub excepted: Vec<String>,
    /// Tools that stay in the file although `--only` does not select them.
    pub unselected: Vec<String>,
    /// Tools that changed on the server, each with the differences from the file.
    pub changed: Vec<(String, Vec<String>)>,
    /// Texts and schemas that were edited in the file and stay so, although the server changed them too.
    pub kept: Vec<String>,
    /// True if the file had to be rewritten as a whole, without its comments.
    pub is_rewritten: bool,
}

impl fmt::Display for UpdateReport {
    /// Writes a line for each kind of change, then the changed tools; nothing if nothing changed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [
            ("new", &self.added),
            ("new, left out (add them with --add-new or --add NAME)", &self.left_out),
            ("taken again", &self.taken_again),
            ("gone, removed", &self.gone),
            ("gone, was left out", &self.gone_left_out),
            ("removed by --except", &self.excepted),
            ("kept, though no --only selects it", &self.unselected),
            ("kept as edited here, though the server changed it too", &self.kept),
        ];
        for (what, names) in lines {
            if !names.is_empty() {
                writeln!(f, "{what}: {}", shown(&names.join(", ")))?;
            }
        }
        if self.is_rewritten {
            writeln!(
                f,
                "the file could not be changed in place, so it was rewritten without comments"
            )?;
        }
        for (name, changes) in &self.changed {
            writeln!(f, "changed: {}", shown(name))?;
            for change in changes {
                writeln!(f, "  {}", shown(change))?;
            }
        }
        Ok(())
    }
}

/// A text of a server on one line, so that it cannot add lines to the report.
fn shown(words: &str) -> String {
    line(words, usize::MAX)
}
