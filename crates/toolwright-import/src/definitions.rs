//! Keeps the definitions that several schemas share, so that each is read only once.

use std::collections::BTreeMap;

use super::references::Standalone;
use super::warnings::Subject;
use super::widen::{Roots, Wider, widen};
use super::{defaults, references};
use toolwright_codegen::internal::Json;

/// The definitions that have been read, by their names.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The definitions as they were before anything was left out.
    pub(super) bodies: BTreeMap<String, Json>,
    /// The definitions that accept more than the server's, by the references to them.
    wider: BTreeMap<String, Wider>,
    /// A digest of each definition and all that it reaches. Definitions with equal keys become one type.
    pub(super) keys: BTreeMap<String, String>,
    /// The names of the types that they became.
    pub(super) types: BTreeMap<String, String>,
}

impl Definitions {
    /// Adds a repaired schema and its new definitions. Leaves out refused defaults and examples, and the keywords that would
    /// refuse more values because of earlier repairs.
    pub(super) fn add(&mut self, schema: Standalone, subject: &mut Subject<'_>) -> Standalone {
        self.bodies.extend(schema.definitions.iter().cloned());
        let schema = defaults::drop_refused(schema, &self.bodies, subject);
        let (names, bodies): (Vec<String>, Vec<Json>) = schema.definitions.into_iter().unzip();
        let ids = names.iter().map(|name| format!("{}{name}", references::LOCAL));
        let mut roots: Roots = ids.zip(bodies).collect();
        roots.push((String::new(), schema.root));
        widen(&mut roots, &mut self.wider, &mut |id, at, message| {
            subject.warn(&format!("{}{at}", id.trim_start_matches('#')), message);
        });
        self.wider.remove("");
        let root = roots.pop().map_or(Json::Boolean(true), |(_, root)| root);
        let bodies = roots.into_iter().map(|(_, body)| body);
        Standalone { definitions: names.into_iter().zip(bodies).collect(), root }
    }
}
