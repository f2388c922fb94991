//! `specs.rs`: everything known about the tools, as statics.

use toolwright::spec::Implementation;

use super::print::Module;
use super::remote::origin;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, duration, grouped, ident, optional_of, root_type};
use crate::model::{Approval, CallLimits, Deprecation, Example, Hints, ToolAnnotations};
use crate::plan::{ToolPlan, ToolsetCrate};

/// The module of a toolset's specs.
pub(super) fn module(plan: &ToolsetCrate<'_>) -> Module {
    let constants: Vec<_> = plan.tools.iter().map(|tool| &tool.constant).collect();
    let mut parts = uses(plan);
    let (toolset, description, service) = (&plan.toolset, plan.description, plan.service);
    let about = docs(&[format!("The `{toolset}` toolset.")]);
    parts.extend([
        quote! {
            #about
            pub static TOOLSET: spec::ToolsetSpec = spec::ToolsetSpec {
                name: #toolset,
                description: #description,
                service: #service,
            };
        },
        quote! {
            /// Every tool of the toolset, in declared order.
            pub static ALL: &[&ToolSpec] = &[#(&#constants),*];
        },
        quote! {
            /// The tools offered to models: all but the deprecated ones.
            pub fn advertised() -> impl Iterator<Item = &'static ToolSpec> {
                spec::advertised(ALL)
            }
        },
    ]);
    parts.extend(plan.remote.as_ref().map(|remote| origin(plan, remote)));
    parts.extend(plan.tools.iter().flat_map(tool));
    Module { name: "specs", about: format!("Specs of the `{}` toolset.", plan.toolset), parts }
}

fn uses(plan: &ToolsetCrate<'_>) -> Vec<TokenStream> {
    let waits = plan.tools.iter().any(|tool| tool.tool.limits.timeout.is_some());
    let names_types = plan.tools.iter().any(|tool| tool.args.is_named() || tool.result.is_named());
    let duration = waits.then(|| {
        quote!(
            use std::time::Duration;
        )
    });
    let types = names_types.then(|| {
        quote!(
            use super::types;
        )
    });
    let remote = plan.remote.is_some().then(|| {
        quote!(
            use toolwright::remote;
        )
    });
    let ours = quote! {
        #types
        #remote
        use toolwright::spec::{self, ToolSpec};
    };
    duration.into_iter().chain([ours]).collect()
}

fn tool(plan: &ToolPlan<'_>) -> [TokenStream; 3] {
    let (marker, constant, name) = (&plan.marker, &plan.constant, &plan.tool.name.value);
    let (args, result) = (root_type(&plan.args), root_type(&plan.result));
    let (docs_of_tool, setters) = (docs(&plan.docs), setters(plan));
    let about = docs(&[format!("The tool `{name}` as a type; [`{constant}`] is its spec.")]);
    [
        quote! {
            #docs_of_tool
            pub static #constant: ToolSpec = ToolSpec::of::<#marker>(#name) #setters;
        },
        quote!(#about #[derive(Clone, Copy, Debug)] pub struct #marker;),
        quote! {
            impl spec::Tool for #marker {
                type Args = #args;
                type Result = #result;
                const SPEC: &'static ToolSpec = &#constant;
            }
        },
    ]
}

