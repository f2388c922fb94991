//! Tools that a model finds by searching, as it cannot read the definitions of all of them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use toolwright::Payload;
use toolwright::index::{ToolIndex, first_sentence};
use toolwright_dialect::{Dialect, Subject, wire_name};
use toolwright_runtime::ToolEntry;
use xxhash_rust::xxh3::Xxh3;

use super::offered::Offered;

/// The name of the tool that searches.
const TOOL: &str = "search_tools";

/// The most tools that a search finds.
const MOST_FOUND: usize = 8;

/// The tools that may be added to those of the agent: the search, and the one for the final answer.
const OWN_TOOLS: usize = 2;

const ARGS: &str = r#"{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words."}},"required":["query"],"additionalProperties":false}"#;

/// Shows a model with many tools only some of them, and `search_tools`, which finds the others by their words: see
/// [`ToolIndex`](crate::ToolIndex). Tools that were found stay for the rest of the run; if a request has no room for all
/// ([`Limits::tools`](toolwright_dialect::Limits::tools)), the first ones make room for others. Tools with `defer: true` in the
/// schema are always hidden until they are found.
///
/// If a tool of the agent has the name `search_tools`, the tool that searches is `search_tools_2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSearch {
    above: usize,
    pinned: BTreeSet<String>,
    is_native: bool,
}

impl ToolSearch {
    /// Searches if there are more tools than this.
    pub fn above(tools: usize) -> Self {
        Self { above: tools, pinned: BTreeSet::new(), is_native: false }
    }

    /// Leaves the search to the provider if the dialect has one
    /// ([`Dialect::tool_search`](toolwright_dialect::Dialect::tool_search)) and a request may have all tools: Anthropic from
    /// Claude 4.5 on, OpenAI Responses from GPT-5.4 on for up to 126 tools. The provider then loads those that the model finds.
    #[must_use]
    pub fn by_provider(mut self) -> Self {
        self.is_native = true;
        self
    }

    pub(super) fn is_by_provider(&self) -> bool {
        self.is_native
    }

    /// Adds tools that are always shown.
    #[must_use]
    pub fn with_pinned<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.pinned.extend(names.into_iter().map(Into::into));
        self
    }
}

/// The last index, and a digest of the tools it is of.
#[derive(Debug, Default)]
pub(super) struct IndexCache(Mutex<Option<(u128, Arc<ToolIndex>)>>);

impl IndexCache {
    /// Returns the index of the tools.
    fn of(&self, offered: &Offered<'_>) -> Arc<ToolIndex> {
        let mut digest = Xxh3::new();
        for tool in offered.tools() {
            for text in [tool.name(), tool.spec().description(), tool.spec().args_schema()] {
                digest.update(&text.len().to_be_bytes());
                digest.update(text.as_bytes());
            }
        }
        let digest = digest.digest128();
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, index)) if *known == digest => Arc::clone(index),
            _ => {
                let tools = offered.tools().map(|tool| (tool.name(), tool.spec()));
                let index = Arc::new(ToolIndex::new(tools));
                *last = Some((digest, Arc::clone(&index)));
                index
            }
        }
    }
}

/// The tools of a turn that the model sees.
pub(super) struct VisibleTools<'a> {
    offered: &'a Offered<'a>,
    search: Option<Search>,
    pinned: Vec<&'a ToolEntry>,
    /// The tools that the provider shows once its own search finds them.
    deferred: BTreeSet<&'a str>,
    /// The tools that were found, in this order, so that earlier ones keep their places.
    found: Vec<String>,
    /// The most tools of the agent that a request has room for.
    most: usize,
}

struct Search {
    name: String,
    description: String,
    index: Arc<ToolIndex>,
}

#[derive(Deserialize)]
struct Args {
    query: String,
}

#[derive(Serialize)]
struct Found<'a> {
    name: String,
    description: &'a str,
}

