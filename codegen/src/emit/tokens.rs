//! Small pieces of Rust: identifiers, paths, docs, literals, limits.

use std::collections::BTreeSet;
use std::f64::consts;
use std::fmt::Display;
use std::time::Duration;

use super::rust::{Ident, Literal, ToTokens, TokenStream, push, quote};
use toolwright::format::IntegerFormat;

use crate::options::RustPath;
use crate::plan::{
    DependentKeys, IntegerLimits, ItemLimits, LocatedType, NumberLimit, NumberLimits,
    PropertyLimits, RootType, StringLimits,
};

/// Returns an identifier that is a constant of an emitter.
pub(super) fn ident(name: &'static str) -> Ident<'static> {
    Ident::new(name)
}

/// Returns a path of a plan, such as `todos_service::types`.
pub(super) fn path(path: &str) -> TokenStream {
    let parts = path.split("::").map(Ident::new);
    quote!(#(#parts)::*)
}

/// Returns a path of the options.
pub(super) fn rust_path(of: &RustPath) -> TokenStream {
    let colons = of.as_str().starts_with("::").then(|| quote!(::));
    let parts = of.segments().into_iter().map(Ident::new);
    quote!(#colons #(#parts)::*)
}

/// Doc lines.
pub(super) fn docs<S: AsRef<str>>(lines: &[S]) -> TokenStream {
    let mut docs = TokenStream::new();
    for line in lines {
        docs.push_doc(line.as_ref());
    }
    docs
}

/// Returns `use path::{names};`, without the braces if there is one name.
pub(super) fn import<S: AsRef<str>>(
    visibility: &TokenStream,
    from: &str,
    names: &[S],
) -> TokenStream {
    let from = path(from);
    let names: Vec<_> = names.iter().map(|name| Ident::new(name.as_ref())).collect();
    match names.as_slice() {
        [name] => quote!(#visibility use #from::#name;),
        names => quote!(#visibility use #from::{#(#names),*};),
    }
}

/// Returns imports of those names that are used, or `None` if no name is.
pub(super) fn imports(sources: &[(&str, Vec<&str>)], used: &BTreeSet<&str>) -> Option<TokenStream> {
    let lines: Vec<_> = sources
        .iter()
        .map(|(from, names)| {
            let names = names.iter().copied().filter(|name| used.contains(name));
            (from, names.collect::<Vec<_>>())
        })
        .filter(|(_, names)| !names.is_empty())
        .map(|(from, names)| import(&TokenStream::new(), from, &names))
        .collect();
    (!lines.is_empty()).then(|| quote!(#(#lines)*))
}

/// Returns the path of a type, for a module that has `types` in scope.
pub(super) fn located_type(ty: &LocatedType) -> TokenStream {
    match (&ty.ty, &ty.path) {
        (RootType::Named(name), Some(module)) => {
            let (module, name) = (path(module), name);
            quote!(#module::#name)
        }
        (ty, _) => root_type(ty),
    }
}

/// Returns a root type, for a module that has `types` in scope.
pub(super) fn root_type(ty: &RootType) -> TokenStream {
    match ty {
        RootType::Named(name) => {
            quote!(types::#name)
        }
        RootType::Value => quote!(toolwright::Value),
        RootType::Unit => quote!(()),
    }
}

/// Returns the tokens `Some(value)` or `None`.
pub(super) fn optional_of(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

/// Returns a duration in the largest unit that is exact.
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

/// `Length::between` its limits, or `Length::ANY` with a call for each.
impl ToTokens for StringLimits {
    fn to_tokens(&self, out: &mut TokenStream) {
        push!(out, codec::Length);
        between(self.min.map(count), self.max.map(count), out);
        if let Some(pattern) = self.pattern.as_ref().map(|pattern| &pattern.name) {
            push!(out, .matching(&#pattern));
        }
    }
}

/// `Items::between` its limits, or `Items::ANY` with a call for each.
impl ToTokens for ItemLimits {
    fn to_tokens(&self, out: &mut TokenStream) {
        push!(out, codec::Items);
        between(self.min.map(count), self.max.map(count), out);
        if self.unique {
            push!(out, .unique());
        }
    }
}

/// `Properties::between` its limits, or `Properties::ANY` with a call for each.
impl ToTokens for PropertyLimits {
    fn to_tokens(&self, out: &mut TokenStream) {
        let Self { min, max, names, dependent } = self;
        push!(out, codec::Properties);
        between(min.map(count), max.map(count), out);
        if *names != StringLimits::default() {
            push!(out, .named(#names));
        }
        if !dependent.is_empty() {
            let dependent = dependent
                .iter()
                .map(|DependentKeys { key, needed }| quote!((#key, &[#(#needed),*])));
            push!(out, .dependent(&[#(#dependent),*]));
        }
    }
}

/// `Range::between` its limits, or `Range::ANY` with a call for each.
impl ToTokens for IntegerLimits {
    fn to_tokens(&self, out: &mut TokenStream) {
        push!(out, codec::Range);
        between(self.min.map(integer), self.max.map(integer), out);
    }
}

/// Returns the same with the name of the integer type.
pub(super) fn typed_range(format: IntegerFormat, limits: &IntegerLimits) -> TokenStream {
    let name = ident(format.rust());
    let mut out = quote!(codec::Range::<#name>);
    between(limits.min.map(integer), limits.max.map(integer), &mut out);
    out
}

/// `Range::between` its limits, or `Range::ANY` with a call for each.
impl ToTokens for NumberLimits {
    fn to_tokens(&self, out: &mut TokenStream) {
        push!(out, codec::Range);
        let (above, min) = exclusive_or_inclusive(self.lower);
        let (below, max) = exclusive_or_inclusive(self.upper);
        between(min, max, out);
        if let Some(above) = above {
            push!(out, .above(#above));
        }
        if let Some(below) = below {
            push!(out, .below(#below));
        }
        if self.is_double {
            push!(out, .within_doubles());
        }
    }
}

fn exclusive_or_inclusive(
    limit: Option<NumberLimit>,
) -> (Option<TokenStream>, Option<TokenStream>) {
    match limit.map(|NumberLimit { value, is_exclusive }| (number(value), is_exclusive)) {
        Some((bound, true)) => (Some(bound), None),
        Some((bound, false)) => (None, Some(bound)),
        None => (None, None),
    }
}

/// Writes inclusive limits, after the name of their type.
fn between(min: Option<impl ToTokens>, max: Option<impl ToTokens>, out: &mut TokenStream) {
    match (min, max) {
        (Some(min), Some(max)) => push!(out, ::between(#min, #max)),
        (Some(min), None) => push!(out, ::ANY.at_least(#min)),
        (None, Some(max)) => push!(out, ::ANY.at_most(#max)),
        (None, None) => push!(out, ::ANY),
    }
}

/// Returns an integer literal.
pub(super) fn integer(value: impl Display) -> Literal {
    grouped(&value.to_string())
}

fn count(count: u64) -> Literal {
    grouped(&count.to_string())
}

/// Returns an `f64` expression. Clippy rejects literals that are close to a mathematical constant, such as `3.14`; such a
/// number becomes the constant or a quotient of two whole numbers that is the same double.
pub(super) fn number(value: f64) -> TokenStream {
    let text = format!("{value:?}");
    let is_near = |constant: &f64| approximates(&text, *constant);
    let Some(constant) = CONSTANTS.iter().find(|(_, constant)| is_near(constant)) else {
        let number = grouped(&text);
        return quote!(#number);
    };
    let (name, exact) = (ident(constant.0), constant.1);
    if value.to_bits() == exact.to_bits() {
        return quote!(std::f64::consts::#name);
    }
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    let digits = text.replace('.', "");
    let sign = if digits.starts_with('-') { "-" } else { "" };
    let digits = digits.trim_start_matches(['-', '0']);
    let (whole, power) =
        (grouped(&format!("{sign}{digits}.0")), grouped(&format!("1{}.0", "0".repeat(places))));
    quote!(#whole / #power)
}

/// Returns whether a number is a truncated or rounded form of a constant.
fn approximates(text: &str, constant: f64) -> bool {
    let digits = text.trim_start_matches('-');
    digits.len() > 3
        && !digits.contains('e')
        && (constant.to_string().starts_with(digits)
            || format!("{constant:.*}", digits.len() - 2) == digits)
}

/// The constants of clippy's `approx_constant`.
const CONSTANTS: [(&str, f64); 19] = [
    ("E", consts::E),
    ("FRAC_1_PI", consts::FRAC_1_PI),
    ("FRAC_1_SQRT_2", consts::FRAC_1_SQRT_2),
    ("FRAC_2_PI", consts::FRAC_2_PI),
    ("FRAC_2_SQRT_PI", consts::FRAC_2_SQRT_PI),
    ("FRAC_PI_2", consts::FRAC_PI_2),
    ("FRAC_PI_3", consts::FRAC_PI_3),
    ("FRAC_PI_4", consts::FRAC_PI_4),
    ("FRAC_PI_6", consts::FRAC_PI_6),
    ("FRAC_PI_8", consts::FRAC_PI_8),
    ("LN_2", consts::LN_2),
    ("LN_10", consts::LN_10),
    ("LOG10_2", consts::LOG10_2),
    ("LOG2_10", consts::LOG2_10),
    ("LOG10_E", consts::LOG10_E),
    ("LOG2_E", consts::LOG2_E),
    ("PI", consts::PI),
    ("SQRT_2", consts::SQRT_2),
    ("TAU", consts::TAU),
];

/// Returns a number literal with `_` between groups of three digits.
pub(super) fn grouped(number: &str) -> Literal {
    if number.len() <= 3 {
        return Literal::number(number.to_owned());
    }
    let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
    let (mantissa, exponent) = digits.split_at(digits.find('e').unwrap_or(digits.len()));
    let (whole, fraction) = mantissa.split_at(mantissa.find('.').unwrap_or(mantissa.len()));
    let mut text = String::with_capacity(number.len() + number.len() / 3);
    text.push_str(sign);
    for (place, digit) in whole.char_indices() {
        let is_between = place > 0 && (whole.len() - place).is_multiple_of(3);
        text.extend(is_between.then_some('_').into_iter().chain([digit]));
    }
    // The first character is the point.
    for (place, digit) in fraction.char_indices() {
        let is_between = place > 1 && place % 3 == 1;
        text.extend(is_between.then_some('_').into_iter().chain([digit]));
    }
    text.push_str(exponent);
    Literal::number(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_close_to_a_mathematical_constant_is_not_a_literal() {
        for (text, expected) in [
            ("-3.14", "- 314.0 / 100.0"),
            ("0.318", "318.0 / 1_000.0"),
            ("3.141592653589793", "std :: f64 :: consts :: PI"),
            ("3.5", "3.5"),
            ("31.4", "31.4"),
        ] {
            let number = number(text.parse().unwrap());
            assert_eq!(quote!(#number).to_string(), expected, "{text}");
        }
    }

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
            let grouped = grouped(number);
            assert_eq!(quote!(#grouped).to_string(), expected, "{number}");
        }
    }
}
