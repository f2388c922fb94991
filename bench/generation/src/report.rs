//! The results of the benchmark, as tables for people and as JSON lines for programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::generators::Generator;
use crate::measure::Cost;

/// The results of one run of the benchmark.
#[derive(Debug, Default)]
pub struct Results {
    /// The number of tools in the table.
    pub tools: usize,
    /// The cost of each kind of run of toolwright, a cold one first.
    pub ours: Vec<(&'static str, Cost)>,
    /// The cost of each peer, and the median of the ratios of our processor time to its in each round.
    pub peers: Vec<(Generator, Cost, f64)>,
    /// The same as `ours` for as many tools as a large organization has, and the cost of `toolwright lock` and `toolwright diff`.
    pub many: Vec<(String, Cost)>,
    /// The cost of each generator for growing numbers of tools.
    pub growth: Vec<(Generator, Vec<Point>)>,
    /// Generators and sizes that were left out, with the reasons.
    pub notices: Vec<String>,
}

/// The cost of a cold run.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The number of tools.
    pub tools: u32,
    /// The cost.
    pub cost: Cost,
}

/// A figure of toolwright and that of a peer, with the fields that all areas of `cargo xtask bench --json` have.
#[derive(Debug, Serialize)]
struct Comparison {
    name: String,
    ours: f64,
    peer: f64,
    peer_name: &'static str,
    unit: &'static str,
    ratio: f64,
}

impl Results {
    /// Returns the cost of a generator in the table, or `None` if it is not there.
    pub fn cold(&self, generator: Generator) -> Option<Cost> {
        if generator == Generator::Toolwright {
            return self.ours.first().map(|(_, cost)| *cost);
        }
        self.peers.iter().find(|(peer, ..)| *peer == generator).map(|(_, cost, _)| *cost)
    }

    /// Returns the comparisons as JSON, one object per line.
    pub fn json_lines(&self) -> String {
        let lines = self.comparisons();
        let lines = lines.iter().filter_map(|comparison| serde_json::to_string(comparison).ok());
        lines.fold(String::new(), |text, line| text + &line + "\n")
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let Some((_, cold)) = self.ours.first() else { return Vec::new() };
        let mut all = Vec::new();
        for (run, cost) in &self.ours[1..] {
            let name = format!("generation/{} tools, {run}", self.tools);
            let (ours, peer) = (cost.cpu, cold.cpu);
            all.push(Comparison {
                name,
                ours,
                peer,
                peer_name: "a cold run",
                unit: "CPU s",
                ratio: ours / peer,
            });
        }
        for (peer, theirs, ratio) in &self.peers {
            let figures = [
                ("processor time", cold.cpu, theirs.cpu, "CPU s", *ratio),
                ("time on the wall", cold.wall, theirs.wall, "s", cold.wall / theirs.wall),
                ("peak memory", cold.peak, theirs.peak, "MB", cold.peak / theirs.peak),
                ("output", cold.output, theirs.output, "kB", cold.output / theirs.output),
            ];
            all.extend(figures.map(|(figure, ours, peer_figure, unit, ratio)| Comparison {
                name: format!("generation/{} tools, {figure}", self.tools),
                ours,
                peer: peer_figure,
                peer_name: peer.name(),
                unit,
                ratio,
            }));
        }
        all
    }

    /// Returns the tables in Markdown.
    pub fn tables(&self) -> String {
        let mut text = self.side_by_side();
        text.push('\n');
        text.push_str(&self.many_table());
        text.push('\n');
        text.push_str(&self.growth_table());
        // Writing to a string cannot fail, here and below.
        for notice in &self.notices {
            let _ = write!(text, "\n{notice}.\n");
        }
        text
    }

    fn side_by_side(&self) -> String {
        let mut text = format!(
            "| {} tools | CPU s | wall s | peak MB | output kB | CPU ms per MB | our CPU / its CPU | output |\n|---|--:|--:|--:|--:|--:|--:|---|\n",
            self.tools
        );
        let mut row = |name: &str, cost: &Cost, is_cold: bool, ratio: &str, emits: &str| {
            let Cost { cpu, wall, peak, output } = cost;
            let rate = if is_cold { format!("{:.0}", 1e6 * cpu / output) } else { String::new() };
            let (cpu, wall) = (seconds(*cpu), seconds(*wall));
            let _ = writeln!(
                text,
                "| {name} | {cpu} | {wall} | {peak:.0} | {output:.0} | {rate} | {ratio} | {emits} |"
            );
        };
        for (index, (run, cost)) in self.ours.iter().enumerate() {
            let emits = if index == 0 { Generator::Toolwright.emits() } else { "" };
            row(&format!("toolwright, {run}"), cost, index == 0, "", emits);
        }
        for (peer, cost, ratio) in &self.peers {
            row(peer.name(), cost, true, &format!("{ratio:.2}"), peer.emits());
        }
        text
    }

