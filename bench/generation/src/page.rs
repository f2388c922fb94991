//! Writes the section `generation` of docs/benchmarks.md: the tables, and the conditions under which they were measured.

use std::path::Path;
use std::{fs, io};

use crate::plot;
use crate::report::Results;

const HEADING: &str = "## generation\n";

/// The conditions of a run.
#[derive(Debug)]
pub struct Conditions {
    /// The day, such as `2026-11-22`.
    pub day: String,
    /// The number of processors.
    pub cores: usize,
    /// The load average of the 15 minutes before the end (proc(5), loadavg).
    pub load: String,
}

impl Conditions {
    /// Returns the current conditions.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not provide them.
    pub fn now() -> io::Result<Self> {
        let load = fs::read_to_string("/proc/loadavg")?;
        Ok(Self {
            day: chrono::Utc::now().format("%Y-%m-%d").to_string(),
            cores: std::thread::available_parallelism()?.get(),
            load: load.split(' ').nth(2).unwrap_or("unknown").to_owned(),
        })
    }
}

/// Writes the results into the repository's docs.
///
/// # Errors
///
/// Returns an error if a page cannot be read or written.
pub fn write(results: &Results, conditions: &Conditions, repository: &Path) -> io::Result<()> {
    let page = repository.join("docs/benchmarks.md");
    let text = replaced(&fs::read_to_string(&page)?, &section(results, conditions));
    fs::write(page, text)?;
    fs::write(repository.join("docs/generation.svg"), plot::svg(results))
}

fn section(results: &Results, Conditions { day, cores, load }: &Conditions) -> String {
    format!(
        "{HEADING}\n\
         Written by `cargo xtask bench generation --write`. {day}, release build, {cores} shared cores, load {load}. Every\n\
         generator gets the same tools in its own language, ten in each toolset: seven properties with a nested object, an enum, a\n\
         date and a shared type, and three in the result. Each run is a separate process. The generators take turns in rounds; the\n\
         times are medians, the ratios medians of the ratios of each round. typify and prost-build run as libraries and format as\n\
         they do by default; the others run as commands. The types of BAML and Protocol Buffers have no limits, so their input has\n\
         none. `lock` and `diff` also ran with the smallest tools: a description, one property, and a string as the result.\n\n\
         {}\n\
         ![Processor time and peak memory over 10 to 10,000 tools](generation.svg)\n",
        results.tables()
    )
}

/// Returns the page with its section replaced, or with the section added at its end.
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
    fn a_section_replaces_the_old_one_and_nothing_else() {
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
    fn a_section_has_the_day_and_the_load() {
        let conditions =
            Conditions { day: "2026-11-22".to_owned(), cores: 2, load: "7.54".to_owned() };
        let section = section(&Results::default(), &conditions);
        assert!(
            section.contains("2026-11-22, release build, 2 shared cores, load 7.54."),
            "{section}"
        );
    }
}
