//! `types.rs`: structs, enums, newtypes.

use std::collections::BTreeSet;

use super::defaults;
use super::module::Module;
use super::rust::{ToTokens, TokenStream, push, quote};
use super::tokens::{docs, ident, import, imports, rust_path};
use crate::naming::Identifier;
use crate::options::RustPath;
use crate::plan::{
    AdditionalField, Body, Constructor, Definition, Derives, Field, Import, Presence,
    SchemaDefault, Struct, TupleUse, TypeUse, Types,
};
use crate::prose::code;

/// The module of a crate's types.
pub(super) fn module(types: &Types, owner: &str) -> Module {
    let used = used_types(types);
    let mut sources = vec![("toolwright", vec!["Integer", "Map", "Nullable", "Value"])];
    let mut parts = Vec::new();
    if types.reexports {
        parts.extend(reexports(types));
    } else {
        sources.extend(types.imports.iter().map(Import::source));
    }
    parts.splice(0..0, imports(&sources, &used));
    parts.extend(types.definitions.iter().flat_map(definition));
    Module { name: "types", about: format!("Types of {owner}."), parts }
}

fn reexports(types: &Types) -> Option<TokenStream> {
    let lines = types.imports.iter().map(|from| import(&quote!(pub), &from.module, &from.names));
    (!types.imports.is_empty()).then(|| quote!(#(#lines)*))
}

/// The Rust type that the use of a schema becomes.
impl ToTokens for TypeUse {
    fn to_tokens(&self, out: &mut TokenStream) {
        match self {
            Self::Value => push!(out, Value),
            Self::Null => push!(out, ()),
            Self::Boolean => push!(out, bool),
            Self::String(_) | Self::Formatted(..) => push!(out, String),
            Self::Contract("Ipv4Addr", _) => push!(out, std::net::Ipv4Addr),
            Self::Contract(name, _) => {
                let name = ident(name);
                push!(out, toolwright::format::#name);
            }
            Self::Checked(inner, _) => out.push(inner.as_ref()),
            Self::Integer(format, _) => {
                let name = ident(format.rust());
                push!(out, #name);
            }
            Self::BigInteger(_) => push!(out, Integer),
            Self::Number(_) => push!(out, f64),
            Self::ExactNumber(_) => push!(out, toolwright::value::Number),
            Self::List(item, _) => push!(out, Vec<#item>),
            Self::Tuple(TupleUse { required, optional, rest, .. }) => {
                let optional = optional.iter().map(optional_type);
                let rest = rest.as_ref().map(|rest| quote!(Vec<#rest>,));
                push!(out, (#(#required,)* #(#optional,)* #rest));
            }
            Self::Map(value, _) => push!(out, Map<#value>),
            Self::Nullable(inner) => push!(out, Option<#inner>),
            Self::Named(name) | Self::Constant(name) | Self::Converted(name, _) => out.push(name),
            Self::Boxed(name) => {
                push!(out, Box<#name>);
            }
        }
    }
}

/// Returns the type of a field. For an optional property that may be `null`, it tells `null` from an absent key.
fn field_type(field: &Field) -> TokenStream {
    let ty = &field.ty;
    if field.presence == Presence::Optional { optional_type(ty) } else { quote!(#ty) }
}

fn optional_type(ty: &TypeUse) -> TokenStream {
    if let Some(inner) = ty.nullable() {
        quote!(Option<Nullable<#inner>>)
    } else {
        quote!(Option<#ty>)
    }
}

fn definition(definition: &Definition) -> Vec<TokenStream> {
    let name = &definition.name;
    let by_hand = match (&definition.body, &definition.default) {
        (Body::Struct(plan), _) if definition.derives.default && defaults::differ(plan) => {
            Some(defaults::of_struct(plan, name))
        }
        (Body::Newtype(_), Some(default)) if !default.is_derived_by_newtype() => {
            Some(defaults::of_newtype(default, name))
        }
        _ => None,
    };
    let default = definition.derives.default && by_hand.is_none();
    let derives = derives(Derives { default, ..definition.derives }, &definition.extra_derives);
    let docs = docs(&definition.docs);
    let non_exhaustive = definition.is_non_exhaustive.then(|| quote!(#[non_exhaustive]));
    let above = quote!(#docs #derives #non_exhaustive);
    match &definition.body {
        Body::Struct(plan) => structure(plan, name, &above).into_iter().chain(by_hand).collect(),
        Body::Enum(variants) | Body::Constants(variants) => {
            let variants =
                variants.iter().map(|variant| (&variant.name, self::docs(&variant.docs)));
            plain_enum(variants, definition, &above)
        }
        Body::IntegerEnum(variants) => {
            let variants =
                variants.iter().map(|variant| (&variant.name, self::docs(&[&variant.docs])));
            plain_enum(variants, definition, &above)
        }
        Body::Mixed(variants) => {
            let variants =
                variants.iter().map(|variant| (&variant.name, &variant.ty, &*variant.docs));
            choice(variants, name, &above)
        }
        Body::Overlapping { variants, .. } => {
            let variants =
                variants.iter().map(|variant| (&variant.name, &variant.ty, &*variant.docs));
            choice(variants, name, &above)
        }
        Body::Constant(_) => vec![quote!(#above pub struct #name;)],
        Body::Union { variants, .. } => {
            let variants =
                variants.iter().map(|variant| (&variant.name, &variant.ty, &*variant.docs));
            choice(variants, name, &above)
        }
        Body::Newtype(ty) => {
            let item = quote!(#above pub struct #name(pub #ty););
            std::iter::once(item).chain(by_hand).collect()
        }
        Body::Alias(ty) => vec![quote!(#docs pub type #name = #ty;)],
        Body::Domain(path) => {
            let renamed = path.segments().last().is_none_or(|last| *name != **last);
            let (path, renamed) = (rust_path(path), renamed.then(|| quote!(as #name)));
            // Unlike an alias, a re-export includes the constructor of a tuple struct.
            vec![quote!(#docs pub use #path #renamed;)]
        }
    }
}

fn derives(Derives { copy, eq, ord, default }: Derives, extra: &[RustPath]) -> TokenStream {
    let copy = copy.then(|| quote!(Copy,));
    let default = default.then(|| quote!(Default,));
    let ord = ord.then(|| quote!(, PartialOrd, Ord));
    let (eq, hash) = eq.then(|| (quote!(, Eq), quote!(, Hash))).unzip();
    let extra = extra.iter().map(rust_path);
    quote!(#[derive(Clone, #copy Debug, #default PartialEq #eq #ord #hash #(, #extra)*)])
}

fn structure(plan: &Struct, name: &Identifier, above: &TokenStream) -> Vec<TokenStream> {
    let fields = plan.fields().map(field);
    let additional = plan.additional.as_ref().map(|additional| {
        let (name, ty) = (&additional.name, &additional.ty);
        quote!(#[doc = " All other keys, with their values."] pub #name: Map<#ty>,)
    });
    let item = quote! {
        #above
        pub struct #name {
            #(#fields,)*
            #additional
        }
    };
    let constants: Vec<_> = defaults::constants(plan).collect();
    let (function, by_macro) = match plan.constructor {
        None => (None, None),
        Some(Constructor::Function) => (Some(constructor(plan)), None),
        Some(Constructor::Macro) => (None, Some(constructor_macro(plan, name))),
    };
    let setters = if plan.has_setters { setters(plan) } else { Vec::new() };
    let has_items = !constants.is_empty() || function.is_some() || !setters.is_empty();
    let items = has_items.then(|| quote!(impl #name { #(#constants)* #function #(#setters)* }));
    std::iter::once(item).chain(by_macro).chain(items).collect()
}

fn field(field: &Field) -> TokenStream {
    let (name, docs, ty) = (&field.name, docs(&field.docs), field_type(field));
    quote!(#docs pub #name: #ty)
}

fn constructor(plan: &Struct) -> TokenStream {
    let (parameters, value) = (parameters(plan), value(plan));
    let has_defaults = plan.fields().any(|field| matches!(field.presence, Presence::Default(_)));
    let docs = docs(&[if has_defaults {
        "Creates a value with the required fields; the others are absent or have their defaults."
    } else {
        "Creates a value with the required fields; the others are absent."
    }]);
    quote! {
        #docs
        pub fn new(#(#parameters),*) -> Self {
            #value
        }
    }
}

/// The macro call that adds a constructor.
fn constructor_macro(plan: &Struct, name: &Identifier) -> TokenStream {
    let (parameters, value) = (parameters(plan), value(plan));
    quote!(toolwright::constructor!(#name(#(#parameters),*) #value);)
}

/// The parameters of a constructor: the required fields.
fn parameters(plan: &Struct) -> Vec<TokenStream> {
    let required = plan.fields().filter(|field| field.presence == Presence::Required);
    let parameters = required.map(|field| {
        let name = &field.name;
        match &field.ty {
            ty if is_text(ty) => quote!(#name: impl Into<String>),
            ty => quote!(#name: #ty),
        }
    });
    parameters.collect()
}

/// The value that a constructor returns.
fn value(plan: &Struct) -> TokenStream {
    defaults::literal_of(plan, |Field { name, ty, .. }| is_text(ty).then(|| quote!(#name.into())))
}

/// Returns whether functions take any text for a type.
fn is_text(ty: &TypeUse) -> bool {
    matches!(ty, TypeUse::String(_) | TypeUse::Formatted(..))
}

/// The setters of the fields that the constructor does not take.
fn setters(plan: &Struct) -> Vec<TokenStream> {
    let absent = plan.fields().filter(|field| field.presence != Presence::Required);
    let setters = absent.map(|field| {
        let Field { key, name, setter, ty, presence, .. } = field;
        let (parameter, value) = match ty {
            ty if is_text(ty) => (quote!(impl Into<String>), quote!(#name.into())),
            TypeUse::Boxed(of) => (quote!(impl Into<Box<#of>>), quote!(#name.into())),
            ty => match ty.nullable().filter(|_| *presence == Presence::Optional) {
                Some(inner) => (quote!(impl Into<Nullable<#inner>>), quote!(#name.into())),
                None => (quote!(#ty), quote!(#name)),
            },
        };
        let is_option = *presence == Presence::Optional;
        let value = if is_option { quote!(Some(#value)) } else { value };
        setter_of(&format!("Sets {}.", code(key)), name, setter, &parameter, &value)
    });
    let additional = plan.additional.as_ref().map(|AdditionalField { name, setter, ty }| {
        setter_of("Sets all other keys.", name, setter, &quote!(Map<#ty>), &quote!(#name))
    });
    setters.chain(additional).collect()
}

fn setter_of(
    line: &str,
    name: &Identifier,
    setter: &Identifier,
    parameter: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    let docs = docs(&[line]);
    quote! {
        #docs
        #[must_use]
        pub fn #setter(mut self, #name: #parameter) -> Self {
            self.#name = #value;
            self
        }
    }
}

fn plain_enum<'a>(
    variants: impl Iterator<Item = (&'a Identifier, TokenStream)>,
    Definition { name, default, .. }: &Definition,
    above: &TokenStream,
) -> Vec<TokenStream> {
    let default = default.as_ref().and_then(|default| default.value.variant());
    let variants = variants.map(|(name, docs)| {
        let default = (default == Some(name)).then(|| quote!(#[default]));
        quote!(#docs #default #name)
    });
    vec![quote! {
        #above
        pub enum #name {
            #(#variants,)*
        }
    }]
}

/// Returns an enum whose variants hold a value each. `variants` has the name, the type and the doc line of each.
fn choice<'a>(
    variants: impl Iterator<Item = (&'a Identifier, &'a TypeUse, &'a str)>,
    name: &Identifier,
    above: &TokenStream,
) -> Vec<TokenStream> {
    let variants = variants.map(|(name, ty, line)| {
        let docs = docs(&[line]);
        quote!(#docs #name(#ty))
    });
    vec![quote! {
        #above
        pub enum #name {
            #(#variants,)*
        }
    }]
}

/// Returns the names that the types of a module use.
fn used_types(types: &Types) -> BTreeSet<&str> {
    let mut used = BTreeSet::new();
    for definition in &types.definitions {
        used_by_definition(definition, &mut used);
    }
    used
}

/// Adds the names that the body of a type and its default use.
pub(super) fn used_by_definition<'a>(
    Definition { body, default, .. }: &'a Definition,
    used: &mut BTreeSet<&'a str>,
) {
    used.extend(default.iter().flat_map(SchemaDefault::types).map(Identifier::as_str));
    match body {
        Body::Struct(plan) => used_by_struct(plan, used),
        Body::Newtype(ty) | Body::Alias(ty) => used_by(ty, used),
        Body::Union { variants, .. } => {
            for variant in variants {
                used_by(&variant.ty, used);
            }
        }
        Body::Mixed(variants) => {
            for variant in variants {
                used_by(&variant.ty, used);
            }
        }
        Body::Overlapping { variants, .. } => {
            for variant in variants {
                used_by(&variant.ty, used);
            }
        }
        Body::Enum(_)
        | Body::IntegerEnum(_)
        | Body::Constants(_)
        | Body::Constant(_)
        | Body::Domain(_) => {}
    }
}

fn used_by_struct<'a>(plan: &'a Struct, used: &mut BTreeSet<&'a str>) {
    for field in plan.fields() {
        if field.presence == Presence::Optional && field.ty.nullable().is_some() {
            used.insert("Nullable");
        }
        used_by(&field.ty, used);
        if let Presence::Default(default) = &field.presence {
            used.extend(default.types().map(Identifier::as_str));
        }
    }
    if let Some(additional) = &plan.additional {
        used.insert("Map");
        used_by(&additional.ty, used);
    }
}

/// Adds the names that a type uses.
pub(super) fn used_by<'a>(ty: &'a TypeUse, used: &mut BTreeSet<&'a str>) {
    let name = match ty {
        TypeUse::Value => "Value",
        TypeUse::BigInteger(_) => "Integer",
        TypeUse::Map(..) => "Map",
        TypeUse::Named(name)
        | TypeUse::Constant(name)
        | TypeUse::Boxed(name)
        | TypeUse::Converted(name, _) => name,
        _ => "",
    };
    used.insert(name);
    match ty {
        TypeUse::Map(inner, _)
        | TypeUse::List(inner, _)
        | TypeUse::Nullable(inner)
        | TypeUse::Checked(inner, _) => used_by(inner, used),
        TypeUse::Tuple(tuple) => {
            if tuple.optional.iter().any(|item| item.nullable().is_some()) {
                used.insert("Nullable");
            }
            tuple.parts().for_each(|item| used_by(item, used));
        }
        _ => {}
    }
}
