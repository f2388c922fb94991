//! `service.rs` and `errors.rs`: what a provider implements, and how it may fail.

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, located_type};
use crate::model::{MethodError, Recovery};
use crate::naming::Identifier;
use crate::plan::{ErrorEnum, ErrorVariant, ServiceCrate, TraitMethod};

/// The module of the trait.
pub(super) fn service(plan: &ServiceCrate<'_>) -> Module {
    let (name, docs) = (&plan.trait_name, docs(&plan.docs));
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

fn method(method: &TraitMethod<'_>) -> TokenStream {
    let (function, error) = (&method.function, &method.error.name);
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

fn errors_line(error: &ErrorEnum<'_>) -> String {
    let codes: Vec<_> =
        error.variants.iter().map(|variant| format!("`{}`", variant.error.name.value)).collect();
    match codes.as_slice() {
        [] => "Whatever goes wrong inside.".to_owned(),
        codes => format!("{}, or whatever goes wrong inside.", codes.join(", ")),
    }
}

/// The module of the errors.
pub(super) fn errors(plan: &ServiceCrate<'_>) -> Module {
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

fn error_items(method: &TraitMethod<'_>) -> [TokenStream; 5] {
    let name = &method.error.name;
    let variants = &method.error.variants;
    [
        definition(&method.method.name.value, name, variants),
        inherent(name, variants),
        from_failure(name, variants),
        display(name, variants),
        source(name, variants),
    ]
}

fn definition(method: &str, name: &Identifier, variants: &[ErrorVariant<'_>]) -> TokenStream {
    let docs_of_enum = docs(&[format!("Why `{method}` failed.")]);
    let variants = variants.iter().map(|variant| {
        let (name, docs) = (&variant.name, docs(&variant.docs));
        let said = variant.is_reported().then(|| quote!((Option<String>)));
        quote!(#docs #name #said)
    });
    quote! {
        #docs_of_enum
        #[derive(Debug)]
        pub enum #name {
            #(#variants,)*
            /// Anything else: told to operators, never to the model. A [`ToolFailure`] in it stays what it is.
            Internal(BoxError),
        }
    }
}

fn inherent(name: &Identifier, variants: &[ErrorVariant<'_>]) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let MethodError { name: code, description, recovery, .. } = variant.error;
        let (name, code) = (&variant.name, &code.value);
        let recovery = match recovery {
            Recovery::CorrectCall => quote!(Recovery::correct(call)),
            Recovery::Retry => quote!(Recovery::Retry),
            Recovery::Replan => quote!(Recovery::Replan),
            Recovery::Finish => quote!(Recovery::Finish),
        };
        let declared = quote!(ToolFailure::declared(#code, #description, #recovery));
        if variant.is_reported() {
            quote!(Self::#name(said) => #declared.reported(said))
        } else {
            quote!(Self::#name => #declared)
        }
    });
    quote! {
        impl #name {
            /// Anything that went wrong inside.
            pub fn internal(cause: impl Into<BoxError>) -> Self {
                Self::Internal(cause.into())
            }

            /// The failure of a call that this error causes.
            pub fn into_failure(self, call: &ToolCall) -> ToolFailure {
                match self {
                    #(#arms,)*
                    Self::Internal(cause) => ToolFailure::caused_by(cause, call),
                }
            }
        }
    }
}

/// Lets a method fail in any way that a call can: what was declared for a status is told by its name.
fn from_failure(name: &Identifier, variants: &[ErrorVariant<'_>]) -> TokenStream {
    let reported: Vec<_> = variants.iter().filter(|variant| variant.is_reported()).collect();
    let internal = quote!(Self::Internal(Box::new(failure)));
    let body = if reported.is_empty() {
        internal
    } else {
        let arms = reported.iter().map(|variant| {
            let (name, code) = (&variant.name, &variant.error.name.value);
            quote!(Some(#code) => Self::#name(failure.detail))
        });
        quote! {
            match failure.code.as_deref() {
                #(#arms,)*
                _ => #internal,
            }
        }
    };
    quote! {
        impl From<ToolFailure> for #name {
            fn from(failure: ToolFailure) -> Self {
                #body
            }
        }
    }
}

fn display(name: &Identifier, variants: &[ErrorVariant<'_>]) -> TokenStream {
    let names = variants.iter().map(pattern);
    let descriptions = variants.iter().map(|variant| &variant.error.description);
    quote! {
        impl fmt::Display for #name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    #(#names => f.write_str(#descriptions),)*
                    Self::Internal(cause) => write!(f, "internal: {cause}"),
                }
            }
        }
    }
}

fn source(name: &Identifier, variants: &[ErrorVariant<'_>]) -> TokenStream {
    let names: Vec<_> = variants.iter().map(pattern).collect();
    let declared = (!names.is_empty()).then(|| quote!(#(#names)|* => None,));
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

/// A variant, whatever it holds.
fn pattern(variant: &ErrorVariant<'_>) -> TokenStream {
    let name = &variant.name;
    if variant.is_reported() { quote!(Self::#name(_)) } else { quote!(Self::#name) }
}
