//! Parses the table `[rust]`: the type of integers, derive macros, users' types that replace generated ones, and the crates
//! of both.

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

/// The options of one named type.
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
    /// Returns the macros that every type derives.
    pub(super) fn derive(&self) -> Vec<RustPath> {
        paths(&self.derive)
    }

    /// Returns the options of individual types.
    pub(super) fn types(&self, source: SourceId) -> Vec<TypeOptions> {
        let options = |(name, options): (&Spanned<String>, &Type)| TypeOptions {
            name: name.as_ref().clone(),
            span: Some(files::span(source, name.span())),
            derive: paths(&options.derive),
            domain: options.r#type.as_ref().and_then(|path| {
                let path = RustPath::of_type(path.as_ref()).ok()?;
                let traits = options.traits.iter().filter_map(std_trait).collect();
                Some(DomainType { path, traits })
            }),
        };
        self.types.iter().map(options).collect()
    }

    /// Returns the crates of derive macros and users' types.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&str, &Spanned<Dependency>)> {
        self.dependencies.iter().map(|(name, dependency)| (name.as_ref().as_str(), dependency))
    }

    /// Returns the mistakes, each with its span.
    pub(super) fn mistakes(&self) -> Vec<(Range<usize>, String)> {
        let mut mistakes = Vec::new();
        let crates: BTreeSet<String> = self.dependencies().map(|(name, _)| library(name)).collect();
        let common = self.derive();
        let common: BTreeSet<&str> = common.iter().map(without_colons).collect();
        let bytes: usize = self.derive.iter().map(|path| path.as_ref().len()).sum();
        let too_many = match self.derive.len() {
            found if found > MAX_DERIVED => Some(format!("{found} macros")),
            _ if bytes > super::MAX_COPIED => Some(format!("macros of {bytes} bytes")),
            _ => None,
        };
        if let Some((found, first)) = too_many.zip(self.derive.first()) {
            let most = format!("at most {MAX_DERIVED}, of {} bytes", super::MAX_COPIED);
            let message = format!("found {found}, expected {most}, as each type derives them");
            mistakes.push((first.span(), message));
        }
        let mut used = derive_mistakes(&self.derive, &BTreeSet::new(), &crates, &mut mistakes);
        for (name, Type { derive, r#type, traits }) in &self.types {
            used.extend(derive_mistakes(derive, &common, &crates, &mut mistakes));
            let unknown = traits.iter().filter(|name| std_trait(name).is_none());
            mistakes.extend(unknown.map(|name| (name.span(), unknown_trait(name.as_ref()))));
            let mut known = BTreeSet::new();
            for name in traits {
                if !known.insert(name.as_ref()) {
                    let message = format!("`{}` is already listed; remove it", name.as_ref());
                    mistakes.push((name.span(), message));
                }
            }
            match (r#type, derive.first(), traits.first()) {
                (None, _, Some(first)) => {
                    mistakes.push((first.span(), TRAITS_WITHOUT_TYPE.to_owned()));
                }
                (None, None, None) => mistakes.push((name.span(), NO_OPTIONS.to_owned())),
                (Some(_), Some(first), _) => {
                    mistakes.push((first.span(), DERIVE_BESIDE_TYPE.to_owned()));
                }
                _ => {}
            }
            match r#type.as_ref().map(|path| (path.span(), RustPath::of_type(path.as_ref()))) {
                Some((span, Ok(path))) => {
                    let wrong = crate_mistake(&path, &crates, "money::Money");
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
                mistakes.push((span, OWN_CRATE.to_owned()));
            } else if !used.contains(&library(name)) {
                mistakes.push((span, format!("nothing under `[rust]` uses `{name}`; remove it")));
            }
        }
        mistakes
    }
}

/// Adds the mistakes in a list of macros; returns the crates of the macros. All types derive the `common` ones.
fn derive_mistakes(
    list: &[Spanned<String>],
    common: &BTreeSet<&str>,
    crates: &BTreeSet<String>,
    mistakes: &mut Vec<(Range<usize>, String)>,
) -> BTreeSet<String> {
    let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
    for text in list {
        let wrong = match RustPath::of_derive(text.as_ref()) {
            Err(wrong) => Some(wrong),
            Ok(path)
                if !known.insert(without_colons(&path).to_owned())
                    || common.contains(without_colons(&path)) =>
            {
                Some(format!("`{}` is already derived; remove it", path.as_str()))
            }
            Ok(path) => {
                used.insert(path.segments()[0].to_owned());
                crate_mistake(&path, crates, "sqlx::FromRow")
            }
        };
        mistakes.extend(wrong.map(|wrong| (text.span(), wrong)));
    }
    used
}

/// Returns a path as the compiler reads it: `::a::B` is `a::B`.
fn without_colons(path: &RustPath) -> &str {
    path.as_str().strip_prefix("::").unwrap_or(path.as_str())
}

/// Returns a message if a path begins with none of the crates that are dependencies.
fn crate_mistake(path: &RustPath, crates: &BTreeSet<String>, example: &str) -> Option<String> {
    let text = path.as_str();
    match path.segments()[..] {
        ["crate", ..] => Some(format!(
            "`{text}` is in the generated crate, which has no code of yours; expected a path into a crate under \
             `[rust.dependencies]`, such as `{example}`"
        )),
        [krate, _, ..] if crates.contains(krate) => None,
        [krate, _, ..] => Some(format!(
            "`[rust.dependencies]` has no crate `{krate}`; add `{} = {{ version = \"…\" }}` there",
            krate.replace('_', "-"),
        )),
        _ => Some(format!("`{text}` names no crate; expected a path such as `{example}`")),
    }
}

fn std_trait(name: &Spanned<String>) -> Option<StdTrait> {
    StdTrait::ALL.into_iter().find(|known| known.name() == name.as_ref())
}

fn unknown_trait(name: &str) -> String {
    let known = StdTrait::ALL.map(|known| format!("`{}`", known.name())).join(", ");
    format!("`{name}` is not a trait that generated types derive; expected some of {known}")
}

/// Returns the valid paths; the others are reported as mistakes.
fn paths(texts: &[Spanned<String>]) -> Vec<RustPath> {
    texts.iter().filter_map(|text| RustPath::of_derive(text.as_ref()).ok()).collect()
}

/// The most macros that each type derives.
const MAX_DERIVED: usize = 32;

const OWN_CRATE: &str =
    "every generated crate depends on `toolwright`; set its location under `[crates]`";

const NO_OPTIONS: &str =
    "this type has no options; expected `derive`, or `type` with a type of yours to replace it";

const TRAITS_WITHOUT_TYPE: &str =
    "`traits` are those of a type of yours; expected `type` with its path beside them";

const DERIVE_BESIDE_TYPE: &str =
    "a type of yours has its derives where it is defined; remove `derive` or `type`";
