//! The section of docs/benchmarks.md that the command writes: the tables, and under which conditions they came about.

use std::path::Path;
use std::{fs, io};

use crate::plot;
use crate::report::Found;

const HEADING: &str = "## generation\n";

/// Where a run took place.
#[derive(Debug)]
pub struct Conditions {
    /// As `2026-11-22`.
    pub day: String,
    /// How many processors the machine has.
    pub cores: usize,
    /// How many processes wanted one, on average over the 15 minutes before the end (proc(5), loadavg).
    pub load: String,
}

impl Conditions {
    /// Those of now.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn now() -> io::Result<Self> {
        let load = fs::read_to_string("/proc/loadavg")?;
        Ok(Self {
            day: chrono::Utc::now().format("%Y-%m-%d").to_string(),
            cores: std::thread::available_parallelism()?.get(),
            load: load.split(' ').nth(2).unwrap_or("unknown").to_owned(),
        })
    }
}

/// Writes what was found into the repository's docs.
///
/// # Errors
///
/// When a page cannot be read or written.
pub fn write(found: &Found, conditions: &Conditions, repository: &Path) -> io::Result<()> {
    let page = repository.join("docs/benchmarks.md");
    let text = replaced(&fs::read_to_string(&page)?, &section(found, conditions));
    fs::write(page, text)?;
    fs::write(repository.join("docs/generation.svg"), plot::svg(found))
}

fn section(found: &Found, Conditions { day, cores, load }: &Conditions) -> String {
    format!(
        "{HEADING}\n\
         Written by `cargo xtask bench generation --write`. {day}, release build, {cores} shared cores, load {load}. Every\n\
         generator is given the same tools in its own language, ten in a toolset: seven properties with a nested object, an enum, a\n\
         date and a shared type, three in the result. Each run is a process of its own; medians of rounds in which all take turns,\n\
         ratios taken a round. typify and prost-build are run as libraries, formatting as they do by default, the others as their\n\
         commands. BAML and Protocol Buffers have no limits in their types, so theirs are left out there.\n\n\
         {}\n\
         ![Processor time and peak memory over 10 to 10,000 tools](generation.svg)\n",
        found.tables()
    )
}

/// The page with the section in the place of the one it had, or at its end.
fn replaced(page: &str, section: &str) -> String {
    let Some(start) = page.find(HEADING) else {
        return format!("{}\n\n{section}", page.trim_end());
    };
    let rest = &page[start + HEADING.len()..];
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    format!("{}{section}{after}", &page[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_its_like_and_no_other() {
        let section = "## generation\n\nnew\n";
        for (page, expected) in [
            ("# B\n\n## a\n\nx\n", "# B\n\n## a\n\nx\n\n## generation\n\nnew\n"),
            (
                "# B\n\n## generation\n\nold\n\n## z\n\ny\n",
                "# B\n\n## generation\n\nnew\n\n## z\n\ny\n",
            ),
            ("# B\n\n## generation\n\nold\n", "# B\n\n## generation\n\nnew\n"),
        ] {
            assert_eq!(replaced(page, section), expected);
        }
        let again = replaced(&replaced("# B\n", section), section);
        assert_eq!(again, replaced("# B\n", section));
    }

    #[test]
    fn a_section_says_when_and_under_which_load() {
        let conditions =
            Conditions { day: "2026-11-22".to_owned(), cores: 2, load: "7.54".to_owned() };
        let section = section(&Found::default(), &conditions);
        assert!(
            section.contains("2026-11-22, release build, 2 shared cores, load 7.54."),
            "{section}"
        );
    }
}
