//! The defaults of fields: constants of their struct, and the implementation of `Default`.

use super::rust::{ToTokens, TokenStream, push, quote};
use super::tokens::{docs, ident, integer, number};
use crate::naming::Identifier;
use crate::plan::{
    AdditionalField, Constant, DefaultValue, Field, Presence, SchemaDefault, Struct, TupleUse,
    TypeUse, Wrapper,
};
use crate::prose::code;

/// The constants of a struct.
pub(super) fn constants(plan: &Struct) -> impl Iterator<Item = TokenStream> {
    plan.fields().filter_map(|field| {
        constant(default_of(field)?, &format!("The default of {}.", code(&field.key)))
    })
}

/// The constant of a default, unless it is the same value as that of `Default`.
fn constant(default: &SchemaDefault, line: &str) -> Option<TokenStream> {
    let DefaultValue::Constant(name, constant) = &default.value else { return None };
    let (docs, ty, value) = (docs(&[line]), constant_type(constant), literal(constant));
    (!constant.is_zero()).then(|| quote!(#docs pub const #name: #ty = #value;))
}

/// Returns whether the defaults of a struct differ from those of `#[derive(Default)]`.
pub(super) fn differ(plan: &Struct) -> bool {
    plan.fields().filter_map(default_of).any(|default| !default.is_derived())
}

/// The `Default` of a newtype whose schema has one.
pub(super) fn of_newtype(default: &SchemaDefault, name: &Identifier) -> TokenStream {
    let constant =
        constant(default, "The default.").map(|constant| quote!(impl #name { #constant }));
    quote! {
        #constant

        impl Default for #name {
            fn default() -> Self {
                #default
            }
        }
    }
}

/// The `Default` of a struct that cannot derive it.
pub(super) fn of_struct(plan: &Struct, name: &Identifier) -> TokenStream {
    let value = if plan.constructor.is_some() {
        let required = plan.fields().filter(|field| field.presence == Presence::Required);
        let values = required.map(|field| match zero(&field.ty) {
            _ if matches!(field.ty, TypeUse::String(_)) => quote!(""),
            value => value,
        });
        quote!(Self::new(#(#values),*))
    } else {
        literal_of(plan, |field| Some(zero(&field.ty)))
    };
    quote! {
        impl Default for #name {
            fn default() -> Self {
                #value
            }
        }
    }
}

/// Returns a struct expression in which optional fields are absent or have their defaults. `required` gives the value of a
/// required field; where it returns `None`, the value is a variable of the field's name.
pub(super) fn literal_of(
    plan: &Struct,
    required: impl Fn(&Field) -> Option<TokenStream>,
) -> TokenStream {
    let values = plan.fields().map(|field| {
        let name = &field.name;
        let value = match &field.presence {
            Presence::Required => required(field),
            Presence::Optional => Some(quote!(None)),
            Presence::Default(default) => Some(quote!(#default)),
        };
        value.map_or_else(|| quote!(#name), |value| quote!(#name: #value))
    });
    let additional =
        plan.additional.as_ref().map(|AdditionalField { name, .. }| quote!(#name: Map::new(),));
    quote!(Self { #(#values,)* #additional })
}

fn default_of(field: &Field) -> Option<&SchemaDefault> {
    match &field.presence {
        Presence::Default(default) => Some(default),
        Presence::Required | Presence::Optional => None,
    }
}

/// The default as an expression inside an `impl` of the struct.
impl ToTokens for SchemaDefault {
    fn to_tokens(&self, out: &mut TokenStream) {
        let value = match &self.value {
            DefaultValue::Null => quote!(None),
            DefaultValue::EmptyList => quote!(Vec::new()),
            DefaultValue::EmptyMap => quote!(toolwright::Map::new()),
            DefaultValue::EmptyStruct(name) => quote!(#name::default()),
            DefaultValue::Constant(name, constant) => match constant {
                Constant::Text(text) if text.is_empty() => quote!(String::new()),
                constant if constant.is_zero() => literal(constant),
                Constant::Text(_) => quote!(Self::#name.to_owned()),
                // No list is a value on the stack.
                Constant::List(items) if matches!(items[..], [Constant::Text(_), ..]) => {
                    quote!(Self::#name.iter().map(|&text| text.to_owned()).collect())
                }
                Constant::List(_) => quote!(Self::#name.to_vec()),
                _ => quote!(Self::#name),
            },
        };
        let around = |value: TokenStream, wrapper: &Wrapper| match wrapper {
            Wrapper::Some => quote!(Some(#value)),
            Wrapper::Newtype(name) => quote!(#name(#value)),
        };
        let value = self.within.iter().rev().fold(value, around);
        push!(out, #value);
    }
}

/// Returns the `Default` of a type that has one, as an expression.
fn zero(ty: &TypeUse) -> TokenStream {
    match ty {
        TypeUse::Null => quote!(()),
        TypeUse::Boolean => quote!(false),
        TypeUse::Integer(..) => quote!(0),
        TypeUse::Number(_) => quote!(0.0),
        TypeUse::List(..) => quote!(Vec::new()),
        TypeUse::Map(..) => quote!(Map::new()),
        TypeUse::Nullable(_) => quote!(None),
        TypeUse::Checked(inner, _) => zero(inner),
        TypeUse::Tuple(TupleUse { required, optional, rest, .. }) => {
            let required = required.iter().map(zero);
            let optional = optional.iter().map(|_| quote!(None));
            let rest = rest.as_ref().map(|_| quote!(Vec::new(),));
            quote!((#(#required,)* #(#optional,)* #rest))
        }
        TypeUse::Constant(name) => quote!(#name),
        TypeUse::Boxed(_) => quote!(Box::default()),
        TypeUse::String(_)
        | TypeUse::Formatted(..)
        | TypeUse::Contract(..)
        | TypeUse::Value
        | TypeUse::BigInteger(_)
        | TypeUse::ExactNumber(_)
        | TypeUse::Converted(..)
        | TypeUse::Named(_) => quote!(#ty::default()),
    }
}

fn constant_type(constant: &Constant) -> TokenStream {
    match constant {
        Constant::Boolean(_) => quote!(bool),
        Constant::Integer(format, _) => {
            let name = ident(format.rust());
            quote!(#name)
        }
        Constant::Number(_) => quote!(f64),
        Constant::Text(_) => quote!(&str),
        Constant::Variant(ty, _) => quote!(#ty),
        Constant::List(items) => {
            let (item, count) = (items.first().map(constant_type), integer(items.len()));
            quote!([#item; #count])
        }
    }
}

fn literal(constant: &Constant) -> TokenStream {
    match constant {
        Constant::Boolean(value) => quote!(#value),
        Constant::Integer(_, value) => {
            let value = integer(value);
            quote!(#value)
        }
        Constant::Number(value) => {
            let value = number(*value);
            quote!(#value)
        }
        Constant::Text(text) => quote!(#text),
        Constant::Variant(ty, variant) => quote!(#ty::#variant),
        Constant::List(items) => {
            let items = items.iter().map(literal);
            quote!([#(#items),*])
        }
    }
}
