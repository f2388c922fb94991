//! `transforms.rs`: conversions between the arguments and results of a tool and those of its method, where their types differ.

use super::module::{Module, TRANSFORMS};
use super::rust::{TokenStream, quote};
use super::tokens::{docs, ident, import, located_type, path, root_type};
use crate::naming::Identifier;
use crate::plan::{
    AdditionalMove, Getter, InjectedValue, LocatedType, Move, ToolsetCrate, Transform,
    TransformBody,
};
use crate::prose::code;

/// The module of the transforms, if there are any.
pub(super) fn module(plan: &ToolsetCrate<'_>) -> Option<Module> {
    let transforms = &plan.transforms;
    let has =
        |test: fn(&TransformBody) -> bool| transforms.iter().any(|transform| test(&transform.body));
    let types =
        transforms.iter().any(|transform| transform.tool_type.is_named()).then_some("types");
    let specs = has(|body| !matches!(body, TransformBody::Move(_))).then_some("specs");
    let call = has(|body| !matches!(body, TransformBody::ReshapeResult)).then(|| quote!(ToolCall,));
    let own: Vec<_> = specs.into_iter().chain(types).collect();
    let own = (!own.is_empty()).then(|| import(&TokenStream::new(), "super", &own));
    let uses = quote! {
        #own
        use toolwright::{#call ToolFailure, executor};
    };
    let parts = std::iter::once(uses).chain(transforms.iter().map(transform)).collect();
    (!transforms.is_empty()).then(|| Module {
        name: TRANSFORMS,
        about: format!("Conversions between the `{}` tools and their methods.", plan.toolset),
        parts,
    })
}

fn transform(plan: &Transform) -> TokenStream {
    let (function, tool_type) = (&plan.function, root_type(&plan.tool_type));
    let method_type = located_type(&plan.method_type);
    match &plan.body {
        TransformBody::ReshapeResult => {
            let marker = &plan.marker;
            let about =
                format!("Converts the result of the method into the result of `{}`.", plan.tool);
            let docs = docs(&[about]);
            quote! {
                #docs
                pub(super) fn #function(result: &#method_type) -> Result<#tool_type, ToolFailure> {
                    executor::reshape_result(<specs::#marker as toolwright::Tool>::SPEC, result)
                }
            }
        }
        TransformBody::Reshape(injected) => {
            let body = reshape(plan, injected);
            let docs = payload_docs(&plan.tool, injected.iter());
            quote! {
                #docs
                pub(super) fn #function(args: #tool_type, call: &ToolCall) -> Result<#method_type, ToolFailure> {
                    #body
                }
            }
        }
        TransformBody::Move(moved) => {
            let body = field_moves(&plan.method_type, moved);
            // The arguments are unused if all properties are injected.
            let holds_something = !moved.fields.is_empty() || moved.additional.is_some();
            let args = if holds_something { quote!(args) } else { quote!(_args) };
            let docs = payload_docs(&plan.tool, moved.injected.iter());
            quote! {
                #docs
                pub(super) fn #function(#args: #tool_type, call: &ToolCall) -> Result<#method_type, ToolFailure> {
                    #body
                }
            }
        }
    }
}

fn payload_docs<'a>(tool: &str, injected: impl Iterator<Item = &'a InjectedValue>) -> TokenStream {
    let filled: Vec<_> = injected
        .map(|value| format!("{} from the call's {}", code(&value.property), value.source))
        .collect();
    let about = match filled.as_slice() {
        [] => format!("Converts the arguments of `{tool}` into the payload of its method."),
        filled => format!(
            "Converts the arguments of `{tool}` into the payload of its method; fills in {}.",
            filled.join(", ")
        ),
    };
    docs(&[about])
}

fn reshape(plan: &Transform, injected: &[InjectedValue]) -> TokenStream {
    let marker = &plan.marker;
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
    let injected = plan.injected.iter().map(|value| {
        let (field, given) = (&value.field, given(value));
        let wrapped = match value.wrapper.as_deref().map(path) {
            Some(wrapper) if value.required => quote!(#wrapper(#given)),
            Some(wrapper) => quote!(#given.map(#wrapper)),
            None => given,
        };
        (field, wrapped)
    });
    let moved = plan.fields.iter().map(|field| (field, quote!(args.#field)));
    let (before, additional) = additional(plan);
    let values: Vec<_> = injected.chain(moved).collect();
    if let Some(constructor) = &plan.constructor {
        return constructed(&method_type, constructor, &values, &before, plan);
    }
    let fields = values.iter().map(|(field, value)| quote!(#field: #value));
    quote! {
        #before
        executor::checked_payload(#method_type { #(#fields,)* #additional })
    }
}

/// Makes a payload with its constructor, and sets the fields that the constructor does not take.
fn constructed(
    method_type: &TokenStream,
    constructor: &[Identifier],
    values: &[(&Identifier, TokenStream)],
    before: &TokenStream,
    plan: &Move,
) -> TokenStream {
    let is_required = |name: &Identifier| constructor.contains(name);
    let find = |name: &Identifier| values.iter().find(|(field, _)| *field == name);
    let required = constructor.iter().filter_map(find).map(|(_, value)| value);
    let others = values.iter().filter(|(field, _)| !is_required(field));
    let mut settings: Vec<_> =
        others.map(|(field, value)| quote!(payload.#field = #value;)).collect();
    if let Some(AdditionalMove { to, .. }) = &plan.additional {
        settings.push(quote!(payload.#to = #to;));
    }
    let new = quote!(#method_type::new(#(#required),*));
    if settings.is_empty() {
        return quote!(#before executor::checked_payload(#new));
    }
    quote! {
        #before
        let mut payload = #new;
        #(#settings)*
        executor::checked_payload(payload)
    }
}

/// Moves additional properties, except injected ones: the model does not see those, so a value that it sends for one is
/// dropped.
fn additional(plan: &Move) -> (TokenStream, TokenStream) {
    let Some(AdditionalMove { to, from }) = &plan.additional else {
        return (TokenStream::new(), TokenStream::new());
    };
    let keys = plan.injected.iter().map(|value| &value.property);
    (
        quote! {
            let mut #to = args.#from;
            #(#to.remove(#keys);)*
        },
        quote!(#to),
    )
}

/// Returns the value of an injected property: a string if it is required, else an optional string.
fn given(value: &InjectedValue) -> TokenStream {
    let InjectedValue { property, source, getter, required, .. } = value;
    let found = match getter {
        Getter::Label(key) => quote!(call.label(#key)),
        Getter::Id if !required => return quote!(Some(call.id().to_owned())),
        Getter::Id => quote!(Some(call.id())),
        Getter::Scope(method) => {
            let method = ident(method);
            quote!(call.#method())
        }
    };
    if *required {
        quote!(executor::injected(#property, #source, #found)?)
    } else {
        quote!(#found.map(str::to_owned))
    }
}
