//! `[rust]`: what generated code looks like, what its types derive, and the crates which that needs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::files;
use crate::naming::library;
use crate::options::{Dependency, Integers, RustPath, TypeOptions};
use crate::source::SourceId;

/// What generated code looks like.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rust {
    pub(super) integers: Integers,
    derive: Vec<Spanned<String>>,
    types: BTreeMap<Spanned<String>, Type>,
    dependencies: BTreeMap<Spanned<String>, Spanned<Dependency>>,
}

/// One named type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    derive: Vec<Spanned<String>>,
}

impl Rust {
    /// What every type derives.
    pub(super) fn derive(&self) -> Vec<RustPath> {
        paths(&self.derive)
    }

    /// What single types derive.
    pub(super) fn types(&self, source: SourceId) -> Vec<TypeOptions> {
        let options = |(name, said): (&Spanned<String>, &Type)| TypeOptions {
            name: name.as_ref().clone(),
            span: Some(files::bytes(source, name.span())),
            derive: paths(&said.derive),
        };
        self.types.iter().map(options).collect()
    }

    /// The crates of what is derived.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&str, &Spanned<Dependency>)> {
        self.dependencies.iter().map(|(name, found)| (name.as_ref().as_str(), found))
    }

    /// What is wrong, and where.
    pub(super) fn mistakes(&self) -> Vec<(Range<usize>, String)> {
        let libraries: BTreeSet<String> =
            self.dependencies().map(|(name, _)| library(name)).collect();
        let (mut mistakes, mut used) = (Vec::new(), BTreeSet::new());
        let no_types = std::iter::once(&self.derive);
        for (at, list) in no_types.chain(self.types.values().map(|said| &said.derive)).enumerate() {
            let mut known = if at == 0 { Vec::new() } else { self.derive() };
            for text in list {
                let wrong = match RustPath::of_derive(text.as_ref()) {
                    Err(wrong) => Some(wrong),
                    Ok(path) if known.iter().any(|known| known.segments() == path.segments()) => {
                        Some(format!("`{}` is derived already; leave it out", path.as_str()))
                    }
                    Ok(path) => {
                        let krate = path.segments()[0].to_owned();
                        let is_known = libraries.contains(&krate);
                        let wrong = (!is_known).then(|| no_crate(&path));
                        used.insert(krate);
                        known.push(path);
                        wrong
                    }
                };
                mistakes.extend(wrong.map(|wrong| (text.span(), wrong)));
            }
        }
        for name in self.dependencies.keys() {
            let (span, name) = (name.span(), name.as_ref());
            if library(name) == "toolwright" {
                mistakes.push((span, OURS.to_owned()));
            } else if !used.contains(&library(name)) {
                mistakes
                    .push((span, format!("no type derives anything of `{name}`; leave it out")));
            }
        }
        mistakes
    }
}

/// The paths that are right; the others are mistakes.
fn paths(texts: &[Spanned<String>]) -> Vec<RustPath> {
    texts.iter().filter_map(|text| RustPath::of_derive(text.as_ref()).ok()).collect()
}

const OURS: &str =
    "every generated crate depends on `toolwright`; expected what is said of it under `[crates]`";

fn no_crate(path: &RustPath) -> String {
    let text = path.as_str();
    match path.segments()[..] {
        ["crate", ..] => format!(
            "`{text}` is of the generated crate, which has no macros; expected one of a crate under `[rust.dependencies]`"
        ),
        [krate, _, ..] => format!(
            "no crate under `[rust.dependencies]` is `{krate}`; add `{} = {{ version = \"…\" }}` there",
            krate.replace('_', "-"),
        ),
        _ => format!("`{text}` is of no crate; expected a path such as `sqlx::FromRow`"),
    }
}
