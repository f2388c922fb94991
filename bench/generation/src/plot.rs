//! Draws the growth curves as an SVG with two panels and logarithmic axes, for light and dark backgrounds.

use std::fmt::Write as _;

use crate::generators::Generator;
use crate::report::{Point, Results};
use crate::tools::SIZES;

/// The size of a panel's plotting area and its position.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 260.0;
const TOP: f64 = 46.0;
const LEFTS: [f64; 2] = [58.0, 572.0];
/// The minimal distance between the labels at the ends of curves.
const LINE: f64 = 14.0;

/// The head with all colors for light and dark backgrounds. It uses no CSS variables, which some viewers do not support.
const HEAD: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 370" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" font-size="12">
<title id="title">Processor time and peak memory of generators over 10 to 10,000 tools</title>
<style>
  text { fill: #24292f }
  path { fill: none; stroke-width: 2 }
  .axis { stroke: #d0d7de; stroke-width: 1 }
  .linear { stroke: #24292f; stroke-width: 1; stroke-dasharray: 3 4; opacity: .6 }
  path.a { stroke: #0550ae; stroke-width: 3 } circle.a, text.a { fill: #0550ae }
  path.b { stroke: #bc4c00 } circle.b, text.b { fill: #bc4c00 }
  path.c { stroke: #1a7f37 } circle.c, text.c { fill: #1a7f37 }
  path.d { stroke: #8250df } circle.d, text.d { fill: #8250df }
  path.e { stroke: #bf3989 } circle.e, text.e { fill: #bf3989 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .axis { stroke: #3d444d }
    .linear { stroke: #e6edf3 }
    path.a { stroke: #79c0ff } circle.a, text.a { fill: #79c0ff }
    path.b { stroke: #ffa657 } circle.b, text.b { fill: #ffa657 }
    path.c { stroke: #7ee787 } circle.c, text.c { fill: #7ee787 }
    path.d { stroke: #d2a8ff } circle.d, text.d { fill: #d2a8ff }
    path.e { stroke: #ff9bce } circle.e, text.e { fill: #ff9bce }
  }
</style>
"#;

/// One half of the image.
struct Panel {
    title: &'static str,
    left: f64,
    figure: fn(&Point) -> f64,
    /// The smallest power of ten on the y axis.
    from: i32,
    /// The largest power of ten on the y axis.
    to: i32,
}

/// Returns the image as text.
pub fn svg(results: &Results) -> String {
    let mut text = HEAD.to_owned();
    let panels: [(&str, fn(&Point) -> f64); 2] = [
        ("processor time, seconds", |point| point.cost.cpu),
        ("peak memory, megabytes", |point| point.cost.peak),
    ];
    for ((title, figure), left) in panels.into_iter().zip(LEFTS) {
        let panel = Panel::around(results, title, figure, left);
        panel.axes(&mut text);
        panel.curves(&mut text, results);
    }
    text.push_str("</svg>\n");
    text
}

impl Panel {
    fn around(
        results: &Results,
        title: &'static str,
        figure: fn(&Point) -> f64,
        left: f64,
    ) -> Self {
        let values = results.growth.iter().flat_map(|(_, points)| points.iter().map(figure));
        let logs: Vec<f64> = values.map(logarithm).collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (from, to) =
            if logs.is_empty() { (0, 1) } else { (whole(least.floor()), whole(most.ceil())) };
        Self { title, left, figure, from, to: to.max(from + 1) }
    }

    fn x(&self, tools: u32) -> f64 {
        let (first, last) =
            (logarithm(f64::from(SIZES[0])), logarithm(f64::from(SIZES[SIZES.len() - 1])));
        self.left + WIDTH * (logarithm(f64::from(tools)) - first) / (last - first)
    }

    /// Returns the number of tools at a position of the x axis.
    fn tools(&self, x: f64) -> String {
        let here = SIZES.iter().find(|tools| (self.x(**tools) - x).abs() < 1.0);
        here.map_or_else(String::new, |tools| grouped(*tools))
    }

    fn y(&self, value: f64) -> f64 {
        let part = (logarithm(value) - f64::from(self.from)) / f64::from(self.to - self.from);
        TOP + HEIGHT * (1.0 - part)
    }

    fn axes(&self, text: &mut String) {
        let (left, right, bottom) = (self.left, self.left + WIDTH, TOP + HEIGHT);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            r#"<text x="{left}" y="{}" font-weight="600">{}</text>"#,
            TOP - 20.0,
            self.title
        );
        for tools in SIZES {
            let x = self.x(tools);
            let _ = writeln!(text, r#"<path class="axis" d="M{x:.1} {TOP}V{bottom}"/>"#);
            let _ = writeln!(
                text,
                r#"<text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#,
                bottom + 18.0,
                grouped(tools)
            );
        }
        let _ = writeln!(
            text,
            r#"<text x="{}" y="{}" text-anchor="middle">tools</text>"#,
            left + WIDTH / 2.0,
            bottom + 36.0
        );
        for power in self.from..=self.to {
            let y = self.y(10_f64.powi(power));
            let _ = writeln!(text, r#"<path class="axis" d="M{left} {y:.1}H{right}"/>"#);
            let _ = writeln!(
                text,
                r#"<text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                left - 8.0,
                y + 4.0,
                power_of_ten(power)
            );
        }
    }

    fn curves(&self, text: &mut String, results: &Results) {
        let mut ends: Vec<(f64, f64, Generator)> = Vec::new();
        for (generator, points) in &results.growth {
            let place = |point: &Point| (self.x(point.tools), self.y((self.figure)(point)));
            let places: Vec<(f64, f64)> = points.iter().map(place).collect();
            curve(text, class(*generator), &places);
            ends.extend(places.last().map(|(x, y)| (*x, *y, *generator)));
        }
        self.linear(text, results);
        self.labels(text, ends);
    }

    /// Draws the line of linear growth through toolwright's point at 1,000 tools.
    fn linear(&self, text: &mut String, results: &Results) {
        let ours = results.growth.iter().find(|(generator, _)| *generator == Generator::Toolwright);
        let Some(point) =
            ours.and_then(|(_, points)| points.iter().find(|point| point.tools == 1_000))
        else {
            return;
        };
        let value = (self.figure)(point);
        let (x1, y1) = (self.x(100), self.y(value / 10.0));
        let (x2, y2) = (self.x(10_000), self.y(value * 10.0));
        let _ = writeln!(
            text,
            r#"<path class="linear" d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"><title>linear growth</title></path>"#
        );
    }

    /// Draws a label at the end of each curve, moved down if two would overlap.
    fn labels(&self, text: &mut String, mut ends: Vec<(f64, f64, Generator)>) {
        ends.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut free = TOP;
        for (x, y, generator) in ends {
            let at = y.max(free);
            free = at + LINE;
            let right = self.left + WIDTH + 10.0;
            // A curve that ends early also has its name at the edge, with its largest number of tools.
            let is_whole = x + 1.0 >= self.left + WIDTH;
            let note = if is_whole { String::new() } else { format!(" (to {})", self.tools(x)) };
            let _ = writeln!(
                text,
                r#"<text class="{}" x="{right}" y="{:.1}">{}{note}</text>"#,
                class(generator),
                at + 4.0,
                generator.name()
            );
        }
    }
}

fn curve(text: &mut String, class: &str, places: &[(f64, f64)]) {
    let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let _ = writeln!(text, r#"<path class="curve {class}" d="M{}"/>"#, line.join("L"));
    for (x, y) in places {
        let _ = writeln!(text, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
    }
}

fn class(generator: Generator) -> &'static str {
    match generator {
        Generator::Toolwright => "a",
        Generator::Typify => "b",
        Generator::ProstBuild => "c",
        Generator::Baml => "d",
        Generator::Quicktype => "e",
    }
}

/// Returns the logarithm of a figure. A figure of zero, such as a time below the clock's precision, counts as 0.001.
fn logarithm(value: f64) -> f64 {
    value.max(0.001).log10()
}

#[expect(clippy::cast_possible_truncation, reason = "a logarithm of a measured figure is small")]
fn whole(value: f64) -> i32 {
    value as i32
}

fn power_of_ten(power: i32) -> String {
    let digits = usize::try_from(-power).unwrap_or_default();
    format!("{:.digits$}", 10_f64.powi(power))
}

fn grouped(tools: u32) -> String {
    if tools < 1_000 {
        tools.to_string()
    } else {
        format!("{},{:03}", tools / 1_000, tools % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Cost;

    fn point(tools: u32, cpu: f64) -> Point {
        Point { tools, cost: Cost { cpu, wall: cpu, peak: 100.0 * cpu, output: 1.0 } }
    }

    fn panel(results: &Results) -> Panel {
        Panel::around(results, "time", |point| point.cost.cpu, 0.0)
    }

    fn results() -> Results {
        let ours = vec![point(10, 0.02), point(100, 0.2), point(1_000, 2.0), point(10_000, 20.0)];
        let theirs = vec![point(10, 0.03), point(100, 0.3)];
        let growth = vec![(Generator::Toolwright, ours), (Generator::Typify, theirs)];
        Results { growth, ..Results::default() }
    }

    #[test]
    fn axes_are_logarithmic() {
        let panel = panel(&results());
        assert_eq!((panel.from, panel.to), (-2, 2));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(panel.x(100) - panel.x(10), panel.x(10_000) - panel.x(1_000)));
        assert!(near(panel.y(0.1) - panel.y(1.0), panel.y(10.0) - panel.y(100.0)));
        assert!(near(panel.y(100.0), TOP) && near(panel.y(0.01), TOP + HEIGHT));
    }

    #[test]
    fn every_generator_has_a_curve_and_a_name_in_both_panels() {
        let svg = svg(&results());
        for (part, count) in [
            ("class=\"curve ", 4),
            ("<circle", 12),
            (">toolwright</text>", 2),
            (">typify 0.8 (to 100)</text>", 2),
            ("class=\"linear\"", 2),
            ("prefers-color-scheme: dark", 1),
        ] {
            assert_eq!(svg.matches(part).count(), count, "{part} in {svg}");
        }
    }

    #[test]
    fn labels_do_not_overlap() {
        let same = |generator| (generator, vec![point(10_000, 5.0)]);
        let growth = Generator::ALL.map(same).into();
        let svg = svg(&Results { growth, ..Results::default() });
        let names =
            svg.lines().filter(|line| Generator::ALL.iter().any(|g| line.contains(g.name())));
        let heights =
            names.filter_map(|line| line.split_once(" y=\"")?.1.split('"').next()?.parse().ok());
        let heights: Vec<f64> = heights.collect();
        assert_eq!(heights.len(), 10);
        assert!(heights[..5].windows(2).all(|pair| pair[1] - pair[0] > LINE - 0.2), "{heights:?}");
    }
}
