//! `codecs.rs`: one decode and one encode a type, checks beside the field they check.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use toolwright::pattern::{Engine, Translated};

use super::places::{AsOption, ByCopy, ByReference, Place, Source, Target};
use super::print::Module;
use super::rust::{Append, Literal, TokenStream, push, quote};
use super::tokens::{imports, integer};
use crate::naming::Identifier;
use crate::plan::{
    AdditionalField, Body, Definition, Field, Import, Member, MixedVariant, OverlappingVariant,
    PatternStatic, Struct, TypeUse, Types, UnionVariant, ValidatorStatic,
};

/// The module of a crate's codecs.
pub(super) fn module(types: &Types, owner: &str) -> Module {
    let coded =
        types.definitions.iter().filter(|definition| !matches!(definition.body, Body::Alias(_)));
    let mut parts: Vec<TokenStream> = types.patterns.iter().map(pattern).collect();
    parts.extend(types.validators.iter().map(validator));
    parts.extend(coded.flat_map(codec));
    parts.splice(0..0, uses(types, &parts));
    Module {
        name: "codecs",
        about: format!("Codecs of {owner}: they accept exactly what the schemas accept."),
        parts,
    }
}

/// The imports the codecs need.
fn uses(types: &Types, parts: &[TokenStream]) -> Option<TokenStream> {
    let used = used_names(parts);
    let codec = [
        "Decode",
        "Encode",
        "Items",
        "Kind",
        "Length",
        "Pattern",
        "Range",
        "Reader",
        "Validator",
        "Writer",
    ];
    let mut own: Vec<&str> = types.definitions.iter().map(|definition| &*definition.name).collect();
    let mut sources =
        vec![("toolwright", vec!["Map", "Nullable"]), ("toolwright::codec", codec.to_vec())];
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

/// The names of types that stand at the head of a path. Most were found just before: what looks alike is compared first.
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
    let Translated { regex, engine, needs_tables, .. } = &pattern.translated;
    match engine {
        _ if *needs_tables => quote!(static #name: Pattern = Pattern::with_tables(#ecma);),
        Engine::Linear => quote!(static #name: Pattern = Pattern::new(#ecma, #regex);),
        _ => quote!(static #name: Pattern = Pattern::untranslated(#ecma);),
    }
}

fn validator(validator: &ValidatorStatic) -> TokenStream {
    let (name, file) = (&validator.name, format!("../schema/{}", validator.schema.name));
    let rules = &validator.rules;
    quote!(static #name: Validator = Validator::new(include_str!(#file), &[#(#rules),*]);)
}

fn codec(definition: &Definition) -> [TokenStream; 3] {
    let name = &definition.name;
    let (decode, encode) = match &definition.body {
        Body::Struct(plan) => (decode_struct(plan), encode_struct(plan)),
        Body::Enum(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let values = variants.iter().map(|variant| &variant.value);
            (
                quote!(input.variant(&[#(#values),*], &[#(Self::#names),*])),
                quote!(out.string(self.as_str(), Length::ANY);),
            )
        }
        Body::IntegerEnum(variants) => {
            let names = variants.iter().map(|variant| &variant.name);
            let values = variants.iter().map(|variant| integer(variant.value));
            (
                quote!(input.integer_variant(&[#((#values, Self::#names)),*])),
                quote!(out.integer(self.as_i64(), Range::ANY);),
            )
        }
        Body::Mixed(variants) => {
            let types = variants.iter().map(|variant| (&variant.name, &variant.ty));
            (decode_mixed(variants), encode_choice(types))
        }
        Body::Overlapping { keyword, variants } => {
            let types = variants.iter().map(|variant| (&variant.name, &variant.ty));
            let rules = definition.validator.as_ref();
            let rules = rules.expect("what says how many of the members have to fit");
            (decode_overlapping(rules, keyword, variants), encode_choice(types))
        }
        Body::Constant(json) => {
            (quote!(input.constant(#json)?; Some(Self)), quote!(out.constant(#json);))
        }
        Body::Union { tag, variants } => (decode_union(tag, variants), encode_union(variants)),
        Body::Newtype(ty) => {
            let decode = Decoded(ty, Source::Input);
            let encode = encode_with(ty, Target::Out, Place::Inner);
            (quote!(#decode.map(Self)), quote!(#encode;))
        }
        // An alias has the codec of what it stands for.
        Body::Alias(_) => (TokenStream::new(), TokenStream::new()),
    };
    let (decode, encode) = match &definition.validator {
        Some(validator) => {
            let (decode, encode) = (body(decode), body(encode));
            (
                quote!(input.checked(&#validator, |input| #decode)),
                quote!(out.checked(&#validator, |out| #encode);),
            )
        }
        None => (decode, encode),
    };
    [
        quote! {
            impl Decode for #name {
                fn decode(input: &mut Reader<'_>) -> Option<Self> { #decode }
            }
        },
        quote! {
            impl Encode for #name {
                fn encode(&self, out: &mut Writer) { #encode }
            }
        },
        quote!(toolwright::serde_bridge!(#name);),
    ]
}

fn decode_struct(plan: &Struct) -> TokenStream {
    let variables = plan.members.iter().map(variable);
    let additional = plan.additional.as_ref().map(|field| {
        let name = &field.name;
        quote!(let mut #name = Map::new();)
    });
    let keys = keys(plan);
    let others =
        plan.additional.as_ref().map_or_else(|| quote!(object.unknown_key(&[#(#keys),*]);), keep);
    let each = if plan.members.is_empty() && plan.additional.is_none() {
        quote!(while object.next_key().is_some() { #others })
    } else if plan.members.is_empty() {
        quote!(while let Some(key) = object.next_key() { #others })
    } else {
        let arms = plan.members.iter().map(arm);
        quote!(while let Some(key) = object.next_key() {
            match key.as_ref() { #(#arms,)* _ => { #others } }
        })
    };
    let required = plan.members.iter().filter_map(required);
    let fixed =
        plan.members.iter().filter(|member| matches!(member, Member::Fixed { .. })).map(variable);
    let values = plan.members.iter().filter_map(value);
    let rest = plan.additional.as_ref().map(|field| &field.name);
    let values = values.chain(rest.map(|name| quote!(#name)));
    quote! {
        #(let mut #variables = None;)*
        #additional
        let mut object = input.object()?;
        #each
        #(#required)*
        #(#fixed?;)*
        Some(Self { #(#values),* })
    }
}

fn keys(plan: &Struct) -> Vec<&str> {
    let key = |member| match member {
        &Member::Field(Field { ref key, .. }) | &Member::Fixed { ref key, .. } => key.as_str(),
    };
    plan.members.iter().map(key).collect()
}

fn variable(member: &Member) -> &Identifier {
    match member {
        Member::Field(Field { variable, .. }) | Member::Fixed { variable, .. } => variable,
    }
}

/// The body of a closure: in braces only where it has statements.
fn body(tokens: TokenStream) -> TokenStream {
    if tokens.has_statements() { quote!({ #tokens }) } else { tokens }
}

/// The statement for an undeclared key that is kept.
fn keep(field: &AdditionalField) -> TokenStream {
    let (name, decode) = (&field.name, Decoder(&field.ty));
    quote!(object.additional(&mut #name, key, #decode);)
}

fn arm(member: &Member) -> TokenStream {
    let variable = variable(member);
    match member {
        Member::Field(field) => {
            let (key, decode) = (&field.key, field_decode(field));
            quote!(#key => #variable = #decode)
        }
        Member::Fixed { key, json, .. } => {
            quote!(#key => #variable = object.value().constant(#json))
        }
    }
}

fn required(member: &Member) -> Option<TokenStream> {
    let variable = variable(member);
    let key = match member {
        Member::Field(field) if !field.required => return None,
        Member::Field(Field { key, .. }) | Member::Fixed { key, .. } => key,
    };
    Some(quote!(let #variable = object.required(#key, #variable);))
}

fn value(member: &Member) -> Option<TokenStream> {
    let Member::Field(field) = member else { return None };
    let (name, variable) = (&field.name, &field.variable);
    Some(match (field.required, name == variable) {
        (true, _) => quote!(#name: #variable?),
        (false, true) => quote!(#name),
        (false, false) => quote!(#name: #variable),
    })
}

fn field_decode(field: &Field) -> TokenStream {
    let decode = Decoded(&field.ty, Source::Member);
    let keeps_null = !field.required && field.ty.nullable().is_some();
    if keeps_null { quote!(#decode.map(Nullable::from)) } else { quote!(#decode) }
}

/// A function from a reader to a value.
struct Decoder<'a>(&'a TypeUse);

impl Append for Decoder<'_> {
    fn append(&self, out: &mut TokenStream) {
        match self.0 {
            TypeUse::Value => push!(out, Reader::value),
            TypeUse::Null => push!(out, Reader::null),
            TypeUse::Boolean => push!(out, Reader::boolean),
            TypeUse::Named(name) => {
                push!(out, #name::decode);
            }
            ty => {
                let body = Decoded(ty, Source::Variable);
                push!(out, |v| #body);
            }
        }
    }
}

/// A value read from a reader.
struct Decoded<'a>(&'a TypeUse, Source);

impl Append for Decoded<'_> {
    fn append(&self, out: &mut TokenStream) {
        let reader = self.1;
        match self.0 {
            TypeUse::Value => push!(out, #reader.value()),
            TypeUse::Null => push!(out, #reader.null()),
            TypeUse::Boolean => push!(out, #reader.boolean()),
            TypeUse::String(limits) => push!(out, #reader.string(#limits)),
            TypeUse::Formatted(format, limits) => {
                push!(out, #reader.formatted(toolwright::format::Format::#format, #limits));
            }
            TypeUse::Contract(_, limits) => push!(out, #reader.formatted_as(#limits)),
            TypeUse::Checked(inner, validator) => {
                let inner = Decoder(inner);
                push!(out, #reader.checked(&#validator, #inner));
            }
            TypeUse::Integer(limits) => push!(out, #reader.integer(#limits)),
            TypeUse::BigInteger(limits) => push!(out, #reader.big_integer(#limits)),
            TypeUse::Number(limits) => push!(out, #reader.number(#limits)),
            TypeUse::ExactNumber(limits) => push!(out, #reader.exact_number(#limits)),
            TypeUse::List(item, limits) => {
                let item = Decoder(item);
                push!(out, #reader.array(#limits, #item));
            }
            TypeUse::Tuple(items) => {
                let count = Literal::usize_unsuffixed(items.len());
                let places = (0..items.len()).map(Literal::usize_unsuffixed);
                let items = items.iter().map(Decoder);
                push!(out,
                    #reader.tuple(#count, |t| {
                        let items = (#(t.item(#items),)*);
                        Some((#(items.#places?,)*))
                    })
                );
            }
            TypeUse::Map(value) => {
                let value = Decoder(value);
                push!(out, #reader.map(#value));
            }
            TypeUse::Nullable(inner) => {
                let inner = Decoder(inner);
                push!(out, #reader.nullable(#inner));
            }
            TypeUse::Named(name) => {
                push!(out, #name::decode(#reader));
            }
            TypeUse::Boxed(name) => {
                push!(out, #name::decode(#reader).map(Box::new));
            }
        }
    }
}

fn decode_union(tag: &str, variants: &[UnionVariant]) -> TokenStream {
    let tags: Vec<_> = variants.iter().map(|variant| &variant.tag).collect();
    let decoded: Vec<_> = variants
        .iter()
        .map(|variant| {
            let (name, decode) = (&variant.name, Decoded(&variant.ty, Source::Input));
            quote!(#decode.map(Self::#name))
        })
        .collect();
    let (last, others) = decoded.split_last().expect("a union has variants");
    let other_tags = &tags[..others.len()];
    quote! {
        match input.tag(#tag, &[#(#tags),*])? {
            #(#other_tags => #others,)*
            _ => #last,
        }
    }
}

fn decode_mixed(variants: &[MixedVariant]) -> TokenStream {
    let kinds: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let decoded: Vec<_> = variants
        .iter()
        .zip(&kinds)
        .map(|(variant, name)| {
            let decode = Decoded(&variant.ty, Source::Input);
            quote!(#decode.map(Self::#name))
        })
        .collect();
    let (last, others) = decoded.split_last().expect("a choice has variants");
    let other_kinds = &kinds[..others.len()];
    quote! {
        match input.kind(&[#(Kind::#kinds),*])? {
            #(Kind::#other_kinds => #others,)*
            _ => #last,
        }
    }
}

/// Writes what the variant of a choice holds, by its name and type.
fn encode_choice<'a>(variants: impl Iterator<Item = (&'a Identifier, &'a TypeUse)>) -> TokenStream {
    let arms = variants.map(|(name, ty)| {
        let encode = encode_with(ty, Target::Out, Place::Variable("value"));
        let value = if *ty == TypeUse::Null { quote!(()) } else { quote!(value) };
        quote!(Self::#name(#value) => #encode,)
    });
    quote!(match self { #(#arms)* })
}

/// Looks for a variant that fits beginning with those that demand most: the others may take their values too.
fn decode_overlapping(
    rules: &Identifier,
    keyword: &str,
    variants: &[OverlappingVariant],
) -> TokenStream {
    let mut order: Vec<_> = variants.iter().enumerate().collect();
    order.sort_by_key(|(_, variant)| Reverse(variant.demands));
    let choices = order.into_iter().map(|(index, variant)| {
        let index = Literal::usize_unsuffixed(index);
        let (name, decode) = (&variant.name, Decoded(&variant.ty, Source::Variable));
        quote!((#index, |v| #decode.map(Self::#name)))
    });
    quote!(input.first_of(&#rules, #keyword, &[#(#choices),*]))
}

fn encode_union(variants: &[UnionVariant]) -> TokenStream {
    let names = variants.iter().map(|variant| &variant.name);
    quote!(match self { #(Self::#names(variant) => variant.encode(out),)* })
}

fn encode_struct(plan: &Struct) -> TokenStream {
    if plan.members.is_empty() && plan.additional.is_none() {
        return quote! {
            if let Some(object) = out.object() {
                object.end();
            }
        };
    }
    let members = plan.members.iter().map(encode_member);
    let keys = keys(plan);
    let additional = plan.additional.as_ref().map(|field| {
        let name = &field.name;
        let keys = quote!(&[#(#keys),*]);
        with_encoder(&field.ty, |encode| quote!(object.additional(&self.#name, #keys, #encode);))
    });
    quote! {
        let Some(mut object) = out.object() else { return };
        #(#members)*
        #additional
        object.end();
    }
}

fn encode_member(member: &Member) -> TokenStream {
    match member {
        Member::Fixed { key, json, .. } => {
            let writer = Target::Behind(key);
            quote!(#writer.constant(#json);)
        }
        Member::Field(field) if field.required => {
            let place = Place::Field(&field.name);
            let encode = encode_with(&field.ty, Target::Behind(&field.key), place);
            quote!(#encode;)
        }
        Member::Field(field) => encode_optional(field),
    }
}

fn encode_optional(field: &Field) -> TokenStream {
    let (writer, name) = (Target::Behind(&field.key), &field.name);
    if field.ty == TypeUse::Null {
        return quote!(if self.#name.is_some() { #writer.null(); });
    }
    let is_nullable = field.ty.nullable().is_some();
    let place = if is_nullable { Place::Nullable } else { Place::Variable("value") };
    let encode = encode_with(&field.ty, writer, place);
    quote!(if let Some(value) = &self.#name { #encode; })
}

/// A call that is given a function from a writer and a reference to nothing.
fn with_encoder(ty: &TypeUse, call: impl Fn(&TokenStream) -> TokenStream) -> TokenStream {
    let encode = encode_with(ty, Target::Variable, Place::Variable("v"));
    call(&match ty {
        TypeUse::Value => quote!(Writer::value),
        TypeUse::Null => quote!(|w, ()| #encode),
        _ => quote!(|w, v| #encode),
    })
}

fn encode_with(ty: &TypeUse, writer: Target<'_>, place: Place<'_>) -> TokenStream {
    let (by_reference, by_copy, option) = (ByReference(place), ByCopy(place), AsOption(place));
    match ty {
        TypeUse::Value => quote!(#writer.value(#by_reference)),
        TypeUse::Null => quote!(#writer.null()),
        TypeUse::Boolean => quote!(#writer.boolean(#by_copy)),
        TypeUse::String(limits) => quote!(#writer.string(#by_reference, #limits)),
        TypeUse::Formatted(format, limits) => {
            quote!(#writer.formatted(#by_reference, toolwright::format::Format::#format, #limits))
        }
        TypeUse::Contract(_, limits) => quote!(#writer.formatted_as(#by_reference, #limits)),
        TypeUse::Checked(inner, validator) => {
            let encode = encode_with(inner, Target::Variable, place);
            quote!(#writer.checked(&#validator, |w| #encode))
        }
        TypeUse::Integer(limits) => quote!(#writer.integer(#by_copy, #limits)),
        TypeUse::BigInteger(limits) => quote!(#writer.big_integer(#by_reference, #limits)),
        TypeUse::Number(limits) => quote!(#writer.number(#by_copy, #limits)),
        TypeUse::ExactNumber(limits) => quote!(#writer.exact_number(#by_reference, #limits)),
        TypeUse::List(item, limits) => {
            with_encoder(item, |item| quote!(#writer.array(#by_reference, #limits, #item)))
        }
        TypeUse::Tuple(items) => {
            let items = items.iter().enumerate().map(|(at, item)| {
                let at = Literal::usize_unsuffixed(at);
                with_encoder(item, |item| quote!(t.item(&#place.#at, #item);))
            });
            quote!(#writer.tuple(|t| { #(#items)* }))
        }
        TypeUse::Map(value) => {
            with_encoder(value, |value| quote!(#writer.map(#by_reference, #value)))
        }
        TypeUse::Nullable(inner) => {
            with_encoder(inner, |inner| quote!(#writer.nullable(#option, #inner)))
        }
        TypeUse::Named(_) | TypeUse::Boxed(_) => quote!(#place.encode(#writer)),
    }
}
