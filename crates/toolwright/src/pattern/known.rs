//! Shares compiled patterns in a process: thousands of schemas may have the same pattern, whose compilation takes milliseconds
//! and megabytes.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::{Compiled, Engine, PatternError};

/// The most steps of the patterns that are kept: those of a project, about 30 MB.
const MAX_STEPS: u64 = 300_000;

/// The memory of a compiled step, about.
const STEP_BYTES: usize = 100;

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Known {
    patterns: HashMap<(Engine, String), Compiled>,
    steps: u64,
}

/// Returns a pattern that was compiled before, or else compiles it. `steps` measures its memory.
pub(super) fn compiled(regex: &str, engine: Engine, steps: u64) -> Result<Compiled, PatternError> {
    let compile = || Compiled::new(regex, engine);
    compiled_in(&KNOWN, (engine, regex.to_owned()), steps, compile)
}

fn compiled_in(
    known: &Mutex<Known>,
    key: (Engine, String),
    steps: u64,
    compile: impl FnOnce() -> Result<Compiled, PatternError>,
) -> Result<Compiled, PatternError> {
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pattern) = known().patterns.get(&key) {
        return Ok(pattern.clone());
    }
    let pattern = compile()?;
    let steps = steps.saturating_add((1 + key.1.len() / STEP_BYTES) as u64);
    if steps > MAX_STEPS {
        return Ok(pattern);
    }
    let mut known = known();
    if known.steps + steps > MAX_STEPS {
        *known = Known::default();
    }
    if known.patterns.insert(key, pattern.clone()).is_none() {
        known.steps += steps;
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::pattern::runs::Runs;

    #[test]
    fn an_equal_pattern_is_compiled_once_unless_others_took_its_place() {
        let (known, compilations) = (Mutex::default(), Cell::new(0));
        let compile = |regex: &str, steps: u64| {
            let key = (Engine::Linear, regex.to_owned());
            let runs = || {
                compilations.set(compilations.get() + 1);
                Ok(Compiled::Runs(Runs::parse("^a$").unwrap()))
            };
            compiled_in(&known, key, steps, runs).unwrap();
            compilations.get()
        };
        assert_eq!([compile("a", 10), compile("a", 10), compile("b", 10)], [1, 1, 2]);
        assert_eq!([compile("too large", MAX_STEPS), compile("too large", MAX_STEPS)], [3, 4]);
        assert_eq!(
            [compile("a", 10), compile("large", MAX_STEPS - 10), compile("a", 10)],
            [4, 5, 6]
        );
    }
}
