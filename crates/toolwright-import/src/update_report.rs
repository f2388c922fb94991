//! Reports what another import found changed: on the server, and against the file.

use std::fmt;

use toolwright::untrusted::line;

/// What changed since a file was written, by the tools' names on the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// New on the server, and taken into the file.
    pub added: Vec<String>,
    /// New on the server, and not taken.
    pub left_out: Vec<String>,
    /// Left out before, and taken now.
    pub back: Vec<String>,
    /// In the file, and no longer on the server: taken out.
    pub gone: Vec<String>,
    /// Not in the file, and no longer on the server.
    pub forgotten: Vec<String>,
    /// Taken out of the file because a flag says so.
    pub dropped: Vec<String>,
    /// In the file, where they stay although no `--only` selects them.
    pub unselected: Vec<String>,
    /// Changed on the server, each with what changed in its schemas against the file.
    pub changed: Vec<(String, Vec<String>)>,
    /// Edited in the file, where the edit stays although the server says something new.
    pub kept: Vec<String>,
    /// Whether the file had to be written anew, without its comments.
    pub is_rewritten: bool,
}

impl fmt::Display for UpdateReport {
    /// A line a kind of change, and the changes of each tool below it; nothing where nothing changed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [
            ("new", &self.added),
            ("new, left out (take them with --add-new or --add NAME)", &self.left_out),
            ("taken again", &self.back),
            ("gone, removed", &self.gone),
            ("gone, was left out", &self.forgotten),
            ("removed by --except", &self.dropped),
            ("kept, though no --only selects it", &self.unselected),
            ("kept as edited here, though the server says something new", &self.kept),
        ];
        for (what, names) in lines {
            if !names.is_empty() {
                writeln!(f, "{what}: {}", shown(&names.join(", ")))?;
            }
        }
        if self.is_rewritten {
            writeln!(
                f,
                "the file could not be changed in place, so it was written anew, without comments"
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

/// A server's words on one line: none of them begins a line of the report.
fn shown(words: &str) -> String {
    line(words, usize::MAX)
}
