//! The tools of a turn that a model can tell apart.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use toolwright_dialect::{Dialect, wire_name};
use toolwright_runtime::{ToolEntry, Turn};

use crate::wire::search_tool_name;

/// The tools of a turn that a model can tell apart: of several with the same name on the wire, only the first. A server of tools can
/// so make its own unusable, and not those of others.
pub(super) struct Offered<'a> {
    tools: Vec<&'a ToolEntry>,
    /// The places of the tools by their names on the wire; none for a name that the provider's search has.
    by_wire_name: BTreeMap<String, Option<usize>>,
    left_out: Vec<String>,
    dialect: &'a Dialect,
}

impl<'a> Offered<'a> {
    /// `has_native_search` is true if the provider may search the tools.
    pub(super) fn of(turn: &'a Turn<'a>, dialect: &'a Dialect, has_native_search: bool) -> Self {
        let search = dialect.tool_search().filter(|_| has_native_search).and_then(search_tool_name);
        let by_wire_name = search.map(|name| (name.to_owned(), None)).into_iter().collect();
        let mut offered = Self { tools: Vec::new(), by_wire_name, left_out: Vec::new(), dialect };
        turn.tools().for_each(|tool| offered.add(tool));
        offered
    }

    fn add(&mut self, tool: &'a ToolEntry) {
        match self.by_wire_name.entry(wire_name(tool.name(), self.dialect)) {
            Entry::Vacant(free) => {
                free.insert(Some(self.tools.len()));
                self.tools.push(tool);
            }
            Entry::Occupied(taken) => {
                let of_tool = |at: usize| format!("`{}`", self.tools[at].name());
                let other = taken.get().map_or("the provider's search".to_owned(), of_tool);
                self.left_out.push(format!(
                    "`{}` is left out: {other} is `{}` on the wire, too; rename one of them",
                    tool.name(),
                    taken.key()
                ));
            }
        }
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &'a ToolEntry> {
        self.tools.iter().copied()
    }

    /// Returns a tool by its canonical name.
    pub(super) fn find(&self, name: &str) -> Option<&'a ToolEntry> {
        let by_name = self.by_wire_name.get(&wire_name(name, self.dialect)).copied().flatten();
        by_name.map(|at| self.tools[at]).filter(|tool| tool.name() == name)
    }

    /// Returns a tool by its name on the wire.
    pub(super) fn find_on_wire(&self, name: &str) -> Option<&'a ToolEntry> {
        self.by_wire_name.get(name).copied().flatten().map(|at| self.tools[at])
    }

    /// Says why tools are left out.
    pub(super) fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns a name for a tool of the planner that no tool has, here or on the wire: this one, or this one with a number.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        let is_taken = |name: &str| {
            let on_wire = self.by_wire_name.contains_key(&wire_name(name, self.dialect));
            on_wire || self.tools().any(|tool| tool.is_called(name))
        };
        let mut names = (1_u32..).map(|number| match number {
            1 => wanted.to_owned(),
            _ => format!("{wanted}_{number}"),
        });
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }
}
