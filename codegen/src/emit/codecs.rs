//! `codecs.rs`: describes the JSON form of each type in calls of macros, which `toolwright` expands to decoders and encoders.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use toolwright::codec;
use toolwright::pattern::{Engine, Translated};

use super::module::Module;
use super::rust::{Literal, ToTokens, TokenStream, push, quote};
use super::tokens::{ident, imports, integer, typed_range};
use super::types::{used_by, used_by_definition};
use crate::naming::{Identifier, identifier};
use crate::plan::{
    AdditionalField, Body, Definition, Field, Import, Member, PatternStatic, Presence,
    PropertyLimits, Struct, TupleUse, TypeUse, Types, UnionVariant, ValidatorStatic,
};

/// The module of a crate's codecs.
pub(super) fn module(types: &Types, owner: &str) -> Module {
    let mut parts: Vec<TokenStream> = types.patterns.iter().map(pattern).collect();
    parts.extend(types.validators.iter().map(validator));
    parts.extend(
        coded(types).flat_map(|definition| {
            std::iter::once(codec(definition)).chain(conversions(definition))
        }),
    );
    parts.splice(0..0, uses(types, &parts));
    let about = if types.definitions.is_empty() {
        "none, because it defines no types."
    } else if types.has_domain_types {
        "they accept values that the schemas and your own types accept."
    } else {
        "they accept exactly what the schemas accept."
    };
    Module { name: "codecs", about: format!("Codecs of {owner}: {about}"), parts }
}

/// Returns the types that have codecs.
fn coded(types: &Types) -> impl Iterator<Item = &Definition> {
    let has_codec = |body: &Body| !matches!(body, Body::Alias(_) | Body::Domain(_));
    types.definitions.iter().filter(move |definition| has_codec(&definition.body))
}

/// Returns the imports that the codecs need.
fn uses(types: &Types, parts: &[TokenStream]) -> Option<TokenStream> {
    let mut named = BTreeSet::from(["codec"]);
    for definition in coded(types) {
        named.insert(&*definition.name);
        used_by_definition(definition, &mut named);
    }
    let mut held = BTreeSet::new();
    for definition in &types.definitions {
        if let Body::Newtype(ty) = &definition.body {
            used_by(ty, &mut held);
        }
        for (_, ty) in definition.body.convertible_variants() {
            used_by(ty, &mut held);
        }
    }
    // A name in the tokens may be that of a variant, and a type of a body may not be in its codec: types of the user are only in those
    // that hold them.
    for definition in types.definitions.iter().filter(|of| matches!(of.body, Body::Domain(_))) {
        if !held.contains(&*definition.name) {
            named.remove(&*definition.name);
        }
    }
    let mut used = used_names(parts);
    used.retain(|name| named.contains(name));
    let mut own: Vec<&str> = types.definitions.iter().map(|definition| &*definition.name).collect();
    let values =
        ["Integer", "Map", "Nullable", "Value"].into_iter().filter(|name| held.contains(name));
    let mut sources = vec![("toolwright", values.chain(["codec"]).collect())];
    let imported = types.imports.iter();
    if types.reexports {
        own.extend(imported.flat_map(|import| &import.names).map(|name| &**name));
    } else {
        sources.extend(imported.map(Import::source));
    }
    own.sort_unstable();
    sources.insert(0, ("super::types", own));
    imports(&sources, &used)
}

/// Returns the first segments of all paths. Most names occur again soon, so a small cache saves lookups in the set.
fn used_names(parts: &[TokenStream]) -> BTreeSet<&str> {
    let (mut found, mut recent) = (BTreeSet::new(), [""; 64]);
    for name in parts.iter().flat_map(TokenStream::heads) {
        let place = &mut recent[(name.len() + usize::from(name.as_bytes()[0])) % 64];
        if *place != name {
            *place = name;
            found.insert(name);
        }
    }
    found
}

