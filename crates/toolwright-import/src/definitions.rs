//! Keeps the definitions that several schemas share, so that each is read once.

use std::collections::BTreeMap;

use super::references::Standalone;
use super::warnings::Subject;
use super::widen::{Roots, Wider, widen};
use super::{defaults, references};
use toolwright_codegen::internal::Json;

/// What is known of the definitions that have been read, by their names.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// What they accept, before anything was left out.
    pub(super) bodies: BTreeMap<String, Json>,
    /// Those that accept more than they did, by what references call them.
    wider: BTreeMap<String, Wider>,
    /// Digits that are the same for two definitions exactly if they may be one type.
    pub(super) keys: BTreeMap<String, String>,
    /// The types they became.
    pub(super) types: BTreeMap<String, String>,
}

impl Definitions {
    /// Takes in a schema and the definitions that it is the first to reach, each already repaired: leaves out
    /// what the whole refuses, and whatever would accept less without that.
    pub(super) fn settled(&mut self, schema: Standalone, subject: &mut Subject<'_>) -> Standalone {
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
