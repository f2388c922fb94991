//! Runs the benchmark: rounds in which all generators take turns, then growing numbers of tools. Needs Linux.
//!
//! Other processes slow down all generators of a round, so ratios are computed for each round and the median is reported.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::generators::{Generator, Peers};
use crate::measure::{self, Cost, Failed};
use crate::report::{Point, Results};
use crate::tools::{Language, SIZES, Size};

/// The number of tools in the table.
const TOOLS: usize = 1_000;
/// The number of tools that a large organization may have; toolwright is measured with so many in every kind of run.
const MANY: usize = 10_000;
/// The number of rounds for the table: odd, so that one of them is the median.
const ROUNDS: usize = 7;
/// The number of rounds for small sizes of the curve, which are fast, and for toolwright with many tools.
const FEW_ROUNDS: usize = 3;
/// The limit for a peer in seconds of processor time.
const LIMIT: u32 = 60;
/// The limit for toolwright in seconds of processor time.
const OUR_LIMIT: u32 = 600;

/// The lock of the command, and a copy of the first one.
const LOCKS: [&str; 2] = ["toolwright.lock", "first.lock"];

/// The runs of the command with many tools in their order: its words, and what they do. The first one writes the lock, and a
/// tool is edited before [`EDITED`].
const CONTRACT_RUNS: [(&[&str], &str); 7] = [
    (&["lock"], "`lock`, the first"),
    (&["lock"], "`lock`, nothing changed"),
    (&["diff"], "`diff`, nothing changed"),
    (&["diff", LOCKS[1], LOCKS[0]], "`diff` of two locks, nothing changed"),
    (&["diff"], EDITED),
    (&["lock"], "`lock`, one tool edited"),
    (&["diff", LOCKS[1], LOCKS[0]], "`diff` of two locks, one tool edited"),
];
const EDITED: &str = "`diff`, one tool edited";

/// The kinds of runs of toolwright in their order. Each starts with the output of the one before.
const RUNS: [&str; 4] = ["cold", "nothing changed", "one tool edited", "`--check`"];

/// Runs the benchmark, with npm packages installed into `packages`, and the command `toolwright` at `command`.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written, or if toolwright fails.
pub fn run(packages: &Path, command: &Path) -> io::Result<Results> {
    let (peers, notice) = Peers::install(packages);
    let folder = tempfile::tempdir()?;
    let mut bench = Bench { peers, folder: folder.path().to_owned(), runs: 0, notices: Vec::new() };
    bench.notices.extend(notice.map(|why| format!("npm packages could not be installed: {why}")));
    let mut results = bench.side_by_side()?;
    results.many = bench.many()?;
    results.many.extend(bench.contract(command)?);
    results.growth = bench.growth(&results)?;
    results.notices = bench.notices;
    Ok(results)
}

struct Bench {
    peers: Peers,
    folder: PathBuf,
    /// The number of runs so far. Each has its own folders.
    runs: usize,
    notices: Vec<String>,
}

/// The costs of one round: of each kind of run of toolwright, and of each peer.
struct Round {
    ours: Vec<Cost>,
    peers: Vec<Option<Cost>>,
}

impl Bench {
    fn side_by_side(&mut self) -> io::Result<Results> {
        let mut peers: Vec<Generator> = Generator::ALL[1..].to_vec();
        let mut rounds: Vec<Round> = Vec::new();
        for round in 0..ROUNDS {
            eprintln!("{TOOLS} tools, round {} of {ROUNDS}", round + 1);
            let ours = self.ours(TOOLS)?;
            let mut costs = Vec::new();
            for peer in &peers {
                costs.push(self.cold(*peer, TOOLS)?);
            }
            // A peer that failed once is left out.
            let ran: Vec<bool> = costs.iter().map(Option::is_some).collect();
            rounds.push(Round { ours, peers: costs });
            retain(&mut peers, &ran);
            for round in &mut rounds {
                retain(&mut round.peers, &ran);
            }
        }
        Ok(summary(&peers, &rounds))
    }

    /// Measures every kind of run of toolwright with many tools.
    fn many(&mut self) -> io::Result<Vec<(String, Cost)>> {
        let mut rounds = Vec::new();
        for round in 0..FEW_ROUNDS {
            eprintln!("{MANY} tools, round {} of {FEW_ROUNDS}", round + 1);
            rounds.push(self.ours(MANY)?);
        }
        let median_of =
            |run: usize| medians(&rounds.iter().map(|round| round[run]).collect::<Vec<_>>());
        Ok(RUNS
            .iter()
            .enumerate()
            .map(|(run, name)| ((*name).to_owned(), median_of(run)))
            .collect())
    }

