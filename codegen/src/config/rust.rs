//! `[rust]`: what generated code looks like, what its types derive, which types of the user's stand in their place, and the
//! crates which that needs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::files;
use crate::naming::library;
use crate::options::{Dependency, DomainType, Integers, RustPath, StdTrait, TypeOptions};
use crate::source::SourceId;

/// Options for generated code.
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
    #[serde(default)]
    derive: Vec<Spanned<String>>,
    r#type: Option<Spanned<String>>,
    #[serde(default)]
    traits: Vec<Spanned<String>>,
}

impl Rust {
    /// The macros that every type derives.
    pub(super) fn derive(&self) -> Vec<RustPath> {
        paths(&self.derive)
    }

    /// The options of single types.
    pub(super) fn types(&self, source: SourceId) -> Vec<TypeOptions> {
        let options = |(name, said): (&Spanned<String>, &Type)| TypeOptions {
            name: name.as_ref().clone(),
            span: Some(files::bytes(source, name.span())),
            derive: paths(&said.derive),
            domain: said.r#type.as_ref().and_then(|path| {
                let path = RustPath::of_type(path.as_ref()).ok()?;
                let traits = said.traits.iter().filter_map(std_trait).collect();
                Some(DomainType { path, traits })
            }),
        };
        self.types.iter().map(options).collect()
    }

    /// The crates of what is derived, and of types of the user's.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&str, &Spanned<Dependency>)> {
        self.dependencies.iter().map(|(name, found)| (name.as_ref().as_str(), found))
    }

    /// Returns the mistakes, each with its place.
    pub(super) fn mistakes(&self) -> Vec<(Range<usize>, String)> {
        let mut mistakes = Vec::new();
        let mut used = self.derive_mistakes(&self.derive, &[], &mut mistakes);
        let common = self.derive();
        for (name, Type { derive, r#type, traits }) in &self.types {
            used.extend(self.derive_mistakes(derive, &common, &mut mistakes));
            let unknown = traits.iter().filter(|name| std_trait(name).is_none());
            mistakes.extend(unknown.map(|name| (name.span(), unknown_trait(name.as_ref()))));
            match (r#type, derive.first(), traits.first()) {
                (None, _, Some(first)) => mistakes.push((first.span(), TRAITS_OF_NONE.to_owned())),
                (None, None, None) => mistakes.push((name.span(), NOTHING.to_owned())),
                (Some(_), Some(first), _) => {
                    mistakes.push((first.span(), DERIVED_ELSEWHERE.to_owned()));
                }
                _ => {}
            }
            match r#type.as_ref().map(|path| (path.span(), RustPath::of_type(path.as_ref()))) {
                Some((span, Ok(path))) => {
                    let wrong = self.no_crate(&path, "money::Money");
                    mistakes.extend(wrong.map(|wrong| (span, wrong)));
                    used.insert(path.segments()[0].to_owned());
                }
                Some((span, Err(wrong))) => mistakes.push((span, wrong)),
                None => {}
            }
        }
        for name in self.dependencies.keys() {
            let (span, name) = (name.span(), name.as_ref());
            if library(name) == "toolwright" {
                mistakes.push((span, OURS.to_owned()));
            } else if !used.contains(&library(name)) {
                mistakes
                    .push((span, format!("nothing under `[rust]` is of `{name}`; leave it out")));
            }
        }
        mistakes
    }

    /// Adds what is wrong with a list of macros; returns the crates that they are of.
    fn derive_mistakes(
        &self,
        list: &[Spanned<String>],
        common: &[RustPath],
        mistakes: &mut Vec<(Range<usize>, String)>,
    ) -> BTreeSet<String> {
        let mut known = common.to_vec();
        for text in list {
            let wrong = match RustPath::of_derive(text.as_ref()) {
                Err(wrong) => Some(wrong),
                Ok(path) if known.iter().any(|known| known.segments() == path.segments()) => {
                    Some(format!("`{}` is derived already; leave it out", path.as_str()))
                }
                Ok(path) => {
                    let wrong = self.no_crate(&path, "sqlx::FromRow");
                    known.push(path);
                    wrong
                }
            };
            mistakes.extend(wrong.map(|wrong| (text.span(), wrong)));
        }
        known.iter().map(|path| path.segments()[0].to_owned()).collect()
    }

    /// Words the mistake of a path that is of none of the dependencies.
    fn no_crate(&self, path: &RustPath, example: &str) -> Option<String> {
        let text = path.as_str();
        match path.segments()[..] {
            ["crate", ..] => Some(format!(
                "`{text}` is of the generated crate, which has nothing of yours; expected a path such as `{example}`, of a \
                 crate under `[rust.dependencies]`"
            )),
            [krate, _, ..] if self.dependencies().any(|(name, _)| library(name) == krate) => None,
            [krate, _, ..] => Some(format!(
                "no crate under `[rust.dependencies]` is `{krate}`; add `{} = {{ version = \"…\" }}` there",
                krate.replace('_', "-"),
            )),
            _ => Some(format!("`{text}` is of no crate; expected a path such as `{example}`")),
        }
    }
}

fn std_trait(name: &Spanned<String>) -> Option<StdTrait> {
    StdTrait::ALL.into_iter().find(|known| known.name() == name.as_ref())
}

fn unknown_trait(name: &str) -> String {
    let known = StdTrait::ALL.map(|known| format!("`{}`", known.name())).join(", ");
    format!("`{name}` is no trait that generated types ask for; expected some of {known}")
}

/// The paths that are right; the others are mistakes.
fn paths(texts: &[Spanned<String>]) -> Vec<RustPath> {
    texts.iter().filter_map(|text| RustPath::of_derive(text.as_ref()).ok()).collect()
}

const OURS: &str =
    "every generated crate depends on `toolwright`; expected what is said of it under `[crates]`";

const NOTHING: &str =
    "nothing is said of this type; expected `derive`, or `type` with a type of yours in its place";

const TRAITS_OF_NONE: &str =
    "`traits` says what a type of yours implements; expected `type` with its path beside it";

const DERIVED_ELSEWHERE: &str =
    "a type of yours derives where it is defined; leave out `derive`, or `type`";