fn pattern(pattern: &PatternStatic) -> TokenStream {
    let (name, ecma) = (&pattern.name, &pattern.ecma);
    let Translated { regex, engine, needs_tables, .. } = &*pattern.translated;
    match engine {
        _ if *needs_tables => {
            quote!(static #name: codec::Pattern = codec::Pattern::with_tables(#ecma);)
        }
        Engine::Linear => {
            let steps = match pattern.translated.steps_per_byte() {
                1 => TokenStream::new(),
                steps => {
                    let steps = integer(steps);
                    quote!(.with_steps_per_byte(#steps))
                }
            };
            quote!(static #name: codec::Pattern = codec::Pattern::new(#ecma, #regex)#steps;)
        }
        _ => quote!(static #name: codec::Pattern = codec::Pattern::untranslated(#ecma);),
    }
}

fn validator(validator: &ValidatorStatic) -> TokenStream {
    let (name, file) = (&validator.name, format!("../schema/{}", validator.schema.name));
    let rules = &validator.rules;
    let new = ident(if validator.needs_tables { "with_tables" } else { "new" });
    quote!(static #name: codec::Validator = codec::Validator::#new(include_str!(#file), &[#(#rules),*]);)
}

/// Returns the macro call that implements the codec of a type.
fn codec(definition: &Definition) -> TokenStream {
    let name = &definition.name;
    let rules = definition.validator.as_ref();
    let rules = rules.map_or_else(TokenStream::new, |rules| quote!(checked(#rules)));
    match &definition.body {
        Body::Struct(plan) => object(name, &rules, plan),
        Body::Enum(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let values = variants.iter().map(|variant| &variant.value);
            quote!(toolwright::string_enum!(#name #rules { #(#names = #values),* });)
        }
        Body::IntegerEnum(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let values = variants.iter().map(|variant| integer(variant.value));
            quote!(toolwright::integer_enum!(#name #rules { #(#names = #values),* });)
        }
        Body::Constants(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let values = variants.iter().map(|variant| &variant.value);
            let kinds = kinds_of(variants.iter().map(|variant| &*variant.value));
            quote!(toolwright::constants!(#name #rules #kinds { #(#names = #values),* });)
        }
        Body::Mixed(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let types = variants.iter().map(|variant| CodecOf::plain(&variant.ty));
            quote!(toolwright::mixed!(#name #rules { #(#names: #types),* });)
        }
        Body::Overlapping { keyword, variants } => {
            // Variants with the most required properties come first: the others may accept the same values.
            let mut order: Vec<_> = variants.iter().enumerate().collect();
            order.sort_by_key(|(_, variant)| Reverse(variant.required_properties));
            let variants = order.into_iter().map(|(index, variant)| {
                let index = Literal::usize_unsuffixed(index);
                let (name, ty) = (&variant.name, CodecOf::plain(&variant.ty));
                quote!(#index => #name: #ty)
            });
            quote!(toolwright::overlapping!(#name #rules by #keyword { #(#variants),* });)
        }
        Body::Constant(json) => quote!(toolwright::constant!(#name #rules = #json);),
        Body::Union { tag, variants } => {
            let variants = variants.iter().map(|UnionVariant { name, tag, ty, .. }| {
                let ty = CodecOf::plain(ty);
                quote!(#tag => #name: #ty)
            });
            quote!(toolwright::tagged!(#name #rules by #tag { #(#variants),* });)
        }
        Body::Newtype(ty) => {
            let any = (definition.validator.is_none() && ty.is_any()).then(|| quote!(any));
            let described = CodecOf::plain(ty);
            let rules = definition.validator.as_ref();
            let described = rules
                .map_or_else(|| quote!(#described), |rules| quote!(checked(#rules, #described)));
            quote!(toolwright::newtype!(#any #name: #ty = #described);)
        }
        // An alias has the codec of its target, and the codec of a domain type is part of each field that uses it.
        Body::Alias(_) | Body::Domain(_) => TokenStream::new(),
    }
}

/// Lists the Rust types, besides strings, of constants that are given as JSON.
fn kinds_of<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Option<TokenStream> {
    let is_boolean = |json: &str| matches!(json, "true" | "false");
    let is_integer = |json: &str| codec::from_json::<i64>(json.as_bytes()).is_ok();
    let kinds = [("i64", values.clone().any(is_integer)), ("bool", values.clone().any(is_boolean))];
    let mut kinds =
        kinds.iter().filter(|(_, is_used)| *is_used).map(|(name, _)| ident(name)).peekable();
    kinds.peek().is_some().then(|| quote!(from(#(#kinds),*)))
}

/// Returns the macro call that converts the values of a choice's variants into the choice.
fn conversions(Definition { name, body, .. }: &Definition) -> Option<TokenStream> {
    let (variants, types): (Vec<_>, Vec<_>) = body.convertible_variants().into_iter().unzip();
    (!variants.is_empty())
        .then(|| quote!(toolwright::from_variants!(#name { #(#variants: #types),* });))
}

/// Defaults that take no more memory than a few fields are not counted.
const FEW_BYTES: usize = 128;

fn object(name: &Identifier, rules: &TokenStream, plan: &Struct) -> TokenStream {
    let fixed = plan.members.iter().filter_map(|member| match member {
        Member::Fixed { key, json } => Some(quote!(#key => constant(#json))),
        Member::Field(_) => None,
    });
    let fields = plan.members.iter().filter_map(Member::field).map(member_of);
    let rest = plan.additional.as_ref().map(|AdditionalField { name, ty, .. }| {
        let ty = CodecOf::plain(ty);
        quote!(_ => #name: #ty)
    });
    let members = fixed.chain(fields).chain(rest);
    let limits = &plan.limits;
    let limits = (*limits != PropertyLimits::default()).then(|| quote!(within(#limits)));
    let defaults = (plan.bytes_of_defaults > FEW_BYTES).then(|| {
        let bytes = integer(plan.bytes_of_defaults);
        quote!(filling(#bytes))
    });
    quote!(toolwright::object!(#name #rules #limits #defaults { #(#members),* });)
}

fn member_of(field: &Field) -> TokenStream {
    let Field { key, name, ty, presence, .. } = field;
    // RFC 8259, section 7: the characters that JSON escapes.
    let is_escaped = key.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'));
    let (word, escaped, default) = match presence {
        Presence::Required => ("required", "required_escaped", None),
        Presence::Optional => ("optional", "optional_escaped", None),
        Presence::Default(default) => ("default", "default_escaped", Some(quote!((#default)))),
    };
    let word = ident(if is_escaped { escaped } else { word });
    let keeps_null = *presence == Presence::Optional;
    let ty = CodecOf { keeps_null, ..CodecOf::plain(ty) };
    quote!(#word #default #key => #name: #ty)
}

/// A type in the syntax of the codec macros.
struct CodecOf<'a> {
    ty: &'a TypeUse,
    /// Set if `null` and an absent key are different values.
    keeps_null: bool,
    /// Set within a type of the user, whose code chooses the type that is read unless the codec names it.
    is_converted: bool,
}

impl<'a> CodecOf<'a> {
    fn plain(ty: &'a TypeUse) -> Self {
        Self { ty, keeps_null: false, is_converted: false }
    }

    fn inner(&self, ty: &'a TypeUse) -> Self {
        Self { ty, keeps_null: false, ..*self }
    }
}

impl ToTokens for CodecOf<'_> {
    fn to_tokens(&self, out: &mut TokenStream) {
        match self.ty {
            TypeUse::Value => push!(out, value()),
            TypeUse::Null => push!(out, null()),
            TypeUse::Boolean => push!(out, boolean()),
            TypeUse::String(limits) => push!(out, string(#limits)),
            TypeUse::Formatted(format, limits) => {
                push!(out, formatted(toolwright::format::Format::#format, #limits));
            }
            TypeUse::Contract(_, limits) if self.is_converted => {
                let of = self.ty;
                push!(out, formatted_as(#limits, #of));
            }
            TypeUse::Contract(_, limits) => push!(out, formatted_as(#limits)),
            TypeUse::Checked(inner, validator) => {
                let inner = Self { ty: inner, ..*self };
                push!(out, checked(#validator, #inner));
            }
            TypeUse::Integer(format, limits) if self.is_converted => {
                let range = typed_range(*format, limits);
                push!(out, integer(#range));
            }
            TypeUse::Integer(_, limits) => push!(out, integer(#limits)),
            TypeUse::BigInteger(limits) => push!(out, big_integer(#limits)),
            TypeUse::Number(limits) => push!(out, number(#limits)),
            TypeUse::ExactNumber(limits) => push!(out, exact_number(#limits)),
            TypeUse::List(item, limits) => {
                let item = self.inner(item);
                push!(out, list(#limits, #item));
            }
            TypeUse::Tuple(TupleUse { required, optional, rest, count }) => {
                let mut numbered = (1..).map(|place| identifier(&format!("item_{place}")));
                let mut place_of = |ty, keeps_null| {
                    let (name, item) = (numbered.next(), Self { ty, keeps_null, ..*self });
                    quote!(#name: #item)
                };
                let required: Vec<_> = required.iter().map(|item| place_of(item, false)).collect();
                if optional.is_empty() && rest.is_none() {
                    push!(out, tuple(#(#required),*));
                    return;
                }
                let optional: Vec<_> = optional.iter().map(|item| place_of(item, true)).collect();
                let rest = rest.as_ref().map(|rest| {
                    let rest = self.inner(rest);
                    quote!(, rest: #rest)
                });
                push!(out, open_tuple(#count, [#(#required),*], [#(#optional),*] #rest));
            }
            TypeUse::Map(value, limits) => {
                let value = self.inner(value);
                push!(out, map(#limits, #value));
            }
            TypeUse::Nullable(inner) => {
                let inner = self.inner(inner);
                if self.keeps_null {
                    push!(out, or_null(#inner));
                } else {
                    push!(out, nullable(#inner));
                }
            }
            TypeUse::Converted(_, json) => {
                let json = Self { ty: json, keeps_null: false, is_converted: true };
                push!(out, converted(#json));
            }
            TypeUse::Named(name) | TypeUse::Constant(name) => push!(out, #name),
            TypeUse::Boxed(name) => push!(out, boxed(#name)),
        }
    }
}
