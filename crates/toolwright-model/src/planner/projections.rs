//! The tools of a turn in the dialect of the model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolwright::spec::Strictness;
use toolwright_dialect::{
    Dialect, Policy, Projection, Projections, Request, Subject, place, project,
};
use xxhash_rust::xxh3::Xxh3;

use super::output::Expected;
use super::search::VisibleTools;

/// The most projections that are kept. Tools that change at run time would fill the memory without a limit.
const MOST_KEPT: usize = 20_000;

/// Projects tools, each of them once.
#[derive(Debug, Default)]
pub(super) struct ProjectionCache {
    policy: Policy,
    kept: Mutex<BTreeMap<u128, Arc<Projection>>>,
}

/// The tools of a turn.
#[derive(Debug)]
pub(super) struct Tools {
    tools: Vec<Tool>,
    /// The schema that the text of the last answer must match, as a tool, if the provider enforces it.
    output: Option<Tool>,
}

#[derive(Debug)]
struct Tool {
    name: String,
    strict: Arc<Projection>,
    plain: Arc<Projection>,
    strictness: Strictness,
    is_deferred: bool,
}

/// The tools of a request that is being built.
pub(super) struct Placement<'a> {
    projections: Vec<Projections<'a>>,
    dialect: &'a Dialect,
}

impl ProjectionCache {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, kept: Mutex::default() }
    }

    /// Projects the tools that a model sees, and those of the planner: that for searches and that for the final answer.
    pub(super) fn tools(
        &self,
        shown: &VisibleTools<'_>,
        expected: &Expected<'_>,
        dialect: &Dialect,
    ) -> Tools {
        let of_turn = shown.tools().map(|tool| {
            let subject = Subject {
                name: tool.name(),
                description: tool.spec().description(),
                args: tool.spec().args_schema(),
            };
            (subject, tool.spec().strictness())
        });
        let own = shown.search_tool().into_iter().chain(expected.tool());
        let tools = of_turn.chain(own.map(|tool| (tool, Strictness::default())));
        let tool = |(subject, strictness): (Subject<'_>, Strictness)| Tool {
            name: subject.name.to_owned(),
            strict: self.projected(&subject, dialect),
            plain: self.projected(&subject, dialect.plain()),
            is_deferred: shown.deferred().contains(subject.name),
            strictness,
        };
        let output = expected.native().map(|output| tool((output, Strictness::default())));
        Tools { tools: tools.map(tool).collect(), output }
    }

    fn projected(&self, subject: &Subject<'_>, dialect: &Dialect) -> Arc<Projection> {
        let mut digest = Xxh3::new();
        for text in [&dialect.dated_id(), subject.name, subject.description, subject.args] {
            digest.update(&text.len().to_be_bytes());
            digest.update(text.as_bytes());
        }
        let key = digest.digest128();
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().get(&key) {
            return Arc::clone(found);
        }
        let made = Arc::new(project(subject, dialect, &self.policy));
        let mut kept = kept();
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&made));
        made
    }
}

impl Tools {
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Returns the projection for the text of the last answer, if the provider enforces its schema.
    pub(super) fn output(&self, is_plain: bool) -> Option<&Projection> {
        self.output.as_ref().map(|output| if is_plain { &*output.plain } else { &*output.strict })
    }

    /// Returns the names of the tools on the wire.
    pub(super) fn wire_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| &*tool.plain.wire_name)
    }

    /// Returns the projection of a tool for its values. It depends on the mode, as the forms of values differ.
    pub(super) fn projection(&self, name: &str, is_strict: bool) -> Option<&Projection> {
        let tool = self.tools.iter().find(|tool| tool.name == name)?;
        Some(if is_strict { &tool.strict } else { &tool.plain })
    }

    pub(super) fn placed<'a>(&'a self, dialect: &'a Dialect, is_plain: bool) -> Placement<'a> {
        let projections = self.tools.iter().map(|tool| Projections {
            name: &tool.name,
            strict: &tool.strict,
            plain: &tool.plain,
            strictness: tool.strictness,
            is_deferred: tool.is_deferred,
        });
        let dialect = if is_plain { dialect.plain() } else { dialect };
        Placement { projections: projections.collect(), dialect }
    }
}

impl<'a> Placement<'a> {
    pub(super) fn request(&self) -> Request<'a> {
        place(&self.projections, self.dialect)
    }
}
