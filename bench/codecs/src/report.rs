//! The results of comparisons, as tables for people and as JSON lines for programs.

use std::fmt::Write as _;

use serde::Serialize;

/// A figure of toolwright and that of a peer.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The name of the measurement, such as `codecs/decode 1 KB`.
    pub name: String,
    /// Our figure.
    pub ours: f64,
    /// The peer's figure.
    pub peer: f64,
    /// The name of the peer.
    pub peer_name: &'static str,
    /// The unit of both figures.
    pub unit: &'static str,
    /// Our figure divided by the peer's.
    pub ratio: f64,
    /// The target for the ratio, which should stay below it.
    #[serde(skip)]
    pub target: Option<f64>,
}

/// Returns the comparisons as a table in Markdown.
pub fn table(area: &str, comparisons: &[Comparison]) -> String {
    let mut text = format!(
        "## {area}\n\n| what | ours | peer | | unit | ratio | at most |\n|---|--:|--:|---|---|--:|--:|\n"
    );
    for comparison in comparisons {
        let Comparison { name, ours, peer, peer_name, unit, ratio, target } = comparison;
        let target = target.map_or_else(String::new, |target| format!("{target:.2}"));
        let digits = if *ours < 100.0 { 2 } else { 0 };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {ours:.digits$} | {peer:.digits$} | {peer_name} | {unit} | {ratio:.2} | {target} |"
        );
    }
    text
}

/// Returns the comparisons as JSON, one object per line.
pub fn json_lines(comparisons: &[Comparison]) -> String {
    comparisons
        .iter()
        .filter_map(|comparison| serde_json::to_string(comparison).ok())
        .fold(String::new(), |lines, line| lines + &line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison() -> Comparison {
        Comparison {
            name: "decode".to_owned(),
            ours: 150.0,
            peer: 300.0,
            peer_name: "serde_json",
            unit: "ns",
            ratio: 0.5,
            target: Some(0.7),
        }
    }

    #[test]
    fn a_table_has_a_row_for_each_comparison() {
        let table = table("codecs", &[comparison()]);
        assert!(table.ends_with("| decode | 150 | 300 | serde_json | ns | 0.50 | 0.70 |\n"));
    }

    #[test]
    fn a_line_of_json_has_the_six_fixed_fields() {
        assert_eq!(
            json_lines(&[comparison()]),
            "{\"name\":\"decode\",\"ours\":150.0,\"peer\":300.0,\"peer_name\":\"serde_json\",\"unit\":\"ns\",\"ratio\":0.5}\n"
        );
    }
}
