//! Guards the performance of generation with measurements that do not depend on other programs: allocations, which are the
//! same in every run, and ratios of processor times in one run, with a wide margin.

use std::alloc::System;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::{ClockId, clock_gettime};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use toolwright_codegen::{Options, Source, Sources, check, compile};
use toolwright_generation_bench::generators::typify_text;
use toolwright_generation_bench::tools::{Language, toolset, toolsets};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The allocator counts for the whole process, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sources(tools: usize) -> Sources {
    let source = |number| Source {
        path: Language::Yaml.file(number),
        text: Language::Yaml.text(&toolset(number)),
    };
    Sources::new((0..toolsets(tools)).map(source).collect())
}

/// Returns the kilobytes that a function allocates, including those that it frees.
fn allocated<T>(work: impl FnOnce() -> T) -> f64 {
    let region = Region::new(ALLOCATOR);
    black_box(work());
    let bytes = region.change().bytes_allocated;
    u32::try_from(bytes / 1024).map(f64::from).expect("less than four terabytes")
}

/// Returns the processor time of a function in seconds: the fastest of three runs, since other programs only slow one down.
fn cpu_seconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u32::try_from(time.tv_sec).expect("no test runs for a century");
        f64::from(seconds)
            + f64::from(u32::try_from(time.tv_nsec).expect("less than a second")) / 1e9
    };
    let runs = (0..3).map(|_| {
        let start = now();
        black_box(work());
        now() - start
    });
    runs.fold(f64::INFINITY, f64::min)
}

fn generate(sources: &Sources) -> usize {
    let compiled = compile(sources, &Options::default()).expect("the tools compile");
    assert!(compiled.warnings.is_empty(), "{:?}", compiled.warnings);
    compiled.files.iter().map(|(_, text)| text.len()).sum()
}

#[test]
fn ten_times_the_tools_allocate_ten_times_the_memory() {
    let _turn = alone();
    // Both are large enough to use all threads, which have buffers of their own.
    let (few, many) = (sources(100), sources(1000));
    // The first run allocates values that later runs reuse.
    generate(&few);
    let ratio = allocated(|| generate(&many)) / allocated(|| generate(&few));
    assert!(ratio < 10.5, "1,000 tools allocate {ratio:.2} times what 100 do, expected 10");
}

#[test]
fn checking_ten_times_the_tools_takes_ten_times_as_long() {
    let _turn = alone();
    let (few, many) = (sources(50), sources(500));
    let ratio = cpu_seconds(|| check(&many)) / cpu_seconds(|| check(&few));
    // Quadratic work would take a hundred times as long.
    assert!(ratio < 20.0, "500 tools take {ratio:.1} times what 50 do, expected about 10");
}

#[test]
fn generating_a_tool_allocates_less_than_its_types_in_typify() {
    let _turn = alone();
    let tools = 100;
    let ours = sources(tools);
    let theirs: Vec<String> =
        (0..toolsets(tools)).map(|number| Language::JsonSchema.text(&toolset(number))).collect();
    let all_types = || -> usize {
        theirs.iter().map(|text| typify_text(text).expect("the schemas compile").len()).sum()
    };
    let ratio = allocated(|| generate(&ours)) / allocated(all_types);
    assert!(
        ratio < MAX_RATIO_TO_TYPIFY,
        "toolwright allocates {ratio:.2} of what typify does, expected {MAX_RATIO_TO_TYPIFY} at most"
    );
}

/// The actual ratio is below 0.2, although toolwright also generates codecs, specs, calls and executors.
const MAX_RATIO_TO_TYPIFY: f64 = 0.25;
