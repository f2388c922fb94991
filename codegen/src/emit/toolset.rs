//! `calls.rs`, `executor.rs` and `registration.rs` of a toolset.

use proc_macro2::TokenStream;
use quote::quote;

use super::print::Module;
use super::tokens::{docs, ident, path, root_type};
use crate::plan::{Arm, ExecutorPlan, ToolPlan, ToolsetCrate};

/// The module of the call builders.
pub(super) fn calls(plan: &ToolsetCrate) -> Module {
    let types = plan.tools.iter().any(|tool| tool.args.is_named()).then(|| quote!(, types));
    let uses = quote! {
        use super::{specs #types};
        use toolwright::{InvalidPayload, ToolCall};
    };
    let parts = std::iter::once(uses).chain(plan.tools.iter().map(call)).collect();
    Module { name: "calls", about: format!("Typed calls of the `{}` tools.", plan.toolset), parts }
}

fn call(tool: &ToolPlan) -> TokenStream {
    let (function, marker, args) =
        (ident(&tool.function), ident(&tool.marker), root_type(&tool.args));
    let about =
        format!("A call of `{}`, with a fresh id and an empty scope.", tool.declaration.name);
    let docs = docs(&[
        &about,
        "",
        "# Errors",
        "",
        "Every issue that keeps the arguments from being valid under the tool's schema.",
    ]);
    quote! {
        #docs
        pub fn #function(args: &#args) -> Result<ToolCall, InvalidPayload> {
            ToolCall::typed(specs::#marker, args)
        }
    }
}

/// The module of the executor.
pub(super) fn executor(plan: &ToolsetCrate, executor: &ExecutorPlan) -> Module {
    let transforms = (!plan.transforms.is_empty()).then(|| quote!(, transforms));
    let (service_path, trait_name) = (path(&executor.service_path), ident(&executor.trait_name));
    let name = ident(&executor.name);
    let arms = executor.arms.iter().map(arm);
    let about =
        docs(&[format!("Runs the `{}` tools on a [`{}`].", plan.toolset, executor.trait_name)]);
    let parts = vec![
        quote! {
            use super::{specs #transforms};
            use #service_path::service::#trait_name;
            use toolwright::{BoxFuture, Executor, ToolCall, ToolResult};
        },
        quote! {
            #about
            #[derive(Clone, Debug)]
            pub struct #name<S> { service: S }
        },
        quote! {
            impl<S: #trait_name> #name<S> {
                /// Runs the tools on this service.
                pub fn new(service: S) -> Self {
                    Self { service }
                }
            }
        },
        quote! {
            impl<S: #trait_name> Executor for #name<S> {
                fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
                    match call.tool() {
                        #(#arms,)*
                        _ => call.not_found(specs::ALL),
                    }
                }
            }
        },
    ];
    Module { name: "executor", about: format!("What runs the `{}` tools.", plan.toolset), parts }
}

fn arm(arm: &Arm) -> TokenStream {
    let (names, marker, method) = (&arm.names, ident(&arm.marker), ident(&arm.method));
    let (before, payload) = match arm.args.as_deref().map(ident) {
        Some(transform) => {
            (quote!(let payload = transforms::#transform(args, call)?;), quote!(payload))
        }
        None => (TokenStream::new(), quote!(args)),
    };
    let called =
        quote!(self.service.#method(#payload).await.map_err(|error| error.into_failure(call)));
    let body = match arm.result.as_deref().map(ident) {
        Some(transform) => quote!(transforms::#transform(&#called?)),
        None => called,
    };
    quote! {
        #(#names)|* => call.run(specs::#marker, async move |args| { #before #body })
    }
}

/// The static of a toolset's method-backed tools, where it has others too.
const METHOD_BACKED: &str = "METHOD_BACKED";

/// The static of the others.
const OTHERS: &str = "OTHERS";

/// The two sets of a toolset whose tools are run in two ways; none where one way runs all.
fn tool_sets(plan: &ToolsetCrate) -> Vec<TokenStream> {
    let (bound, others): (Vec<_>, Vec<_>) = plan.tools.iter().partition(|tool| tool.is_bound);
    if bound.is_empty() || others.is_empty() {
        return Vec::new();
    }
    let sets = [
        (METHOD_BACKED, "The tools that methods of the service back.", bound),
        (OTHERS, "The tools that something else runs.", others),
    ];
    let set = |(name, about, tools): (&str, &str, Vec<&ToolPlan>)| {
        let (name, about) = (ident(name), docs(&[about]));
        let specs = tools.iter().map(|tool| ident(&tool.constant));
        quote!(#about pub static #name: &[&ToolSpec] = &[#(&specs::#specs),*];)
    };
    sets.map(set).into()
}

/// The module of the registration helper.
pub(super) fn registration(plan: &ToolsetCrate) -> Module {
    let toolset = &plan.toolset;
    let sets = tool_sets(plan);
    let spec_use = (!sets.is_empty()).then(|| quote!(, ToolSpec));
    let both = (!sets.is_empty()).then(|| quote!(?;));
    let set = |name: &str| {
        let name = ident(name);
        if sets.is_empty() { quote!(specs::ALL) } else { quote!(#name) }
    };
    let (bound_set, unbound_set) = (set(METHOD_BACKED), set(OTHERS));
    let service = plan.executor.as_ref().map(|executor| {
        let (name, service_path, trait_name) =
            (ident(&executor.name), path(&executor.service_path), ident(&executor.trait_name));
        (
            quote!(use super::executor::#name; use #service_path::service::#trait_name;),
            quote!(service: impl #trait_name + 'static,),
            quote!(registrar.register(#bound_set, Arc::new(#name::new(service)))),
        )
    });
    let other = plan.tools.iter().any(|tool| !tool.is_bound).then(|| {
        (
            quote!(Executor,),
            quote!(executor: Arc<dyn Executor>,),
            quote!(registrar.register(#unbound_set, executor)),
        )
    });
    let (service_uses, service_parameter, service_step) = service.unwrap_or_default();
    let (executor_use, executor_parameter, executor_step) = other.unwrap_or_default();
    let docs = docs(&[
        &format!("Registers the `{toolset}` tools with what runs them."),
        "",
        "# Errors",
        "",
        "A name that is taken already.",
    ]);
    let arc = quote!(
        use std::sync::Arc;
    );
    let uses = quote! {
        use super::specs;
        #service_uses
        use toolwright::{#executor_use Registrar, RegistrationError #spec_use};
    };
    let register = quote! {
        #docs
        pub fn register(
            registrar: &mut dyn Registrar,
            #service_parameter
            #executor_parameter
        ) -> Result<(), RegistrationError> {
            #service_step #both
            #executor_step
        }
    };
    let parts = [arc, uses].into_iter().chain(sets).chain([register]).collect();
    Module {
        name: "registration",
        about: format!("How the `{toolset}` tools are registered."),
        parts,
    }
}