/// The calls that follow the constructor of a spec.
fn setters(plan: &ToolPlan<'_>) -> TokenStream {
    let description = &plan.tool.description;
    let title = plan.tool.title.as_ref().map(|title| quote!(.with_title(#title)));
    let provenance = provenance(plan);
    let offered = offered(plan);
    let words = words(plan);
    let running = running(plan.tool.limits);
    let args_schema = format!("../schema/{}", plan.args_schema.name);
    let result_schema = format!("../schema/{}", plan.result_schema.name);
    quote! {
        #title
        .with_description(#description)
        .with_toolset_spec(&TOOLSET)
        #provenance
        #offered
        #words
        #running
        .with_args_schema(include_str!(#args_schema))
        .with_result_schema(include_str!(#result_schema))
    }
}

/// Who carries the tool out, and what it is called there.
fn provenance(plan: &ToolPlan<'_>) -> TokenStream {
    let implementation = match &plan.implementation {
        Implementation::Method { service, method } => {
            let (service, method) = (text(service), text(method));
            quote!(Method { service: #service, method: #method })
        }
        Implementation::Agent { service, agent } => {
            let (service, agent) = (text(service), text(agent));
            quote!(Agent { service: #service, agent: #agent })
        }
        Implementation::Mcp { server } => {
            let server = text(server);
            quote!(Mcp { server: #server })
        }
        Implementation::External => quote!(External),
    };
    let remote = plan.tool.remote.as_ref().map(|name| quote!(.with_remote_name(#name)));
    quote!(.with_implementation(spec::Implementation::#implementation) #remote)
}

/// What decides whether and how the tool is offered.
fn offered(plan: &ToolPlan<'_>) -> TokenStream {
    let tags = &plan.tool.tags;
    let aliases = plan.tool.aliases.iter().map(|alias| &alias.value);
    let tags = (!tags.is_empty()).then(|| quote!(.with_tags(&[#(#tags),*])));
    let aliases = (aliases.len() > 0).then(|| quote!(.with_aliases(&[#(#aliases),*])));
    let annotations = annotations(plan.tool.annotations);
    let deprecation = plan.tool.deprecated.as_ref().map(|Deprecation { since, .. }| {
        let since = optional_text(since.as_deref());
        let replacement = optional_text(plan.replacement);
        quote!(.with_deprecation(spec::Deprecation { since: #since, replacement: #replacement }))
    });
    quote!(#tags #aliases #annotations #deprecation)
}

fn annotations(annotations: ToolAnnotations) -> Option<TokenStream> {
    let ToolAnnotations { read_only, destructive, idempotent, open_world } = annotations;
    let hints = [
        ("read_only", read_only),
        ("destructive", destructive),
        ("idempotent", idempotent),
        ("open_world", open_world),
    ];
    let said: Vec<_> = hints
        .iter()
        .filter_map(|(name, hint)| hint.map(|hint| (ident(name), hint)))
        .map(|(name, hint)| quote!(#name: Some(#hint),))
        .collect();
    let rest = (said.len() < hints.len()).then(|| quote!(..spec::ToolAnnotations::UNKNOWN));
    (!said.is_empty()).then(|| quote!(.with_annotations(spec::ToolAnnotations { #(#said)* #rest })))
}

/// What people and models read of the tool beside its description.
fn words(plan: &ToolPlan<'_>) -> TokenStream {
    let Hints { call, result } = &plan.tool.hints;
    let hints = (call.is_some() || result.is_some()).then(|| {
        let (call, result) = (optional_text(call.as_deref()), optional_text(result.as_deref()));
        quote!(.with_hints(spec::Hints { call: #call, result: #result }))
    });
    let approval = plan.tool.approval.as_ref().map(|Approval { prompt, denied, metadata }| {
        let [prompt, denied, metadata] =
            [prompt, denied, metadata].map(|text| optional_text(text.as_deref()));
        quote!(.with_approval(spec::Approval { prompt: #prompt, denied: #denied, metadata: #metadata }))
    });
    let examples = plan.tool.examples.iter().map(|Example { args, result }| {
        let (args, result) = (text(args), optional_text(result.as_deref()));
        quote!(spec::Example { args: #args, result: #result })
    });
    let examples =
        (examples.len() > 0).then(|| quote!(.with_examples(const { &[#(#examples),*] })));
    let sample = plan.args_sample.as_ref().map(|args| quote!(.with_args_sample(#args)));
    quote!(#hints #approval #examples #sample)
}

/// How long and how often the tool may run.
fn running(limits: CallLimits) -> Option<TokenStream> {
    (limits != CallLimits::UNLIMITED).then(|| {
        let CallLimits { timeout, attempts, sequential } = limits;
        let timeout = optional_of(timeout.map(duration));
        let attempts = optional_of(attempts.map(|attempts| grouped(&attempts.to_string())));
        quote! {
            .with_limits(spec::CallLimits { timeout: #timeout, attempts: #attempts, sequential: #sequential })
        }
    })
}

/// A text in a field of a part of a spec.
fn text(text: &str) -> TokenStream {
    quote!(spec::text(#text))
}

fn optional_text(text: Option<&str>) -> TokenStream {
    optional_of(text.map(self::text))
}
