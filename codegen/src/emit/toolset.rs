//! `calls.rs`, `executor.rs`, `transforms.rs` and `registration.rs` of a toolset.

use proc_macro2::TokenStream;
use quote::quote;

use super::print::Module;
use super::tokens::{docs, ident, located_type, path, root_type};
use crate::plan::{
    Arm, ExecutorPlan, InjectedValue, LocatedType, Move, ToolPlan, ToolsetCrate, Transform,
    TransformBody,
};

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

/// The module of the transforms, where there are any.
pub(super) fn transforms(plan: &ToolsetCrate) -> Option<Module> {
    let transforms = &plan.transforms;
    let has =
        |test: fn(&TransformBody) -> bool| transforms.iter().any(|transform| test(&transform.body));
    let types =
        transforms.iter().any(|transform| transform.tool_type.is_named()).then(|| quote!(types,));
    let specs = has(|body| !matches!(body, TransformBody::Move(_))).then(|| quote!(specs,));
    let call = has(|body| !matches!(body, TransformBody::ReshapeResult)).then(|| quote!(ToolCall,));
    let uses = quote! {
        use super::{#specs #types};
        use toolwright::{executor, #call ToolFailure};
    };
    let parts = std::iter::once(uses).chain(transforms.iter().map(transform)).collect();
    (!transforms.is_empty()).then(|| Module {
        name: "transforms",
        about: format!(
            "Where the `{}` tools differ in shape from the methods behind them.",
            plan.toolset
        ),
        parts,
    })
}

fn transform(plan: &Transform) -> TokenStream {
    let (function, tool_type) = (ident(&plan.function), root_type(&plan.tool_type));
    let method_type = located_type(&plan.method_type);
    match &plan.body {
        TransformBody::ReshapeResult => {
            let marker = ident(&plan.marker);
            let docs = docs(&[
                &format!(
                    "The result of `{}`: what its method gave, in the tool's shape.",
                    plan.tool
                ),
                "",
                "# Errors",
                "",
                "A malformed result, where the tool's schema does not accept it.",
            ]);
            quote! {
                #docs
                pub fn #function(result: &#method_type) -> Result<#tool_type, ToolFailure> {
                    executor::reshape_result(<specs::#marker as toolwright::Tool>::SPEC, result)
                }
            }
        }
        TransformBody::Reshape(injected) => {
            let body = reshape(plan, injected);
            let docs = payload_docs(&plan.tool, injected.iter());
            quote! {
                #docs
                pub fn #function(args: #tool_type, call: &ToolCall) -> Result<#method_type, ToolFailure> {
                    #body
                }
            }
        }
        TransformBody::Move(moved) => {
            let body = field_moves(&plan.method_type, moved);
            let docs = payload_docs(&plan.tool, moved.injected.iter().map(|(_, value)| value));
            quote! {
                #docs
                pub fn #function(args: #tool_type, call: &ToolCall) -> Result<#method_type, ToolFailure> {
                    #body
                }
            }
        }
    }
}

fn payload_docs<'a>(tool: &str, injected: impl Iterator<Item = &'a InjectedValue>) -> TokenStream {
    let filled: Vec<_> = injected
        .map(|value| format!("`{}` from the call's {}", value.property, value.source))
        .collect();
    let about = match filled.as_slice() {
        [] => format!(
            "The payload of the method behind `{tool}`: its arguments in the method's shape."
        ),
        filled => format!(
            "The payload of the method behind `{tool}`: its arguments, and {}.",
            filled.join(", ")
        ),
    };
    docs(&[
        &about,
        "",
        "# Errors",
        "",
        "Where a value is missing, or the method's schema does not accept the payload.",
    ])
}

