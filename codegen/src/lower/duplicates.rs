//! Reports duplicate names, each of them once, with all its places.

use std::collections::BTreeMap;

use super::services::Services;
use super::toolsets::WrittenToolset;
use crate::diagnostic::{Report, names};
use crate::model::ServiceId;
use crate::source::{Span, Spanned};
use crate::syntax::Entries;

/// Kinds of names. Toolsets and tools have unique names in the project, the others in their service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Type,
    Method,
    Toolset,
    Tool,
    Agent,
    Server,
}

/// The places of each name, and whether it is an alias there.
type Places<'a> = BTreeMap<(Kind, Option<ServiceId>, &'a str), Vec<(Span, bool)>>;

pub(super) fn report(
    services: &Services<'_>,
    toolsets: &[WrittenToolset<'_>],
    report: &mut Report,
) {
    for ((kind, _, name), places) in places(services, toolsets) {
        if places.len() < 2 {
            continue;
        }
        let spans = || places.iter().map(|(span, _)| *span).collect();
        report.add(match kind {
            Kind::Type => names::duplicate_type(name, spans()),
            Kind::Method => names::duplicate_method(name, spans()),
            Kind::Toolset => names::duplicate_toolset(name, spans()),
            Kind::Tool => names::duplicate_tool(name, places),
            Kind::Agent => names::duplicate_agent(name, spans()),
            Kind::Server => names::duplicate_mcp_server(name, spans()),
        });
    }
}

fn places<'a>(services: &Services<'a>, toolsets: &'a [WrittenToolset<'a>]) -> Places<'a> {
    fn keys<T>(entries: Option<&Entries<T>>) -> impl Iterator<Item = &Spanned<String>> {
        entries.into_iter().flat_map(Entries::iter).map(|(name, _)| name)
    }
    let mut places = Places::new();
    let mut add = |kind, service, name: &'a Spanned<String>, is_alias| {
        let known: &mut Vec<_> = places.entry((kind, service, &*name.value)).or_default();
        known.push((name.span, is_alias));
    };
    for (service, document) in services.documents() {
        let service = Some(service);
        keys(document.types.as_ref()).for_each(|name| add(Kind::Type, service, name, false));
        keys(document.methods.as_ref()).for_each(|name| add(Kind::Method, service, name, false));
        keys(document.agents.as_ref()).for_each(|name| add(Kind::Agent, service, name, false));
        keys(document.mcp_servers.as_ref())
            .for_each(|name| add(Kind::Server, service, name, false));
    }
    for toolset in toolsets {
        add(Kind::Toolset, None, &toolset.name, false);
        for tool in &toolset.tools {
            add(Kind::Tool, None, tool.name, false);
            for alias in tool.details.aliases.iter().flatten() {
                add(Kind::Tool, None, alias, true);
            }
        }
    }
    places
}
