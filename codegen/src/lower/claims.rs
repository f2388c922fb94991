//! Names that may be given once, and every place that gives them. Never who bears a name.

use std::collections::BTreeMap;

use crate::diagnostic::{Report, names};
use crate::model::ServiceId;
use crate::source::{Span, Spanned};

/// Where each name is given, in all files.
#[derive(Debug, Default)]
pub(super) struct Claims {
    places: BTreeMap<(Kind, Option<ServiceId>, String), Vec<Claim>>,
}

/// What is named. Names of toolsets and tools are unique in the project, others in their service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Type,
    Method,
    Toolset,
    Tool,
    Agent,
    Server,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    span: Span,
    is_alias: bool,
}

impl Claims {
    /// Notes that a name is given in a service; in the project, for names that are unique there.
    pub(super) fn give(&mut self, kind: Kind, service: Option<ServiceId>, name: &Spanned<String>) {
        self.claim(kind, service, name, false);
    }

    /// Notes that a tool has an earlier name.
    pub(super) fn give_alias(&mut self, name: &Spanned<String>) {
        self.claim(Kind::Tool, None, name, true);
    }

    fn claim(
        &mut self,
        kind: Kind,
        service: Option<ServiceId>,
        name: &Spanned<String>,
        is_alias: bool,
    ) {
        let claims = self.places.entry((kind, service, name.value.clone())).or_default();
        claims.push(Claim { span: name.span, is_alias });
    }

    /// Reports every name that is given several times, once, with all its places.
    pub(super) fn report(self, report: &mut Report) {
        for ((kind, _, name), claims) in
            self.places.into_iter().filter(|(_, claims)| claims.len() > 1)
        {
            let places = || claims.iter().map(|claim| claim.span).collect();
            report.add(match kind {
                Kind::Type => names::duplicate_type(&name, places()),
                Kind::Method => names::duplicate_method(&name, places()),
                Kind::Toolset => names::duplicate_toolset(&name, places()),
                Kind::Tool => {
                    let places = claims.iter().map(|claim| (claim.span, claim.is_alias));
                    names::duplicate_tool(&name, places.collect())
                }
                Kind::Agent => names::duplicate_agent(&name, places()),
                Kind::Server => names::duplicate_mcp_server(&name, places()),
            });
        }
    }
}