fn reshape(plan: &Transform, injected: &[InjectedValue]) -> TokenStream {
    let marker = ident(&plan.marker);
    let values = injected.iter().map(|value| {
        let property = &value.property;
        let given = given(value);
        let given = if value.required { quote!(Some(#given)) } else { given };
        quote!((#property, #given))
    });
    quote! {
        executor::reshape_args(call, <specs::#marker as toolwright::Tool>::SPEC, &args, &[#(#values),*])
    }
}

fn field_moves(method_type: &LocatedType, plan: &Move) -> TokenStream {
    let method_type = located_type(method_type);
    let injected = plan.injected.iter().map(|(field, value)| {
        let field = ident(field);
        let given = given(value);
        let wrapped = match value.wrapper.as_deref().map(path) {
            Some(wrapper) if value.required => quote!(#wrapper(#given)),
            Some(wrapper) => quote!(#given.map(#wrapper)),
            None => given,
        };
        quote!(#field: #wrapped)
    });
    let fields =
        plan.fields.iter().map(|field| ident(field)).map(|field| quote!(#field: args.#field));
    let (before, additional) = additional(plan);
    quote! {
        #before
        executor::injected_payload(#method_type { #(#injected,)* #(#fields,)* #additional })
    }
}

/// What stands beside the properties moves along, but for keys that are filled in: those are hidden
/// from the model, and what it writes there does not count.
fn additional(plan: &Move) -> (TokenStream, TokenStream) {
    let Some((payload, args)) = &plan.additional else {
        return (TokenStream::new(), TokenStream::new());
    };
    let (payload, args) = (ident(payload), ident(args));
    let keys = plan.injected.iter().map(|(_, value)| &value.property);
    (
        quote! {
            let mut additional = args.#args;
            #(additional.remove(#keys);)*
        },
        quote!(#payload: additional),
    )
}

/// The value of an injected property: a string where it is required, else an optional one.
fn given(value: &InjectedValue) -> TokenStream {
    let InjectedValue { property, source, getter: (getter, argument), required, .. } = value;
    let getter = ident(getter);
    let found = match argument {
        Some(argument) => quote!(call.#getter(#argument)),
        None if getter == "id" => quote!(Some(call.id())),
        None => quote!(call.#getter()),
    };
    if *required {
        quote!(executor::injected(#property, #source, #found)?)
    } else {
        quote!(#found.map(str::to_owned))
    }
}

/// The module of the registration helper.
pub(super) fn registration(plan: &ToolsetCrate) -> Module {
    let toolset = &plan.toolset;
    let constants = |bound: bool| {
        let chosen = plan.tools.iter().filter(move |tool| tool.is_bound == bound);
        let constants: Vec<_> = chosen.map(|tool| ident(&tool.constant)).collect();
        constants
    };
    let (bound, unbound) = (constants(true), constants(false));
    let one_kind = bound.is_empty() || unbound.is_empty();
    let set = |constants: &[proc_macro2::Ident]| {
        if one_kind { quote!(specs::ALL) } else { quote!(&[#(&specs::#constants),*]) }
    };
    let (bound_set, unbound_set) = (set(&bound), set(&unbound));
    let service = plan.executor.as_ref().map(|executor| {
        let (name, service_path, trait_name) =
            (ident(&executor.name), path(&executor.service_path), ident(&executor.trait_name));
        (
            quote!(use super::executor::#name; use #service_path::service::#trait_name;),
            quote!(service: impl #trait_name + 'static,),
            quote!(registrar.register(#bound_set, Arc::new(#name::new(service)))),
        )
    });
    let other = (!unbound.is_empty()).then(|| {
        (
            quote!(Executor,),
            quote!(executor: Arc<dyn Executor>,),
            quote!(registrar.register(#unbound_set, executor)),
        )
    });
    let (service_uses, service_parameter, service_step) = service.unwrap_or_default();
    let (executor_use, executor_parameter, executor_step) = other.unwrap_or_default();
    let both = (!one_kind).then(|| quote!(?;));
    let docs = docs(&[
        &format!("Registers the `{toolset}` tools with what runs them."),
        "",
        "# Errors",
        "",
        "A name that is taken already.",
    ]);
    let parts = vec![
        quote!(
            use std::sync::Arc;
        ),
        quote! {
            use super::specs;
            #service_uses
            use toolwright::{#executor_use Registrar, RegistrationError};
        },
        quote! {
            #docs
            pub fn register(
                registrar: &mut dyn Registrar,
                #service_parameter
                #executor_parameter
            ) -> Result<(), RegistrationError> {
                #service_step #both
                #executor_step
            }
        },
    ];
    Module {
        name: "registration",
        about: format!("How the `{toolset}` tools are registered."),
        parts,
    }
}
