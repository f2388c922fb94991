//! `calls.rs`, `executor.rs` and `registration.rs` of a toolset.

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, ident, import, path, root_type};
use crate::plan::{Arm, ExecutorPlan, ToolPlan, ToolsetCrate};

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
            ToolCall::of::<specs::#marker>(args)
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

/// The module of the registration helper.
pub(super) fn registration(plan: &ToolsetCrate<'_>) -> Module {
    let own = plan.executor.as_ref().map(|executor| {
        let (name, service_path, trait_name) =
            (&executor.name, path(&executor.service_path), &executor.trait_name);
        Runner {
            uses: quote!(use super::executor::#name; use #service_path::service::#trait_name;),
            parameter: quote!(service: impl #trait_name + 'static,),
            executor: quote!(#name::new(service)),
        }
    });
    let remote = plan.remote.as_ref().map(|remote| {
        let name = &remote.executor;
        Runner {
            uses: quote!(use super::executor::#name;),
            parameter: quote!(remote: impl Remote + 'static,),
            executor: quote!(#name::new(remote)),
        }
    });
    let needs_other =
        plan.remote.is_none() && plan.tools.iter().any(|tool| tool.tool.binding.is_none());
    let method_backed = method_backed(plan);
    let runner = own.or(remote);
    let executor = runner.as_ref().map(|runner| &runner.executor);
    let registered = match executor {
        Some(executor) if needs_other => {
            let bound = ident(METHOD_BACKED);
            quote!(Arc::new(Split::new(#bound, #executor, executor)))
        }
        Some(executor) => quote!(Arc::new(#executor)),
        None => quote!(executor),
    };
    let uses = runner.as_ref().map(|runner| &runner.uses);
    let parameter = runner.as_ref().map(|runner| &runner.parameter);
    let other = needs_other.then(|| quote!(executor: Arc<dyn Executor>,));
    let mut names = vec!["Registrar", "RegistrationError"];
    names.extend(needs_other.then_some("Executor"));
    names.extend(plan.remote.is_some().then_some("Remote"));
    names.extend(method_backed.iter().flat_map(|_| ["Split", "ToolSpec"]));
    names.sort_unstable();
    let contract = import(&TokenStream::new(), "toolwright", &names);
    let about = docs(&[
        &*format!("Registers the `{}` tools with what runs them.", plan.toolset),
        "",
        "# Errors",
        "",
        "Every name that is taken already; nothing is registered then.",
    ]);
    let mut parts = vec![
        quote!(
            use std::sync::Arc;
        ),
        quote! {
            use super::specs;
            #uses
            #contract
        },
    ];
    parts.extend(method_backed);
    parts.push(quote! {
        #about
        pub fn register(
            registrar: &mut dyn Registrar,
            #parameter
            #other
        ) -> Result<(), RegistrationError> {
            registrar.register(specs::ALL, #registered)
        }
    });
    Module {
        name: "registration",
        about: format!("How the `{}` tools are registered.", plan.toolset),
        parts,
    }
}

/// What a registration takes to run tools.
struct Runner {
    uses: TokenStream,
    parameter: TokenStream,
    /// The executor that is made of it.
    executor: TokenStream,
}
