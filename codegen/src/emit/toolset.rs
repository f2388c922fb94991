//! `calls.rs`, `executor.rs` and `registration.rs` of a toolset.

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, ident, import, path, root_type};
use crate::plan::{Arm, ExecutorPlan, RemotePlan, ToolPlan, ToolsetCrate};

/// The module of the call builders.
pub(super) fn calls(plan: &ToolsetCrate<'_>) -> Module {
    let types = plan.tools.iter().any(|tool| tool.args.is_named());
    let own: &[_] = if types { &["specs", "types"] } else { &["specs"] };
    let own = import(&TokenStream::new(), "super", own);
    let uses = quote! {
        #own
        use toolwright::{InvalidPayload, ToolCall};
    };
    let parts = std::iter::once(uses).chain(plan.tools.iter().map(call)).collect();
    Module { name: "calls", about: format!("Typed calls of the `{}` tools.", plan.toolset), parts }
}

fn call(tool: &ToolPlan<'_>) -> TokenStream {
    let (function, marker, args) = (&tool.function, &tool.marker, root_type(&tool.args));
    let about =
        format!("A call of `{}`, with a fresh id and an empty scope.", tool.tool.name.value);
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
pub(super) fn executor(plan: &ToolsetCrate<'_>, executor: &ExecutorPlan<'_>) -> Module {
    let has_transforms = !plan.transforms.is_empty();
    let own: &[_] = if has_transforms { &["specs", "transforms"] } else { &["specs"] };
    let own = import(&TokenStream::new(), "super", own);
    let (service_path, trait_name) = (path(&executor.service_path), &executor.trait_name);
    let name = &executor.name;
    let arms = executor.arms.iter().map(arm);
    let about =
        docs(&[format!("Runs the `{}` tools on a [`{}`].", plan.toolset, executor.trait_name)]);
    let parts = vec![
        quote! {
            #own
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

fn arm(arm: &Arm<'_>) -> TokenStream {
    let (marker, method) = (&arm.marker, &arm.method);
    let aliases = arm.tool.aliases.iter();
    let names = std::iter::once(&arm.tool.name).chain(aliases).map(|name| &name.value);
    let (before, payload) = match arm.args.as_ref() {
        Some(transform) => {
            (quote!(let payload = transforms::#transform(args, call)?;), quote!(payload))
        }
        None => (TokenStream::new(), quote!(args)),
    };
    let called =
        quote!(self.service.#method(#payload).await.map_err(|error| error.into_failure(call)));
    let body = match arm.result.as_ref() {
        Some(transform) => quote!(transforms::#transform(&#called?)),
        None => called,
    };
    quote! {
        #(#names)|* => call.run(specs::#marker, async move |args| { #before #body })
    }
}

/// The static of a toolset's method-backed tools, where it has others too.
const METHOD_BACKED: &str = "METHOD_BACKED";

/// The static of the method-backed tools of a toolset that has others too: two things run it, one registration takes it.
fn method_backed(plan: &ToolsetCrate<'_>) -> Option<TokenStream> {
    let (bound, others): (Vec<_>, Vec<_>) =
        plan.tools.iter().partition(|tool| tool.tool.binding.is_some());
    if bound.is_empty() || others.is_empty() {
        return None;
    }
    let name = ident(METHOD_BACKED);
    let specs = bound.iter().map(|tool| &tool.constant);
    Some(quote! {
        /// The tools that methods of the service back.
        static #name: &[&ToolSpec] = &[#(&specs::#specs),*];
    })
}

/// What a registration takes for one of the things that run its tools.
struct Runner {
    uses: TokenStream,
    /// The parameter when every run gets an instance, and the instance made of it.
    factory: (TokenStream, TokenStream),
    /// The parameter when all runs share one, and the one made of it.
    shared: (TokenStream, TokenStream),
}

fn service_runner(executor: &ExecutorPlan<'_>) -> Runner {
    let (name, service_path, trait_name) =
        (&executor.name, path(&executor.service_path), &executor.trait_name);
    Runner {
        uses: quote!(use super::executor::#name; use #service_path::service::#trait_name;),
        factory: (
            quote!(service: impl Fn() -> S + Send + Sync + 'static,),
            quote!(#name::new(service())),
        ),
        shared: (quote!(service: impl #trait_name + 'static,), quote!(#name::new(service))),
    }
}

fn remote_runner(remote: &RemotePlan<'_>) -> Runner {
    let name = &remote.executor;
    Runner {
        uses: quote!(use super::executor::#name;),
        factory: (
            quote!(remote: impl Fn() -> R + Send + Sync + 'static,),
            quote!(#name::new(remote())),
        ),
        shared: (quote!(remote: impl Remote + 'static,), quote!(#name::new(remote))),
    }
}

fn other_runner() -> Runner {
    Runner {
        uses: TokenStream::new(),
        factory: (quote!(executor: ExecutorFactory,), quote!(executor())),
        shared: (quote!(executor: Arc<dyn Executor>,), quote!(executor)),
    }
}

/// What is registered: the only runner, or both as one.
fn registered(service: Option<&TokenStream>, other: Option<&TokenStream>) -> TokenStream {
    let set = ident(METHOD_BACKED);
    match (service, other) {
        (Some(service), Some(other)) => quote!(Arc::new(Split::new(#set, #service, #other))),
        (Some(service), None) => quote!(Arc::new(#service)),
        (None, other) => quote!(#other),
    }
}

/// The module of the registration helper.
pub(super) fn registration(plan: &ToolsetCrate<'_>) -> Module {
    let toolset = &plan.toolset;
    let of_service = plan.executor.as_ref().map(service_runner);
    let service = of_service.or_else(|| plan.remote.as_ref().map(remote_runner));
    let needs_other =
        plan.remote.is_none() && plan.tools.iter().any(|tool| tool.tool.binding.is_none());
    let other = needs_other.then(other_runner);
    let method_backed = method_backed(plan);
    let runners: Vec<_> = service.iter().chain(&other).collect();
    let service_uses = service.as_ref().map(|runner| &runner.uses);
    let split_use = method_backed.is_some().then(|| quote!(, Split, ToolSpec));
    let other_uses = other.is_some().then(|| quote!(ExecutorFactory,));
    let of_service = plan.executor.as_ref().map(|executor| {
        let trait_name = &executor.trait_name;
        quote!(<S: #trait_name + 'static>)
    });
    let generics =
        of_service.or_else(|| plan.remote.as_ref().map(|_| quote!(<R: Remote + 'static>)));
    let remote_use = plan.remote.as_ref().map(|_| quote!(, Remote));
    let (per_run, one) = (
        docs_of(&[&format!(
            "Registers the `{toolset}` tools with what makes an instance for each run of what runs them."
        )]),
        docs_of(&[&format!(
            "Registers the `{toolset}` tools with what runs them: one instance, which all runs share."
        )]),
    );
    let made = registered(
        service.as_ref().map(|runner| &runner.factory.1),
        other.as_ref().map(|runner| &runner.factory.1),
    );
    let instance = registered(
        service.as_ref().map(|runner| &runner.shared.1),
        other.as_ref().map(|runner| &runner.shared.1),
    );
    let factory = if service.is_some() {
        quote!(Arc::new(move || -> Arc<dyn Executor> { #made }))
    } else {
        quote!(executor)
    };
    let (factories, instances): (Vec<_>, Vec<_>) =
        runners.iter().map(|runner| (&runner.factory.0, &runner.shared.0)).unzip();
    let uses = quote! {
        use super::specs;
        #service_uses
        use toolwright::{Executor, #other_uses Registrar, RegistrationError #remote_use #split_use};
    };
    let register = quote! {
        #per_run
        pub fn register #generics(
            registrar: &mut dyn Registrar,
            #(#factories)*
        ) -> Result<(), RegistrationError> {
            registrar.register_factory(specs::ALL, #factory)
        }
    };
    let register_shared = quote! {
        #one
        pub fn register_shared(
            registrar: &mut dyn Registrar,
            #(#instances)*
        ) -> Result<(), RegistrationError> {
            registrar.register(specs::ALL, #instance)
        }
    };
    let arc = quote!(
        use std::sync::Arc;
    );
    let parts =
        [arc, uses].into_iter().chain(method_backed).chain([register, register_shared]).collect();
    Module {
        name: "registration",
        about: format!("How the `{toolset}` tools are registered."),
        parts,
    }
}

/// Docs of a registration function.
fn docs_of(about: &[&str]) -> TokenStream {
    let errors =
        ["", "# Errors", "", "Every name that is taken already; nothing is registered then."];
    docs(&[about, errors.as_slice()].concat())
}