    /// Measures what the command takes to lock and compare many tools: those of the benchmark, and the smallest.
    fn contract(&mut self, command: &Path) -> io::Result<Vec<(String, Cost)>> {
        let mut all = Vec::new();
        for size in Size::ALL {
            let mut rounds = Vec::new();
            for round in 0..FEW_ROUNDS {
                eprintln!("{MANY} {size}, lock and diff, round {} of {FEW_ROUNDS}", round + 1);
                rounds.push(self.locked(command, size)?);
            }
            all.extend(CONTRACT_RUNS.iter().enumerate().map(|(run, (_, name))| {
                let costs: Vec<Cost> = rounds.iter().map(|round| round[run]).collect();
                (format!("{name}, {size}"), medians(&costs))
            }));
        }
        Ok(all)
    }

    fn locked(&mut self, command: &Path, size: Size) -> io::Result<Vec<Cost>> {
        let (input, out) = self.folders(Generator::Toolwright, 0)?;
        size.write(MANY, &input)?;
        fs::write(input.join("toolwright.toml"), "[project]\nschema = \".\"\n")?;
        let mut costs = Vec::new();
        for (words, run) in CONTRACT_RUNS {
            if run == EDITED {
                edit(&input)?;
            }
            let mut command: Vec<OsString> =
                vec!["env".into(), "-C".into(), input.clone().into(), command.into()];
            command.extend(words.iter().map(OsString::from));
            costs.push(measure::run(&command, &out, OUR_LIMIT)?.map_err(ours_failed)?);
            if costs.len() == 1 {
                fs::copy(input.join(LOCKS[0]), input.join(LOCKS[1]))?;
            }
        }
        Ok(costs)
    }

    /// Measures the four runs of toolwright, one after the other.
    fn ours(&mut self, tools: usize) -> io::Result<Vec<Cost>> {
        let (input, out) = self.folders(Generator::Toolwright, tools)?;
        let generate =
            Generator::Toolwright.command(&self.peers, &input, &out)?.unwrap_or_default();
        let check = Generator::check_command(&input, &out)?;
        let mut costs = Vec::new();
        for run in RUNS {
            if run == "one tool edited" {
                edit(&input)?;
            }
            let words = if run == "`--check`" { &check } else { &generate };
            costs.push(measure::run(words, &out, OUR_LIMIT)?.map_err(ours_failed)?);
        }
        Ok(costs)
    }

    fn growth(&mut self, results: &Results) -> io::Result<Vec<(Generator, Vec<Point>)>> {
        let mut curves: Vec<(Generator, Vec<Point>)> =
            Generator::ALL.map(|generator| (generator, Vec::new())).into();
        for tools in SIZES {
            for (generator, points) in &mut curves {
                let goes_on = points.last().map(|point| point.tools) == before(tools);
                if goes_on && let Some(cost) = self.point(*generator, points, tools, results)? {
                    points.push(Point { tools, cost });
                }
            }
        }
        curves.retain(|(_, points)| !points.is_empty());
        Ok(curves)
    }

    /// Measures the next point of a curve; returns `None` if the generator cannot reach it.
    fn point(
        &mut self,
        generator: Generator,
        known: &[Point],
        tools: u32,
        results: &Results,
    ) -> io::Result<Option<Cost>> {
        if tools as usize == TOOLS {
            return Ok(results.cold(generator));
        }
        if tools as usize == MANY && generator == Generator::Toolwright {
            return Ok(results.many.first().map(|(_, cost)| *cost));
        }
        let last = known.last().map_or(0.0, |point| point.cost.cpu);
        // All generators take at least ten times as long for ten times the tools, so this one would exceed the limit.
        if generator != Generator::Toolwright && last * 10.0 > f64::from(LIMIT) {
            let name = generator.name();
            self.notice(format!(
                "{name} was left out for {tools} tools, since it would take more than {LIMIT} CPU s"
            ));
            return Ok(None);
        }
        self.median_of_cold(generator, tools)
    }

    fn median_of_cold(&mut self, generator: Generator, tools: u32) -> io::Result<Option<Cost>> {
        eprintln!("{tools} tools, {}", generator.name());
        let rounds = if tools <= 100 { FEW_ROUNDS } else { 1 };
        let mut costs = Vec::new();
        for _ in 0..rounds {
            let Some(cost) = self.cold(generator, tools as usize)? else { return Ok(None) };
            costs.push(cost);
        }
        Ok(Some(medians(&costs)))
    }