impl<'a> VisibleTools<'a> {
    /// Selects the tools that a model sees: all of them, or the pinned ones and those that were found.
    pub(super) fn of(
        offered: &'a Offered<'a>,
        search: Option<&ToolSearch>,
        index: &IndexCache,
        dialect: &Dialect,
        found: &[String],
    ) -> Self {
        let all = offered.tools().count();
        let is_deferred = |tool: &ToolEntry| tool.spec().is_deferred();
        let has_hidden =
            |search: &&ToolSearch| all > search.above || offered.tools().any(is_deferred);
        let Some(options) = search.filter(has_hidden) else {
            return Self::all(offered);
        };
        let is_pinned = |tool: &&ToolEntry| {
            let is_shown = all <= options.above && !is_deferred(tool);
            is_shown || options.pinned.contains(tool.name())
        };
        // Deferred tools count for the limit of a request, as the two that may be added do.
        let has_room = dialect.limits().tools.is_none_or(|most| all + OWN_TOOLS <= most);
        if options.is_native && dialect.tool_search().is_some() && has_room {
            let deferred = offered.tools().filter(|tool| !is_pinned(tool)).map(ToolEntry::name);
            return Self { deferred: deferred.collect(), ..Self::all(offered) };
        }
        let search = Search {
            name: offered.free_name(TOOL),
            description: format!(
                "Finds tools by what they do, among {all} tools. Those found can be called in the next answer."
            ),
            index: index.of(offered),
        };
        let pinned = offered.tools().filter(is_pinned).collect();
        let most = dialect.limits().tools.map_or(usize::MAX, |most| most.saturating_sub(OWN_TOOLS));
        let (search, deferred) = (Some(search), BTreeSet::new());
        let mut shown = Self { offered, search, pinned, deferred, found: Vec::new(), most };
        shown.add(found);
        shown
    }

    fn all(offered: &'a Offered<'a>) -> Self {
        let (deferred, found, most) = (BTreeSet::new(), Vec::new(), usize::MAX);
        Self { offered, search: None, pinned: offered.tools().collect(), deferred, found, most }
    }

    /// Returns the names of the tools that the provider shows once its own search finds them.
    pub(super) fn deferred(&self) -> &BTreeSet<&'a str> {
        &self.deferred
    }

    /// Returns the tools of the agent that are shown.
    pub(super) fn tools(&self) -> impl Iterator<Item = &'a ToolEntry> {
        let found = self.found.iter().filter(|name| self.shows_as_found(name));
        let found = found.filter_map(|name| self.offered.find(name));
        self.pinned.iter().copied().chain(found)
    }

    /// Returns whether a tool that was found is one of the agent and not pinned.
    fn shows_as_found(&self, name: &str) -> bool {
        let is_pinned = self.pinned.iter().any(|pinned| pinned.name() == name);
        !is_pinned && self.offered.find(name).is_some()
    }

    /// Returns the tool that searches, if there is one.
    pub(super) fn search_tool(&self) -> Option<Subject<'_>> {
        let search = self.search.as_ref()?;
        Some(Subject { name: &search.name, description: &search.description, args: ARGS })
    }

    /// Returns the tools that were found so far.
    pub(super) fn found(&self) -> &[String] {
        &self.found
    }

    /// Shows further tools that were found, in place of the first ones if a request has no room for all.
    pub(super) fn add(&mut self, newest: &[String]) {
        for name in newest {
            if !self.found.contains(name) {
                self.found.push(name.clone());
            }
        }
        while self.tools().count() > self.most {
            let is_shown = |at: &usize| self.shows_as_found(&self.found[*at]);
            let mut shown = (0..self.found.len()).filter(is_shown);
            let first = shown.clone().find(|at| !newest.contains(&self.found[*at]));
            let Some(first) = first.or_else(|| shown.next()) else { break };
            self.found.remove(first);
        }
    }

    /// Returns whether a call searches.
    pub(super) fn is_search(&self, name: &str) -> bool {
        self.search.as_ref().is_some_and(|search| search.name == name)
    }

    /// Answers a call that searches, and returns the names of the tools that were found.
    pub(super) fn search(&self, args: &Payload, dialect: &Dialect) -> (String, Vec<String>) {
        let Some(search) = &self.search else { return (String::new(), Vec::new()) };
        let Ok(Args { query }) = serde_json::from_str(args.as_str()) else {
            return ("expected an object with `query`, a text".to_owned(), Vec::new());
        };
        let mut found = search.index.search(&query, MOST_FOUND);
        let mut room = self.most.saturating_sub(self.pinned.len());
        found.retain(|name| {
            let taken = usize::from(self.shows_as_found(name));
            let has_room = taken <= room;
            room = room.saturating_sub(taken);
            has_room
        });
        if found.is_empty() {
            return ("no tool fits; search with other words".to_owned(), Vec::new());
        }
        let tools = found.iter().filter_map(|name| self.offered.find(name));
        let tools = tools.map(|tool| Found {
            name: wire_name(tool.name(), dialect),
            description: first_sentence(tool.spec().description()).0,
        });
        let text = serde_json::to_string(&tools.collect::<Vec<_>>()).unwrap_or_default();
        (text, found.into_iter().map(str::to_owned).collect())
    }

    /// Returns the canonical name of a tool that is not shown and that the model calls nevertheless.
    pub(super) fn hidden(&self, name: &str) -> Option<&'a str> {
        self.search.as_ref()?;
        self.offered.find_on_wire(name).map(ToolEntry::name)
    }
}
