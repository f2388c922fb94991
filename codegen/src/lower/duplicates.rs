//! Reports every name that is given several times, once, with all its places.

use std::collections::BTreeMap;

use super::services::Services;
use super::toolsets::WrittenToolset;
use crate::diagnostic::{Report, names};
use crate::model::ServiceId;
use crate::source::{Span, Spanned};
use crate::syntax::Entries;

/// Names of toolsets and tools are unique in the project, others in their service.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Type,
    Method,
    Toolset,
    Tool,
    Agent,
    Server,
}

/// The places where each name is given, and whether it is given there as an alias.
type Places<'a> = BTreeMap<(Kind, Option<ServiceId>, &'a str), Vec<(Span, bool)>>;

pub(super) fn report(
    services: &Services<'_>,
    toolsets: &[WrittenToolset<'_>],
    report: &mut Report,
) {
    for ((kind, _, name), given) in places(services, toolsets) {
        if given.len() < 2 {
            continue;
        }
        let spans = || given.iter().map(|(span, _)| *span).collect();
        report.add(match kind {
            Kind::Type => names::duplicate_type(name, spans()),
            Kind::Method => names::duplicate_method(name, spans()),
            Kind::Toolset => names::duplicate_toolset(name, spans()),
            Kind::Tool => names::duplicate_tool(name, given),
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
    let mut give = |kind, service, name: &'a Spanned<String>, is_alias| {
        let given: &mut Vec<_> = places.entry((kind, service, &*name.value)).or_default();
        given.push((name.span, is_alias));
    };
    for (service, document) in services.documents() {
        let service = Some(service);
        keys(document.types.as_ref()).for_each(|name| give(Kind::Type, service, name, false));
        keys(document.methods.as_ref()).for_each(|name| give(Kind::Method, service, name, false));
        keys(document.agents.as_ref()).for_each(|name| give(Kind::Agent, service, name, false));
        keys(document.mcp_servers.as_ref())
            .for_each(|name| give(Kind::Server, service, name, false));
    }
    for toolset in toolsets {
        give(Kind::Toolset, None, &toolset.name, false);
        for tool in &toolset.tools {
            give(Kind::Tool, None, tool.name, false);
            for alias in tool.details.aliases.iter().flatten() {
                give(Kind::Tool, None, alias, true);
            }
        }
    }
    places
}