    /// Measures a run into an empty folder. Returns `None`, and adds a notice, if the generator is not installed or fails.
    fn cold(&mut self, generator: Generator, tools: usize) -> io::Result<Option<Cost>> {
        let (input, out) = self.folders(generator, tools)?;
        let Some(words) = generator.command(&self.peers, &input, &out)? else {
            self.notice(format!("{} was left out: it is not installed", generator.name()));
            return Ok(None);
        };
        let is_ours = generator == Generator::Toolwright;
        let ended = measure::run(&words, &out, if is_ours { OUR_LIMIT } else { LIMIT })?;
        match ended {
            Ok(cost) => Ok(Some(cost)),
            Err(failed) if is_ours => Err(ours_failed(failed)),
            Err(Failed { reason }) => {
                let name = generator.name();
                self.notice(format!(
                    "{name} did not finish {tools} tools within {LIMIT} CPU s ({reason})"
                ));
                Ok(None)
            }
        }
    }

    fn notice(&mut self, notice: String) {
        if !self.notices.contains(&notice) {
            eprintln!("note: {notice}");
            self.notices.push(notice);
        }
    }

    /// Creates a folder with the tools in the generator's language, and an empty output folder beside it, where BAML writes.
    ///
    /// Folders are removed only at the end of the benchmark: ext4 still has work with files that were just deleted, which
    /// would slow down the next run.
    fn folders(&mut self, generator: Generator, tools: usize) -> io::Result<(PathBuf, PathBuf)> {
        let language = generator.language();
        self.runs += 1;
        let place = self.folder.join(self.runs.to_string());
        // BAML requires this name.
        let input = place.join(if language == Language::Baml { "baml_src" } else { "in" });
        language.write(tools, &input)?;
        let out = place.join("out");
        fs::create_dir_all(&out)?;
        Ok((input, out))
    }
}

fn ours_failed(Failed { reason }: Failed) -> io::Error {
    io::Error::other(format!("toolwright did not generate the tools of the benchmark: {reason}"))
}

/// Changes the description of one tool.
fn edit(input: &Path) -> io::Result<()> {
    let path = input.join(Language::Yaml.file(0));
    let text = fs::read_to_string(&path)?;
    fs::write(path, text.replacen("with all its options", "with most of its options", 1))
}

fn before(tools: u32) -> Option<u32> {
    SIZES.iter().copied().take_while(|size| *size < tools).last()
}

fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or_default());
}

fn summary(peers: &[Generator], rounds: &[Round]) -> Results {
    let ours = RUNS.iter().enumerate().map(|(run, name)| {
        let costs: Vec<Cost> = rounds.iter().map(|round| round.ours[run]).collect();
        (*name, medians(&costs))
    });
    let peers = peers.iter().enumerate().map(|(index, peer)| {
        let pairs = rounds.iter().filter_map(|round| Some((round.ours[0], round.peers[index]?)));
        let pairs: Vec<(Cost, Cost)> = pairs.collect();
        let costs: Vec<Cost> = pairs.iter().map(|(_, theirs)| *theirs).collect();
        let ratio = median(pairs.iter().map(|(ours, theirs)| ours.cpu / theirs.cpu));
        (*peer, medians(&costs), ratio)
    });
    Results { tools: TOOLS, ours: ours.collect(), peers: peers.collect(), ..Results::default() }
}

fn medians(costs: &[Cost]) -> Cost {
    let of = |figure: fn(&Cost) -> f64| median(costs.iter().map(figure));
    Cost {
        cpu: of(|cost| cost.cpu),
        wall: of(|cost| cost.wall),
        peak: of(|cost| cost.peak),
        output: of(|cost| cost.output),
    }
}

/// Returns the median, or zero if there are no values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(cpu: f64) -> Cost {
        Cost { cpu, ..Cost::default() }
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let round =
            |ours, theirs| Round { ours: vec![cost(ours); 4], peers: vec![Some(cost(theirs))] };
        let rounds = [round(1.0, 4.0), round(3.0, 6.0), round(2.0, 10.0)];
        let results = summary(&[Generator::Typify], &rounds);
        assert_eq!(results.ours[0], ("cold", cost(2.0)));
        let (_, theirs, ratio) = results.peers[0];
        assert_eq!((theirs, ratio), (cost(6.0), 0.25));
    }

    #[test]
    fn an_edit_changes_one_file() {
        let folder = tempfile::tempdir().unwrap();
        Language::Yaml.write(20, folder.path()).unwrap();
        let read = |set| fs::read_to_string(folder.path().join(Language::Yaml.file(set))).unwrap();
        let before = [read(0), read(1)];
        edit(folder.path()).unwrap();
        assert_ne!(read(0), before[0]);
        assert_eq!(read(1), before[1]);
    }
}
