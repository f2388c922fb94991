//! The simulation behind docs/scale.md: the busiest ten minutes of 10 million runs a day on a cluster of Restate, in whose
//! middle a node ends. The machines and times are assumptions; what a batch costs is measured by `cargo xtask bench engines`.
//!
//! A run asks a model, records its answer, makes calls, records their results, and so on; its last step has no calls. Each record
//! is a batch. A batch waits for its partition, which does one at a time, and then for a core of the partition's node.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use fastrand::Rng;

/// The mean time that a batch takes cores of the cluster, here one of its partition's node, in milliseconds. Measured: a run of
/// seven batches takes 12.2.
const BATCH_MS: f64 = 1.8;
/// The time between a batch and what follows it in the worker: the network and the worker itself, in milliseconds.
const TURN_MS: f64 = 3.0;
/// The time until another node has taken over the partitions of one that ended, in milliseconds.
const TAKEOVER_MS: f64 = 5000.0;

/// Runs a second in the busiest ten minutes: three times the mean of 10 million a day.
const RUNS_A_SECOND: f64 = 3.0 * 10e6 / 86_400.0;
/// The length of the simulation, in milliseconds. The node ends in the middle.
const LENGTH_MS: f64 = 600_000.0;
const STEPS: u32 = 6;
/// The median time that a model takes for a step, and its spread (the deviation of the logarithm).
const MODEL_MS: (f64, f64) = (2000.0, 0.7);
/// The mean time of the calls of a step.
const CALLS_MS: f64 = 400.0;
const CORES: usize = 8;
/// The number of seconds after the end of a node in which batches are compared with those before.
const AFTER: u64 = 240;

/// The clusters, by their numbers of nodes and partitions.
const CLUSTERS: [(usize, usize); 5] = [(3, 24), (3, 96), (5, 96), (8, 96), (8, 384)];

pub(crate) fn run() {
    println!(
        "{RUNS_A_SECOND:.0} runs a second of {STEPS} steps with calls, {:.0} batches a second.\n",
        RUNS_A_SECOND * f64::from(2 * STEPS + 1)
    );
    println!(
        "| nodes of {CORES} cores | partitions | cores busy, % | batch p50, ms | batch p99, ms | runs in flight | \
         longest batch after a node ended, s | time until batches are as fast as before, s |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (nodes, partitions) in CLUSTERS {
        let End { busy, median, late, in_flight, longest, recovered } =
            Cluster::new(nodes, partitions).simulate();
        let (busy, longest) = (busy * 100.0, longest / 1000.0);
        println!(
            "| {nodes} | {partitions} | {busy:.0} | {median:.1} | {late:.1} | {in_flight} | {longest:.1} | {recovered} |"
        );
    }
}

/// An event, with its time in nanoseconds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    what: What,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A run begins.
    Arrive,
    /// A run has a batch to record, its last if none are left.
    Record { partition: usize, left: u32 },
    /// A partition has recorded a batch that was ready at a time.
    Recorded { partition: usize, node: usize, left: u32, since: u64 },
    /// A node ends.
    End { node: usize },
    /// The partitions of a node that ended have a new one.
    TakeOver { node: usize },
}

#[derive(Default)]
struct Node {
    is_down: bool,
    busy_cores: usize,
    /// Partitions with a batch that wait for a core.
    ready: VecDeque<usize>,
    /// The time that its cores worked, in nanoseconds.
    worked: u64,
}

struct Partition {
    node: usize,
    is_busy: bool,
    /// Batches by what is left of their run after them, and since when they wait.
    waiting: VecDeque<(u32, u64)>,
}

struct Cluster {
    now: u64,
    events: BinaryHeap<Reverse<Event>>,
    nodes: Vec<Node>,
    partitions: Vec<Partition>,
    random: Rng,
    in_flight: usize,
    /// When batches were ready, and how long they took, in nanoseconds.
    batches: Vec<(u64, u64)>,
}

struct End {
    /// The part of the time that cores work, and how long batches take, before a node ends.
    busy: f64,
    median: f64,
    late: f64,
    in_flight: usize,
    /// The longest time of a batch after a node ended, in milliseconds.
    longest: f64,
    /// The number of seconds after which batches took as long as before.
    recovered: u64,
}

fn nanos(millis: f64) -> u64 {
    // Times are positive and at most minutes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let nanos = (millis * 1e6) as u64;
    nanos
}

#[expect(clippy::cast_precision_loss, reason = "times are at most minutes")]
fn in_millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

impl Cluster {
    fn new(nodes: usize, partitions: usize) -> Self {
        let partition =
            |n: usize| Partition { node: n % nodes, is_busy: false, waiting: VecDeque::new() };
        Self {
            now: 0,
            events: BinaryHeap::new(),
            nodes: (0..nodes).map(|_| Node::default()).collect(),
            partitions: (0..partitions).map(partition).collect(),
            random: Rng::with_seed(22),
            in_flight: 0,
            batches: Vec::new(),
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.random.f64()).ln()
    }

