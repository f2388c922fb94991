//! `service.rs` and `errors.rs`: what a provider implements, and how it may fail.

use super::print::Module;
use super::rust::{Ident, TokenStream, quote};
use super::tokens::{docs, ident, located_type};
use crate::model::Recovery;
use crate::plan::{ErrorEnum, ErrorVariant, ServiceCrate, TraitMethod};

/// The module of the trait.
pub(super) fn service(plan: &ServiceCrate) -> Module {
    let (name, docs) = (ident(&plan.trait_name), docs(&plan.docs));
    let methods = plan.methods.iter().map(method);
    let parts = vec![
        quote!(
            use super::{errors, types};
        ),
        quote! {
            #docs
            pub trait #name: Send + Sync {
                #(#methods)*
            }
        },
    ];
    Module {
        name: "service",
        about: format!("What a provider of the `{}` service implements.", plan.service),
        parts,
    }
}

fn method(method: &TraitMethod) -> TokenStream {
    let (function, error) = (ident(&method.function), ident(&method.error.name));
    let (payload, result) = (located_type(&method.payload), located_type(&method.result));
    let mut lines = method.docs.clone();
    lines.extend(["", "# Errors", ""].map(str::to_owned));
    lines.push(errors_line(&method.error));
    let docs = docs(&lines);
    quote! {
        #docs
        fn #function(&self, payload: #payload)
            -> impl Future<Output = Result<#result, errors::#error>> + Send;
    }
}

fn errors_line(error: &ErrorEnum) -> String {
    let codes: Vec<_> =
        error.variants.iter().map(|variant| format!("`{}`", variant.code)).collect();
    match codes.as_slice() {
        [] => "Whatever goes wrong inside.".to_owned(),
        codes => format!("{}, or whatever goes wrong inside.", codes.join(", ")),
    }
}

/// The module of the errors.
pub(super) fn errors(plan: &ServiceCrate) -> Module {
    let recovers = plan.methods.iter().any(|method| !method.error.variants.is_empty());
    let recovery_type = recovers.then(|| quote!(Recovery,));
    let mut parts = vec![
        quote!(
            use std::error::Error;
            use std::fmt;
        ),
        quote!(
            use toolwright::{BoxError, #recovery_type ToolCall, ToolFailure};
        ),
    ];
    parts.extend(plan.methods.iter().flat_map(error_items));
    Module {
        name: "errors",
        about: format!("How the methods of the `{}` service fail.", plan.service),
        parts,
    }
}

fn error_items(method: &TraitMethod) -> [TokenStream; 4] {
    let name = ident(&method.error.name);
    let variants = &method.error.variants;
    [
        definition(&method.name, &name, variants),
        inherent(&name, variants),
        display(&name, variants),
        source(&name, variants),
    ]
}

fn definition(method: &str, name: &Ident<'_>, variants: &[ErrorVariant]) -> TokenStream {
    let docs_of_enum = docs(&[format!("Why `{method}` failed.")]);
    let variants = variants.iter().map(|variant| {
        let (name, docs) = (ident(&variant.name), docs(&variant.docs));
        quote!(#docs #name)
    });
    quote! {
        #docs_of_enum
        #[derive(Debug)]
        pub enum #name {
            #(#variants,)*
            /// Anything else: told to operators, never to the model.
            Internal(BoxError),
        }
    }
}

fn inherent(name: &Ident<'_>, variants: &[ErrorVariant]) -> TokenStream {
    let needs_call = variants.iter().any(|variant| variant.recovery == Recovery::CorrectCall);
    let call = if needs_call { quote!(call) } else { quote!(_call) };
    let arms = variants.iter().map(|variant| {
        let (name, code, description) = (ident(&variant.name), &variant.code, &variant.description);
        let recovery = match variant.recovery {
            Recovery::CorrectCall => quote!(Recovery::correct(call)),
            Recovery::Retry => quote!(Recovery::Retry),
            Recovery::Replan => quote!(Recovery::Replan),
            Recovery::Finish => quote!(Recovery::Finish),
        };
        quote!(Self::#name => ToolFailure::declared(#code, #description, #recovery))
    });
    quote! {
        impl #name {
            /// Anything that went wrong inside.
            pub fn internal(cause: impl Into<BoxError>) -> Self {
                Self::Internal(cause.into())
            }

            /// The failure of a call that this error causes.
            pub fn into_failure(self, #call: &ToolCall) -> ToolFailure {
                match self {
                    #(#arms,)*
                    Self::Internal(cause) => ToolFailure::internal(cause.as_ref()),
                }
            }
        }
    }
}

fn display(name: &Ident<'_>, variants: &[ErrorVariant]) -> TokenStream {
    let names = variants.iter().map(|variant| ident(&variant.name));
    let descriptions = variants.iter().map(|variant| &variant.description);
    quote! {
        impl fmt::Display for #name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    #(Self::#names => f.write_str(#descriptions),)*
                    Self::Internal(cause) => write!(f, "internal: {cause}"),
                }
            }
        }
    }
}

fn source(name: &Ident<'_>, variants: &[ErrorVariant]) -> TokenStream {
    let names: Vec<_> = variants.iter().map(|variant| ident(&variant.name)).collect();
    let declared = (!names.is_empty()).then(|| quote!(#(Self::#names)|* => None,));
    quote! {
        impl Error for #name {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                match self {
                    #declared
                    Self::Internal(cause) => Some(cause.as_ref()),
                }
            }
        }
    }
}