    fn many_table(&self) -> String {
        let mut text =
            "| 10,000 tools | CPU s | wall s | peak MB |\n|---|--:|--:|--:|\n".to_owned();
        for (run, Cost { cpu, wall, peak, .. }) in &self.many {
            let (cpu, wall) = (seconds(*cpu), seconds(*wall));
            let _ = writeln!(text, "| toolwright, {run} | {cpu} | {wall} | {peak:.0} |");
        }
        text
    }

    fn growth_table(&self) -> String {
        let mut text = "| CPU s, peak MB |".to_owned();
        for (generator, _) in &self.growth {
            let _ = write!(text, " {} |", generator.name());
        }
        text.push_str("\n|--:|");
        text.push_str(&"--:|".repeat(self.growth.len()));
        text.push('\n');
        for tools in crate::tools::SIZES {
            let _ = write!(text, "| {tools} tools |");
            for (_, points) in &self.growth {
                let point = points.iter().find(|point| point.tools == tools);
                let _ = match point {
                    Some(Point { cost, .. }) => {
                        write!(text, " {}, {:.0} |", seconds(cost.cpu), cost.peak)
                    }
                    None => write!(text, " – |"),
                };
            }
            text.push('\n');
        }
        text
    }
}

/// Formats seconds with the precision of the clock, which is a hundredth of a second.
fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2}") } else { format!("{seconds:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let cost = |cpu| Cost { cpu, wall: 2.0 * cpu, peak: 50.0, output: 1234.4 };
        let point = |tools, cpu| Point { tools, cost: cost(cpu) };
        Results {
            tools: 1000,
            ours: vec![("cold", cost(0.5)), ("nothing changed", cost(0.05))],
            peers: vec![(Generator::Typify, cost(2.0), 0.25)],
            many: [
                ("cold", 5.0),
                ("one tool edited", 0.1),
                ("`lock`, the first, tools of 1 kB", 0.4),
            ]
            .map(|(run, cpu)| (run.to_owned(), cost(cpu)))
            .into(),
            growth: vec![
                (Generator::Toolwright, vec![point(10, 0.01), point(100, 0.05)]),
                (Generator::Typify, vec![point(10, 0.02)]),
            ],
            notices: vec!["BAML was left out: npm is not there".to_owned()],
        }
    }

    #[test]
    fn a_line_of_json_has_the_six_fixed_fields() {
        let lines = results().json_lines();
        assert_eq!(lines.lines().count(), 5);
        assert_eq!(
            lines.lines().nth(1),
            Some(
                "{\"name\":\"generation/1000 tools, processor time\",\"ours\":0.5,\"peer\":2.0,\
                 \"peer_name\":\"typify 0.8\",\"unit\":\"CPU s\",\"ratio\":0.25}"
            )
        );
    }

    #[test]
    fn the_tables_have_a_row_for_each_run_and_each_size() {
        let tables = results().tables();
        for wanted in [
            "| toolwright, cold | 0.50 | 1.00 | 50 | 1234 | 405 |  | crates: ",
            "| toolwright, nothing changed | 0.05 | 0.10 | 50 | 1234 |  |  |  |\n",
            "\n| toolwright, one tool edited | 0.10 | 0.20 | 50 |\n",
            "\n| toolwright, `lock`, the first, tools of 1 kB | 0.40 | 0.80 | 50 |\n",
            "| typify 0.8 | 2.00 | 4.00 | 50 | 1234 | 1620 | 0.25 | types with",
            "\n| 10 tools | 0.01, 50 | 0.02, 50 |\n| 100 tools | 0.05, 50 | – |\n",
            "\nBAML was left out: npm is not there.\n",
        ] {
            assert!(tables.contains(wanted), "{wanted:?} in {tables}");
        }
    }
}