    fn model(&mut self) -> f64 {
        // Box and Muller.
        let (u, v) = (1.0 - self.random.f64(), self.random.f64());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        MODEL_MS.0 * (MODEL_MS.1 * normal).exp()
    }

    fn after(&mut self, millis: f64, what: What) {
        let event = Event { at: self.now + nanos(millis), what };
        self.events.push(Reverse(event));
    }

    fn simulate(mut self) -> End {
        let (middle, end) = (LENGTH_MS / 2.0, nanos(LENGTH_MS));
        self.after(0.0, What::Arrive);
        self.after(middle, What::End { node: 0 });
        let (mut busy, mut in_flight) = (None, 0);
        while let Some(Reverse(Event { at, what })) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            if at >= nanos(middle) && busy.is_none() {
                let worked: u64 = self.nodes.iter().map(|node| node.worked).sum();
                #[expect(clippy::cast_precision_loss, reason = "there are few")]
                let cores = (self.nodes.len() * CORES) as f64;
                busy = Some(in_millis(worked) / (middle * cores));
                in_flight = self.in_flight;
            }
            self.step(what);
        }
        self.end(busy.unwrap_or_default(), in_flight)
    }

    fn step(&mut self, what: What) {
        match what {
            What::Arrive => {
                let next = self.exponential(1000.0 / RUNS_A_SECOND);
                self.after(next, What::Arrive);
                self.in_flight += 1;
                let partition = self.random.usize(..self.partitions.len());
                let time = self.model();
                self.after(time, What::Record { partition, left: 2 * STEPS });
            }
            What::Record { partition, left } => {
                self.partitions[partition].waiting.push_back((left, self.now));
                self.queue(partition);
            }
            What::Recorded { partition, node, left, since } => {
                self.nodes[node].busy_cores -= 1;
                self.partitions[partition].is_busy = false;
                self.batches.push((since, self.now - since));
                self.go_on(partition, left);
                self.queue(partition);
                self.start(node);
            }
            What::End { node } => {
                self.nodes[node].is_down = true;
                self.after(TAKEOVER_MS, What::TakeOver { node });
            }
            What::TakeOver { node } => {
                let others = self.nodes.len() - 1;
                let orphans = self.partitions.iter_mut().filter(|one| one.node == node);
                orphans
                    .enumerate()
                    .for_each(|(n, one)| one.node = (node + 1 + n % others) % (others + 1));
                for partition in std::mem::take(&mut self.nodes[node].ready) {
                    self.partitions[partition].is_busy = false;
                }
                (0..self.partitions.len()).for_each(|partition| self.queue(partition));
            }
        }
    }

    /// Lets a run continue after a batch.
    fn go_on(&mut self, partition: usize, left: u32) {
        if left == 0 {
            self.in_flight -= 1;
            return;
        }
        // Steps and their calls alternate; the last step has none.
        let time = if left.is_multiple_of(2) { self.exponential(CALLS_MS) } else { self.model() };
        self.after(TURN_MS + time, What::Record { partition, left: left - 1 });
    }

    /// Lets a partition wait for a core, if it has a batch.
    fn queue(&mut self, partition: usize) {
        let Partition { node, is_busy, waiting } = &mut self.partitions[partition];
        let node = *node;
        if !*is_busy && !waiting.is_empty() && !self.nodes[node].is_down {
            *is_busy = true;
            self.nodes[node].ready.push_back(partition);
            self.start(node);
        }
    }

    /// Gives free cores of a node to partitions.
    fn start(&mut self, node: usize) {
        while self.nodes[node].busy_cores < CORES
            && let Some(partition) = self.nodes[node].ready.pop_front()
        {
            let Some((left, since)) = self.partitions[partition].waiting.pop_front() else {
                continue;
            };
            let time = self.exponential(BATCH_MS);
            self.nodes[node].busy_cores += 1;
            self.nodes[node].worked += nanos(time);
            self.after(time, What::Recorded { partition, node, left, since });
        }
    }

    fn end(self, busy: f64, in_flight: usize) -> End {
        let middle = nanos(LENGTH_MS / 2.0);
        let within = |from: u64, to: u64| {
            let batches = self.batches.iter().filter(|(since, _)| (from..to).contains(since));
            let mut times: Vec<u64> = batches.map(|(_, time)| *time).collect();
            times.sort_unstable();
            times
        };
        let at = |times: &[u64], part: usize| {
            times.get(times.len() * part / 100).copied().map_or(f64::INFINITY, in_millis)
        };
        let before = within(middle / 2, middle);
        let (median, late) = (at(&before, 50), at(&before, 99));
        let second = nanos(1000.0);
        let is_normal = |n: &u64| {
            let from = middle + n * second;
            at(&within(from, from + second), 99) <= late * 2.0
        };
        let longest = within(middle, u64::MAX).last().copied().map_or(0.0, in_millis);
        let recovered = (0..AFTER).rev().find(|n| !is_normal(n)).map_or(0, |n| n + 1);
        End { busy, median, late, in_flight, longest, recovered }
    }
}
