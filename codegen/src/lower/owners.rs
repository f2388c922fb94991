//! Which service owns a toolset (G5, G6): the service of its file; failing that, of the methods it
//! binds to; failing that, of the agent that exports it. Who consumes it never matters.

use std::collections::{BTreeMap, BTreeSet};

use super::Lowering;
use super::toolsets::{DeclaredToolset, Origin};
use crate::diagnostic::{names, tools};
use crate::model::{MethodId, ServiceId};
use crate::source::{Span, Spanned};

impl<'a> Lowering<'a> {
    /// The owner of a toolset; `None` after reporting why there is none.
    pub(super) fn owner(&mut self, toolset: &DeclaredToolset<'a>) -> Option<ServiceId> {
        if toolset.home.is_some() {
            return toolset.home;
        }
        let binds: Vec<&'a Spanned<String>> = binds(toolset).collect();
        let candidates: Vec<(ServiceId, Span)> = if binds.is_empty() {
            let exports = self.exports_of(&toolset.name.value);
            let service = |agent: usize| self.agents[agent].service;
            exports.into_iter().map(|(agent, span)| (service(agent.position()), span)).collect()
        } else {
            binds.iter().flat_map(|bind| self.bound_services(bind)).collect()
        };
        let mut distinct: BTreeMap<ServiceId, Span> = BTreeMap::new();
        for (service, span) in candidates {
            distinct.entry(service).or_insert(span);
        }
        match distinct.len() {
            1 => distinct.keys().next().copied(),
            0 if !binds.is_empty() => self.report_unknown_methods(&binds),
            0 => self.report_no_owner(toolset),
            _ => self.report_ambiguous(toolset, &distinct),
        }
    }

    /// The services that a binding may mean in a file without one.
    fn bound_services(&self, bind: &Spanned<String>) -> Vec<(ServiceId, Span)> {
        let (service, method) = match bind.value.split_once('.') {
            Some((service, method)) => (Some(service), method),
            None => (None, bind.value.as_str()),
        };
        let wanted = service.map(|name| self.service_ids.get(name).copied());
        let methods = self.methods.keys().filter(|(_, name)| name == method);
        let owners = methods.map(|(owner, _)| *owner);
        owners
            .filter(|owner| wanted.is_none_or(|wanted| wanted == Some(*owner)))
            .map(|owner| (owner, bind.span))
            .collect()
    }

    fn report_unknown_methods(&mut self, binds: &[&Spanned<String>]) -> Option<ServiceId> {
        for bind in binds {
            self.report_unknown_method(bind);
        }
        None
    }

    fn report_unknown_method(&mut self, bind: &Spanned<String>) {
        // As `service.method` where the binding is written so.
        let word = |(service, method): &(ServiceId, String)| {
            let service = &self.project[*service].name.value;
            if bind.value.contains('.') { format!("{service}.{method}") } else { method.clone() }
        };
        let known: BTreeSet<String> = self.methods.keys().map(word).collect();
        if !bind.value.is_empty() && !self.report.misses_names() {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            self.report.add(names::unknown_method(bind, &known));
        }
    }

    /// A toolset without tools has been reported, and what may not be read may be what names its owner.
    fn report_no_owner(&mut self, toolset: &DeclaredToolset<'a>) -> Option<ServiceId> {
        if !toolset.tools.is_empty() && !self.report.misses_names() {
            self.report.add(tools::no_owner(&toolset.name));
        }
        None
    }

    fn report_ambiguous(
        &mut self,
        toolset: &DeclaredToolset<'a>,
        candidates: &BTreeMap<ServiceId, Span>,
    ) -> Option<ServiceId> {
        let candidate = |(service, span): (&ServiceId, &Span)| {
            (format!("`{}`", self.project[*service].name.value), *span)
        };
        let candidates: Vec<(String, Span)> = candidates.iter().map(candidate).collect();
        self.report.add(tools::ambiguous_owner(&toolset.name, &candidates));
        None
    }

    /// The method that a tool of a known owner binds to.
    pub(super) fn bound_method(
        &mut self,
        owner: ServiceId,
        bind: &Spanned<String>,
    ) -> Option<MethodId> {
        let (service, method) = match bind.value.split_once('.') {
            Some((name, method)) => (self.service_ids.get(name).copied(), method),
            None => (Some(owner), bind.value.as_str()),
        };
        let found = service.and_then(|id| self.methods.get(&(id, method.to_owned())).copied());
        if found.is_none() {
            self.report_unknown_method(bind);
        } else if service != Some(owner) {
            let owner = &self.project[owner].name;
            self.report.add(tools::foreign_binding(bind, owner));
            return None;
        }
        found
    }
}

fn binds<'a>(toolset: &DeclaredToolset<'a>) -> impl Iterator<Item = &'a Spanned<String>> {
    toolset.tools.iter().filter_map(|tool| match tool.origin {
        Origin::Toolset(text) => text.bind.as_ref(),
        Origin::Method(_) => None,
    })
}
