//! `service.rs` and `errors.rs`: the trait that a provider implements, and the errors of its methods.

use super::module::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, ident, import, located_type};
use crate::naming::Identifier;
use crate::plan::{
    ErrorArgument, ErrorContent, ErrorEnum, ErrorVariant, ServiceCrate, TraitMethod,
};

/// The module of the trait.
pub(super) fn service(plan: &ServiceCrate<'_>) -> Module {
    let (name, fake, docs) = (&plan.trait_name, &plan.fake_name, docs(&plan.docs));
    let methods = plan.methods.iter().map(method);
    let fails = plan.methods.iter().any(|method| method.error.is_some());
    let names_types =
        plan.methods.iter().any(|method| method.payload.is_local() || method.result.is_local());
    let own: Vec<_> = [("errors", fails), ("types", names_types)]
        .iter()
        .filter(|own| own.1)
        .map(|own| own.0)
        .collect();
    let own = (!own.is_empty()).then(|| import(&TokenStream::new(), "super", &own));
    let parts = vec![
        quote!(#own use toolwright::MethodError;),
        quote! {
            toolwright::service! {
                #docs
                pub trait #name {
                    #(#methods)*
                }

                pub struct #fake;
            }
        },
    ];
    Module {
        name: "service",
        about: format!("The trait that a provider of the `{}` service implements.", plan.service),
        parts,
    }
}

fn method(method: &TraitMethod<'_>) -> TokenStream {
    let function = &method.function;
    let error = method_error(method.error.as_ref().map(|error| &error.name));
    let (payload, result) = (located_type(&method.payload), located_type(&method.result));
    let mut lines = method.docs.clone();
    lines.extend(["", "# Errors", ""].map(str::to_owned));
    lines.push(errors_line(method.error.as_ref()));
    let docs = docs(&lines);
    quote! {
        #docs
        async fn #function(&self, payload: #payload) -> Result<#result, #error>;
    }
}

/// Returns the error type of a method. Without declared errors it holds internal errors only.
pub(super) fn method_error(declared: Option<&Identifier>) -> TokenStream {
    let declared = declared.map(|name| quote!(<errors::#name>));
    quote!(MethodError #declared)
}

fn errors_line(error: Option<&ErrorEnum<'_>>) -> String {
    let variants = error.iter().flat_map(|error| &error.variants);
    let codes: Vec<_> = variants.map(|variant| format!("`{}`", variant.error.name.value)).collect();
    match codes.as_slice() {
        [] => "Any internal error.".to_owned(),
        codes => format!("{}, or any internal error.", codes.join(", ")),
    }
}

/// The module of the errors, if a method declares any.
pub(super) fn errors(plan: &ServiceCrate<'_>) -> Option<Module> {
    let errors = || plan.methods.iter().filter_map(|method| method.error.as_ref());
    let names_types = errors().flat_map(|error| &error.variants).any(
        |variant| matches!(&variant.holds, ErrorContent::Payload(payload) if payload.is_local()),
    );
    let mut parts = Vec::new();
    parts.extend(names_types.then(|| {
        quote!(
            use super::types;
        )
    }));
    for method in &plan.methods {
        parts.extend(
            method
                .error
                .iter()
                .flat_map(|error| [definition(&method.method.name.value, error), failures(error)]),
        );
    }
    errors().next().is_some().then(|| Module {
        name: "errors",
        about: format!("Errors that methods of the `{}` service declare.", plan.service),
        parts,
    })
}

fn definition(method: &str, error: &ErrorEnum<'_>) -> TokenStream {
    let ErrorEnum { name, derives_eq, is_non_exhaustive, variants } = error;
    let non_exhaustive = is_non_exhaustive.then(|| quote!(#[non_exhaustive]));
    let (eq, hash) = derives_eq.then(|| (quote!(, Eq), quote!(, Hash))).unzip();
    let docs_of_enum = docs(&[format!("The errors that `{method}` declares.")]);
    let variants = variants.iter().map(|ErrorVariant { name, docs: lines, holds, .. }| {
        let docs = docs(lines);
        let content = match holds {
            ErrorContent::Nothing => None,
            ErrorContent::Payload(payload) => {
                let payload = located_type(payload);
                Some(quote!((#payload)))
            }
            ErrorContent::Message => Some(quote!((Option<String>))),
        };
        quote!(#docs #name #content)
    });
    quote! {
        #docs_of_enum
        #[derive(Clone, Debug, PartialEq #eq #hash)]
        #non_exhaustive
        pub enum #name {
            #(#variants,)*
        }
    }
}

/// The macro call that turns each error into a failure of a tool.
fn failures(ErrorEnum { name, variants, .. }: &ErrorEnum<'_>) -> TokenStream {
    let arms = variants.iter().map(|variant| {
        let ErrorVariant { error, name, format, arguments, holds, .. } = variant;
        let content = match holds {
            ErrorContent::Nothing => None,
            ErrorContent::Payload(_) => Some(quote!((data))),
            ErrorContent::Message => Some(quote!([message])),
        };
        let code = &error.name.value;
        let recovery = ident(error.recovery.as_str());
        let arguments = arguments.iter().map(|ErrorArgument { field, newtypes, is_domain }| {
            let inner = (0..*newtypes).map(|_| quote!(.0));
            let value = quote!(data.#field #(#inner)*);
            if *is_domain {
                quote!(, toolwright::codec::DomainType::to_json(&#value))
            } else {
                quote!(, #value)
            }
        });
        quote!(#name #content => #recovery(#code, #format #(#arguments)*))
    });
    quote!(toolwright::declared_errors!(#name { #(#arms),* });)
}
