//! Small pieces of Rust: identifiers, paths, docs, literals, limits.

use std::collections::BTreeSet;
use std::time::Duration;

use super::rust::{Ident, Literal, TokenStream, quote};
use crate::plan::{IntegerLimits, ItemLimits, LocatedType, NumberLimits, RootType, StringLimits};

/// An identifier the naming module made.
pub(super) fn ident(name: &str) -> Ident<'_> {
    Ident::new(name)
}

/// A path the plan made, such as `todos_service::types`.
pub(super) fn path(path: &str) -> TokenStream {
    let parts = path.split("::").map(ident);
    quote!(#(#parts)::*)
}

/// Doc lines.
pub(super) fn docs<S: AsRef<str>>(lines: &[S]) -> TokenStream {
    let mut docs = TokenStream::new();
    for line in lines {
        docs.push_doc(line.as_ref());
    }
    docs
}

/// `use path::{names};`, with the braces only where they are needed.
pub(super) fn import<S: AsRef<str>>(
    visibility: &TokenStream,
    from: &str,
    names: &[S],
) -> TokenStream {
    let from = path(from);
    let names: Vec<_> = names.iter().map(|name| ident(name.as_ref())).collect();
    match names.as_slice() {
        [name] => quote!(#visibility use #from::#name;),
        names => quote!(#visibility use #from::{#(#names),*};),
    }
}

/// The imports of those names that are used, by path; none where no name is.
pub(super) fn imports(
    sources: &[(String, Vec<String>)],
    used: &BTreeSet<&str>,
) -> Option<TokenStream> {
    let lines: Vec<_> = sources
        .iter()
        .map(|(from, names)| {
            let names = names.iter().map(String::as_str).filter(|name| used.contains(name));
            (from, names.collect::<Vec<_>>())
        })
        .filter(|(_, names)| !names.is_empty())
        .map(|(from, names)| import(&TokenStream::new(), from, &names))
        .collect();
    (!lines.is_empty()).then(|| quote!(#(#lines)*))
}

/// A type where it stands, seen from a module that has `types` in scope.
pub(super) fn located_type(ty: &LocatedType) -> TokenStream {
    match (&ty.ty, &ty.path) {
        (RootType::Named(name), Some(module)) => {
            let (module, name) = (path(module), ident(name));
            quote!(#module::#name)
        }
        (ty, _) => root_type(ty),
    }
}

/// A root type, seen from a module that has `types` in scope.
pub(super) fn root_type(ty: &RootType) -> TokenStream {
    match ty {
        RootType::Named(name) => {
            let name = ident(name);
            quote!(types::#name)
        }
        RootType::Value => quote!(toolwright::Value),
        RootType::Unit => quote!(()),
    }
}

/// `Some("text")` or `None`.
pub(super) fn optional<T: AsRef<str>>(text: Option<&T>) -> TokenStream {
    optional_of(text.map(AsRef::as_ref).map(|text| quote!(#text)))
}

/// `Some(value)` or `None`.
pub(super) fn optional_of(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

/// A duration in the largest unit that is exact.
pub(super) fn duration(duration: Duration) -> TokenStream {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if millis.is_multiple_of(3_600_000) {
        let hours = Literal::u64_unsuffixed(millis / 3_600_000);
        quote!(Duration::from_hours(#hours))
    } else if millis.is_multiple_of(60_000) {
        let minutes = Literal::u64_unsuffixed(millis / 60_000);
        quote!(Duration::from_mins(#minutes))
    } else if millis.is_multiple_of(1_000) {
        let seconds = grouped(&(millis / 1_000).to_string());
        quote!(Duration::from_secs(#seconds))
    } else {
        let millis = grouped(&millis.to_string());
        quote!(Duration::from_millis(#millis))
    }
}

/// `Length::ANY`, narrowed.
pub(super) fn length(limits: &StringLimits) -> TokenStream {
    let min = limits.min.map(count).map(|min| quote!(.at_least(#min)));
    let max = limits.max.map(count).map(|max| quote!(.at_most(#max)));
    let pattern = limits.pattern.as_deref().map(ident).map(|pattern| quote!(.matching(&#pattern)));
    quote!(Length::ANY #min #max #pattern)
}

/// `Items::ANY`, narrowed.
pub(super) fn items(limits: &ItemLimits) -> TokenStream {
    let min = limits.min.map(count).map(|min| quote!(.at_least(#min)));
    let max = limits.max.map(count).map(|max| quote!(.at_most(#max)));
    let unique = limits.unique.then(|| quote!(.unique()));
    quote!(Items::ANY #min #max #unique)
}

/// `Range::ANY`, narrowed.
pub(super) fn integers(limits: &IntegerLimits) -> TokenStream {
    let min = limits.min.map(integer).map(|min| quote!(.at_least(#min)));
    let max = limits.max.map(integer).map(|max| quote!(.at_most(#max)));
    quote!(Range::ANY #min #max)
}

/// `Range::ANY`, narrowed.
pub(super) fn numbers(limits: &NumberLimits) -> TokenStream {
    let bound = |bound: f64| grouped(&format!("{bound:?}"));
    let lower = limits.lower.map(|(number, exclusive)| match (bound(number), exclusive) {
        (number, false) => quote!(.at_least(#number)),
        (number, true) => quote!(.above(#number)),
    });
    let upper = limits.upper.map(|(number, exclusive)| match (bound(number), exclusive) {
        (number, false) => quote!(.at_most(#number)),
        (number, true) => quote!(.below(#number)),
    });
    quote!(Range::ANY #lower #upper)
}

/// An integer literal.
pub(super) fn integer(value: i64) -> TokenStream {
    grouped(&value.to_string())
}

fn count(count: u64) -> TokenStream {
    grouped(&count.to_string())
}

/// A number literal with `_` between groups of three digits, as people write long ones.
pub(super) fn grouped(number: &str) -> TokenStream {
    let (sign, digits) = number.strip_prefix('-').map_or((false, number), |digits| (true, digits));
    let (mantissa, exponent) = match digits.find('e') {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let text = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            format!("{}.{}{exponent}", from_right(whole), from_left(fraction))
        }
        None => format!("{}{exponent}", from_right(mantissa)),
    };
    let (sign, number) = (sign.then(|| quote!(-)), Literal::number(text));
    quote!(#sign #number)
}

fn from_right(digits: &str) -> String {
    let head = digits.len() % 3;
    let groups = digits.as_bytes()[head..].chunks(3);
    let groups =
        std::iter::once(&digits.as_bytes()[..head]).filter(|head| !head.is_empty()).chain(groups);
    joined(groups)
}

fn from_left(digits: &str) -> String {
    joined(digits.as_bytes().chunks(3))
}

fn joined<'a>(groups: impl Iterator<Item = &'a [u8]>) -> String {
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        let table = [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1_000"),
            ("-1234567", "- 1_234_567"),
            ("0.5", "0.5"),
            ("12345.67891", "12_345.678_91"),
            ("1e21", "1e21"),
        ];
        for (number, expected) in table {
            assert_eq!(grouped(number).to_string(), expected, "{number}");
        }
    }
}
